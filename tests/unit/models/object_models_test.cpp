// Every model and test takes strings, sets, graphs and records, or says that it looks at columns of numbers.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <functional>

#include "mercer/error.hpp"
#include "mercer/falkon.hpp"
#include "mercer/gaussian_process.hpp"
#include "mercer/kernel_kmeans.hpp"
#include "mercer/kernel_logistic.hpp"
#include "mercer/kernel_map.hpp"
#include "mercer/kernel_mean.hpp"
#include "mercer/kernel_pca.hpp"
#include "mercer/kernel_ridge.hpp"
#include "mercer/kernel_ridge_cv.hpp"
#include "mercer/kernel_sgd.hpp"
#include "mercer/linear_svc.hpp"
#include "mercer/nystrom.hpp"
#include "mercer/objects.hpp"
#include "mercer/pca.hpp"
#include "mercer/random.hpp"
#include "mercer/random_feature_ridge.hpp"
#include "mercer/representer.hpp"
#include "mercer/ridge.hpp"
#include "mercer/spectral_clustering.hpp"
#include "mercer/svm.hpp"
#include "mercer/svm_cv.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

// Strings of two kinds, alone, and beside numbers.
struct Data {
  Samples strings;
  Samples records;
  std::vector<Index> labels{};
  Vector y{};
};

Data data() {
  RandomStream random(1);
  std::vector<std::string> all;
  Data out;
  out.y.resize(40);
  for (Index i = 0; i < 40; ++i) {
    std::string s;
    for (int c = 0; c < 12; ++c) s += (random.uniform() < 0.8) == (i % 2 == 0) ? 'a' : 'b';
    all.push_back(s);
    out.labels.push_back(i % 2);
    out.y[i] = static_cast<double>(i % 2);
  }
  out.strings = Samples::strings(all);
  out.records = Samples::records({out.strings, RandomStream(2).normal_matrix(40, 2)});
  return out;
}

TEST(ObjectModels, KernelModelsLearnFromStrings) {
  const Data d = data();
  const Kernel k = kernels::spectrum(2);
  const auto agrees = [&](const Vector& f, double threshold) {
    int right = 0;
    for (Index i = 0; i < 40; ++i) right += (f[i] > threshold) == (d.labels[static_cast<std::size_t>(i)] == 1) ? 1 : 0;
    EXPECT_GE(right, 36);
  };
  const Samples anew = Samples::strings([&] {
    std::vector<std::string> copy;
    for (const auto s : strings_of(d.strings, "test")) copy.emplace_back(s);
    return copy;
  }());
  agrees(fit_kernel_ridge(d.strings, d.y, {.kernel = k, .alpha = 0.1}).predict(anew).col(0), 0.5);
  agrees(fit_kernel_ridge_cv(d.strings, d.y, {.kernels = {k}}).model().predict(anew).col(0), 0.5);
  agrees(fit_gaussian_process(d.strings, d.y, {.kernel = k + kernels::white(0.1), .optimize = false}).predict(anew).col(0), 0.5);
  agrees(fit_svc(d.strings, d.labels, {.kernel = k, .C = 10}).decision(anew).col(0), 0);
  agrees(fit_kernel_logistic(d.strings, d.labels, {.kernel = k}).decision(anew).col(0), 0);
  agrees(fit_kernel_mean(d.strings, d.labels, {.kernel = k}).decision(anew).col(0), 0);
  agrees(fit_kernel_sgd(d.strings, d.labels, {.kernel = k, .iterations = 4000}).decision(anew).col(0), 0);
  agrees(fit_svr(d.strings, d.y, {.kernel = k, .C = 10}).predict(anew).col(0), 0.5);
  const KernelPcaModel pca = fit_kernel_pca(d.strings, {.kernel = k, .n_components = 2});
  EXPECT_TRUE(pca.transform(anew).allFinite());
  EXPECT_EQ(fit_nystrom(d.strings, {.kernel = k, .n_components = 10}).transform(anew).cols(), 10);
  const auto clusters = fit_kernel_kmeans(d.strings, {.kernel = k, .clusters = 2});
  EXPECT_LE((clusters.predict(anew) - clusters.predict(d.strings)).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_EQ(
      spectral_clustering(d.strings, {.clusters = 2, .affinity = SpectralClusteringOptions::Affinity::kernel, .kernel = k}).labels.size(),
      40U);
}

TEST(ObjectModels, ModelsOfColumnsSayThatTheyAre) {
  const Data d = data();
  for (const Samples* X : {&d.strings, &d.records}) {
    const auto refuses = [&](const std::function<void()>& fit) {
      const std::string message = message_of<InvalidArgument>(fit);
      EXPECT_TRUE(message.find("numbers") != std::string::npos && message.find("strings") != std::string::npos) << message;
    };
    refuses([&] { fit_linear_svc(*X, d.labels, {}); });
    refuses([&] { fit_ridge(*X, d.y, {}); });
    refuses([&] { fit_pca(*X, {}); });
    refuses([&] { spectral_clustering(*X, {.clusters = 2, .neighbors = 5}); });
    refuses([&] { fit_random_feature_ridge(*X, d.y, {.kernel = kernels::gaussian(1.0)}); });
    refuses([&] { fit_kernel_ridge(*X, d.y, {.kernel = kernels::gaussian(1.0)}); });
    refuses([&] { fit_svc(*X, d.labels, {.kernel = kernels::linear()}); });
  }
}

}  // namespace
}  // namespace mercer

// PCA and kernel PCA in files.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "mercer/error.hpp"
#include "mercer/model_file.hpp"
#include "mercer/random.hpp"
#include "unit/persist/models.hpp"

namespace mercer {
namespace {

TEST(PcaFiles, ComesBackAsItWas) {
  const Matrix X = RandomStream(1).normal_matrix(40, 5);
  const PcaModel model = fit_pca(X, {.n_components = 2, .whiten = true});
  const SavedModel back = model_from_bytes(model_to_bytes({model, {}}));
  EXPECT_EQ(back.kind(), "pca");
  EXPECT_EQ(back.width(), 5);
  EXPECT_EQ(back.n_targets(), 2);
  EXPECT_EQ(back.predict(X), model.transform(X));
  EXPECT_EQ(std::get<PcaModel>(back.model).summary().sentence, model.summary().sentence);
}

TEST(KernelPcaFiles, ComesBackAsItWas) {
  const Matrix X = RandomStream(2).normal_matrix(90, 3);
  for (const KernelPcaSolver solver : {KernelPcaSolver::dense, KernelPcaSolver::low_rank}) {
    const KernelPcaModel model =
        fit_kernel_pca(X, {.n_components = 3, .output = KernelPcaOutput::unit_variance, .solver = solver, .rank = 10});
    const SavedModel back = model_from_bytes(model_to_bytes({model, {}}));
    EXPECT_EQ(back.kind(), "kernel-pca");
    EXPECT_EQ(back.width(), 3);
    EXPECT_EQ(back.n_targets(), 3);
    EXPECT_EQ(back.predict(X), model.transform(X));
    const auto& again = std::get<KernelPcaModel>(back.model);
    EXPECT_EQ(again.reconstruction_error(X), model.reconstruction_error(X));
    EXPECT_EQ(again.summary().sentence, model.summary().sentence);
    if (!model.is_low_rank()) continue;
    EXPECT_EQ(extend_kernel_pca(again, X).eigenvalues(), extend_kernel_pca(model, X).eigenvalues());
  }
}

TEST(KernelPcaFiles, DamagedOnesAreRefused) {
  const Matrix X = RandomStream(3).normal_matrix(12, 2);
  const std::string bytes = model_to_bytes({fit_kernel_pca(X, {.n_components = 2}), {}});
  for (const std::size_t at : {std::size_t{20}, bytes.size() / 2, bytes.size() - 3}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_THROW(model_from_bytes(damaged), FileError) << at;
  }
  testing::Parts parts =
      testing::take_apart(model_to_bytes({fit_kernel_pca(X, {.n_components = 2, .solver = KernelPcaSolver::low_rank, .rank = 4}), {}}));
  testing::Json& factor = parts.header["factor"];
  factor["shape"] = {1, factor["shape"][0].get<int>() * factor["shape"][1].get<int>()};
  EXPECT_NE(testing::load_error(testing::forge(parts)).find("not square"), std::string::npos) << testing::load_error(testing::forge(parts));
}

}  // namespace
}  // namespace mercer

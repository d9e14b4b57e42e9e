// Kernel k-means through files: the same values come back, forged ones are refused.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "unit/core/support.hpp"
#include "unit/persist/models.hpp"

namespace mercer {
namespace {

using namespace mercer::testing;

SavedModel kmeans_model() {
  const KernelKMeansSummary summary{6, 3, 2, 0.1 + 0.2, 7, 1, true, "exact", 0, 0.125, 0.5, 288, 0.25, "said"};
  return {KernelKMeansModel::from_parts(parse_kernel("gaussian(0.7)"), Samples(numbers(5, 3)), numbers(5, 2, 0.71), numbers(2, 1, 0.3),
                                        {0, 1, 1, 0, 0, 1}, summary),
          std::nullopt};
}

TEST(KernelKMeansFile, Survives) {
  const Matrix X = numbers(9, 3, 0.5);
  const SavedModel model = kmeans_model();
  const SavedModel again = model_from_bytes(model_to_bytes(model));
  EXPECT_EQ(again.kind(), "kernel-kmeans");
  EXPECT_EQ(again.n_targets(), 2);
  EXPECT_EQ(again.width(), 3);
  EXPECT_EQ(again.predict(X), model.predict(X));
  EXPECT_EQ(again.classes(X), model.classes(X));
  const auto& a = std::get<KernelKMeansModel>(model.model);
  const auto& b = std::get<KernelKMeansModel>(again.model);
  EXPECT_EQ(b.distances(X), a.distances(X));
  EXPECT_EQ(b.labels(), a.labels());
  EXPECT_EQ(b.sizes(), (std::vector<Index>{3, 3}));
  const KernelKMeansSummary& s = a.summary();
  const KernelKMeansSummary& t = b.summary();
  EXPECT_EQ(std::tie(s.samples, s.wanted, s.clusters, s.inertia, s.iterations, s.restart, s.converged, s.method, s.rank, s.trace_error),
            std::tie(t.samples, t.wanted, t.clusters, t.inertia, t.iterations, t.restart, t.converged, t.method, t.rank, t.trace_error));
  EXPECT_EQ(std::tie(s.looked_at, s.bytes, s.seconds, s.sentence), std::tie(t.looked_at, t.bytes, t.seconds, t.sentence));
}

TEST(KernelKMeansFile, ForgedPartsAreRefused) {
  Parts parts = take_apart(model_to_bytes(kmeans_model()));
  parts.header["__metadata__"]["summary"] = "{}";
  EXPECT_NE(message_of([&] { model_from_bytes(forge(parts)); }).find("missing or has the wrong type"), std::string::npos);
  const auto model = std::get<KernelKMeansModel>(kmeans_model().model);
  const auto with_labels = [&](std::vector<Index> labels) {
    return message_of([&] {
      KernelKMeansModel::from_parts(model.kernel(), model.samples(), model.coefficients(), model.squared_norms(), std::move(labels), {});
    });
  };
  EXPECT_NE(with_labels({0, 2}).find("cannot have a cluster 2"), std::string::npos);
  EXPECT_NE(with_labels({0, -1}).find("cannot have a cluster -1"), std::string::npos);
  EXPECT_NE(message_of([&] {
              KernelKMeansModel::from_parts(model.kernel(), model.samples(), numbers(4, 2), model.squared_norms(), {}, {});
            }).find("cannot have 5 samples"),
            std::string::npos);
}

}  // namespace
}  // namespace mercer

// The Nystrom map against its definition.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/nystrom.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

const Kernel kernel = kernels::gaussian(1.2);

TEST(Nystrom, ProductsOfFeaturesAreTheNystromApproximation) {
  const Matrix X = RandomStream(3).normal_matrix(600, 3);
  for (const Index m : {1, 30, 257}) {
    const NystromMap map = fit_nystrom(X, {.kernel = kernel, .n_components = m, .seed = 2});
    const Matrix Z = map.transform(X);
    ASSERT_EQ(Z.cols(), m);
    const Matrix F = gram(kernel, X, map.landmarks());
    const Matrix K = gram(kernel, map.landmarks());
    const Matrix expected = F * K.ldlt().solve(F.transpose());
    // Both sides are wrong by eps times the condition of K_mm, up to 1e10 for 257 landmarks.
    const double tolerance = m < 100 ? 1e-9 : 1e-6;
    EXPECT_LT((Z * Z.transpose() - expected).cwiseAbs().maxCoeff(), tolerance) << m;
    EXPECT_NEAR(trace_error(map, X), 1 - expected.trace() / 600, tolerance);
    MatrixF single(600, m);
    map.transform_into(X, single.data(), m);
    EXPECT_LT((single.cast<double>() - Z).cwiseAbs().maxCoeff(), 2e-2 * std::sqrt(static_cast<double>(m))) << m;
    Matrix mixed(600, m + 3);  // strided, float64 from float32 values
    map.transform_into(X, mixed.data(), m + 3, Precision::float32);
    EXPECT_LT((mixed.leftCols(m) - single.cast<double>()).cwiseAbs().maxCoeff(), 1e-6);
  }
}

TEST(Nystrom, WithAllRowsIsExact) {
  const Matrix X = RandomStream(4).normal_matrix(80, 4);
  const NystromMap map = fit_nystrom(X, {.kernel = kernel, .n_components = 1000});
  EXPECT_EQ(map.n_components(), 80);
  const Matrix Z = map.transform(X);
  EXPECT_LT((Z * Z.transpose() - gram(kernel, X)).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT(trace_error(map, X), 1e-10);
}

TEST(Nystrom, DuplicatesGivenLandmarksAndThreads) {
  Matrix X = RandomStream(5).normal_matrix(300, 2);
  X.bottomRows(150) = X.topRows(150);  // K_mm is singular
  const NystromMap map = fit_nystrom(X, {.kernel = kernel, .n_components = 200});
  EXPECT_TRUE(map.transform(X).allFinite());
  EXPECT_LT(trace_error(map, X), 1e-6);
  const Matrix given = RandomStream(6).normal_matrix(20, 2);
  const NystromMap by_given = fit_nystrom(X, {.kernel = kernel, .given_landmarks = Samples(given)});
  EXPECT_EQ(by_given.landmarks().to_dense(), given);
  EXPECT_EQ(by_given.transform(X, {.threads = 1}), by_given.transform(X, {.threads = 2}));
}

TEST(Nystrom, MisuseIsNamed) {
  const Matrix X = RandomStream(5).normal_matrix(30, 2);
  EXPECT_THROW(fit_nystrom(Matrix(0, 2)), InvalidArgument);
  EXPECT_THROW(fit_nystrom(X, {.n_components = 0}), InvalidArgument);
  EXPECT_THROW(fit_nystrom(X, {.kernel = kernel + kernels::white(0.1)}), InvalidArgument);
  EXPECT_THROW(fit_nystrom(X, {.kernel = kernel}).transform(Matrix(3, 5)), InvalidArgument);
  EXPECT_THROW(fit_nystrom(X, {.kernel = kernel, .run = {.memory = 10}}), OverBudget);
}

}  // namespace
}  // namespace mercer

// The largest eigenvalues against all of them, with multiplicities and with vectors known before.
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/top_eigen.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <numbers>

#include "mercer/random.hpp"

namespace mercer::solvers {
namespace {

using Columns = Eigen::MatrixXd;

TEST(TopEigen, OfARandomMatrix) {
  Columns A = RandomStream(1).normal_matrix(300, 300);
  A = ((A + A.transpose()) / 2).eval();
  const Eigen::SelfAdjointEigenSolver<Columns> all(A);
  const TopEigen top = top_eigen(300, 6, [&](const Columns& V) { return Columns(A * V); }, Columns(300, 0), {.tolerance = 1e-9});
  ASSERT_TRUE(top.converged);
  for (Index j = 0; j < 6; ++j) {
    EXPECT_NEAR(top.values[j], all.eigenvalues()[299 - j], 1e-10 * 300);
    EXPECT_NEAR(std::abs(top.vectors.col(j).dot(all.eigenvectors().col(299 - j))), 1, 1e-10);
  }
  EXPECT_LT((top.vectors.transpose() * top.vectors - Columns::Identity(6, 6)).norm(), 1e-12);
}

// The ring of n vertices: cos(2 pi j / n), all but the first twice.
TEST(TopEigen, DoubleEigenvaluesAreFoundTwice) {
  const Index n = 200;
  const auto ring = [&](const Columns& V) {
    Columns out(n, V.cols());
    for (Index i = 0; i < n; ++i) out.row(i) = (V.row((i + 1) % n) + V.row((i + n - 1) % n)) / 2;
    return out;
  };
  const TopEigen top = top_eigen(n, 5, ring, Columns(n, 0), {.tolerance = 1e-9});
  ASSERT_TRUE(top.converged);
  for (Index j = 0; j < 5; ++j)
    EXPECT_NEAR(top.values[j], std::cos(2 * std::numbers::pi * static_cast<double>((j + 1) / 2) / n), 1e-12) << j;
  const TopEigen rest = top_eigen(n, 4, ring, Columns::Constant(n, 1, 1 / std::sqrt(static_cast<double>(n))), {.tolerance = 1e-9});
  for (Index j = 0; j < 4; ++j) EXPECT_NEAR(rest.values[j], top.values[j + 1], 1e-12) << j;
  EXPECT_LT(rest.vectors.colwise().sum().norm(), 1e-9);
}

TEST(TopEigen, AllOfASmallMatrix) {
  const Columns A = Eigen::Vector4d(4, 1, 3, 2).asDiagonal();
  const TopEigen top = top_eigen(4, 4, [&](const Columns& V) { return Columns(A * V); }, Columns(4, 0), {});
  EXPECT_LT((top.values - Eigen::Vector4d(4, 3, 2, 1)).norm(), 1e-12);
  EXPECT_GT(top.vectors.colwise().maxCoeff().minCoeff(), 0.99);  // signs
}

}  // namespace
}  // namespace mercer::solvers

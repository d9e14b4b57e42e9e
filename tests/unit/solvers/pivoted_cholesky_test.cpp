// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/pivoted_cholesky.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <set>

#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

// Eigenvalues j^-power in a random basis.
Matrix decaying(Index n, double power) {
  const Matrix A = RandomStream(3).normal_matrix(n, n);
  const Eigen::MatrixXd Q = Eigen::HouseholderQR<Eigen::MatrixXd>(A).householderQ();
  Vector values(n);
  for (Index j = 0; j < n; ++j) values[j] = std::pow(static_cast<double>(j + 1), -power);
  const Matrix K = Q * values.asDiagonal() * Q.transpose();
  return 0.5 * (K + K.transpose());
}

PivotedCholesky factor(const Matrix& K, const PivotedCholeskyOptions& options) {
  return pivoted_cholesky(
      K.diagonal(), [&](std::span<const Index> J) { return Matrix(K(Eigen::all, std::vector<Index>(J.begin(), J.end()))); }, options);
}

TEST(PivotedCholesky, InterpolatesItsPivotsAndLeavesAPositiveRemainder) {
  const Matrix K = decaying(300, 1.5);
  const PivotedCholesky f = factor(K, {.rank = 60});
  ASSERT_EQ(f.factor.cols(), 60);
  ASSERT_EQ(f.pivots.size(), 60U);
  EXPECT_EQ(std::set<Index>(f.pivots.begin(), f.pivots.end()).size(), 60U);
  const Matrix rest = K - f.factor * f.factor.transpose();
  EXPECT_LE(rest(Eigen::all, f.pivots).cwiseAbs().maxCoeff(), 1e-12);  // K has norm 1, the factor's condition is about 1e3
  EXPECT_GE(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(rest).eigenvalues().minCoeff(), -1e-12);
  EXPECT_NEAR(f.trace, K.trace(), 1e-13);
  EXPECT_NEAR(f.trace_error, rest.trace(), 1e-12);
}

TEST(PivotedCholesky, ErrsLittleMoreThanTheBestFactorOfItsRank) {
  const Matrix K = decaying(300, 2);
  double best = 0;
  for (Index j = 50; j < 300; ++j) best += std::pow(static_cast<double>(j + 1), -2);
  double mean = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) mean += factor(K, {.rank = 50, .seed = seed}).trace_error / 20;
  EXPECT_GE(mean, best);
  EXPECT_LE(mean, 3 * best);  // the theorem gives 1 + eps at a rank somewhat above 50 / eps; in practice about twice
}

TEST(PivotedCholesky, PivotsAreDistributedAsIfDrawnOneByOne) {
  // diag(4, 1, 1, 1, 1): nothing is eliminated but the pivot itself, so the first is index 0 with probability 1/2, and index 0 is among the
  // first two with probability 1/2 + 1/2 * 4/7.
  const Matrix K = Vector{{4.0, 1.0, 1.0, 1.0, 1.0}}.asDiagonal().toDenseMatrix();
  int first = 0;
  int among = 0;
  constexpr int draws = 4000;
  for (int seed = 0; seed < draws; ++seed) {
    const auto pivots = factor(K, {.rank = 2, .seed = static_cast<std::uint64_t>(seed)}).pivots;
    first += pivots.at(0) == 0 ? 1 : 0;
    among += pivots.at(0) == 0 || pivots.at(1) == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first / static_cast<double>(draws), 0.5, 4 * 0.5 / std::sqrt(draws));
  EXPECT_NEAR(among / static_cast<double>(draws), 0.5 + 2.0 / 7, 4 * 0.5 / std::sqrt(draws));
}

TEST(PivotedCholesky, StopsAtTheRankOfTheMatrixAndAtTheTolerance) {
  const Matrix X = RandomStream(1).normal_matrix(200, 7);
  const PivotedCholesky exact = factor(X * X.transpose(), {.rank = 150});
  EXPECT_EQ(exact.factor.cols(), 7);
  EXPECT_LE(exact.trace_error, 1e-10 * exact.trace);
  const Matrix K = decaying(300, 2);
  const PivotedCholesky rough = factor(K, {.rank = 300, .tolerance = 0.05});
  EXPECT_LT(rough.factor.cols(), 300);
  EXPECT_LE(rough.trace_error, 0.05 * rough.trace);
}

TEST(PivotedCholesky, SaysWhatCannotBe) {
  const auto none = [](std::span<const Index> J) { return Matrix(Matrix::Zero(2, std::ssize(J))); };
  EXPECT_THROW(pivoted_cholesky(Vector(0), none, {}), InvalidArgument);
  EXPECT_THROW(pivoted_cholesky(Vector{{1.0, -1.0}}, none, {}), InvalidArgument);
  EXPECT_THROW(pivoted_cholesky(Vector{{1.0, 1.0}}, none, {.rank = 0}), InvalidArgument);
  EXPECT_EQ(pivoted_cholesky(Vector::Zero(2), none, {}).factor.cols(), 0);
}

TEST(PivotedCholesky, IsTheSameToTheBitForAnyNumberOfThreads) {
  const Matrix K = decaying(700, 1);
  Matrix one;
  Matrix two;
  with_threads(1, [&] { one = factor(K, {.rank = 200}).factor; });
  with_threads(2, [&] { two = factor(K, {.rank = 200}).factor; });
  EXPECT_EQ(one, two);
}

}  // namespace
}  // namespace mercer

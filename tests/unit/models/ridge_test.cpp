// Ridge and ordinary least squares against the normal equations, and the experiment of source K figures 1 and 2.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/ridge.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

Matrix normal_equations(const Matrix& X, const Matrix& Y, double alpha) {
  Matrix A = X.transpose() * X;
  A.diagonal().array() += alpha;
  return A.ldlt().solve(X.transpose() * Y).transpose();
}

TEST(Ridge, SolvesTheNormalEquations) {
  const Matrix X = RandomStream(1).normal_matrix(80, 7);
  const Matrix Y = RandomStream(2).normal_matrix(80, 3);
  for (const double alpha : {0.0, 0.5, 100.0}) {
    const auto model = fit_ridge(X, Y, {.alpha = alpha, .fit_intercept = false});
    EXPECT_LT((model.coef() - normal_equations(X, Y, alpha)).cwiseAbs().maxCoeff(), 1e-12) << alpha;
    EXPECT_EQ(model.intercept(), Vector::Zero(3));
  }
  EXPECT_EQ(fit_ridge(X, Y, {.lambda = 0.1}).coef(), fit_ridge(X, Y, {.alpha = 8}).coef());
}

TEST(Ridge, InterceptIsNotPenalisedAndWeightsCount) {
  const Matrix X = RandomStream(3).normal_matrix(60, 4);
  const Matrix Y = RandomStream(4).normal_matrix(60, 1).array() + 50;
  Vector w(60);
  std::vector<Index> repeated;
  for (Index i = 0; i < 60; ++i) {
    w[i] = static_cast<double>(i % 3);
    for (Index r = 0; r < i % 3; ++r) repeated.push_back(i);
  }
  const auto weighted = fit_ridge(X, Y, {.alpha = 3, .sample_weight = w});
  Matrix Xr(static_cast<Index>(repeated.size()), 4);
  Matrix Yr(static_cast<Index>(repeated.size()), 1);
  for (std::size_t i = 0; i < repeated.size(); ++i) {
    Xr.row(static_cast<Index>(i)) = X.row(repeated[i]);
    Yr(static_cast<Index>(i), 0) = Y(repeated[i], 0);
  }
  // Centred by hand, then the normal equations.
  const Eigen::RowVectorXd mean = Xr.colwise().mean();
  const Matrix expected = normal_equations(Xr.rowwise() - mean, Yr.array() - Yr.mean(), 3);
  EXPECT_LT((weighted.coef() - expected).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(weighted.intercept()[0], Yr.mean() - (expected * mean.transpose())(0, 0), 1e-11);
}

TEST(Ridge, RankDeficientLeastSquaresHasMinimumNorm) {
  Matrix X = RandomStream(5).normal_matrix(30, 4);
  X.col(3) = X.col(0) + X.col(1);
  const Matrix Y = RandomStream(6).normal_matrix(30, 1);
  const auto model = fit_ridge(X, Y, {.alpha = 0, .fit_intercept = false});
  const Matrix expected = X.completeOrthogonalDecomposition().solve(Y).transpose();
  EXPECT_LT((model.coef() - expected).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(model.summary().rank, 3);
  EXPECT_TRUE(std::isinf(model.summary().condition_before));
  const Matrix few = X.topRows(3);  // fewer rows than columns: interpolation of least norm
  const auto wide = fit_ridge(few, Matrix(Y.topRows(3)), {.alpha = 0, .fit_intercept = false});
  EXPECT_LT((wide.predict(few) - Y.topRows(3)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((wide.coef() - few.completeOrthogonalDecomposition().solve(Y.topRows(3)).transpose()).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(wide.summary().rank, 3);
}

TEST(Ridge, ReportsFilterAndConditionNumbers) {
  Matrix X = Matrix::Zero(3, 2);
  X(0, 0) = 3;
  X(1, 1) = 1;
  const auto model = fit_ridge(X, Matrix::Ones(3, 1), {.alpha = 4, .fit_intercept = false});
  EXPECT_NEAR(model.summary().filter[0], 3.0 / 13, 1e-15);
  EXPECT_NEAR(model.summary().filter[1], 1.0 / 5, 1e-15);
  EXPECT_NEAR(model.summary().condition_before, 3, 1e-14);
  EXPECT_NEAR(model.summary().condition_after, std::sqrt(13.0 / 5), 1e-14);  // of [X; 2 I]
  EXPECT_NEAR(model.summary().degrees_of_freedom, 9.0 / 13 + 1.0 / 5, 1e-15);
}

TEST(Ridge, MonomialsCountAndOrder) {
  Matrix X(1, 2);
  X << 2, 3;
  Matrix expected(1, 9);
  expected << 2, 3, 4, 6, 9, 8, 12, 18, 27;  // x y x2 xy y2 x3 x2y xy2 y3
  EXPECT_EQ(monomials(X, 3), expected);
  EXPECT_EQ(monomials(RandomStream(7).normal_matrix(2, 5), 4).cols(), 125);  // binomial(9, 4) - 1
}

TEST(Ridge, PolynomialRegressionOfFigures1And2) {
  // Twelve points, powers 0 .. 8. OLS follows the noise; ridge with lambda = 1 (alpha = 12, constant penalised as in the source) is calm.
  RandomStream random(8);
  Matrix x(12, 1);
  Matrix y(12, 1);
  for (Index i = 0; i < 12; ++i) {
    x(i, 0) = -1 + 2.0 * static_cast<double>(i) / 11;
    y(i, 0) = std::sin(3 * x(i, 0)) + 0.3 * random.normal();
  }
  Matrix powers(12, 9);
  powers.col(0).setOnes();
  powers.rightCols(8) = monomials(x, 8);
  const auto ols = fit_ridge(powers, y, {.alpha = 0, .fit_intercept = false});
  const auto ridge = fit_ridge(powers, y, {.lambda = 1.0, .fit_intercept = false});
  EXPECT_GT(ols.coef().norm(), 20 * ridge.coef().norm());
  EXPECT_LT((ols.predict(powers) - y).norm(), (ridge.predict(powers) - y).norm());
  EXPECT_LT((ridge.coef() - normal_equations(powers, y, 12)).cwiseAbs().maxCoeff(), 1e-12);
  // The same through degree = 8 with an unpenalised constant.
  const auto by_degree = fit_ridge(x, y, {.alpha = 0, .degree = 8});
  EXPECT_LT((by_degree.predict(x) - ols.predict(powers)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Ridge, BiasSquaredAndVarianceAddUpToTheError) {
  // Source K equation 6, by simulation: E (f(x0) - f*(x0))^2 = Var f(x0) + bias^2, for OLS (unbiased) and ridge (biased, less variance).
  const Index runs = 1000;
  const Matrix X = RandomStream(9).normal_matrix(15, 5);
  const Vector w = Vector::Constant(5, 0.3);
  const Matrix x0 = RandomStream(10).normal_matrix(1, 5);
  const double truth = (x0 * w)(0, 0);
  for (const double alpha : {0.0, 10.0}) {
    Vector f(runs);
    for (Index r = 0; r < runs; ++r) {
      const Matrix y = X * w + RandomStream(11, static_cast<std::uint64_t>(r)).normal_matrix(15, 1);
      f[r] = fit_ridge(X, y, {.alpha = alpha, .fit_intercept = false}).predict(x0)(0, 0);
    }
    const double error = (f.array() - truth).square().mean();
    const double variance = (f.array() - f.mean()).square().mean();
    const double bias = f.mean() - truth;
    EXPECT_NEAR(error, variance + bias * bias, 1e-12 * error);
    // And both against their closed forms: the hat vector h = x0 (X'X + a)^-1 X' has Var = |h|^2, bias = h X w - x0 w.
    const Matrix h = normal_equations(X, Matrix::Identity(15, 15), alpha) * x0.transpose();
    const double exact_variance = h.squaredNorm();
    const double exact_bias = (h.transpose() * X * w)(0, 0) - truth;
    EXPECT_NEAR(variance, exact_variance, 5 * exact_variance * std::sqrt(2.0 / runs));
    EXPECT_NEAR(bias, exact_bias, 5 * std::sqrt(exact_variance / runs));
    if (alpha == 0) {
      EXPECT_NEAR(exact_bias, 0, 1e-12);
    }
  }
}

TEST(Ridge, BadInputIsNamed) {
  const Matrix X = Matrix::Ones(5, 2);
  const Matrix y = Matrix::Ones(5, 1);
  EXPECT_THROW(fit_ridge(X, y, {.alpha = -1}), InvalidArgument);
  EXPECT_THROW(fit_ridge(X, y, {.degree = 0}), InvalidArgument);
  EXPECT_THROW(fit_ridge(X, Matrix::Ones(4, 1)), InvalidArgument);
  EXPECT_THROW(fit_ridge(X, y).predict(Matrix::Ones(1, 3)), InvalidArgument);
  EXPECT_THROW(fit_ridge(Matrix::Constant(5, 1, 1e200), y, {.degree = 2}), InvalidArgument);
  EXPECT_THROW(fit_ridge(X, y, {.degree = 90, .run = {.memory = 100000}}), OverBudget);
  // A constant column is no trouble.
  EXPECT_NEAR(fit_ridge(X, y).predict(X)(0, 0), 1, 1e-14);
}

}  // namespace
}  // namespace mercer

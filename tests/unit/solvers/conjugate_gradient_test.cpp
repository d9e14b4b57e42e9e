// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/conjugate_gradient.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "mercer/random.hpp"

namespace mercer {
namespace {

// Eigenvalues 1 .. 10^decades, evenly on a log scale, in a random basis.
Matrix with_condition(Index n, double decades) {
  const Matrix A = RandomStream(3).normal_matrix(n, n);
  const Eigen::MatrixXd Q = Eigen::HouseholderQR<Eigen::MatrixXd>(A).householderQ();
  const Vector values = Vector::LinSpaced(n, 0, decades).unaryExpr([](double e) { return std::pow(10.0, e); });
  const Matrix K = Q * values.asDiagonal() * Q.transpose();
  return 0.5 * (K + K.transpose());
}

TEST(ConjugateGradient, SolvesManyRightSidesToTheTrueResidual) {
  const Matrix A = with_condition(60, 3);
  const Matrix B = RandomStream(4).normal_matrix(60, 5);
  const auto result = conjugate_gradient([&](const Matrix& P) { return Matrix(A * P); }, {}, B);
  ASSERT_TRUE(result.converged);
  const Vector residuals = (A * result.X - B).colwise().norm().cwiseQuotient(B.colwise().norm()).transpose();
  EXPECT_LE(residuals.maxCoeff(), 1e-10);
  EXPECT_LE((residuals - result.residuals).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(ConjugateGradient, AGoodPreconditionerTakesFewSteps) {
  const Matrix A = with_condition(200, 6);
  const Matrix B = RandomStream(4).normal_matrix(200, 2);
  const Eigen::LLT<Matrix> near(A + Matrix::Identity(200, 200) * 0.1);
  const auto apply = [&](const Matrix& P) { return Matrix(A * P); };
  const auto plain = conjugate_gradient(apply, {}, B);
  const auto aided = conjugate_gradient(
      apply, [&](const Matrix& R) { return Matrix(near.solve(R)); }, B);
  EXPECT_TRUE(aided.converged);
  EXPECT_LT(aided.iterations, 15);
  EXPECT_GT(plain.iterations, 5 * aided.iterations);
}

TEST(ConjugateGradient, ZeroRightSidesAndStartsAtTheSolution) {
  const Matrix A = with_condition(20, 1);
  const Matrix X = RandomStream(5).normal_matrix(20, 2);
  const Matrix B = A * X;
  const auto apply = [&](const Matrix& P) { return Matrix(A * P); };
  EXPECT_EQ(conjugate_gradient(apply, {}, Matrix::Zero(20, 2)).iterations, 0);
  EXPECT_EQ(conjugate_gradient(apply, {}, B, X).iterations, 0);
}

TEST(ConjugateGradient, SaysThatAMatrixIsIndefinite) {
  Matrix A = Matrix::Identity(10, 10);
  A(0, 0) = -1;
  const auto result = conjugate_gradient([&](const Matrix& P) { return Matrix(A * P); }, {}, Matrix(Matrix::Identity(10, 1)));
  EXPECT_FALSE(result.converged);
  EXPECT_TRUE(result.indefinite);
}

TEST(ConjugateGradient, StopsAtTheLimitAndSaysSo) {
  const Matrix A = with_condition(100, 8);
  const auto result = conjugate_gradient([&](const Matrix& P) { return Matrix(A * P); }, {}, RandomStream(1).normal_matrix(100, 1), {},
                                         {.max_iterations = 5});
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.iterations, 5);
  EXPECT_GT(result.residuals[0], 1e-10);
}

}  // namespace
}  // namespace mercer

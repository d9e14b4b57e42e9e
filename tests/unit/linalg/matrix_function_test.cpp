// The functional calculus of source L as identities between matrices: f -> f(K) is linear and multiplicative, keeps norms and spectra.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/matrix_function.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

Matrix symmetric(Index n, std::uint64_t seed) {
  const Matrix A = RandomStream(seed).normal_matrix(n, n);
  return 0.5 * (A + A.transpose());
}

Matrix positive(Index n, Index rank, std::uint64_t seed) {
  const Matrix A = RandomStream(seed).normal_matrix(n, rank);
  return A * A.transpose() / static_cast<double>(rank);
}

double apart(const Matrix& A, const Matrix& B) { return (A - B).cwiseAbs().maxCoeff(); }

TEST(MatrixFunction, IsAnAlgebraHomomorphism) {
  for (const Index n : {1, 2, 127, 129, 300}) {
    const Matrix K = symmetric(n, 3);
    const auto f = [](const Vector& d) -> Vector { return d.array().sin(); };
    const auto g = [](const Vector& d) -> Vector { return (-d.array().square() / 100).exp(); };
    const Matrix fK = matrix_function(K, f);
    const Matrix gK = matrix_function(K, g);
    const Matrix sum = matrix_function(K, [&](const Vector& d) -> Vector { return 2.5 * f(d) + g(d); });
    const Matrix product = matrix_function(K, [&](const Vector& d) -> Vector { return f(d).cwiseProduct(g(d)); });
    const double tolerance = 1e-13 * static_cast<double>(n);
    EXPECT_LT(apart(sum, 2.5 * fK + gK), tolerance) << n;
    EXPECT_LT(apart(product, fK * gK), tolerance) << n;
    EXPECT_LT(apart(fK * gK, gK * fK), tolerance) << n;
    EXPECT_EQ(fK, fK.transpose());
    // |f(K)| = sup of |f| on the spectrum, and the spectrum of f(K) is f of the spectrum.
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> of_K(K);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> of_fK(fK);
    Vector wanted = f(of_K.eigenvalues());
    std::sort(wanted.begin(), wanted.end());
    EXPECT_LT((of_fK.eigenvalues() - wanted).cwiseAbs().maxCoeff(), tolerance) << n;
    EXPECT_NEAR(of_fK.eigenvalues().cwiseAbs().maxCoeff(), wanted.cwiseAbs().maxCoeff(), tolerance) << n;
  }
}

TEST(MatrixFunction, PowersAreProducts) {
  const Matrix K = symmetric(60, 5);
  const double tolerance = 1e-10;
  EXPECT_LT(apart(matrix_power(K, 3), K * K * K), tolerance);
  EXPECT_LT(apart(matrix_power(K, 1), K), tolerance);
  EXPECT_LT(apart(matrix_power(K, 0), Matrix::Identity(60, 60)), tolerance);
  EXPECT_LT(apart(matrix_power(K, -1) * K, Matrix::Identity(60, 60)), 1e-9);
  // exp by its Taylor series.
  Matrix series = Matrix::Identity(60, 60);
  Matrix term = series;
  for (int k = 1; k < 80; ++k) {
    term = Matrix(term * K / k);
    series += term;
  }
  const Matrix exp = matrix_function(K, [](const Vector& d) -> Vector { return d.array().exp(); });
  EXPECT_LT(apart(exp, series), 1e-11 * series.cwiseAbs().maxCoeff());
}

TEST(MatrixFunction, RootsAndLogarithmsOfPositiveMatrices) {
  const Matrix K = positive(50, 200, 7);
  const Matrix root = matrix_sqrt(K);
  EXPECT_LT(apart(root * root, K), 1e-13 * 50);
  EXPECT_LT(apart(matrix_inverse_sqrt(K) * root, Matrix::Identity(50, 50)), 1e-12);
  EXPECT_LT(apart(matrix_power(K, 0.25) * matrix_power(K, 0.25), root), 1e-12);
  const Matrix back = matrix_function(matrix_log(K), [](const Vector& d) -> Vector { return d.array().exp(); });
  EXPECT_LT(apart(back, K), 1e-12);
}

TEST(MatrixFunction, SingularMatricesHaveThePseudoInverse) {
  const Matrix K = positive(40, 6, 9);
  const Matrix W = matrix_inverse_sqrt(K);
  const Matrix P = W * K * W;  // the projector on the range of K
  EXPECT_LT(apart(P * P, P), 1e-11);
  EXPECT_NEAR(P.trace(), 6, 1e-10);
  EXPECT_LT(apart(P * K, K), 1e-11);
  EXPECT_LT(apart(matrix_power(K, -1), Matrix(K.completeOrthogonalDecomposition().pseudoInverse())), 1e-9);
  EXPECT_LT(apart(matrix_sqrt(K) * matrix_sqrt(K), K), 1e-12);
  EXPECT_EQ(matrix_sqrt(Matrix::Zero(4, 4)), Matrix::Zero(4, 4));
  EXPECT_EQ(matrix_inverse_sqrt(Matrix::Zero(4, 4)), Matrix::Zero(4, 4));
  const auto log = [&] { (void)matrix_log(K); };
  EXPECT_NE(message_of<InvalidArgument>(log).find("34 of its 40 eigenvalues are 0"), std::string::npos) << message_of<InvalidArgument>(log);
}

TEST(MatrixFunction, MisuseIsNamed) {
  const Matrix K = symmetric(10, 11);
  const auto says = [](const std::function<void()>& job, const char* what) {
    const std::string message = message_of<InvalidArgument>(job);
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  says([&] { (void)matrix_sqrt(K); }, "positive semi-definite");
  says([&] { (void)matrix_log(K); }, "positive semi-definite");
  says([&] { (void)matrix_power(K, 0.5); }, "positive semi-definite");
  says([&] { (void)matrix_power(K, std::nan("")); }, "finite");
  says([&] { (void)matrix_sqrt(Matrix::Zero(2, 3)); }, "square matrix");
  says([&] { (void)matrix_sqrt(Matrix(0, 0)); }, "square matrix");
  says([&] { (void)matrix_sqrt(Matrix{{1, 2}, {3, 4}}); }, "symmetric");
  says([&] { (void)matrix_sqrt(Matrix{{1, std::nan("")}, {0, 1}}); }, "NaN");
  says([&] { (void)matrix_sqrt(K, {.tolerance = 2}); }, "tolerance");
  says([&] { (void)matrix_function(K, [](const Vector&) { return Vector(3); }); }, "3 numbers for 10");
  says([&] { (void)matrix_function(K, [](const Vector& d) -> Vector { return d.array().log(); }); }, "finite on the spectrum");
  EXPECT_THROW(matrix_sqrt(positive(20, 20, 1), {.run = {.memory = 100}}), OverBudget);
  EXPECT_NO_THROW(matrix_sqrt(Matrix{{1, 0}, {0, -1e-6}}, {.tolerance = 1e-5}));
}

}  // namespace
}  // namespace mercer

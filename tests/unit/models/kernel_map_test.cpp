// Kernel maps against their definitions, and Mercer's map against eigenfunctions in closed form.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_map.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

const Kernel gaussian = kernels::gaussian(1.2);

double apart(const Matrix& A, const Matrix& B) { return (A - B).cwiseAbs().maxCoeff(); }

TEST(EmpiricalKernelMap, GramIsTheSquareAndWhitenedTheMatrixItself) {
  const Matrix X = RandomStream(3).normal_matrix(300, 4);
  const Matrix K = gram(gaussian, X);
  const KernelMap plain = fit_empirical_kernel_map(X, {.kernel = gaussian});
  const Matrix Z = plain.transform(X);
  EXPECT_EQ(Z, K);
  EXPECT_LT(apart(Z * Z.transpose(), K * K), 1e-11);
  const KernelMap white = fit_empirical_kernel_map(X, {.kernel = gaussian, .whiten = true});
  const Matrix V = white.transform(X);
  EXPECT_LT(apart(V * V.transpose(), K), 1e-9);
  EXPECT_EQ(white.eigenvalues().size(), 300);
  EXPECT_NEAR(white.eigenvalues().sum(), 300, 1e-9);
  // New rows: k(x, X), and K^(-1/2) k(X, x) by a solver of its own.
  const Matrix N = RandomStream(4).normal_matrix(7, 4);
  EXPECT_EQ(plain.transform(N), gram(gaussian, N, X));
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(K);
  EXPECT_LT(apart(white.transform(N), gram(gaussian, N, X) * eigen.operatorInverseSqrt()), 1e-8);
  MatrixF single(7, 300);
  white.transform_into(MatrixF(N.cast<float>()), single.data(), 300);
  EXPECT_LT(apart(single.cast<double>(), white.transform(N)), 1e-4);
  EXPECT_EQ(white.transform(N, {.threads = 1}), white.transform(N, {.threads = 2}));
}

TEST(EmpiricalKernelMap, SingularMatricesAndChosenPoints) {
  const Matrix X = RandomStream(5).normal_matrix(90, 3);
  const KernelMap white = fit_empirical_kernel_map(X, {.kernel = kernels::linear(), .whiten = true});  // rank 3
  const Matrix V = white.transform(X);
  EXPECT_LT(apart(V * V.transpose(), X * X.transpose()), 1e-12 * 90);
  const KernelMap few = fit_empirical_kernel_map(X, {.kernel = gaussian, .n_components = 20, .landmarks = LandmarkMethod::rpcholesky});
  ASSERT_EQ(few.n_components(), 20);
  ASSERT_EQ(few.point_rows().size(), 20U);
  EXPECT_EQ(few.points().to_dense().row(0), X.row(few.point_rows()[0]));
  const Matrix given = RandomStream(6).normal_matrix(5, 3);
  EXPECT_EQ(fit_empirical_kernel_map(X, {.kernel = gaussian, .given_landmarks = Samples(given)}).transform(X), gram(gaussian, X, given));
  // Objects of a given Gram matrix.
  const Matrix K = gram(gaussian, X);
  const KernelMap of_values = fit_empirical_kernel_map(K, {.kernel = kernels::precomputed(), .whiten = true});
  EXPECT_LT(apart(of_values.transform(K), fit_empirical_kernel_map(X, {.kernel = gaussian, .whiten = true}).transform(X)), 1e-9);
}

struct Rule {
  Matrix x;
  Vector w;
};
// Gauss and Legendre on [a, b] in panels of 30 points; the weights times a density.
template <class Density>
Rule rule_on(double a, double b, int panels, Density density) {
  const auto& nodes = boost::math::quadrature::gauss<double, 30>::abscissa();
  const auto& weights = boost::math::quadrature::gauss<double, 30>::weights();
  std::vector<double> x;
  std::vector<double> w;
  const double half = (b - a) / (2 * panels);
  for (int p = 0; p < panels; ++p) {
    const double middle = a + (2 * p + 1) * half;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const double sign : {-1.0, 1.0}) {
        x.push_back(middle + sign * half * nodes[i]);
        w.push_back(half * weights[i] * density(x.back()));
      }
    }
  }
  return {Eigen::Map<const Vector>(x.data(), std::ssize(x)), Eigen::Map<const Vector>(w.data(), std::ssize(w))};
}

// k = exp(-(x-y)^2 / (2 l^2)) and the normal measure of standard deviation s. With a = 1/(4 s^2), b = 1/(2 l^2), c = sqrt(a^2 + 2ab),
// A = a + b + c: lambda_i = sqrt(2a / A) (b / A)^i and psi_i proportional to exp(-(c - a) x^2) H_i(sqrt(2c) x). Rasmussen and Williams
// (4.39), (4.40).
TEST(MercerMap, GaussianKernelAndGaussianMeasure) {
  const double s = 0.8;
  const double l = 1.1;
  const double a = 1 / (4 * s * s);
  const double b = 1 / (2 * l * l);
  const double c = std::sqrt(a * a + 2 * a * b);
  const double A = a + b + c;
  const Rule rule = rule_on(-10 * s, 10 * s, 8, [&](double x) { return std::exp(-x * x / (2 * s * s)); });
  const KernelMap map = fit_mercer_map(rule.x, {.kernel = kernels::gaussian(l), .n_components = 10, .sample_weight = rule.w});
  ASSERT_EQ(map.n_components(), 10);
  const Matrix at = Vector::LinSpaced(41, -2, 2);
  const Matrix psi = map.transform(at) * map.eigenvalues().cwiseSqrt().cwiseInverse().asDiagonal();
  double normal = std::pow(c / a, 0.25);  // of psi_0, in the measure
  for (Index i = 0; i < 10; ++i) {
    const double wanted = std::sqrt(2 * a / A) * std::pow(b / A, i);
    EXPECT_NEAR(map.eigenvalues()[i], wanted, 1e-13) << i;
    if (i > 0) normal /= std::sqrt(2.0 * static_cast<double>(i));
    Vector exact(at.rows());
    for (Index r = 0; r < at.rows(); ++r) {
      const double x = at(r, 0);
      exact[r] = normal * std::exp(-(c - a) * x * x) * std::hermite(static_cast<unsigned>(i), std::sqrt(2 * c) * x);
    }
    const double error = std::min((psi.col(i) - exact).cwiseAbs().maxCoeff(), (psi.col(i) + exact).cwiseAbs().maxCoeff());
    EXPECT_LT(error, 1e-13 / wanted + 1e-11) << i;  // rounding of the matrix over the eigenvalue
  }
}

// min(x, y) on [0, 1] with the uniform measure: lambda_i = 1 / ((i - 1/2)^2 pi^2), psi_i = sqrt(2) sin((i - 1/2) pi x).
TEST(MercerMap, BrownianKernel) {
  const Kernel brownian = kernels::function(
      "min",
      [](const Samples& X, const Samples& Y) -> Matrix {
        const Vector x = X.to_dense().col(0);
        const Vector y = Y.to_dense().col(0);
        return x.replicate(1, y.size()).cwiseMin(y.transpose().replicate(x.size(), 1));
      },
      Verdict::yes);
  const Index n = 800;
  const Matrix grid = (Vector::LinSpaced(n, 0, static_cast<double>(n - 1)).array() + 0.5) / static_cast<double>(n);
  const KernelMap map = fit_mercer_map(grid, {.kernel = brownian, .n_components = 8});
  const Matrix at = Vector::LinSpaced(50, 0.01, 0.99);
  const Matrix psi = map.transform(at) * map.eigenvalues().cwiseSqrt().cwiseInverse().asDiagonal();
  for (Index i = 0; i < 8; ++i) {
    const double w = (static_cast<double>(i) + 0.5) * std::numbers::pi;
    // The rule of mid-points has an error of (w / n)^2 / 12, relative.
    EXPECT_NEAR(map.eigenvalues()[i] * w * w, 1, w * w / (6.0 * n * n) + 1e-9) << i;
    const Vector exact = std::numbers::sqrt2 * (w * at.array()).sin();
    const double error = std::min((psi.col(i) - exact).cwiseAbs().maxCoeff(), (psi.col(i) + exact).cwiseAbs().maxCoeff());
    // The kink of min: between grid points the sum is off by at most w^2 / (4 n^2), and once more for the norm.
    EXPECT_LT(error, w * w / (static_cast<double>(n) * n) + 1e-9) << i;
  }
  // The RKHS norm of a function by its Mercer coordinates: |k(x, .)|^2 = sum (lambda psi(x))^2 / lambda = k(x, x).
  const KernelMap whole = fit_mercer_map(grid, {.kernel = brownian, .n_components = n});
  const Matrix features = whole.transform(grid.topRows(20));
  EXPECT_LT(apart(features * features.transpose(), gram(brownian, Samples(Matrix(grid.topRows(20))))), 1e-10);
}

TEST(MercerMap, WeightsAreRepetitionsAndPointsAreDrawn) {
  const Matrix X = RandomStream(8).normal_matrix(40, 2);
  Vector w = Vector::Ones(40);
  w[3] = 2;
  w[7] = 0;
  Matrix repeated(40, 2);
  repeated << X.topRows(7), X.bottomRows(32), X.row(3);
  const KernelMap weighted = fit_mercer_map(X, {.kernel = gaussian, .n_components = 5, .sample_weight = w});
  const KernelMap by_rows = fit_mercer_map(repeated, {.kernel = gaussian, .n_components = 5});
  EXPECT_LT((weighted.eigenvalues() - by_rows.eigenvalues()).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT(apart(weighted.transform(X).cwiseAbs(), by_rows.transform(X).cwiseAbs()), 1e-11);
  const KernelMap drawn = fit_mercer_map(X, {.kernel = gaussian, .n_components = 50, .n_points = 15, .seed = 2});
  EXPECT_EQ(drawn.points().size(), 15);
  EXPECT_EQ(drawn.points().to_dense().row(4), X.row(drawn.point_rows()[4]));
  EXPECT_EQ(fit_mercer_map(X, {.kernel = kernels::linear()}).n_components(), 2);  // its rank
}

TEST(KernelMap, MisuseIsNamed) {
  const Matrix X = RandomStream(9).normal_matrix(12, 2);
  const auto says = [](const std::function<void()>& job, const char* what) {
    const std::string message = message_of<InvalidArgument>(job);
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  says([&] { fit_empirical_kernel_map(Matrix(0, 2)); }, "no samples");
  says([&] { fit_empirical_kernel_map(X, {.n_components = -1}); }, "n_components");
  says([&] { fit_empirical_kernel_map(X, {.kernel = gaussian + kernels::white(1)}); }, "white noise");
  says([&] { fit_empirical_kernel_map(X, {.given_landmarks = Samples(Matrix::Ones(2, 3))}); }, "landmarks have 3 columns");
  says([&] { fit_empirical_kernel_map(X, {.kernel = kernels::sigmoid(1, -3), .whiten = true}); }, "not positive semi-definite");
  says([&] { (void)fit_empirical_kernel_map(X).transform(Matrix::Ones(1, 3)); }, "X has 3 columns");
  says([&] { (void)fit_empirical_kernel_map(X).transform(Matrix::Constant(1, 2, std::nan(""))); }, "NaN");
  says([&] { fit_mercer_map(X, {.n_components = 0}); }, "n_components");
  says([&] { fit_mercer_map(X, {.n_points = -2}); }, "n_points");
  says([&] { fit_mercer_map(X, {.sample_weight = Vector::Ones(3)}); }, "one number for each of the 12");
  says([&] { fit_mercer_map(X, {.sample_weight = Vector::Zero(12)}); }, "0 for every row");
  says([&] { fit_mercer_map(X, {.sample_weight = Vector::Constant(12, -1)}); }, ">= 0");
  says([&] { fit_mercer_map(X, {.kernel = kernels::sigmoid(1, -3)}); }, "not positive semi-definite");
  EXPECT_THROW(fit_mercer_map(X, {.run = {.memory = 10}}), OverBudget);
  says([&] { KernelMap::from_parts(KernelMapKind::mercer, gaussian, X, {}, Matrix::Ones(12, 2), Vector::Ones(3)); }, "3 eigenvalues");
}

}  // namespace
}  // namespace mercer

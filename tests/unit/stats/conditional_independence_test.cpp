// Conditional independence: statistics by dense algebra, leave-one-out by leaving rows out, levels and power on simulated data.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/conditional_independence.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <boost/math/distributions/gamma.hpp>
#include <cmath>
#include <cstdlib>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/independence.hpp"
#include "mercer/random.hpp"
#include "mercer/random_features.hpp"
#include "stats/conditional_ridge.hpp"

namespace mercer {
namespace {

using Method = ConditionalMethod;
using Null = ConditionalNull;

struct Data {
  Matrix X{};
  Matrix Y{};
  Matrix Z{};
};

enum class Shape { post_nonlinear, waves, linear, changing };

// Z -> X and Z -> Y; the noise of X enters Y with this strength. Of `changing` its sign is that of Z.
Data simulated(Shape shape, Index n, Index d, double strength, std::uint64_t seed) {
  RandomStream random(seed, 21);
  Data data{Matrix(n, 1), Matrix(n, 1), random.normal_matrix(n, d)};
  for (Index i = 0; i < n; ++i) {
    const double z = data.Z.row(i).sum() / std::sqrt(static_cast<double>(d));
    const double e = random.normal();
    const double f = random.normal();
    switch (shape) {
      case Shape::post_nonlinear:
        data.X(i, 0) = std::tanh(z + 0.7 * e);
        data.Y(i, 0) = std::pow(0.8 * z + 0.7 * f + strength * e, 3) / 3;
        break;
      case Shape::waves:
        data.X(i, 0) = std::cos(2 * z) + 0.5 * e;
        data.Y(i, 0) = std::sin(2 * z) + 0.5 * f + strength * e;
        break;
      case Shape::linear:
        data.X(i, 0) = z + 0.5 * e;
        data.Y(i, 0) = z + 0.5 * f + strength * e;
        break;
      case Shape::changing:
        data.X(i, 0) = z + e;
        data.Y(i, 0) = z + f + (z > 0 ? strength : -strength) * e;
        break;
    }
  }
  return data;
}

int rejections(Shape shape, Index n, Index d, double strength, int data_sets, ConditionalIndependenceOptions options) {
  int count = 0;
  options.run.threads = 1;  // small problems
  for (int i = 0; i < data_sets; ++i) {
    const Data data = simulated(shape, n, d, strength, 1000 + static_cast<std::uint64_t>(i));
    options.seed = static_cast<std::uint64_t>(i);
    count += conditional_independence_test(data.X, data.Y, data.Z, options).rejected ? 1 : 0;
  }
  return count;
}

Matrix centred(Matrix K) {
  const Index n = K.rows();
  const Matrix H = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1 / static_cast<double>(n));
  return H * K * H;
}

TEST(ConditionalIndependence, StatisticAndGammaLawByDenseAlgebra) {
  const Data data = simulated(Shape::linear, 70, 2, 0.1, 1);
  const Kernel kx = kernels::gaussian(0.7);
  const Kernel ky = kernels::laplacian(1.1);
  const Kernel kz = kernels::gaussian(1.5);
  const double eps = 0.05;
  const Index n = 70;
  const Matrix Kz = gram(kz, data.Z);
  const Matrix R = eps * (centred(Kz) + eps * Matrix::Identity(n, n)).inverse();
  const Matrix A = (R * centred(gram(kx, data.X)) * R).cwiseProduct(Kz);
  const Matrix M = A.cwiseProduct(R * centred(gram(ky, data.Y)) * R);
  const double mean = M.trace() / 70;
  const double variance = 2 * M.squaredNorm() / (70.0 * 70.0);
  ConditionalIndependenceOptions options{
      .kernel_x = kx, .kernel_y = ky, .kernel_z = kz, .null = Null::gamma, .epsilon = eps, .remove_means = false};
  const TestResult r = conditional_independence_test(data.X, data.Y, data.Z, options);
  EXPECT_NEAR(r.statistic, M.sum() / 70, 1e-11);
  const boost::math::gamma_distribution<double> law(mean * mean / variance, variance / mean);
  EXPECT_NEAR(r.p_value, boost::math::cdf(boost::math::complement(law, M.sum() / 70)), 1e-8);
  EXPECT_EQ(r.statistic_name, "kci");
  EXPECT_EQ(r.null.size(), 1000);
  // Draws of the spectral null have the same two moments, and the same statistic.
  options.null = Null::spectral;
  options.draws = 20000;
  const TestResult s = conditional_independence_test(data.X, data.Y, data.Z, options);
  EXPECT_EQ(s.statistic, r.statistic);
  EXPECT_NEAR(s.null.mean(), mean, 5 * std::sqrt(variance / 20000));
  EXPECT_NEAR((s.null.array() - s.null.mean()).square().mean(), variance, 0.15 * variance);
  // X and Y may change places.
  std::swap(options.kernel_x, options.kernel_y);
  EXPECT_NEAR(conditional_independence_test(data.Y, data.X, data.Z, options).statistic, s.statistic, 1e-11);
}

TEST(ConditionalIndependence, LeaveOneOutIsLeavingOneOut) {
  const Index n = 25;
  const Matrix Z = RandomStream(2).normal_matrix(n, 2);
  Matrix F = RandomStream(3).normal_matrix(n, 3);
  F.rowwise() -= F.colwise().mean().eval();
  const Kernel k = kernels::gaussian(1.0);
  const double eps = 0.3;
  const std::vector<stats::RidgeBasis> bases = {stats::ridge_basis(k, Z, 1, {})};
  const stats::RidgeChoice choice = stats::choose_ridge(bases, F, eps, {});
  const Matrix K = gram(k, Z);
  double error = 0;
  for (Index left = 0; left < n; ++left) {
    std::vector<Index> rest;
    for (Index i = 0; i < n; ++i) {
      if (i != left) rest.push_back(i);
    }
    // [K + eps I, 1; 1', 0] [alpha; b] = [F; 0]
    Matrix system = Matrix::Ones(n, n);
    Matrix right = Matrix::Zero(n, 3);
    system(n - 1, n - 1) = 0;
    system.topLeftCorner(n - 1, n - 1) = K(rest, rest) + eps * Matrix::Identity(n - 1, n - 1);
    right.topRows(n - 1) = F(rest, Eigen::all);
    const Matrix solution = system.fullPivLu().solve(right);
    const Matrix fitted = K(std::vector<Index>{left}, rest) * solution.topRows(n - 1) + solution.row(n - 1);
    error += (F.row(left) - fitted).squaredNorm();
  }
  EXPECT_NEAR(choice.share, error / F.squaredNorm(), 1e-10);
  const Matrix R = eps * (centred(K) + eps * Matrix::Identity(n, n)).inverse();
  EXPECT_NEAR(choice.degrees, static_cast<double>(n) - R.trace(), 1e-9);
  EXPECT_LT((stats::ridge_residuals(bases[0], eps, F) - R * F).cwiseAbs().maxCoeff(), 1e-10);
  // Of all penalties the least error.
  const stats::RidgeChoice best = stats::choose_ridge(bases, F, {}, {});
  EXPECT_LE(best.share, choice.share);
}

TEST(ConditionalIndependence, RandomizedStatisticByDenseAlgebra) {
  const Data data = simulated(Shape::linear, 200, 2, 0.2, 4);
  const Kernel kx = kernels::gaussian(0.7);
  const Kernel ky = kernels::gaussian(0.9);
  const Kernel kz = kernels::gaussian(1.5);
  for (const Index weights : {0, 2}) {
    ConditionalIndependenceOptions options{.kernel_x = kx,
                                           .kernel_y = ky,
                                           .kernel_z = kz,
                                           .method = Method::randomized,
                                           .epsilon = 0.4,
                                           .remove_means = false,
                                           .features_xy = 4,
                                           .features_z = 20,
                                           .features_weight = weights,
                                           .seed = 9};
    const TestResult r = conditional_independence_test(data.X, data.Y, data.Z, options);
    const Index n = 200;
    const auto centre_columns = [](Matrix A) -> Matrix { return A.rowwise() - A.colwise().mean(); };
    const Matrix P = centre_columns(random_fourier_features(kz, 2, {.n_components = 20, .seed = 12}).transform(data.Z));
    const Matrix R = Matrix::Identity(n, n) - P * (P.transpose() * P + 0.4 * Matrix::Identity(20, 20)).inverse() * P.transpose();
    const Matrix a =
        R * centre_columns(random_fourier_features(kx, 1, {.n_components = 4, .form = FourierForm::cosine, .seed = 10}).transform(data.X));
    const Matrix b =
        R * centre_columns(random_fourier_features(ky, 1, {.n_components = 4, .form = FourierForm::cosine, .seed = 11}).transform(data.Y));
    Matrix W = Matrix::Ones(n, 1 + weights);
    if (weights > 0)
      W.rightCols(weights) =
          random_fourier_features(kz, 2, {.n_components = weights, .form = FourierForm::cosine, .seed = 109}).transform(data.Z);
    const Matrix M = (a * a.transpose()).cwiseProduct(b * b.transpose()).cwiseProduct(W * W.transpose());
    EXPECT_NEAR(r.statistic, M.sum() / 200, 1e-9);
    EXPECT_EQ(r.statistic_name, weights > 0 ? "rcit" : "rcot");
    options.draws = 20000;
    const TestResult many = conditional_independence_test(data.X, data.Y, data.Z, options);
    EXPECT_NEAR(many.null.mean(), M.trace() / 200, 5 * std::sqrt(2 * M.squaredNorm() / 4e4 / 20000));
  }
}

// The levels below are of approximations: documented in docs/conditional-independence.md, and here kept from growing.
TEST(ConditionalIndependence, LevelOfBothNullsAndMethods) {
  for (const Null null : {Null::spectral, Null::gamma}) {
    // The upper ends of the 99.9 % intervals of Binomial(100, 0.05).
    EXPECT_LE(rejections(Shape::post_nonlinear, 80, 1, 0, 100, {.method = Method::kci, .null = null, .draws = 99}), 13);
    EXPECT_LE(rejections(Shape::waves, 200, 1, 0, 100, {.method = Method::randomized, .null = null, .draws = 99}), 13);
  }
}

// Five columns of Z with a linear influence: without taking the means away most data sets would be rejected.
TEST(ConditionalIndependence, MeansTakenAwayKeepTheLevel) {
  const int with = rejections(Shape::linear, 80, 5, 0, 60, {.method = Method::kci, .null = Null::gamma});
  const int without = rejections(Shape::linear, 80, 5, 0, 60, {.method = Method::kci, .null = Null::gamma, .remove_means = false});
  EXPECT_LE(with, 10);
  EXPECT_GE(without, 2 * with);
}

TEST(LongLevelConditionalIndependence, PostNonlinear) {
  if (std::getenv("MERCER_LONG_TESTS") == nullptr) GTEST_SKIP();
  for (const Null null : {Null::spectral, Null::gamma}) {
    EXPECT_LE(rejections(Shape::post_nonlinear, 100, 1, 0, 1000, {.method = Method::kci, .null = null, .draws = 199}), 75);
    EXPECT_LE(rejections(Shape::post_nonlinear, 300, 1, 0, 1000, {.method = Method::randomized, .null = null, .draws = 199}), 75);
  }
}

TEST(ConditionalIndependence, PowerAgainstXToY) {
  for (const Shape shape : {Shape::post_nonlinear, Shape::waves, Shape::linear}) {
    EXPECT_GE(rejections(shape, 120, 1, 0.5, 20, {.method = Method::kci, .draws = 99}), 18);
    EXPECT_GE(rejections(shape, 300, 1, 0.5, 20, {.method = Method::randomized, .draws = 99}), 18);
  }
  EXPECT_GE(rejections(Shape::changing, 150, 1, 0.8, 20, {.method = Method::kci, .draws = 99}), 18);
  EXPECT_GE(rejections(Shape::changing, 400, 1, 0.8, 20, {.method = Method::randomized, .draws = 99, .features_weight = 4}), 18);
}

TEST(ConditionalIndependence, AutomaticMethodSaysWhatItTook) {
  const Data few = simulated(Shape::linear, 60, 1, 0, 1);
  EXPECT_EQ(conditional_independence_test(few.X, few.Y, few.Z, {.draws = 9}).statistic_name, "kci");
  const Data many = simulated(Shape::linear, 1500, 1, 0.5, 1);
  const TestResult r = conditional_independence_test(many.X, many.Y, many.Z, {.draws = 99});
  EXPECT_EQ(r.statistic_name, "rcot");
  EXPECT_TRUE(r.rejected);
  ASSERT_FALSE(r.remarks.empty());
  EXPECT_NE(r.remarks.front().find("randomised"), std::string::npos);
}

TEST(ConditionalIndependence, Threads) {
  const Data data = simulated(Shape::waves, 300, 2, 0.1, 6);
  const auto with = [&](int threads, Method method) {
    return conditional_independence_test(data.X, data.Y, data.Z, {.method = method, .draws = 50, .run = {.threads = threads}});
  };
  EXPECT_NEAR(with(1, Method::kci).statistic, with(2, Method::kci).statistic, 1e-10);  // LAPACK's eigenvectors, equal to rounding
  const TestResult one = with(1, Method::randomized);
  const TestResult two = with(2, Method::randomized);
  EXPECT_NEAR(one.statistic, two.statistic, 1e-12);
  EXPECT_EQ(one.p_value, two.p_value);
}

TEST(ConditionalIndependence, GivenGramsSparseAndFloat) {
  const Data data = simulated(Shape::linear, 60, 2, 0.3, 8);
  const Kernel kx = kernels::gaussian(0.7);
  const Kernel kz = kernels::gaussian(1.5);
  const ConditionalIndependenceOptions options{.kernel_x = kx, .kernel_y = kx, .kernel_z = kz, .null = Null::gamma, .remove_means = false};
  const TestResult plain = conditional_independence_test(data.X, data.Y, data.Z, options);
  ConditionalIndependenceOptions given = options;
  given.kernel_x = given.kernel_y = given.kernel_z = kernels::precomputed();
  const TestResult by_grams = conditional_independence_test(gram(kx, data.X), gram(kx, data.Y), gram(kz, data.Z), given);
  EXPECT_NEAR(by_grams.statistic, plain.statistic, 1e-10);
  const CsrMatrix<double> sparse = data.Z.sparseView();
  EXPECT_NEAR(conditional_independence_test(data.X, data.Y, Samples(sparse), options).statistic, plain.statistic, 1e-10);
  EXPECT_NEAR(conditional_independence_test(MatrixF(data.X.cast<float>()), data.Y, data.Z, options).statistic, plain.statistic, 1e-4);
}

TEST(ConditionalIndependence, DegenerateVariables) {
  const Data data = simulated(Shape::linear, 60, 1, 0, 9);
  const Matrix ones = Matrix::Ones(60, 1);
  for (const Method method : {Method::kci, Method::randomized}) {
    const TestResult constant = conditional_independence_test(ones, data.Y, data.Z, {.method = method, .draws = 19});
    EXPECT_EQ(constant.p_value, 1);
    EXPECT_FALSE(constant.rejected);
    EXPECT_THROW(conditional_independence_test(data.X, data.Y, ones, {.method = method}), InvalidArgument);
    // X is a function of Z: independent of everything given Z, and the result says that there is little left of it.
    const TestResult determined = conditional_independence_test(2 * data.Z, data.Y, data.Z, {.method = method, .draws = 19});
    bool said = false;
    for (const std::string& remark : determined.remarks) said = said || remark.find("determines X") != std::string::npos;
    EXPECT_TRUE(said);
  }
  const TestResult without = conditional_independence_test(data.X, data.Y, Matrix(60, 0), {.draws = 99});
  EXPECT_EQ(without.test, "independence");
  EXPECT_EQ(without.p_value, independence_test(data.X, data.Y, {.permutations = 99}).p_value);
}

TEST(ConditionalIndependence, CanBeCancelled) {  // jobs of seconds, asked twenty times a second
  for (const Method method : {Method::kci, Method::randomized}) {
    const Data data = simulated(Shape::linear, method == Method::kci ? 900 : 200000, 1, 0, 9);
    ConditionalIndependenceOptions options{.method = method};
    options.run.progress = [](const ProgressEvent&) { return false; };
    EXPECT_THROW(conditional_independence_test(data.X, data.Y, data.Z, options), Cancelled);
  }
}

TEST(ConditionalIndependence, Misuse) {
  const Data data = simulated(Shape::linear, 30, 1, 0, 9);
  const auto test = [&](const ConditionalIndependenceOptions& options) {
    return conditional_independence_test(data.X, data.Y, data.Z, options);
  };
  EXPECT_THROW(test({.draws = 0}), InvalidArgument);
  EXPECT_THROW(test({.epsilon = 0}), InvalidArgument);
  EXPECT_THROW(test({.level = 1.5}), InvalidArgument);
  EXPECT_THROW(test({.features_xy = 0}), InvalidArgument);
  EXPECT_THROW(test({.method = Method::randomized, .features_xy = 100}), InvalidArgument);
  EXPECT_THROW(test({.kernel_x = kernels::sigmoid()}), InvalidArgument);
  EXPECT_THROW(test({.kernel_x = kernels::linear(), .method = Method::randomized}), InvalidArgument);
  EXPECT_THROW(conditional_independence_test(data.X.topRows(20), data.Y, data.Z), InvalidArgument);
  EXPECT_THROW(conditional_independence_test(data.X.topRows(5), data.Y.topRows(5), data.Z.topRows(5)), InvalidArgument);
  Matrix bad = data.X;
  bad(3, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(conditional_independence_test(bad, data.Y, data.Z), InvalidArgument);
  const Data large = simulated(Shape::linear, 500, 1, 0, 9);
  EXPECT_THROW(conditional_independence_test(large.X, large.Y, large.Z, {.method = Method::kci, .run = {.memory = 1000000}}), OverBudget);
}

}  // namespace
}  // namespace mercer

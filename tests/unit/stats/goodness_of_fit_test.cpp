// Stein discrepancies by plain loops and finite differences, what the Stein kernel is zero for, and the levels of the tests.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/goodness_of_fit.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/stein.hpp"

namespace mercer {
namespace {

Matrix covariance2() {
  Matrix S(2, 2);
  S << 2, 0.6, 0.6, 1;
  return S;
}

Vector mean2() { return Vector{{0.5, -1}}; }

std::vector<Distribution::Component> three_parts() {
  return {{0.5, Vector{{0.0, 0.0}}, covariance2()},
          {0.3, Vector{{3.0, 1.0}}, Matrix::Identity(2, 2)},
          {1.2, Vector{{-1.0, 2.0}}, 0.5 * Matrix::Identity(2, 2)}};
}

double log_density(const std::vector<Distribution::Component>& parts, const Vector& x) {
  double sum = 0;
  for (const auto& part : parts) {
    const Vector u = x - part.mean;
    const Matrix& S = part.covariance;
    const double det = S(0, 0) * S(1, 1) - S(0, 1) * S(1, 0);
    const double square = (S(1, 1) * u[0] * u[0] - 2 * S(0, 1) * u[0] * u[1] + S(0, 0) * u[1] * u[1]) / det;
    sum += part.weight * std::exp(-square / 2) / (2 * std::numbers::pi * std::sqrt(det));
  }
  return std::log(sum);
}

double kernel_value(const Kernel& k, const Vector& x, const Vector& y) {
  return gram(k, Samples(Matrix(x.transpose())), Samples(Matrix(y.transpose())))(0, 0);
}

// k_p by central differences of the kernel and of the log density.
double naive_stein(const Kernel& k, const std::vector<Distribution::Component>& parts, const Vector& x, const Vector& y) {
  const double h = 1e-4;
  const auto unit = [&](Index j) { return h * Vector::Unit(2, j); };
  double sum = 0;
  for (Index j = 0; j < 2; ++j) {
    const Vector e = unit(j);
    const double sx = (log_density(parts, x + e) - log_density(parts, x - e)) / (2 * h);
    const double sy = (log_density(parts, y + e) - log_density(parts, y - e)) / (2 * h);
    const double dx = (kernel_value(k, x + e, y) - kernel_value(k, x - e, y)) / (2 * h);
    const double dy = (kernel_value(k, x, y + e) - kernel_value(k, x, y - e)) / (2 * h);
    const double dxy =
        (kernel_value(k, x + e, y + e) - kernel_value(k, x + e, y - e) - kernel_value(k, x - e, y + e) + kernel_value(k, x - e, y - e)) /
        (4 * h * h);
    sum += sx * sy * kernel_value(k, x, y) + sx * dy + sy * dx + dxy;
  }
  return sum;
}

TEST(SteinKernel, IsThatOfFiniteDifferences) {
  const Matrix X = RandomStream(1).normal_matrix(6, 2);
  const Distribution p = Distribution::mixture(three_parts());
  const Matrix S = p.scores(X);
  for (const Kernel& k : {kernels::gaussian(1.2), kernels::rational_quadratic(0.8, 0.5), kernels::rational_quadratic(1.5, 2)}) {
    const Matrix K = stats::stein_block(stats::radial_of(k), X, S, X, S);
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < 6; ++j) EXPECT_NEAR(K(i, j), naive_stein(k, three_parts(), X.row(i), X.row(j)), 2e-6) << k.text();
    }
    EXPECT_NEAR((K - K.transpose()).cwiseAbs().maxCoeff(), 0, 1e-13);
    EXPECT_GT(K.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff(), -1e-12);
  }
}

// E k_p(x, y) = 0 for x from p, whatever y: by a fine grid of the standard normal's density.
TEST(SteinKernel, HasMeanZeroUnderTheModel) {
  Matrix grid(4001, 1);
  for (Index i = 0; i < grid.rows(); ++i) grid(i, 0) = -10 + 0.005 * static_cast<double>(i);
  const Vector density = (-grid.col(0).array().square() / 2).exp() / std::sqrt(2 * std::numbers::pi);
  const Matrix y = Matrix::Constant(1, 1, 0.7);
  for (const Kernel& k : {kernels::gaussian(0.9), kernels::rational_quadratic(1.1, 0.5)}) {
    const Matrix K = stats::stein_block(stats::radial_of(k), grid, -grid, y, -y);
    EXPECT_NEAR(0.005 * K.col(0).dot(density), 0, 1e-12);
    const Matrix shifted = stats::stein_block(stats::radial_of(k), grid, -grid.array() + 0.5, y, -y.array() + 0.5);
    EXPECT_GT(std::abs(0.005 * shifted.col(0).dot(density)), 0.05);
  }
}

TEST(GoodnessOfFit, StatisticsAreThoseOfLoops) {
  for (const Index n : {2, 255, 300}) {
    const Matrix X = (RandomStream(2).normal_matrix(n, 2).array() + 100).matrix();  // far from 0: rows are centred inside
    const Distribution p = Distribution::normal(Vector{{100.0, 100.5}}, covariance2());
    const Matrix S = p.scores(X);
    const Matrix K = stats::stein_block(stats::radial_of(kernels::gaussian(1.0)), X.array() - 100, S, X.array() - 100, S);
    const auto rows = static_cast<double>(n);
    const double u = (K.sum() - K.trace()) / (rows * (rows - 1));
    const TestResult by_u = goodness_of_fit_test(X, p, {.kernel = kernels::gaussian(1.0), .draws = 9});
    const TestResult by_v = goodness_of_fit_test(X, p, {.kernel = kernels::gaussian(1.0), .statistic = KsdStatistic::v, .draws = 9});
    EXPECT_NEAR(by_u.statistic, u, 1e-11);
    EXPECT_NEAR(by_v.statistic, K.mean(), 1e-11);
    EXPECT_NEAR(by_u.numbers[1].second, by_v.statistic, 1e-11);
    EXPECT_NEAR(by_v.numbers[0].second, by_u.statistic, 1e-11);
    EXPECT_EQ(by_u.statistic_name, "ksd-u");
  }
}

// Closed form: x from N(m, 1) against N(0, 1) in one dimension has E k_p = |m|^2 E k, since s_p - s_q = m everywhere.
TEST(GoodnessOfFit, ExpectationInClosedForm) {
  const double m = 0.8;
  const Matrix X = (RandomStream(3).normal_matrix(4000, 1).array() + m).matrix();
  const TestResult r = goodness_of_fit_test(X, Distribution::normal(Vector::Zero(1), Matrix::Identity(1, 1)),
                                            {.kernel = kernels::gaussian(1.0), .draws = 19});
  EXPECT_NEAR(r.statistic, m * m / std::sqrt(3.0), 0.04);  // E exp(-(x-y)^2/2) = 1/sqrt(3)
  EXPECT_TRUE(r.rejected);
}

double wild_level(int data_sets, const Distribution& p, Index n, const GoodnessOfFitOptions& base) {
  int rejections = 0;
  for (int i = 0; i < data_sets; ++i) {
    RandomStream random(500 + static_cast<std::uint64_t>(i));
    GoodnessOfFitOptions options = base;
    options.seed = static_cast<std::uint64_t>(i);
    rejections += goodness_of_fit_test(p.sample(n, random, 2), p, options).rejected ? 1 : 0;
  }
  return static_cast<double>(rejections) / data_sets;
}

TEST(GoodnessOfFit, WildLevel) {  // 99.9 % of Binomial(300, 0.05)
  for (const Distribution& p : {Distribution::normal(mean2(), covariance2()), Distribution::mixture(three_parts())}) {
    const double level = wild_level(300, p, 60, {.draws = 99});
    EXPECT_GE(level, 0.013);
    EXPECT_LE(level, 0.097);
  }
}

TEST(LongLevelGoodnessOfFit, Wild) {
  if (std::getenv("MERCER_LONG_TESTS") == nullptr) GTEST_SKIP();
  for (const KsdStatistic statistic : {KsdStatistic::u, KsdStatistic::v}) {
    const double level = wild_level(1000, Distribution::mixture(three_parts()), 100, {.statistic = statistic, .draws = 199});
    EXPECT_GE(level, 0.029);
    EXPECT_LE(level, 0.075);
  }
}

TEST(GoodnessOfFit, SeesWrongMeansScalesAndShapes) {
  const Matrix X = RandomStream(4).normal_matrix(200, 2);
  const Matrix I = Matrix::Identity(2, 2);
  EXPECT_FALSE(goodness_of_fit_test(X, Distribution::normal(Vector::Zero(2), I)).rejected);
  EXPECT_TRUE(goodness_of_fit_test(X, Distribution::normal(Vector::Constant(2, 0.4), I)).rejected);
  EXPECT_TRUE(goodness_of_fit_test(X, Distribution::normal(Vector::Zero(2), 2 * I)).rejected);
  const Distribution laplace =
      Distribution::from_score("the Laplace distribution", [](const Matrix& x) -> Matrix { return -x.array().sign(); });
  EXPECT_TRUE(goodness_of_fit_test(RandomStream(4).normal_matrix(1000, 2), laplace).rejected);
  const TestResult two = goodness_of_fit_test(X, Distribution::mixture(three_parts()));
  EXPECT_TRUE(two.rejected);
  EXPECT_NE(two.remarks.back().find("weights"), std::string::npos);
}

// A slowly moving chain: independent signs reject it far too often, signs that move as slowly do not.
TEST(GoodnessOfFit, ChainsNeedSlowSigns) {
  const Distribution p = Distribution::normal(Vector::Zero(1), Matrix::Identity(1, 1));
  int independent = 0;
  int chained = 0;
  for (int i = 0; i < 60; ++i) {
    RandomStream random(900 + static_cast<std::uint64_t>(i));
    Matrix X(300, 1);
    double x = random.normal();
    for (Index t = 0; t < 300; ++t) X(t, 0) = x = 0.8 * x + 0.6 * random.normal();
    const auto seed = static_cast<std::uint64_t>(i);
    independent += goodness_of_fit_test(X, p, {.draws = 99, .seed = seed}).rejected ? 1 : 0;
    chained += goodness_of_fit_test(X, p, {.draws = 99, .flip_probability = 0.05, .seed = seed}).rejected ? 1 : 0;
  }
  EXPECT_GE(independent, 15);
  EXPECT_LE(chained, 10);
}

TEST(Normality, IsTheSameForEveryMeanAndCovariance) {
  const Matrix X = RandomStream(5).normal_matrix(50, 2).array().exp();
  Matrix A(2, 2);
  A << 3, -1, 0.5, 40;
  const Matrix Y = (X * A).array() + 1e4;
  const TestResult a = normality_test(X, {.draws = 99});
  const TestResult b = normality_test(Y, {.draws = 99});
  EXPECT_NEAR(a.statistic, b.statistic, 1e-9);
  EXPECT_EQ(a.p_value, b.p_value);
  EXPECT_TRUE(a.exact);
  EXPECT_TRUE(a.rejected);  // log-normal
}

double normal_level(int data_sets, Index n, Index d, Index draws) {
  int rejections = 0;
  for (int i = 0; i < data_sets; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const Matrix X = RandomStream(100 + seed, 7).normal_matrix(n, d);
    rejections += normality_test(X, {.draws = draws, .seed = seed}).rejected ? 1 : 0;
  }
  return static_cast<double>(rejections) / data_sets;
}

TEST(Normality, LevelIsExact) {  // 99.9 % of Binomial(400, 0.05), where a plain test with fitted parameters never rejects
  for (const Index d : {1, 3}) {
    const double level = normal_level(400, 12, d, 39);
    EXPECT_GE(level, 0.0175);
    EXPECT_LE(level, 0.09);
  }
  int plain = 0;
  for (int i = 0; i < 100; ++i) {
    const Matrix X = RandomStream(100 + static_cast<std::uint64_t>(i), 7).normal_matrix(50, 1);
    const Matrix C = (X.array() - X.mean()).square().matrix().colwise().mean();
    plain += goodness_of_fit_test(X, Distribution::normal(X.colwise().mean(), C), {.draws = 99}).rejected ? 1 : 0;
  }
  EXPECT_LE(plain, 1);
}

TEST(LongLevelNormality, IsExact) {
  if (std::getenv("MERCER_LONG_TESTS") == nullptr) GTEST_SKIP();
  const double level = normal_level(1000, 20, 2, 199);
  EXPECT_GE(level, 0.029);
  EXPECT_LE(level, 0.075);
}

TEST(Normality, SeesOtherShapes) {
  RandomStream random(6);
  Matrix uniform(150, 1);
  Matrix heavy(150, 2);
  for (Index i = 0; i < 150; ++i) {
    uniform(i, 0) = random.uniform();
    const double scale = 1 / std::sqrt(-2 * std::log(1 - random.uniform()) / 2);  // Student's t of two degrees of freedom
    for (Index j = 0; j < 2; ++j) heavy(i, j) = scale * random.normal();
  }
  EXPECT_TRUE(normality_test(uniform, {.draws = 199}).rejected);
  EXPECT_TRUE(normality_test(heavy, {.draws = 199}).rejected);
}

// The general way of fitted parameters comes to the same verdicts where both apply: a family of normals with unit variance.
TEST(FittedGoodnessOfFit, KnownVarianceUnknownMean) {
  const DistributionFit fit = [](const Matrix& X) { return Distribution::normal(X.colwise().mean(), Matrix::Identity(1, 1)); };
  int rejections = 0;
  for (int i = 0; i < 200; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const Matrix X = (RandomStream(seed, 11).normal_matrix(25, 1).array() + 3).matrix();
    rejections += fitted_goodness_of_fit_test(X, fit, {.draws = 39, .seed = seed}).rejected ? 1 : 0;
  }
  EXPECT_GE(rejections, 1);
  EXPECT_LE(rejections, 21);  // 99.9 % of Binomial(200, 0.05)
  const Matrix wide = 1.6 * RandomStream(1).normal_matrix(100, 1);
  EXPECT_TRUE(fitted_goodness_of_fit_test(wide, fit, {.draws = 99}).rejected);
  const DistributionFit no_sampler = [](const Matrix&) {
    return Distribution::from_score("mine", [](const Matrix& x) -> Matrix { return -x; });
  };
  EXPECT_THROW(fitted_goodness_of_fit_test(wide, no_sampler, {.draws = 9}), NotOffered);
}

TEST(GoodnessOfFit, DoesNotDependOnThreads) {
  const Matrix X = RandomStream(8).normal_matrix(600, 3);
  const Distribution p = Distribution::normal(Vector::Zero(3), Matrix::Identity(3, 3));
  const TestResult a = goodness_of_fit_test(X, p, {.draws = 50, .run = {.threads = 1}});
  const TestResult b = goodness_of_fit_test(X, p, {.draws = 50, .run = {.threads = 2}});
  EXPECT_EQ(a.statistic, b.statistic);
  EXPECT_EQ(a.null, b.null);
  EXPECT_EQ(normality_test(X, {.draws = 20, .run = {.threads = 1}}).null, normality_test(X, {.draws = 20, .run = {.threads = 2}}).null);
  const CsrMatrix<double> sparse = X.sparseView();
  EXPECT_NEAR(goodness_of_fit_test(Samples(sparse), p, {.draws = 9}).statistic, a.statistic, 1e-12);
}

TEST(GoodnessOfFit, CanBeCancelled) {
  const Matrix X = RandomStream(9).normal_matrix(4000, 2);  // a job of seconds, asked twenty times a second
  GoodnessOfFitOptions options;
  options.run.progress = [](const ProgressEvent&) { return false; };
  EXPECT_THROW(goodness_of_fit_test(X, Distribution::normal(Vector::Zero(2), Matrix::Identity(2, 2)), options), Cancelled);
  EXPECT_THROW(normality_test(X, options), Cancelled);
}

TEST(GoodnessOfFit, Misuse) {
  const Matrix I = Matrix::Identity(2, 2);
  const Distribution p = Distribution::normal(Vector::Zero(2), I);
  const Matrix X = RandomStream(9).normal_matrix(20, 2);
  EXPECT_THROW(Distribution::normal(Vector::Zero(2), Matrix::Ones(2, 2)), InvalidArgument);
  EXPECT_THROW(Distribution::normal(Vector::Zero(2), Matrix::Identity(3, 3)), InvalidArgument);
  EXPECT_THROW(Distribution::normal(Vector::Zero(2), -I), InvalidArgument);
  EXPECT_THROW(Distribution::mixture({}), InvalidArgument);
  EXPECT_THROW(Distribution::mixture({{-1, Vector::Zero(2), I}}), InvalidArgument);
  EXPECT_THROW(goodness_of_fit_test(Matrix(X.leftCols(1)), p), InvalidArgument);
  EXPECT_THROW(goodness_of_fit_test(Matrix(X.topRows(1)), p), InvalidArgument);
  EXPECT_THROW(goodness_of_fit_test(X, p, {.kernel = kernels::laplacian(1.0)}), InvalidArgument);
  EXPECT_THROW(goodness_of_fit_test(X, p, {.kernel = kernels::gaussian(std::vector<double>{1, 2})}), InvalidArgument);
  EXPECT_THROW(goodness_of_fit_test(X, p, {.draws = 0}), InvalidArgument);
  EXPECT_THROW(goodness_of_fit_test(X, p, {.flip_probability = 0.7}), InvalidArgument);
  EXPECT_THROW(goodness_of_fit_test(X, p, {.level = 0}), InvalidArgument);
  EXPECT_THROW(goodness_of_fit_test(Samples::given_gram(Samples(I)), p), InvalidArgument);
  const auto with = [&](Distribution::Score score) { return goodness_of_fit_test(X, Distribution::from_score("mine", std::move(score))); };
  EXPECT_THROW(with([](const Matrix& x) -> Matrix { return x.leftCols(1); }), InvalidArgument);
  EXPECT_THROW(with([](const Matrix& x) -> Matrix { return x.array().log(); }), InvalidArgument);
  Matrix constant = X;
  constant.col(1).setConstant(3);
  EXPECT_THROW(normality_test(constant), InvalidArgument);
  constant.col(1) = 2 * constant.col(0);
  EXPECT_THROW(normality_test(constant), InvalidArgument);
  EXPECT_THROW(normality_test(Matrix(X.topRows(3))), InvalidArgument);
  Matrix bad = X;
  bad(0, 0) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(normality_test(bad), InvalidArgument);
  EXPECT_THROW(goodness_of_fit_test(bad, p), InvalidArgument);
}

}  // namespace
}  // namespace mercer

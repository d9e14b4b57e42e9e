// Kernel mean matching: optimality conditions, constraints, closed forms.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/mean_matching.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();

Matrix cloud(std::uint64_t seed, Index n, Index d, double shift = 0, double scale = 1) {
  return (scale * RandomStream(seed).normal_matrix(n, d)).array() + shift;
}

double squared_distance(const Kernel& k, const Matrix& A, const Vector& w, const Matrix& B) {
  const Vector b = w / static_cast<double>(A.rows());
  return b.dot(gram(k, A) * b) - 2 * b.dot(gram(k, A, B).rowwise().mean()) + gram(k, B).mean();
}

// Where weights could still move, the slopes of the squared distance are equal; those at 0 are higher, those at the bound lower.
void expect_optimal(const Kernel& k, const Matrix& A, const Matrix& B, const MeanMatching& r, double bound, double ridge,
                    double tolerance) {
  const auto n = static_cast<double>(A.rows());
  const Vector b = r.weights / n;
  Vector g = gram(k, A) * b - gram(k, A, B).rowwise().mean();
  g += ridge * (b.array() - 1 / n).matrix();
  double low = none;    // of those that can go up
  double high = -none;  // of those that can go down
  for (Index i = 0; i < g.size(); ++i) {
    if (r.weights[i] < bound) low = std::min(low, g[i]);
    if (r.weights[i] > 0) high = std::max(high, g[i]);
  }
  EXPECT_LE(high - low, tolerance);
}

TEST(MeanMatching, PlainProgrammeIsOptimal) {
  const Matrix A = cloud(1, 300, 2);
  const Matrix B = cloud(2, 200, 2, 0.7, 0.6);
  const Kernel k = kernels::gaussian(1.0);
  const MeanMatching r = match_means(A, B, {.kernel = k, .bound = none});
  EXPECT_NEAR(r.weights.mean(), 1, 1e-12);
  EXPECT_GE(r.weights.minCoeff(), 0);
  expect_optimal(k, A, B, r, none, 0, 1e-6);
  EXPECT_NEAR(r.mmd_after * r.mmd_after, squared_distance(k, A, r.weights, B), 1e-12);
  EXPECT_NEAR(r.mmd_before * r.mmd_before, squared_distance(k, A, Vector::Ones(300), B), 1e-12);
  EXPECT_LT(r.mmd_after, 0.1 * r.mmd_before);
  EXPECT_NEAR(r.effective_sample_size, std::pow(r.weights.sum(), 2) / r.weights.squaredNorm(), 1e-9);
  EXPECT_EQ(r.zeros, (r.weights.array() == 0).count());
  // No random feasible weights are nearer.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Vector step = RandomStream(seed, 5).normal_matrix(300, 1).cwiseAbs();
    const Vector other = 0.9 * r.weights + 0.1 * step / step.mean();
    EXPECT_GE(squared_distance(k, A, other, B), r.mmd_after * r.mmd_after - r.gap - 1e-12);
  }
}

TEST(MeanMatching, BoundAndRidgeAreOptimalToo) {
  const Matrix A = cloud(1, 257, 2);
  const Matrix B = cloud(2, 200, 2, 0.9, 0.5);
  const Kernel k = kernels::gaussian(0.8);
  for (const double bound : {1.5, 4.0, none}) {
    for (const double ridge : {0.0, 0.05}) {
      const MeanMatching r = match_means(A, B, {.kernel = k, .bound = bound, .ridge = ridge});
      EXPECT_LE(r.weights.maxCoeff(), bound * (1 + 1e-12));
      EXPECT_NEAR(r.weights.mean(), 1, 1e-12);
      expect_optimal(k, A, B, r, bound * (1 - 1e-12), ridge, 1e-6);
      EXPECT_EQ(r.at_bound, (r.weights.array() >= bound * (1 - 1e-12)).count());
    }
  }
  EXPECT_EQ(match_means(A, B, {.kernel = k, .bound = 1}).weights, Vector::Ones(257));  // nothing is free
}

TEST(MeanMatching, EpsilonLetsTheMeanMove) {
  const Matrix A = cloud(1, 200, 1);
  const Matrix B = cloud(2, 150, 1, 0.5, 0.5);
  const Kernel k = kernels::gaussian(1.0);
  const MeanMatching held = match_means(A, B, {.kernel = k, .bound = none});
  double last = held.mmd_after;
  for (const double epsilon : {0.001, 0.05, 0.5}) {
    const MeanMatching r = match_means(A, B, {.kernel = k, .bound = none, .epsilon = epsilon});
    EXPECT_LE(std::abs(r.mean - 1), epsilon + 1e-12);
    EXPECT_LE(r.mmd_after * r.mmd_after, last * last + r.gap + 1e-12);
    EXPECT_LE(r.gap, 2e-6);
    last = r.mmd_after;
  }
  // Far away and narrow: any weight is too much, and the sum goes to its lower end.
  const MeanMatching far = match_means(A, cloud(2, 50, 1, 50), {.kernel = kernels::gaussian(0.5), .bound = none, .epsilon = 0.3});
  EXPECT_NEAR(far.mean, 0.7, 1e-9);
  // A bound below 1 has to use epsilon.
  const MeanMatching low = match_means(A, B, {.kernel = k, .bound = 0.9, .epsilon = 0.2});
  EXPECT_LE(low.weights.maxCoeff(), 0.9 + 1e-12);
  EXPECT_GE(low.mean, 0.8 - 1e-12);
}

TEST(MeanMatching, LinearKernelMatchesMeans) {
  const Matrix A = cloud(1, 400, 2);
  const Matrix B = cloud(2, 300, 2, 0.4);
  const MeanMatching r = match_means(A, B, {.kernel = kernels::linear(), .ridge = 1e-6});
  const Vector mean = A.transpose() * r.weights / 400;
  EXPECT_LT((mean - B.colwise().mean().transpose()).norm(), 1e-4);
}

// Two distinct places: the share of the target at each is the answer.
TEST(MeanMatching, TwoPlacesHaveAFormula) {
  Matrix A(4, 1);
  A << 0, 0, 0, 1;
  Matrix B(4, 1);
  B << 0, 1, 1, 1;
  const MeanMatching r = match_means(A, B, {.kernel = kernels::gaussian(1.0)});
  EXPECT_NEAR(r.weights[3], 3, 1e-9);
  EXPECT_NEAR(r.weights.head(3).sum(), 1, 1e-9);
  EXPECT_NEAR(r.mmd_after, 0, 1e-7);
}

TEST(MeanMatching, TargetWeightsAreRepeatedRows) {
  const Matrix A = cloud(1, 120, 2);
  const Matrix B = cloud(2, 40, 2, 0.5);
  Vector w = Vector::Ones(40);
  w.head(10).setConstant(3);
  Matrix repeated(60, 2);
  repeated << B, B.topRows(10), B.topRows(10);
  const Kernel k = kernels::gaussian(1.0);
  const MeanMatching a = match_means(A, B, {.kernel = k, .target_weights = w});
  const MeanMatching b = match_means(A, repeated, {.kernel = k});
  EXPECT_NEAR(a.mmd_after, b.mmd_after, 1e-9);
  EXPECT_LT((a.weights - b.weights).norm(), 1e-4);
}

TEST(MeanMatching, RowsThatAreNotStoredGiveTheSameAnswer) {
  const Matrix A = cloud(1, 2200, 3);
  const Matrix B = cloud(2, 500, 3, 0.5, 0.7);
  const Kernel k = kernels::gaussian(2.0);
  MeanMatchingOptions o{.kernel = k, .ridge = 0.01};
  o.run.memory = 16 << 20;
  const MeanMatching r = match_means(A, B, o);
  EXPECT_TRUE(r.converged);
  expect_optimal(k, A, B, r, 10 * (1 - 1e-12), 0.01, 5e-6);
  MeanMatchingOptions one = o;
  one.run.threads = 1;
  EXPECT_EQ(match_means(A, B, one).weights, r.weights);
}

TEST(MeanMatching, PrecomputedKernelGivesTheSameWeights) {
  const Matrix A = cloud(1, 100, 2);
  const Matrix B = cloud(2, 50, 2, 0.6);
  const Kernel k = kernels::gaussian(1.0);
  const MeanMatching a = match_means(A, B, {.kernel = k});
  const MeanMatching b =
      match_means(Samples::given_gram(gram(k, A)), Samples::given_rows(gram(k, B, A)), {.kernel = kernels::precomputed()});
  EXPECT_LT((a.weights - b.weights).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_TRUE(std::isnan(b.mmd_after));
  // Parts of one Gram matrix of all rows know everything.
  Matrix both(150, 2);
  both << A, B;
  const Samples pooled = Samples::given_gram(gram(k, both));
  const MeanMatching c = match_means(pooled.slice(0, 100), pooled.slice(100, 50), {.kernel = kernels::precomputed()});
  EXPECT_NEAR(c.mmd_after, a.mmd_after, 1e-9);
  EXPECT_NEAR(c.mmd_before, a.mmd_before, 1e-12);
}

TEST(MeanMatching, ConstantColumnsAndDuplicates) {
  const Matrix A = Matrix::Constant(30, 2, 1.5);
  const MeanMatching r = match_means(A, Matrix::Constant(10, 2, 1.5), {});
  EXPECT_NEAR(r.mmd_after, 0, 1e-7);
  EXPECT_NEAR(r.weights.mean(), 1, 1e-12);
  EXPECT_NEAR(match_means(Matrix::Zero(1, 1), cloud(1, 5, 1), {}).weights[0], 1, 1e-12);
}

TEST(MeanMatching, FewRowsAreWarnedOf) {
  const MeanMatching r = match_means(cloud(1, 500, 1), cloud(2, 100, 1, 4, 0.1), {.kernel = kernels::gaussian(0.5), .bound = none});
  EXPECT_LT(r.effective_sample_size, 50);
  ASSERT_FALSE(r.remarks.empty());
  EXPECT_NE(r.remarks[0].find("few rows"), std::string::npos);
}

TEST(MeanMatching, NoiseInTheWeightsIsWarnedOfAndRidgeTakesItAway) {  // below a third of the rows
  Matrix target = cloud(2, 120, 3);
  target.col(0).array() += 0.5;
  const Matrix train = cloud(1, 150, 3);
  const MeanMatching r = match_means(train, target, {});
  EXPECT_LT(r.effective_sample_size, 50);
  ASSERT_FALSE(r.remarks.empty());
  EXPECT_NE(r.remarks[0].find("raise ridge (try 0.1 to 1), lower bound"), std::string::npos) << r.remarks[0];
  const MeanMatching even = match_means(train, target, {.ridge = 1});
  EXPECT_GT(even.effective_sample_size, 50);
  EXPECT_TRUE(even.remarks.empty());
}

TEST(MeanMatching, BadInputIsNamed) {
  const Matrix A = cloud(1, 10, 2);
  const auto message = [&](const Samples& a, const Samples& b, const MeanMatchingOptions& o) {
    try {
      match_means(a, b, o);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_NE(message(A, A, {.bound = 0.5}).find("raise bound"), std::string::npos);
  EXPECT_NE(message(A, A, {.bound = -1}).find("bound must be > 0"), std::string::npos);
  EXPECT_NE(message(A, A, {.epsilon = 1}).find("epsilon must be in [0, 1)"), std::string::npos);
  EXPECT_NE(message(A, A, {.ridge = -1}).find("ridge"), std::string::npos);
  EXPECT_NE(message(A, A, {.tolerance = 0}).find("tolerance"), std::string::npos);
  EXPECT_NE(message(A, cloud(1, 5, 3), {}).find("X_train has 2 columns, X_target has 3"), std::string::npos);
  EXPECT_NE(message(Matrix(0, 2), A, {}).find("X_train has no rows"), std::string::npos);
  EXPECT_NE(message(A, Matrix(0, 2), {}).find("X_target has no rows"), std::string::npos);
  EXPECT_NE(message(A, A, {.target_weights = Vector::Ones(3)}).find("target_weights has 3 numbers for 10 rows"), std::string::npos);
  EXPECT_NE(message(A, A, {.kernel = kernels::gaussian(1.0) + kernels::white(1.0)}).find("white noise"), std::string::npos);
}

}  // namespace
}  // namespace mercer

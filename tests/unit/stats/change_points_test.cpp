// Segmentation against plain dynamic programming over every cut; known changes; the test against plain permutations, and its level.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/change_points.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "stats/exchanges.hpp"

namespace mercer {
namespace {

using kernels::gaussian;

Matrix normal(std::uint64_t seed, Index rows, Index cols = 1) { return RandomStream(seed).normal_matrix(rows, cols); }

double cost_of(const Matrix& K, Index s, Index t) {
  return K.diagonal().segment(s, t - s).sum() - K.block(s, s, t - s, t - s).sum() / static_cast<double>(t - s);
}

// Least cost of d segments of the first t rows, by trying every last cut.
double naive_cost(const Matrix& K, Index d, Index t, Index h) {
  if (d == 1) return t >= h ? cost_of(K, 0, t) : std::numeric_limits<double>::infinity();
  double best = std::numeric_limits<double>::infinity();
  for (Index s = h * (d - 1); s <= t - h; ++s) best = std::min(best, naive_cost(K, d - 1, s, h) + cost_of(K, s, t));
  return best;
}

double total(const Matrix& K, const std::vector<Index>& cuts) {
  double sum = 0;
  Index begin = 0;
  for (const Index cut : cuts) {
    sum += cost_of(K, begin, cut);
    begin = cut;
  }
  return sum + cost_of(K, begin, K.rows());
}

TEST(ChangePoints, AgreeWithAllCuts) {
  for (const Index h : {1, 2, 3}) {
    const Matrix x = normal(7, 19, 2);
    for (const Kernel& kernel : {gaussian(1.0), kernels::linear(), kernels::laplacian(0.5)}) {
      const Matrix K = gram(kernel, x);
      for (const Index changes : {0, 1, 2, 3}) {
        const ChangePoints found = change_points(x, {.kernel = kernel, .changes = changes, .min_segment = h});
        ASSERT_EQ(std::ssize(found.changes), changes);
        const double wanted = naive_cost(K, changes + 1, 19, h);
        EXPECT_NEAR(found.cost, wanted, 1e-12 * K.trace());
        EXPECT_NEAR(total(K, found.positions()), wanted, 1e-12 * K.trace());
        for (Index d = 1; d <= changes; ++d) EXPECT_NEAR(found.costs[d - 1], naive_cost(K, d, 19, h), 1e-12 * K.trace());
      }
    }
  }
}

// More rows than a tile, against a table filled by loops.
TEST(ChangePoints, AgreeWithLoopsBeyondATile) {
  const Index n = 600;
  Matrix x = normal(3, n);
  x.middleRows(200, 150).array() += 2;
  x.bottomRows(100) *= 3;
  const Matrix K = gram(gaussian(1.0), x);
  Matrix sums = Matrix::Zero(n + 1, n + 1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) sums(i + 1, j + 1) = K(i, j) + sums(i, j + 1) + sums(i + 1, j) - sums(i, j);
  }
  const Index most = 6;
  const Index h = 4;
  Matrix best = Matrix::Constant(most + 1, n + 1, std::numeric_limits<double>::infinity());
  best(0, 0) = 0;
  const auto cost = [&](Index s, Index t) {
    return static_cast<double>(t - s) - (sums(t, t) - sums(s, t) - sums(t, s) + sums(s, s)) / static_cast<double>(t - s);
  };
  for (Index d = 1; d <= most; ++d) {
    for (Index t = h; t <= n; ++t) {
      for (Index s = 0; s + h <= t; ++s) best(d, t) = std::min(best(d, t), best(d - 1, s) + cost(s, t));
    }
  }
  const ChangePoints found = change_points(x, {.kernel = gaussian(1.0), .changes = most - 1, .min_segment = h});
  for (Index d = 1; d <= most; ++d) EXPECT_NEAR(found.costs[d - 1], best(d, n), 1e-8);
  EXPECT_NEAR(total(K, found.positions()), best(most, n), 1e-8);
  // Gains: without one cut the cost rises by that much.
  std::vector<Index> fewer = found.positions();
  fewer.erase(fewer.begin() + 2);
  EXPECT_NEAR(total(K, fewer) - found.cost, found.changes[2].gain, 1e-8);
}

TEST(ChangePoints, PenaltyAgreesWithTheTables) {
  Matrix x = normal(5, 700);
  x.middleRows(120, 200).array() += 1.5;
  x.bottomRows(180).array() -= 2;
  for (const Index h : {1, 2, 7}) {
    const ChangePoints tables = change_points(x, {.kernel = gaussian(1.0), .changes = 30, .min_segment = h});
    for (const double penalty : {1.0, 4.0, 12.0, 500.0}) {
      Index best = 0;
      for (Index d = 0; d < tables.costs.size(); ++d) {
        if (tables.costs[d] + penalty * static_cast<double>(d) < tables.costs[best] + penalty * static_cast<double>(best)) best = d;
      }
      const ChangePoints found = change_points(x, {.kernel = gaussian(1.0), .penalty = penalty, .min_segment = h});
      if (best + 1 == tables.costs.size()) continue;  // the best may have more
      EXPECT_EQ(std::ssize(found.changes), best) << penalty << ' ' << h;
      EXPECT_NEAR(found.cost, tables.costs[best], 1e-8);
      EXPECT_EQ(found.positions(), change_points(x, {.kernel = gaussian(1.0), .changes = best, .min_segment = h}).positions());
    }
  }
}

TEST(ChangePoints, FindMeanVarianceAndShape) {
  Matrix mean = normal(11, 300);
  mean.middleRows(100, 100).array() += 2;
  const ChangePoints by_mean = change_points(mean);
  ASSERT_EQ(by_mean.changes.size(), 2U) << by_mean.sentence;
  EXPECT_NEAR(static_cast<double>(by_mean.changes[0].position), 100, 3);
  EXPECT_NEAR(static_cast<double>(by_mean.changes[1].position), 200, 3);

  Matrix variance = normal(12, 300);
  variance.bottomRows(150) *= 4;
  const ChangePoints by_variance = change_points(variance);
  ASSERT_EQ(by_variance.changes.size(), 1U) << by_variance.sentence;
  EXPECT_NEAR(static_cast<double>(by_variance.changes[0].position), 150, 5);
  EXPECT_EQ(change_points(variance, {.kernel = kernels::linear()}).remarks.size(), 1U);  // which sees the mean alone

  // The same mean and variance, another shape: normal rows, then rows of -1 and 1.
  Matrix shape = normal(13, 400);
  RandomStream random(14);
  for (Index i = 200; i < 400; ++i) shape(i, 0) = random.below(2) == 0 ? -1 : 1;
  const ChangePoints by_shape = change_points(shape, {.kernel = gaussian(0.3)});
  ASSERT_EQ(by_shape.changes.size(), 1U) << by_shape.sentence;
  EXPECT_NEAR(static_cast<double>(by_shape.changes[0].position), 200, 6);

  // Two columns whose dependence changes.
  Matrix dependence = normal(15, 400, 2);
  dependence.col(1).tail(200) = 0.95 * dependence.col(0).tail(200) + std::sqrt(1 - 0.95 * 0.95) * dependence.col(1).tail(200);
  const ChangePoints by_dependence = change_points(dependence, {.kernel = gaussian(0.5)});
  ASSERT_EQ(by_dependence.changes.size(), 1U) << by_dependence.sentence;
  EXPECT_NEAR(static_cast<double>(by_dependence.changes[0].position), 200, 10);
}

TEST(ChangePoints, StaySilentWithoutAChange) {
  int found = 0;
  for (std::uint64_t s = 0; s < 60; ++s) found += change_points(normal(1000 + s, 200)).changes.empty() ? 0 : 1;
  EXPECT_LE(found, 9);  // slope heuristics promise no level; about one in thirty here
}

TEST(ChangePoints, SeriesWithoutNoise) {
  EXPECT_TRUE(change_points(Matrix::Constant(100, 2, 3.0)).changes.empty());
  Matrix steps(90, 1);
  for (Index i = 0; i < 90; ++i) steps(i, 0) = static_cast<double>(i / 30);
  EXPECT_EQ(change_points(steps).positions(), (std::vector<Index>{30, 60}));
}

TEST(ChangePoints, SparseFloatAndGivenSeriesAgree) {
  Matrix x = normal(21, 120, 2);
  x.bottomRows(50).array() += 2;
  const std::vector<Index> wanted = change_points(x, {.kernel = gaussian(1.5)}).positions();
  ASSERT_FALSE(wanted.empty());
  EXPECT_EQ(change_points(MatrixF(x.cast<float>()), {.kernel = gaussian(1.5)}).positions(), wanted);
  const CsrMatrix<double> sparse = x.sparseView();
  EXPECT_EQ(change_points(Samples(sparse), {.kernel = gaussian(1.5)}).positions(), wanted);
  const Matrix K = gram(gaussian(1.5), x);
  EXPECT_EQ(change_points(K, {.kernel = kernels::precomputed()}).positions(), wanted);
  EXPECT_EQ(change_points(Samples::given_gram(K), {.kernel = kernels::precomputed()}).positions(), wanted);
}

TEST(ChangePoints, DoNotDependOnThreads) {
  Matrix x = normal(22, 700);
  x.bottomRows(300).array() += 1;
  const ChangePoints one = change_points(x, {.run = {.threads = 1}});
  const ChangePoints two = change_points(x, {.run = {.threads = 2}});
  EXPECT_EQ(one.costs, two.costs);
  EXPECT_EQ(one.positions(), two.positions());
  EXPECT_EQ(change_point_test(x, {.permutations = 20, .run = {.threads = 1}}).null,
            change_point_test(x, {.permutations = 20, .run = {.threads = 2}}).null);
}

TEST(ChangePoints, StopWhenAsked) {
  mercer::Run run;
  run.progress = [](const ProgressEvent&) { return false; };
  EXPECT_THROW(change_points(normal(1, 2000), {.run = run}), Cancelled);
}

TEST(ChangePoints, RefuseWhatCannotBe) {
  const Matrix x = normal(1, 40);
  EXPECT_THROW(change_points(Matrix(0, 1)), InvalidArgument);
  EXPECT_THROW(change_points(x.topRows(3)), InvalidArgument);
  EXPECT_THROW(change_points(x.topRows(19)), InvalidArgument);  // too few to choose
  EXPECT_NO_THROW(change_points(x.topRows(20)));
  EXPECT_NO_THROW(change_points(x.topRows(4), {.changes = 1}));
  EXPECT_THROW(change_points(x, {.changes = 20}), InvalidArgument);
  EXPECT_THROW(change_points(x, {.changes = -1}), InvalidArgument);
  EXPECT_THROW(change_points(x, {.changes = 1, .penalty = 1}), InvalidArgument);
  EXPECT_THROW(change_points(x, {.penalty = 0}), InvalidArgument);
  EXPECT_THROW(change_points(x, {.max_changes = -1}), InvalidArgument);
  EXPECT_THROW(change_points(x, {.min_segment = 0}), InvalidArgument);
  EXPECT_THROW(change_points(x, {.kernel = kernels::sigmoid()}), InvalidArgument);
  Matrix bad = x;
  bad(3, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(change_points(bad), InvalidArgument);
  EXPECT_THROW(change_points(normal(1, 2000), {.run = {.memory = 1000}}), OverBudget);
}

// ---- is there any change?

double naive_gain(const Matrix& K, Index h, Index& position) {
  const Index n = K.rows();
  double best = -1;
  for (Index t = h; t <= n - h; ++t) {
    const double gain = cost_of(K, 0, n) - cost_of(K, 0, t) - cost_of(K, t, n);
    if (gain > best) {
      best = gain;
      position = t;
    }
  }
  return best;
}

TEST(ChangePointTest, AgreesWithPlainPermutations) {
  Matrix x = normal(31, 30);
  x.bottomRows(13).array() += 1;
  for (const ExchangeOptions& exchange : {ExchangeOptions{}, ExchangeOptions{.scheme = Exchange::blocks, .block_length = 3}}) {
    const TestResult r = change_point_test(x, {.kernel = gaussian(1.0), .permutations = 50, .exchange = exchange, .seed = 4});
    Index position = 0;
    const double observed = naive_gain(gram(gaussian(1.0), x), 2, position);
    EXPECT_NEAR(r.statistic, observed, 1e-12);
    EXPECT_EQ(r.numbers[0].second, static_cast<double>(position));
    const stats::Exchanges exchanges(30, 30, exchange, 4);
    std::vector<Index> order(30);
    Index at_least = 0;
    for (Index b = 0; b < 50; ++b) {
      exchanges.draw(b, order);
      Matrix y(30, 1);
      for (Index i = 0; i < 30; ++i) y(i, 0) = x(order[static_cast<std::size_t>(i)], 0);
      Index unused = 0;
      const double gain = naive_gain(gram(gaussian(1.0), y), 2, unused);
      EXPECT_NEAR(r.null[b], gain, 1e-6);
      at_least += gain >= observed - 1e-9 ? 1 : 0;
    }
    EXPECT_NEAR(r.p_value, (1.0 + static_cast<double>(at_least)) / 51, 1e-14);
  }
}

double change_rejections(int series, Index n) {
  int rejected = 0;
  for (int s = 0; s < series; ++s) {
    const auto seed = static_cast<std::uint64_t>(s);
    rejected += change_point_test(normal(5000 + seed, n), {.permutations = 39, .seed = seed, .run = {.threads = 1}}).rejected ? 1 : 0;
  }
  return static_cast<double>(rejected) / series;
}

TEST(ChangePointTest, HoldsItsLevel) { EXPECT_NEAR(change_rejections(400, 25), 0.05, 3.3 * std::sqrt(0.05 * 0.95 / 400)); }

TEST(LongLevelChangePointTest, HoldsItsLevel) {
  if (std::getenv("MERCER_LONG_TESTS") == nullptr) GTEST_SKIP() << "MERCER_LONG_TESTS is not set";
  EXPECT_NEAR(change_rejections(1000, 40), 0.05, 3.3 * std::sqrt(0.05 * 0.95 / 1000));
}

TEST(ChangePointTest, SeesAChangeFarFromZero) {  // HKH knows no offset, K in float32 would know nothing else
  Matrix x = normal(77, 80);
  x.bottomRows(40).array() += 1;
  const ChangePointTestOptions options{.kernel = kernels::linear(), .permutations = 199};
  const TestResult near = change_point_test(x, options);
  EXPECT_EQ(near.p_value, 1.0 / 200);
  for (const double offset : {1e3, 1e5}) {
    const TestResult far = change_point_test(Matrix(x.array() + offset), options);
    EXPECT_EQ(far.p_value, near.p_value);
    EXPECT_NEAR(far.statistic, near.statistic, 1e-15 * offset * offset * 10);
    EXPECT_LT((far.null - near.null).cwiseAbs().maxCoeff(), 1e-5 + 1e-14 * offset * offset);
    for (const std::string& remark : far.remarks) EXPECT_EQ(remark.find("rounding"), std::string::npos);
  }
  const TestResult lost = change_point_test(Matrix(x.array() + 1e9), options);
  bool said = false;
  for (const std::string& remark : lost.remarks) said = said || remark.find("subtract the column means") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(ChangePointTest, EqualRowsAreTies) {  // exchanges of equal rows change nothing, whatever centring rounds
  Matrix x = Matrix::Constant(40, 1, 0.1);
  x(7, 0) = 0.3;
  const TestResult r = change_point_test(x, {.kernel = gaussian(1.0), .permutations = 99, .min_segment = 2});
  Index different = 0;  // gains of the places of the one other row, by plain loops
  const stats::Exchanges exchanges(40, 40, {}, r.seed);
  std::vector<Index> order(40);
  Index position = 0;
  const double observed = naive_gain(gram(gaussian(1.0), x), 2, position);
  for (Index b = 0; b < 99; ++b) {
    exchanges.draw(b, order);
    Matrix y(40, 1);
    for (Index i = 0; i < 40; ++i) y(i, 0) = x(order[static_cast<std::size_t>(i)], 0);
    different += naive_gain(gram(gaussian(1.0), y), 2, position) < observed - 1e-9 ? 1 : 0;
  }
  EXPECT_NEAR(r.p_value, (100.0 - static_cast<double>(different)) / 100, 1e-14);
}

TEST(ChangePointTest, FewBlocksAreRemarkedOn) {
  const TestResult r = change_point_test(normal(3, 12), {.permutations = 99, .exchange = {.scheme = Exchange::blocks, .block_length = 4}});
  bool said = false;
  for (const std::string& remark : r.remarks) said = said || remark.find("only 6 different exchanges") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(ChangePointTest, ConstantSeriesAndBadOptions) {
  EXPECT_EQ(change_point_test(Matrix::Constant(50, 1, 1.1), {.kernel = kernels::linear(), .permutations = 99}).p_value, 1);
  EXPECT_EQ(change_point_test(Matrix::Ones(50, 1), {.permutations = 99}).p_value, 1);
  const Matrix x = normal(1, 20);
  EXPECT_THROW(change_point_test(x, {.permutations = 0}), InvalidArgument);
  EXPECT_THROW(change_point_test(x, {.level = 0}), InvalidArgument);
  EXPECT_THROW(change_point_test(x, {.exchange = {.scheme = Exchange::shifts}}), InvalidArgument);
  EXPECT_THROW(change_point_test(x.topRows(3)), InvalidArgument);
}

}  // namespace
}  // namespace mercer

// What levels the two-sample nulls hold, by simulation, and what power they have. The long version, of 1000 data sets for each null, runs
// where MERCER_LONG_TESTS is set and prints the rates that docs/two-sample.md shows.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "mercer/two_sample.hpp"

namespace mercer {
namespace {

Matrix normal(Index rows, Index cols, std::uint64_t seed, double shift = 0) {
  return (RandomStream(seed).normal_matrix(rows, cols).array() + shift).matrix();
}

// Three by three Gaussian clouds; of the second sample each is correlated: only a narrow kernel sees it.
Matrix clouds(Index rows, std::uint64_t seed, double correlation) {
  RandomStream random(seed);
  Matrix X(rows, 2);
  for (Index i = 0; i < rows; ++i) {
    const double a = random.normal();
    const double b = correlation * a + std::sqrt(1 - correlation * correlation) * random.normal();
    X(i, 0) = 10.0 * static_cast<double>(random.below(3)) + a;
    X(i, 1) = 10.0 * static_cast<double>(random.below(3)) + b;
  }
  return X;
}

// The central 99.9 % of rejections out of `trials` at level 0.05.
struct Interval {
  double low;
  double high;
};
Interval interval(int trials) {
  const boost::math::binomial_distribution<> law(trials, 0.05);
  return {boost::math::quantile(law, 0.0005), boost::math::quantile(boost::math::complement(law, 0.0005))};
}

int rejections(int trials, Index n, Index m, const TwoSampleOptions& given, std::uint64_t stream) {
  RandomStream random(77, stream);
  int count = 0;
  for (int r = 0; r < trials; ++r) {
    TwoSampleOptions o = given;
    o.seed = static_cast<std::uint64_t>(r);
    o.run.threads = 1;
    const Matrix X = random.normal_matrix(n, 2);
    const Matrix Y = random.normal_matrix(m, 2);
    count += two_sample_test(X, Y, o).rejected ? 1 : 0;
  }
  return count;
}

struct Case {
  const char* name;
  Index n;
  Index m;
  TwoSampleOptions options;
  bool exact;
};
std::vector<Case> cases(Index n, Index m) {
  std::vector<Index> groups;
  for (Index i = 0; i < n + n; ++i) groups.push_back(i % 4);
  return {
      {"permutation", n, m, {.permutations = 99}, true},
      {"permutation, mmd-b", n, m, {.statistic = MmdStatistic::b, .permutations = 99}, true},
      {"permutation within groups", n, n, {.permutations = 99, .exchange = {Exchange::within_groups, groups, 0}}, true},
      {"permutation of pairs", n, n, {.statistic = MmdStatistic::h, .permutations = 99, .exchange = {Exchange::pairs, {}, 0}}, true},
      {"binned", n, m, {.null = MmdNull::binned, .permutations = 99, .bins = 16}, true},
      {"wild, mmd-u", n, n, {.null = MmdNull::wild, .permutations = 99}, true},
      {"wild, mmd-h", n, n, {.statistic = MmdStatistic::h, .null = MmdNull::wild, .permutations = 99}, true},
      {"wild, unequal sizes", n, m, {.null = MmdNull::wild, .permutations = 99}, false},
      {"gamma", n, m, {.null = MmdNull::gamma}, false},
      {"pearson", n, m, {.null = MmdNull::pearson}, false},
      {"spectral", n, m, {.null = MmdNull::spectral, .permutations = 199}, false},
      {"spectral, mmd-b", n, m, {.statistic = MmdStatistic::b, .null = MmdNull::spectral, .permutations = 199}, false},
      {"normal, mmd-linear", n, m, {.null = MmdNull::normal}, false},
      {"normal, mmd-block", n, m, {.statistic = MmdStatistic::block, .null = MmdNull::normal}, false},
      {"bound", n, m, {.null = MmdNull::bound}, false},
  };
}

TEST(TwoSampleLevel, IsHeldByExactNullsAndNearlyByTheOthers) {
  const int trials = 400;
  const Interval inside = interval(trials);
  std::uint64_t stream = 0;
  for (const Case& c : cases(20, 26)) {
    const int count = rejections(trials, c.n, c.m, c.options, ++stream);
    if (std::string(c.name) != "bound") {
      EXPECT_GE(count, c.exact ? inside.low : 0) << c.name;
    }
    EXPECT_LE(count, c.exact ? inside.high : 0.12 * trials) << c.name;
  }
}

TEST(LongLevelTwoSample, OfEveryNull) {
  if (std::getenv("MERCER_LONG_TESTS") == nullptr) GTEST_SKIP() << "set MERCER_LONG_TESTS to run it";
  const int trials = 1000;
  const Interval inside = interval(trials);
  std::uint64_t stream = 100;
  for (const auto& [n, m] : {std::pair<Index, Index>{20, 26}, {100, 130}}) {
    for (const Case& c : cases(n, m)) {
      const int count = rejections(trials, c.n, c.m, c.options, ++stream);
      std::printf("%4ld %4ld  %-28s %.3f\n", static_cast<long>(c.n), static_cast<long>(c.m), c.name, count / 1000.0);
      if (!c.exact) continue;
      EXPECT_GE(count, inside.low) << c.name;
      EXPECT_LE(count, inside.high) << c.name;
    }
  }
}

TEST(TwoSamplePower, SeesBlobsAndShifts) {
  // What only a narrow kernel sees, at the power of a plain permutation test.
  int found = 0;
  int wide = 0;
  for (std::uint64_t r = 0; r < 20; ++r) {
    const Matrix X = clouds(250, 2 * r, 0);
    const Matrix Y = clouds(250, 2 * r + 1, 0.85);
    found += two_sample_test(X, Y, {.kernel = kernels::gaussian(1.0), .permutations = 199}).rejected ? 1 : 0;
    wide += two_sample_test(X, Y, {.permutations = 199}).rejected ? 1 : 0;
  }
  EXPECT_GE(found, 16);
  EXPECT_LE(wide, 8);
  for (const MmdNull null : {MmdNull::permutation, MmdNull::binned, MmdNull::wild, MmdNull::gamma, MmdNull::pearson, MmdNull::spectral,
                             MmdNull::normal, MmdNull::bound}) {
    const double shift = null == MmdNull::bound || null == MmdNull::normal ? 2 : 0.6;
    EXPECT_TRUE(two_sample_test(normal(150, 2, 1), normal(150, 2, 2, shift), {.null = null, .permutations = 199}).rejected)
        << name_of(null);
  }
}

// Rows that depend on their neighbours: free exchanges reject far too often, blocks keep near the level.
TEST(TwoSampleLevel, OfSeriesNeedsBlocks) {
  const auto series = [](std::uint64_t seed) {
    RandomStream random(seed);
    Matrix X(200, 1);
    double state = random.normal();
    for (Index i = 0; i < 200; ++i) {
      X(i, 0) = state;
      state = 0.7 * state + std::sqrt(1 - 0.49) * random.normal();
    }
    return X;
  };
  int rows = 0;
  int blocks = 0;
  int signs = 0;
  const int trials = 100;
  for (std::uint64_t r = 0; r < trials; ++r) {
    const Matrix X = series(2 * r);
    const Matrix Y = series(2 * r + 1);
    rows += two_sample_test(X, Y, {.permutations = 99, .seed = r}).rejected ? 1 : 0;
    blocks += two_sample_test(X, Y, {.permutations = 99, .exchange = {Exchange::blocks, {}, 20}, .seed = r}).rejected ? 1 : 0;
    signs += two_sample_test(X, Y, {.null = MmdNull::wild, .permutations = 99, .exchange = {Exchange::blocks, {}, 20}, .seed = r}).rejected
                 ? 1
                 : 0;
  }
  EXPECT_GE(rows, 20);
  EXPECT_LE(blocks, 16);
  EXPECT_LE(signs, 16);
}

TEST(LevelCheck, CountsRejectionsOfSplits) {
  const Matrix X = normal(25, 2, 1);
  const Matrix Y = normal(30, 2, 2, 1);  // a difference that the splits must not see
  const LevelCheck c = level_check(X, Y, {.permutations = 99}, 200);
  EXPECT_EQ(c.repetitions, 200);
  EXPECT_EQ(c.rejections, (c.p_values.array() <= 0.05).count());
  EXPECT_TRUE(c.holds) << c.sentence;
  EXPECT_LT(c.low, c.rate);
  EXPECT_GT(c.high, c.rate);
  EXPECT_GT(c.high, 0.05);
  EXPECT_EQ(level_check(X, Y, {.permutations = 99, .run = {.threads = 1}}, 20).p_values,
            level_check(X, Y, {.permutations = 99, .run = {.threads = 2}}, 20).p_values);
  const LevelCheck bound = level_check(X, Y, {.null = MmdNull::bound}, 100);
  EXPECT_EQ(bound.rejections, 0);
  EXPECT_EQ(bound.low, 0);
  EXPECT_NEAR(bound.high, 1 - std::pow(0.025, 0.01), 1e-9);  // Clopper and Pearson's of 0 out of 100
  EXPECT_THROW(level_check(X, Y, {}, 0), InvalidArgument);
  // Schemes keep their groups, pairs and blocks.
  std::vector<Index> groups;
  for (Index i = 0; i < 55; ++i) groups.push_back(i / 5);
  EXPECT_NO_THROW(level_check(X, Y, {.permutations = 49, .exchange = {Exchange::whole_groups, groups, 0}}, 10));
  EXPECT_NO_THROW(level_check(X, Y, {.permutations = 49, .exchange = {Exchange::within_groups, groups, 0}}, 10));
  EXPECT_NO_THROW(level_check(X, Y, {.permutations = 49, .exchange = {Exchange::blocks, {}, 5}}, 10));
  EXPECT_NO_THROW(level_check(X, Y.topRows(25), {.permutations = 49, .exchange = {Exchange::pairs, {}, 0}}, 10));
}

// Predicted from one large pilot, counted on many small samples.
TEST(TwoSamplePower, IsPredictedFromAPilot) {
  const Kernel kernel = kernels::gaussian(1.0);
  for (const MmdNull null : {MmdNull::permutation, MmdNull::gamma, MmdNull::normal}) {
    const Index n = null == MmdNull::normal ? 200 : 40;
    const TwoSampleOptions o{.kernel = kernel, .null = null, .permutations = 199};
    const PowerEstimate p = two_sample_power(normal(600, 1, 1), normal(500, 1, 2, 0.6), n, 0.8, o);
    int found = 0;
    const int trials = 200;
    for (std::uint64_t r = 0; r < trials; ++r)
      found += two_sample_test(normal(n, 1, 10 + 2 * r), normal(n, 1, 11 + 2 * r, 0.6), o).rejected ? 1 : 0;
    EXPECT_NEAR(p.power, static_cast<double>(found) / trials, 0.15) << name_of(null) << " " << p.sentence;
    EXPECT_GE(p.high, p.power);
    EXPECT_LE(p.low, p.power);
    ASSERT_GT(p.needed, 0);
    EXPECT_GE(two_sample_power(normal(600, 1, 1), normal(500, 1, 2, 0.6), p.needed, 0.8, o).power, 0.8);
    EXPECT_LT(two_sample_power(normal(600, 1, 1), normal(500, 1, 2, 0.6), p.needed - 1, 0.8, o).power, 0.8);
  }
  const Matrix X = normal(100, 1, 1);
  EXPECT_EQ(two_sample_power(X, X, 0, 0.8, {.kernel = kernel}).needed, 0);
  EXPECT_THROW(two_sample_power(X, X, 0, 1.2), InvalidArgument);
  EXPECT_THROW(two_sample_power(X.topRows(3), X), InvalidArgument);
}

}  // namespace
}  // namespace mercer

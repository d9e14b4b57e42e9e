// Two-sample tests where numbers are awkward: far from 0, beyond the range of squares, a single row, all weight on one row.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <string>

#include "mercer/aggregated_tests.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "mercer/two_sample.hpp"

namespace mercer {
namespace {

Matrix normal(Index rows, Index cols, std::uint64_t seed, double shift = 0) {
  return (RandomStream(seed).normal_matrix(rows, cols).array() + shift).matrix();
}
Matrix moved(const Matrix& X, double by) { return (X.array() + by).matrix(); }

// The linear kernel alone has its rows moved to 0; with a constant, which no statistic sees either, it stays far from it.
Kernel uncentred() { return kernels::linear() + 1.0; }

bool has_remark(const TestResult& r, const char* words) {
  return std::any_of(r.remarks.begin(), r.remarks.end(), [&](const std::string& s) { return s.find(words) != std::string::npos; });
}

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "";
}

// MMD of the linear kernel does not see where 0 is, so neither may its nulls.
TEST(TwoSampleNumbers, LawsOfALinearKernelFarFromZeroAreThoseAtZero) {
  const Matrix X = normal(60, 2, 1);
  const Matrix Y = normal(50, 2, 2, 0.2);
  for (const MmdNull null : {MmdNull::gamma, MmdNull::pearson, MmdNull::spectral}) {
    const TestResult here = two_sample_test(X, Y, {.kernel = uncentred(), .null = null, .permutations = 300});
    for (const double offset : {1e3, 1e4, 1e5}) {
      const TestResult far =
          two_sample_test(moved(X, offset), moved(Y, offset), {.kernel = uncentred(), .null = null, .permutations = 300});
      const double rounding = 1e-13 * offset * offset;  // kernel values are offset^2, rounded to 1e-16 of it, and there are 110 in a row
      EXPECT_NEAR(far.p_value, here.p_value, 1e-9 + rounding + (null == MmdNull::spectral ? 1.1 / 301 : 0)) << name_of(null) << offset;
      EXPECT_NEAR(far.threshold / here.threshold, 1, 1e-9 + rounding) << name_of(null) << offset;
    }
  }
}

// Rows of whole numbers, moved exactly: every null says what it says at 0.
TEST(TwoSampleNumbers, TheLinearKernelDoesNotSeeWhereZeroIs) {
  const Matrix X = (8 * normal(40, 2, 1)).array().round();
  const Matrix Y = (8 * normal(40, 2, 2, 0.3)).array().round();
  for (const MmdNull null :
       {MmdNull::permutation, MmdNull::binned, MmdNull::wild, MmdNull::gamma, MmdNull::pearson, MmdNull::spectral, MmdNull::normal}) {
    const TwoSampleOptions o{.kernel = kernels::linear(), .null = null, .permutations = 199};
    const TestResult here = two_sample_test(X, Y, o);
    const TestResult far = two_sample_test(moved(X, 1e12), moved(Y, 1e12), o);
    EXPECT_NEAR(far.p_value, here.p_value, 1e-10) << name_of(null);
    EXPECT_NEAR(far.statistic, here.statistic, 1e-10 * std::abs(here.statistic)) << name_of(null);
    EXPECT_EQ(far.remarks, here.remarks) << name_of(null);
  }
  const MmdEstimate here = mmd(X, Y, {.kernel = kernels::linear()});
  const MmdEstimate far = mmd(moved(X, 1e12), moved(Y, 1e12), {.kernel = kernels::linear()});
  EXPECT_NEAR(far.squared, here.squared, 1e-10 * here.squared);
  EXPECT_NEAR(far.deviation, here.deviation, 1e-10 * here.deviation);
  const MatrixF single = moved(X, 1e5).cast<float>();
  EXPECT_NEAR(two_sample_test(single, moved(Y, 1e5), {.kernel = kernels::linear(), .permutations = 199}).p_value,
              two_sample_test(X, Y, {.kernel = kernels::linear(), .permutations = 199}).p_value, 1e-10);
}

TEST(TwoSampleNumbers, GammaKeepsItsLevelFarFromZero) {
  const int trials = 300;
  int rejections = 0;
  for (int t = 0; t < trials; ++t) {
    const auto seed = static_cast<std::uint64_t>(2 * t + 1);
    rejections +=
        two_sample_test(normal(40, 1, seed, 1e5), normal(40, 1, seed + 1, 1e5), {.kernel = uncentred(), .null = MmdNull::gamma}).rejected
            ? 1
            : 0;
  }
  // 99.9 % of a level of 0.05, and what the gamma law's shape adds to it.
  const boost::math::binomial_distribution<> law(trials, 0.06);
  EXPECT_LE(rejections, boost::math::quantile(law, 0.9995));
}

TEST(TwoSampleNumbers, ConstantRowsFarFromZeroHaveNothingToTellApart) {
  for (const double value : {1.0, 1e5, 0.1}) {
    const Matrix rows = Matrix::Constant(30, 3, value);
    for (const MmdNull null : {MmdNull::permutation, MmdNull::binned, MmdNull::wild, MmdNull::gamma, MmdNull::pearson, MmdNull::spectral}) {
      for (const Kernel& kernel : {kernels::linear(), uncentred()}) {
        const TestResult r = two_sample_test(rows, rows, {.kernel = kernel, .null = null, .permutations = 99});
        EXPECT_EQ(r.p_value, 1) << name_of(null) << value;
        EXPECT_TRUE(has_remark(r, "nothing can be told apart")) << name_of(null) << value;
      }
    }
  }
}

// Row sums and squares of an offset that is far larger than the spread: the pilot's variance comes from centred entries.
TEST(TwoSampleNumbers, PowerFarFromZeroIsThatAtZero) {
  const Matrix X = normal(60, 1, 1);
  const Matrix Y = normal(60, 1, 2, 0.4);
  const TwoSampleOptions o{.kernel = uncentred(), .permutations = 500};
  const PowerEstimate here = two_sample_power(X, Y, 100, 0.8, o);
  const PowerEstimate far = two_sample_power(moved(X, 1e4), moved(Y, 1e4), 100, 0.8, o);
  EXPECT_NEAR(far.deviation / here.deviation, 1, 1e-5);
  EXPECT_NEAR(far.power, here.power, 0.02);  // its threshold is of the permutations
  for (const MmdStatistic s : {MmdStatistic::u, MmdStatistic::b, MmdStatistic::h})
    EXPECT_NEAR(mmd(moved(X, 1e4), moved(Y, 1e4), {.kernel = uncentred(), .statistic = s}).deviation /
                    mmd(X, Y, {.kernel = uncentred(), .statistic = s}).deviation,
                1, 1e-5)
        << name_of(s);
}

TEST(TwoSampleNumbers, OverflowIsSaidNotCalledNoDifference) {
  const Matrix X = 1e80 * normal(20, 2, 1);
  const Matrix Y = 1e80 * normal(20, 2, 2, 5);
  for (const MmdNull null : {MmdNull::permutation, MmdNull::wild, MmdNull::gamma, MmdNull::pearson, MmdNull::spectral}) {
    const std::string text = message_of([&] { two_sample_test(X, Y, {.kernel = kernels::linear(), .null = null, .permutations = 99}); });
    EXPECT_NE(text.find("kernel values overflow"), std::string::npos) << name_of(null) << text;
    EXPECT_NE(text.find("scale the data"), std::string::npos) << name_of(null);
  }
  EXPECT_THROW(mmd_aggregated_test(X, Y, {.kernels = {kernels::linear()}}), InvalidArgument);
  EXPECT_THROW(mmd_fuse_test(X, Y, {.kernels = {kernels::linear()}}), InvalidArgument);
  // Sums that are in range are right.
  EXPECT_NEAR(mmd(X, Y, {.kernel = kernels::linear()}).squared / mmd(1e-80 * X, 1e-80 * Y, {.kernel = kernels::linear()}).squared, 1e160,
              1e150);
}

TEST(TwoSampleNumbers, RoundingThatDecidesIsRemarkedOn) {
  const Matrix X = normal(30, 1, 1);
  const Matrix Y = normal(30, 1, 2, 2);
  const auto test = [&](double offset) {
    return two_sample_test(moved(X, offset), moved(Y, offset), {.kernel = uncentred(), .permutations = 99});
  };
  EXPECT_FALSE(has_remark(test(0), "rounding decides"));
  EXPECT_FALSE(has_remark(test(1e3), "rounding decides"));
  EXPECT_TRUE(has_remark(test(1e5), "rounding decides"));
  EXPECT_TRUE(has_remark(test(1e7), "nothing can be told apart; where the rows differ but lie far from 0, subtract the column means"));
  const MmdAggregatedOptions many{.kernels = {kernels::linear()}, .permutations = 99, .level_permutations = 99};
  EXPECT_FALSE(has_remark(mmd_aggregated_test(X, Y, many), "rounding decides"));
  EXPECT_TRUE(has_remark(mmd_aggregated_test(moved(X, 1e8), moved(Y, 1e8), many), "rounding decides under linear"));
  const MmdFuseOptions fused{.kernels = {kernels::linear()}, .permutations = 99};
  EXPECT_FALSE(has_remark(mmd_fuse_test(X, Y, fused), "rounding decides"));
  EXPECT_TRUE(has_remark(mmd_fuse_test(moved(X, 1e8), moved(Y, 1e8), fused), "rounding decides under linear"));
}

TEST(MmdNumbers, AllWeightOnOneRow) {
  const Matrix X = normal(8, 2, 1);
  const Matrix Y = normal(9, 2, 2);
  Vector w = Vector::Zero(8);
  w[0] = 3;
  const Kernel kernel = kernels::gaussian(1.0);
  for (const MmdMethod method : {MmdMethod::exact, MmdMethod::nystrom}) {
    const std::string text = message_of([&] { mmd(X, Y, {.kernel = kernel, .weights_x = w, .method = method}); });
    EXPECT_NE(text.find("weights_x gives all weight to one"), std::string::npos) << text;
    EXPECT_THROW(mmd(Y, X, {.kernel = kernel, .weights_y = w, .method = method}), InvalidArgument);
  }
  const MmdEstimate b = mmd(X, Y, {.kernel = kernel, .statistic = MmdStatistic::b, .weights_x = w});
  EXPECT_NEAR(b.squared, 1 + gram(kernel, Y).mean() - 2 * gram(kernel, X.topRows(1), Y).mean(), 1e-14);
  EXPECT_TRUE(std::isnan(b.deviation));
  EXPECT_EQ(b.sentence.find("nan"), std::string::npos);
  w[1] = 1;  // two rows are enough
  EXPECT_TRUE(std::isfinite(mmd(X, Y, {.kernel = kernel, .weights_x = w}).squared));
}

TEST(TwoSampleNumbers, MmdHTakesExchangesWithinPairsByDefault) {
  const Matrix X = normal(8, 2, 1);
  const Matrix Y = normal(8, 2, 2, 0.8);
  const TestResult plain = two_sample_test(X, Y, {.statistic = MmdStatistic::h, .permutations = 300});
  const TestResult pairs = two_sample_test(X, Y, {.statistic = MmdStatistic::h, .permutations = 300, .exchange = {Exchange::pairs, {}, 0}});
  EXPECT_EQ(plain.p_value, pairs.p_value);
  EXPECT_EQ(plain.statistic, pairs.statistic);
  EXPECT_TRUE(plain.exact);
  EXPECT_EQ(plain.description, "all 255 other exchanges within pairs (which mmd-h keeps together), exact level");
  EXPECT_THROW(two_sample_test(X, Y.topRows(7), {.statistic = MmdStatistic::h}), InvalidArgument);
  EXPECT_THROW(two_sample_test(X, Y, {.statistic = MmdStatistic::h, .exchange = {Exchange::blocks, {}, 2}}), InvalidArgument);
}

TEST(TwoSampleNumbers, SignsOfOnePairNeedNoBlocks) {
  const Matrix X = normal(1, 2, 1);
  const Matrix Y = normal(1, 2, 2);
  const TestResult r = two_sample_test(X, Y, {.statistic = MmdStatistic::b, .null = MmdNull::wild, .permutations = 19});
  EXPECT_EQ(r.p_value, 1);
  const std::string text = message_of([&] {
    two_sample_test(X, Y, {.statistic = MmdStatistic::b, .null = MmdNull::wild, .exchange = {Exchange::blocks, {}, 1}});
  });
  EXPECT_NE(text.find("block_length"), std::string::npos);
}

TEST(TwoSampleNumbers, LevelOfWholeGroupsIsSaidInTheSameWords) {
  const Matrix X = normal(12, 2, 1);
  const Matrix Y = normal(14, 2, 2);
  std::vector<Index> groups;
  for (Index i = 0; i < 12; ++i) groups.push_back(i / 3);
  for (Index j = 0; j < 14; ++j) groups.push_back(10 + std::min<Index>(j / 4, 2));  // 4, 4 and 6 rows
  const ExchangeOptions whole{Exchange::whole_groups, groups, 0};
  const char* words = "exact level for groups that are exchangeable as wholes, their sizes included";
  const TestResult one = two_sample_test(X, Y, {.permutations = 99, .exchange = whole});
  const AggregatedResult many = mmd_aggregated_test(X, Y, {.permutations = 99, .level_permutations = 99, .exchange = whole});
  const AggregatedResult fused = mmd_fuse_test(X, Y, {.permutations = 99, .exchange = whole});
  for (const TestResult* r : {&one, static_cast<const TestResult*>(&many), static_cast<const TestResult*>(&fused)}) {
    EXPECT_NE(r->description.find(words), std::string::npos) << r->description;
    EXPECT_TRUE(r->exact);
  }
}

}  // namespace
}  // namespace mercer

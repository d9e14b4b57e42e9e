// Counting exchanges: p-values, ties and thresholds on numbers that can be counted by hand.
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/test_result.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "mercer/error.hpp"

namespace mercer::stats {
namespace {

TEST(ExchangePValue, CountsTiesAgainstTheStatistic) {
  Vector null(4);
  null << 1, 2, 3, 4;
  EXPECT_DOUBLE_EQ(exchange_p_value(5, null, 0), 1.0 / 5);
  EXPECT_DOUBLE_EQ(exchange_p_value(3, null, 0), 3.0 / 5);
  EXPECT_DOUBLE_EQ(exchange_p_value(3.0000001, null, 1e-6), 3.0 / 5);
  EXPECT_DOUBLE_EQ(exchange_p_value(0, null, 0), 1);
}

TEST(ExchangePValue, WhatIsNotANumberIsNoEvidence) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_DOUBLE_EQ(exchange_p_value(nan, Vector::Zero(9), 0), 1);
  Vector null(3);
  null << 1, nan, 2;
  EXPECT_DOUBLE_EQ(exchange_p_value(3, null, 0), 2.0 / 4);
}

TEST(ExchangeThreshold, IsWhatThePValueComesTo) {
  Vector null(19);
  for (Index i = 0; i < 19; ++i) null[i] = static_cast<double>((7 * i) % 19);  // 0 .. 18
  for (const double level : {0.05, 0.1, 0.3, 0.5}) {
    const double threshold = exchange_threshold(null, level);
    EXPECT_LE(exchange_p_value(threshold + 0.5, null, 0), level + 1e-12);
    EXPECT_GT(exchange_p_value(threshold, null, 0), level);
  }
  EXPECT_EQ(exchange_threshold(null, 0.04), std::numeric_limits<double>::infinity());  // p is never below 1/20
}

TEST(Remarks, TooFewDrawsAreSaidOnce) {
  TestResult r;
  r.level = 0.01;
  r.draws = 20;
  conclude(r, "yes", "no", std::chrono::steady_clock::now());
  ASSERT_EQ(r.remarks.size(), 1U);
  EXPECT_EQ(r.remarks[0], "20 exchanges cannot give a p-value below 0.0476, so nothing is rejected at level 0.01; at least 99 are needed");
  conclude(r, "yes", "no", std::chrono::steady_clock::now());
  EXPECT_EQ(r.remarks.size(), 1U);
  r.remarks = {"20 exchanges for the level are too few to reject at level 0.01: at least 99 are needed"};  // in a test's own words
  conclude(r, "yes", "no", std::chrono::steady_clock::now());
  EXPECT_EQ(r.remarks.size(), 1U);
  for (const Index draws : {Index{0}, Index{99}}) {  // a law with a formula; just enough
    TestResult enough;
    enough.level = 0.01;
    enough.draws = draws;
    conclude(enough, "yes", "no", std::chrono::steady_clock::now());
    EXPECT_TRUE(enough.remarks.empty());
  }
}

TEST(Remarks, TooFewDifferentExchangesAreSaid) {
  TestResult r;
  r.level = 0.05;
  remark_on_exchanges(r, std::log(20.0));
  EXPECT_TRUE(r.remarks.empty());
  remark_on_exchanges(r, std::log(10.0));
  ASSERT_EQ(r.remarks.size(), 1U);
  EXPECT_EQ(r.remarks[0].find("there are only 10 different exchanges of these rows, so no p-value below 0.1 "), 0U);
}

TEST(Level, MustBeBetweenNoneAndAll) {
  EXPECT_NO_THROW(require_level(0.05));
  for (const double level : {0.0, 1.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) EXPECT_THROW(require_level(level), InvalidArgument);
}

}  // namespace
}  // namespace mercer::stats

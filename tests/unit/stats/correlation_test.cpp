// Correlations against definitions and all orders; python/tests/test_independence.py compares them with another library.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/independence.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

double sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

double tau_by_pairs(const Vector& x, const Vector& y) {
  double sum = 0, in_x = 0, in_y = 0;
  for (Index i = 0; i < x.size(); ++i) {
    for (Index j = 0; j < i; ++j) {
      sum += sign(x[i] - x[j]) * sign(y[i] - y[j]);
      in_x += std::abs(sign(x[i] - x[j]));
      in_y += std::abs(sign(y[i] - y[j]));
    }
  }
  return sum / std::sqrt(in_x * in_y);
}

// The part of all orders of y whose correlation is at least as far from 0.
double p_by_orders(const Vector& x, Vector y, Correlation which) {
  const double observed = std::abs(correlation_test(x, y, which).statistic);
  std::sort(y.begin(), y.end());
  double at_least = 0, all = 0;
  do {
    at_least += std::abs(correlation_test(x, y, which).statistic) >= observed - 1e-12 ? 1 : 0;
    ++all;
  } while (std::next_permutation(y.begin(), y.end()));
  return at_least / all;
}

TEST(Correlation, ExactLawsAreThoseOfAllOrders) {
  for (const Index n : {3, 5, 6}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Matrix data = RandomStream(seed).normal_matrix(n, 2);
      for (const Correlation which : {Correlation::spearman, Correlation::kendall}) {
        const TestResult r = correlation_test(data.col(0), data.col(1), which);
        EXPECT_TRUE(r.exact);
        EXPECT_NEAR(r.p_value, p_by_orders(data.col(0), data.col(1), which), 1e-12);
      }
    }
  }
}

// rho by its definition, ranks counted pair by pair.
long double rho_by_definition(const Vector& x, const Vector& y) {
  const Index n = x.size();
  const auto rank = [n](const Vector& v, Index i) {
    long double r = 0;
    for (Index j = 0; j < n; ++j) r += v[j] < v[i] ? 1.0L : v[j] == v[i] ? 0.5L : 0.0L;
    return r - static_cast<long double>(n) / 2;
  };
  long double xy = 0, xx = 0, yy = 0;
  for (Index i = 0; i < n; ++i) {
    xy += rank(x, i) * rank(y, i);
    xx += rank(x, i) * rank(x, i);
    yy += rank(y, i) * rank(y, i);
  }
  return xy / std::sqrt(xx * yy);
}

TEST(Correlation, FewRowsWithTiesAreExactOverAllOrders) {
  for (const Index n : {3, 5, 6, 7}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      RandomStream random(10 * static_cast<std::uint64_t>(n) + seed);
      Vector x(n), y(n);
      for (Index i = 0; i < n; ++i) {
        x[i] = static_cast<double>(random.below(3));
        y[i] = seed == 0 ? random.normal() : static_cast<double>(random.below(4));
      }
      x[0] = x[1] = 5;
      x[2] = 4;
      y[0] = 7;
      const long double rho = std::abs(rho_by_definition(x, y));
      const double tau = std::abs(tau_by_pairs(x, y));
      std::vector<Index> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), Index{0});
      double rho_count = 0, tau_count = 0, all = 0;
      do {  // all n! orders, those of equal rows too
        Vector moved(n);
        for (Index i = 0; i < n; ++i) moved[i] = y[order[static_cast<std::size_t>(i)]];
        rho_count += std::abs(rho_by_definition(x, moved)) >= rho - 1e-15L ? 1 : 0;
        tau_count += std::abs(tau_by_pairs(x, moved)) >= tau - 1e-12 ? 1 : 0;
        ++all;
      } while (std::next_permutation(order.begin(), order.end()));
      const TestResult spearman = correlation_test(x, y, Correlation::spearman);
      const TestResult kendall = correlation_test(x, y, Correlation::kendall);
      EXPECT_NEAR(spearman.statistic, static_cast<double>(rho_by_definition(x, y)), 1e-14);
      EXPECT_NEAR(spearman.p_value, rho_count / all, 1e-12) << n << " rows, seed " << seed;
      EXPECT_NEAR(kendall.p_value, tau_count / all, 1e-12) << n << " rows, seed " << seed;
      for (const TestResult* r : {&spearman, &kendall}) {
        EXPECT_TRUE(r->exact);
        EXPECT_NE(r->description.find("with ties"), std::string::npos) << r->description;
      }
    }
  }
}

TEST(Correlation, TiesAreApproximateFromTenRows) {
  Vector x = Vector::LinSpaced(10, 0, 9), y = x;
  x[1] = 0;
  for (const Correlation which : {Correlation::spearman, Correlation::kendall}) {
    EXPECT_FALSE(correlation_test(x, y, which).exact);
    EXPECT_TRUE(correlation_test(x.head(9), y.head(9), which).exact);
    // x in its order, or backwards, and the two equal rows either way round: 4 of 9! orders.
    EXPECT_NEAR(correlation_test(x.head(9), y.head(9), which).p_value, 4.0 / 362880, 1e-16);
  }
}

TEST(Correlation, KendallCountsTies) {
  RandomStream random(3);
  for (const Index n : {2, 7, 40, 200}) {
    Vector x(n), y(n);
    for (Index i = 0; i < n; ++i) {
      x[i] = static_cast<double>(random.below(4));
      y[i] = static_cast<double>(random.below(5));
    }
    x[0] = 9;
    y[0] = 9;
    EXPECT_NEAR(correlation_test(x, y, Correlation::kendall).statistic, tau_by_pairs(x, y), 1e-14);
  }
}

TEST(Correlation, KendallLawsMeetWhereTheExactOneEnds) {
  const Matrix data = RandomStream(8).normal_matrix(33, 2);
  const Vector x = data.col(0), y = (data.col(0) + 2 * data.col(1)).eval();
  const TestResult exact = correlation_test(x, y, Correlation::kendall);
  EXPECT_EQ(exact.method, "exact");
  const double z = exact.statistic * 33 * 32 / 2 / std::sqrt(33.0 * 32 * 71 / 18);
  EXPECT_NEAR(exact.p_value, std::erfc(std::abs(z) / std::sqrt(2.0)), 0.01);
  Vector order = Vector::LinSpaced(50, 0, 49);
  EXPECT_NEAR(std::log(correlation_test(order, order, Correlation::kendall).p_value), std::log(2.0) - std::lgamma(51.0), 1e-10);
}

TEST(Correlation, PerfectOnesAndBadInput) {
  const Vector x = Vector::LinSpaced(20, -3, 5);
  EXPECT_DOUBLE_EQ(correlation_test(x, x, Correlation::pearson).statistic, 1);
  EXPECT_LT(correlation_test(x, -x, Correlation::pearson).p_value, 1e-15);
  EXPECT_DOUBLE_EQ(correlation_test(x, -x, Correlation::spearman).statistic, -1);
  EXPECT_THROW(correlation_test(x, Vector::Constant(20, 1.0), Correlation::spearman), InvalidArgument);
  EXPECT_THROW(correlation_test(x, x.head(5), Correlation::pearson), InvalidArgument);
  EXPECT_THROW(correlation_test(x.head(2), x.head(2), Correlation::pearson), InvalidArgument);
  EXPECT_THROW(correlation_test(x, x, Correlation::pearson, 0), InvalidArgument);
  Vector bad = x;
  bad[3] = std::nan("");
  EXPECT_THROW(correlation_test(x, bad, Correlation::kendall), InvalidArgument);
}

TEST(Correlation, ChiSquareOfATable) {
  // 10, 20 / 30, 40: by hand, n (ad - bc)^2 / (products of the margins).
  Vector x(100), y(100);
  Index at = 0;
  const auto put = [&](double a, double b, Index times) {
    for (Index i = 0; i < times; ++i, ++at) x[at] = a, y[at] = b;
  };
  put(0, 0, 10);
  put(0, 1, 20);
  put(1, 0, 30);
  put(1, 1, 40);
  const TestResult r = correlation_test(x, y, Correlation::chi2);
  EXPECT_NEAR(r.statistic, 100.0 * 200 * 200 / (30.0 * 70 * 40 * 60), 1e-12);
  EXPECT_NEAR(r.p_value, std::erfc(std::sqrt(r.statistic / 2)), 1e-12);
  EXPECT_NEAR(r.numbers[1].second, std::sqrt(r.statistic / 100), 1e-12);
  EXPECT_TRUE(r.remarks.empty());
  EXPECT_EQ(correlation_test(x.head(40), y.head(40), Correlation::chi2).remarks.size(), 0U);
  EXPECT_EQ(correlation_test(x.segment(8, 30), y.segment(8, 30), Correlation::chi2).remarks.size(), 1U);
}

}  // namespace
}  // namespace mercer

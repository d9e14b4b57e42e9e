// Two-sample tests: p-values against exhaustive permutations, nulls against their formulas and against each other.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/two_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "stats/two_sample_parts.hpp"

namespace mercer {
namespace {

Matrix normal(Index rows, Index cols, std::uint64_t seed, double shift = 0) {
  return (RandomStream(seed).normal_matrix(rows, cols).array() + shift).matrix();
}
Matrix binary(Index rows, Index cols, std::uint64_t seed, double chance = 0.5) {
  RandomStream random(seed);
  Matrix X(rows, cols);
  for (Index i = 0; i < X.size(); ++i) X.data()[i] = random.uniform() < chance ? 1 : 0;
  return X;
}
Matrix stacked(const Matrix& X, const Matrix& Y) {
  Matrix Z(X.rows() + Y.rows(), X.cols());
  Z << X, Y;
  return Z;
}

// mmd-u of the rows with a label against the others, by the definition.
double naive_u(const Matrix& K, const std::vector<char>& in_first) {
  long double xx = 0;
  long double yy = 0;
  long double xy = 0;
  long double n = 0;
  for (Index i = 0; i < K.rows(); ++i) {
    n += in_first[static_cast<std::size_t>(i)];
    for (Index j = 0; j < K.rows(); ++j) {
      if (i == j) continue;
      const int ones = in_first[static_cast<std::size_t>(i)] + in_first[static_cast<std::size_t>(j)];
      (ones == 2 ? xx : ones == 0 ? yy : xy) += K(i, j);
    }
  }
  const long double m = static_cast<long double>(K.rows()) - n;
  return static_cast<double>(xx / (n * (n - 1)) + yy / (m * (m - 1)) - xy / (n * m));
}

// The p-value of all splits, ties by a tolerance that exact arithmetic would not need.
double exhaustive_p(const Matrix& K, Index n) {
  std::vector<char> labels(static_cast<std::size_t>(K.rows()), 0);
  std::fill_n(labels.begin(), n, char{1});
  const double observed = naive_u(K, labels);
  double hits = 0;
  double all = 0;
  do {
    hits += naive_u(K, labels) >= observed - 1e-12 ? 1 : 0;
    ++all;
  } while (std::prev_permutation(labels.begin(), labels.end()));
  return hits / all;
}

TEST(TwoSample, TinySamplesHaveTheExhaustivePValue) {
  const Kernel kernel = kernels::gaussian(1.0);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const Index n : {3, 4, 5}) {
      const Index m = 9 - n;
      const Matrix X = seed % 2 == 0 ? binary(n, 2, seed) : normal(n, 2, seed);
      const Matrix Y = seed % 2 == 0 ? binary(m, 2, seed + 100, 0.8) : normal(m, 2, seed + 100, 1);
      const TestResult r = two_sample_test(X, Y, {.kernel = kernel, .permutations = 200});
      EXPECT_DOUBLE_EQ(r.p_value, exhaustive_p(gram(kernel, stacked(X, Y)), n)) << seed << " " << n;
      EXPECT_EQ(r.draws, n == 3 ? 83 : 125);  // all splits but the observed one
      EXPECT_TRUE(r.exact);
    }
  }
  // Drawn permutations come near it.
  const Matrix X = binary(6, 1, 5);
  const Matrix Y = binary(7, 1, 6, 0.9);
  const double p = exhaustive_p(gram(kernel, stacked(X, Y)), 6);
  const TestResult drawn = two_sample_test(X, Y, {.kernel = kernel, .permutations = 1700, .seed = 1});
  EXPECT_EQ(drawn.draws, 1700);
  EXPECT_NEAR(drawn.p_value, p, 4 * std::sqrt(p * (1 - p) / 1700));
}

// Binary rows make many exchanges equal; float32 must count the same ties as exact arithmetic.
TEST(TwoSample, TiesOfBinaryRowsAreCountedInFloat32) {
  for (const Index columns : {1, 3}) {
    for (const Index n : {100, 37}) {
      const Index m = 320 - n;
      const Matrix Z = stacked(binary(n, columns, 1), binary(m, columns, 2, 0.55));
      const Kernel kernel = kernels::gaussian(0.8);
      const Matrix K = gram(kernel, Z);
      const stats::Exchanges exchanges(n + m, n, {}, 3);
      const Index labellings = 2200;  // enough work that float32 is used
      const auto labels = [&](Index b, std::span<char> in_first) {
        if (b > 0) return exchanges.draw_labels(b, in_first);
        std::fill(in_first.begin(), in_first.end(), char{0});
        std::fill_n(in_first.begin(), n, char{1});
      };
      const stats::Pooled pooled{Z, n, m, kernel};
      const stats::Exchanged single = stats::exchanged_statistics(pooled, MmdStatistic::u, labellings, labels, false, {});
      const stats::Exchanged twice = stats::exchanged_statistics(pooled, MmdStatistic::u, labellings, labels, true, {});
      EXPECT_GT(single.tolerance, 1e4 * twice.tolerance);  // it was float32
      EXPECT_LT(single.tolerance, 1e-3 * std::sqrt((single.null.array() - single.null.mean()).square().mean()));
      std::vector<char> in_first(static_cast<std::size_t>(n + m));
      labels(0, in_first);
      const double observed = naive_u(K, in_first);
      EXPECT_NEAR(twice.observed, observed, 1e-14);
      Index naive_ties = 0;
      for (Index b = 1; b < 300; ++b) {
        labels(b, in_first);
        const double exact = naive_u(K, in_first);
        EXPECT_NEAR(single.null[b - 1], exact, 1e-6);
        EXPECT_NEAR(twice.null[b - 1], exact, 1e-14);
        naive_ties += std::abs(exact - observed) < 1e-12 ? 1 : 0;
        EXPECT_EQ(single.null[b - 1] >= single.observed - single.tolerance, exact >= observed - 1e-12) << columns << " " << n << " " << b;
      }
      if (columns == 1) {
        EXPECT_GT(naive_ties, 5);
      }
    }
  }
}

// As the length scale grows, k becomes 1 - |x-y|^2 / (2 l^2): the order of mmd-u is that of the linear kernel, if rounding does not eat it.
TEST(TwoSample, ANearlyConstantKernelIsNotBlurred) {
  const Matrix X = normal(300, 2, 1);
  const Matrix Y = normal(300, 2, 2, 0.1);
  const TestResult linear = two_sample_test(X, Y, {.kernel = kernels::linear(), .permutations = 700});
  const TestResult wide = two_sample_test(X, Y, {.kernel = kernels::gaussian(1e4), .permutations = 700});
  EXPECT_NEAR(linear.p_value, wide.p_value, 2.0 / 701);
  EXPECT_GT(linear.p_value, 3.0 / 701);  // something to compare
}

TEST(TwoSample, PermutationVarianceIsExact) {
  const Matrix X = normal(3, 2, 1);
  const Matrix Y = normal(5, 2, 2, 0.5);
  const Matrix K = gram(kernels::gaussian(0.7), stacked(X, Y));
  std::vector<char> labels = {1, 1, 1, 0, 0, 0, 0, 0};
  double sum = 0;
  double squares = 0;
  double count = 0;
  do {
    const double u = naive_u(K, labels);
    sum += u;
    squares += u * u;
    ++count;
  } while (std::prev_permutation(labels.begin(), labels.end()));
  EXPECT_NEAR(sum / count, 0, 1e-15);
  const stats::Pooled pooled = stats::pool(X, Y, kernels::gaussian(0.7));
  const double centred = stats::centred_pair_squares(pooled, stats::sample_sums(pooled, {}, {}), {});
  EXPECT_NEAR(stats::permutation_variance(centred, 3, 5), squares / count, 1e-15);
}

// sum over i != j of s_i s_j h(z_i, z_j) / (n (n - 1)) for all 2^n signs.
TEST(TwoSample, WildBootstrapOfPairsIsTheSignedSum) {
  const Index n = 6;
  const Matrix X = normal(n, 2, 1);
  const Matrix Y = normal(n, 2, 2, 0.6);
  const Kernel kernel = kernels::gaussian(1.0);
  const Matrix Kx = gram(kernel, X);
  const Matrix Ky = gram(kernel, Y);
  const Matrix Kxy = gram(kernel, X, Y);
  const auto signed_sum = [&](unsigned signs) {
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        if (i == j) continue;
        const int sign = ((signs >> i) & 1U) == ((signs >> j) & 1U) ? 1 : -1;
        sum += sign * (Kx(i, j) + Ky(i, j) - Kxy(i, j) - Kxy(j, i));
      }
    }
    return sum / static_cast<double>(n * (n - 1));
  };
  std::vector<double> all;
  for (unsigned signs = 1; signs < 64; ++signs) all.push_back(signed_sum(signs));
  const TestResult pairs =
      two_sample_test(X, Y, {.kernel = kernel, .statistic = MmdStatistic::h, .permutations = 63, .exchange = {Exchange::pairs, {}, 0}});
  ASSERT_EQ(pairs.draws, 63);  // all of them
  EXPECT_NEAR(pairs.statistic, signed_sum(0), 1e-14);
  Vector null = pairs.null;
  std::sort(null.begin(), null.end());
  std::sort(all.begin(), all.end());
  for (Index b = 0; b < 63; ++b) EXPECT_NEAR(null[b], all[static_cast<std::size_t>(b)], 1e-14);
  for (const MmdStatistic s : {MmdStatistic::h, MmdStatistic::u, MmdStatistic::b}) {
    const double p = two_sample_test(X, Y, {.kernel = kernel, .statistic = s, .exchange = {Exchange::pairs, {}, 0}}).p_value;
    const TestResult wild = two_sample_test(X, Y, {.kernel = kernel, .statistic = s, .null = MmdNull::wild, .permutations = 2000});
    EXPECT_NEAR(wild.p_value, p, 4 * std::sqrt(p * (1 - p) / 2000) + 1e-3) << name_of(s);
    EXPECT_TRUE(wild.exact);
  }
}

TEST(TwoSample, BinsOfOneRowAreRows) {
  const Matrix X = normal(20, 2, 1);
  const Matrix Y = normal(25, 2, 2, 0.4);
  const TestResult rows = two_sample_test(X, Y, {.permutations = 400, .seed = 5});
  const TestResult bins = two_sample_test(X, Y, {.null = MmdNull::binned, .permutations = 400, .bins = 45, .seed = 5});
  EXPECT_NEAR(rows.statistic, bins.statistic, 1e-14);
  EXPECT_EQ(rows.p_value, bins.p_value);
  EXPECT_LT((rows.null - bins.null).cwiseAbs().maxCoeff(), 1e-13);
  // Larger ones: each exchange is one of rows, which the definition judges.
  const TestResult wide = two_sample_test(X, Y, {.null = MmdNull::binned, .permutations = 50, .bins = 9});
  EXPECT_EQ(wide.description, "50 permutations of 9 bins of 5 rows, exact level");
  EXPECT_NEAR(wide.statistic, rows.statistic, 1e-14);
}

TEST(TwoSample, GammaHasTheMomentsOfTheFormula) {
  const Matrix X = normal(30, 2, 1);
  const Matrix Y = normal(50, 2, 2);
  const Kernel kernel = kernels::polynomial(2, 0.5);
  const Matrix K = gram(kernel, stacked(X, Y));
  const Matrix H = Matrix::Identity(80, 80) - Matrix::Constant(80, 80, 1.0 / 80);
  const Matrix C = H * K * H;
  const double scale = 80.0 / (30 * 50);
  const double mean = scale * C.trace() / 80;
  const double variance = scale * scale * 2 * C.squaredNorm() / 6400;
  const TestResult r = two_sample_test(X, Y, {.kernel = kernel, .null = MmdNull::gamma});
  EXPECT_EQ(r.statistic_name, "mmd-b");
  EXPECT_NEAR(r.numbers[0].second * r.numbers[1].second, mean, 1e-12 * mean);
  EXPECT_NEAR(r.numbers[0].second * r.numbers[1].second * r.numbers[1].second, variance, 1e-11 * variance);
}

TEST(TwoSample, BoundIsTheFormula) {
  const Matrix X = normal(100, 2, 1);
  const Matrix Y = normal(80, 2, 2, 3);
  const TestResult r = two_sample_test(X, Y, {.kernel = 2.0 * kernels::gaussian(2.0), .null = MmdNull::bound, .level = 0.01});
  const double unit = std::sqrt(2.0 * (1.0 / 100 + 1.0 / 80));
  EXPECT_NEAR(std::sqrt(r.threshold), unit * (1 + std::sqrt(2 * std::log(100))), 1e-12);
  EXPECT_TRUE(r.rejected);
  EXPECT_NEAR(unit * (1 + std::sqrt(2 * std::log(1 / r.p_value))), std::sqrt(r.statistic), 1e-12);
  EXPECT_EQ(r.rejected, r.statistic > r.threshold);
  EXPECT_THROW(two_sample_test(X, Y, {.kernel = kernels::linear(), .null = MmdNull::bound}), InvalidArgument);
  EXPECT_EQ(two_sample_test(X, X, {.null = MmdNull::bound}).p_value, 1);
}

// On the same samples all nulls say nearly the same.
TEST(TwoSample, NullsAgreeOnLargeSamples) {
  for (const double shift : {0.0, 0.12}) {
    const Matrix X = normal(250, 2, 11);
    const Matrix Y = normal(250, 2, 12, shift);
    const TestResult exact = two_sample_test(X, Y, {.permutations = 4000});
    for (const MmdNull null : {MmdNull::wild, MmdNull::pearson, MmdNull::spectral, MmdNull::gamma, MmdNull::binned}) {
      const TestResult r = two_sample_test(X, Y, {.null = null, .permutations = 4000});
      EXPECT_NEAR(r.p_value, exact.p_value, null == MmdNull::binned || null == MmdNull::wild ? 0.08 : 0.03) << name_of(null) << shift;
      if (r.statistic_name == "mmd-u") {
        // Bins give a null of their own, right on the average over samples.
        EXPECT_NEAR(r.threshold / exact.threshold, 1, null == MmdNull::binned ? 0.3 : 0.12) << name_of(null);
      }
      EXPECT_EQ(r.rejected, r.p_value <= 0.05);
    }
    const TestResult unequal = two_sample_test(X, Y.topRows(150), {.permutations = 2000});
    const TestResult wild = two_sample_test(X, Y.topRows(150), {.null = MmdNull::wild, .permutations = 2000});
    EXPECT_FALSE(wild.exact);
    EXPECT_NEAR(wild.p_value, unequal.p_value, 0.04);
  }
}

TEST(TwoSample, StatisticsThatDoNotFitAreRefusedByName) {
  const Matrix X = normal(20, 2, 1);
  const Matrix Y = normal(20, 2, 2);
  const auto message = [&](const TwoSampleOptions& o) -> std::string {
    try {
      two_sample_test(X, Y, o);
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(
      message({.statistic = MmdStatistic::u, .null = MmdNull::gamma}),
      "the statistic mmd-u does not go with null = gamma, which takes mmd-b; mmd-u goes with null = permutation, binned, wild, pearson, "
      "spectral");
  EXPECT_NE(message({.statistic = MmdStatistic::linear}), "");
  EXPECT_NE(message({.statistic = MmdStatistic::h, .exchange = {Exchange::blocks, {}, 2}}).find("exchange = blocks does not"),
            std::string::npos);
  EXPECT_NE(message({.statistic = MmdStatistic::b, .null = MmdNull::pearson}), "");
  EXPECT_NE(message({.permutations = 0}), "");
  EXPECT_NE(message({.level = 1.0}), "");
  EXPECT_NE(message({.null = MmdNull::gamma, .exchange = {Exchange::pairs, {}, 0}}), "");
  EXPECT_NE(message({.block_size = 4}), "");
  EXPECT_NE(message({.bins = 10}), "");
  EXPECT_THROW(two_sample_test(X, normal(15, 2, 3), {.statistic = MmdStatistic::b, .null = MmdNull::wild}), InvalidArgument);
  EXPECT_EQ(two_sample_test(X, Y, {.null = MmdNull::normal}).statistic_name, "mmd-linear");
  EXPECT_EQ(two_sample_test(X, Y, {.statistic = MmdStatistic::block, .null = MmdNull::normal}).statistic_name, "mmd-block");
}

TEST(TwoSample, RemarksSayWhatTheKernelCannotSee) {
  const Matrix X = normal(20, 2, 1);
  const Matrix Y = normal(20, 2, 2);
  const auto remark = [&](const Kernel& kernel) {
    const TestResult r = two_sample_test(X, Y, {.kernel = kernel, .permutations = 99});
    return r.remarks.empty() ? std::string() : r.remarks[0];
  };
  EXPECT_EQ(remark(kernels::gaussian(1.0)), "");
  EXPECT_NE(remark(kernels::linear()).find("sees only a difference of means"), std::string::npos);
  EXPECT_NE(remark(0.5 * kernels::linear() + 1.0).find("a difference of means"), std::string::npos);
  EXPECT_NE(remark(kernels::polynomial(3)).find("moments up to order 3"), std::string::npos);
  EXPECT_NE(remark(kernels::polynomial(2, 1, 0)).find("moments of order 2 alone"), std::string::npos);
  EXPECT_NE(remark(kernels::linear().power(3)).find("moments of order 3 alone"), std::string::npos);
  EXPECT_NE(remark(kernels::linear() + kernels::linear().power(3)).find("moments of orders 1, 3 alone"), std::string::npos);
  EXPECT_NE(remark(kernels::cosine()).find("not characteristic"), std::string::npos);
  EXPECT_EQ(remark(kernels::gaussian(1.0) + kernels::linear()), "");
  // Equal means, different spread: seen by the Gaussian, not by the linear kernel.
  const Matrix wide = 3 * normal(200, 1, 3);
  EXPECT_TRUE(two_sample_test(normal(200, 1, 4), wide, {.permutations = 200}).rejected);
  EXPECT_FALSE(two_sample_test(normal(200, 1, 4), wide, {.kernel = kernels::linear(), .permutations = 200}).rejected);
  EXPECT_TRUE(two_sample_test(normal(200, 1, 4), wide, {.kernel = kernels::polynomial(2), .permutations = 200}).rejected);
}

TEST(TwoSample, TakesEveryKindOfSamples) {
  const Matrix X = normal(25, 3, 1).cwiseMax(0);
  const Matrix Y = normal(30, 3, 2, 0.5).cwiseMax(0);
  const Kernel kernel = kernels::gaussian(1.0);
  const TestResult dense = two_sample_test(X, Y, {.kernel = kernel, .permutations = 300});
  EXPECT_EQ(two_sample_test(CsrMatrix<double>(X.sparseView()), CsrMatrix<double>(Y.sparseView()), {.kernel = kernel, .permutations = 300})
                .p_value,
            dense.p_value);
  const Samples given = Samples::given_gram(gram(kernel, stacked(X, Y)));
  for (const MmdNull null : {MmdNull::permutation, MmdNull::binned, MmdNull::gamma, MmdNull::pearson, MmdNull::spectral, MmdNull::normal}) {
    const TestResult rows = two_sample_test(X, Y, {.kernel = kernel, .null = null, .permutations = 300});
    const TestResult by_gram =
        two_sample_test(given.slice(0, 25), given.slice(25, 30), {.kernel = kernels::precomputed(), .null = null, .permutations = 300});
    EXPECT_NEAR(by_gram.p_value, rows.p_value, 1e-9) << name_of(null);
    EXPECT_NEAR(by_gram.statistic, rows.statistic, 1e-13);
  }
}

TEST(TwoSample, DoesNotDependOnThreads) {
  const Matrix X = normal(400, 3, 1);
  const Matrix Y = normal(300, 3, 2);
  for (const MmdNull null : {MmdNull::permutation, MmdNull::binned, MmdNull::wild, MmdNull::gamma, MmdNull::normal}) {
    const TestResult one = two_sample_test(X, Y, {.null = null, .permutations = 500, .run = {.threads = 1}});
    const TestResult two = two_sample_test(X, Y, {.null = null, .permutations = 500, .run = {.threads = 2}});
    EXPECT_EQ(one.p_value, two.p_value) << name_of(null);
    EXPECT_EQ(one.statistic, two.statistic) << name_of(null);
    EXPECT_EQ(one.null, two.null) << name_of(null);
  }
}

TEST(TwoSample, ConstantRowsAndDuplicatesDoNoHarm) {
  const Matrix ones = Matrix::Ones(12, 2);
  for (const MmdNull null : {MmdNull::permutation, MmdNull::binned, MmdNull::wild, MmdNull::gamma, MmdNull::pearson, MmdNull::spectral,
                             MmdNull::normal, MmdNull::bound}) {
    const TestResult r = two_sample_test(ones, ones, {.null = null, .permutations = 99});
    EXPECT_EQ(r.p_value, 1) << name_of(null);
    EXPECT_FALSE(r.rejected);
  }
  const Matrix X = normal(15, 2, 1);
  EXPECT_FALSE(two_sample_test(X, X, {.permutations = 99}).rejected);
  EXPECT_THROW(two_sample_test(X.topRows(1), X), InvalidArgument);
  EXPECT_THROW(two_sample_test(X, Matrix(0, 2)), InvalidArgument);
}

TEST(TwoSample, LargeAndMovedNumbersDoNoHarm) {
  const Matrix X = normal(400, 2, 1);
  const Matrix Y = normal(400, 2, 2, 0.1);
  const Kernel kernel = kernels::gaussian(1.0);
  const TestResult here = two_sample_test(X, Y, {.kernel = kernel, .permutations = 400});
  const TestResult moved = two_sample_test((X.array() + 1e5).matrix(), (Y.array() + 1e5).matrix(), {.kernel = kernel, .permutations = 400});
  EXPECT_NEAR(here.p_value, moved.p_value, 1.5 / 401);
  EXPECT_NEAR(here.statistic, moved.statistic, 1e-9);
  // Values beyond float32's range, of a scale that changes nothing else.
  const TestResult small = two_sample_test(X, Y, {.kernel = kernels::polynomial(4, 1, 0), .permutations = 400});
  const TestResult large = two_sample_test(1e12 * X, 1e12 * Y, {.kernel = kernels::polynomial(4, 1, 0), .permutations = 400});
  EXPECT_NEAR(small.p_value, large.p_value, 1.5 / 401);
  EXPECT_NEAR(large.statistic / small.statistic, 1e96, 1e86);
}

TEST(TwoSample, KernelsThatAreNotPositiveSemiDefiniteAreNamed) {
  const Matrix X = normal(30, 2, 1);
  const Matrix Y = normal(30, 2, 2);
  const TestResult r = two_sample_test(X, Y, {.kernel = kernels::sigmoid(1, -1), .statistic = MmdStatistic::b, .permutations = 99});
  EXPECT_NE(r.remarks.back().find("not positive semi-definite"), std::string::npos);
  const Samples given = Samples::given_gram(-gram(kernels::gaussian(1.0), stacked(X, Y)));
  EXPECT_THROW(two_sample_test(given.slice(0, 30), given.slice(30, 30), {.kernel = kernels::precomputed(), .null = MmdNull::gamma}),
               InvalidArgument);
  EXPECT_LT(mmd(given.slice(0, 30), given.slice(30, 30), {.kernel = kernels::precomputed(), .statistic = MmdStatistic::b}).squared, 0);
}

TEST(TwoSample, SaysWhenTheDrawsAreTooFewForTheLevel) {
  const TestResult r = two_sample_test(normal(20, 1, 1), normal(20, 1, 2, 5), {.permutations = 10});
  EXPECT_FALSE(r.rejected);
  ASSERT_EQ(r.remarks.size(), 1U);
  EXPECT_NE(r.remarks[0].find("at least 19 are needed"), std::string::npos);
  EXPECT_TRUE(std::isinf(r.threshold));
}

TEST(TwoSample, CanBeCancelled) {
  TwoSampleOptions o{.permutations = 2000};
  o.run.progress = [](const ProgressEvent&) { return false; };
  EXPECT_THROW(two_sample_test(normal(600, 3, 1), normal(600, 3, 2), o), Cancelled);
}

}  // namespace
}  // namespace mercer

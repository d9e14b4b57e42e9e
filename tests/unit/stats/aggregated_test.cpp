// Tests of many kernels against the whole algorithm in plain loops, by simulation of level and power, and on bad input.
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/aggregated.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "mercer/aggregated_tests.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "stats/exchanges.hpp"

namespace mercer {
namespace {

using kernels::LengthScale;

const std::vector<Kernel>& some_kernels() {
  static const std::vector<Kernel> kernels = {kernels::gaussian(0.3), kernels::gaussian(1.0), kernels::laplacian(2.0, kernels::Norm::l1),
                                              kernels::rational_quadratic(1.0)};
  return kernels;
}

// mmd-u by its definition.
double naive_mmd_u(const Matrix& K, const std::vector<char>& in_first) {
  double same[2] = {0, 0}, across = 0, count[2] = {0, 0};
  for (std::size_t i = 0; i < in_first.size(); ++i) {
    count[in_first[i] != 0 ? 0 : 1] += 1;
    for (std::size_t j = 0; j < in_first.size(); ++j) {
      const double k = K(static_cast<Index>(i), static_cast<Index>(j));
      if (in_first[i] != in_first[j]) across += k / 2;
      if (in_first[i] == in_first[j] && i != j) same[in_first[i] != 0 ? 0 : 1] += k;
    }
  }
  return same[0] / (count[0] * (count[0] - 1)) + same[1] / (count[1] * (count[1] - 1)) - 2 * across / (count[0] * count[1]);
}

// Row 0 as observed, then the exchanges.
Matrix naive_statistics(const Samples& X, const Samples& Y, const std::vector<Kernel>& kernels, const ExchangeOptions& scheme,
                        std::uint64_t seed, Index draws) {
  const Samples pooled = concatenate(X, Y);
  const stats::Exchanges exchanges(pooled.size(), X.size(), scheme, seed);
  Matrix T(draws + 1, static_cast<Index>(kernels.size()));
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Matrix K = gram(kernels[k], pooled);
    for (Index j = 0; j <= draws; ++j) {
      std::vector<char> in_first(static_cast<std::size_t>(pooled.size()));
      if (j == 0) std::fill_n(in_first.begin(), X.size(), 1);
      if (j > 0) exchanges.draw_labels(j - 1, in_first);
      T(j, static_cast<Index>(k)) = naive_mmd_u(K, in_first);
    }
  }
  return T;
}

double naive_p(const Matrix& T, Index j, Index k, Index B1) {
  double at_least = 0;
  for (Index b = 1; b <= B1; ++b) at_least += T(b, k) >= T(j, k) - 1e-9 ? 1 : 0;
  return (1 + at_least) / static_cast<double>(B1 + 1);
}

// The published algorithm, u by bisection; the observed labelling counted as one of the B2 + 1.
struct NaiveVerdict {
  double u = 0;
  std::vector<bool> rejected{};
  bool any = false;
};
NaiveVerdict naive_aggregate(const Matrix& T, Index B1, const Vector& w, double level) {
  const Index B2 = T.rows() - 1 - B1;
  const auto rejects = [&](Index j, double u) {
    for (Index k = 0; k < T.cols(); ++k) {
      if (naive_p(T, j, k, B1) <= u * w[k]) return true;
    }
    return false;
  };
  double low = 0, high = 1 / w.minCoeff();
  for (int step = 0; step < 60; ++step) {
    const double u = (low + high) / 2;
    double count = 1;
    for (Index j = B1 + 1; j < T.rows(); ++j) count += rejects(j, u) ? 1 : 0;
    (count / static_cast<double>(B2 + 1) <= level ? low : high) = u;
  }
  NaiveVerdict verdict{.u = low, .rejected = {}, .any = rejects(0, low)};
  for (Index k = 0; k < T.cols(); ++k) verdict.rejected.push_back(naive_p(T, 0, k, B1) <= low * w[k]);
  return verdict;
}

void compare_with_loops(Index n, Index m, double shift, const ExchangeOptions& scheme = {}) {
  SCOPED_TRACE(testing::Message() << n << " and " << m << " rows, shift " << shift);
  const Matrix X = RandomStream(1).normal_matrix(n, 2);
  const Matrix Y = (RandomStream(2).normal_matrix(m, 2).array() + shift).matrix();
  MmdAggregatedOptions o{
      .kernels = some_kernels(), .permutations = 99, .level_permutations = 79, .exchange = scheme, .level = 0.1, .seed = 5};
  o.weights = Vector{{0.4, 0.3, 0.2, 0.1}};
  const AggregatedResult r = mmd_aggregated_test(X, Y, o);
  const Matrix T = naive_statistics(X, Y, some_kernels(), scheme, 5, 178);
  const NaiveVerdict naive = naive_aggregate(T, 99, o.weights, 0.1);
  EXPECT_NEAR(r.correction, naive.u, 1e-4 * naive.u);
  EXPECT_EQ(r.rejected, naive.any);
  for (Index k = 0; k < T.cols(); ++k) {
    const KernelVerdict& row = r.table[static_cast<std::size_t>(k)];
    EXPECT_NEAR(row.statistic, T(0, k), 1e-12);
    EXPECT_EQ(row.rejected, naive.rejected[static_cast<std::size_t>(k)]);
    EXPECT_NEAR(row.p_value, naive_p(T, 0, k, 99), 1e-12);
    EXPECT_EQ(row.rejected, row.statistic > row.threshold);
  }
  // The adjusted p-value is the smallest level at which the test rejects.
  o.level = r.p_value;
  EXPECT_TRUE(mmd_aggregated_test(X, Y, o).rejected);
  o.level = r.p_value - 1e-3;
  if (o.level > 0) {
    EXPECT_FALSE(mmd_aggregated_test(X, Y, o).rejected);
  }
}

TEST(Aggregated, MmdAgreesWithLoops) {
  for (const double shift : {0.0, 0.5, 0.8, 1.2}) {
    compare_with_loops(12, 12, shift);
    compare_with_loops(9, 15, shift);
    compare_with_loops(12, 12, shift, {.scheme = Exchange::pairs});
    compare_with_loops(12, 10, shift,
                       {.scheme = Exchange::within_groups, .groups = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}});
  }
}

// Groups of unequal size change how many rows are in each sample.
TEST(Aggregated, WholeGroupsOfUnequalSize) {
  ExchangeOptions scheme{.scheme = Exchange::whole_groups};
  for (Index g = 0; g < 8; ++g) {
    for (Index i = 0; i < 2 + g % 3; ++i) scheme.groups.push_back(g);
  }
  compare_with_loops(11, static_cast<Index>(scheme.groups.size()) - 11, 0.7, {.scheme = Exchange::free});
  Index first = 0;
  while (scheme.groups[static_cast<std::size_t>(first)] < 4) ++first;
  compare_with_loops(first, static_cast<Index>(scheme.groups.size()) - first, 0.7, scheme);
}

// Above 256 pooled rows products are in float32; more than one tile.
TEST(Aggregated, Float32KeepsTheNull) {
  const Matrix X = RandomStream(1).normal_matrix(170, 3);
  const Matrix Y = RandomStream(2).normal_matrix(150, 3);
  for (const Index m : {Index{170}, Index{150}}) {
    const Matrix Z = RandomStream(2).normal_matrix(m, 3);
    const AggregatedResult r = mmd_fuse_test(X, Z, {.kernels = {kernels::gaussian(1.0)}, .permutations = 50, .seed = 3});
    const Matrix T = naive_statistics(X, Z, {kernels::gaussian(1.0)}, {}, 3, 50);
    Matrix K = gram(kernels::gaussian(1.0), concatenate(Samples(X), Samples(Z)));
    K.diagonal().setZero();
    const auto smaller = static_cast<double>(m);
    const double scale = std::sqrt(K.squaredNorm() / (smaller * (smaller - 1)));
    const Vector null = T.col(0).tail(50) / scale;
    EXPECT_NEAR(r.statistic, T(0, 0) / scale, 1e-12);
    EXPECT_LT((r.null - null).cwiseAbs().maxCoeff(), 1e-5 * std::sqrt(null.squaredNorm() / 50));
  }
}

// Exchanges within pairs go another way: more than one tile, whose halves do not lie on tile bounds.
TEST(Aggregated, PairsAgreeWithLoops) {
  const std::vector<Kernel> kernels = {kernels::gaussian(1.0), kernels::laplacian(0.7, kernels::Norm::l1)};
  for (const Index n : {Index{120}, Index{300}}) {
    const Matrix X = RandomStream(1).normal_matrix(n, 2), Y = RandomStream(2).normal_matrix(n, 2);
    const AggregatedResult r =
        mmd_fuse_test(X, Y, {.kernels = {kernels[1]}, .permutations = 20, .exchange = {.scheme = Exchange::pairs}, .seed = 3});
    const Matrix T = naive_statistics(X, Y, {kernels[1]}, {.scheme = Exchange::pairs}, 3, 20);
    Matrix K = gram(kernels[1], concatenate(Samples(X), Samples(Y)));
    K.diagonal().setZero();
    const double scale = std::sqrt(K.squaredNorm() / static_cast<double>(n * (n - 1)));
    const Vector null = T.col(0).tail(20) / scale;
    EXPECT_LT((r.null - null).cwiseAbs().maxCoeff(), (n < 128 ? 1e-12 : 1e-5) * std::sqrt(null.squaredNorm() / 20));
    const AggregatedResult two = mmd_aggregated_test(
        X, Y, {.kernels = kernels, .permutations = 20, .level_permutations = 20, .exchange = {.scheme = Exchange::pairs}, .seed = 3});
    EXPECT_NEAR(two.table[1].p_value, r.p_value, 1e-12);
  }
}

TEST(Aggregated, FuseAgreesWithLoops) {
  for (const double lambda : {0.0, 3.0}) {
    for (const Index m : {Index{10}, Index{14}}) {
      const Matrix X = RandomStream(1).normal_matrix(10, 2);
      const Matrix Y = (RandomStream(2).normal_matrix(m, 2).array() + 0.5).matrix();
      const AggregatedResult r = mmd_fuse_test(X, Y, {.kernels = some_kernels(), .lambda = lambda, .permutations = 99, .seed = 5});
      const Matrix T = naive_statistics(X, Y, some_kernels(), {}, 5, 99);
      const double used = lambda > 0 ? lambda : std::sqrt(90.0);
      Vector fused = Vector::Zero(100);
      for (std::size_t k = 0; k < some_kernels().size(); ++k) {
        Matrix K = gram(some_kernels()[k], concatenate(Samples(X), Samples(Y)));
        K.diagonal().setZero();
        fused.array() += (used * T.col(static_cast<Index>(k)).array() / std::sqrt(K.squaredNorm() / 90)).exp() / 4;
      }
      fused = fused.array().log() / used;
      EXPECT_NEAR(r.statistic, fused[0], 1e-12);
      EXPECT_LT((r.null - fused.tail(99)).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_NEAR(r.p_value, (1 + static_cast<double>((fused.tail(99).array() >= fused[0] - 1e-9).count())) / 100, 1e-12);
      double shares = 0;
      for (const KernelVerdict& row : r.table) shares += row.weight;
      EXPECT_NEAR(shares, 1, 1e-12);
    }
  }
}

// Binary data: most exchanges tie with others. P(p <= level) over all labellings of the pooled sample is at most the level.
TEST(Aggregated, TiesKeepTheLevel) {
  const Matrix Z{{0.0}, {0.0}, {0.0}, {1.0}, {1.0}, {1.0}, {1.0}, {0.0}};
  const Samples pooled(Z);
  int rejections = 0, labellings = 0;
  for (int code = 0; code < 256; ++code) {
    std::vector<Index> first, second;
    for (int i = 0; i < 8; ++i) ((code >> i & 1) != 0 ? first : second).push_back(i);
    if (first.size() != 4) continue;
    ++labellings;
    const AggregatedResult r = mmd_aggregated_test(
        pooled.subset(first), pooled.subset(second),
        {.bandwidths = 3, .permutations = 200, .level_permutations = 200, .level = 0.1, .seed = static_cast<std::uint64_t>(code)});
    rejections += r.rejected ? 1 : 0;
  }
  EXPECT_LE(rejections, 0.1 * labellings);  // 2 of 70 labellings separate the samples
  EXPECT_GE(rejections, 1);
}

TEST(Aggregated, IdenticalRowsAreNoDifference) {
  const Matrix X = Matrix::Ones(5, 2), Y = Matrix::Ones(7, 2);
  EXPECT_EQ(mmd_aggregated_test(X, Y).p_value, 1);
  EXPECT_EQ(mmd_fuse_test(X, Y).p_value, 1);
}

// Float32 rounding would hide what a nearly constant kernel sees; values beyond float32, and a variable that does not vary.
TEST(Aggregated, HardKernelsAndConstants) {
  const Matrix X = RandomStream(1).normal_matrix(150, 2);
  const Matrix Y = (RandomStream(2).normal_matrix(160, 2).array() + 1).matrix();
  const auto p_of = [&](const Kernel& kernel) { return mmd_fuse_test(X, Y, {.kernels = {kernel}, .permutations = 99}).p_value; };
  EXPECT_DOUBLE_EQ(p_of(kernels::gaussian(3e4)), 0.01);
  EXPECT_DOUBLE_EQ(p_of(1e60 * kernels::gaussian(1.0)), 0.01);
  EXPECT_DOUBLE_EQ(p_of(kernels::polynomial(3, 1.0, 1.0)), 0.01);
  const AggregatedResult signs = mmd_fuse_test(X, Y, {.kernels = {kernels::sigmoid(1.0, -1.0)}, .permutations = 19});
  EXPECT_NE(signs.remarks.at(0).find("not positive semi-definite"), std::string::npos);
  const AggregatedResult blocks = mmd_fuse_test(X, Y, {.permutations = 19, .exchange = {.scheme = Exchange::blocks}});
  EXPECT_FALSE(blocks.exact);

  const AggregatedResult constant = hsic_aggregated_test(X, Matrix::Constant(150, 1, 0.1), {.permutations = 50, .level_permutations = 50});
  EXPECT_EQ(constant.p_value, 1);
  EXPECT_EQ(constant.table[0].statistic, 0);
  EXPECT_NE(constant.remarks.at(0).find("does not vary"), std::string::npos);
}

TEST(Aggregated, StrongDifferencesReachTheSmallestPValue) {
  const Matrix X = RandomStream(1).normal_matrix(60, 2);
  const Matrix Y = (RandomStream(2).normal_matrix(60, 2).array() + 3).matrix();
  const AggregatedResult r = mmd_aggregated_test(X, Y, {.permutations = 100, .level_permutations = 400});
  EXPECT_DOUBLE_EQ(r.p_value, 1.0 / 401);
  EXPECT_EQ(r.table.size(), 20U);
  EXPECT_FALSE(r.rejecting().empty());
  EXPECT_GT(r.statistic, r.threshold);
}

// -- level and power

bool in_interval(Index rejections, Index sets, double level) {
  using boost::math::binomial;
  const binomial law(static_cast<double>(sets), level);
  return static_cast<double>(rejections) <= quantile(law, 0.9995);
}

Index repetitions(Index light) { return std::getenv("MERCER_LONG_TESTS") != nullptr ? 1000 : light; }

template <class Draw, class Test>
Index rejections_of(Index sets, Draw&& draw, Test&& test) {
  Index count = 0;
  for (Index s = 0; s < sets; ++s) {
    RandomStream random(static_cast<std::uint64_t>(s), 77);
    const auto [X, Y] = draw(random);
    count += test(X, Y, static_cast<std::uint64_t>(s)).rejected ? 1 : 0;
  }
  return count;
}

TEST(Aggregated, LevelOfMmdTests) {
  const Index sets = repetitions(300);
  const auto draw = [](RandomStream& random) { return std::pair(random.normal_matrix(15, 2), random.normal_matrix(20, 2)); };
  const Index aggregated = rejections_of(sets, draw, [](const Matrix& X, const Matrix& Y, std::uint64_t seed) {
    return mmd_aggregated_test(X, Y, {.bandwidths = 5, .permutations = 99, .level_permutations = 99, .seed = seed});
  });
  const Index fused = rejections_of(sets, draw, [](const Matrix& X, const Matrix& Y, std::uint64_t seed) {
    return mmd_fuse_test(X, Y, {.bandwidths = 5, .permutations = 99, .seed = seed});
  });
  RecordProperty("aggregated", static_cast<int>(aggregated));
  RecordProperty("fused", static_cast<int>(fused));
  EXPECT_TRUE(in_interval(aggregated, sets, 0.05)) << aggregated;
  EXPECT_TRUE(in_interval(fused, sets, 0.05)) << fused;
  EXPECT_GE(aggregated, sets / 100);  // exact, so not far below either
  EXPECT_GE(fused, sets / 100);
}

// The uniform law against one with a wave in its density, which a bandwidth of the median distance smooths away.
TEST(Aggregated, PowerOnPerturbedUniforms) {
  const auto draw = [](RandomStream& random) {
    Matrix X(150, 1), Y(150, 1);
    for (Index i = 0; i < 150; ++i) {
      X(i, 0) = random.uniform();
      do {
        Y(i, 0) = random.uniform();
      } while (random.uniform() * 1.9 > 1 + 0.9 * std::sin(2 * std::numbers::pi * 4 * Y(i, 0)));
    }
    return std::pair(X, Y);
  };
  const Index sets = 30;
  const auto by = [&](auto&& test) { return rejections_of(sets, draw, test); };
  const Index plain = by([](const Matrix& X, const Matrix& Y, std::uint64_t seed) {
    return mmd_fuse_test(X, Y,
                         {.kernels = {resolve(kernels::gaussian(LengthScale::automatic()), concatenate(Samples(X), Samples(Y)))},
                          .permutations = 199,
                          .seed = seed});
  });
  const Index aggregated = by([](const Matrix& X, const Matrix& Y, std::uint64_t seed) {
    return mmd_aggregated_test(X, Y, {.permutations = 300, .level_permutations = 300, .seed = seed});
  });
  const Index fused =
      by([](const Matrix& X, const Matrix& Y, std::uint64_t seed) { return mmd_fuse_test(X, Y, {.permutations = 199, .seed = seed}); });
  RecordProperty("plain", static_cast<int>(plain));
  EXPECT_GE(aggregated, plain + sets / 4) << plain;
  EXPECT_GE(fused, plain + sets / 4) << plain;
}

// -- independence

Matrix centred(const Matrix& K) {
  const Index n = K.rows();
  const Matrix H = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1 / static_cast<double>(n));
  return H * K * H;
}

TEST(Aggregated, HsicAgreesWithLoops) {
  const Index n = 14;
  const std::vector<Kernel> xs = {kernels::gaussian(0.5), kernels::laplacian(1.0), kernels::linear()};
  const std::vector<Kernel> ys = {kernels::gaussian(0.3), kernels::gaussian(2.0)};
  for (const double signal : {0.0, 0.6, 1.0}) {
    const Matrix X = RandomStream(1).normal_matrix(n, 1);
    const Matrix Y = signal * X.cwiseAbs2() + RandomStream(2).normal_matrix(n, 1);
    HsicAggregatedOptions o{.kernels_x = xs, .kernels_y = ys, .permutations = 99, .level_permutations = 79, .level = 0.1, .seed = 5};
    o.weights = Vector{{0.2, 0.2, 0.2, 0.2, 0.1, 0.1}};
    const AggregatedResult r = hsic_aggregated_test(X, Y, o);
    const stats::Exchanges exchanges(n, n, {}, 5);
    Matrix T(179, 6);
    for (std::size_t p = 0; p < 6; ++p) {
      const Matrix K = centred(gram(xs[p / 2], X));
      const Matrix L = gram(ys[p % 2], Y);
      std::vector<Index> order(static_cast<std::size_t>(n));
      for (Index j = 0; j < 179; ++j) {
        for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
        if (j > 0) exchanges.draw(j - 1, order);
        double sum = 0;
        for (Index a = 0; a < n; ++a) {
          for (Index b = 0; b < n; ++b) sum += K(a, b) * L(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)]);
        }
        T(j, static_cast<Index>(p)) = sum / static_cast<double>(n * n);
      }
    }
    const NaiveVerdict naive = naive_aggregate(T, 99, o.weights, 0.1);
    EXPECT_NEAR(r.correction, naive.u, 1e-4 * naive.u);
    EXPECT_EQ(r.rejected, naive.any);
    for (std::size_t p = 0; p < 6; ++p) {
      EXPECT_NEAR(r.table[p].statistic, T(0, static_cast<Index>(p)), 1e-13);
      EXPECT_EQ(r.table[p].rejected, naive.rejected[p]);
      EXPECT_EQ(r.table[p].kernel, xs[p / 2].text());
      EXPECT_EQ(r.table[p].kernel_y, ys[p % 2].text());
    }
  }
}

TEST(Aggregated, HsicOfGivenGramsThreadsAndTiles) {
  const Matrix X = RandomStream(1).normal_matrix(270, 2), Y = RandomStream(2).normal_matrix(270, 1);
  HsicAggregatedOptions o{.bandwidths = 2, .permutations = 40, .level_permutations = 40, .run = {.threads = 1}};
  const AggregatedResult one = hsic_aggregated_test(X, Y, o);
  o.run.threads = 2;
  const AggregatedResult two = hsic_aggregated_test(X, Y, o);
  EXPECT_EQ(one.null, two.null);
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(one.table[p].statistic, two.table[p].statistic);
    const Matrix K = gram(parse_kernel(one.table[p].kernel), X), L = gram(parse_kernel(one.table[p].kernel_y), Y);
    EXPECT_NEAR(one.table[p].statistic, centred(K).cwiseProduct(L).sum() / (270.0 * 270), 1e-12);
  }
  o.kernels_x = {kernels::precomputed()};
  const AggregatedResult given = hsic_aggregated_test(gram(parse_kernel(one.table[0].kernel), X), Y, o);
  EXPECT_NEAR(given.table[1].statistic, one.table[1].statistic, 1e-12);
}

TEST(Aggregated, LevelAndPowerOfHsic) {
  const Index sets = repetitions(200);
  const auto test = [](const Matrix& X, const Matrix& Y, std::uint64_t seed) {
    return hsic_aggregated_test(X, Y, {.bandwidths = 3, .permutations = 79, .level_permutations = 79, .seed = seed});
  };
  const Index level = rejections_of(
      sets, [](RandomStream& random) { return std::pair(random.normal_matrix(20, 1), random.normal_matrix(20, 2)); }, test);
  EXPECT_TRUE(in_interval(level, sets, 0.05)) << level;
  EXPECT_GE(level, sets / 100);

  // A fast wave, which the median length scale smooths away.
  const auto wave = [](RandomStream& random) {
    Matrix X(120, 1), Y(120, 1);
    for (Index i = 0; i < 120; ++i) {
      X(i, 0) = random.uniform(-std::numbers::pi, std::numbers::pi);
      Y(i, 0) = std::sin(8 * X(i, 0)) + 0.3 * random.normal();
    }
    return std::pair(X, Y);
  };
  const Index plain = rejections_of(20, wave, [](const Matrix& X, const Matrix& Y, std::uint64_t seed) {
    const Kernel automatic = kernels::gaussian(LengthScale::automatic());
    return hsic_aggregated_test(X, Y,
                                {.kernels_x = {resolve(automatic, X)},
                                 .kernels_y = {resolve(automatic, Y)},
                                 .permutations = 200,
                                 .level_permutations = 200,
                                 .seed = seed});
  });
  const Index aggregated = rejections_of(20, wave, [](const Matrix& X, const Matrix& Y, std::uint64_t seed) {
    return hsic_aggregated_test(X, Y, {.permutations = 200, .level_permutations = 200, .seed = seed});
  });
  EXPECT_GE(aggregated, plain + 5) << plain;
}

// -- the parts

// To four digits, which keep the kernels readable.
TEST(Aggregated, BandwidthsSpanTheDistances) {
  const Matrix X = RandomStream(4).normal_matrix(40, 3);
  std::vector<double> distances;
  for (Index i = 0; i < 40; ++i) {
    for (Index j = i + 1; j < 40; ++j) distances.push_back((X.row(i) - X.row(j)).norm());
  }
  std::sort(distances.begin(), distances.end());
  const std::vector<Kernel> kernels = with_bandwidths({kernels::gaussian(LengthScale::automatic()), kernels::linear()}, X, 7);
  ASSERT_EQ(kernels.size(), 8U);
  EXPECT_EQ(kernels.back().text(), "linear");
  std::vector<double> scales;
  for (std::size_t k = 0; k < 7; ++k) scales.push_back(kernels[k].parameters().at(0).value);
  EXPECT_NEAR(scales.front(), distances[static_cast<std::size_t>(0.05 * 779)] / 2, 5e-4 * scales.front());
  EXPECT_NEAR(scales.back(), distances[static_cast<std::size_t>(0.95 * 779)] * 2, 5e-4 * scales.back());
  for (std::size_t k = 2; k < 7; ++k) EXPECT_NEAR(scales[k] / scales[k - 1], scales[1] / scales[0], 5e-3);
}

TEST(Aggregated, WeightsByWord) {
  const Matrix X = RandomStream(1).normal_matrix(10, 1), Y = RandomStream(2).normal_matrix(10, 1);
  const auto weights = [&](KernelWeights weighting) {
    const AggregatedResult r =
        mmd_aggregated_test(X, Y, {.bandwidths = 3, .weighting = weighting, .permutations = 20, .level_permutations = 20});
    std::vector<double> w;
    for (const KernelVerdict& row : r.table) w.push_back(row.weight);
    return w;
  };
  const auto near = [](const std::vector<double>& w, const std::vector<double>& wanted) {
    ASSERT_EQ(w.size(), 6U);
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(w[k], wanted[k % 3] / 2, 1e-12);
  };
  near(weights(KernelWeights::uniform), {1.0 / 3, 1.0 / 3, 1.0 / 3});
  near(weights(KernelWeights::decreasing), {6.0 / 11, 3.0 / 11, 2.0 / 11});
  near(weights(KernelWeights::increasing), {2.0 / 11, 3.0 / 11, 6.0 / 11});
  near(weights(KernelWeights::centred), {0.25, 0.5, 0.25});
}

TEST(Aggregated, SparseRowsGivenGramsAndThreads) {
  const Matrix X = RandomStream(1).normal_matrix(150, 3), Y = RandomStream(2).normal_matrix(140, 3);
  MmdAggregatedOptions o{.bandwidths = 3, .permutations = 60, .level_permutations = 60, .run = {.threads = 1}};
  const AggregatedResult one = mmd_aggregated_test(X, Y, o);
  o.run.threads = 2;
  const AggregatedResult two = mmd_aggregated_test(X, Y, o);
  EXPECT_EQ(one.null, two.null);
  EXPECT_EQ(one.statistic, two.statistic);
  const AggregatedResult sparse = mmd_aggregated_test(CsrMatrix<double>(X.sparseView()), CsrMatrix<double>(Y.sparseView()), o);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(sparse.table[k].statistic, one.table[k].statistic, 1e-10);
  const AggregatedResult single = mmd_aggregated_test(X.cast<float>(), Y.cast<float>(), o);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(single.table[k].statistic, one.table[k].statistic, 1e-6);

  const Samples K = Samples::given_gram(gram(kernels::gaussian(1.0), concatenate(Samples(X), Samples(Y))));
  o.kernels = {kernels::precomputed(), kernels::precomputed().power(2)};
  const AggregatedResult given = mmd_aggregated_test(K.slice(0, 150), K.slice(150, 140), o);
  o.kernels = {kernels::gaussian(1.0), kernels::gaussian(1.0 / std::numbers::sqrt2)};
  const AggregatedResult same = mmd_aggregated_test(X, Y, o);
  EXPECT_EQ(given.p_value, same.p_value);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(given.table[k].statistic, same.table[k].statistic, 1e-12);
}

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(Aggregated, BadInputIsNamed) {
  const Matrix X = RandomStream(1).normal_matrix(10, 2), Y = RandomStream(2).normal_matrix(8, 2);
  const auto says = [&](const MmdAggregatedOptions& o, const char* text) {
    const std::string message = message_of([&] { mmd_aggregated_test(X, Y, o); });
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  says({.bandwidths = 0}, "bandwidths must be from 1 to 1000, got 0");
  says({.weights = Vector::Ones(3)}, "weights must be one for each of the 20 kernels, got 3");
  says({.weights = -Vector::Ones(20)}, "weights must be finite and > 0");
  says({.permutations = 0}, "permutations must be >= 1");
  says({.level_permutations = 0}, "permutations must be >= 1");
  says({.exchange = {.scheme = Exchange::pairs}}, "equal size");
  says({.level = 0}, "level must be between 0 and 1");
  says({.kernels = {kernels::precomputed()}}, "given Gram matrix");
  EXPECT_NE(message_of([&] { mmd_fuse_test(X, Y, {.lambda = -1}); }), "");
  EXPECT_NE(message_of([&] { mmd_fuse_test(X, Y.leftCols(1)); }).find("same columns"), std::string::npos);
  EXPECT_NE(message_of([&] { mmd_fuse_test(X, Y.topRows(1)); }).find("at least two rows"), std::string::npos);
  Matrix bad = X;
  bad(3, 1) = std::nan("");
  EXPECT_NE(message_of([&] { mmd_fuse_test(bad, Y); }).find("NaN"), std::string::npos);
  EXPECT_NE(message_of([&] { hsic_aggregated_test(X, Y); }).find("same number of rows"), std::string::npos);
  EXPECT_NE(message_of([&] { hsic_aggregated_test(X.topRows(3), Y.topRows(3)); }).find("at least 4 rows"), std::string::npos);
  EXPECT_NE(message_of([&] { hsic_aggregated_test(X, X, {.exchange = {.scheme = Exchange::pairs}}); }).find("two samples"),
            std::string::npos);
  EXPECT_NE(message_of([&] { hsic_aggregated_test(bad, X); }).find("NaN"), std::string::npos);
  const AggregatedResult few = mmd_aggregated_test(X, Y, {.permutations = 50, .level_permutations = 10});
  EXPECT_FALSE(few.rejected);
  EXPECT_NE(few.remarks.at(0).find("at least 19"), std::string::npos) << few.remarks.at(0);
  const AggregatedResult blind = mmd_fuse_test(X, Y, {.kernels = {kernels::linear(), kernels::polynomial(2)}, .permutations = 20});
  EXPECT_NE(blind.remarks.at(0).find("none of the 2 kernels"), std::string::npos);
}

}  // namespace
}  // namespace mercer

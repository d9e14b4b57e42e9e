// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <map>
#include <set>

#include "mercer/error.hpp"
#include "mercer/run.hpp"
#include "mercer/version.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;
using Words = std::array<std::uint64_t, 4>;
using Key = std::array<std::uint64_t, 2>;

// Philox 4x64 with ten rounds, written from the paper's definition.
Words philox(Words c, Key k) {
  __extension__ using Wide = unsigned __int128;
  for (int round = 0; round < 10; ++round) {
    const Wide a = static_cast<Wide>(0xD2E7470EE14C6C93U) * c[0];
    const Wide b = static_cast<Wide>(0xCA5A826395121157U) * c[2];
    c = {static_cast<std::uint64_t>(b >> 64) ^ c[1] ^ k[0], static_cast<std::uint64_t>(b),
         static_cast<std::uint64_t>(a >> 64) ^ c[3] ^ k[1], static_cast<std::uint64_t>(a)};
    k[0] += 0x9E3779B97F4A7C15U;
    k[1] += 0xBB67AE8584CAA73BU;
  }
  return c;
}

// The p-value of counts that should be equal.
double uniformity(const std::vector<double>& counts) {
  double n = 0;
  for (const double c : counts) n += c;
  const double expected = n / static_cast<double>(counts.size());
  double chi2 = 0;
  for (const double c : counts) chi2 += (c - expected) * (c - expected) / expected;
  return boost::math::cdf(boost::math::complement(boost::math::chi_squared(static_cast<double>(counts.size() - 1)), chi2));
}

// Random123's published answers (its kat_vectors, "philox4x64 10").
TEST(Philox, OracleGivesThePublishedAnswers) {
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}));
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}));
  EXPECT_EQ(
      philox({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89}, {0x452821e638d01377, 0xbe5466cf34e90c6c}),
      (Words{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}));
}

TEST(RandomStream, IsPhiloxOfTheCounterUnderSeedAndStream) {
  for (const Key key : {Key{0, 0}, Key{42, 7}, Key{~std::uint64_t{0}, 0x123456789abcdef}}) {
    RandomStream random(key[0], key[1]);
    for (std::uint64_t counter = 0; counter < 50; ++counter) {
      for (const std::uint64_t word : philox({counter, 0, 0, 0}, key)) ASSERT_EQ(random(), word);
    }
  }
}

TEST(RandomStream, SameBitsForAnyNumberOfThreads) {
  const auto draw = [](int threads) {
    std::vector<double> values(64 * 100);
    with_threads(threads, [&] {
      parallel_for(64, [&](Index block) {
        RandomStream random(2024, static_cast<std::uint64_t>(block));
        for (Index i = 0; i < 100; ++i) values[static_cast<std::size_t>(block * 100 + i)] = i % 2 == 0 ? random.normal() : random.uniform();
      });
    });
    return values;
  };
  const auto one = draw(1);
  for (const int threads : {2, 3, 7}) EXPECT_EQ(draw(threads), one);
}

TEST(RandomStream, SeedsAndStreamsDiffer) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (std::uint64_t stream = 0; stream < 30; ++stream) first.insert(RandomStream(seed, stream)());
  }
  EXPECT_EQ(first.size(), 900U);
  EXPECT_EQ(RandomStream(5)(), RandomStream(5, 0)());
}

TEST(RandomStream, UniformIsUniform) {
  RandomStream random(1);
  std::vector<double> counts(100, 0);
  constexpr int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    ++counts[static_cast<std::size_t>(u * 100)];
  }
  EXPECT_GT(uniformity(counts), 1e-4);
  for (int i = 0; i < 1000; ++i) {
    const double u = random.uniform(-3, 5);
    ASSERT_TRUE(u >= -3 && u < 5);
  }
}

// Mean of z^k for k = 1 .. 4 against 0, 1, 0, 3 within five standard errors (variances 1, 2, 15, 96), and a chi-square over deciles.
TEST(RandomStream, NormalIsNormal) {
  RandomStream random(2);
  constexpr int n = 400000;
  const std::array<double, 9> cuts{-1.2815515655446004, -0.8416212335729143, -0.5244005127080407, -0.2533471031357997, 0,
                                   0.2533471031357997,  0.5244005127080407,  0.8416212335729143,  1.2815515655446004};
  std::array<double, 4> moments{};
  std::vector<double> counts(10, 0);
  double lag = 0;
  double before = 0;
  for (int i = 0; i < n; ++i) {
    const double z = random.normal();
    for (int k = 0; k < 4; ++k) moments[static_cast<std::size_t>(k)] += std::pow(z, k + 1) / n;
    ++counts[static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), z) - cuts.begin())];
    lag += z * before / n;
    before = z;
  }
  const std::array<double, 4> expected{0, 1, 0, 3};
  const std::array<double, 4> variance{1, 2, 15, 96};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(moments[k], expected[k], 5 * std::sqrt(variance[k] / n)) << "moment " << k + 1;
  EXPECT_NEAR(lag, 0, 5 / std::sqrt(n)) << "neighbours (the two of one Box-Muller pair too) are uncorrelated";
  EXPECT_GT(uniformity(counts), 1e-4);
}

TEST(RandomStream, NormalMatrixIsTheStreamRowByRow) {
  RandomStream a(3);
  RandomStream b(3);
  const Matrix m = a.normal_matrix(4, 3);
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 3; ++j) EXPECT_EQ(m(i, j), b.normal());
  }
}

TEST(RandomStream, BelowIsUnbiased) {
  RandomStream random(4);
  for (const Index n : {1, 2, 3, 7, 10}) {
    std::vector<double> counts(static_cast<std::size_t>(n), 0);
    for (int i = 0; i < 70000; ++i) ++counts[static_cast<std::size_t>(random.below(n))];
    if (n > 1) {
      EXPECT_GT(uniformity(counts), 1e-4) << n;
    }
  }
  // Where rounding down a product would favour some answers by half: two thirds of 2^63.
  const Index large = Index{3} << 61;
  double low = 0;
  for (int i = 0; i < 30000; ++i) {
    const Index x = random.below(large);
    ASSERT_TRUE(x >= 0 && x < large);
    low += x < large / 2 ? 1 : 0;
  }
  EXPECT_NEAR(low / 30000, 0.5, 5 * 0.5 / std::sqrt(30000.0));
  EXPECT_EQ(message_of<InvalidArgument>([&] { random.below(0); }), "below(n) needs n >= 1, got 0");
}

TEST(RandomStream, PermutationsOfThreeAreEquallyLikely) {
  RandomStream random(5);
  std::map<std::vector<Index>, double> seen;
  for (int i = 0; i < 60000; ++i) ++seen[random.permutation(3)];
  ASSERT_EQ(seen.size(), 6U);
  std::vector<double> counts;
  for (const auto& [permutation, count] : seen) counts.push_back(count);
  EXPECT_GT(uniformity(counts), 1e-4);
}

TEST(RandomStream, PermutationHoldsEveryIndex) {
  for (const Index n : {0, 1, 2, 50}) {
    auto p = RandomStream(6).permutation(n);
    std::sort(p.begin(), p.end());
    ASSERT_EQ(static_cast<Index>(p.size()), n);
    for (Index i = 0; i < n; ++i) EXPECT_EQ(p[static_cast<std::size_t>(i)], i);
  }
  EXPECT_THROW(RandomStream(6).permutation(-1), InvalidArgument);
}

TEST(RandomStream, SampleDrawsDistinctOnesUniformly) {
  RandomStream random(7);
  std::map<std::pair<Index, Index>, double> ordered;  // pairs in their order: 90 of them
  for (int i = 0; i < 45000; ++i) {
    const auto drawn = random.sample(10, 2);
    ASSERT_NE(drawn[0], drawn[1]);
    ++ordered[{drawn[0], drawn[1]}];
  }
  ASSERT_EQ(ordered.size(), 90U);
  std::vector<double> counts;
  for (const auto& [pair, count] : ordered) counts.push_back(count);
  EXPECT_GT(uniformity(counts), 1e-4);

  auto all = random.sample(20, 20);
  EXPECT_EQ(std::set<Index>(all.begin(), all.end()).size(), 20U);
  EXPECT_TRUE(random.sample(5, 0).empty());
  const auto few = random.sample(Index{1} << 60, 1000);  // no memory of size n
  EXPECT_EQ(std::set<Index>(few.begin(), few.end()).size(), 1000U);
  EXPECT_EQ(message_of<InvalidArgument>([&] { random.sample(3, 4); }), "cannot draw 4 of 3 without replacement");
}

TEST(RandomStream, SatisfiesTheStandardsGenerators) {
  static_assert(std::uniform_random_bit_generator<RandomStream>);
  std::vector<int> items{1, 2, 3, 4, 5};
  RandomStream random(8);
  std::shuffle(items.begin(), items.end(), random);
  EXPECT_EQ(std::set<int>(items.begin(), items.end()), (std::set<int>{1, 2, 3, 4, 5}));
}

TEST(Version, IsThatOfTheHeader) {
  EXPECT_EQ(std::string(version()),
            std::to_string(MERCER_VERSION_MAJOR) + "." + std::to_string(MERCER_VERSION_MINOR) + "." + std::to_string(MERCER_VERSION_PATCH));
}

}  // namespace
}  // namespace mercer

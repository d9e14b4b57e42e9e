// The loops of SMO at every level this CPU runs against their scalar twin and against long double: sizes around the vectors' edges, of
// equal values the smallest index, infinite slopes, pointers off alignment, and nothing written beyond the end.
// SPDX-License-Identifier: BSD-3-Clause
#include "simd/smo_ops.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "mercer/error.hpp"
#include "simd/smo_scalar.hpp"
#include "simd/tile_ops.hpp"

namespace mercer::simd {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
template <class G>
constexpr double eps = std::numeric_limits<G>::epsilon();
constexpr double canary = -12345;

// Kernel values T, gradients G.
template <class Kernel, class Gradient>
struct Numeric {
  using T = Kernel;
  using G = Gradient;
};
template <class N>
const auto& ops_at_level(const std::string& name) {
  return smo_ops_at<typename N::T, typename N::G>(name);
}
template <class N>
const auto& chosen_ops() {
  return smo_ops<typename N::T, typename N::G>();
}
template <class N>
constexpr const auto& scalar_ops = scalar_smo_ops<typename N::T, typename N::G>;
template <class>
class SmoOpsTest : public testing::Test {};
using Types = testing::Types<Numeric<float, float>, Numeric<float, double>, Numeric<double, double>>;
TYPED_TEST_SUITE(SmoOpsTest, Types);

std::vector<Index> sizes() {
  std::vector<Index> out;
  for (Index n = 1; n <= 70; ++n) out.push_back(n);
  for (const Index n : {255, 256, 257}) out.push_back(n);
  return out;
}

// Numbers for one call; arrays begin one number off alignment and end with a canary.
template <class T, class G>
struct Numbers {
  explicit Numbers(Index size, std::uint64_t seed, bool whole_numbers = false) : n(size), engine(seed) {
    const auto draw = [&](double from, double to) {
      const double x = std::uniform_real_distribution<double>(from, to)(engine);
      return whole_numbers ? std::floor(x) : x;
    };
    const auto fill = [&](auto& array, double from, double to) {
      using Number = typename std::decay_t<decltype(array)>::value_type;
      array.assign(static_cast<std::size_t>(n + 2), static_cast<Number>(canary));
      for (Index k = 1; k <= n; ++k) array[static_cast<std::size_t>(k)] = static_cast<Number>(draw(from, to));
    };
    fill(g, -3, 3);
    fill(up, -1, 2);
    fill(low, -2, 1);
    fill(diagonal, 1, 3);
    fill(ki, -1, 1);
    fill(kj, -1, 1);
  }
  void make_infinite(double share) {
    std::bernoulli_distribution coin(share);
    for (Index k = 1; k <= n; ++k) {
      if (coin(engine)) up[static_cast<std::size_t>(k)] = std::numeric_limits<G>::infinity();
      if (coin(engine)) low[static_cast<std::size_t>(k)] = -std::numeric_limits<G>::infinity();
    }
  }
  SlopeRange update(const SmoOps<T, G>& ops, double di, double dj) {
    return ops.update(g.data() + 1, ki.data() + 1, di, kj.data() + 1, dj, up.data() + 1, low.data() + 1, n);
  }
  Partner partner(const SmoOps<T, G>& ops, double kii, double lowest) const {
    return ops.partner(g.data() + 1, low.data() + 1, ki.data() + 1, diagonal.data() + 1, kii, lowest, n);
  }

  Index n;
  std::mt19937_64 engine;
  std::vector<G> g, up, low, diagonal;
  std::vector<T> ki, kj;
};

// The extremes of g + up and g + low as they are, first of equals.
template <class T, class G>
SlopeRange extremes(const Numbers<T, G>& x) {
  SlopeRange out{infinity, -infinity, 0, 0};
  for (Index k = 0; k < x.n; ++k) {
    const auto at = static_cast<std::size_t>(k + 1);
    if (x.g[at] + x.up[at] < out.lowest) out.lowest = x.g[at] + x.up[at], out.lowest_at = k;
    if (x.g[at] + x.low[at] > out.highest) out.highest = x.g[at] + x.low[at], out.highest_at = k;
  }
  return out;
}

void expect_same(const SlopeRange& got, const SlopeRange& wanted) {
  EXPECT_EQ(got.lowest, wanted.lowest);
  EXPECT_EQ(got.highest, wanted.highest);
  EXPECT_EQ(got.lowest_at, wanted.lowest_at);
  EXPECT_EQ(got.highest_at, wanted.highest_at);
}

void expect_near(double got, double wanted, double room) {
  if (std::isfinite(wanted)) {
    EXPECT_NEAR(got, wanted, room);
  } else {
    EXPECT_EQ(got, wanted);
  }
}

TYPED_TEST(SmoOpsTest, UpdateAddsTwoRowsAndFindsTheExtremes) {
  using T = typename TypeParam::T;
  using G = typename TypeParam::G;
  for (const std::string& name : levels()) {
    for (const Index n : sizes()) {
      for (const double share : {0.0, 0.5}) {
        SCOPED_TRACE(name + " n " + std::to_string(n));
        Numbers<T, G> x(n, static_cast<std::uint64_t>(n));
        x.make_infinite(share);
        const Numbers<T, G> before = x;
        const double di = 0.37;
        const double dj = -1.9;
        const SlopeRange got = x.update(ops_at_level<TypeParam>(name), di, dj);
        for (Index k = 1; k <= n; ++k) {
          const auto at = static_cast<std::size_t>(k);
          const long double exact = static_cast<long double>(before.g[at]) + static_cast<long double>(di) * before.ki[at] +
                                    static_cast<long double>(dj) * before.kj[at];
          ASSERT_NEAR(x.g[at], static_cast<double>(exact), 4 * eps<G> * (3 + di + std::abs(dj)));
        }
        expect_same(got, extremes(x));  // of the numbers that were written: to the bit
        EXPECT_EQ(x.g.front(), canary);
        EXPECT_EQ(x.g.back(), canary);
        EXPECT_EQ(x.up, before.up);
        EXPECT_EQ(x.low, before.low);
        Numbers<T, G> twin = before;
        const SlopeRange scalar = twin.update(scalar_ops<TypeParam>, di, dj);
        expect_near(got.lowest, scalar.lowest, 20 * eps<G>);
        expect_near(got.highest, scalar.highest, 20 * eps<G>);
      }
    }
  }
}

// Whole numbers: sums are exact, ties abound, and every level gives the scalar's answer to the bit.
TYPED_TEST(SmoOpsTest, OfEqualSlopesTheFirst) {
  using T = typename TypeParam::T;
  using G = typename TypeParam::G;
  for (const std::string& name : levels()) {
    for (const Index n : sizes()) {
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE(name + " n " + std::to_string(n) + " seed " + std::to_string(seed));
        Numbers<T, G> x(n, 1000 * seed + static_cast<std::uint64_t>(n), true);
        if (seed % 2 == 1) x.make_infinite(0.7);
        Numbers<T, G> twin = x;
        const SlopeRange got = x.update(ops_at_level<TypeParam>(name), 2, -3);
        expect_same(got, twin.update(scalar_ops<TypeParam>, 2, -3));
        expect_same(got, extremes(x));
        EXPECT_EQ(x.g, twin.g);
        const double lowest = -4;
        const Partner found = x.partner(ops_at_level<TypeParam>(name), 2, lowest);
        const Partner wanted = x.partner(scalar_ops<TypeParam>, 2, lowest);
        EXPECT_EQ(found.gain, wanted.gain);
        EXPECT_EQ(found.at, wanted.at);
      }
      // All equal: the very first.
      Numbers<T, G> same(n, 1, true);
      std::fill(same.g.begin(), same.g.end(), G{1});
      for (auto* slopes : {&same.up, &same.low}) std::fill(slopes->begin(), slopes->end(), G{0});
      std::fill(same.ki.begin(), same.ki.end(), T{0});
      std::fill(same.diagonal.begin(), same.diagonal.end(), G{1});
      expect_same(same.update(ops_at_level<TypeParam>(name), 0, 0), {1, 1, 0, 0});
      const Partner found = same.partner(ops_at_level<TypeParam>(name), 1, 0);
      EXPECT_EQ(found.gain, 0.5);
      EXPECT_EQ(found.at, 0);
    }
  }
}

TYPED_TEST(SmoOpsTest, NothingCanMove) {
  using T = typename TypeParam::T;
  using G = typename TypeParam::G;
  for (const std::string& name : levels()) {
    for (const Index n : sizes()) {
      SCOPED_TRACE(name + " n " + std::to_string(n));
      Numbers<T, G> x(n, 5);
      std::fill(x.up.begin(), x.up.end(), std::numeric_limits<G>::infinity());
      std::fill(x.low.begin(), x.low.end(), -std::numeric_limits<G>::infinity());
      expect_same(x.update(ops_at_level<TypeParam>(name), 1, 1), {infinity, -infinity, 0, 0});
      const Partner none = x.partner(ops_at_level<TypeParam>(name), 1, -10);
      EXPECT_EQ(none.gain, 0);
      EXPECT_EQ(none.at, -1);
      std::fill(x.low.begin(), x.low.end(), G{0});  // finite, but nobody is above the lowest
      EXPECT_EQ(x.partner(ops_at_level<TypeParam>(name), 1, 1e3).at, -1);
      // One can move, at every place in turn.
      for (const Index only : {Index{0}, n / 2, n - 1}) {
        std::fill(x.low.begin(), x.low.end(), -std::numeric_limits<G>::infinity());
        x.low[static_cast<std::size_t>(only + 1)] = 0;
        x.up[static_cast<std::size_t>(only + 1)] = 0;
        const SlopeRange range = x.update(ops_at_level<TypeParam>(name), 0, 0);
        EXPECT_EQ(range.lowest_at, only);
        EXPECT_EQ(range.highest_at, only);
        EXPECT_EQ(x.partner(ops_at_level<TypeParam>(name), 1, -10).at, only);
        x.up[static_cast<std::size_t>(only + 1)] = std::numeric_limits<G>::infinity();
      }
    }
    EXPECT_EQ(ops_at_level<TypeParam>(name).partner(nullptr, nullptr, nullptr, nullptr, 1, 0, 0).at, -1);
    expect_same(ops_at_level<TypeParam>(name).update(nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr, 0), {infinity, -infinity, 0, 0});
  }
}

TYPED_TEST(SmoOpsTest, PartnerPromisesTheLargestDecrease) {
  using T = typename TypeParam::T;
  using G = typename TypeParam::G;
  for (const std::string& name : levels()) {
    for (const Index n : sizes()) {
      SCOPED_TRACE(name + " n " + std::to_string(n));
      Numbers<T, G> x(n, 100 + static_cast<std::uint64_t>(n));
      x.make_infinite(0.3);
      // Duplicates and worse: no curvature, or a negative one.
      if (n > 3) {
        x.diagonal[2] = 1;
        x.ki[2] = T{1};
        x.ki[static_cast<std::size_t>(n)] = T{2};
      }
      const double kii = 1;
      const double lowest = -1;
      const Partner found = x.partner(ops_at_level<TypeParam>(name), kii, lowest);
      const auto gain = [&](Index j) {
        const auto at = static_cast<std::size_t>(j + 1);
        const long double v = static_cast<long double>(x.g[at]) + x.low[at] - lowest;
        const long double curvature = std::max<long double>(kii + static_cast<long double>(x.diagonal[at]) - 2.0L * x.ki[at], 1e-12L);
        return v > 0 ? static_cast<double>(v * v / curvature) : 0.0;
      };
      double most = 0;
      for (Index j = 0; j < n; ++j) most = std::max(most, gain(j));
      if (most == 0) {
        EXPECT_EQ(found.at, -1);
      } else {
        ASSERT_GE(found.at, 0);
        EXPECT_NEAR(found.gain, most, 500 * eps<G> * most);
        EXPECT_NEAR(gain(found.at), most, 500 * eps<G> * most);
        EXPECT_EQ(found.at, x.partner(scalar_ops<TypeParam>, kii, lowest).at);
      }
    }
  }
}

TYPED_TEST(SmoOpsTest, AddRowsForAnyNumberOfRows) {
  using T = typename TypeParam::T;
  std::mt19937_64 engine(9);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const std::string& name : levels()) {
    for (const Index n : sizes()) {
      for (const Index count : {0, 1, 2, 7, 8, 9, 16, 23}) {
        SCOPED_TRACE(name + " n " + std::to_string(n) + " rows " + std::to_string(count));
        std::vector<std::vector<T>> rows(static_cast<std::size_t>(count));
        std::vector<const T*> pointers;
        std::vector<double> coef;
        for (auto& row : rows) {
          row.resize(static_cast<std::size_t>(n + 1));
          for (T& x : row) x = static_cast<T>(uniform(engine));
          pointers.push_back(row.data() + 1);
          coef.push_back(uniform(engine));
        }
        std::vector<double> y(static_cast<std::size_t>(n + 2), canary);
        for (Index j = 1; j <= n; ++j) y[static_cast<std::size_t>(j)] = uniform(engine);
        const std::vector<double> before = y;
        ops_at_level<TypeParam>(name).add_rows(y.data() + 1, pointers.data(), coef.data(), count, n);
        for (Index j = 1; j <= n; ++j) {
          long double exact = before[static_cast<std::size_t>(j)];
          for (std::size_t k = 0; k < rows.size(); ++k) exact += static_cast<long double>(coef[k]) * rows[k][static_cast<std::size_t>(j)];
          ASSERT_NEAR(y[static_cast<std::size_t>(j)], static_cast<double>(exact), eps<double> * static_cast<double>(count + 1) * 2);
        }
        EXPECT_EQ(y.front(), canary);
        EXPECT_EQ(y.back(), canary);
      }
    }
  }
}

TYPED_TEST(SmoOpsTest, LevelsByName) {
  EXPECT_EQ(&chosen_ops<TypeParam>(), &ops_at_level<TypeParam>(level()));
  EXPECT_EQ(&ops_at_level<TypeParam>("scalar"), &scalar_ops<TypeParam>);
  for (const std::string& name : levels()) {
    EXPECT_EQ(ops_at_level<TypeParam>(name).update == scalar_ops<TypeParam>.update, name == "scalar") << name;
  }
  EXPECT_THROW(ops_at_level<TypeParam>("avx9000"), InvalidArgument);
}

}  // namespace
}  // namespace mercer::simd

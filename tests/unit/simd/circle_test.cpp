// Sines and cosines of every level against long double: near and far, next to the multiples of pi/2 where digits cancel, at the edges of
// vectors, and each number alone as among its neighbours.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "simd/tile_ops.hpp"

namespace mercer::simd {
namespace {

template <class T>
class CircleTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CircleTest, Types);

template <class T>
std::vector<T> angles() {
  std::mt19937_64 engine(11);
  std::vector<T> out{T{0}, T{-0.0}, std::numeric_limits<T>::min(), -std::numeric_limits<T>::min(), std::numeric_limits<T>::denorm_min()};
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (double range = 1e-9; range < 1e13; range *= 10) {
    for (int i = 0; i < 2000; ++i) out.push_back(static_cast<T>(range * uniform(engine)));
  }
  // The numbers around multiples of pi/2, where one of the two all but vanishes, up to where the C library takes over and beyond.
  for (double k = 1; k < 2e9; k = k < 3000 ? k + 1 : std::floor(k * 1.01)) {
    const auto near = static_cast<T>(k * std::numbers::pi / 2);
    for (const T angle : {near, std::nextafter(near, T{0}), std::nextafter(near, std::numeric_limits<T>::max())}) {
      out.push_back(angle);
      out.push_back(-angle);
    }
  }
  out.push_back(std::numeric_limits<T>::max());
  return out;
}

// Two units in the last place, relative to the value itself.
template <class T>
void expect_unit(T got, long double exact) {
  const double room = 2 * std::numeric_limits<T>::epsilon() * std::abs(static_cast<double>(exact));
  ASSERT_NEAR(got, static_cast<double>(exact), room + static_cast<double>(std::numeric_limits<T>::denorm_min()));
}

TYPED_TEST(CircleTest, CosinesAndSinesToTwoUnitsOfTheirLastPlace) {
  using T = TypeParam;
  const std::vector<T> x = angles<T>();
  const std::vector<T> zero(x.size(), T{0});
  for (const std::string& name : levels()) {
    SCOPED_TRACE(name);
    const TileOps<T>& ops = ops_at<T>(name);
    std::vector<T> cosines = x;
    std::vector<T> sines(x.size());
    ops.sin_cos_of(cosines.data(), zero.data(), sines.data(), std::ssize(x), T{1});
    std::vector<T> alone = x;
    ops.cos_of(alone.data(), zero.data(), std::ssize(x), T{1});
    for (std::size_t i = 0; i < x.size(); ++i) {
      SCOPED_TRACE(x[i]);
      ASSERT_NO_FATAL_FAILURE(expect_unit<T>(cosines[i], std::cos(static_cast<long double>(x[i]))));
      ASSERT_NO_FATAL_FAILURE(expect_unit<T>(sines[i], std::sin(static_cast<long double>(x[i]))));
      ASSERT_EQ(alone[i], cosines[i]);
      T cosine = x[i];  // by itself: the same bits as among its neighbours
      T sine = 0;
      ops.sin_cos_of(&cosine, zero.data(), &sine, 1, T{1});
      ASSERT_EQ(cosine, cosines[i]);
      ASSERT_EQ(sine, sines[i]);
    }
  }
}

TYPED_TEST(CircleTest, OffsetsAndFactorsAtAllEdges) {
  using T = TypeParam;
  std::mt19937_64 engine(3);
  std::uniform_real_distribution<double> uniform(-10, 10);
  for (const std::string& name : levels()) {
    SCOPED_TRACE(name);
    const TileOps<T>& ops = ops_at<T>(name);
    for (Index n = 0; n <= 40; ++n) {
      SCOPED_TRACE(n);
      const auto size = static_cast<std::size_t>(n);
      std::vector<T> x(size + 2);  // the first and the last are canaries, the numbers between start off alignment
      std::vector<T> offset(size + 2);
      for (T& v : x) v = static_cast<T>(uniform(engine));
      for (T& v : offset) v = static_cast<T>(uniform(engine));
      std::vector<T> both = x, sines(size + 2, T{7}), alone = x;
      ops.sin_cos_of(both.data() + 1, offset.data() + 1, sines.data() + 1, n, T{0.5});
      ops.cos_of(alone.data() + 1, offset.data() + 1, n, T{0.5});
      for (std::size_t i = 1; i <= size; ++i) {
        const auto u = static_cast<long double>(x[i] + offset[i]);  // rounds to T, then everything is exact to two units
        ASSERT_NO_FATAL_FAILURE(expect_unit<T>(both[i], 0.5L * std::cos(u)));
        ASSERT_NO_FATAL_FAILURE(expect_unit<T>(sines[i], 0.5L * std::sin(u)));
        ASSERT_EQ(alone[i], both[i]);
      }
      for (const std::size_t end : {std::size_t{0}, size + 1}) {
        ASSERT_EQ(both[end], x[end]);
        ASSERT_EQ(alone[end], x[end]);
        ASSERT_EQ(sines[end], T{7});
      }
    }
  }
}

}  // namespace
}  // namespace mercer::simd

// Every tile operation of every level this CPU runs, against a loop in long double, at sizes around the vectors' edges, with odd strides
// and pointers off alignment. Numbers around each tile are canaries: nothing outside may change.
// SPDX-License-Identifier: BSD-3-Clause
#include "simd/tile_ops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>

#include "simd/scalar.hpp"

namespace mercer::simd {
namespace {

template <class T>
constexpr long double eps = std::numeric_limits<T>::epsilon();

// Random numbers in [low, high), the same for every run.
template <class T>
std::vector<T> numbers(std::size_t count, double low = -2, double high = 3) {
  static std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> out(count);
  for (T& x : out) x = static_cast<T>(uniform(engine));
  return out;
}

// A tile with an odd stride, one number off alignment, inside an array of canaries.
template <class T>
struct Padded {
  static constexpr T canary = T{-12345};
  Padded(Index rows, Index cols)
      : memory(static_cast<std::size_t>((rows + 2) * (cols + 3) + 1), canary), tile{memory.data() + cols + 4, rows, cols, cols + 3} {}

  void expect_canaries() const {
    std::vector<bool> inside(memory.size(), false);
    for (Index i = 0; i < tile.rows; ++i) {
      for (Index j = 0; j < tile.cols; ++j) inside[static_cast<std::size_t>(tile.row(i) + j - memory.data())] = true;
    }
    for (std::size_t at = 0; at < memory.size(); ++at) {
      ASSERT_TRUE(inside[at] || memory[at] == canary) << "written outside the tile at " << at;
    }
  }

  std::vector<T> memory;
  Tile<T> tile;
};

template <class T>
class TileOpsTest : public testing::Test {
 protected:
  // Runs `check(ops, name)` for every level.
  template <class F>
  void for_levels(F&& check) {
    for (const std::string& name : levels()) {
      SCOPED_TRACE(name);
      check(ops_at<T>(name));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(TileOpsTest, Types);

template <class T>
void expect_distances(void (*distances)(const T*, Index, const T*, Index, Index, Tile<T>), int power, Index rows, Index cols, Index depth) {
  SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", depth " << depth);
  const Index a_stride = depth + 2;
  const Index b_stride = cols + 5;
  std::vector<T> a = numbers<T>(static_cast<std::size_t>(rows * a_stride + 1));
  std::vector<T> b = numbers<T>(static_cast<std::size_t>(depth * b_stride + 1));
  const T* a0 = a.data() + 1;
  T* b0 = b.data() + 1;
  if (rows > 0 && cols > 0) {  // the last pair is a duplicate
    for (Index k = 0; k < depth; ++k) b0[k * b_stride + cols - 1] = a0[(rows - 1) * a_stride + k];
  }
  Padded<T> out(rows, cols);
  distances(a0, a_stride, b0, b_stride, depth, out.tile);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      long double sum = 0;
      for (Index k = 0; k < depth; ++k) {
        const long double difference = static_cast<long double>(a0[i * a_stride + k]) - b0[k * b_stride + j];
        sum += power == 2 ? difference * difference : std::abs(difference);
      }
      // Differences round once (twice that when squared), and depth positive terms are added one after the other.
      ASSERT_NEAR(out.tile.row(i)[j], static_cast<double>(sum), static_cast<double>(static_cast<long double>(depth + 3) * eps<T> * sum));
    }
  }
  if (rows > 0 && cols > 0) {
    ASSERT_EQ(out.tile.row(rows - 1)[cols - 1], T{0});
  }
  out.expect_canaries();
}

TYPED_TEST(TileOpsTest, DistancesAtAllEdges) {
  using T = TypeParam;
  this->for_levels([](const TileOps<T>& ops) {
    for (Index cols = 0; cols <= 40; ++cols) {
      for (const Index rows : {0, 1, 3, 4, 5, 9}) {
        for (const Index depth : {0, 1, 2, 7, 33}) {
          ASSERT_NO_FATAL_FAILURE(expect_distances<T>(ops.squared_distances, 2, rows, cols, depth));
          ASSERT_NO_FATAL_FAILURE(expect_distances<T>(ops.l1_distances, 1, rows, cols, depth));
        }
      }
    }
  });
}

template <class T>
void expect_histograms(const TileOps<T>& ops, Index rows, Index cols, Index depth) {
  SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", depth " << depth);
  std::vector<T> a = numbers<T>(static_cast<std::size_t>(rows * depth), 0, 3);
  std::vector<T> b = numbers<T>(static_cast<std::size_t>(depth * cols), 0, 3);
  for (std::size_t i = 0; i < a.size(); i += 3) a[i] = 0;
  for (std::size_t i = 0; i < b.size(); i += 2) b[i] = 0;  // so that some pairs are 0 and 0
  Padded<T> chi2(rows, cols);
  Padded<T> minimum(rows, cols);
  ops.chi2_distances(a.data(), depth, b.data(), cols, depth, chi2.tile);
  ops.minimum_sums(a.data(), depth, b.data(), cols, depth, minimum.tile);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      long double distance = 0;
      long double smaller = 0;
      for (Index k = 0; k < depth; ++k) {
        const auto x = static_cast<long double>(a[static_cast<std::size_t>(i * depth + k)]);
        const auto y = static_cast<long double>(b[static_cast<std::size_t>(k * cols + j)]);
        if (x + y > 0) distance += (x - y) * (x - y) / (x + y);
        smaller += std::min(x, y);
      }
      // Each term of the first rounds five times, and depth terms >= 0 are added.
      ASSERT_NEAR(chi2.tile.row(i)[j], static_cast<double>(distance),
                  static_cast<double>(static_cast<long double>(depth + 5) * eps<T> * distance));
      ASSERT_NEAR(minimum.tile.row(i)[j], static_cast<double>(smaller),
                  static_cast<double>(static_cast<long double>(depth) * eps<T> * smaller));
    }
  }
  chi2.expect_canaries();
  minimum.expect_canaries();
}

TYPED_TEST(TileOpsTest, HistogramsAtAllEdges) {
  using T = TypeParam;
  this->for_levels([](const TileOps<T>& ops) {
    for (Index cols = 0; cols <= 40; ++cols) {
      for (const Index rows : {0, 1, 4, 5}) {
        for (const Index depth : {0, 1, 7}) ASSERT_NO_FATAL_FAILURE(expect_histograms<T>(ops, rows, cols, depth));
      }
    }
  });
}

// A pair has the same bits wherever it stands in a tile: that keeps Gram matrices exactly symmetric.
TYPED_TEST(TileOpsTest, DistancesDoNotDependOnPlace) {
  using T = TypeParam;
  constexpr Index rows = 7;
  constexpr Index cols = 37;
  constexpr Index depth = 13;
  const std::vector<T> a = numbers<T>(rows * depth);
  const std::vector<T> b = numbers<T>(depth * cols);
  this->for_levels([&](const TileOps<T>& ops) {
    for (const auto distances : {ops.squared_distances, ops.l1_distances}) {
      std::vector<T> whole(rows * cols);
      distances(a.data(), depth, b.data(), cols, depth, {whole.data(), rows, cols, cols});
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < cols; ++j) {
          T alone = -1;
          distances(a.data() + i * depth, depth, b.data() + j, cols, depth, {&alone, 1, 1, 1});
          ASSERT_EQ(alone, whole[static_cast<std::size_t>(i * cols + j)]) << i << ", " << j;
          // The same pair with its sides exchanged.
          std::vector<T> column(a.begin() + i * depth, a.begin() + (i + 1) * depth);
          std::vector<T> row(depth);
          for (Index k = 0; k < depth; ++k) row[static_cast<std::size_t>(k)] = b[static_cast<std::size_t>(k * cols + j)];
          distances(row.data(), depth, column.data(), 1, depth, {&alone, 1, 1, 1});
          ASSERT_EQ(alone, whole[static_cast<std::size_t>(i * cols + j)]) << i << ", " << j;
        }
      }
    }
  });
}

TYPED_TEST(TileOpsTest, DistancesFromDots) {
  using T = TypeParam;
  this->for_levels([](const TileOps<T>& ops) {
    for (Index cols = 0; cols <= 40; ++cols) {
      for (const Index rows : {0, 1, 3}) {
        const std::vector<T> a = numbers<T>(static_cast<std::size_t>(rows), 1, 2);
        const std::vector<T> b = numbers<T>(static_cast<std::size_t>(cols) + 1, 1, 2);
        Padded<T> tile(rows, cols);
        for (Index i = 0; i < rows; ++i) {
          for (Index j = 0; j < cols; ++j) tile.tile.row(i)[j] = numbers<T>(1, -1, 0.5)[0];
        }
        const Padded<T> before = tile;
        const T* from = before.memory.data() + cols + 4;
        ASSERT_FALSE(ops.distances_from_dots(tile.tile, a.data(), b.data() + 1, static_cast<T>(1e-3)));
        for (Index i = 0; i < rows; ++i) {
          for (Index j = 0; j < cols; ++j) {
            const long double norms = static_cast<long double>(a[static_cast<std::size_t>(i)]) + b[static_cast<std::size_t>(j) + 1];
            const long double exact = norms - 2 * static_cast<long double>(from[i * (cols + 3) + j]);
            ASSERT_NEAR(tile.tile.row(i)[j], static_cast<double>(exact), static_cast<double>(eps<T> * (2 * norms + std::abs(exact))));
          }
        }
        tile.expect_canaries();
      }
    }
  });
}

// The flag must see the one cancelled entry wherever it is, and a distance below zero becomes zero.
TYPED_TEST(TileOpsTest, CancelledDistancesAreReported) {
  using T = TypeParam;
  this->for_levels([](const TileOps<T>& ops) {
    for (const Index cols : {1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 40}) {
      constexpr Index rows = 2;
      for (Index at = 0; at < rows * cols; ++at) {
        const std::vector<T> a(rows, T{4});
        const std::vector<T> b(static_cast<std::size_t>(cols), T{4});
        std::vector<T> tile(static_cast<std::size_t>(rows * cols), T{0});
        tile[static_cast<std::size_t>(at)] = T{4} + T{4} * std::numeric_limits<T>::epsilon();  // rounding made the dot too large
        ASSERT_TRUE(ops.distances_from_dots({tile.data(), rows, cols, cols}, a.data(), b.data(), static_cast<T>(1e-3))) << at;
        for (Index i = 0; i < rows * cols; ++i) ASSERT_EQ(tile[static_cast<std::size_t>(i)], i == at ? T{0} : T{8});
      }
    }
    // Strictly below: at the threshold itself all digits that were promised are there. Zero vectors are exact, nothing to repair.
    T distance = T{3};
    const T norm = T{4};
    ASSERT_FALSE(ops.distances_from_dots({&distance, 1, 1, 1}, &norm, &norm, T{0.25}));
    ASSERT_EQ(distance, T{2});
    distance = T{3};
    ASSERT_TRUE(ops.distances_from_dots({&distance, 1, 1, 1}, &norm, &norm, T{0.2501}));
    const T zero = 0;
    distance = 0;
    ASSERT_FALSE(ops.distances_from_dots({&distance, 1, 1, 1}, &zero, &zero, static_cast<T>(1e-3)));
    ASSERT_EQ(distance, T{0});
  });
}

// |got - exact| <= relative |exact|, with one subnormal step of room where the result has lost its digits.
template <class T>
void expect_close(T got, long double exact, double relative) {
  const double room = std::abs(static_cast<double>(exact)) < static_cast<double>(std::numeric_limits<T>::min())
                          ? 2 * static_cast<double>(std::numeric_limits<T>::denorm_min())
                          : static_cast<double>(exact) * relative;
  ASSERT_NEAR(got, static_cast<double>(exact), std::abs(room));
}

template <class T>
constexpr double exp_accuracy = std::numeric_limits<T>::epsilon();  // relative

TYPED_TEST(TileOpsTest, ExpOverItsWholeRange) {
  using T = TypeParam;
  this->for_levels([](const TileOps<T>& ops) {
    const double lowest = sizeof(T) == 4 ? -120 : -800;
    std::vector<T> x;
    for (int i = 0; i <= 40000; ++i) x.push_back(static_cast<T>(lowest * i / 40000));
    for (int i = 0; i <= 10000; ++i) x.push_back(static_cast<T>((sizeof(T) == 4 ? 88.5 : 709.5) * i / 10000));
    for (double tiny = 1; tiny > 1e-30; tiny /= 3) x.push_back(static_cast<T>(-tiny));
    std::vector<T> y = x;
    ops.exp_of(y.data(), std::ssize(y), T{1});
    for (std::size_t i = 0; i < x.size(); ++i) {
      SCOPED_TRACE(x[i]);
      ASSERT_NO_FATAL_FAILURE(expect_close<T>(y[i], std::exp(static_cast<long double>(x[i])), exp_accuracy<T>));
    }
    // Far out: zero, never NaN, never garbage; and exp(0) = 1 to the bit, of which exact diagonals are made.
    std::vector<T> far{
        T{0}, T{-0.0}, T{-1e3}, T{-1e4}, T{-1e9}, T{-1e30}, std::numeric_limits<T>::lowest(), -std::numeric_limits<T>::infinity()};
    for (int copies = 0; copies < 3; ++copies) far.insert(far.end(), far.begin(), far.begin() + 8);
    ops.exp_of(far.data(), std::ssize(far), T{1});
    for (std::size_t i = 0; i < far.size(); ++i) ASSERT_EQ(far[i], i % 8 < 2 ? T{1} : T{0}) << i;
  });
}

TYPED_TEST(TileOpsTest, ElementwiseAtAllEdges) {
  using T = TypeParam;
  this->for_levels([](const TileOps<T>& ops) {
    for (Index n = 0; n <= 40; ++n) {
      SCOPED_TRACE(n);
      const auto size = static_cast<std::size_t>(n);
      // [0] and the last are canaries; the numbers between start off alignment.
      std::vector<T> x = numbers<T>(size + 2, 0, 9);
      const std::vector<T> y = numbers<T>(size + 2);
      const auto run = [&](auto&& f, auto&& expect) {
        std::vector<T> z = x;
        f(z.data() + 1);
        ASSERT_EQ(z.front(), x.front());
        ASSERT_EQ(z.back(), x.back());
        for (std::size_t i = 1; i <= size; ++i) expect(z[i], x[i], y[i]);
      };
      run([&](T* z) { ops.exp_of(z, n, T{-0.5}); },
          [](T z, T v, T) { expect_close<T>(z, std::exp(-0.5L * static_cast<long double>(v)), exp_accuracy<T>); });
      // The root rounds once: half an ulp of an argument up to 1.5.
      run([&](T* z) { ops.exp_of_root(z, n, T{-0.5}); },
          [](T z, T v, T) { expect_close<T>(z, std::exp(-0.5L * std::sqrt(static_cast<long double>(v))), 2 * exp_accuracy<T>); });
      const double ulp = std::numeric_limits<T>::epsilon();
      // a = 0.5 sqrt x <= 1.5 rounds twice, which exp turns into a relative error; then a few products.
      run([&](T* z) { ops.matern3_of_root(z, n, T{0.5}); },
          [&](T z, T v, T) {
            const long double a = 0.5L * std::sqrt(static_cast<long double>(v));
            expect_close<T>(z, (1 + a) * std::exp(-a), 6 * ulp);
          });
      run([&](T* z) { ops.matern5_of_root(z, n, T{0.5}); },
          [&](T z, T v, T) {
            const long double a = 0.5L * std::sqrt(static_cast<long double>(v));
            expect_close<T>(z, (1 + a + a * a / 3) * std::exp(-a), 8 * ulp);
          });
      // The logarithm's error times alpha; log1p(4.5) < 2.
      run([&](T* z) { ops.rational_of(z, n, T{0.5}, T{1.5}); },
          [&](T z, T v, T) { expect_close<T>(z, std::pow(1 + 0.5L * static_cast<long double>(v), -1.5L), 12 * ulp); });
      run([&](T* z) { ops.tanh_of(z, n, T{0.25}, T{-1}); },
          [&](T z, T v, T) {
            const long double u = 0.25L * static_cast<long double>(v) - 1;
            ASSERT_NEAR(z, static_cast<double>(std::tanh(u)), 4 * ulp);
          });
      run([&](T* z) { ops.scale(z, n, T{1.7}); }, [](T z, T v, T) { ASSERT_EQ(z, v * T{1.7}); });
      run([&](T* z) { ops.add(z, y.data() + 1, n); }, [](T z, T v, T w) { ASSERT_EQ(z, v + w); });
      run([&](T* z) { ops.multiply(z, y.data() + 1, n); }, [](T z, T v, T w) { ASSERT_EQ(z, v * w); });
    }
    for (const auto at_zero : {ops.exp_of_root, ops.matern3_of_root, ops.matern5_of_root}) {
      T zero = 0;
      at_zero(&zero, 1, T{3});
      ASSERT_EQ(zero, T{1});
    }
    T zero = 0;
    ops.rational_of(&zero, 1, T{2}, T{3});
    ASSERT_EQ(zero, T{1});
    T steep = T{4};
    ops.rational_of(&steep, 1, std::numeric_limits<T>::max(), T{0.001});  // the product overflows
    ASSERT_NEAR(steep, static_cast<double>(std::pow(static_cast<long double>(std::numeric_limits<T>::max()), -0.001L)), 1e-3);
    // Far out: 0, never infinity times 0.
    for (const auto far_out : {ops.matern3_of_root, ops.matern5_of_root}) {
      for (const T factor : {T{1e4}, std::numeric_limits<T>::max()}) {
        T far = T{1e10};
        far_out(&far, 1, factor);
        ASSERT_EQ(far, T{0});
      }
    }
  });
}

TYPED_TEST(TileOpsTest, PowersBySquaring) {
  using T = TypeParam;
  this->for_levels([](const TileOps<T>& ops) {
    for (const int degree : {1, 2, 3, 4, 5, 7, 8, 15, 16, 31}) {
      const std::vector<T> x = numbers<T>(37, -3, 3);
      std::vector<T> z = x;
      ops.power_of(z.data(), std::ssize(z), T{0.5}, T{0.25}, degree);
      for (std::size_t i = 0; i < x.size(); ++i) {
        // The base carries its own rounding, relative to its terms, and every product another.
        const long double base = 0.25L + 0.5L * static_cast<long double>(x[i]);
        const long double exact = std::pow(base, static_cast<long double>(degree));
        const long double from_base = degree * std::pow(std::abs(base) + 2 * eps<T>, static_cast<long double>(degree - 1)) * 2 * eps<T>;
        const long double room = from_base + 2 * degree * eps<T> * std::abs(exact) + std::numeric_limits<T>::min();  // it may underflow
        ASSERT_NEAR(z[i], static_cast<double>(exact), static_cast<double>(room));
      }
    }
    // The square after the last needed one overflows; the answer must not notice.
    T big = sizeof(T) == 4 ? static_cast<T>(1e30) : static_cast<T>(1e200);
    const T same = big;
    ops.power_of(&big, 1, T{1}, T{0}, 1);
    ASSERT_EQ(big, same);
  });
}

// Kernel values must not depend on where in a vector they are computed, or Gram matrices of permuted rows would differ.
TYPED_TEST(TileOpsTest, ExpDoesNotDependOnItsNeighbours) {
  using T = TypeParam;
  this->for_levels([](const TileOps<T>& ops) {
    std::vector<T> x;
    for (int i = 0; i < 400; ++i) x.push_back(i % 7 == 0 ? T{-2000} : static_cast<T>(-0.217 * i));
    std::vector<T> together = x;
    std::vector<T> rooted(x.size());
    std::transform(x.begin(), x.end(), rooted.begin(), [](T v) { return v * v; });
    std::vector<T> rooted_together = rooted;
    ops.exp_of(together.data(), std::ssize(together), T{1});
    ops.exp_of_root(rooted_together.data(), std::ssize(rooted_together), T{-1});
    for (std::size_t i = 0; i < x.size(); ++i) {
      T alone = x[i];
      ops.exp_of(&alone, 1, T{1});
      ASSERT_EQ(together[i], alone) << x[i];
      alone = rooted[i];
      ops.exp_of_root(&alone, 1, T{-1});
      ASSERT_EQ(rooted_together[i], alone) << x[i];
    }
    // The others too, each lane alone and among neighbours.
    const auto alike = [&](auto&& f) {
      std::vector<T> whole = rooted;
      f(whole.data(), std::ssize(whole));
      for (std::size_t i = 0; i < rooted.size(); ++i) {
        T alone = rooted[i];
        f(&alone, 1);
        ASSERT_EQ(whole[i], alone) << rooted[i];
      }
    };
    alike([&](T* z, Index n) { ops.matern3_of_root(z, n, T{0.7}); });
    alike([&](T* z, Index n) { ops.matern5_of_root(z, n, T{0.7}); });
    alike([&](T* z, Index n) { ops.rational_of(z, n, T{0.01}, T{1.5}); });
    alike([&](T* z, Index n) { ops.tanh_of(z, n, T{0.01}, T{-1}); });
    std::vector<T> high(40, T{1000});
    ops.exp_of(high.data(), std::ssize(high), T{1});
    for (const T value : high) ASSERT_EQ(value, std::numeric_limits<T>::infinity());
  });
}

TYPED_TEST(TileOpsTest, CopiesOutStraightAndTransposed) {
  using T = TypeParam;
  this->for_levels([](const TileOps<T>& ops) {
    for (const Index rows : {0, 1, 2, 7, 16, 33, 511, 512, 513}) {
      for (const Index cols : {0, 1, 3, 7, 8, 9, 17, 40}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        Padded<T> from(rows, cols);
        for (Index i = 0; i < rows; ++i) {
          for (Index j = 0; j < cols; ++j) from.tile.row(i)[j] = static_cast<T>(i * 1000 + j);
        }
        const Tile<const T> tile{from.tile.data, rows, cols, from.tile.stride};
        Padded<T> straight(rows, cols);
        Padded<T> turned(cols, rows);
        ops.copy_out(tile, straight.tile.data, straight.tile.stride);
        ops.copy_out_transposed(tile, turned.tile.data, turned.tile.stride);
        // Aligned rows take the other way, past the caches.
        const Index wide = (std::max(rows, cols) + 63) / 64 * 64;
        const auto aligned = [&] {
          return static_cast<T*>(std::aligned_alloc(64, static_cast<std::size_t>(std::max<Index>(wide, 64) * 600) * sizeof(T)));
        };
        const std::unique_ptr<T, decltype(&std::free)> straight_aligned(aligned(), &std::free);
        const std::unique_ptr<T, decltype(&std::free)> turned_aligned(aligned(), &std::free);
        ops.copy_out(tile, straight_aligned.get(), wide);
        ops.copy_out_transposed(tile, turned_aligned.get(), wide);
        for (Index i = 0; i < rows; ++i) {
          for (Index j = 0; j < cols; ++j) {
            const T value = static_cast<T>(i * 1000 + j);
            ASSERT_EQ(straight.tile.row(i)[j], value);
            ASSERT_EQ(turned.tile.row(j)[i], value);
            ASSERT_EQ(straight_aligned.get()[i * wide + j], value);
            ASSERT_EQ(turned_aligned.get()[j * wide + i], value);
          }
        }
        straight.expect_canaries();
        turned.expect_canaries();
      }
    }
  });
}

}  // namespace
}  // namespace mercer::simd

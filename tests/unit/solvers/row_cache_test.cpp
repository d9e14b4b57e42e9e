// The cache of rows: right numbers always, no more rows than there is room for, the least recently used leave, each computed when missing.
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/row_cache.hpp"

#include <gtest/gtest.h>

#include <set>

#include "unit/solvers/box_problems.hpp"

namespace mercer::testing {
namespace {

template <class T>
class RowCacheTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RowCacheTest, Types);

Matrix numbers(Index n) {
  const Matrix A = RandomStream(2).normal_matrix(n, n);
  return A + A.transpose();
}

template <class T>
void expect_rows(RowCache<T>& cache, const Matrix& K, const std::vector<Index>& wanted) {
  const std::vector<const T*> rows = cache.rows(wanted);
  ASSERT_EQ(rows.size(), wanted.size());
  for (std::size_t a = 0; a < rows.size(); ++a) {
    for (Index j = 0; j < K.rows(); ++j) ASSERT_EQ(rows[a][j], static_cast<T>(K(wanted[a], j))) << wanted[a] << ' ' << j;
  }
  EXPECT_EQ(std::set<const T*>(rows.begin(), rows.end()).size(), rows.size()) << "two rows in one place";
}

TYPED_TEST(RowCacheTest, TheLeastRecentlyUsedLeave) {
  using T = TypeParam;
  const Matrix K = numbers(20);
  const MatrixRows<T> source(K);
  RowCache<T> cache(source, 5 * 32 * sizeof(T), 1);  // 20 numbers take the room of 32
  ASSERT_EQ(cache.capacity(), 5);
  EXPECT_EQ(cache.bytes(), 0U);
  expect_rows(cache, K, {3, 1, 4});
  EXPECT_EQ(cache.computed(), 3);
  expect_rows(cache, K, {1, 3});  // both here
  EXPECT_EQ(cache.computed(), 3);
  expect_rows(cache, K, {5, 9});  // full: 4, then 1 and 3, then 5 and 9
  EXPECT_EQ(cache.computed(), 5);
  expect_rows(cache, K, {2});  // 4 leaves
  expect_rows(cache, K, {1, 3, 5, 9});
  EXPECT_EQ(cache.computed(), 6);
  expect_rows(cache, K, {4});  // 2 leaves
  EXPECT_EQ(cache.computed(), 7);
  expect_rows(cache, K, {1, 3, 5, 9});
  EXPECT_EQ(cache.computed(), 7);
  expect_rows(cache, K, {2, 1, 3, 5, 9});  // a full load, of which one is missing
  EXPECT_EQ(cache.computed(), 8);
  expect_rows(cache, K, {10, 11, 12, 13, 14});  // all others leave
  EXPECT_EQ(cache.computed(), 13);
  expect_rows(cache, K, {});
  EXPECT_EQ(cache.computed(), 13);
  EXPECT_EQ(source.asked, 13);
  EXPECT_EQ(source.calls.back().size(), 5U) << "missing rows are computed together";
  EXPECT_LE(cache.bytes(), 5 * 32 * sizeof(T));
}

TYPED_TEST(RowCacheTest, CapacityIsWhatFitsButSomeAtLeastAndNoMoreThanThereAre) {
  using T = TypeParam;
  const MatrixRows<T> source(numbers(33));  // 48 numbers a row
  const std::size_t row = 48 * sizeof(T);
  EXPECT_EQ(RowCache<T>(source, 10 * row, 1).capacity(), 10);
  EXPECT_EQ(RowCache<T>(source, 11 * row - 1, 1).capacity(), 10);
  EXPECT_EQ(RowCache<T>(source, 0, 7).capacity(), 7);
  EXPECT_EQ(RowCache<T>(source, 1, 512).capacity(), 33);
  EXPECT_EQ(RowCache<T>(source, std::size_t{1} << 40, 1).capacity(), 33);
  const MatrixRows<T> one(numbers(1));
  EXPECT_EQ(RowCache<T>(one, 0, 512).capacity(), 1);
}

TYPED_TEST(RowCacheTest, RandomVisitsAgainstAPlainModel) {
  using T = TypeParam;
  const Matrix K = numbers(70);
  const MatrixRows<T> source(K);
  RowCache<T> cache(source, 13 * 80 * sizeof(T), 1);
  ASSERT_EQ(cache.capacity(), 13);
  std::vector<Index> last(70, -1);  // the call that asked last
  std::vector<Index> here;          // which row is in which place
  Index computed = 0;
  RandomStream random(5);
  for (Index call = 0; call < 400; ++call) {
    std::set<Index> chosen;
    const auto count = static_cast<std::size_t>(1 + random.uniform() * 12.99);
    while (chosen.size() < count) chosen.insert(static_cast<Index>(random.uniform() * random.uniform() * 70));
    const std::vector<Index> wanted(chosen.rbegin(), chosen.rend());
    for (const Index row : wanted) last[static_cast<std::size_t>(row)] = call;
    std::vector<Index> missing;
    for (const Index row : wanted) {
      if (std::find(here.begin(), here.end(), row) == here.end()) missing.push_back(row);
    }
    for (const Index row : missing) {
      if (std::ssize(here) < cache.capacity()) {
        here.push_back(row);
      } else {  // of equally old ones that of the first place
        const auto age = [&](Index a, Index b) { return last[static_cast<std::size_t>(a)] < last[static_cast<std::size_t>(b)]; };
        *std::min_element(here.begin(), here.end(), age) = row;
      }
    }
    const std::size_t calls = source.calls.size();
    ASSERT_NO_FATAL_FAILURE(expect_rows(cache, K, wanted));
    ASSERT_EQ(source.calls.size(), calls + (missing.empty() ? 0 : 1));
    if (!missing.empty()) {
      ASSERT_EQ(source.calls.back(), missing);
    }
    computed += std::ssize(missing);
    ASSERT_EQ(cache.computed(), computed);
  }
  EXPECT_GT(computed, 70);
  EXPECT_LE(cache.bytes(), 13 * 80 * sizeof(T));
}

TYPED_TEST(RowCacheTest, StoredRowsAreUsedWhereTheyLie) {
  using T = TypeParam;
  const Matrix K = numbers(9);
  const MatrixRows<T> source(K, true);
  RowCache<T> cache(source, 1 << 20, 1);
  expect_rows(cache, K, {8, 0, 3});
  const Index row = 3;
  EXPECT_EQ(cache.rows({&row, 1})[0], source.stored(3));
  EXPECT_EQ(cache.computed(), 0);
  EXPECT_EQ(cache.bytes(), 0U);
}

// More rows than one chunk of 32 MB holds.
TEST(RowCacheChunks, RowsStayWhereTheyAre) {
  class Wide final : public RowSource<double> {
   public:
    Index size() const override { return 1 << 20; }
    const Vector& diagonal() const override { return diagonal_; }
    void rows(std::span<const Index> I, std::span<double* const> out) const override {
      for (std::size_t a = 0; a < I.size(); ++a) out[a][0] = out[a][size() - 1] = static_cast<double>(I[a]);
    }

   private:
    Vector diagonal_{};
  };
  const Wide source;
  RowCache<double> cache(source, std::size_t{7} << 23, 1);  // 8 MB a row, four a chunk
  ASSERT_EQ(cache.capacity(), 7);
  for (Index row = 0; row < 7; ++row) cache.rows({&row, 1});
  const std::vector<Index> all{0, 1, 2, 3, 4, 5, 6};
  const std::vector<const double*> rows = cache.rows(all);
  for (Index row = 0; row < 7; ++row) {
    EXPECT_EQ(rows[static_cast<std::size_t>(row)][0], static_cast<double>(row));
    EXPECT_EQ(rows[static_cast<std::size_t>(row)][source.size() - 1], static_cast<double>(row));
  }
  EXPECT_EQ(cache.computed(), 7);
}

}  // namespace
}  // namespace mercer::testing

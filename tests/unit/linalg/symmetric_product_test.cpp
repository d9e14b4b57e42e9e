// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/symmetric_product.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "mercer/random.hpp"

namespace mercer::linalg {
namespace {

Matrix symmetric(Index n) {
  const Matrix A = RandomStream(7).normal_matrix(n, n);
  return A + A.transpose();
}

template <class T>
SymmetricTiles<T> tiles_of(const Matrix& A) {
  SymmetricTiles<T> out(A.rows());
  for (Index i = 0; i < out.tiles(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      for (Index r = 0; r < out.tile_rows(i); ++r) {
        for (Index c = 0; c < out.tile_rows(j); ++c)
          out.tile(i, j)[r * cholesky_tile + c] = static_cast<T>(A(i * cholesky_tile + r, j * cholesky_tile + c));
      }
    }
  }
  return out;
}

template <class T>
class SymmetricProduct : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SymmetricProduct, Types);

TYPED_TEST(SymmetricProduct, IsTheProductWithTheFullMatrix) {
  for (const Index n : {1, 255, 256, 257, 700}) {
    const Matrix A = symmetric(n);
    const auto tiles = tiles_of<TypeParam>(A);
    for (const Index k : {1, 3}) {
      const Matrix V = RandomStream(8).normal_matrix(n, k);
      // A row is a sum of n products of size about 2, each rounded a few times.
      const double bound = 40 * std::sqrt(static_cast<double>(n)) * std::numeric_limits<TypeParam>::epsilon();
      EXPECT_LE((symmetric_product(tiles, V) - A * V).cwiseAbs().maxCoeff(), bound) << n << " " << k;
    }
  }
}

TYPED_TEST(SymmetricProduct, IsTheSameToTheBitForAnyNumberOfThreads) {
  const auto tiles = tiles_of<TypeParam>(symmetric(900));
  const Matrix V = RandomStream(8).normal_matrix(900, 2);
  Matrix one;
  Matrix two;
  with_threads(1, [&] { one = symmetric_product(tiles, V); });
  with_threads(2, [&] { two = symmetric_product(tiles, V); });
  EXPECT_EQ(one, two);
}

TYPED_TEST(SymmetricProduct, ColumnsComeFromBothSidesOfTheDiagonal) {
  const Matrix A = symmetric(600).cast<TypeParam>().template cast<double>();
  const std::vector<Index> J{599, 0, 255, 256, 300, 0};
  EXPECT_EQ(symmetric_columns(tiles_of<TypeParam>(A), J), Matrix(A(Eigen::all, J)));
}

}  // namespace
}  // namespace mercer::linalg

// The tiled Cholesky against its definition, at sizes around tile edges.
// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/cholesky.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "mercer/error.hpp"

namespace mercer::linalg {
namespace {

const std::vector<Index> sizes{1, 2, 255, 256, 257, 512, 600, 777};

// A Gaussian Gram matrix of points on a line plus a ridge: dense, well conditioned, known at any size.
template <class T>
RowMatrix<T> test_matrix(Index n) {
  RowMatrix<T> A(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const double x = 0.37 * static_cast<double>(i - j);
      A(i, j) = static_cast<T>(std::exp(-x * x / 8) + (i == j ? 0.5 : 0.0));
    }
  }
  return A;
}

// Only the lower half is given; everything that does not count holds NaN.
template <class T>
SymmetricTiles<T> tiles_of(const RowMatrix<T>& A) {
  SymmetricTiles<T> out(A.rows());
  for (std::size_t i = 0; i < SymmetricTiles<T>::numbers(A.rows()); ++i) {
    if (A.rows() > 0) out.tile(0, 0)[i] = std::numeric_limits<T>::quiet_NaN();
  }
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      out.tile(i / cholesky_tile, j / cholesky_tile)[i % cholesky_tile * out.stride() + j % cholesky_tile] = A(i, j);
    }
  }
  return out;
}

template <class T>
Matrix lower_of(const SymmetricTiles<T>& L) {
  Matrix out = Matrix::Zero(L.size(), L.size());
  for (Index i = 0; i < L.size(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      out(i, j) = static_cast<double>(L.tile(i / cholesky_tile, j / cholesky_tile)[i % cholesky_tile * L.stride() + j % cholesky_tile]);
    }
  }
  return out;
}

template <class T>
class Cholesky : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Cholesky, Types);

TYPED_TEST(Cholesky, ReproducesTheMatrixAndSolves) {
  using T = TypeParam;
  const double eps = std::numeric_limits<T>::epsilon();
  for (const Index n : sizes) {
    SCOPED_TRACE(n);
    const RowMatrix<T> A = test_matrix<T>(n);
    const Matrix exact = A.template cast<double>();
    const double norm = exact.cwiseAbs().rowwise().sum().maxCoeff();
    SymmetricTiles<T> tiles = tiles_of(A);
    ASSERT_EQ(cholesky(tiles, {}), -1);
    const Matrix L = lower_of(tiles);
    ASSERT_TRUE(L.allFinite()) << "something outside the lower half was read";
    EXPECT_LE((L * L.transpose() - exact).cwiseAbs().maxCoeff(), static_cast<double>(n) * eps * exact.cwiseAbs().maxCoeff());
    for (const Index k : {0, 1, 2, 5}) {
      SCOPED_TRACE(k);
      const RowMatrix<T> B = RowMatrix<T>::Random(n, k);
      RowMatrix<T> X = B;
      cholesky_solve(tiles, X);
      if (k == 0) continue;
      const Matrix residual = exact * X.template cast<double>() - B.template cast<double>();
      EXPECT_LE(residual.cwiseAbs().maxCoeff(), static_cast<double>(n + 10) * eps * norm * X.cwiseAbs().maxCoeff());
    }
  }
}

TYPED_TEST(Cholesky, TheSameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  for (const Index n : {257, 777, 1100}) {
    const RowMatrix<T> A = test_matrix<T>(n);
    const RowMatrix<T> B = RowMatrix<T>::Random(n, 3);
    Matrix first;
    RowMatrix<T> first_X;
    for (const int threads : {1, 2, 3}) {
      SymmetricTiles<T> tiles = tiles_of(A);
      RowMatrix<T> X = B;
      with_threads(threads, [&] {
        ASSERT_EQ(cholesky(tiles, {}), -1);
        cholesky_solve(tiles, X);
      });
      if (threads == 1) {
        first = lower_of(tiles);
        first_X = X;
      }
      EXPECT_EQ(lower_of(tiles), first) << threads;
      EXPECT_EQ(X, first_X) << threads;
    }
  }
}

TYPED_TEST(Cholesky, NamesTheRowThatFailed) {
  using T = TypeParam;
  for (const Index n : {1, 5, 300, 600}) {
    for (const Index bad : {Index{0}, n / 2, n - 1, std::min<Index>(n - 1, 255), std::min<Index>(n - 1, 256)}) {
      for (const T value : {T{-1}, T{0}, std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", row " << bad << ", value " << value);
        RowMatrix<T> A = RowMatrix<T>::Identity(n, n);
        A(bad, bad) = value;
        SymmetricTiles<T> tiles = tiles_of(A);
        ASSERT_EQ(cholesky(tiles, {}), bad);
      }
    }
  }
  // Not positive definite by what stands beside the diagonal: the second of two equal rows.
  RowMatrix<T> twins = RowMatrix<T>::Identity(400, 400);
  twins(390, 3) = twins(3, 390) = 1;
  SymmetricTiles<T> tiles = tiles_of(twins);
  EXPECT_EQ(cholesky(tiles, {}), 390);
}

TYPED_TEST(Cholesky, AddToDiagonal) {
  using T = TypeParam;
  const RowMatrix<T> A = test_matrix<T>(300);
  SymmetricTiles<T> tiles = tiles_of(A);
  tiles.add_to_diagonal(0.25);
  Matrix wanted =
      (A + static_cast<T>(0.25) * RowMatrix<T>::Identity(300, 300)).template cast<double>().template triangularView<Eigen::Lower>();
  EXPECT_EQ(lower_of(tiles), wanted);
}

TEST(CholeskyEdges, NothingToDo) {
  SymmetricTiles<double> empty(0);
  EXPECT_EQ(cholesky(empty, {}), -1);
  Matrix B(0, 3);
  EXPECT_NO_THROW(cholesky_solve(empty, B));
  EXPECT_EQ(SymmetricTiles<double>::bytes(0), 0U);
  EXPECT_EQ(SymmetricTiles<float>::bytes(257), 3U * 256 * 256 * 4);
}

TEST(CholeskyEdges, RightHandSideOfTheWrongSize) {
  SymmetricTiles<double> tiles = tiles_of<double>(test_matrix<double>(3));
  ASSERT_EQ(cholesky(tiles, {}), -1);
  Matrix B = Matrix::Zero(4, 1);
  EXPECT_THROW(cholesky_solve(tiles, B), InvalidArgument);
}

TEST(CholeskyEdges, CancelledThroughProgress) {
  // Long enough for the callback, which comes every 50 ms.
  const Index n = 4096;
  SymmetricTiles<double> tiles(n);
  std::fill_n(tiles.tile(0, 0), SymmetricTiles<double>::numbers(n), 0.0);
  tiles.add_to_diagonal(1);
  int calls = 0;
  std::string stage;
  const auto stop = [&](const ProgressEvent& event) {
    ++calls;
    stage = event.stage;
    EXPECT_GE(event.fraction, 0);
    EXPECT_LE(event.fraction, 1);
    return false;
  };
  with_threads(1, [&] { EXPECT_THROW(cholesky(tiles, stop), Cancelled); });
  EXPECT_EQ(calls, 1) << "asked again after it said stop";
  EXPECT_EQ(stage, "Cholesky");
}

}  // namespace
}  // namespace mercer::linalg

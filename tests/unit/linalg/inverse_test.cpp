// The tiled inverse and its companions against their definitions and against Eigen, at sizes around tile edges.
// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/inverse.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "mercer/error.hpp"
#include "unit/core/support.hpp"

namespace mercer::linalg {
namespace {

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
  for (std::size_t i = 0; i < SymmetricTiles<T>::numbers(A.rows()); ++i) out.tile(0, 0)[i] = std::numeric_limits<T>::quiet_NaN();
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j <= i; ++j)
      out.tile(i / cholesky_tile, j / cholesky_tile)[i % cholesky_tile * out.stride() + j % cholesky_tile] = A(i, j);
  }
  return out;
}

template <class T>
Matrix symmetric_of(const SymmetricTiles<T>& A) {
  Matrix out(A.size(), A.size());
  for (Index i = 0; i < A.size(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      out(i, j) = static_cast<double>(A.tile(i / cholesky_tile, j / cholesky_tile)[i % cholesky_tile * A.stride() + j % cholesky_tile]);
      out(j, i) = out(i, j);
    }
  }
  return out;
}

template <class T>
class Inverse : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Inverse, Types);

TYPED_TEST(Inverse, TimesTheMatrixIsTheIdentity) {
  using T = TypeParam;
  const double eps = std::numeric_limits<T>::epsilon();
  for (const Index n : {1, 2, 255, 256, 257, 777}) {
    SCOPED_TRACE(n);
    const RowMatrix<T> A = test_matrix<T>(n);
    const Matrix exact = A.template cast<double>();
    SymmetricTiles<T> tiles = tiles_of(A);
    ASSERT_EQ(cholesky(tiles, {}), -1);
    const Eigen::LLT<Matrix> factor(exact);
    // Backward stable to n eps |A| |A^-1|; |A^-1| <= 2 by the ridge.
    const double norm = exact.cwiseAbs().rowwise().sum().maxCoeff();
    // d log det = <A^-1, E>, |E| a few eps |A|.
    EXPECT_NEAR(log_determinant(tiles), 2 * Matrix(factor.matrixL()).diagonal().array().log().sum(),
                static_cast<double>(n) * eps * 2 * norm);
    const Matrix L = factor.matrixL();
    const Matrix C = Matrix::Random(n, 2);
    EXPECT_LE((lower_multiply(tiles, C) - L * C).cwiseAbs().maxCoeff(), 20 * eps * norm);
    symmetric_inverse(tiles, {});
    const Matrix inverse = symmetric_of(tiles);
    ASSERT_TRUE(inverse.allFinite()) << "something outside the lower half was read";
    EXPECT_LE((inverse * exact - Matrix::Identity(n, n)).cwiseAbs().maxCoeff(), 40 * eps * norm * 2);
    EXPECT_LE((inverse - factor.solve(Matrix::Identity(n, n))).cwiseAbs().maxCoeff(), 40 * eps * norm * 4);
    EXPECT_EQ(diagonal_of(tiles), inverse.diagonal());
    const Vector c = Vector::Random(n);
    const Matrix sandwich = symmetric_of(symmetric_sandwich(tiles, c, {}));
    EXPECT_LE((sandwich - inverse * c.asDiagonal() * inverse).cwiseAbs().maxCoeff(), 40 * eps * 16);
    const Matrix B = Matrix::Random(n, 3);
    EXPECT_LE((symmetric_multiply(tiles, B) - inverse * B).cwiseAbs().maxCoeff(), 40 * eps * 4);
  }
}

TYPED_TEST(Inverse, TheSameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  const Index n = 800;
  const RowMatrix<T> A = test_matrix<T>(n);
  const Matrix B = Matrix::Random(n, 2);
  Matrix first;
  Matrix first_product;
  for (const int threads : {1, 2, 3}) {
    SymmetricTiles<T> tiles = tiles_of(A);
    Matrix product;
    with_threads(threads, [&] {
      ASSERT_EQ(cholesky(tiles, {}), -1);
      symmetric_inverse(tiles, {});
      product = symmetric_multiply(tiles, B);
    });
    if (threads == 1) {
      first = symmetric_of(tiles);
      first_product = product;
    }
    EXPECT_EQ(symmetric_of(tiles), first) << threads;
    EXPECT_EQ(product, first_product) << threads;
  }
}

TYPED_TEST(Inverse, HalfASolveSquaresToAWholeOne) {
  using T = TypeParam;
  const double eps = std::numeric_limits<T>::epsilon();
  for (const Index n : {1, 256, 600}) {
    const RowMatrix<T> A = test_matrix<T>(n);
    SymmetricTiles<T> tiles = tiles_of(A);
    ASSERT_EQ(cholesky(tiles, {}), -1);
    RowMatrix<T> rows = RowMatrix<T>::Random(5, n + 3);  // with a stride of its own
    const Matrix B = rows.leftCols(n).template cast<double>();
    const Matrix wanted = B * A.template cast<double>().llt().solve(B.transpose());
    half_solve_rows(tiles, rows.data(), 5, n + 3);
    const Matrix half = rows.leftCols(n).template cast<double>();
    EXPECT_LE((half * half.transpose() - wanted).cwiseAbs().maxCoeff(), 20 * eps * static_cast<double>(n)) << n;
  }
}

TEST(InverseEdges, NothingAndWrongSizes) {
  SymmetricTiles<double> empty(0);
  EXPECT_NO_THROW(symmetric_inverse(empty, {}));
  EXPECT_EQ(log_determinant(empty), 0);
  SymmetricTiles<double> tiles = tiles_of<double>(test_matrix<double>(3));
  EXPECT_THROW(symmetric_multiply(tiles, Matrix::Zero(2, 1)), InvalidArgument);
}

TEST(InverseEdges, CanBeCancelled) {
  SymmetricTiles<double> tiles = tiles_of<double>(test_matrix<double>(600));
  ASSERT_EQ(cholesky(tiles, {}), -1);
  const ProgressCallback stop = [](const ProgressEvent&) { return false; };
  mercer::testing::on_new_thread([&] { EXPECT_THROW(symmetric_inverse(tiles, stop), Cancelled); });
}

}  // namespace
}  // namespace mercer::linalg

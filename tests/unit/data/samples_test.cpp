// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

// Every third entry of a random matrix, so that some rows are empty and some columns too.
Matrix speckled(Index rows, Index cols) {
  Matrix m = RandomStream(9).normal_matrix(rows, cols);
  for (Index i = 0; i < m.size(); ++i) {
    if (i % 3 != 0 || (i / cols) % 4 == 3) m.data()[i] = 0;
  }
  return m;
}

CsrMatrix<double> sparse(const Matrix& m) { return m.sparseView(); }

TEST(Samples, OfEigenKeepTheNumbers) {
  const Matrix m = RandomStream(1).normal_matrix(5, 3);
  const Samples X = m;
  EXPECT_EQ(X.size(), 5);
  EXPECT_EQ(X.width(), 3);
  EXPECT_FALSE(X.is_sparse());
  EXPECT_EQ(X.precision(), Precision::float64);
  EXPECT_EQ(X.to_dense(), m);

  const Eigen::MatrixXd by_columns = m;  // column-major
  EXPECT_EQ(Samples(by_columns).to_dense(), m);
  EXPECT_EQ(Samples(m.block(1, 1, 3, 2)).to_dense(), m.block(1, 1, 3, 2));
  EXPECT_EQ(Samples(2 * m).to_dense(), 2 * m);

  const MatrixF f = m.cast<float>();
  EXPECT_EQ(Samples(f).precision(), Precision::float32);
  EXPECT_EQ(Samples(f).to_dense(), f.cast<double>());
  EXPECT_EQ(Samples(Eigen::MatrixXi::Constant(2, 2, 7)).to_dense(), Matrix::Constant(2, 2, 7)) << "whole numbers become float64";
}

TEST(Samples, OfVectors) {
  const Samples column = Vector(Vector::LinSpaced(4, 0, 3));
  EXPECT_EQ(column.size(), 4);
  EXPECT_EQ(column.width(), 1);
  const Samples row = Eigen::RowVector3d(1, 2, 3);
  EXPECT_EQ(row.size(), 1);
  EXPECT_EQ(row.width(), 3);
}

TEST(Samples, OfSparseRowsKeepTheNumbers) {
  const Matrix m = speckled(9, 7);
  const Samples X = sparse(m);
  EXPECT_TRUE(X.is_sparse());
  EXPECT_EQ(X.size(), 9);
  EXPECT_EQ(X.width(), 7);
  EXPECT_EQ(X.to_dense(), m);
  const CsrMatrix<float> f = sparse(m).cast<float>();
  EXPECT_EQ(Samples(f).precision(), Precision::float32);
  EXPECT_EQ(Samples(f).to_dense(), m.cast<float>().cast<double>());

  CsrMatrix<double> loose = sparse(m);  // not compressed: gaps between rows
  loose.uncompress();
  loose.reserve(Eigen::VectorXi::Constant(9, 5));
  EXPECT_EQ(Samples(loose).to_dense(), m);
}

TEST(Samples, EmptyOnesHaveNoRows) {
  const Samples none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.width(), 0);
  EXPECT_EQ(none.to_dense().size(), 0);
  EXPECT_EQ(none.slice(0, 0).size(), 0);
  EXPECT_EQ(Samples(Matrix(0, 4)).width(), 4);
  none.for_each_chunk(3, [](const Samples&, Index) { FAIL(); });
}

TEST(Samples, SubsetCopiesRowsInTheGivenOrder) {
  const Matrix m = speckled(8, 5);
  const std::vector<Index> rows{7, 0, 0, 3};
  for (const Samples& X : {Samples(m), Samples(sparse(m)), Samples(MatrixF(m.cast<float>()))}) {
    const Samples part = X.subset(rows);
    EXPECT_EQ(part.is_sparse(), X.is_sparse());
    EXPECT_EQ(part.precision(), X.precision());
    EXPECT_EQ(part.to_dense(), X.to_dense()(rows, Eigen::all));
    EXPECT_EQ(X.subset(std::vector<Index>{}).size(), 0);
    EXPECT_EQ(X.subset(std::vector<Index>{}).width(), 5);
    EXPECT_EQ(message_of<InvalidArgument>([&] { X.subset(std::vector<Index>{2, 8}); }), "row 8 does not exist: there are 8 rows");
    EXPECT_THROW(X.subset(std::vector<Index>{-1}), InvalidArgument);
  }
}

TEST(Samples, SliceSharesRows) {
  const Matrix m = speckled(8, 5);
  for (const Samples& X : {Samples(m), Samples(sparse(m))}) {
    const Samples part = X.slice(2, 4);
    EXPECT_EQ(part.to_dense(), m.middleRows(2, 4));
    EXPECT_EQ(part.slice(1, 2).to_dense(), m.middleRows(3, 2)) << "a slice of a slice";
    EXPECT_EQ(part.subset(std::vector<Index>{3}).to_dense(), m.row(5));
    EXPECT_TRUE(part.same_rows(X.slice(2, 4)));
    EXPECT_FALSE(part.same_rows(X.slice(3, 4)));
    EXPECT_EQ(X.slice(8, 0).size(), 0);
    EXPECT_THROW(X.slice(-1, 2), InvalidArgument);
    EXPECT_THROW(X.slice(9, 0), InvalidArgument);
    EXPECT_THROW(X.slice(1, std::numeric_limits<Index>::max()), InvalidArgument) << "no overflow";
    EXPECT_EQ(message_of<InvalidArgument>([&] { X.slice(5, 4); }), "4 rows from row 5 do not exist: there are 8 rows");
  }
}

TEST(Samples, RowsOutliveTheirMakers) {
  Samples part;
  {
    const Samples X = Matrix(Matrix::Constant(100, 100, 3));
    part = X.slice(50, 2);
  }
  EXPECT_EQ(part.to_dense(), Matrix::Constant(2, 100, 3));
}

TEST(Samples, SameRowsMeansTheSameMemory) {
  const Matrix m = speckled(6, 3);
  const Samples X = m;
  const Samples copy = X;
  EXPECT_TRUE(X.same_rows(copy));
  EXPECT_FALSE(X.same_rows(Samples(m))) << "equal numbers elsewhere are another set";
  EXPECT_FALSE(X.same_rows(Samples(sparse(m))));
  EXPECT_FALSE(X.same_rows(X.slice(0, 5)));
}

TEST(Samples, BorrowedRowsMayHaveAStride) {
  const std::vector<double> memory{1, 2, -1, 3, 4, -1};
  const Samples X = Samples::borrow(DenseRows<double>{memory.data(), 2, 2, 3}, nullptr);
  EXPECT_EQ(X.to_dense(), (Matrix(2, 2) << 1, 2, 3, 4).finished());
  EXPECT_EQ(X.subset(std::vector<Index>{1}).to_dense(), (Matrix(1, 2) << 3, 4).finished());
  EXPECT_NO_THROW(require_finite(X, "X"));
}

TEST(Samples, ChunksCoverTheRowsInOrder) {
  const Matrix m = speckled(10, 4);
  for (const Samples& X : {Samples(m), Samples(sparse(m))}) {
    for (const Index size : {1, 3, 10, 99}) {
      Matrix seen(0, 4);
      Index next = 0;
      X.for_each_chunk(size, [&](const Samples& chunk, Index first) {
        EXPECT_EQ(first, next);
        EXPECT_LE(chunk.size(), size);
        next += chunk.size();
        seen.conservativeResize(next, 4);
        seen.bottomRows(chunk.size()) = chunk.to_dense();
      });
      EXPECT_EQ(seen, m);
    }
  }
  EXPECT_EQ(message_of<InvalidArgument>([&] { Samples(m).for_each_chunk(0, [](const Samples&, Index) {}); }),
            "a chunk must have at least 1 row, got 0");
}

TEST(Samples, ConcatenationKeepsRowsAndTheWiderKind) {
  Matrix a(2, 3);
  a << 1, 0, 2, 0, 0, 3;
  const Matrix b = Matrix::Constant(1, 3, 0.1);
  const CsrMatrix<double> sparse_a = a.sparseView();
  const MatrixF single_a = a.cast<float>();
  const CsrMatrix<float> single_sparse_a = CsrMatrix<float>(sparse_a.cast<float>());
  Matrix both(3, 3);
  both << a, b;
  for (const Samples& first : {Samples(a), Samples(single_a), Samples(sparse_a), Samples(single_sparse_a)}) {
    const Samples joined = concatenate(first, b);
    EXPECT_EQ(joined.to_dense(), both);
    EXPECT_EQ(joined.is_sparse(), first.is_sparse());
    EXPECT_EQ(joined.precision(), Precision::float64);
    EXPECT_EQ(concatenate(b, first).to_dense().bottomRows(2), a);
    EXPECT_EQ(concatenate(first.slice(1, 1), first).precision(), first.precision());
    EXPECT_EQ(concatenate(first.slice(1, 1), first).to_dense().topRows(2).row(0), a.row(1));
    EXPECT_EQ(concatenate(first.slice(0, 0), first).to_dense(), a);
  }
  EXPECT_TRUE(concatenate(single_a, single_sparse_a).is_sparse());
  EXPECT_EQ(concatenate(single_a, single_sparse_a).precision(), Precision::float32);
  EXPECT_THROW(concatenate(a, Matrix::Ones(1, 2)), InvalidArgument);
}

TEST(RequireFinite, NamesTheFirstBadValue) {
  Matrix m = Matrix::Ones(4, 6);
  EXPECT_NO_THROW(require_finite(Samples(m), "X"));
  EXPECT_NO_THROW(require_finite(m, "y"));
  m(3, 5) = nan;
  m(3, 4) = -inf;
  const std::string remedy = " (counting from 0); remove the row or fill the value in";
  EXPECT_EQ(message_of<InvalidArgument>([&] { require_finite(Samples(m), "X"); }), "X has an infinite value in row 3, column 4" + remedy);
  EXPECT_EQ(message_of<InvalidArgument>([&] { require_finite(m, "y"); }), "y has an infinite value in row 3, column 4" + remedy);
  EXPECT_EQ(message_of<InvalidArgument>([&] { require_finite(Samples(MatrixF(m.cast<float>())), "X"); }),
            "X has an infinite value in row 3, column 4" + remedy);
  Matrix zeros = Matrix::Zero(4, 6);
  zeros(1, 2) = nan;
  EXPECT_EQ(message_of<InvalidArgument>([&] { require_finite(Samples(sparse(zeros)), "X"); }), "X has a NaN in row 1, column 2" + remedy);
}

}  // namespace
}  // namespace mercer

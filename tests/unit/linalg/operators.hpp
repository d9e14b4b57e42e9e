// Operators to test with, and one check that compares everything an operator answers with a plain matrix.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <mutex>
#include <numeric>
#include <set>

#include "mercer/error.hpp"
#include "mercer/linear_operator.hpp"
#include "mercer/run.hpp"

namespace mercer {

inline Matrix random_matrix(Index rows, Index cols, unsigned seed = 1) {
  std::srand(seed);
  return Matrix::Random(rows, cols);
}

inline Matrix random_symmetric(Index n, unsigned seed = 1) {
  const Matrix A = random_matrix(n, n, seed);
  return A + A.transpose();
}

// Refuses blocks and rows like a streamed Gram matrix does, and cuts tiles of its own size. The tile memory dies with the visit.
template <class T>
class StreamedTwin final : public LinearOperator {
 public:
  explicit StreamedTwin(const Matrix& values)
      : values_(values.cast<T>().template cast<double>()), symmetric_(values.rows() == values.cols() && values_ == values_.transpose()) {}

  Index rows() const override { return values_.rows(); }
  Index cols() const override { return values_.cols(); }
  bool symmetric() const override { return symmetric_; }
  Precision precision() const override { return precision_of<T>; }
  Vector diagonal() const override { return values_.diagonal(); }
  Matrix block(std::span<const Index>, std::span<const Index>) const override { throw NotOffered("twin: no blocks"); }
  RowBlock row_block(Index, Index) const override { throw NotOffered("twin: no rows"); }
  Matrix apply(const MatrixRef& V) const override { return values_.lazyProduct(V); }
  Matrix apply_transpose(const MatrixRef& U) const override { return values_.transpose().lazyProduct(U); }
  void for_each_tile(const std::function<void(const TileView&)>& visit) const override {
    constexpr Index edge = 100;
    std::vector<std::pair<Index, Index>> corners;
    for (Index j = 0; j < cols(); j += edge) {  // by columns: another order than Mercer's own
      for (Index i = 0; i < rows() && (!symmetric_ || i <= j); i += edge) corners.emplace_back(i, j);
    }
    parallel_for(std::ssize(corners), [&](Index number) {
      const auto [i, j] = corners[static_cast<std::size_t>(number)];
      const RowMatrix<T> tile = values_.block(i, j, std::min(edge, rows() - i), std::min(edge, cols() - j)).template cast<T>();
      visit({number, i, j, tile.rows(), tile.cols(), tile.cols(), tile.data()});
    });
  }
  Index tile_count() const override {
    const auto bands = [](Index n) { return (n + 99) / 100; };
    return symmetric_ ? bands(rows()) * (bands(rows()) + 1) / 2 : bands(rows()) * bands(cols());
  }
  std::string describe() const override { return "twin"; }
  const Matrix& values() const { return values_; }

 private:
  Matrix values_;
  bool symmetric_;
};

// A stored operator in float32, to see what views do with it.
class FloatTwin final : public LinearOperator {
 public:
  explicit FloatTwin(const Matrix& values)
      : values_(values.cast<float>()), dense_(dense_operator(values_.cast<double>())), streamed_(values_.cast<double>()) {}
  Index rows() const override { return dense_->rows(); }
  Index cols() const override { return dense_->cols(); }
  bool symmetric() const override { return dense_->symmetric(); }
  Precision precision() const override { return Precision::float32; }
  Vector diagonal() const override { return dense_->diagonal(); }
  Matrix block(std::span<const Index> I, std::span<const Index> J) const override { return dense_->block(I, J); }
  RowBlock row_block(Index first, Index) const override { return {values_.data() + first * cols(), cols(), nullptr}; }
  Matrix apply(const MatrixRef& V) const override { return dense_->apply(V); }
  Matrix apply_transpose(const MatrixRef& U) const override { return dense_->apply_transpose(U); }
  void for_each_tile(const std::function<void(const TileView&)>& visit) const override { streamed_.for_each_tile(visit); }
  Index tile_count() const override { return streamed_.tile_count(); }
  std::string describe() const override { return "float twin"; }

 private:
  MatrixF values_;
  Operator dense_;
  StreamedTwin<float> streamed_;
};

struct Tiles {
  Matrix values;
  Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic> visits;
};

inline Tiles assembled(const LinearOperator& op) {
  Tiles out{Matrix::Zero(op.rows(), op.cols()), Eigen::MatrixXi::Zero(op.rows(), op.cols())};
  std::mutex guard;
  std::set<Index> numbers;
  op.for_each_tile([&](const TileView& t) {
    const std::lock_guard lock(guard);
    EXPECT_TRUE(numbers.insert(t.number).second) << "tile number " << t.number << " came twice";
    EXPECT_GE(t.number, 0);
    EXPECT_LT(t.number, op.tile_count());
    EXPECT_EQ(std::holds_alternative<const float*>(t.values), op.precision() == Precision::float32);
    EXPECT_TRUE(!op.symmetric() || t.row <= t.col) << "a tile below the diagonal of a symmetric operator";
    for (Index i = 0; i < t.rows; ++i) {
      for (Index j = 0; j < t.cols; ++j) {
        out.values(t.row + i, t.col + j) = t(i, j);
        ++out.visits(t.row + i, t.col + j);
        if (!op.symmetric() || t.on_diagonal()) continue;
        out.values(t.col + j, t.row + i) = t(i, j);
        ++out.visits(t.col + j, t.row + i);
      }
    }
  });
  return out;
}

inline void expect_near(const Matrix& got, const Matrix& wanted, double tolerance, const char* what) {
  ASSERT_EQ(got.rows(), wanted.rows()) << what;
  ASSERT_EQ(got.cols(), wanted.cols()) << what;
  if (got.size() == 0) return;
  EXPECT_LE((got - wanted).cwiseAbs().maxCoeff(), tolerance) << what;
}

inline Matrix values_of(const RowBlock& block, Index rows, Index cols) {
  Matrix out(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j)
      out(i, j) = std::visit([&](auto* v) { return static_cast<double>(v[i * block.stride + j]); }, block.values);
  }
  return out;
}

// Everything `op` says, against the matrix K that it stands for.
inline void expect_operator(const LinearOperator& op, const Matrix& K, bool symmetric, bool entries = true) {
  SCOPED_TRACE(op.describe());
  ASSERT_EQ(op.rows(), K.rows());
  ASSERT_EQ(op.cols(), K.cols());
  EXPECT_EQ(op.symmetric(), symmetric);
  const double size = K.size() == 0 ? 0 : K.cwiseAbs().maxCoeff();
  const double eps = std::numeric_limits<double>::epsilon();
  // An entry is made by a handful of roundings of terms a few times its matrix' size; float tiles round once more.
  const double entry = 50 * eps * size;
  const double stored = entry + (op.precision() == Precision::float32 ? 1e-7 * size : 0);

  for (const Index k : {0, 1, 3}) {
    const Matrix V = random_matrix(K.cols(), k, 5);
    const Matrix U = random_matrix(K.rows(), k, 6);
    const double depth = static_cast<double>(std::max(K.rows(), K.cols()) + 50);
    expect_near(op.apply(V), K * V, depth * entry, "apply");
    expect_near(op.apply_transpose(U), K.transpose() * U, depth * entry, "apply_transpose");
    const Vector w = random_matrix(K.rows(), 1, 7).col(0);
    const double normal = depth * depth * entry * size;
    expect_near(op.apply_normal(V, w), K.transpose() * (w.asDiagonal() * (K * V)), normal, "apply_normal");
    expect_near(op.apply_normal(V, Vector()), K.transpose() * (K * V), normal, "apply_normal without weights");
  }

  if (entries) {
    expect_near(op.diagonal(), K.diagonal(), entry, "diagonal");
    std::vector<Index> I;
    std::vector<Index> J;
    for (Index i = K.rows() - 1; i >= 0; i -= 3) I.push_back(i);
    for (Index j = 0; j < K.cols(); j += 2) J.push_back(j), J.push_back(j / 2);
    expect_near(op.block(I, J), K(I, J), entry, "block");
    const Index first = K.rows() / 3;
    const Index count = K.rows() - first - (K.rows() > 3 ? 1 : 0);
    expect_near(values_of(op.row_block(first, count), count, K.cols()), K.middleRows(first, count), stored, "row_block");
    expect_near(op.block(I, {}), Matrix(std::ssize(I), 0), 0, "empty block");
    EXPECT_TRUE(!symmetric || op.block(I, J) == Matrix(op.block(J, I).transpose())) << "symmetric, but not to the bit";
  }

  const Tiles tiles = assembled(op);
  EXPECT_TRUE((tiles.visits.array() == 1).all()) << "some entry is in no tile, or in two";
  expect_near(tiles.values, K, stored, "tiles");
}

}  // namespace mercer

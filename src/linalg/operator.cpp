// A plain matrix as an operator, and what all operators inherit.
// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>

#include "linalg/blas.hpp"
#include "linalg/tiling.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

using linalg::TileGrid;

bool exactly_symmetric(const Matrix& values) {
  if (values.rows() != values.cols()) return false;
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (values(i, j) != values(j, i)) return false;
    }
  }
  return true;
}

class DenseOperator final : public LinearOperator {
 public:
  explicit DenseOperator(Matrix values)
      : values_(std::make_shared<const Matrix>(std::move(values))), grid_{values_->rows(), values_->cols(), exactly_symmetric(*values_)} {}

  Index rows() const override { return grid_.rows; }
  Index cols() const override { return grid_.cols; }
  bool symmetric() const override { return grid_.symmetric; }
  Precision precision() const override { return Precision::float64; }

  Vector diagonal() const override { return values_->diagonal(); }

  Matrix block(std::span<const Index> I, std::span<const Index> J) const override {
    linalg::require_block(*this, I, J);
    Matrix out(std::ssize(I), std::ssize(J));
    for (std::size_t a = 0; a < I.size(); ++a) {
      for (std::size_t b = 0; b < J.size(); ++b) out(static_cast<Index>(a), static_cast<Index>(b)) = (*values_)(I[a], J[b]);
    }
    return out;
  }

  RowBlock row_block(Index first, Index count) const override {
    linalg::require_row_range(*this, first, count);
    return {values_->data() + first * cols(), cols(), values_};
  }

  Matrix apply(const MatrixRef& V) const override {
    linalg::require_rows("V", V.rows(), cols());
    return product(false, V, rows(), cols());
  }
  Matrix apply_transpose(const MatrixRef& U) const override {
    linalg::require_rows("U", U.rows(), rows());
    return product(!symmetric(), U, cols(), rows());
  }

  void for_each_tile(const std::function<void(const TileView&)>& visit) const override {
    parallel_for(grid_.count(), [&](Index number) {
      const auto [row, col, tile_rows, tile_cols] = grid_[number];
      visit({number, row, col, tile_rows, tile_cols, cols(), values_->data() + row * cols() + col});
    });
  }
  Index tile_count() const override { return grid_.count(); }

  std::string describe() const override {
    const double bytes = static_cast<double>(values_->size()) * sizeof(double);
    return fmt::format("{} x {} in float64, stored ({})", rows(), cols(), format_bytes(bytes));
  }

 private:
  // op(K) V, one band of answers a task.
  Matrix product(bool transposed, const MatrixRef& V, Index n, Index depth) const {
    Matrix out = Matrix::Zero(n, V.cols());
    if (out.size() == 0 || depth == 0) return out;
    parallel_for(TileGrid::bands(n), [&](Index band) {
      const Index first = band * TileGrid::edge;
      const Index count = std::min(TileGrid::edge, n - first);
      const double* a = values_->data() + (transposed ? first : first * cols());
      linalg::gemm_n(transposed, count, V.cols(), depth, 1.0, a, cols(), V.data(), V.outerStride(), 0.0, out.row(first).data(), V.cols());
    });
    return out;
  }

  std::shared_ptr<const Matrix> values_;
  TileGrid grid_;
};

}  // namespace

Matrix LinearOperator::apply_normal(const MatrixRef& V, const VectorRef& weights) const {
  if (weights.size() != 0) linalg::require_rows("weights", weights.size(), rows());
  Matrix U = apply(V);
  if (weights.size() != 0) U.array().colwise() *= weights.array();
  return apply_transpose(U);
}

Vector LinearOperator::gradient_inner(const MatrixRef&) const {
  throw NotOffered("this operator knows no kernel parameters: gradients are offered by gram_operator and views of it");
}

Operator dense_operator(Matrix values) {
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) {
      if (!std::isfinite(values(i, j)))
        throw InvalidArgument(
            fmt::format("entry ({}, {}) of a matrix used as an operator must be a finite number, got {}", i, j, values(i, j)));
    }
  }
  return std::make_shared<DenseOperator>(std::move(values));
}

double sum_tiles(const LinearOperator& op, const std::function<double(const TileView&)>& value) {
  std::vector<double> parts(static_cast<std::size_t>(op.tile_count()), 0.0);
  op.for_each_tile([&](const TileView& tile) { parts[static_cast<std::size_t>(tile.number)] = value(tile); });
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

}  // namespace mercer

// Rows and columns picked from another operator: folds, pairs of classes, bootstrap samples (an index may come more than once).
//
// Method: where the base gives blocks, everything is made of blocks of 256 x 256 picked entries, so a small subset costs what it is worth.
// Where it does not (streamed), products go through the full length: V is scattered, K applied, the picked rows kept; tiles and blocks
// are refused.
// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/blas.hpp"
#include "linalg/tiling.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

using linalg::TileGrid;

class SubsetView final : public LinearOperator {
 public:
  SubsetView(Operator base, std::vector<Index> row_indices, std::vector<Index> col_indices)
      : base_(std::move(base)),
        rows_(std::move(row_indices)),
        cols_(std::move(col_indices)),
        grid_{std::ssize(rows_), std::ssize(cols_), base_->symmetric() && rows_ == cols_},
        has_blocks_(gives_blocks()) {}

  Index rows() const override { return grid_.rows; }
  Index cols() const override { return grid_.cols; }
  bool symmetric() const override { return grid_.symmetric; }
  Precision precision() const override { return base_->precision(); }

  Vector diagonal() const override {
    const Index n = std::min(rows(), cols());
    Vector out(n);
    if (base_->rows() == base_->cols() && rows_ == cols_) {
      const Vector whole = base_->diagonal();
      for (Index i = 0; i < n; ++i) out[i] = whole[row(i)];
    } else {
      for (Index i = 0; i < n; ++i) out[i] = picked(i, 1, i, 1)(0, 0);
    }
    return out;
  }

  Matrix block(std::span<const Index> I, std::span<const Index> J) const override {
    linalg::require_block(*this, I, J);
    require_blocks();
    const auto through = [](std::span<const Index> indices, const std::vector<Index>& map) {
      std::vector<Index> out;
      out.reserve(indices.size());
      for (const Index i : indices) out.push_back(map[static_cast<std::size_t>(i)]);
      return out;
    };
    return base_->block(through(I, rows_), through(J, cols_));
  }

  RowBlock row_block(Index first, Index count) const override {
    linalg::require_row_range(*this, first, count);
    const Matrix values = picked(first, count, 0, cols());
    return linalg::with_type_of(precision(), [&]<class T>(T) {
      std::shared_ptr<T[]> copy(new T[static_cast<std::size_t>(values.size())]);
      std::transform(values.data(), values.data() + values.size(), copy.get(), [](double v) { return static_cast<T>(v); });
      return linalg::pinned(std::move(copy), cols());
    });
  }

  Matrix apply(const MatrixRef& V) const override {
    linalg::require_rows("V", V.rows(), cols());
    if (has_blocks_) return product(false, V, rows(), cols());
    return gather(base_->apply(scatter(V, cols_, base_->cols())), rows_);
  }
  Matrix apply_transpose(const MatrixRef& U) const override {
    linalg::require_rows("U", U.rows(), rows());
    if (has_blocks_) return product(true, U, cols(), rows());
    return gather(base_->apply_transpose(scatter(U, rows_, base_->rows())), cols_);
  }

  Vector gradient_inner(const MatrixRef& W) const override {
    linalg::require_weights(*this, W);
    Matrix whole = Matrix::Zero(base_->rows(), base_->cols());
    for (Index i = 0; i < rows(); ++i) {
      for (Index j = 0; j < cols(); ++j) whole(row(i), cols_[static_cast<std::size_t>(j)]) += W(i, j);
    }
    return base_->gradient_inner(whole);
  }

  void for_each_tile(const std::function<void(const TileView&)>& visit) const override {
    require_blocks();
    parallel_for(grid_.count(), [&](Index number) {
      const auto [row, col, tile_rows, tile_cols] = grid_[number];
      const Matrix values = picked(row, tile_rows, col, tile_cols);
      TileView tile{number, row, col, tile_rows, tile_cols, tile_cols, values.data()};
      if (precision() == Precision::float64) return visit(tile);
      const MatrixF rounded = values.cast<float>();  // exact where the base stores floats
      tile.values = rounded.data();
      visit(tile);
    });
  }
  Index tile_count() const override { return grid_.count(); }

  std::string describe() const override { return fmt::format("{} x {} out of {}", rows(), cols(), base_->describe()); }

  // A subset of a subset looks at the base directly.
  static Operator make(Operator op, std::vector<Index> rows, std::vector<Index> cols) {
    linalg::require_block(*op, rows, cols, "subset: ");
    if (const auto* inner = dynamic_cast<const SubsetView*>(op.get())) {
      for (Index& i : rows) i = inner->row(i);
      for (Index& j : cols) j = inner->cols_[static_cast<std::size_t>(j)];
      op = inner->base_;
    }
    return std::make_shared<SubsetView>(std::move(op), std::move(rows), std::move(cols));
  }

 private:
  Index row(Index i) const { return rows_[static_cast<std::size_t>(i)]; }

  bool gives_blocks() const {
    if (rows_.empty() || cols_.empty()) return true;
    try {
      base_->block(std::span(rows_).first(1), std::span(cols_).first(1));
      return true;
    } catch (const NotOffered&) {
      return false;
    }
  }

  void require_blocks() const {
    if (!has_blocks_)
      throw NotOffered(
          fmt::format("a subset of an operator that is not stored ({}) gives no entries; store it, or make the operator from "
                      "the subset of the samples",
                      base_->describe()));
  }

  Matrix picked(Index first_row, Index row_count, Index first_col, Index col_count) const {
    require_blocks();
    return base_->block(std::span(rows_).subspan(static_cast<std::size_t>(first_row), static_cast<std::size_t>(row_count)),
                        std::span(cols_).subspan(static_cast<std::size_t>(first_col), static_cast<std::size_t>(col_count)));
  }

  // Each band of answers adds its blocks in one fixed order.
  Matrix product(bool transposed, const MatrixRef& V, Index n, Index depth) const {
    Matrix out = Matrix::Zero(n, V.cols());
    if (out.size() == 0) return out;
    parallel_for(TileGrid::bands(n), [&](Index band) {
      const Index first = band * TileGrid::edge;
      const Index count = std::min(TileGrid::edge, n - first);
      for (Index at = 0; at < depth; at += TileGrid::edge) {
        const Index length = std::min(TileGrid::edge, depth - at);
        const Matrix values = transposed ? picked(at, length, first, count) : picked(first, count, at, length);
        linalg::gemm_n(transposed, count, V.cols(), length, 1.0, values.data(), values.cols(), V.row(at).data(), V.outerStride(), 1.0,
                       out.row(first).data(), out.cols());
      }
    });
    return out;
  }

  static Matrix scatter(const MatrixRef& V, const std::vector<Index>& to, Index n) {
    Matrix out = Matrix::Zero(n, V.cols());
    for (Index i = 0; i < V.rows(); ++i) out.row(to[static_cast<std::size_t>(i)]) += V.row(i);
    return out;
  }
  static Matrix gather(const Matrix& V, const std::vector<Index>& from) {
    Matrix out(std::ssize(from), V.cols());
    for (Index i = 0; i < out.rows(); ++i) out.row(i) = V.row(from[static_cast<std::size_t>(i)]);
    return out;
  }

  Operator base_;
  std::vector<Index> rows_;
  std::vector<Index> cols_;
  TileGrid grid_;
  bool has_blocks_;
};

}  // namespace

Operator subset(Operator op, std::vector<Index> rows, std::vector<Index> cols) {
  if (!op) throw InvalidArgument("subset: there is no operator (a null pointer was given)");
  return SubsetView::make(std::move(op), std::move(rows), std::move(cols));
}

Operator subset(Operator op, const std::vector<Index>& both) {
  if (op && op->rows() != op->cols())
    throw InvalidArgument(fmt::format("subset with one list of indices needs a square operator, got {}", op->describe()));
  return subset(std::move(op), both, both);
}

}  // namespace mercer

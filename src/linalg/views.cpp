// Operators made from another one by changing each entry where it stands: scaled, centred, plus a diagonal; and [K -K; -K K].
//
// Method: a view is a map (i, j, k) -> number plus the way it changes a product. Tiles come from the tiles of the base, one to one, so the
// views work on streamed operators too. Every map commutes exactly where the view is symmetric: entry (i, j) has the bits of entry (j, i).
// Precision: entries are combined in double. Tiles and row blocks are rounded once to the precision of the base; block and apply are not.
// Cost: that of the base, plus one pass over each tile.
// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "linalg/tiling.hpp"

namespace mercer {

namespace {

const LinearOperator& required(const Operator& op, const char* view) {
  if (!op) throw InvalidArgument(fmt::format("{}: there is no operator (a null pointer was given)", view));
  return *op;
}

void require_vector(const Vector& v, Index size, const char* what) {
  if (v.size() != size) throw InvalidArgument(fmt::format("{} must have {} numbers, got {}", what, size, v.size()));
  if (!v.allFinite()) throw InvalidArgument(fmt::format("{} must hold finite numbers only", what));
}

Matrix scale_rows(const Vector& factors, Matrix V) {
  V.array().colwise() *= factors.array();
  return V;
}

// diag(l) K diag(r)
struct Scaling {
  static constexpr const char* name = "scaled";
  Vector left;
  Vector right;

  // The factors meet first: l_i r_j = r_j l_i to the bit, so that equal factors leave the view symmetric.
  double operator()(Index i, Index j, double k) const { return left[i] * right[j] * k; }
  bool symmetric() const { return left.size() == right.size() && left == right; }
  Matrix apply(const LinearOperator& base, const MatrixRef& V) const { return scale_rows(left, base.apply(scale_rows(right, V))); }
  Matrix apply_transpose(const LinearOperator& base, const MatrixRef& U) const {
    return scale_rows(right, base.apply_transpose(scale_rows(left, U)));
  }
  // <W, diag(l) K diag(r)> = <diag(l) W diag(r), K>, and so on for the other maps: what the view's weights are to the base.
  Matrix weights_for_base(const MatrixRef& W) const { return left.asDiagonal() * W * right.asDiagonal(); }
};

// H K H: k_ij - m_i - m_j + m, with the means of K's rows and of all of it.
struct Centring {
  static constexpr const char* name = "centred";
  Vector row_means;
  double mean = 0;

  explicit Centring(const LinearOperator& base) {
    const Index n = base.rows();
    if (n == 0) return;
    row_means = base.apply(Vector::Ones(n)).col(0) / static_cast<double>(n);
    mean = row_means.mean();
  }
  double operator()(Index i, Index j, double k) const { return k - (row_means[i] + row_means[j]) + mean; }
  static bool symmetric() { return true; }
  static Matrix centre(Matrix V) {
    if (V.rows() > 0) V.rowwise() -= V.colwise().mean().eval();
    return V;
  }
  static Matrix apply(const LinearOperator& base, const MatrixRef& V) { return centre(base.apply(centre(V))); }
  static Matrix apply_transpose(const LinearOperator& base, const MatrixRef& U) { return apply(base, U); }
  static Matrix weights_for_base(const MatrixRef& W) { return centre(centre(W).transpose()).transpose(); }
};

// K + diag(d)
struct AddedDiagonal {
  static constexpr const char* name = "plus a diagonal";
  Vector d;

  double operator()(Index i, Index j, double k) const { return i == j ? k + d[i] : k; }
  static bool symmetric() { return true; }
  Matrix apply(const LinearOperator& base, const MatrixRef& V) const { return base.apply(V) + scale_rows(d, V); }
  Matrix apply_transpose(const LinearOperator& base, const MatrixRef& U) const { return base.apply_transpose(U) + scale_rows(d, U); }
  static Matrix weights_for_base(const MatrixRef& W) { return W; }
};

// A rectangle of a view, computed into its own memory: visits may nest, so there is no scratch space to share.
template <class T, class Entry>
void visit_computed(Index number, Index row, Index col, Index rows, Index cols, Entry&& entry,
                    const std::function<void(const TileView&)>& visit) {
  const auto values = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(rows * cols));
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) values[static_cast<std::size_t>(i * cols + j)] = static_cast<T>(entry(i, j));
  }
  visit({number, row, col, rows, cols, cols, static_cast<const T*>(values.get())});
}

template <class T, class Entry>
RowBlock computed_rows(Index rows, Index cols, Entry&& entry) {
  std::shared_ptr<T[]> values(new T[static_cast<std::size_t>(rows * cols)]);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) values[i * cols + j] = static_cast<T>(entry(i, j));
  }
  return linalg::pinned(std::move(values), cols);
}

template <class Map>
class MappedView final : public LinearOperator {
 public:
  MappedView(Operator base, Map map)
      : base_(std::move(base)),
        map_(std::move(map)),
        symmetric_(base_->symmetric() && map_.symmetric()),
        mirrored_(base_->symmetric() && !symmetric_) {}

  Index rows() const override { return base_->rows(); }
  Index cols() const override { return base_->cols(); }
  bool symmetric() const override { return symmetric_; }
  Precision precision() const override { return base_->precision(); }

  Vector diagonal() const override {
    Vector d = base_->diagonal();
    for (Index i = 0; i < d.size(); ++i) d[i] = map_(i, i, d[i]);
    return d;
  }

  Matrix block(std::span<const Index> I, std::span<const Index> J) const override {
    linalg::require_block(*this, I, J);
    Matrix out = base_->block(I, J);
    for (Index a = 0; a < out.rows(); ++a) {
      for (Index b = 0; b < out.cols(); ++b) out(a, b) = map_(I[static_cast<std::size_t>(a)], J[static_cast<std::size_t>(b)], out(a, b));
    }
    return out;
  }

  RowBlock row_block(Index first, Index count) const override {
    linalg::require_row_range(*this, first, count);
    const RowBlock base = base_->row_block(first, count);
    return std::visit(
        [&](auto* v) {
          using T = std::remove_cv_t<std::remove_pointer_t<decltype(v)>>;
          return computed_rows<T>(count, cols(),
                                  [&](Index i, Index j) { return map_(first + i, j, static_cast<double>(v[i * base.stride + j])); });
        },
        base.values);
  }

  Matrix apply(const MatrixRef& V) const override {
    linalg::require_rows("V", V.rows(), cols());
    return map_.apply(*base_, V);
  }
  Matrix apply_transpose(const MatrixRef& U) const override {
    linalg::require_rows("U", U.rows(), rows());
    return map_.apply_transpose(*base_, U);
  }
  Vector gradient_inner(const MatrixRef& W) const override {
    linalg::require_weights(*this, W);
    return base_->gradient_inner(map_.weights_for_base(W));
  }

  void for_each_tile(const std::function<void(const TileView&)>& visit) const override {
    base_->for_each_tile([&](const TileView& t) {
      std::visit(
          [&](auto* v) {
            using T = std::remove_cv_t<std::remove_pointer_t<decltype(v)>>;
            const auto base = [&](Index i, Index j) { return static_cast<double>(v[i * t.stride + j]); };
            visit_computed<T>(
                t.number, t.row, t.col, t.rows, t.cols, [&](Index i, Index j) { return map_(t.row + i, t.col + j, base(i, j)); }, visit);
            if (!mirrored_ || t.on_diagonal()) return;
            // The base gives its upper half only, but this view differs below the diagonal.
            visit_computed<T>(
                base_->tile_count() + t.number, t.col, t.row, t.cols, t.rows,
                [&](Index i, Index j) { return map_(t.col + i, t.row + j, base(j, i)); }, visit);
          },
          t.values);
    });
  }
  Index tile_count() const override { return base_->tile_count() * (mirrored_ ? 2 : 1); }

  std::string describe() const override { return fmt::format("{}, {}", base_->describe(), Map::name); }

 private:
  Operator base_;
  Map map_;
  bool symmetric_;
  bool mirrored_;
};

// [K -K; -K K]. Tiles of K appear with both signs; the bands of the second half start at n, whatever n is.
class DoubledView final : public LinearOperator {
 public:
  explicit DoubledView(Operator base) : base_(std::move(base)) {}

  Index rows() const override { return 2 * base_->rows(); }
  Index cols() const override { return 2 * base_->cols(); }
  bool symmetric() const override { return base_->symmetric(); }
  Precision precision() const override { return base_->precision(); }

  Vector diagonal() const override {
    if (base_->rows() != base_->cols()) throw NotOffered("the diagonal of a doubled operator that is not square is not offered");
    const Vector d = base_->diagonal();
    Vector out(2 * d.size());
    out << d, d;
    return out;
  }

  Matrix block(std::span<const Index> I, std::span<const Index> J) const override {
    linalg::require_block(*this, I, J);
    const auto folded = [](std::span<const Index> indices, Index n) {
      std::vector<Index> out(indices.begin(), indices.end());
      for (Index& i : out) i = i < n ? i : i - n;
      return out;
    };
    Matrix out = base_->block(folded(I, base_->rows()), folded(J, base_->cols()));
    for (Index a = 0; a < out.rows(); ++a) {
      for (Index b = 0; b < out.cols(); ++b) out(a, b) *= sign(I[static_cast<std::size_t>(a)], J[static_cast<std::size_t>(b)]);
    }
    return out;
  }

  RowBlock row_block(Index first, Index count) const override {
    linalg::require_row_range(*this, first, count);
    const Index n = base_->rows();
    // At most two runs of base rows: up to n, and from n on.
    const Index head = std::clamp<Index>(n - first, 0, count);
    const RowBlock upper = base_->row_block(head > 0 ? first : 0, head);
    const RowBlock lower = base_->row_block(head < count ? first + head - n : 0, count - head);
    const Index m = base_->cols();
    return linalg::with_type_of(precision(), [&]<class T>(T) {
      return computed_rows<T>(count, cols(), [&](Index i, Index j) {
        const RowBlock& part = i < head ? upper : lower;
        const Index row = i < head ? i : i - head;
        return sign(first + i, j) * static_cast<double>(std::get<const T*>(part.values)[row * part.stride + (j < m ? j : j - m)]);
      });
    });
  }

  Matrix apply(const MatrixRef& V) const override {
    linalg::require_rows("V", V.rows(), cols());
    return opposed(base_->apply(V.topRows(base_->cols()) - V.bottomRows(base_->cols())));
  }
  Matrix apply_transpose(const MatrixRef& U) const override {
    linalg::require_rows("U", U.rows(), rows());
    return opposed(base_->apply_transpose(U.topRows(base_->rows()) - U.bottomRows(base_->rows())));
  }
  Vector gradient_inner(const MatrixRef& W) const override {
    linalg::require_weights(*this, W);
    const Index n = base_->rows();
    const Index m = base_->cols();
    return base_->gradient_inner(W.topLeftCorner(n, m) - W.topRightCorner(n, m) - W.bottomLeftCorner(n, m) + W.bottomRightCorner(n, m));
  }

  void for_each_tile(const std::function<void(const TileView&)>& visit) const override {
    const Index n = base_->rows();
    const Index m = base_->cols();
    base_->for_each_tile([&](const TileView& t) {
      std::visit(
          [&](auto* v) {
            using T = std::remove_cv_t<std::remove_pointer_t<decltype(v)>>;
            const auto minus = [&](Index i, Index j) { return -v[i * t.stride + j]; };
            visit({4 * t.number, t.row, t.col, t.rows, t.cols, t.stride, v});
            visit_computed<T>(4 * t.number + 1, t.row, m + t.col, t.rows, t.cols, minus, visit);
            if (!symmetric()) {
              visit_computed<T>(4 * t.number + 2, n + t.row, t.col, t.rows, t.cols, minus, visit);
            } else if (!t.on_diagonal()) {  // the upper right quarter is whole, K's tiles are its upper half
              visit_computed<T>(
                  4 * t.number + 2, t.col, m + t.row, t.cols, t.rows, [&](Index i, Index j) { return minus(j, i); }, visit);
            }
            visit({4 * t.number + 3, n + t.row, m + t.col, t.rows, t.cols, t.stride, v});
          },
          t.values);
    });
  }
  Index tile_count() const override { return 4 * base_->tile_count(); }

  std::string describe() const override { return fmt::format("{}, doubled to {} x {}", base_->describe(), rows(), cols()); }

 private:
  double sign(Index i, Index j) const { return (i < base_->rows()) == (j < base_->cols()) ? 1 : -1; }
  static Matrix opposed(const Matrix& half) {
    Matrix out(2 * half.rows(), half.cols());
    out << half, -half;
    return out;
  }

  Operator base_;
};

}  // namespace

Operator centred(Operator op) {
  const LinearOperator& base = required(op, "centred");
  if (!base.symmetric()) throw InvalidArgument(fmt::format("centred needs a symmetric operator, got {}", base.describe()));
  Centring map(base);
  return std::make_shared<MappedView<Centring>>(std::move(op), std::move(map));
}

Operator scaled_by(Operator op, Vector left, Vector right) {
  const LinearOperator& base = required(op, "scaled_by");
  require_vector(left, base.rows(), "the left factors");
  require_vector(right, base.cols(), "the right factors");
  return std::make_shared<MappedView<Scaling>>(std::move(op), Scaling{std::move(left), std::move(right)});
}

Operator signed_by(Operator op, const Vector& y) {
  if (required(op, "signed_by").rows() != op->cols())
    throw InvalidArgument(fmt::format("signed_by needs a square operator, got {}", op->describe()));
  require_vector(y, op->rows(), "y");
  return scaled_by(std::move(op), y, y);
}

Operator doubled(Operator op) {
  required(op, "doubled");
  return std::make_shared<DoubledView>(std::move(op));
}

Operator plus_diagonal(Operator op, Vector diagonal) {
  if (required(op, "plus_diagonal").rows() != op->cols())
    throw InvalidArgument(fmt::format("plus_diagonal needs a square operator, got {}", op->describe()));
  require_vector(diagonal, op->rows(), "the diagonal");
  return std::make_shared<MappedView<AddedDiagonal>>(std::move(op), AddedDiagonal{std::move(diagonal)});
}

}  // namespace mercer

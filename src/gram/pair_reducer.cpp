// SPDX-License-Identifier: BSD-3-Clause
#include "gram/pair_reducer.hpp"

#include <fmt/format.h>

#include <cassert>
#include <limits>
#include <optional>

#include "gram/rows.hpp"
#include "gram/sparse_blocks.hpp"
#include "linalg/blas.hpp"
#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

// Up to this many columns, distances come from differences: cheaper than a GEMM that thin, and nothing cancels.
constexpr Index direct_columns = 12;

// Below this share of |x|^2 + |y|^2 a squared distance from dot products has lost too many digits.
constexpr double cancellation = 1e-3;

// One side of dense rows: the samples as they are (for dot products), and moved to the centre (for distances).
template <class T>
struct DenseSide {
  const T* raw = nullptr;
  Index raw_stride = 0;
  Buffer<T> raw_copy;
  Buffer<T> centred;             // n x d
  Buffer<T> centred_transposed;  // d x n
  std::vector<T> norms;          // of the centred rows

  static void copy(const Samples& X, const Vector& centre, Buffer<T>& out, bool transposed) {
    const Index n = X.size();
    const Index d = X.width();
    out = Buffer<T>(static_cast<std::size_t>(n) * static_cast<std::size_t>(d));
    parallel_for(block_count(n), [&](Index block) {
      const Range range = block_range(block, n);
      std::visit(
          [&](const auto& all) {
            if constexpr (requires { all.data; }) {
              for (Index i = range.begin; i < range.begin + range.count; ++i) {
                for (Index k = 0; k < d; ++k) {
                  const double value = static_cast<double>(all.row(i)[k]) - (centre.size() > 0 ? centre[k] : 0.0);
                  out[static_cast<std::size_t>(transposed ? k * n + i : i * d + k)] = static_cast<T>(value);
                }
              }
            }
          },
          X.storage());
    });
  }
};

}  // namespace

template <class T>
struct PairReducer<T>::Impl {
  Samples row_samples;
  Samples col_samples;
  bool same = false;
  bool sparse = false;
  bool direct = false;  // distances from differences
  Index depth = 0;
  RowSums row_sums_;  // centred where distances are
  RowSums col_sums_;
  Vector self_dots;  // |x|^2 of the rows as they are

  DenseSide<T> left;
  std::optional<DenseSide<T>> right_own;  // absent when both sides are the same rows
  std::optional<CsrCopy<T>> left_csr;
  std::optional<CsrCopy<T>> right_csr_own;
  std::vector<InvertedBlock<T>> inverted;  // of the columns' side

  const DenseSide<T>& right() const { return right_own ? *right_own : left; }
  const CsrRows<T>& right_csr() const { return right_csr_own ? right_csr_own->view : left_csr->view; }
  const RowSums& right_sums() const { return same ? row_sums_ : col_sums_; }

  void prepare_dense(const ReductionSet& needed);
  void prepare_sparse();
  void prepare_side(DenseSide<T>& side, const Samples& X, const RowSums& sums, const Vector& centre, const ReductionSet& needed);

  void dots(Range I, Range J, Tile<T> out) const;
  void squared_distances(Range I, Range J, Tile<T> out) const;
  void l1_distances(Range I, Range J, Tile<T> out) const;
  template <class Term>
  void for_matches(Range I, Range J, Tile<T> out, Term&& term) const;
};

template <class T>
void PairReducer<T>::Impl::prepare_side(DenseSide<T>& side, const Samples& X, const RowSums& sums, const Vector& centre,
                                        const ReductionSet& needed) {
  if (needed.dot) {
    if (const auto* rows = std::get_if<DenseRows<T>>(&X.storage()); rows != nullptr && rows->stride < std::numeric_limits<int>::max()) {
      side.raw = rows->data;
      side.raw_stride = rows->stride;
    } else {
      DenseSide<T>::copy(X, {}, side.raw_copy, false);
      side.raw = side.raw_copy.data();
      side.raw_stride = X.width();
    }
  }
  if (needed.distance()) {
    DenseSide<T>::copy(X, centre, side.centred, false);
    if (direct || needed.l1_distance) DenseSide<T>::copy(X, centre, side.centred_transposed, true);
    side.norms.assign(sums.squares.begin(), sums.squares.end());
  }
}

template <class T>
void PairReducer<T>::Impl::prepare_dense(const ReductionSet& needed) {
  direct = depth <= direct_columns;
  // The centre is that of the column side, the one a model keeps: a prediction then does not depend on which rows are asked together.
  // Differences need no centre unless they are taken in float32 of float64 data.
  const bool narrowing = sizeof(T) == 4 && (row_samples.precision() == Precision::float64 || col_samples.precision() == Precision::float64);
  Vector centre;
  if (needed.distance() && (narrowing || (needed.squared_distance && !direct))) centre = column_means(col_samples);
  if (centre.size() > 0 && !centre.allFinite()) require_finite(col_samples, same ? "X" : "Y");
  row_sums_ = row_sums(row_samples, centre);
  require_usable<T>(row_samples, row_sums_, "X");
  if (needed.dot && same) {
    const RowSums plain = centre.size() > 0 ? row_sums(row_samples, {}) : row_sums_;
    self_dots = Eigen::Map<const Vector>(plain.squares.data(), row_samples.size());
  }
  prepare_side(left, row_samples, row_sums_, centre, needed);
  if (!same) {
    col_sums_ = row_sums(col_samples, centre);
    require_usable<T>(col_samples, col_sums_, "Y");
    right_own.emplace();
    prepare_side(*right_own, col_samples, col_sums_, centre, needed);
  }
}

template <class T>
void PairReducer<T>::Impl::prepare_sparse() {
  row_sums_ = row_sums(row_samples, {});
  require_usable<T>(row_samples, row_sums_, "X");
  self_dots = Eigen::Map<const Vector>(row_sums_.squares.data(), row_samples.size());
  left_csr.emplace(row_samples);
  if (!same) {
    col_sums_ = row_sums(col_samples, {});
    require_usable<T>(col_samples, col_sums_, "Y");
    right_csr_own.emplace(col_samples);
  }
  const Index blocks = block_count(col_samples.size());
  inverted.resize(static_cast<std::size_t>(blocks));
  parallel_for(blocks, [&](Index b) { inverted[static_cast<std::size_t>(b)] = invert(right_csr(), block_range(b, col_samples.size())); });
}

template <class T>
PairReducer<T>::PairReducer(const Samples& rows, const Samples& cols, const ReductionSet& needed) : impl_(std::make_unique<Impl>()) {
  if (rows.empty() || cols.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  if (rows.width() == 0) throw InvalidArgument("the samples have no columns: X must have at least one column");
  if (rows.width() != cols.width()) {
    throw InvalidArgument(fmt::format("the two sample sets differ in width: {} columns against {}; both must have the same features",
                                      rows.width(), cols.width()));
  }
  impl_->row_samples = rows;
  impl_->col_samples = cols;
  impl_->same = rows.same_rows(cols);
  impl_->sparse = rows.is_sparse() || cols.is_sparse();
  impl_->depth = rows.width();
  if (impl_->sparse) {
    impl_->prepare_sparse();
  } else {
    impl_->prepare_dense(needed);
  }
}

template <class T>
PairReducer<T>::~PairReducer() = default;
template <class T>
PairReducer<T>::PairReducer(PairReducer&&) noexcept = default;

template <class T>
Index PairReducer<T>::rows() const {
  return impl_->row_samples.size();
}

template <class T>
Index PairReducer<T>::cols() const {
  return impl_->col_samples.size();
}

template <class T>
bool PairReducer<T>::symmetric() const {
  return impl_->same;
}

template <class T>
Vector PairReducer<T>::self(Reduction reduction) const {
  return reduction == Reduction::dot ? impl_->self_dots : Vector(Vector::Zero(rows()));
}

template <class T>
void PairReducer<T>::reduce(Reduction reduction, Range I, Range J, Tile<T> out) const {
  switch (reduction) {
    case Reduction::none:
      return;
    case Reduction::dot:
      return impl_->dots(I, J, out);
    case Reduction::squared_distance:
      return impl_->squared_distances(I, J, out);
    case Reduction::l1_distance:
      return impl_->l1_distances(I, J, out);
  }
}

// Calls term(out entry, x, y) for every pair of entries that share a column.
template <class T>
template <class Term>
void PairReducer<T>::Impl::for_matches(Range I, Range J, Tile<T> out, Term&& term) const {
  thread_local std::vector<std::int32_t> slot;  // column -> place in the block's list; -1: not there. Kept clean between calls.
  if (static_cast<Index>(slot.size()) < depth) slot.assign(static_cast<std::size_t>(depth), -1);
  const CsrRows<T>& x = left_csr->view;
  for (Index block = J.begin / tile_size; block * tile_size < J.begin + J.count; ++block) {
    const InvertedBlock<T>& lists = inverted[static_cast<std::size_t>(block)];
    const Index shift = block * tile_size - J.begin;  // row r of the block is column r + shift of the tile
    for (std::size_t s = 0; s < lists.columns.size(); ++s) slot[static_cast<std::size_t>(lists.columns[s])] = static_cast<std::int32_t>(s);
    for (Index i = 0; i < I.count; ++i) {
      T* row = out.row(i);
      for (Index p = x.begin(I.begin + i); p < x.end(I.begin + i); ++p) {
        const std::int32_t s = slot[static_cast<std::size_t>(x.columns[p])];
        if (s < 0) continue;
        for (std::int32_t e = lists.first[static_cast<std::size_t>(s)]; e < lists.first[static_cast<std::size_t>(s) + 1]; ++e) {
          const Index j = lists.rows[static_cast<std::size_t>(e)] + shift;
          if (j >= 0 && j < J.count) term(row[j], x.values[p], lists.values[static_cast<std::size_t>(e)]);
        }
      }
    }
    for (const std::int32_t column : lists.columns) slot[static_cast<std::size_t>(column)] = -1;
  }
}

template <class T>
void PairReducer<T>::Impl::dots(Range I, Range J, Tile<T> out) const {
  if (!sparse) {
    linalg::gemm_nt(I.count, J.count, depth, T{1}, left.raw + I.begin * left.raw_stride, left.raw_stride,
                    right().raw + J.begin * right().raw_stride, right().raw_stride, T{0}, out.data, out.stride);
    return;
  }
  for (Index i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, T{0});
  for_matches(I, J, out, [](T& sum, T x, T y) { sum += x * y; });
}

template <class T>
void PairReducer<T>::Impl::squared_distances(Range I, Range J, Tile<T> out) const {
  const auto& ops = simd::ops<T>();
  if (!sparse && direct) {
    ops.squared_distances(left.centred.data() + I.begin * depth, depth, right().centred_transposed.data() + J.begin, col_samples.size(),
                          depth, out);
    return;
  }
  thread_local std::vector<T> row_norms;
  thread_local std::vector<T> col_norms;
  if (sparse) {
    dots(I, J, out);
  } else {
    linalg::gemm_nt(I.count, J.count, depth, T{1}, left.centred.data() + I.begin * depth, depth, right().centred.data() + J.begin * depth,
                    depth, T{0}, out.data, out.stride);
  }
  row_norms.assign(row_sums_.squares.begin() + I.begin, row_sums_.squares.begin() + I.begin + I.count);
  col_norms.assign(right_sums().squares.begin() + J.begin, right_sums().squares.begin() + J.begin + J.count);
  if (!ops.distances_from_dots(out, row_norms.data(), col_norms.data(), static_cast<T>(cancellation))) return;
  for (Index i = 0; i < I.count; ++i) {
    for (Index j = 0; j < J.count; ++j) {
      T& entry = out.row(i)[j];
      const T norms = row_norms[static_cast<std::size_t>(i)] + col_norms[static_cast<std::size_t>(j)];
      if (entry < static_cast<T>(cancellation) * norms) {
        entry = static_cast<T>(squared_distance_of(row_samples, I.begin + i, col_samples, J.begin + j));
      }
    }
  }
}

template <class T>
void PairReducer<T>::Impl::l1_distances(Range I, Range J, Tile<T> out) const {
  if (!sparse) {
    simd::ops<T>().l1_distances(left.centred.data() + I.begin * depth, depth, right().centred_transposed.data() + J.begin,
                                col_samples.size(), depth, out);
    return;
  }
  // |x - y| summed = |x| + |y| + sum over shared columns of |x - y| - |x| - |y|.
  const double* x_sums = row_sums_.absolutes.data() + I.begin;
  const double* y_sums = right_sums().absolutes.data() + J.begin;
  for (Index i = 0; i < I.count; ++i) {
    for (Index j = 0; j < J.count; ++j) out.row(i)[j] = static_cast<T>(x_sums[i] + y_sums[j]);
  }
  for_matches(I, J, out, [](T& sum, T x, T y) { sum += std::abs(x - y) - std::abs(x) - std::abs(y); });
  for (Index i = 0; i < I.count; ++i) {
    for (Index j = 0; j < J.count; ++j) {
      if (out.row(i)[j] < static_cast<T>(cancellation * (x_sums[i] + y_sums[j]))) {
        out.row(i)[j] = static_cast<T>(l1_distance_of(row_samples, I.begin + i, col_samples, J.begin + j));
      }
    }
  }
}

template class PairReducer<float>;
template class PairReducer<double>;

}  // namespace mercer

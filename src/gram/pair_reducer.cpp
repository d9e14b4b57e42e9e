// SPDX-License-Identifier: BSD-3-Clause
#include "gram/pair_reducer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

#include "data/numbers_only.hpp"
#include "gram/row_scratch.hpp"
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

// One side of dense rows: the samples as they are (for dot products and histograms), and moved to the centre (for distances).
template <class T>
struct DenseSide {
  const T* raw = nullptr;
  Index raw_stride = 0;
  Buffer<T> raw_copy;
  Buffer<T> raw_transposed;      // d x n
  Buffer<T> centred;             // n x d
  Buffer<T> centred_transposed;  // d x n

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
  RowSums plain_rows_;  // of the rows as they are, where those above are centred
  RowSums plain_cols_;

  DenseSide<T> left;
  std::optional<DenseSide<T>> right_own;  // absent when both sides are the same rows
  std::optional<CsrCopy<T>> left_csr;
  std::optional<CsrCopy<T>> right_csr_own;
  std::vector<InvertedBlock<T>> inverted;  // of the columns' side

  const DenseSide<T>& right() const { return right_own ? *right_own : left; }
  const CsrRows<T>& right_csr() const { return right_csr_own ? right_csr_own->view : left_csr->view; }
  const RowSums& right_sums() const { return same ? row_sums_ : col_sums_; }
  const RowSums& plain_sums(Side side) const {
    const bool rows = side == Side::rows || same;
    const RowSums& plain = rows ? plain_rows_ : plain_cols_;
    return plain.squares.empty() ? (rows ? row_sums_ : col_sums_) : plain;
  }

  void prepare_given(const ReductionSet& needed);
  void prepare_dense(const ReductionSet& needed);
  void prepare_sparse(const ReductionSet& needed);
  void prepare_side(DenseSide<T>& side, const Samples& X, const Vector& centre, const ReductionSet& needed);

  void dots(const RowSet& I, Range J, Tile<T> out) const;
  void squared_distances(const RowSet& I, Range J, Tile<T> out) const;
  void l1_distances(const RowSet& I, Range J, Tile<T> out) const;
  void histograms(Reduction reduction, const RowSet& I, Range J, Tile<T> out) const;
  void same_samples(const RowSet& I, Range J, Tile<T> out) const;
  void given_values(const RowSet& I, Range J, Tile<T> out) const;
  template <class Term>
  void for_matches(const RowSet& I, Range J, Tile<T> out, Term&& term) const;
};

template <class T>
void PairReducer<T>::Impl::prepare_side(DenseSide<T>& side, const Samples& X, const Vector& centre, const ReductionSet& needed) {
  if (needed.dot || needed.histogram()) {
    if (const auto* rows = std::get_if<DenseRows<T>>(&X.storage()); rows != nullptr && rows->stride < std::numeric_limits<int>::max()) {
      side.raw = rows->data;
      side.raw_stride = rows->stride;
    } else {
      DenseSide<T>::copy(X, {}, side.raw_copy, false);
      side.raw = side.raw_copy.data();
      side.raw_stride = X.width();
    }
  }
  if (needed.histogram()) DenseSide<T>::copy(X, {}, side.raw_transposed, true);
  if (needed.distance()) {
    DenseSide<T>::copy(X, centre, side.centred, false);
    if (direct || needed.l1_distance) DenseSide<T>::copy(X, centre, side.centred_transposed, true);
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
  const bool also_plain = centre.size() > 0 && (needed.dot || needed.histogram());
  row_sums_ = row_sums(row_samples, centre);
  require_usable<T>(row_samples, row_sums_, "X");
  if (also_plain) plain_rows_ = row_sums(row_samples, {});
  prepare_side(left, row_samples, centre, needed);
  if (!same) {
    col_sums_ = row_sums(col_samples, centre);
    require_usable<T>(col_samples, col_sums_, "Y");
    if (also_plain) plain_cols_ = row_sums(col_samples, {});
    right_own.emplace();
    prepare_side(*right_own, col_samples, centre, needed);
  }
}

template <class T>
void PairReducer<T>::Impl::prepare_sparse(const ReductionSet& needed) {
  row_sums_ = row_sums(row_samples, {});
  require_usable<T>(row_samples, row_sums_, "X");
  left_csr.emplace(row_samples);
  if (!same) {
    col_sums_ = row_sums(col_samples, {});
    require_usable<T>(col_samples, col_sums_, "Y");
    right_csr_own.emplace(col_samples);
  }
  if (!needed.columns()) return;
  const Index blocks = block_count(col_samples.size());
  inverted.resize(static_cast<std::size_t>(blocks));
  parallel_for(blocks, [&](Index b) { inverted[static_cast<std::size_t>(b)] = invert(right_csr(), block_range(b, col_samples.size())); });
}

template <class T>
void PairReducer<T>::Impl::prepare_given(const ReductionSet& needed) {
  if (needed.columns())
    throw InvalidArgument(
        "the kernel looks at columns, but these samples are known by a given Gram matrix alone: use precomputed, or give the rows");
  if (row_samples.is_given() != col_samples.is_given())
    throw InvalidArgument("one side is known by a given Gram matrix, the other by its columns: give both in the same way");
  if (!needed.given) return;
  const auto* values = std::get_if<DenseRows<double>>(&row_samples.storage());
  if (values == nullptr || values->cols != depth)
    throw InvalidArgument(
        "these samples of a given Gram matrix have lost their kernel values (a model keeps only which objects they are): they can "
        "stand on the columns' side alone");
  for (const Index id : col_samples.given_ids()) {
    if (id < 0)
      throw InvalidArgument(
          "rows of kernel values made by given_rows are no objects of the Gram matrix: they can stand on the rows' side alone");
  }
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
  if (needed.given && !rows.is_given() && !cols.is_given())
    throw InvalidArgument("the kernel precomputed needs a given Gram matrix: make the samples by Samples::given_gram(K)");
  if (rows.is_given() || cols.is_given()) {
    impl_->prepare_given(needed);
  } else if (needed.histogram()) {
    require_not_negative(rows, "X");
    if (!impl_->same) require_not_negative(cols, "Y");
  }
  if (needed.columns()) {
    require_numbers(rows, "a distance or product");
    require_numbers(cols, "a distance or product");
  }
  if (rows.is_given() || rows.has_objects()) return;  // of objects no column is looked at, only which sample is which
  if (impl_->sparse) {
    impl_->prepare_sparse(needed);
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
Vector PairReducer<T>::self(Reduction reduction, Side side) const {
  const Samples& X = side == Side::rows ? impl_->row_samples : impl_->col_samples;
  const auto as_vector = [&](const std::vector<double>& sums) { return Vector(Eigen::Map<const Vector>(sums.data(), X.size())); };
  switch (reduction) {
    case Reduction::dot:
      return as_vector(impl_->plain_sums(side).squares);
    case Reduction::minimum_sum:
      return as_vector(impl_->plain_sums(side).absolutes);
    case Reduction::same:
      return Vector::Ones(X.size());
    case Reduction::given: {
      Vector out(X.size());
      const auto& values = std::get<DenseRows<double>>(X.storage());
      for (Index i = 0; i < X.size(); ++i) {
        const Index id = X.given_ids()[static_cast<std::size_t>(i)];
        if (id < 0 || values.cols == 0)
          throw InvalidArgument("k(x,x) of a new row of kernel values is not known: a given Gram matrix has it for its own objects alone");
        out[i] = values.row(i)[id];
      }
      return out;
    }
    default:
      return Vector::Zero(X.size());
  }
}

template <class T>
double PairReducer<T>::largest_dot() const {
  if (impl_->row_samples.is_given()) return 0;
  const auto largest = [&](Side side) {
    const auto& squares = impl_->plain_sums(side).squares;
    return std::sqrt(*std::max_element(squares.begin(), squares.end()));
  };
  return largest(Side::rows) * largest(Side::cols);
}

template <class T>
double PairReducer<T>::largest_given() const {
  const auto& values = std::get<DenseRows<double>>(impl_->row_samples.storage());
  double largest = 0;
  for (Index i = 0; i < values.rows; ++i) {
    for (Index j = 0; j < values.cols; ++j) largest = std::max(largest, std::abs(values.row(i)[j]));
  }
  return largest;
}

template <class T>
void PairReducer<T>::reduce(Reduction reduction, const RowSet& I, Range J, Tile<T> out) const {
  switch (reduction) {
    case Reduction::none:
      return;
    case Reduction::dot:
      return impl_->dots(I, J, out);
    case Reduction::squared_distance:
      return impl_->squared_distances(I, J, out);
    case Reduction::l1_distance:
      return impl_->l1_distances(I, J, out);
    case Reduction::chi2_distance:
    case Reduction::minimum_sum:
      return impl_->histograms(reduction, I, J, out);
    case Reduction::same:
      return impl_->same_samples(I, J, out);
    case Reduction::given:
      return impl_->given_values(I, J, out);
  }
}

// Calls term(out entry, x, y) for every pair of entries that share a column.
template <class T>
template <class Term>
void PairReducer<T>::Impl::for_matches(const RowSet& I, Range J, Tile<T> out, Term&& term) const {
  thread_local std::vector<std::int32_t> slot;  // column -> place in the block's list; -1: not there. Kept clean between calls.
  if (static_cast<Index>(slot.size()) < depth) slot.assign(static_cast<std::size_t>(depth), -1);
  const CsrRows<T>& x = left_csr->view;
  for (Index block = J.begin / tile_size; block * tile_size < J.begin + J.count; ++block) {
    const InvertedBlock<T>& lists = inverted[static_cast<std::size_t>(block)];
    const Index shift = block * tile_size - J.begin;  // row r of the block is column r + shift of the tile
    for (std::size_t s = 0; s < lists.columns.size(); ++s) slot[static_cast<std::size_t>(lists.columns[s])] = static_cast<std::int32_t>(s);
    for (Index i = 0; i < I.count; ++i) {
      T* row = out.row(i);
      for (Index p = x.begin(I[i]); p < x.end(I[i]); ++p) {
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
void PairReducer<T>::Impl::dots(const RowSet& I, Range J, Tile<T> out) const {
  if (!sparse) {
    RowScratch<T> scratch;
    const T* rows = scratch.gather(left.raw, left.raw_stride, depth, I);
    linalg::gemm_nt(I.count, J.count, depth, T{1}, rows, scratch.stride(), right().raw + J.begin * right().raw_stride, right().raw_stride,
                    T{0}, out.data, out.stride);
    return;
  }
  for (Index i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, T{0});
  for_matches(I, J, out, [](T& sum, T x, T y) { sum += x * y; });
}

template <class T>
void PairReducer<T>::Impl::squared_distances(const RowSet& I, Range J, Tile<T> out) const {
  const auto& ops = simd::ops<T>();
  if (!sparse && direct) {
    RowScratch<T> scratch;
    const T* rows = scratch.gather(left.centred.data(), depth, depth, I);
    ops.squared_distances(rows, depth, right().centred_transposed.data() + J.begin, col_samples.size(), depth, out);
    return;
  }
  thread_local std::vector<T> row_norms;
  thread_local std::vector<T> col_norms;
  if (sparse) {
    dots(I, J, out);
  } else {
    RowScratch<T> scratch;
    const T* rows = scratch.gather(left.centred.data(), depth, depth, I);
    linalg::gemm_nt(I.count, J.count, depth, T{1}, rows, depth, right().centred.data() + J.begin * depth, depth, T{0}, out.data,
                    out.stride);
  }
  row_norms.resize(static_cast<std::size_t>(I.count));
  for (Index i = 0; i < I.count; ++i)
    row_norms[static_cast<std::size_t>(i)] = static_cast<T>(row_sums_.squares[static_cast<std::size_t>(I[i])]);
  col_norms.assign(right_sums().squares.begin() + J.begin, right_sums().squares.begin() + J.begin + J.count);
  // Row by row, so that a sample which meets itself or a neighbour costs a second look at its own row alone.
  const T* x_norms = row_norms.data();
  const T* y_norms = col_norms.data();
  for (Index i = 0; i < I.count; ++i) {
    const Tile<T> row{out.row(i), 1, J.count, J.count};
    if (!ops.distances_from_dots(row, x_norms + i, y_norms, static_cast<T>(cancellation))) continue;
    for (Index j = 0; j < J.count; ++j) {
      if (row.data[j] < static_cast<T>(cancellation) * (x_norms[i] + y_norms[j]))
        row.data[j] = static_cast<T>(squared_distance_of(row_samples, I[i], col_samples, J.begin + j));
    }
  }
}

template <class T>
void PairReducer<T>::Impl::l1_distances(const RowSet& I, Range J, Tile<T> out) const {
  if (!sparse) {
    RowScratch<T> scratch;
    const T* rows = scratch.gather(left.centred.data(), depth, depth, I);
    simd::ops<T>().l1_distances(rows, depth, right().centred_transposed.data() + J.begin, col_samples.size(), depth, out);
    return;
  }
  // |x - y| summed = |x| + |y| + sum over shared columns of |x - y| - |x| - |y|.
  const double* x_sums = row_sums_.absolutes.data();
  const double* y_sums = right_sums().absolutes.data() + J.begin;
  for (Index i = 0; i < I.count; ++i) {
    for (Index j = 0; j < J.count; ++j) out.row(i)[j] = static_cast<T>(x_sums[I[i]] + y_sums[j]);
  }
  for_matches(I, J, out, [](T& sum, T x, T y) { sum += std::abs(x - y) - std::abs(x) - std::abs(y); });
  for (Index i = 0; i < I.count; ++i) {
    for (Index j = 0; j < J.count; ++j) {
      if (out.row(i)[j] < static_cast<T>(cancellation * (x_sums[I[i]] + y_sums[j]))) {
        out.row(i)[j] = static_cast<T>(l1_distance_of(row_samples, I[i], col_samples, J.begin + j));
      }
    }
  }
}

// Sparse rows: min(x, y) is 0 unless both have the column; (x-y)^2/(x+y) is x or y unless both have it.
template <class T>
void PairReducer<T>::Impl::histograms(Reduction reduction, const RowSet& I, Range J, Tile<T> out) const {
  const bool chi2 = reduction == Reduction::chi2_distance;
  if (!sparse) {
    const auto f = chi2 ? simd::ops<T>().chi2_distances : simd::ops<T>().minimum_sums;
    RowScratch<T> scratch;
    const T* rows = scratch.gather(left.raw, left.raw_stride, depth, I);
    f(rows, scratch.stride(), right().raw_transposed.data() + J.begin, col_samples.size(), depth, out);
    return;
  }
  const double* x_sums = row_sums_.absolutes.data();
  const double* y_sums = right_sums().absolutes.data() + J.begin;
  for (Index i = 0; i < I.count; ++i) {
    for (Index j = 0; j < J.count; ++j) out.row(i)[j] = chi2 ? static_cast<T>(x_sums[I[i]] + y_sums[j]) : T{0};
  }
  if (!chi2) {
    for_matches(I, J, out, [](T& sum, T x, T y) { sum += std::min(x, y); });
    return;
  }
  for_matches(I, J, out, [](T& sum, T x, T y) {
    if (x + y > 0) sum -= 4 * x * y / (x + y);  // (x-y)^2/(x+y) - x - y
  });
  for (Index i = 0; i < I.count; ++i) {
    for (Index j = 0; j < J.count; ++j) {
      if (out.row(i)[j] < static_cast<T>(cancellation * (x_sums[I[i]] + y_sums[j]))) {
        out.row(i)[j] = static_cast<T>(chi2_distance_of(row_samples, I[i], col_samples, J.begin + j));
      }
    }
  }
}

template <class T>
void PairReducer<T>::Impl::same_samples(const RowSet& I, Range J, Tile<T> out) const {
  for (Index i = 0; i < I.count; ++i) {
    std::fill_n(out.row(i), J.count, T{0});
    const Index j = I[i] - J.begin;
    if (same && j >= 0 && j < J.count) out.row(i)[j] = T{1};
  }
}

template <class T>
void PairReducer<T>::Impl::given_values(const RowSet& I, Range J, Tile<T> out) const {
  const auto& values = std::get<DenseRows<double>>(row_samples.storage());
  const Index* ids = col_samples.given_ids().data() + J.begin;
  for (Index i = 0; i < I.count; ++i) {
    for (Index j = 0; j < J.count; ++j) out.row(i)[j] = static_cast<T>(values.row(I[i])[ids[j]]);
  }
}

template class PairReducer<float>;
template class PairReducer<double>;

}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "gram/bound_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gram/tile_memory.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"

namespace mercer {

namespace {

// Above these shares of entries that are not 0 a dense product beats inverted lists: a match there costs as much as 50 or 100 dense
// products of float64 or float32, and their number falls with the square of the share.
constexpr double dense_share = 0.2;
constexpr double dense_share_of_counts = 0.12;
constexpr Index most_dense_entries = Index{1} << 25;  // of one side: 256 MB in float64

double filled_share(const Samples& rows, const Samples& cols) {
  double filled = 0;
  double all = 1;
  for (const Samples* side : {&rows, &cols}) {
    const auto& features = std::get<CsrRows<double>>(side->storage());
    filled += static_cast<double>(features.nonzeros());
    all += static_cast<double>(features.rows) * static_cast<double>(features.cols);
  }
  return filled / all;
}

// Rows of no feature at all are rows of one feature that is 0.
Samples with_a_column(const Samples& features) {
  if (features.width() > 0) return features;
  return Samples::own(Matrix(Matrix::Zero(features.size(), 1)));
}

// Whole numbers >= 0 whose sums of products stay below 2^24: float32 has every one of them, so its products are exact in half the time.
bool are_counts(const Samples& features, const Vector& self) {
  constexpr double most = 1 << 24;
  if (self.size() > 0 && !(self.maxCoeff() < most)) return false;
  const auto& rows = std::get<CsrRows<double>>(features.storage());
  const double* first = rows.values + (rows.rows == 0 ? 0 : rows.begin(0));
  return std::all_of(first, first + rows.nonzeros(), [](double v) { return v >= 0 && v < most && v == std::floor(v); });
}

Samples as_floats(const Samples& features, bool dense) {
  const auto& rows = std::get<CsrRows<double>>(features.storage());
  if (dense) {
    MatrixF out = MatrixF::Zero(rows.rows, rows.cols);
    for (Index i = 0; i < rows.rows; ++i) {
      for (Index p = rows.begin(i); p < rows.end(i); ++p) out(i, rows.columns[p]) = static_cast<float>(rows.values[p]);
    }
    return Samples::own(std::move(out));
  }
  auto values = std::make_shared<std::vector<float>>(rows.values, rows.values + rows.offsets[rows.rows]);
  CsrRows<float> out{values->data(), rows.columns, rows.offsets, rows.rows, rows.cols};
  return Samples::borrow(out, std::make_shared<const std::pair<std::shared_ptr<std::vector<float>>, Samples>>(values, features));
}

// Calls f(I, J) for the tiles that two ranges of elements make, in a fixed order.
template <class F>
void for_element_tiles(Range a, Range b, F&& f) {
  for (Index i = 0; i < a.count; i += tile_size) {
    for (Index j = 0; j < b.count; j += tile_size)
      f(Range{a.begin + i, std::min(tile_size, a.count - i)}, Range{b.begin + j, std::min(tile_size, b.count - j)});
  }
}

Vector inverse_roots(const Vector& self) {
  return self.unaryExpr([](double k) { return k > 0 ? 1 / std::sqrt(k) : 0.0; });
}

}  // namespace

template <class T>
BoundObjects<T>::BoundObjects(const KernelNode& node, const Samples& rows, const Samples& cols) : node_(node), same_(rows.same_rows(cols)) {
  const ObjectValues values = node.object_values(rows, cols);
  if (values.features != nullptr) {
    const objects::Features& f = *values.features;
    self_rows_ = f.self_rows;
    if (!same_) self_cols_ = f.self_cols;
    const bool one = f.rows.same_rows(f.cols);
    const bool none = f.rows.width() == 0;
    const bool counts = !none && are_counts(f.rows, f.self_rows) && (one || are_counts(f.cols, f.self_cols));
    const double least_share = counts ? dense_share_of_counts : dense_share;
    const bool fits = std::max(f.rows.size(), f.cols.size()) <= most_dense_entries / std::max<Index>(1, f.rows.width());
    const bool dense = none || (fits && filled_share(f.rows, f.cols) > least_share);
    ReductionSet needed;
    needed.insert(node.reduction());
    if (counts) {
      const Samples left = as_floats(f.rows, dense);
      counts_.emplace(left, one ? left : as_floats(f.cols, dense), needed);
    } else {
      const auto as_they_multiply = [&](const Samples& features) {
        return dense ? Samples::own(with_a_column(features).to_dense()) : features;
      };
      const Samples left = as_they_multiply(f.rows);
      reducer_.emplace(left, one ? left : as_they_multiply(f.cols), needed);
    }
  } else {
    pairs_ = values.pairs;
    self_rows_ = pairs_->self_rows();
    if (!same_) self_cols_ = pairs_->self_cols();
  }
  if (node.normalizes()) {
    row_factors_ = inverse_roots(self_rows_);
    col_factors_ = same_ ? row_factors_ : inverse_roots(self_cols_);
  }
}

template <class T>
void BoundObjects<T>::tile(TileInProgress<T>& at, Tile<T> out) const {
  if (counts_) {
    if constexpr (std::is_same_v<T, float>) {
      counts_->reduce(node_.reduction(), at.I, at.J, out);
    } else {
      TileMemory<float> memory;
      const Tile<float> exact = memory.tile(at.I.count, at.J.count);
      counts_->reduce(node_.reduction(), at.I, at.J, exact);
      for (Index i = 0; i < at.I.count; ++i) std::copy_n(exact.row(i), at.J.count, out.row(i));
    }
  } else if (reducer_) {
    reducer_->reduce(node_.reduction(), at.I, at.J, out);
  } else {
    // Divided in float64: before that, values may lie far outside what float32 has.
    constexpr Index pairs_between_checks = 32;
    std::vector<double> row(static_cast<std::size_t>(at.J.count));
    for (Index i = 0; i < at.I.count; ++i) {
      for (Index j = 0; j < at.J.count; j += pairs_between_checks) {
        pairs_->row(at.I[i], at.J.begin + j, std::min(pairs_between_checks, at.J.count - j), row.data() + j);
        check_stopped();
      }
      for (Index j = 0; j < at.J.count; ++j) {
        const double share = row_factors_.size() > 0 ? row_factors_[at.I[i]] * col_factors_[at.J.begin + j] : 1;
        out.row(i)[j] = static_cast<T>(row[static_cast<std::size_t>(j)] * share);
      }
    }
  }
  if (row_factors_.size() > 0 && pairs_ == nullptr) {
    for (Index i = 0; i < at.I.count; ++i) {
      const double factor = row_factors_[at.I[i]];
      for (Index j = 0; j < at.J.count; ++j)
        out.row(i)[j] = static_cast<T>(static_cast<double>(out.row(i)[j]) * factor * col_factors_[at.J.begin + j]);
    }
  }
  node_.finish(out);
}

template <class T>
Vector BoundObjects<T>::self(Side side) const {
  Vector out = raw_self(side);
  if (row_factors_.size() > 0) out = out.unaryExpr([](double k) { return k > 0 ? 1.0 : 0.0; });
  node_.finish(Tile<double>{out.data(), 1, out.size(), out.size()});
  return out;
}

template <class T>
double BoundObjects<T>::largest() const {
  if (node_.normalizes()) return 1;
  if (node_.properties().psd != Verdict::yes) return node_.largest_value(0);
  return std::sqrt(self_rows_.maxCoeff()) * std::sqrt(raw_self(Side::cols).maxCoeff());
}

template <class T>
BoundBag<T>::BoundBag(const KernelNode& node, const Samples& rows, const Samples& cols) : node_(node), same_(rows.same_rows(cols)) {
  rows_ = sets_of(rows, node.text());
  if (!same_) cols_ = sets_of(cols, node.text());
  const Kernel& part = node.parts()[0];
  this->parameters = part.parameters().size();
  const Sets& right = sets(Side::cols);
  if (rows_.elements.empty() || right.elements.empty()) return;
  kernel_.emplace(part, rows_.elements, right.elements);
}

template <class T>
double BoundBag<T>::share(Range a, Range b) const {
  if (node_.bag_form() == kernels::BagForm::sum) return 1;
  return 1 / (static_cast<double>(a.count) * static_cast<double>(b.count));
}

template <class T>
double BoundBag<T>::value(const PreparedKernel<T>& kernel, Range a, Range b) const {
  if (a.count == 0 || b.count == 0) return 0;
  const bool best = node_.bag_form() == kernels::BagForm::best;
  std::vector<double> row_best(best ? static_cast<std::size_t>(a.count) : 0, -std::numeric_limits<double>::infinity());
  std::vector<double> col_best(best ? static_cast<std::size_t>(b.count) : 0, -std::numeric_limits<double>::infinity());
  double sum = 0;
  TileMemory<T> memory;
  for_element_tiles(a, b, [&](Range I, Range J) {
    const Tile<T> values = memory.tile(I.count, J.count);
    kernel.tile(I, J, values);
    check_stopped();
    for (Index i = 0; i < I.count; ++i) {
      for (Index j = 0; j < J.count; ++j) {
        const auto k = static_cast<double>(values.row(i)[j]);
        sum += k;
        if (!best) continue;
        double& r = row_best[static_cast<std::size_t>(I.begin - a.begin + i)];
        double& c = col_best[static_cast<std::size_t>(J.begin - b.begin + j)];
        r = std::max(r, k);
        c = std::max(c, k);
      }
    }
  });
  if (!best) return sum * share(a, b);
  const auto mean = [](const std::vector<double>& values) {
    double total = 0;
    for (const double k : values) total += k;
    return total / static_cast<double>(values.size());
  };
  return (mean(row_best) + mean(col_best)) / 2;
}

// Sets of the rows I whose elements stand one after the other and fill at most one tile; a larger set is alone.
template <class T>
std::vector<typename BoundBag<T>::Group> BoundBag<T>::groups(const Sets& sets, const RowSet& I) {
  std::vector<Group> out;
  for (Index i = 0; i < I.count; ++i) {
    const Range own = range_of(sets, I[i]);
    const bool joins = !out.empty() && I.ids == nullptr && out.back().elements.count + own.count <= tile_size;
    if (joins) {
      ++out.back().count;
      out.back().elements.count += own.count;
    } else {
      out.push_back({i, 1, own});
    }
  }
  return out;
}

// Many small sets share one tile of elements: one call of the part's kernel in place of one for each pair of sets.
template <class T>
void BoundBag<T>::tile(TileInProgress<T>& at, Tile<T> out) const {
  const Sets& right = sets(Side::cols);
  const bool best = node_.bag_form() == kernels::BagForm::best;
  const std::vector<Group> row_groups = groups(rows_, at.I);
  const std::vector<Group> col_groups = groups(right, at.J);
  for (const Group& g : row_groups) {
    for (const Group& h : col_groups) {
      const bool shared = kernel_ && !best && g.elements.count <= tile_size && h.elements.count <= tile_size && g.elements.count > 0 &&
                          h.elements.count > 0;
      TileMemory<T> memory;
      const Tile<T> values = memory.tile(shared ? g.elements.count : 0, shared ? h.elements.count : 0);
      if (shared) kernel_->tile(g.elements, h.elements, values);
      check_stopped();
      for (Index i = g.first; i < g.first + g.count; ++i) {
        const Range a = range_of(rows_, at.I[i]);
        for (Index j = h.first; j < h.first + h.count; ++j) {
          const Range b = range_of(right, at.J.begin + j);
          double k = 0;
          if (shared && a.count > 0 && b.count > 0) {
            for (Index r = 0; r < a.count; ++r) {
              const T* row = values.row(a.begin - g.elements.begin + r) + (b.begin - h.elements.begin);
              for (Index c = 0; c < b.count; ++c) k += static_cast<double>(row[c]);
            }
            k *= share(a, b);
          } else if (!shared && kernel_) {
            k = value(*kernel_, a, b);
          }
          out.row(i)[j] = static_cast<T>(k);
        }
      }
    }
  }
}

template <class T>
const PreparedKernel<T>& BoundBag<T>::within(Side side) const {
  if (same_) return *kernel_;
  const std::size_t s = side == Side::rows ? 0 : 1;
  std::call_once(within_once_[s], [&] { within_[s].emplace(node_.parts()[0], sets(side).elements, sets(side).elements); });
  return *within_[s];
}

template <class T>
Vector BoundBag<T>::self(Side side) const {
  const Sets& mine = sets(side);
  Vector out = Vector::Zero(mine.size());
  if (mine.elements.empty()) return out;
  const PreparedKernel<T>& kernel = within(side);
  parallel_for(mine.size(), [&](Index i) { out[i] = value(kernel, range_of(mine, i), range_of(mine, i)); });
  return out;
}

// The weight of a pair of sets is that of every pair of their elements.
template <class T>
void BoundBag<T>::spread_gradient(const PreparedKernel<T>& kernel, Range a, Range b, double weight, std::span<double> gradient) const {
  if (a.count == 0 || b.count == 0) return;
  const double w = weight * share(a, b);
  TileMemory<double> memory;
  for_element_tiles(a, b, [&](Range I, Range J) {
    const Tile<double> spread = memory.tile(I.count, J.count);
    for (Index r = 0; r < I.count; ++r) std::fill_n(spread.row(r), J.count, w);
    kernel.add_gradient(I, J, spread, gradient);
  });
}

template <class T>
void BoundBag<T>::add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const {
  if (this->parameters == 0 || !kernel_) return;
  require_slope();
  for (Index i = 0; i < at.I.count; ++i) {
    for (Index j = 0; j < at.J.count; ++j)
      spread_gradient(*kernel_, range_of(rows_, at.I[i]), range_of(sets(Side::cols), at.J.begin + j), weights.row(i)[j], gradient);
  }
}

template <class T>
void BoundBag<T>::add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const {
  if (this->parameters == 0 || sets(side).elements.empty()) return;
  require_slope();
  const PreparedKernel<T>& kernel = within(side);
  for (Index i = 0; i < range.count; ++i) {
    const Range own = range_of(sets(side), range.begin + i);
    spread_gradient(kernel, own, own, weights[static_cast<std::size_t>(i)], gradient);
  }
}

template <class T>
void BoundBag<T>::require_slope() const {
  if (node_.bag_form() == kernels::BagForm::best)
    throw InvalidArgument(
        fmt::format("{} has no gradient where the best match changes; give its part's parameters as numbers", node_.text()));
}

template <class T>
BoundPulled<T>::BoundPulled(const KernelNode& node, const Samples& rows, const Samples& cols) : node_(node) {
  rows_ = node.pulled(rows);
  cols_ = rows.same_rows(cols) ? rows_ : node.pulled(cols);
  kernel_.emplace(node.parts()[0], rows_, cols_);
  this->parameters = node.parts()[0].parameters().size();
}

template <class T>
Vector BoundPulled<T>::self(Side side) const {
  return kernel_->symmetric() ? kernel_->diagonal() : gram_diagonal(node_.parts()[0], side == Side::rows ? rows_ : cols_);
}

template <class T>
void BoundPulled<T>::add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const {
  if constexpr (std::is_same_v<T, double>) {
    if (this->parameters == 0) return;
    const Samples part = (side == Side::rows ? rows_ : cols_).slice(range.begin, range.count);
    const PreparedKernel<double> kernel(node_.parts()[0], part, part);
    std::vector<double> one(1);
    for (Index i = 0; i < range.count; ++i) {
      one[0] = weights[static_cast<std::size_t>(i)];
      kernel.add_gradient({i, 1}, {i, 1}, Tile<double>{one.data(), 1, 1, 1}, gradient);
    }
  }
}

template <class T>
void BoundRadial<T>::distances(TileInProgress<T>& at, Tile<T> tile) const {
  part_->tile(at, tile);
  const Vector& x = part_->diagonal(Side::rows);
  const Vector& y = part_->diagonal(Side::cols);
  for (Index i = 0; i < at.I.count; ++i) {
    for (Index j = 0; j < at.J.count; ++j) {
      const double d2 = x[at.I[i]] + y[at.J.begin + j] - 2 * static_cast<double>(tile.row(i)[j]);
      tile.row(i)[j] = static_cast<T>(std::max(0.0, d2));
    }
  }
}

template <class T>
void BoundRadial<T>::tile(TileInProgress<T>& at, Tile<T> out) const {
  distances(at, out);
  const double l = node_.factor();
  simd::for_rows(out, [&](T* d2, Index n) {
    simd::ops<T>().exp_of(d2, n, static_cast<T>(std::max(-0.5 / (l * l), static_cast<double>(std::numeric_limits<T>::lowest()))));
  });
}

// k = exp(-d^2/(2 l^2)): dk/d log l = k d^2/l^2, and dk/d part = k/l^2 off the diagonal, -k/(2 l^2) for each of k(x,x) and k(y,y).
template <class T>
void BoundRadial<T>::add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const {
  TileMemory<T> memory;
  const Tile<T> d2 = memory.tile(weights.rows, weights.cols);
  distances(at, d2);
  const double l2 = node_.factor() * node_.factor();
  std::vector<double> row_weights(static_cast<std::size_t>(weights.rows), 0);
  std::vector<double> col_weights(static_cast<std::size_t>(weights.cols), 0);
  for (Index i = 0; i < weights.rows; ++i) {
    for (Index j = 0; j < weights.cols; ++j) {
      double& w = weights.row(i)[j];
      const auto d = static_cast<double>(d2.row(i)[j]);
      const double share = w * std::exp(-d / (2 * l2)) / l2;
      gradient[0] += share * d;
      row_weights[static_cast<std::size_t>(i)] -= share / 2;
      col_weights[static_cast<std::size_t>(j)] -= share / 2;
      w = share;
    }
  }
  if (part_->parameters == 0) return;
  part_->add_gradient(at, weights, gradient.subspan(1));
  part_->add_self_gradient(Side::rows, at.I, row_weights, gradient.subspan(1));
  part_->add_self_gradient(Side::cols, at.J, col_weights, gradient.subspan(1));
}

template class BoundObjects<float>;
template class BoundObjects<double>;
template class BoundBag<float>;
template class BoundBag<double>;
template class BoundPulled<float>;
template class BoundPulled<double>;
template class BoundRadial<float>;
template class BoundRadial<double>;

}  // namespace mercer

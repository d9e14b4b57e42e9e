// SPDX-License-Identifier: BSD-3-Clause
#include "gram/bound_leaf.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "gram/transform.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

template <class T>
void copy_tile(Tile<const T> from, Tile<T> to) {
  for (Index i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.cols, to.row(i));
}

template <class T>
Tile<const T> read_only(Tile<T> tile) {
  return {tile.data, tile.rows, tile.cols, tile.stride};
}

}  // namespace

template <class T>
BoundLeaf<T>::BoundLeaf(const KernelNode& node, std::shared_ptr<const View<T>> view) : node_(node), view_(std::move(view)) {
  this->parameters = node_.own_parameters().size();
  const Transform& t = node_.transform();
  in_finish_ = this->parameters - std::min(this->parameters, t.scales.size() + t.periods.size());
}

template <class T>
void BoundLeaf<T>::prepare() {
  if (node_.reduction() != Reduction::dot) return;
  const double dot = view_->reducer->largest_dot();
  if (node_.largest_value(dot) < static_cast<double>(std::numeric_limits<T>::max())) return;
  throw InvalidArgument(
      fmt::format("{} overflows {} on these rows: dot products reach {:.3g}; scale the columns, or lower the kernel's scale", node_.text(),
                  name_of(precision_of<T>), dot));
}

template <class T>
double BoundLeaf<T>::largest() const {
  const Reduction reduction = node_.reduction();
  if (reduction == Reduction::dot) return node_.largest_value(view_->reducer->largest_dot());
  if (reduction == Reduction::minimum_sum) return view_->reducer->self(reduction, Side::rows).maxCoeff();
  return reduction == Reduction::given ? view_->reducer->largest_given() : node_.largest_value(0);
}

// From the shared tile where several leaves look at it: made by whoever comes first.
template <class T>
void BoundLeaf<T>::reduce(TileInProgress<T>& at, Tile<T> out) const {
  const Reduction reduction = node_.reduction();
  const auto slot = view_->slot[static_cast<std::size_t>(reduction)];
  if (!slot) {
    view_->reducer->reduce(reduction, at.I, at.J, out);
    return;
  }
  auto& memory = at.shared[*slot];
  if (!memory) {
    memory.emplace();
    view_->reducer->reduce(reduction, at.I, at.J, memory->tile(at.I.count, at.J.count));
  }
  copy_tile(read_only(memory->tile(at.I.count, at.J.count)), out);
}

template <class T>
void BoundLeaf<T>::tile(TileInProgress<T>& at, Tile<T> out) const {
  reduce(at, out);
  node_.finish(out);
}

template <class T>
Vector BoundLeaf<T>::self(Side side) const {
  Vector out = view_->reducer->self(node_.reduction(), side);
  if (view_->transform.unit_rows) out = out.array().round();  // 1, or 0 for a row of zeros: dividing by the length rounds
  node_.finish(Tile<double>{out.data(), 1, out.size(), out.size()});
  return out;
}

template <class T>
void BoundLeaf<T>::add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const {
  if constexpr (std::is_same_v<T, double>) {
    if (this->parameters == 0) return;
    TileMemory<double> input_memory;
    TileMemory<double> value_memory;
    const Tile<double> inputs = input_memory.tile(at.I.count, at.J.count);
    const Tile<double> values = value_memory.tile(at.I.count, at.J.count);
    reduce(at, inputs);
    copy_tile(read_only(inputs), values);
    node_.finish(values);
    node_.gradient(read_only(inputs), read_only(values), weights, gradient.first(in_finish_));
    if (in_finish_ < this->parameters)
      add_transform_gradient(view_->rows, at.I, view_->cols, at.J, view_->transform, node_.reduction(), read_only(weights),
                             gradient.subspan(in_finish_));
  }
}

// A sample has distance 0 to itself whatever the scales, so the transform's parameters do not move it.
template <class T>
void BoundLeaf<T>::add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const {
  if (in_finish_ == 0) return;
  const Vector inputs = view_->reducer->self(node_.reduction(), side).segment(range.begin, range.count);
  Vector values = inputs;
  node_.finish(Tile<double>{values.data(), 1, range.count, range.count});
  std::vector<double> w(weights.begin(), weights.end());
  node_.gradient({inputs.data(), 1, range.count, range.count}, {values.data(), 1, range.count, range.count},
                 {w.data(), 1, range.count, range.count}, gradient.first(in_finish_));
}

template <class T>
Matrix BoundFunction<T>::call(const Samples& X, const Samples& Y) const {
  Matrix out = node_.function()(X, Y);
  if (out.rows() != X.size() || out.cols() != Y.size())
    throw InvalidArgument(fmt::format("{} must give a {} x {} matrix for blocks of {} and {} samples, got {} x {}", node_.text(), X.size(),
                                      Y.size(), X.size(), Y.size(), out.rows(), out.cols()));
  if (!out.allFinite())
    throw InvalidArgument(fmt::format("{} gave a value that is NaN or infinite; kernel values must be finite", node_.text()));
  return out;
}

template <class T>
void BoundFunction<T>::tile(TileInProgress<T>& at, Tile<T> out) const {
  const Samples rows =
      at.I.ids == nullptr ? rows_.slice(at.I.begin, at.I.count) : rows_.subset({at.I.ids, static_cast<std::size_t>(at.I.count)});
  const Matrix values = call(rows, cols_.slice(at.J.begin, at.J.count));
  for (Index i = 0; i < at.I.count; ++i) {
    for (Index j = 0; j < at.J.count; ++j) out.row(i)[j] = static_cast<T>(values(i, j));
  }
}

// By the blocks on the diagonal, one call each; their symmetry tells whether the function has it.
template <class T>
Vector BoundFunction<T>::self(Side side) const {
  const Samples& X = side == Side::rows ? rows_ : cols_;
  Vector out(X.size());
  for (Index block = 0; block < block_count(X.size()); ++block) {
    const Range range = block_range(block, X.size());
    const Samples part = X.slice(range.begin, range.count);
    const Matrix values = call(part, part);
    Index i = 0;
    Index j = 0;
    const double most = (values - values.transpose()).cwiseAbs().maxCoeff(&i, &j);
    if (most > 1e-6 * values.cwiseAbs().maxCoeff())
      throw InvalidArgument(fmt::format("{} is not symmetric: k(x_{}, x_{}) = {} but k(x_{}, x_{}) = {}; a kernel must be", node_.text(),
                                        range.begin + i, range.begin + j, values(i, j), range.begin + j, range.begin + i, values(j, i)));
    out.segment(range.begin, range.count) = values.diagonal();
  }
  return out;
}

template class BoundLeaf<float>;
template class BoundLeaf<double>;
template class BoundFunction<float>;
template class BoundFunction<double>;

}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "gram/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gram/bound_leaf.hpp"
#include "gram/bound_objects.hpp"
#include "gram/bound_wrappers.hpp"
#include "gram/rows.hpp"
#include "gram/transform.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

template <class T>
using Parts = std::vector<std::unique_ptr<BoundNode<T>>>;

// Calls f(entry, other entry) over two tiles of one size.
template <class A, class B, class F>
void zip(Tile<A> a, Tile<B> b, F&& f) {
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.cols; ++j) f(a.row(i)[j], b.row(i)[j]);
  }
}

// What sums and products share: tiles and diagonals combined part by part, from left to right.
template <class T>
class BoundParts : public BoundNode<T> {
 public:
  void tile(TileInProgress<T>& at, Tile<T> out) const override {
    const auto combine = product_ ? simd::ops<T>().multiply : simd::ops<T>().add;
    parts_[0]->tile(at, out);
    TileMemory<T> memory;
    const Tile<T> other = memory.tile(out.rows, out.cols);
    for (std::size_t p = 1; p < parts_.size(); ++p) {
      parts_[p]->tile(at, other);
      for (Index i = 0; i < out.rows; ++i) combine(out.row(i), other.row(i), out.cols);
    }
  }
  Vector self(Side side) const override {
    Vector out = parts_[0]->self(side);
    for (std::size_t p = 1; p < parts_.size(); ++p) {
      const Vector other = parts_[p]->self(side);
      out = product_ ? Vector(out.cwiseProduct(other)) : Vector(out + other);
    }
    return out;
  }
  void prepare() override {
    for (const auto& part : parts_) part->prepare();
  }

 protected:
  BoundParts(Parts<T> parts, bool product) : parts_(std::move(parts)), product_(product) {
    for (const auto& part : parts_) this->parameters += part->parameters;
  }

  Parts<T> parts_;

 private:
  bool product_;
};

template <class T>
class BoundSum final : public BoundParts<T> {
 public:
  explicit BoundSum(Parts<T> parts) : BoundParts<T>(std::move(parts), false) {}

  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override {
    TileMemory<double> memory;
    const Tile<double> copy = memory.tile(weights.rows, weights.cols);
    for (const auto& part : this->parts_) {
      if (part->parameters > 0) {
        zip(copy, weights, [](double& to, double from) { to = from; });
        part->add_gradient(at, copy, gradient);
      }
      gradient = gradient.subspan(part->parameters);
    }
  }
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override {
    for (const auto& part : this->parts_) {
      part->add_self_gradient(side, range, weights, gradient);
      gradient = gradient.subspan(part->parameters);
    }
  }
  double largest() const override {
    double sum = 0;
    for (const auto& part : this->parts_) sum += part->largest();
    return sum;
  }
};

template <class T>
class BoundProduct final : public BoundParts<T> {
 public:
  explicit BoundProduct(Parts<T> parts) : BoundParts<T>(std::move(parts), true) {}

  // The weights of a part are those of the product times all other parts.
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override {
    std::vector<std::unique_ptr<TileMemory<T>>> values;
    for (const auto& part : this->parts_) {
      values.push_back(std::make_unique<TileMemory<T>>());
      part->tile(at, values.back()->tile(weights.rows, weights.cols));
    }
    TileMemory<double> memory;
    const Tile<double> mine = memory.tile(weights.rows, weights.cols);
    for (std::size_t p = 0; p < this->parts_.size(); ++p) {
      if (this->parts_[p]->parameters > 0) {
        zip(mine, weights, [](double& to, double from) { to = from; });
        for (std::size_t q = 0; q < this->parts_.size(); ++q) {
          if (q != p) zip(mine, values[q]->tile(weights.rows, weights.cols), [](double& to, T k) { to *= static_cast<double>(k); });
        }
        this->parts_[p]->add_gradient(at, mine, gradient);
      }
      gradient = gradient.subspan(this->parts_[p]->parameters);
    }
  }
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override {
    for (std::size_t p = 0; p < this->parts_.size(); ++p) {
      std::vector<double> mine(weights.begin(), weights.end());
      for (std::size_t q = 0; q < this->parts_.size(); ++q) {
        if (q == p) continue;
        const Vector& other = this->parts_[q]->diagonal(side);
        for (Index i = 0; i < range.count; ++i) mine[static_cast<std::size_t>(i)] *= other[range.begin + i];
      }
      this->parts_[p]->add_self_gradient(side, range, mine, gradient);
      gradient = gradient.subspan(this->parts_[p]->parameters);
    }
  }
  // Of the first parts too: they are multiplied from left to right, and what has overflowed stays so.
  double largest() const override {
    double product = 1;
    double most = 0;
    for (const auto& part : this->parts_) most = std::max(most, product *= part->largest());
    return most;
  }
};

template <class T>
class BoundScaled final : public BoundNode<T> {
 public:
  BoundScaled(double factor, std::unique_ptr<BoundNode<T>> part) : factor_(factor), part_(std::move(part)) {
    this->parameters = own() + part_->parameters;
  }

  void tile(TileInProgress<T>& at, Tile<T> out) const override {
    part_->tile(at, out);
    simd::for_rows(out, [&](T* x, Index n) { simd::ops<T>().scale(x, n, static_cast<T>(factor_)); });
  }
  Vector self(Side side) const override { return factor_ * part_->self(side); }
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override {
    zip(weights, weights, [&](double& w, double) { w *= factor_; });
    if (own() > 0) {  // d(a k)/d log a = a k
      TileMemory<T> memory;
      const Tile<T> values = memory.tile(weights.rows, weights.cols);
      part_->tile(at, values);
      zip(weights, values, [&](double w, T k) { gradient[0] += w * static_cast<double>(k); });
    }
    part_->add_gradient(at, weights, gradient.subspan(own()));
  }
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override {
    std::vector<double> mine;
    for (const double w : weights) mine.push_back(factor_ * w);
    if (own() > 0) {
      const Vector& k = part_->diagonal(side);
      for (Index i = 0; i < range.count; ++i) gradient[0] += mine[static_cast<std::size_t>(i)] * k[range.begin + i];
    }
    part_->add_self_gradient(side, range, mine, gradient.subspan(own()));
  }
  void prepare() override { part_->prepare(); }
  double largest() const override { return std::abs(factor_) * part_->largest(); }

 private:
  std::size_t own() const { return factor_ > 0 ? 1 : 0; }

  double factor_;
  std::unique_ptr<BoundNode<T>> part_;
};

// Powers and series of a part's values.
template <class T>
class BoundMap final : public BoundNode<T> {
 public:
  BoundMap(const Kernel& kernel, std::unique_ptr<BoundNode<T>> part)
      : node_(kernel.node()), psd_part_(node_.parts()[0].is_psd()), part_(std::move(part)) {
    this->parameters = part_->parameters;
  }

  void tile(TileInProgress<T>& at, Tile<T> out) const override {
    part_->tile(at, out);
    node_.finish(out);
  }
  Vector self(Side side) const override {
    Vector out = part_->self(side);
    node_.finish(Tile<double>{out.data(), 1, out.size(), out.size()});
    return out;
  }
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override {
    if constexpr (std::is_same_v<T, double>) {
      if (this->parameters == 0) return;
      TileMemory<double> input_memory;
      TileMemory<double> value_memory;
      const Tile<double> inputs = input_memory.tile(weights.rows, weights.cols);
      const Tile<double> values = value_memory.tile(weights.rows, weights.cols);
      part_->tile(at, inputs);
      zip(values, inputs, [](double& to, double from) { to = from; });
      node_.finish(values);
      node_.gradient({inputs.data, inputs.rows, inputs.cols, inputs.stride}, {values.data, values.rows, values.cols, values.stride},
                     weights, {});
      part_->add_gradient(at, weights, gradient);
    }
  }
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override {
    const Vector inputs = part_->diagonal(side).segment(range.begin, range.count);
    Vector values = inputs;
    node_.finish(Tile<double>{values.data(), 1, range.count, range.count});
    std::vector<double> mine(weights.begin(), weights.end());
    node_.gradient({inputs.data(), 1, range.count, range.count}, {values.data(), 1, range.count, range.count},
                   {mine.data(), 1, range.count, range.count}, {});
    part_->add_self_gradient(side, range, mine, gradient);
  }
  void prepare() override {
    part_->prepare();
    largest_part_ = part_->largest();
    // By Cauchy-Schwarz no value of a positive semi-definite part exceeds the root of two diagonal ones.
    if (psd_part_)
      largest_part_ =
          std::min(largest_part_, std::sqrt(part_->diagonal(Side::rows).maxCoeff()) * std::sqrt(part_->diagonal(Side::cols).maxCoeff()));
    const double largest = largest_part_;
    if (node_.largest_value(largest) < static_cast<double>(std::numeric_limits<T>::max())) return;
    throw InvalidArgument(
        fmt::format("{} has no value in {} here: the kernel inside it reaches {:.6g}; multiply that by a small factor, or scale the "
                    "columns",
                    node_.text(), name_of(precision_of<T>), largest));
  }

  double largest() const override { return node_.largest_value(largest_part_); }

 private:
  const KernelNode& node_;
  bool psd_part_;
  double largest_part_ = 0;
  std::unique_ptr<BoundNode<T>> part_;
};

// Leaves look at columns of numbers, but a map of the user's may look at anything, and some look at no column.
void require_numbers(const KernelNode& node, const Samples& X) {
  const bool looks = node.transform().map == nullptr && node.reduction() != Reduction::none && node.reduction() != Reduction::same;
  if (!X.has_objects() || !looks) return;
  const ObjectRows& rows = X.object_rows();
  const std::string_view kind = name_of(rows.columns[0]->kind());
  if (X.width() == std::ssize(rows.columns))
    throw InvalidArgument(fmt::format("{} looks at numbers, but these samples are {}: take a kernel of {}, such as {}", node.text(), kind,
                                      kind,
                                      rows.columns[0]->kind() == ObjectKind::string  ? "spectrum(3)"
                                      : rows.columns[0]->kind() == ObjectKind::graph ? "weisfeiler_lehman(5)"
                                                                                     : "bag_of(gaussian(auto))"));
  throw InvalidArgument(fmt::format("{} looks at numbers, but column {} holds {}: name the columns of numbers, as in {}.on({})",
                                    node.text(), rows.places[0], kind, node.text(), rows.places[0] == 0 ? 1 : 0));
}

// Walks a kernel, gathers the views its leaves need, and prepares each of them once.
template <class T>
class Binder {
 public:
  Binder(const Samples& rows, const Samples& cols) : rows_(rows), cols_(cols) {}

  std::unique_ptr<BoundNode<T>> node(const Kernel& kernel, const std::vector<ColumnRef>& columns) {
    const KernelNode& node = kernel.node();
    using Kind = KernelNode::Kind;
    const auto part = [&] { return this->node(node.parts()[0], columns); };
    switch (node.kind()) {
      case Kind::leaf:
        return std::make_unique<BoundLeaf<T>>(node, view(columns, node));
      case Kind::function: {
        const auto& seen = view(columns, node);
        return std::make_unique<BoundFunction<T>>(node, seen->rows, seen->cols);
      }
      case Kind::sum:
        return std::make_unique<BoundSum<T>>(parts(node, columns));
      case Kind::product:
        return std::make_unique<BoundProduct<T>>(parts(node, columns));
      case Kind::scaled:
        return std::make_unique<BoundScaled<T>>(node.factor(), part());
      case Kind::mapped:
        return std::make_unique<BoundMap<T>>(kernel, part());
      case Kind::normalized:
        return std::make_unique<BoundNormalized<T>>(node, part(), rows_.same_rows(cols_));
      case Kind::restricted:
        return this->node(node.parts()[0], columns_within(columns, node.columns()));
      case Kind::composed: {
        const auto& seen = view(columns, node);
        return std::make_unique<BoundComposed<T>>(node.parts()[0], node.points(), seen->rows, seen->cols);
      }
      case Kind::objects: {
        const auto& seen = view(columns, node);
        return std::make_unique<BoundObjects<T>>(node, seen->rows, seen->cols);
      }
      case Kind::bag: {
        const auto& seen = view(columns, node);
        return std::make_unique<BoundBag<T>>(node, seen->rows, seen->cols);
      }
      case Kind::pulled: {
        const auto& seen = view(columns, node);
        return std::make_unique<BoundPulled<T>>(node, seen->rows, seen->cols);
      }
      case Kind::radial:
        return std::make_unique<BoundRadial<T>>(node, part());
    }
    return nullptr;
  }

  // Once every leaf has said what it needs. Returns how many reductions are shared.
  std::size_t prepare() {
    std::size_t slots = 0;
    for (const auto& view : views_) {
      const bool scaled = !view->transform.scales.empty() && !view->rows.is_sparse() && !view->cols.is_sparse();
      const Vector centre = scaled ? column_means(view->cols) : Vector();
      const Samples rows = transformed(view->rows, view->transform, centre);
      const Samples cols = view->same ? rows : transformed(view->cols, view->transform, centre);
      view->reducer.emplace(rows, cols, view->needed);
      for (std::size_t r = 0; r < view->uses.size(); ++r) {
        if (view->uses[r] > 1 && static_cast<Reduction>(r) != Reduction::none) view->slot[r] = slots++;
      }
    }
    return slots;
  }

 private:
  Parts<T> parts(const KernelNode& node, const std::vector<ColumnRef>& columns) {
    Parts<T> out;
    for (const Kernel& part : node.parts()) out.push_back(this->node(part, columns));
    return out;
  }

  std::shared_ptr<View<T>> view(const std::vector<ColumnRef>& columns, const KernelNode& node) {
    if (rows_.is_given() && (node.kind() == KernelNode::Kind::function || node.transform().map != nullptr))
      throw InvalidArgument(fmt::format("{} looks at rows, but these samples are known by a given Gram matrix alone", node.text()));
    const auto same = [&](const auto& v) { return v->columns == columns && v->transform == node.transform(); };
    auto it = std::find_if(views_.begin(), views_.end(), same);
    if (it == views_.end()) {
      // Here, where row and column still are those of the user; plain views are checked for free with their sums.
      if (!checked_ && (!columns.empty() || !node.transform().empty())) {
        require_finite(rows_, "X");
        if (!rows_.same_rows(cols_)) require_finite(cols_, "Y");
        checked_ = true;
      }
      auto made = std::make_shared<View<T>>();
      made->columns = columns;
      made->transform = node.transform();
      made->same = rows_.same_rows(cols_);
      made->rows = select_columns(rows_, columns);
      made->cols = made->same ? made->rows : select_columns(cols_, columns);
      it = views_.insert(views_.end(), std::move(made));
    }
    if (node.kind() == KernelNode::Kind::leaf) {
      require_numbers(node, (*it)->rows);
      require_numbers(node, (*it)->cols);
      (*it)->needed.insert(node.reduction());
      ++(*it)->uses[static_cast<std::size_t>(node.reduction())];
    }
    return *it;
  }

  const Samples& rows_;
  const Samples& cols_;
  std::vector<std::shared_ptr<View<T>>> views_;
  bool checked_ = false;  // that all values are finite
};

}  // namespace

template <class T>
BoundKernels<T> bind_kernels(std::span<const Kernel> kernels, const Samples& rows, const Samples& cols) {
  Binder<T> binder(rows, cols);
  BoundKernels<T> bound;
  for (const Kernel& kernel : kernels) bound.roots.push_back(binder.node(kernel, {}));
  bound.slots = binder.prepare();
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    bound.roots[k]->prepare();
    const double largest = bound.roots[k]->largest();
    if (!(largest < static_cast<double>(std::numeric_limits<T>::max())))
      throw InvalidArgument(
          fmt::format("{} overflows {} on these rows: its values may reach {:.3g}; lower its factors, or scale the columns",
                      kernels[k].text(), name_of(precision_of<T>), largest));
  }
  return bound;
}

template BoundKernels<float> bind_kernels(std::span<const Kernel>, const Samples&, const Samples&);
template BoundKernels<double> bind_kernels(std::span<const Kernel>, const Samples&, const Samples&);

}  // namespace mercer

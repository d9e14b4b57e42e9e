// SPDX-License-Identifier: BSD-3-Clause
#include "gram/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gram/bound_leaf.hpp"
#include "gram/fill.hpp"
#include "gram/transform.hpp"
#include "linalg/blas.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

template <class T>
using Parts = std::vector<std::unique_ptr<BoundNode<T>>>;

template <class T>
std::size_t parameters_of(const Parts<T>& parts) {
  std::size_t all = 0;
  for (const auto& part : parts) all += part->parameters;
  return all;
}

// Calls f(entry, other entry) over two tiles of one size.
template <class A, class B, class F>
void zip(Tile<A> a, Tile<B> b, F&& f) {
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.cols; ++j) f(a.row(i)[j], b.row(i)[j]);
  }
}

template <class T>
class BoundSum final : public BoundNode<T> {
 public:
  explicit BoundSum(Parts<T> parts) : parts_(std::move(parts)) { this->parameters = parameters_of(parts_); }

  void tile(TileInProgress<T>& at, Tile<T> out) const override {
    parts_[0]->tile(at, out);
    TileMemory<T> memory;
    const Tile<T> other = memory.tile(out.rows, out.cols);
    for (std::size_t p = 1; p < parts_.size(); ++p) {
      parts_[p]->tile(at, other);
      for (Index i = 0; i < out.rows; ++i) simd::ops<T>().add(out.row(i), other.row(i), out.cols);
    }
  }
  Vector self(Side side) const override {
    Vector out = parts_[0]->self(side);
    for (std::size_t p = 1; p < parts_.size(); ++p) out += parts_[p]->self(side);
    return out;
  }
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override {
    TileMemory<double> memory;
    const Tile<double> copy = memory.tile(weights.rows, weights.cols);
    for (const auto& part : parts_) {
      if (part->parameters > 0) {
        zip(copy, weights, [](double& to, double from) { to = from; });
        part->add_gradient(at, copy, gradient);
      }
      gradient = gradient.subspan(part->parameters);
    }
  }
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override {
    for (const auto& part : parts_) {
      part->add_self_gradient(side, range, weights, gradient);
      gradient = gradient.subspan(part->parameters);
    }
  }
  void prepare() override {
    for (const auto& part : parts_) part->prepare();
  }

 private:
  Parts<T> parts_;
};

template <class T>
class BoundProduct final : public BoundNode<T> {
 public:
  explicit BoundProduct(Parts<T> parts) : parts_(std::move(parts)) { this->parameters = parameters_of(parts_); }

  void tile(TileInProgress<T>& at, Tile<T> out) const override {
    parts_[0]->tile(at, out);
    TileMemory<T> memory;
    const Tile<T> other = memory.tile(out.rows, out.cols);
    for (std::size_t p = 1; p < parts_.size(); ++p) {
      parts_[p]->tile(at, other);
      for (Index i = 0; i < out.rows; ++i) simd::ops<T>().multiply(out.row(i), other.row(i), out.cols);
    }
  }
  Vector self(Side side) const override {
    Vector out = parts_[0]->self(side);
    for (std::size_t p = 1; p < parts_.size(); ++p) out.array() *= parts_[p]->self(side).array();
    return out;
  }
  // The weights of a part are those of the product times all other parts.
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override {
    std::vector<std::unique_ptr<TileMemory<T>>> values;
    for (const auto& part : parts_) {
      values.push_back(std::make_unique<TileMemory<T>>());
      part->tile(at, values.back()->tile(weights.rows, weights.cols));
    }
    TileMemory<double> memory;
    const Tile<double> mine = memory.tile(weights.rows, weights.cols);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p]->parameters > 0) {
        zip(mine, weights, [](double& to, double from) { to = from; });
        for (std::size_t q = 0; q < parts_.size(); ++q) {
          if (q != p) zip(mine, values[q]->tile(weights.rows, weights.cols), [](double& to, T k) { to *= static_cast<double>(k); });
        }
        parts_[p]->add_gradient(at, mine, gradient);
      }
      gradient = gradient.subspan(parts_[p]->parameters);
    }
  }
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      std::vector<double> mine(weights.begin(), weights.end());
      for (std::size_t q = 0; q < parts_.size(); ++q) {
        if (q == p) continue;
        const Vector other = parts_[q]->self(side);
        for (Index i = 0; i < range.count; ++i) mine[static_cast<std::size_t>(i)] *= other[range.begin + i];
      }
      parts_[p]->add_self_gradient(side, range, mine, gradient);
      gradient = gradient.subspan(parts_[p]->parameters);
    }
  }
  void prepare() override {
    for (const auto& part : parts_) part->prepare();
  }

 private:
  Parts<T> parts_;
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
      const Vector k = part_->self(side);
      for (Index i = 0; i < range.count; ++i) gradient[0] += mine[static_cast<std::size_t>(i)] * k[range.begin + i];
    }
    part_->add_self_gradient(side, range, mine, gradient.subspan(own()));
  }
  void prepare() override { part_->prepare(); }

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
    const Vector inputs = part_->self(side).segment(range.begin, range.count);
    Vector values = inputs;
    node_.finish(Tile<double>{values.data(), 1, range.count, range.count});
    std::vector<double> mine(weights.begin(), weights.end());
    node_.gradient({inputs.data(), 1, range.count, range.count}, {values.data(), 1, range.count, range.count},
                   {mine.data(), 1, range.count, range.count}, {});
    part_->add_self_gradient(side, range, mine, gradient);
  }
  // By Cauchy-Schwarz no value of a positive semi-definite part exceeds the root of two diagonal ones.
  void prepare() override {
    part_->prepare();
    if (!psd_part_) return;
    const double largest = std::sqrt(part_->self(Side::rows).maxCoeff() * part_->self(Side::cols).maxCoeff());
    if (node_.largest_value(largest) < static_cast<double>(std::numeric_limits<T>::max())) return;
    throw InvalidArgument(
        fmt::format("{} has no value in {} here: the kernel inside it reaches {:.6g}; multiply that by a small factor, or scale the "
                    "columns",
                    node_.text(), name_of(precision_of<T>), largest));
  }

 private:
  const KernelNode& node_;
  bool psd_part_;
  std::unique_ptr<BoundNode<T>> part_;
};

// k(x,y) g(x) g(y), g = k(x,x)^-h with h = 1/2 or 1.
template <class T>
class BoundNormalized final : public BoundNode<T> {
 public:
  BoundNormalized(Normalization form, std::unique_ptr<BoundNode<T>> part, bool same)
      : half_(form == Normalization::root), same_(same), part_(std::move(part)) {
    this->parameters = part_->parameters;
  }

  void prepare() override {
    part_->prepare();
    rows_ = prepared(Side::rows);
    if (!same_) cols_ = prepared(Side::cols);
  }
  void tile(TileInProgress<T>& at, Tile<T> out) const override {
    part_->tile(at, out);
    const Vector& columns = of(Side::cols).factor;
    for (Index i = 0; i < out.rows; ++i) {
      const double row = rows_.factor[at.I.begin + i];
      for (Index j = 0; j < out.cols; ++j)
        out.row(i)[j] = static_cast<T>(static_cast<double>(out.row(i)[j]) * row * columns[at.J.begin + j]);
    }
  }
  Vector self(Side side) const override {
    if (half_) return Vector::Ones(of(side).factor.size());
    return of(side).factor;
  }
  // d k~ = g g dk - h k~ (d log k(x,x) + d log k(y,y))
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override {
    if (this->parameters == 0) return;
    TileMemory<T> memory;
    const Tile<T> values = memory.tile(weights.rows, weights.cols);
    tile(at, values);
    std::vector<double> row_weights(static_cast<std::size_t>(weights.rows), 0);
    std::vector<double> col_weights(static_cast<std::size_t>(weights.cols), 0);
    const double h = half_ ? 0.5 : 1;
    const Factors& x = rows_;
    const Factors& y = of(Side::cols);
    for (Index i = 0; i < weights.rows; ++i) {
      for (Index j = 0; j < weights.cols; ++j) {
        double& w = weights.row(i)[j];
        const double share = -h * w * static_cast<double>(values.row(i)[j]);
        row_weights[static_cast<std::size_t>(i)] += share / x.diagonal[at.I.begin + i];
        col_weights[static_cast<std::size_t>(j)] += share / y.diagonal[at.J.begin + j];
        w *= x.factor[at.I.begin + i] * y.factor[at.J.begin + j];
      }
    }
    part_->add_gradient(at, weights, gradient);
    part_->add_self_gradient(Side::rows, at.I, row_weights, gradient);
    part_->add_self_gradient(Side::cols, at.J, col_weights, gradient);
  }
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override {
    if (half_) return;  // always 1
    std::vector<double> mine(weights.begin(), weights.end());
    for (Index i = 0; i < range.count; ++i) {
      const double g = of(side).factor[range.begin + i];
      mine[static_cast<std::size_t>(i)] *= -g * g;  // of 1/k(x,x)
    }
    part_->add_self_gradient(side, range, mine, gradient);
  }

 private:
  struct Factors {
    Vector diagonal;
    Vector factor;
  };

  Factors prepared(Side side) const {
    Factors out{part_->self(side), {}};
    for (Index i = 0; i < out.diagonal.size(); ++i) {
      if (!(out.diagonal[i] > 0))
        throw InvalidArgument(fmt::format("a normalised kernel needs k(x,x) > 0, but it is {} for row {} (counting from 0) of {}",
                                          out.diagonal[i], i, side == Side::rows ? "X" : "Y"));
    }
    out.factor = half_ ? Vector(out.diagonal.cwiseSqrt().cwiseInverse()) : Vector(out.diagonal.cwiseInverse());
    return out;
  }
  const Factors& of(Side side) const { return side == Side::rows || same_ ? rows_ : cols_; }

  bool half_;
  bool same_;
  std::unique_ptr<BoundNode<T>> part_;
  Factors rows_;
  Factors cols_;
};

// sum_z k(x,z) k(z,y) = A B', A = K(X, Z), B = K(Y, Z).
template <class T>
class BoundComposed final : public BoundNode<T> {
 public:
  BoundComposed(const Kernel& part, const Matrix& points, const Samples& rows, const Samples& cols) {
    if (rows.width() != points.cols())
      throw InvalidArgument(fmt::format("the points of over() have {} columns, but the samples have {}; both must have the same",
                                        points.cols(), rows.width()));
    const Samples Z(points);
    left_.emplace(part, rows, Z);
    if (!rows.same_rows(cols)) right_.emplace(part, cols, Z);
    this->parameters = part.parameters().size();
  }

  void tile(TileInProgress<T>& at, Tile<T> out) const override {
    const Index z = left_->points();
    linalg::gemm_nt(at.I.count, at.J.count, z, T{1}, left_->row(at.I.begin), z, right().row(at.J.begin), z, T{0}, out.data, out.stride);
  }
  Vector self(Side side) const override {
    const Factor& factor = side == Side::rows ? *left_ : right();
    const Index n = factor.kernel.rows();
    Vector out(n);
    for (Index i = 0; i < n; ++i)
      out[i] = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>(factor.row(i), factor.points()).template cast<double>().squaredNorm();
    return out;
  }
  // dK = dA B' + A dB', so the weights of dA are W B and those of dB are W'A.
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override {
    if (this->parameters == 0) return;
    const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> W(weights.data, weights.rows, weights.cols,
                                                              Eigen::OuterStride<>(weights.stride));
    const Matrix A = left_->rows(at.I);
    const Matrix B = right().rows(at.J);
    left_->add_gradient(at.I, W * B, gradient);
    right().add_gradient(at.J, W.transpose() * A, gradient);
  }
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override {
    const Factor& factor = side == Side::rows ? *left_ : right();
    const Eigen::Map<const Vector> w(weights.data(), range.count);
    factor.add_gradient(range, 2 * w.asDiagonal() * factor.rows(range), gradient);
  }

 private:
  struct Factor {
    PreparedKernel<T> kernel;
    Buffer<T> values;

    Factor(const Kernel& part, const Samples& X, const Samples& Z) : kernel(part, X, Z) {
      const std::size_t count = static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(Z.size());
      require_memory(count * sizeof(T), 0, fmt::format("the kernel between {} rows and the {} points of over()", X.size(), Z.size()),
                     "use fewer points or fewer rows");
      values = Buffer<T>(count);
      fill_full(kernel, values.data(), Z.size(), {});
    }
    Index points() const { return kernel.cols(); }
    const T* row(Index i) const { return values.data() + i * points(); }
    Matrix rows(Range range) const {
      return Eigen::Map<const RowMatrix<T>>(row(range.begin), range.count, points()).template cast<double>();
    }
    void add_gradient(Range I, const Matrix& weights, std::span<double> gradient) const {
      for (Index block = 0; block < block_count(points()); ++block) {
        const Range J = block_range(block, points());
        Matrix part = weights.middleCols(J.begin, J.count);
        kernel.add_gradient(I, J, Tile<double>{part.data(), I.count, J.count, J.count}, gradient);
      }
    }
  };
  const Factor& right() const { return right_ ? *right_ : *left_; }

  std::optional<Factor> left_;
  std::optional<Factor> right_;
};

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
        return std::make_unique<BoundNormalized<T>>(node.normalization(), part(), rows_.same_rows(cols_));
      case Kind::restricted:
        return this->node(node.parts()[0], columns_within(columns, node.columns()));
      case Kind::composed: {
        const auto& seen = view(columns, node);
        return std::make_unique<BoundComposed<T>>(node.parts()[0], node.points(), seen->rows, seen->cols);
      }
    }
    return nullptr;
  }

  // Once every leaf has said what it needs. Returns how many reductions are shared.
  std::size_t prepare() {
    std::size_t slots = 0;
    for (const auto& view : views_) {
      const Samples rows = transformed<T>(view->rows, view->transform);
      const Samples cols = view->same ? rows : transformed<T>(view->cols, view->transform);
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
BoundKernel<T> bind(const Kernel& kernel, const Samples& rows, const Samples& cols) {
  Binder<T> binder(rows, cols);
  BoundKernel<T> bound;
  bound.root = binder.node(kernel, {});
  bound.slots = binder.prepare();
  bound.root->prepare();
  return bound;
}

template BoundKernel<float> bind(const Kernel&, const Samples&, const Samples&);
template BoundKernel<double> bind(const Kernel&, const Samples&, const Samples&);

}  // namespace mercer

// Kernels of objects bound to samples: strings and graphs by the product of their features or by their values, sets by a kernel of their
// elements, and kernels that look at what a map makes of the samples.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "gram/prepared_kernel.hpp"
#include "mercer/objects.hpp"
#include "objects/features.hpp"

namespace mercer {

template <class T>
class BoundObjects final : public BoundNode<T> {
 public:
  BoundObjects(const KernelNode& node, const Samples& rows, const Samples& cols);

  void tile(TileInProgress<T>& at, Tile<T> out) const override;
  Vector self(Side side) const override;
  void add_gradient(TileInProgress<T>&, Tile<double>, std::span<double>) const override {}
  void add_self_gradient(Side, Range, std::span<const double>, std::span<double>) const override {}
  double largest() const override;

 private:
  const Vector& raw_self(Side side) const { return side == Side::rows || same_ ? self_rows_ : self_cols_; }

  const KernelNode& node_;
  bool same_;
  // Features: in float32 where that is exact (counts), whatever T is.
  std::optional<PairReducer<float>> counts_{};
  std::optional<PairReducer<T>> reducer_{};             // of features
  std::shared_ptr<const objects::PairValues> pairs_{};  // or these
  Vector self_rows_;                                    // k(x,x) before it is normalised
  Vector self_cols_;
  Vector row_factors_{};  // 1/sqrt(k(x,x)), 0 where that is 0; empty: not normalised
  Vector col_factors_{};
};

// Sums, means or best matches over the elements of sets.
template <class T>
class BoundBag final : public BoundNode<T> {
 public:
  BoundBag(const KernelNode& node, const Samples& rows, const Samples& cols);

  void tile(TileInProgress<T>& at, Tile<T> out) const override;
  Vector self(Side side) const override;
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override;
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override;
  double largest() const override { return 0; }  // the part has been asked when it was bound; sums are made in float64

 private:
  const Sets& sets(Side side) const { return side == Side::rows || same_ ? rows_ : cols_; }
  static Range range_of(const Sets& sets, Index i) {
    return {sets.offsets[static_cast<std::size_t>(i)],
            sets.offsets[static_cast<std::size_t>(i) + 1] - sets.offsets[static_cast<std::size_t>(i)]};
  }
  struct Group {
    Index first = 0;  // of its sets, counted in the tile
    Index count = 0;
    Range elements{};
  };
  static std::vector<Group> groups(const Sets& sets, const RowSet& I);
  // What a sum over all pairs of elements is multiplied by.
  double share(Range a, Range b) const;
  double value(const PreparedKernel<T>& kernel, Range a, Range b) const;
  void spread_gradient(const PreparedKernel<T>& kernel, Range a, Range b, double weight, std::span<double> gradient) const;
  void require_slope() const;
  const PreparedKernel<T>& within(Side side) const;

  const KernelNode& node_;
  bool same_;
  Sets rows_;
  Sets cols_;
  std::optional<PreparedKernel<T>> kernel_{};  // of all elements of the rows and all of the columns; none where a side has no element
  mutable std::once_flag within_once_[2];
  mutable std::optional<PreparedKernel<T>> within_[2]{};  // of the elements of one side, where the sides differ
};

// A part that looks at what a map makes of the samples.
template <class T>
class BoundPulled final : public BoundNode<T> {
 public:
  BoundPulled(const KernelNode& node, const Samples& rows, const Samples& cols);

  void tile(TileInProgress<T>& at, Tile<T> out) const override { kernel_->tile(at.I, at.J, out); }
  Vector self(Side side) const override;
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override {
    if (this->parameters > 0) kernel_->add_gradient(at.I, at.J, weights, gradient);
  }
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override;
  double largest() const override { return 0; }  // the part has been asked when it was bound

 private:
  const KernelNode& node_;
  Samples rows_;
  Samples cols_;
  std::optional<PreparedKernel<T>> kernel_{};
};

// exp(-(k(x,x) + k(y,y) - 2 k(x,y)) / (2 l^2)).
template <class T>
class BoundRadial final : public BoundNode<T> {
 public:
  BoundRadial(const KernelNode& node, std::unique_ptr<BoundNode<T>> part) : node_(node), part_(std::move(part)) {
    this->parameters = 1 + part_->parameters;
  }

  void prepare() override { part_->prepare(); }
  void tile(TileInProgress<T>& at, Tile<T> out) const override;
  Vector self(Side side) const override { return Vector::Ones(part_->diagonal(side).size()); }
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override;
  void add_self_gradient(Side, Range, std::span<const double>, std::span<double>) const override {}  // always 1
  double largest() const override { return 1; }

 private:
  // In place: the part's values become squared distances.
  void distances(TileInProgress<T>& at, Tile<T> tile) const;

  const KernelNode& node_;
  std::unique_ptr<BoundNode<T>> part_;
};

}  // namespace mercer

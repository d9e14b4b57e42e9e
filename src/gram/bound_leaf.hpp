// Leaves bound to samples: a reduction and a finish, or a function of the user's.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "gram/bound.hpp"

namespace mercer {

// The samples of both sides as one group of columns shows them, and their reductions under one transform.
template <class T>
struct View {
  std::vector<ColumnRef> columns;
  Transform transform;
  Samples rows;  // the columns, before the transform
  Samples cols;
  bool same = false;
  ReductionSet needed{};
  std::array<int, 8> uses{};                         // how many leaves look at each reduction
  std::array<std::optional<std::size_t>, 8> slot{};  // where it is kept when several do
  std::optional<PairReducer<T>> reducer{};
};

template <class T>
class BoundLeaf final : public BoundNode<T> {
 public:
  BoundLeaf(const KernelNode& node, std::shared_ptr<const View<T>> view);

  void tile(TileInProgress<T>& at, Tile<T> out) const override;
  Vector self(Side side) const override;
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override;
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override;
  void prepare() override;
  double largest() const override;

 private:
  void reduce(TileInProgress<T>& at, Tile<T> out) const;

  const KernelNode& node_;
  std::shared_ptr<const View<T>> view_;
  std::size_t in_finish_ = 0;  // parameters of the finish; the others are the transform's
};

template <class T>
class BoundFunction final : public BoundNode<T> {
 public:
  BoundFunction(const KernelNode& node, Samples rows, Samples cols) : node_(node), rows_(std::move(rows)), cols_(std::move(cols)) {}

  void tile(TileInProgress<T>& at, Tile<T> out) const override;
  Vector self(Side side) const override;
  void add_gradient(TileInProgress<T>&, Tile<double>, std::span<double>) const override {}
  void add_self_gradient(Side, Range, std::span<const double>, std::span<double>) const override {}
  double largest() const override { return 0; }

 private:
  Matrix call(const Samples& X, const Samples& Y) const;

  const KernelNode& node_;
  Samples rows_;
  Samples cols_;
};

}  // namespace mercer

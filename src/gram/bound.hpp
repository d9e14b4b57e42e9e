// A kernel's tree bound to two sample sets: one node for each of the kernel's, except that `on` only changes which columns the parts see.
// Leaves that look at the same reduction of the same columns share it within a tile.
//
// Gradients go backwards: add_gradient is given weights W on a tile and adds sum_ij W_ij dk_ij/d log(parameter) for every parameter of the
// node and its parts, parameters numbered in the order of Kernel::parameters().
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "gram/pair_reducer.hpp"
#include "gram/tile_memory.hpp"
#include "mercer/kernels.hpp"

namespace mercer {

// One tile being made, and the reductions that are there already.
template <class T>
struct TileInProgress {
  RowSet I;
  Range J;
  std::vector<std::optional<TileMemory<T>>> shared;

  TileInProgress(RowSet rows, Range cols, std::size_t slots) : I(rows), J(cols), shared(slots) {}
};

template <class T>
class BoundNode {
 public:
  virtual ~BoundNode() = default;
  BoundNode() = default;
  BoundNode(const BoundNode&) = delete;
  BoundNode& operator=(const BoundNode&) = delete;

  virtual void tile(TileInProgress<T>& at, Tile<T> out) const = 0;
  // k(x, x) for every sample of one side, exact.
  virtual Vector self(Side side) const = 0;

  // Float64 only. Weights may be overwritten.
  virtual void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const = 0;
  // The same for k(x, x) of the samples of a range.
  virtual void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const = 0;

  // Called once, when the reductions are ready, before anything else. Throws InvalidArgument where values would overflow.
  virtual void prepare() {}
  // No |k| here is larger, as far as that is known without evaluating; functions of the user's are taken for small.
  virtual double largest() const = 0;
  // self(), worked out once: gradients ask for it at every tile.
  const Vector& diagonal(Side side) const {
    Kept& kept = side == Side::rows ? kept_rows_ : kept_cols_;
    std::call_once(kept.once, [&] { kept.values = self(side); });
    return kept.values;
  }

  // How many parameters it and its parts have.
  std::size_t parameters = 0;

 private:
  struct Kept {
    std::once_flag once{};
    Vector values{};
  };
  mutable Kept kept_rows_{};
  mutable Kept kept_cols_{};
};

// A node for each of some kernels, and all that they look at.
template <class T>
struct BoundKernels {
  std::vector<std::unique_ptr<BoundNode<T>>> roots;
  std::size_t slots = 0;  // of reductions that are shared, by the leaves of all
};

// The kernels must outlive what is bound. Throws InvalidArgument if kernels and samples do not fit together.
template <class T>
BoundKernels<T> bind_kernels(std::span<const Kernel> kernels, const Samples& rows, const Samples& cols);

}  // namespace mercer

// A kernel bound to two sample sets: the only place that sees data and kernel together. It hands out tiles and nothing else.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "gram/pair_reducer.hpp"
#include "mercer/kernels.hpp"

namespace mercer {

template <class T>
class PreparedKernel {
 public:
  // The kernel must have no automatic parts left (resolve).
  PreparedKernel(const Kernel& kernel, const Samples& rows, const Samples& cols);

  Index rows() const { return reducer_.rows(); }
  Index cols() const { return reducer_.cols(); }
  bool symmetric() const { return reducer_.symmetric(); }

  // out = K(I, J); safe from many threads. Entries of a sample with itself are exact, tiles on the diagonal exactly symmetric.
  void tile(Range I, Range J, Tile<T> out) const;
  // k(x, x) for every row; symmetric only.
  const Vector& diagonal() const { return diagonal_; }

 private:
  void evaluate(const KernelNode& node, Range I, Range J, Tile<T> out, int level) const;
  void evaluate_diagonal(const KernelNode& node, Vector& out) const;

  Kernel kernel_;
  std::array<int, 4> uses_{};  // how many leaves look at each reduction
  PairReducer<T> reducer_;
  Vector diagonal_;
};

// The reductions that a kernel's leaves look at.
ReductionSet reductions_of(const Kernel& kernel);

}  // namespace mercer

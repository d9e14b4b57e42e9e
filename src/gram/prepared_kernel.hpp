// A kernel bound to two sample sets: the only place that sees data and kernel together. It hands out tiles and nothing else.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "gram/bound.hpp"

namespace mercer {

template <class T>
class PreparedKernel {
 public:
  // The kernel must have no automatic parts left (resolve).
  PreparedKernel(const Kernel& kernel, const Samples& rows, const Samples& cols);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  bool symmetric() const { return symmetric_; }

  // out = K(I, J), at most tile_size x tile_size; safe from many threads. Entries of a sample with itself are exact, tiles on the diagonal
  // exactly symmetric.
  void tile(const RowSet& I, Range J, Tile<T> out) const;
  // k(x, x) for every row; symmetric only.
  const Vector& diagonal() const { return diagonal_; }
  // gradient += sum_ij weights_ij dK_ij/d log(parameter), over one tile. Float64 only; the weights are overwritten.
  void add_gradient(Range I, Range J, Tile<double> weights, std::span<double> gradient) const;

 private:
  std::unique_ptr<const Kernel> kernel_;  // what the nodes look at stays where it is when this value moves
  Index rows_;
  Index cols_;
  bool symmetric_;
  BoundKernel<T> bound_;
  Vector diagonal_;
};

}  // namespace mercer

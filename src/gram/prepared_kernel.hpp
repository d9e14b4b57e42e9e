// A kernel bound to two sample sets: the only place that sees data and kernel together. It hands out tiles and nothing else.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

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
  std::vector<Kernel> kernel_;  // one: what the nodes look at stays where it is when this value moves
  Index rows_;
  Index cols_;
  bool symmetric_;
  BoundKernels<T> bound_;
  Vector diagonal_;
};

// Some kernels bound to one sample set. What several of them look at (distances, where they differ by a length scale) is worked out once a
// tile for all of them.
template <class T>
class PreparedFamily {
 public:
  PreparedFamily(std::vector<Kernel> kernels, const Samples& X);

  Index size() const { return size_; }
  std::size_t count() const { return kernels_.size(); }
  const Vector& diagonal(std::size_t kernel) const { return diagonals_[kernel]; }

  // visit(k, K_k(I, J)) for one kernel after the other, in the memory of `out`; safe from many threads. Diagonals as in PreparedKernel.
  template <class Visit>
  void tiles(Range I, Range J, Tile<T> out, Visit&& visit) const {
    TileInProgress<T> at(I, J, bound_.slots);
    for (std::size_t k = 0; k < count(); ++k) {
      make(at, k, out);
      visit(k, out);
    }
  }

 private:
  void make(TileInProgress<T>& at, std::size_t kernel, Tile<T> out) const;

  std::vector<Kernel> kernels_;
  Index size_;
  BoundKernels<T> bound_;
  std::vector<Vector> diagonals_;
};

}  // namespace mercer

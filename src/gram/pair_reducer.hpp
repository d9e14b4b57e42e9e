// Two sample sets, made ready for the reductions that kernels look at: dot products, distances of four kinds, a tile at a time.
//
// Dense rows: dot products by GEMM; distances of few columns by differences, of many by |x|^2 + |y|^2 - 2 x'y on centred copies. Where
// that formula cancels (distance^2 < 1e-3 of the norms) the entry is computed again from differences, so duplicates are at distance 0.
// CSR rows: by inverted lists of each block of columns, so the work is the number of matching entries.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "core/buffer.hpp"
#include "gram/tiling.hpp"
#include "kernels/node.hpp"
#include "mercer/samples.hpp"

namespace mercer {

// The rows of a Gram matrix, or its columns.
enum class Side : std::uint8_t { rows, cols };

// Which reductions a kernel needs.
struct ReductionSet {
  bool dot = false;
  bool squared_distance = false;
  bool l1_distance = false;
  bool chi2_distance = false;
  bool minimum_sum = false;
  bool given = false;

  void insert(Reduction r) {
    dot = dot || r == Reduction::dot;
    squared_distance = squared_distance || r == Reduction::squared_distance;
    l1_distance = l1_distance || r == Reduction::l1_distance;
    chi2_distance = chi2_distance || r == Reduction::chi2_distance;
    minimum_sum = minimum_sum || r == Reduction::minimum_sum;
    given = given || r == Reduction::given;
  }
  bool distance() const { return squared_distance || l1_distance; }
  bool histogram() const { return chi2_distance || minimum_sum; }
  bool columns() const { return dot || distance() || histogram(); }
};

template <class T>
class PairReducer {
 public:
  // Throws InvalidArgument if the widths differ, a side is empty or a value is not finite (or too large for T).
  PairReducer(const Samples& rows, const Samples& cols, const ReductionSet& needed);
  ~PairReducer();
  PairReducer(PairReducer&&) noexcept;

  Index rows() const;
  Index cols() const;
  bool symmetric() const;

  // out(i, j) = reduction of row sample I[i] and column sample J.begin + j.
  void reduce(Reduction reduction, const RowSet& I, Range J, Tile<T> out) const;
  // The reduction of each sample of one side with itself, in float64.
  Vector self(Reduction reduction, Side side) const;
  // No dot product of a row with a column is larger.
  double largest_dot() const;
  // Nor any given kernel value.
  double largest_given() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mercer

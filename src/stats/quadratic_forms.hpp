// v'K v for thousands of vectors v at once, in one pass over the tiles on and above the diagonal of K: what all permutations, sign flips
// and resamples of a two-sample statistic come to.
//
// Method: each tile of K is made once and multiplied by the tile's part of all vectors (GEMM); K is never stored. The vectors are kept cut
// into the columns of tiles (VectorPanels), so that what one product reads lies together. Products within a tile in T, sums over tiles in
// double, in a fixed order. Cost: n^2 B flops for B vectors and a kernel.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/buffer.hpp"
#include "gram/prepared_kernel.hpp"
#include "mercer/run.hpp"

namespace mercer::stats {

enum class Diagonal : std::uint8_t { whole, left_out };

// B vectors of n numbers: panel(J) holds the columns of block J of all of them, one vector a row. Contents start undefined.
template <class T>
class VectorPanels {
 public:
  VectorPanels(Index vectors, Index n) : vectors_(vectors), n_(n), values_(static_cast<std::size_t>(vectors * n)) {}

  Index vectors() const { return vectors_; }
  Index size() const { return n_; }
  T* panel(Index block) { return values_.data() + block * tile_size * vectors_; }
  const T* panel(Index block) const { return values_.data() + block * tile_size * vectors_; }

  // Vector b, its number i being value_of(i). Different vectors may be set by different threads.
  template <class ValueOf>
  void set(Index b, ValueOf&& value_of) {
    for (Index block = 0; block < block_count(n_); ++block) {
      const Range range = block_range(block, n_);
      T* out = panel(block) + b * range.count;
      for (Index i = 0; i < range.count; ++i) out[i] = value_of(range.begin + i);
    }
  }

 private:
  Index vectors_;
  Index n_;
  Buffer<T> values_;
};

// What one pass over the kernels' tiles gives.
struct FormSums {
  Matrix forms{};     // v'K v, vectors x kernels
  Matrix row_sums{};  // K 1, n x kernels
  Vector squares{};   // sum of K_ij^2, one a kernel
};

// Throws InvalidArgument unless sums of kernel values (or of their squares) are finite.
void require_no_overflow(bool finite);

// Diagonal::left_out sums over i != j only, everywhere. Throws InvalidArgument where sums are not finite; squares in float32 may be
// infinite.
template <class T>
FormSums form_sums(const PreparedFamily<T>& kernels, const VectorPanels<T>& V, Diagonal diagonal, const Run& run);

// V: one vector a row (B x n). Answer: B x kernels.
template <class T>
Matrix quadratic_forms(const PreparedFamily<T>& kernels, const RowMatrix<T>& V, Diagonal diagonal, const Run& run);

// K 1 of each kernel, n x kernels; for sums over the rows of a sample.
template <class T>
Matrix row_sums(const PreparedFamily<T>& kernels, Diagonal diagonal, const Run& run);

}  // namespace mercer::stats

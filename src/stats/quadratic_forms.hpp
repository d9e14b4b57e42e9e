// v'K v for thousands of vectors v at once, in one pass over the tiles on and above the diagonal of K: what all permutations, sign flips
// and resamples of a two-sample statistic come to.
//
// Method: each tile of K is made once and multiplied by the tile's part of all vectors (GEMM in panels that stay in the cache); K is never
// stored. Products within a tile in T, sums over tiles in double, in a fixed order. Cost: n^2 B flops for B vectors and a kernel.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "gram/prepared_kernel.hpp"
#include "mercer/run.hpp"

namespace mercer::stats {

enum class Diagonal : std::uint8_t { whole, left_out };

// V: one vector a row (B x n). Answer: B x kernels. Diagonal::left_out sums over i != j only.
template <class T>
Matrix quadratic_forms(const PreparedFamily<T>& kernels, const RowMatrix<T>& V, Diagonal diagonal, const Run& run);

// K 1 of each kernel, n x kernels; for sums over the rows of a sample.
template <class T>
Matrix row_sums(const PreparedFamily<T>& kernels, Diagonal diagonal, const Run& run);

}  // namespace mercer::stats

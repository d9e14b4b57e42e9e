// The inner loops of a Gram tile, written once and compiled per instruction set. One table of functions per level; the best level of
// the CPU is chosen at first use, MERCER_SIMD = scalar | sse4 | avx2 | avx512 forces one. The scalar level is plain C++: the twin that
// the others are tested against.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer::simd {

// A rectangle of numbers inside a larger row-major array.
template <class T>
struct Tile {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;

  T* row(Index i) const { return data + i * stride; }
};

template <class T>
struct TileOps {
  // out(i, j) = sum_k |a(i, k) - b(k, j)|^2 or ^1. `a` holds samples as rows, `b` holds samples as columns.
  void (*squared_distances)(const T* a, Index a_stride, const T* b, Index b_stride, Index depth, Tile<T> out);
  void (*l1_distances)(const T* a, Index a_stride, const T* b, Index b_stride, Index depth, Tile<T> out);
  // sum_k (a - b)^2 / (a + b), 0/0 being 0, and sum_k min(a, b): for numbers >= 0.
  void (*chi2_distances)(const T* a, Index a_stride, const T* b, Index b_stride, Index depth, Tile<T> out);
  void (*minimum_sums)(const T* a, Index a_stride, const T* b, Index b_stride, Index depth, Tile<T> out);

  // Dot products to squared distances in place: max(0, |a_i|^2 + |b_j|^2 - 2 dot). True if some entry fell below
  // `threshold` (|a_i|^2 + |b_j|^2), where cancellation has eaten its digits.
  bool (*distances_from_dots)(Tile<T> tile, const T* a_norms, const T* b_norms, T threshold);

  // Elementwise, on n consecutive numbers.
  void (*exp_of)(T* x, Index n, T factor);                         // exp(factor x)
  void (*exp_of_root)(T* x, Index n, T factor);                    // exp(factor sqrt x)
  void (*power_of)(T* x, Index n, T scale, T offset, int degree);  // (offset + scale x)^degree
  void (*tanh_of)(T* x, Index n, T scale, T offset);               // tanh(offset + scale x)
  void (*matern3_of_root)(T* x, Index n, T factor);                // (1 + a) exp(-a), a = factor sqrt x
  void (*matern5_of_root)(T* x, Index n, T factor);                // (1 + a + a^2/3) exp(-a), a = factor sqrt x
  void (*rational_of)(T* x, Index n, T factor, T alpha);           // (1 + factor x)^-alpha, x >= 0
  void (*scale)(T* x, Index n, T factor);
  void (*add)(T* x, const T* y, Index n);
  void (*multiply)(T* x, const T* y, Index n);

  // out(j, i) = tile(i, j), written past the caches where the CPU can.
  void (*copy_out)(Tile<const T> tile, T* out, Index out_stride);
  void (*copy_out_transposed)(Tile<const T> tile, T* out, Index out_stride);

  // With u = x + offset: x becomes factor cos u, and `sines` (of the second) factor sin u. Each cosine and sine to 2 units in its last
  // place for every finite u; beyond 1e5 (float) or 1e9 (double) by the C library, number by number.
  void (*cos_of)(T* x, const T* offset, Index n, T factor);
  void (*sin_cos_of)(T* x, const T* offset, T* sines, Index n, T factor);
};

template <class T>
const TileOps<T>& ops();

// The level in use ("avx2"), and all that this CPU can run, worst first.
const std::string& level();
std::vector<std::string> levels();

// The table of a given level; throws InvalidArgument for a name unknown or not supported here.
template <class T>
const TileOps<T>& ops_at(const std::string& level);

// Applies an elementwise row function to a whole tile: at once when its rows are consecutive.
template <class T, class F>
void for_rows(Tile<T> tile, F&& f) {
  if (tile.stride == tile.cols) {
    f(tile.data, tile.rows * tile.cols);
  } else {
    for (Index i = 0; i < tile.rows; ++i) f(tile.row(i), tile.cols);
  }
}

}  // namespace mercer::simd

// The inner loops of the box-constrained quadratic programme (solvers/smo.hpp), written once and compiled per instruction set like those
// of tile_ops.hpp. Kernel values are T, gradients and slopes G: float64, or float32 where they are soon made anew. Of equal values the one
// of the smallest index is taken at every level. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "mercer/matrix.hpp"

namespace mercer::simd {

// The lowest slope upwards and the highest slope downwards, and where they are.
struct SlopeRange {
  double lowest;
  double highest;
  Index lowest_at;
  Index highest_at;
};

struct Partner {
  double gain;  // twice what an unlimited step with it would win; 0 when there is none
  Index at;     // -1: none
};

template <class T, class G = double>
struct SmoOps {
  // g += di ki + dj kj, then the extremes of g + up and g + low.
  SlopeRange (*update)(G* g, const T* ki, double di, const T* kj, double dj, const G* up, const G* low, Index n);
  // The j of largest v^2 / max(kii + diagonal_j - 2 ki_j, tiny) among those of v = g_j + low_j - lowest > 0.
  Partner (*partner)(const G* g, const G* low, const T* ki, const G* diagonal, double kii, double lowest, Index n);
  // y += sum_k coef[k] rows[k], n numbers each.
  void (*add_rows)(double* y, const T* const* rows, const double* coef, Index count, Index n);
};

// Curvatures below this are taken for it: kernels that are not positive definite, duplicates.
inline constexpr double smallest_curvature = 1e-12;

// Kernel values and gradients: float and float, float and double, double and double.
template <class T, class G = double>
const SmoOps<T, G>& smo_ops();
// Of a level of tile_ops.hpp by its name.
template <class T, class G = double>
const SmoOps<T, G>& smo_ops_at(const std::string& level);

}  // namespace mercer::simd

// The scalar twin of the loops of smo_ops.hpp. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "simd/smo_ops.hpp"

namespace mercer::simd {

template <class T>
SlopeRange scalar_update(double* g, const T* ki, double di, const T* kj, double dj, const double* up, const double* low, Index n) {
  SlopeRange out{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), 0, 0};
  for (Index k = 0; k < n; ++k) {
    g[k] += di * static_cast<double>(ki[k]) + dj * static_cast<double>(kj[k]);
    if (g[k] + up[k] < out.lowest) out.lowest = g[out.lowest_at = k] + up[k];
    if (g[k] + low[k] > out.highest) out.highest = g[out.highest_at = k] + low[k];
  }
  return out;
}

template <class T>
Partner scalar_partner(const double* g, const double* low, const T* ki, const double* diagonal, double kii, double lowest, Index n) {
  Partner best{0, -1};
  for (Index j = 0; j < n; ++j) {
    const double v = g[j] + low[j] - lowest;
    if (!(v > 0)) continue;
    const double gain = v * v / std::max(kii + diagonal[j] - 2 * static_cast<double>(ki[j]), smallest_curvature);
    if (gain > best.gain) best = {gain, j};
  }
  return best;
}

template <class T>
void scalar_add_rows(double* y, const T* const* rows, const double* coef, Index count, Index n) {
  for (Index k = 0; k < count; ++k) {
    for (Index j = 0; j < n; ++j) y[j] += coef[k] * static_cast<double>(rows[k][j]);
  }
}

template <class T>
inline constexpr SmoOps<T> scalar_smo_ops{scalar_update<T>, scalar_partner<T>, scalar_add_rows<T>};

}  // namespace mercer::simd

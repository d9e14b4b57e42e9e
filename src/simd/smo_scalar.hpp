// The scalar twin of the loops of smo_ops.hpp. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "simd/smo_ops.hpp"

namespace mercer::simd {

template <class T, class G>
SlopeRange scalar_update(G* g, const T* ki, double di, const T* kj, double dj, const G* up, const G* low, Index n) {
  SlopeRange out{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), 0, 0};
  for (Index k = 0; k < n; ++k) {
    g[k] += static_cast<G>(di) * static_cast<G>(ki[k]) + static_cast<G>(dj) * static_cast<G>(kj[k]);
    const G upwards = g[k] + up[k];
    const G downwards = g[k] + low[k];
    if (upwards < out.lowest) out.lowest = upwards, out.lowest_at = k;
    if (downwards > out.highest) out.highest = downwards, out.highest_at = k;
  }
  return out;
}

template <class T, class G>
Partner scalar_partner(const G* g, const G* low, const T* ki, const G* diagonal, double kii, double lowest, Index n) {
  Partner best{0, -1};
  for (Index j = 0; j < n; ++j) {
    const G v = g[j] + low[j] - static_cast<G>(lowest);
    if (!(v > 0)) continue;
    const G curvature = static_cast<G>(kii) + diagonal[j] - 2 * static_cast<G>(ki[j]);
    const G gain = v * v / std::max(curvature, static_cast<G>(smallest_curvature));
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

template <class T, class G = double>
inline constexpr SmoOps<T, G> scalar_smo_ops{scalar_update<T, G>, scalar_partner<T, G>, scalar_add_rows<T>};

}  // namespace mercer::simd

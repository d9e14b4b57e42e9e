// All pairs of rows of a square matrix, in an order that is kind to the caches.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "mercer/run.hpp"

namespace mercer {

// visit(i, j) for all j < i, tile by tile: K_ij and K_ji are both near what was looked at last.
template <class Visit>
void for_each_pair(Index n, const ProgressCallback& progress, const char* name, const Visit& visit) {
  constexpr Index side = 64;
  Stage stage(progress, name, static_cast<double>(n) * static_cast<double>(n));
  for (Index a = 0; a < n; a += side) {
    for (Index b = 0; b <= a; b += side) {
      for (Index i = a; i < std::min(n, a + side); ++i) {
        for (Index j = b; j < std::min(i, b + side); ++j) visit(i, j);
      }
    }
    stage.advance(static_cast<double>(side) * static_cast<double>(2 * a + side));
  }
}

}  // namespace mercer

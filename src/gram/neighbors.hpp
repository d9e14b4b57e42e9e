// The nearest rows of every row, exactly: tiles of squared distances (pair_reducer.hpp), of which each row keeps the smallest.
// Cost: n^2 distances, n k numbers. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct Neighbors {
  RowMatrix<Index> rows;     // n x k: the nearest other rows, nearest first; of equal distance, in order
  Matrix squared_distances;  // theirs
};

// 1 <= k <= n - 1. Call within with_threads.
Neighbors nearest_neighbors(const Samples& X, Index k, const ProgressCallback& progress);

}  // namespace mercer

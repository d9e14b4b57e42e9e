// k-means on the rows of a matrix.
//
// Method: k-means++ starts (Arthur and Vassilvitskii 2007), then Lloyd's iterations until the centres move little; a centre that loses all
// its rows takes the row farthest from its own centre. Distances by one GEMM a block of rows; sums in fixed blocks, so the answer does not
// depend on the number of threads. Cost: n k d flops an iteration, n + k d numbers of memory beside the rows. SPDX-License-Identifier:
// BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer::solvers {

struct KMeansOptions {
  Index max_iterations = 25;
  double tolerance = 1e-4;  // stop when the inertia falls by less than this share
  std::uint64_t seed = 0;
  Vector weights{};  // of the rows, >= 0; empty: all 1
  Index trials = 1;  // rows drawn for each first centre, of which the one that lowers the inertia most is taken
  ProgressCallback progress{};
};

struct KMeans {
  Matrix centres;             // k x d
  std::vector<Index> labels;  // of each row
  double inertia = 0;         // sum of (weighted) squared distances of the rows to their centres
  Index iterations = 0;
  bool converged = false;
};

// 1 <= k <= rows. The rows must be finite.
KMeans kmeans(const MatrixRef& rows, Index k, const KMeansOptions& options = {});

}  // namespace mercer::solvers

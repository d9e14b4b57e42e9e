// The best of several starts of k-means on the rows of a matrix, side by side; the same for any number of threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "models/shared_progress.hpp"
#include "solvers/kmeans.hpp"

namespace mercer {

// The options' seed is that of the first start; their progress is that of all.
inline solvers::KMeans best_kmeans(const MatrixRef& rows, Index k, Index restarts, const solvers::KMeansOptions& options) {
  std::vector<solvers::KMeans> found(static_cast<std::size_t>(restarts));
  SharedProgress progress(options.progress, "k-means", static_cast<double>(restarts));
  parallel_for(restarts, [&](Index r) {
    solvers::KMeansOptions one = options;
    one.seed += static_cast<std::uint64_t>(r) * 0x9e3779b97f4a7c15;
    one.progress = progress.inner();
    found[static_cast<std::size_t>(r)] = solvers::kmeans(rows, k, one);
    progress.advance(1);
  });
  std::size_t best = 0;
  for (std::size_t r = 1; r < found.size(); ++r) {
    if (found[r].inertia < found[best].inertia) best = r;
  }
  return std::move(found[best]);
}

}  // namespace mercer

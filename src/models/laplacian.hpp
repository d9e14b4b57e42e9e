// The normalised Laplacian L = I - D^-1/2 W D^-1/2 of a graph, and its smallest eigenvalues. Loops are not edges; a vertex without edges
// has the eigenvalue 0 to itself. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "mercer/spectral_clustering.hpp"

namespace mercer {

struct LaplacianEigen {
  Vector values{};            // ascending
  Eigen::MatrixXd vectors{};  // n x k, orthonormal; of parts of the graph: sqrt of degrees, on one part each
  std::vector<Index> part{};  // the connected component of each vertex, numbered from the largest
  Index parts = 0;
  Index isolated = 0;
  Vector degrees{};
  Index known = 0;  // leading vectors that belong to parts
  std::string solver{};
  Index products = 0;
  double residual = 0;
  bool converged = true;
};

// The k smallest. The graph must be symmetric and >= 0. Call within with_threads.
LaplacianEigen laplacian_eigen(const SpectralClustering::Graph& graph, Index k, double tolerance, std::uint64_t seed,
                               const ProgressCallback& progress, std::size_t memory);

}  // namespace mercer

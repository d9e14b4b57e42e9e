// Spectral clustering: the samples as a graph, cut into k parts where its edges are few, whatever the shape of the parts.
//
//   SpectralClustering c = spectral_clustering(X, {.clusters = 2, .neighbors = 10});
//   c.labels; c.eigenvalues; c.connected_components; c.summary.sentence;
//
// Method: W, the graph of nearest neighbours or of kernel values, without loops; the k smallest eigenvalues of the normalised Laplacian
// L = I - D^-1/2 W D^-1/2 with vectors u; each sample becomes the row of D^-1/2 u (the random walk's eigenvectors: Shi and Malik, von
// Luxburg; scikit-learn) or of u made a unit vector (Ng, Jordan, Weiss); then k-means on these rows, or the pivoted QR of Damle, Minden,
// Ying. A part of the graph without edges to the rest has eigenvalue 0 and a vector that needs no computing; the rest comes from LAPACK
// (n <= 600), from block Krylov on (L + shift)^-1 by a sparse factor where that is cheap, or on I - L. The summary says which.
// Cost: n^2 distances for the neighbours; the eigenvectors are seconds for 50000 samples in few dimensions. Labels are the same for any
// number of threads, but for samples on the fence. References: source D section 3; von Luxburg, A tutorial on spectral clustering, 2007.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct SpectralClusteringOptions {
  Index clusters = 8;
  enum class Affinity : std::uint8_t {
    nearest_neighbors,
    kernel,      // W_ij = k(x_i, x_j) >= 0
    precomputed  // X is W: symmetric, >= 0, dense or CSR
  } affinity = Affinity::nearest_neighbors;
  Index neighbors = 10;  // of nearest_neighbors, the sample itself being one of them, as scikit-learn counts; W_ij = (i of j + j of i) / 2
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Index components = 0;  // eigenvectors used; 0: as many as clusters
  enum class Embedding : std::uint8_t { random_walk, unit_rows } embedding = Embedding::random_walk;
  enum class Assignment : std::uint8_t { kmeans, cluster_qr } assignment = Assignment::kmeans;
  Index restarts = 10;      // of k-means
  double tolerance = 1e-7;  // of the eigenvectors' residuals, relative
  std::uint64_t seed = 0;
  Run run{};
};

struct SpectralClusteringSummary {
  Index samples = 0;
  Index wanted = 0;                // clusters asked for
  Index clusters = 0;              // clusters that have a sample
  Index connected_components = 0;  // parts of the graph without edges between them
  Index isolated = 0;              // samples without any edge
  double inertia = 0;              // of k-means on the embedding
  std::string solver{};            // "components", "LAPACK", "shift-invert Krylov" or "Krylov"
  Index products = 0;              // of the Krylov solvers
  double residual = 0;             // the largest |L u - lambda u|
  bool converged = true;
  double seconds = 0;
  std::string sentence{};
};

struct SpectralClustering {
  using Graph = std::variant<CsrMatrix<double>, Matrix>;

  std::vector<Index> labels{};
  Matrix embedding;      // n x components
  Vector eigenvalues{};  // of the normalised Laplacian, ascending; a gap after the k-th speaks for k clusters
  Graph graph{};         // the affinities, with scikit-learn's loops (1) for nearest neighbours
  SpectralClusteringSummary summary;

  Index clusters() const { return summary.clusters; }
};

SpectralClustering spectral_clustering(const Samples& X, const SpectralClusteringOptions& options = {});

// The graph of nearest neighbours as above: entries 1 between samples that choose each other (and on the diagonal), 1/2 where one does.
CsrMatrix<double> neighbor_graph(const Samples& X, Index neighbors, const Run& run = {});

}  // namespace mercer

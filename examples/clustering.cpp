// Two rings, one around the other: how many clusters there are, and which sample is in which.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  const auto rings = mercer::simulate::circles(400, 0.03, 0.3);
  const std::vector<mercer::Index> truth = mercer::class_indices(rings.y);

  const mercer::SpectralClustering parts = mercer::spectral_clustering(rings.X, {.clusters = 2});
  std::printf("spectral clustering %.3f: %s\n", mercer::adjusted_rand_index(parts.labels, truth), parts.summary.sentence.c_str());

  const auto model = mercer::fit_kernel_kmeans(rings.X, {.kernel = mercer::kernels::gaussian(0.4), .clusters = 5});
  std::printf("kernel k-means: %s\n", model.summary().sentence.c_str());
  std::printf("distances of the first sample to the means: %.3f to %.3f\n", model.distances(rings.X).row(0).minCoeff(),
              model.distances(rings.X).row(0).maxCoeff());

  const auto blobs = mercer::simulate::blobs(200, 3);
  const mercer::ClusterChoice choice = mercer::choose_clusters(blobs.X, {.kernel = mercer::kernels::linear(), .k_max = 6});
  std::printf(" k  inertia  silhouette     gap\n");
  for (const mercer::ClusterCandidate& c : choice.candidates) std::printf("%2td %8.1f %11.3f %7.3f\n", c.k, c.inertia, c.silhouette, c.gap);
  std::printf("%s\n", choice.sentence.c_str());
  return mercer::adjusted_rand_index(parts.labels, truth) == 1 && model.clusters() == 5 ? 0 : 1;
}

// How good a clustering is, and how many clusters there are.
//
//   Vector s = silhouette_samples(X, labels, {.kernel = kernels::gaussian(0.5)});      // in the kernel's feature space; no kernel:
//   Euclidean ClusterChoice choice = choose_clusters(X, {.kernel = kernels::gaussian(0.5), .k_max = 8}); choice.k;
//   choice.candidates[2].silhouette; choice.sentence;
//
// Silhouette of a sample: (b - a) / max(a, b), a the mean distance to the others of its cluster, b the smallest mean distance to another
// cluster; 0 in a cluster of one (Rousseeuw 1987). Exact, a tile of distances at a time: n^2 distances, none stored.
// Gap statistic (Tibshirani, Walther, Hastie 2001): Gap(k) = mean of log W*_k - log W_k, W_k the inertia and W*_k that of reference sets
// drawn uniformly from the box around the samples (or from the box along their principal axes), clustered with the same kernel; the choice
// is the smallest k with Gap(k) >= Gap(k+1) - s(k+1), s the simulation's standard error. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "mercer/kernel_kmeans.hpp"

namespace mercer {

struct SilhouetteOptions {
  std::optional<Kernel> kernel{};  // distances in its feature space; not given: Euclidean distances of the rows
  Run run{};
};

// labels: at least 2 and at most n - 1 different ones, whole numbers >= 0.
Vector silhouette_samples(const Samples& X, const std::vector<Index>& labels, const SilhouetteOptions& options = {});
double silhouette(const Samples& X, const std::vector<Index>& labels, const SilhouetteOptions& options = {});  // their mean

// How much two partitions agree: 1 the same but for names, 0 what chance gives (Hubert and Arabie 1985).
double adjusted_rand_index(const std::vector<Index>& a, const std::vector<Index>& b);

enum class ClusterCriterion : std::uint8_t { silhouette, gap };

struct ClusterChoiceOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Index k_min = 1;
  Index k_max = 10;  // or one less than the samples
  ClusterCriterion criterion = ClusterCriterion::silhouette;
  Index references = 10;  // reference sets of the gap statistic; 0: no gap statistic
  enum class Reference : std::uint8_t { box, principal_box } reference = Reference::principal_box;
  Index silhouette_rows = 10000;  // silhouettes of more samples are those of this many, drawn at random
  Index restarts = 10;
  Index max_iterations = 300;
  double tolerance = 1e-4;
  Vector sample_weight{};  // of the inertias; silhouettes and reference sets take all samples alike
  KernelKMeansOptions::Method method = KernelKMeansOptions::Method::automatic;
  Index exact_limit = 20000;
  Index landmarks = 0;
  std::uint64_t seed = 0;
  Run run{};
};

struct ClusterCandidate {
  Index k = 0;
  Index clusters = 0;  // found: fewer than k where samples coincide
  double inertia = 0;
  double silhouette = std::numeric_limits<double>::quiet_NaN();  // mean; NaN for one cluster
  double gap = std::numeric_limits<double>::quiet_NaN();         // NaN without reference sets, infinite where the inertia is 0
  double gap_error = std::numeric_limits<double>::quiet_NaN();   // s(k)
  std::vector<Index> labels{};
};

struct ClusterChoice {
  Index k = 0;  // by the criterion asked for
  ClusterCriterion criterion = ClusterCriterion::silhouette;
  Index by_silhouette = 0;  // 0: none (all samples coincide, or only k = 1 was looked at)
  Index by_gap = 0;         // 0: no gap statistic, or no k fulfils its rule: take a larger k_max
  std::vector<ClusterCandidate> candidates{};
  Kernel kernel;  // with automatic scales set
  Index silhouette_rows = 0;
  std::string method{};
  double seconds = 0;
  std::string sentence{};
};

ClusterChoice choose_clusters(const Samples& X, const ClusterChoiceOptions& options = {});

}  // namespace mercer

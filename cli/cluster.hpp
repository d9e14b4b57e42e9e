// What the methods of `mercer cluster` share: their options, what they find, and what is said, written and drawn of it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "explore.hpp"

namespace mercer::cli {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct ClusterOptions : ExploreOptions {
  Index k_min = 0;  // both the same: given; 0: -k is missing
  Index k_max = 0;
  std::int64_t restarts = 10;

  bool chooses() const { return k_min < k_max; }
};

// What a method found.
struct Clusters {
  std::string title{};      // "kernel k-means"
  std::string criterion{};  // that chose k; empty: it was given
  std::vector<Index> labels{};
  double inertia = unknown;
  std::optional<Kernel> space{};  // silhouettes are measured in its feature space; none: between the rows as they are
  std::vector<ClusterReport::Candidate> candidates{};
  Vector eigenvalues{};
  Json json;
  std::string sentence{};
  std::string choice{};  // how k was chosen, a sentence
  std::optional<AnyModel> model{};
  ReportFacts facts{};
};

// Of a clustering; NaN where there are none.
struct Silhouettes {
  double mean = unknown;
  Vector each{};  // empty: not of every row
  Index rows = 0;
};

// Every pair of rows is looked at; of very many rows, those of some.
Silhouettes silhouettes_of(const Samples& X, const std::vector<Index>& labels, const std::optional<Kernel>& space, const Run& run);

// Measures, writes and says what was found.
void finish_clusters(const ClusterOptions& o, const Exploration& e, Clusters found, const Speaker& speaker);

}  // namespace mercer::cli

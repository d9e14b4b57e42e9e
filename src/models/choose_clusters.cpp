// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "linalg/lapack.hpp"
#include "mercer/cluster_quality.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "models/kmeans_problem.hpp"
#include "models/silhouettes.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using Reference = ClusterChoiceOptions::Reference;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::uint64_t reference_stream = 0x676170;

KernelKMeansOptions fit_options(const ClusterChoiceOptions& o) {
  KernelKMeansOptions out;
  out.kernel = o.kernel;
  out.sample_weight = o.sample_weight;
  out.method = o.method;
  out.restarts = o.restarts;
  out.max_iterations = o.max_iterations;
  out.tolerance = o.tolerance;
  out.exact_limit = o.exact_limit;
  out.landmarks = o.landmarks;
  out.seed = o.seed;
  out.run = o.run;
  return out;
}

void require_options(const ClusterChoiceOptions& o, Index n) {
  if (o.k_min < 1 || o.k_max < o.k_min)
    throw InvalidArgument(fmt::format("k must run from k_min >= 1 to k_max, got {} to {}", o.k_min, o.k_max));
  if (o.k_min > n) throw InvalidArgument(fmt::format("{} samples cannot make {} clusters; ask for at most {}", n, o.k_min, n));
  if (o.references < 0 || o.references == 1)
    throw InvalidArgument(fmt::format("references must be 0 (no gap statistic) or at least 2, got {}", o.references));
  if (o.silhouette_rows < 3) throw InvalidArgument(fmt::format("silhouette_rows must be at least 3, got {}", o.silhouette_rows));
}

void require_gap(const ClusterChoiceOptions& o, const Samples& X) {
  if (o.criterion != ClusterCriterion::gap) return;
  if (o.references == 0)
    throw InvalidArgument("the gap statistic needs reference sets; set references to 10, say, or choose by silhouette");
  if (X.is_given()) throw InvalidArgument("reference sets cannot be drawn for a given Gram matrix; choose by silhouette");
  if (X.is_sparse()) throw InvalidArgument("reference sets are drawn for dense rows only; choose by silhouette");
}

// Uniform in the box that holds the rows, along the axes or along the rows' principal directions.
class ReferenceBox {
 public:
  ReferenceBox(const Samples& X, Reference how, const Run& run) : precision_(X.precision()) {
    const Matrix rows = X.to_dense();
    mean_ = rows.colwise().mean();
    Matrix moved = rows.rowwise() - mean_;
    if (how == Reference::principal_box && rows.cols() > 1 && rows.cols() <= 2000) {
      axes_ = linalg::symmetric_eigen(moved.transpose() * moved, run.progress, run.memory).vectors;
      moved = (moved * axes_.transpose()).eval();
    }
    low_ = moved.colwise().minCoeff();
    high_ = moved.colwise().maxCoeff();
  }

  Samples draw(Index n, std::uint64_t seed, Index number) const {
    RandomStream random(seed, reference_stream + static_cast<std::uint64_t>(number));
    Matrix Z(n, low_.size());
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < Z.cols(); ++j) Z(i, j) = random.uniform(low_[j], high_[j]);
    }
    if (axes_.size() > 0) Z = (Z * axes_).eval();
    Z.rowwise() += mean_;
    return precision_ == Precision::float32 ? Samples(MatrixF(Z.cast<float>())) : Samples(std::move(Z));
  }

 private:
  Precision precision_;
  Eigen::RowVectorXd mean_{};
  Matrix axes_{};  // a row each
  Eigen::RowVectorXd low_{};
  Eigen::RowVectorXd high_{};
};

// log W of an inertia that is nothing but rounding is minus infinity.
double log_inertia(double inertia, double total) { return inertia > 1e-12 * total ? std::log(inertia) : -infinite; }

void add_gaps(ClusterChoice& choice, const Samples& X, double total, const ClusterChoiceOptions& o) {
  const ReferenceBox box(X, o.reference, o.run);
  KernelKMeansOptions options = fit_options(o);
  options.kernel = choice.kernel;  // the same scales for all sets
  options.sample_weight = {};
  const Index sets = o.references;
  Matrix logs(sets, std::ssize(choice.candidates));
  for (Index b = 0; b < sets; ++b) {
    const KMeansProblem problem(box.draw(X.size(), o.seed, b), options);
    for (std::size_t c = 0; c < choice.candidates.size(); ++c) {
      const Index k = choice.candidates[c].k;
      logs(b, static_cast<Index>(c)) = log_inertia(problem.partition(k, o.seed + static_cast<std::uint64_t>(k)).inertia, total);
    }
  }
  const double weight = o.sample_weight.size() > 0 ? o.sample_weight.sum() / static_cast<double>(X.size()) : 1;
  for (std::size_t c = 0; c < choice.candidates.size(); ++c) {
    ClusterCandidate& candidate = choice.candidates[c];
    const Vector column = logs.col(static_cast<Index>(c));
    const double own = log_inertia(candidate.inertia / weight, total);
    const double mean = column.mean();
    if (own == -infinite || !std::isfinite(mean)) {
      candidate.gap = own == -infinite ? infinite : -infinite;
      candidate.gap_error = 0;
      continue;
    }
    candidate.gap = mean - own;
    candidate.gap_error = std::sqrt((column.array() - mean).square().mean() * (1 + 1 / static_cast<double>(sets)));
  }
  for (std::size_t c = 0; c < choice.candidates.size() && choice.by_gap == 0; ++c) {
    const ClusterCandidate& now = choice.candidates[c];
    if (now.gap == infinite) {
      choice.by_gap = now.k;
    } else if (c + 1 < choice.candidates.size()) {
      const ClusterCandidate& next = choice.candidates[c + 1];
      if (now.gap >= next.gap - next.gap_error) choice.by_gap = now.k;
    }
  }
}

// Of rows that all partitions know; those whose labels are all alike or all different there have none.
void add_silhouettes(ClusterChoice& choice, const Samples& X, const ClusterChoiceOptions& o) {
  std::vector<Index> rows;
  if (X.size() > o.silhouette_rows) {
    rows = RandomStream(o.seed, reference_stream - 1).sample(X.size(), o.silhouette_rows);
    std::sort(rows.begin(), rows.end());
  }
  const Samples part = rows.empty() ? X : X.subset(rows);
  choice.silhouette_rows = part.size();
  std::vector<std::vector<Index>> partitions;
  std::vector<std::size_t> which;
  for (std::size_t c = 0; c < choice.candidates.size(); ++c) {
    const std::vector<Index>& all = choice.candidates[c].labels;
    std::vector<Index> labels = rows.empty() ? all : std::vector<Index>();
    for (const Index i : rows) labels.push_back(all[static_cast<std::size_t>(i)]);
    const Index clusters = compact_labels(labels);
    if (clusters < 2 || clusters >= part.size()) continue;
    partitions.push_back(std::move(labels));
    which.push_back(c);
  }
  if (partitions.empty()) return;
  const Vector means = silhouettes(part, partitions, choice.kernel, o.run.progress).colwise().mean().transpose();
  double best = -infinite;
  for (std::size_t p = 0; p < which.size(); ++p) {
    ClusterCandidate& candidate = choice.candidates[which[p]];
    candidate.silhouette = means[static_cast<Index>(p)];
    if (candidate.silhouette <= best + 1e-12) continue;  // the fewest clusters of equals
    best = candidate.silhouette;
    choice.by_silhouette = candidate.clusters;
  }
}

void write_sentence(ClusterChoice& choice) {
  const auto named = [](Index k) { return k > 0 ? fmt::format("{}", k) : std::string("none"); };
  choice.sentence = fmt::format("{} clusters by {} among {} to {}", choice.k,
                                choice.criterion == ClusterCriterion::gap ? "the gap statistic" : "silhouette", choice.candidates.front().k,
                                choice.candidates.back().k);
  if (choice.criterion == ClusterCriterion::gap) {
    if (choice.by_gap == 0) choice.sentence += " (the rule holds for none of them, so the largest gap was taken)";
    choice.sentence += fmt::format("; silhouette says {}", named(choice.by_silhouette));
  } else {
    if (choice.by_silhouette == 0) choice.sentence += " (no candidate has a silhouette)";
    if (!std::isnan(choice.candidates.front().gap)) choice.sentence += fmt::format("; the gap statistic says {}", named(choice.by_gap));
  }
  choice.sentence += fmt::format(", {:.2f} s", choice.seconds);
}

}  // namespace

ClusterChoice choose_clusters(const Samples& rows, const ClusterChoiceOptions& options) {
  const auto start = Clock::now();
  const Samples X = as_given(options.kernel, rows);
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  require_options(options, X.size());
  require_gap(options, X);
  ClusterChoice choice{.criterion = options.criterion, .kernel = options.kernel};
  with_run(options.run, [&] {
    const KMeansProblem problem(X, fit_options(options));
    choice.kernel = problem.kernel();
    choice.method = problem.low_rank() ? "low rank" : "exact";
    for (Index k = options.k_min; k <= std::max(options.k_min, std::min(options.k_max, X.size() - 1)); ++k) {
      solvers::KernelKMeans found = problem.partition(k, options.seed + static_cast<std::uint64_t>(k));
      choice.candidates.push_back({.k = k, .clusters = found.clusters, .inertia = found.inertia, .labels = std::move(found.labels)});
      if (choice.candidates.back().clusters < k) break;  // all distinct places are clusters: more would be the same again
    }
    add_silhouettes(choice, X, options);
    if (options.references > 0 && !X.is_given() && !X.is_sparse()) {
      const double total = gram_diagonal(choice.kernel, X).cwiseAbs().sum();
      add_gaps(choice, X, total, options);
    }
  });
  if (options.criterion == ClusterCriterion::silhouette) {
    choice.k = choice.by_silhouette > 0 ? choice.by_silhouette : choice.candidates.front().clusters;
  } else if (choice.by_gap > 0) {
    choice.k = choice.by_gap;
  } else {
    const auto largest = std::max_element(choice.candidates.begin(), choice.candidates.end(),
                                          [](const ClusterCandidate& a, const ClusterCandidate& b) { return a.gap < b.gap; });
    choice.k = largest->clusters;
  }
  choice.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  write_sentence(choice);
  return choice;
}

}  // namespace mercer

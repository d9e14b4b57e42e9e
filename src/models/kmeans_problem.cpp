// SPDX-License-Identifier: BSD-3-Clause
#include "models/kmeans_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gram/pivoted_cholesky.hpp"
#include "gram/rows.hpp"
#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/best_kmeans.hpp"
#include "models/convex_fit.hpp"
#include "models/landmarks.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Method = KernelKMeansOptions::Method;

void require_options(const KernelKMeansOptions& o) {
  if (o.restarts < 1) throw InvalidArgument(fmt::format("restarts must be at least 1, got {}", o.restarts));
  if (o.max_iterations < 1) throw InvalidArgument(fmt::format("max_iterations must be at least 1, got {}", o.max_iterations));
  if (!(o.tolerance >= 0)) throw InvalidArgument(fmt::format("tolerance must be >= 0, got {}", o.tolerance));
  if (o.landmarks < 0) throw InvalidArgument(fmt::format("landmarks must be >= 0, got {}", o.landmarks));
  if (o.kernel.psd() == Verdict::no) {
    throw InvalidArgument(
        fmt::format("the kernel {} is not positive semi-definite, so there is no distance to a mean; use a PSD kernel", o.kernel.text()));
  }
}

// The precision that a stored matrix would have; none: it does not fit.
std::optional<Precision> stored_precision(const KernelKMeansOptions& o, Index n) {
  const double entries = static_cast<double>(n) * static_cast<double>(n);
  const auto budget = static_cast<double>(memory_budget(o.run.memory));
  if (o.precision) return entries * static_cast<double>(bytes_of(*o.precision)) <= budget ? o.precision : std::nullopt;
  if (8 * entries <= budget) return Precision::float64;
  return 4 * entries <= budget ? std::optional(Precision::float32) : std::nullopt;
}

// Products of rows far from 0 are so much larger than what rows differ by that rounding decides the distances: refused, not guessed.
void require_visible_distances(const Kernel& kernel, const Samples& X) {
  if (X.is_given() || X.has_objects() || X.is_sparse() || !looks_at(kernel, Reduction::dot)) return;
  const Vector centre = column_means(X);
  double spread = 0;
  const Index some = std::min<Index>(X.size(), 1000);
  const Matrix rows = X.slice(0, some).to_dense();
  for (Index i = 0; i < some; ++i) spread = std::max(spread, (rows.row(i).transpose() - centre).squaredNorm());
  if (!(spread > 0) || centre.squaredNorm() <= 1e10 * spread) return;
  throw InvalidArgument(fmt::format(
      "rows lie {:.3g} from 0 and differ by {:.3g}: with {} their distances are lost in rounding; subtract the column means first",
      centre.norm(), std::sqrt(spread), kernel.text()));
}

std::string status_of(const KernelKMeansSummary& s) {
  return fmt::format("{} after {} iteration{}", s.converged ? "at rest" : "stopped", s.iterations, s.iterations == 1 ? "" : "s");
}

void finish(KernelKMeansSummary& s, Index restarts) {
  s.sentence = fmt::format("{} cluster{} of {} samples, inertia {:.6g}, {}, the best of {} starts", s.clusters, s.clusters == 1 ? "" : "s",
                           s.samples, s.inertia, status_of(s), restarts);
  if (s.clusters < s.wanted)
    s.sentence += fmt::format("; {} clusters were asked for, but the samples have only {} distinct places", s.wanted, s.clusters);
  if (s.rank > 0) s.sentence += fmt::format("; low rank, {} pivots leave {:.2g} of the trace", s.rank, s.trace_error);
}

}  // namespace

void require_clusters(Index clusters, Index n) {
  if (clusters < 1) throw InvalidArgument(fmt::format("the number of clusters must be at least 1, got {}", clusters));
  if (clusters > n) throw InvalidArgument(fmt::format("{} samples cannot make {} clusters; ask for at most {}", n, clusters, n));
}

KMeansProblem::KMeansProblem(const Samples& X, const KernelKMeansOptions& options)
    : X_(as_given(options.kernel, X)), kernel_(options.kernel), options_(options) {
  if (X_.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  require_options(options);
  root_weights(options.sample_weight, X_.size());  // for its checks
  weights_ = options.sample_weight.size() > 0 ? options.sample_weight : Vector(Vector::Ones(X_.size()));
  kernel_ = ready_kernel(options.kernel, X_);
  require_visible_distances(kernel_, X_);
  const bool fits = stored_precision(options, X_.size()).has_value();
  const bool exact = options.method == Method::exact || (options.method == Method::automatic && fits && X_.size() <= options.exact_limit);
  if (exact) {
    store(options);
  } else {
    factorise(options);
  }
}

void KMeansProblem::store(const KernelKMeansOptions& o) {
  const Precision precision = stored_precision(o, X_.size()).value_or(o.precision.value_or(Precision::float32));
  bytes_ = static_cast<std::size_t>(X_.size()) * static_cast<std::size_t>(X_.size()) * bytes_of(precision);
  require_memory(bytes_, o.run.memory, fmt::format("the {} x {} Gram matrix in {}", X_.size(), X_.size(), name_of(precision)),
                 "use the low-rank method");
  gram_ = gram_operator(kernel_, X_, {precision, Storage::stored, o.run});
  if (!gram_->diagonal().allFinite()) throw InvalidArgument("kernel values overflow; scale the data");
}

void KMeansProblem::factorise(const KernelKMeansOptions& o) {
  require_no_white_noise(kernel_);
  const auto root = static_cast<Index>(2 * std::sqrt(static_cast<double>(X_.size())));
  const Index rank = std::min(X_.size(), o.landmarks > 0 ? o.landmarks : std::clamp<Index>(root, 200, 1000));
  // Pivots far below the others would make their triangular system tell nothing but rounding.
  factor_ = pivoted_cholesky(kernel_, X_, {.rank = rank, .tolerance = 1e-9, .seed = o.seed, .progress = o.run.progress}, o.run.memory);
  if (factor_.pivots.empty()) throw InvalidArgument("all kernel values are 0: the samples have no place in the feature space");
  residual_ = (gram_diagonal(kernel_, X_) - factor_.factor.rowwise().squaredNorm()).cwiseMax(0.0).dot(weights_);
  bytes_ = static_cast<std::size_t>(factor_.factor.size()) * sizeof(double);
}

std::string KMeansProblem::describe() const { return low_rank() ? fmt::format("rank {}", factor_.pivots.size()) : gram_->describe(); }

// Distances of rows of F, but for the part of psi(x_i) outside the pivots' span, which is the same for all means.
solvers::KernelKMeans KMeansProblem::low_rank_partition(Index clusters, std::uint64_t seed, Matrix* centres) const {
  const auto trials = 2 + static_cast<Index>(std::log(static_cast<double>(clusters)));
  solvers::KMeans plain = best_kmeans(factor_.factor, clusters, options_.restarts,
                                      {.max_iterations = options_.max_iterations,
                                       .tolerance = 0.01 * options_.tolerance,  // a fall of the inertia, not a movement
                                       .seed = seed,
                                       .weights = options_.sample_weight,
                                       .trials = trials,
                                       .progress = options_.run.progress});
  solvers::KernelKMeans out;
  std::vector<Index> number(static_cast<std::size_t>(clusters), -1);
  Matrix kept(clusters, plain.centres.cols());
  for (const Index label : plain.labels) {
    Index& c = number[static_cast<std::size_t>(label)];
    if (c < 0) {
      kept.row(out.clusters) = plain.centres.row(label);
      c = out.clusters++;
    }
    out.labels.push_back(c);
  }
  out.members = out.labels;
  out.inertia = plain.inertia + residual_;
  out.iterations = plain.iterations;
  out.converged = plain.converged;
  if (centres != nullptr) *centres = kept.topRows(out.clusters);
  return out;
}

solvers::KernelKMeans KMeansProblem::partition(Index clusters, std::uint64_t seed) const {
  require_clusters(clusters, X_.size());
  if (low_rank()) return low_rank_partition(clusters, seed, nullptr);
  Stage stage(options_.run.progress, "kernel k-means", static_cast<double>(options_.restarts * (options_.max_iterations + 1)));
  // Bounds are distances, so only a kernel that is known to have a feature space may use them.
  return solvers::kernel_kmeans(*gram_, clusters, weights_,
                                {.restarts = options_.restarts,
                                 .max_iterations = options_.max_iterations,
                                 .tolerance = options_.tolerance,
                                 .bounds = kernel_.psd() == Verdict::yes,
                                 .seed = seed},
                                stage);
}

KernelKMeansModel KMeansProblem::fit(Index clusters, std::uint64_t seed) const {
  require_clusters(clusters, X_.size());
  KernelKMeansSummary s;
  s.samples = X_.size();
  s.wanted = clusters;
  s.bytes = bytes_;
  s.method = low_rank() ? "low rank" : "exact";
  if (!low_rank()) return exact_model(partition(clusters, seed), std::move(s));
  Matrix centres;
  solvers::KernelKMeans found = low_rank_partition(clusters, seed, &centres);
  // F = K(X, T) L^-T with L = F(T, :), so <m, psi(x)> = centre' L^-1 k(T, x): the weights of the pivots solve L' A = centres'.
  const Matrix L = factor_.factor(factor_.pivots, Eigen::all);
  Matrix A = centres.transpose();
  L.triangularView<Eigen::Lower>().transpose().solveInPlace(A);
  s.clusters = found.clusters;
  s.inertia = found.inertia;
  s.iterations = found.iterations;
  s.converged = found.converged;
  s.rank = std::ssize(factor_.pivots);
  s.trace_error = factor_.trace > 0 ? factor_.trace_error / factor_.trace : 0;
  finish(s, options_.restarts);
  Vector norms = centres.rowwise().squaredNorm();
  return KernelKMeansModel::from_parts(kernel_, X_.subset(factor_.pivots).without_values(), std::move(A), std::move(norms),
                                       std::move(found.labels), std::move(s));
}

KernelKMeansModel KMeansProblem::exact_model(solvers::KernelKMeans found, KernelKMeansSummary s) const {
  Vector mass = Vector::Zero(found.clusters);
  for (Index i = 0; i < X_.size(); ++i) mass[found.members[static_cast<std::size_t>(i)]] += weights_[i];
  Matrix A = Matrix::Zero(X_.size(), found.clusters);
  for (Index i = 0; i < X_.size(); ++i) {
    const Index c = found.members[static_cast<std::size_t>(i)];
    A(i, c) = weights_[i] / mass[c];
  }
  // Values in float64 whatever the matrix was stored in: |m_c|^2 and the inertia are differences of close numbers.
  const Operator exact =
      gram_->precision() == Precision::float64 ? gram_ : gram_operator(kernel_, X_, {Precision::float64, Storage::streamed, options_.run});
  const Matrix KA = exact->apply(A);
  const Vector norms = A.cwiseProduct(KA).colwise().sum().transpose();
  const Vector diagonal = exact->diagonal();
  for (Index i = 0; i < X_.size(); ++i) {
    const Index c = found.labels[static_cast<std::size_t>(i)];
    s.inertia += weights_[i] * (diagonal[i] - 2 * KA(i, c) + norms[c]);
  }
  s.inertia = std::max(0.0, s.inertia);
  s.clusters = found.clusters;
  s.iterations = found.iterations;
  s.restart = found.restart;
  s.converged = found.converged;
  s.looked_at = found.looked_at;
  finish(s, options_.restarts);
  std::vector<Index> kept;
  for (Index i = 0; i < X_.size(); ++i) {
    if (weights_[i] > 0) kept.push_back(i);
  }
  const bool all = std::ssize(kept) == X_.size();
  return KernelKMeansModel::from_parts(kernel_, (all ? X_ : X_.subset(kept)).without_values(), all ? A : Matrix(A(kept, Eigen::all)), norms,
                                       std::move(found.labels), std::move(s));
}

}  // namespace mercer

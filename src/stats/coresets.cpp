// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/coresets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "gram/kernel_rows.hpp"
#include "gram/pivoted_cholesky.hpp"
#include "linalg/tiling.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "stats/kernel_thinning.hpp"
#include "stats/mean_products.hpp"
#include "stats/simplex_qp.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Index most_candidates = 20000;  // unless more are asked for, or m wants more

// What all three share: the rows as the kernel takes them, the kernel with its length scales, the time.
struct Problem {
  Samples X;
  Kernel kernel;
  Clock::time_point start = Clock::now();

  Problem(const Samples& rows, const Kernel& asked) : X(stats::embedded(asked, rows, "X")), kernel(resolve(asked, X)) {}
  Index n() const { return X.size(); }
  Vector equal() const { return Vector::Constant(n(), 1 / static_cast<double>(n())); }
};

void require_size(Index m, Index n, Index most, const char* more) {
  if (m >= 1 && m <= most) return;
  throw InvalidArgument(fmt::format("m must be at least 1 and at most {}, as X has {} rows{}; got {}", most, n, more, m));
}

// Rows that may be chosen, ascending.
std::vector<Index> candidate_rows(Index n, Index m, Index asked, std::uint64_t seed) {
  if (asked < 0 || (asked > 0 && asked < m))
    throw InvalidArgument(fmt::format("candidates must be at least m = {}, or 0 for the usual number, got {}", m, asked));
  const Index count = std::min(n, asked > 0 ? asked : std::max(most_candidates, 4 * m));
  std::vector<Index> rows;
  if (count == n) {
    rows.resize(static_cast<std::size_t>(n));
    std::iota(rows.begin(), rows.end(), Index{0});
    return rows;
  }
  rows = RandomStream(seed).sample(n, count);
  std::sort(rows.begin(), rows.end());
  return rows;
}

Samples rows_of(const Samples& X, const std::vector<Index>& rows) { return std::ssize(rows) == X.size() ? X : X.subset(rows); }

void remark_on_candidates(Coreset& out, std::size_t candidates) {
  if (static_cast<Index>(candidates) < out.n)
    out.remarks.push_back(fmt::format("{} rows drawn at random were candidates; the mean is that of all {}", candidates, out.n));
}

// Distances to the sample, and what random rows would have: E |mu(S) - mu(X)|^2 = (n - m) / (m (n - 1)) (mean k(x, x) - |mu(X)|^2).
void measure(const Problem& problem, CoresetMeasure how, const Run& run, Coreset& out) {
  const Samples few = problem.X.subset(out.rows);
  const stats::MeanDistances d = stats::mean_distances(problem.kernel, problem.X, problem.equal(), few, out.weights, how, run);
  if (!d.known) return;
  const auto n = static_cast<double>(problem.n());
  const auto m = static_cast<double>(out.size());
  out.mmd = stats::distance_of(d.squared[0]);
  out.mmd_error = d.error[0] > 0 ? stats::distance_error(d.squared[0], d.error[0]) : 0;
  const double spread = gram_diagonal(problem.kernel, problem.X).mean() - d.squared_norm;
  out.random_mmd = n > 1 ? stats::distance_of((n - m) / (m * (n - 1)) * spread) : 0;
}

void conclude(const Problem& problem, const std::string& what, Coreset& out) {
  out.kernel = problem.kernel.text();
  out.seconds = std::chrono::duration<double>(Clock::now() - problem.start).count();
  out.sentence = fmt::format("{} {}", out.size(), what);
  if (std::isfinite(out.mmd)) {
    out.sentence += fmt::format(": distance (MMD) to the {} rows {:.4g}{}, of as many random rows {:.4g}", out.n, out.mmd,
                                stats::error_words(out.mmd_error), out.random_mmd);
  } else {
    out.sentence += fmt::format(" of {}", out.n);
  }
}

Coreset equal_weights(const Problem& problem, std::vector<Index> rows, const char* method, std::uint64_t seed) {
  Coreset out;
  out.method = method;
  out.n = problem.n();
  out.seed = seed;
  out.rows = std::move(rows);
  out.weights = Vector::Constant(out.size(), 1 / static_cast<double>(out.size()));
  return out;
}

struct Herded {
  std::vector<Index> places{};  // among the candidates
  Vector squared{};             // |mean of the first t|^2 - 2 <it, mu>, for t = 1, 2, ...
};

// One candidate after the other: the place where (k(z, z) / 2 + sum over those taken of k(x, z)) / (t + 1) - mu(z) is least.
template <class T>
Herded herd_candidates(const Kernel& kernel, const Samples& X, const Vector& mean, Index m, const Run& run) {
  const Index n = X.size();
  const KernelRows<T> K(PreparedKernel<T>(kernel, X, X));
  const Eigen::ArrayXd half = K.diagonal().array() / 2;
  Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(n);
  Eigen::ArrayXd blocked = Eigen::ArrayXd::Zero(n);  // infinite for those taken
  Buffer<T> memory(static_cast<std::size_t>(n));
  T* row = memory.data();
  Herded out;
  out.squared.resize(m);
  double own = 0;
  double with_mean = 0;
  Stage stage(run.progress, "herding", static_cast<double>(m));
  for (Index t = 0; t < m; ++t) {
    Index best = 0;
    ((half + sum) / static_cast<double>(t + 1) - mean.array() + blocked).minCoeff(&best);
    own += 2 * (half[best] + sum[best]);
    with_mean += mean[best];
    const auto count = static_cast<double>(t + 1);
    out.squared[t] = own / (count * count) - 2 * with_mean / count;
    out.places.push_back(best);
    blocked[best] = std::numeric_limits<double>::infinity();
    K.rows(std::span<const Index>(&best, 1), std::span<T* const>(&row, 1));
    sum += Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>(row, n).template cast<double>();
    stage.advance(1);
  }
  return out;
}

// The rows that herding takes, in its order.
std::vector<Index> herd_rows(const Problem& problem, const std::vector<Index>& candidates, Index m, const Run& run, Vector* squared) {
  const Samples some = rows_of(problem.X, candidates);
  const double values = static_cast<double>(problem.n()) * static_cast<double>(some.size());
  const Precision precision = stats::working_precision(problem.kernel, problem.X, values / 10);
  const Vector mean = stats::mean_at(problem.kernel, problem.X, problem.equal(), some, precision, run);
  if (!mean.allFinite()) throw InvalidArgument("kernel values overflow; scale the data");
  Herded found = linalg::with_type_of(precision, [&]<class T>(T) { return herd_candidates<T>(problem.kernel, some, mean, m, run); });
  if (squared != nullptr) *squared = std::move(found.squared);
  for (Index& place : found.places) place = candidates[static_cast<std::size_t>(place)];
  return std::move(found.places);
}

// Rows that span the others; where the rows have fewer dimensions than m, further ones at random.
std::vector<Index> pivoted_rows(const Problem& problem, const std::vector<Index>& candidates, Index m, const SquashOptions& o) {
  PivotedCholeskyOptions options;
  options.rank = m;
  options.seed = o.seed;
  options.progress = o.run.progress;
  const PivotedCholesky found = pivoted_cholesky(problem.kernel, rows_of(problem.X, candidates), options, o.run.memory);
  std::vector<char> taken(candidates.size(), 0);
  std::vector<Index> rows;
  for (const Index pivot : found.pivots) {
    taken[static_cast<std::size_t>(pivot)] = 1;
    rows.push_back(candidates[static_cast<std::size_t>(pivot)]);
  }
  const std::vector<Index> others = RandomStream(o.seed, 1).permutation(std::ssize(candidates));
  for (std::size_t i = 0; std::ssize(rows) < m; ++i) {
    if (taken[static_cast<std::size_t>(others[i])] == 0) rows.push_back(candidates[static_cast<std::size_t>(others[i])]);
  }
  return rows;
}

std::vector<Index> atoms_of(const Problem& problem, Atoms how, Index m, const SquashOptions& o) {
  if (how == Atoms::thinned) {
    ThinOptions options;
    options.seed = o.seed;
    options.run = o.run;
    return stats::thinned_rows(problem.kernel, problem.X, m, options).rows;
  }
  if (how == Atoms::random) return RandomStream(o.seed, 2).sample(problem.n(), m);
  const std::vector<Index> candidates = candidate_rows(problem.n(), m, o.candidates, o.seed);
  if (how == Atoms::herded) return herd_rows(problem, candidates, m, o.run, nullptr);
  return pivoted_rows(problem, candidates, m, o);
}

// Atoms and their weights. `objective` is half the squared distance, less half of |mu(X)|^2.
struct Squashed {
  Atoms how = Atoms::automatic;
  std::vector<Index> rows{};
  stats::SimplexWeights found{};
};

Squashed squash_onto(const Problem& problem, Atoms how, Index m, const SquashOptions& o) {
  Squashed out;
  out.how = how;
  out.rows = atoms_of(problem, how, m, o);
  std::sort(out.rows.begin(), out.rows.end());
  const Samples atoms = problem.X.subset(out.rows);
  const Matrix Q = gram(problem.kernel, atoms, {.run = o.run});
  const Vector p = stats::mean_at(problem.kernel, problem.X, problem.equal(), atoms, Precision::float64, o.run);
  if (!Q.allFinite() || !p.allFinite()) throw InvalidArgument("kernel values overflow; scale the data");
  out.found = stats::simplex_weights(Q, p, o.run);
  return out;
}

}  // namespace

const char* name_of(Atoms atoms) {
  switch (atoms) {
    case Atoms::automatic:
      return "auto";
    case Atoms::pivoted:
      return "pivoted";
    case Atoms::herded:
      return "herded";
    case Atoms::thinned:
      return "thinned";
    default:
      return "random";
  }
}

Coreset squash(const Samples& rows, Index m, const SquashOptions& options) {
  const Problem problem(rows, options.kernel);
  require_size(m, problem.n(), problem.n() - 1, " (on all of them the answer is trivial, equal weights)");
  require_memory(static_cast<std::size_t>(m) * static_cast<std::size_t>(m) * 3 * sizeof(double), options.run.memory,
                 fmt::format("the Gram matrix of {} atoms", m), "ask for fewer, or use thin, which needs no weights");
  Coreset out;
  out.method = "squash";
  out.n = problem.n();
  out.seed = options.seed;
  Squashed best;
  with_run(options.run, [&] {
    const bool both = options.atoms == Atoms::automatic;
    best = squash_onto(problem, both ? Atoms::pivoted : options.atoms, m, options);
    if (both) {
      Squashed other = squash_onto(problem, Atoms::herded, m, options);
      if (other.found.objective < best.found.objective) best = std::move(other);
    }
    out.rows = std::move(best.rows);
    out.weights = best.found.weights;
    out.gap = 2 * best.found.gap;
    if (options.atoms != Atoms::thinned && options.atoms != Atoms::random)
      remark_on_candidates(out, candidate_rows(out.n, m, options.candidates, options.seed).size());
    if (!best.found.converged)
      out.remarks.push_back(fmt::format("weights: stopped early, the squared distance may be {:.2g} above its least value", out.gap));
    measure(problem, options.measure, options.run, out);
  });
  const Index positive = (out.weights.array() > 0).count();
  conclude(problem,
           fmt::format("weighted rows ({} atoms{})", name_of(best.how),
                       positive < m ? fmt::format(", {} with a weight", positive) : std::string()),
           out);
  return out;
}

Coreset herd(const Samples& rows, Index m, const HerdOptions& options) {
  const Problem problem(rows, options.kernel);
  require_size(m, problem.n(), problem.n(), "");
  Coreset out;
  with_run(options.run, [&] {
    const std::vector<Index> candidates = candidate_rows(problem.n(), m, options.candidates, options.seed);
    Vector squared;
    out = equal_weights(problem, herd_rows(problem, candidates, m, options.run, &squared), "herd", options.seed);
    remark_on_candidates(out, candidates.size());
    measure(problem, options.measure, options.run, out);
    // The path differs from the squared distance by |mu(X)|^2, which the whole answer's distance gives.
    if (std::isfinite(out.mmd) && out.mmd_error == 0) out.path = (squared.array() + (out.mmd * out.mmd - squared[m - 1])).max(0).sqrt();
  });
  conclude(problem, "herded rows", out);
  return out;
}

Coreset thin(const Samples& rows, Index m, const ThinOptions& options) {
  const Problem problem(rows, options.kernel);
  require_size(m, problem.n(), problem.n(), "");
  if (options.oversampling < 0 || options.oversampling > 10)
    throw InvalidArgument(fmt::format("oversampling must be 0 to 10, got {}", options.oversampling));
  if (!(options.failure > 0) || !(options.failure < 1))
    throw InvalidArgument(fmt::format("failure must be a probability between 0 and 1, got {}", options.failure));
  if (options.swap_passes < 0) throw InvalidArgument(fmt::format("swap_passes must be >= 0, got {}", options.swap_passes));
  Coreset out;
  with_run(options.run, [&] {
    stats::Thinned found = stats::thinned_rows(problem.kernel, problem.X, m, options);
    out = equal_weights(problem, std::move(found.rows), "thin", options.seed);
    const Index wanted = 2 * m > out.n && m < out.n ? out.n - m : m;
    if (found.taking_part < out.n)
      out.remarks.push_back(
          fmt::format("{} = {} x 2^{} of the {} rows took part in the halving, at equal distances; the last part looks at "
                      "the mean of {}",
                      found.taking_part, wanted, found.rounds, out.n, found.mean_of_all ? "all" : "those left"));
    measure(problem, options.measure, options.run, out);
  });
  conclude(problem, "thinned rows", out);
  return out;
}

}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/mean_matching.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "gram/kernel_rows.hpp"
#include "linalg/tiling.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "solvers/box_qp.hpp"
#include "stats/mean_products.hpp"
#include "stats/simplex_qp.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Index exact_rows = 2000;    // up to here float64, a stored Gram matrix and a polished solution
constexpr double few_rows = 1.0 / 3;  // an effective sample of less than this share of the rows is worth a warning

// The Gram matrix with something added to its diagonal, and room for one more variable that has no kernel (all its products are 0).
template <class T>
class MatchingRows final : public RowSource<T> {
 public:
  MatchingRows(std::unique_ptr<RowSource<T>> K, double ridge, bool slack) : K_(std::move(K)), ridge_(ridge) {
    diagonal_ = Vector::Zero(K_->size() + (slack ? 1 : 0));
    diagonal_.head(K_->size()) = K_->diagonal().array() + ridge;
  }
  Index size() const override { return diagonal_.size(); }
  const Vector& diagonal() const override { return diagonal_; }
  const T* stored(Index row) const override { return ridge_ == 0 && K_->size() == size() ? K_->stored(row) : nullptr; }
  void rows(std::span<const Index> I, std::span<T* const> out) const override {
    const Index n = K_->size();
    std::vector<Index> inner;
    std::vector<T*> to;
    for (std::size_t a = 0; a < I.size(); ++a) {
      if (I[a] == n) {
        std::fill_n(out[a], size(), T{0});
      } else {
        inner.push_back(I[a]);
        to.push_back(out[a]);
      }
    }
    K_->rows(inner, to);
    for (std::size_t a = 0; a < inner.size(); ++a) {
      to[a][inner[a]] += static_cast<T>(ridge_);
      if (size() > n) to[a][n] = T{0};
    }
  }

 private:
  std::unique_ptr<RowSource<T>> K_;
  double ridge_;
  Vector diagonal_{};
};

void require_options(const MeanMatchingOptions& o) {
  if (!(o.epsilon >= 0) || !(o.epsilon < 1)) throw InvalidArgument(fmt::format("epsilon must be in [0, 1), got {}", o.epsilon));
  if (!(o.bound > 0)) throw InvalidArgument(fmt::format("bound must be > 0, got {}", o.bound));
  if (o.bound < 1 - o.epsilon)
    throw InvalidArgument(
        fmt::format("weights of at most {} cannot have a mean of {}: raise bound to 1 or more, or epsilon", o.bound, 1 - o.epsilon));
  if (!(o.ridge >= 0) || !std::isfinite(o.ridge)) throw InvalidArgument(fmt::format("ridge must be a finite number >= 0, got {}", o.ridge));
  if (!(o.tolerance > 0) || !std::isfinite(o.tolerance))
    throw InvalidArgument(fmt::format("tolerance must be a finite number > 0, got {}", o.tolerance));
}

// In b = w / n, with the variable that takes up 1 + epsilon - sum b last.
BoxProblem problem_of(const Vector& p, double added, const MeanMatchingOptions& o) {
  const Index n = p.size();
  const double each = 1 / static_cast<double>(n);
  const Index variables = n + (o.epsilon > 0 ? 1 : 0);
  BoxProblem problem;
  problem.linear = Vector::Zero(variables);
  problem.linear.head(n) = -p.array() - added * each;
  problem.lower = Vector::Zero(variables);
  problem.upper = Vector::Constant(variables, std::min(o.bound * each, 1 + o.epsilon));
  const double sum = std::min(1.0, o.bound);  // a feasible start: a bound below 1 needs epsilon
  problem.start = Vector::Constant(variables, sum * each);
  if (o.epsilon > 0) {
    problem.upper[n] = 2 * o.epsilon;
    problem.start[n] = 1 + o.epsilon - sum;
  }
  return problem;
}

struct Solved {
  Vector weights{};  // b
  double gap = 0;    // of 1/2 b'K b - p'b
  BoxStatus status = BoxStatus::converged;
};

template <class T>
Solved solve(const Kernel& kernel, const Samples& X, const Vector& p, double scale, const MeanMatchingOptions& o) {
  const Index n = X.size();
  PreparedKernel<T> prepared(kernel, X, X);
  std::unique_ptr<RowSource<T>> K;
  if (n <= exact_rows) {
    K = StoredRows<T>::of(prepared, o.run.progress);
  } else {
    K = std::make_unique<KernelRows<T>>(std::move(prepared));
  }
  BoxOptions options;
  options.tolerance = o.tolerance * scale;
  options.polish = n <= exact_rows;
  options.max_steps = std::max<Index>(10'000'000, 100 * n);
  options.run = stats::named(o.run, "weights");
  const double added = o.ridge * scale;
  const MatchingRows<T> rows(std::move(K), added, o.epsilon > 0);
  const BoxProblem problem = problem_of(p, added, o);
  const BoxSolution found = solve_box_qp<T>(rows, problem, options);
  return {found.b.head(n), stats::linear_gap(found.gradient, found.b, problem.upper), found.status};
}

void measure(const Kernel& kernel, const Samples& train, const Samples& target, const Vector& target_weights, MeanMatching& out,
             const Run& run) {
  // Rows of kernel values know nothing of the targets among themselves.
  if (target.is_given() && target.given_ids()[0] < 0) {
    out.remarks.emplace_back("distances are not known: a precomputed kernel says nothing of the target rows among themselves");
    return;
  }
  const auto n = static_cast<double>(train.size());
  Matrix V(train.size(), 2);
  V.col(0).setConstant(1 / n);
  V.col(1) = out.weights / n;
  const stats::MeanDistances d = stats::mean_distances(kernel, target, target_weights, train, V, CoresetMeasure::automatic, run);
  if (!d.known) return;
  out.mmd_before = stats::distance_of(d.squared[0]);
  out.mmd_after = stats::distance_of(d.squared[1]);
  out.mmd_error = d.error[1] > 0 ? stats::distance_error(d.squared[1], d.error[1]) : 0;
}

void conclude(MeanMatching& out, Index n, Index m, Clock::time_point start) {
  const double share = out.effective_sample_size / static_cast<double>(n);
  if (share < few_rows)
    out.remarks.push_back(
        fmt::format("the weights rest on few rows: {} rows count like {:.1f}; expect a fit of that many, and raise ridge (try 0.1 to 1), "
                    "lower bound or get training rows nearer the target",
                    n, out.effective_sample_size));
  out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  out.sentence = fmt::format("weights of {} training rows for {} target rows", n, m);
  if (std::isfinite(out.mmd_after))
    out.sentence +=
        fmt::format(": distance (MMD) {:.4g} before, {:.4g} after{}", out.mmd_before, out.mmd_after, stats::error_words(out.mmd_error));
  out.sentence += fmt::format("; effective sample size {:.1f}, {} rows without weight, {} at the bound", out.effective_sample_size,
                              out.zeros, out.at_bound);
}

}  // namespace

MeanMatching match_means(const Samples& train_rows, const Samples& target_rows, const MeanMatchingOptions& options) {
  const auto start = Clock::now();
  require_options(options);
  const Samples train = stats::embedded(options.kernel, train_rows, "X_train");
  if (target_rows.empty()) throw InvalidArgument("X_target has no rows; a mean needs at least one");
  require_finite(target_rows, "X_target");
  if (target_rows.width() != train.width())
    throw InvalidArgument(fmt::format("X_train has {} columns, X_target has {}", train.width(), target_rows.width()));
  const Samples target = as_given(options.kernel, target_rows, train);
  const Vector u = stats::proportions(options.target_weights, target.size(), "target_weights");
  MeanMatching out;
  with_run(options.run, [&] {
    const Kernel kernel = options.kernel.has_auto() ? resolve(options.kernel, concatenate(train, target)) : options.kernel;
    out.kernel = kernel.text();
    const Index n = train.size();
    const Precision precision =
        n <= exact_rows ? Precision::float64 : stats::working_precision(kernel, train, static_cast<double>(n) * static_cast<double>(n));
    const Vector p = stats::mean_at(kernel, target, u, train, Precision::float64, options.run);
    const double scale = gram_diagonal(kernel, train).mean();
    if (!p.allFinite() || !std::isfinite(scale)) throw InvalidArgument("kernel values overflow; scale the data");
    if (!(scale > 0)) throw InvalidArgument(fmt::format("{} is 0 on every training row: nothing can be matched", kernel.text()));
    const Solved found = linalg::with_type_of(precision, [&]<class T>(T) { return solve<T>(kernel, train, p, scale, options); });
    out.weights = found.weights * static_cast<double>(n);
    out.gap = 2 * found.gap;
    out.converged = found.status == BoxStatus::converged;
    if (!out.converged)
      out.remarks.push_back(fmt::format("stopped early ({}): the squared distance may be {:.2g} above its least value",
                                        stats::name_of(found.status), out.gap));
    out.mean = out.weights.mean();
    out.effective_sample_size = out.weights.sum() * out.weights.sum() / out.weights.squaredNorm();
    for (Index i = 0; i < n; ++i) {
      out.zeros += out.weights[i] == 0 ? 1 : 0;
      out.at_bound += out.weights[i] >= options.bound * (1 - 1e-12) ? 1 : 0;
    }
    measure(kernel, train, target, u, out, options.run);
  });
  conclude(out, train.size(), target.size(), start);
  return out;
}

}  // namespace mercer

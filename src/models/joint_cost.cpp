// A joint cost of all scores plus lambda |f|^2.
//
// Notation: K = V diag(e) V', F = V diag(sqrt e) over eigenvalues above rounding; f(x_i) = (F w)_i with |f|^2 = |w|^2, coefficients
// c = V diag(1/sqrt e) w. In w the problem is smooth and 2 lambda strongly convex where the cost is convex, so its minimum lies at most
// |gradient|^2 / (4 lambda) below any value (the intercept being at its best).
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/representer.hpp"
#include "models/convex_fit.hpp"
#include "solvers/minimize.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

JointValue checked(JointValue v, Index n) {
  if (v.gradient.size() != n)
    throw InvalidArgument(fmt::format("the joint cost must give a gradient of {} numbers, got {}", n, v.gradient.size()));
  if (std::isnan(v.value) || v.gradient.hasNaN()) throw InvalidArgument("the joint cost gave NaN");
  return v;
}

struct Whitened {
  Matrix features;  // F
  Matrix basis;     // V diag(1/sqrt e)
};

Whitened whiten(const Kernel& kernel, const Samples& X, const Run& run) {
  const auto n = static_cast<std::size_t>(X.size());
  require_memory(5 * n * n * sizeof(double), run.memory, fmt::format("a joint cost of {} samples (needs all eigenvectors)", n),
                 "use fewer samples");
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(gram(kernel, X, {.run = run}), run.progress, run.memory);
  const double largest = eigen.values.cwiseAbs().maxCoeff();
  if (kernel.psd() == Verdict::no || eigen.values[0] < -1e-8 * largest)
    throw InvalidArgument(
        fmt::format("the kernel {} is not positive semi-definite, so |f|^2 is no penalty; use a PSD kernel", kernel.text()));
  const double cut = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * largest;
  const Index rank = (eigen.values.array() > cut).count();
  const Vector roots = eigen.values.tail(rank).cwiseSqrt();
  const Matrix vectors = eigen.vectors.bottomRows(rank).transpose();
  return {vectors * roots.asDiagonal(), vectors * roots.cwiseInverse().asDiagonal()};
}

}  // namespace

RepresenterModel fit_joint_cost(const Samples& rows, const JointCost& cost, const RepresenterOptions& options) {
  const auto start = Clock::now();
  const Samples X = as_given(options.kernel, rows);
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  const double lambda = options.lambda;
  if (!(lambda > 0) || !std::isfinite(lambda)) throw InvalidArgument(fmt::format("lambda must be a finite number > 0, got {}", lambda));
  Kernel kernel = options.kernel;
  Matrix coef;
  double b = 0;
  ConvexSummary summary;
  with_run(options.run, [&] {
    kernel = ready_kernel(options.kernel, X);
    const Whitened white = whiten(kernel, X, options.run);
    const Index r = white.features.cols();
    Stage stage(options.run.progress, "L-BFGS", static_cast<double>(options.max_iterations));
    const auto objective = [&](const Vector& x, Vector& gradient) {
      stage.advance(1);
      Vector z = white.features * x.head(r);
      if (options.fit_intercept) z.array() += x[r];
      const JointValue at = checked(cost(z), X.size());
      gradient.head(r) = white.features.transpose() * at.gradient + 2 * lambda * x.head(r);
      if (options.fit_intercept) gradient[r] = at.gradient.sum();
      return at.value + lambda * x.head(r).squaredNorm();
    };
    const MinimizeOptions limits{
        .max_evaluations = static_cast<int>(10 * options.max_iterations), .value_tolerance = 1e-15, .argument_tolerance = 0};
    const Minimum best = minimize(objective, Vector::Zero(r + (options.fit_intercept ? 1 : 0)), {}, {}, limits);
    coef = white.basis * best.x.head(r);
    if (options.fit_intercept) b = best.x[r];
    summary.iterations = best.evaluations;
    summary.objective = best.value;
    summary.squared_norm = best.x.head(r).squaredNorm();
    summary.gradient_norm = best.gradient.norm();
    summary.gap = best.gradient.squaredNorm() / (4 * lambda);
    summary.relative_gap = summary.gap / std::max(std::abs(best.value), std::numeric_limits<double>::min());
    const bool enough = best.evaluations < limits.max_evaluations;
    summary.status = summary.relative_gap <= options.tolerance ? "converged" : enough ? "rounding" : "iteration limit";
  });
  const auto n = static_cast<std::size_t>(X.size());
  summary.bytes = 5 * n * n * sizeof(double);
  summary.method = "L-BFGS";
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  finish_summary(summary, options.tolerance, X.size());
  const Loss joint = losses::custom("joint", [](const VectorRef&, const VectorRef&) -> LossValues {
    throw InvalidArgument("a joint cost has no losses of single samples");
  });
  return RepresenterModel::from_parts(kernel, joint, X.without_values(), std::move(coef), Vector::Constant(1, b),
                                      Vector::Constant(1, lambda), std::move(summary));
}

}  // namespace mercer

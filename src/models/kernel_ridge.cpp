// Kernel ridge regression.
//
// Notation: K Gram matrix, s = sqrt(w) roots of the sample weights, S = diag(s), a = alpha, c coefficients, b intercept.
// Minimising sum w_i (y_i - f(x_i) - b)^2 + a |f|^2 over f = sum c_i k(x_i, .) gives  c = S c',  (S K S + a I) c' = S (y - b),
// and, with an intercept, s'c' = 0. With u = A^-1 S y and v = A^-1 s: b = s'u / s'v, c' = u - b v.
// For a = 0, and whenever A is not positive definite, A^-1 is the pseudo-inverse, which gives the solution of least norm (SPEC R2).
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_ridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>

#include "kernels/node.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/kernel_system.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

struct Problem {
  const Samples& X;
  Matrix right_sides;  // S Y
  Vector s;
  bool weighted = false;
  const KernelRidgeOptions& options;
};

// The targets that share one alpha: right sides going in, scaled coefficients c' and intercepts coming out.
struct Group {
  double alpha = 0;
  Matrix right_sides;  // S Y
  Matrix solution;     // c'
  Vector intercept;
};

// u = A^-1 S Y and v = A^-1 s to c' and b, when an intercept is fitted.
void take_intercept(const Matrix& u, const Vector& v, const Vector& s, Group& group) {
  group.intercept = u.transpose() * s / s.dot(v);
  group.solution = u - v * group.intercept.transpose();
}

// By the spectrum, with eigenvalues of S K S + a I below rounding taken as zero. Where the null space sees the constant, the intercept is
// the least squares one there, as in ordinary least squares; otherwise it is, as above, the one that leaves f the least norm.
void solve_spectrum(const Kernel& kernel, const Problem& p, Group& group, SolveSummary& summary) {
  const Index n = p.X.size();
  const auto numbers = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const std::size_t bytes = 4 * numbers * sizeof(double);
  require_memory(bytes, p.options.run.memory, fmt::format("the minimum-norm solution on {} samples (needs all eigenvectors)", n),
                 "use alpha > 0 or fewer samples");
  summary.bytes = std::max(summary.bytes, bytes);
  Matrix A = gram(kernel, p.X, {.run = p.options.run});
  A = p.s.asDiagonal() * A * p.s.asDiagonal();
  A.diagonal().array() += group.alpha;
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(std::move(A), p.options.run.progress, p.options.run.memory);
  const double cut = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * eigen.values.cwiseAbs().maxCoeff();
  const Vector inverse = eigen.values.unaryExpr([&](double value) { return std::abs(value) > cut ? 1 / value : 0.0; });
  summary.rank = std::min<Index>(summary.rank, (inverse.array() != 0).count());
  Matrix y = eigen.vectors * group.right_sides;  // coordinates along the eigenvectors
  const auto apply_inverse = [&](const Matrix& coordinates) {
    return Matrix(eigen.vectors.transpose() * (inverse.asDiagonal() * coordinates));
  };
  if (!p.options.fit_intercept) {
    group.solution = apply_inverse(y);
    return;
  }
  const Vector s = eigen.vectors * p.s;
  const Vector unseen = (inverse.array() == 0).select(s, 0.0);  // of the constant, in the null space
  if (unseen.norm() > 1e-10 * p.s.norm()) {
    group.intercept = y.transpose() * unseen / unseen.squaredNorm();
    group.solution = apply_inverse(y - s * group.intercept.transpose());
  } else {
    take_intercept(apply_inverse(y), apply_inverse(s), p.s, group);
  }
}

// By the solver of the system; false when S K S + a I is not positive definite.
bool solve_system(KernelSystem& system, const Problem& p, Group& group, SolveSummary& summary) {
  const Index targets = group.right_sides.cols();
  Matrix B(group.right_sides.rows(), targets + (p.options.fit_intercept ? 1 : 0));
  B.leftCols(targets) = group.right_sides;
  if (p.options.fit_intercept) B.col(targets) = p.s;
  const std::optional<SystemSolution> found = system.solve(group.alpha, B);
  if (!found) return false;
  if (summary.method != "pseudo-inverse") summary.method = found->method;  // of several alphas the hardest one speaks
  summary.converged = summary.converged && found->converged;
  summary.iterations += found->iterations;
  summary.bytes = std::max(summary.bytes, found->bytes);
  if (p.options.fit_intercept) {
    take_intercept(found->X.leftCols(targets), found->X.col(targets), p.s, group);
  } else {
    group.solution = found->X;
  }
  return true;
}

void solve_group(const Kernel& kernel, KernelSystem& system, const Problem& p, Group& group, SolveSummary& summary) {
  if (group.alpha > 0) {
    if (solve_system(system, p, group, summary)) return;
    summary.positive_definite = false;
  }
  summary.method = "pseudo-inverse";
  solve_spectrum(kernel, p, group, summary);
}

// |(K + a W^-1) c + b - y| / |y| over samples of positive weight, worst target, from float64 kernel tiles whatever the factor was made of.
double relative_residual(const Kernel& kernel, const Problem& p, const MatrixRef& Y, const Matrix& coef, const Vector& intercept,
                         const Vector& alpha) {
  const Operator op = gram_operator(kernel, p.X, {Precision::float64, Storage::streamed, p.options.run});
  Matrix residual = op->apply(coef) - Y;
  double worst = 0;
  for (Index t = 0; t < Y.cols(); ++t) {
    double error = 0;
    double scale = 0;
    for (Index i = 0; i < Y.rows(); ++i) {
      if (p.s[i] == 0) continue;
      const double r = p.s[i] * (residual(i, t) + intercept[t]) + alpha[t] * coef(i, t) / p.s[i];
      error += r * r;
      scale += p.s[i] * p.s[i] * Y(i, t) * Y(i, t);
    }
    worst = std::max(worst, scale > 0 ? std::sqrt(error / scale) : std::sqrt(error));
  }
  return worst;
}

void solve_all(const Kernel& kernel, const Problem& p, const Vector& alpha, Matrix& coef, Vector& intercept, SolveSummary& summary) {
  std::map<double, std::vector<Index>> by_alpha;  // one factorisation each
  for (Index t = 0; t < alpha.size(); ++t) by_alpha[alpha[t]].push_back(t);
  KernelSystem system(kernel, p.X, p.weighted ? p.s : Vector(),
                      {p.options.solver, p.options.tolerance, p.options.precision.value_or(Precision::float64), p.options.run});
  summary.rank = p.X.size();
  for (const auto& [a, targets] : by_alpha) {
    Group group{a, p.right_sides(Eigen::all, targets), {}, Vector::Zero(static_cast<Index>(targets.size()))};
    solve_group(kernel, system, p, group, summary);
    intercept(targets) = group.intercept;
    coef(Eigen::all, targets) = p.s.asDiagonal() * group.solution;
  }
}

std::string sentence_of(const SolveSummary& s, Index n, double tolerance) {
  std::string kind = fmt::format("{0} of {1} x {1}", s.method, n);
  if (s.method == "pseudo-inverse") kind += fmt::format(", rank {}", s.rank);
  if (s.method == "conjugate gradients") kind = fmt::format("conjugate gradients on {0} x {0}, {1} steps", n, s.iterations);
  if (s.method == "mixed-precision Cholesky") kind += fmt::format(", {} refinements", s.iterations);
  const char* why = s.positive_definite ? "" : " (K + alpha I was not positive definite: a larger alpha is faster and safer)";
  const std::string verdict =
      s.converged ? "solved" : fmt::format("not solved to {:g}: a larger alpha or more memory would help", tolerance);
  return fmt::format("{}: {}{}, relative residual {:.1e}, {}, {:.2f} s", verdict, kind, why, s.residual,
                     format_bytes(static_cast<double>(s.bytes)), s.seconds);
}

}  // namespace

KernelRidgeModel KernelRidgeModel::from_parts(Kernel kernel, Samples samples, Matrix dual_coef, Vector intercept, Vector alpha,
                                              Precision precision, SolveSummary summary) {
  if (dual_coef.rows() != samples.size() || intercept.size() != dual_coef.cols() || alpha.size() != dual_coef.cols()) {
    throw InvalidArgument(fmt::format("a kernel ridge model of {} samples and {} targets cannot have {} x {} coefficients", samples.size(),
                                      intercept.size(), dual_coef.rows(), dual_coef.cols()));
  }
  KernelRidgeModel model(std::move(kernel), std::move(samples));
  model.dual_coef_ = std::move(dual_coef);
  model.intercept_ = std::move(intercept);
  model.alpha_ = std::move(alpha);
  model.precision_ = precision;
  model.summary_ = std::move(summary);
  return model;
}

Matrix KernelRidgeModel::predict(const Samples& X, const Run& run) const {
  if (X.width() != samples_.width())
    throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {}", X.width(), samples_.width()));
  if (X.empty()) return Matrix(0, n_targets());
  Matrix f =
      gram_operator(kernel_, as_new(kernel_, as_given(kernel_, X, samples_), samples_), samples_, {precision_, Storage::streamed, run})
          ->apply(dual_coef_);
  f.rowwise() += intercept_.transpose();
  return f;
}

KernelRidgeModel fit_kernel_ridge(const Samples& rows, const MatrixRef& Y, const KernelRidgeOptions& options) {
  const auto start = Clock::now();
  const Samples X = as_given(options.kernel, rows);
  if (normalizes_given(options.kernel))
    throw InvalidArgument(fmt::format(
        "{} could be fitted but never predict: k(x,x) of new objects is not among given kernel values; normalise the matrix first",
        options.kernel.text()));
  require_matching(X, Y);
  if (!(options.tolerance > 0) || !(options.tolerance < 1))
    throw InvalidArgument(fmt::format("tolerance must be between 0 and 1, got {}", options.tolerance));
  const Vector alpha = penalties(options.alpha, options.alpha_per_target, options.lambda, X.size(), Y.cols());
  const Precision precision = options.precision.value_or(Precision::float64);
  const Vector s = root_weights(options.sample_weight, X.size());
  const Problem problem{X, s.asDiagonal() * Y, s, options.sample_weight.size() > 0, options};
  Matrix coef(Y.rows(), Y.cols());
  Vector intercept = Vector::Zero(Y.cols());
  SolveSummary summary;
  Kernel kernel = options.kernel;
  with_run(options.run, [&] {
    kernel = resolve(options.kernel, X);
    solve_all(kernel, problem, alpha, coef, intercept, summary);
    summary.residual = relative_residual(kernel, problem, Y, coef, intercept, alpha);
  });
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  summary.sentence = sentence_of(summary, X.size(), options.tolerance);
  // Of a given Gram matrix the model needs to know only which objects it was fitted on, not their kernel values.
  KernelRidgeModel model =
      KernelRidgeModel::from_parts(kernel, X.without_values(), std::move(coef), std::move(intercept), alpha, precision, std::move(summary));
  if (!options.intervals) return model;
  return add_intervals(model, X, Y, {.sample_weight = options.sample_weight, .fit_intercept = options.fit_intercept, .run = options.run});
}

}  // namespace mercer

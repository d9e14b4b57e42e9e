// Support vector regression and the support of a distribution.
//
// Notation: b signed coefficients, f = K b, m multipliers.
//   epsilon   b in [-C_i, C_i], p = -y, kinks epsilon, sum 0; bias = -m.
//   nu        two variables a row, b+ in [0, C_i] and b- in [-C_i, 0], p = -y, sums C nu W / 2 and its negative;
//             bias = -(m+ + m-) / 2, epsilon = (m- - m+) / 2.
//   one class b in [0, w_i], p = 0, sum nu W; rho = m.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "gram/row_evaluator.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/svm.hpp"
#include "models/convex_fit.hpp"
#include "models/svm_rows.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
constexpr double infinity = std::numeric_limits<double>::infinity();

Vector weights_of(const Vector& sample_weight, Index n) {
  root_weights(sample_weight, n);  // for its checks
  return sample_weight.size() > 0 ? sample_weight : Vector(Vector::Ones(n));
}

std::vector<Index> everyone(Index n) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

struct Solved {
  SupportExpansion parts;
  SvmSummary summary;
  BoxSolution solution;
  Vector b;  // one per row
};

// The whole way from a problem to the expansion, but for the intercept.
Solved solve(const Samples& X, const Kernel& given, const BoxProblem& problem, double largest, const SvmSolver& solver, const Run& run) {
  Solved out;
  const Index n = X.size();
  with_run(run, [&] {
    out.parts.kernel = ready_kernel(given, X);
    const SvmRows rows(out.parts.kernel, X, solver, largest, false, run);
    out.solution = rows.solve(everyone(n), problem, solver, run);
    out.summary.precision = rows.precision();
    add_to_summary(out.solution, problem, out.summary);
    out.summary.bytes += rows.stored_bytes();
    if (rows.stored_bytes() > 0) out.summary.kernel_rows = n;
  });
  out.b = Vector::Zero(n);
  for (Index i = 0; i < out.solution.b.size(); ++i) out.b[i % n] += out.solution.b[i];
  for (Index i = 0; i < n; ++i) {
    if (out.b[i] != 0) out.parts.support.push_back(i);
  }
  if (out.parts.support.empty()) out.parts.support.push_back(0);  // f is the intercept alone; a model keeps a row to know its columns by
  out.parts.vectors = X.subset(out.parts.support).without_values();
  out.parts.coef = out.b(out.parts.support);
  out.summary.support_vectors = (out.parts.coef.array() != 0).count();
  out.summary.steps = {out.summary.iterations};
  return out;
}

void finish(Solved& s, double intercept, Clock::time_point begin, const SvmSolver& solver, const Samples& X) {
  s.parts.intercept = Vector::Constant(1, intercept);
  s.summary.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  finish_summary(s.summary, solver, X, X.size());
}

double squared_norm(const Solved& s, const BoxProblem& problem) { return s.solution.b.dot(s.solution.gradient - problem.linear); }

void require_targets(const Samples& X, const VectorRef& y) {
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  if (y.size() != X.size()) throw InvalidArgument(fmt::format("X has {} samples but y has {}", X.size(), y.size()));
  require_finite(Matrix(y), "y");
}

void require_parts(const SupportExpansion& parts) {
  if (parts.coef.rows() != parts.vectors.size() || parts.coef.cols() != 1 || parts.intercept.size() != 1 ||
      std::ssize(parts.support) != parts.vectors.size()) {
    throw InvalidArgument(fmt::format("an expansion of {} support vectors cannot have {} x {} coefficients and {} intercepts",
                                      parts.vectors.size(), parts.coef.rows(), parts.coef.cols(), parts.intercept.size()));
  }
}

Matrix value_at(const SupportExpansion& parts, const Samples& X, const Run& run) {
  return expansion_at(parts.kernel, parts.vectors, parts.coef, parts.intercept, X, run);
}

double value_at_row(const SupportExpansion& parts, const RowEvaluator* row, std::span<const double> x) {
  if (std::ssize(x) != parts.vectors.width())
    throw InvalidArgument(fmt::format("x has {} numbers, the model was fitted on {} columns", x.size(), parts.vectors.width()));
  if (row == nullptr) return value_at(parts, Samples(Matrix(Eigen::Map<const Matrix>(x.data(), 1, std::ssize(x)))), {})(0, 0);
  const std::span<const double> k = row->values(x);
  return parts.intercept[0] + Eigen::Map<const Vector>(k.data(), std::ssize(k)).dot(parts.coef.col(0));
}

// Fills bounds one after the other until the sum is reached.
void fill(Vector& b, const Vector& bound, Index first, double sum) {
  double left = std::abs(sum);
  for (Index i = 0; i < bound.size() && left > 0; ++i) {
    const double take = std::min(bound[i], left);
    b[first + i] = sum > 0 ? take : -take;
    left -= take;
  }
}

Matrix coefficients_of(const SupportExpansion& parts, Index n) {
  Matrix out = Matrix::Zero(n, 1);
  for (std::size_t s = 0; s < parts.support.size(); ++s) {
    if (parts.support[s] < 0 || parts.support[s] >= n)
      throw InvalidArgument(fmt::format("support vector {} is not among {} training rows", parts.support[s], n));
    out(parts.support[s], 0) = parts.coef(static_cast<Index>(s), 0);
  }
  return out;
}

}  // namespace

SvrModel SvrModel::from_parts(SupportExpansion parts, double epsilon, double squared_norm, SvmSummary summary, SvmSetting setting) {
  require_parts(parts);
  SvrModel model;
  model.parts_ = std::move(parts);
  model.epsilon_ = epsilon;
  model.squared_norm_ = squared_norm;
  model.summary_ = std::move(summary);
  model.setting_ = setting;
  model.row_ = RowEvaluator::make(model.parts_.kernel, model.parts_.vectors);
  return model;
}

Matrix SvrModel::predict(const Samples& X, const Run& run) const { return value_at(parts_, X, run); }
double SvrModel::predict_row(std::span<const double> x) const { return value_at_row(parts_, row_.get(), x); }
Matrix SvrModel::coefficients(Index n) const { return coefficients_of(parts_, n); }

SvrModel fit_svr(const Samples& rows, const VectorRef& y, const SvrOptions& o) {
  const auto begin = Clock::now();
  const Samples X = as_given(o.kernel, rows);
  require_targets(X, y);
  require_solver(o.solver);
  const Index n = X.size();
  if (!(o.epsilon >= 0) || !std::isfinite(o.epsilon))
    throw InvalidArgument(fmt::format("epsilon must be a finite number >= 0, got {}", o.epsilon));
  const double C = box_bound(o.C, o.lambda, n);
  const Vector bound = C * weights_of(o.sample_weight, n);
  BoxProblem problem{-y, -bound, bound, Vector::Constant(n, o.epsilon), {o.fit_intercept ? 1 : 0, 0}, {}, {}};
  if (o.epsilon == 0) problem.kink.resize(0);
  if (o.start.size() > 0) {
    if (o.start.rows() != n || o.start.cols() != 1)
      throw InvalidArgument(fmt::format("the start is {} x {}, but there are {} samples", o.start.rows(), o.start.cols(), n));
    require_finite(o.start, "the start");
    double factor = 1;
    for (Index i = 0; i < n; ++i) {
      if (std::abs(o.start(i, 0)) > bound[i]) factor = std::min(factor, bound[i] / std::abs(o.start(i, 0)));
    }
    problem.start = factor * o.start.col(0);
    if (o.fit_intercept) problem.start = balanced(problem.start);
  }
  Solved s = solve(X, o.kernel, problem, bound.maxCoeff(), o.solver, o.run);
  finish(s, o.fit_intercept ? -s.solution.multiplier[0] : 0, begin, o.solver, X);
  return SvrModel::from_parts(std::move(s.parts), o.epsilon, squared_norm(s, problem), std::move(s.summary), {.C = C});
}

SvrModel fit_nu_svr(const Samples& rows, const VectorRef& y, const NuSvrOptions& o) {
  const auto begin = Clock::now();
  const Samples X = as_given(o.kernel, rows);
  require_targets(X, y);
  require_solver(o.solver);
  require_nu(o.nu);
  const Index n = X.size();
  const double C = box_bound(o.C, std::nullopt, n);
  const Vector bound = C * weights_of(o.sample_weight, n);
  BoxProblem problem{Vector(2 * n), Vector::Zero(2 * n), Vector::Zero(2 * n), {}, {2, n}, {}, Vector::Zero(2 * n)};
  problem.linear << -y, -y;
  problem.upper.head(n) = bound;
  problem.lower.tail(n) = -bound;
  for (Index i = 0; i < 2 * n; ++i) problem.row.push_back(i % n);
  const double sum = o.nu * bound.sum() / 2;
  fill(problem.start, bound, 0, sum);
  fill(problem.start, bound, n, -sum);
  Solved s = solve(X, o.kernel, problem, bound.maxCoeff(), o.solver, o.run);
  const Vector& m = s.solution.multiplier;
  finish(s, -(m[0] + m[1]) / 2, begin, o.solver, X);
  return SvrModel::from_parts(std::move(s.parts), (m[1] - m[0]) / 2, squared_norm(s, problem), std::move(s.summary),
                              {.by_nu = true, .C = C, .nu = o.nu});
}

OneClassModel OneClassModel::from_parts(SupportExpansion parts, SvmSummary summary, SvmSetting setting) {
  require_parts(parts);
  OneClassModel model;
  model.parts_ = std::move(parts);
  model.summary_ = std::move(summary);
  model.setting_ = setting;
  model.row_ = RowEvaluator::make(model.parts_.kernel, model.parts_.vectors);
  return model;
}

Matrix OneClassModel::decision(const Samples& X, const Run& run) const { return value_at(parts_, X, run); }
double OneClassModel::decision_row(std::span<const double> x) const { return value_at_row(parts_, row_.get(), x); }

OneClassModel fit_one_class(const Samples& rows, const OneClassOptions& o) {
  const auto begin = Clock::now();
  const Samples X = as_given(o.kernel, rows);
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  require_solver(o.solver);
  require_nu(o.nu);
  const Index n = X.size();
  const Vector bound = weights_of(o.sample_weight, n);
  BoxProblem problem{Vector::Zero(n), Vector::Zero(n), bound, {}, {1, 0}, {}, Vector::Zero(n)};
  const double sum = o.nu * bound.sum();
  fill(problem.start, bound, 0, sum);
  SvmSolver solver = o.solver;
  solver.tolerance *= std::min(1.0, sum);  // values of f shrink with the sum, and any start would do
  Solved s = solve(X, o.kernel, problem, bound.maxCoeff(), solver, o.run);
  if (sum < (bound.array() > 0).select(bound, infinity).minCoeff()) {
    s.summary.remark =
        fmt::format("nu = {:g} is less than one of {} samples: none may be left outside, and a smaller nu gives the same region", o.nu,
                    (bound.array() > 0).count());
  }
  finish(s, -s.solution.multiplier[0], begin, solver, X);
  return OneClassModel::from_parts(std::move(s.parts), std::move(s.summary), {.nu = o.nu});
}

}  // namespace mercer

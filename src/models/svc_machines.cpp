// Notation: b_i = y_i a_i signed coefficients, C_i = C w_i, f = K b, g = f + p the gradient.
//   penalty      b in [0, C_i] or [-C_i, 0], p = -y, sum b = 0 unless there is no bias; bias = -multiplier.
//   nu           b in [0, w_i] or [-w_i, 0], p = 0, sum of each side nu W / 2. With multipliers m+ and m-: margin r = (m+ - m-) / 2,
//                bias = -(m+ + m-) / 2, all divided by r.
//   hard margin  the points of the two convex hulls nearest to each other: as nu with sums 1 and -1 and bounds that are never met. Their
//   distance is twice
//                the margin; it is 0 when the classes cannot be separated.
// SPDX-License-Identifier: BSD-3-Clause
#include "models/svc_machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "mercer/error.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

Vector used_weights(const SvcTask& task, const Machine& machine, const std::vector<char>& use) {
  Vector weights = task.weights(machine.samples);
  for (std::size_t i = 0; i < use.size(); ++i) {
    if (use[i] == 0) weights[static_cast<Index>(i)] = 0;
  }
  return weights;
}

// Fills up a side of the box until its sum is reached, one bound after the other.
void fill_side(Vector& b, const Vector& bound, Index begin, Index end, double sum) {
  double left = std::abs(sum);
  for (Index i = begin; i < end && left > 0; ++i) {
    const double take = std::min(bound[i], left);
    b[i] = sum > 0 ? take : -take;
    left -= take;
  }
}

// The box |b_i| <= bound_i on the side of each sample's class, and p = -target y.
BoxProblem boxed(const Machine& machine, const Vector& bound, double target) {
  const Index n = std::ssize(machine.samples);
  BoxProblem out;
  out.linear.resize(n);
  out.lower = out.upper = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) {
    const bool positive = i < machine.positives;
    out.linear[i] = positive ? -target : target;
    (positive ? out.upper : out.lower)[i] = positive ? bound[i] : -bound[i];
  }
  return out;
}

void take(const BoxSolution& solution, const BoxProblem& problem, double intercept, double divisor, Machine& machine) {
  machine.b = solution.b / divisor;
  machine.intercept = intercept / divisor;
  machine.decision = ((solution.gradient - problem.linear).array() / divisor + machine.intercept).matrix();
  machine.squared_norm = solution.b.dot(solution.gradient - problem.linear) / (divisor * divisor);
}

// A start of another penalty is shortened until it fits the box, which keeps its sum.
Vector fitted_start(const Vector& start, const BoxProblem& problem) {
  double factor = 1;
  for (Index i = 0; i < start.size(); ++i) {
    const double bound = start[i] > 0 ? problem.upper[i] : problem.lower[i];
    if (start[i] != 0 && bound == 0)
      throw InvalidArgument(fmt::format("the start does not belong to these labels: its coefficient {} has the wrong sign", i));
    if (std::abs(start[i]) > std::abs(bound)) factor = std::min(factor, bound / start[i]);
  }
  return start * factor;
}

// The start of the samples that are in use.
Vector used_start(Vector start, const BoxProblem& problem) {
  for (Index i = 0; i < start.size(); ++i) {
    if (problem.upper[i] == problem.lower[i]) start[i] = 0;
  }
  return start;
}

void solve_penalty(const SvcTask& task, double C, const SvmRows& rows, Machine& machine, const Vector& weights, const Vector& start,
                   const SvmSolver& solver, const Run& run, SvmSummary& summary) {
  BoxProblem problem = boxed(machine, C * weights, 1);
  problem.held = {task.fit_intercept ? 1 : 0, 0};
  if (start.size() > 0) {
    const Vector used = used_start(start, problem);
    problem.start = fitted_start(task.fit_intercept ? balanced(used) : used, problem);
  }
  const BoxSolution solution = rows.solve(machine.samples, problem, solver, run);
  take(solution, problem, task.fit_intercept ? -solution.multiplier[0] : 0, 1, machine);
  add_to_summary(solution, problem, summary);
}

void solve_nu(const SvcTask& task, const SvmRows& rows, Machine& machine, const Vector& weights, const SvmSolver& solver, const Run& run,
              SvmSummary& summary) {
  const Index n = weights.size();
  BoxProblem problem = boxed(machine, weights, 0);
  problem.held = {2, machine.positives};
  const double sum = task.nu * weights.sum() / 2;
  const double smaller = std::min(weights.head(machine.positives).sum(), weights.tail(n - machine.positives).sum());
  if (sum > smaller * (1 + 1e-12)) {
    throw InvalidArgument(fmt::format("nu = {} is infeasible: with classes of weight {:g} and {:g} it can be at most {:.4g}", task.nu,
                                      weights.head(machine.positives).sum(), weights.tail(n - machine.positives).sum(),
                                      2 * smaller / weights.sum()));
  }
  problem.start = Vector::Zero(n);
  fill_side(problem.start, weights, 0, machine.positives, sum);
  fill_side(problem.start, weights, machine.positives, n, -sum);
  const BoxSolution solution = rows.solve(machine.samples, problem, solver, run);
  const double margin = (solution.multiplier[0] - solution.multiplier[1]) / 2;
  const double divisor = margin > 0 ? margin : 1;
  take(solution, problem, -(solution.multiplier[0] + solution.multiplier[1]) / 2, divisor, machine);
  add_to_summary(solution, problem, summary);
  const double rounding = 1e-14 * sum * Vector(rows.diagonal()(machine.samples)).cwiseAbs().maxCoeff();
  if (margin <= solution.violation + rounding && summary.remark.empty()) {
    summary.remark = fmt::format(
        "the margin at nu = {:g} is zero as far as the fit can tell ({:.1g}): the classes overlap, and decision values say little; use a "
        "larger nu (at most {:.4g}), a richer kernel or a smaller tolerance",
        task.nu, margin, 2 * smaller / weights.sum());
  }
}

void solve_hard(const SvcTask& task, const SvmRows& rows, Machine& machine, const Vector& weights, const SvmSolver& solver, const Run& run,
                SvmSummary& summary) {
  const Index n = weights.size();
  const Vector bound = 2 * (weights.array() > 0).cast<double>();  // above the sum: a hull's corner is a free variable too
  BoxProblem problem = boxed(machine, bound, 0);
  problem.held = {2, machine.positives};
  problem.start = Vector::Zero(n);
  fill_side(problem.start, bound, 0, machine.positives, 1);
  fill_side(problem.start, bound, machine.positives, n, -1);
  const double largest = Vector(rows.diagonal()(machine.samples)).cwiseAbs().maxCoeff();
  // Of a squared distance: below, the hulls meet. Beside the spread of the samples; and kernel values far from the origin, which are large,
  // cannot tell more than their rounding.
  const bool coarse = rows.precision() == Precision::float32;
  const double nothing = std::max({(coarse ? 1e-5 : 1e-9) * task.spread, (coarse ? 1e-6 : 1e-14) * largest, 1e-300});
  SvmSolver precise = solver;
  precise.tolerance = 0.1 * task.spread;
  BoxSolution solution;
  Index steps = 0;
  const auto begin = Clock::now();
  do {  // the tolerance is relative to a distance that is not known before
    precise.tolerance = std::max(0.1 * precise.tolerance, 1e-3 * nothing);
    solution = rows.solve(machine.samples, problem, precise, run);
    steps += solution.steps;
    problem.start = solution.b;
    if (solver.max_iterations > 0) precise.max_iterations = std::max<Index>(1, solver.max_iterations - steps);
    if (solver.time_limit > 0)
      precise.time_limit = std::max(1e-9, solver.time_limit - std::chrono::duration<double>(Clock::now() - begin).count());
  } while (solution.status == BoxStatus::converged && 2 * solution.objective > nothing && precise.tolerance > 1e-3 * nothing &&
           solution.violation > solver.tolerance * 2 * solution.objective);
  solution.steps = steps;
  const double distance = 2 * solution.objective;  // squared
  const bool unfinished = solution.status == BoxStatus::step_limit || solution.status == BoxStatus::time_limit;
  if (distance > nothing || unfinished) {
    const double margin = (solution.multiplier[0] - solution.multiplier[1]) / 2;
    const double divisor = margin > 0 ? margin : 1;
    take(solution, problem, -(solution.multiplier[0] + solution.multiplier[1]) / 2, divisor, machine);
    // In the units of the problem as it is usually written, |f|^2 / 2 = 2 / distance^2.
    solution.gap *= 4 / (distance * distance);
    solution.objective = -machine.squared_norm / 2;
    add_to_summary(solution, problem, summary);
    return;
  }
  const double C = task.spread > 0 ? 1e4 / task.spread : 1;
  SvmSolver rest = solver;
  rest.time_limit = precise.time_limit;
  solve_penalty(task, C, rows, machine, bound / 2, {}, rest, run, summary);
  summary.iterations += steps;
  double total = 0;
  double worst = 0;
  Index inside = 0;
  for (Index i = 0; i < n; ++i) {
    const double slack = bound[i] > 0 ? 1 - (i < machine.positives ? 1 : -1) * machine.decision[i] : 0;
    if (slack <= solver.tolerance) continue;
    ++inside;
    total += slack;
    worst = std::max(worst, slack);
  }
  summary.status = "not separable";
  summary.remark = fmt::format(
      "the classes cannot be separated by this kernel: {} of {} samples are inside the margin or beyond it, by {:.3g} in all and {:.3g} at "
      "most (soft margin, C = {:g}); use a soft margin or a richer kernel",
      inside, n, total, worst, C);
}

}  // namespace

std::vector<Machine> make_machines(const SvcTask& task) {
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(task.classes));
  for (std::size_t i = 0; i < task.labels.size(); ++i) members[static_cast<std::size_t>(task.labels[i])].push_back(static_cast<Index>(i));
  std::vector<Machine> machines;
  const auto add = [&](Index positive, Index negative) {
    Machine machine{positive, negative, members[static_cast<std::size_t>(positive)], 0, {}, {}, 0, 0};
    machine.positives = std::ssize(machine.samples);
    for (Index c = 0; c < task.classes; ++c) {
      if (c == positive || (negative >= 0 && c != negative)) continue;
      const auto& others = members[static_cast<std::size_t>(c)];
      machine.samples.insert(machine.samples.end(), others.begin(), others.end());
    }
    machines.push_back(std::move(machine));
  };
  if (task.classes == 2) {
    add(1, 0);
  } else if (task.multi_class == MultiClass::one_vs_rest) {
    for (Index c = 0; c < task.classes; ++c) add(c, -1);
  } else {
    for (Index a = 0; a < task.classes; ++a) {
      for (Index b = a + 1; b < task.classes; ++b) add(a, b);
    }
  }
  return machines;
}

void solve_machine(const SvcTask& task, const SvmRows& rows, Machine& machine, const std::vector<char>& use, const Vector& start,
                   double time_limit, const Run& run, SvmSummary& summary) {
  const Vector weights = used_weights(task, machine, use);
  SvmSolver solver = task.solver;
  solver.time_limit = time_limit;
  switch (task.form) {
    case SvcForm::penalty:
      solve_penalty(task, task.C, rows, machine, weights, start, solver, run, summary);
      break;
    case SvcForm::nu:
      solve_nu(task, rows, machine, weights, solver, run, summary);
      break;
    case SvcForm::hard_margin:
      solve_hard(task, rows, machine, weights, solver, run, summary);
      break;
  }
}

double largest_nu(const SvcTask& task, const Machine& machine, const std::vector<char>& use) {
  const Vector weights = used_weights(task, machine, use);
  const double positive = weights.head(machine.positives).sum();
  return 2 * std::min(positive, weights.sum() - positive) / weights.sum();
}

double largest_coefficient(const SvcTask& task) {
  return (task.form == SvcForm::penalty ? task.C : 1) * (task.form == SvcForm::hard_margin ? 1 : task.weights.maxCoeff());
}

}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "stats/simplex_qp.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "gram/kernel_rows.hpp"

namespace mercer::stats {

const char* name_of(BoxStatus status) {
  switch (status) {
    case BoxStatus::step_limit:
      return "step limit";
    case BoxStatus::time_limit:
      return "time limit";
    case BoxStatus::rounding:
      return "rounding";
    default:
      return "";
  }
}

Run named(const Run& run, const char* stage) {
  if (!run.progress) return run;
  const ProgressCallback& inner = run.progress;
  return {run.threads, run.memory, [inner, stage](const ProgressEvent& e) { return inner({stage, e.fraction, e.seconds}); }};
}

double linear_gap(const Vector& gradient, const Vector& b, const Vector& upper) {
  std::vector<Index> order(static_cast<std::size_t>(b.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return gradient[i] < gradient[j]; });
  double left = b.sum();
  double gap = gradient.dot(b);
  for (const Index i : order) {
    const double taken = std::min(left, upper[i]);
    gap -= gradient[i] * taken;
    left -= taken;
    if (!(left > 0)) break;
  }
  return std::max(0.0, gap);
}

SimplexWeights simplex_weights(const Matrix& Q, const Vector& p, const Run& run) {
  const Index k = p.size();
  Buffer<double> entries(static_cast<std::size_t>(k * k));
  std::copy_n(Q.data(), k * k, entries.data());
  const StoredRows<double> rows(std::move(entries), Q.diagonal());
  BoxProblem problem;
  problem.linear = -p;
  problem.lower = Vector::Zero(k);
  problem.upper = Vector::Ones(k);
  problem.start = Vector::Constant(k, 1 / static_cast<double>(k));
  BoxOptions options;
  const double scale = std::max(Q.diagonal().cwiseAbs().maxCoeff(), p.cwiseAbs().maxCoeff());
  // At the last digits steps only shuffle rounding; the gap says what is left.
  options.tolerance = std::max((k <= 2000 ? 1e-10 : 1e-8) * scale, std::numeric_limits<double>::min());
  options.max_steps = std::max<Index>(1'000'000, 1000 * k);
  options.polish = k <= 2000;
  options.run = named(run, "weights");
  const BoxSolution found = solve_box_qp<double>(rows, problem, options);
  SimplexWeights out;
  out.weights = (found.b.array() > 1e-12).select(found.b, 0);
  out.weights /= out.weights.sum();
  out.objective = found.objective;
  out.gap = linear_gap(found.gradient, found.b, problem.upper);
  out.converged = found.status == BoxStatus::converged || out.gap <= 1e-8 * scale;
  return out;
}

}  // namespace mercer::stats

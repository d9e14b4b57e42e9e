// SPDX-License-Identifier: BSD-3-Clause
#include "models/preimage_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/minimize.hpp"

namespace mercer {

namespace {

using End = DescentResult::End;

// -grad / (2 |stiffness|), no longer than `longest`; zero in columns that the kernel does not feel here.
Vector direction(const Eigen::Ref<const Vector>& z, const Eigen::Ref<const Vector>& stiffness, const Eigen::Ref<const Vector>& pull,
                 double longest) {
  Vector step = Vector::Zero(z.size());
  for (Index c = 0; c < z.size(); ++c) {
    const double toward = (pull[c] - stiffness[c] * z[c]) / std::abs(stiffness[c]);
    if (std::isfinite(toward)) step[c] = toward;
  }
  const double length = step.norm();
  if (!std::isfinite(length)) return step.cwiseMax(-longest).cwiseMin(longest);
  return length > longest ? Vector(step * (longest / length)) : step;
}

// What rounding leaves of the objective.
double rounding(const SlopeValues& at, Index i) {
  return 16 * std::numeric_limits<double>::epsilon() * (std::abs(at.self[i]) + 2 * at.absolute[i]);
}

struct Search {
  Vector at{};
  Vector step{};
  double length = 1;  // of the step, as a share
  double objective = std::numeric_limits<double>::infinity();
  bool begun = false;
};

}  // namespace

DescentResult descend(const KernelSlopes& slopes, const Matrix& start, const MatrixRef& G, std::span<const Index> ids,
                      const DescentOptions& options) {
  const Index m = start.rows();
  const double small = options.tolerance * slopes.spread();
  const double longest = 2 * slopes.radius() + std::numeric_limits<double>::min();
  DescentResult out{start, Vector::Zero(m), std::vector<Index>(static_cast<std::size_t>(m), 0),
                    std::vector<End>(static_cast<std::size_t>(m), End::limit)};
  std::vector<Search> searches(static_cast<std::size_t>(m));
  std::vector<Index> active(static_cast<std::size_t>(m));
  for (Index i = 0; i < m; ++i) active[static_cast<std::size_t>(i)] = i;

  // Looks at a trial point; true while the search goes on.
  const auto advance = [&](Index i, Index place, const SlopeValues& at, const Matrix& trial) {
    Search& s = searches[static_cast<std::size_t>(i)];
    const auto u = static_cast<std::size_t>(i);
    const double value = at.self[place] - 2 * at.inner[place];
    ++out.iterations[u];
    const Vector z = trial.row(place).transpose();
    Vector step = direction(z, at.stiffness.row(place).transpose(), at.pull.row(place).transpose(), longest);
    if (!s.begun && !std::isfinite(value)) {
      out.end[u] = End::vanished;
      return false;
    }
    // Where rounding hides whether the objective grew, the next step must be shorter than this one was: no swinging to and fro.
    const double noise = rounding(at, place);
    const bool hidden = std::abs(value - s.objective) <= noise && step.norm() < s.step.norm();
    if (s.begun && !(value < s.objective - noise || hidden)) {
      s.length /= 2;
      if (s.length * s.step.norm() > small) return true;
      out.end[u] = End::converged;  // no step that counts makes the objective smaller
      return false;
    }
    const double moved = s.begun ? s.length * s.step.norm() : std::numeric_limits<double>::infinity();
    s.length = s.begun ? std::min(1.0, 2 * s.length) : 1.0;
    s.begun = true;
    s.objective = value;
    s.at = z;
    s.step = std::move(step);
    if (moved <= small) {
      out.end[u] = End::converged;
      return false;
    }
    if (at.stiffness.row(place).cwiseAbs().maxCoeff() < std::numeric_limits<double>::min() &&
        at.touching[static_cast<std::size_t>(place)] == 0) {
      out.end[u] = End::vanished;
      return false;
    }
    return true;
  };

  for (Index iteration = 0; iteration < options.max_iterations && !active.empty(); ++iteration) {
    if (options.check) options.check();
    Matrix trial(std::ssize(active), start.cols());
    std::vector<Index> rows;
    for (Index a = 0; a < trial.rows(); ++a) {
      const Index i = active[static_cast<std::size_t>(a)];
      const Search& s = searches[static_cast<std::size_t>(i)];
      trial.row(a) = s.begun ? Vector(s.at + s.length * s.step).transpose() : Vector(start.row(i).transpose()).transpose();
      rows.push_back(ids[static_cast<std::size_t>(i)]);
    }
    const SlopeValues at = slopes.evaluate(trial, G, rows);
    std::vector<Index> going_on;
    for (Index a = 0; a < trial.rows(); ++a) {
      const Index i = active[static_cast<std::size_t>(a)];
      if (advance(i, a, at, trial)) going_on.push_back(i);
    }
    active = std::move(going_on);
  }
  for (Index i = 0; i < m; ++i) {
    const Search& s = searches[static_cast<std::size_t>(i)];
    if (s.at.size() > 0) out.rows.row(i) = s.at.transpose();
    out.objective[i] = s.objective;
  }
  return out;
}

DescentResult minimize_each(const KernelSlopes& slopes, const Matrix& start, const MatrixRef& G, std::span<const Index> ids,
                            const DescentOptions& options) {
  const Index m = start.rows();
  DescentResult out{start, Vector::Zero(m), std::vector<Index>(static_cast<std::size_t>(m), 0),
                    std::vector<End>(static_cast<std::size_t>(m), End::limit)};
  for (Index i = 0; i < m; ++i) {
    const auto u = static_cast<std::size_t>(i);
    const std::vector<Index> one{ids[u]};
    const auto objective = [&](const Vector& z, Vector& gradient) {
      if (options.check) options.check();
      const SlopeValues at = slopes.evaluate(z.transpose(), G, one);
      gradient = 2 * (at.stiffness.row(0).transpose().cwiseProduct(z) - at.pull.row(0).transpose());
      return at.self[0] - 2 * at.inner[0];
    };
    const Minimum found = minimize(objective, start.row(i).transpose(), {}, {},
                                   {.max_evaluations = static_cast<int>(std::min<Index>(options.max_iterations, 1000000)),
                                    .value_tolerance = 1e-14,
                                    .argument_tolerance = options.tolerance});
    out.rows.row(i) = found.x.transpose();
    out.objective[i] = found.value;
    out.iterations[u] = found.evaluations;
    out.end[u] = found.converged ? End::converged : End::limit;
  }
  return out;
}

}  // namespace mercer

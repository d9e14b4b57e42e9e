// Sequential minimal optimisation: the box-constrained quadratic programme of box_qp.hpp on a matrix whose rows all lie in memory.
//
// Each step moves two variables against each other (one alone, when no sum is held): the one of the steepest slope and the partner that
// promises the largest decrease to second order (Fan, Chen, Lin, JMLR 2005). Slopes carry the kinks of |b_i| and the box: a variable at its
// upper bound has an infinite slope upwards. Cost: two vectorised passes over n numbers a step.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>

#include "mercer/matrix.hpp"

namespace mercer {

// Which sums of variables a solution must keep: none, that of all, or those of the variables before and after `split`.
struct HeldSums {
  int groups = 1;
  Index split = 0;

  Index begin(int group) const { return group == 0 ? 0 : split; }
  Index end(int group, Index n) const { return group + 1 < groups ? split : n; }
};

// Kernel values are T. The gradient is G: float64, or float32 where it is made anew afterwards.
template <class T, class G = double>
struct SmoProblem {
  std::span<const T* const> rows;  // n rows of n numbers
  const G* diagonal;
  const double* lower;
  const double* upper;
  const double* kink;  // weights of |b_i|; null: none
  HeldSums held;
  // Changed in place:
  double* b;
  G* g;  // K b + p
};

struct SmoLimits {
  double tolerance = 1e-3;                   // of the violation: the highest slope downwards less the lowest upwards
  Index max_steps = 0;                       // 0: no limit
  std::function<bool(Index steps)> go_on{};  // asked every thousand steps or so
};

struct SmoOutcome {
  Index steps = 0;
  double violation = 0;
  bool ended = true;  // the tolerance, or the end of what numbers can tell, was reached
};

template <class T, class G = double>
SmoOutcome smo(const SmoProblem<T, G>& problem, const SmoLimits& limits);

// The slopes of one variable, less its gradient: upwards (infinite at the upper bound) and downwards (minus infinite at the lower).
double slope_up(double b, double upper, double kink);
double slope_down(double b, double lower, double kink);

}  // namespace mercer

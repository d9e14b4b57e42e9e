// The path of one kernel: every alpha with its scores. kernel_ridge_cv.cpp chooses among them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/kernel_ridge_cv.hpp"

namespace mercer {

// The samples of positive weight, and what all kernels share.
struct PathProblem {
  Samples X;
  Matrix Y;
  Vector s;               // roots of the weights
  bool weighted = false;  // some s is not 1
  std::vector<Fold> folds;
  const KernelRidgeCvOptions& options;

  Matrix right_sides() const { return s.asDiagonal() * Y; }
  double total_weight() const { return s.squaredNorm(); }
};

struct KernelPath {
  std::vector<PathPoint> points;
  // Of each valid point, n x targets: c' (S c' are the coefficients) and leave-one-out residuals. Empty when folds decide.
  std::vector<Matrix> solutions;
  std::vector<Matrix> residuals;
  std::vector<Vector> intercepts;  // one per target
  std::string method;
  std::size_t bytes = 0;
};

// The kernel has no automatic parts left.
KernelPath leave_one_out_path(const Kernel& kernel, const PathProblem& problem);
KernelPath fold_path(const Kernel& kernel, const PathProblem& problem);

// `count` penalties, log-spaced from the highest eigenvalue down to a tenth of the lowest, or 1e-10 of the highest; ascending.
std::vector<double> penalty_grid(double lowest, double highest, Index count);

}  // namespace mercer

// A X = B for a symmetric positive definite A that is only applied, many right-hand sides at a time.
//
// Method: preconditioned conjugate gradients, one recurrence per column over shared products A P, so that a streamed A is evaluated once a
// step for all of them. A column that has converged is left alone. The recurrence's residual drifts from the true one: before anything is
// called converged the true residual B - A X is computed, and the search restarts from it where that is still too large.
// Reference: Saad, Iterative methods for sparse linear systems, 9.2. Cost: one A P and one M^-1 R a step.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "mercer/matrix.hpp"

namespace mercer {

using BlockFunctionOf = std::function<Matrix(const Matrix&)>;

struct ConjugateGradientOptions {
  double tolerance = 1e-10;  // of |B - A X| / |B|, column by column
  Index max_iterations = 1000;
  std::function<void(Index iteration, double worst_residual)> observe{};  // once a step; may throw to stop
};

struct ConjugateGradientResult {
  Matrix X{};
  Vector residuals{};  // true relative residuals, one per column
  Index iterations = 0;
  bool converged = false;
  bool indefinite = false;  // a direction of negative curvature was met: A or the preconditioner is not positive definite
};

// `precondition` is M^-1 R; empty: none. `start` may be empty (zero).
ConjugateGradientResult conjugate_gradient(const BlockFunctionOf& apply, const BlockFunctionOf& precondition, const Matrix& B,
                                           const Matrix& start = {}, const ConjugateGradientOptions& options = {});

}  // namespace mercer

// min 1/2 b'Q b - p'b over the simplex: the weights of a few atoms or components, by the engine of the support vector machines.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "mercer/matrix.hpp"
#include "mercer/run.hpp"
#include "solvers/box_qp.hpp"

namespace mercer::stats {

struct SimplexWeights {
  Vector weights{};
  double objective = 0;
  double gap = 0;  // of the objective
  bool converged = true;
};

// Q must be symmetric and positive semi-definite. Numbers of 0 and of 1 part in 1e12 are made 0.
SimplexWeights simplex_weights(const Matrix& Q, const Vector& p, const Run& run);

// How far the objective may be above its least value: what b would win by going to the best point with the same sum and within its bounds
// (lower ones 0) under the slopes as they are. The engine's own bound lets each variable go alone, which is much where bounds are wide.
double linear_gap(const Vector& gradient, const Vector& b, const Vector& upper);

// "", "step limit", ...
const char* name_of(BoxStatus status);

// The same run, with what it reports named as this stage: its solver would speak of support vectors.
Run named(const Run& run, const char* stage);

}  // namespace mercer::stats

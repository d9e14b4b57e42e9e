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

// "", "step limit", ...
const char* name_of(BoxStatus status);

}  // namespace mercer::stats

// What regressions share: checks of targets, weights and penalties.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "mercer/samples.hpp"

namespace mercer {

// Square roots of the sample weights (ones when none are given). Throws for a wrong count, negative or non-finite weights, or all zero.
Vector root_weights(const Vector& sample_weight, Index n);

// One penalty per target, from `lambda` (times n), `per_target` or `alpha`, whichever is given in that order. Throws for negative or
// non-finite ones.
Vector penalties(double alpha, const Vector& per_target, const std::optional<double>& lambda, Index n, Index targets);

// Throws unless X and Y have the same positive number of rows, Y has a column and is finite.
void require_matching(const Samples& X, const MatrixRef& Y);

}  // namespace mercer

// Coordinate descent on the dual of a linear support vector machine: one sample's multiplier at a time, in a random order, with w = X'(y a)
// kept beside it. A multiplier that sits at a bound and pulls outwards by more than any violation of the last pass is left out until the
// rest has settled. Cost: two passes over a row for each sample visited; no matrix. Reference: Hsieh, Chang, Lin, Keerthi and Sundararajan,
// ICML 2008, algorithm 3. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/random.hpp"
#include "models/linear_problem.hpp"

namespace mercer {

// From start.a where it is given. X and bias are those of problem.rows. The stage advances by 1 for each pass.
LinearSolution linear_descent(const LinearProblem& problem, const Samples& X, double bias, const LinearStop& stop, LinearSolution start,
                              RandomStream random, Stage& stage);

}  // namespace mercer

// The box-constrained quadratic programme of box_qp.hpp by an interior-point method: for small problems on which the steps of SMO zigzag
// (a large C on noisy rows, columns of very different scale), whose number hardly depends on how badly they are scaled.
//
// Method: every variable is the sum of one piece 0 <= v <= cap, or of two with a kink between them, b = base + sum of +-v; primal-dual
// steps with predictor and corrector (Mehrotra 1992) on  1/2 b'K b + cost'v  and the held sums. A step's system is K + diag(E), E from the
// distances to the bounds, factored by Cholesky. In the end pieces that are nearer to a bound than their multiplier is to 0 are put on it.
// Cost: n^3/3 flops a step, 10 to 40 steps, two n x n matrices. K must be positive semi-definite.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>

#include "solvers/box_qp.hpp"

namespace mercer {

// A feasible point close to the optimum; nothing, when K is not positive semi-definite or `go_on` said no. Every variable has its own row.
std::optional<Vector> box_interior_point(std::span<const double* const> rows, const BoxProblem& problem, const Vector& sums,
                                         const std::function<bool()>& go_on);

}  // namespace mercer

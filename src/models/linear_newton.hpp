// Newton on the primal of a linear support vector machine.
//
// The squared hinge is piecewise quadratic: with the samples of positive loss known, the answer is one linear system, so Newton with an
// exact line search ends after few steps. Its matrix I + X_A' S X_A is made and factored where there are few columns (kept from step to
// step: only samples that enter or leave A cost), else the system is solved by conjugate gradients with a diagonal preconditioner, no
// further than the step deserves. The hinge, which has a corner, by the proximal point method on the dual: a -> argmax D(a) - |a - a_k|^2 /
// (2 s), each of which is a problem of the first kind. Cost: some 10 steps, each of 2 + 1 passes (factored: plus the change of A and p^3 /
// 3) or 2 + CG passes. References: Keerthi and DeCoste, JMLR 2005; Lin, Weng and Keerthi, JMLR 2008; Rockafellar, SIAM J. Control 1976.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "models/linear_problem.hpp"

namespace mercer {

// From start.w and start.a where they are given. The stage advances by 1 for each step.
LinearSolution linear_newton(const LinearProblem& problem, const LinearStop& stop, LinearSolution start, Stage& stage);

}  // namespace mercer

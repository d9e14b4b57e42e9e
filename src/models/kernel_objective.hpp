// The objectives of kernel learning and their gradients.
//
// Each objective is a function of the Gram matrix K; its derivative is one matrix W of the size of K, and the derivative by a parameter is
// sum_ij W_ij dK_ij: no matrix per parameter. Notation: D = diag(alpha / w), A = K + D, G = A^-1, or with an intercept
// G = A^-1 - A^-1 1 1' A^-1 / (1' A^-1 1), the block of the bordered inverse: in both cases C = G Y and dG = -G dA G, t targets.
//   loo        r = C_i / G_ii.  W = (2 / (t sum w)) (G diag(q) G - (Q C' + C Q')/2), q_i = w_i |r_i|^2 / G_ii, Q = G (w_i r_i / G_ii)
//   evidence   of s A with s at its best: W = (N / (2 S)) C C' - (t / 2) G, S = <Y, C>, N = n t, or (n - 1) t with an intercept
//   alignment  M = P diag(s) K diag(s) P, s = sqrt(w), P = I - s s'/s's, Z = P diag(s) Y: W = diag(s) (Z Z'/(|M| |Z Z'|) - a M/|M|^2)
//   diag(s)
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/kernel_learning.hpp"

namespace mercer {

// What an objective looks at: rows of positive weight, checked.
struct LearningData {
  Samples X;
  Matrix Y;
  Vector weight;  // one each
  bool fit_intercept = false;
};

// Throws as score_kernel does for bad targets and weights.
LearningData learning_data(const Samples& X, const MatrixRef& Y, const Vector& sample_weight, bool fit_intercept);
LearningData subset(const LearningData& data, const std::vector<Index>& rows);
// Throws InvalidArgument where all targets are the same (with an intercept, or for the alignment) or zero.
void require_variation(const LearningData& data, KernelObjective objective);

// Bytes that an evaluation on n rows holds.
std::size_t objective_bytes(KernelObjective objective, Index n);

// Empty where K + alpha I is not positive definite. `parallel_for` around it is welcome: it starts no job of its own, but `progress` is
// then called from the threads of that loop.
std::optional<KernelScore> evaluate(const LearningData& data, KernelObjective objective, const Kernel& kernel, double alpha,
                                    const ProgressCallback& progress);

}  // namespace mercer

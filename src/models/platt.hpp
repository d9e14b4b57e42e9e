// Decision values to probabilities.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "mercer/matrix.hpp"

namespace mercer {

struct Sigmoid {
  double A = 0;
  double B = 0;

  double operator()(double f) const;  // P(positive) = 1 / (1 + exp(A f + B))
};

// The weighted maximum likelihood fit to decision values f of samples that are positive (1) or not (0), targets drawn in by the counts as
// Platt does. Newton's method with backtracking (Lin, Lin and Weng, A note on Platt's probabilistic outputs, 2007).
Sigmoid fit_sigmoid(const VectorRef& f, std::span<const char> positive, const VectorRef& weights);

// Class probabilities p (k of them) from r(i, j) = P(i given i or j), r(i, j) + r(j, i) = 1: the p >= 0 of sum 1 that minimises
// sum_{i < j} (r(j, i) p_i - r(i, j) p_j)^2 (Wu, Lin and Weng, JMLR 2004, second method).
Vector couple_pairs(const MatrixRef& r);

}  // namespace mercer

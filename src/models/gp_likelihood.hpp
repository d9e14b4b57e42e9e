// The likelihoods of Gaussian process regression and their gradients.
//
// Notation: A = K + N, N = diag(noise), Q = A^-1, a = Q y, n samples; several targets: their sums.
//   marginal        L = -y'a/2 - log det(A)/2 - n log(2 pi)/2,  dL = <W, dA>,  W = (a a' - Q)/2
//   leave-one-out   L = sum_i log N(y_i; y_i - a_i/q_i, 1/q_i), q_i = Q_ii:  sum_i log(q_i)/2 - a_i^2/(2 q_i) - log(2 pi)/2;
//                   with c_i = (1 + a_i^2/q_i)/(2 q_i), b_i = a_i/q_i:  W = -Q diag(c) Q + (Q b a' + a b'Q)/2
// References: Rasmussen and Williams (2006) 5.9, 5.10 to 5.13.
// Cost: Cholesky n^3/3 flops, its inverse 2 n^3/3 more where the gradient is asked for, n^3 more for leave-one-out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "linalg/inverse.hpp"
#include "mercer/gaussian_process.hpp"

namespace mercer {

struct LikelihoodProblem {
  Samples X;
  Matrix Y;  // normalised
  GaussianProcessObjective objective = GaussianProcessObjective::marginal;
};

// K + N factored, and the coefficients.
struct FactoredCovariance {
  linalg::SymmetricTiles<double> L;
  Matrix coef;              // A^-1 Y
  double log_marginal = 0;  // its log marginal likelihood
  Index failed = -1;        // the row where A turned out not to be positive definite, -1: all is well
};
// Memory for it and for what its gradients need is asked of the budget elsewhere (likelihood_bytes).
FactoredCovariance factored(const Kernel& kernel, const Samples& X, const Vector& noise, const Matrix& Y, const ProgressCallback& progress);

struct LikelihoodValue {
  double value = 0;     // -infinity where A is not positive definite
  Vector by_kernel{};   // by the logarithms of all parameters of the kernel; empty unless asked for
  double by_noise = 0;  // by the logarithm of a factor common to all noise
  Index failed = -1;
};
LikelihoodValue likelihood(const LikelihoodProblem& problem, const Kernel& kernel, const Vector& noise, bool gradient,
                           const ProgressCallback& progress);

// What one evaluation holds at a time.
std::size_t likelihood_bytes(Index n, GaussianProcessObjective objective, bool gradient);

// Throws the InvalidArgument that says why K + N has no Cholesky factor at row `failed`.
[[noreturn]] void throw_not_positive(const Kernel& kernel, const Samples& X, const Vector& noise, Index failed);

}  // namespace mercer

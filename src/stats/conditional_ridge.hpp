// Kernel ridge regression of many targets on z, with its penalty and its kernel by leave-one-out, from one eigenproblem a kernel.
//
// K = U diag(d) U' centred, so with a constant that is not penalised the residuals of targets F (centred) are R F = U diag(eps/(d + eps))
// U'F, and the error of row i when it is left out is (R F)_i / (R_ii - 1/n). Cost: 9 n^3 flops a kernel, n^2 r for each penalty and r
// targets. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "mercer/gram.hpp"

namespace mercer::stats {

struct RidgeBasis {
  Matrix rows{};      // row j: the eigenvector of values[j]
  Vector values{};    // eigenvalues of the centred Gram matrix, >= 0
  double trace = 0;   // their sum
  double factor = 1;  // the length scale's multiple
};

RidgeBasis ridge_basis(const Kernel& kernel, const Samples& Z, double factor, const Run& run);

struct RidgeChoice {
  std::size_t basis = 0;
  double epsilon = 0;
  double degrees = 0;  // trace of the smoother, the constant left out
  double share = 1;    // of the targets' variance that is left, by leave-one-out
};

// Over all bases and a grid of penalties from 1e-7 to 10 times the trace, or the one given.
RidgeChoice choose_ridge(const std::vector<RidgeBasis>& bases, const Matrix& targets, std::optional<double> epsilon, const Run& run);

// R F.
Matrix ridge_residuals(const RidgeBasis& basis, double epsilon, const Matrix& targets);

// A B and A' B, cut into rows for the threads.
Matrix product(const Matrix& A, const Matrix& B);
Matrix transposed_product(const Matrix& A, const Matrix& B);

// K - its row and column means.
void centre(Matrix& K);

// The kernel with its length scales multiplied.
Kernel with_length_factor(const Kernel& kernel, double factor);

}  // namespace mercer::stats

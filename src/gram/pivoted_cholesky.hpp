// The low-rank factor of a kernel matrix by randomly pivoted Cholesky: pivots are rows of X, K ~ F F', F = K(X, T) L^-T.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/kernels.hpp"
#include "mercer/samples.hpp"
#include "solvers/pivoted_cholesky.hpp"

namespace mercer {

// The kernel must be positive semi-definite and resolved. n x rank numbers are asked of `memory` (0: the default budget).
PivotedCholesky pivoted_cholesky(const Kernel& kernel, const Samples& X, const PivotedCholeskyOptions& options, std::size_t memory = 0);

}  // namespace mercer

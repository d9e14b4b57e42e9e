// Dense Cholesky factors as plain row-major matrices, for the systems in m landmarks or features that regressions reduce to. Work is cut
// into fixed panels, so the bits do not depend on the number of threads. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer::linalg {

// L with L L' = A + shift I (zeros above the diagonal), of which the lower half is read; nothing when that is not positive definite.
std::optional<Matrix> cholesky_lower(const Matrix& A, double shift, const ProgressCallback& progress);

void solve_lower(const Matrix& L, Matrix& B);                   // B <- L^-1 B
void solve_lower_transposed(const Matrix& L, Matrix& B);        // B <- L^-T B
void solve_right_lower_transposed(const Matrix& L, Matrix& B);  // B <- B L^-T

}  // namespace mercer::linalg

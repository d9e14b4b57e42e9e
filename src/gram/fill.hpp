// Whole Gram matrices from tiles: full, or the lower half as the tiles that Cholesky works on.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "gram/prepared_kernel.hpp"
#include "gram/tile_memory.hpp"
#include "linalg/cholesky.hpp"
#include "mercer/run.hpp"

namespace mercer {

// out (row-major, `stride` numbers a row) = K; symmetric kernels are evaluated once per pair and written twice.
template <class T>
void fill_full(const PreparedKernel<T>& kernel, T* out, Index stride, const ProgressCallback& progress);

// The lower half of diag(s) K diag(s), s empty meaning ones. The kernel must be symmetric.
template <class T>
void fill_lower(const PreparedKernel<T>& kernel, const Vector& s, linalg::SymmetricTiles<T>& out, const ProgressCallback& progress);

}  // namespace mercer

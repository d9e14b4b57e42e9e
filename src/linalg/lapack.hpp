// The LAPACK routines Mercer uses, with row-major faces. Long ones run on a thread of their own so that a cancelled job returns at once;
// the abandoned call finishes in the background on memory that it owns.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer::linalg {

// A = L L' on the lower half of a row-major n x n block; returns the row that failed, or -1.
Index potrf_lower(Index n, double* a, Index stride);
Index potrf_lower(Index n, float* a, Index stride);

struct SymmetricEigen {
  Vector values;   // ascending
  Matrix vectors;  // row j is the eigenvector of values[j]
};
// All eigenpairs of a symmetric matrix (dsyevd: divide and conquer), of which the lower triangle is read. 9 n^3 flops about, 3 n^2 numbers;
// the 2 n^2 that come on top of A are asked of the memory budget (0: the default). n <= 32766, where LAPACK's workspace leaves 32 bits.
SymmetricEigen symmetric_eigen(Matrix A, const ProgressCallback& progress, std::size_t memory = 0);

// The eigenvalues alone, ascending: 4/3 n^3 flops, no further n x n matrix.
Vector symmetric_eigenvalues(Matrix A, const ProgressCallback& progress);

struct ThinSvd {
  Matrix u;                // n x r, r = min(n, p)
  Vector singular_values;  // descending
  Matrix vt;               // r x p
};
// A = U diag(s) V' (dgesdd). min(n, p) <= 20000, where LAPACK's workspace leaves 32 bits. Both answers are equal to rounding, not to the
// bit, for different numbers of threads.
ThinSvd thin_svd(Matrix A, const ProgressCallback& progress, std::size_t memory = 0);

}  // namespace mercer::linalg

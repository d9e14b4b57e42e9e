// The inverse of a symmetric positive definite matrix from its tiled Cholesky factor, in place: the lower half of A^-1 where L was.
//
// Method: M = L^-1 and M'M in one sweep down the tile rows. At row k: M_kj = L_kk^-1 L_kj for j < k is final; then at once
//   L_mj -= L_mk M_kj   (m > k > j: what the rows below still miss of M) and
//   C_ij += M_ki' M_kj  (j <= i < k: what the rows above still miss of M'M);
// then column k below the diagonal is divided by L_kk, and row k itself enters M'M. Every tile receives its updates in one fixed order, so
// the bits do not depend on the number of threads. Reference: Bientinesi, Gunter, van de Geijn, Families of algorithms related to the
// inversion of a symmetric positive definite matrix (ACM TOMS 35, 2008). Cost: 2 n^3/3 flops, no memory.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "linalg/cholesky.hpp"

namespace mercer::linalg {

// Replaces the factor L that `cholesky` made of A by the lower half of A^-1.
template <class T>
void symmetric_inverse(SymmetricTiles<T>& L, const ProgressCallback& progress);

// log det A from its factor.
template <class T>
double log_determinant(const SymmetricTiles<T>& L);

// A B for a symmetric A given by its lower half; B row-major n x k. Partial sums in a fixed order.
template <class T>
Matrix symmetric_multiply(const SymmetricTiles<T>& A, const Matrix& B);

// Q diag(c) Q for a symmetric Q given by its lower half. 2 n^3 flops over the lower half: n^3.
template <class T>
SymmetricTiles<T> symmetric_sandwich(const SymmetricTiles<T>& Q, const Vector& c, const ProgressCallback& progress);

// L B for a lower triangle L.
template <class T>
Matrix lower_multiply(const SymmetricTiles<T>& L, const Matrix& B);

// The diagonal.
template <class T>
Vector diagonal_of(const SymmetricTiles<T>& A);

// Rows <- Rows L^-T, `count` of them with `stride` numbers from one to the next: the half of a solve that variances need. On the calling
// thread alone: cut many rows into blocks.
template <class T>
void half_solve_rows(const SymmetricTiles<T>& L, T* rows, Index count, Index stride);

}  // namespace mercer::linalg

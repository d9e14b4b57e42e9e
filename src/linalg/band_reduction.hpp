// A symmetric matrix to a band, A = Q B Q' with Q orthogonal: the first and by far the larger half of an eigenvalue problem, and all of it
// that solving (A + a I) x = y for many a needs.
//
// Method: for each panel of `bandwidth` columns, QR of what lies below the band (compact WY form, I - V T V'), then the two-sided update
// A <- A - V W' - W V' of the rest. One-stage tridiagonalisation, which LAPACK's eigensolvers begin with, spends half its flops in products
// of the matrix with single vectors, at the speed of memory; here all but the panels' own QR is products of matrices.
// Reference: Bischof, Lang, Sun, "A framework for symmetric band reduction", ACM TOMS 26 (2000).
// Cost: 4/3 n^3 flops in place, n^2/2 numbers for V. The same bits for any number of threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "linalg/cholesky.hpp"
#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer::linalg {

// I - V T V', acting on rows first .. first + rows - 1. V is unit lower trapezoidal, T upper triangular.
struct Reflectors {
  Index first = 0;
  Index rows = 0;
  Index count = 0;
  Buffer<double> v{};  // rows x count, row-major
  Matrix t{};          // count x count
};

struct BandReduction {
  Index size = 0;
  Index bandwidth = 0;
  Matrix band{};                     // row j holds B(j, j), B(j + 1, j) .. B(j + bandwidth, j): LAPACK's lower band, column by column
  std::vector<Reflectors> panels{};  // Q = H_0 H_1 ...

  void apply_q(Matrix& Y) const;             // Y <- Q Y
  void apply_q_transposed(Matrix& Y) const;  // Y <- Q' Y
};

// Of the leading `size` rows and columns of A, which is used up.
BandReduction reduce_to_band(SymmetricTiles<double> A, Index size, Index bandwidth, const ProgressCallback& progress);

// G = Q', row-major with `stride` >= size numbers a row: row j is column j of Q. 4/3 n^3 flops.
Buffer<double> transposed_q(const BandReduction& reduction, Index stride, const ProgressCallback& progress);

// A <- H A H, H = I - 2 u u' with |u| = 1.
void reflect(SymmetricTiles<double>& A, const Vector& u);

}  // namespace mercer::linalg

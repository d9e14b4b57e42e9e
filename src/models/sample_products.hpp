// Products with the rows of samples moved by a centre, which are never formed: dense rows in chunks by GEMM, sparse rows by their entries.
// Sums are float64 in a fixed number of partial sums, added in order. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/samples.hpp"

namespace mercer {

// (X - 1 c') V, n x k.
Matrix centred_times(const Samples& X, const Vector& centre, const Matrix& V);
// (X - 1 c')' U, p x k.
Matrix centred_transposed_times(const Samples& X, const Vector& centre, const Matrix& U);

Vector mean_row(const Samples& X);
// |x - c|^2 of each row.
Vector squared_distances_to(const Samples& X, const Vector& centre);

}  // namespace mercer

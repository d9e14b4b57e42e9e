// Products with a symmetric matrix kept as half of its tiles: every tile is read once and serves twice, so a product costs half the
// memory traffic of a full matrix. The tiles on the diagonal must be whole.
//
// Determinism: a fixed number of partial sums, added in order. Cost: 2 n^2 k flops, n^2/2 numbers read.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "linalg/cholesky.hpp"

namespace mercer::linalg {

// A V; products within a tile in T, sums over tiles in double.
template <class T>
Matrix symmetric_product(const SymmetricTiles<T>& A, const Matrix& V);

// The columns J of A, n x |J|.
template <class T>
Matrix symmetric_columns(const SymmetricTiles<T>& A, std::span<const Index> J);

}  // namespace mercer::linalg

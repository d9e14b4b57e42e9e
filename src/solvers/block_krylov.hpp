// The largest eigenvalues of a symmetric matrix that is only applied, and their eigenvectors: a few products with whole blocks of vectors,
// so that a streamed matrix, where every product evaluates all entries again, is evaluated a handful of times.
//
// Method: block Lanczos with full orthogonalisation (twice), Rayleigh-Ritz on the basis, and thick restarts: when the basis is full, its
// best Ritz vectors and the next block go on. A pair counts as found when |A u - theta u| <= tolerance * theta_1; the projected matrix is
// kept whole, not only its tridiagonal part, so rounding (and a float32 matrix) costs digits of nothing but the product.
// References: Golub and Underwood, The block Lanczos method, 1977; Musco and Musco, Randomized block Krylov methods, 2015; Wu and Simon,
// Thick-restart Lanczos, 2000. Cost: one A V of `block` vectors a step, 8 n basis block flops for orthogonality, n (basis + block) numbers.
// Deterministic: the start is drawn from the seed, sums are in fixed order. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mercer/linear_operator.hpp"
#include "mercer/run.hpp"
#include "solvers/conjugate_gradient.hpp"

namespace mercer {

struct BlockKrylovOptions {
  Index pairs = 10;          // how many are wanted
  Index block = 0;           // vectors a product; 0: some more than pairs
  double tolerance = 1e-10;  // of |A u - theta u|, relative to the largest Ritz value
  Index max_products = 100;
  std::uint64_t seed = 0;
  Matrix start{};  // n x any: vectors to begin with; empty: random ones
  ProgressCallback progress{};
};

struct BlockKrylovResult {
  Vector values{};     // descending, min(pairs, n) of them
  Matrix vectors{};    // n x pairs, orthonormal columns
  Matrix subspace{};   // the `block` best Ritz vectors: where another run may begin
  Vector residuals{};  // |A u - theta u|, by the recurrence
  Index products = 0;
  bool converged = false;
};

// The algebraically largest pairs. `apply` is A V.
BlockKrylovResult block_krylov(Index n, const BlockFunctionOf& apply, const BlockKrylovOptions& options);
BlockKrylovResult block_krylov(const LinearOperator& A, const BlockKrylovOptions& options);

}  // namespace mercer

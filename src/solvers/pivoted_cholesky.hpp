// A low-rank factor K ~ F F' of a positive semi-definite matrix of which only the diagonal and some columns are looked at.
//
// Method: randomly pivoted Cholesky, accelerated: a block of candidates is drawn in proportion to what is left of the diagonal, rejection
// sampling within the block leaves pivots distributed as if they had been drawn one by one, and the block is eliminated by GEMM.
// Reference: Chen, Epperly, Tropp, Webber, Randomly pivoted Cholesky; Epperly, Tropp, Webber, Embrace rejection.
// Cost: rank columns of K, n rank^2 multiply-adds. K - F F' is again positive semi-definite.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "mercer/run.hpp"

namespace mercer {

struct PivotedCholeskyOptions {
  Index rank = 100;      // at most
  double tolerance = 0;  // stop when trace(K - F F') <= tolerance * trace(K)
  std::uint64_t seed = 0;
  ProgressCallback progress{};
};

struct PivotedCholesky {
  std::vector<Index> pivots{};  // in the order they were taken
  Matrix factor{};              // F, n x pivots
  double trace = 0;             // of K
  double trace_error = 0;       // of K - F F'
};

// `columns(J)` gives K(:, J), n x |J|.
PivotedCholesky pivoted_cholesky(const Vector& diagonal, const std::function<Matrix(std::span<const Index>)>& columns,
                                 const PivotedCholeskyOptions& options);

}  // namespace mercer

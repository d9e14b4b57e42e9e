// Ridge regression from running sums: (F'WF + a I) c = F'W (y - b), with b the intercept that makes the weighted residuals sum to zero.
//
// Method: with an intercept, sums around the weighted means (S_ff - s s'/w); Cholesky of the m x m matrix in float64; where a = 0 or it is
// not positive definite, the pseudo-inverse by eigenvalues, with those below rounding in the sums taken as zero. Cost: m^3/3 flops for each
// distinct penalty, 2 m^2 numbers. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "mercer/normal_sums.hpp"
#include "mercer/run.hpp"

namespace mercer {

struct RidgeFromSums {
  Matrix coef;       // features x targets
  Vector intercept;  // zeros where none was asked for
  std::string method = "Cholesky";
  Index rank = 0;       // features for Cholesky
  double residual = 0;  // |(S + a I) c - r| / |r| in float64, worst target
};

// `precision` is what the products in the sums were made in. alpha: one per target, >= 0. The sums must have positive weight.
RidgeFromSums ridge_from_sums(const NormalSums& sums, const Vector& alpha, bool fit_intercept, Precision precision, const Run& run);

// What ridge_from_sums will ask of the memory budget.
std::size_t ridge_from_sums_bytes(Index features);

}  // namespace mercer

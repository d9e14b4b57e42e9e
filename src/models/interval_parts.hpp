// What a kernel ridge model keeps for its prediction intervals.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "linalg/cholesky.hpp"
#include "mercer/prediction_intervals.hpp"

namespace mercer {

// Of the targets that share one alpha: A = S K S + alpha I, S = diag(scale).
struct JackknifeGroup {
  std::vector<Index> targets;
  linalg::SymmetricTiles<double> inverse;  // the lower half of A^-1
  Vector border;                           // v = A^-1 s where an intercept is fitted, else empty
};

struct IntervalParts {
  IntervalSummary summary{};
  // n x targets: y_i less what the fit without sample i (or without its fold) says of it; NaN: weight zero, in no order statistic
  Matrix residuals{};
  // jackknife+
  Vector scale{};  // s, roots of the weights
  std::vector<JackknifeGroup> groups{};
  // CV+
  std::vector<Index> fold_of{};  // of each sample
  Matrix fold_coef{};            // n x (folds x targets): column f * targets + t; zero for the samples of fold f
  Matrix fold_intercept{};       // folds x targets
};

std::size_t bytes_of(const IntervalParts& parts);

// Throws unless the sizes agree with a model of n samples and these targets.
void check_parts(const IntervalParts& parts, Index n, Index targets);

// Samples that the order statistics are of: those with a weight.
std::vector<Index> counted_samples(const IntervalParts& parts);

// Place (from 0) of the upper end among n sorted numbers: ceil(level (n + 1)) - 1; n when there is no such number, so the end is infinite.
Index upper_rank(Index n, double level);

// Exact leave-one-out residuals of a group, from its coefficients c and the diagonal of P: c_i / (w_i P_ii). Samples of weight zero get
// NaN.
Matrix leave_one_out_residuals(const Matrix& coef, const Vector& scale, const Vector& inverse_diagonal);

}  // namespace mercer

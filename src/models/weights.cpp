// SPDX-License-Identifier: BSD-3-Clause
#include "models/weights.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mercer/error.hpp"

namespace mercer {

Vector root_weights(const Vector& sample_weight, Index n) {
  if (sample_weight.size() == 0) return Vector::Ones(n);
  if (sample_weight.size() != n) throw InvalidArgument(fmt::format("sample_weight has {} numbers for {} samples", sample_weight.size(), n));
  for (Index i = 0; i < n; ++i) {
    if (!(sample_weight[i] >= 0) || !std::isfinite(sample_weight[i])) {
      throw InvalidArgument(fmt::format("sample_weight must be finite and >= 0, got {} for sample {}", sample_weight[i], i));
    }
  }
  if (sample_weight.maxCoeff() == 0) throw InvalidArgument("all sample weights are zero: nothing to learn from");
  return sample_weight.cwiseSqrt();
}

Vector penalties(double alpha, const Vector& per_target, const std::optional<double>& lambda, Index n, Index targets) {
  const auto require = [](double value, const char* name) {
    if (!(value >= 0) || !std::isfinite(value)) throw InvalidArgument(fmt::format("{} must be a finite number >= 0, got {}", name, value));
  };
  if (lambda) {
    require(*lambda, "lambda");
    return Vector::Constant(targets, *lambda * static_cast<double>(n));
  }
  if (per_target.size() == 0) {
    require(alpha, "alpha");
    return Vector::Constant(targets, alpha);
  }
  if (per_target.size() != targets) throw InvalidArgument(fmt::format("{} values of alpha for {} targets", per_target.size(), targets));
  for (const double value : per_target) require(value, "alpha");
  return per_target;
}

namespace {

// The sum of squared differences of targets must not overflow.
void require_squares(const MatrixRef& Y) {
  const double largest = Y.size() > 0 ? Y.cwiseAbs().maxCoeff() : 0;
  // The square of the range, summed over all rows.
  if (std::isfinite(4 * largest * largest * static_cast<double>(Y.size()))) return;
  throw InvalidArgument(fmt::format("y is too large to square (largest |y| is {:g}); divide it, say by {:.0e}", largest, largest));
}

}  // namespace

void require_matching(const Samples& X, const MatrixRef& Y) {
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  if (Y.rows() != X.size()) throw InvalidArgument(fmt::format("X has {} samples but y has {}", X.size(), Y.rows()));
  if (Y.cols() == 0) throw InvalidArgument("y has no columns");
  require_finite(Y, "y");
  require_squares(Y);
}

}  // namespace mercer

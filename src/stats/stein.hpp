// The Stein kernel of a distribution, known by its scores, and a radial kernel k = f(|x - y|^2): as tiles, and as plain sums.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/kernels.hpp"

namespace mercer::stats {

// f and its first two derivatives at q = |x - y|^2.
struct RadialKernel {
  enum class Family : std::uint8_t { gaussian, rational_quadratic };
  Family family = Family::gaussian;
  double length_scale = 1;
  double alpha = 0;

  using Row = Eigen::Array<double, 1, Eigen::Dynamic>;
  void at(const Row& q, Row& f, Row& first, Row& second) const;
  double slope_at_zero() const { return -1 / (2 * length_scale * length_scale); }  // f'(0); f(0) = 1
};

// Of a resolved kernel; InvalidArgument for others than gaussian and rational_quadratic with one length scale.
RadialKernel radial_of(const Kernel& kernel);

// k_p(x_i, y_j) for rows with their scores.
Matrix stein_block(const RadialKernel& k, const MatrixRef& X, const MatrixRef& score_x, const MatrixRef& Y, const MatrixRef& score_y);

// The Stein kernel as a kernel of rows (x, s(x)), 2 d numbers each.
Kernel stein_kernel(const RadialKernel& k, Index width);

struct SteinSums {
  double u = 0;     // mean over i != j
  double v = 0;     // mean over all pairs
  double size = 0;  // mean of |k_p(x_i, x_i)|: what rounding is measured by
};
// By tiles, on the calling thread.
SteinSums stein_sums(const RadialKernel& k, const Matrix& X, const Matrix& scores);

}  // namespace mercer::stats

// The location of a point from its distances to known rows (Kwok and Tsang).
//
// Taking p for an image phi(z), |p - phi(x)|^2 = 2 k(0) - 2 k(s) gives the profile's value and, that being decreasing, the squared input
// distance s to x. With neighbours x_1 .. x_q, mean m, centred rows C and their squared lengths c_i, the least squares answer in their span
// is
//   z = m + C' (C C')^+ (c - s) / 2     (Gower's formula, the last step of multidimensional scaling).
// Cost: q^2 d + q^3 a point. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "models/preimage_slopes.hpp"

namespace mercer {

// Squared distances s with profile(s) = values, by bisection; 0 for values the profile does not reach, `largest` for those that lie beyond.
Vector inverse_profile(const KernelSlopes& slopes, const Vector& values, double largest);

// The `count` rows with the largest <p, phi(x_i)> - k(x_i, x_i)/2, nearest first: those at the smallest distance from p.
std::vector<Index> nearest_rows(const Eigen::Ref<const Eigen::RowVectorXd>& inner, const Vector& diagonal, Index count);

// The point with squared distances s from the rows of `neighbors`.
Vector locate(const Matrix& neighbors, const Vector& s);

// z for a point with products `inner` with the images of all rows and squared norm `norm`. The kernel must be radial.
Vector preimage_from_distances(const KernelSlopes& slopes, const Eigen::Ref<const Eigen::RowVectorXd>& inner, double norm,
                               const std::vector<Index>& nearest);

}  // namespace mercer

// Samples as a leaf of a kernel sees them: some of the columns, scaled, put on circles, made of unit length, or mapped by the user.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "gram/tiling.hpp"
#include "kernels/node.hpp"
#include "mercer/samples.hpp"

namespace mercer {

// The given columns in the given order; empty: all of them, the same memory. Throws InvalidArgument for a column that is not there, a name,
// or samples without columns.
Samples select_columns(const Samples& X, std::span<const ColumnRef> columns);

// A number x_j to (cos(2 pi x_j / p) - 1, sin(2 pi x_j / p)): moved by 1 so that zeros of sparse rows stay zeros, which no distance sees.
// Scaled columns of dense rows are moved by -centre first (empty: not moved), which no distance sees: far from 0 the quotient would round
// away what tells rows apart. In float64 whatever X is, so that who narrows it can do the same. All values of X must be finite.
Samples transformed(const Samples& X, const Transform& transform, const Vector& centre);

// gradient[c] += sum_ij weights_ij d s_ij / d log(parameter c), s the reduction of the transformed rows I of X and J of Y, for the
// transform's parameters: scales, then periods. `weights` is I.count x J.count.
void add_transform_gradient(const Samples& X, Range I, const Samples& Y, Range J, const Transform& transform, Reduction reduction,
                            Tile<const double> weights, std::span<double> gradient);

}  // namespace mercer

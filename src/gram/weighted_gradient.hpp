// sum_ij W_ij dK_ij/d log(parameter) for a symmetric W that is known by its lower tiles: what the gradient of a likelihood needs, without
// an n x n matrix for W and without one per parameter. LinearOperator::gradient_inner is the same for a W that is there as a matrix.
// Cost: every tile of the lower half and its derivative once. The bits do not depend on the number of threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "gram/prepared_kernel.hpp"
#include "linalg/cholesky.hpp"
#include "mercer/run.hpp"

namespace mercer {

// Writes W(I, J) into a tile of I.count x J.count; J.begin <= I.begin, and tiles on the diagonal are to be whole. Called from many threads.
using WeightTile = std::function<void(Range I, Range J, Tile<double> out)>;

// One number per parameter of the kernel, in the order of Kernel::parameters(). The kernel must be symmetric.
Vector weighted_gradient(const PreparedKernel<double>& kernel, Index parameters, const WeightTile& weights,
                         const ProgressCallback& progress);

}  // namespace mercer

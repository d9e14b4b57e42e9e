// SPDX-License-Identifier: BSD-3-Clause
#include "gram/weighted_gradient.hpp"

#include <cassert>

#include "gram/tile_memory.hpp"

namespace mercer {

Vector weighted_gradient(const PreparedKernel<double>& kernel, Index parameters, const WeightTile& weights,
                         const ProgressCallback& progress) {
  assert(kernel.symmetric());
  if (parameters == 0) return Vector(0);
  const Index n = kernel.rows();
  const Index blocks = block_count(n);
  const Index tiles = upper_count(blocks);
  Matrix parts = Matrix::Zero(tiles, parameters);
  Stage stage(progress, "Gradient", static_cast<double>(tiles));
  parallel_for(tiles, [&](Index number) {
    const BlockPair pair = upper_pair(number, blocks);
    const Range I = block_range(pair.col, n);  // below the diagonal: the larger block is the row
    const Range J = block_range(pair.row, n);
    TileMemory<double> memory;
    const Tile<double> W = memory.tile(I.count, J.count);
    weights(I, J, W);
    kernel.add_gradient(I, J, W, {parts.row(number).data(), static_cast<std::size_t>(parameters)});
    if (pair.row != pair.col) parts.row(number) *= 2;  // it stands for its mirror image too
    stage.advance(1);
  });
  return parts.colwise().sum().transpose();
}

}  // namespace mercer

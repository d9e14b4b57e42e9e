// SPDX-License-Identifier: BSD-3-Clause
#include "gram/fill.hpp"

#include <utility>
#include <vector>

namespace mercer {

namespace {

template <class T>
std::vector<Buffer<T>>& idle_tiles() {
  thread_local std::vector<Buffer<T>> idle;
  return idle;
}

}  // namespace

template <class T>
TileMemory<T>::TileMemory() {
  auto& idle = idle_tiles<T>();
  if (idle.empty()) {
    memory_ = Buffer<T>(static_cast<std::size_t>(tile_size * tile_size));
  } else {
    memory_ = std::move(idle.back());
    idle.pop_back();
  }
}

template <class T>
TileMemory<T>::~TileMemory() {
  idle_tiles<T>().push_back(std::move(memory_));
}

template <class T>
void fill_full(const PreparedKernel<T>& kernel, T* out, Index stride, const ProgressCallback& progress) {
  const Index n = kernel.rows();
  const Index m = kernel.cols();
  const Index row_blocks = block_count(n);
  const Index col_blocks = block_count(m);
  const Index tiles = kernel.symmetric() ? upper_count(row_blocks) : row_blocks * col_blocks;
  Stage stage(progress, "Gram matrix", static_cast<double>(tiles));
  const auto& ops = simd::ops<T>();
  parallel_for(tiles, [&](Index number) {
    const BlockPair pair = kernel.symmetric() ? upper_pair(number, row_blocks) : BlockPair{number / col_blocks, number % col_blocks};
    const Range I = block_range(pair.row, n);
    const Range J = block_range(pair.col, m);
    // Made in cache, then written out once: fresh memory is never read.
    TileMemory<T> memory;
    const Tile<T> tile{memory.data(), I.count, J.count, J.count};
    kernel.tile(I, J, tile);
    const Tile<const T> made{tile.data, tile.rows, tile.cols, tile.stride};
    ops.copy_out(made, out + I.begin * stride + J.begin, stride);
    if (kernel.symmetric() && pair.row != pair.col) ops.copy_out_transposed(made, out + J.begin * stride + I.begin, stride);
    stage.advance(1);
  });
}

template <class T>
void fill_lower(const PreparedKernel<T>& kernel, const Vector& s, linalg::SymmetricTiles<T>& out, const ProgressCallback& progress) {
  static_assert(linalg::cholesky_tile == tile_size);
  const Index n = kernel.rows();
  const Index blocks = block_count(n);
  Stage stage(progress, "Gram matrix", static_cast<double>(upper_count(blocks)));
  parallel_for(upper_count(blocks), [&](Index number) {
    const BlockPair pair = upper_pair(number, blocks);
    const Range I = block_range(pair.col, n);  // below the diagonal: the larger block is the row
    const Range J = block_range(pair.row, n);
    const Tile<T> tile{out.tile(pair.col, pair.row), I.count, J.count, linalg::SymmetricTiles<T>::stride()};
    kernel.tile(I, J, tile);
    if (s.size() > 0) {
      for (Index i = 0; i < I.count; ++i) {
        for (Index j = 0; j < J.count; ++j) tile.row(i)[j] *= static_cast<T>(s[I.begin + i] * s[J.begin + j]);
      }
    }
    stage.advance(1);
  });
}

template class TileMemory<float>;
template class TileMemory<double>;
template void fill_full(const PreparedKernel<float>&, float*, Index, const ProgressCallback&);
template void fill_full(const PreparedKernel<double>&, double*, Index, const ProgressCallback&);
template void fill_lower(const PreparedKernel<float>&, const Vector&, linalg::SymmetricTiles<float>&, const ProgressCallback&);
template void fill_lower(const PreparedKernel<double>&, const Vector&, linalg::SymmetricTiles<double>&, const ProgressCallback&);

}  // namespace mercer

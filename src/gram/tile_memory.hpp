// Memory for one tile, lent while this value lives and kept for the thread's next one. Nested loans get memory of their own, so a visitor
// of one streamed operator may look at another. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/buffer.hpp"
#include "gram/tiling.hpp"
#include "simd/tile_ops.hpp"

namespace mercer {

template <class T>
class TileMemory {
 public:
  TileMemory();
  ~TileMemory();
  TileMemory(const TileMemory&) = delete;
  TileMemory& operator=(const TileMemory&) = delete;

  T* data() { return memory_.data(); }
  // Rows one after the other, at most tile_size x tile_size of them.
  simd::Tile<T> tile(Index rows, Index cols) { return {memory_.data(), rows, cols, cols}; }

 private:
  Buffer<T> memory_;
};

}  // namespace mercer

// Fixed tiles: every sum over a Gram matrix is made of these in one order, so no result depends on the number of threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "mercer/matrix.hpp"

namespace mercer {

inline constexpr Index tile_size = 256;

struct Range {
  Index begin = 0;
  Index count = 0;
};

// The rows of a tile: consecutive ones, or those of a list that outlives it.
struct RowSet : Range {
  const Index* ids = nullptr;

  RowSet(Range range) : Range(range) {}  // NOLINT(google-explicit-constructor): every range is such a set
  explicit RowSet(std::span<const Index> list) : Range{list.empty() ? 0 : list[0], static_cast<Index>(list.size())}, ids(list.data()) {}
  Index operator[](Index i) const { return ids != nullptr ? ids[i] : begin + i; }
};

inline Index block_count(Index n) { return (n + tile_size - 1) / tile_size; }
inline Range block_range(Index block, Index n) { return {block * tile_size, std::min(tile_size, n - block * tile_size)}; }

struct BlockPair {
  Index row = 0;
  Index col = 0;
};

// The tiles on and above the diagonal of `blocks` x `blocks`, numbered row by row.
inline Index upper_count(Index blocks) { return blocks * (blocks + 1) / 2; }
inline BlockPair upper_pair(Index number, Index blocks) {
  // Counted from the end, row r holds r + 1 tiles, so its first number is a triangular one.
  const Index back = upper_count(blocks) - 1 - number;
  auto r = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(back) + 1) - 1) / 2);
  while (r * (r + 1) / 2 > back) --r;
  while ((r + 1) * (r + 2) / 2 <= back) ++r;
  return {blocks - 1 - r, blocks - 1 - (back - r * (r + 1) / 2)};
}

}  // namespace mercer

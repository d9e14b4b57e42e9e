// SPDX-License-Identifier: BSD-3-Clause
#include "gram/neighbors.hpp"

#include <algorithm>
#include <limits>

#include "gram/pair_reducer.hpp"
#include "gram/tile_memory.hpp"

namespace mercer {

namespace {

using Found = std::pair<double, Index>;

template <class T>
Neighbors search(const Samples& X, Index k, const ProgressCallback& progress) {
  ReductionSet needed;
  needed.insert(Reduction::squared_distance);
  const PairReducer<T> reducer(X, X, needed);
  const Index n = X.size();
  Neighbors out{RowMatrix<Index>(n, k), Matrix(n, k)};
  const double tiles = static_cast<double>(block_count(n)) * static_cast<double>(block_count(n));
  Stage stage(progress, "nearest neighbours", tiles);
  parallel_for(block_count(n), [&](Index a) {
    const Range I = block_range(a, n);
    TileMemory<T> memory;
    // Heaps with the farthest on top; what is as far as the top came later, so it stays out.
    std::vector<std::vector<Found>> heaps(static_cast<std::size_t>(I.count));
    for (Index b = 0; b < block_count(n); ++b) {
      const Range J = block_range(b, n);
      reducer.reduce(Reduction::squared_distance, I, J, Tile<T>{memory.data(), I.count, J.count, J.count});
      for (Index i = 0; i < I.count; ++i) {
        auto& heap = heaps[static_cast<std::size_t>(i)];
        const T* d = memory.data() + i * J.count;
        double farthest = std::ssize(heap) < k ? std::numeric_limits<double>::infinity() : heap.front().first;
        for (Index j = 0; j < J.count; ++j) {
          if (!(static_cast<double>(d[j]) < farthest) || J.begin + j == I.begin + i) continue;
          if (std::ssize(heap) == k) {
            std::pop_heap(heap.begin(), heap.end());
            heap.pop_back();
          }
          heap.emplace_back(static_cast<double>(d[j]), J.begin + j);
          std::push_heap(heap.begin(), heap.end());
          if (std::ssize(heap) == k) farthest = heap.front().first;
        }
      }
      stage.advance(1);
    }
    for (Index i = 0; i < I.count; ++i) {
      auto& heap = heaps[static_cast<std::size_t>(i)];
      std::sort_heap(heap.begin(), heap.end());
      for (Index j = 0; j < k; ++j) {
        out.rows(I.begin + i, j) = heap[static_cast<std::size_t>(j)].second;
        out.squared_distances(I.begin + i, j) = heap[static_cast<std::size_t>(j)].first;
      }
    }
  });
  return out;
}

}  // namespace

Neighbors nearest_neighbors(const Samples& X, Index k, const ProgressCallback& progress) {
  return X.precision() == Precision::float32 ? search<float>(X, k, progress) : search<double>(X, k, progress);
}

}  // namespace mercer

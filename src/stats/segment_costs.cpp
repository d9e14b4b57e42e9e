// SPDX-License-Identifier: BSD-3-Clause
#include "stats/segment_costs.hpp"

#include <algorithm>

#include "core/buffer.hpp"
#include "gram/prepared_kernel.hpp"

namespace mercer::stats {

namespace {

constexpr double block_bytes = 64e6;
constexpr Index fewest_rows = 16;
constexpr Index starts_at_a_time = 1024;

Index rows_of_block(Index n) {
  return std::clamp<Index>(static_cast<Index>(block_bytes / (8 * static_cast<double>(n))), fewest_rows, tile_size);
}

// k(x_last, x_i) becomes the sum of k(x_last, x_j) over j = i .. last.
void sum_to_the_end(double* values, Index count) {
  double sum = 0;
  for (Index i = count - 1; i >= 0; --i) values[i] = sum += values[i];
}

}  // namespace

// Notation: A(s) = sum of k over all pairs of rows s .. t. One row more adds twice its sums with the others, and its own square.
void for_each_segment_block(const Kernel& kernel, const Samples& series, const Run& run,
                            const std::function<Index(const SegmentBlock&)>& visit) {
  const Index n = series.size();
  const PreparedKernel<double> prepared(kernel, series, series);
  Vector before = Vector::Zero(n + 1);  // sums of k(x_i, x_i) over the rows before
  for (Index i = 0; i < n; ++i) before[i + 1] = before[i] + prepared.diagonal()[i];
  Vector A = Vector::Zero(n);
  const Index height = rows_of_block(n);
  Buffer<double> memory(static_cast<std::size_t>(height * n));
  Stage stage(run.progress, "Segments", static_cast<double>(n));
  Index oldest = 0;
  for (Index first = 0; first < n; first += height) {
    const Index count = std::min(height, n - first);
    const Index width = first + count - oldest;
    parallel_for(block_count(width), [&](Index block) {
      const Range part = block_range(block, width);
      prepared.tile(Range{first, count}, {oldest + part.begin, part.count},
                    simd::Tile<double>{memory.data() + part.begin, count, part.count, width});
    });
    parallel_for(count, [&](Index r) { sum_to_the_end(memory.data() + r * width, first + r + 1 - oldest); });
    parallel_for((width + starts_at_a_time - 1) / starts_at_a_time, [&](Index part) {
      const Index begin = oldest + part * starts_at_a_time;
      for (Index r = 0; r < count; ++r) {
        const Index last = first + r;
        const double own = prepared.diagonal()[last];
        double* costs = memory.data() + r * width - oldest;
        for (Index s = begin; s < std::min(begin + starts_at_a_time, last + 1); ++s) {
          A[s] += 2 * costs[s] - own;
          costs[s] = before[last + 1] - before[s] - A[s] / static_cast<double>(last + 1 - s);
        }
      }
    });
    oldest = visit({first, count, oldest, width, memory.data()});
    stage.advance(static_cast<double>(count));
  }
}

}  // namespace mercer::stats

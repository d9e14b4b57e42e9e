// Costs of all segments that end at some row, block of rows after block, from running sums over tiles of kernel values: what both ways to
// segment a series read. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer::stats {

// Costs of the segments from row s to row last = first + r (both within): at(r)[s - oldest], for oldest <= s <= last.
struct SegmentBlock {
  Index first = 0;
  Index count = 0;
  Index oldest = 0;
  Index stride = 0;
  const double* costs = nullptr;

  const double* at(Index r) const { return costs + r * stride; }
};

// Visits the blocks in order, on the calling thread; visit returns the oldest start of a segment that the following blocks need. The kernel
// must be resolved.
void for_each_segment_block(const Kernel& kernel, const Samples& series, const Run& run,
                            const std::function<Index(const SegmentBlock&)>& visit);

}  // namespace mercer::stats

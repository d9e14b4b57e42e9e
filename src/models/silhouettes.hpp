// Silhouettes of several partitions of the same samples, from one pass over their distances.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/cluster_quality.hpp"

namespace mercer {

// One column per partition; each has 2 to n - 1 labels. The kernel must be resolved. Call within with_threads.
Matrix silhouettes(const Samples& X, const std::vector<std::vector<Index>>& partitions, const std::optional<Kernel>& kernel,
                   const ProgressCallback& progress);

// Labels renumbered 0, 1, ... in their order; returns how many.
Index compact_labels(std::vector<Index>& labels);

}  // namespace mercer

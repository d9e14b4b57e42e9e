// Thresholds of a drift monitor by simulation on its reference. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer::stats {

// Of `window` steps from the first full window on; the last one is that of the steady state. The kernel must be resolved.
Vector drift_thresholds(const Kernel& kernel, const Samples& reference, Index window, double run_length, Index simulations,
                        std::uint64_t seed, const Run& run);

// The statistics of one simulated stream: members of K (2 window - 1 of them, in order) against all others. `row_sums` are of K, `pairs` is
// the sum of K off its diagonal.
void drift_statistics(const Matrix& K, const Vector& row_sums, double pairs, const std::vector<Index>& stream, Index window, double* out);

}  // namespace mercer::stats

// mmd-u of many kernels under many exchanges, in one pass over the tiles of all kernels.
//
// Notation: z pooled rows, K without its diagonal, a and b the indicators of the two samples, of r and s rows; v = a/r - b/s.
//   mmd-u = A/(r(r-1)) + B/(s(s-1)) - 2C/(rs), A = a'Ka, B = b'Kb, C = a'Kb
//         = v'Kv + A/(r^2(r-1)) + B/(s^2(s-1))
// so that one quadratic form, of entries that cancel, carries the statistic; A and B come from it and from the row sums K1, and for r = s
// from 1'K1 alone (A + B = (1'K1 + r^2 v'Kv)/2).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"
#include "mercer/test_result.hpp"
#include "stats/exchanges.hpp"

namespace mercer::stats {

// Sums over the pairs i != j of the pooled sample in float64, one for each kernel.
struct PooledSums {
  Matrix rows{};  // K1, rows x kernels
  Vector total{};
  Vector squares{};
  Vector mmd_u{};  // as observed
};
PooledSums pooled_sums(const std::vector<Kernel>& kernels, const Samples& pooled, Index first, const Run& run);

struct ExchangedMmd {
  Matrix values{};     // 1 + draws rows: as observed, then exchanges 0 .. draws - 1; one column a kernel
  Vector tolerance{};  // what rounding may do to them, for each kernel
};
// In float32 where that tells exchanges apart.
ExchangedMmd mmd_of_exchanges(const std::vector<Kernel>& kernels, const Samples& pooled, const PooledSums& sums, const Exchanges& exchanges,
                              Index first, Index draws, const Run& run);

// Says in the remarks of which kernel exchanges differ by little more than rounding, where there is one.
void remark_on_rounding(TestResult& result, const ExchangedMmd& found, const std::vector<Kernel>& kernels);

// X and Y checked and joined.
Samples pooled_sample(const Samples& X, const Samples& Y, Index permutations);

}  // namespace mercer::stats

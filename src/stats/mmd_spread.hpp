// MMD statistics from their sums, with standard errors under the alternative: the normal law that a U-statistic follows when the
// distributions differ (source L Th. 7). Its leading term is 4 var(g(x))/n + 4 var(g(y))/m, g(z) = E k(z, x') - E k(z, y') the witness;
// of h, 4 var(E_z' h(z, z'))/n. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stats/mmd_sums.hpp"

namespace mercer::stats {

struct Spread {
  double squared = 0;     // the statistic
  double deviation = 0;   // its standard error; NaN where a sample has a single row
  double variance_x = 0;  // of the witness over the rows of X, and over those of Y (of h: both halves of its own)
  double variance_y = 0;
};
// u, b or h. weights as sample_sums had them.
Spread spread_of(const Pooled& pooled, const SampleSums& sums, MmdStatistic statistic, const Vector& weights);

// The mean of independent blocks and its standard error.
struct MeanOfBlocks {
  double value = 0;
  double deviation = 0;
  Index blocks = 0;
};
MeanOfBlocks mean_of(const Vector& block_values);

}  // namespace mercer::stats

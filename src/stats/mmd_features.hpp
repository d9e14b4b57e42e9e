// MMD through features of the pooled sample: time linear in the rows, with a stated error.
//
// Random Fourier features: the statistic is a mean over independent frequencies of what each contributes, so its error has a standard
// deviation that the same frequencies measure; `error` is 1.96 times that. Nystrom features (randomly pivoted Cholesky): K = F F' + E with
// E positive semi-definite of known trace t, so the error lies below t |a|^2 for coefficients a, always. SPDX-License-Identifier:
// BSD-3-Clause
#pragma once

#include "stats/mmd_sums.hpp"

namespace mercer::stats {

struct FeatureEstimate {
  double squared = 0;
  double error = 0;
  std::string statement{};
};
// u or b; weights: one for each row, X first; empty: all 1.
FeatureEstimate mmd_by_features(const Pooled& pooled, MmdStatistic statistic, const Vector& weights, const MmdOptions& options);

}  // namespace mercer::stats

// What the nulls of the two-sample test share. Each function fills the result's statistic, null, p-value, threshold, description and
// exactness; two_sample.cpp does the rest. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/test_result.hpp"
#include "mercer/two_sample.hpp"
#include "stats/exchanges.hpp"
#include "stats/mmd_sums.hpp"

namespace mercer::stats {

// The statistics of B exchanges, and of the observed labelling by the same arithmetic.
struct Exchanged {
  double observed = 0;
  Vector null{};
  double tolerance = 0;  // nearer statistics are ties
};

// One labelling after the other, the observed one first: labels(b, in_first).
using Labelling = std::function<void(Index b, std::span<char> in_first)>;
// In float32, and again in float64 where rounding would blur the null; `precise`: float64 at once.
Exchanged exchanged_statistics(const Pooled& pooled, MmdStatistic statistic, Index labellings, const Labelling& labels, bool precise,
                               const Run& run);

void by_permutation(TestResult& result, const Pooled& pooled, MmdStatistic statistic, const TwoSampleOptions& options);
void by_bins(TestResult& result, const Pooled& pooled, MmdStatistic statistic, const TwoSampleOptions& options);
void by_signs(TestResult& result, const Pooled& pooled, MmdStatistic statistic, const TwoSampleOptions& options);

void by_gamma(TestResult& result, const Pooled& pooled, const TwoSampleOptions& options);
void by_pearson(TestResult& result, const Pooled& pooled, const TwoSampleOptions& options);
void by_spectrum(TestResult& result, const Pooled& pooled, MmdStatistic statistic, const TwoSampleOptions& options);
void by_normal(TestResult& result, const Pooled& pooled, MmdStatistic statistic, const TwoSampleOptions& options);
void by_bound(TestResult& result, const Pooled& pooled, const TwoSampleOptions& options);

// The exact variance of mmd-u over all permutations: 2 |A|_F^2 (1/(n(n-1)) + 1/(m(m-1)) + 2/(nm)) / (N (N - 3)), A the kernel matrix
// without its diagonal, centred so that the rows of its off-diagonal entries sum to 0 (centred_pair_squares gives |A|_F^2). N >= 4.
double permutation_variance(double centred_squares, double n, double m);

// The statistic that an automatic choice stands for; an explicit one that does not fit the null throws.
MmdStatistic fitting_statistic(MmdStatistic wanted, MmdNull null);

}  // namespace mercer::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/aggregated_tests.hpp"

#include <fmt/format.h>

#include "mercer/error.hpp"
#include "stats/aggregated.hpp"
#include "stats/aggregated_kernels.hpp"
#include "stats/aggregated_mmd.hpp"
#include "stats/test_result.hpp"

namespace mercer {

AggregatedResult mmd_aggregated_test(const Samples& X, const Samples& Y, const MmdAggregatedOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  stats::require_level(o.level);
  const Samples pooled = stats::pooled_sample(X, Y, std::min(o.permutations, o.level_permutations));
  const stats::KernelCollection collection = stats::collect(o.kernels, stats::two_sample_kernels(), pooled, o.bandwidths, "kernels");
  const auto count = static_cast<Index>(collection.kernels.size());
  const Vector weights = o.weights.size() > 0 ? stats::scaled_weights(o.weights, count) : stats::weights_of(collection, o.weighting);
  const stats::Exchanges exchanges(pooled.size(), X.size(), o.exchange, o.seed);
  const Index draws = o.permutations + o.level_permutations;

  const stats::PooledSums sums = stats::pooled_sums(collection.kernels, pooled, X.size(), o.run);
  const stats::ExchangedMmd found = stats::mmd_of_exchanges(collection.kernels, pooled, sums, exchanges, X.size(), draws, o.run);
  AggregatedResult result = stats::aggregated_result(found.values, o.permutations, weights, found.tolerance, sums.mmd_u, o.level);
  result.test = "two-sample";
  result.statistic_name = "mmd-agg";
  result.method = "aggregated";
  result.kernels = collection.texts();
  for (std::size_t k = 0; k < result.table.size(); ++k) result.table[k].kernel = result.kernels[k];
  result.n = X.size();
  result.m = Y.size();
  result.seed = o.seed;
  result.description = fmt::format("{} kernels, each by mmd-u and {}, level of them all by {} more; {}", count,
                                   exchanges.describe(o.permutations), o.level_permutations, stats::level_words(result, o.exchange.scheme));
  stats::remark_on_kernels(result, collection.kernels, pooled, "difference");
  stats::remark_on_rounding(result, found, collection.kernels);
  stats::conclude(result, "the samples differ", "no difference found", start);
  return result;
}

}  // namespace mercer

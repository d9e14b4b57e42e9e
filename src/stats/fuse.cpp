// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mercer/aggregated_tests.hpp"
#include "mercer/error.hpp"
#include "stats/aggregated_kernels.hpp"
#include "stats/aggregated_mmd.hpp"
#include "stats/test_result.hpp"

namespace mercer {

namespace {

// (1/lambda) log mean exp(lambda t), without overflow.
double soft_maximum(const Vector& t, double lambda) {
  const double largest = t.maxCoeff();
  return largest + std::log(((t.array() - largest) * lambda).exp().mean()) / lambda;
}

}  // namespace

AggregatedResult mmd_fuse_test(const Samples& X, const Samples& Y, const MmdFuseOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  stats::require_level(o.level);
  if (!(o.lambda >= 0) || !std::isfinite(o.lambda))
    throw InvalidArgument(fmt::format("lambda must be > 0, or 0 for its default, got {}", o.lambda));
  const Samples pooled = stats::pooled_sample(X, Y, o.permutations);
  const stats::KernelCollection collection = stats::collect(o.kernels, stats::two_sample_kernels(), pooled, o.bandwidths, "kernels");
  const stats::Exchanges exchanges(pooled.size(), X.size(), o.exchange, o.seed);
  const stats::PooledSums sums = stats::pooled_sums(collection.kernels, pooled, X.size(), o.run);
  stats::ExchangedMmd found = stats::mmd_of_exchanges(collection.kernels, pooled, sums, exchanges, X.size(), o.permutations, o.run);
  Matrix& T = found.values;
  const Vector& tolerance = found.tolerance;

  const auto smaller = static_cast<double>(std::min(X.size(), Y.size()));
  const double lambda = o.lambda > 0 ? o.lambda : std::sqrt(smaller * (smaller - 1));
  // A kernel that is 0 between all rows has mmd-u = 0 under every exchange, and stays out of the way.
  Vector scale = (sums.squares / (smaller * (smaller - 1))).cwiseSqrt();
  scale = (scale.array() > 0).select(scale, 1.0);

  AggregatedResult result;
  result.level = o.level;
  stats::remark_on_rounding(result, found, collection.kernels);
  const auto kernels = static_cast<Index>(collection.kernels.size());
  const Vector observed = sums.mmd_u.cwiseQuotient(scale);
  const double sum_of_shares = ((observed.array() - observed.maxCoeff()) * lambda).exp().sum();
  result.kernels = collection.texts();
  for (Index k = 0; k < kernels; ++k) {
    const Vector null = T.col(k).tail(o.permutations);
    KernelVerdict row;
    row.kernel = result.kernels[static_cast<std::size_t>(k)];
    row.statistic = sums.mmd_u[k];
    row.weight = std::exp((observed[k] - observed.maxCoeff()) * lambda) / sum_of_shares;
    row.p_value = stats::exchange_p_value(T(0, k), null, tolerance[k]);
    row.threshold = stats::exchange_threshold(null, o.level);
    row.level = o.level;
    result.table.push_back(std::move(row));
  }
  T = T.array().rowwise() / scale.transpose().array();
  Vector fused(T.rows());
  for (Index j = 0; j < T.rows(); ++j) fused[j] = soft_maximum(T.row(j), lambda);

  result.test = "two-sample";
  result.statistic_name = "mmd-fuse";
  result.statistic = soft_maximum(observed, lambda);
  result.method = "fused";
  result.correction = std::numeric_limits<double>::quiet_NaN();
  result.n = X.size();
  result.m = Y.size();
  result.seed = o.seed;
  result.numbers = {{"lambda", lambda}};
  stats::judge_by_exchanges(result, fused[0], fused.tail(o.permutations), tolerance.cwiseQuotient(scale).maxCoeff());
  result.description = fmt::format("{} kernels, soft maximum of normalised mmd-u; {}; {}", kernels, exchanges.describe(o.permutations),
                                   stats::level_words(result, o.exchange.scheme));
  stats::remark_on_kernels(result, collection.kernels, pooled, "difference");
  stats::conclude(result, "the samples differ", "no difference found", start);
  for (KernelVerdict& row : result.table) row.rejected = result.rejected && row.p_value <= o.level;
  return result;
}

}  // namespace mercer

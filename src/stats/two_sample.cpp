// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/two_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "mercer/error.hpp"
#include "stats/mmd_spread.hpp"
#include "stats/test_result.hpp"
#include "stats/two_sample_parts.hpp"

namespace mercer {

namespace {

using enum MmdStatistic;

// The statistics that a null takes, the automatic one first.
const std::vector<MmdStatistic>& statistics_for(MmdNull null) {
  static const std::vector<std::vector<MmdStatistic>> table = {
      {u, b, h},        // permutation
      {u, b},           // binned
      {u, b, h},        // wild
      {b},              // gamma
      {u},              // pearson
      {u, b},           // spectral
      {linear, block},  // normal
      {b},              // bound
  };
  return table[static_cast<std::size_t>(null)];
}

constexpr MmdNull all_nulls[] = {MmdNull::permutation, MmdNull::binned,   MmdNull::wild,   MmdNull::gamma,
                                 MmdNull::pearson,     MmdNull::spectral, MmdNull::normal, MmdNull::bound};

bool takes(MmdNull null, MmdStatistic statistic) {
  const auto& fitting = statistics_for(null);
  return std::find(fitting.begin(), fitting.end(), statistic) != fitting.end();
}

void require_options(const TwoSampleOptions& o, MmdStatistic statistic) {
  stats::require_level(o.level);
  if (o.permutations < 1) throw InvalidArgument(fmt::format("permutations must be >= 1, got {}", o.permutations));
  if (o.bins < 0 || (o.bins > 0 && o.null != MmdNull::binned))
    throw InvalidArgument(fmt::format("bins must be >= 2 and goes with null = binned, got {}", o.bins));
  if (o.block_size != 0 && statistic != block)
    throw InvalidArgument(fmt::format("block_size goes with mmd-block, got {} with {}", o.block_size, name_of(statistic)));
  const Exchange scheme = o.exchange.scheme;
  const bool wild = o.null == MmdNull::wild && (scheme == Exchange::blocks || scheme == Exchange::pairs);
  if (o.null != MmdNull::permutation && scheme != Exchange::free && !wild)
    throw InvalidArgument(fmt::format("exchange = {} goes with null = permutation{}, not with {}", name_of(scheme),
                                      scheme == Exchange::blocks || scheme == Exchange::pairs ? " or wild" : "", name_of(o.null)));
  if (o.null == MmdNull::permutation && statistic == h && scheme != Exchange::pairs && scheme != Exchange::free)
    throw InvalidArgument(fmt::format(
        "mmd-h keeps its pairs (x_i, y_i) together, which exchange = {} does not: use exchange = pairs or null = wild with it, or mmd-u",
        name_of(scheme)));
}

}  // namespace

const char* name_of(MmdNull null) {
  switch (null) {
    case MmdNull::permutation:
      return "permutation";
    case MmdNull::binned:
      return "binned";
    case MmdNull::wild:
      return "wild";
    case MmdNull::gamma:
      return "gamma";
    case MmdNull::pearson:
      return "pearson";
    case MmdNull::spectral:
      return "spectral";
    case MmdNull::normal:
      return "normal";
    case MmdNull::bound:
      return "bound";
  }
  return "";
}

namespace stats {

MmdStatistic fitting_statistic(MmdStatistic wanted, MmdNull null) {
  if (wanted == automatic) return statistics_for(null).front();
  if (takes(null, wanted)) return wanted;
  std::string fitting;
  for (const MmdStatistic s : statistics_for(null)) fitting += (fitting.empty() ? "" : ", ") + std::string(name_of(s));
  std::string others;
  for (const MmdNull other : all_nulls) {
    if (takes(other, wanted)) others += (others.empty() ? "" : ", ") + std::string(name_of(other));
  }
  throw InvalidArgument(fmt::format("the statistic {} does not go with null = {}, which takes {}; {} goes with null = {}", name_of(wanted),
                                    name_of(null), fitting, name_of(wanted), others));
}

}  // namespace stats

TestResult two_sample_test(const Samples& X, const Samples& Y, const TwoSampleOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  const MmdStatistic statistic = stats::fitting_statistic(o.statistic, o.null);
  require_options(o, statistic);
  const stats::Pooled pooled = stats::pool(X, Y, o.kernel);
  stats::require_sizes(statistic, pooled.n, pooled.m);

  TestResult result;
  result.test = "two-sample";
  result.statistic_name = name_of(statistic);
  result.level = o.level;
  result.method = name_of(o.null);
  result.kernels = {pooled.kernel.text()};
  result.n = pooled.n;
  result.m = pooled.m;
  result.seed = o.seed;
  switch (o.null) {
    case MmdNull::permutation:
      stats::by_permutation(result, pooled, statistic, o);
      break;
    case MmdNull::binned:
      stats::by_bins(result, pooled, statistic, o);
      break;
    case MmdNull::wild:
      stats::by_signs(result, pooled, statistic, o);
      break;
    case MmdNull::gamma:
      stats::by_gamma(result, pooled, o);
      break;
    case MmdNull::pearson:
      stats::by_pearson(result, pooled, o);
      break;
    case MmdNull::spectral:
      stats::by_spectrum(result, pooled, statistic, o);
      break;
    case MmdNull::normal:
      stats::by_normal(result, pooled, statistic, o);
      break;
    case MmdNull::bound:
      stats::by_bound(result, pooled, o);
      break;
  }
  result.numbers.emplace_back("distance", std::sqrt(std::max(0.0, result.statistic)));
  stats::remark_on_kernel(result, pooled.kernel, pooled.rows, "difference");
  stats::conclude(result, "the samples differ", "no difference was found", start);
  return result;
}

}  // namespace mercer

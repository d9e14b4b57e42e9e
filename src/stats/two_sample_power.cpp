// What a test can be trusted with: the level it really holds on the user's data, and the rows it needs.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "mercer/two_sample.hpp"
#include "stats/mmd_spread.hpp"
#include "stats/test_result.hpp"
#include "stats/two_sample_parts.hpp"

namespace mercer {

namespace {

constexpr std::uint64_t split_stream = std::uint64_t{1} << 61U;  // apart from the streams of exchanges of the same seed
constexpr Index most_rows = Index{1} << 40;

struct Split {
  std::vector<Index> x{};
  std::vector<Index> y{};
};

// Rows that change places by the scheme. Blocks and groups of unequal size keep their rows' order, pairs stay pairs.
Split split_by(const stats::Exchanges& exchanges, const ExchangeOptions& options, Index repetition, Index n) {
  Split out;
  if (options.scheme == Exchange::whole_groups || options.scheme == Exchange::blocks) {
    std::vector<char> in_first(static_cast<std::size_t>(exchanges.rows()));
    exchanges.draw_labels(repetition, in_first);
    for (Index i = 0; i < exchanges.rows(); ++i) (in_first[static_cast<std::size_t>(i)] == 1 ? out.x : out.y).push_back(i);
    return out;
  }
  std::vector<Index> order(static_cast<std::size_t>(exchanges.rows()));
  exchanges.draw(repetition, order);
  out.x.assign(order.begin(), order.begin() + n);
  out.y.assign(order.begin() + n, order.end());
  return out;
}

// What the power at n rows a sample follows from.
struct Law {
  double squared = 0;        // the true MMD^2
  double alternative = 0;    // n times the variance that the alternative adds
  double null_variance = 0;  // n^2 times the variance under the null; 0: none beside `alternative`
  double threshold = 0;      // n (or sqrt n, of a mean of blocks) times the threshold
  bool mean_of_blocks = false;

  double threshold_at(double n) const { return threshold / (mean_of_blocks ? std::sqrt(n) : n); }
  double deviation_at(double n) const { return std::sqrt(alternative / n + null_variance / (n * n)); }
  double power_at(double n, double true_squared) const {
    const double deviation = deviation_at(n);
    if (!(deviation > 0)) return true_squared > threshold_at(n) ? 1 : 0;
    return boost::math::cdf(boost::math::normal_distribution<>(), (true_squared - threshold_at(n)) / deviation);
  }
};

Law law_of_blocks(const TestResult& pilot, double fewer) {
  double deviation = 0;
  for (const auto& [name, value] : pilot.numbers) {
    if (name == "deviation") deviation = value;
  }
  return {pilot.statistic, deviation * deviation * fewer, 0, pilot.threshold * std::sqrt(fewer), true};
}

Law law_of_sums(const stats::Pooled& pooled, const TestResult& pilot, MmdStatistic statistic, const Run& run) {
  const stats::SampleSums sums = stats::sample_sums(pooled, {}, run);
  const stats::Spread spread = stats::spread_of(pooled, sums, MmdStatistic::u, {});
  const auto n = static_cast<double>(pooled.n);
  const auto m = static_cast<double>(pooled.m);
  const double N = n + m;
  const double null_variance = stats::permutation_variance(stats::centred_pair_squares(pooled, sums, run), n, m);
  // E k~^2: what a mean over few rows adds to the witness's variance, and what the alternative must not be charged with.
  const double pair = null_variance / 2 / stats::sensitivity_of(MmdStatistic::u, n, m) * (N - 3) / (N - 1);
  const double x = std::max(0.0, spread.variance_x - pair * (1 / (n - 1) + 1 / m));
  const double y = std::max(0.0, spread.variance_y - pair * (1 / (m - 1) + 1 / n));
  const double ratio = 2 / (1 / n + 1 / m);  // rows that two equal samples would have
  double threshold = pilot.threshold;
  if (statistic == MmdStatistic::b) threshold -= pilot.statistic - spread.squared;  // b is u and its diagonal, which goes with 1/n too
  return {spread.squared, 4 * (x + y), null_variance * ratio * ratio, threshold * ratio, false};
}

}  // namespace

LevelCheck level_check(const Samples& X, const Samples& Y, const TwoSampleOptions& options, Index repetitions) {
  if (repetitions < 1) throw InvalidArgument(fmt::format("repetitions must be >= 1, got {}", repetitions));
  stats::require_level(options.level);
  const stats::Pooled pooled = stats::pool(X, Y, options.kernel);
  const stats::Exchanges exchanges(pooled.size(), pooled.n, options.exchange, RandomStream(options.seed, split_stream)());
  LevelCheck out;
  out.repetitions = repetitions;
  out.level = options.level;
  out.p_values.resize(repetitions);
  with_run(options.run, [&] {
    Stage stage(options.run.progress, "Splits", static_cast<double>(repetitions));
    parallel_for(repetitions, [&](Index r) {
      const Split split = split_by(exchanges, options.exchange, r, pooled.n);
      TwoSampleOptions o = options;
      o.kernel = pooled.kernel;
      o.run.progress = {};
      o.seed = RandomStream(options.seed, split_stream + 1 + static_cast<std::uint64_t>(r))();
      if (options.exchange.scheme == Exchange::whole_groups) {
        o.exchange.groups.clear();
        for (const auto* part : {&split.x, &split.y}) {
          for (const Index i : *part) o.exchange.groups.push_back(options.exchange.groups[static_cast<std::size_t>(i)]);
        }
      }
      out.p_values[r] = two_sample_test(pooled.rows.subset(split.x), pooled.rows.subset(split.y), o).p_value;
      stage.advance(1);
    });
  });
  using Binomial = boost::math::binomial_distribution<>;
  out.rejections = (out.p_values.array() <= options.level).count();
  const auto trials = static_cast<double>(repetitions);
  const auto hits = static_cast<double>(out.rejections);
  out.rate = hits / trials;
  out.low = Binomial::find_lower_bound_on_p(trials, hits, 0.025);
  out.high = Binomial::find_upper_bound_on_p(trials, hits, 0.025);
  out.holds = out.low <= options.level;
  out.sentence = fmt::format(
      "{} of {} splits of the pooled rows were rejected at level {:g}: the real level is between {:.3g} and {:.3g} "
      "(95 %), so the test {}",
      out.rejections, repetitions, options.level, out.low, out.high,
      !out.holds                 ? "rejects too often"
      : out.high < options.level ? "keeps its level and is cautious"
                                 : "keeps its level as far as this shows");
  const Exchange scheme = options.exchange.scheme;
  if (scheme == Exchange::free || scheme == Exchange::within_groups || scheme == Exchange::pairs)
    out.sentence += "; this supposes independent rows and cannot see dependence between them (for a series: exchange blocks)";
  return out;
}

PowerEstimate two_sample_power(const Samples& X, const Samples& Y, Index rows, double wanted, const TwoSampleOptions& options) {
  if (rows < 0) throw InvalidArgument(fmt::format("rows must be >= 0, got {}", rows));
  if (!(wanted > options.level && wanted < 1))
    throw InvalidArgument(fmt::format("the wanted power must lie between the level {:g} and 1, got {}", options.level, wanted));
  const MmdStatistic statistic = stats::fitting_statistic(options.statistic, options.null);
  const stats::Pooled pooled = stats::pool(X, Y, options.kernel);
  if (std::min(pooled.n, pooled.m) < 4)
    throw InvalidArgument(fmt::format("a pilot needs at least 4 rows in each sample, got {} and {}", pooled.n, pooled.m));
  TwoSampleOptions o = options;
  o.kernel = pooled.kernel;
  const TestResult pilot = two_sample_test(X, Y, o);
  if (!std::isfinite(pilot.threshold))
    throw InvalidArgument(fmt::format("the pilot's test has no threshold at level {:g}: {}", options.level,
                                      pilot.remarks.empty() ? "nothing can be told apart" : pilot.remarks.back()));
  const auto fewer = static_cast<double>(std::min(pooled.n, pooled.m));
  const bool blocks = statistic == MmdStatistic::linear || statistic == MmdStatistic::block;
  const Law law = blocks ? law_of_blocks(pilot, fewer) : law_of_sums(pooled, pilot, statistic, options.run);

  PowerEstimate out;
  out.squared = law.squared;
  out.n = rows > 0 ? rows : std::min(pooled.n, pooled.m);
  out.wanted = wanted;
  const auto n = static_cast<double>(out.n);
  out.deviation = law.deviation_at(n);
  out.threshold = law.threshold_at(n);
  out.power = law.power_at(n, law.squared);
  const double error = law.deviation_at(fewer);
  out.low = law.power_at(n, law.squared - error);
  out.high = law.power_at(n, law.squared + error);
  if (law.squared > 0) {
    Index low = 1;
    Index high = 4;
    while (high < most_rows && law.power_at(static_cast<double>(high), law.squared) < wanted) {
      low = high;
      high *= 2;
    }
    while (high - low > 1) {
      const Index middle = low + (high - low) / 2;
      (law.power_at(static_cast<double>(middle), law.squared) < wanted ? low : high) = middle;
    }
    if (high < most_rows) out.needed = std::max<Index>(high, 4);
  }
  out.sentence = fmt::format(
      "at {} rows a sample the test rejects with probability about {:.2f} (between {:.2f} and {:.2f} within the "
      "pilot's standard error)",
      out.n, out.power, out.low, out.high);
  out.sentence += out.needed > 0 ? fmt::format("; about {} rows a sample give power {:g}", out.needed, wanted)
                                 : "; the pilot shows no difference, so it says nothing of the rows needed";
  return out;
}

}  // namespace mercer

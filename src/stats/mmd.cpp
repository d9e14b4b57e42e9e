// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "mercer/error.hpp"
#include "mercer/two_sample.hpp"
#include "stats/mmd_features.hpp"
#include "stats/mmd_spread.hpp"

namespace mercer {

const char* name_of(MmdStatistic statistic) {
  switch (statistic) {
    case MmdStatistic::automatic:
      return "auto";
    case MmdStatistic::u:
      return "mmd-u";
    case MmdStatistic::b:
      return "mmd-b";
    case MmdStatistic::h:
      return "mmd-h";
    case MmdStatistic::linear:
      return "mmd-linear";
    case MmdStatistic::block:
      return "mmd-block";
  }
  return "";
}

namespace {

using stats::Pooled;
using stats::SampleSums;

// The weights of both samples in a row; empty where neither has any.
Vector pooled_weights(const MmdOptions& o, const Pooled& pooled) {
  const auto check = [](const Vector& w, Index rows, const char* name) {
    if (w.size() == 0) return;
    if (w.size() != rows)
      throw InvalidArgument(fmt::format("{} must have one number for each of the {} rows, got {}", name, rows, w.size()));
    if (!w.allFinite() || w.minCoeff() < 0) throw InvalidArgument(fmt::format("{} must be finite and >= 0", name));
    if (!(w.maxCoeff() > 0)) throw InvalidArgument(fmt::format("{} must not all be 0", name));
  };
  check(o.weights_x, pooled.n, "weights_x");
  check(o.weights_y, pooled.m, "weights_y");
  if (o.weights_x.size() == 0 && o.weights_y.size() == 0) return {};
  Vector w = Vector::Ones(pooled.size());
  // Only ratios count; a largest weight of 1 keeps squares in range.
  if (o.weights_x.size() > 0) w.head(pooled.n) = o.weights_x / o.weights_x.maxCoeff();
  if (o.weights_y.size() > 0) w.tail(pooled.m) = o.weights_y / o.weights_y.maxCoeff();
  return w;
}

// mmd-u is a mean over pairs of different rows: a sample needs a pair whose weights are not lost beside the largest.
void require_two_weights(const Eigen::Ref<const Vector>& w, const char* name) {
  const double total = w.sum();
  if (!(total * total - w.squaredNorm() > 1e-12 * total * total))
    throw InvalidArgument(
        fmt::format("mmd-u needs at least two rows of positive weight in each sample, and {} gives all weight to one; "
                    "use mmd-b, or other weights",
                    name));
}

void require_fitting(const MmdOptions& o, MmdStatistic statistic, bool weighted) {
  const bool quadratic = statistic == MmdStatistic::u || statistic == MmdStatistic::b;
  if (weighted && !quadratic) throw InvalidArgument(fmt::format("weights go with mmd-u and mmd-b, not with {}", name_of(statistic)));
  if (o.method != MmdMethod::exact && !quadratic)
    throw InvalidArgument(
        fmt::format("random features and Nystrom are offered for mmd-u and mmd-b; {} takes method = exact", name_of(statistic)));
  if (o.block_size != 0 && statistic != MmdStatistic::block)
    throw InvalidArgument(fmt::format("block_size goes with mmd-block, got {} with {}", o.block_size, name_of(statistic)));
}

std::string sentence_of(const MmdEstimate& e) {
  std::string text = fmt::format("{} = {:.6g} between {} and {} rows under {}", e.statistic_name, e.squared, e.n, e.m, e.kernel);
  if (std::isfinite(e.deviation)) text += fmt::format(", standard error {:.2g}", e.deviation);
  if (!e.error_statement.empty()) text += "; " + e.error_statement;
  return text;
}

}  // namespace

MmdEstimate mmd(const Samples& X, const Samples& Y, const MmdOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  const MmdStatistic statistic = o.statistic == MmdStatistic::automatic ? MmdStatistic::u : o.statistic;
  const Pooled pooled = stats::pool(X, Y, o.kernel);
  const Vector weights = pooled_weights(o, pooled);
  require_fitting(o, statistic, weights.size() > 0);
  stats::require_sizes(statistic, pooled.n, pooled.m);
  if (statistic == MmdStatistic::u && weights.size() > 0) {
    require_two_weights(weights.head(pooled.n), "weights_x");
    require_two_weights(weights.tail(pooled.m), "weights_y");
  }

  MmdEstimate out;
  out.deviation = std::numeric_limits<double>::quiet_NaN();
  if (statistic == MmdStatistic::linear || statistic == MmdStatistic::block) {
    const stats::MeanOfBlocks mean = stats::mean_of(stats::block_values(pooled, statistic, o.block_size, o.run));
    out.squared = mean.value;
    out.deviation = mean.deviation;
  } else if (o.method != MmdMethod::exact) {
    const stats::FeatureEstimate found = stats::mmd_by_features(pooled, statistic, weights, o);
    out.squared = found.squared;
    out.error = found.error;
    out.error_statement = found.statement;
  } else {
    const SampleSums sums = stats::sample_sums(pooled, weights, o.run);
    const stats::Spread spread = stats::spread_of(pooled, sums, statistic, weights);
    out.squared = spread.squared;
    out.deviation = spread.deviation;
  }
  out.distance = std::sqrt(std::max(0.0, out.squared));
  out.statistic_name = name_of(statistic);
  out.kernel = pooled.kernel.text();
  out.n = pooled.n;
  out.m = pooled.m;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  out.sentence = sentence_of(out);
  return out;
}

}  // namespace mercer

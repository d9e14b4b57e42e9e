// SPDX-License-Identifier: BSD-3-Clause
#include "stats/aggregated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "mercer/run.hpp"

namespace mercer {

std::vector<std::string> AggregatedResult::rejecting() const {
  std::vector<const KernelVerdict*> found;
  for (const KernelVerdict& row : table) {
    if (row.rejected) found.push_back(&row);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const KernelVerdict* a, const KernelVerdict* b) { return a->p_value * b->weight < b->p_value * a->weight; });
  std::vector<std::string> names;
  for (const KernelVerdict* row : found) names.push_back(row->kernel_y.empty() ? row->kernel : row->kernel + ", " + row->kernel_y);
  return names;
}

namespace stats {

namespace {

// The B1 exchanges of one kernel.
class Ranks {
 public:
  Ranks(Vector draws, double tolerance) : draws_(std::move(draws)), tolerance_(tolerance) {
    std::sort(draws_.begin(), draws_.end(), std::greater<>());
    const double mean = draws_.mean();
    deviation_ = std::sqrt((draws_.array() - mean).square().mean());
  }

  Index at_least(double t) const {
    return std::upper_bound(draws_.begin(), draws_.end(), t - tolerance_, std::greater<>()) - draws_.begin();
  }
  double plain_p(double t) const { return (1.0 + static_cast<double>(at_least(t))) / total(); }
  double p(double t) const {
    const double plain = plain_p(t);
    const double beyond = t - tolerance_ - draws_[0];
    return beyond > 0 && deviation_ > 0 ? plain / (1 + beyond / deviation_) : plain;
  }
  // p(t) < limit iff t > threshold.
  double threshold(double limit) const {
    if (!(limit > 0)) return std::numeric_limits<double>::infinity();
    if (limit * total() <= 1)
      return deviation_ > 0 ? draws_[0] + tolerance_ + deviation_ * (1 / (limit * total()) - 1) : std::numeric_limits<double>::infinity();
    const auto most = static_cast<Index>(std::ceil(limit * total())) - 2;  // (1 + most) / total < limit
    return most >= draws_.size() ? -std::numeric_limits<double>::infinity() : draws_[most] + tolerance_;
  }
  // How far ties may drive p apart.
  double relative_tolerance() const { return deviation_ > 0 ? std::min(1.0, 2 * tolerance_ / deviation_) : 0; }

 private:
  double total() const { return 1.0 + static_cast<double>(draws_.size()); }

  Vector draws_;  // falling
  double tolerance_;
  double deviation_ = 0;
};

}  // namespace

Aggregation aggregate(const Matrix& T, Index quantile_draws, const Vector& weights, const Vector& tolerance, double level) {
  const Index kernels = T.cols();
  const Index level_draws = T.rows() - 1 - quantile_draws;
  std::vector<Ranks> ranks;
  double relative = 1e-12;
  for (Index k = 0; k < kernels; ++k) {
    ranks.emplace_back(T.col(k).segment(1, quantile_draws), tolerance[k]);
    relative = std::max(relative, ranks.back().relative_tolerance());
  }
  const auto smallest = [&](Index j) {
    double m = std::numeric_limits<double>::infinity();
    for (Index k = 0; k < kernels; ++k) m = std::min(m, ranks[static_cast<std::size_t>(k)].p(T(j, k)) / weights[k]);
    return m;
  };
  Vector m(level_draws);
  parallel_for(level_draws, [&](Index b) { m[b] = smallest(1 + quantile_draws + b); });
  const double observed = smallest(0);

  Aggregation a;
  const double slack = 1 + relative;
  const double total = 1.0 + static_cast<double>(level_draws);
  a.p_value = (1.0 + static_cast<double>((m.array() <= observed * slack).count())) / total;
  a.statistic = -std::log10(observed);
  a.null = -m.array().log10();
  a.tolerance = std::log10(slack);
  const auto most = static_cast<Index>(std::floor(level * total * (1 + 1e-12))) - 1;  // of the m_j may be below u
  if (most >= 0) {
    std::nth_element(m.begin(), m.begin() + most, m.end());
    a.correction = m[most] / slack;
  }
  a.p_values.resize(kernels);
  a.thresholds.resize(kernels);
  for (Index k = 0; k < kernels; ++k) {
    const Ranks& rank = ranks[static_cast<std::size_t>(k)];
    a.p_values[k] = rank.plain_p(T(0, k));
    a.thresholds[k] = rank.threshold(a.correction * weights[k]);
    a.rejected.push_back(rank.p(T(0, k)) / weights[k] < a.correction);
  }
  return a;
}

AggregatedResult aggregated_result(const Matrix& T, Index quantile_draws, const Vector& weights, const Vector& tolerance,
                                   const Vector& statistics, double level) {
  Aggregation a = aggregate(T, quantile_draws, weights, tolerance, level);
  AggregatedResult result;
  result.level = level;
  result.statistic = a.statistic;
  result.p_value = a.p_value;
  result.threshold = -std::log10(a.correction);
  result.draws = a.null.size();
  result.null = std::move(a.null);
  result.correction = a.correction;
  for (Index k = 0; k < T.cols(); ++k) {
    KernelVerdict row;
    row.weight = weights[k];
    row.statistic = statistics[k];
    row.threshold = a.thresholds[k];
    row.p_value = a.p_values[k];
    row.level = a.correction * weights[k];
    row.rejected = a.rejected[static_cast<std::size_t>(k)];
    result.table.push_back(std::move(row));
  }
  result.numbers = {{"level correction", a.correction}, {"quantile exchanges", static_cast<double>(quantile_draws)}};
  if (!(a.correction > 0))
    result.remarks.push_back(fmt::format("{} exchanges for the level are too few to reject at level {:g}: at least {:.0f} are needed",
                                         result.draws, level, std::ceil(1 / level - 1e-9) - 1));
  return result;
}

}  // namespace stats

}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/change_points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/segment_costs.hpp"

namespace mercer {

namespace {

using stats::SegmentBlock;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index at_a_time = 512;    // starts compared before one of them is looked for by its place
constexpr double slope_from = 0.6;  // the cost falls by noise alone from here on to the largest number of segments
constexpr Index fewest_levels = 5;  // for a slope
constexpr double over_slope = 2;    // the penalty is this many times the smallest that does not cut noise

// The smallest of before[s] + costs[s] over s = 0 .. count - 1, and the first place of it.
struct Best {
  double value = infinity;
  Index start = 0;
};
Best least(const double* before, const double* costs, Index count) {
  using Array = Eigen::Map<const Eigen::Array<double, Eigen::Dynamic, 1>>;
  Best best;
  Index part = 0;
  for (Index begin = 0; begin < count; begin += at_a_time) {
    const Index some = std::min(at_a_time, count - begin);
    const double value = (Array(before + begin, some) + Array(costs + begin, some)).minCoeff();
    if (value < best.value) {
      best.value = value;
      part = begin;
    }
  }
  if (best.value == infinity) return best;
  best.start = part;
  while (before[best.start] + costs[best.start] != best.value) ++best.start;
  return best;
}

// ---- every number of segments up to a limit

// cost(d, t): least cost of d segments of the first t rows; start(d, t): where the last of them begins.
struct Tables {
  Matrix cost;
  RowMatrix<std::int32_t> start;
};

Tables all_numbers(const Kernel& kernel, const Samples& series, Index segments, Index min_segment, const Run& run) {
  const Index n = series.size();
  require_memory(static_cast<std::size_t>(segments + 1) * static_cast<std::size_t>(n + 1) * 12, run.memory,
                 fmt::format("the tables of up to {} segments of {} rows", segments, n), "use a smaller max_changes, or a penalty");
  Tables t{Matrix::Constant(segments + 1, n + 1, infinity), RowMatrix<std::int32_t>::Zero(segments + 1, n + 1)};
  t.cost(0, 0) = 0;
  stats::for_each_segment_block(kernel, series, run, [&](const SegmentBlock& block) {
    const auto improve = [&](Index d, Index r, Index from, Index to) {  // starts from <= s < to
      if (to <= from) return;
      const Best best = least(&t.cost(d - 1, from), block.at(r) + from, to - from);
      const Index end = block.first + r + 1;
      if (best.value < t.cost(d, end)) {
        t.cost(d, end) = best.value;
        t.start(d, end) = static_cast<std::int32_t>(from + best.start);
      }
    };
    // Segments that begin before the block need tables that are complete; the few that begin within it go row by row.
    parallel_for(block.count, [&](Index r) {
      const Index to = std::min(block.first + 1, block.first + r + 2 - min_segment);
      for (Index d = 1; d <= segments; ++d) improve(d, r, 0, to);
    });
    for (Index r = 0; r < block.count; ++r) {
      for (Index d = 1; d <= segments; ++d) improve(d, r, block.first + 1, block.first + r + 2 - min_segment);
    }
    return Index{0};
  });
  return t;
}

std::vector<Index> cuts_of(const Tables& t, Index segments) {
  std::vector<Index> cuts;
  Index end = t.cost.cols() - 1;
  for (Index d = segments; d > 1; --d) cuts.push_back(end = t.start(d, end));
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

// ---- a penalty for each change

std::vector<Index> cuts_for_penalty(const Kernel& kernel, const Samples& series, double penalty, Index min_segment, const Run& run,
                                    double& cost) {
  const Index n = series.size();
  Vector total = Vector::Constant(n + 1, infinity);  // least cost + penalty of the first t rows, one penalty too many
  total[0] = 0;
  std::vector<Index> start(static_cast<std::size_t>(n + 1), 0);
  std::vector<Index> beaten(static_cast<std::size_t>(n + 1), n);  // when it was found that a start leads to no better end
  stats::for_each_segment_block(kernel, series, run, [&](const SegmentBlock& block) {
    for (Index r = 0; r < block.count; ++r) {
      const Index end = block.first + r + 1;
      const Index starts = end - min_segment + 1 - block.oldest;
      if (starts <= 0) continue;
      const double* before = total.data() + block.oldest;
      const Best best = least(before, block.at(r), starts);
      if (best.value == infinity) continue;
      total[end] = best.value + penalty;
      start[static_cast<std::size_t>(end)] = block.oldest + best.start;
      // Cutting never costs: what begins at s and is worse here than what ends here stays worse for all later ends.
      for (Index s = 0; s < starts; ++s) {
        Index& when = beaten[static_cast<std::size_t>(block.oldest + s)];
        if (when == n && before[s] + block.at(r)[s] > total[end]) when = end;
      }
    }
    Index oldest = block.oldest;
    const Index now = block.first + block.count;
    while (oldest < now && beaten[static_cast<std::size_t>(oldest)] + min_segment <= now) ++oldest;
    return oldest;
  });
  std::vector<Index> cuts;
  for (Index end = n; (end = start[static_cast<std::size_t>(end)]) > 0;) cuts.push_back(end);
  std::reverse(cuts.begin(), cuts.end());
  cost = total[n] - penalty * static_cast<double>(cuts.size() + 1);
  return cuts;
}

// ---- how many

Vector penalty_shape(Index n, Index segments) {
  Vector shape(segments);
  for (Index d = 1; d <= segments; ++d) {
    const double ways =
        std::lgamma(static_cast<double>(n)) - std::lgamma(static_cast<double>(d)) - std::lgamma(static_cast<double>(n - d + 1));
    shape[d - 1] = ways + static_cast<double>(d);
  }
  return shape;
}

// Least squares of the costs on the shape where the number of segments is large.
double slope_of(const Vector& costs, const Vector& shape) {
  const auto first = static_cast<Index>(std::ceil(slope_from * static_cast<double>(costs.size()))) - 1;
  const Index count = costs.size() - first;
  const Vector x = shape.tail(count).array() - shape.tail(count).mean();
  const Vector y = costs.tail(count).array() - costs.tail(count).mean();
  return std::max(0.0, -x.dot(y) / x.squaredNorm());
}

Index choose(ChangePoints& found, double scale) {
  const Vector shape = penalty_shape(found.n, found.costs.size());
  found.penalty = over_slope * slope_of(found.costs, shape);
  found.criterion = found.costs + found.penalty * shape;
  // Of a series without noise the cost is 0 from the true number on, up to rounding: the smallest number counts.
  const double enough = found.criterion.minCoeff() + 1e-12 * scale;
  Index segments = 1;
  while (found.criterion[segments - 1] > enough) ++segments;
  if (static_cast<double>(segments) > slope_from * static_cast<double>(found.costs.size()))
    found.remarks.push_back(fmt::format("{} segments are near the largest number looked at, {}: a larger max_changes may find more",
                                        segments, found.costs.size()));
  return segments;
}

Index segments_looked_at(const ChangePointOptions& o, Index n) {
  if (o.changes) return *o.changes + 1;
  const Index wanted = o.max_changes > 0 ? o.max_changes + 1 : std::clamp<Index>(n / 20, 10, 100);
  const Index possible = n / (2 * o.min_segment);  // with fewer rows a segment there is no freedom left, and no slope to see
  if (possible < fewest_levels)
    throw InvalidArgument(
        fmt::format("choosing the number of changes needs at least {} rows for min_segment = {}, got {}; give changes or penalty",
                    2 * fewest_levels * o.min_segment, o.min_segment, n));
  return std::min(std::max(wanted, fewest_levels), possible);
}

void check(const Samples& series, const ChangePointOptions& o) {
  const Index n = series.size();
  if (o.min_segment < 1) throw InvalidArgument(fmt::format("min_segment must be >= 1, got {}", o.min_segment));
  if (n < 2 * o.min_segment)
    throw InvalidArgument(fmt::format("a series with a change needs at least {} rows (two segments of min_segment = {}), got {}",
                                      2 * o.min_segment, o.min_segment, n));
  if (o.changes && o.penalty) throw InvalidArgument("changes and penalty are two ways to say how many; give one of them");
  if (o.changes && (*o.changes < 0 || *o.changes + 1 > n / o.min_segment))
    throw InvalidArgument(fmt::format("changes must be from 0 to {} for {} rows and min_segment = {}, got {}", n / o.min_segment - 1, n,
                                      o.min_segment, *o.changes));
  if (o.penalty && !(*o.penalty > 0 && std::isfinite(*o.penalty)))
    throw InvalidArgument(fmt::format("penalty must be a finite number > 0, got {}", *o.penalty));
  if (o.max_changes < 0) throw InvalidArgument(fmt::format("max_changes must be >= 0 (0: chosen), got {}", o.max_changes));
  if (o.kernel.psd() == Verdict::no)
    throw InvalidArgument(fmt::format("segments need a positive semi-definite kernel, and {} is not", o.kernel.text()));
}

// mmd-b of the rows on both sides of each cut, up to the neighbouring cuts.
void measure(ChangePoints& found, const std::vector<Index>& cuts, const Kernel& kernel, const Samples& series, const Run& run) {
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    const Index begin = c == 0 ? 0 : cuts[c - 1];
    const Index end = c + 1 < cuts.size() ? cuts[c + 1] : found.n;
    const auto left = static_cast<double>(cuts[c] - begin);
    const auto right = static_cast<double>(end - cuts[c]);
    Vector signs(end - begin);
    signs << Vector::Constant(cuts[c] - begin, 1 / left), Vector::Constant(end - cuts[c], -1 / right);
    const auto op = gram_operator(
        kernel, series.slice(begin, end - begin),
        {.precision = Precision::float64, .storage = Storage::streamed, .run = {.threads = run.threads, .memory = run.memory}});
    const double squared = std::max(0.0, signs.dot(Vector(op->apply(signs))));
    found.changes.push_back({cuts[c], squared * left * right / (left + right), squared});
  }
}

std::string how(const ChangePoints& found) {
  if (found.method == "given") return "their number given";
  return found.method == "penalty" ? fmt::format("penalty {:g} for each", found.penalty)
                                   : fmt::format("chosen among up to {} by the slope of the cost", found.costs.size() - 1);
}

}  // namespace

std::vector<Index> ChangePoints::positions() const {
  std::vector<Index> out;
  for (const ChangePoint& c : changes) out.push_back(c.position);
  return out;
}

ChangePoints change_points(const Samples& given, const ChangePointOptions& o) {
  const auto began = std::chrono::steady_clock::now();
  check(given, o);
  require_finite(given, "the series");
  const Samples series = as_given(o.kernel, given);
  const Kernel kernel = resolve(o.kernel, series);
  ChangePoints found;
  found.n = series.size();
  found.min_segment = o.min_segment;
  found.kernel = kernel.text();
  found.method = o.changes ? "given" : o.penalty ? "penalty" : "slope";
  std::vector<Index> cuts;
  with_run(o.run, [&] {
    if (o.penalty) {
      found.penalty = *o.penalty;
      cuts = cuts_for_penalty(kernel, series, *o.penalty, o.min_segment, o.run, found.cost);
    } else {
      const Index most = segments_looked_at(o, found.n);
      const Tables tables = all_numbers(kernel, series, most, o.min_segment, o.run);
      found.costs = tables.cost.col(found.n).tail(most);
      const Index segments = o.changes ? most : choose(found, gram_diagonal(kernel, series).cwiseAbs().sum());
      cuts = cuts_of(tables, segments);
      found.cost = found.costs[segments - 1];
    }
    measure(found, cuts, kernel, series, o.run);
  });
  if (kernel.is_characteristic() == Verdict::no)
    found.remarks.push_back(fmt::format("the kernel {} is not characteristic: there are changes that it cannot see{}", kernel.text(),
                                        kernel.looks_at_objects() ? "" : "; gaussian(auto) sees them all"));
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const std::string places =
      cuts.empty() ? "" : fmt::format(", before row{} {} (from 0)", cuts.size() == 1 ? "" : "s", fmt::join(cuts, ", "));
  found.sentence = fmt::format("{} change{} in {} rows{}; {}", cuts.empty() ? "no" : fmt::format("{}", cuts.size()),
                               cuts.size() == 1 ? "" : "s", found.n, places, how(found));
  return found;
}

}  // namespace mercer

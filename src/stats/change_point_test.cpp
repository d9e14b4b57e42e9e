// Is there any change in a series? The best single cut, against the best cuts of the rows in other orders.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "core/buffer.hpp"
#include "mercer/change_points.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/exchanges.hpp"
#include "stats/segment_costs.hpp"
#include "stats/test_result.hpp"

namespace mercer {

namespace {

struct Cut {
  double gain = -std::numeric_limits<double>::infinity();
  Index position = 0;
};

// first[t]: the sum of k over all pairs of the first t + 1 rows, rows[t]: that of their rows with all rows; total: of all pairs.
Cut best_cut(const Vector& first, const Vector& rows, Index min_segment) {
  const Index n = first.size();
  const double total = first[n - 1];
  Cut best;
  for (Index t = min_segment; t <= n - min_segment; ++t) {
    const double left = first[t - 1];
    const double right = total - 2 * rows[t - 1] + left;
    const double gain = left / static_cast<double>(t) + right / static_cast<double>(n - t) - total / static_cast<double>(n);
    if (gain > best.gain) best = {gain, t};
  }
  return best;
}

// K in any order of its rows: one row of K is gathered at a time, which stays in the cache.
Cut best_cut(const Buffer<float>& K, const Vector& row_sums, std::span<const Index> order, Index min_segment) {
  const auto n = std::ssize(order);
  Vector first(n);
  Vector rows(n);
  double pairs = 0;
  double sums = 0;
  for (Index t = 0; t < n; ++t) {
    const Index row = order[static_cast<std::size_t>(t)];
    const float* values = K.data() + row * n;
    double with_earlier = 0;
    for (Index j = 0; j < t; ++j) with_earlier += static_cast<double>(values[order[static_cast<std::size_t>(j)]]);
    first[t] = pairs += 2 * with_earlier + static_cast<double>(values[row]);
    rows[t] = sums += row_sums[row];
  }
  return best_cut(first, rows, min_segment);
}

// The same in float64, from segments that begin at row 0 and those that end at the last one.
Cut exact_cut(const Kernel& kernel, const Samples& series, Index min_segment, const Run& run) {
  const Index n = series.size();
  Vector left(n);
  Vector right(n);
  stats::for_each_segment_block(kernel, series, run, [&](const stats::SegmentBlock& block) {
    for (Index r = 0; r < block.count; ++r) left[block.first + r] = block.at(r)[0];
    if (block.first + block.count == n) right = Eigen::Map<const Vector>(block.at(block.count - 1), n);
    return Index{0};
  });
  Cut best;
  for (Index t = min_segment; t <= n - min_segment; ++t) {
    const double gain = left[n - 1] - left[t - 1] - right[t];
    if (gain > best.gain) best = {gain, t};
  }
  return best;
}

}  // namespace

TestResult change_point_test(const Samples& given, const ChangePointTestOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  const Index n = given.size();
  stats::require_level(o.level);
  if (o.min_segment < 1) throw InvalidArgument(fmt::format("min_segment must be >= 1, got {}", o.min_segment));
  if (n < 2 * o.min_segment)
    throw InvalidArgument(fmt::format("a series with a change needs at least {} rows, got {}", 2 * o.min_segment, n));
  if (o.permutations < 1) throw InvalidArgument(fmt::format("permutations must be >= 1, got {}", o.permutations));
  if (o.exchange.scheme != Exchange::free && o.exchange.scheme != Exchange::blocks)
    throw InvalidArgument(fmt::format("a series takes free exchanges or blocks, got {}", name_of(o.exchange.scheme)));
  if (o.kernel.psd() == Verdict::no)
    throw InvalidArgument(fmt::format("segments need a positive semi-definite kernel, and {} is not", o.kernel.text()));
  require_finite(given, "the series");
  require_memory(static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * 4, o.run.memory,
                 fmt::format("the {0} x {0} Gram matrix in float32", n), "test fewer rows");
  const stats::Exchanges exchanges(n, n, o.exchange, o.seed);
  const Samples series = as_given(o.kernel, given);
  const Kernel kernel = resolve(o.kernel, series);

  TestResult result;
  result.test = "change point";
  result.statistic_name = "max-gain";
  result.method = "permutation";
  result.level = o.level;
  result.n = n;
  result.seed = o.seed;
  result.kernels = {kernel.text()};
  Cut observed;
  Vector null(o.permutations);
  with_threads(o.run.threads, [&] {
    const Cut exact = exact_cut(kernel, series, o.min_segment, o.run);
    result.statistic = exact.gain;
    result.numbers = {{"position", static_cast<double>(exact.position)}};
    Buffer<float> K(static_cast<std::size_t>(n * n));
    gram_into(kernel, series, series, K.data(), n, {.memory = o.run.memory});
    const Vector row_sums = Eigen::Map<const MatrixF>(K.data(), n, n).cast<double>().rowwise().sum();
    std::vector<Index> as_they_are(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) as_they_are[static_cast<std::size_t>(i)] = i;
    observed = best_cut(K, row_sums, as_they_are, o.min_segment);
    Stage stage(o.run.progress, "Permutations", static_cast<double>(o.permutations));
    parallel_for(o.permutations, [&](Index b) {
      std::vector<Index> order(static_cast<std::size_t>(n));
      exchanges.draw(b, order);
      null[b] = best_cut(K, row_sums, order, o.min_segment).gain;
      stage.advance(1);
    });
  });
  // The sums of all orders are over the same numbers, in float64: they differ by rounding of what adds up to trace(K).
  const double rounding = 1e-11 * gram_diagonal(kernel, series).cwiseAbs().sum();
  stats::judge_by_exchanges(result, observed.gain, std::move(null), rounding);
  result.exact = o.exchange.scheme == Exchange::free;
  result.description =
      exchanges.describe(o.permutations) + (result.exact ? ", exact level for independent rows" : ", level right for long series");
  stats::remark_on_kernel(result, kernel, "change");
  stats::conclude(result, fmt::format("the series changes, most clearly before row {:g} (from 0),", result.numbers[0].second),
                  "no change is seen in the series", start);
  return result;
}

}  // namespace mercer

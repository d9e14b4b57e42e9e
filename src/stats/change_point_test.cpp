// Is there any change in a series? The best single cut, against the best cuts of the rows in other orders.
//
// The gain of a cut is a form v'K v of a vector that adds up to 0 and has length 1, so HKH has the same gains as K. HKH is what is kept, in
// float32: where the rows are far from 0 beside their differences, K would be rounded by more than these. Centred in float64.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "gram/tile_memory.hpp"
#include "mercer/change_points.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/exchanges.hpp"
#include "stats/permuted_products.hpp"
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
Cut best_cut(const stats::FullGram& K, const Vector& row_sums, std::span<const Index> order, Index min_segment) {
  const auto n = std::ssize(order);
  Vector first(n);
  Vector rows(n);
  double pairs = 0;
  double sums = 0;
  for (Index t = 0; t < n; ++t) {
    const Index row = order[static_cast<std::size_t>(t)];
    const float* values = K.row(row);
    double with_earlier = 0;
    for (Index j = 0; j < t; ++j) with_earlier += static_cast<double>(values[order[static_cast<std::size_t>(j)]]);
    first[t] = pairs += 2 * with_earlier + static_cast<double>(values[row]);
    rows[t] = sums += row_sums[row];
  }
  Cut best = best_cut(first, rows, min_segment);
  best.gain /= K.scale();
  return best;
}

// The same in float64: the sums of each row of HKH with those before it, tile after tile.
Cut exact_cut(const PreparedFamily<double>& kernel, const stats::Centre& centre, Index min_segment, const Run& run) {
  const Index n = kernel.size();
  const Index blocks = block_count(n);
  Vector earlier = Vector::Zero(n);
  Stage stage(run.progress, "Segments", static_cast<double>(blocks));
  parallel_for(blocks, [&](Index block) {
    const Range I = block_range(block, n);
    TileMemory<double> memory;
    for (Index other = 0; other <= block; ++other) {
      const Range J = block_range(other, n);
      kernel.tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t, simd::Tile<double> tile) {
        for (Index i = 0; i < I.count; ++i) {
          double sum = 0;
          for (Index j = 0; j < std::min(J.count, I.begin + i - J.begin); ++j) sum += centre(tile.row(i)[j], I.begin + i, J.begin + j);
          earlier[I.begin + i] += sum;
        }
      });
    }
    stage.advance(1);
  });
  Vector first(n);
  double pairs = 0;
  for (Index t = 0; t < n; ++t) first[t] = pairs += 2 * earlier[t] + centre(kernel.diagonal(0)[t], t, t);
  return best_cut(first, Vector::Zero(n), min_segment);  // rows of HKH add up to 0
}

double deviation_of(const Vector& values) {
  return std::sqrt((values.array() - values.mean()).square().sum() / static_cast<double>(std::max<Index>(1, values.size() - 1)));
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
  double square = 0;  // mean of k(x, x)
  double rounding = 0;
  with_run(o.run, [&] {
    const PreparedFamily<double> family({kernel}, series);
    const std::vector<stats::Centre> centres = stats::centres_of(family, stats::Centring::whole, o.run);
    if (!centres[0].offsets.allFinite()) throw InvalidArgument("kernel values overflow; scale the data");
    const Cut exact = exact_cut(family, centres[0], o.min_segment, o.run);
    result.statistic = exact.gain;
    result.numbers = {{"position", static_cast<double>(exact.position)}};
    const stats::FullGram K = std::move(stats::full_grams(family, centres, o.run)[0]);
    Vector row_sums(n);
    for (Index i = 0; i < n; ++i) row_sums[i] = Eigen::Map<const Eigen::VectorXf>(K.row(i), n).cast<double>().sum();
    square = family.diagonal(0).cwiseAbs().mean();
    // Equal rows may be centred to numbers that float32 rounds differently: v'K v with v of length 1 then moves in proportion to the mean
    // of the diagonal at most.
    rounding = stats::tie_tolerance(K.diagonal().cwiseAbs().mean()) + 2e-16 * static_cast<double>(n) * square;
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
  if (o.permutations > 1 && square > 0 && 1e-14 * square > deviation_of(null)) stats::remark_on_rounding(result);
  stats::judge_by_exchanges(result, observed.gain, std::move(null), rounding);
  result.exact = o.exchange.scheme == Exchange::free;
  result.description =
      exchanges.describe(o.permutations) + (result.exact ? ", exact level for independent rows" : ", level right for long series");
  stats::remark_on_exchanges(result, exchanges.log_count());
  stats::remark_on_kernel(result, kernel, series, "change");
  stats::conclude(result, fmt::format("the series changes, most clearly before row {:g} (from 0),", result.numbers[0].second),
                  "no change is seen in the series", start);
  return result;
}

}  // namespace mercer

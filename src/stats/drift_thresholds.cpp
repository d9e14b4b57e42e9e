// SPDX-License-Identifier: BSD-3-Clause
#include "stats/drift_thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/gram.hpp"
#include "mercer/random.hpp"

namespace mercer::stats {

namespace {

constexpr Index streams_at_a_time = 64;

// The value that as many of the survivors exceed as the rate allows; those that exceed it are survivors no longer.
double next_threshold(const Matrix& statistics, Index step, double run_length, std::vector<Index>& survivors) {
  const auto alarms = static_cast<std::ptrdiff_t>(std::floor(static_cast<double>(survivors.size()) / run_length));
  const auto larger = [&](Index a, Index b) { return statistics(a, step) > statistics(b, step); };
  std::nth_element(survivors.begin(), survivors.begin() + alarms, survivors.end(), larger);
  const double threshold = statistics(survivors[static_cast<std::size_t>(alarms)], step);
  survivors.erase(survivors.begin(), survivors.begin() + alarms);
  return threshold;
}

}  // namespace

void drift_statistics(const Matrix& K, const Vector& row_sums, double pairs, const std::vector<Index>& stream, Index window, double* out) {
  const auto length = std::ssize(stream);
  const auto others = static_cast<double>(K.rows() - length);
  const auto w = static_cast<double>(window);
  Matrix S = Matrix::Zero(length, length);
  Vector means = Vector::Zero(length);  // of k with the reference
  for (Index i = 0; i < length; ++i) {
    const double* row = K.data() + stream[static_cast<std::size_t>(i)] * K.cols();
    for (Index j = 0; j < length; ++j) S(i, j) = row[stream[static_cast<std::size_t>(j)]];
    means[i] = (row_sums[stream[static_cast<std::size_t>(i)]] - S.row(i).sum()) / others;
  }
  const double within_reference = pairs - 2 * means.sum() * others - (S.sum() - S.trace());
  const double reference = within_reference / (others * (others - 1));
  double within = S.topLeftCorner(window, window).sum() - S.diagonal().head(window).sum();
  double across = means.head(window).sum();
  for (Index step = 0;; ++step) {
    out[step] = reference + within / (w * (w - 1)) - 2 * across / w;
    if (step + window == length) return;
    // The oldest row leaves, then the next one comes.
    within += 2 * (S.row(step + window).segment(step + 1, window - 1).sum() - S.row(step).segment(step + 1, window - 1).sum());
    across += means[step + window] - means[step];
  }
}

Vector drift_thresholds(const Kernel& kernel, const Samples& reference, Index window, double run_length, Index simulations,
                        std::uint64_t seed, const Run& run) {
  const Index n = reference.size();
  require_memory(static_cast<std::size_t>(n * n + simulations * window) * 8, run.memory,
                 fmt::format("{} simulations on a reference of {} rows", simulations, n),
                 "use a smaller max_reference, window or expected_run_length");
  const Matrix K = gram(kernel, reference, {.run = run});
  const Vector row_sums = K.rowwise().sum();
  const double pairs = row_sums.sum() - K.trace();
  Matrix statistics(simulations, window);
  Stage stage(run.progress, "Simulated streams", static_cast<double>(simulations));
  parallel_for((simulations + streams_at_a_time - 1) / streams_at_a_time, [&](Index part) {
    const Index end = std::min(simulations, (part + 1) * streams_at_a_time);
    for (Index b = part * streams_at_a_time; b < end; ++b) {
      const std::vector<Index> stream = RandomStream(seed, 1 + static_cast<std::uint64_t>(b)).sample(n, 2 * window - 1);
      drift_statistics(K, row_sums, pairs, stream, window, &statistics(b, 0));
      stage.advance(1);
    }
  });
  std::vector<Index> survivors(static_cast<std::size_t>(simulations));
  std::iota(survivors.begin(), survivors.end(), Index{0});
  Vector thresholds = Vector::Zero(window);
  for (Index step = 0; step < window; ++step) thresholds[step] = next_threshold(statistics, step, run_length, survivors);
  // By then every row of the first window has left or nearly so, and the thresholds differ by the luck of the simulations alone.
  thresholds[window - 1] = thresholds.tail((window + 1) / 2).mean();
  return thresholds;
}

}  // namespace mercer::stats

// Landmarks: uniform rows, k-means centres, randomly pivoted Cholesky, approximate ridge leverage scores.
//
// All but uniform look at a pool of at most max(10000, 10 m) rows, a uniform sample, so their cost does not grow with n. The draws depend
// on the seed and the number of rows alone, so rows in memory and rows in a file give the same landmarks. SPDX-License-Identifier:
// BSD-3-Clause
#include "models/landmarks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gram/length_scale.hpp"
#include "gram/pivoted_cholesky.hpp"
#include "kernels/node.hpp"
#include "linalg/triangular.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "solvers/kmeans.hpp"

namespace mercer {

namespace {

constexpr Index probe_rows = 2048;
constexpr std::uint64_t pool_stream = 0x706f6f6c;
constexpr std::uint64_t probe_stream = 0x70726f6265;
constexpr std::uint64_t choice_stream = 0x63686f696365;

std::vector<Index> sample_sorted(Index n, Index k, std::uint64_t seed, std::uint64_t stream) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  if (k >= n) {
    std::iota(rows.begin(), rows.end(), Index{0});
    return rows;
  }
  rows = RandomStream(seed, stream).sample(n, k);
  std::sort(rows.begin(), rows.end());
  return rows;
}

Samples pick(const Samples& gathered, const std::vector<Index>& all, const std::vector<Index>& wanted) {
  std::vector<Index> places;
  places.reserve(wanted.size());
  for (const Index row : wanted) places.push_back(std::lower_bound(all.begin(), all.end(), row) - all.begin());
  return gathered.subset(places);
}

// m of the pool, with chances proportional to the scores, without replacement: the m first of exponential clocks.
std::vector<Index> draw_by(const Vector& scores, Index m, std::uint64_t seed) {
  RandomStream random(seed, choice_stream);
  std::vector<std::pair<double, Index>> clocks;
  for (Index i = 0; i < scores.size(); ++i) clocks.emplace_back(-std::log1p(-random.uniform()) / scores[i], i);
  std::nth_element(clocks.begin(), clocks.begin() + m - 1, clocks.end());
  std::vector<Index> chosen;
  for (Index i = 0; i < m; ++i) chosen.push_back(clocks[static_cast<std::size_t>(i)].second);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Landmarks rows_of_pool(const DrawnRows& drawn, const std::vector<Index>& chosen, LandmarkMethod method) {
  Landmarks landmarks{drawn.pool.subset(chosen), {}, name_of(method)};
  for (const Index i : chosen) landmarks.rows.push_back(drawn.pool_rows[static_cast<std::size_t>(i)]);
  return landmarks;
}

Landmarks kmeans_landmarks(const DrawnRows& drawn, Index m, const FalkonOptions& options) {
  if (drawn.pool.is_sparse() || drawn.pool.is_given() || drawn.pool.has_objects())
    throw InvalidArgument("k-means landmarks need dense rows of numbers; use uniform, leverage or rpcholesky");
  const solvers::KMeans centres = solvers::kmeans(drawn.pool.to_dense(), m, {.seed = options.seed, .progress = options.run.progress});
  Samples samples =
      drawn.pool.precision() == Precision::float32 ? Samples(MatrixF(centres.centres.cast<float>())) : Samples(centres.centres);
  return {std::move(samples), {}, name_of(LandmarkMethod::kmeans)};
}

Landmarks leverage_landmarks(const Kernel& kernel, const DrawnRows& drawn, double alpha, Index n, Index m, const FalkonOptions& options) {
  const Index pool = drawn.pool.size();
  const std::vector<Index> subset = sample_sorted(pool, std::min(m, pool / 2 + 1), options.seed, choice_stream + 1);
  const Vector scores = approximate_leverage(kernel, drawn.pool, subset, alpha, n, options.run);
  return rows_of_pool(drawn, draw_by(scores, m, options.seed), LandmarkMethod::leverage);
}

// Fewer than m where the kernel matrix of the pool is exhausted before.
Landmarks rpcholesky_landmarks(const Kernel& kernel, const DrawnRows& drawn, Index m, const FalkonOptions& options) {
  PivotedCholesky factor = pivoted_cholesky(
      kernel, drawn.pool, {.rank = m, .tolerance = 1e-14, .seed = options.seed, .progress = options.run.progress}, options.run.memory);
  std::sort(factor.pivots.begin(), factor.pivots.end());
  return rows_of_pool(drawn, factor.pivots, LandmarkMethod::rpcholesky);
}

}  // namespace

const char* name_of(LandmarkMethod method) {
  switch (method) {
    case LandmarkMethod::kmeans:
      return "kmeans";
    case LandmarkMethod::rpcholesky:
      return "rpcholesky";
    case LandmarkMethod::leverage:
      return "leverage";
    default:
      return "uniform";
  }
}

void require_no_white_noise(const Kernel& kernel) {
  if (looks_at(kernel, Reduction::same))
    throw InvalidArgument(
        fmt::format("{} has white noise, which landmarks cannot carry: a row meets itself only where it is a landmark; take the white part "
                    "out, the penalty alpha plays its part",
                    kernel.text()));
}

DrawnRows draw_rows(const RowSource& source, const FalkonOptions& options, bool wants_length_scale) {
  const Index n = source.rows();
  const Index m = std::min(n, options.n_landmarks);
  std::vector<Index> pool;
  if (!options.given_landmarks) {
    const bool uniform = options.landmarks == LandmarkMethod::uniform || m == n;
    pool = sample_sorted(n, uniform ? m : std::max<Index>(10000, 10 * m), options.seed, pool_stream);
  }
  const std::vector<Index> scale_rows = wants_length_scale ? length_scale_rows(n) : std::vector<Index>();
  const std::vector<Index> probe = sample_sorted(n, probe_rows, options.seed, probe_stream);
  std::vector<Index> all = pool;
  all.insert(all.end(), scale_rows.begin(), scale_rows.end());
  all.insert(all.end(), probe.begin(), probe.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const double row_bytes = 8.0 * static_cast<double>(source.width());
  require_memory(static_cast<std::size_t>(2 * row_bytes * static_cast<double>(all.size())), options.run.memory,
                 fmt::format("the {} rows that landmarks are chosen from", all.size()), "use fewer landmarks, or uniform ones");
  const Samples gathered = gather(source, all);
  DrawnRows drawn;
  if (!pool.empty()) drawn.pool = pick(gathered, all, pool);
  if (!scale_rows.empty()) drawn.for_length_scale = pick(gathered, all, scale_rows);
  drawn.probe = pick(gathered, all, probe);
  drawn.pool_rows = std::move(pool);
  return drawn;
}

Vector approximate_leverage(const Kernel& kernel, const Samples& X, std::span<const Index> subset, double alpha, Index total_rows,
                            const Run& run) {
  const Samples J = X.subset(subset);
  const Vector diagonal = gram_diagonal(kernel, X);
  const double floor = 1e-10 * std::max(diagonal.sum() / static_cast<double>(X.size()), 1e-300) * static_cast<double>(total_rows);
  const double ridge = std::max(alpha, floor);  // alpha = 0 would make all scores equal to 1
  const double share = static_cast<double>(subset.size()) / static_cast<double>(total_rows);
  const std::optional<Matrix> L = linalg::cholesky_lower(gram(kernel, J, {.run = run}), ridge * share, run.progress);
  if (!L)
    throw InvalidArgument(fmt::format("{} is not positive definite on the rows: leverage scores need a kernel that is", kernel.text()));
  Vector scores(X.size());
  X.for_each_chunk(4096, [&](const Samples& chunk, Index first) {
    Matrix explained = gram(kernel, J, chunk, {.run = run});
    linalg::solve_lower(*L, explained);
    const Vector left = diagonal.segment(first, chunk.size()) - explained.colwise().squaredNorm().transpose();
    scores.segment(first, chunk.size()) = (left / ridge).cwiseMax(1e-12).cwiseMin(1.0);
  });
  return scores;
}

Landmarks choose_landmarks(const Kernel& kernel, const DrawnRows& drawn, double alpha, Index total_rows, const FalkonOptions& options) {
  if (options.given_landmarks) return {*options.given_landmarks, {}, "given"};
  const Index m = std::min(drawn.pool.size(), options.n_landmarks);
  if (options.landmarks == LandmarkMethod::uniform || m == drawn.pool.size())
    return {drawn.pool, drawn.pool_rows, m == total_rows ? "all rows" : "uniform"};
  switch (options.landmarks) {
    case LandmarkMethod::kmeans:
      return kmeans_landmarks(drawn, m, options);
    case LandmarkMethod::leverage:
      return leverage_landmarks(kernel, drawn, alpha, total_rows, m, options);
    default:
      return rpcholesky_landmarks(kernel, drawn, m, options);
  }
}

}  // namespace mercer

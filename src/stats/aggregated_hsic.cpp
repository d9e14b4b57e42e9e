// The aggregated independence test: hsic of all pairs of kernels under the same permutations, by one pass over permuted Gram matrices.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gram/tile_memory.hpp"
#include "mercer/aggregated_tests.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/aggregated.hpp"
#include "stats/aggregated_kernels.hpp"
#include "stats/permuted_products.hpp"
#include "stats/test_result.hpp"

namespace mercer {

namespace {

using stats::Centre;

constexpr Index most_parts = 16;  // partial sums: a number of the problem alone, never of the threads

// Centred Gram matrices of one variable: the kernels bound to it, and what is taken from their entries.
struct Variable {
  PreparedFamily<double> family;
  std::vector<Centre> centres;

  Variable(const std::vector<Kernel>& kernels, const Samples& X, const Run& run)
      : family(kernels, X), centres(stats::centres_of(family, stats::Centring::whole, run)) {}

  bool varies(Index kernel, const Vector& mean_squares) const {
    constexpr double rounding = 1000 * std::numeric_limits<double>::epsilon();
    return std::sqrt(mean_squares[kernel]) > rounding * centres[static_cast<std::size_t>(kernel)].offsets.cwiseAbs().maxCoeff();
  }

  // One centred tile a row.
  Matrix tiles(Range I, Range J) const {
    Matrix out(static_cast<Index>(family.count()), I.count * J.count);
    TileMemory<double> memory;
    family.tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t k, simd::Tile<double> tile) {
      for (Index i = 0; i < I.count; ++i) {
        for (Index j = 0; j < J.count; ++j)
          out(static_cast<Index>(k), i * J.count + j) = centres[k](tile.row(i)[j], I.begin + i, J.begin + j);
      }
    });
    return out;
  }
};

// In float64, as observed: hsic of every pair, and the mean squares of the centred entries.
struct Observed {
  Matrix hsic{};  // kernels of X x kernels of Y
  Vector squares_x{};
  Vector squares_y{};
};

Observed observe(const Variable& x, const Variable& y, const Run& run) {
  const Index n = x.family.size();
  const Index blocks = block_count(n);
  const Index tiles = upper_count(blocks);
  const Index parts = std::min(tiles, most_parts);
  const auto nx = static_cast<Index>(x.family.count());
  const auto ny = static_cast<Index>(y.family.count());
  std::vector<Observed> sums(static_cast<std::size_t>(parts), {Matrix::Zero(nx, ny), Vector::Zero(nx), Vector::Zero(ny)});
  with_run(run, [&] {
    Stage stage(run.progress, "Kernel sums", static_cast<double>(tiles));
    parallel_for(parts, [&](Index part) {
      Observed& sum = sums[static_cast<std::size_t>(part)];
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const double times = pair.row == pair.col ? 1 : 2;
        const Matrix K = x.tiles(block_range(pair.row, n), block_range(pair.col, n));
        const Matrix L = y.tiles(block_range(pair.row, n), block_range(pair.col, n));
        sum.hsic += times * K * L.transpose();
        sum.squares_x += times * K.rowwise().squaredNorm();
        sum.squares_y += times * L.rowwise().squaredNorm();
        stage.advance(1);
      }
    });
  });
  for (std::size_t p = 1; p < sums.size(); ++p) {
    sums[0].hsic += sums[p].hsic;
    sums[0].squares_x += sums[p].squares_x;
    sums[0].squares_y += sums[p].squares_y;
  }
  const double pairs = static_cast<double>(n) * static_cast<double>(n);
  return {sums[0].hsic / pairs, sums[0].squares_x / pairs, sums[0].squares_y / pairs};
}

void require_pairs(const Samples& X, const Samples& Y, const HsicAggregatedOptions& o) {
  stats::require_level(o.level);
  if (X.size() != Y.size())
    throw InvalidArgument(
        fmt::format("X and Y must have the same number of rows, one pair of observations each, got {} and {}", X.size(), Y.size()));
  if (X.size() < 4) throw InvalidArgument(fmt::format("an independence test needs at least 4 rows, got {}", X.size()));
  if (std::min(o.permutations, o.level_permutations) < 1)
    throw InvalidArgument(fmt::format("permutations must be >= 1, got {}", std::min(o.permutations, o.level_permutations)));
  if (o.exchange.scheme == Exchange::pairs)
    throw InvalidArgument("exchanges of pairs are for two samples; an independence test permutes the rows of Y: choose another scheme");
  require_finite(X, "X");
  require_finite(Y, "Y");
}

Vector pair_weights(const HsicAggregatedOptions& o, const stats::KernelCollection& x, const stats::KernelCollection& y) {
  const auto count = static_cast<Index>(x.kernels.size() * y.kernels.size());
  if (o.weights.size() > 0) return stats::scaled_weights(o.weights, count);
  const Matrix products = stats::weights_of(x, o.weighting) * stats::weights_of(y, o.weighting).transpose();
  return Eigen::Map<const Vector>(products.data(), count);
}

// hsic of all pairs, those of the first kernel of X first; the observed order, then the exchanges.
Matrix hsic_of_exchanges(const Variable& x, const Variable& y, const stats::Exchanges& exchanges, Index draws, const Run& run) {
  const Index n = x.family.size();
  const auto nx = static_cast<double>(x.family.count());
  const auto ny = static_cast<double>(y.family.count());
  const double bytes = nx * stats::HalfGram::bytes(n) + 2 * ny * stats::FullGram::bytes(n) + stats::Permutations::bytes(n, draws) +
                       8.0 * static_cast<double>(draws + 1) * nx * ny;
  require_memory(static_cast<std::size_t>(bytes), run.memory,
                 fmt::format("the Gram matrices of {} and {} kernels on {} rows, and {} permutations", nx, ny, n, draws),
                 "use fewer kernels (bandwidths), fewer rows or fewer permutations");
  const stats::Permutations permutations(exchanges, draws, run);
  const Matrix sums =
      stats::permuted_products(stats::half_grams(x.family, x.centres, run), stats::full_grams(y.family, y.centres, run), permutations, run);
  if (!sums.allFinite()) throw InvalidArgument("kernel values are too large for float32; scale the kernels down, or normalise them");
  return sums / (static_cast<double>(n) * static_cast<double>(n));
}

}  // namespace

AggregatedResult hsic_aggregated_test(const Samples& X, const Samples& Y, const HsicAggregatedOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  require_pairs(X, Y, o);
  const auto as_objects = [](const Samples& S, const std::vector<Kernel>& kernels) {
    return kernels.empty() ? S : as_given(kernels.front(), S);
  };
  const std::vector<Kernel> otherwise = {kernels::gaussian(kernels::LengthScale::automatic())};
  const Samples of_x = as_objects(X, o.kernels_x);
  const Samples of_y = as_objects(Y, o.kernels_y);
  const stats::KernelCollection xs = stats::collect(o.kernels_x, otherwise, of_x, o.bandwidths, "kernels_x");
  const stats::KernelCollection ys = stats::collect(o.kernels_y, otherwise, of_y, o.bandwidths, "kernels_y");
  const Vector weights = pair_weights(o, xs, ys);
  const stats::Exchanges exchanges(X.size(), X.size(), o.exchange, o.seed);

  const Variable x(xs.kernels, of_x, o.run);
  const Variable y(ys.kernels, of_y, o.run);
  Observed observed = observe(x, y, o.run);
  Matrix T = hsic_of_exchanges(x, y, exchanges, o.permutations + o.level_permutations, o.run);
  Vector tolerance(weights.size());
  const auto ny = static_cast<Index>(ys.kernels.size());
  for (Index p = 0; p < tolerance.size(); ++p)
    tolerance[p] = stats::tie_tolerance(std::sqrt(observed.squares_x[p / ny] * observed.squares_y[p % ny]));
  // Where a variable does not vary only rounding is left after centring; that is no dependence, whatever the exchange.
  bool constant = false;
  for (Index p = 0; p < tolerance.size(); ++p) {
    if (x.varies(p / ny, observed.squares_x) && y.varies(p % ny, observed.squares_y)) continue;
    T.col(p).setZero();
    observed.hsic(p / ny, p % ny) = 0;
    constant = true;
  }

  AggregatedResult result = stats::aggregated_result(T, o.permutations, weights, tolerance,
                                                     Eigen::Map<const Vector>(observed.hsic.data(), weights.size()), o.level);
  result.test = "independence";
  result.statistic_name = "hsic-agg";
  result.method = "aggregated";
  for (Index p = 0; p < weights.size(); ++p) {
    KernelVerdict& row = result.table[static_cast<std::size_t>(p)];
    row.kernel = xs.kernels[static_cast<std::size_t>(p / ny)].text();
    row.kernel_y = ys.kernels[static_cast<std::size_t>(p % ny)].text();
    result.kernels.push_back(row.kernel + " x " + row.kernel_y);
  }
  result.n = X.size();
  result.seed = o.seed;
  result.description = fmt::format("{} pairs of kernels, each by hsic and {}, level of them all by {} more; {}", weights.size(),
                                   exchanges.describe(o.permutations), o.level_permutations, stats::level_words(result, o.exchange.scheme));
  if (constant)
    result.remarks.emplace_back("a variable does not vary beyond the rounding of its kernel values: nothing can be seen to depend on it");
  stats::remark_on_kernels(result, xs.kernels, of_x, "dependence");
  stats::remark_on_kernels(result, ys.kernels, of_y, "dependence");
  stats::conclude(result, "the variables depend on each other", "no dependence found", start);
  return result;
}

}  // namespace mercer

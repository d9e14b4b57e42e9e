// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_map>

#include "gram/tile_memory.hpp"
#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/hsic_sums.hpp"

namespace mercer {

namespace stats {

namespace {

constexpr Index most_parts = 64;  // partial sums: a number of the problem alone, never of the threads

const Samples& checked(const Samples& X, const char* name) {
  require_finite(X, name);
  return X;
}

void centre_tile(simd::Tile<double> tile, Range I, Range J, const Centre& centre) {
  const auto cols = centre.offsets.segment(J.begin, J.count).array().transpose();
  for (Index i = 0; i < I.count; ++i) {
    Eigen::Map<Eigen::Array<double, 1, Eigen::Dynamic>> row(tile.row(i), J.count);
    row = row - centre.offsets[I.begin + i] - cols;
    if (I.begin == J.begin && !centre.diagonal) row[i] = 0;
  }
}

void add_tiles(HsicSums& sums, simd::Tile<double> a, simd::Tile<double> b, bool on_diagonal) {
  const double times = on_diagonal ? 1 : 2;  // a tile above the diagonal stands for its mirror image too
  for (Index i = 0; i < a.rows; ++i) {
    const Eigen::Map<const Eigen::Array<double, 1, Eigen::Dynamic>> x(a.row(i), a.cols);
    const Eigen::Map<const Eigen::Array<double, 1, Eigen::Dynamic>> y(b.row(i), b.cols);
    sums.products += times * (x * y).sum();
    sums.squares_x += times * x.square().sum();
    sums.squares_y += times * y.square().sum();
    if (on_diagonal) {
      sums.trace_x += x[i];
      sums.trace_y += y[i];
    }
  }
}

// Of a variable that does not vary only rounding is left after centring; it is 0.
void settle_constant(HsicSums& sums, double& squares, double& trace, const Centre& centre) {
  constexpr double rounding = 1000 * std::numeric_limits<double>::epsilon();
  if (std::sqrt(squares) > rounding * static_cast<double>(centre.offsets.size()) * centre.offsets.cwiseAbs().maxCoeff()) return;
  squares = 0;
  trace = 0;
  sums.products = 0;
}

simd::Tile<const double> constant(simd::Tile<double> t) { return {t.data, t.rows, t.cols, t.stride}; }

}  // namespace

Kernel kernel_for(const Samples& X, const std::optional<Kernel>& kernel) { return kernel ? resolve(*kernel, X) : default_kernel(X); }

HsicPair::HsicPair(const Samples& X, const Samples& Y, const std::optional<Kernel>& kernel_x, const std::optional<Kernel>& kernel_y,
                   HsicForm form, const Run& run)
    : form_(form),
      kernel_x_(kernel_for(checked(X, "X"), kernel_x)),
      kernel_y_(kernel_for(checked(Y, "Y"), kernel_y)),
      x_({kernel_x_}, as_given(kernel_x_, X)),
      y_({kernel_y_}, as_given(kernel_y_, Y)) {
  if (x_.size() != y_.size())
    throw InvalidArgument(
        fmt::format("X has {} rows but Y has {}: row i of both must belong to the same observation", x_.size(), y_.size()));
  const Index least = form == HsicForm::biased ? 2 : 4;
  if (x_.size() < least) throw InvalidArgument(fmt::format("{} needs at least {} rows, got {}", statistic_name(), least, x_.size()));
  const Centring centring = form == HsicForm::biased ? Centring::whole : Centring::off_diagonal;
  centre_x_ = std::move(centres_of(x_, centring, run)[0]);
  centre_y_ = std::move(centres_of(y_, centring, run)[0]);
}

double HsicPair::divisor() const {
  const auto n = static_cast<double>(size());
  return form_ == HsicForm::biased ? n * n : n * (n - 3);
}

HsicSums HsicPair::sums(const Run& run, HalfGram* K, FullGram* L) const {
  const Index n = size();
  const Index blocks = block_count(n);
  const Index tiles = upper_count(blocks);
  const Index parts = std::min(tiles, most_parts);
  std::vector<HsicSums> found(static_cast<std::size_t>(parts));
  with_run(run, [&] {
    Stage stage(run.progress, "HSIC", static_cast<double>(tiles));
    parallel_for(parts, [&](Index part) {
      TileMemory<double> memory_x;
      TileMemory<double> memory_y;
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const Range I = block_range(pair.row, n);
        const Range J = block_range(pair.col, n);
        const simd::Tile<double> a = memory_x.tile(I.count, J.count);
        const simd::Tile<double> b = memory_y.tile(I.count, J.count);
        x_.tiles(I, J, a, [&](std::size_t, simd::Tile<double> tile) { centre_tile(tile, I, J, centre_x_); });
        y_.tiles(I, J, b, [&](std::size_t, simd::Tile<double> tile) { centre_tile(tile, I, J, centre_y_); });
        add_tiles(found[static_cast<std::size_t>(part)], a, b, pair.row == pair.col);
        if (K != nullptr) K->put(I, J, constant(a));
        if (L != nullptr) L->put(I, J, constant(b));
        stage.advance(1);
      }
    });
  });
  HsicSums total;
  for (const HsicSums& s : found) {
    total.products += s.products;
    total.squares_x += s.squares_x;
    total.squares_y += s.squares_y;
    total.trace_x += s.trace_x;
    total.trace_y += s.trace_y;
  }
  settle_constant(total, total.squares_x, total.trace_x, centre_x_);
  settle_constant(total, total.squares_y, total.trace_y, centre_y_);
  if (!std::isfinite(total.products) || !std::isfinite(total.squares_x * total.squares_y))
    throw InvalidArgument(fmt::format("products of kernel values of {} and {} are not finite; scale the columns, or choose bounded kernels",
                                      kernel_x_.text(), kernel_y_.text()));
  return total;
}

double correlation_of(const HsicSums& sums) {
  if (!(sums.squares_x > 0 && sums.squares_y > 0)) return std::numeric_limits<double>::quiet_NaN();
  return sums.products / (std::sqrt(sums.squares_x) * std::sqrt(sums.squares_y));
}

}  // namespace stats

Kernel default_kernel(const Samples& X) { return kernels::gaussian(median_distance(X) / std::numbers::sqrt2); }

HsicEstimate hsic(const Samples& X, const Samples& Y, const HsicOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const stats::HsicPair pair(X, Y, options.kernel_x, options.kernel_y, options.form, options.run);
  const stats::HsicSums sums = pair.sums(options.run);
  HsicEstimate out;
  out.value = sums.products / pair.divisor();
  out.correlation = stats::correlation_of(sums);
  out.statistic_name = pair.statistic_name();
  out.kernel_x = pair.kernel_x().text();
  out.kernel_y = pair.kernel_y().text();
  out.n = pair.size();
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  out.sentence = fmt::format("{} = {:.6g}, correlation {:.4g}, of {} rows with {} and {}", out.statistic_name, out.value, out.correlation,
                             out.n, out.kernel_x, out.kernel_y);
  return out;
}

Categories categories(const std::vector<std::string>& labels) {
  std::unordered_map<std::string, Index> numbers;
  Categories out;
  Matrix codes(static_cast<Index>(labels.size()), 1);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto [at, fresh] = numbers.try_emplace(labels[i], static_cast<Index>(out.names.size()));
    if (fresh) out.names.push_back(labels[i]);
    codes(static_cast<Index>(i), 0) = static_cast<double>(at->second);
  }
  out.codes = Samples(std::move(codes));
  return out;
}

}  // namespace mercer

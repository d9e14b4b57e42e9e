// SPDX-License-Identifier: BSD-3-Clause
#include "stats/mmd_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gram/tile_memory.hpp"
#include "linalg/blas.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/quadratic_forms.hpp"

namespace mercer::stats {

namespace {

constexpr Index most_parts = 64;   // partial sums: a number of the problem alone, never of the threads
constexpr Index pairs_a_tile = 8;  // of the linear statistic: small tiles, because only their 2 x 2 diagonal blocks are looked at

constexpr double far_from_zero = 100;  // standard deviations

using simd::Tile;

// out += K(I, J) w over those columns of the tile that lie in [begin, end), and so for the rows of the transpose.
void add_products(Tile<double> tile, Range I, Range J, bool mirrored, Range part, const Vector& w, double* out) {
  const Index begin = std::max(J.begin, part.begin);
  const Index end = std::min(J.begin + J.count, part.begin + part.count);
  if (end > begin)
    linalg::gemv_add(false, I.count, end - begin, 1.0, tile.data + (begin - J.begin), tile.stride, w.data() + begin, out + I.begin);
  if (!mirrored) return;
  const Index top = std::max(I.begin, part.begin);
  const Index bottom = std::min(I.begin + I.count, part.begin + part.count);
  if (bottom > top)
    linalg::gemv_add(true, bottom - top, J.count, 1.0, tile.data + (top - I.begin) * tile.stride, tile.stride, w.data() + top,
                     out + J.begin);
}

// The entries k(x_i, y_i) that lie in the tile.
void note_pairs(Tile<double> tile, Range I, Range J, Index n, Vector& paired) {
  for (Index i = std::max(I.begin, J.begin - n); i < std::min(I.begin + I.count, J.begin + J.count - n); ++i) {
    if (i < paired.size()) paired[i] = tile.data[(i - I.begin) * tile.stride + (i + n - J.begin)];
  }
}

double sum_of(Tile<double> tile) {
  double total = 0;
  for (Index i = 0; i < tile.rows; ++i) total += Eigen::Map<const Vector>(tile.data + i * tile.stride, tile.cols).sum();
  return total;
}

// sum of k over I x J, which may be larger than a tile.
double sum_over(const PreparedFamily<double>& kernel, Range I, Range J) {
  TileMemory<double> memory;
  double total = 0;
  for (Index i = 0; i < I.count; i += tile_size) {
    for (Index j = 0; j < J.count; j += tile_size) {
      const Range A{I.begin + i, std::min(tile_size, I.count - i)};
      const Range B{J.begin + j, std::min(tile_size, J.count - j)};
      kernel.tiles(A, B, memory.tile(A.count, B.count), [&](std::size_t, Tile<double> tile) { total += sum_of(tile); });
    }
  }
  return total;
}

// h of the pairs (0, 1), (2, 3), ... of the rows of X and Y that begin at `row`.
void linear_values(const PreparedFamily<double>& kernel, Index n, Index row, Eigen::Ref<Vector> out) {
  TileMemory<double> memory;
  const Range X{row, 2 * out.size()};
  const Range Y{n + row, 2 * out.size()};
  out.setZero();
  const auto add = [&](Range I, Range J, double times, bool both) {
    kernel.tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t, Tile<double> tile) {
      for (Index p = 0; p < out.size(); ++p) {
        const double upper = tile.data[2 * p * tile.stride + 2 * p + 1];
        out[p] += times * (both ? upper + tile.data[(2 * p + 1) * tile.stride + 2 * p] : upper);
      }
    });
  };
  add(X, X, 1, false);
  add(Y, Y, 1, false);
  add(X, Y, -1, true);
}

// Rows for a linear kernel, whose MMD does not see where 0 is, but whose values lose what differs when all rows lie far from it. Moved by
// the first row, not by the mean: differences of near numbers are exact, so that equal rows stay equal and whole numbers whole.
Samples near_zero(Samples rows) {
  Matrix Z = rows.to_dense();
  const Vector first = Z.row(0);
  Z.rowwise() -= first.transpose();
  const Vector mean = Z.colwise().mean();
  const Vector deviation = (Z.rowwise() - mean.transpose()).cwiseAbs2().colwise().mean().cwiseSqrt();
  const bool far = ((mean + first).array().abs() > far_from_zero * deviation.array()).any();
  return far && Z.allFinite() ? Samples(std::move(Z)) : rows;
}

}  // namespace

Pooled pool(const Samples& X, const Samples& Y, const Kernel& kernel) {
  if (X.empty() || Y.empty()) throw InvalidArgument(fmt::format("both samples need rows, got {} of X and {} of Y", X.size(), Y.size()));
  if (X.width() != Y.width()) throw InvalidArgument(fmt::format("X has {} columns but Y has {}", X.width(), Y.width()));
  require_finite(X, "X");
  require_finite(Y, "Y");
  Samples rows = concatenate(X, Y);
  Kernel resolved = resolve(kernel, rows);
  if (resolved.text() == "linear" && !rows.is_given() && !rows.is_sparse()) rows = near_zero(std::move(rows));
  return {std::move(rows), X.size(), Y.size(), std::move(resolved)};
}

void require_sizes(MmdStatistic statistic, Index n, Index m) {
  if (statistic == MmdStatistic::h && n != m)
    throw InvalidArgument(fmt::format("mmd-h is for samples of equal size, got {} and {} rows; mmd-u takes any", n, m));
  const Index least = statistic == MmdStatistic::b ? 1 : statistic == MmdStatistic::linear || statistic == MmdStatistic::block ? 4 : 2;
  if (std::min(n, m) < least)
    throw InvalidArgument(fmt::format("{} needs at least {} rows in each sample, got {} and {}", name_of(statistic), least, n, m));
}

SampleSums sample_sums(const Pooled& pooled, const Vector& weights, const Run& run) {
  const Index N = pooled.size();
  const PreparedFamily<double> kernel({pooled.kernel}, pooled.rows);
  const Vector w = weights.size() > 0 ? weights : Vector::Ones(N);
  const Index blocks = block_count(N);
  const Index tiles = upper_count(blocks);
  const Index parts = std::min(tiles, most_parts);
  std::vector<Eigen::MatrixX2d> sums(static_cast<std::size_t>(parts));
  Vector squares = Vector::Zero(parts);
  SampleSums out;
  out.paired = Vector::Zero(std::min(pooled.n, pooled.m));
  with_run(run, [&] {
    Stage stage(run.progress, "Kernel sums", static_cast<double>(tiles));
    parallel_for(parts, [&](Index part) {
      Eigen::MatrixX2d& sum = sums[static_cast<std::size_t>(part)];
      sum.setZero(N, 2);
      TileMemory<double> memory;
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const Range I = block_range(pair.row, N);
        const Range J = block_range(pair.col, N);
        const bool mirrored = pair.row != pair.col;
        kernel.tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t, Tile<double> tile) {
          if (!mirrored) {
            for (Index i = 0; i < I.count; ++i) tile.data[i * tile.stride + i] = 0;
          }
          add_products(tile, I, J, mirrored, {0, pooled.n}, w, sum.col(0).data());
          add_products(tile, I, J, mirrored, {pooled.n, pooled.m}, w, sum.col(1).data());
          note_pairs(tile, I, J, pooled.n, out.paired);
          for (Index i = 0; i < I.count; ++i)
            squares[part] += (mirrored ? 2 : 1) * Eigen::Map<const Vector>(tile.data + i * tile.stride, J.count).squaredNorm();
        });
        stage.advance(1);
      }
    });
  });
  for (std::size_t p = 1; p < sums.size(); ++p) sums[0] += sums[p];
  out.against = std::move(sums[0]);
  out.diagonal = kernel.diagonal(0);
  out.squares = squares.sum();
  out.xx = w.head(pooled.n).dot(out.against.col(0).head(pooled.n));
  out.xy = w.head(pooled.n).dot(out.against.col(1).head(pooled.n));
  out.yy = w.tail(pooled.m).dot(out.against.col(1).tail(pooled.m));
  require_no_overflow(std::isfinite(out.xx) && std::isfinite(out.xy) && std::isfinite(out.yy) && out.against.allFinite());
  return out;
}

double centred_squares(const Pooled& pooled, const Vector& r, double mean, const Run& run) {
  const Index N = pooled.size();
  const PreparedFamily<double> kernel({pooled.kernel}, pooled.rows);
  const Index blocks = block_count(N);
  const Index tiles = upper_count(blocks);
  const Index parts = std::min(tiles, most_parts);
  Vector squares = Vector::Zero(parts);
  with_run(run, [&] {
    Stage stage(run.progress, "Centred sums", static_cast<double>(tiles));
    parallel_for(parts, [&](Index part) {
      TileMemory<double> memory;
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const Range I = block_range(pair.row, N);
        const Range J = block_range(pair.col, N);
        const bool mirrored = pair.row != pair.col;
        const auto columns = r.segment(J.begin, J.count).array();
        kernel.tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t, Tile<double> tile) {
          for (Index i = 0; i < I.count; ++i) {
            Eigen::Map<Vector> row(tile.data + i * tile.stride, J.count);
            row.array() -= columns + (r[I.begin + i] - mean);
            if (!mirrored) row[i] = 0;
            squares[part] += (mirrored ? 2 : 1) * row.squaredNorm();
          }
        });
        stage.advance(1);
      }
    });
  });
  const double sum = squares.sum();
  require_no_overflow(std::isfinite(sum));
  return sum;
}

double centred_pair_squares(const Pooled& pooled, const SampleSums& sums, const Run& run) {
  const auto N = static_cast<double>(pooled.size());
  const Vector r = sums.against.rowwise().sum() / (N - 2);
  return centred_squares(pooled, r, r.sum() / (N - 1), run);
}

double statistic_of(MmdStatistic statistic, const LabelSums& s) {
  switch (statistic) {
    case MmdStatistic::b:
      return (s.xx + s.diagonal_x) / (s.n * s.n) + (s.yy + s.diagonal_y) / (s.m * s.m) - 2 * s.xy / (s.n * s.m);
    case MmdStatistic::h:
      return (s.xx + s.yy - 2 * (s.xy - s.paired)) / (s.n * (s.n - 1));
    default:
      return s.xx / (s.n * (s.n - 1)) + s.yy / (s.m * (s.m - 1)) - 2 * s.xy / (s.n * s.m);
  }
}

double sensitivity_of(MmdStatistic statistic, double n, double m) {
  if (statistic == MmdStatistic::b) return (1 / n + 1 / m) * (1 / n + 1 / m);
  if (statistic == MmdStatistic::h) return 4 / (n * (n - 1));
  return 1 / (n * (n - 1)) + 1 / (m * (m - 1)) + 2 / (n * m);
}

Vector block_values(const Pooled& pooled, MmdStatistic statistic, Index block_size, const Run& run) {
  const PreparedFamily<double> kernel({pooled.kernel}, pooled.rows);
  const Index fewer = std::min(pooled.n, pooled.m);
  if (statistic == MmdStatistic::linear) {
    Vector values(fewer / 2);
    with_run(run, [&] {
      Stage stage(run.progress, "Kernel values", static_cast<double>(values.size()));
      parallel_for((values.size() + pairs_a_tile - 1) / pairs_a_tile, [&](Index part) {
        const Index first = part * pairs_a_tile;
        const Index some = std::min(pairs_a_tile, values.size() - first);
        linear_values(kernel, pooled.n, 2 * first, values.segment(first, some));
        stage.advance(static_cast<double>(some));
      });
    });
    return values;
  }
  const Index size = block_size > 0 ? block_size : std::max<Index>(2, std::llround(std::sqrt(static_cast<double>(fewer))));
  if (size < 2 || 2 * size > fewer)
    throw InvalidArgument(
        fmt::format("block_size must be at least 2 and at most half of the {} rows of the smaller sample, got {}", fewer, block_size));
  const Index blocks = fewer / size;
  const Index of_x = pooled.n / blocks;
  const Index of_y = pooled.m / blocks;
  Vector values(blocks);
  with_run(run, [&] {
    Stage stage(run.progress, "Blocks", static_cast<double>(blocks));
    parallel_for(blocks, [&](Index block) {
      const Range X{block * of_x, of_x};
      const Range Y{pooled.n + block * of_y, of_y};
      LabelSums sums{.n = static_cast<double>(of_x), .m = static_cast<double>(of_y)};
      sums.xx = sum_over(kernel, X, X) - kernel.diagonal(0).segment(X.begin, X.count).sum();
      sums.yy = sum_over(kernel, Y, Y) - kernel.diagonal(0).segment(Y.begin, Y.count).sum();
      sums.xy = sum_over(kernel, X, Y);
      values[block] = statistic_of(MmdStatistic::u, sums);
      stage.advance(1);
    });
  });
  return values;
}

}  // namespace mercer::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "stats/aggregated_mmd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gram/tile_memory.hpp"
#include "mercer/error.hpp"
#include "stats/quadratic_forms.hpp"
#include "stats/test_result.hpp"

namespace mercer::stats {

namespace {

using simd::Tile;

constexpr Index small_sample = 256;     // pooled rows up to which float64 costs nothing
constexpr double batch_bytes = 2.56e8;  // of labellings at a time
constexpr double sums_bytes = 1e8;      // of partial row sums
constexpr Index most_parts = 16;        // a number of the problem alone, never of the threads

// What one part of the tiles adds up.
struct PartialSums {
  Matrix rows;
  Vector within_first, within_second, across, squares;

  PartialSums(Index kernels, Index n)
      : rows(Matrix::Zero(kernels, n)),
        within_first(Vector::Zero(kernels)),
        within_second(within_first),
        across(within_first),
        squares(within_first) {}

  // `split`: columns of the tile that are of the first sample.
  void add(Index k, Range I, Range J, Index first, Tile<double> tile) {
    using Row = Eigen::Map<const Eigen::ArrayXd>;
    const bool mirrored = I.begin != J.begin;  // the tile stands for its mirror image too
    const double times = mirrored ? 2 : 1;
    const Index split = std::clamp<Index>(first - J.begin, 0, J.count);
    for (Index i = 0; i < I.count; ++i) {
      const Row row(tile.data + i * tile.stride, J.count);
      const double left = row.head(split).sum();
      const double right = row.tail(J.count - split).sum();
      if (I.begin + i < first) {
        within_first[k] += times * left;
        across[k] += right;
      } else {
        within_second[k] += times * right;
      }
      rows(k, I.begin + i) += left + right;
      squares[k] += times * row.square().sum();
      if (mirrored) rows.row(k).segment(J.begin, J.count).array() += row.transpose();
    }
  }
  PartialSums& operator+=(const PartialSums& o) {
    rows += o.rows;
    within_first += o.within_first;
    within_second += o.within_second;
    across += o.across;
    squares += o.squares;
    return *this;
  }
};

bool float32_is_enough(const std::vector<Kernel>& kernels, const Samples& pooled) {
  return pooled.size() > small_sample && !pooled.is_given() &&
         std::all_of(kernels.begin(), kernels.end(), [](const Kernel& k) { return k.is_bounded() == Verdict::yes; });
}

// Labellings as rows: 1 in the first sample, -r/s in the second. Labelling 0 is the observed one, labelling j > 0 exchange j - 1.
template <class T>
void write_labels(const Exchanges& exchanges, Index first, Index begin, RowMatrix<T>& V, Vector& sizes) {
  parallel_for(V.rows(), [&](Index b) {
    std::vector<char> in_first(static_cast<std::size_t>(V.cols()));
    if (begin + b == 0) {
      std::fill_n(in_first.begin(), first, 1);
    } else {
      exchanges.draw_labels(begin + b - 1, in_first);
    }
    const auto r = static_cast<double>(std::count(in_first.begin(), in_first.end(), 1));
    sizes[b] = r;
    const auto other = static_cast<T>(-r / (static_cast<double>(V.cols()) - r));
    for (Index i = 0; i < V.cols(); ++i) V(b, i) = in_first[static_cast<std::size_t>(i)] != 0 ? T{1} : other;
  });
}

// mmd-u from v'Kv (v = a/r - b/s) and what is needed beside it.
double unbiased(double q, double a_sums, double total, double r, double s) {
  double corrections = 0;
  if (r == s) {
    corrections = (total + r * r * q) / (2 * r * r * (r - 1));
  } else {
    const double c = 1 / r + 1 / s;
    const double A = (q + 2 * c / s * a_sums - total / (s * s)) / (c * c);
    const double B = total - 2 * a_sums + A;
    corrections = A / (r * r * (r - 1)) + B / (s * s * (s - 1));
  }
  return q + corrections;
}

template <class T>
Matrix mmd_in(const PreparedFamily<T>& family, const PooledSums& sums, const Exchanges& exchanges, Index first, Index draws,
              const Run& run) {
  const Index n = family.size();
  const auto kernels = static_cast<Index>(family.count());
  const Index batch = std::clamp<Index>(static_cast<Index>(batch_bytes / (static_cast<double>(n) * sizeof(T))), 256, draws + 1);
  Matrix values(draws + 1, kernels);
  for (Index begin = 0; begin <= draws; begin += batch) {
    const Index some = std::min(batch, draws + 1 - begin);
    RowMatrix<T> V(some, n);
    Vector sizes(some);
    with_threads(run.threads, [&] { write_labels(exchanges, first, begin, V, sizes); });
    const Matrix q = quadratic_forms<T>(family, V, Diagonal::left_out, run);
    if (sizes.minCoeff() < 2 || sizes.maxCoeff() > static_cast<double>(n) - 2)
      throw InvalidArgument("an exchange of whole groups leaves fewer than two rows in a sample; groups of nearly equal size avoid that");
    const bool equal = (sizes.array() * 2 == static_cast<double>(n)).all();
    with_threads(run.threads, [&] {
      parallel_for(some, [&](Index b) {
        const double r = sizes[b];
        const double s = static_cast<double>(n) - r;
        Vector v_sums = Vector::Zero(kernels);
        if (!equal) v_sums = sums.rows * V.row(b).transpose().template cast<double>();
        for (Index k = 0; k < kernels; ++k) {
          // v times r is the labelling 1, -r/s, so a'K1 = (v'K1 + 1'K1/s) / (1/r + 1/s).
          const double a_sums = (v_sums[k] / r + sums.total[k] / s) / (1 / r + 1 / s);
          values(begin + b, k) = unbiased(q(b, k) / (r * r), a_sums, sums.total[k], r, s);
        }
      });
    });
  }
  return values;
}

}  // namespace

Samples pooled_sample(const Samples& X, const Samples& Y, Index permutations) {
  if (X.size() < 2 || Y.size() < 2)
    throw InvalidArgument(fmt::format("a two-sample test needs at least two rows in each sample, got {} and {}", X.size(), Y.size()));
  if (X.width() != Y.width()) throw InvalidArgument(fmt::format("X and Y must have the same columns, got {} and {}", X.width(), Y.width()));
  if (permutations < 1) throw InvalidArgument(fmt::format("permutations must be >= 1, got {}", permutations));
  require_finite(X, "X");
  require_finite(Y, "Y");
  return concatenate(X, Y);
}

PooledSums pooled_sums(const std::vector<Kernel>& kernels, const Samples& pooled, Index first, const Run& run) {
  const PreparedFamily<double> family(kernels, pooled);
  const Index n = pooled.size();
  const auto count = static_cast<Index>(kernels.size());
  const Index blocks = block_count(n);
  const Index tiles = upper_count(blocks);
  const auto affordable = static_cast<Index>(sums_bytes / (8.0 * static_cast<double>(n) * static_cast<double>(count)));
  const Index parts = std::clamp<Index>(std::min(affordable, tiles), 1, most_parts);
  require_memory(static_cast<std::size_t>(parts * n * count) * sizeof(double), run.memory,
                 fmt::format("the row sums of {} kernels on {} rows", count, n), "use fewer kernels, or fewer rows");
  std::vector<PartialSums> partial(static_cast<std::size_t>(parts), PartialSums(count, n));
  with_threads(run.threads, [&] {
    Stage stage(run.progress, "Kernel sums", static_cast<double>(tiles));
    parallel_for(parts, [&](Index part) {
      TileMemory<double> memory;
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const Range I = block_range(pair.row, n);
        const Range J = block_range(pair.col, n);
        family.tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t k, Tile<double> tile) {
          if (pair.row == pair.col) {
            for (Index i = 0; i < tile.rows; ++i) tile.data[i * tile.stride + i] = 0;
          }
          partial[static_cast<std::size_t>(part)].add(static_cast<Index>(k), I, J, first, tile);
        });
        stage.advance(1);
      }
    });
  });
  for (std::size_t p = 1; p < partial.size(); ++p) partial[0] += partial[p];
  PartialSums& all = partial[0];
  PooledSums sums;
  sums.total = all.rows.rowwise().sum();
  const auto r = static_cast<double>(first);
  const auto s = static_cast<double>(n - first);
  sums.mmd_u = all.within_first / (r * (r - 1)) + all.within_second / (s * (s - 1)) - 2 * all.across / (r * s);
  sums.squares = std::move(all.squares);
  sums.rows = std::move(all.rows);
  return sums;
}

Matrix mmd_of_exchanges(const std::vector<Kernel>& kernels, const Samples& pooled, const PooledSums& sums, const Exchanges& exchanges,
                        Index first, Index draws, const Run& run) {
  const double bytes = 8.0 * static_cast<double>(draws + 1) * static_cast<double>(kernels.size()) +
                       std::min(batch_bytes, 8.0 * static_cast<double>(draws + 1) * static_cast<double>(pooled.size()));
  require_memory(static_cast<std::size_t>(bytes), run.memory, fmt::format("{} exchanges of {} rows", draws, pooled.size()),
                 "use fewer permutations");
  if (float32_is_enough(kernels, pooled)) return mmd_in(PreparedFamily<float>(kernels, pooled), sums, exchanges, first, draws, run);
  return mmd_in(PreparedFamily<double>(kernels, pooled), sums, exchanges, first, draws, run);
}

Vector mmd_tolerances(const PooledSums& sums, Index rows) {
  const double pairs = static_cast<double>(rows) * static_cast<double>(rows - 1);
  Vector tolerances(sums.squares.size());
  for (Index k = 0; k < tolerances.size(); ++k) tolerances[k] = tie_tolerance(std::sqrt(sums.squares[k] / pairs));
  return tolerances;
}

}  // namespace mercer::stats

// Permutations, bins and signs: all exchanges as vectors of one product (stats/quadratic_forms.hpp).
//
// Of labels z (1: first sample) the sums within and between the samples follow from z'K z, z'K 1 and 1'K 1 over i != j:
//   xx = z'K z,  xy = z'K 1 - xx,  yy = 1'K 1 - 2 z'K 1 + xx.
// The vectors are v = z - p with p = n / N, whose product is small where z'K z is large: z'K z = v'K v + 2 p z'K 1 - p^2 1'K 1, the rest in
// float64. Entries of v are exact in float32, so nothing but the sums within v'K v is rounded. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "stats/aggregated_kernels.hpp"
#include "stats/quadratic_forms.hpp"
#include "stats/test_result.hpp"
#include "stats/two_sample_parts.hpp"

namespace mercer::stats {

namespace {

constexpr Index usual_bins = 100;
constexpr double small_work = 2e8;      // N^2 B below this: float64 costs nothing
constexpr double rounding_share = 0.1;  // of the null's spread: ties that are wider decide the answer
constexpr double blur = 1e-3;           // of the null's spread that ties may be apart, in float32
constexpr double precise_ties = 1e-12;  // relative to the same size of the terms, in float64

constexpr const char* no_spread_remark =
    "exchanges differ by no more than rounding: nothing can be told apart; where the rows differ but lie far from 0, subtract the column "
    "means";
constexpr const char* rounding_remark =
    "rounding decides: exchanges differ by little more than the rounding of the kernel values, and nearer ones count as ties, so the "
    "p-value "
    "is too large; where the rows lie far from 0, subtract the column means";

double deviation_of(const Vector& values) {
  return std::sqrt((values.array() - values.mean()).square().sum() / static_cast<double>(std::max<Index>(1, values.size() - 1)));
}

// n / N with few enough bits that p and 1 - p are both exact in float32.
double centre_of(Index n, Index N) { return std::round(std::ldexp(static_cast<double>(n) / static_cast<double>(N), 20)) * 0x1p-20; }

void require_panels(Index vectors, Index N, std::size_t bytes_each, const Run& run) {
  require_memory(static_cast<std::size_t>(vectors) * static_cast<std::size_t>(N) * bytes_each, run.memory,
                 fmt::format("{} exchanges of {} rows", vectors - 1, N), "ask for fewer permutations, or use null = binned");
}

// What the labels z = v + p alone decide.
struct LabelTerms {
  double n = 0;
  double row_sums = 0;  // z'K 1
  double diagonal = 0;
};
template <class T>
LabelTerms terms_of(const VectorPanels<T>& V, Index b, double p, const Eigen::Ref<const Vector, 0, Eigen::InnerStride<>>& row_sums,
                    const Vector& diagonal) {
  LabelTerms z;
  for (Index block = 0; block < block_count(V.size()); ++block) {
    const Range range = block_range(block, V.size());
    const Vector part =
        Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>(V.panel(block) + b * range.count, range.count).template cast<double>() + p;
    z.n += part.sum();
    z.row_sums += part.dot(row_sums.segment(range.begin, range.count));
    z.diagonal += part.dot(diagonal.segment(range.begin, range.count));
  }
  z.n = std::round(z.n);
  return z;
}

void require_rows(MmdStatistic statistic, double fewest) {
  if (fewest < (statistic == MmdStatistic::b ? 1 : 2))
    throw InvalidArgument(fmt::format(
        "an exchange of groups of unequal size leaves a sample of {} rows, too few for {}; use mmd-b, or groups of similar size", fewest,
        name_of(statistic)));
}

template <class T>
Exchanged exchanged_in(const Pooled& pooled, MmdStatistic statistic, Index labellings, const Labelling& labels, const Run& run) {
  const Index N = pooled.size();
  const double p = centre_of(pooled.n, N);
  require_panels(labellings, N, sizeof(T), run);
  VectorPanels<T> V(labellings, N);
  const PreparedFamily<T> kernel({pooled.kernel}, pooled.rows);
  with_run(run, [&] {
    Stage stage(run.progress, "Exchanges drawn", static_cast<double>(labellings));
    parallel_for(labellings, [&](Index b) {
      std::vector<char> in_first(static_cast<std::size_t>(N));
      labels(b, in_first);
      const T values[2] = {static_cast<T>(-p), static_cast<T>(1 - p)};
      V.set(b, [&](Index i) { return values[static_cast<std::size_t>(in_first[static_cast<std::size_t>(i)])]; });
      stage.advance(1);
    });
  });
  const FormSums sums = form_sums<T>(kernel, V, Diagonal::left_out, run);
  const Vector& diagonal = kernel.diagonal(0);
  const double total = sums.row_sums.sum();
  const double whole_diagonal = diagonal.sum();
  double paired = 0;
  if (statistic == MmdStatistic::h) paired = sample_sums(pooled, {}, run).paired.sum();

  Vector values(labellings);
  with_run(run, [&] {
    parallel_for(labellings, [&](Index b) {
      const LabelTerms z = terms_of(V, b, p, sums.row_sums.col(0), diagonal);
      LabelSums s{.n = z.n, .m = static_cast<double>(N) - z.n};
      s.xx = sums.forms(b, 0) + 2 * p * z.row_sums - p * p * total;
      s.xy = z.row_sums - s.xx;
      s.yy = total - 2 * z.row_sums + s.xx;
      s.diagonal_x = z.diagonal;
      s.diagonal_y = whole_diagonal - z.diagonal;
      s.paired = paired;
      require_rows(statistic, std::min(s.n, s.m));
      values[b] = statistic_of(statistic, s);
    });
  });
  Exchanged out;
  // Sums with random signs are rounded in proportion to the root of their squares, p(1-p) |K|_F: that is the size of the terms. It goes
  // with n as the null's spread does, so ties stay as narrow beside it (1e-4 of it) whatever n is. The factor leaves room: of 50000
  // exchanges of binary rows none was rounded by more than 12 units of 1e-6 p(1-p) |K|_F.
  const double scale = 64 * p * (1 - p) * std::sqrt(sums.squares[0]) *
                       sensitivity_of(statistic, static_cast<double>(pooled.n), static_cast<double>(pooled.m));
  out.tolerance = sizeof(T) == 4 ? tie_tolerance(scale) : precise_ties * scale;
  out.observed = values[0];
  out.null = values.tail(labellings - 1);
  return out;
}

// The statistic as it is reported.
double precise_statistic(const Pooled& pooled, MmdStatistic statistic, const Run& run) {
  const SampleSums sums = sample_sums(pooled, {}, run);
  LabelSums s{.n = static_cast<double>(pooled.n), .m = static_cast<double>(pooled.m), .xx = sums.xx, .yy = sums.yy, .xy = sums.xy};
  s.diagonal_x = sums.diagonal.head(pooled.n).sum();
  s.diagonal_y = sums.diagonal.tail(pooled.m).sum();
  if (statistic == MmdStatistic::h) s.paired = sums.paired.sum();
  return statistic_of(statistic, s);
}

void judge(TestResult& result, const Pooled& pooled, MmdStatistic statistic, Exchanged found, const Run& run) {
  result.statistic = precise_statistic(pooled, statistic, run);
  const double deviation = deviation_of(found.null);
  const double mean = found.null.mean();
  judge_by_exchanges(result, found.observed, std::move(found.null), found.tolerance);
  if (!(found.tolerance < deviation)) {
    result.remarks.emplace_back(no_spread_remark);
  } else if (found.tolerance > rounding_share * deviation) {
    result.remarks.emplace_back(rounding_remark);
  }
  result.numbers.emplace_back("null mean", mean);
  result.numbers.emplace_back("null deviation", deviation);
}

// The kernel matrix added up over bins: bins x bins, over i != j.
struct BinSums {
  Matrix sums{};
  Vector diagonal{};
};
BinSums bin_sums(const Pooled& pooled, const std::vector<Index>& bin_of, Index bins, const Run& run) {
  const PreparedFamily<double> kernel({pooled.kernel}, pooled.rows);
  const Index N = pooled.size();
  const Index blocks = block_count(N);
  const Index tiles = upper_count(blocks);
  const Index parts = std::min<Index>(tiles, 16);
  std::vector<Matrix> sums(static_cast<std::size_t>(parts));
  with_run(run, [&] {
    Stage stage(run.progress, "Kernel sums", static_cast<double>(tiles));
    parallel_for(parts, [&](Index part) {
      Matrix& sum = sums[static_cast<std::size_t>(part)];
      sum = Matrix::Zero(bins, bins);
      TileMemory<double> memory;
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const Range I = block_range(pair.row, N);
        const Range J = block_range(pair.col, N);
        kernel.tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t, simd::Tile<double> tile) {
          for (Index i = 0; i < I.count; ++i) {
            double* row = tile.data + i * tile.stride;
            if (pair.row == pair.col) row[i] = 0;
            const Index a = bin_of[static_cast<std::size_t>(I.begin + i)];
            for (Index j = 0; j < J.count;) {  // rows of a bin are neighbours
              const Index c = bin_of[static_cast<std::size_t>(J.begin + j)];
              double run_sum = 0;
              for (; j < J.count && bin_of[static_cast<std::size_t>(J.begin + j)] == c; ++j) run_sum += row[j];
              sum(a, c) += run_sum;
              if (pair.row != pair.col) sum(c, a) += run_sum;
            }
          }
        });
        stage.advance(1);
      }
    });
  });
  for (std::size_t p = 1; p < sums.size(); ++p) sums[0] += sums[p];
  BinSums out{std::move(sums[0]), Vector::Zero(bins)};
  for (Index i = 0; i < N; ++i) out.diagonal[bin_of[static_cast<std::size_t>(i)]] += kernel.diagonal(0)[i];
  return out;
}

}  // namespace

Exchanged exchanged_statistics(const Pooled& pooled, MmdStatistic statistic, Index labellings, const Labelling& labels, bool precise,
                               const Run& run) {
  const auto N = static_cast<double>(pooled.size());
  if (!precise && N * N * static_cast<double>(labellings) > small_work) {
    try {
      Exchanged found = exchanged_in<float>(pooled, statistic, labellings, labels, run);
      if (found.tolerance <= blur * deviation_of(found.null)) return found;
    } catch (const InvalidArgument&) {  // kernel values that float32 cannot hold; what float64 cannot do either is said below
    }
  }
  return exchanged_in<double>(pooled, statistic, labellings, labels, run);
}

void by_permutation(TestResult& result, const Pooled& pooled, MmdStatistic statistic, const TwoSampleOptions& o) {
  // Of independent rows exchanges within pairs are some of all exchanges, and the ones that leave mmd-h its pairs.
  ExchangeOptions options = o.exchange;
  const bool narrowed = statistic == MmdStatistic::h && options.scheme == Exchange::free;
  if (narrowed) options.scheme = Exchange::pairs;
  const Exchanges exchanges(pooled.size(), pooled.n, options, o.seed);
  const std::vector<std::vector<char>> all = exchanges.all_labels(o.permutations + 1);
  const Index labellings = all.empty() ? o.permutations + 1 : std::ssize(all);
  const auto labels = [&](Index b, std::span<char> in_first) {
    if (!all.empty()) {
      std::copy(all[static_cast<std::size_t>(b)].begin(), all[static_cast<std::size_t>(b)].end(), in_first.begin());
    } else if (b == 0) {
      for (Index i = 0; i < pooled.size(); ++i) in_first[static_cast<std::size_t>(i)] = i < pooled.n ? 1 : 0;
    } else {
      exchanges.draw_labels(b, in_first);
    }
  };
  Exchanged found = exchanged_statistics(pooled, statistic, labellings, labels, false, o.run);
  const Exchange scheme = options.scheme;
  result.description = all.empty() ? exchanges.describe(o.permutations)
                                   : fmt::format("all {} other {}", labellings - 1,
                                                 scheme == Exchange::pairs ? "exchanges within pairs" : "splits of the rows");
  if (narrowed) result.description += " (which mmd-h keeps together)";
  result.description += ", " + level_words(result, scheme);
  judge(result, pooled, statistic, std::move(found), o.run);
}

void by_bins(TestResult& result, const Pooled& pooled, MmdStatistic statistic, const TwoSampleOptions& o) {
  const Index wanted = o.bins > 0 ? o.bins : usual_bins;
  const Index width = std::max<Index>(1, pooled.size() / wanted);
  const Index of_x = pooled.n / width;
  const Index of_y = pooled.m / width;
  if (of_x < 1 || of_y < 1 || of_x + of_y < 3)
    throw InvalidArgument(
        fmt::format("{} bins of {} and {} rows leave {} and {} whole bins, too few to exchange; use more bins, or null = permutation",
                    wanted, pooled.n, pooled.m, of_x, of_y));
  // Bins of equal size change places; the rows that are left over stay where they are, so every exchange is one of rows and leaves the
  // sizes as they were. The last two bins are these rows.
  const Index moving = of_x + of_y;
  std::vector<Index> bin_of(static_cast<std::size_t>(pooled.size()));
  for (Index i = 0; i < pooled.n; ++i) bin_of[static_cast<std::size_t>(i)] = i / width < of_x ? i / width : moving;
  for (Index j = 0; j < pooled.m; ++j) bin_of[static_cast<std::size_t>(pooled.n + j)] = j / width < of_y ? of_x + j / width : moving + 1;
  const BinSums bins = bin_sums(pooled, bin_of, moving + 2, o.run);
  const Vector row_sums = bins.sums.rowwise().sum();
  const double total = row_sums.sum();

  const Exchanges exchanges(moving, of_x, {}, o.seed);
  Vector values(o.permutations + 1);
  with_run(o.run, [&] {
    parallel_for(o.permutations + 1, [&](Index b) {
      std::vector<char> in_first(static_cast<std::size_t>(moving));
      if (b == 0) {
        std::fill_n(in_first.begin(), of_x, char{1});
      } else {
        exchanges.draw_labels(b, in_first);
      }
      Vector z = Vector::Zero(moving + 2);
      for (Index i = 0; i < moving; ++i) z[i] = in_first[static_cast<std::size_t>(i)];
      z[moving] = 1;
      LabelSums s{.n = static_cast<double>(pooled.n), .m = static_cast<double>(pooled.m)};
      s.xx = z.dot(bins.sums * z);
      s.xy = z.dot(row_sums) - s.xx;
      s.yy = total - 2 * z.dot(row_sums) + s.xx;
      s.diagonal_x = z.dot(bins.diagonal);
      s.diagonal_y = bins.diagonal.sum() - s.diagonal_x;
      values[b] = statistic_of(statistic, s);
    });
  });
  // Sums of whole bins are rounded in proportion to their size.
  const double tolerance =
      1e-14 * bins.sums.cwiseAbs().sum() * sensitivity_of(statistic, static_cast<double>(pooled.n), static_cast<double>(pooled.m));
  result.exact = true;
  result.description = fmt::format("{} permutations of {} bins of {} rows, exact level", o.permutations, moving, width);
  judge(result, pooled, statistic, {values[0], values.tail(o.permutations), tolerance}, o.run);
}

void by_signs(TestResult& result, const Pooled& pooled, MmdStatistic statistic, const TwoSampleOptions& o) {
  const bool series = o.exchange.scheme == Exchange::blocks;
  if (pooled.n == pooled.m) {
    // A sign of -1 exchanges the rows of a pair: the sum over i != j of s_i s_j h(z_i, z_j) is h of the exchanged samples.
    const Index length = !series                       ? 1
                         : o.exchange.block_length > 0 ? o.exchange.block_length
                                                       : std::max<Index>(1, std::llround(std::cbrt(static_cast<double>(pooled.n))));
    if (series && 2 * length > pooled.n)
      throw InvalidArgument(fmt::format("block_length must be at most half of the {} rows of a sample, got {}", pooled.n, length));
    const auto labels = [&](Index b, std::span<char> in_first) {
      RandomStream random(o.seed, static_cast<std::uint64_t>(b));
      bool stays = true;
      for (Index i = 0; i < pooled.n; ++i) {
        if (b > 0 && i % length == 0) stays = (random() >> 63U) == 0;
        in_first[static_cast<std::size_t>(i)] = stays ? 1 : 0;
        in_first[static_cast<std::size_t>(pooled.n + i)] = stays ? 0 : 1;
      }
    };
    Exchanged found = exchanged_statistics(pooled, statistic, o.permutations + 1, labels, false, o.run);
    result.exact = !series;
    result.description =
        series ? fmt::format("wild bootstrap: {} draws of a sign for each block of {} pairs, level right in the limit of long blocks",
                             o.permutations, length)
               : fmt::format("wild bootstrap: {} draws of a sign for each pair, exact level", o.permutations);
    judge(result, pooled, statistic, std::move(found), o.run);
    return;
  }
  if (statistic != MmdStatistic::u || o.exchange.scheme != Exchange::free)
    throw InvalidArgument(fmt::format(
        "the wild bootstrap of unequal samples ({} and {} rows) is for mmd-u and independent rows; use equal sizes, or null = permutation",
        pooled.n, pooled.m));
  // Signs s of all rows under the centred kernel: sum over i != j of s_i s_j a_i a_j (H K H)_ij, a = 1/n or 1/m. (HKH is applied to v = s a
  // by centring v; its diagonal is the same for all signs.)
  const Index N = pooled.size();
  require_panels(o.permutations, N, sizeof(double), o.run);
  VectorPanels<double> V(o.permutations, N);
  Vector a(N);
  for (Index i = 0; i < N; ++i) a[i] = 1 / static_cast<double>(i < pooled.n ? pooled.n : pooled.m);
  with_run(o.run, [&] {
    parallel_for(o.permutations, [&](Index b) {
      RandomStream random(o.seed, static_cast<std::uint64_t>(b));
      Vector v(N);
      for (Index i = 0; i < N; ++i) v[i] = (random() >> 63U) == 0 ? a[i] : -a[i];
      v.array() -= v.mean();
      V.set(b, [&](Index i) { return v[i]; });
    });
  });
  const PreparedFamily<double> kernel({pooled.kernel}, pooled.rows);
  const FormSums sums = form_sums<double>(kernel, V, Diagonal::whole, o.run);
  const double mean = sums.row_sums.sum() / static_cast<double>(N) / static_cast<double>(N);
  const Vector centred_diagonal = (kernel.diagonal(0) - 2 / static_cast<double>(N) * sums.row_sums.col(0)).array() + mean;
  result.exact = false;
  result.description =
      fmt::format("wild bootstrap: {} draws of a sign for each row under the centred kernel, level right in the limit", o.permutations);
  const double observed = precise_statistic(pooled, statistic, o.run);
  judge(result, pooled, statistic, {observed, sums.forms.col(0).array() - a.cwiseAbs2().dot(centred_diagonal), 0}, o.run);
}

}  // namespace mercer::stats

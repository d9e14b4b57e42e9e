// Which columns carry the difference: each alone by permutations that all share, each in company by shuffling it.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "gram/prepared_kernel.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "mercer/witness.hpp"
#include "stats/exchanges.hpp"
#include "stats/pooled.hpp"
#include "stats/quadratic_forms.hpp"
#include "stats/test_result.hpp"

namespace mercer {

namespace {

constexpr std::size_t columns_at_a_time = 16;  // a tile of distances each, for every thread
constexpr double drop_work = 4e11;             // operations that all shuffles together may take, about
constexpr Index fewest_rows = 200;
constexpr double dense_bytes = 1e9;

// mmd-u from sums over pairs of different rows: of those in X, and of rows in X with all rows.
double unbiased(double within_x, double x_with_all, double all, double n, double m) {
  const double across = x_with_all - within_x;
  const double within_y = all - within_x - 2 * across;
  return within_x / (n * (n - 1)) + within_y / (m * (m - 1)) - 2 * across / (n * m);
}

struct TwoParts {
  Samples pooled;
  Index n = 0;
  Index m = 0;
  ExchangeOptions exchange{};
};

std::vector<Index> some_of(Index rows, Index wanted, std::uint64_t seed, std::uint64_t stream) {
  std::vector<Index> picked = RandomStream(seed, stream).sample(rows, wanted);
  std::sort(picked.begin(), picked.end());
  return picked;
}

// At most `most` rows, in proportion. Schemes whose exchanges look at neighbours or whole groups keep all rows.
TwoParts thinned(const TwoParts& parts, Index most, std::uint64_t seed) {
  const Index rows = parts.n + parts.m;
  const Exchange scheme = parts.exchange.scheme;
  if (rows <= most || (scheme != Exchange::free && scheme != Exchange::within_groups)) return parts;
  const double keep = static_cast<double>(most) / static_cast<double>(rows);
  const auto of = [&](Index all) { return std::min(all, std::max<Index>(2, std::llround(keep * static_cast<double>(all)))); };
  std::vector<Index> picked = some_of(parts.n, of(parts.n), seed, 0x7769740001);
  const auto n = std::ssize(picked);
  for (const Index row : some_of(parts.m, of(parts.m), seed, 0x7769740002)) picked.push_back(parts.n + row);
  TwoParts fewer{parts.pooled.subset(picked), n, std::ssize(picked) - n, parts.exchange};
  if (!parts.exchange.groups.empty()) {
    fewer.exchange.groups.clear();
    for (const Index row : picked) fewer.exchange.groups.push_back(parts.exchange.groups[static_cast<std::size_t>(row)]);
  }
  return fewer;
}

// Rows: which rows are in X, as they are and after each exchange.
Matrix labels_of(const TwoParts& parts, const stats::Exchanges& exchanges, Index draws) {
  const Index rows = parts.n + parts.m;
  Matrix labels = Matrix::Zero(draws + 1, rows);
  labels.row(0).head(parts.n).setOnes();
  std::vector<char> in_first(static_cast<std::size_t>(rows));
  for (Index b = 0; b < draws; ++b) {
    exchanges.draw_labels(b, in_first);
    for (Index i = 0; i < rows; ++i) labels(b + 1, i) = in_first[static_cast<std::size_t>(i)];
  }
  return labels;
}

struct Alone {
  Matrix statistics;  // mmd-u of each column alone, for all labellings: (1 + draws) x columns
  Vector rounding;    // what differs by less is a tie: sums of float64 products, relative to the mean k(x, x)
};

Alone alone(const TwoParts& parts, const Kernel& column_kernel, const Matrix& labels, const Run& run) {
  const Index width = parts.pooled.width();
  const Vector sizes = labels.rowwise().sum();
  const auto rows = static_cast<double>(parts.n + parts.m);
  Alone out{Matrix(labels.rows(), width), Vector(width)};
  for (Index first = 0; first < width; first += static_cast<Index>(columns_at_a_time)) {
    const Index count = std::min<Index>(width - first, static_cast<Index>(columns_at_a_time));
    std::vector<Kernel> kernels;
    for (Index c = first; c < first + count; ++c) kernels.push_back(resolve(column_kernel.on({c}), parts.pooled));
    const PreparedFamily<double> family(std::move(kernels), parts.pooled);
    const Matrix within = stats::quadratic_forms<double>(family, labels, stats::Diagonal::left_out, run);
    const Matrix sums = stats::row_sums<double>(family, stats::Diagonal::left_out, run);
    const Matrix with_all = labels * sums;
    for (Index c = 0; c < count; ++c) {
      out.rounding[first + c] = 1e-12 * family.diagonal(static_cast<std::size_t>(c)).cwiseAbs().mean();
      for (Index b = 0; b < labels.rows(); ++b)
        out.statistics(b, first + c) = unbiased(within(b, c), with_all(b, c), sums.col(c).sum(), sizes[b], rows - sizes[b]);
    }
  }
  return out;
}

double joint(const Kernel& kernel, const Samples& pooled, Index n, const Run& run) {
  const Index rows = pooled.size();
  Matrix sides = Matrix::Zero(rows, 2);
  sides.col(0).head(n).setOnes();
  sides.col(1).setOnes();
  const auto op = gram_operator(kernel, pooled, {.precision = Precision::float64, .storage = Storage::streamed, .run = run});
  const Matrix products = op->apply(sides);
  const Vector diagonal = op->diagonal();
  const double within_x = products.col(0).head(n).sum() - diagonal.head(n).sum();
  const double with_all = products.col(1).head(n).sum() - diagonal.head(n).sum();
  return unbiased(within_x, with_all, products.col(1).sum() - diagonal.sum(), static_cast<double>(n), static_cast<double>(rows - n));
}

Index rows_for_drops(const TwoParts& parts, Index shuffles) {
  const auto width = static_cast<double>(parts.pooled.width());
  const double rows = std::sqrt(drop_work / (width * static_cast<double>(shuffles) * (width + 20)));
  return std::clamp<Index>(static_cast<Index>(std::min(rows, 1e9)), fewest_rows, parts.n + parts.m);
}

// The loss of mmd-u when a column is shuffled, for every column.
Vector drops(const TwoParts& all, const Kernel& kernel, const WitnessColumnsOptions& o, ColumnTable& table) {
  const TwoParts parts = thinned(all, rows_for_drops(all, o.shuffles), o.seed);
  if (parts.n + parts.m < all.n + all.m)
    table.remarks.push_back(fmt::format("drops are of {} of the {} rows, drawn at random, to save time", parts.n + parts.m, all.n + all.m));
  const stats::Exchanges exchanges(parts.n + parts.m, parts.n, parts.exchange, o.seed);
  Matrix rows = parts.pooled.to_dense();
  const double whole = joint(kernel, rows, parts.n, {.threads = o.run.threads, .memory = o.run.memory});
  Vector lost = Vector::Zero(rows.cols());
  std::vector<Index> order(static_cast<std::size_t>(rows.rows()));
  with_run(o.run, [&] {
    Stage stage(o.run.progress, "Shuffled columns", static_cast<double>(rows.cols() * o.shuffles));
    for (Index s = 0; s < o.shuffles; ++s) {
      exchanges.draw(o.permutations + s, order);
      for (Index c = 0; c < rows.cols(); ++c) {
        const Vector before = rows.col(c);
        for (Index i = 0; i < rows.rows(); ++i) rows(i, c) = before[order[static_cast<std::size_t>(i)]];
        lost[c] += (whole - joint(kernel, rows, parts.n, {.memory = o.run.memory})) / static_cast<double>(o.shuffles);
        rows.col(c) = before;
        stage.advance(1);
      }
    }
  });
  return lost;
}

void set_shares(ColumnTable& table, bool by_drop) {
  double sum = 0;
  for (const WitnessColumn& c : table.columns) sum += std::max(0.0, by_drop ? c.drop : c.squared);
  for (WitnessColumn& c : table.columns) c.share = sum > 0 ? std::max(0.0, by_drop ? c.drop : c.squared) / sum : 0;
}

void check(const Samples& X, const Samples& Y, const WitnessColumnsOptions& o) {
  stats::require_two_samples(X, Y, o.kernel);
  if (X.is_given()) throw InvalidArgument("contributions of columns need columns, and a given Gram matrix has none");
  if (X.size() < 2 || Y.size() < 2)
    throw InvalidArgument(fmt::format("both samples need at least two rows, got {} and {}", X.size(), Y.size()));
  stats::require_level(o.level);
  if (o.permutations < 1) throw InvalidArgument(fmt::format("permutations must be >= 1, got {}", o.permutations));
  if (o.shuffles < 0) throw InvalidArgument(fmt::format("shuffles must be >= 0, got {}", o.shuffles));
  if (o.max_rows < 4) throw InvalidArgument(fmt::format("max_rows must be >= 4, got {}", o.max_rows));
  if (!o.exchange.groups.empty() && std::ssize(o.exchange.groups) != X.size() + Y.size())
    throw InvalidArgument(fmt::format("groups has {} numbers for {} rows", o.exchange.groups.size(), X.size() + Y.size()));
}

}  // namespace

Vector holm_adjusted(const Vector& p_values) {
  const Index count = p_values.size();
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return p_values[a] < p_values[b]; });
  Vector adjusted(count);
  double so_far = 0;
  for (Index i = 0; i < count; ++i) {
    const Index at = order[static_cast<std::size_t>(i)];
    so_far = std::max(so_far, std::min(1.0, static_cast<double>(count - i) * p_values[at]));
    adjusted[at] = so_far;
  }
  return adjusted;
}

std::vector<Index> ColumnTable::ranked() const {
  std::vector<Index> order(columns.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    const WitnessColumn& one = columns[static_cast<std::size_t>(a)];
    const WitnessColumn& other = columns[static_cast<std::size_t>(b)];
    if (one.differs != other.differs) return one.differs;
    if (one.p_value != other.p_value) return one.p_value < other.p_value;
    return one.share > other.share;
  });
  return order;
}

ColumnTable witness_columns(const Samples& X, const Samples& Y, const WitnessColumnsOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  check(X, Y, o);
  const TwoParts all{concatenate(X, Y), X.size(), Y.size(), o.exchange};
  const TwoParts parts = thinned(all, o.max_rows, o.seed);
  const Index rows = parts.n + parts.m;
  require_memory(static_cast<std::size_t>((o.permutations + 1) * rows * 16), o.run.memory,
                 fmt::format("{} permutations of {} rows", o.permutations, rows), "use fewer permutations or a smaller max_rows");
  const Kernel kernel = resolve(o.kernel, parts.pooled);
  ColumnTable table;
  table.n = parts.n;
  table.m = parts.m;
  table.permutations = o.permutations;
  table.seed = o.seed;
  table.kernel = kernel.text();
  if (rows < X.size() + Y.size())
    table.remarks.push_back(fmt::format("{} of the {} rows were used, drawn at random (max_rows)", rows, X.size() + Y.size()));
  table.squared = joint(kernel, parts.pooled, parts.n, o.run);

  const stats::Exchanges exchanges(rows, parts.n, parts.exchange, o.seed);
  const auto [statistics, rounding] = alone(parts, o.column_kernel, labels_of(parts, exchanges, o.permutations), o.run);
  const Index width = statistics.cols();
  Vector p(width);
  for (Index c = 0; c < width; ++c) p[c] = stats::exchange_p_value(statistics(0, c), statistics.col(c).tail(o.permutations), rounding[c]);
  const Vector adjusted = holm_adjusted(p);
  const bool dense_fits = static_cast<double>(rows) * static_cast<double>(width) * 8 <= dense_bytes;
  const bool with_drops = o.shuffles > 0 && dense_fits;
  if (o.shuffles > 0 && !dense_fits) table.remarks.emplace_back("no drops: the rows with all their zeros would take more than 1 GB");
  const Vector lost = with_drops ? drops(parts, kernel, o, table) : Vector::Constant(width, std::numeric_limits<double>::quiet_NaN());
  for (Index c = 0; c < width; ++c) table.columns.push_back({c, statistics(0, c), p[c], adjusted[c], adjusted[c] <= o.level, lost[c], 0});
  set_shares(table, with_drops);
  const auto differing = std::count_if(table.columns.begin(), table.columns.end(), [](const WitnessColumn& c) { return c.differs; });
  table.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  table.sentence = fmt::format("{} of {} columns differ by themselves at level {:g} (Holm over all columns, {})", differing, width, o.level,
                               exchanges.describe(o.permutations));
  return table;
}

}  // namespace mercer

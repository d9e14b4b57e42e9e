// SPDX-License-Identifier: BSD-3-Clause
#include "stats/aggregated_mmd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mercer/error.hpp"
#include "stats/aggregated_pairs.hpp"
#include "stats/test_result.hpp"

namespace mercer::stats {

namespace {

constexpr Index small_sample = 256;     // pooled rows up to which float64 costs nothing
constexpr double batch_bytes = 2.56e8;  // of labellings at a time
// What rounding does to mmd-u, in units of the kernel's values: of float32 it falls with the rows, which round apart.
constexpr double float32_rounding = 2e-5;
constexpr double float64_rounding = 1e-13;
constexpr double blur = 0.01;           // of the deviation under exchanges, that rounding may hide
constexpr double rounding_share = 0.1;  // of it: more is said in a remark

// Some labellings, in the units of the first sample: 1 in it, -r/s in the other.
template <class T>
struct Labellings {
  VectorPanels<T> V;
  Vector sizes;  // r
  Matrix sums;   // a'K1, labellings x kernels; of equal samples not needed and left at 0

  Labellings(Index count, Index rows, Index kernels) : V(count, rows), sizes(count), sums(Matrix::Zero(count, kernels)) {}

  void set(Index b, const std::vector<char>& in_first, const Matrix& row_sums) {
    const auto rows = static_cast<double>(in_first.size());
    const auto r = static_cast<double>(std::count(in_first.begin(), in_first.end(), 1));
    const auto other = static_cast<T>(-r / (rows - r));
    sizes[b] = r;
    V.set(b, [&](Index i) { return in_first[static_cast<std::size_t>(i)] != 0 ? T{1} : other; });
    if (2 * r == rows || row_sums.size() == 0) return;
    for (Index i = 0; i < std::ssize(in_first); ++i) {
      if (in_first[static_cast<std::size_t>(i)] != 0) sums.row(b) += row_sums.row(i);
    }
  }
};

std::vector<char> observed_labels(Index rows, Index first) {
  std::vector<char> in_first(static_cast<std::size_t>(rows));
  std::fill_n(in_first.begin(), first, 1);
  return in_first;
}

// mmd-u from v'Kv (v = a/r - b/s), a'K1 and 1'K1.
double unbiased(double q, double a_sums, double total, double r, double s) {
  if (r == s) return q + (total + r * r * q) / (2 * r * r * (r - 1));
  const double c = 1 / r + 1 / s;
  const double A = (q + 2 * c / s * a_sums - total / (s * s)) / (c * c);
  const double B = total - 2 * a_sums + A;
  return q + A / (r * r * (r - 1)) + B / (s * s * (s - 1));
}

// Labelling 0 is the observed one, labelling j > 0 exchange j - 1.
std::vector<char> labelling(const Exchanges& exchanges, Index first, Index j) {
  std::vector<char> in_first = observed_labels(exchanges.rows(), first);
  if (j > 0) exchanges.draw_labels(j - 1, in_first);
  return in_first;
}

// `some` labellings from number `begin` on, under any scheme.
template <class T>
Matrix mmd_of_labels(const PreparedFamily<T>& family, const PooledSums& sums, const Exchanges& exchanges, Index first, Index begin,
                     Index some, const Run& run) {
  const Index n = family.size();
  const auto kernels = static_cast<Index>(family.count());
  Labellings<T> labels(some, n, kernels);
  with_run(run, [&] { parallel_for(some, [&](Index b) { labels.set(b, labelling(exchanges, first, begin + b), sums.rows); }); });
  if (labels.sizes.minCoeff() < 2 || labels.sizes.maxCoeff() > static_cast<double>(n) - 2)
    throw InvalidArgument("an exchange of whole groups leaves fewer than two rows in a sample; groups of nearly equal size avoid that");
  Matrix values = form_sums<T>(family, labels.V, Diagonal::left_out, run).forms;
  for (Index b = 0; b < some; ++b) {
    const double r = labels.sizes[b];
    for (Index k = 0; k < kernels; ++k)
      values(b, k) = unbiased(values(b, k) / (r * r), labels.sums(b, k), sums.total[k], r, static_cast<double>(n) - r);
  }
  return values;
}

// The same for exchanges within pairs.
template <class T>
Matrix mmd_of_signs(const PreparedFamily<T>& family, const PooledSums& sums, const Exchanges& exchanges, Index begin, Index some,
                    const Run& run) {
  const Index r = family.size() / 2;
  VectorPanels<T> signs(some, r);
  with_run(run, [&] {
    parallel_for(some, [&](Index b) {
      const std::vector<char> in_first = labelling(exchanges, r, begin + b);
      signs.set(b, [&](Index i) { return in_first[static_cast<std::size_t>(i)] != 0 ? T{1} : T{-1}; });
    });
  });
  Matrix values = paired_forms(family, signs, run);
  const auto rows = static_cast<double>(r);
  for (Index k = 0; k < values.cols(); ++k) {
    for (Index b = 0; b < some; ++b) values(b, k) = unbiased(values(b, k) / (rows * rows), 0, sums.total[k], rows, rows);
  }
  return values;
}

template <class T>
Matrix mmd_in(const PreparedFamily<T>& family, const PooledSums& sums, const Exchanges& exchanges, Index first, Index draws,
              const Run& run) {
  const Index batch = std::clamp<Index>(static_cast<Index>(batch_bytes / (static_cast<double>(family.size()) * sizeof(T))), 256, draws + 1);
  Matrix values(draws + 1, static_cast<Index>(family.count()));
  for (Index begin = 0; begin <= draws; begin += batch) {
    const Index some = std::min(batch, draws + 1 - begin);
    values.middleRows(begin, some) = exchanges.scheme() == Exchange::pairs
                                         ? mmd_of_signs(family, sums, exchanges, begin, some, run)
                                         : mmd_of_labels(family, sums, exchanges, first, begin, some, run);
  }
  return values;
}

// A kernel that is nearly constant on these rows has a null as narrow as its rounding; one that is constant is told apart by nothing.
bool tells_apart(const ExchangedMmd& found, Index k, double share) {
  const auto null = found.values.col(k).array();
  return found.tolerance[k] <= share * std::sqrt((null - null.mean()).square().mean());
}
bool tells_apart(const ExchangedMmd& found) {
  for (Index k = 0; k < found.values.cols(); ++k) {
    if (!tells_apart(found, k, blur)) return false;
  }
  return true;
}

}  // namespace

void remark_on_rounding(TestResult& result, const ExchangedMmd& found, const std::vector<Kernel>& kernels) {
  for (Index k = 0; k < found.values.cols(); ++k) {
    if (tells_apart(found, k, rounding_share)) continue;
    result.remarks.push_back(
        fmt::format("rounding decides under {}: exchanges differ by little more than the rounding of its values, and nearer ones count as "
                    "ties, so its p-value is too large; where the rows lie far from 0, subtract the column means",
                    kernels[static_cast<std::size_t>(k)].text()));
    return;
  }
}

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
  const Index n = pooled.size();
  const auto count = static_cast<Index>(kernels.size());
  require_memory(static_cast<std::size_t>(2 * n * count) * sizeof(double), run.memory,
                 fmt::format("the row sums of {} kernels on {} rows", count, n), "use fewer kernels, or fewer rows");
  Labellings<double> observed(1, n, 0);
  observed.set(0, observed_labels(n, first), {});
  FormSums all = form_sums<double>(PreparedFamily<double>(kernels, pooled), observed.V, Diagonal::left_out, run);
  PooledSums sums;
  sums.rows = std::move(all.row_sums);
  sums.total = sums.rows.colwise().sum();
  sums.squares = std::move(all.squares);
  sums.mmd_u.resize(count);
  const auto r = static_cast<double>(first);
  for (Index k = 0; k < count; ++k)
    sums.mmd_u[k] = unbiased(all.forms(0, k) / (r * r), sums.rows.col(k).head(first).sum(), sums.total[k], r, static_cast<double>(n) - r);
  return sums;
}

ExchangedMmd mmd_of_exchanges(const std::vector<Kernel>& kernels, const Samples& pooled, const PooledSums& sums, const Exchanges& exchanges,
                              Index first, Index draws, const Run& run) {
  const double bytes = 8.0 * static_cast<double>(draws + 1) * static_cast<double>(kernels.size()) +
                       std::min(batch_bytes, 8.0 * static_cast<double>(draws + 1) * static_cast<double>(pooled.size()));
  require_memory(static_cast<std::size_t>(bytes), run.memory, fmt::format("{} exchanges of {} rows", draws, pooled.size()),
                 "use fewer permutations");
  const auto n = static_cast<double>(pooled.size());
  const Vector size = (sums.squares / (n * (n - 1))).cwiseSqrt();  // of kernel values
  if (pooled.size() > small_sample && !pooled.is_given()) {
    try {
      ExchangedMmd found{mmd_in(PreparedFamily<float>(kernels, pooled), sums, exchanges, first, draws, run), float32_rounding / n * size};
      if (tells_apart(found)) return found;
    } catch (const InvalidArgument&) {  // kernel values that float32 cannot hold; what float64 cannot do either is said below
    }
  }
  return {mmd_in(PreparedFamily<double>(kernels, pooled), sums, exchanges, first, draws, run), float64_rounding * size};
}

}  // namespace mercer::stats

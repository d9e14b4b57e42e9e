// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/k_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/witness.hpp"
#include "stats/exchanges.hpp"
#include "stats/quadratic_forms.hpp"
#include "stats/test_result.hpp"

namespace mercer {

namespace {

using stats::Exchanges;

constexpr Index float32_rows = 2048;      // from here on exchanges are tried in float32, observed labelling included
constexpr double blur = 1e-3;             // of the null's spread that ties may be apart, in float32
constexpr double precise_ties = 1e-13;    // relative to the size of the terms, in float64
constexpr double chunk_bytes = 2.5e8;     // of vectors made at a time
constexpr std::uint64_t pair_seed = 977;  // keeps the exchanges of pairs apart from those of all samples

// `labelling(b, groups)` writes the group of each row after exchange b.
using Labelling = std::function<void(Index, std::span<Index>)>;

// sum_g u_g'K u_g takes k - 1 vectors: the u_g times sqrt(n_g) add up to 0, so with rows Q orthonormal among themselves and orthogonal to
// sqrt(n_g / N) the vectors w_m = sum_g Q_mg u_g have the same sum of forms. Entry i of w_m is Q_mg / sqrt(n_g N), g the group of row i.
Matrix contrasts(const std::vector<Index>& sizes) {
  const auto k = std::ssize(sizes);
  Vector root(k);
  for (Index g = 0; g < k; ++g) root[g] = std::sqrt(static_cast<double>(sizes[static_cast<std::size_t>(g)]));
  const double total = root.norm();
  // The reflection that takes the first axis to -root / total: its other columns are orthogonal to root.
  Vector v = root / total;
  v[0] += 1;
  const Matrix reflection = Matrix::Identity(k, k) - 2 / v.squaredNorm() * v * v.transpose();
  Matrix values = reflection.bottomRows(k - 1);
  for (Index g = 0; g < k; ++g) values.col(g) /= root[g] * total;
  return values;
}

// The statistics of the exchanges 0 .. count - 1, and what rounding may do to them.
struct Between {
  Vector values{};
  double tolerance = 0;
};

template <class T>
Between between(const PreparedFamily<T>& kernel, const std::vector<Index>& sizes, Index count, const Labelling& labelling, const Run& run) {
  const Index n = kernel.size();
  const RowMatrix<T> values = contrasts(sizes).template cast<T>();
  const Index vectors = values.rows();
  const double bytes_each = static_cast<double>(vectors * n) * sizeof(T);
  const Index chunk = std::clamp<Index>(static_cast<Index>(chunk_bytes / bytes_each), 1, count);
  require_memory(static_cast<std::size_t>(bytes_each * static_cast<double>(chunk)), run.memory, "the vectors of the exchanges",
                 "use fewer rows");
  Between out{Vector(count)};
  for (Index first = 0; first < count; first += chunk) {
    const Index some = std::min(chunk, count - first);
    stats::VectorPanels<T> V(some * vectors, n);
    with_run(run, [&] {
      parallel_for(some, [&](Index b) {
        std::vector<Index> group(static_cast<std::size_t>(n));
        labelling(first + b, group);
        for (Index m = 0; m < vectors; ++m)
          V.set(b * vectors + m, [&, row = values.row(m).data()](Index i) { return row[group[static_cast<std::size_t>(i)]]; });
      });
    });
    const stats::FormSums sums = stats::form_sums<T>(kernel, V, stats::Diagonal::whole, run);
    for (Index b = 0; b < some; ++b) out.values[first + b] = sums.forms.col(0).segment(b * vectors, vectors).sum();
    // Entries of the vectors have a mean square of 1 / N^2, so sums with random signs are rounded in proportion to |K|_F / N^2. That goes
    // with N as the null's spread does; but it knows the offset of the data, which the spread does not.
    const double scale = 64 * std::sqrt(static_cast<double>(vectors) * sums.squares[0]) / std::pow(static_cast<double>(n), 2);
    out.tolerance = sizeof(T) == 4 ? stats::tie_tolerance(scale) : precise_ties * scale;
  }
  return out;
}

double deviation_of(const Vector& values) {
  return std::sqrt((values.array() - values.mean()).square().sum() / static_cast<double>(std::max<Index>(1, values.size() - 1)));
}

struct Counted {
  double statistic = 0;  // float64
  double observed = 0;   // as computed beside the exchanges
  Vector null{};
  double tolerance = 0;  // what is nearer is a tie

  // Whether the exchanges differ by no more than rounding.
  bool blurred() const { return null.size() > 1 && tolerance > deviation_of(null); }
};

Counted exchanged(const Kernel& kernel, const Samples& X, const std::vector<Index>& groups, const std::vector<Index>& sizes,
                  const Exchanges& exchanges, Index permutations, const Run& run) {
  const Labelling labelling = [&](Index b, std::span<Index> out) {
    if (b == 0) {
      std::copy(groups.begin(), groups.end(), out.begin());
      return;
    }
    std::vector<Index> order(groups.size());
    exchanges.draw(b, order);
    for (std::size_t i = 0; i < order.size(); ++i) out[i] = groups[static_cast<std::size_t>(order[i])];
  };
  const auto counted = [&](const Between& all) { return Counted{0, all.values[0], all.values.tail(permutations), all.tolerance}; };
  const PreparedFamily<double> precise({kernel}, X);
  if (X.size() >= float32_rows) {
    try {
      Counted found = counted(between<float>(PreparedFamily<float>({kernel}, X), sizes, permutations + 1, labelling, run));
      const double deviation = deviation_of(found.null);
      if (std::isfinite(deviation) && deviation > 0 && found.tolerance <= blur * deviation) {
        found.statistic = between<double>(precise, sizes, 1, labelling, run).values[0];
        return found;
      }
    } catch (const InvalidArgument&) {  // kernel values that float32 cannot hold; what float64 cannot do either is said below
    }
  }
  Counted found = counted(between<double>(precise, sizes, permutations + 1, labelling, run));
  found.statistic = found.observed;
  return found;
}

double log_labellings(const std::vector<Index>& groups, const KSampleOptions& options) {
  // Of each stratum the multinomial number of different labellings.
  std::map<Index, std::map<Index, Index>> counts;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Index stratum = options.exchange.scheme == Exchange::within_groups ? options.exchange.groups[i] : 0;
    ++counts[stratum][groups[i]];
  }
  double log_count = 0;
  for (const auto& [stratum, members] : counts) {
    double rows = 0;
    for (const auto& [group, count] : members) {
      rows += static_cast<double>(count);
      log_count -= std::lgamma(static_cast<double>(count) + 1);
    }
    log_count += std::lgamma(rows + 1);
  }
  return log_count;
}

void compare_pairs(KSampleResult& result, const Kernel& kernel, const Samples& X, const std::vector<Index>& groups,
                   const KSampleOptions& options) {
  const auto k = std::ssize(result.sizes);
  std::vector<double> p_values;
  for (Index g = 0; g < k; ++g) {
    for (Index h = g + 1; h < k; ++h) {
      KSamplePair pair{g, h};
      std::vector<Index> rows;
      std::vector<Index> sides;
      KSampleOptions two = options;
      two.exchange.groups.clear();
      for (std::size_t i = 0; i < groups.size(); ++i) {
        if (groups[i] != g && groups[i] != h) continue;
        rows.push_back(static_cast<Index>(i));
        sides.push_back(groups[i] == g ? 0 : 1);
        if (options.exchange.scheme == Exchange::within_groups) two.exchange.groups.push_back(options.exchange.groups[i]);
      }
      const std::vector<Index> sizes = {result.sizes[static_cast<std::size_t>(g)], result.sizes[static_cast<std::size_t>(h)]};
      // between = (n m / N^2) mmd-b for two samples.
      const double factor = static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) / std::pow(static_cast<double>(rows.size()), 2);
      const bool exchangeable = log_labellings(sides, two) > 0;
      const auto n = std::ssize(rows);
      const Exchanges exchanges(n, n, exchangeable ? two.exchange : ExchangeOptions{}, options.seed + pair_seed * (1 + g * k + h));
      const Counted counted =
          exchanged(kernel, X.subset(rows), sides, sizes, exchanges, exchangeable ? options.permutations : 1, options.run);
      pair.squared = counted.statistic / factor;
      if (exchangeable) pair.p_value = stats::exchange_p_value(counted.observed, counted.null, counted.tolerance);
      p_values.push_back(pair.p_value);
      result.pairs.push_back(pair);
    }
  }
  const Vector adjusted = holm_adjusted(Eigen::Map<const Vector>(p_values.data(), std::ssize(p_values)));
  for (std::size_t i = 0; i < result.pairs.size(); ++i) {
    result.pairs[i].adjusted = adjusted[static_cast<Index>(i)];
    result.pairs[i].rejected = result.pairs[i].adjusted <= options.level;
  }
}

std::string pairs_sentence(const KSampleResult& result, const std::vector<std::string>& names) {
  const auto name = [&](Index g) {
    const auto at = static_cast<std::size_t>(g);
    return names.empty() ? fmt::format("{}", result.labels[at]) : names[at];
  };
  std::string found;
  Index different = 0;
  for (const KSamplePair& pair : result.pairs) {
    if (!pair.rejected) continue;
    ++different;
    if (different <= 5) found += fmt::format("{}{} and {}", different == 1 ? "" : ", ", name(pair.first), name(pair.second));
  }
  if (different == 0) return fmt::format("no pair of samples differs by itself (Holm over {} pairs)", result.pairs.size());
  return fmt::format("{} of {} pairs differ (Holm): {}{}", different, result.pairs.size(), found, different > 5 ? ", ..." : "");
}

void check(const Samples& X, const std::vector<Index>& labels, const KSampleOptions& options) {
  stats::require_level(options.level);
  if (options.permutations < 1) throw InvalidArgument(fmt::format("permutations must be >= 1, got {}", options.permutations));
  if (options.exchange.scheme != Exchange::free && options.exchange.scheme != Exchange::within_groups)
    throw InvalidArgument(fmt::format("the k-sample test exchanges free or within-groups, got {}", name_of(options.exchange.scheme)));
  if (X.empty()) throw InvalidArgument("the samples have no rows");
  if (std::ssize(labels) != X.size())
    throw InvalidArgument(fmt::format("labels must be one for each of the {} rows, got {}", X.size(), labels.size()));
  require_finite(X, "X");
  if (options.kernel.psd() == Verdict::no)
    throw InvalidArgument(fmt::format(
        "the kernel {} is not positive semi-definite, so samples have no mean embedding; use a PSD kernel such as gaussian(auto)",
        options.kernel.text()));
}

}  // namespace

KSampleResult k_sample_test(const Samples& rows, const std::vector<Index>& labels, const KSampleOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Samples X = as_given(options.kernel, rows);
  check(X, labels, options);
  KSampleResult result;
  result.labels = labels;
  std::sort(result.labels.begin(), result.labels.end());
  result.labels.erase(std::unique(result.labels.begin(), result.labels.end()), result.labels.end());
  if (result.labels.size() < 2) throw InvalidArgument("a k-sample test needs at least two samples, got one: all labels are the same");
  if (!options.names.empty() && options.names.size() != result.labels.size())
    throw InvalidArgument(fmt::format("names must be one for each of the {} samples, got {}", result.labels.size(), options.names.size()));
  std::vector<Index> groups;
  result.sizes.resize(result.labels.size());
  for (const Index label : labels) {
    groups.push_back(std::lower_bound(result.labels.begin(), result.labels.end(), label) - result.labels.begin());
    ++result.sizes[static_cast<std::size_t>(groups.back())];
  }
  const Index n = X.size();
  result.test = "k-sample";
  result.statistic_name = "between";
  result.level = options.level;
  result.method = "permutation";
  result.exact = true;
  result.n = n;
  result.seed = options.seed;
  with_run(options.run, [&] {
    const Kernel kernel = resolve(options.kernel, X);
    result.kernels = {kernel.text()};
    const Exchanges exchanges(n, n, options.exchange, options.seed);
    result.description = exchanges.describe(options.permutations) + ", exact level";
    const Counted counted = exchanged(kernel, X, groups, result.sizes, exchanges, options.permutations, options.run);
    const PreparedFamily<double> family({kernel}, X);
    const double square = family.diagonal(0).cwiseAbs().mean();
    if (!std::isfinite(counted.statistic) || !std::isfinite(square)) throw InvalidArgument("kernel values overflow; scale the data");
    result.statistic = counted.statistic;
    stats::judge_by_exchanges(result, counted.observed, counted.null, counted.tolerance);
    if (log_labellings(groups, options) > 0 && square > 0 && counted.blurred()) stats::remark_on_rounding(result);
    const Matrix ones = Matrix::Constant(1, n, 1 / static_cast<double>(n));
    const double mean = stats::quadratic_forms<double>(family, ones, stats::Diagonal::whole, options.run)(0, 0);
    const double total = family.diagonal(0).mean() - mean;
    result.numbers.emplace_back("samples", static_cast<double>(result.sizes.size()));
    result.numbers.emplace_back("total scatter", total);
    result.numbers.emplace_back("explained share", total > 0 ? std::clamp(result.statistic / total, 0.0, 1.0) : 0.0);
    stats::remark_on_kernel(result, kernel, X, "difference");
    if (options.pairwise && result.sizes.size() > 2) compare_pairs(result, kernel, X, groups, options);
  });
  const double log_count = log_labellings(groups, options);
  if (log_count < std::log(static_cast<double>(options.permutations)))
    result.remarks.push_back(
        fmt::format("there are only {:.0f} different labellings of these rows: p-values are no finer than that", std::exp(log_count)));
  stats::conclude(result, fmt::format("the {} samples are not from one distribution", result.sizes.size()),
                  fmt::format("no difference found between the {} samples", result.sizes.size()), start);
  if (!result.pairs.empty()) result.remarks.push_back(pairs_sentence(result, options.names));
  return result;
}

KSampleResult k_sample_test(const std::vector<Samples>& samples, const KSampleOptions& options) {
  if (samples.size() < 2) throw InvalidArgument(fmt::format("a k-sample test needs at least two samples, got {}", samples.size()));
  std::vector<Index> labels;
  Samples pooled;
  for (std::size_t g = 0; g < samples.size(); ++g) {
    if (samples[g].empty()) throw InvalidArgument(fmt::format("sample {} has no rows", g));
    if (samples[g].width() != samples[0].width())
      throw InvalidArgument(fmt::format("all samples must have the same columns: sample 0 has {}, sample {} has {}", samples[0].width(), g,
                                        samples[g].width()));
    if (options.kernel.needs_given_gram() && !samples[g].is_given())
      throw InvalidArgument("with a precomputed kernel give the Gram matrix of all rows, and a label for each row");
    require_finite(samples[g], fmt::format("sample {}", g));
    labels.insert(labels.end(), static_cast<std::size_t>(samples[g].size()), static_cast<Index>(g));
    pooled = g == 0 ? samples[0] : concatenate(pooled, samples[g]);
  }
  return k_sample_test(pooled, labels, options);
}

}  // namespace mercer

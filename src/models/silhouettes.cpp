// SPDX-License-Identifier: BSD-3-Clause
#include "models/silhouettes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "gram/fill.hpp"
#include "gram/pair_reducer.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"

namespace mercer {

namespace {

struct Partition {
  std::vector<Index> labels{};
  std::vector<Index> counts{};
};

// Distances of a tile, from squares or from kernel values; a row has distance 0 to itself.
class Distances {
 public:
  Distances(const Samples& X, const std::optional<Kernel>& kernel) {
    if (kernel) {
      kernel_.emplace(*kernel, X, X);
      diagonal_ = gram_diagonal(*kernel, X);
    } else {
      ReductionSet needed;
      needed.insert(Reduction::squared_distance);
      reducer_.emplace(X, X, needed);
    }
  }

  void tile(Range I, Range J, double* out) const {
    const Tile<double> tile{out, I.count, J.count, J.count};
    if (reducer_) {
      reducer_->reduce(Reduction::squared_distance, I, J, tile);
    } else {
      kernel_->tile(I, J, tile);
    }
    for (Index i = 0; i < I.count; ++i) {
      double* row = out + i * J.count;
      for (Index j = 0; j < J.count; ++j) {
        const double square = reducer_ ? row[j] : diagonal_[I.begin + i] + diagonal_[J.begin + j] - 2 * row[j];
        row[j] = I.begin + i == J.begin + j ? 0 : std::sqrt(std::max(0.0, square));
      }
    }
  }

 private:
  std::optional<PreparedKernel<double>> kernel_{};
  std::optional<PairReducer<double>> reducer_{};
  Vector diagonal_{};
};

double silhouette_of(const double* sums, Index own, const std::vector<Index>& counts) {
  const Index alone = counts[static_cast<std::size_t>(own)];
  if (alone == 1) return 0;
  const double a = sums[own] / static_cast<double>(alone - 1);
  double b = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (static_cast<Index>(c) != own) b = std::min(b, sums[c] / static_cast<double>(counts[c]));
  }
  const double larger = std::max(a, b);
  return larger > 0 ? (b - a) / larger : 0;
}

}  // namespace

Index compact_labels(std::vector<Index>& labels) {
  std::map<Index, Index> number;
  for (const Index label : labels) number[label] = 0;
  Index next = 0;
  for (auto& [label, to] : number) to = next++;
  for (Index& label : labels) label = number[label];
  return next;
}

Matrix silhouettes(const Samples& X, const std::vector<std::vector<Index>>& partitions, const std::optional<Kernel>& kernel,
                   const ProgressCallback& progress) {
  const Index n = X.size();
  std::vector<Partition> all;
  std::vector<Index> offsets(1, 0);
  for (const auto& labels : partitions) {
    Partition p{labels, {}};
    p.counts.resize(static_cast<std::size_t>(compact_labels(p.labels)), 0);
    for (const Index label : p.labels) ++p.counts[static_cast<std::size_t>(label)];
    offsets.push_back(offsets.back() + std::ssize(p.counts));
    all.push_back(std::move(p));
  }
  const Distances distances(X, kernel);
  Matrix out(n, std::ssize(all));
  const Index blocks = block_count(n);
  Stage stage(progress, "silhouettes", static_cast<double>(blocks) * static_cast<double>(blocks));
  parallel_for(blocks, [&](Index a) {
    const Range I = block_range(a, n);
    TileMemory<double> memory;
    Matrix sums = Matrix::Zero(I.count, offsets.back());
    for (Index b = 0; b < blocks; ++b) {
      const Range J = block_range(b, n);
      distances.tile(I, J, memory.data());
      for (std::size_t p = 0; p < all.size(); ++p) {
        const Index* labels = all[p].labels.data() + J.begin;
        for (Index i = 0; i < I.count; ++i) {
          const double* row = memory.data() + i * J.count;
          double* sum = sums.row(i).data() + offsets[p];
          for (Index j = 0; j < J.count; ++j) sum[labels[j]] += row[j];
        }
      }
      stage.advance(1);
    }
    for (std::size_t p = 0; p < all.size(); ++p) {
      for (Index i = 0; i < I.count; ++i) {
        const Index own = all[p].labels[static_cast<std::size_t>(I.begin + i)];
        out(I.begin + i, static_cast<Index>(p)) = silhouette_of(sums.row(i).data() + offsets[p], own, all[p].counts);
      }
    }
  });
  return out;
}

Vector silhouette_samples(const Samples& rows, const std::vector<Index>& labels, const SilhouetteOptions& options) {
  const Samples X = options.kernel ? as_given(*options.kernel, rows) : rows;
  if (std::ssize(labels) != X.size())
    throw InvalidArgument(fmt::format("X has {} samples but there are {} labels", X.size(), labels.size()));
  if (!options.kernel && X.is_given()) throw InvalidArgument("Euclidean silhouettes need rows of numbers; give the kernel precomputed");
  std::vector<Index> renumbered = labels;
  const Index clusters = compact_labels(renumbered);
  if (clusters < 2 || clusters >= X.size())
    throw InvalidArgument(fmt::format("silhouettes need 2 to {} different labels (one less than the samples), got {}",
                                      std::max<Index>(2, X.size() - 1), clusters));
  Vector out;
  with_run(options.run, [&] {
    const auto kernel = options.kernel ? std::optional<Kernel>(resolve(*options.kernel, X)) : std::nullopt;
    out = silhouettes(X, {renumbered}, kernel, options.run.progress).col(0);
  });
  return out;
}

double silhouette(const Samples& X, const std::vector<Index>& labels, const SilhouetteOptions& options) {
  return silhouette_samples(X, labels, options).mean();
}

double adjusted_rand_index(const std::vector<Index>& a, const std::vector<Index>& b) {
  if (a.size() != b.size()) throw InvalidArgument(fmt::format("partitions of {} and {} samples cannot be compared", a.size(), b.size()));
  const auto pairs = [](double count) { return count * (count - 1) / 2; };
  std::map<std::pair<Index, Index>, double> cells;
  std::map<Index, double> rows;
  std::map<Index, double> cols;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ++cells[{a[i], b[i]}];
    ++rows[a[i]];
    ++cols[b[i]];
  }
  const auto sum = [&](const auto& counts) {
    double total = 0;
    for (const auto& [key, count] : counts) total += pairs(count);
    return total;
  };
  const double together = sum(cells);
  const double all = pairs(static_cast<double>(a.size()));
  const double in_a = sum(rows);
  const double in_b = sum(cols);
  if (all == 0 || in_a + in_b == 2 * together) return 1;  // the same partition, one cluster and all alone included
  const double expected = in_a * in_b / all;
  return (together - expected) / ((in_a + in_b) / 2 - expected);
}

}  // namespace mercer

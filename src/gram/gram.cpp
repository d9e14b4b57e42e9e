// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/gram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/buffer.hpp"
#include "gram/fill.hpp"
#include "gram/length_scale.hpp"
#include "gram/rows.hpp"
#include "gram/transform.hpp"
#include "mercer/error.hpp"
#include "mercer/objects.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

constexpr Index median_rows = 1000;

// The median; where half the distances or more are 0, the mean of the others.
double typical(std::vector<double> distances) {
  if (distances.empty()) return 1;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  double median = *middle;
  if (distances.size() % 2 == 0) median = (median + *std::max_element(distances.begin(), middle)) / 2;
  if (median > 0) return median;
  double sum = 0;
  Index positive = 0;
  for (const double d : distances) {
    sum += d;
    positive += d > 0 ? 1 : 0;
  }
  return positive > 0 ? sum / static_cast<double>(positive) : 1;
}

// Over all pairs of (a fixed sample of) the rows.
double typical_distance(const Samples& X, Reduction reduction, std::span<const ColumnRef> columns) {
  return typical(length_scale_distances(X, reduction, columns));
}

std::string name_gram(Index n, Index m, Precision precision) {
  return fmt::format("the {} x {} Gram matrix in {}", n, m, name_of(precision));
}

template <class T>
void fill_now(const Kernel& kernel, const Samples& X, const Samples& Y, T* out, Index stride, const Run& run) {
  with_run(run, [&] { fill_full(PreparedKernel<T>(resolve(kernel, Y), X, Y), out, stride, run.progress); });
}

}  // namespace

std::vector<Index> length_scale_rows(Index n) {
  std::vector<Index> picked(static_cast<std::size_t>(n));
  if (n > median_rows) {
    picked = RandomStream(0, 0x6d656469616e).sample(n, median_rows);
    std::sort(picked.begin(), picked.end());
  } else {
    std::iota(picked.begin(), picked.end(), Index{0});
  }
  return picked;
}

std::vector<double> length_scale_distances(const Samples& X, Reduction reduction, std::span<const ColumnRef> columns) {
  if (X.is_given())
    throw InvalidArgument("an automatic length scale needs columns to measure distances in, but a given Gram matrix has none");
  Samples rows = X.size() > median_rows ? X.subset(length_scale_rows(X.size())) : X;
  rows = select_columns(rows, columns);
  if (rows.has_objects())
    throw InvalidArgument(fmt::format("an automatic length scale needs columns of numbers to measure distances in, but column {} holds {}",
                                      rows.object_rows().places[0], name_of(rows.object_rows().columns[0]->kind())));
  const Index n = rows.size();
  ReductionSet needed;
  needed.insert(reduction);
  const PairReducer<double> reducer(rows, rows, needed);
  std::vector<double> distances;
  distances.reserve(static_cast<std::size_t>(n * (n - 1) / 2));
  std::vector<double> memory(static_cast<std::size_t>(n * n));
  reducer.reduce(reduction, Range{0, n}, {0, n}, Tile<double>{memory.data(), n, n, n});
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1; j < n; ++j) {
      const double d = memory[static_cast<std::size_t>(i * n + j)];
      distances.push_back(reduction == Reduction::squared_distance ? std::sqrt(d) : d);
    }
  }
  return distances;
}

namespace {

// The median distance in the feature space of a kernel, as median_distance has it of rows.
double typical_feature_distance(const Kernel& kernel, const Samples& X) {
  const Samples some = X.subset(length_scale_rows(X.size()));
  const Matrix K = gram(kernel, some);
  std::vector<double> distances;
  for (Index i = 0; i < K.rows(); ++i) {
    for (Index j = i + 1; j < K.cols(); ++j) distances.push_back(std::sqrt(std::max(0.0, K(i, i) + K(j, j) - 2 * K(i, j))));
  }
  return typical(std::move(distances));
}

// Kernels of objects, of the elements of sets, of what a map makes, and of distances in a feature space.
Kernel resolve_objects(const Kernel& kernel, const Samples& X) {
  using Kind = KernelNode::Kind;
  const KernelNode& node = kernel.node();
  if (node.kind() == Kind::objects) return Kernel(node.resolved_on(X));
  Samples seen = X;
  if (node.kind() == Kind::bag) seen = sets_of(X, kernel.text()).elements;
  if (node.kind() == Kind::pulled) seen = node.pulled(X);
  // Without any element every length scale will do.
  const Kernel part = seen.empty() ? with_length_scales(node.parts()[0], [](Reduction, std::span<const ColumnRef>) { return 1.0; })
                                   : resolve(node.parts()[0], seen);
  std::vector<double> own;
  if (node.kind() == Kind::radial) own = {node.own_parameters().empty() ? typical_feature_distance(part, X) : node.factor()};
  return Kernel(node.rebuilt({part}, own));
}

}  // namespace

Kernel resolve(const Kernel& kernel, const Samples& X) {
  if (!kernel.has_auto()) return kernel;
  return with_length_scales(
      kernel, [&](Reduction reduction, std::span<const ColumnRef> columns) { return typical_distance(X, reduction, columns); },
      [&](const Kernel& part, std::span<const ColumnRef> columns) { return resolve_objects(part, select_columns(X, columns)); });
}

Samples as_given(const Kernel& kernel, const Samples& X) { return X.is_given() || !kernel.needs_given_gram() ? X : Samples::given_gram(X); }

Samples as_given(const Kernel& kernel, const Samples& X, const Samples& columns) {
  if (X.is_given() || !kernel.needs_given_gram()) return X;
  return X.same_rows(columns) ? Samples::given_gram(X) : Samples::given_rows(X);
}

Samples as_new(const Kernel& kernel, const Samples& X, const Samples& columns) {
  if (!X.same_rows(columns) || !looks_at(kernel, Reduction::same)) return X;
  return copy_of(X);
}

double median_distance(const Samples& X) { return typical_distance(X, Reduction::squared_distance, {}); }

void gram_into(const Kernel& kernel, const Samples& X, const Samples& Y, double* out, Index stride, const Run& run) {
  fill_now(kernel, X, Y, out, stride, run);
}

void gram_into(const Kernel& kernel, const Samples& X, const Samples& Y, float* out, Index stride, const Run& run) {
  fill_now(kernel, X, Y, out, stride, run);
}

Matrix gram(const Kernel& kernel, const Samples& X, const Samples& Y, const GramOptions& options) {
  const auto count = static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(Y.size());
  require_memory(count * sizeof(double), options.run.memory, name_gram(X.size(), Y.size(), Precision::float64),
                 "use fewer rows, or gram_operator with streamed storage");
  Matrix K(X.size(), Y.size());
  advise_huge_pages(K.data(), count * sizeof(double));
  if (options.precision == Precision::float32) {
    const Operator op = gram_operator(kernel, X, Y, {Precision::float32, Storage::streamed, options.run});
    with_run(options.run, [&] {
      op->for_each_tile([&](const TileView& tile) {
        for (Index i = 0; i < tile.rows; ++i) {
          for (Index j = 0; j < tile.cols; ++j) {
            K(tile.row + i, tile.col + j) = tile(i, j);
            if (op->symmetric()) K(tile.col + j, tile.row + i) = tile(i, j);
          }
        }
      });
    });
    return K;
  }
  gram_into(kernel, X, Y, K.data(), Y.size(), options.run);
  return K;
}

Matrix gram(const Kernel& kernel, const Samples& X, const GramOptions& options) { return gram(kernel, X, X, options); }

Vector gram_diagonal(const Kernel& kernel, const Samples& X) { return PreparedKernel<double>(resolve(kernel, X), X, X).diagonal(); }

}  // namespace mercer

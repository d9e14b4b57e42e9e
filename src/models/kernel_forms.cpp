// SPDX-License-Identifier: BSD-3-Clause
#include "models/kernel_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "gram/transform.hpp"
#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"

namespace mercer {

using Kind = KernelNode::Kind;

namespace {

constexpr Index median_rows = 1000;

// Constants and white noise: their one parameter multiplies them.
bool is_its_weight(const Kernel& kernel) {
  return kernel.node().kind() == Kind::leaf && !kernel.node().properties().sees_columns && kernel.node().own_parameters().size() == 1;
}

}  // namespace

std::vector<Index> overall_weights(const Kernel& kernel) {
  const KernelNode& node = kernel.node();
  if (is_its_weight(kernel) || (node.kind() == Kind::scaled && !node.own_parameters().empty())) return {0};
  if (node.kind() != Kind::sum) return {};
  std::vector<Index> all;
  Index place = 0;
  for (const Kernel& part : node.parts()) {
    const std::vector<Index> own = overall_weights(part);
    if (own.empty()) return {};
    for (const Index p : own) all.push_back(place + p);
    place += std::ssize(part.parameters());
  }
  return all;
}

Kernel with_weights(const Kernel& kernel) {
  if (kernel.node().kind() != Kind::sum) return kernel;
  std::vector<Kernel> parts;
  for (const Kernel& part : kernel.node().parts()) {
    parts.push_back(part.node().kind() == Kind::scaled || is_its_weight(part) ? part : 1.0 * part);
  }
  return sum_of(parts);
}

Kernel with_ard(const Kernel& kernel, Index width) {
  if (width < 1) throw InvalidArgument(fmt::format("a length scale for each column needs at least one column, got {}", width));
  if (kernel.has_auto())
    throw InvalidArgument(fmt::format("{} has no length scale yet: with_ard(kernel, X) sets it from data", kernel.text()));
  return with_column_scales(kernel, [&](Reduction, double l, std::span<const ColumnRef> columns) {
    return std::vector<double>(columns.empty() ? static_cast<std::size_t>(width) : columns.size(), l);
  });
}

Kernel with_ard(const Kernel& kernel, const Samples& X) {
  if (kernel.has_named_columns())
    throw InvalidArgument(fmt::format("{} names columns: resolve_columns turns them into positions first", kernel.text()));
  if (X.is_given()) throw InvalidArgument("length scales for each column need columns, but a given Gram matrix has none");
  Samples rows = X;
  if (X.size() > median_rows) {
    std::vector<Index> picked = RandomStream(0, 0x6d656469616e).sample(X.size(), median_rows);
    std::sort(picked.begin(), picked.end());
    rows = X.subset(picked);
  }
  std::map<Index, double> known;  // one look at each column, however many parts of the kernel see it
  const auto within_column = [&](Index j) {
    if (j < 0 || j >= X.width()) throw InvalidArgument(fmt::format("the kernel looks at column {}, but X has {}", j, X.width()));
    const auto [place, fresh] = known.try_emplace(j, 1.0);
    if (fresh) place->second = median_distance(select_columns(rows, std::array<ColumnRef, 1>{ColumnRef(j)}));
    return place->second;
  };
  return with_column_scales(kernel, [&](Reduction reduction, double l, std::span<const ColumnRef> columns) {
    const Index width = columns.empty() ? X.width() : std::ssize(columns);
    std::vector<double> scales(static_cast<std::size_t>(width), l);
    if (l > 0) return scales;
    const auto count = static_cast<double>(width);
    for (Index c = 0; c < width; ++c) {
      const Index j = columns.empty() ? c : columns[static_cast<std::size_t>(c)].index;
      scales[static_cast<std::size_t>(c)] = within_column(j) * (reduction == Reduction::l1_distance ? count : std::sqrt(count));
    }
    return scales;
  });
}

std::string_view name_of(KernelObjective objective) {
  return objective == KernelObjective::loo ? "loo" : objective == KernelObjective::evidence ? "evidence" : "alignment";
}

KernelObjective parse_kernel_objective(std::string_view text) {
  for (const auto objective : {KernelObjective::loo, KernelObjective::evidence, KernelObjective::alignment}) {
    if (text == name_of(objective)) return objective;
  }
  throw InvalidArgument(fmt::format("the objective of kernel learning must be loo, evidence or alignment, got \"{}\"", text));
}

Matrix class_indicators(const std::vector<Index>& classes, Index count) {
  Matrix out = Matrix::Zero(std::ssize(classes), count);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] < 0 || classes[i] >= count)
      throw InvalidArgument(fmt::format("class {} of sample {} is outside 0 .. {}", classes[i], i, count - 1));
    out(static_cast<Index>(i), classes[i]) = 1;
  }
  return out;
}

}  // namespace mercer

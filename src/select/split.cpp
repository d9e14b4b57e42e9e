// SPDX-License-Identifier: BSD-3-Clause
#include "select/split.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/labels.hpp"
#include "mercer/nearest_word.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

// Whole groups in a random order go to the test part while it is short of its share.
Fold grouped_holdout(const std::vector<Index>& groups, double fraction, std::uint64_t seed) {
  const Index n_groups = *std::max_element(groups.begin(), groups.end()) + 1;
  if (n_groups < 2) throw InvalidArgument("all rows are in one group: nothing can be set aside; split without groups");
  std::vector<Index> size(static_cast<std::size_t>(n_groups));
  for (const Index g : groups) ++size[static_cast<std::size_t>(g)];
  const double wanted = fraction * static_cast<double>(groups.size());
  std::vector<bool> tested(size.size());
  double taken = 0;
  Index left = n_groups;
  for (const Index g : RandomStream(seed, 7).sample(n_groups, n_groups)) {
    const auto rows = static_cast<double>(size[static_cast<std::size_t>(g)]);
    // A group is taken while that brings the part nearer to its share; one stays on either side.
    if (left == 1 || (taken > 0 && taken + rows - wanted > wanted - taken)) continue;
    tested[static_cast<std::size_t>(g)] = true;
    taken += rows;
    --left;
  }
  Fold fold;
  for (std::size_t i = 0; i < groups.size(); ++i)
    (tested[static_cast<std::size_t>(groups[i])] ? fold.test : fold.train).push_back(static_cast<Index>(i));
  return fold;
}

Fold last_rows(Index n, double fraction) {
  const Index test = std::clamp<Index>(std::lround(fraction * static_cast<double>(n)), 1, n - 1);
  Fold fold;
  fold.train.resize(static_cast<std::size_t>(n - test));
  fold.test.resize(static_cast<std::size_t>(test));
  std::iota(fold.train.begin(), fold.train.end(), 0);
  std::iota(fold.test.begin(), fold.test.end(), n - test);
  return fold;
}

}  // namespace

Table rows_of(const Table& table, std::span<const Index> rows) {
  Table part;
  part.source = table.source;
  part.names = table.names;
  part.has_header = table.has_header;
  part.format = table.format;
  for (const Index i : rows) part.lines.push_back(table.line_of(i));
  for (const Column& column : table.columns) {
    Column& out = part.columns.emplace_back();
    out.name = column.name;
    std::visit(
        [&]<class Values>(const Values& values) {
          if constexpr (std::is_same_v<Values, Samples>) {
            out.values = values.subset(rows);
          } else {
            Values picked;
            for (const Index i : rows) picked.push_back(values[static_cast<std::size_t>(i)]);
            out.values = std::move(picked);
          }
        },
        column.values);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (std::binary_search(column.missing.begin(), column.missing.end(), rows[r])) out.missing.push_back(static_cast<Index>(r));
    }
  }
  if (table.sparse) {
    part.sparse = table.sparse->subset(rows);
    for (const Index i : rows) part.sparse_labels.push_back(table.sparse_labels[static_cast<std::size_t>(i)]);
  }
  return part;
}

Index group_column(const Table& table, const std::string& name) {
  if (table.sparse) throw InvalidArgument("LIBSVM rows have no column of groups; groups need a table with named columns");
  const Index column = table.find(name);
  if (column < 0) {
    throw InvalidArgument(fmt::format("{} has no column \"{}\" to group rows by{}; its columns are {}", table.source, name,
                                      did_you_mean(name, table.names), fmt::join(table.names, ", ")));
  }
  if (table.columns[static_cast<std::size_t>(column)].is_objects())
    throw InvalidArgument(fmt::format("column \"{}\" holds objects; groups are numbers or words", name));
  return column;
}

std::vector<Index> groups_of(const Table& table, const std::string& name) {
  const Column& column = table.columns[static_cast<std::size_t>(group_column(table, name))];
  if (!column.missing.empty()) {
    throw InvalidArgument(
        fmt::format("{}:{}: column \"{}\" is empty; every row needs a group", table.source, table.line_of(column.missing.front()), name));
  }
  std::map<std::string, Index> known;
  std::vector<Index> groups;
  for (Index i = 0; i < table.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::string cell = column.is_text() ? column.text()[row] : format_number(column.numbers()[row]);
    groups.push_back(known.emplace(cell, std::ssize(known)).first->second);
  }
  return groups;
}

std::vector<Index> picked_groups(const std::vector<Index>& groups, std::span<const Index> rows) {
  std::vector<Index> out;
  if (groups.empty()) return out;
  for (const Index i : rows) out.push_back(groups[static_cast<std::size_t>(i)]);
  return out;
}

Split split_rows(Index n, const Dataset& all, const std::vector<Index>& groups, const LearnOptions& options) {
  const double percent = 100 * options.holdout;
  if (options.time_ordered)
    return {last_rows(n, options.holdout), fmt::format("the last {:.3g} % of the rows, in the order of time", percent)};
  if (!groups.empty()) {
    Fold fold = grouped_holdout(groups, options.holdout, options.seed);
    const double share = 100 * static_cast<double>(fold.test.size()) / static_cast<double>(n);
    return {std::move(fold), fmt::format("whole groups of \"{}\" drawn at random, {:.3g} % of the rows", options.groups, share)};
  }
  if (all.encoder.task == Task::classification) {
    return {stratified_holdout(class_indices(all.y), options.holdout, options.seed),
            fmt::format("{:.3g} % of the rows, drawn at random with every class in proportion", percent)};
  }
  return {holdout(n, options.holdout, options.seed), fmt::format("{:.3g} % of the rows, drawn at random", percent)};
}

}  // namespace mercer

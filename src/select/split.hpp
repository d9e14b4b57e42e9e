// Setting a test part aside: at random, by groups, by time. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/folds.hpp"
#include "mercer/learn.hpp"

namespace mercer {

Table rows_of(const Table& table, std::span<const Index> rows);

// The position of the column that names groups; an error names those there are.
Index group_column(const Table& table, const std::string& name);
// A number for each row: rows with equal cells have equal numbers.
std::vector<Index> groups_of(const Table& table, const std::string& name);
std::vector<Index> picked_groups(const std::vector<Index>& groups, std::span<const Index> rows);

struct Split {
  Fold fold;
  std::string sentence;  // "30 % of the rows, drawn at random with every class in proportion"
};
Split split_rows(Index n, const Dataset& all, const std::vector<Index>& groups, const LearnOptions& options);

}  // namespace mercer

// What the readers of graphs share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mercer/objects.hpp"
#include "mercer/table.hpp"

namespace mercer {

// Every edge once, as (smaller, larger), in ascending order; loops left out. Gives back an edge that was labelled in two ways, if there is
// one.
std::optional<std::pair<Index, Index>> tidy_edges(Graph& graph);

// Numbers if every word is one, else text.
void add_label_column(Table& table, std::vector<std::string> words);

}  // namespace mercer

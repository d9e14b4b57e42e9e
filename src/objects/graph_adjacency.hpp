// Graphs as the algorithms want them: sorted neighbours without loops and duplicates, and labels as numbers.
//
// The graphs of both sides of a Gram matrix become one list with one dictionary of labels, so that equal labels have equal numbers
// wherever they stand. Where no graph has labels all nodes (or edges) are alike; labels on some graphs only are an error, because a node
// without a label is neither like nor unlike one that has a label. Cost: O(nodes + edges log degree), parallel over graphs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "objects/features.hpp"

namespace mercer::objects {

enum class GraphLabels : std::uint8_t { looked_at, ignored };

// One graph of the list below.
struct GraphView {
  Index nodes = 0;
  const std::int64_t* offsets = nullptr;      // nodes + 1 of them, into the next two
  const std::int32_t* neighbours = nullptr;   // ascending within a node
  const std::int32_t* edge_labels = nullptr;  // of the edges to these neighbours; null where no graph has any
  const std::int32_t* labels = nullptr;       // of the nodes

  Index degree(Index v) const { return offsets[v + 1] - offsets[v]; }
  std::span<const std::int32_t> neighbours_of(Index v) const { return {neighbours + offsets[v], static_cast<std::size_t>(degree(v))}; }
};

// Graphs one after the other, those of the rows first, then those of the columns unless both sides are the same.
struct Adjacency {
  std::vector<Index> first{};               // graphs + 1 of them: the nodes of graph g are first[g] to first[g + 1]
  std::vector<std::int64_t> offsets{};      // all nodes + 1
  std::vector<std::int32_t> neighbours{};   // numbered within their graph
  std::vector<std::int32_t> edge_labels{};  // empty where no graph has any
  std::vector<std::int32_t> labels{};       // of all nodes, 0 where no graph has any
  Index label_count = 1;
  Index edge_label_count = 1;

  Index graphs() const { return std::ssize(first) - 1; }
  Index nodes() const { return first.back(); }
  GraphView view(Index g) const;
};

Adjacency adjacency_of(const BothGraphs& both, GraphLabels node_labels = GraphLabels::looked_at,
                       GraphLabels edge_labels = GraphLabels::looked_at);

// How messages call graph g of that list: "graph 3", "graph 3 of the rows", "graph 0 of the columns".
std::string graph_name(const BothGraphs& both, Index g);

// Throws InvalidArgument if an edge leads beyond the nodes or there are not as many labels as nodes (or edges).
void require_valid(const Graph& graph, Index which);

}  // namespace mercer::objects

// SPDX-License-Identifier: BSD-3-Clause
#include "objects/graph_adjacency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer::objects {

namespace {

constexpr Index most_nodes = std::numeric_limits<std::int32_t>::max();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Index graph_count(const BothGraphs& both) { return std::ssize(both.rows) + (both.same ? 0 : std::ssize(both.cols)); }

const Graph& graph_at(const BothGraphs& both, Index g) {
  const Index rows = std::ssize(both.rows);
  return g < rows ? *both.rows[at(g)] : *both.cols[at(g - rows)];
}

void require_valid(const Graph& graph, std::string_view name) {
  if (graph.nodes < 0 || graph.nodes > most_nodes)
    throw InvalidArgument(fmt::format("{} has {} nodes, wanted from 0 to {}", name, graph.nodes, most_nodes));
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto [u, v] = graph.edges[e];
    if (std::min(u, v) < 0 || std::max(u, v) >= graph.nodes)
      throw InvalidArgument(fmt::format("edge {} of {} joins nodes {} and {}, wanted numbers from 0 to {} (there are {} nodes)", e, name, u,
                                        v, graph.nodes - 1, graph.nodes));
  }
  if (!graph.labels.empty() && std::ssize(graph.labels) != graph.nodes)
    throw InvalidArgument(
        fmt::format("{} has {} nodes and {} node labels, wanted one each or none", name, graph.nodes, graph.labels.size()));
  if (!graph.edge_labels.empty() && graph.edge_labels.size() != graph.edges.size())
    throw InvalidArgument(
        fmt::format("{} has {} edges and {} edge labels, wanted one each or none", name, graph.edges.size(), graph.edge_labels.size()));
}

bool has_edges(const Graph& graph) {
  return std::any_of(graph.edges.begin(), graph.edges.end(), [](const auto& edge) { return edge.first != edge.second; });
}

// Whether the graphs that have such parts at all (nodes, or edges) have labels of them.
template <class HasParts, class LabelsOf>
bool labels_on_all(const BothGraphs& both, std::string_view what, const HasParts& has_parts, const LabelsOf& labels_of) {
  Index with = -1;
  Index without = -1;
  for (Index g = 0; g < graph_count(both); ++g) {
    const Graph& graph = graph_at(both, g);
    if (!has_parts(graph)) continue;
    Index& seen = labels_of(graph).empty() ? without : with;
    if (seen < 0) seen = g;
  }
  if (with >= 0 && without >= 0)
    throw InvalidArgument(fmt::format("{0} has {2} labels and {1} has none; give {2} labels to all graphs or to none",
                                      graph_name(both, with), graph_name(both, without), what));
  return with >= 0;
}

// Numbers in the order in which labels first appear.
class Dictionary {
 public:
  std::int32_t number_of(std::string_view label) {
    return numbers_.try_emplace(label, static_cast<std::int32_t>(numbers_.size())).first->second;
  }
  Index size() const { return std::ssize(numbers_); }

 private:
  std::unordered_map<std::string_view, std::int32_t> numbers_;
};

// Both directions of every edge as (neighbour, edge label), node after node: packed in one number so that sorting is cheap.
struct PackedEdges {
  std::vector<std::int64_t> offsets;  // nodes + 1
  std::vector<std::uint64_t> entries;
};

PackedEdges pack(const Graph& graph, const std::int32_t* labels) {
  PackedEdges packed{std::vector<std::int64_t>(at(graph.nodes) + 1, 0), {}};
  for (const auto& [u, v] : graph.edges) {
    if (u == v) continue;
    ++packed.offsets[at(u) + 1];
    ++packed.offsets[at(v) + 1];
  }
  std::partial_sum(packed.offsets.begin(), packed.offsets.end(), packed.offsets.begin());
  packed.entries.resize(at(packed.offsets.back()));
  std::vector<std::int64_t> next(packed.offsets.begin(), packed.offsets.end() - 1);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto [u, v] = graph.edges[e];
    if (u == v) continue;
    const std::uint64_t label = labels == nullptr ? 0 : static_cast<std::uint64_t>(labels[e]);
    packed.entries[at(next[at(u)]++)] = static_cast<std::uint64_t>(v) << 32 | label;
    packed.entries[at(next[at(v)]++)] = static_cast<std::uint64_t>(u) << 32 | label;
  }
  return packed;
}

// Sorts the neighbours of every node and leaves out those given twice.
void sort_and_thin(PackedEdges& packed, const std::string& name) {
  auto out = packed.entries.begin();
  for (std::size_t v = 0; v + 1 < packed.offsets.size(); ++v) {
    const auto begin = packed.entries.begin() + packed.offsets[v];
    const auto end = packed.entries.begin() + packed.offsets[v + 1];
    std::sort(begin, end);
    packed.offsets[v] = out - packed.entries.begin();
    const auto kept = std::unique(begin, end);
    const auto clash = std::adjacent_find(begin, kept, [](std::uint64_t a, std::uint64_t b) { return a >> 32 == b >> 32; });
    if (clash != kept)
      throw InvalidArgument(fmt::format("the edge of nodes {} and {} of {} is given more than once with different labels, wanted one label",
                                        std::min<std::uint64_t>(v, *clash >> 32), std::max<std::uint64_t>(v, *clash >> 32), name));
    out = std::move(begin, kept, out);
  }
  packed.offsets.back() = out - packed.entries.begin();
  packed.entries.erase(out, packed.entries.end());
}

void number_nodes(const BothGraphs& both, bool labelled, Adjacency& all) {
  Dictionary dictionary;
  all.labels.assign(at(all.nodes()), 0);
  if (!labelled) return;
  auto out = all.labels.begin();
  for (Index g = 0; g < all.graphs(); ++g)
    for (const std::string& label : graph_at(both, g).labels) *out++ = dictionary.number_of(label);
  all.label_count = dictionary.size();
}

std::vector<std::vector<std::int32_t>> number_edges(const BothGraphs& both, Adjacency& all) {
  Dictionary dictionary;
  std::vector<std::vector<std::int32_t>> numbers(at(all.graphs()));
  for (Index g = 0; g < all.graphs(); ++g)
    for (const std::string& label : graph_at(both, g).edge_labels) numbers[at(g)].push_back(dictionary.number_of(label));
  all.edge_label_count = dictionary.size();
  return numbers;
}

void join(const std::vector<PackedEdges>& packed, bool edges_labelled, Adjacency& all) {
  all.offsets.assign(at(all.nodes()) + 1, 0);
  std::vector<std::int64_t> start(packed.size() + 1, 0);
  for (std::size_t g = 0; g < packed.size(); ++g) start[g + 1] = start[g] + std::ssize(packed[g].entries);
  all.neighbours.resize(at(start.back()));
  if (edges_labelled) all.edge_labels.resize(at(start.back()));
  parallel_for(std::ssize(packed), [&](Index g) {
    const PackedEdges& edges = packed[at(g)];
    for (std::size_t v = 0; v + 1 < edges.offsets.size(); ++v) all.offsets[at(all.first[at(g)]) + v] = start[at(g)] + edges.offsets[v];
    for (std::size_t e = 0; e < edges.entries.size(); ++e) {
      all.neighbours[at(start[at(g)]) + e] = static_cast<std::int32_t>(edges.entries[e] >> 32);
      if (edges_labelled) all.edge_labels[at(start[at(g)]) + e] = static_cast<std::int32_t>(edges.entries[e] & 0xffffffff);
    }
  });
  all.offsets.back() = start.back();
}

}  // namespace

GraphView Adjacency::view(Index g) const {
  const Index begin = first[at(g)];
  return {first[at(g) + 1] - begin, offsets.data() + begin, neighbours.data(), edge_labels.empty() ? nullptr : edge_labels.data(),
          labels.data() + begin};
}

std::string graph_name(const BothGraphs& both, Index g) {
  const Index rows = std::ssize(both.rows);
  if (both.same) return fmt::format("graph {}", g);
  return g < rows ? fmt::format("graph {} of the rows", g) : fmt::format("graph {} of the columns", g - rows);
}

void require_valid(const Graph& graph, Index which) { require_valid(graph, fmt::format("graph {}", which)); }

Adjacency adjacency_of(const BothGraphs& both, GraphLabels node_labels, GraphLabels edge_labels) {
  const Index graphs = graph_count(both);
  Adjacency all;
  all.first.assign(at(graphs) + 1, 0);
  for (Index g = 0; g < graphs; ++g) {
    const Graph& graph = graph_at(both, g);
    require_valid(graph, graph_name(both, g));
    all.first[at(g) + 1] = all.first[at(g)] + graph.nodes;
  }
  if (all.nodes() > most_nodes)
    throw InvalidArgument(
        fmt::format("the graphs have {} nodes together, wanted at most {}; take fewer graphs at a time", all.nodes(), most_nodes));

  constexpr std::size_t bytes_a_node = 24;  // offsets, a label and a colour or a queue's place
  require_memory(at(all.nodes()) * bytes_a_node, 0, fmt::format("the {} nodes of {} graphs", all.nodes(), graphs),
                 "take fewer graphs at a time, or allow more (MERCER_MEMORY)");

  const bool nodes_labelled = node_labels == GraphLabels::looked_at && labels_on_all(
                                                                           both, "node", [](const Graph& graph) { return graph.nodes > 0; },
                                                                           [](const Graph& graph) { return std::span(graph.labels); });
  const bool edges_labelled = edge_labels == GraphLabels::looked_at &&
                              labels_on_all(both, "edge", has_edges, [](const Graph& graph) { return std::span(graph.edge_labels); });
  number_nodes(both, nodes_labelled, all);
  const auto edge_numbers = edges_labelled ? number_edges(both, all) : std::vector<std::vector<std::int32_t>>{};

  std::vector<PackedEdges> packed(at(graphs));
  parallel_for(graphs, [&](Index g) {
    packed[at(g)] = pack(graph_at(both, g), edges_labelled ? edge_numbers[at(g)].data() : nullptr);
    sort_and_thin(packed[at(g)], graph_name(both, g));
  });
  join(packed, edges_labelled, all);
  return all;
}

}  // namespace mercer::objects

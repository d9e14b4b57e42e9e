// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/run.hpp"
#include "objects/graph_adjacency.hpp"
#include "objects/graph_counts.hpp"
#include "objects/graph_kernels.hpp"

namespace mercer::objects {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Two labels in ascending order and a distance as one number.
struct PathKeys {
  std::uint64_t labels;
  std::uint64_t distances;

  std::uint64_t operator()(std::int32_t a, std::int32_t b, std::int32_t distance) const {
    const auto [low, high] = std::minmax(a, b);
    return (static_cast<std::uint64_t>(low) * labels + static_cast<std::uint64_t>(high)) * distances + static_cast<std::uint64_t>(distance);
  }
};

// Breadth first from every node; a pair counts at its smaller node.
std::vector<KeyTally::Entry> count_paths(const GraphView& graph, const PathKeys& keys) {
  KeyTally counts;
  std::vector<std::int32_t> distance(at(graph.nodes), -1);
  std::vector<std::int32_t> reached;
  reached.reserve(at(graph.nodes));
  for (Index source = 0; source < graph.nodes; ++source) {
    reached.assign(1, static_cast<std::int32_t>(source));
    distance[at(source)] = 0;
    for (std::size_t next = 0; next < reached.size(); ++next) {
      const std::int32_t v = reached[next];
      const std::int32_t d = distance[at(v)];
      if (v > source) counts.add(keys(graph.labels[source], graph.labels[v], d));
      for (const std::int32_t w : graph.neighbours_of(v)) {
        if (distance[at(w)] >= 0) continue;
        distance[at(w)] = d + 1;
        reached.push_back(w);
      }
    }
    for (const std::int32_t v : reached) distance[at(v)] = -1;
  }
  return counts.sorted();
}

}  // namespace

Features shortest_path(const BothGraphs& both) {
  const Adjacency graphs = adjacency_of(both, GraphLabels::looked_at, GraphLabels::ignored);
  Index longest = 1;
  for (Index g = 0; g < graphs.graphs(); ++g) longest = std::max(longest, graphs.view(g).nodes);
  const auto labels = static_cast<double>(graphs.label_count);
  if (labels * labels * static_cast<double>(longest) > 0x1p63)
    throw InvalidArgument(fmt::format("shortest_path cannot number pairs of {} labels at distances up to {}; take fewer labels",
                                      graphs.label_count, longest));
  const PathKeys keys{static_cast<std::uint64_t>(graphs.label_count), static_cast<std::uint64_t>(longest)};
  std::vector<std::vector<KeyTally::Entry>> counts(at(graphs.graphs()));
  parallel_for(graphs.graphs(), [&](Index g) { counts[at(g)] = count_paths(graphs.view(g), keys); });
  return features_of(counts, both);
}

}  // namespace mercer::objects

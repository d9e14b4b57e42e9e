// Notation for sizes 3 and 4: d degrees, t triangles, with lower-case counts of subgraphs that may have further edges among their nodes
// (easy to count) turned into those of induced ones (wanted) by taking off, from the densest type down, how often each holds the other.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/run.hpp"
#include "objects/graph_adjacency.hpp"
#include "objects/graph_counts.hpp"
#include "objects/graph_kernels.hpp"

namespace mercer::objects {

namespace {

using Counts = std::vector<std::uint64_t>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
std::uint64_t pairs_of(std::uint64_t n) { return n < 2 ? 0 : n * (n - 1) / 2; }
std::uint64_t triples_of(std::uint64_t n) { return n < 3 ? 0 : pairs_of(n) * (n - 2) / 3; }

// ---- size 5: every connected set once (Wernicke 2006, ESU) ----

constexpr int largest = 5;

// Nodes i < j of a set share bit j (j - 1) / 2 + i of its mask.
constexpr int bit_of(int i, int j) { return j * (j - 1) / 2 + i; }
bool joined(unsigned mask, int i, int j) { return (mask >> bit_of(std::min(i, j), std::max(i, j)) & 1) != 0; }

unsigned renumbered(unsigned mask, const std::array<int, largest>& order) {
  unsigned out = 0;
  for (int j = 1; j < largest; ++j)
    for (int i = 0; i < j; ++i)
      if (joined(mask, order[at(i)], order[at(j)])) out |= 1u << bit_of(i, j);
  return out;
}

bool connected(unsigned mask) {
  unsigned reached = 1;
  for (int round = 1; round < largest; ++round)
    for (int i = 0; i < largest; ++i)
      for (int j = 0; j < largest; ++j)
        if (i != j && (reached >> i & 1) != 0 && joined(mask, i, j)) reached |= 1u << j;
  return reached == (1u << largest) - 1;
}

// The type of every mask of five nodes: connected types by number of edges, then by their smallest mask.
struct TypeTable {
  std::array<std::uint8_t, 1024> type{};
  int types = 0;

  TypeTable() {
    std::vector<unsigned> masks(type.size());
    std::iota(masks.begin(), masks.end(), 0u);
    std::stable_sort(masks.begin(), masks.end(), [](unsigned a, unsigned b) { return std::popcount(a) < std::popcount(b); });
    std::array<bool, 1024> known{};
    for (const unsigned mask : masks) {
      if (known[mask] || !connected(mask)) continue;
      std::array<int, largest> order{0, 1, 2, 3, 4};
      do {
        const unsigned twin = renumbered(mask, order);
        known[twin] = true;
        type[twin] = static_cast<std::uint8_t>(types);
      } while (std::next_permutation(order.begin(), order.end()));
      ++types;
    }
  }
};

const TypeTable& type_table() {
  static const TypeTable table;
  return table;
}

// Grows sets from a root by nodes that have larger numbers than the root and were no neighbours of the set before: so each set is met once.
class FiveNodeSets {
 public:
  FiveNodeSets(const GraphView& graph, Counts& counts) : graph_(graph), counts_(counts), near_(at(graph.nodes), 0) {}

  void count_all() {
    for (Index root = 0; root < graph_.nodes; ++root) {
      root_ = static_cast<std::int32_t>(root);
      std::vector<std::int32_t>& candidates = candidates_[1];
      candidates.clear();
      for (const std::int32_t v : graph_.neighbours_of(root))
        if (v > root_) candidates.push_back(v);
      mark(root_, 0);
      extend(1, 0);
      unmark(root_, 0);
    }
  }

 private:
  // near_[v]: which members of the set v is a neighbour of, by their places.
  void mark(std::int32_t member, int place) {
    for (const std::int32_t v : graph_.neighbours_of(member)) near_[at(v)] = static_cast<std::uint8_t>(near_[at(v)] | 1u << place);
  }
  void unmark(std::int32_t member, int place) {
    for (const std::int32_t v : graph_.neighbours_of(member)) near_[at(v)] = static_cast<std::uint8_t>(near_[at(v)] & ~(1u << place));
  }

  // `members` nodes are in the set and `mask` has the edges among them.
  void extend(int members, unsigned mask) {
    std::vector<std::int32_t>& candidates = candidates_[at(members)];
    if (members == largest - 1) {
      for (const std::int32_t v : candidates) ++counts_[types_.type[mask | static_cast<unsigned>(near_[at(v)]) << bit_of(0, members)]];
      return;
    }
    std::vector<std::int32_t>& further = candidates_[at(members) + 1];
    while (!candidates.empty()) {
      const std::int32_t member = candidates.back();
      candidates.pop_back();
      further = candidates;
      for (const std::int32_t v : graph_.neighbours_of(member))
        if (v > root_ && near_[at(v)] == 0) further.push_back(v);
      mark(member, members);
      extend(members + 1, mask | static_cast<unsigned>(near_[at(member)]) << bit_of(0, members));
      unmark(member, members);
    }
  }

  const GraphView& graph_;
  const TypeTable& types_ = type_table();
  Counts& counts_;
  std::vector<std::uint8_t> near_;
  std::array<std::vector<std::int32_t>, largest> candidates_{};
  std::int32_t root_ = 0;
};

Counts count_five(const GraphView& graph) {
  Counts counts(at(type_table().types), 0);
  FiveNodeSets(graph, counts).count_all();
  return counts;
}

// ---- sizes 3 and 4 ----

// What the counts of small types are made of.
struct SmallParts {
  std::uint64_t two_paths = 0;     // sum of pairs of neighbours
  std::uint64_t three_stars = 0;   // sum of triples of neighbours
  std::uint64_t middle_edges = 0;  // sum over edges of (d_u - 1) (d_v - 1)
  std::uint64_t triangles = 0;
  std::uint64_t tailed_triangles = 0;  // sum over triangles and their corners of d - 2
  std::uint64_t triangle_pairs = 0;    // sum over edges of pairs of triangles on it
  std::uint64_t squares = 0;           // half the sum over node pairs of pairs of common neighbours
  std::uint64_t cliques = 0;           // of four nodes
};

// Edges among the nodes of `among` (ascending, all larger than u): each closes a clique with u and v.
std::uint64_t edges_among(const GraphView& graph, const std::vector<std::int32_t>& among, const std::vector<std::uint8_t>& is_among) {
  std::uint64_t edges = 0;
  for (const std::int32_t w : among)
    for (const std::int32_t x : graph.neighbours_of(w)) edges += static_cast<std::uint64_t>(x > w && is_among[at(x)] != 0);
  return edges;
}

SmallParts count_parts(const GraphView& graph, bool for_four) {
  SmallParts parts;
  std::vector<std::uint8_t> marked(at(graph.nodes), 0);     // neighbours of u
  std::vector<std::uint8_t> is_common(at(graph.nodes), 0);  // neighbours of u and v larger than both
  std::vector<std::uint64_t> two_steps(at(graph.nodes), 0);
  std::vector<std::int32_t> common;
  for (Index u = 0; u < graph.nodes; ++u) {
    const auto d_u = static_cast<std::uint64_t>(graph.degree(u));
    parts.two_paths += pairs_of(d_u);
    parts.three_stars += triples_of(d_u);
    for (const std::int32_t v : graph.neighbours_of(u)) marked[at(v)] = 1;
    for (const std::int32_t v : graph.neighbours_of(u)) {
      if (v < u) continue;
      const auto d_v = static_cast<std::uint64_t>(graph.degree(v));
      parts.middle_edges += (d_u - 1) * (d_v - 1);
      std::uint64_t on_edge = 0;
      common.clear();
      for (const std::int32_t w : graph.neighbours_of(v)) {
        if (marked[at(w)] == 0) continue;
        ++on_edge;
        parts.tailed_triangles += static_cast<std::uint64_t>(graph.degree(w)) - 2;  // w is the corner across this edge
        if (w > v) common.push_back(w);
      }
      parts.triangles += common.size();
      parts.triangle_pairs += pairs_of(on_edge);
      if (!for_four) continue;
      for (const std::int32_t w : common) is_common[at(w)] = 1;
      parts.cliques += edges_among(graph, common, is_common);
      for (const std::int32_t w : common) is_common[at(w)] = 0;
    }
    for (const std::int32_t v : graph.neighbours_of(u)) marked[at(v)] = 0;
    if (!for_four) continue;
    for (const std::int32_t v : graph.neighbours_of(u))
      for (const std::int32_t w : graph.neighbours_of(v))
        if (w > u) parts.squares += two_steps[at(w)]++;
    for (const std::int32_t v : graph.neighbours_of(u))
      for (const std::int32_t w : graph.neighbours_of(v)) two_steps[at(w)] = 0;
  }
  parts.squares /= 2;  // met from both diagonals
  return parts;
}

// Path, triangle.
Counts count_three(const GraphView& graph) {
  const SmallParts parts = count_parts(graph, false);
  return {parts.two_paths - 3 * parts.triangles, parts.triangles};
}

// Path, star, square, triangle with a tail, square with a diagonal, clique.
Counts count_four(const GraphView& graph) {
  const SmallParts parts = count_parts(graph, true);
  const std::uint64_t cliques = parts.cliques;
  const std::uint64_t diagonals = parts.triangle_pairs - 6 * cliques;
  const std::uint64_t tails = parts.tailed_triangles - 4 * diagonals - 12 * cliques;
  const std::uint64_t squares = parts.squares - diagonals - 3 * cliques;
  const std::uint64_t stars = parts.three_stars - tails - 2 * diagonals - 4 * cliques;
  const std::uint64_t paths = parts.middle_edges - 3 * parts.triangles - 4 * squares - 2 * tails - 6 * diagonals - 12 * cliques;
  return {paths, stars, squares, tails, diagonals, cliques};
}

}  // namespace

Features graphlet(const BothGraphs& both, int size) {
  if (size < 3 || size > 5) throw InvalidArgument(fmt::format("the size of graphlets must be 3, 4 or 5 nodes, got {}", size));
  const auto count = size == 3 ? count_three : size == 4 ? count_four : count_five;
  const Adjacency graphs = adjacency_of(both, GraphLabels::ignored, GraphLabels::ignored);
  std::vector<Counts> of_graph(at(graphs.graphs()));
  parallel_for(graphs.graphs(), [&](Index g) { of_graph[at(g)] = count(graphs.view(g)); });

  GraphCountRows rows{{0}, {}, {}};
  for (const Counts& counts : of_graph) {
    for (std::size_t type = 0; type < counts.size(); ++type) {
      if (counts[type] == 0) continue;
      rows.columns.push_back(static_cast<std::int32_t>(type));
      rows.values.push_back(static_cast<double>(counts[type]));
    }
    rows.offsets.push_back(std::ssize(rows.columns));
  }
  constexpr std::array<Index, 6> types{0, 0, 0, 2, 6, 21};
  return features_of(std::move(rows), types[at(size)], both);
}

}  // namespace mercer::objects

// SPDX-License-Identifier: BSD-3-Clause
#include "objects/graph_adjacency.hpp"

#include <gtest/gtest.h>

#include <set>

#include "mercer/error.hpp"
#include "unit/core/support.hpp"
#include "unit/objects/graph_support.hpp"

namespace mercer::objects {
namespace {

using mercer::testing::message_of;
using testing::at;
using testing::path;
using testing::pointers;

Adjacency of_list(const std::vector<Graph>& graphs) {
  const auto list = pointers(graphs);
  return adjacency_of({list, list, true});
}

Adjacency of_lists(const std::vector<Graph>& rows, const std::vector<Graph>& cols) {
  const auto a = pointers(rows);
  const auto b = pointers(cols);
  return adjacency_of({a, b, false});
}

TEST(GraphAdjacency, SortsNeighboursAndDropsLoopsAndDuplicates) {
  const Graph g{.nodes = 4,
                .edges = {{3, 0}, {0, 1}, {1, 0}, {2, 2}, {1, 3}, {0, 1}},
                .labels = {"b", "a", "b", "c"},
                .edge_labels = {"y", "x", "x", "z", "y", "x"}};
  const Adjacency all = of_list({Graph{}, g});
  EXPECT_EQ(all.first, (std::vector<Index>{0, 0, 4}));
  EXPECT_EQ(all.offsets, (std::vector<std::int64_t>{0, 2, 4, 4, 6}));
  EXPECT_EQ(all.neighbours, (std::vector<std::int32_t>{1, 3, 0, 3, 0, 1}));
  EXPECT_EQ(all.labels, (std::vector<std::int32_t>{0, 1, 0, 2}));
  EXPECT_EQ(all.label_count, 3);
  const std::int32_t y = all.edge_labels[1];
  const std::int32_t x = all.edge_labels[0];
  EXPECT_NE(x, y);
  EXPECT_EQ(all.edge_labels, (std::vector<std::int32_t>{x, y, x, y, y, y}));
  EXPECT_EQ(all.view(1).degree(3), 2);
  EXPECT_EQ(all.view(0).nodes, 0);
}

TEST(GraphAdjacency, HoldsTheEdgesOfRandomGraphs) {
  RandomStream random(3);
  for (const Graph& g : testing::random_graphs(4, 30, {.labels = 2, .edge_labels = 3})) {
    const Adjacency all = of_list({testing::disguised(g, random)});
    EXPECT_EQ(all.neighbours.size(), 2 * g.edges.size());
    for (Index v = 0; v < g.nodes; ++v)
      for (const std::int32_t w : all.view(0).neighbours_of(v)) {
        const auto back = all.view(0).neighbours_of(w);
        EXPECT_TRUE(std::binary_search(back.begin(), back.end(), static_cast<std::int32_t>(v)));
      }
  }
}

TEST(GraphAdjacency, NumbersLabelsAlikeOnBothSides) {
  Graph a = path(2);
  a.labels = {"N", "C"};
  Graph b = path(2);
  b.labels = {"O", "C"};
  const Adjacency all = of_lists({a}, {b});
  EXPECT_EQ(all.labels, (std::vector<std::int32_t>{0, 1, 2, 1}));
  EXPECT_EQ(all.graphs(), 2);
}

TEST(GraphAdjacency, RefusesLabelsOnSomeGraphsOnly) {
  Graph labelled = path(2);
  labelled.labels = {"a", "b"};
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              of_list({path(3), Graph{}, labelled});
            }),
            "graph 2 has node labels and graph 0 has none; give node labels to all graphs or to none");
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              of_lists({labelled}, {Graph{}, path(3)});
            }),
            "graph 0 of the rows has node labels and graph 1 of the columns has none; give node labels to all graphs or to none");
  Graph bonds = path(2);
  bonds.edge_labels = {"double"};
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              of_list({bonds, Graph{.nodes = 5}, path(2)});
            }),
            "graph 0 has edge labels and graph 2 has none; give edge labels to all graphs or to none");
  EXPECT_NO_THROW(of_list({Graph{}, labelled}));                // nothing to label
  EXPECT_NO_THROW(of_list({Graph{.nodes = 3}, bonds, bonds}));  // no edge to label
}

TEST(GraphAdjacency, RefusesWhatIsNoGraph) {
  EXPECT_EQ(message_of<InvalidArgument>([] {
              require_valid(Graph{.nodes = 3, .edges = {{0, 1}, {1, 3}}}, 7);
            }),
            "edge 1 of graph 7 joins nodes 1 and 3, wanted numbers from 0 to 2 (there are 3 nodes)");
  EXPECT_THROW(of_list({Graph{.nodes = 3, .edges = {{-1, 1}}}}), InvalidArgument);
  EXPECT_THROW(of_list({Graph{.nodes = -1}}), InvalidArgument);
  EXPECT_EQ(message_of<InvalidArgument>([] { of_list({Graph{.nodes = 3, .labels = {"a"}}}); }),
            "graph 0 has 3 nodes and 1 node labels, wanted one each or none");
  EXPECT_EQ(message_of<InvalidArgument>([] {
              of_lists({}, {Graph{.nodes = 2, .edges = {{0, 1}}, .edge_labels = {"a", "b"}}});
            }),
            "graph 0 of the columns has 1 edges and 2 edge labels, wanted one each or none");
  EXPECT_EQ(message_of<InvalidArgument>([] {
              of_list({Graph{.nodes = 2, .edges = {{1, 0}, {0, 1}}, .edge_labels = {"a", "b"}}});
            }),
            "the edge of nodes 0 and 1 of graph 0 is given more than once with different labels, wanted one label");
}

}  // namespace
}  // namespace mercer::objects

// Weisfeiler-Lehman, shortest path and graphlet features against their definitions.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "mercer/error.hpp"
#include "unit/core/support.hpp"
#include "unit/objects/graph_support.hpp"

namespace mercer::objects {
namespace {

using mercer::testing::message_of;
using testing::at;
using testing::complete;
using testing::cycle;
using testing::dot_gram;
using testing::features_of_list;
using testing::minimum_gram;
using testing::path;
using testing::random_graphs;
using testing::star;
using testing::Wanted;

using Bag = std::map<std::string, double>;

auto subtree(int h) {
  return [h](const BothGraphs& both) { return weisfeiler_lehman(both, h); };
}
auto assignment(int h) {
  return [h](const BothGraphs& both) { return weisfeiler_lehman_assignment(both, h); };
}
auto graphlets(int size) {
  return [size](const BothGraphs& both) { return graphlet(both, size); };
}
constexpr auto paths = [](const BothGraphs& both) { return shortest_path(both); };

Matrix gram_of(const std::vector<Bag>& bags, double (*join)(double, double)) {
  const Index n = std::ssize(bags);
  Matrix K = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      for (const auto& [key, count] : bags[at(i)])
        if (const auto it = bags[at(j)].find(key); it != bags[at(j)].end()) K(i, j) += join(count, it->second);
  return K;
}
double times(double a, double b) { return a * b; }
double smaller(double a, double b) { return std::min(a, b); }

std::string label_of(const Graph& g, Index v) { return g.labels.empty() ? "" : g.labels[at(v)]; }

// The colour of a node is its whole unfolded tree, written out.
Bag subtree_bag(const Graph& g, int h) {
  std::vector<std::string> colour(at(g.nodes));
  for (Index v = 0; v < g.nodes; ++v) colour[at(v)] = label_of(g, v);
  Bag bag;
  for (int i = 0; i <= h; ++i) {
    for (const std::string& c : colour) ++bag[std::to_string(i) + "#" + c];
    std::vector<std::string> next(at(g.nodes));
    for (Index v = 0; v < g.nodes; ++v) {
      std::multiset<std::string> around;
      for (std::size_t e = 0; e < g.edges.size(); ++e) {
        const auto [a, b] = g.edges[e];
        const std::string label = g.edge_labels.empty() ? "" : g.edge_labels[e];
        if (a == v) around.insert("<" + label + "|" + colour[at(b)] + ">");
        if (b == v) around.insert("<" + label + "|" + colour[at(a)] + ">");
      }
      next[at(v)] = "(" + colour[at(v)] + ":" + std::accumulate(around.begin(), around.end(), std::string{}) + ")";
    }
    colour = next;
  }
  return bag;
}

TEST(WeisfeilerLehman, EqualsTreesWrittenOut) {
  for (const Wanted wanted : {Wanted{}, Wanted{.labels = 3}, Wanted{.labels = 2, .edge_labels = 2}, Wanted{.edge_labels = 3}}) {
    const std::vector<Graph> graphs = random_graphs(1, 30, wanted);
    for (const int h : {0, 1, 2, 4}) {
      std::vector<Bag> bags;
      for (const Graph& g : graphs) bags.push_back(subtree_bag(g, h));
      EXPECT_EQ(dot_gram(features_of_list(graphs, subtree(h))), gram_of(bags, times)) << h;
      const Features best = features_of_list(graphs, assignment(h));
      EXPECT_EQ(minimum_gram(best), gram_of(bags, smaller)) << h;
    }
  }
}

TEST(WeisfeilerLehman, HoldsInGeneral) {
  for (const Wanted wanted : {Wanted{}, Wanted{.labels = 3}, Wanted{.labels = 2, .edge_labels = 2}}) {
    testing::expect_features_hold(subtree(3), wanted);
    testing::expect_features_hold(assignment(3), wanted, minimum_gram);
  }
  testing::expect_nothing_is_fine(subtree(2));
  testing::expect_nothing_is_fine(assignment(2));
}

// The best assignment of nodes by trying all, where a pair is worth the iterations at which its colours agree.
TEST(WeisfeilerLehman, AssignmentIsTheBestOfAll) {
  RandomStream random(5);
  for (int repeat = 0; repeat < 10; ++repeat) {
    const std::vector<Graph> two{testing::random_graph(random, 5, 0.5, {.labels = 2}),
                                 testing::random_graph(random, 5, 0.5, {.labels = 2})};
    constexpr int h = 2;
    Eigen::MatrixXd worth = Eigen::MatrixXd::Zero(5, 5);
    for (int depth = 0; depth <= h; ++depth) {
      std::array<std::vector<std::string>, 2> trees;
      for (std::size_t side = 0; side < 2; ++side) {
        const std::function<std::string(Index, int)> tree = [&](Index v, int d) -> std::string {
          if (d == 0) return two[side].labels[at(v)];
          std::multiset<std::string> around;
          for (const auto& [a, b] : two[side].edges) {
            if (a == v) around.insert("<" + tree(b, d - 1) + ">");
            if (b == v) around.insert("<" + tree(a, d - 1) + ">");
          }
          return tree(v, d - 1) + std::accumulate(around.begin(), around.end(), std::string{});
        };
        for (Index v = 0; v < 5; ++v) trees[side].push_back(tree(v, depth));
      }
      for (Index u = 0; u < 5; ++u)
        for (Index v = 0; v < 5; ++v) worth(u, v) += trees[0][at(u)] == trees[1][at(v)];
    }
    std::array<Index, 5> to{0, 1, 2, 3, 4};
    double best = 0;
    do {
      double sum = 0;
      for (Index u = 0; u < 5; ++u) sum += worth(u, to[at(u)]);
      best = std::max(best, sum);
    } while (std::next_permutation(to.begin(), to.end()));
    EXPECT_EQ(minimum_gram(features_of_list(two, assignment(h)))(0, 1), best);
  }
}

TEST(WeisfeilerLehman, ClosedForms) {
  // In a cycle all nodes stay alike, whatever its length; two triangles are a hexagon to it.
  Graph triangles = cycle(3);
  triangles.nodes = 6;
  for (const auto& [u, v] : cycle(3).edges) triangles.edges.emplace_back(u + 3, v + 3);
  const Matrix K = dot_gram(features_of_list({cycle(6), triangles, cycle(5), star(4)}, subtree(5)));
  EXPECT_EQ(K(0, 1), 6 * 6 * 6);
  EXPECT_EQ(K(0, 2), 6 * 5 * 6);
  EXPECT_EQ(K(0, 3), 6 * 5);              // alike before the first iteration only
  EXPECT_EQ(K(3, 3), 25 + 5 * (1 + 16));  // then a centre and four leaves
  // A path of n nodes folds in the middle: iteration i tells distances to the ends up to i.
  EXPECT_EQ(dot_gram(features_of_list({path(4)}, subtree(50)))(0, 0), 16 + 50 * (4 + 4));
  EXPECT_EQ(features_of_list({path(4)}, assignment(50)).self_rows(0), 4 * 51);
}

TEST(WeisfeilerLehman, RefusesNegativeAndEndlessIterations) {
  EXPECT_EQ(message_of<InvalidArgument>([] { features_of_list({path(2)}, subtree(-1)); }),
            "the iterations of weisfeiler_lehman must be >= 0, got -1");
  EXPECT_THROW(features_of_list({path(2)}, subtree(2147483647)), InvalidArgument);
}

// Floyd-Warshall; the two labels of a pair in alphabetical order.
Bag path_bag(const Graph& g) {
  constexpr double never = 1e9;
  Matrix d = Matrix::Constant(g.nodes, g.nodes, never);
  for (const auto& [u, v] : g.edges) d(u, v) = d(v, u) = 1;
  for (Index k = 0; k < g.nodes; ++k)
    for (Index i = 0; i < g.nodes; ++i)
      for (Index j = 0; j < g.nodes; ++j) d(i, j) = std::min(d(i, j), d(i, k) + d(k, j));
  Bag bag;
  for (Index v = 0; v < g.nodes; ++v)
    for (Index u = 0; u < v; ++u) {
      if (d(u, v) >= never) continue;
      const std::string a = label_of(g, u);
      const std::string b = label_of(g, v);
      ++bag[std::min(a, b) + "|" + std::max(a, b) + "|" + std::to_string(static_cast<int>(d(u, v)))];
    }
  return bag;
}

TEST(ShortestPath, EqualsFloydWarshall) {
  for (const Wanted wanted : {Wanted{}, Wanted{.labels = 4}, Wanted{.labels = 2, .edge_labels = 2}}) {
    const std::vector<Graph> graphs = random_graphs(2, 40, wanted);
    std::vector<Bag> bags;
    for (const Graph& g : graphs) bags.push_back(path_bag(g));
    EXPECT_EQ(dot_gram(features_of_list(graphs, paths)), gram_of(bags, times));
  }
}

TEST(ShortestPath, HoldsInGeneral) {
  testing::expect_features_hold(paths, {});
  testing::expect_features_hold(paths, {.labels = 3});
  testing::expect_nothing_is_fine(paths);
}

TEST(ShortestPath, ClosedForms) {
  // A path of n nodes has n - d pairs at distance d, a cycle of 2 m nodes 2 m at each d < m and m at m.
  const Matrix K = dot_gram(features_of_list({path(300), cycle(8), complete(6), star(5)}, paths));
  double squares = 0;
  for (int d = 1; d < 300; ++d) squares += (300 - d) * (300 - d);
  EXPECT_EQ(K(0, 0), squares);
  EXPECT_EQ(K(0, 1), 8 * (299 + 298 + 297) + 4 * 296);
  EXPECT_EQ(K(1, 1), 3 * 64 + 16);
  EXPECT_EQ(K(2, 2), 225);
  EXPECT_EQ(K(3, 3), 25 + 100);
  EXPECT_EQ(K(2, 3), 15 * 5);
}

// Every set of nodes, its type by the smallest adjacency text over all orders of its nodes.
Bag graphlet_bag(const Graph& g, int size) {
  Matrix A = Matrix::Zero(g.nodes, g.nodes);
  for (const auto& [u, v] : g.edges) A(u, v) = A(v, u) = 1;
  Bag bag;
  for (unsigned set = 0; set < 1u << g.nodes; ++set) {
    std::vector<Index> nodes;
    for (Index v = 0; v < g.nodes; ++v)
      if ((set >> v & 1u) != 0) nodes.push_back(v);
    if (std::ssize(nodes) != size) continue;
    Matrix part = A(nodes, nodes);
    Matrix reach = Matrix::Identity(size, size) + part;
    for (int i = 0; i < size; ++i) reach = Matrix(reach * reach).cwiseMin(1);
    if (reach.minCoeff() == 0) continue;  // not connected
    std::string type;
    std::sort(nodes.begin(), nodes.end());
    do {
      std::string text;
      for (const Index u : nodes)
        for (const Index v : nodes) text += A(u, v) == 0 ? '0' : '1';
      if (type.empty() || text < type) type = text;
    } while (std::next_permutation(nodes.begin(), nodes.end()));
    ++bag[type];
  }
  return bag;
}

TEST(Graphlet, EqualsAllSubsetsInAllOrders) {
  std::vector<Graph> graphs = random_graphs(3, 20, {.labels = 2});
  graphs.push_back(complete(7));
  for (const int size : {3, 4, 5}) {
    std::vector<Bag> bags;
    for (const Graph& g : graphs) bags.push_back(graphlet_bag(g, size));
    EXPECT_EQ(dot_gram(features_of_list(graphs, graphlets(size))), gram_of(bags, times)) << size;
  }
}

TEST(Graphlet, HoldsInGeneral) {
  for (const int size : {3, 4, 5}) {
    testing::expect_features_hold(graphlets(size), {});
    testing::expect_nothing_is_fine(graphlets(size));
  }
}

TEST(Graphlet, ClosedForms) {
  const std::vector<Graph> graphs{path(30), cycle(30), star(12), complete(12)};
  const auto counts = [&](int size) { return features_of_list(graphs, graphlets(size)).rows.to_dense(); };
  const Matrix three = counts(3);
  EXPECT_EQ(three.cols(), 2);
  EXPECT_EQ(three, (Matrix(4, 2) << 28, 0, 30, 0, 66, 0, 0, 220).finished());
  const Matrix four = counts(4);
  EXPECT_EQ(four, (Matrix(4, 6) << 27, 0, 0, 0, 0, 0, 30, 0, 0, 0, 0, 0, 0, 220, 0, 0, 0, 0, 0, 0, 0, 0, 0, 495).finished());
  const Matrix five = counts(5);
  EXPECT_EQ(five.cols(), 21);
  EXPECT_EQ(five.rowwise().sum(), (Vector(4) << 26, 30, 495, 792).finished());
  EXPECT_EQ(five(3, 20), 792);                                                            // the clique has most edges
  EXPECT_EQ(five.leftCols(3).rowwise().sum(), (Vector(4) << 26, 30, 495, 0).finished());  // three trees come first
}

// All 21 connected graphs of five nodes have columns of their own.
TEST(Graphlet, TypesAreTheConnectedGraphs) {
  for (const auto& [size, types] : {std::pair{3, 2}, {4, 6}, {5, 21}}) {
    std::vector<Graph> graphs;
    const std::vector<std::pair<Index, Index>> edges = complete(size).edges;
    for (unsigned mask = 0; mask < 1u << edges.size(); ++mask) {
      Graph g{.nodes = size};
      for (std::size_t e = 0; e < edges.size(); ++e)
        if ((mask >> e & 1u) != 0) g.edges.push_back(edges[e]);
      graphs.push_back(g);
    }
    const Matrix counts = features_of_list(graphs, graphlets(size)).rows.to_dense();
    EXPECT_EQ(counts.cols(), types);
    EXPECT_EQ(counts.rowwise().sum().maxCoeff(), 1);
    EXPECT_GT(counts.colwise().sum().minCoeff(), 0);
    Index edges_before = 0;
    for (Index type = 0; type < types; ++type) {
      Index row = 0;
      counts.col(type).maxCoeff(&row);
      EXPECT_GE(std::ssize(graphs[at(row)].edges), edges_before);
      edges_before = std::ssize(graphs[at(row)].edges);
    }
  }
}

TEST(Graphlet, IgnoresLabelsEvenOnSomeGraphsOnly) {
  Graph labelled = path(3);
  labelled.labels = {"a", "b", "c"};
  EXPECT_EQ(dot_gram(features_of_list({labelled, path(3)}, graphlets(3))), Matrix::Ones(2, 2));
}

TEST(Graphlet, RefusesOtherSizes) {
  for (const int size : {-1, 0, 2, 6})
    EXPECT_EQ(message_of<InvalidArgument>([&] { features_of_list({path(2)}, graphlets(size)); }),
              "the size of graphlets must be 3, 4 or 5 nodes, got " + std::to_string(size));
}

}  // namespace
}  // namespace mercer::objects

// What the tests of graphs share: small graphs by name, random ones, and Gram matrices from features.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mercer/random.hpp"
#include "mercer/run.hpp"
#include "objects/graph_kernels.hpp"

namespace mercer::objects::testing {

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

inline Graph path(Index n) {
  Graph g{.nodes = n};
  for (Index v = 1; v < n; ++v) g.edges.emplace_back(v - 1, v);
  return g;
}

inline Graph cycle(Index n) {
  Graph g = path(n);
  g.edges.emplace_back(n - 1, 0);
  return g;
}

inline Graph star(Index leaves) {
  Graph g{.nodes = leaves + 1};
  for (Index v = 1; v <= leaves; ++v) g.edges.emplace_back(0, v);
  return g;
}

inline Graph complete(Index n) {
  Graph g{.nodes = n};
  for (Index v = 0; v < n; ++v)
    for (Index u = 0; u < v; ++u) g.edges.emplace_back(u, v);
  return g;
}

struct Wanted {
  Index labels = 0;  // different ones; 0: none
  Index edge_labels = 0;
};

inline Graph random_graph(RandomStream& random, Index n, double density, Wanted wanted) {
  static const std::vector<std::string> words{"C", "N", "O", "carbon monoxide"};
  Graph g{.nodes = n};
  for (Index v = 0; v < n; ++v) {
    if (wanted.labels > 0) g.labels.push_back(words[at(random.below(wanted.labels))]);
    for (Index u = 0; u < v; ++u) {
      if (random.uniform() >= density) continue;
      g.edges.emplace_back(u, v);
      if (wanted.edge_labels > 0) g.edge_labels.push_back(words[at(random.below(wanted.edge_labels))]);
    }
  }
  return g;
}

// Of sizes 0 to 9 and all densities.
inline std::vector<Graph> random_graphs(std::uint64_t seed, Index count, Wanted wanted) {
  RandomStream random(seed);
  std::vector<Graph> graphs;
  for (Index g = 0; g < count; ++g) graphs.push_back(random_graph(random, g % 10, random.uniform(0.1, 0.9), wanted));
  return graphs;
}

// The same graph with its nodes numbered differently and its edges in another order and direction, some given twice, with loops.
inline Graph disguised(const Graph& g, RandomStream& random) {
  const std::vector<Index> to = random.permutation(g.nodes);
  Graph out{.nodes = g.nodes};
  if (!g.labels.empty()) out.labels.resize(at(g.nodes));
  for (Index v = 0; v < std::ssize(g.labels); ++v) out.labels[at(to[at(v)])] = g.labels[at(v)];
  for (const Index e : random.permutation(std::ssize(g.edges))) {
    const auto [u, v] = g.edges[at(e)];
    const int times = 1 + static_cast<int>(random.below(2));
    for (int i = 0; i < times; ++i) {
      out.edges.emplace_back(i == 0 ? to[at(v)] : to[at(u)], i == 0 ? to[at(u)] : to[at(v)]);
      if (!g.edge_labels.empty()) out.edge_labels.push_back(g.edge_labels[at(e)]);
    }
  }
  if (g.nodes > 0) {
    out.edges.emplace_back(g.nodes - 1, g.nodes - 1);
    if (!g.edge_labels.empty()) out.edge_labels.push_back("loop");
  }
  return out;
}

inline std::vector<const Graph*> pointers(const std::vector<Graph>& graphs) {
  std::vector<const Graph*> out;
  for (const Graph& g : graphs) out.push_back(&g);
  return out;
}

// features(both) of one list against itself.
template <class Make>
Features features_of_list(const std::vector<Graph>& graphs, const Make& make) {
  const auto list = pointers(graphs);
  return make(BothGraphs{list, list, true});
}

template <class Make>
Features features_of_lists(const std::vector<Graph>& rows, const std::vector<Graph>& cols, const Make& make) {
  const auto a = pointers(rows);
  const auto b = pointers(cols);
  return make(BothGraphs{a, b, false});
}

inline Matrix dot_gram(const Features& f) { return f.rows.to_dense() * f.cols.to_dense().transpose(); }

inline Matrix minimum_gram(const Features& f) {
  const Matrix a = f.rows.to_dense();
  const Matrix b = f.cols.to_dense();
  Matrix K(a.rows(), b.rows());
  for (Index i = 0; i < K.rows(); ++i)
    for (Index j = 0; j < K.cols(); ++j) K(i, j) = a.row(i).cwiseMin(b.row(j)).sum();
  return K;
}

inline void expect_ascending(const Samples& X) {
  const auto& rows = std::get<CsrRows<double>>(X.storage());
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index e = rows.begin(i); e < rows.end(i); ++e) {
      EXPECT_GT(rows.values[e], 0);
      EXPECT_LT(rows.columns[e], rows.cols);
      EXPECT_TRUE(e == rows.begin(i) || rows.columns[e - 1] < rows.columns[e]);
    }
  }
}

inline void expect_psd(const Matrix& K) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(K);
  EXPECT_GE(eigen.eigenvalues().minCoeff(), -1e-10 * eigen.eigenvalues().maxCoeff());
}

// What holds of features of any kernel of graphs: cross lists, disguises, self values, threads, order of columns, PSD.
template <class Make>
void expect_features_hold(const Make& make, Wanted wanted, Matrix (*gram)(const Features&) = dot_gram) {
  const std::vector<Graph> graphs = random_graphs(11, 24, wanted);
  const Features all = features_of_list(graphs, make);
  const Matrix K = gram(all);
  expect_ascending(all.rows);
  expect_psd(K);
  EXPECT_TRUE(all.rows.same_rows(all.cols));
  EXPECT_EQ(Vector(K.diagonal()), all.self_rows);
  EXPECT_EQ(all.self_rows, all.self_cols);

  const std::vector<Graph> head(graphs.begin(), graphs.begin() + 9);
  const std::vector<Graph> tail(graphs.begin() + 9, graphs.end());
  const Features cross = features_of_lists(head, tail, make);
  EXPECT_EQ(gram(cross), Matrix(K.topRightCorner(9, 15)));
  EXPECT_EQ(cross.self_rows, all.self_rows.head(9));
  EXPECT_EQ(cross.self_cols, all.self_rows.tail(15));
  expect_ascending(cross.rows);
  expect_ascending(cross.cols);

  RandomStream random(12);
  std::vector<Graph> twins;
  for (const Graph& g : graphs) twins.push_back(disguised(g, random));
  EXPECT_EQ(gram(features_of_list(twins, make)), K);
  EXPECT_EQ(gram(features_of_lists(graphs, twins, make)), K);

  for (const int threads : {1, 2, 3})
    with_threads(threads, [&] {
      const Features again = features_of_list(graphs, make);
      EXPECT_EQ(again.rows.to_dense(), all.rows.to_dense());
      EXPECT_EQ(again.self_rows, all.self_rows);
    });
}

// Lists without graphs and graphs without nodes.
template <class Make>
void expect_nothing_is_fine(const Make& make) {
  const Features none = features_of_list({}, make);
  EXPECT_EQ(none.rows.size(), 0);
  EXPECT_EQ(none.self_rows.size(), 0);
  const Features empty = features_of_lists({Graph{}, Graph{}}, {Graph{}}, make);
  EXPECT_EQ(empty.rows.size(), 2);
  EXPECT_EQ(empty.cols.size(), 1);
  EXPECT_EQ(empty.self_rows, Vector::Zero(2));
  EXPECT_EQ(dot_gram(empty), Matrix::Zero(2, 1));
  EXPECT_EQ(dot_gram(features_of_lists({Graph{}}, {path(4), Graph{}}, make)), Matrix::Zero(1, 2));
}

}  // namespace mercer::objects::testing

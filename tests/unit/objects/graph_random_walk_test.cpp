// The random walk kernel against a dense inverse, the power series and walks counted one by one.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "mercer/error.hpp"
#include "unit/core/support.hpp"
#include "unit/objects/graph_support.hpp"

namespace mercer::objects {
namespace {

using mercer::testing::message_of;
using testing::at;
using testing::complete;
using testing::cycle;
using testing::path;
using testing::pointers;
using testing::random_graphs;
using testing::star;
using testing::Wanted;

Matrix values_of(const std::vector<Graph>& rows, const std::vector<Graph>& cols, double decay, bool labelled = true) {
  const auto a = pointers(rows);
  const auto b = pointers(cols);
  const auto values = random_walk({a, b, false}, decay, labelled);
  Matrix K(std::ssize(rows), std::ssize(cols));
  for (Index i = 0; i < K.rows(); ++i) values->row(i, 0, K.cols(), K.data() + i * K.cols());
  return K;
}

Matrix values_of(const std::vector<Graph>& graphs, double decay, bool labelled = true) {
  const auto list = pointers(graphs);
  const auto values = random_walk({list, list, true}, decay, labelled);
  Matrix K(std::ssize(graphs), std::ssize(graphs));
  for (Index i = 0; i < K.rows(); ++i) values->row(i, 0, K.cols(), K.data() + i * K.cols());
  return K;
}

// The label of the edge of u and v, "-" without labels; empty: no edge.
std::string edge(const Graph& g, Index u, Index v) {
  for (std::size_t e = 0; e < g.edges.size(); ++e)
    if (g.edges[e] == std::pair(u, v) || g.edges[e] == std::pair(v, u)) return g.edge_labels.empty() ? "-" : g.edge_labels[e];
  return "";
}

bool alike(const Graph& G, Index u, const Graph& H, Index v) { return G.labels.empty() || G.labels[at(u)] == H.labels[at(v)]; }

// The adjacency of the direct product graph over all node pairs, rows of pairs with different labels being zero, and the pairs that count.
std::pair<Matrix, Vector> product_graph(const Graph& G, const Graph& H) {
  const Index n = H.nodes;
  Matrix W = Matrix::Zero(G.nodes * n, G.nodes * n);
  Vector ones = Vector::Zero(G.nodes * n);
  for (Index u = 0; u < G.nodes; ++u)
    for (Index v = 0; v < n; ++v) {
      if (!alike(G, u, H, v)) continue;
      ones(u * n + v) = 1;
      for (Index x = 0; x < G.nodes; ++x)
        for (Index y = 0; y < n; ++y)
          if (alike(G, x, H, y) && !edge(G, u, x).empty() && edge(G, u, x) == edge(H, v, y)) W(u * n + v, x * n + y) = 1;
    }
  return {W, ones};
}

TEST(RandomWalk, EqualsTheDenseInverse) {
  for (const Wanted wanted : {Wanted{}, Wanted{.labels = 3}, Wanted{.labels = 2, .edge_labels = 3}, Wanted{.edge_labels = 2}}) {
    std::vector<Graph> graphs = random_graphs(21, 8, wanted);
    const double decay = safe_decay(pointers(graphs));
    const Matrix K = values_of(graphs, decay);
    for (Index i = 0; i < K.rows(); ++i)
      for (Index j = 0; j < K.cols(); ++j) {
        const auto [W, ones] = product_graph(graphs[at(i)], graphs[at(j)]);
        const Matrix M = Matrix::Identity(W.rows(), W.cols()) - decay * W;
        const double exact = W.rows() == 0 ? 0 : ones.dot(M.inverse() * ones);
        EXPECT_NEAR(K(i, j), exact, 1e-13 * exact);
        // The tail of the series after L terms is below the ratio^L / (1 - ratio) of its first.
        double series = 0;
        Vector term = ones;
        for (int length = 0; length < 2000; ++length, term = decay * (W * term)) series += term.sum();
        EXPECT_NEAR(K(i, j), series, 1e-12 * series);
      }
  }
}

// Pairs of walks, one step at a time.
double walks(const Graph& G, Index u, const Graph& H, Index v, int length) {
  if (length == 0) return 1;
  double sum = 0;
  for (Index x = 0; x < G.nodes; ++x)
    for (Index y = 0; y < H.nodes; ++y)
      if (alike(G, x, H, y) && !edge(G, u, x).empty() && edge(G, u, x) == edge(H, v, y)) sum += walks(G, x, H, y, length - 1);
  return sum;
}

TEST(RandomWalk, CountsWalks) {
  RandomStream random(9);
  for (const Wanted wanted : {Wanted{}, Wanted{.labels = 2}, Wanted{.labels = 2, .edge_labels = 2}}) {
    const Graph G = testing::random_graph(random, 4, 0.6, wanted);
    const Graph H = testing::random_graph(random, 3, 0.8, wanted);
    constexpr double decay = 0.004;  // at most 3 * 2 pairs a step, so what is longer than 5 is below (6 decay)^6 / (1 - 6 decay)
    double sum = 0;
    for (int length = 0; length <= 5; ++length)
      for (Index u = 0; u < G.nodes; ++u)
        for (Index v = 0; v < H.nodes; ++v)
          if (alike(G, u, H, v)) sum += std::pow(decay, length) * walks(G, u, H, v, length);
    EXPECT_NEAR(values_of({G}, {H}, decay)(0, 0), sum, 12 * std::pow(6 * decay, 6) / (1 - 6 * decay) + 1e-13);
  }
}

TEST(RandomWalk, ClosedForms) {
  // Between regular graphs of degrees a and b there are n a^l walks of length l.
  const Matrix K = values_of({cycle(5), complete(6), Graph{.nodes = 3}}, 0.03);
  EXPECT_NEAR(K(0, 0), 25 / (1 - 0.03 * 4), 1e-12);
  EXPECT_NEAR(K(0, 1), 30 / (1 - 0.03 * 10), 1e-12);
  EXPECT_NEAR(K(1, 1), 36 / (1 - 0.03 * 25), 1e-11);
  EXPECT_NEAR(K(2, 2), 9, 1e-13);  // no step to take
  EXPECT_NEAR(K(0, 2), 15, 1e-13);
  // Near its limit, where the condition number is 1e6.
  const double near = (1 - 1e-6) / 25;
  EXPECT_NEAR(values_of({complete(6)}, near)(0, 0) / (36 / (1 - near * 25)), 1, 1e-9);
  // Long paths need many steps: their largest eigenvalue is 2 cos(pi / 21).
  const auto [W, ones] = product_graph(path(20), path(20));
  const double decay = 0.9999 / std::pow(2 * std::cos(std::numbers::pi / 21), 2);
  const double exact = ones.dot(Matrix(Matrix::Identity(400, 400) - decay * W).partialPivLu().solve(ones));
  EXPECT_NEAR(values_of({path(20)}, decay)(0, 0), exact, 1e-11 * exact);
}

// Labels that are all the same change nothing but the method, if another graph has a different one.
TEST(RandomWalk, SpectraAndConjugateGradientsAgree) {
  std::vector<Graph> graphs = random_graphs(25, 30, {});
  for (const Graph& g : {path(20), cycle(31), star(9), complete(7)}) graphs.push_back(g);
  const auto list = pointers(graphs);
  for (const double decay : {safe_decay(list), 0.01}) {
    const Matrix K = values_of(graphs, decay);
    std::vector<Graph> labelled = graphs;
    for (Graph& g : labelled) g.labels.assign(at(g.nodes), "C");
    labelled.push_back(Graph{.nodes = 1, .labels = {"N"}});
    const Matrix L = values_of(labelled, decay).topLeftCorner(K.rows(), K.cols());
    EXPECT_LE(((K - L).array().abs() / K.array().max(1)).maxCoeff(), 1e-13);
  }
}

TEST(RandomWalk, LargeGraphs) {
  EXPECT_NEAR(values_of({cycle(300)}, {complete(4)}, 0.1)(0, 0), 1200 / (1 - 0.1 * 6), 1e-10);
  // With W = A x A of the star, 1'A^l 1 is (n + 1) n^m for l = 2 m and 2 n n^m for l = 2 m + 1.
  constexpr double n = 400;
  constexpr double decay = 0.5 / n;
  const double even = (n + 1) * (n + 1) / (1 - decay * decay * n * n);
  const double odd = 4 * n * n * decay / (1 - decay * decay * n * n);
  EXPECT_NEAR(values_of({star(400)}, decay)(0, 0), even + odd, 1e-13 * (even + odd));
}

TEST(RandomWalk, LabelsThatNeverMeetGiveZero) {
  Graph a = path(3);
  a.labels = {"x", "x", "y"};
  Graph b = path(2);
  b.labels = {"u", "z"};
  EXPECT_EQ(values_of({a}, {b}, 0.1)(0, 0), 0);
  EXPECT_EQ(values_of({a}, {b}, 0.1, false), values_of({path(3)}, {path(2)}, 0.1));
  EXPECT_EQ(values_of({Graph{}}, {b}, 0.1)(0, 0), 0);
}

TEST(RandomWalk, HoldsInGeneral) {
  for (const Wanted wanted : {Wanted{}, Wanted{.labels = 3}, Wanted{.labels = 2, .edge_labels = 2}}) {
    const std::vector<Graph> graphs = random_graphs(22, 20, wanted);
    const auto list = pointers(graphs);
    const double decay = safe_decay(list);
    const Matrix K = values_of(graphs, decay);
    EXPECT_EQ(K, K.transpose());
    testing::expect_psd(K);
    const auto values = random_walk({list, list, true}, decay);
    EXPECT_EQ(values->self_rows(), Vector(K.diagonal()));
    EXPECT_EQ(values->self_cols(), Vector(K.diagonal()));
    double part[3];
    values->row(7, 4, 3, part);
    EXPECT_EQ(Eigen::Map<Vector>(part, 3), Vector(K.row(7).segment(4, 3)));

    const std::vector<Graph> head(graphs.begin(), graphs.begin() + 8);
    const std::vector<Graph> tail(graphs.begin() + 8, graphs.end());
    EXPECT_EQ(values_of(head, tail, decay), Matrix(K.topRightCorner(8, 12)));
    const auto a = pointers(head);
    const auto b = pointers(tail);
    EXPECT_EQ(random_walk({a, b, false}, decay)->self_cols(), Vector(K.diagonal().tail(12)));

    RandomStream random(23);
    std::vector<Graph> twins;
    for (const Graph& g : graphs) twins.push_back(testing::disguised(g, random));
    EXPECT_LE((values_of(twins, decay) - K).cwiseAbs().maxCoeff(), 1e-13 * K.maxCoeff());

    for (const int threads : {1, 2})
      with_threads(threads, [&] { EXPECT_EQ(random_walk({list, list, true}, decay)->self_rows(), Vector(K.diagonal())); });
  }
}

TEST(RandomWalk, SaysWhichDecaysConverge) {
  // A star of 16 leaves has 16 neighbours at its centre and a largest eigenvalue of 4.
  const std::vector<Graph> graphs{path(3), star(16)};
  EXPECT_EQ(message_of<InvalidArgument>([&] { values_of(graphs, 0.07); }),
            "the decay of random_walk must be at most 0.06249 for these graphs, got 0.07: walks in graph 1, whose adjacency matrix has an "
            "eigenvalue "
            "of 4, grow faster than that; take a smaller decay");
  EXPECT_NO_THROW(values_of(graphs, 0.06249));
  EXPECT_NE(message_of<InvalidArgument>([&] {
              values_of({path(3)}, {path(2), star(16)}, 0.1);
            }).find("walks in graph 1 of the columns"),
            std::string::npos);
  EXPECT_DOUBLE_EQ(safe_decay(pointers(graphs)), 1.0 / 257);
  EXPECT_EQ(safe_decay({}), 0.5);
  for (const double decay : {0.0, -0.1, std::nan(""), HUGE_VAL}) EXPECT_THROW(values_of(graphs, decay), InvalidArgument);
}

// The bound on eigenvalues is an upper one, and sharp enough to be of use.
TEST(RandomWalk, AllowsDecaysUpToTheEigenvalue) {
  for (const Graph& g : random_graphs(24, 40, {})) {
    if (g.edges.empty()) continue;
    Matrix A = Matrix::Zero(g.nodes, g.nodes);
    for (const auto& [u, v] : g.edges) A(u, v) = A(v, u) = 1;
    const double rho = Eigen::SelfAdjointEigenSolver<Matrix>(A).eigenvalues().maxCoeff();
    EXPECT_THROW(values_of({g}, 1 / (rho * rho)), InvalidArgument);
    EXPECT_NO_THROW(values_of({g}, 0.99 / (rho * rho)));
  }
}

}  // namespace
}  // namespace mercer::objects

// Graphs: trees and trees with closed triangles, told apart by kernel PCA coordinates, a support vector machine and a test.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <vector>

#include <mercer/mercer.hpp>

namespace {

// A random tree; `closing` of its nodes have two of their neighbours joined.
mercer::Graph network(mercer::Index nodes, double closing, mercer::RandomStream& random) {
  mercer::Graph g;
  g.nodes = nodes;
  std::vector<std::vector<mercer::Index>> neighbours(static_cast<std::size_t>(nodes));
  for (mercer::Index v = 1; v < nodes; ++v) {
    const auto u = static_cast<mercer::Index>(random.uniform() * static_cast<double>(v));
    g.edges.emplace_back(u, v);
    neighbours[static_cast<std::size_t>(u)].push_back(v);
    neighbours[static_cast<std::size_t>(v)].push_back(u);
  }
  for (const auto& around : neighbours) {
    if (around.size() > 1 && random.uniform() < closing) g.edges.emplace_back(around[0], around[1]);
  }
  return g;
}

}  // namespace

int main() {
  using namespace mercer;
  RandomStream random(2);
  std::vector<Graph> graphs;
  std::vector<Index> labels;
  for (int i = 0; i < 60; ++i) {
    graphs.push_back(network(15 + i % 6, i % 2 == 0 ? 0.0 : 0.3, random));
    labels.push_back(i % 2);
  }
  const Samples X = Samples::graphs(graphs);
  for (const Kernel& kernel : {kernels::weisfeiler_lehman(3), kernels::shortest_path(), kernels::graphlet(4), kernels::random_walk()}) {
    const SvcModel model = fit_svc(X.slice(0, 40), {labels.begin(), labels.begin() + 40}, {.kernel = kernel, .C = 100});
    const Matrix f = model.decision(X.slice(40, 20));
    int right = 0;
    for (Index i = 0; i < 20; ++i) right += (f(i, 0) > 0) == (labels[static_cast<std::size_t>(40 + i)] == 1) ? 1 : 0;
    std::printf("%-28s %d of 20 new graphs right\n", kernel.text().c_str(), right);
  }
  std::vector<Index> even, odd;
  for (Index i = 0; i < X.size(); ++i) (i % 2 == 0 ? even : odd).push_back(i);
  const TestResult test = two_sample_test(X.subset(even), X.subset(odd), {.kernel = kernels::graphlet(3), .seed = 0});
  std::printf("two-sample test with graphlet(3): p = %.4f\n", test.p_value);
  return test.p_value < 0.05 ? 0 : 1;
}

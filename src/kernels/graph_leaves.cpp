// Kernels of graphs. References: Shervashidze, Schweitzer, van Leeuwen, Mehlhorn, Borgwardt 2011 (Weisfeiler-Lehman), Kriege, Giscard,
// Wilson 2016 (optimal assignment), Borgwardt, Kriegel 2005 (shortest paths), Gaertner, Flach, Wrobel 2003 and Vishwanathan, Schraudolph,
// Kondor, Borgwardt 2010 (random walks), Shervashidze, Vishwanathan, Petri, Mehlhorn, Borgwardt 2009 (graphlets). SPDX-License-Identifier:
// BSD-3-Clause
#include <cmath>

#include "kernels/object_leaf.hpp"
#include "mercer/error.hpp"
#include "objects/graph_kernels.hpp"

namespace mercer {

namespace {

class WeisfeilerLehmanKernel final : public ObjectLeaf<WeisfeilerLehmanKernel> {
 public:
  WeisfeilerLehmanKernel(int iterations, kernels::LehmanForm form, bool normalized)
      : ObjectLeaf(normalized), iterations_(iterations), assignment_(form == kernels::LehmanForm::assignment) {}
  std::string text() const override {
    return called("weisfeiler_lehman", fmt::format("{}{}", iterations_, assignment_ ? ", assignment" : ""));
  }
  // The best assignment of nodes to nodes is the intersection of the histograms of their colours.
  Reduction reduction() const override { return assignment_ ? Reduction::minimum_sum : Reduction::dot; }
  ObjectValues object_values(const Samples& X, const Samples& Y) const override {
    const auto both = graphs(X, Y);
    return as_features(assignment_ ? objects::weisfeiler_lehman_assignment(both.both(), iterations_)
                                   : objects::weisfeiler_lehman(both.both(), iterations_));
  }

 private:
  int iterations_;
  bool assignment_;
};

class ShortestPathKernel final : public ObjectLeaf<ShortestPathKernel> {
 public:
  explicit ShortestPathKernel(bool normalized) : ObjectLeaf(normalized) {}
  std::string text() const override { return called("shortest_path", ""); }
  ObjectValues object_values(const Samples& X, const Samples& Y) const override {
    return as_features(objects::shortest_path(graphs(X, Y).both()));
  }
};

class RandomWalkKernel final : public ObjectLeaf<RandomWalkKernel> {
 public:
  RandomWalkKernel(double decay, bool normalized) : ObjectLeaf(normalized), decay_(decay) {}
  std::string text() const override { return called("random_walk", has_auto() ? "" : fmt::format("{}", decay_)); }
  bool has_auto() const override { return decay_ == 0; }
  std::shared_ptr<const KernelNode> resolved_on(const Samples& X) const override {
    if (!has_auto()) return nullptr;
    return std::make_shared<RandomWalkKernel>(objects::safe_decay(graphs_of(X, text())), normalizes());
  }
  ObjectValues object_values(const Samples& X, const Samples& Y) const override {
    if (has_auto()) throw_waiting(text());
    return as_pairs(objects::random_walk(graphs(X, Y).both(), decay_));
  }

 private:
  double decay_;  // 0: waits for data
};

class GraphletKernel final : public ObjectLeaf<GraphletKernel> {
 public:
  GraphletKernel(int size, bool normalized) : ObjectLeaf(normalized), size_(size) {}
  std::string text() const override { return called("graphlet", fmt::format("{}", size_)); }
  ObjectValues object_values(const Samples& X, const Samples& Y) const override {
    return as_features(objects::graphlet(graphs(X, Y).both(), size_));
  }

 private:
  int size_;
};

}  // namespace

namespace kernels {

Kernel weisfeiler_lehman(int iterations, LehmanForm form, bool normalized) {
  return Kernel(std::make_shared<WeisfeilerLehmanKernel>(require_whole(iterations, 0, 1000, "iterations"), form, normalized));
}

Kernel shortest_path(bool normalized) { return Kernel(std::make_shared<ShortestPathKernel>(normalized)); }

Kernel random_walk(double decay, bool normalized) {
  if (!(decay >= 0 && decay < 1))
    throw InvalidArgument(fmt::format("decay must be a number in (0, 1), or 0 for one from the data, got {}", decay));
  return Kernel(std::make_shared<RandomWalkKernel>(decay, normalized));
}

Kernel graphlet(int size, bool normalized) {
  return Kernel(std::make_shared<GraphletKernel>(require_whole(size, 3, 5, "size"), normalized));
}

}  // namespace kernels

}  // namespace mercer

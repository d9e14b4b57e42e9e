// Notation: W adjacency of the product graph, M = I - decay W, b = 1; r residual and p direction of conjugate gradients on M x = b.
//
// Conjugate gradients from x = 0 have b'M^-1 b = sum over steps of alpha |r|^2 + r'M^-1 r, so the value needs no solution vector, and what
// is missing after a step is at most |r|^2 / (1 - decay rho(G) rho(H)): the bound by which they stop. It falls as the square of the
// residual. The sum holds by local orthogonality alone, so rounding does not spoil it (Strakos & Tichy 2002).
//
// Nodes are put in the order of their labels. Then the nodes of H that pair with a node u of G are one range, and x is one short row per u.
// A row of W x: add up the rows of u's neighbours in a vector over the nodes of H, then add up its entries at the neighbours of each v.
// With edge labels, once for every label at u. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/run.hpp"
#include "objects/graph_adjacency.hpp"
#include "objects/graph_kernels.hpp"

namespace mercer::objects {

namespace {

constexpr Index most_spectral_nodes = 256;   // beyond, all eigenvectors cost more than conjugate gradients
constexpr double least_spectral_gap = 1e-3;  // 1 - decay rho^2: rounding in k stays near 1e-12
constexpr double missing_share = 1e-15;      // of the value, at most, when conjugate gradients stop

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

struct WalkGraph {
  std::vector<std::int32_t> labels{};       // of the nodes, ascending
  std::vector<std::int64_t> offsets{};      // nodes + 1
  std::vector<std::int32_t> neighbours{};   // by edge label
  std::vector<std::int32_t> edge_labels{};  // of these
  double largest_eigenvalue = 0;            // of its adjacency matrix, or somewhat more

  Index nodes() const { return std::ssize(labels); }
};

// An upper bound on the largest eigenvalue of an adjacency matrix A: for every positive x it is at most the largest (A x)_v / x_v (Collatz,
// Wielandt). Steps of the power method on A + I keep x positive and never raise the bound; the first is the largest degree. They end when
// x'A x / x'x, a lower bound, is near.
double eigenvalue_bound(const GraphView& graph) {
  constexpr int most_steps = 1000;
  if (graph.nodes == 0) return 0;
  Vector x = Vector::Ones(graph.nodes);
  Vector y(graph.nodes);
  double bound = std::numeric_limits<double>::infinity();
  for (int step = 0; step < most_steps; ++step) {
    for (Index v = 0; v < graph.nodes; ++v) {
      y(v) = x(v);
      for (const std::int32_t w : graph.neighbours_of(v)) y(v) += x(w);
    }
    bound = std::min(bound, (y.array() / x.array()).maxCoeff() - 1);
    if (bound <= (x.dot(y) / x.squaredNorm() - 1) * (1 + 1e-7)) break;
    x = y / y.maxCoeff();
    if (x.minCoeff() < 1e-200) break;  // a part of the graph that grows far more slowly
  }
  return bound * (1 + 1e-12);
}

WalkGraph walk_graph(const GraphView& view) {
  WalkGraph graph;
  std::vector<std::int32_t> order(at(view.nodes));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return view.labels[a] < view.labels[b]; });
  std::vector<std::int32_t> place(at(view.nodes));
  for (std::size_t v = 0; v < order.size(); ++v) place[at(order[v])] = static_cast<std::int32_t>(v);

  graph.offsets.push_back(0);
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (const std::int32_t v : order) {
    edges.clear();
    for (std::int64_t e = view.offsets[v]; e < view.offsets[v + 1]; ++e)
      edges.emplace_back(view.edge_labels == nullptr ? 0 : view.edge_labels[e], place[at(view.neighbours[e])]);
    std::sort(edges.begin(), edges.end());
    for (const auto& [label, w] : edges) {
      graph.edge_labels.push_back(label);
      graph.neighbours.push_back(w);
    }
    graph.labels.push_back(view.labels[v]);
    graph.offsets.push_back(std::ssize(graph.neighbours));
  }
  graph.largest_eigenvalue = eigenvalue_bound(view);
  return graph;
}

// 1'A^l 1 = sum of weights * eigenvalues^l, for every l.
struct WalkSpectrum {
  Eigen::ArrayXd eigenvalues{};
  Eigen::ArrayXd weights{};
};

WalkSpectrum walk_spectrum(const GraphView& graph) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(graph.nodes, graph.nodes);
  for (Index v = 0; v < graph.nodes; ++v)
    for (const std::int32_t w : graph.neighbours_of(v)) A(v, w) = 1;
  if (graph.nodes == 0) return {};
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(A);
  const Eigen::ArrayXd weights = eigen.eigenvectors().colwise().sum().transpose().array().square();
  // Eigenvectors orthogonal to 1, frequent where nodes can change places, have sums of rounding errors only.
  std::vector<Index> kept;
  for (Index i = 0; i < weights.size(); ++i)
    if (weights(i) > 1e-26 * static_cast<double>(graph.nodes)) kept.push_back(i);
  return {eigen.eigenvalues()(kept), weights(kept)};
}

double spectral_value(const WalkSpectrum& G, const WalkSpectrum& H, double decay) {
  double sum = 0;
  for (Index i = 0; i < G.weights.size(); ++i) sum += G.weights(i) * (H.weights / (1 - decay * G.eigenvalues(i) * H.eigenvalues)).sum();
  return sum;
}

// In blocks, so that rounding grows with the blocks and not with the entries: in a regular graph they are alike and err alike.
double dot(const Vector& a, const Vector& b) {
  constexpr Index block = 256;
  double sum = 0;
  for (Index i = 0; i < a.size(); i += block) {
    const Index count = std::min(block, a.size() - i);
    sum += a.segment(i, count).dot(b.segment(i, count));
  }
  return sum;
}

// I - decay W of two graphs. One of these serves a whole row of pairs, so that its memory is used again.
class ProductWalks {
 public:
  ProductWalks(double decay, bool edges_labelled) : decay_(decay), edges_labelled_(edges_labelled) {}

  double value(const WalkGraph& G, const WalkGraph& H) {
    pair_nodes(G, H);
    if (pairs_ == 0) return 0;
    const double smallest = 1 - decay_ * G.largest_eigenvalue * H.largest_eigenvalue;  // eigenvalue of M, at least
    residual_.setOnes(pairs_);
    direction_ = residual_;
    image_.resize(pairs_);
    auto squared = static_cast<double>(pairs_);
    double sum = 0;
    const Index most_steps = 1000 + 20 * pairs_;
    for (Index step = 0; step < most_steps; ++step) {
      apply(G, H);
      const double alpha = squared / dot(direction_, image_);
      sum += alpha * squared;
      residual_ -= alpha * image_;
      const double before = std::exchange(squared, dot(residual_, residual_));
      if (squared <= missing_share * smallest * sum) return sum;
      direction_ = residual_ + squared / before * direction_;
    }
    throw InvalidArgument(fmt::format(
        "random_walk did not converge in {} steps: decay {} is too near its limit {}, where the kernel is infinite; take a smaller one",
        most_steps, decay_, 1 / (G.largest_eigenvalue * H.largest_eigenvalue)));
  }

 private:
  // The nodes of H with the label of u, and where the row of u begins.
  struct Row {
    Index begin = 0;
    Index end = 0;
    Index start = 0;
  };

  void pair_nodes(const WalkGraph& G, const WalkGraph& H) {
    rows_.resize(at(G.nodes()));
    pairs_ = 0;
    Index begin = 0;
    Index end = 0;
    for (Index u = 0; u < G.nodes(); ++u) {
      const std::int32_t label = G.labels[at(u)];
      if (u == 0 || label != G.labels[at(u) - 1]) {
        begin = end;
        while (begin < H.nodes() && H.labels[at(begin)] < label) ++begin;
        for (end = begin; end < H.nodes() && H.labels[at(end)] == label;) ++end;
      }
      rows_[at(u)] = {begin, end, pairs_};
      pairs_ += end - begin;
    }
    gathered_.resize(at(H.nodes()));
  }

  // image = M direction
  void apply(const WalkGraph& G, const WalkGraph& H) {
    for (Index u = 0; u < G.nodes(); ++u) {
      const Row& row = rows_[at(u)];
      if (row.begin == row.end) continue;
      double* const out = image_.data() + row.start;
      std::fill(out, out + (row.end - row.begin), 0.0);
      const std::int64_t last = G.offsets[at(u) + 1];
      for (std::int64_t first = G.offsets[at(u)]; first < last;) {
        const std::int32_t label = G.edge_labels[at(first)];
        first = gather(G, first, last);
        edges_labelled_ ? scatter_label(H, row, label, out) : scatter(H, row, out);
      }
      const double* const own = direction_.data() + row.start;
      for (Index v = 0; v < row.end - row.begin; ++v) out[v] = own[v] - decay_ * out[v];
    }
  }

  // The sum of the rows at the edges from `first` on that have its label; returns where the next label begins.
  std::int64_t gather(const WalkGraph& G, std::int64_t first, std::int64_t last) {
    std::fill(gathered_.begin(), gathered_.end(), 0.0);
    std::int64_t e = first;
    for (; e < last && G.edge_labels[at(e)] == G.edge_labels[at(first)]; ++e) {
      const Row& from = rows_[at(G.neighbours[at(e)])];
      const double* const values = direction_.data() + from.start;
      double* const into = gathered_.data() + from.begin;
      for (Index v = 0; v < from.end - from.begin; ++v) into[v] += values[v];
    }
    return e;
  }

  void scatter(const WalkGraph& H, const Row& row, double* out) const {
    for (Index v = row.begin; v < row.end; ++v) {
      double sum = 0;
      for (std::int64_t e = H.offsets[at(v)]; e < H.offsets[at(v) + 1]; ++e) sum += gathered_[at(H.neighbours[at(e)])];
      out[v - row.begin] += sum;
    }
  }

  void scatter_label(const WalkGraph& H, const Row& row, std::int32_t label, double* out) const {
    for (Index v = row.begin; v < row.end; ++v) {
      double sum = 0;
      for (std::int64_t e = H.offsets[at(v)]; e < H.offsets[at(v) + 1]; ++e)
        if (H.edge_labels[at(e)] == label) sum += gathered_[at(H.neighbours[at(e)])];
      out[v - row.begin] += sum;
    }
  }

  double decay_;
  bool edges_labelled_;
  Index pairs_ = 0;
  std::vector<Row> rows_{};
  std::vector<double> gathered_{};
  Vector residual_{};
  Vector direction_{};
  Vector image_{};
};

struct Walks {
  std::vector<WalkGraph> graphs{};
  std::vector<WalkSpectrum> spectra{};  // empty where conjugate gradients are to be used
  double decay = 0;
  bool edges_labelled = false;
};

class RandomWalkValues final : public PairValues {
 public:
  RandomWalkValues(Walks walks, Index rows, bool same) : walks_(std::move(walks)), rows_(rows), same_(same) {}

  void row(Index i, Index first, Index count, double* out) const override {
    ProductWalks product(walks_.decay, walks_.edges_labelled);
    for (Index c = 0; c < count; ++c) {
      // k(x, y) and k(y, x) are rounded alike where both sides are the same.
      const Index j = first + c;
      out[c] = same_ ? value(std::min(i, j), std::max(i, j), product) : value(i, rows_ + j, product);
    }
  }
  Vector self_rows() const override { return self(0, rows_); }
  Vector self_cols() const override { return same_ ? self_rows() : self(rows_, std::ssize(walks_.graphs) - rows_); }

 private:
  double value(Index a, Index b, ProductWalks& product) const {
    return walks_.spectra.empty() ? product.value(walks_.graphs[at(a)], walks_.graphs[at(b)])
                                  : spectral_value(walks_.spectra[at(a)], walks_.spectra[at(b)], walks_.decay);
  }

  Vector self(Index first, Index count) const {
    Vector values(count);
    parallel_for(count, [&](Index i) {
      ProductWalks product(walks_.decay, walks_.edges_labelled);
      values(i) = value(first + i, first + i, product);
    });
    return values;
  }

  Walks walks_;
  Index rows_;
  bool same_;
};

// To four digits, never up: what a message allows is allowed.
double rounded_down(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 3);
  return std::floor(value / unit) * unit;
}

// Returns 1 - decay rho^2, with the largest eigenvalue rho of all graphs.
double require_convergence(const std::vector<WalkGraph>& graphs, double decay, const BothGraphs& both) {
  const auto largest = std::max_element(graphs.begin(), graphs.end(),
                                        [](const WalkGraph& a, const WalkGraph& b) { return a.largest_eigenvalue < b.largest_eigenvalue; });
  if (largest == graphs.end()) return 1;
  const double rho = largest->largest_eigenvalue;
  if (decay * rho * rho < 1) return 1 - decay * rho * rho;
  throw InvalidArgument(fmt::format(
      "the decay of random_walk must be at most {:.4g} for these graphs, got {}: walks in {}, whose adjacency matrix has an eigenvalue "
      "of {:.4g}, grow faster than that; take a smaller decay",
      rounded_down(1 / (rho * rho)), decay, graph_name(both, largest - graphs.begin()), rho));
}

}  // namespace

std::unique_ptr<PairValues> random_walk(const BothGraphs& both, double decay, bool labelled) {
  if (!(decay > 0 && std::isfinite(decay))) throw InvalidArgument(fmt::format("the decay of random_walk must be > 0, got {}", decay));
  const GraphLabels labels = labelled ? GraphLabels::looked_at : GraphLabels::ignored;
  const Adjacency all = adjacency_of(both, labels, labels);
  Walks walks{std::vector<WalkGraph>(at(all.graphs())), {}, decay, all.edge_label_count > 1};
  parallel_for(all.graphs(), [&](Index g) { walks.graphs[at(g)] = walk_graph(all.view(g)); });
  const double gap = require_convergence(walks.graphs, decay, both);

  const bool small =
      std::all_of(walks.graphs.begin(), walks.graphs.end(), [](const WalkGraph& g) { return g.nodes() <= most_spectral_nodes; });
  if (all.label_count <= 1 && all.edge_label_count <= 1 && small && gap >= least_spectral_gap) {
    walks.spectra.resize(at(all.graphs()));
    parallel_for(all.graphs(), [&](Index g) { walks.spectra[at(g)] = walk_spectrum(all.view(g)); });
  }
  return std::make_unique<RandomWalkValues>(std::move(walks), std::ssize(both.rows), both.same);
}

double safe_decay(std::span<const Graph* const> graphs) {
  const Adjacency all = adjacency_of({graphs, graphs, true}, GraphLabels::ignored, GraphLabels::ignored);
  std::int64_t degree = 1;  // graphs without edges converge for any, and a decay is below 1
  for (Index v = 0; v < all.nodes(); ++v) degree = std::max(degree, all.offsets[at(v) + 1] - all.offsets[at(v)]);
  return 1 / (1 + static_cast<double>(degree) * static_cast<double>(degree));
}

}  // namespace mercer::objects

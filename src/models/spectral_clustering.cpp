// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/spectral_clustering.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "gram/neighbors.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/best_kmeans.hpp"
#include "models/kmeans_problem.hpp"
#include "models/laplacian.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using Affinity = SpectralClusteringOptions::Affinity;
using Embedding = SpectralClusteringOptions::Embedding;
using Assignment = SpectralClusteringOptions::Assignment;

void require_options(const SpectralClusteringOptions& o, Index n) {
  require_clusters(o.clusters, n);
  if (o.components < 0 || o.components > n)
    throw InvalidArgument(
        fmt::format("components must be between 1 and the {} samples (or 0: as many as clusters), got {}", n, o.components));
  if (o.restarts < 1) throw InvalidArgument(fmt::format("restarts must be at least 1, got {}", o.restarts));
  if (!(o.tolerance > 0)) throw InvalidArgument(fmt::format("tolerance must be > 0, got {}", o.tolerance));
  if (o.assignment == Assignment::cluster_qr && o.components != 0 && o.components != o.clusters)
    throw InvalidArgument("cluster_qr needs as many components as clusters; leave components at 0, or use kmeans");
}

[[noreturn]] void refuse_negative(Index i, Index j, double value) {
  throw InvalidArgument(
      fmt::format("affinities must be >= 0, got {} between samples {} and {}; use another kernel, or nearest neighbours", value, i, j));
}

[[noreturn]] void refuse_asymmetric(Index i, Index j) {
  throw InvalidArgument(
      fmt::format("the affinity matrix must be symmetric, but ({}, {}) differs from ({}, {}); take (W + W') / 2", i, j, j, i));
}

// More than the rounding of float32, in which affinities may have been made.
bool differ(double a, double b, double largest) { return std::abs(a - b) > 1e-6 * largest; }

void require_graph(const Matrix& W) {
  const double largest = W.size() > 0 ? W.cwiseAbs().maxCoeff() : 0;
  for (Index i = 0; i < W.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (W(i, j) < 0) refuse_negative(i, j, W(i, j));
      if (differ(W(i, j), W(j, i), largest)) refuse_asymmetric(i, j);
    }
  }
}

void require_graph(const CsrMatrix<double>& W) {
  const CsrMatrix<double> T = W.transpose();
  double largest = 0;
  for (Index k = 0; k < W.nonZeros(); ++k) largest = std::max(largest, std::abs(W.valuePtr()[k]));
  for (Index i = 0; i < W.rows(); ++i) {
    CsrMatrix<double>::InnerIterator a(W, i);
    CsrMatrix<double>::InnerIterator b(T, i);
    while (a || b) {
      const Index ja = a ? a.col() : W.cols();
      const Index jb = b ? b.col() : W.cols();
      const double va = ja <= jb ? a.value() : 0;
      const double vb = jb <= ja ? b.value() : 0;
      if (va < 0 && ja != i) refuse_negative(i, ja, va);
      if (differ(va, vb, largest)) refuse_asymmetric(i, std::min(ja, jb));
      if (ja <= jb) ++a;
      if (jb <= ja) ++b;
    }
  }
}

CsrMatrix<double> as_csr(const Samples& X) {
  CsrMatrix<double> out(X.size(), X.width());
  std::vector<Eigen::Triplet<double>> entries;
  std::visit(
      [&](const auto& rows) {
        if constexpr (requires { rows.offsets; }) {
          for (Index i = 0; i < rows.rows; ++i) {
            for (Index e = rows.begin(i); e < rows.end(i); ++e)
              entries.emplace_back(static_cast<int>(i), rows.columns[e], static_cast<double>(rows.values[e]));
          }
        }
      },
      X.storage());
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

SpectralClustering::Graph make_graph(const Samples& X, const SpectralClusteringOptions& o) {
  if (o.affinity == Affinity::nearest_neighbors) return neighbor_graph(X, o.neighbors, o.run);
  const bool given = o.affinity == Affinity::precomputed;
  if (given && X.size() != X.width())
    throw InvalidArgument(fmt::format("a precomputed affinity must be a square matrix, got {} x {}", X.size(), X.width()));
  if (given) require_finite(X, "the affinity matrix");
  if (given && X.is_sparse()) {
    CsrMatrix<double> W = as_csr(X);
    require_graph(W);
    const CsrMatrix<double> T = W.transpose();
    return CsrMatrix<double>(0.5 * (W + T));  // the rounding that is let through has no say
  }
  require_memory(static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(X.size()) * sizeof(double), o.run.memory,
                 fmt::format("the {} x {} matrix of affinities", X.size(), X.size()), "use nearest neighbours");
  Matrix W = given ? X.to_dense() : gram(resolve(o.kernel, X), X, {.run = o.run});
  require_graph(W);
  if (given) W = (0.5 * (W + W.transpose())).eval();
  return W;
}

// D^-1/2 u: constant on every part of the graph, and exactly so. Or u with rows of length 1.
Matrix embed(const LaplacianEigen& e, Embedding how) {
  Matrix Z = e.vectors;
  for (Index i = 0; i < Z.rows(); ++i) {
    if (how == Embedding::unit_rows) {
      if (const double norm = Z.row(i).norm(); norm > 0) Z.row(i) /= norm;
    } else if (e.degrees[i] > 0) {
      Z.row(i) /= std::sqrt(e.degrees[i]);
    }
  }
  if (how == Embedding::unit_rows && e.vectors.cols() > e.known) return Z;
  Vector volume = Vector::Zero(e.parts);
  for (Index i = 0; i < Z.rows(); ++i) volume[e.part[static_cast<std::size_t>(i)]] += e.degrees[i];
  for (Index i = 0; i < Z.rows(); ++i) {
    const Index p = e.part[static_cast<std::size_t>(i)];
    if (p < e.known) Z(i, p) = how == Embedding::unit_rows || !(volume[p] > 0) ? 1 : 1 / std::sqrt(volume[p]);
  }
  return Z;
}

// Damle, Minden, Ying, Simple, direct and efficient multi-way spectral clustering, 2019: pivoted QR finds one row of each cluster; the
// rotation that takes these rows nearest to the axes takes every row near its own.
std::vector<Index> cluster_qr(const Eigen::MatrixXd& U) {
  const Index k = U.cols();
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(U.transpose());
  Eigen::MatrixXd chosen(k, k);
  for (Index c = 0; c < k; ++c) chosen.col(c) = U.row(qr.colsPermutation().indices()[c]).transpose();
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(chosen, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const Eigen::MatrixXd rotated = (U * (svd.matrixU() * svd.matrixV().transpose())).cwiseAbs();
  std::vector<Index> labels(static_cast<std::size_t>(U.rows()));
  for (Index i = 0; i < U.rows(); ++i) rotated.row(i).maxCoeff(&labels[static_cast<std::size_t>(i)]);
  return labels;
}

// Clusters without a sample get no number.
Index renumber(std::vector<Index>& labels) {
  std::set<Index> used(labels.begin(), labels.end());
  for (Index& label : labels) label = std::distance(used.begin(), used.find(label));
  return std::ssize(used);
}

void write_sentence(SpectralClusteringSummary& s) {
  s.sentence = fmt::format("{} cluster{} of {} samples; eigenvectors by {}", s.clusters, s.clusters == 1 ? "" : "s", s.samples, s.solver);
  if (s.products > 0) s.sentence += fmt::format(", {} products", s.products);
  s.sentence += fmt::format(", residual {:.1e}{}", s.residual, s.converged ? "" : ", which is NOT what was asked for");
  if (s.clusters < s.wanted) s.sentence += fmt::format("; {} clusters were asked for, but no more could be told apart", s.wanted);
  if (s.connected_components > 1) {
    s.sentence += fmt::format("; the graph has {} parts without edges between them", s.connected_components);
    if (s.isolated > 0) s.sentence += fmt::format(" ({} of one sample)", s.isolated);
    if (s.connected_components > s.wanted) s.sentence += ", more than clusters: the smaller parts are put together";
  }
  s.sentence += fmt::format(", {:.2f} s", s.seconds);
}

}  // namespace

CsrMatrix<double> neighbor_graph(const Samples& X, Index neighbors, const Run& run) {
  const Index n = X.size();
  if (n == 0) throw InvalidArgument("there are no samples: X must have at least one row");
  if (X.is_given()) throw InvalidArgument("nearest neighbours need rows of numbers, not kernel values; use a kernel or precomputed graph");
  if (neighbors < 1 || neighbors > n)
    throw InvalidArgument(
        fmt::format("neighbors must be between 1 and the {} samples (the sample itself is one of them), got {}", n, neighbors));
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](Index i, Index j, double value) { entries.emplace_back(static_cast<int>(i), static_cast<int>(j), value); };
  for (Index i = 0; i < n; ++i) add(i, i, 1);
  if (neighbors > 1) {
    Neighbors near;
    with_run(run, [&] { near = nearest_neighbors(X, neighbors - 1, run.progress); });
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; c < near.rows.cols(); ++c) {
        add(i, near.rows(i, c), 0.5);
        add(near.rows(i, c), i, 0.5);
      }
    }
  } else {
    require_finite(X, "X");
  }
  CsrMatrix<double> W(n, n);
  W.setFromTriplets(entries.begin(), entries.end());
  return W;
}

SpectralClustering spectral_clustering(const Samples& X, const SpectralClusteringOptions& options) {
  const auto start = Clock::now();
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  require_options(options, X.size());
  SpectralClustering out;
  SpectralClusteringSummary& s = out.summary;
  with_run(options.run, [&] {
    out.graph = make_graph(X, options);
    const Index k = options.components > 0 ? options.components : options.clusters;
    LaplacianEigen e = laplacian_eigen(out.graph, k, options.tolerance, options.seed, options.run.progress, options.run.memory);
    out.embedding = embed(e, options.embedding);
    if (options.assignment == Assignment::cluster_qr) {
      out.labels = cluster_qr(e.vectors);
    } else {
      const auto trials = 2 + static_cast<Index>(std::log(static_cast<double>(options.clusters)));
      solvers::KMeans found =
          best_kmeans(out.embedding, options.clusters, options.restarts,
                      {.max_iterations = 300, .tolerance = 1e-6, .seed = options.seed, .trials = trials, .progress = options.run.progress});
      out.labels = std::move(found.labels);
      s.inertia = found.inertia;
    }
    out.eigenvalues = e.values;
    s.connected_components = e.parts;
    s.isolated = e.isolated;
    s.solver = e.solver;
    s.products = e.products;
    s.residual = e.residual;
    s.converged = e.converged;
  });
  s.samples = X.size();
  s.wanted = options.clusters;
  s.clusters = renumber(out.labels);
  s.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  write_sentence(s);
  return out;
}

}  // namespace mercer

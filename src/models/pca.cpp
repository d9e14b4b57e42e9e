// Notation: Xc the centred rows, Xc = U diag(s) V'; the rows of V' are the directions, lambda = s^2.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/pca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/sample_products.hpp"
#include "solvers/block_krylov.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

struct Spectrum {
  Vector values;      // lambda, descending
  Matrix directions;  // one a row
};

constexpr double lost_direction = 1e-10;  // lambda below this share of the largest: its direction has no digits in a product matrix

void require_options(const Samples& X, const PcaOptions& o) {
  const Index most = std::min(X.size(), X.width());
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  if (X.is_given())
    throw InvalidArgument("PCA needs rows of numbers, not a given Gram matrix; kernel PCA takes those (kernel precomputed)");
  if (X.width() == 0) throw InvalidArgument("X has no columns");
  if (o.n_components < 0 || o.n_components > most)
    throw InvalidArgument(
        fmt::format("n_components must be between 0 (all) and min(n_samples, n_features) = {}, got {}", most, o.n_components));
  if (!(o.variance_fraction >= 0 && o.variance_fraction < 1))
    throw InvalidArgument(fmt::format("variance_fraction must be in (0, 1), got {}", o.variance_fraction));
  if (o.maximum_likelihood && X.size() < X.width())
    throw InvalidArgument(fmt::format("the maximum likelihood number of components needs at least as many samples as columns, got {} x {}",
                                      X.size(), X.width()));
  if (!(o.tolerance > 0)) throw InvalidArgument(fmt::format("tolerance must be > 0, got {}", o.tolerance));
  if (o.max_iterations < 1) throw InvalidArgument(fmt::format("max_iterations must be at least 1, got {}", o.max_iterations));
  require_finite(X, "X");
}

bool wants_all(const PcaOptions& o) { return o.n_components == 0 || o.variance_fraction > 0 || o.maximum_likelihood; }

PcaRoute chosen_route(const Samples& X, const PcaOptions& o) {
  if (o.route != PcaRoute::automatic) return o.route;
  const Index n = X.size();
  const Index p = X.width();
  const Index k = wants_all(o) ? std::min(n, p) : o.n_components;
  if (std::min(n, p) > 1000 && 10 * k <= std::min(n, p)) return PcaRoute::krylov;
  if (X.is_sparse() && p > n && 10 * k > n) return PcaRoute::svd;
  if (X.is_sparse()) return p <= n ? PcaRoute::covariance : PcaRoute::gram;
  if (p <= 1000 && n >= 10 * p) return PcaRoute::covariance;
  return n <= 1000 && p >= 10 * n && k < n ? PcaRoute::gram : PcaRoute::svd;
}

Spectrum from_ascending(const linalg::SymmetricEigen& eigen, Index k) {
  return {eigen.values.reverse().head(k).cwiseMax(0), eigen.vectors.colwise().reverse().topRows(k)};
}

Spectrum by_svd(const Samples& X, const Vector& mean, const Run& run) {
  require_memory(static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(X.width()) * sizeof(double), run.memory,
                 fmt::format("the {} x {} centred rows", X.size(), X.width()), "ask for few components and the Krylov route");
  Matrix rows = X.to_dense();
  rows.rowwise() -= mean.transpose();
  linalg::ThinSvd svd = linalg::thin_svd(std::move(rows), run.progress, run.memory);
  return {svd.singular_values.array().square(), std::move(svd.vt)};
}

// Xc'Xc of dense chunks of rows, each centred before it is multiplied.
Spectrum by_covariance(const Samples& X, const Vector& mean, Index k, const Run& run) {
  constexpr Index chunk = 4096;
  constexpr Index panel = 64;
  const Index p = X.width();
  require_memory(3 * static_cast<std::size_t>(p) * static_cast<std::size_t>(p) * sizeof(double), run.memory,
                 fmt::format("the {} x {} covariance and its eigenvectors", p, p), "ask for few components and the Krylov route");
  Matrix C = Matrix::Zero(p, p);
  Stage stage(run.progress, "covariance", static_cast<double>(X.size()));
  X.for_each_chunk(chunk, [&](const Samples& part, Index) {
    Matrix rows = part.to_dense();
    rows.rowwise() -= mean.transpose();
    parallel_for((p + panel - 1) / panel, [&](Index b) {  // on and below the diagonal
      const Index first = b * panel;
      const Index count = std::min(panel, p - first);
      linalg::gemm_n(true, count, first + count, rows.rows(), 1.0, rows.data() + first, p, rows.data(), p, 1.0, C.data() + first * p, p);
    });
    stage.advance(static_cast<double>(part.size()));
  });
  return from_ascending(linalg::symmetric_eigen(std::move(C), run.progress, run.memory), k);
}

// V' = diag(1/s) U' Xc. Nothing where a wanted direction has no digits.
std::optional<Spectrum> from_left(const Samples& X, const Vector& mean, Vector values, const Matrix& U) {
  if (!(values.minCoeff() > lost_direction * values[0])) return std::nullopt;
  Matrix V = centred_transposed_times(X, mean, U);
  for (Index j = 0; j < V.cols(); ++j) V.col(j).normalize();
  return Spectrum{std::move(values), V.transpose()};
}

std::optional<Spectrum> by_gram(const Samples& X, const Vector& mean, Index k, const Run& run) {
  const auto n = static_cast<std::size_t>(X.size());
  require_memory(3 * n * n * sizeof(double), run.memory, fmt::format("the {} x {} matrix of products and its eigenvectors", n, n),
                 "ask for few components and the Krylov route");
  Matrix G(X.size(), X.size());
  if (X.is_sparse()) {
    G = gram(kernels::linear(), X, {.precision = Precision::float64, .run = run});
    const Vector means = G.rowwise().mean();
    const double all = means.mean();
    for (Index i = 0; i < G.rows(); ++i) G.row(i).array() += all - means[i] - means.transpose().array();
  } else {
    Matrix rows = X.to_dense();
    rows.rowwise() -= mean.transpose();
    G = gram(kernels::linear(), Samples(std::move(rows)), {.precision = Precision::float64, .run = run});
  }
  const Spectrum left = from_ascending(linalg::symmetric_eigen(std::move(G), run.progress, run.memory), k);
  return from_left(X, mean, left.values, left.directions.transpose());
}

std::optional<Spectrum> by_krylov(const Samples& X, const Vector& mean, Index k, const PcaOptions& o, PcaSummary& s) {
  const bool columns = X.width() <= X.size();
  const auto product = [&](const Matrix& V) {
    return columns ? centred_transposed_times(X, mean, centred_times(X, mean, V))
                   : centred_times(X, mean, centred_transposed_times(X, mean, V));
  };
  BlockKrylovResult found =
      block_krylov(std::min(X.size(), X.width()), product,
                   {.pairs = k, .tolerance = o.tolerance, .max_products = o.max_iterations, .seed = o.seed, .progress = o.run.progress});
  s.iterations = found.products;
  s.status = found.converged ? "converged" : "iteration limit";
  Vector values = found.values.cwiseMax(0);
  if (columns) return Spectrum{std::move(values), found.vectors.transpose()};
  return from_left(X, mean, std::move(values), found.vectors);
}

Spectrum spectrum_of(const Samples& X, const Vector& mean, const PcaOptions& o, PcaSummary& s) {
  const Index most = std::min(X.size(), X.width());
  const Index k = wants_all(o) ? most : o.n_components;
  std::optional<Spectrum> found;
  switch (chosen_route(X, o)) {
    case PcaRoute::covariance:
      s.route = "covariance";
      found = by_covariance(X, mean, k, o.run);
      break;
    case PcaRoute::gram:
      s.route = "gram";
      found = by_gram(X, mean, k, o.run);
      break;
    case PcaRoute::krylov:
      s.route = "krylov";
      found = by_krylov(X, mean, k, o, s);
      break;
    default:
      break;
  }
  if (found) return std::move(*found);
  s.route = "svd";  // chosen, or what is left when a matrix of products has lost a wanted direction
  s.status = "converged";
  Spectrum all = by_svd(X, mean, o.run);
  return all;
}

Index number_of(const Vector& variance, double total, Index n, const PcaOptions& o) {
  if (o.maximum_likelihood) return minka_dimension(variance, n);
  if (o.variance_fraction > 0) {
    double sum = 0;
    Index k = 0;
    while (k < variance.size() && !(sum > o.variance_fraction * total)) sum += variance[k++];
    return std::max<Index>(k, 1);
  }
  return o.n_components > 0 ? std::min(o.n_components, variance.size()) : variance.size();
}

}  // namespace

Index minka_dimension(const Vector& v, Index samples) {
  const Index p = v.size();
  const auto n = static_cast<double>(samples);
  double best = -std::numeric_limits<double>::infinity();
  Index chosen = 0;
  for (Index k = 1; k < p; ++k) {
    if (v[k - 1] < std::numeric_limits<double>::epsilon()) break;
    const double noise = std::max(std::numeric_limits<double>::epsilon(), v.tail(p - k).mean());
    double value = -static_cast<double>(k) * std::numbers::ln2;
    for (Index i = 1; i <= k; ++i) {
      const double half = static_cast<double>(p - i + 1) / 2;
      value += std::lgamma(half) - std::log(std::numbers::pi) * half;
    }
    value -= v.head(k).array().log().sum() * n / 2 + std::log(noise) * n * static_cast<double>(p - k) / 2;
    const double m = static_cast<double>(p * k) - static_cast<double>(k * (k + 1)) / 2;
    value += std::log(2 * std::numbers::pi) * (m + static_cast<double>(k)) / 2 - static_cast<double>(k) * std::log(n) / 2;
    double curvature = 0;
    for (Index i = 0; i < k; ++i) {
      for (Index j = i + 1; j < p; ++j) curvature += std::log((v[i] - v[j]) * (1 / (j < k ? v[j] : noise) - 1 / v[i])) + std::log(n);
    }
    value -= curvature / 2;
    if (value > best) best = value, chosen = k;
  }
  return std::max<Index>(chosen, 1);
}

PcaModel PcaModel::from_parts(Matrix components, Vector mean, Vector variance, double total_variance, double noise_variance, bool whiten,
                              PcaSummary summary) {
  if (components.rows() == 0 || components.cols() != mean.size() || components.rows() != variance.size()) {
    throw InvalidArgument(fmt::format("a PCA model of {} columns and {} variances cannot have {} x {} directions", mean.size(),
                                      variance.size(), components.rows(), components.cols()));
  }
  PcaModel model;
  model.components_ = std::move(components);
  model.mean_ = std::move(mean);
  model.variance_ = std::move(variance);
  model.total_variance_ = total_variance;
  model.noise_variance_ = noise_variance;
  model.whiten_ = whiten;
  model.summary_ = std::move(summary);
  return model;
}

Vector PcaModel::explained_variance_ratio() const {
  return total_variance_ > 0 ? Vector(variance_ / total_variance_) : Vector(Vector::Zero(variance_.size()));
}

Vector PcaModel::singular_values() const { return (variance_ * static_cast<double>(std::max<Index>(summary_.samples - 1, 1))).cwiseSqrt(); }

Matrix PcaModel::transform(const Samples& X, const Run& run) const {
  if (X.width() != mean_.size())
    throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {}", X.width(), mean_.size()));
  require_finite(X, "X");
  Matrix Z;
  with_run(run, [&] { Z = centred_times(X, mean_, components_.transpose()); });
  if (whiten_) {
    for (Index j = 0; j < Z.cols(); ++j) Z.col(j) *= variance_[j] > 0 ? 1 / std::sqrt(variance_[j]) : 0;
  }
  return Z;
}

Matrix PcaModel::inverse_transform(const MatrixRef& scores) const {
  if (scores.cols() != components_.rows())
    throw InvalidArgument(fmt::format("scores have {} columns, the model has {} components", scores.cols(), components_.rows()));
  Matrix out = whiten_ ? Matrix(scores * variance_.cwiseSqrt().asDiagonal() * components_) : Matrix(scores * components_);
  out.rowwise() += mean_.transpose();
  return out;
}

Vector PcaModel::reconstruction_error(const Samples& X, const Run& run) const {
  const Matrix Z = transform(X, run);
  Vector error = squared_distances_to(X, mean_);
  for (Index j = 0; j < Z.cols(); ++j) error -= (whiten_ ? variance_[j] : 1.0) * Z.col(j).cwiseAbs2();
  return error.cwiseMax(0);
}

PcaModel fit_pca(const Samples& X, const PcaOptions& o) {
  const auto start = Clock::now();
  require_options(X, o);
  const Index n = X.size();
  const Index most = std::min(n, X.width());
  const double degrees = static_cast<double>(std::max<Index>(n - 1, 1));
  PcaSummary s{.status = "converged", .samples = n};
  Vector mean;
  Spectrum found;
  double total = 0;
  with_run(o.run, [&] {
    mean = mean_row(X);
    total = squared_distances_to(X, mean).sum() / degrees;
    found = spectrum_of(X, mean, o, s);
  });
  Vector variance = found.values / degrees;
  const Index k = number_of(variance, total, n, o);
  Matrix directions = found.directions.topRows(k);
  for (Index j = 0; j < k; ++j) {
    Index largest = 0;
    directions.row(j).cwiseAbs().maxCoeff(&largest);
    if (directions(j, largest) < 0) directions.row(j) *= -1;
  }
  variance = variance.head(k).eval();
  const double noise = k < most ? std::max(0.0, total - variance.sum()) / static_cast<double>(most - k) : 0;
  s.components = k;
  s.explained = total > 0 ? std::min(1.0, variance.sum() / total) : 0;
  s.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  s.sentence = fmt::format("{}: {} component{} of {} x {} numbers, {:.1f} % of the variance; {} route", s.status, k, k == 1 ? "" : "s", n,
                           X.width(), 100 * s.explained, s.route);
  return PcaModel::from_parts(std::move(directions), std::move(mean), std::move(variance), total, noise, o.whiten, std::move(s));
}

}  // namespace mercer

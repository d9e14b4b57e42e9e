// The randomised test of conditional independence: everything by random Fourier features, in passes over blocks of rows.
//
// z's features P (n x m) with P'P = W' diag(d) W; ridge residuals of targets F are F - P b, b = W' diag(1/(d + eps)) W P'F, and their sum
// of squares needs P'F alone, so generalised cross-validation over all penalties and length scales costs one pass. The statistic is |sum_i
// p_i|^2 / n for the products p_i of the residual features of row i, and its null law that of sum_k lambda_k N_k^2, lambda the eigenvalues
// of sum_i p_i p_i' / n. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "mercer/random_features.hpp"
#include "stats/conditional_parts.hpp"
#include "stats/conditional_ridge.hpp"

namespace mercer::stats {

namespace {

constexpr Index block_rows = 2048;
constexpr Index most_parts = 32;  // partial sums: a number of the problem alone
constexpr Index most_products = 2000;
constexpr int penalties = 17;

// Sums over blocks of rows, added up in a fixed order: body(sum, first row, count).
template <class Body>
Matrix sum_over_rows(Index n, Index rows, Index cols, const Run& run, const char* name, Body&& body) {
  const Index blocks = (n + block_rows - 1) / block_rows;
  const Index parts = std::min(blocks, most_parts);
  std::vector<Matrix> sums(static_cast<std::size_t>(parts), Matrix::Zero(rows, cols));
  Stage stage(run.progress, name, static_cast<double>(blocks));
  parallel_for(parts, [&](Index part) {
    for (Index b = part * blocks / parts; b < (part + 1) * blocks / parts; ++b) {
      body(sums[static_cast<std::size_t>(part)], b * block_rows, std::min(block_rows, n - b * block_rows));
      stage.advance(1);
    }
  });
  for (std::size_t p = 1; p < sums.size(); ++p) sums[0] += sums[p];
  return sums[0];
}

// z's features at one length scale.
struct FeatureSpace {
  RandomFourierFeatures map;
  Vector mean{};
  Matrix vectors{};  // rows: eigenvectors of the centred P'P
  Vector values{};
  double factor = 1;

  Matrix at(const Samples& Z, Index first, Index count) const { return map.transform(Z.slice(first, count)).rowwise() - mean.transpose(); }
};

FeatureSpace feature_space(const Kernel& kernel_z, const Samples& Z, double factor, Index features, std::uint64_t seed, const Run& run) {
  FeatureSpace space{random_fourier_features(with_length_factor(kernel_z, factor), Z.width(), {.n_components = features, .seed = seed})};
  const Index n = Z.size();
  // P'P and, in the last row, the sums of P.
  const Matrix sums = sum_over_rows(n, features + 1, features, run, "Features of Z", [&](Matrix& sum, Index first, Index count) {
    const Matrix P = space.map.transform(Z.slice(first, count));
    sum.topRows(features).noalias() += P.transpose() * P;
    sum.row(features) += P.colwise().sum();
  });
  space.mean = sums.row(features).transpose() / static_cast<double>(n);
  const Matrix centred = sums.topRows(features) - static_cast<double>(n) * space.mean * space.mean.transpose();
  linalg::SymmetricEigen eigen = linalg::symmetric_eigen(centred, {}, run.memory);
  space.values = eigen.values.cwiseMax(0.0);
  space.vectors = std::move(eigen.vectors);
  space.factor = factor;
  return space;
}

struct Residuals {
  Matrix values{};
  double epsilon = 0;
  double degrees = 0;
  double factor = 1;
  double share = 1;
};

// Of centred targets; the length scale and the penalty with the least error by generalised cross-validation.
Residuals residuals_of(const std::vector<FeatureSpace>& spaces, const Samples& Z, const Matrix& targets, std::optional<double> epsilon,
                       const Run& run) {
  const Index n = targets.rows();
  const auto rows = static_cast<double>(n);
  const double total = targets.squaredNorm();
  double least = std::numeric_limits<double>::infinity();
  Residuals best;
  std::size_t which = 0;
  Matrix coefficients;
  for (std::size_t s = 0; s < spaces.size(); ++s) {
    const FeatureSpace& space = spaces[s];
    const Matrix cross =
        sum_over_rows(n, space.values.size(), targets.cols(), run, "Regression on Z", [&](Matrix& sum, Index first, Index count) {
          sum.noalias() += space.at(Z, first, count).transpose() * targets.middleRows(first, count);
        });
    const Matrix turned = space.vectors * cross;
    const Vector squares = turned.rowwise().squaredNorm();
    const double floor = 1e-10 * space.values.maxCoeff();
    for (int e = 0; e < (epsilon ? 1 : penalties); ++e) {
      const double penalty = epsilon ? *epsilon : space.values.sum() * std::pow(10.0, -7 + 0.5 * e);
      double explained = 0;
      double degrees = 0;
      Vector inverse = Vector::Zero(space.values.size());
      for (Index j = 0; j < space.values.size(); ++j) {
        if (!(space.values[j] > floor)) continue;
        inverse[j] = 1 / (space.values[j] + penalty);
        const double h = space.values[j] * inverse[j];
        degrees += h;
        explained += squares[j] * inverse[j] * (2 - h);
      }
      const double error = std::max(0.0, total - explained) / std::pow(1 - (1 + degrees) / rows, 2);
      if (!(error < least)) continue;
      least = error;
      which = s;
      coefficients = space.vectors.transpose() * (inverse.asDiagonal() * turned);
      best.epsilon = penalty;
      best.degrees = degrees;
    }
  }
  best.factor = spaces[which].factor;
  best.share = total > 0 ? least / total : 1;
  best.values = targets;
  parallel_for((n + block_rows - 1) / block_rows, [&](Index b) {
    const Index first = b * block_rows;
    const Index count = std::min(block_rows, n - first);
    best.values.middleRows(first, count).noalias() -= spaces[which].at(Z, first, count) * coefficients;
  });
  return best;
}

struct Variable {
  Matrix features{};  // residuals of the features
  std::string kernel{};
  double share = 1;
  double mean_degrees = 0;
  Residuals about{};
  bool determined = false;
};

Variable residual_features(const Samples& given, const Kernel& kernel, const std::vector<FeatureSpace>& spaces, const Samples& Z,
                           std::uint64_t seed, const ConditionalIndependenceOptions& o) {
  Variable v;
  Samples samples = given;
  const bool by_means = means_can_go(kernel, given, o.remove_means);
  if (by_means) {
    Matrix columns = given.to_dense();
    const double size = columns.cwiseAbs().maxCoeff();
    columns.rowwise() -= columns.colwise().mean().eval();
    v.determined = !(columns.cwiseAbs().maxCoeff() > nothing_left * size);
    if (v.determined) return v;
    Residuals means = residuals_of(spaces, Z, columns, o.epsilon, o.run);
    v.share = means.share;
    v.mean_degrees = means.degrees;
    samples = Samples(std::move(means.values));
  }
  const Kernel resolved = resolve(kernel, samples);
  v.kernel = resolved.text();
  const RandomFourierFeatures map =
      random_fourier_features(resolved, samples.width(), {.n_components = o.features_xy, .form = FourierForm::cosine, .seed = seed});
  Matrix features = map.transform(samples, o.run);
  const double square = features.squaredNorm();
  features.rowwise() -= features.colwise().mean().eval();
  v.determined = !(features.squaredNorm() > nothing_left * square);
  if (v.determined) return v;
  v.about = residuals_of(spaces, Z, features, o.epsilon, o.run);
  if (!by_means) v.share = v.about.share;
  v.features = std::move(v.about.values);
  return v;
}

// Rows of products of the features of x, of y, and of (1, those of z).
Matrix products(const Matrix& a, const Matrix& b, const Matrix& weights) {
  Matrix out(a.rows(), a.cols() * b.cols() * weights.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    Index at = 0;
    for (Index w = 0; w < weights.cols(); ++w) {
      for (Index j = 0; j < a.cols(); ++j) {
        const double factor = weights(i, w) * a(i, j);
        for (Index k = 0; k < b.cols(); ++k) out(i, at++) = factor * b(i, k);
      }
    }
  }
  return out;
}

void add_numbers(ConditionalParts& parts, const Variable& v, const char* name) {
  parts.numbers.emplace_back(fmt::format("epsilon {}", name), v.about.epsilon);
  parts.numbers.emplace_back(fmt::format("degrees of freedom {}", name), v.about.degrees);
  parts.numbers.emplace_back(fmt::format("length scale factor {}", name), v.about.factor);
  if (v.mean_degrees > 0) parts.numbers.emplace_back(fmt::format("degrees of freedom of the mean {}", name), v.mean_degrees);
}

Vector chi_square_draws(const Vector& weights, Index draws, std::uint64_t seed) {
  Vector out(draws);
  parallel_for(draws, [&](Index b) {
    RandomStream random(seed, static_cast<std::uint64_t>(b) + 1);
    double sum = 0;
    for (Index k = 0; k < weights.size(); ++k) sum += weights[k] * std::pow(random.normal(), 2);
    out[b] = sum;
  });
  return out;
}

}  // namespace

ConditionalParts conditional_by_features(const Samples& X, const Samples& Y, const Samples& Z, const ConditionalIndependenceOptions& o) {
  const Index n = X.size();
  const Index size = o.features_xy * o.features_xy * (1 + o.features_weight);
  if (size > most_products)
    throw InvalidArgument(fmt::format("features_xy^2 (1 + features_weight) must be at most {}, got {}", most_products, size));
  const Kernel kernel_z = resolve(o.kernel_z, Z);
  require_memory(static_cast<std::size_t>(n * (4 * o.features_xy + 2 * (X.width() + Y.width()))) * sizeof(double), o.run.memory,
                 fmt::format("the residuals of {} rows", n), "use fewer rows or features");
  const Index features_z = std::max<Index>(2, std::min(o.features_z, n / 4) / 2 * 2);  // pairs of a sine and a cosine
  std::vector<FeatureSpace> spaces;
  for (const double factor : length_factors(o.kernel_z))
    spaces.push_back(feature_space(kernel_z, Z, factor, features_z, o.seed + 3 + spaces.size(), o.run));
  double spread = 0;
  for (const FeatureSpace& space : spaces) spread = std::max(spread, space.values.sum());
  if (!(spread > nothing_left * static_cast<double>(n)))
    throw InvalidArgument("Z is constant, so there is nothing to condition on: use independence_test");
  ConditionalParts parts;
  const Variable x = residual_features(X, o.kernel_x, spaces, Z, o.seed + 1, o);
  const Variable y = residual_features(Y, o.kernel_y, spaces, Z, o.seed + 2, o);
  parts.kernels = {x.kernel, y.kernel, kernel_z.text()};
  parts.share_x = x.share;
  parts.share_y = y.share;
  parts.determined = x.determined || y.determined;
  if (parts.determined) return parts;
  add_numbers(parts, x, "x");
  add_numbers(parts, y, "y");
  std::optional<RandomFourierFeatures> weights;
  if (o.features_weight > 0)
    weights = random_fourier_features(kernel_z, Z.width(),
                                      {.n_components = o.features_weight, .form = FourierForm::cosine, .seed = o.seed + 100});
  const Matrix sums = sum_over_rows(n, size + 1, size, o.run, "Products of residuals", [&](Matrix& sum, Index first, Index count) {
    Matrix w = Matrix::Ones(count, 1 + o.features_weight);
    if (weights) w.rightCols(o.features_weight) = weights->transform(Z.slice(first, count));
    const Matrix p = products(x.features.middleRows(first, count), y.features.middleRows(first, count), w);
    sum.topRows(size).noalias() += p.transpose() * p;
    sum.row(size) += p.colwise().sum();
  });
  const auto rows = static_cast<double>(n);
  const Matrix covariance = sums.topRows(size) / rows;
  parts.statistic = sums.row(size).squaredNorm() / rows;
  parts.mean = covariance.trace();
  parts.variance = 2 * covariance.squaredNorm();
  if (!std::isfinite(parts.statistic)) throw InvalidArgument("products of residuals overflow; scale the data");
  if (o.null == ConditionalNull::spectral)
    parts.null = chi_square_draws(linalg::symmetric_eigen(covariance, {}, o.run.memory).values.cwiseMax(0.0), o.draws, o.seed);
  return parts;
}

}  // namespace mercer::stats

// Distributions that samples are compared with: normal, mixtures of normals, and those of a user's score.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "linalg/triangular.hpp"
#include "mercer/error.hpp"
#include "mercer/goodness_of_fit.hpp"

namespace mercer {

namespace {

struct Normal {
  double log_weight = 0;  // of the component, with its normalising constant
  Vector mean{};
  Matrix lower{};      // L, covariance = L L'
  Matrix precision{};  // its inverse
};

Normal checked(const Vector& mean, const Matrix& covariance, double weight, const std::string& who) {
  const Index d = mean.size();
  if (d == 0) throw InvalidArgument(who + ": the mean has no entries");
  if (covariance.rows() != d || covariance.cols() != d)
    throw InvalidArgument(
        fmt::format("{}: the covariance of {} columns is {} x {}, got {} x {}", who, d, d, d, covariance.rows(), covariance.cols()));
  if (!mean.allFinite() || !covariance.allFinite()) throw InvalidArgument(who + ": mean and covariance must be finite");
  if ((covariance - covariance.transpose()).cwiseAbs().maxCoeff() > 1e-10 * covariance.cwiseAbs().maxCoeff())
    throw InvalidArgument(who + ": the covariance is not symmetric");
  if (!(weight > 0) || !std::isfinite(weight)) throw InvalidArgument(fmt::format("{}: the weight must be > 0, got {}", who, weight));
  std::optional<Matrix> lower = linalg::cholesky_lower(covariance, 0, {});
  if (lower) {
    const Vector ratio = lower->diagonal().array().square() / covariance.diagonal().array();
    if (!(ratio.minCoeff() > 1e-12)) lower.reset();
  }
  if (!lower)
    throw InvalidArgument(who +
                          ": the covariance is singular or not positive definite, so there is no density; leave out columns that "
                          "others determine");
  Matrix inverse_root = Matrix::Identity(d, d);
  linalg::solve_lower(*lower, inverse_root);
  Normal out;
  out.mean = mean;
  out.precision = inverse_root.transpose() * inverse_root;
  out.log_weight = std::log(weight) - lower->diagonal().array().log().sum();
  out.lower = std::move(*lower);
  return out;
}

// sum_c r_c(x) (-P_c (x - m_c)), r_c the probability that x is of component c.
Matrix mixture_scores(const std::vector<Normal>& parts, const Matrix& X) {
  const auto count = std::ssize(parts);
  Matrix log_terms(X.rows(), count);
  std::vector<Matrix> own;
  for (Index c = 0; c < count; ++c) {
    const Normal& part = parts[static_cast<std::size_t>(c)];
    const Matrix centred = X.rowwise() - part.mean.transpose();
    own.push_back(-centred * part.precision);
    log_terms.col(c) = (centred.cwiseProduct(own.back()).rowwise().sum() * 0.5).array() + part.log_weight;
  }
  Matrix out = Matrix::Zero(X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    Vector r = (log_terms.row(i).array() - log_terms.row(i).maxCoeff()).exp();
    r /= r.sum();
    for (Index c = 0; c < count; ++c) out.row(i) += r[c] * own[static_cast<std::size_t>(c)].row(i);
  }
  return out;
}

Matrix mixture_sample(const std::vector<Normal>& parts, const Vector& weights, Index n, RandomStream& random) {
  const Index d = parts.front().mean.size();
  Matrix out(n, d);
  for (Index i = 0; i < n; ++i) {
    std::size_t c = 0;
    if (parts.size() > 1) {
      double rest = random.uniform();
      while (c + 1 < parts.size() && rest >= weights[static_cast<Index>(c)]) rest -= weights[static_cast<Index>(c++)];
    }
    Vector z(d);
    for (Index j = 0; j < d; ++j) z[j] = random.normal();
    out.row(i) = (parts[c].mean + parts[c].lower * z).transpose();
  }
  return out;
}

}  // namespace

Distribution Distribution::mixture(const std::vector<Component>& components) {
  if (components.empty()) throw InvalidArgument("a mixture needs at least one component");
  std::vector<Normal> parts;
  Vector weights(std::ssize(components));
  for (std::size_t c = 0; c < components.size(); ++c) {
    const std::string who = components.size() == 1 ? "normal" : fmt::format("component {} of the mixture", c);
    parts.push_back(checked(components[c].mean, components[c].covariance, components[c].weight, who));
    weights[static_cast<Index>(c)] = components[c].weight;
    if (parts.back().mean.size() != parts.front().mean.size())
      throw InvalidArgument(fmt::format("all components must have the same number of columns: component 0 has {}, component {} has {}",
                                        parts.front().mean.size(), c, parts.back().mean.size()));
  }
  weights /= weights.sum();
  const Index width = parts.front().mean.size();
  const std::string name = components.size() == 1 ? fmt::format("the normal distribution in {} dimension{}", width, width == 1 ? "" : "s")
                                                  : fmt::format("a mixture of {} normal distributions", components.size());
  auto shared = std::make_shared<const std::vector<Normal>>(std::move(parts));
  Distribution out(
      name, width, [shared](const Matrix& X) { return mixture_scores(*shared, X); },
      [shared, weights](Index n, RandomStream& random, Index) { return mixture_sample(*shared, weights, n, random); });
  out.mixture_ = components.size() > 1;
  return out;
}

Distribution Distribution::normal(const Vector& mean, const Matrix& covariance) { return mixture({{1, mean, covariance}}); }

Distribution Distribution::from_score(std::string name, Score score, Sampler sampler) {
  if (!score) throw InvalidArgument("a distribution needs a score function");
  return {std::move(name), 0, std::move(score), std::move(sampler)};
}

Matrix Distribution::scores(const Matrix& X) const {
  if (width_ != 0 && X.cols() != width_)
    throw InvalidArgument(fmt::format("{} has {} columns, but the sample has {}", name_, width_, X.cols()));
  Matrix out = score_(X);
  if (out.rows() != X.rows() || out.cols() != X.cols())
    throw InvalidArgument(fmt::format("the score of {} must give one row of {} numbers for each of {} rows, got {} x {}", name_, X.cols(),
                                      X.rows(), out.rows(), out.cols()));
  for (Index i = 0; i < out.rows(); ++i) {
    if (!out.row(i).allFinite())
      throw InvalidArgument(
          fmt::format("the score of {} is NaN or infinite at row {}: scores are d/dx log p(x), finite where rows lie", name_, i));
  }
  return out;
}

Matrix Distribution::sample(Index n, RandomStream& random, Index width) const {
  if (!sampler_) throw NotOffered("the parametric bootstrap draws from the fitted distribution, but " + name_ + " has no sampler");
  Matrix out = sampler_(n, random, width);
  if (out.rows() != n || out.cols() != width || !out.allFinite())
    throw InvalidArgument(
        fmt::format("the sampler of {} must give {} x {} finite numbers, got {} x {}", name_, n, width, out.rows(), out.cols()));
  return out;
}

}  // namespace mercer

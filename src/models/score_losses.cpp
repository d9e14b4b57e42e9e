// SPDX-License-Identifier: BSD-3-Clause
#include "models/score_losses.hpp"

#include <algorithm>
#include <cmath>

namespace mercer {

namespace {

// Samples of no weight take no part, whatever their loss is (0 * infinity would be NaN).
double weighted_sum(const Vector& p, const Vector& values) {
  double sum = 0;
  for (Index i = 0; i < p.size(); ++i) sum += p[i] > 0 ? p[i] * values[i] : 0;
  return sum;
}

Vector weighted(const Vector& p, const Vector& values) {
  Vector out(p.size());
  for (Index i = 0; i < p.size(); ++i) out[i] = p[i] > 0 ? p[i] * values[i] : 0;
  return out;
}

}  // namespace

solvers::ScoreLoss::Slope SampleLoss::at(const Matrix& z) const {
  const LossValues v = loss_(y_, z.col(0));
  return {weighted_sum(p_, v.value), weighted(p_, v.first)};
}

void SampleLoss::curve(const Matrix& z) { curvature_ = weighted(p_, loss_(y_, z.col(0)).second); }

SmoothedLoss::SmoothedLoss(const Loss& loss, const Vector& y, const Vector& p, double mu) : p_(p), mu_(mu), per_(loss.kinks(1).size()) {
  for (const double target : y) {
    for (const Kink& kink : loss.kinks(target)) kinks_.push_back(kink);
  }
  centre_.assign(kinks_.size(), 0.0);
}

double SmoothedLoss::slope(std::size_t k, double z) const {
  return std::clamp((z + mu_ * centre_[k] - kinks_[k].at) / mu_, kinks_[k].low, kinks_[k].high);
}

solvers::ScoreLoss::Slope SmoothedLoss::at(const Matrix& z) const {
  Slope out{0, Matrix::Zero(z.rows(), 1)};
  for (Index i = 0; i < z.rows(); ++i) {
    if (p_[i] == 0) continue;
    for (std::size_t k = first(i); k < first(i) + per_; ++k) {
      const double t = slope(k, z(i, 0));
      const double off = t - centre_[k];
      out.value += p_[i] * (t * (z(i, 0) - kinks_[k].at) - mu_ / 2 * off * off);
      out.gradient(i, 0) += p_[i] * t;
    }
  }
  return out;
}

void SmoothedLoss::curve(const Matrix& z) {
  curvature_ = Vector::Zero(z.rows());
  for (Index i = 0; i < z.rows(); ++i) {
    for (std::size_t k = first(i); k < first(i) + per_; ++k) {
      const double t = slope(k, z(i, 0));
      if (t > kinks_[k].low && t < kinks_[k].high) curvature_[i] += p_[i] / mu_;
    }
  }
}

double SmoothedLoss::loss(const Matrix& z) const {
  double sum = 0;
  for (Index i = 0; i < z.rows(); ++i) {
    for (std::size_t k = first(i); k < first(i) + per_; ++k) {
      const double d = z(i, 0) - kinks_[k].at;
      sum += p_[i] * (d < 0 ? kinks_[k].low * d : kinks_[k].high * d);
    }
  }
  return sum;
}

double SmoothedLoss::conjugate(const Matrix& z) const {
  double sum = 0;
  for (Index i = 0; i < z.rows(); ++i) {
    for (std::size_t k = first(i); k < first(i) + per_; ++k) sum += p_[i] * slope(k, z(i, 0)) * kinks_[k].at;
  }
  return sum;
}

void SmoothedLoss::move_centre(const Matrix& z) {
  std::vector<double> next(centre_.size());
  for (Index i = 0; i < z.rows(); ++i) {
    for (std::size_t k = first(i); k < first(i) + per_; ++k) next[k] = slope(k, z(i, 0));
  }
  centre_ = std::move(next);
}

Matrix softmax(const MatrixRef& z) {
  Matrix out = z;
  for (Index i = 0; i < z.rows(); ++i) {
    out.row(i).array() = (z.row(i).array() - z.row(i).maxCoeff()).exp();
    out.row(i) /= out.row(i).sum();
  }
  return out;
}

solvers::ScoreLoss::Slope SoftmaxLoss::at(const Matrix& z) const {
  Slope out{0, softmax(z)};
  for (Index i = 0; i < z.rows(); ++i) {
    const Index y = labels_[static_cast<std::size_t>(i)];
    if (p_[i] > 0) {
      const double top = z.row(i).maxCoeff();
      out.value += p_[i] * (std::log((z.row(i).array() - top).exp().sum()) + top - z(i, y));
    }
    out.gradient(i, y) -= 1;
    out.gradient.row(i) *= p_[i];
  }
  return out;
}

void SoftmaxLoss::curve(const Matrix& z) { probability_ = softmax(z); }

Vector SoftmaxLoss::per_sample() const {
  const auto k = static_cast<double>(probability_.cols());
  return (p_.array() * (1 - probability_.array().square().rowwise().sum()) / (k - 1)).max(0.0);
}

Matrix SoftmaxLoss::times(const Matrix& V) const {
  const Vector mean = probability_.cwiseProduct(V).rowwise().sum();
  return p_.asDiagonal() * probability_.cwiseProduct(V.colwise() - mean);
}

Matrix SoftmaxLoss::intercept_curvature() const {
  const Matrix weighted = p_.asDiagonal() * probability_;
  Matrix H = -(probability_.transpose() * weighted);
  H.diagonal() += weighted.colwise().sum();
  return H;
}

}  // namespace mercer

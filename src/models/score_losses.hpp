// Losses of all samples as functions of their scores, for the Newton solver: weights p_i sum to 1.
//
// A loss with corners is a sum of kinks. Its dual variable t (a slope between low and high) gets a proximal term mu/2 (t - centre)^2, which
// makes the primal loss its Moreau envelope at v = z + mu centre: t = clip((v - at)/mu, low, high), curvature 1/mu between the two. Moving
// the centre to the t just found and solving again is the proximal point method on the dual, which ends at the solution for any mu.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/losses.hpp"
#include "solvers/convex_newton.hpp"

namespace mercer {

class SampleLoss final : public solvers::ScoreLoss {
 public:
  SampleLoss(const Loss& loss, const Vector& y, const Vector& p) : loss_(loss), y_(y), p_(p) {}
  Slope at(const Matrix& z) const override;
  void curve(const Matrix& z) override;
  Vector per_sample() const override { return curvature_; }
  Matrix times(const Matrix& V) const override { return curvature_.asDiagonal() * V; }
  Matrix intercept_curvature() const override { return Matrix::Constant(1, 1, curvature_.sum()); }

 private:
  const Loss& loss_;
  const Vector& y_;
  const Vector& p_;
  Vector curvature_{};
};

class SmoothedLoss final : public solvers::ScoreLoss {
 public:
  SmoothedLoss(const Loss& loss, const Vector& y, const Vector& p, double mu);
  Slope at(const Matrix& z) const override;
  void curve(const Matrix& z) override;
  Vector per_sample() const override { return curvature_; }
  Matrix times(const Matrix& V) const override { return curvature_.asDiagonal() * V; }
  Matrix intercept_curvature() const override { return Matrix::Constant(1, 1, curvature_.sum()); }

  double loss(const Matrix& z) const;  // without smoothing
  // sum_i p_i l*(t_i) of the conjugate at the slopes that smoothing gives at z.
  double conjugate(const Matrix& z) const;
  void move_centre(const Matrix& z);
  void set_mu(double mu) { mu_ = mu; }
  double mu() const { return mu_; }

 private:
  double slope(std::size_t kink, double z) const;
  std::size_t first(Index i) const { return static_cast<std::size_t>(i) * per_; }

  const Vector& p_;
  double mu_;
  std::size_t per_;            // kinks of a sample
  std::vector<Kink> kinks_{};  // sample by sample
  std::vector<double> centre_{};
  Vector curvature_{};
};

// Softmax cross-entropy: log sum_j exp z_ij - z_{i, y_i}.
class SoftmaxLoss final : public solvers::ScoreLoss {
 public:
  SoftmaxLoss(std::vector<Index> labels, const Vector& p) : labels_(std::move(labels)), p_(p) {}
  Slope at(const Matrix& z) const override;
  void curve(const Matrix& z) override;
  Vector per_sample() const override;
  Matrix times(const Matrix& V) const override;
  Matrix intercept_curvature() const override;

 private:
  std::vector<Index> labels_;
  const Vector& p_;
  Matrix probability_{};
};

// exp(z - max) / sum, row by row.
Matrix softmax(const MatrixRef& z);

}  // namespace mercer

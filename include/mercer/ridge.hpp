// Least squares and ridge regression on the columns themselves, by singular values.
//
//   auto model = fit_ridge(X, y, {.alpha = 1});
//   Matrix f = model.predict(X_new);
//
// Method: thin SVD of X (centred when an intercept is fitted), filter s / (s^2 + alpha); alpha = 0 is ordinary least squares by the
// pseudo-inverse, so rank-deficient X has its minimum-norm answer. Cost: O(n p min(n, p)).
// Reference: source K equations 8 to 12; SPEC R1, slips S13.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct RidgeOptions {
  double alpha = 1;                // |y - X w|^2 + alpha |w|^2; 0: ordinary least squares
  Vector alpha_per_target{};       // one per column of y instead of `alpha`
  std::optional<double> lambda{};  // alpha / n; overrides alpha
  bool fit_intercept = true;       // not penalised
  int degree = 1;                  // > 1: polynomial regression on all monomials of total degree 1 .. degree
  Vector sample_weight{};          // empty: all 1
  Run run{};
};

struct RidgeSummary {
  Vector singular_values{};  // of the (centred, weighted) design, descending
  Vector filter{};           // s_j / (s_j^2 + alpha) for the first target
  Index rank = 0;
  double condition_before = 0;    // of the design, largest over smallest singular value (infinite when rank-deficient)
  double condition_after = 0;     // of [X; sqrt(alpha) I]
  double degrees_of_freedom = 0;  // sum s_j^2 / (s_j^2 + alpha)
  double seconds = 0;
  std::string sentence{};
};

class RidgeModel {
 public:
  Matrix predict(const Samples& X) const;

  const Matrix& coef() const { return coef_; }            // targets x features (after the polynomial expansion)
  const Vector& intercept() const { return intercept_; }  // one per target
  int degree() const { return degree_; }
  Index n_features() const { return n_features_; }  // before the expansion
  const RidgeSummary& summary() const { return summary_; }

  static RidgeModel from_parts(Matrix coef, Vector intercept, int degree, Index n_features, RidgeSummary summary);

 private:
  RidgeModel() = default;
  Matrix coef_;
  Vector intercept_{};
  int degree_ = 1;
  Index n_features_ = 0;
  RidgeSummary summary_;
};

RidgeModel fit_ridge(const Samples& X, const MatrixRef& Y, const RidgeOptions& options = {});

// All monomials of total degree 1 .. degree of the columns, in scikit-learn's PolynomialFeatures order, no constant column.
Matrix monomials(const MatrixRef& X, int degree);

}  // namespace mercer

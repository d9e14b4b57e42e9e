// Linear support vector machines on the columns themselves: for every class against the rest (one function for two classes)
//
//   min over w and b of |w|^2 / 2 + (b / s)^2 / 2 + sum_i C_i loss(1 - y_i (w.x_i + b)),   loss(m) = max(0, m)^2 or max(0, m)
//
//   auto model = fit_linear_svc(X, labels, {.C = 1});
//   Matrix scores = model.decision(X_new);         // one column for two classes, else one per class
//
// C_i = C times the weight of the sample and of its class; the constant b is penalised through the column of s = intercept_scaling that
// LIBLINEAR adds. Methods: Newton on the primal (src/models/linear_newton.hpp), or coordinate descent on the dual with shrinking
// (src/models/linear_descent.hpp); both end on a duality gap computed from a feasible dual point. No n x n matrix is made: a step costs a
// few passes over the nonzeros of X. References: source K section 5.2; Hsieh et al., A dual coordinate descent method for large-scale
// linear SVM, 2008; Keerthi and DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs, 2005.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct LinearSvcOptions {
  enum class Loss : std::uint8_t { squared_hinge, hinge } loss = Loss::squared_hinge;
  double C = 1;                    // > 0: weight of the losses, as scikit-learn has it
  std::optional<double> lambda{};  // mean loss + lambda |w|^2, that is C = 1 / (2 lambda sum of sample_weight); overrides C
  bool fit_intercept = true;
  double intercept_scaling = 1;  // s > 0: the larger, the less b is penalised
  // One per class; empty: all 1. As in LIBLINEAR, with more than two classes it is the weight of the class on its own turn; the rest
  // counts 1.
  Vector class_weight{};
  Vector sample_weight{};  // empty: all 1; zero leaves a sample out
  // automatic: Newton where there are at least as many samples as columns or few columns, coordinate descent elsewhere.
  enum class Solver : std::uint8_t { automatic, newton, coordinate_descent } solver = Solver::automatic;
  double tolerance = 1e-6;      // on the duality gap, relative to the objective
  Index max_iterations = 1000;  // Newton steps, or passes over the samples
  std::uint64_t seed = 0;       // of the order in which coordinate descent visits the samples
  Run run{};
};

struct LinearSvcSummary {
  std::string method{};       // "Newton" or "coordinate descent"
  std::string status{};       // "converged", "iteration limit", or "rounding": no step made the objective smaller
  Index iterations = 0;       // of the class that took most
  double objective = 0;       // summed over the classes
  double gap = 0;             // primal minus dual objective, summed
  double relative_gap = 0;    // of the class where it is largest
  Index support_vectors = 0;  // samples with a loss or on the margin, summed
  double seconds = 0;
  std::size_t bytes = 0;
  std::string sentence{};
};

class LinearSvcModel {
 public:
  Matrix decision(const Samples& X, const Run& run = {}) const;  // positive: the second class of two, or the class of the column
  Matrix predict(const Samples& X, const Run& run = {}) const { return decision(X, run); }  // as models in files have it

  const Matrix& coef() const { return coef_; }            // one row for two classes, else one per class
  const Vector& intercept() const { return intercept_; }  // b, one per row of coef
  double C() const { return C_; }
  LinearSvcOptions::Loss loss() const { return loss_; }
  Index n_features() const { return coef_.cols(); }
  Index classes() const { return coef_.rows() == 1 ? 2 : coef_.rows(); }
  const LinearSvcSummary& summary() const { return summary_; }

  static LinearSvcModel from_parts(Matrix coef, Vector intercept, LinearSvcOptions::Loss loss, double C, LinearSvcSummary summary);

 private:
  LinearSvcModel() = default;
  Matrix coef_;
  Vector intercept_{};
  LinearSvcOptions::Loss loss_ = LinearSvcOptions::Loss::squared_hinge;
  double C_ = 1;
  LinearSvcSummary summary_;
};

// labels: class indices 0 .. k-1, each present with positive weight (encode_labels makes them).
LinearSvcModel fit_linear_svc(const Samples& X, const std::vector<Index>& labels, const LinearSvcOptions& options = {});

// C by cross-validation: every C of a grid on the same stratified folds, from the smallest up, each fit starting from the one before.
struct LinearSvcSearch {
  Vector C;         // the grid, ascending
  Matrix accuracy;  // C x folds: share of the weight of the held-out samples that is labelled correctly
  Vector mean;      // over the folds
  Index best = 0;   // the smallest C among those with the best mean
  double seconds = 0;
  std::string sentence{};
};
// An empty grid is 2^-10, 2^-8, ..., 2^6 over the mean square of a row (the constant included), where answers change from "all alike" to
// "no error is allowed". `options.C` and `lambda` are not looked at.
LinearSvcSearch search_linear_svc(const Samples& X, const std::vector<Index>& labels, const LinearSvcOptions& options = {},
                                  Vector grid = {}, Index folds = 5);

}  // namespace mercer

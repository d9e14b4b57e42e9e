// Kernel logistic regression: min over f and b of C sum_i w_i log-loss(y_i, f(x_i) + b) + |f|^2 / 2, lambda = 1 / (2 C sum w).
//
//   auto model = fit_kernel_logistic(X, labels, {.kernel = kernels::gaussian(1.0), .C = 10});
//   Matrix p = model.probabilities(X_new);         // one column per class, rows sum to 1
//
// Two classes have one function, P(second) = 1 / (1 + exp(-f - b)); more have one function each and the softmax of their scores, all fitted
// together. Method: Newton (convex_newton.hpp), ending on a duality gap. Above `exact_limit` samples the functions live in the span of M
// landmarks (Nystrom features, as Falkon does) and no n x n matrix is made; the summary says so.
// References: source D section 3; Zhu and Hastie, Kernel logistic regression and the import vector machine, 2005.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "mercer/representer.hpp"

namespace mercer {

struct KernelLogisticOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  double C = 1;                    // > 0: weight of the losses, as scikit-learn has it
  std::optional<double> lambda{};  // (1/sum w) sum w_i loss + lambda |f|^2; overrides C
  bool fit_intercept = true;       // not penalised
  Vector class_weight{};           // one per class, times the samples' own; empty: all 1
  Vector sample_weight{};          // empty: all 1; zero leaves a sample out
  enum class Solver : std::uint8_t { automatic, exact, landmarks } solver = Solver::automatic;
  Index landmarks = 0;        // 0: 10 sqrt(n), between 500 and 3000
  Index exact_limit = 20000;  // the automatic solver takes landmarks above
  std::uint64_t seed = 0;     // of the landmarks
  double tolerance = 1e-7;    // on the duality gap, relative to the objective
  Index max_iterations = 100;
  Run run{};
};

class KernelLogisticModel {
 public:
  Matrix decision(const Samples& X, const Run& run = {}) const;  // one column for two classes, else one per class
  Matrix predict(const Samples& X, const Run& run = {}) const { return decision(X, run); }  // as models in files have it
  Matrix probabilities(const Samples& X, const Run& run = {}) const;                        // one column per class
  // log probabilities, exact where probabilities round to 0.
  Matrix log_probabilities(const Samples& X, const Run& run = {}) const;

  const Kernel& kernel() const { return kernel_; }
  const Samples& samples() const { return samples_; }
  const Matrix& dual_coef() const { return dual_coef_; }
  const Vector& intercept() const { return intercept_; }
  double lambda() const { return lambda_; }
  Index classes() const { return dual_coef_.cols() == 1 ? 2 : dual_coef_.cols(); }
  const ConvexSummary& summary() const { return summary_; }

  static KernelLogisticModel from_parts(Kernel kernel, Samples samples, Matrix dual_coef, Vector intercept, double lambda,
                                        ConvexSummary summary);

 private:
  KernelLogisticModel(Kernel kernel, Samples samples) : kernel_(std::move(kernel)), samples_(std::move(samples)) {}
  Kernel kernel_;
  Samples samples_;
  Matrix dual_coef_;
  Vector intercept_{};
  double lambda_ = 0;
  ConvexSummary summary_;
};

// labels: class indices 0 .. k-1, each present with positive weight (encode_labels makes them).
KernelLogisticModel fit_kernel_logistic(const Samples& X, const std::vector<Index>& labels, const KernelLogisticOptions& options = {});

// Scores of one column to the probabilities of two classes, of several to their softmax.
Matrix probabilities_from_scores(const MatrixRef& scores);

}  // namespace mercer

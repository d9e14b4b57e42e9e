// The whole regularisation path of kernel ridge regression, any number of kernels times any number of penalties, each judged by exact
// leave-one-out, generalised cross-validation, the evidence, or folds.
//
//   auto result = fit_kernel_ridge_cv(X, y, {.kernels = {kernels::gaussian(1), kernels::gaussian(2)}});
//   Matrix f = result.model().predict(X_new);
//
// Method: per kernel ONE reduction of the (weighted, centred where there is an intercept) Gram matrix to a band, or its eigenvectors; every
// alpha then costs n^2 times the bandwidth (src/linalg/shifted_systems.hpp). With P = (S K S + alpha I)^-1, S roots of the weights, or the
// leading block of the inverse of the bordered matrix when an unpenalised intercept is fitted, and c' = P S y:
//   leave-one-out residual  c'_i / (s_i P_ii)      degrees of freedom  n - alpha tr P
//   GCV  n^2 |c'|^2 / (sum w (tr P)^2)             log evidence  that of y ~ N(b, v (K + alpha W^-1)) at its best scale v, b with
//   a flat prior (restricted likelihood)
// Leaving a sample out refits the intercept too. Folds share one Gram matrix; each reduces its own part of it.
// Cost: 8/3 n^3 flops and 1.5 n^2 numbers per kernel, 128 n^2 flops per alpha; one eigenproblem when alpha = 0 is asked for.
// References: Golub, Heath, Wahba, Technometrics 21 (1979); Rasmussen, Williams, Gaussian processes, chapter 5.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "mercer/folds.hpp"
#include "mercer/kernel_ridge.hpp"

namespace mercer {

enum class PathCriterion : std::uint8_t { leave_one_out, gcv, log_evidence };
enum class PathMethod : std::uint8_t { automatic, band, eigen };

struct KernelRidgeCvOptions {
  std::vector<Kernel> kernels{kernels::gaussian(kernels::LengthScale::automatic())};
  std::vector<double> alphas{};  // >= 0; empty: n_alphas, log-spaced between the ends of each kernel's spectrum
  Index n_alphas = 30;
  PathCriterion criterion = PathCriterion::leave_one_out;
  std::vector<Fold> folds{};      // given: the mean squared error on the test parts decides, in place of the criterion
  bool alpha_per_target = false;  // one alpha for each column of y
  bool fit_intercept = false;     // not penalised
  Vector sample_weight{};         // empty: all 1; the scores are weighted too
  bool intervals = false;         // keep what prediction intervals need
  bool keep_residuals = false;    // those of every kernel and alpha (of the folds' test parts, where folds are given)
  PathMethod method = PathMethod::automatic;
  Run run{};
};

// One kernel with one alpha. What was not computed is NaN.
struct PathPoint {
  Index kernel = 0;  // place in the options
  double alpha = 0;
  bool valid = false;              // K + alpha I is positive definite (alpha = 0: semi-definite)
  double score = 0;                // larger is better: -MSE, -GCV or log evidence; mean over targets (evidence: sum)
  Vector scores{};                 // one per target
  Vector fold_scores{};            // one per fold, mean over targets
  double leave_one_out_error = 0;  // weighted mean of squares, mean over targets
  double gcv = 0;                  // mean over targets
  double log_evidence = 0;         // sum over targets
  double degrees_of_freedom = 0;
  Matrix residuals{};  // n x targets, with keep_residuals; NaN where no fold tests a sample
  std::string note{};  // why it is not valid, or what alpha = 0 means here
};

struct KernelRidgeCvSummary {
  std::string method{};  // "band" or "eigen"; "folds"
  double seconds = 0;
  std::size_t bytes = 0;
  std::string sentence{};
};

class KernelRidgeCvResult {
 public:
  const KernelRidgeModel& model() const { return model_; }  // at the best kernel and alpha
  const std::vector<PathPoint>& points() const {
    return points_;
  }                                                                // kernel by kernel, alphas in the order given (ascending when automatic)
  const std::vector<Kernel>& kernels() const { return kernels_; }  // with automatic length scales resolved
  Index best_kernel() const { return best_kernel_; }
  const Vector& best_alpha() const { return model_.alpha(); }  // one per target
  double best_score() const { return best_score_; }
  // n x targets, of the chosen kernel and alphas: y_i less the prediction of the fit without sample i. Empty when folds decided.
  const Matrix& leave_one_out_residuals() const { return residuals_; }
  const KernelRidgeCvSummary& summary() const { return summary_; }

 private:
  friend class KernelRidgePath;
  explicit KernelRidgeCvResult(KernelRidgeModel model) : model_(std::move(model)) {}
  KernelRidgeModel model_;
  std::vector<PathPoint> points_{};
  std::vector<Kernel> kernels_{};
  Index best_kernel_ = 0;
  double best_score_ = 0;
  Matrix residuals_{};
  KernelRidgeCvSummary summary_{};
};

KernelRidgeCvResult fit_kernel_ridge_cv(const Samples& X, const MatrixRef& Y, const KernelRidgeCvOptions& options = {});

}  // namespace mercer

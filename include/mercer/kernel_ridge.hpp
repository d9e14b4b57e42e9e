// Kernel ridge regression: min over f in the RKHS of (1/n) sum w_i (y_i - f(x_i) - b)^2 + lambda |f|^2, alpha = n lambda.
//
//   auto model = fit_kernel_ridge(X, y, {.kernel = kernels::gaussian(2.0), .alpha = 0.1});
//   Matrix f = model.predict(X_new);
//
// Method: chosen by size and memory, and reported. Cholesky of K + alpha I in fixed tiles, lower half only: n^3/3 flops, n^2/2 numbers;
// from 2000 samples on with a float32 factor and refinement to a float64 residual; from 8000 on conjugate gradients with a randomly pivoted
// Cholesky preconditioner: about n^2 per step, and no n x n matrix at all where half of one in float32 is over the budget.
// Reference: source K section 3.4, with the slips S8 corrected; alpha = 0 gives the minimum-norm interpolant K^+ y.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "mercer/kernels.hpp"
#include "mercer/prediction_intervals.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

enum class KernelRidgeSolver : std::uint8_t { automatic, cholesky, mixed_cholesky, conjugate_gradients };

struct KernelRidgeOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  double alpha = 1;                      // >= 0
  Vector alpha_per_target{};             // one per column of y instead of `alpha`
  std::optional<double> lambda{};        // alpha / n (alpha / sum of weights is not meant); overrides alpha
  bool fit_intercept = false;            // b, not penalised
  Vector sample_weight{};                // empty: all 1; zero leaves a sample out
  std::optional<Precision> precision{};  // of kernel values; not given: float64
  KernelRidgeSolver solver = KernelRidgeSolver::automatic;
  double tolerance = 1e-10;  // of the relative residual, for the solvers that iterate
  bool intervals = false;    // keep what prediction intervals need (prediction_intervals.hpp)
  Run run{};
};

// How a linear system was solved, for people and for tests.
struct SolveSummary {
  std::string method{};  // "Cholesky", "mixed-precision Cholesky", "conjugate gradients" or "pseudo-inverse"
  bool positive_definite = true;
  bool converged = true;  // the solvers that iterate met the tolerance
  Index iterations = 0;   // of those
  Index rank = 0;         // n but for the pseudo-inverse
  double residual = 0;    // |(K + alpha I) c - y| / |y|, recomputed in float64 from kernel tiles
  double seconds = 0;
  std::size_t bytes = 0;   // largest allocation
  std::string sentence{};  // "solved: Cholesky of 10000 x 10000, relative residual 3.1e-15, 430 MB, 4.20 s"
};

class KernelRidgeModel {
 public:
  Matrix predict(const Samples& X, const Run& run = {}) const;  // one column per target
  // The prediction and an interval for a new value, 0 < level < 1; the model must have been fitted with `intervals`.
  IntervalPrediction predict_interval(const Samples& X, double level, const Run& run = {}) const;

  const Kernel& kernel() const { return kernel_; }
  const Samples& samples() const { return samples_; }
  const Matrix& dual_coef() const { return dual_coef_; }  // n x targets
  const Vector& intercept() const { return intercept_; }  // one per target; zeros without fit_intercept
  const Vector& alpha() const { return alpha_; }          // one per target
  Precision precision() const { return precision_; }
  const SolveSummary& summary() const { return summary_; }
  Index n_targets() const { return dual_coef_.cols(); }
  bool has_intervals() const { return intervals_ != nullptr; }
  const IntervalSummary& interval_summary() const;  // of a model that has them
  const std::shared_ptr<const IntervalParts>& interval_parts() const { return intervals_; }

  // From its parts (files, bindings). Checks that the sizes agree.
  static KernelRidgeModel from_parts(Kernel kernel, Samples samples, Matrix dual_coef, Vector intercept, Vector alpha, Precision precision,
                                     SolveSummary summary);
  KernelRidgeModel with_intervals(std::shared_ptr<const IntervalParts> parts) const;

 private:
  KernelRidgeModel(Kernel kernel, Samples samples) : kernel_(std::move(kernel)), samples_(std::move(samples)) {}
  Kernel kernel_;
  Samples samples_;
  Matrix dual_coef_;
  Vector intercept_{};
  Vector alpha_{};
  Precision precision_ = Precision::float64;
  SolveSummary summary_;
  std::shared_ptr<const IntervalParts> intervals_{};
};

// The same model with what intervals need. X and Y are what it was fitted on (X with the kernel values, where those are given).
KernelRidgeModel add_intervals(const KernelRidgeModel& model, const Samples& X, const MatrixRef& Y, const IntervalOptions& options = {});

KernelRidgeModel fit_kernel_ridge(const Samples& X, const MatrixRef& Y, const KernelRidgeOptions& options = {});

}  // namespace mercer

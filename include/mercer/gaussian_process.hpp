// Gaussian process regression: y_i = f(x_i) + e_i, f a Gaussian process with covariance k, e_i independent normal with variance `noise`.
//
//   auto model = fit_gaussian_process(X, y, {.kernel = 1.0 * kernels::gaussian(1.0) + kernels::white(0.1)});
//   GaussianPrediction at = model.predict_with_variance(X_new);
//
// Method: the parameters maximise the log marginal likelihood, or the leave-one-out log likelihood, by L-BFGS on their logarithms with
// analytic gradients sum_ij W_ij dK_ij/d log(parameter); then mean and variance come from the Cholesky factor of K + noise I.
// Reference: Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), algorithm 2.1, 5.4.1 and 5.4.2; the mean is kernel
// ridge regression with alpha = noise (source L, K 7). Cost: n^3 flops and n^2/2 numbers an evaluation, n^2 flops a predicted variance.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/prediction_intervals.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

// What the parameters are chosen by: log p(y), or sum_i log p(y_i | all other y).
enum class GaussianProcessObjective : std::uint8_t { marginal, leave_one_out };

// Where a parameter may go; equal ends mean that it stays as it is.
struct ParameterBounds {
  double lower = 1e-5;
  double upper = 1e5;
};

struct GaussianProcessOptions {
  Kernel kernel = 1.0 * kernels::gaussian(kernels::LengthScale::automatic());
  double noise = 1e-10;                   // variance of e, added to the diagonal (scikit-learn's alpha)
  Vector noise_per_sample{};              // one variance each; new observations still have `noise`
  bool optimize = true;                   // the kernel's parameters, from the values that they have
  bool optimize_noise = false;            // `noise` too; of noise_per_sample, a factor common to all and to `noise`
  std::vector<std::string> fixed{};       // parameters that stay: "factor", "gaussian.length_scale" (every column's too), "white.variance"
  std::vector<ParameterBounds> bounds{};  // none: the ones above; one for all; or one for each of kernel.parameters() (and for the noise)
  GaussianProcessObjective objective = GaussianProcessObjective::marginal;
  int restarts = 0;          // further starts, log-uniform within the bounds; the best of all is kept
  std::uint64_t seed = 0;    // of the restarts
  bool normalize_y = false;  // targets to mean 0 and variance 1 first; predictions are in their own units again
  int max_iterations = 0;    // likelihoods evaluated per start at most; 0: 15000
  Run run{};
};

// How the parameters were found, for people and for tests.
struct GaussianProcessSummary {
  double log_marginal_likelihood = 0;       // of the (normalised) targets, at the fitted parameters
  double leave_one_out_log_likelihood = 0;  // the same; NaN where the objective is the other one
  double start_value = 0;                   // of the objective, before
  double gradient = 0;                      // largest entry of the objective's gradient at the end, where the bounds leave room
  bool converged = true;                    // false: an evaluation limit, or no progress was possible
  Index evaluations = 0;                    // of the likelihood, all starts together
  Index starts = 0;                         // 0: nothing to optimise
  Index best_start = 0;                     // 0: the given values
  std::vector<std::string> at_bound{};      // parameters that ended where their bounds end
  std::string status{};                     // why the search ended, in words
  double seconds = 0;
  std::size_t bytes = 0;   // largest allocation
  std::string sentence{};  // "fitted: log marginal likelihood -132.4 (from -410.2), 23 evaluations, gradient 3.1e-06, 66 MB, 0.80 s"
};

struct GaussianPrediction {
  Matrix mean;      // one column per target
  Matrix variance;  // of f, and of the kernel's white noise where it has some
};

class GaussianProcessModel {
 public:
  Matrix predict(const Samples& X, const Run& run = {}) const;
  GaussianPrediction predict_with_variance(const Samples& X, const Run& run = {}) const;
  // Covariances between the rows of X, one matrix per target.
  std::vector<Matrix> covariance(const Samples& X, const Run& run = {}) const;
  // Draws of f (and the kernel's white noise) at the rows of X: one matrix per target, a column per draw.
  std::vector<Matrix> sample(const Samples& X, Index draws, std::uint64_t seed, const Run& run = {}) const;
  // Where a new observation falls with probability `level`: mean +- z sqrt(variance + new_noise).
  IntervalPrediction predict_interval(const Samples& X, double level, const Run& run = {}) const;

  const Kernel& kernel() const { return kernel_; }
  const Samples& samples() const { return samples_; }
  const Matrix& dual_coef() const { return dual_coef_; }  // (K + noise)^-1 y of the normalised targets, n x targets
  const Vector& noise() const { return noise_; }          // one number, or one per sample
  double new_noise() const { return new_noise_; }         // of observations to come
  const Vector& target_mean() const { return target_mean_; }
  const Vector& target_scale() const { return target_scale_; }
  const GaussianProcessSummary& summary() const { return summary_; }
  Index n_targets() const { return dual_coef_.cols(); }
  // L of K + noise = L L', dense; made on first use in a model that was read from a file.
  Matrix factor(const Run& run = {}) const;

  struct Factor;  // src/models/gaussian_process.cpp
  // From its parts (files, bindings; fit_gaussian_process, which has the factor already). Checks that the sizes agree. The noise of new
  // observations is the mean of `noise` unless given.
  static GaussianProcessModel from_parts(Kernel kernel, Samples samples, Matrix dual_coef, Vector noise, Vector target_mean,
                                         Vector target_scale, GaussianProcessSummary summary,
                                         std::shared_ptr<const Factor> factor = nullptr, std::optional<double> new_noise = {});

 private:
  GaussianProcessModel(Kernel kernel, Samples samples) : kernel_(std::move(kernel)), samples_(std::move(samples)) {}
  Kernel kernel_;
  Samples samples_;
  Matrix dual_coef_{};
  Vector noise_{};
  double new_noise_ = 0;
  Vector target_mean_{};
  Vector target_scale_{};
  GaussianProcessSummary summary_{};
  std::shared_ptr<const Factor> factor_{};
};

// Several targets are independent processes of one covariance: their likelihoods are added.
GaussianProcessModel fit_gaussian_process(const Samples& X, const MatrixRef& Y, const GaussianProcessOptions& options = {});

// The objective at the options' kernel and noise, nothing optimised.
struct GaussianProcessLikelihood {
  double value = 0;
  // By the logarithms of the parameters that are not fixed, in the order of Kernel::parameters(), then of the noise where it is optimised.
  Vector gradient{};
};
GaussianProcessLikelihood gaussian_process_likelihood(const Samples& X, const MatrixRef& Y, const GaussianProcessOptions& options = {});

}  // namespace mercer

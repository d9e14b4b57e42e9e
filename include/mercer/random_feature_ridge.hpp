// Ridge regression on random Fourier features, in one pass over the rows and in memory that does not grow with them:
// min over c, b of sum_i w_i (y_i - z(x_i)'c - b)^2 + alpha |c|^2, an approximation of kernel ridge regression with the kernel of z.
//
//   auto model = fit_random_feature_ridge(X, y, {.kernel = kernels::gaussian(2.0), .n_components = 1000, .alpha = 0.1});
//   Matrix f = model.predict(X_new);
//
// or chunk by chunk, on one machine or several:
//
//   RandomFeatureSums sums(random_fourier_features(kernel, width, {.n_components = 1000}), n_targets);
//   for (chunk of rows) sums.accumulate(X, Y);
//   sums.merge(what another machine has seen);
//   auto model = sums.solve({.alpha = 0.1});
//
// Method: the features of a slab of rows at a time, never all n x L; their normal equations as NormalSums; one Cholesky of L x L.
// Held-out rows have sums of their own, which tell the error of coefficients that were fitted without them; the model itself then uses all.
// Precision: features and products of a slab in float32 or float64, sums always in float64, coefficients in float64.
// Cost: n L (d + L/2) multiplications and n L sines or cosines, L^3/3 for the solution; some 10 L^2 numbers and a slab of memory.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mercer/normal_sums.hpp"
#include "mercer/random_features.hpp"

namespace mercer {

// What is asked of the sums; the same words as in RandomFeatureRidgeOptions.
struct RandomFeatureSolve {
  double alpha = 1;                // >= 0; 0: the solution of least norm
  Vector alpha_per_target{};       // one per target instead of `alpha`
  std::optional<double> lambda{};  // alpha / number of rows; overrides alpha
  bool fit_intercept = true;       // b, not penalised
  Run run{};
};

struct RandomFeatureRidgeOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Index n_components = 1000;
  FourierForm form = FourierForm::sine_cosine;
  FourierDraw draw = FourierDraw::independent;
  std::uint64_t seed = 0;
  double alpha = 1;
  Vector alpha_per_target{};
  std::optional<double> lambda{};
  bool fit_intercept = true;
  Vector sample_weight{};                // empty: all 1; zero leaves a sample out
  double validation_fraction = 0;        // of the rows, drawn by the seed, on which the error is measured; in [0, 1)
  std::optional<Precision> precision{};  // of the features; not given: float32 from 1e7 of them on, unless alpha < 1e-8 n
  Run run{};
};

struct RandomFeatureSummary {
  std::string method{};     // "Cholesky" or "pseudo-inverse"
  Index rows = 0;           // that the model was fitted on, held-out ones included
  Index rank = 0;           // n_components for Cholesky
  double residual = 0;      // of the normal equations, relative to their right side, in float64
  Vector training_rmse{};   // per target, weighted
  Index held_out_rows = 0;  // 0: none were asked for
  Vector held_out_rmse{};   // per target, of the same fit without the held-out rows; empty without any
  Vector held_out_r2{};     // 1 - squared error / variance around the mean of the held-out targets
  double seconds = 0;
  std::size_t bytes = 0;   // largest that was asked of the memory budget
  std::string sentence{};  // "solved: Cholesky of 1000 x 1000 from 1000000 rows, ..., held-out RMSE 0.31 on 99871 rows, 5.2 s"
};

class RandomFeatureRidgeModel {
 public:
  Matrix predict(const Samples& X, const Run& run = {}) const;  // one column per target

  const RandomFourierFeatures& features() const { return features_; }
  const Kernel& kernel() const { return features_.kernel(); }
  const Matrix& coef() const { return coef_; }            // n_components x targets
  const Vector& intercept() const { return intercept_; }  // one per target; zeros without fit_intercept
  const Vector& alpha() const { return alpha_; }          // one per target
  Precision precision() const { return precision_; }
  const RandomFeatureSummary& summary() const { return summary_; }
  Index n_targets() const { return coef_.cols(); }
  Index n_features() const { return features_.width(); }  // columns of X

  // From its parts (files, bindings). Checks that the sizes agree.
  static RandomFeatureRidgeModel from_parts(RandomFourierFeatures features, Matrix coef, Vector intercept, Vector alpha,
                                            Precision precision, RandomFeatureSummary summary);

 private:
  explicit RandomFeatureRidgeModel(RandomFourierFeatures features) : features_(std::move(features)) {}
  RandomFourierFeatures features_;
  Matrix coef_{};
  Vector intercept_{};
  Vector alpha_{};
  Precision precision_ = Precision::float32;
  RandomFeatureSummary summary_{};
};

// The running sums: a value that takes in chunks, merges with another of the same map, goes to bytes and back, and can be solved at any
// time.
class RandomFeatureSums {
 public:
  // Row number r of all that accumulate sees is held out if the r-th draw of the seed says so, whatever the chunks are.
  RandomFeatureSums(RandomFourierFeatures features, Index targets, Precision precision = Precision::float32, double validation_fraction = 0,
                    std::uint64_t seed = 0);

  // Throws InvalidArgument (sizes, numbers that are not finite, negative weights) before anything is taken in. A cancelled call leaves the
  // sums of the rows taken in so far: start again from a copy.
  void accumulate(const Samples& X, const MatrixRef& Y, const Vector& sample_weight = {}, const Run& run = {});
  // Throws InvalidArgument unless both have the same map, precision, targets and validation_fraction. Rows held out of either stay held
  // out.
  void merge(const RandomFeatureSums& other);
  // Throws InvalidArgument before any row of positive weight was seen.
  RandomFeatureRidgeModel solve(const RandomFeatureSolve& options = {}) const;

  const RandomFourierFeatures& features() const { return features_; }
  const NormalSums& training() const { return training_; }
  const NormalSums& held_out() const { return held_out_; }
  Index rows() const { return rows_; }
  Index targets() const { return training_.targets(); }
  Precision precision() const { return precision_; }
  double validation_fraction() const { return validation_fraction_; }
  std::uint64_t seed() const { return seed_; }

  // The sums without the map, which is drawn again from its seed or kept elsewhere; restore() throws InvalidArgument for bytes that are not
  // such sums, or are those of another number of features or targets.
  std::string to_bytes() const;
  void restore(std::string_view bytes);

 private:
  template <class T>
  void take(const Samples& X, const MatrixRef& Y, const Vector& w, const Run& run);

  RandomFourierFeatures features_;
  Precision precision_;
  double validation_fraction_;
  std::uint64_t seed_;
  Index rows_ = 0;
  double seconds_ = 0;
  NormalSums training_;
  NormalSums held_out_;
};

// The first half of fit_random_feature_ridge: draws the map for these rows (length scales and centre from them) and takes them in. More
// rows may follow.
RandomFeatureSums random_feature_sums(const Samples& X, const MatrixRef& Y, const RandomFeatureRidgeOptions& options = {});

RandomFeatureRidgeModel fit_random_feature_ridge(const Samples& X, const MatrixRef& Y, const RandomFeatureRidgeOptions& options = {});

}  // namespace mercer

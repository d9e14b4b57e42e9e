// Prediction intervals without a held-out set and without assumptions on the noise: jackknife+ and CV+.
//
//   auto model = fit_kernel_ridge(X, y, {.kernel = kernels::gaussian(2.0), .alpha = 0.1, .intervals = true});
//   auto [f, lower, upper] = model.predict_interval(X_new, 0.9);
//
// Method: with f_-i the fit without sample i and r_i = y_i - f_-i(x_i), the interval at x runs from the floor((1 - level)(n + 1))-th
// smallest of f_-i(x) - |r_i| to the ceil(level (n + 1))-th smallest of f_-i(x) + |r_i|; infinite where there is no such number. When new
// samples are exchangeable with the training ones it holds the new value with probability >= 1 - 2 (1 - level), about `level` in practice.
// For kernel ridge no refits are needed: f_-i(x) = f(x) - r_i w_i (A^-1 k_x)_i in the scaled system. CV+ takes the fold's fit for f_-i.
// Reference: Barber, Candes, Ramdas, Tibshirani, "Predictive inference with the jackknife+", Annals of Statistics 49 (2021).
// Cost: jackknife+ keeps the lower half of A^-1 in the model (n^2/2 numbers, n^3 flops once) and 2 n^2 flops per new sample; CV+ keeps one
// coefficient vector per fold, and makes one fit per fold.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer {

enum class IntervalMethod : std::uint8_t { jackknife_plus, cv_plus };

// Up to this many samples the jackknife+ is taken, CV+ above.
inline constexpr Index largest_jackknife = 5000;

struct IntervalOptions {
  Vector sample_weight{};  // those the model was fitted with
  bool fit_intercept = false;
  std::optional<IntervalMethod> method{};  // not given: by the number of samples
  Index folds = 10;                        // of CV+; never more than samples
  std::uint64_t seed = 0;                  // of the folds
  Run run{};
};

struct IntervalSummary {
  IntervalMethod method = IntervalMethod::jackknife_plus;
  Index folds = 0;        // of CV+
  std::size_t bytes = 0;  // that the model keeps for it
  double seconds = 0;
  std::string sentence{};  // "intervals: jackknife+ from 400 leave-one-out residuals, 640 KB kept, 0.02 s"
};

struct IntervalPrediction {
  Matrix prediction;  // of the model itself, one column per target
  Matrix lower;
  Matrix upper;
};

struct IntervalParts;  // what a model keeps: src/models/interval_parts.hpp

}  // namespace mercer

// Kernel learning: the parameters of a kernel (length scales, one per column if wished, weights of a sum, ...) chosen by an objective.
//
//   auto learned = learn_kernel(X, y, parse_kernel("gaussian(auto)"), {.ard = true});
//   auto model = fit_kernel_ridge(X, y, {.kernel = learned.kernel, .alpha = learned.alpha});
//
// Objectives, A = K + alpha I and C = A^-1 Y throughout:
//   loo        mean squared exact leave-one-out error of kernel ridge regression, residuals C_it / (A^-1)_ii; least is best
//   evidence   log marginal likelihood of a Gaussian process of covariance s (K + alpha I), the variance s at its best value; most is best
//   alignment  centred alignment <HKH, HYY'H> / (|HKH| |HYY'H|), at most 1; alpha has no part in it and is chosen by leave-one-out after it
// An intercept is left free of any penalty (for the evidence: a flat prior, the restricted likelihood).
//
// Method: L-BFGS on the logarithms of the parameters and of alpha within bounds, analytic gradients, several starting points on a small
// random subset of the rows, the best continued on a larger one. Scaling K and alpha together changes none of the three.
// Cost: an evaluation is 2 n^3 flops (alignment: n^2) plus n^2 d for the gradient of d length scales, n = min(rows, max_rows).
// References: Rasmussen & Williams 2006, 5.4; Sundararajan & Keerthi 2001; Cortes, Mohri & Rostamizadeh 2012.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

enum class KernelObjective : std::uint8_t { loo, evidence, alignment };
std::string_view name_of(KernelObjective objective);            // "loo", "evidence", "alignment"
KernelObjective parse_kernel_objective(std::string_view text);  // throws InvalidArgument with the words that exist
inline constexpr bool more_is_better(KernelObjective objective) { return objective != KernelObjective::loo; }

struct KernelScoreOptions {
  KernelObjective objective = KernelObjective::loo;
  bool fit_intercept = false;
  Vector sample_weight{};  // empty: all 1; zero leaves a sample out
  Run run{};
};

// An objective at one kernel and one alpha.
struct KernelScore {
  double value = 0;
  Vector gradient{};           // with respect to the logarithms of kernel.parameters(), then of alpha
  double signal_variance = 0;  // evidence: s above
};

// Throws InvalidArgument where K + alpha I is not positive definite, or where the targets leave nothing to learn (all the same).
// Classes: one column per class with 1 where a sample belongs to it (class_indicators); their products are the ideal kernel of alignment.
KernelScore score_kernel(const Samples& X, const MatrixRef& Y, const Kernel& kernel, double alpha, const KernelScoreOptions& options = {});

Matrix class_indicators(const std::vector<Index>& classes, Index count);

struct LearnKernelOptions {
  KernelObjective objective = KernelObjective::loo;
  bool ard = false;                 // a length scale for each column
  bool weights = true;              // a weight for each part of a sum
  std::optional<double> alpha{};    // held at this value; not given: learned with the rest
  std::vector<std::string> hold{};  // parameters that keep their values, by name ("periodic.period", "matern.length_scale[2]", "factor")
  bool fit_intercept = false;
  Vector sample_weight{};
  Index max_rows = 2000;     // of more rows, a random subset is looked at
  int n_restarts = 2;        // starting points besides the given one
  int max_iterations = 100;  // of L-BFGS, from each start and on each subset
  std::uint64_t seed = 0;
  Run run{};
};

struct LearnedParameter {
  std::string name;
  double start = 0;
  double value = 0;
  bool at_bound = false;  // as small or large as it may be: a column or a part that does not matter, or matters alone
};

// One evaluation of the objective on the way.
struct LearningStep {
  int start = 0;   // the starting point it belongs to; 0 is the given kernel
  Index rows = 0;  // looked at
  double value = 0;
};

struct LearnedKernel {
  Kernel kernel;
  double alpha = 0;
  KernelObjective objective = KernelObjective::loo;
  double start_value = 0;                      // of the objective, at the given kernel, on the rows of the last stage
  double value = 0;                            // at the learned one, on the same rows
  double signal_variance = 0;                  // evidence: the covariance is signal_variance * (kernel + alpha I)
  Index rows = 0;                              // of the last stage
  std::vector<LearnedParameter> parameters{};  // of the kernel, then alpha
  std::vector<LearningStep> path{};            // in order of starting points
  double seconds = 0;
  std::string sentence{};
};

LearnedKernel learn_kernel(const Samples& X, const MatrixRef& Y, const Kernel& kernel, const LearnKernelOptions& options = {});

// The same kernel on `width` columns with a length scale for each of them ("automatic relevance determination") wherever it has one for
// all. Automatic scales must be resolved first.
Kernel with_ard(const Kernel& kernel, Index width);
// The same, with automatic length scales starting where every column counts alike: the median difference within the column times
// sqrt(columns), or times their number for the l1 distance.
Kernel with_ard(const Kernel& kernel, const Samples& X);

// The same kernel with a factor before every part of a sum, so that the weights are among its parameters. Constants and white noise have a
// parameter that is their weight.
Kernel with_weights(const Kernel& kernel);

}  // namespace mercer

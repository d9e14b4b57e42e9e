// Covariate shift: weights of the training rows that make them look like the target rows, whose labels nobody has (kernel mean matching).
//
//   MeanMatching found = match_means(X_train, X_target);
//   fit_kernel_ridge(X_train, y, {.sample_weight = found.weights});     // every fit with sample weights takes them
//   found.effective_sample_size;
//
// Problem: min over w of |1/n sum_i w_i k(x_i, .) - mu(target)|^2 + ridge/n mean (w_i - 1)^2,  0 <= w_i <= bound,  |mean w - 1| <= epsilon.
// Without bound and with epsilon = 0 it is the quadratic programme of source L (application 2) with alpha = w / n (SPEC C5); bound and
// epsilon are those of Huang, Smola, Gretton, Borgwardt, Schoelkopf, NIPS 2006, who have bound 1000 and epsilon 1 - 1/sqrt(n). Weights have
// mean 1, or within epsilon of it.
// Method: the engine of the support vector machines in b = w / n with one sum held; epsilon > 0 adds one variable without a kernel that
// takes up what the sum lacks. Rows of the Gram matrix are computed when they are visited and kept while memory lasts: no n x n matrix.
// Weights make training rows matter that are near target rows: where there are none, no weights can help, which mmd_after and the effective
// sample size show. They are meant for models that are wrong somewhere, or heavily regularised.
// Cost: n m kernel values for m target rows, then d n flops for every row visited.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct MeanMatchingOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());  // auto: the median distance of both samples pooled
  double bound = 10;                                                     // B, >= 1 - epsilon; infinite: none
  double epsilon = 0;                                                    // in [0, 1)
  double ridge = 0;         // >= 0, in units of mean k(x, x): spreads weights over rows that the kernel hardly tells apart
  Vector target_weights{};  // of the target rows, >= 0; empty: equal
  double tolerance = 1e-6;  // of the objective, in units of mean k(x, x)
  Run run{};
};

struct MeanMatching {
  Vector weights{};
  double effective_sample_size = 0;  // (sum w)^2 / sum w^2
  // Distances of the training sample to the target, with all weights 1 and with the weights; NaN where the target's own length is not known
  // (precomputed kernels).
  double mmd_before = std::numeric_limits<double>::quiet_NaN();
  double mmd_after = std::numeric_limits<double>::quiet_NaN();
  double mmd_error = 0;   // standard error of mmd_after where both are estimated by random features, above 20000 rows; 0: exact
  double gap = 0;         // the objective is above its least value by at most this
  double mean = 1;        // of the weights
  Index zeros = 0;        // rows with weight 0
  Index at_bound = 0;     // rows at the bound
  bool converged = true;  // to the tolerance
  std::string kernel{};
  std::vector<std::string> remarks{};
  double seconds = 0;
  std::string sentence{};
};

MeanMatching match_means(const Samples& train, const Samples& target, const MeanMatchingOptions& options = {});

}  // namespace mercer

// The class-mean classifier: a sample belongs to the class whose mean in the feature space is nearest (source L).
//
//   auto model = fit_kernel_mean(X, labels, {.kernel = kernels::gaussian(0.5)});
//   Matrix scores = model.decision(X_new);        // one column for two classes, else one per class
//
// Two classes: f(x) = mean over class 1 of k(x, x_i) - mean over class 0 of k(x, x_j) + b, b = (|mu_0|^2 - |mu_1|^2) / 2, which is
// (|psi(x) - mu_0|^2 - |psi(x) - mu_1|^2) / 2. Several: <mu_c, psi(x)> - |mu_c|^2 / 2 for each class, the largest wins: the nearest mean.
// |mu_1 - mu_0| is the biased MMD of the classes. The other reading are Parzen windows: where k(x, .) is a window (not negative, of one
// mass for all x) the means are density estimates up to one factor, and with `rule` parzen the class of the largest prior times density
// wins, without b; that rule has probabilities. Method: one pass over the tiles of the Gram matrix, which is never stored.
// Cost: n^2 / 2 kernel values to fit, n for each prediction. References: source L, "An Example of a Kernel Algorithm"; Schoelkopf and
// Smola, Learning with Kernels, 1.2; Parzen, On estimation of a probability density function and mode, 1962. SPDX-License-Identifier:
// BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

enum class MeanRule : std::uint8_t { nearest, parzen };

struct KernelMeanOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  MeanRule rule = MeanRule::nearest;
  enum class Priors : std::uint8_t {
    equal,
    empirical,
    given
  } priors = Priors::equal;  // of the Parzen rule; empirical: shares of the weight
  Vector given_priors{};     // one per class, > 0; what they add up to does not matter
  Vector sample_weight{};    // empty: all 1; zero leaves a sample out
  Run run{};
};

struct KernelMeanSummary {
  Index samples = 0;  // of positive weight
  Index classes = 0;
  Matrix distances{};   // |mu_c - mu_d|, the biased MMD of each pair of classes
  Index nearest_a = 0;  // the two classes whose means are nearest
  Index nearest_b = 1;
  bool coincide = false;  // their means are the same to rounding: nothing tells these two apart
  double seconds = 0;
  std::string sentence{};
};

class KernelMeanModel {
 public:
  Matrix decision(const Samples& X, const Run& run = {}) const;  // class_scores, the second less the first of two; Parzen: probabilities
  Matrix predict(const Samples& X, const Run& run = {}) const { return decision(X, run); }  // as models in files have it
  // One column per class: <mu_c, psi(x)> - |mu_c|^2 / 2, or prior_c <mu_c, psi(x)> of the Parzen rule.
  Matrix class_scores(const Samples& X, const Run& run = {}) const;
  // <mu_c, psi(x)> = the mean of k(x, x_i) over each class.
  Matrix mean_values(const Samples& X, const Run& run = {}) const;
  // Of the Parzen rule: prior times density of each class, made to add up to 1; the priors where all windows round to 0. NotOffered for the
  // nearest mean, InvalidArgument where a kernel turns negative.
  Matrix probabilities(const Samples& X, const Run& run = {}) const;
  // The logarithm of each class's density estimate; -infinity where all windows round to 0. For Gaussian kernels on all columns, whose mass
  // is known; NotOffered for others.
  Matrix log_densities(const Samples& X, const Run& run = {}) const;

  const Kernel& kernel() const { return kernel_; }
  MeanRule rule() const { return rule_; }
  const Samples& samples() const { return samples_; }           // those of positive weight
  const std::vector<Index>& labels() const { return labels_; }  // of the samples
  const Vector& weights() const { return weights_; }            // of the samples in their class's mean, adding up to 1 in each class
  const Vector& priors() const { return priors_; }              // adding up to 1
  const Matrix& mean_gram() const { return mean_gram_; }        // <mu_c, mu_d>
  Vector intercept() const;                                     // b: one number for two classes, else one per class
  Index classes() const { return priors_.size(); }
  Index n_targets() const { return classes() == 2 ? 1 : classes(); }
  const KernelMeanSummary& summary() const { return summary_; }

  static KernelMeanModel from_parts(Kernel kernel, MeanRule rule, Samples samples, std::vector<Index> labels, Vector weights, Vector priors,
                                    Matrix mean_gram, KernelMeanSummary summary);

 private:
  KernelMeanModel(Kernel kernel, Samples samples) : kernel_(std::move(kernel)), samples_(std::move(samples)) {}
  Kernel kernel_;
  MeanRule rule_ = MeanRule::nearest;
  Samples samples_;
  std::vector<Index> labels_{};
  Vector weights_{};
  Vector priors_{};
  Matrix mean_gram_;
  KernelMeanSummary summary_;
};

// labels: class indices 0 .. k-1, each present with positive weight (encode_labels makes them).
KernelMeanModel fit_kernel_mean(const Samples& X, const std::vector<Index>& labels, const KernelMeanOptions& options = {});

}  // namespace mercer

// The soft-margin SVM without bias by stochastic gradient descent in the feature space of a kernel (source G, section 3):
//
//   min over w of lambda/2 |w|^2 + (1/sum c) sum_i c_i max(0, 1 - y_i <w, psi(x_i)>)
//
//   auto model = fit_kernel_sgd(X, labels, {.kernel = kernels::gaussian(1.0), .lambda = 1e-3, .iterations = 100'000});
//   Matrix scores = model.decision(X_new);        // one column for two classes, else one per class
//
// `lambda` is G's: twice that of the representer solver, and C = 1 / (n lambda) of an SVM. Method, for t = 1 .. T: draw i uniformly with
// replacement; where y_i sum_j beta_j k(x_j, x_i) < lambda t, add y_i to beta_i. The iterates are w_t = sum_j beta_j psi(x_j) / (lambda t)
// with beta as it was before step t, their average is the answer. More than two classes: one against the rest, all by one sequence of
// draws. That sequence follows from the seed alone, so steps are taken in blocks: scores of all samples that are ever drawn are kept,
// a block needs its own small Gram matrix, and what it added goes to all scores at once.
// Cost: one column of the Gram matrix over the samples ever drawn for each update; the updates are a share of at most about
// (support vectors) / n of the steps. The Gram matrix is stored where the memory budget allows, else its tiles are made as they are asked
// for. The expected suboptimality is O(log(T) / (lambda T)), docs/kernel-sgd.md has the constant; the summary has a duality gap.
// With a `budget` at most so many support vectors per class are kept: the one of least norm |beta_i| sqrt(k(x_i, x_i)) leaves and is
// projected on the one that it is best expressed by. References: source G section 3; Shalev-Shwartz, Singer, Srebro, Cotter, Pegasos, 2011;
// Wang, Crammer, Vucetic, Breaking the curse of kernelization: budgeted stochastic gradient descent, 2012 (sections 4.1 and 4.2).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct KernelSGDOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  std::optional<double> lambda{};  // > 0, G's weight of |w|^2 / 2; not given: 1 / n, which is C = 1
  Index iterations = 0;            // T; 0: 20 n, at least 100000
  // averaged: (1/T) sum of w_1 = 0 .. w_T as G has it. last: w_{T+1}, what the last step left. automatic: averaged, with a budget last.
  enum class Output : std::uint8_t { automatic, averaged, last } output = Output::automatic;
  Index budget = 0;               // > 0: support vectors per class at most; the output is then the last iterate
  Vector sample_weight{};         // empty: all 1; samples are drawn in proportion to them
  std::optional<bool> certify{};  // the objective and a duality gap, by one more look at all samples; not given: when T >= n
  std::uint64_t seed = 0;
  Run run{};
};

// Of several classes: sums over them, of the objective and of the gap too.
struct KernelSGDSummary {
  Index iterations = 0;       // T
  std::string output{};       // "average of all iterates", "last iterate"
  Index updates = 0;          // steps that changed a coefficient
  Index support_vectors = 0;  // samples with a coefficient
  Index removals = 0;         // by the budget
  bool certified = false;     // the four below are known
  double objective = 0;
  double squared_norm = 0;
  double gap = 0;           // objective - a lower bound of it
  double relative_gap = 0;  // to the objective
  bool stored = false;      // the Gram matrix
  double seconds = 0;
  std::size_t bytes = 0;
  std::string sentence{};
};

class KernelSGDModel {
 public:
  Matrix decision(const Samples& X, const Run& run = {}) const;  // one column for two classes, else one per class
  Matrix predict(const Samples& X, const Run& run = {}) const { return decision(X, run); }  // as models in files have it

  const Kernel& kernel() const { return kernel_; }
  const Samples& samples() const { return samples_; }             // the support vectors
  const std::vector<Index>& support() const { return support_; }  // which training samples they are
  const Matrix& dual_coef() const { return dual_coef_; }          // alpha of each support vector, one column per function; no bias
  double lambda() const { return lambda_; }                       // G's
  Index n_targets() const { return dual_coef_.cols(); }
  Index classes() const { return dual_coef_.cols() == 1 ? 2 : dual_coef_.cols(); }
  const KernelSGDSummary& summary() const { return summary_; }

  static KernelSGDModel from_parts(Kernel kernel, Samples samples, std::vector<Index> support, Matrix dual_coef, double lambda,
                                   KernelSGDSummary summary);

 private:
  KernelSGDModel(Kernel kernel, Samples samples) : kernel_(std::move(kernel)), samples_(std::move(samples)) {}
  Kernel kernel_;
  Samples samples_;
  std::vector<Index> support_{};
  Matrix dual_coef_;
  double lambda_ = 0;
  KernelSGDSummary summary_;
};

// labels: class indices 0 .. k-1, each present with positive weight (encode_labels makes them).
KernelSGDModel fit_kernel_sgd(const Samples& X, const std::vector<Index>& labels, const KernelSGDOptions& options = {});

// The same run in an explicit feature space, whose rows are psi(x_i): G's lemma says that its w is sum_i alpha_i psi(x_i), and a test holds
// both to it. `kernel`, `budget` and `certify` are not looked at. Cost: features a step.
struct ExplicitSGD {
  Matrix coef{};  // w, one row per function
  double lambda = 0;
  Index iterations = 0;
  Index updates = 0;
};
ExplicitSGD fit_explicit_sgd(const MatrixRef& features, const std::vector<Index>& labels, const KernelSGDOptions& options = {});

// The samples that steps 1 .. T draw, numbered from 0.
std::vector<Index> sgd_draws(Index samples, Index iterations, std::uint64_t seed, const Vector& sample_weight = {});

}  // namespace mercer

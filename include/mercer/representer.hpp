// The representer solver: min over f in the RKHS and b of
//
//   (1/sum w) sum_i w_i loss(y_i, f(x_i) + b) + lambda |f|^2        (or + Omega(|f|), Omega nondecreasing; b only if asked for)
//
//   auto model = fit_representer(X, y, {.kernel = kernels::gaussian(1.0), .loss = losses::quantile(0.9), .lambda = 1e-3});
//   Matrix q = model.predict(X_new);
//
// By the representer theorem f = sum_i c_i k(x_i, .). Method: Newton on the coefficients with an exact line search; losses with corners
// (hinge, epsilon-insensitive, quantile) by the proximal point method on the dual, whose steps are the same Newton on a smoothed loss.
// Every fit ends on a duality gap, computed from a feasible dual point. Cost: a Cholesky factor of the samples with curvature for each
// Newton step, at most n^3/3 flops, and 12 n^2 bytes; with landmarks n M^2 flops and no n x n matrix. References: source K section 3.3;
// Chapelle, Training a support vector machine in the primal, 2007; Rockafellar 1976. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "mercer/kernels.hpp"
#include "mercer/losses.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

// How an iterative fit ended, for people and for tests. Of several targets: sums of objectives and iterations, the worst gap.
struct ConvexSummary {
  std::string method{};              // "Newton", "proximal Newton", "L-BFGS"
  std::string status = "converged";  // or "iteration limit", "rounding": no descent left in float64
  Index iterations = 0;
  double objective = 0;      // what was minimised
  double squared_norm = 0;   // |f|^2
  double gap = 0;            // objective - a lower bound of it
  double relative_gap = 0;   // to the objective
  double gradient_norm = 0;  // of the objective in the RKHS; for losses with corners that of the smoothed problem
  Index landmarks = 0;       // 0: all samples
  double seconds = 0;
  std::size_t bytes = 0;
  std::string sentence{};  // "converged: 6 Newton steps, objective 0.41, relative duality gap 3.1e-09 <= 1e-07, 0.21 s"
};

struct RepresenterOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Loss loss = losses::squared();
  double lambda = 0.01;                   // > 0
  std::function<double(double)> omega{};  // of |f|, nondecreasing, in place of lambda |f|^2
  bool fit_intercept = true;              // b, not penalised
  Vector sample_weight{};                 // empty: all 1; zero leaves a sample out
  Index landmarks = 0;                    // > 0: f in the span of so many samples, drawn at random
  std::uint64_t seed = 0;                 // of the draw
  double tolerance = 1e-7;                // on the gap, relative to the objective
  Index max_iterations = 300;
  Run run{};
};

class RepresenterModel {
 public:
  Matrix decision(const Samples& X, const Run& run = {}) const;  // f(x) + b, one column per target
  Matrix predict(const Samples& X, const Run& run = {}) const;   // the mean it stands for: exp of it for poisson, itself for all others

  const Kernel& kernel() const { return kernel_; }
  const Loss& loss() const { return loss_; }
  const Samples& samples() const { return samples_; }     // training samples, or landmarks
  const Matrix& dual_coef() const { return dual_coef_; }  // samples x targets
  const Vector& intercept() const { return intercept_; }  // one per target; zeros without fit_intercept
  const Vector& lambda() const { return lambda_; }        // one per target: with omega, the weight that gives the same function
  const ConvexSummary& summary() const { return summary_; }
  Index n_targets() const { return dual_coef_.cols(); }

  static RepresenterModel from_parts(Kernel kernel, Loss loss, Samples samples, Matrix dual_coef, Vector intercept, Vector lambda,
                                     ConvexSummary summary);

 private:
  RepresenterModel(Kernel kernel, Loss loss, Samples samples)
      : kernel_(std::move(kernel)), loss_(std::move(loss)), samples_(std::move(samples)) {}
  Kernel kernel_;
  Loss loss_;
  Samples samples_;
  Matrix dual_coef_;
  Vector intercept_{};
  Vector lambda_{};
  ConvexSummary summary_;
};

// Y: one column per target, each fitted by itself over one Gram matrix.
RepresenterModel fit_representer(const Samples& X, const MatrixRef& Y, const RepresenterOptions& options = {});

// A cost of all scores together, with its gradient: min over f and b of cost(f(x_1) + b, ..., f(x_n) + b) + lambda |f|^2.
struct JointValue {
  double value = 0;
  Vector gradient;
};
using JointCost = std::function<JointValue(const VectorRef& scores)>;

// By L-BFGS in coordinates where |f|^2 is a sum of squares (the spectrum of K). `loss`, `omega`, `sample_weight` and `landmarks` are not
// looked at. For a convex cost the gap is bounded by |gradient|^2 / (4 lambda), which the summary reports; for others it is a local
// minimum.
RepresenterModel fit_joint_cost(const Samples& X, const JointCost& cost, const RepresenterOptions& options = {});

}  // namespace mercer

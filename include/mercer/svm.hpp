// Support vector machines: classification (C and nu), regression (epsilon and nu) and the support of a distribution (one class).
//
//   auto model = fit_svc(X, labels, {.kernel = kernels::gaussian(2.0), .C = 10});
//   std::vector<Index> guess = model.classes(X_new);
//   auto curve = fit_svr(X, y, {.kernel = kernels::gaussian(2.0), .C = 10, .epsilon = 0.1});
//
// Every one of them is the same quadratic programme over a box with at most two held sums (src/solvers/box_qp.hpp), solved on blocks of
// rows of the Gram matrix that are computed when they are needed. The fit stops on the violation of the optimality conditions and reports
// the duality gap. Penalty: min 1/2 |f|^2 + C sum_i w_i loss_i, that is lambda = 1 / (2 C n) beside the mean loss.
// Precision: float64 up to 2000 rows, where free support vectors are then solved for exactly; float32 kernel values above while their
// rounding stays well below the tolerance (C max k 1e-6 <= tolerance). Gradients and sums are float64 always.
// References: source K sections 2.2 and 3.5, source N section 1; Fan, Chen and Lin, JMLR 2005; Platt 1999; Lin, Lin and Weng 2007;
// Wu, Lin and Weng, JMLR 2004.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

// When the solver stops, and on what numbers it works.
struct SvmSolver {
  double tolerance = 1e-3;   // on the violation of the optimality conditions, in units of the targets (labels are 1 apart from 0)
  Index max_iterations = 0;  // steps; 0: ten million, or 100 for every row where that is more
  double time_limit = 0;     // seconds; 0: none
  std::optional<Precision> precision{};  // of kernel values; not given: chosen as said above
};

struct SvmSummary {
  std::string status = "converged";  // "converged", "step limit", "time limit", "rounding" or "not separable"
  Index problems = 1;                // two-class problems solved, those of the probabilities not counted
  Index iterations = 0;              // steps, of all problems
  std::vector<Index> steps{};        // of each problem
  Index support_vectors = 0;
  Index at_bound = 0;    // coefficients at their upper bound
  double objective = 0;  // of the dual, minimised; the sum over problems
  double gap = 0;        // primal less dual value, the sum over problems; from the kernel values of the fit, float32 ones too
  double violation = 0;  // the worst
  Precision precision = Precision::float64;
  Index kernel_rows = 0;  // rows of the Gram matrix that were computed
  double seconds = 0;
  std::size_t bytes = 0;   // kept for kernel rows
  std::string sentence{};  // "converged: 4213 steps, 812 support vectors of 2000, duality gap 3.1e-04 (objective -512.3), 0.02 s"
  std::string remark{};    // what a user should know: columns of very different scale, no converging, labels that do not separate
};

enum class MultiClass : std::uint8_t { one_vs_one, one_vs_rest };

struct SvcOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  double C = 1;                    // > 0
  std::optional<double> lambda{};  // C = 1 / (2 n lambda); overrides C
  bool hard_margin = false;        // no sample inside the margin; the model says when that cannot be had
  bool fit_intercept = true;       // the bias b; without it the dual has no held sum (K eq 67-68)
  Vector class_weight{};           // one per class, times C; empty: all 1
  Vector sample_weight{};          // times C; empty: all 1; zero leaves a sample out
  MultiClass multi_class = MultiClass::one_vs_one;
  bool probability = false;  // sigmoids on decision values of `probability_folds` folds, and then classes are the most probable ones
  Index probability_folds = 5;
  std::uint64_t seed = 0;   // of those folds
  bool break_ties = false;  // of equal votes the class of the largest summed decision value wins, not the first
  Matrix start{};           // coefficients to begin with: what coefficients(n) of an unfinished model gave; empty: zeros
  SvmSolver solver{};
  Run run{};
};

struct NuSvcOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  double nu = 0.5;  // in (0, 1]: at most this share of samples inside the margin, at least this share support vectors
  Vector class_weight{};
  Vector sample_weight{};
  MultiClass multi_class = MultiClass::one_vs_one;
  bool probability = false;
  Index probability_folds = 5;
  std::uint64_t seed = 0;
  bool break_ties = false;
  SvmSolver solver{};
  Run run{};
};

// What a model of support vectors keeps: f(x) = sum_i coef_i k(x_i, x) + intercept, one column of coefficients per function.
struct SupportExpansion {
  Kernel kernel = kernels::linear();
  Samples vectors{};             // the support vectors
  std::vector<Index> support{};  // which training rows they were
  Matrix coef{};                 // support vectors x functions
  Vector intercept{};
};

// What a machine was asked for, as its file keeps it. A LIBSVM model says by_nu and no numbers; nor do the first model files.
struct SvmSetting {
  bool by_nu = false;  // nu-svc, nu-svr
  bool hard_margin = false;
  std::optional<double> C{};  // lambda too is given here as C
  std::optional<double> nu{};
};

class RowEvaluator;  // the way of single rows, made once per model

class SvcModel {
 public:
  // Decision values: one column for two classes (positive: the second); one_vs_one: a column for each pair 01, 02, ..., 12, ... (positive:
  // the first of the pair); one_vs_rest: a column for each class.
  Matrix decision(const Samples& X, const Run& run = {}) const;
  // One column for two classes, else one per class: votes with summed decision values squeezed below one vote (one_vs_one).
  Matrix scores(const Samples& X, const Run& run = {}) const;
  Matrix predict(const Samples& X, const Run& run = {}) const { return scores(X, run); }  // as models in files have it
  std::vector<Index> classes(const Samples& X, const Run& run = {}) const;
  // One column per class; NotOffered for a model fitted without probabilities.
  Matrix probabilities(const Samples& X, const Run& run = {}) const;
  // The same from decision values (functions() columns), such as those of decision_row.
  Matrix scores_of(const Matrix& decision) const;
  std::vector<Index> classes_of(const Matrix& decision) const;
  Matrix probabilities_of(const Matrix& decision) const;
  // The decision values of one row, written to `out` (functions() numbers); no allocation for plain kernels of dense rows. The numbers must
  // be finite: this way does not look.
  void decision_row(std::span<const double> x, std::span<double> out) const;
  bool has_row_path() const { return row_ != nullptr; }  // a plain kernel of dense rows

  const Kernel& kernel() const { return parts_.kernel; }
  const Samples& samples() const { return parts_.vectors; }  // the support vectors, those of class 0 first
  const std::vector<Index>& support() const { return parts_.support; }
  const std::vector<Index>& n_support() const { return n_support_; }  // of each class
  // one_vs_one: support vectors x (classes - 1), as LIBSVM keeps them: column c of a vector of class a belongs to the pair with class
  // c + (c >= a). one_vs_rest and two classes: one column per function.
  const Matrix& dual_coef() const { return parts_.coef; }
  const Vector& intercept() const { return parts_.intercept; }  // one per function
  const Vector& squared_norm() const { return squared_norm_; }  // |f|^2 of each function; the margin is 1 / |f|
  const SupportExpansion& parts() const { return parts_; }
  Index n_classes() const { return static_cast<Index>(n_support_.size()); }
  Index n_targets() const { return n_classes() == 2 ? 1 : n_classes(); }  // columns of scores
  Index functions() const { return parts_.intercept.size(); }
  MultiClass multi_class() const { return multi_class_; }
  bool break_ties() const { return break_ties_; }
  bool has_probabilities() const { return sigmoids_.rows() > 0; }
  const Matrix& sigmoids() const { return sigmoids_; }  // A and B of each function: P(positive) = 1 / (1 + exp(A f + B))
  const SvmSetting& setting() const { return setting_; }
  const SvmSummary& summary() const { return summary_; }

  // Coefficients of all n training rows, a column per function: where a fit that met a limit goes on from (SvcOptions::start).
  Matrix coefficients(Index n) const;

  struct Parts {
    SupportExpansion expansion{};
    std::vector<Index> n_support{};
    MultiClass multi_class = MultiClass::one_vs_one;
    bool break_ties = false;
    Vector squared_norm{};
    Matrix sigmoids{};  // functions x 2; empty: no probabilities
    SvmSummary summary{};
    SvmSetting setting{};
  };
  static SvcModel from_parts(Parts parts);  // checks that the sizes agree

 private:
  SvcModel() = default;
  void require_functions(const Matrix& decision) const;
  void require_probabilities() const;
  SupportExpansion parts_{};
  std::vector<Index> n_support_{};
  MultiClass multi_class_ = MultiClass::one_vs_one;
  bool break_ties_ = false;
  Vector squared_norm_{};
  Matrix sigmoids_{};
  SvmSummary summary_{};
  SvmSetting setting_{};
  std::shared_ptr<const RowEvaluator> row_{};
};

// labels: class indices 0 .. k-1, each present with positive weight (encode_labels makes them).
SvcModel fit_svc(const Samples& X, const std::vector<Index>& labels, const SvcOptions& options = {});
SvcModel fit_nu_svc(const Samples& X, const std::vector<Index>& labels, const NuSvcOptions& options = {});

// 1 - y f(x) where positive: by how much a sample is inside the margin or on the wrong side; two classes only.
Vector slacks(const SvcModel& model, const Samples& X, const std::vector<Index>& labels, const Run& run = {});

struct SvrOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  double C = 1;
  std::optional<double> lambda{};
  double epsilon = 0.1;  // >= 0: errors up to this cost nothing
  bool fit_intercept = true;
  Vector sample_weight{};
  Matrix start{};  // as in SvcOptions
  SvmSolver solver{};
  Run run{};
};

struct NuSvrOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  double C = 1;
  double nu = 0.5;  // in (0, 1]: epsilon is chosen so that at most this share of samples lies outside the tube
  Vector sample_weight{};
  SvmSolver solver{};
  Run run{};
};

class SvrModel {
 public:
  Matrix predict(const Samples& X, const Run& run = {}) const;  // one column
  bool has_row_path() const { return row_ != nullptr; }
  double predict_row(std::span<const double> x) const;  // of finite numbers; no allocation for plain kernels of dense rows

  const Kernel& kernel() const { return parts_.kernel; }
  const Samples& samples() const { return parts_.vectors; }
  const std::vector<Index>& support() const { return parts_.support; }
  const Matrix& dual_coef() const { return parts_.coef; }  // one column
  const Vector& intercept() const { return parts_.intercept; }
  const SupportExpansion& parts() const { return parts_; }
  double epsilon() const { return epsilon_; }  // given, or found by the nu form
  double squared_norm() const { return squared_norm_; }
  const SvmSetting& setting() const { return setting_; }
  const SvmSummary& summary() const { return summary_; }
  Matrix coefficients(Index n) const;

  static SvrModel from_parts(SupportExpansion parts, double epsilon, double squared_norm, SvmSummary summary, SvmSetting setting = {});

 private:
  SvrModel() = default;
  SupportExpansion parts_{};
  double epsilon_ = 0;
  double squared_norm_ = 0;
  SvmSummary summary_{};
  SvmSetting setting_{};
  std::shared_ptr<const RowEvaluator> row_{};
};

SvrModel fit_svr(const Samples& X, const VectorRef& y, const SvrOptions& options = {});
SvrModel fit_nu_svr(const Samples& X, const VectorRef& y, const NuSvrOptions& options = {});

struct OneClassOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  double nu = 0.5;  // in (0, 1]: at most this share of samples is left outside
  Vector sample_weight{};
  SvmSolver solver{};
  Run run{};
};

// f(x) = sum_i coef_i k(x_i, x) - rho, positive inside.
class OneClassModel {
 public:
  Matrix decision(const Samples& X, const Run& run = {}) const;                             // one column
  Matrix predict(const Samples& X, const Run& run = {}) const { return decision(X, run); }  // as models in files have it
  bool has_row_path() const { return row_ != nullptr; }
  double decision_row(std::span<const double> x) const;

  const Kernel& kernel() const { return parts_.kernel; }
  const Samples& samples() const { return parts_.vectors; }
  const std::vector<Index>& support() const { return parts_.support; }
  const Matrix& dual_coef() const { return parts_.coef; }
  const Vector& intercept() const { return parts_.intercept; }  // -rho
  const SupportExpansion& parts() const { return parts_; }
  const SvmSetting& setting() const { return setting_; }
  const SvmSummary& summary() const { return summary_; }

  static OneClassModel from_parts(SupportExpansion parts, SvmSummary summary, SvmSetting setting = {});

 private:
  OneClassModel() = default;
  SupportExpansion parts_{};
  SvmSummary summary_{};
  SvmSetting setting_{};
  std::shared_ptr<const RowEvaluator> row_{};
};

OneClassModel fit_one_class(const Samples& X, const OneClassOptions& options = {});

}  // namespace mercer

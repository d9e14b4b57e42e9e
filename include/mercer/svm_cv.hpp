// Support vector machines that choose their own penalty and kernel: every C with every kernel (and epsilon) judged on folds, then the best
// refitted on all rows.
//
//   auto found = fit_svc_cv(X, labels, {.kernels = {kernels::gaussian(1), kernels::gaussian(3)}, .C = {1, 10, 100}});
//   std::vector<Index> guess = found.model.classes(X_new);
//
// Method: one Gram matrix per kernel serves every fold and every C. A test sample is a variable whose box is [0, 0]: it never moves, and
// its decision value comes with the gradient (pairs of many classes leave the test rows out: there are more of them than of their own). The
// values of C are walked upwards, each started from the solution below it, stretched as far as lowers the dual objective most. Candidates
// that cannot win are abandoned: the most promising kernel of the first fold is finished on all folds; then another candidate goes on only
// while the mean it would have with perfect scores (1, or no error at all) on its remaining folds reaches the best finished mean. The
// winner and every score that is given are those of the full search. Ties go to the first in the table: smallest place of C, then of
// epsilon, then of the kernel. Cost: n^2 numbers per kernel (float32 while C max k 1e-6 <= tolerance), and the steps of the fits. Scores do
// not depend on the threads. References: DeCoste, Wagstaff, Alpha seeding for support vector machines, KDD 2000; Maron, Moore, Hoeffding
// races, NIPS 1993 (with bounds that are certain here). SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/folds.hpp"
#include "mercer/svm.hpp"

namespace mercer {

enum class SvcScore : std::uint8_t { accuracy, balanced_accuracy, f1, f1_macro };  // f1: two classes, that of the second
enum class SvrScore : std::uint8_t { r2, mean_squared_error, mean_absolute_error };

struct SvcCvOptions {
  std::vector<Kernel> kernels{kernels::gaussian(kernels::LengthScale::automatic())};
  std::vector<double> C{0.1, 1, 10, 100, 1000};  // > 0, in any order
  Index cv = 5;                                  // folds: stratified, without shuffling; grouped where groups are given
  std::vector<Index> groups{};                   // of each sample; none is on both sides of a fold
  std::vector<Fold> folds{};                     // given: in place of cv and groups
  SvcScore score = SvcScore::accuracy;           // of the test part, with its sample weights
  bool abandon = true;                           // candidates that cannot win any more
  bool fit_intercept = true;
  bool balanced = false;  // classes weigh n / (classes x count), counted in the training part of each fold
  Vector class_weight{};  // as in SvcOptions
  Vector sample_weight{};
  MultiClass multi_class = MultiClass::one_vs_one;
  bool break_ties = false;
  bool probability = false;  // of the refitted model, as in SvcOptions; scores are those of the functions
  Index probability_folds = 5;
  std::uint64_t seed = 0;  // of its folds
  SvmSolver solver{};      // max_iterations of each fit; time_limit of the whole search, and again of the refit
  Run run{};
};

struct SvrCvOptions {
  std::vector<Kernel> kernels{kernels::gaussian(kernels::LengthScale::automatic())};
  std::vector<double> C{0.1, 1, 10, 100, 1000};
  std::vector<double> epsilon{0.1};  // >= 0
  Index cv = 5;                      // consecutive folds
  std::vector<Index> groups{};
  std::vector<Fold> folds{};
  SvrScore score = SvrScore::r2;  // errors are counted negative: larger is better
  bool abandon = true;
  bool fit_intercept = true;
  Vector sample_weight{};
  SvmSolver solver{};
  Run run{};
};

// One C with one epsilon and one kernel.
struct SvmCandidate {
  double C = 0;
  double epsilon = 0;    // regression
  Index kernel = 0;      // place in the options
  double mean = 0;       // of the fold scores; NaN: abandoned
  double deviation = 0;  // of the fold scores, divided by their number
  Vector fold_scores{};  // NaN: not computed
  bool abandoned = false;
  bool converged = true;  // every fit of it
};

struct SvmCvSummary {
  Index fits = 0;  // of a candidate on a fold
  Index abandoned = 0;
  Index iterations = 0;  // steps of all fits
  Precision precision = Precision::float64;
  double seconds = 0;  // with the refit
  double refit_seconds = 0;
  std::size_t bytes = 0;   // of Gram matrices at one time
  std::string sentence{};  // "best of 25 candidates: C = 10, gaussian(2), accuracy 0.951 +- 0.004 on 5 folds; ..."
  std::string remark{};    // the best is at the edge of the grid, fits that did not converge
};

struct SvcCvResult {
  SvcModel model;                     // of the best, on all rows
  std::vector<SvmCandidate> table{};  // C by C, epsilon by epsilon, kernel by kernel, as they were given
  std::size_t best = 0;               // in the table
  std::vector<Kernel> kernels{};      // with automatic length scales resolved
  SvmCvSummary summary{};
};

struct SvrCvResult {
  SvrModel model;
  std::vector<SvmCandidate> table{};
  std::size_t best = 0;
  std::vector<Kernel> kernels{};
  SvmCvSummary summary{};
};

// The time limit came before any candidate had been judged on all folds.
class OutOfTime : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

SvcCvResult fit_svc_cv(const Samples& X, const std::vector<Index>& labels, const SvcCvOptions& options = {});
SvrCvResult fit_svr_cv(const Samples& X, const VectorRef& y, const SvrCvOptions& options = {});

}  // namespace mercer

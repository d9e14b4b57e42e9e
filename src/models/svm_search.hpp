// The search that tuned support vector machines share: paths (a kernel, with an epsilon) walked through ascending C on every fold, the ones
// that cannot win left where they are.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mercer/svm_cv.hpp"
#include "models/svm_rows.hpp"

namespace mercer {

struct SearchSpace {
  std::vector<Kernel> kernels;  // ready
  std::vector<double> C;        // as given
  std::vector<double> epsilon;  // as given; {0} for classification
  std::vector<Fold> folds;
  double most = 1;  // no score is larger
  bool abandon = true;
  double largest_weight = 1;
  SvmSolver solver;
  Run run;
};

// What a fit of one candidate on one fold says.
struct FoldFit {
  double score = 0;
  Index steps = 0;
  bool converged = true;
  bool late = false;  // the time limit was met: no score
};

// The state that goes from one C of a fold to the next larger: one vector of coefficients with its K b for each machine.
struct WarmStart {
  double C = 0;
  std::vector<Vector> b;
  std::vector<Vector> product;
  std::vector<std::shared_ptr<const SvmRows>> parts;  // of pairs of classes: the same rows for every C
};

using FitFold = std::function<FoldFit(const SvmRows& rows, double epsilon, const Fold& fold, double C, WarmStart& warm,
                                      const SvmSolver& solver, const Run& run)>;

struct SearchResult {
  std::vector<SvmCandidate> table;
  std::size_t best = 0;
  SvmCvSummary summary;
};

// Throws where the lists are empty or hold what cannot be.
void require_grid(const std::vector<Kernel>& kernels, const std::vector<double>& C, const std::vector<double>& epsilon);
void require_folds(const std::vector<Fold>& folds, Index n);

SearchResult search_svm(const Samples& X, const SearchSpace& space, const FitFold& fit);

// Writes the sentence and the remarks, once the refit is done.
void finish_search(SearchResult& result, const SearchSpace& space, const std::string& score, bool regression);

// The solution below it, stretched as far as lowers the dual objective most, put into a problem whose box is `factor` >= 1 times larger.
void start_from(const Vector& b, const Vector& product, double factor, BoxProblem& problem);

}  // namespace mercer

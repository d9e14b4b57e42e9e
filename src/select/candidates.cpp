// A candidate as a fitted model, and what it says of rows that it has not seen. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/error.hpp"
#include "mercer/labels.hpp"
#include "select/search.hpp"

namespace mercer {

namespace {

constexpr Index falkon_landmarks = 2000;

AnyModel fit_class_model(const Candidate& c, const Problem& p, const std::optional<Kernel>& kernel, const Run& run) {
  const std::vector<Index> labels = class_indices(p.y);
  if (c.model == "linear-svc") return fit_linear_svc(p.X, labels, {.C = c.value, .run = run});
  if (c.model == "svc") return fit_svc(p.X, labels, {.kernel = *kernel, .C = c.value, .run = run});
  if (c.model == "nu-svc") return fit_nu_svc(p.X, labels, {.kernel = *kernel, .nu = c.value, .run = run});
  if (c.model == "logistic") return fit_kernel_logistic(p.X, labels, {.kernel = *kernel, .C = c.value, .exact_limit = 3000, .run = run});
  if (c.model == "mean") return fit_kernel_mean(p.X, labels, {.kernel = *kernel, .run = run});
  return fit_kernel_sgd(p.X, labels, {.kernel = *kernel, .lambda = 1 / (c.value * static_cast<double>(p.X.size())), .run = run});
}

bool is_class_model(const std::string& model) {
  return model == "linear-svc" || model == "svc" || model == "nu-svc" || model == "logistic" || model == "mean" || model == "sgd-svm";
}

}  // namespace

const std::vector<std::string>& models_for(bool classification) {
  static const std::vector<std::string> classes{"auto", "svc",   "nu-svc", "linear-svc", "logistic",
                                                "krr",  "ridge", "mean",   "sgd-svm",    "falkon"};
  static const std::vector<std::string> numbers{"auto", "krr", "ridge", "gp", "svr", "nu-svr", "falkon"};
  return classification ? classes : numbers;
}

AnyModel fit_candidate(const Candidate& c, const Problem& problem, const KernelLibrary& library, const Run& run) {
  std::optional<Kernel> kernel;
  if (!c.kernel.empty()) kernel = parse_kernel(c.kernel, library);
  if (is_class_model(c.model)) return fit_class_model(c, problem, kernel, run);
  if (c.model == "ridge") return fit_ridge(problem.X, problem.targets(), {.alpha = c.value, .run = run});
  if (c.model == "svr") return fit_svr(problem.X, problem.y, {.kernel = *kernel, .C = c.value, .epsilon = c.epsilon, .run = run});
  if (c.model == "nu-svr")
    return fit_nu_svr(problem.X, problem.y, {.kernel = *kernel, .C = 10 * spread_of(problem.y), .nu = c.value, .run = run});
  if (c.model == "gp") {
    return fit_gaussian_process(problem.X, problem.y,
                                {.kernel = *kernel, .noise = c.value, .optimize = false, .normalize_y = true, .run = run});
  }
  if (c.model == "falkon") {
    return fit_falkon(problem.X, problem.targets(),
                      {.kernel = *kernel, .alpha = c.value, .n_landmarks = falkon_landmarks, .fit_intercept = true, .run = run});
  }
  return fit_kernel_ridge(problem.X, problem.targets(), {.kernel = *kernel, .alpha = c.value, .fit_intercept = true, .run = run});
}

Matrix out_of_fold(const Candidate& candidate, const Problem& problem, const std::vector<Fold>& folds, const KernelLibrary& library,
                   const Run& run) {
  Matrix out;
  for (const Fold& fold : folds) {
    const SavedModel model{fit_candidate(candidate, problem.subset(fold.train), library, run), std::nullopt};
    const Matrix scores = model.predict(problem.X.subset(fold.test), run);
    if (out.size() == 0) out = Matrix::Constant(problem.X.size(), scores.cols(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < fold.test.size(); ++i) out.row(fold.test[i]) = scores.row(static_cast<Index>(i));
  }
  return out;
}

void score_on_folds(Candidate& candidate, const Problem& problem, const std::vector<Fold>& folds, const KernelLibrary& library,
                    const Run& run) {
  Vector scores(std::ssize(folds));
  const bool classification = problem.classification();
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const Problem test = problem.subset(folds[f].test);
    Vector said;
    if (classification) {
      const PresentClasses train = problem.subset(folds[f].train).present_classes();
      if (train.classes.size() < 2) {
        said = Vector::Constant(test.y.size(), static_cast<double>(train.classes.front()));
      } else {
        said = answers({fit_candidate(candidate, train.problem, library, run), std::nullopt}, test.X, true, run);
        for (double& c : said) c = static_cast<double>(train.classes[static_cast<std::size_t>(c)]);
      }
    } else {
      said = answers({fit_candidate(candidate, problem.subset(folds[f].train), library, run), std::nullopt}, test.X, false, run);
    }
    scores[static_cast<Index>(f)] = score_of(test.y, said, classification);
  }
  candidate.score = scores.mean();
  candidate.deviation =
      std::sqrt((scores.array() - candidate.score).square().sum() / static_cast<double>(std::max<Index>(1, scores.size() - 1)));
}

}  // namespace mercer

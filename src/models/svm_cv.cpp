// A fold of a tuned support vector machine: the problem of its training rows on the Gram matrix of all rows, its test rows held at zero.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/svm_cv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/convex_fit.hpp"
#include "models/svc_votes.hpp"
#include "models/svm_search.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<Index> everyone(Index n) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

std::vector<Kernel> ready_kernels(const std::vector<Kernel>& kernels, const Samples& X) {
  std::vector<Kernel> out;
  out.reserve(kernels.size());
  for (const Kernel& kernel : kernels) out.push_back(ready_kernel(kernel, X));
  return out;
}

void require_groups(const std::vector<Index>& groups, Index n) {
  if (std::ssize(groups) != n) throw InvalidArgument(fmt::format("X has {} samples but groups has {}", n, groups.size()));
}

double test_weight(const Vector& sample_weight, Index i) { return sample_weight.size() > 0 ? sample_weight[i] : 1; }

void require_test_weights(const std::vector<Fold>& folds, const Vector& sample_weight) {
  for (std::size_t f = 0; f < folds.size() && sample_weight.size() > 0; ++f) {
    if (!(sample_weight(folds[f].test).maxCoeff() > 0))
      throw InvalidArgument(fmt::format("fold {} has no test sample of positive weight", f + 1));
  }
}

// Solves a problem from where the last one of this machine ended, and leaves its own end there.
BoxSolution solve_warm(const SvmRows& rows, const std::vector<Index>& samples, BoxProblem& problem, std::size_t machine, double C,
                       WarmStart& warm, const SvmSolver& solver, const Run& run, FoldFit& out) {
  if (warm.b.size() <= machine) {
    warm.b.resize(machine + 1);
    warm.product.resize(machine + 1);
  }
  if (warm.b[machine].size() > 0) start_from(warm.b[machine], warm.product[machine], C / warm.C, problem);
  BoxSolution solution = rows.solve(samples, problem, solver, run, true);
  out.steps += solution.steps;
  out.converged = out.converged && solution.status == BoxStatus::converged;
  out.late = out.late || solution.status == BoxStatus::time_limit;
  warm.b[machine] = solution.b;
  warm.product[machine] = solution.gradient - problem.linear;
  return solution;
}

// ---- classification

class SvcFolds {
 public:
  SvcFolds(const std::vector<Index>& labels, Index classes, Vector weights, const SvcCvOptions& options)
      : labels_(labels), classes_(classes), weights_(std::move(weights)), o_(options), all_(everyone(std::ssize(labels))) {}

  FoldFit operator()(const SvmRows& rows, const Fold& fold, double C, WarmStart& warm, const SvmSolver& solver, const Run& run) const {
    FoldFit out;
    const Vector weight = training_weights(fold);
    std::vector<char> present(static_cast<std::size_t>(classes_), 0);
    for (const Index i : fold.train) {
      if (weight[i] > 0) present[label(i)] = 1;
    }
    Matrix f(std::ssize(fold.test), function_count(o_.multi_class, classes_));
    Index number = 0;
    std::vector<PairExpansion> pairs(classes_ > 2 && o_.multi_class == MultiClass::one_vs_one ? static_cast<std::size_t>(f.cols()) : 0);
    const auto machine = [&](Index positive, Index negative) {
      const bool known =
          present[static_cast<std::size_t>(positive)] != 0 && (negative < 0 || present[static_cast<std::size_t>(negative)] != 0);
      const Which which{positive, negative, static_cast<std::size_t>(number)};
      if (!known) {
        f.col(number).setConstant(negative < 0 ? -infinity : std::nan(""));
      } else if (!pairs.empty()) {
        f.col(number).setConstant(solve_pair(rows, fold, weight, which, C, warm, solver, run, out, pairs[which.number]));
      } else {
        f.col(number) = decision(rows, fold, weight, which, C, warm, solver, run, out);
      }
      ++number;
    };
    if (classes_ == 2) {
      machine(1, 0);
    } else if (o_.multi_class == MultiClass::one_vs_rest) {
      for (Index c = 0; c < classes_; ++c) machine(c, -1);
    } else {
      for_pairs(classes_, [&](Index, Index a, Index b) { machine(a, b); });
    }
    if (!pairs.empty()) f += rows.products(fold.test, pairs, run);
    warm.C = C;
    out.score = score(f, fold);
    return out;
  }

  // Every fold must teach two classes at least.
  void require(const std::vector<Fold>& folds) const {
    for (std::size_t k = 0; k < folds.size(); ++k) {
      std::vector<char> present(static_cast<std::size_t>(classes_), 0);
      for (const Index i : folds[k].train) {
        if (weights_[i] > 0) present[label(i)] = 1;
      }
      if (std::count(present.begin(), present.end(), 1) < 2)
        throw InvalidArgument(
            fmt::format("fold {} has training samples (of positive weight) of one class only: use stratified or fewer folds", k + 1));
    }
  }

 private:
  struct Which {
    Index positive;
    Index negative;  // -1: all others
    std::size_t number;
  };

  std::size_t label(Index i) const { return static_cast<std::size_t>(labels_[static_cast<std::size_t>(i)]); }

  // Zero but for the training part.
  Vector training_weights(const Fold& fold) const {
    Vector out = Vector::Zero(weights_.size());
    Vector count = Vector::Zero(classes_);
    for (const Index i : fold.train) {
      out[i] = weights_[i];
      count[labels_[static_cast<std::size_t>(i)]] += 1;
    }
    if (!o_.balanced) return out;
    const auto known = static_cast<double>((count.array() > 0).count());
    for (const Index i : fold.train) out[i] *= count.sum() / (known * count[labels_[static_cast<std::size_t>(i)]]);
    return out;
  }

  // The problem of some rows, up to C.
  BoxProblem problem_of(const std::vector<Index>& samples, Index positive_class, const Vector& weight, double C) const {
    const Index m = std::ssize(samples);
    BoxProblem problem{Vector(m), Vector::Zero(m), Vector::Zero(m), {}, {o_.fit_intercept ? 1 : 0, 0}, {}, {}, {}};
    for (Index j = 0; j < m; ++j) {
      const Index i = samples[static_cast<std::size_t>(j)];
      const bool positive = labels_[static_cast<std::size_t>(i)] == positive_class;
      problem.linear[j] = positive ? -1 : 1;
      (positive ? problem.upper : problem.lower)[j] = positive ? C * weight[i] : -C * weight[i];
    }
    return problem;
  }

  double bias_of(const BoxSolution& solution) const { return o_.fit_intercept ? -solution.multiplier[0] : 0; }

  // Decision values of the test part, whose rows are variables of the problem.
  Vector decision(const SvmRows& rows, const Fold& fold, const Vector& weight, const Which& which, double C, WarmStart& warm,
                  const SvmSolver& solver, const Run& run, FoldFit& out) const {
    BoxProblem problem = problem_of(all_, which.positive, weight, C);
    const BoxSolution solution = solve_warm(rows, all_, problem, which.number, C, warm, solver, run, out);
    return (warm.product[which.number](fold.test).array() + bias_of(solution)).matrix();
  }

  // Two of many classes have few rows beside the test part, which is worked out afterwards; the constant is returned.
  double solve_pair(const SvmRows& rows, const Fold& fold, const Vector& weight, const Which& which, double C, WarmStart& warm,
                    const SvmSolver& solver, const Run& run, FoldFit& out, PairExpansion& expansion) const {
    for (const Index i : fold.train) {
      const Index own = labels_[static_cast<std::size_t>(i)];
      if (own == which.positive || own == which.negative) expansion.samples.push_back(i);
    }
    BoxProblem problem = problem_of(expansion.samples, which.positive, weight, C);
    if (warm.parts.size() <= which.number) warm.parts.resize(which.number + 1);
    std::shared_ptr<const SvmRows>& part = warm.parts[which.number];
    if (part == nullptr) part = rows.part(expansion.samples);
    const BoxSolution solution =
        part != nullptr ? solve_warm(*part, everyone(std::ssize(expansion.samples)), problem, which.number, C, warm, solver, run, out)
                        : solve_warm(rows, expansion.samples, problem, which.number, C, warm, solver, run, out);
    expansion.b = solution.b;
    return bias_of(solution);
  }

  double score(const Matrix& f, const Fold& fold) const {
    Vector right = Vector::Zero(classes_);
    Vector truth = Vector::Zero(classes_);
    Vector guesses = Vector::Zero(classes_);
    const std::vector<Index> chosen = chosen_classes(f, classes_, o_.multi_class, o_.break_ties);
    for (Index i = 0; i < f.rows(); ++i) {
      const Index is = labels_[static_cast<std::size_t>(fold.test[static_cast<std::size_t>(i)])];
      const Index guessed = chosen[static_cast<std::size_t>(i)];
      const double w = test_weight(o_.sample_weight, fold.test[static_cast<std::size_t>(i)]);
      truth[is] += w;
      guesses[guessed] += w;
      if (is == guessed) right[is] += w;
    }
    const auto f1 = [&](Index c) { return truth[c] + guesses[c] > 0 ? 2 * right[c] / (truth[c] + guesses[c]) : 0.0; };
    if (o_.score == SvcScore::accuracy) return right.sum() / truth.sum();
    if (o_.score == SvcScore::f1) return f1(1);
    double sum = 0;
    double count = 0;
    for (Index c = 0; c < classes_; ++c) {
      const bool counts = o_.score == SvcScore::balanced_accuracy ? truth[c] > 0 : truth[c] + guesses[c] > 0;
      if (!counts) continue;
      sum += o_.score == SvcScore::balanced_accuracy ? right[c] / truth[c] : f1(c);
      count += 1;
    }
    return sum / count;
  }

  const std::vector<Index>& labels_;
  Index classes_;
  Vector weights_;
  const SvcCvOptions& o_;
  std::vector<Index> all_;
};

// The same rows with those of a class beside each other, so that the rows of a pair of classes lie in two pieces of every row of the Gram
// matrix instead of all over it.
struct ByClass {
  Samples X;
  std::vector<Index> labels;
  std::vector<Fold> folds;
  Vector weights, sample_weight;

  ByClass(const Samples& given, const std::vector<Index>& of_given, const std::vector<Fold>& given_folds, const Vector& given_weights,
          const Vector& given_sample_weight) {
    std::vector<Index> order = everyone(std::ssize(of_given)), place(order.size());
    const auto label_of = [&](Index i) { return of_given[static_cast<std::size_t>(i)]; };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return label_of(a) < label_of(b); });
    for (std::size_t k = 0; k < order.size(); ++k) {
      place[static_cast<std::size_t>(order[k])] = static_cast<Index>(k);
      labels.push_back(label_of(order[k]));
    }
    X = given.subset(order);
    weights = given_weights(order);
    if (given_sample_weight.size() > 0) sample_weight = given_sample_weight(order);
    const auto moved = [&](const std::vector<Index>& rows) {
      std::vector<Index> out;
      for (const Index i : rows) out.push_back(place[static_cast<std::size_t>(i)]);
      std::sort(out.begin(), out.end());
      return out;
    };
    for (const Fold& fold : given_folds) folds.push_back({moved(fold.train), moved(fold.test)});
  }
};

const char* name_of(SvcScore score) {
  constexpr const char* names[] = {"accuracy", "balanced accuracy", "F1", "mean F1 of the classes"};
  return names[static_cast<std::size_t>(score)];
}

const char* name_of(SvrScore score) {
  constexpr const char* names[] = {"R^2", "mean squared error", "mean absolute error"};
  return names[static_cast<std::size_t>(score)];
}

// ---- regression

double regression_score(SvrScore kind, const Vector& truth, const Vector& guess, const Vector& weight) {
  const auto mean = [&](const auto& values) { return (weight.array() * values).sum() / weight.sum(); };
  const Vector r = truth - guess;
  if (kind == SvrScore::mean_absolute_error) return -mean(r.array().abs());
  const double error = mean(r.array().square());
  if (kind == SvrScore::mean_squared_error) return -error;
  const double total = mean((truth.array() - mean(truth.array())).square());
  if (total > 0) return 1 - error / total;
  return error > 0 ? 0 : 1;  // as scikit-learn has it for a constant truth
}

FoldFit fit_svr_fold(const SvmRows& rows, const Vector& y, const Vector& weights, const SvrCvOptions& o, double epsilon, const Fold& fold,
                     double C, WarmStart& warm, const SvmSolver& solver, const Run& run) {
  const Index n = y.size();
  FoldFit out;
  Vector bound = Vector::Zero(n);
  for (const Index i : fold.train) bound[i] = C * weights[i];
  BoxProblem problem{-y, -bound, bound, {}, {o.fit_intercept ? 1 : 0, 0}, {}, {}, {}};
  if (epsilon > 0) problem.kink = Vector::Constant(n, epsilon);
  const BoxSolution solution = solve_warm(rows, everyone(n), problem, 0, C, warm, solver, run, out);
  warm.C = C;
  const double bias = o.fit_intercept ? -solution.multiplier[0] : 0;
  out.score = regression_score(o.score, y(fold.test), (warm.product[0](fold.test).array() + bias).matrix(), weights(fold.test));
  return out;
}

Index classes_of(const std::vector<Index>& labels, Index n) {
  if (std::ssize(labels) != n) throw InvalidArgument(fmt::format("X has {} samples but y has {}", n, labels.size()));
  Index classes = 0;
  for (const Index label : labels) {
    if (label < 0 || label >= n) throw InvalidArgument(fmt::format("labels must be class indices 0, 1, ..., got {}", label));
    classes = std::max(classes, label + 1);
  }
  if (classes < 2) throw InvalidArgument("there is only one class: a classifier needs samples of at least two");
  return classes;
}

Vector balanced_weights(const std::vector<Index>& labels, Index classes) {
  Vector count = Vector::Zero(classes);
  for (const Index label : labels) count[label] += 1;
  return (static_cast<double>(labels.size()) / (static_cast<double>(classes) * count.array())).matrix();
}

// What the refit would find out after the search.
void require_classes(const std::vector<Index>& labels, Index classes, const Vector& weights, const SvcCvOptions& o) {
  std::vector<Index> count(static_cast<std::size_t>(classes), 0);
  for (std::size_t i = 0; i < labels.size(); ++i) count[static_cast<std::size_t>(labels[i])] += weights[static_cast<Index>(i)] > 0 ? 1 : 0;
  for (Index c = 0; c < classes; ++c) {
    if (count[static_cast<std::size_t>(c)] == 0) throw InvalidArgument(fmt::format("class {} has no sample of positive weight", c));
    if (o.probability && count[static_cast<std::size_t>(c)] < 2)
      throw InvalidArgument("probabilities need at least two samples of positive weight of every class: they come from cross-validation");
  }
  if (o.probability && o.probability_folds < 2)
    throw InvalidArgument(fmt::format("probability_folds must be at least 2, got {}", o.probability_folds));
}

}  // namespace

SvcCvResult fit_svc_cv(const Samples& given, const std::vector<Index>& labels, const SvcCvOptions& o) {
  require_grid(o.kernels, o.C, {0});
  const Samples X = as_given(o.kernels.front(), given);
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  const Index n = X.size();
  const Index classes = classes_of(labels, n);
  require_solver(o.solver);
  root_weights(o.sample_weight, n);  // for its checks
  if (o.score == SvcScore::f1 && classes != 2)
    throw InvalidArgument(fmt::format("f1 is a score of two classes, there are {}: use f1_macro", classes));
  if (o.balanced && o.class_weight.size() > 0) throw InvalidArgument("class_weight and balanced both weigh the classes: give one of them");
  SvcOptions refit{.class_weight = o.balanced ? balanced_weights(labels, classes) : o.class_weight, .sample_weight = o.sample_weight};
  Vector weights = o.sample_weight.size() > 0 ? o.sample_weight : Vector(Vector::Ones(n));
  if (o.class_weight.size() > 0) {
    if (o.class_weight.size() != classes)
      throw InvalidArgument(fmt::format("class_weight has {} numbers for {} classes", o.class_weight.size(), classes));
    if (!(o.class_weight.minCoeff() > 0) || !o.class_weight.allFinite()) throw InvalidArgument("class_weight must be finite and > 0");
    weights.array() *= o.class_weight(labels).array();
  }
  require_classes(labels, classes, weights, o);
  std::vector<Fold> folds = o.folds;
  if (folds.empty() && !o.groups.empty()) {
    require_groups(o.groups, n);
    folds = grouped_folds(o.groups, o.cv);
  } else if (folds.empty()) {
    folds = stratified_folds(labels, o.cv, false);
  }
  require_folds(folds, n);
  require_test_weights(folds, o.sample_weight);
  const double largest = weights.maxCoeff() * (o.balanced ? refit.class_weight.maxCoeff() : 1);
  SvcFolds(labels, classes, weights, o).require(folds);
  std::optional<ByClass> sorted;
  SvcCvOptions searched = o;
  if (classes > 2 && o.multi_class == MultiClass::one_vs_one) {
    sorted.emplace(X, labels, folds, weights, o.sample_weight);
    searched.sample_weight = sorted->sample_weight;
    folds = sorted->folds;
  }
  const SvcFolds fitter(sorted ? sorted->labels : labels, classes, sorted ? sorted->weights : weights, searched);
  std::optional<SvcCvResult> out;
  with_run(o.run, [&] {
    const SearchSpace space{ready_kernels(o.kernels, X), o.C, {0}, std::move(folds), 1, o.abandon, largest, o.solver, o.run};
    SearchResult found = search_svm(sorted ? sorted->X : X, space,
                                    [&](const SvmRows& rows, double, const Fold& fold, double C, WarmStart& warm, const SvmSolver& solver,
                                        const Run& run) { return fitter(rows, fold, C, warm, solver, run); });
    const SvmCandidate& best = found.table[found.best];
    refit.kernel = space.kernels[static_cast<std::size_t>(best.kernel)];
    refit.C = best.C;
    refit.fit_intercept = o.fit_intercept;
    refit.multi_class = o.multi_class;
    refit.break_ties = o.break_ties;
    refit.probability = o.probability;
    refit.probability_folds = o.probability_folds;
    refit.seed = o.seed;
    refit.solver = o.solver;
    refit.run = o.run;
    SvcModel model = fit_svc(X, labels, refit);
    found.summary.refit_seconds = model.summary().seconds;
    finish_search(found, space, name_of(o.score), false);
    out.emplace(SvcCvResult{std::move(model), std::move(found.table), found.best, space.kernels, std::move(found.summary)});
  });
  return std::move(*out);
}

SvrCvResult fit_svr_cv(const Samples& given, const VectorRef& y, const SvrCvOptions& o) {
  require_grid(o.kernels, o.C, o.epsilon);
  const Samples X = as_given(o.kernels.front(), given);
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  const Index n = X.size();
  if (y.size() != n) throw InvalidArgument(fmt::format("X has {} samples but y has {}", n, y.size()));
  require_finite(Matrix(y), "y");
  require_solver(o.solver);
  root_weights(o.sample_weight, n);  // for its checks
  const Vector targets = y;
  const Vector weights = o.sample_weight.size() > 0 ? o.sample_weight : Vector(Vector::Ones(n));
  std::vector<Fold> folds = o.folds;
  if (folds.empty() && !o.groups.empty()) {
    require_groups(o.groups, n);
    folds = grouped_folds(o.groups, o.cv);
  } else if (folds.empty()) {
    folds = k_folds(n, o.cv, false);
  }
  require_folds(folds, n);
  require_test_weights(folds, o.sample_weight);
  const double most = o.score == SvrScore::r2 ? 1 : 0;
  std::optional<SvrCvResult> out;
  with_run(o.run, [&] {
    const SearchSpace space{ready_kernels(o.kernels, X), o.C,      o.epsilon, std::move(folds), most, o.abandon,
                            weights.maxCoeff(),          o.solver, o.run};
    SearchResult found =
        search_svm(X, space,
                   [&](const SvmRows& rows, double epsilon, const Fold& fold, double C, WarmStart& warm, const SvmSolver& solver,
                       const Run& run) { return fit_svr_fold(rows, targets, weights, o, epsilon, fold, C, warm, solver, run); });
    const SvmCandidate& best = found.table[found.best];
    SvrModel model = fit_svr(X, targets,
                             {.kernel = space.kernels[static_cast<std::size_t>(best.kernel)],
                              .C = best.C,
                              .epsilon = best.epsilon,
                              .fit_intercept = o.fit_intercept,
                              .sample_weight = o.sample_weight,
                              .solver = o.solver,
                              .run = o.run});
    found.summary.refit_seconds = model.summary().seconds;
    finish_search(found, space, name_of(o.score), true);
    out.emplace(SvrCvResult{std::move(model), std::move(found.table), found.best, space.kernels, std::move(found.summary)});
  });
  return std::move(*out);
}

}  // namespace mercer

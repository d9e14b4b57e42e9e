// Support vector classification: machines for pairs of classes (or one against the rest) solved side by side on one Gram matrix, then put
// together as LIBSVM does.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>

#include "gram/row_evaluator.hpp"
#include "mercer/error.hpp"
#include "mercer/folds.hpp"
#include "mercer/gram.hpp"
#include "mercer/svm.hpp"
#include "models/convex_fit.hpp"
#include "models/platt.hpp"
#include "models/shared_progress.hpp"
#include "models/svc_machines.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

// Options of both families, checked against the labels.
template <class Options>
SvcTask task_of(const Options& o, const std::vector<Index>& labels, Index n) {
  SvcTask task;
  if (static_cast<Index>(labels.size()) != n) throw InvalidArgument(fmt::format("X has {} samples but y has {}", n, labels.size()));
  require_solver(o.solver);
  root_weights(o.sample_weight, n);  // for its checks
  task.multi_class = o.multi_class;
  task.labels = labels;
  task.solver = o.solver;
  for (const Index label : labels) {
    if (label < 0 || label >= n) throw InvalidArgument(fmt::format("labels must be class indices 0, 1, ..., got {}", label));
    task.classes = std::max(task.classes, label + 1);
  }
  if (task.classes < 2) throw InvalidArgument("there is only one class: a classifier needs samples of at least two");
  task.weights = o.sample_weight.size() > 0 ? o.sample_weight : Vector(Vector::Ones(n));
  if (o.class_weight.size() > 0) {
    if (o.class_weight.size() != task.classes)
      throw InvalidArgument(fmt::format("class_weight has {} numbers for {} classes", o.class_weight.size(), task.classes));
    if (!(o.class_weight.minCoeff() > 0) || !o.class_weight.allFinite()) throw InvalidArgument("class_weight must be finite and > 0");
    task.weights.array() *= o.class_weight(labels).array();
  }
  Vector mass = Vector::Zero(task.classes);
  for (Index i = 0; i < n; ++i) mass[labels[static_cast<std::size_t>(i)]] += task.weights[i];
  for (Index c = 0; c < task.classes; ++c) {
    if (!(mass[c] > 0)) throw InvalidArgument(fmt::format("class {} has no sample of positive weight", c));
  }
  if (o.probability && o.probability_folds < 2)
    throw InvalidArgument(fmt::format("probability_folds must be at least 2, got {}", o.probability_folds));
  return task;
}

// P(positive) of a machine from decision values of folds it was not fitted on.
Sigmoid sigmoid_of(const SvcTask& given, const SvmRows& rows, const Machine& machine, Index folds, std::uint64_t seed,
                   const std::function<double()>& time_left, const Run& run, SvmSummary& summary) {
  SvcTask task = given;
  const Index n = std::ssize(machine.samples);
  std::vector<Index> side(static_cast<std::size_t>(n), 0);
  std::fill_n(side.begin(), machine.positives, Index{1});
  if (machine.positives < 2 || n - machine.positives < 2)
    throw InvalidArgument("probabilities need at least two samples of every class: they come from cross-validation");
  const Vector weights = task.weights(machine.samples);
  if ((weights.head(machine.positives).array() > 0).count() < 2 || (weights.tail(n - machine.positives).array() > 0).count() < 2)
    throw InvalidArgument("probabilities need at least two samples of positive weight of every class: they come from cross-validation");
  Vector f(n);
  for (const Fold& fold : stratified_folds(side, std::min(folds, n), true, seed)) {
    std::vector<char> use(static_cast<std::size_t>(n), 1);
    for (const Index i : fold.test) use[static_cast<std::size_t>(i)] = 0;
    Machine part{machine.positive, machine.negative, machine.samples, machine.positives, {}, {}, 0, 0};
    if (task.form == SvcForm::nu) task.nu = std::min(given.nu, largest_nu(task, part, use));  // a fold may have less of the smaller class
    SvmSummary about;
    solve_machine(task, rows, part, use, {}, time_left(), run, about);
    if (about.status == "step limit" || about.status == "time limit") summary.status = about.status;
    for (const Index i : fold.test) f[i] = part.decision[i];
  }
  const std::vector<char> positive(side.begin(), side.end());
  return fit_sigmoid(f, positive, weights);
}

// Which column of the coefficients a sample of class `own` has in a machine.
Index column_of(const SvcTask& task, std::size_t machine_number, const Machine& machine, Index own) {
  if (task.classes == 2) return 0;
  if (task.multi_class == MultiClass::one_vs_rest) return static_cast<Index>(machine_number);
  const Index other = own == machine.positive ? machine.negative : machine.positive;
  return other - (other > own ? 1 : 0);
}

SvcModel::Parts assemble(const SvcTask& task, const Kernel& kernel, const Samples& X, const std::vector<Machine>& machines) {
  const Index n = X.size();
  std::vector<char> is_support(static_cast<std::size_t>(n), 0);
  for (const Machine& machine : machines) {
    for (std::size_t i = 0; i < machine.samples.size(); ++i) {
      if (machine.b[static_cast<Index>(i)] != 0) is_support[static_cast<std::size_t>(machine.samples[i])] = 1;
    }
  }
  // Stopped before its first step: f is the intercept alone, and a model keeps a row to know its columns by.
  if (std::find(is_support.begin(), is_support.end(), 1) == is_support.end()) is_support[0] = 1;
  SvcModel::Parts parts;
  parts.multi_class = task.multi_class;
  SupportExpansion& e = parts.expansion;
  parts.n_support.assign(static_cast<std::size_t>(task.classes), 0);
  std::vector<Index> place(static_cast<std::size_t>(n), -1);
  for (Index c = 0; c < task.classes; ++c) {
    for (Index i = 0; i < n; ++i) {
      if (is_support[static_cast<std::size_t>(i)] == 0 || task.labels[static_cast<std::size_t>(i)] != c) continue;
      place[static_cast<std::size_t>(i)] = std::ssize(e.support);
      e.support.push_back(i);
      ++parts.n_support[static_cast<std::size_t>(c)];
    }
  }
  const Index columns = task.classes == 2 ? 1 : task.multi_class == MultiClass::one_vs_rest ? task.classes : task.classes - 1;
  e.kernel = kernel;
  e.vectors = X.subset(e.support).without_values();
  e.coef = Matrix::Zero(std::ssize(e.support), columns);
  e.intercept.resize(std::ssize(machines));
  parts.squared_norm.resize(std::ssize(machines));
  for (std::size_t m = 0; m < machines.size(); ++m) {
    const Machine& machine = machines[m];
    e.intercept[static_cast<Index>(m)] = machine.intercept;
    parts.squared_norm[static_cast<Index>(m)] = machine.squared_norm;
    for (std::size_t i = 0; i < machine.samples.size(); ++i) {
      const double b = machine.b[static_cast<Index>(i)];
      const auto sample = static_cast<std::size_t>(machine.samples[i]);
      if (b != 0) e.coef(place[sample], column_of(task, m, machine, task.labels[sample])) = b;
    }
  }
  parts.summary.problems = std::ssize(machines);
  parts.summary.support_vectors = std::ssize(e.support);
  return parts;
}

struct Extras {
  bool probability;
  Index folds;
  std::uint64_t seed;
  bool break_ties;
  const Matrix* start;
};

// The same wherever the origin of the feature space is, unlike k(x, x).
double spread_of(const Kernel& kernel, const Samples& X) {
  const Vector diagonal = gram_diagonal(kernel, X);
  const Vector products = gram(kernel, X.slice(0, 1), X).row(0).transpose();
  return std::max(0.0, (diagonal.array() + diagonal[0] - 2 * products.array()).maxCoeff());
}

SvcModel fit(const Samples& X, const Kernel& given, SvcTask task, const Extras& extras, const Run& run) {
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  SvcModel::Parts parts;
  with_run(run, [&] {
    const Kernel kernel = ready_kernel(given, X);
    if (task.form == SvcForm::hard_margin) task.spread = spread_of(kernel, X);
    std::vector<Machine> machines = make_machines(task);
    const auto count = std::ssize(machines);
    if (extras.start->size() > 0 && (extras.start->rows() != X.size() || extras.start->cols() != count))
      throw InvalidArgument(fmt::format("the start is {} x {}, but there are {} samples and {} functions", extras.start->rows(),
                                        extras.start->cols(), X.size(), count));
    require_finite(*extras.start, "the start");
    const bool many = count > 1 || extras.probability;
    const SvmRows rows(kernel, X, task.solver, largest_coefficient(task), many, run);
    Matrix sigmoids(extras.probability ? count : 0, 2);
    std::vector<SvmSummary> summaries(machines.size());
    SharedProgress progress(run.progress, extras.probability ? "machines and their probabilities" : "pairs of classes",
                            static_cast<double>(count));
    Run inner = run;
    if (many) inner.progress = progress.inner();
    const auto left = [&] { return task.solver.time_limit > 0 ? std::max(1e-9, task.solver.time_limit - seconds()) : 0; };
    parallel_for(count, [&](Index m) {
      Machine& machine = machines[static_cast<std::size_t>(m)];
      const Vector start = extras.start->size() > 0 ? Vector(extras.start->col(m)(machine.samples)) : Vector();
      solve_machine(task, rows, machine, {}, start, left(), inner, summaries[static_cast<std::size_t>(m)]);
      if (extras.probability) {
        const Sigmoid s = sigmoid_of(task, rows, machine, extras.folds, extras.seed, left, inner, summaries[static_cast<std::size_t>(m)]);
        sigmoids(m, 0) = s.A;
        sigmoids(m, 1) = s.B;
      }
      progress.advance(1);
    });
    parts = assemble(task, kernel, X, machines);
    parts.break_ties = extras.break_ties;
    parts.setting = {task.form == SvcForm::nu, task.form == SvcForm::hard_margin, {}, {}};
    if (task.form == SvcForm::penalty) parts.setting.C = task.C;
    if (task.form == SvcForm::nu) parts.setting.nu = task.nu;
    parts.sigmoids = std::move(sigmoids);
    SvmSummary& s = parts.summary;
    for (const SvmSummary& one : summaries) {
      s.iterations += one.iterations;
      s.steps.push_back(one.iterations);
      s.at_bound += one.at_bound;
      s.objective += one.objective;
      s.gap += one.gap;
      s.violation = std::max(s.violation, one.violation);
      s.kernel_rows += one.kernel_rows;
      s.bytes = std::max(s.bytes, one.bytes);
      if (one.status == "converged" && s.remark.empty()) s.remark = one.remark;
      if (one.status == "converged" || (s.status != "converged" && one.status != "not separable")) continue;
      s.status = one.status;
      s.remark = one.remark;
    }
    s.precision = rows.precision();
    s.bytes += rows.stored_bytes();
    if (rows.stored_bytes() > 0) s.kernel_rows = X.size();
  });
  parts.summary.seconds = seconds();
  finish_summary(parts.summary, task.solver, X, X.size());
  return SvcModel::from_parts(std::move(parts));
}

}  // namespace

SvcModel fit_svc(const Samples& rows, const std::vector<Index>& labels, const SvcOptions& o) {
  const Samples X = as_given(o.kernel, rows);
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  SvcTask task = task_of(o, labels, X.size());
  task.C = box_bound(o.C, o.lambda, X.size());
  task.fit_intercept = o.fit_intercept;
  if (o.hard_margin) {
    if (!o.fit_intercept) throw InvalidArgument("a hard margin needs the intercept: it is found between the convex hulls of the classes");
    task.form = SvcForm::hard_margin;
    if (!task.solver.precision) task.solver.precision = Precision::float64;  // whether hulls meet is a question of the last digits
  }
  return fit(X, o.kernel, task, {o.probability, o.probability_folds, o.seed, o.break_ties, &o.start}, o.run);
}

SvcModel fit_nu_svc(const Samples& rows, const std::vector<Index>& labels, const NuSvcOptions& o) {
  const Samples X = as_given(o.kernel, rows);
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  SvcTask task = task_of(o, labels, X.size());
  require_nu(o.nu);
  task.form = SvcForm::nu;
  task.nu = o.nu;
  const Matrix none;
  return fit(X, o.kernel, task, {o.probability, o.probability_folds, o.seed, o.break_ties, &none}, o.run);
}

}  // namespace mercer

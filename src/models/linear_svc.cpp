// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/linear_svc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "data/numbers_only.hpp"
#include "mercer/error.hpp"
#include "models/linear_svc_fit.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using Solver = LinearSvcOptions::Solver;

Index count_classes(const std::vector<Index>& labels, const Vector& weights) {
  Index classes = 0;
  for (const Index label : labels) {
    if (label < 0 || label >= static_cast<Index>(labels.size()))
      throw InvalidArgument(fmt::format("labels must be class indices 0, 1, ..., got {}", label));
    classes = std::max(classes, label + 1);
  }
  if (classes < 2) throw InvalidArgument("there is only one class: a classifier needs samples of at least two");
  Vector mass = Vector::Zero(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) mass[labels[i]] += weights[static_cast<Index>(i)];
  for (Index c = 0; c < classes; ++c) {
    if (mass[c] == 0) throw InvalidArgument(fmt::format("class {} has no sample of positive weight", c));
  }
  return classes;
}

void require_positive(const char* name, double value) {
  if (!(value > 0) || !std::isfinite(value)) throw InvalidArgument(fmt::format("{} must be a finite number > 0, got {}", name, value));
}

void require_options(const LinearSvcOptions& o) {
  require_positive("C", o.C);
  if (o.lambda) require_positive("lambda", *o.lambda);
  require_positive("tolerance", o.tolerance);
  if (o.fit_intercept) require_positive("intercept_scaling", o.intercept_scaling);
  if (o.max_iterations < 1) throw InvalidArgument(fmt::format("max_iterations must be at least 1, got {}", o.max_iterations));
}

LinearSvcSummary summarise(const LinearSvcFit& fit, const LinearSvcOptions& o, const Samples& X, Clock::time_point start) {
  LinearSvcSummary s;
  s.method = fit.newton ? "Newton" : "coordinate descent";
  s.status = "converged";
  for (const LinearSolution& one : fit.classes) {
    s.iterations = std::max(s.iterations, one.iterations);
    s.objective += one.objective;
    s.gap += one.gap;
    s.relative_gap = std::max(s.relative_gap, one.objective > 0 ? one.gap / one.objective : 0);
    s.support_vectors += (one.a.array() > 0).count();
    if (s.status == "converged" || one.status == "iteration limit") s.status = one.status;
  }
  s.bytes = fit.bytes;
  s.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const std::string how =
      fmt::format("{} {}, relative duality gap {:.2g}", s.iterations, fit.newton ? "Newton steps" : "passes", s.relative_gap);
  const std::string what = fmt::format("{} x {} {}, {:.2f} s", X.size(), X.width(), X.is_sparse() ? "sparse" : "dense", s.seconds);
  if (s.status == "converged") {
    s.sentence = fmt::format("converged: {} <= {:g}, {}", how, o.tolerance, what);
  } else if (s.status == "iteration limit") {
    s.sentence =
        fmt::format("not converged: {} > {:g} at the limit of {}; allow more iterations, scale the columns or take a smaller C; {}", how,
                    o.tolerance, o.max_iterations, what);
  } else {
    s.sentence = fmt::format("not converged: {} > {:g}, as near as rounding allows; scale the columns or take a smaller C; {}", how,
                             o.tolerance, what);
  }
  return s;
}

}  // namespace

LinearSvcTask::LinearSvcTask(const Samples& rows, const std::vector<Index>& given, const LinearSvcOptions& o) {
  if (rows.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  if (rows.is_given()) throw InvalidArgument("a linear SVM looks at columns; kernel values of pairs are for SVC(kernel=\"precomputed\")");
  require_numbers(rows, "a linear machine");
  if (rows.width() == 0) throw InvalidArgument("the samples have no columns: X must have at least one column");
  if (rows.size() > std::numeric_limits<std::int32_t>::max() - 1)
    throw InvalidArgument(fmt::format("a linear SVM takes up to 2^31 - 2 rows, got {}", rows.size()));
  if (static_cast<Index>(given.size()) != rows.size())
    throw InvalidArgument(fmt::format("X has {} samples but y has {}", rows.size(), given.size()));
  require_finite(rows, "X");
  require_options(o);
  root_weights(o.sample_weight, rows.size());  // for its checks
  weights = o.sample_weight.size() > 0 ? o.sample_weight : Vector(Vector::Ones(rows.size()));
  classes = count_classes(given, weights);
  class_weight = o.class_weight.size() > 0 ? o.class_weight : Vector(Vector::Ones(classes));
  if (class_weight.size() != classes)
    throw InvalidArgument(fmt::format("class_weight has {} numbers for {} classes", class_weight.size(), classes));
  if (!(class_weight.minCoeff() > 0) || !class_weight.allFinite()) throw InvalidArgument("class_weight must be finite and > 0");
  X = rows;
  labels = given;
  bias = o.fit_intercept ? o.intercept_scaling : 0;
  if (weights.minCoeff() > 0) return;
  std::vector<Index> kept;  // samples without weight are not looked at
  for (Index i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) kept.push_back(i);
  }
  X = rows.subset(kept);
  labels.clear();
  for (const Index i : kept) labels.push_back(given[static_cast<std::size_t>(i)]);
  weights = Vector(weights(kept));
}

LinearSvcFit fit_classes(const LinearSvcTask& task, double C, const LinearSvcOptions& o, const std::vector<LinearSolution>& from,
                         Stage& stage) {
  const bool squared = o.loss == LinearSvcOptions::Loss::squared_hinge;
  const auto probe = linear_rows(task.X, task.bias);
  LinearSvcFit fit;
  fit.newton = o.solver == Solver::newton ||
               (o.solver == Solver::automatic && (probe->small_normal() || (squared && task.X.size() >= task.X.width())));
  const Index functions = task.classes == 2 ? 1 : task.classes;
  const auto at_a_time = std::min<Index>(functions, current_threads());
  const double p = static_cast<double>(probe->cols());
  fit.bytes = static_cast<std::size_t>(static_cast<double>(at_a_time) * (static_cast<double>(task.X.size()) * 8 * 9 + 8 * p * 24 +
                                                                         (fit.newton && probe->small_normal() ? 24 * p * p : 0)));
  require_memory(fit.bytes, o.run.memory, fmt::format("a linear SVM on {} rows and {} columns", task.X.size(), task.X.width()),
                 "use fewer threads or a larger budget");
  fit.classes.resize(static_cast<std::size_t>(functions));
  const LinearStop stop{o.tolerance, o.max_iterations};
  parallel_for(functions, [&](Index k) {
    const Index positive = functions == 1 ? 1 : k;
    const auto rows = linear_rows(task.X, task.bias);
    LinearProblem problem{*rows, Vector(task.X.size()), Vector(task.X.size()), squared};
    for (Index i = 0; i < task.X.size(); ++i) {
      const Index label = task.labels[static_cast<std::size_t>(i)];
      problem.y[i] = label == positive ? 1 : -1;
      problem.C[i] = C * task.weights[i] * (functions == 1 || label == positive ? task.class_weight[label] : 1);
    }
    LinearSolution start = from.empty() ? LinearSolution{} : from[static_cast<std::size_t>(k)];
    fit.classes[static_cast<std::size_t>(k)] = fit.newton ? linear_newton(problem, stop, std::move(start), stage)
                                                          : linear_descent(problem, task.X, task.bias, stop, std::move(start),
                                                                           RandomStream(o.seed, static_cast<std::uint64_t>(k)), stage);
  });
  return fit;
}

LinearSvcModel model_of(const LinearSvcTask& task, const LinearSvcFit& fit, double C, const LinearSvcOptions& o, LinearSvcSummary summary) {
  const auto functions = static_cast<Index>(fit.classes.size());
  Matrix coef(functions, task.X.width());
  Vector intercept = Vector::Zero(functions);
  for (Index k = 0; k < functions; ++k) {
    const Vector& w = fit.classes[static_cast<std::size_t>(k)].w;
    coef.row(k) = w.head(task.X.width()).transpose();
    if (task.bias != 0) intercept[k] = task.bias * w[task.X.width()];
  }
  return LinearSvcModel::from_parts(std::move(coef), std::move(intercept), o.loss, C, std::move(summary));
}

LinearSvcModel LinearSvcModel::from_parts(Matrix coef, Vector intercept, LinearSvcOptions::Loss loss, double C, LinearSvcSummary summary) {
  if (coef.rows() == 0 || coef.rows() == 2 || coef.cols() == 0 || intercept.size() != coef.rows()) {
    throw InvalidArgument(
        fmt::format("a linear SVM with {} intercepts cannot have {} x {} coefficients", intercept.size(), coef.rows(), coef.cols()));
  }
  LinearSvcModel model;
  model.coef_ = std::move(coef);
  model.intercept_ = std::move(intercept);
  model.loss_ = loss;
  model.C_ = C;
  model.summary_ = std::move(summary);
  return model;
}

Matrix LinearSvcModel::decision(const Samples& X, const Run& run) const {
  require_numbers(X, "a linear machine");
  if (X.is_given() || X.width() != coef_.cols())
    throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {}", X.width(), coef_.cols()));
  require_finite(X, "X");
  Matrix out(X.size(), coef_.rows());
  with_run(run, [&] {
    std::visit(
        [&]<class Storage>(const Storage& x) {
          const RowLoops<Storage> rows{x};
          constexpr Index piece = 1024;
          Stage stage(run.progress, "scores", static_cast<double>((X.size() + piece - 1) / piece));
          parallel_for((X.size() + piece - 1) / piece, [&](Index k) {
            for (Index i = k * piece; i < std::min(X.size(), (k + 1) * piece); ++i) {
              for (Index c = 0; c < coef_.rows(); ++c) out(i, c) = rows.dot(i, coef_.row(c).data()) + intercept_[c];
            }
            stage.advance(1);
          });
        },
        X.storage());
  });
  return out;
}

LinearSvcModel fit_linear_svc(const Samples& X, const std::vector<Index>& labels, const LinearSvcOptions& options) {
  const auto start = Clock::now();
  const LinearSvcTask task(X, labels, options);
  const double C = options.lambda ? 1 / (2 * *options.lambda * task.weights.sum()) : options.C;
  LinearSvcFit fit;
  with_run(options.run, [&] {
    Stage stage(options.run.progress, "linear SVM", 20.0 * static_cast<double>(task.classes == 2 ? 1 : task.classes));
    fit = fit_classes(task, C, options, {}, stage);
  });
  return model_of(task, fit, C, options, summarise(fit, options, X, start));
}

}  // namespace mercer

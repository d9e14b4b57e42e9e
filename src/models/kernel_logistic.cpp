// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_logistic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "mercer/error.hpp"
#include "models/class_counts.hpp"
#include "models/convex_fit.hpp"
#include "models/score_losses.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using Solver = KernelLogisticOptions::Solver;

Vector all_weights(const std::vector<Index>& labels, const KernelLogisticOptions& o) {
  root_weights(o.sample_weight, static_cast<Index>(labels.size()));  // for its checks
  Vector w = o.sample_weight.size() > 0 ? o.sample_weight : Vector(Vector::Ones(static_cast<Index>(labels.size())));
  if (o.class_weight.size() == 0) return w;
  const auto classes = *std::max_element(labels.begin(), labels.end()) + 1;
  if (o.class_weight.size() != classes)
    throw InvalidArgument(fmt::format("class_weight has {} numbers for {} classes", o.class_weight.size(), classes));
  if (!(o.class_weight.minCoeff() > 0) || !o.class_weight.allFinite()) throw InvalidArgument("class_weight must be finite and > 0");
  for (std::size_t i = 0; i < labels.size(); ++i) w[static_cast<Index>(i)] *= o.class_weight[labels[i]];
  return w;
}

void require_options(const KernelLogisticOptions& o) {
  if (!(o.C > 0) || !std::isfinite(o.C)) throw InvalidArgument(fmt::format("C must be a finite number > 0, got {}", o.C));
  if (o.lambda && (!(*o.lambda > 0) || !std::isfinite(*o.lambda)))
    throw InvalidArgument(fmt::format("lambda must be a finite number > 0, got {}", *o.lambda));
  if (!(o.tolerance > 0)) throw InvalidArgument(fmt::format("tolerance must be > 0, got {}", o.tolerance));
  if (o.max_iterations < 1) throw InvalidArgument(fmt::format("max_iterations must be at least 1, got {}", o.max_iterations));
  if (o.landmarks < 0) throw InvalidArgument(fmt::format("landmarks must be >= 0, got {}", o.landmarks));
}

Index landmark_count(const KernelLogisticOptions& o, Index n) {
  if (o.solver == Solver::exact || (o.solver == Solver::automatic && n <= o.exact_limit)) return 0;
  if (o.landmarks > 0) return o.landmarks;
  return std::clamp<Index>(static_cast<Index>(10 * std::sqrt(static_cast<double>(n))), 500, 3000);
}

double log_one_plus_exp(double z) { return std::log1p(std::exp(-std::abs(z))) + std::max(0.0, z); }

}  // namespace

Matrix probabilities_from_scores(const MatrixRef& scores) {
  if (scores.cols() > 1) return softmax(scores);
  Matrix p(scores.rows(), 2);
  for (Index i = 0; i < p.rows(); ++i) {
    p(i, 0) = 1 / (1 + std::exp(scores(i, 0)));
    p(i, 1) = 1 / (1 + std::exp(-scores(i, 0)));
  }
  return p;
}

KernelLogisticModel KernelLogisticModel::from_parts(Kernel kernel, Samples samples, Matrix dual_coef, Vector intercept, double lambda,
                                                    ConvexSummary summary) {
  if (dual_coef.rows() != samples.size() || dual_coef.cols() == 0 || dual_coef.cols() == 2 || intercept.size() != dual_coef.cols()) {
    throw InvalidArgument(fmt::format("a logistic model of {} samples and {} functions cannot have {} x {} coefficients", samples.size(),
                                      intercept.size(), dual_coef.rows(), dual_coef.cols()));
  }
  KernelLogisticModel model(std::move(kernel), std::move(samples));
  model.dual_coef_ = std::move(dual_coef);
  model.intercept_ = std::move(intercept);
  model.lambda_ = lambda;
  model.summary_ = std::move(summary);
  return model;
}

Matrix KernelLogisticModel::decision(const Samples& X, const Run& run) const {
  return expansion_at(kernel_, samples_, dual_coef_, intercept_, X, run);
}

Matrix KernelLogisticModel::probabilities(const Samples& X, const Run& run) const { return probabilities_from_scores(decision(X, run)); }

Matrix KernelLogisticModel::log_probabilities(const Samples& X, const Run& run) const {
  const Matrix z = decision(X, run);
  if (z.cols() == 1) {
    Matrix out(z.rows(), 2);
    for (Index i = 0; i < z.rows(); ++i) {
      out(i, 0) = -log_one_plus_exp(z(i, 0));
      out(i, 1) = -log_one_plus_exp(-z(i, 0));
    }
    return out;
  }
  Matrix out = z;
  for (Index i = 0; i < z.rows(); ++i) {
    const double top = z.row(i).maxCoeff();
    out.row(i).array() -= top + std::log((z.row(i).array() - top).exp().sum());
  }
  return out;
}

KernelLogisticModel fit_kernel_logistic(const Samples& rows, const std::vector<Index>& labels, const KernelLogisticOptions& options) {
  const auto start = Clock::now();
  const Samples X = as_given(options.kernel, rows);
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  if (static_cast<Index>(labels.size()) != X.size())
    throw InvalidArgument(fmt::format("X has {} samples but y has {}", X.size(), labels.size()));
  require_options(options);
  const Vector w = all_weights(labels, options);
  const Index classes = require_classes(X, labels, w);
  const Vector p = w / w.sum();
  ColumnOptions column{.intercept = options.fit_intercept, .tolerance = options.tolerance, .max_iterations = options.max_iterations};
  column.lambda = options.lambda.value_or(1 / (2 * options.C * w.sum()));
  Kernel kernel = options.kernel;
  ConvexSummary summary;
  ColumnFit fit;
  Matrix coef;
  Samples kept;
  with_run(options.run, [&] {
    kernel = ready_kernel(options.kernel, X);
    const FitSpace in = make_space(kernel, X, landmark_count(options, X.size()), options.seed, options.run, "kernel logistic regression");
    Stage stage(options.run.progress, "Newton", 12);
    if (classes == 2) {
      Vector y(X.size());
      for (Index i = 0; i < y.size(); ++i) y[i] = labels[static_cast<std::size_t>(i)] == 1 ? 1 : -1;
      fit = fit_column(*in.space, losses::logistic(), y, p, column, stage);
    } else {
      fit = fit_softmax(*in.space, labels, classes, p, column, stage);
    }
    coef = in.dual_coef(fit.coefficients);
    kept = in.samples;
    summary.landmarks = in.landmarks;
    summary.bytes = in.bytes;
  });
  add_to_summary(fit, summary);
  summary.method = "Newton";
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  finish_summary(summary, options.tolerance, X.size());
  return KernelLogisticModel::from_parts(kernel, kept.without_values(), std::move(coef), std::move(fit.intercept), column.lambda,
                                         std::move(summary));
}

}  // namespace mercer

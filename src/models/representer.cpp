// The representer solver for losses of single samples.
//
// Omega(|f|): for a fixed norm the best f is that of lambda |f|^2 for some lambda, so the solution lies on the path of lambda: a scan of
// the path by powers of ten, then golden section in log lambda around its best point. SPDX-License-Identifier: BSD-3-Clause
#include "mercer/representer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "mercer/error.hpp"
#include "models/convex_fit.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

void require_options(const RepresenterOptions& o) {
  if (!(o.lambda > 0) || !std::isfinite(o.lambda))
    throw InvalidArgument(fmt::format("lambda must be a finite number > 0, got {}", o.lambda));
  if (!(o.tolerance > 0)) throw InvalidArgument(fmt::format("tolerance must be > 0, got {}", o.tolerance));
  if (o.max_iterations < 1) throw InvalidArgument(fmt::format("max_iterations must be at least 1, got {}", o.max_iterations));
}

// The logistic loss of one class and the Poisson loss of zeros alone fall for ever as the intercept grows; rounding would hide that.
void require_finite_intercept(const Loss& loss, const Vector& y, const Vector& p) {
  const bool logistic = loss.kind() == Loss::Kind::logistic;
  if (!logistic && loss.kind() != Loss::Kind::poisson) return;
  bool low = false;
  bool high = false;
  for (Index i = 0; i < y.size(); ++i) {
    low = low || (p[i] > 0 && y[i] < 0);
    high = high || (p[i] > 0 && y[i] > 0);
  }
  if (logistic ? low && high : high) return;
  throw InvalidArgument(fmt::format("the loss {} has no finite best intercept when {}; fit without an intercept", loss.text(),
                                    logistic ? "all targets are of one class" : "all targets are 0"));
}

// A loss of the user: its derivative must lie between the slopes of its value to the left and to the right, which holds at corners too.
void require_derivative(const Loss& loss, const Vector& y) {
  const double h = 1e-4;
  const auto at = [&](double z) { return loss(y, Vector::Constant(y.size(), z)); };
  const auto check = [&](double z) {
    const LossValues here = at(z);
    const Vector below = at(z - h).value;
    const Vector above = at(z + h).value;
    for (Index i = 0; i < y.size(); ++i) {
      const double left = (here.value[i] - below[i]) / h;
      const double right = (above[i] - here.value[i]) / h;
      const double d = here.first[i];
      if (!std::isfinite(left) || !std::isfinite(right) || !std::isfinite(d)) continue;
      const double rounding = 16 * std::numeric_limits<double>::epsilon() * (1 + std::abs(here.value[i])) / h;
      const double slack = 1e-3 * std::max({std::abs(left), std::abs(right), std::abs(d)}) + 1e-6 + rounding;
      if (d >= std::min(left, right) - slack && d <= std::max(left, right) + slack) continue;
      throw InvalidArgument(
          fmt::format("the derivative of the loss {} disagrees with its value at y = {:g}, z = {:g}: it is {:g}, but the value changes by "
                      "{:g} per unit of z",
                      loss.text(), y[i], z, d, (above[i] - below[i]) / (2 * h)));
    }
  };
  const auto defined = [&](double z) {
    try {
      return at(z).value.allFinite();
    } catch (const InvalidArgument&) {  // NaN there: perhaps no fit comes so far
      return false;
    }
  };
  check(0);  // where a fit begins
  for (const double z : {0.5, -0.5}) {
    if (defined(z)) check(z);
  }
}

double omega_at(const RepresenterOptions& o, const ColumnFit& fit) {
  const double value = o.omega(std::sqrt(std::max(0.0, fit.squared_norm)));
  if (std::isnan(value)) throw InvalidArgument(fmt::format("omega gave NaN for the norm {}", std::sqrt(fit.squared_norm)));
  return value;
}

ColumnFit search_path(const FitSpace& in, const Vector& y, const Vector& p, const RepresenterOptions& o, double scale, Stage& stage) {
  ColumnOptions column{.lambda = 1, .intercept = o.fit_intercept, .tolerance = o.tolerance, .max_iterations = o.max_iterations};
  ColumnFit best;
  double best_value = std::numeric_limits<double>::infinity();
  Index iterations = 0;
  const auto value_at = [&](double log_lambda) {
    column.lambda = scale * std::exp(log_lambda);
    ColumnFit fit = fit_column(*in.space, o.loss, y, p, column, stage);
    iterations += fit.iterations;
    const double value = fit.loss + omega_at(o, fit);
    if (value < best_value) {
      best_value = value;
      best = std::move(fit);
      best.objective = value;
    }
    return value;
  };
  const double decade = std::log(10.0);
  double centre = 4;
  double lowest = std::numeric_limits<double>::infinity();
  for (double power = 4; power >= -9; --power) {
    const double value = value_at(power * decade);
    if (value < lowest) lowest = value, centre = power;
  }
  double low = (centre - 1) * decade;
  double high = (centre + 1) * decade;
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double a = high - golden * (high - low);
  double b = low + golden * (high - low);
  double at_a = value_at(a);
  double at_b = value_at(b);
  while (high - low > 1e-5) {  // the objective is flat at its minimum: an error of 1e-10
    if (at_a < at_b) {
      high = b, b = a, at_b = at_a;
      a = high - golden * (high - low);
      at_a = value_at(a);
    } else {
      low = a, a = b, at_a = at_b;
      b = low + golden * (high - low);
      at_b = value_at(b);
    }
  }
  best.iterations = iterations;
  return best;
}

}  // namespace

RepresenterModel RepresenterModel::from_parts(Kernel kernel, Loss loss, Samples samples, Matrix dual_coef, Vector intercept, Vector lambda,
                                              ConvexSummary summary) {
  if (dual_coef.rows() != samples.size() || intercept.size() != dual_coef.cols() || lambda.size() != dual_coef.cols()) {
    throw InvalidArgument(fmt::format("a representer model of {} samples and {} targets cannot have {} x {} coefficients", samples.size(),
                                      intercept.size(), dual_coef.rows(), dual_coef.cols()));
  }
  RepresenterModel model(std::move(kernel), std::move(loss), std::move(samples));
  model.dual_coef_ = std::move(dual_coef);
  model.intercept_ = std::move(intercept);
  model.lambda_ = std::move(lambda);
  model.summary_ = std::move(summary);
  return model;
}

Matrix RepresenterModel::decision(const Samples& X, const Run& run) const {
  return expansion_at(kernel_, samples_, dual_coef_, intercept_, X, run);
}

Matrix RepresenterModel::predict(const Samples& X, const Run& run) const {
  Matrix f = decision(X, run);
  for (Index t = 0; t < f.cols(); ++t) f.col(t) = loss_.mean(Vector(f.col(t)));
  return f;
}

RepresenterModel fit_representer(const Samples& rows, const MatrixRef& Y, const RepresenterOptions& options) {
  const auto start = Clock::now();
  const Samples X = as_given(options.kernel, rows);
  require_matching(X, Y);
  require_options(options);
  const Vector p = proportions(options.sample_weight, X.size());
  for (Index t = 0; t < Y.cols(); ++t) {
    options.loss.require_targets(Vector(Y.col(t)));
    if (options.loss.kind() == Loss::Kind::custom) require_derivative(options.loss, Y.col(t));
  }
  Kernel kernel = options.kernel;
  Vector lambda(Y.cols());
  Vector intercept(Y.cols());
  Matrix coef;
  ConvexSummary summary;
  Samples kept;
  with_run(options.run, [&] {
    kernel = ready_kernel(options.kernel, X);
    const FitSpace in = make_space(kernel, X, options.landmarks, options.seed, options.run, "the representer solver");
    Stage stage(options.run.progress, "Newton", static_cast<double>(Y.cols()) * 20);
    Matrix coefficients(in.space->dimension(), Y.cols());
    const double scale = std::max(gram_diagonal(kernel, in.samples).mean(), 1e-300);
    for (Index t = 0; t < Y.cols(); ++t) {
      const Vector y = Y.col(t);
      if (options.fit_intercept) require_finite_intercept(options.loss, y, p);
      const ColumnOptions column{options.lambda, options.fit_intercept, options.tolerance, options.max_iterations};
      const ColumnFit fit =
          options.omega ? search_path(in, y, p, options, scale, stage) : fit_column(*in.space, options.loss, y, p, column, stage);
      coefficients.col(t) = fit.coefficients;
      intercept[t] = fit.intercept[0];
      lambda[t] = fit.lambda;
      add_to_summary(fit, summary);
    }
    coef = in.dual_coef(coefficients);
    kept = in.samples;
    summary.landmarks = in.landmarks;
    summary.bytes = in.bytes;
  });
  summary.method = options.loss.smooth() ? "Newton" : "proximal Newton";
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  finish_summary(summary, options.tolerance, X.size());
  if (options.omega) summary.sentence += fmt::format("; lambda {:.4g} found for omega", lambda[0]);
  return RepresenterModel::from_parts(kernel, options.loss, kept.without_values(), std::move(coef), std::move(intercept), std::move(lambda),
                                      std::move(summary));
}

}  // namespace mercer

// Making the parts.
//
// Notation as in kernel_ridge.cpp: A = S K S + a I, z = (c', b) solves M z = (S y, 0) with M = [A, s; s', 0] (M = A without intercept), and
// the prediction at x is g'z with g = (S k_x, 1). Leaving sample i out strikes row and column i of M, which gives
//   s_i r_i = c'_i / P_ii,  z_-i = z - s_i r_i M^-1 e_i,  f_-i(x) = f(x) - s_i r_i (M^-1 g)_i,  P the leading block of M^-1.
// Only A^-1 and v = A^-1 s are kept: P = A^-1 - v v' / s'v, and (M^-1 g) = u - v (s'u - 1) / s'v with u = A^-1 S k_x.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/prediction_intervals.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <map>

#include "gram/fill.hpp"
#include "linalg/inverse.hpp"
#include "mercer/error.hpp"
#include "mercer/folds.hpp"
#include "mercer/gram.hpp"
#include "mercer/kernel_ridge.hpp"
#include "models/interval_parts.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

// Samples that the fits see: their residuals alone tell how far a new value may be.
std::vector<Index> weighted_samples(const Vector& weight, Index n) {
  std::vector<Index> rows;
  for (Index i = 0; i < n; ++i) {
    if (weight.size() == 0 || weight[i] > 0) rows.push_back(i);
  }
  return rows;
}

// nullptr: some A is not positive definite.
std::shared_ptr<IntervalParts> jackknife(const KernelRidgeModel& model, const Samples& X, const MatrixRef& Y, const IntervalOptions& o) {
  const Index n = X.size();
  std::map<double, std::vector<Index>> by_alpha;
  for (Index t = 0; t < Y.cols(); ++t) by_alpha[model.alpha()[t]].push_back(t);
  const std::size_t bytes = linalg::SymmetricTiles<double>::bytes(n) * by_alpha.size();
  require_memory(bytes, o.run.memory, fmt::format("what the jackknife+ keeps of {} samples", n),
                 "use CV+ (a coefficient vector per fold), fewer samples, or a larger budget");
  auto parts = std::make_shared<IntervalParts>();
  parts->scale = root_weights(o.sample_weight, n);
  parts->residuals = Matrix(n, Y.cols());
  const PreparedKernel<double> prepared(model.kernel(), X, X);
  for (const auto& [alpha, targets] : by_alpha) {
    JackknifeGroup group{targets, linalg::SymmetricTiles<double>(n), {}};
    fill_lower(prepared, o.sample_weight.size() > 0 ? parts->scale : Vector(), group.inverse, o.run.progress);
    group.inverse.add_to_diagonal(alpha);
    if (!(alpha > 0) || linalg::cholesky(group.inverse, o.run.progress) >= 0) return nullptr;
    if (o.fit_intercept) {
      Matrix v = parts->scale;
      linalg::cholesky_solve(group.inverse, v);
      group.border = v.col(0);
    }
    linalg::symmetric_inverse(group.inverse, o.run.progress);
    Vector diagonal = linalg::diagonal_of(group.inverse);
    if (o.fit_intercept) diagonal -= group.border.cwiseAbs2() / parts->scale.dot(group.border);
    parts->residuals(Eigen::all, targets) = leave_one_out_residuals(model.dual_coef()(Eigen::all, targets), parts->scale, diagonal);
    parts->groups.push_back(std::move(group));
  }
  if (!parts->residuals(weighted_samples(o.sample_weight, n), Eigen::all).allFinite()) return nullptr;
  return parts;
}

std::shared_ptr<IntervalParts> cross_validation(const KernelRidgeModel& model, const Samples& X, const MatrixRef& Y,
                                                const IntervalOptions& o) {
  const Index n = X.size();
  const Index targets = Y.cols();
  const std::vector<Index> counted = weighted_samples(o.sample_weight, n);
  const Index k = std::min(o.folds, std::ssize(counted));
  if (k < 2)
    throw InvalidArgument(
        fmt::format("CV+ needs at least 2 folds and 2 samples with a weight, got {} folds of {}", o.folds, counted.size()));
  std::vector<Fold> folds = k_folds(std::ssize(counted), k, true, o.seed);
  for (Fold& fold : folds) {
    for (Index& i : fold.train) i = counted[static_cast<std::size_t>(i)];
    for (Index& i : fold.test) i = counted[static_cast<std::size_t>(i)];
  }
  auto parts = std::make_shared<IntervalParts>();
  parts->residuals = Matrix::Constant(n, targets, std::nan(""));
  parts->fold_of.assign(static_cast<std::size_t>(n), 0);
  parts->fold_coef = Matrix::Zero(n, k * targets);
  parts->fold_intercept = Matrix::Zero(k, targets);
  for (Index f = 0; f < k; ++f) {
    const Fold& fold = folds[static_cast<std::size_t>(f)];
    Vector weight;
    if (o.sample_weight.size() > 0) weight = o.sample_weight(fold.train);
    const KernelRidgeModel part = fit_kernel_ridge(X.subset(fold.train), Matrix(Y(fold.train, Eigen::all)),
                                                   {.kernel = model.kernel(),
                                                    .alpha_per_target = model.alpha(),
                                                    .fit_intercept = o.fit_intercept,
                                                    .sample_weight = weight,
                                                    .precision = model.precision(),
                                                    .run = o.run});
    for (Index t = 0; t < targets; ++t) parts->fold_coef(fold.train, f * targets + t) = part.dual_coef().col(t);
    parts->fold_intercept.row(f) = part.intercept().transpose();
    parts->residuals(fold.test, Eigen::all) = Y(fold.test, Eigen::all) - part.predict(X.subset(fold.test), o.run);
    for (const Index i : fold.test) parts->fold_of[static_cast<std::size_t>(i)] = f;
  }
  parts->summary.folds = k;
  return parts;
}

}  // namespace

Matrix leave_one_out_residuals(const Matrix& coef, const Vector& scale, const Vector& inverse_diagonal) {
  Matrix out(coef.rows(), coef.cols());
  for (Index i = 0; i < coef.rows(); ++i) {
    const double weight = scale[i] * scale[i];
    out.row(i) = coef.row(i) / (weight > 0 ? weight * inverse_diagonal[i] : std::nan(""));
  }
  return out;
}

KernelRidgeModel add_intervals(const KernelRidgeModel& model, const Samples& rows, const MatrixRef& Y, const IntervalOptions& options) {
  const auto start = Clock::now();
  const Samples X = as_given(model.kernel(), rows);
  require_matching(X, Y);
  const Index n = X.size();
  if (n != model.samples().size() || Y.cols() != model.n_targets())
    throw InvalidArgument(fmt::format("the model was fitted on {} samples and {} targets, not on {} and {}", model.samples().size(),
                                      model.n_targets(), n, Y.cols()));
  const std::vector<Index> counted = weighted_samples(options.sample_weight, n);
  const auto many = std::ssize(counted);
  const IntervalMethod wanted = options.method.value_or(n <= largest_jackknife ? IntervalMethod::jackknife_plus : IntervalMethod::cv_plus);
  std::shared_ptr<IntervalParts> parts;
  std::string why;
  with_run(options.run, [&] {
    if (wanted == IntervalMethod::jackknife_plus && many > 1) {
      parts = jackknife(model, X, Y, options);
      if (!parts) why = ", because K + alpha I is not positive definite";
    } else if (!options.method) {
      why = fmt::format(", because there are more than {} samples", largest_jackknife);
    }
    if (many == 1) {  // nothing to learn from: both ends are infinite at every level
      parts = std::make_shared<IntervalParts>();
      parts->residuals = Matrix::Constant(n, Y.cols(), std::nan(""));
      parts->residuals.row(counted[0]).setZero();
      parts->scale = root_weights(options.sample_weight, n);
    } else if (!parts) {
      parts = cross_validation(model, X, Y, options);
      parts->summary.method = IntervalMethod::cv_plus;
    }
  });
  IntervalSummary& s = parts->summary;
  s.bytes = bytes_of(*parts);
  s.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const std::string kept = format_bytes(static_cast<double>(s.bytes));
  s.sentence = s.method == IntervalMethod::jackknife_plus
                   ? fmt::format("intervals: jackknife+ from {} leave-one-out residuals, {} kept, {:.2f} s", many, kept, s.seconds)
                   : fmt::format("intervals: CV+ with {} folds{}, {} kept, {:.2f} s", s.folds, why, kept, s.seconds);
  return model.with_intervals(std::move(parts));
}

}  // namespace mercer

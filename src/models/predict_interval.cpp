// Using the parts: predictions of all leave-one-out fits at new samples, and the two order statistics of each.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/inverse.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/kernel_ridge.hpp"
#include "models/interval_parts.hpp"

namespace mercer {

namespace {

constexpr Index rows_at_once = 256;

// Moves numbers about in `values`.
double order_statistic(std::vector<double>& values, Index place) {
  const auto n = static_cast<Index>(values.size());
  if (place < 0) return -std::numeric_limits<double>::infinity();
  if (place >= n) return std::numeric_limits<double>::infinity();
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

// out(j, t) from without(j, i), the predictions at new sample j of the fit without i, one target at a time.
void take_ends(const Matrix& without, const VectorRef& residuals, const std::vector<Index>& counted, double level, Index first,
               Index target, IntervalPrediction& out) {
  const Index n = std::ssize(counted);
  const Index up = upper_rank(n, level);
  parallel_for(without.rows(), [&](Index j) {
    std::vector<double> values(static_cast<std::size_t>(n));
    const auto fill = [&](double sign) {
      std::transform(counted.begin(), counted.end(), values.begin(),
                     [&](Index i) { return without(j, i) + sign * std::abs(residuals[i]); });
    };
    fill(1);
    out.upper(first + j, target) = order_statistic(values, up);
    fill(-1);
    out.lower(first + j, target) = order_statistic(values, n - 1 - up);
  });
}

// K: new samples x training samples.
void jackknife_ends(const IntervalParts& parts, const std::vector<Index>& counted, const Matrix& K, double level, Index first,
                    IntervalPrediction& out) {
  const Matrix right = parts.scale.asDiagonal() * K.transpose();  // n x new
  for (const JackknifeGroup& group : parts.groups) {
    Matrix u = linalg::symmetric_multiply(group.inverse, right);
    if (group.border.size() > 0) {
      const Vector t = (right.transpose() * group.border).array() - 1;
      u -= group.border * t.transpose() / parts.scale.dot(group.border);
    }
    for (const Index target : group.targets) {
      const Vector step = parts.scale.cwiseProduct(parts.residuals.col(target));
      Matrix without = -(step.asDiagonal() * u).transpose();
      without.colwise() += Vector(out.prediction.col(target).segment(first, K.rows()));
      take_ends(without, parts.residuals.col(target), counted, level, first, target, out);
    }
  }
}

void fold_ends(const IntervalParts& parts, const std::vector<Index>& counted, const Matrix& K, double level, Index first,
               IntervalPrediction& out) {
  const Index targets = parts.residuals.cols();
  const Index n = parts.residuals.rows();
  const Matrix f = K * parts.fold_coef;
  for (Index t = 0; t < targets; ++t) {
    Matrix without(K.rows(), n);
    for (Index i = 0; i < n; ++i) {
      const Index fold = parts.fold_of[static_cast<std::size_t>(i)];
      without.col(i) = f.col(fold * targets + t).array() + parts.fold_intercept(fold, t);
    }
    take_ends(without, parts.residuals.col(t), counted, level, first, t, out);
  }
}

}  // namespace

std::size_t bytes_of(const IntervalParts& parts) {
  std::size_t numbers = static_cast<std::size_t>(parts.residuals.size() + parts.scale.size() + parts.fold_coef.size() +
                                                 parts.fold_intercept.size() + static_cast<Index>(parts.fold_of.size()));
  for (const JackknifeGroup& group : parts.groups) {
    numbers += linalg::SymmetricTiles<double>::numbers(group.inverse.size()) + static_cast<std::size_t>(group.border.size());
  }
  return numbers * sizeof(double);
}

void check_parts(const IntervalParts& parts, Index n, Index targets) {
  const bool jackknife = parts.summary.method == IntervalMethod::jackknife_plus;
  bool good = parts.residuals.rows() == n && parts.residuals.cols() == targets;
  if (jackknife) {
    std::vector<Index> seen(static_cast<std::size_t>(targets), 0);
    good = good && parts.scale.size() == n;
    for (const JackknifeGroup& group : parts.groups) {
      good = good && group.inverse.size() == n && (group.border.size() == 0 || group.border.size() == n);
      for (const Index t : group.targets) {
        good = good && t >= 0 && t < targets;
        if (good) ++seen[static_cast<std::size_t>(t)];
      }
    }
    good = good && (parts.groups.empty() || std::all_of(seen.begin(), seen.end(), [](Index count) { return count == 1; }));
  } else {
    const Index folds = parts.fold_intercept.rows();
    good = good && parts.fold_intercept.cols() == targets && parts.fold_coef.rows() == n && parts.fold_coef.cols() == folds * targets &&
           static_cast<Index>(parts.fold_of.size()) == n &&
           std::all_of(parts.fold_of.begin(), parts.fold_of.end(), [&](Index f) { return f >= 0 && f < folds; });
  }
  if (!good)
    throw InvalidArgument(fmt::format("the parts of prediction intervals do not fit a model of {} samples, {} targets", n, targets));
}

std::vector<Index> counted_samples(const IntervalParts& parts) {
  std::vector<Index> out;
  for (Index i = 0; i < parts.residuals.rows(); ++i) {
    if (!std::isnan(parts.residuals(i, 0))) out.push_back(i);
  }
  return out;
}

Index upper_rank(Index n, double level) {
  // 0.9 * 10 may come out a little above 9, where 9 is meant.
  const double place = std::ceil(level * static_cast<double>(n + 1) - 1e-9);
  return std::min(n, static_cast<Index>(place) - 1);
}

const IntervalSummary& KernelRidgeModel::interval_summary() const {
  if (!intervals_) throw InvalidArgument("this model was fitted without prediction intervals; fit it with intervals");
  return intervals_->summary;
}

KernelRidgeModel KernelRidgeModel::with_intervals(std::shared_ptr<const IntervalParts> parts) const {
  if (parts) check_parts(*parts, samples_.size(), n_targets());
  KernelRidgeModel model = *this;
  model.intervals_ = std::move(parts);
  return model;
}

IntervalPrediction KernelRidgeModel::predict_interval(const Samples& X, double level, const Run& run) const {
  if (!intervals_) throw InvalidArgument("this model was fitted without prediction intervals; fit it with intervals");
  if (!(level > 0 && level < 1)) throw InvalidArgument(fmt::format("the level of an interval must lie between 0 and 1, got {}", level));
  IntervalPrediction out{predict(X, run), {}, {}};
  out.lower = Matrix::Constant(out.prediction.rows(), out.prediction.cols(), -std::numeric_limits<double>::infinity());
  out.upper = -out.lower;
  const Index n = samples_.size();
  const std::vector<Index> counted = counted_samples(*intervals_);
  if (X.empty() || upper_rank(std::ssize(counted), level) >= std::ssize(counted))
    return out;  // too few samples for this level: both ends are infinite
  require_memory(static_cast<std::size_t>(5 * rows_at_once * n) * sizeof(double), run.memory,
                 fmt::format("intervals from {} training samples", n), "raise the memory budget");
  Stage stage(run.progress, "intervals", static_cast<double>(X.size()));
  with_run(run, [&] {
    const Samples seen = as_given(kernel_, X, samples_);
    for (Index first = 0; first < X.size(); first += rows_at_once) {
      const Index count = std::min(rows_at_once, X.size() - first);
      const Matrix K = gram(kernel_, as_new(kernel_, seen.slice(first, count), samples_), samples_, {.precision = Precision::float64});
      if (intervals_->summary.method == IntervalMethod::jackknife_plus) {
        jackknife_ends(*intervals_, counted, K, level, first, out);
      } else {
        fold_ends(*intervals_, counted, K, level, first, out);
      }
      stage.advance(static_cast<double>(count));
    }
  });
  return out;
}

}  // namespace mercer

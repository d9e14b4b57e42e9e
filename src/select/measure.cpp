// SPDX-License-Identifier: BSD-3-Clause
#include "select/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/labels.hpp"
#include "mercer/metrics.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

constexpr Index bootstraps = 1000;

std::pair<double, double> rmse_interval(const Vector& truth, const Vector& predicted, std::uint64_t seed) {
  const Vector squares = (truth - predicted).cwiseAbs2();
  RandomStream random(seed, 2);
  std::vector<double> drawn(bootstraps);
  for (double& value : drawn) {
    double sum = 0;
    for (Index i = 0; i < squares.size(); ++i) sum += squares[random.below(squares.size())];
    value = std::sqrt(sum / static_cast<double>(squares.size()));
  }
  std::sort(drawn.begin(), drawn.end());
  return {drawn[bootstraps * 25 / 1000], drawn[bootstraps * 975 / 1000 - 1]};
}

// The same model with its constant less by `threshold`.
struct Lower {
  double threshold;
  Vector lower(const Vector& intercept) const { return intercept.array() - threshold; }

  AnyModel operator()(const SvcModel& m) const {
    SvcModel::Parts parts{.expansion = m.parts(),
                          .n_support = m.n_support(),
                          .multi_class = m.multi_class(),
                          .break_ties = m.break_ties(),
                          .squared_norm = m.squared_norm(),
                          .sigmoids = m.sigmoids(),
                          .summary = m.summary(),
                          .setting = m.setting()};
    parts.expansion.intercept = lower(m.intercept());
    return SvcModel::from_parts(std::move(parts));
  }
  AnyModel operator()(const LinearSvcModel& m) const {
    return LinearSvcModel::from_parts(m.coef(), lower(m.intercept()), m.loss(), m.C(), m.summary());
  }
  AnyModel operator()(const KernelLogisticModel& m) const {
    return KernelLogisticModel::from_parts(m.kernel(), m.samples(), m.dual_coef(), lower(m.intercept()), m.lambda(), m.summary());
  }
  AnyModel operator()(const KernelRidgeModel& m) const {
    return KernelRidgeModel::from_parts(m.kernel(), m.samples(), m.dual_coef(), lower(m.intercept()), m.alpha(), m.precision(),
                                        m.summary());
  }
  AnyModel operator()(const FalkonModel& m) const {
    return FalkonModel::from_parts(m.kernel(), m.landmarks(), m.landmark_rows(), m.dual_coef(), lower(m.intercept()), m.alpha(),
                                   m.precision(), m.summary());
  }
  AnyModel operator()(const RidgeModel& m) const {
    return RidgeModel::from_parts(m.coef(), lower(m.intercept()), m.degree(), m.n_features(), m.summary());
  }
  template <class Model>
  AnyModel operator()(const Model&) const {
    throw InvalidArgument("this model has no constant that an operating point could move; choose svc, linear-svc, logistic, krr or falkon");
  }
};

}  // namespace

Evaluation evaluate(const Vector& truth, const Vector& predicted, const Problem& problem, std::uint64_t seed) {
  Evaluation e;
  e.n = truth.size();
  if (!problem.classification()) {
    e.rmse = root_mean_squared_error(truth, predicted);
    e.r2 = r2_score(truth, predicted);
    e.mae = mean_absolute_error(truth, predicted);
    std::tie(e.ci_low, e.ci_high) = rmse_interval(truth, predicted, seed);
    return e;
  }
  const auto t = class_indices(truth);
  const auto p = class_indices(predicted);
  e.accuracy = accuracy(t, p);
  std::tie(e.precision, e.recall) = precision_and_recall(t, p, problem.n_classes());
  std::tie(e.ci_low, e.ci_high) = proportion_interval(static_cast<Index>(std::lround(e.accuracy * static_cast<double>(e.n))), e.n);
  return e;
}

double naive_answer(const Problem& train) {
  if (!train.classification()) return train.y.mean();
  Vector counts = Vector::Zero(train.n_classes());
  for (const double c : train.y) counts[static_cast<Index>(c)] += 1;
  Index most = 0;
  counts.maxCoeff(&most);
  return static_cast<double>(most);
}

ThresholdCurve threshold_curve(const Vector& truth, const Vector& scores) {
  std::vector<Index> order;
  for (Index i = 0; i < scores.size(); ++i) {
    if (std::isfinite(scores[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return scores[a] > scores[b]; });
  double positives = 0;
  for (const Index i : order) positives += truth[i];
  const double negatives = static_cast<double>(order.size()) - positives;
  ThresholdCurve curve;
  if (positives == 0 || negatives == 0) return curve;  // nothing to trade
  std::vector<double> threshold, precision, recall, false_positive;
  double yes = 0, right = 0, recall_before = 0, fpr_before = 0;
  for (std::size_t r = 0; r < order.size(); ++r) {
    ++yes;
    right += truth[order[r]];
    if (r + 1 < order.size() && scores[order[r + 1]] == scores[order[r]]) continue;  // equal scores go together
    threshold.push_back(scores[order[r]]);
    precision.push_back(right / yes);
    recall.push_back(right / positives);
    false_positive.push_back((yes - right) / negatives);
    curve.average_precision += (recall.back() - recall_before) * precision.back();
    curve.area_roc += (false_positive.back() - fpr_before) * (recall.back() + recall_before) / 2;
    recall_before = recall.back();
    fpr_before = false_positive.back();
  }
  const auto vector_of = [](const std::vector<double>& values) {
    return Vector(Eigen::Map<const Vector>(values.data(), std::ssize(values)));
  };
  curve.threshold = vector_of(threshold);
  curve.precision = vector_of(precision);
  curve.recall = vector_of(recall);
  curve.false_positive_rate = vector_of(false_positive);
  return curve;
}

ChosenPoint choose_operating_point(const ThresholdCurve& curve, const Vector& truth, const Vector& scores, double wanted) {
  ChosenPoint out;
  OperatingPoint& point = out.point;
  point.wanted = wanted;
  double positives = 0;
  for (Index i = 0; i < truth.size(); ++i) positives += std::isfinite(scores[i]) ? truth[i] : 0;
  Index chosen = -1, best = 0;
  double best_guarded = -1;
  for (Index i = 0; i < curve.threshold.size(); ++i) {
    const double right = curve.recall[i] * positives;
    const double guarded = right / (right / std::max(curve.precision[i], 1e-300) + 1);
    if (guarded >= wanted) chosen = i;  // recall grows along the curve: the last one has most
    if (guarded > best_guarded) {
      best = i;
      best_guarded = guarded;
    }
  }
  const Index i = chosen >= 0 ? chosen : best;
  out.reached = chosen >= 0;
  point.fold_precision = curve.precision[i];
  point.fold_recall = curve.recall[i];
  // Between this score and the next one below, so that rows on it say yes.
  point.threshold = i + 1 < curve.threshold.size() ? (curve.threshold[i] + curve.threshold[i + 1]) / 2
                                                   : std::nextafter(curve.threshold[i], -std::numeric_limits<double>::infinity());
  return out;
}

std::vector<OperatingPoint> precision_trade(const ThresholdCurve& curve, const Vector& truth, const Vector& scores,
                                            const Vector& test_truth, const Vector& test_scores) {
  std::vector<OperatingPoint> trade;
  for (const double wanted : {0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99}) {
    OperatingPoint point = choose_operating_point(curve, truth, scores, wanted).point;
    // A precision that is had by saying yes everywhere costs nothing and says nothing.
    if (point.fold_precision < wanted || point.fold_recall == 1) continue;
    Index yes = 0, right = 0, agree = 0;
    for (Index i = 0; i < test_truth.size(); ++i) {
      const bool says = test_scores[i] > point.threshold;
      yes += says ? 1 : 0;
      right += says && test_truth[i] > 0 ? 1 : 0;
      agree += says == (test_truth[i] > 0) ? 1 : 0;
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double positives = test_truth.sum();
    point.precision = yes > 0 ? static_cast<double>(right) / static_cast<double>(yes) : nan;
    point.recall = positives > 0 ? static_cast<double>(right) / positives : nan;
    point.accuracy = static_cast<double>(agree) / static_cast<double>(test_truth.size());
    point.precision_low = point.precision_high = nan;
    if (yes > 0) std::tie(point.precision_low, point.precision_high) = proportion_interval(right, yes);
    trade.push_back(point);
  }
  return trade;
}

AnyModel with_threshold(const AnyModel& model, double threshold) { return std::visit(Lower{threshold}, model); }

double interval_half_width(const Vector& residuals, double level) {
  std::vector<double> sizes;
  for (const double r : residuals) {
    if (std::isfinite(r)) sizes.push_back(std::abs(r));
  }
  if (sizes.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(sizes.begin(), sizes.end());
  // The ceil(level (n + 1))-th smallest, as split conformal prediction has it.
  const auto rank = static_cast<std::size_t>(std::ceil(level * static_cast<double>(sizes.size() + 1)));
  return sizes[std::min(rank, sizes.size()) - 1];
}

}  // namespace mercer

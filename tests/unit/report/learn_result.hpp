// Learn results made by hand, with every field known.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "mercer/learn.hpp"

namespace mercer::testing {

// A deterministic stand-in for noise in [-1, 1].
inline double wobble(Index i) { return std::sin(12.9898 * static_cast<double>(i)) * std::cos(4.1414 * static_cast<double>(i * i % 97)); }

inline SavedModel small_krr(const std::string& target, const std::vector<std::string>& features, Task task,
                            std::vector<std::string> classes = {}) {
  const auto width = static_cast<Index>(features.size());
  SolveSummary summary;
  summary.method = "Cholesky";
  summary.sentence = "solved: Cholesky of 3 x 3, residual 1e-16, 0.1 kB, 0.01 s";
  Encoder encoder;
  for (const std::string& name : features) encoder.features.push_back({.name = name, .categories = {}, .fill = 0});
  encoder.width = width;
  encoder.target = target;
  encoder.task = task;
  encoder.classes = std::move(classes);
  return {.model = KernelRidgeModel::from_parts(kernels::gaussian(0.5), Samples::own(Matrix(Matrix::Identity(3, width))),
                                                Matrix(Matrix::Ones(3, 1)), Vector(Vector::Zero(1)), Vector(Vector::Constant(1, 0.01)),
                                                Precision::float64, summary),
          .encoder = encoder};
}

inline std::vector<Candidate> candidate_grid(bool error) {
  std::vector<Candidate> out;
  for (const double l : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {
    for (const double alpha : {1e-4, 1e-3, 1e-2, 0.1, 1.0}) {
      const double loss = 0.2 + 0.05 * std::pow(std::log2(l / 0.5), 2) + 0.01 * std::pow(std::log10(alpha / 0.01), 2);
      out.push_back({.model = "krr",
                     .kernel = "gaussian(" + std::to_string(l).substr(0, 5) + ")",
                     .penalty = "alpha",
                     .value = alpha,
                     .score = error ? loss : 1 - loss / 2,
                     .deviation = 0.02,
                     .judged_by = "5 folds"});
    }
  }
  for (const double alpha : {1e-3, 1e-2, 0.1, 1.0, 10.0}) {
    out.push_back({.model = "ridge",
                   .kernel = "",
                   .penalty = "alpha",
                   .value = alpha,
                   .score = (error ? 0.71 : 0.62) + 0.002 * alpha,
                   .deviation = 0.03,
                   .judged_by = "5 folds",
                   .reference = true});
  }
  std::stable_sort(out.begin(), out.end(),
                   [&](const Candidate& a, const Candidate& b) { return error ? a.score < b.score : a.score > b.score; });
  return out;
}

inline LearnResult regression_result() {
  LearnResult r{.model = small_krr("y", {"x"}, Task::regression)};
  r.n_train = 280;
  r.n_search = 280;
  r.folds = 5;
  r.seed = 7;
  r.holdout = 0.3;
  r.seconds = 1.234;
  r.peak_bytes = 123456789;
  r.verdict =
      "Kernel ridge regression explains 92 % of the variance of y on 120 held-out rows. Its RMSE, 0.213, is 3.4 times smaller than a "
      "straight line's.";
  r.split = "30 % of the rows at random";
  r.budget_seconds = 120;
  r.stages = {{"search", 1.1}, {"final fit", 0.1}, {"measuring", 0.034}};
  r.columns = {{.name = "x", .kind = "number", .missing = 2, .mean = 4.9, .deviation = 2.8, .least = 0.01, .largest = 9.99},
               {.name = "y", .kind = "number", .mean = 0.1, .deviation = 0.7, .least = -1.4, .largest = 1.5},
               {.name = "id", .kind = "text", .distinct = 280, .most_frequent = "a1"}};
  r.notes = {"the target is column y, the last one", "the columns were scaled to mean 0 and deviation 1"};
  r.test = {.n = 120, .rmse = 0.213, .r2 = 0.921, .mae = 0.168, .ci_low = 0.191, .ci_high = 0.238};
  r.linear = {.n = 120, .rmse = 0.724, .r2 = 0.04, .mae = 0.61};
  r.baseline = {.n = 120, .rmse = 0.741, .r2 = -0.001, .mae = 0.633};
  r.candidates = candidate_grid(true);
  r.test_truth_and_predicted.resize(120, 2);
  for (Index i = 0; i < 120; ++i) {
    const double truth = std::sin(0.11 * static_cast<double>(i)) + 0.2 * wobble(i);
    r.test_truth_and_predicted(i, 0) = truth;
    r.test_truth_and_predicted(i, 1) = truth + 0.3 * wobble(3 * i + 1);
  }
  r.test_intervals.resize(120, 2);
  r.test_intervals << r.test_truth_and_predicted.col(1).array() - 0.27, r.test_truth_and_predicted.col(1).array() + 0.27;
  r.interval_level = 0.9;
  r.interval_coverage = 0.875;
  r.spectrum.resize(12);
  for (Index i = 0; i < 12; ++i) r.spectrum[i] = 0.6 * std::pow(0.4, static_cast<double>(i));
  r.spectrum_rows = 280;
  r.importance = {{"x", 0.5, 0.04}, {"z", -0.001, 0.002}};
  r.influential = {{.line = 17, .target = "0.93", .weight = 3.5, .influence = 0.02},
                   {.line = 4, .target = "-0.2", .weight = -1.25, .influence = 0.01}};
  r.curve.resize(200, 2);
  for (Index i = 0; i < 200; ++i) r.curve.row(i) << 0.05 * static_cast<double>(i), std::sin(0.05 * static_cast<double>(i));
  r.curve_points.resize(280, 2);
  for (Index i = 0; i < 280; ++i) {
    const double x = 10 * (0.5 + 0.5 * wobble(i));
    r.curve_points.row(i) << x, std::sin(x) + 0.25 * wobble(i + 1000);
  }
  return r;
}

inline LearnResult classification_result() {
  LearnResult r{.model = small_krr("species", {"length", "width", "colour"}, Task::classification, {"adelie", "chinstrap", "gentoo"})};
  r.model.encoder->features[2].categories = {"blue", "green", "red"};
  r.n_train = 240;
  r.n_search = 240;
  r.folds = 5;
  r.holdout = 0.3;
  r.seconds = 0.52;
  r.peak_bytes = 98765432;
  r.verdict = "Kernel ridge regression is right on 95.1 % of 103 held-out rows; always saying gentoo would be right on 43.7 %.";
  r.test = {.n = 103, .accuracy = 0.951, .precision = 0.948, .recall = 0.944, .ci_low = 0.89, .ci_high = 0.979};
  r.linear = {.n = 103, .accuracy = 0.903, .precision = 0.9, .recall = 0.89};
  r.baseline = {.n = 103, .accuracy = 0.437, .precision = 0.146, .recall = 0.333};
  r.candidates = candidate_grid(false);
  r.confusion.resize(3, 3);
  r.confusion << 36, 1, 0, 2, 18, 1, 0, 1, 44;
  return r;
}

// Two classes with scores, probabilities and an operating point. Row i is "yes" when its score, a wobble about +-1, is likely to be above
// 0.
inline LearnResult two_class_result() {
  LearnResult r{.model = small_krr("ill", {"age", "dose"}, Task::classification, {"no", "yes"})};
  r.n_train = 120;
  r.n_search = 120;
  r.folds = 5;
  r.holdout = 0.25;
  r.verdict = "Gaussian SVM: 90 % right on 40 held-out rows.";
  r.candidates = candidate_grid(false);
  for (Candidate& c : r.candidates) {
    if (c.model == "krr") c.model = "svc";
    if (c.model == "svc") c.penalty = "C";
  }
  constexpr Index n = 40;
  r.test_truth_and_predicted.resize(n, 2);
  r.test_scores.resize(n);
  r.test_probability.resize(n);
  r.confusion.setZero(2, 2);
  for (Index i = 0; i < n; ++i) {
    const Index truth = i % 2;
    const double score = (truth == 1 ? 1.0 : -1.0) + 1.4 * wobble(i);
    const Index said = score > 0 ? 1 : 0;
    r.test_truth_and_predicted.row(i) << static_cast<double>(truth), static_cast<double>(said);
    r.test_scores[i] = score;
    r.test_probability[i] = 1 / (1 + std::exp(-2 * score));
    ++r.confusion(truth, said);
    r.test_lines.push_back(100 + i);
  }
  r.class_counts = {70, 50};
  r.test = {.n = n, .accuracy = 0.9, .precision = 0.92, .recall = 0.88, .ci_low = 0.77, .ci_high = 0.96};
  r.linear = {.n = n, .accuracy = 0.8, .precision = 0.8, .recall = 0.8, .ci_low = 0.65, .ci_high = 0.9};
  r.baseline = {.n = n, .accuracy = 0.5, .precision = 0, .recall = 0, .ci_low = 0.35, .ci_high = 0.65};
  const auto curve = [](double shift) {
    ThresholdCurve c;
    c.threshold = Vector::LinSpaced(20, 2, -2);
    c.recall = Vector::LinSpaced(20, 0.05, 1);
    c.false_positive_rate = c.recall.array().pow(4);
    c.precision = Vector::LinSpaced(20, 1, 0.5);
    c.area_roc = 0.95 - shift;
    c.average_precision = 0.9 - shift;
    return c;
  };
  r.test_curve = curve(0);
  r.fold_curve = curve(0.02);
  r.operating_point =
      OperatingPoint{.wanted = 0.95, .threshold = 0.3, .fold_precision = 0.96, .fold_recall = 0.7, .precision = 0.92, .recall = 0.88};
  const double nan = std::nan("");
  r.trade = {{.wanted = 0.9,
              .threshold = 0.1,
              .fold_precision = 0.91,
              .fold_recall = 0.8,
              .precision = 0.89,
              .recall = 0.82,
              .accuracy = 0.9,
              .precision_low = 0.7,
              .precision_high = 0.95},
             {.wanted = 0.99,
              .threshold = 1.9,
              .fold_precision = 1,
              .fold_recall = 0.1,
              .precision = nan,
              .recall = 0,
              .accuracy = 0.5,
              .precision_low = nan,
              .precision_high = nan}};
  r.surface.resize(9, 3);
  r.surface_score.resize(9);
  for (Index i = 0; i < 9; ++i) {
    const auto x = static_cast<double>(i % 3), y = static_cast<double>(i / 3);
    r.surface_score[i] = x - y;
    r.surface.row(i) << x, 10 * y, r.surface_score[i] > 0 ? 1.0 : 0.0;
  }
  r.surface_points = Matrix::Constant(5, 3, 1.0);
  r.surface_names = {"age", "dose"};
  return r;
}

}  // namespace mercer::testing

// How good predicted classes are: which are taken for which, what a threshold trades, and whether probabilities mean what they say.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mercer/metrics.hpp"
#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/learn_charts.hpp"

namespace mercer::report {

namespace {

using nlohmann::json;

constexpr Index most_curve_points = 400;
constexpr Index probability_bins = 10;
constexpr Index roomy = 6;  // up to so many classes, cells have room for two lines
constexpr const char* of_test = "held-out rows";
constexpr const char* of_folds = "training rows, out of fold";

json confusion_axis(const char* field, const std::string& title, const json& order) {
  const json axis = {{"labelAngle", 0}, {"labelLimit", 130}, {"domain", false}, {"ticks", false}};
  return {{"field", field}, {"type", "nominal"}, {"title", clean_text(title)}, {"sort", order}, {"axis", axis}};
}

json cell_text(const char* field, double size, int weight, int shift) {
  return {{"mark", {{"type", "text"}, {"fontSize", size}, {"fontWeight", weight}, {"dy", shift}, {"tooltip", nullptr}}},
          {"encoding",
           {{"text", {{"field", field}, {"type", "nominal"}}},
            {"color", {{"condition", {{"test", "datum.ink > 0.7"}, {"value", "var(--on-accent)"}}}, {"value", "var(--ink)"}}}}}};
}

Chart confusion_chart(const LearnResult& result) {
  const Eigen::MatrixXi& counts = result.confusion;
  const Index n = counts.rows();
  json cells = json::array();
  for (Index i = 0; i < n; ++i) {
    const int row_total = counts.row(i).sum();
    for (Index j = 0; j < n; ++j) {
      const double share = row_total > 0 ? counts(i, j) / static_cast<double>(row_total) : 0;
      cells.push_back({{"t", class_name(result, i)},
                       {"p", class_name(result, j)},
                       {"n", counts(i, j)},
                       {"share", share},
                       {"label", percent(share)},
                       {"ink", 0.05 + 0.9 * share}});
    }
  }
  json spec = chart_base(static_cast<int>(std::clamp<Index>(n * 64, 160, n > 8 ? n * 34 : 330)));
  spec["data"] = {{"values", cells}};
  const json order = class_names(result);
  spec["encoding"] = {{"x", confusion_axis("p", "predicted", order)}, {"y", confusion_axis("t", "true " + target_name(result), order)}};
  if (n > 8) spec["encoding"]["x"]["axis"]["labelAngle"] = -40;
  const json tips = {text_tip("t", "true"), text_tip("p", "predicted"), tooltip("n", "rows"), share_tip("share", "of this true class")};
  spec["layer"] = {
      {{"mark", {{"type", "rect"}, {"color", "var(--accent)"}, {"stroke", "var(--paper)"}, {"strokeWidth", 2}}},
       {"encoding",
        {{"opacity", {{"field", "ink"}, {"type", "quantitative"}, {"scale", nullptr}, {"legend", nullptr}}}, {"tooltip", tips}}}},
      cell_text("n", n > 8 ? 11 : 15, 600, n <= roomy ? -8 : 0)};
  if (n <= roomy) spec["layer"].push_back(cell_text("label", 11.5, 400, 10));
  return {.title = "Confusion matrix",
          .description = fmt::format(
              "{} held-out rows: each row of the matrix is a true class, each column what was predicted; {} lie on the diagonal, correct. "
              "Shading is the share within the true class.",
              count_text(counts.sum()), count_text(counts.diagonal().sum())),
          .spec = spec};
}

bool two_scored_classes(const LearnResult& r) {
  return r.confusion.rows() == 2 && r.test_scores.size() > 0 && r.test_scores.size() == r.test_truth_and_predicted.rows() &&
         r.test_scores.allFinite();
}

Chart score_chart(const LearnResult& r) {
  const Vector truth = r.test_truth_and_predicted.col(0);
  const Range range = padded_range(std::min(0.0, r.test_scores.minCoeff()), std::max(0.0, r.test_scores.maxCoeff()));
  json bars = json::array();
  for (const Index c : {Index{0}, Index{1}}) {
    Vector scores(truth.size());
    Index n = 0;
    for (Index i = 0; i < truth.size(); ++i) {
      if (truth[i] == static_cast<double>(c)) scores[n++] = r.test_scores[i];
    }
    for (json& bar : histogram(scores.head(n), range, bins_for(truth.size(), 12))) {
      bar["w"] = class_name(r, c);
      bars.push_back(bar);
    }
  }
  json spec = chart_base(330);
  json tips = {text_tip("w", target_name(r)), tooltip("a", "from"), tooltip("b", "to"), tooltip("n", "rows")};
  spec["layer"] = {{{"data", {{"values", bars}}},
                    {"mark", {{"type", "rect"}, {"opacity", 0.5}}},
                    {"encoding",
                     {{"x", axis_of("a", "score of " + class_name(r, 1), range)},
                      {"x2", {{"field", "b"}}},
                      {"y", {{"field", "n"}, {"type", "quantitative"}, {"title", of_test}, {"axis", {{"tickMinStep", 1}}}}},
                      {"y2", {{"datum", 0}}},
                      {"color", class_color(r, "w")},
                      {"tooltip", tips}}}},
                   {{"data", {{"values", json::array({{{"zero", 0}}})}}},
                    {"mark", {{"type", "rule"}, {"color", "var(--ink)"}, {"strokeDash", {5, 4}}}},
                    {"encoding", {{"x", {{"field", "zero"}, {"type", "quantitative"}}}}}}};
  return {.title = "Scores",
          .description = fmt::format("The score of {} on {} held-out rows, by true class; right of the dashed line the model says {}.",
                                     class_name(r, 1), count_text(truth.size()), class_name(r, 1)),
          .spec = spec};
}

// A curve over thresholds, thinned evenly; its ends stay.
void add_curve(json& points, const ThresholdCurve& curve, const Vector& x, const Vector& y, double first_x, double first_y,
               const char* name) {
  const Index n = curve.threshold.size();
  if (n == 0) return;
  points.push_back({{"x", first_x}, {"y", first_y}, {"v", "above all"}, {"w", name}});
  const Index stride = std::max<Index>(1, (n + most_curve_points - 1) / most_curve_points);
  for (Index i = 0; i < n; ++i) {
    if (i % stride == 0 || i + 1 == n) points.push_back({{"x", x[i]}, {"y", y[i]}, {"v", number_text(curve.threshold[i])}, {"w", name}});
  }
}

json curve_layer(const json& points, const char* x, const char* y, const char* interpolate) {
  const json color = {{"field", "w"},
                      {"type", "nominal"},
                      {"title", nullptr},
                      {"legend", {{"orient", "bottom"}, {"labelLimit", 260}}},
                      {"scale", {{"domain", {of_test, of_folds}}, {"range", {"var(--accent)", "var(--third)"}}}}};
  return {
      {"data", {{"values", points}}},
      {"mark", {{"type", "line"}, {"interpolate", interpolate}, {"point", {{"size", 60}, {"opacity", 0}}}}},
      {"encoding", {{"color", color}, {"tooltip", {text_tip("w", "on"), tooltip("x", x), tooltip("y", y), text_tip("v", "threshold")}}}}};
}

// Where the model itself stands.
json stand_layer(double x, double y, const char* x_name, const char* y_name, const std::string& name) {
  return {{"data", {{"values", {{{"x", x}, {"y", y}, {"w", clean_text(name)}}}}}},
          {"mark", {{"type", "point"}, {"shape", "diamond"}, {"size", 150}, {"color", "var(--second)"}, {"opacity", 1}}},
          {"encoding", {{"tooltip", {text_tip("w", "here"), tooltip("x", x_name), tooltip("y", y_name)}}}}};
}

struct Standing {
  double rate = 0, recall = 0, precision = 0;
};

Standing standing_of(const Eigen::MatrixXi& m) {
  const auto share = [](int part, int whole) { return whole > 0 ? static_cast<double>(part) / whole : std::nan(""); };
  return {share(m(0, 1), m.row(0).sum()), share(m(1, 1), m.row(1).sum()), share(m(1, 1), m.col(1).sum())};
}

std::string folds_text(const ThresholdCurve& folds, double area) {
  return folds.threshold.size() > 0 ? fmt::format(", {} on training rows out of fold", fixed_text(area)) : "";
}

Chart roc_chart(const LearnResult& r) {
  json points = json::array();
  add_curve(points, r.test_curve, r.test_curve.false_positive_rate, r.test_curve.recall, 0, 0, of_test);
  add_curve(points, r.fold_curve, r.fold_curve.false_positive_rate, r.fold_curve.recall, 0, 0, of_folds);
  const std::string x = "share of the others called " + class_name(r, 1);
  const char* y = "share found (recall)";
  json spec = chart_base(330);
  spec["encoding"] = {{"x", axis_of("x", x, {0, 1})}, {"y", axis_of("y", y, {0, 1})}};
  spec["layer"] = {guide_line("x", "y", 0, 0, 1, 1), curve_layer(points, "of the others", "found", "linear")};
  const Standing at = standing_of(r.confusion);
  if (std::isfinite(at.rate) && std::isfinite(at.recall))
    spec["layer"].push_back(stand_layer(at.rate, at.recall, "of the others", "found", "the model as it is"));
  return {.title = "ROC curve",
          .description = fmt::format("What lower and lower thresholds find, and what they call {} wrongly; guessing gives the dashed line. "
                                     "Area {}{}. The diamond is the model as it is.",
                                     class_name(r, 1), fixed_text(r.test_curve.area_roc), folds_text(r.fold_curve, r.fold_curve.area_roc)),
          .spec = spec};
}

Chart precision_chart(const LearnResult& r) {
  json points = json::array();
  for (const auto& [curve, name] : {std::pair{&r.test_curve, of_test}, std::pair{&r.fold_curve, of_folds}}) {
    if (curve->threshold.size() > 0) add_curve(points, *curve, curve->recall, curve->precision, 0, curve->precision[0], name);
  }
  const double share = static_cast<double>(r.confusion.row(1).sum()) / static_cast<double>(std::max(1, r.confusion.sum()));
  json spec = chart_base(330);
  spec["encoding"] = {{"x", axis_of("x", "share found (recall)", {0, 1})}, {"y", axis_of("y", "share right (precision)", {0, 1})}};
  spec["layer"] = {guide_line("x", "y", 0, share, 1, share), curve_layer(points, "found", "right", "step-before")};
  const Standing at = standing_of(r.confusion);
  if (std::isfinite(at.precision) && std::isfinite(at.recall))
    spec["layer"].push_back(stand_layer(at.recall, at.precision, "found", "right", "the model as it is"));
  std::string chosen;
  if (r.operating_point) {
    const OperatingPoint& point = *r.operating_point;
    spec["layer"].push_back(stand_layer(point.fold_recall, point.fold_precision, "found", "right", "chosen in the folds"));
    spec["layer"].back()["mark"].update({{"filled", false}, {"strokeWidth", 2}});
    chosen = fmt::format(", the hollow one where the folds chose it for a precision of {}", percent(point.wanted));
  }
  return {
      .title = "Precision and recall",
      .description = fmt::format("Of what is called {}, how much is so, against how many of them are found; saying it of every row gives "
                                 "the dashed line. Average precision {}{}. The diamond is the model as it is{}.",
                                 class_name(r, 1), fixed_text(r.test_curve.average_precision),
                                 folds_text(r.fold_curve, r.fold_curve.average_precision), chosen),
      .spec = spec};
}

Chart calibration_chart(const LearnResult& r) {
  const Vector truth = r.test_truth_and_predicted.col(0);
  Vector sum = Vector::Zero(probability_bins);
  std::vector<Index> count(probability_bins, 0), right(probability_bins, 0);
  for (Index i = 0; i < truth.size(); ++i) {
    const double p = r.test_probability[i];
    const auto bin = static_cast<std::size_t>(std::clamp<Index>(static_cast<Index>(p * probability_bins), 0, probability_bins - 1));
    sum[static_cast<Index>(bin)] += p;
    ++count[bin];
    right[bin] += truth[i] > 0 ? 1 : 0;
  }
  json points = json::array();
  for (std::size_t b = 0; b < count.size(); ++b) {
    if (count[b] == 0) continue;
    const auto n = static_cast<double>(count[b]);
    const auto [low, high] = proportion_interval(right[b], count[b]);
    points.push_back(
        {{"x", sum[static_cast<Index>(b)] / n}, {"y", static_cast<double>(right[b]) / n}, {"low", low}, {"high", high}, {"n", count[b]}});
  }
  const double brier = (r.test_probability - truth).squaredNorm() / static_cast<double>(truth.size());
  const json tips = {tooltip("x", "mean probability"), tooltip("y", "share that is so"), tooltip("low", "95 %: from"),
                     tooltip("high", "to"), tooltip("n", "rows")};
  json spec = chart_base(330);
  spec["encoding"] = {{"x", axis_of("x", "probability of " + class_name(r, 1), {0, 1})}, {"y", axis_of("y", "share that is so", {0, 1})}};
  json y_low = {{"field", "low"}, {"type", "quantitative"}};
  spec["layer"] = {
      guide_line("x", "y", 0, 0, 1, 1),
      {{"data", {{"values", points}}},
       {"mark", {{"type", "rule"}, {"color", "var(--accent)"}, {"opacity", 0.45}, {"strokeWidth", 2}, {"tooltip", nullptr}}},
       {"encoding", {{"y", y_low}, {"y2", {{"field", "high"}}}}}},
      {{"data", {{"values", points}}},
       {"mark", {{"type", "point"}, {"opacity", 1}}},
       {"encoding",
        {{"size", {{"field", "n"}, {"type", "quantitative"}, {"title", "rows"}, {"scale", {{"range", {30, 320}}}}, {"legend", nullptr}}},
         {"tooltip", tips}}}},
      {{"data", {{"values", points}}},
       {"mark",
        {{"type", "text"}, {"align", "left"}, {"dx", 11}, {"dy", 9}, {"fontSize", 11}, {"color", "var(--ink-soft)"}, {"tooltip", nullptr}}},
       {"encoding", {{"text", {{"field", "n"}, {"type", "quantitative"}}}}}}};
  return {
      .title = "Calibration",
      .description = fmt::format("Held-out rows of like probability, their number beside them, with 95 % intervals: on the dashed line a "
                                 "probability means what it says. Brier score {}.",
                                 measure_text(brier)),
      .spec = spec};
}

}  // namespace

std::vector<Chart> class_charts(const LearnResult& r) {
  if (r.confusion.rows() == 0 || r.confusion.rows() != r.confusion.cols()) return {};
  std::vector<Chart> charts{confusion_chart(r)};
  if (two_scored_classes(r)) charts.push_back(score_chart(r));
  return charts;
}

std::vector<Chart> threshold_charts(const LearnResult& r) {
  if (r.confusion.rows() != 2 || r.confusion.cols() != 2) return {};
  std::vector<Chart> charts;
  if (r.test_curve.threshold.size() > 0) charts = {roc_chart(r), precision_chart(r)};
  const bool probable = r.test_probability.size() > 0 && r.test_probability.size() == r.test_truth_and_predicted.rows();
  if (probable && r.test_probability.allFinite()) charts.push_back(calibration_chart(r));
  return charts;
}

}  // namespace mercer::report

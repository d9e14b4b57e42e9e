// How good predicted numbers are: against the truth, what is left over, and the intervals around them.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/learn_charts.hpp"

namespace mercer::report {

namespace {

using nlohmann::json;

constexpr Index most_whiskers = 300;  // more of them would be a grey cloud

bool has_intervals(const LearnResult& r) {
  return r.test_intervals.rows() == r.test_truth_and_predicted.rows() && r.test_intervals.cols() == 2 && r.test_intervals.allFinite();
}

bool outside(const LearnResult& r, Index i) {
  const double truth = r.test_truth_and_predicted(i, 0);
  return truth < r.test_intervals(i, 0) || truth > r.test_intervals(i, 1);
}

std::string level_text(const LearnResult& r) { return fmt::format("{:.3g} %", 100 * r.interval_level); }

// A held-out row: what it is, what was said of it, and between which ends.
json row_value(const LearnResult& r, Index i) {
  const double truth = r.test_truth_and_predicted(i, 0);
  const double predicted = r.test_truth_and_predicted(i, 1);
  json row = {{"t", truth}, {"p", predicted}, {"e", truth - predicted}, {"i", row_name(r, i)}};
  if (has_intervals(r)) row.update({{"l", r.test_intervals(i, 0)}, {"u", r.test_intervals(i, 1)}, {"out", outside(r, i)}});
  return row;
}

json row_tips(const LearnResult& r) {
  json tips = {row_tip(r), tooltip("t", "true"), tooltip("p", "predicted"), tooltip("e", "residual")};
  if (has_intervals(r)) {
    tips.push_back(tooltip("l", level_text(r) + " from"));
    tips.push_back(tooltip("u", "to"));
  }
  return tips;
}

// Rows outside their interval stand out.
json row_color(const LearnResult& r) {
  if (!has_intervals(r)) return {{"value", "var(--accent)"}};
  return {{"condition", {{"test", "datum.out"}, {"value", "var(--second)"}}}, {"value", "var(--accent)"}};
}

json row_values(const LearnResult& r, Index stride) {
  json rows = json::array();
  for (Index i = 0; i < r.test_truth_and_predicted.rows(); i += stride) rows.push_back(row_value(r, i));
  return rows;
}

std::string outside_text(const LearnResult& r) {
  return has_intervals(r) ? fmt::format(" Rows outside their {} interval are in the other colour.", level_text(r)) : "";
}

Chart scatter_chart(const LearnResult& r) {
  const Matrix& pairs = r.test_truth_and_predicted;
  const bool whiskers = has_intervals(r) && pairs.rows() <= most_whiskers;
  double low = pairs.minCoeff();
  double high = pairs.maxCoeff();
  if (whiskers) {
    low = std::min(low, r.test_intervals.minCoeff());
    high = std::max(high, r.test_intervals.maxCoeff());
  }
  const Range range = padded_range(low, high);
  json spec = chart_base(330);
  spec["encoding"] = {{"x", axis_of("t", "true " + target_name(r), range)}, {"y", axis_of("p", "predicted " + target_name(r), range)}};
  const json data = {{"values", row_values(r, stride_for(pairs.rows()))}};
  spec["layer"] = json::array({guide_line("t", "p", range.low, range.low, range.high, range.high)});
  if (whiskers) {
    spec["layer"].push_back({{"data", data},
                             {"mark", {{"type", "rule"}, {"opacity", 0.28}}},
                             {"encoding",
                              {{"y", {{"field", "l"}, {"type", "quantitative"}}},
                               {"y2", {{"field", "u"}}},
                               {"color", row_color(r)},
                               {"tooltip", row_tips(r)}}}});
  }
  spec["layer"].push_back({{"data", data},
                           {"mark", {{"type", "point"}, {"size", 30}, {"opacity", 0.55}}},
                           {"encoding", {{"color", row_color(r)}, {"tooltip", row_tips(r)}}}});
  return {.title = "Predicted against true",
          .description = fmt::format("{} held-out rows; on the dashed line the prediction is exact. RMSE {}, R² {}.{}{}",
                                     shown_of(pairs.rows()), measure_text(r.test.rmse), fixed_text(r.test.r2),
                                     whiskers ? fmt::format(" Whiskers: {} intervals.", level_text(r)) : "", outside_text(r)),
          .spec = spec};
}

Chart residual_chart(const LearnResult& r) {
  const Vector residuals = r.test_truth_and_predicted.col(0) - r.test_truth_and_predicted.col(1);
  const Range range = padded_range(residuals.minCoeff(), residuals.maxCoeff());
  json x = axis_of("a", "residual: true minus predicted", range);
  x["bin"] = "binned";
  json spec = chart_base(330);
  spec["layer"] = {{{"data", {{"values", histogram(residuals, range, bins_for(residuals.size()))}}},
                    {"mark", {{"type", "bar"}, {"opacity", 0.8}, {"binSpacing", 1}}},
                    {"encoding",
                     {{"x", x},
                      {"x2", {{"field", "b"}}},
                      {"y", {{"field", "n"}, {"type", "quantitative"}, {"title", "held-out rows"}, {"axis", {{"tickMinStep", 1}}}}},
                      {"tooltip", {tooltip("a", "from"), tooltip("b", "to"), tooltip("n", "rows")}}}}},
                   {{"data", {{"values", json::array({{{"zero", 0}}})}}},
                    {"mark", {{"type", "rule"}, {"color", "var(--ink)"}, {"strokeDash", {5, 4}}}},
                    {"encoding", {{"x", {{"field", "zero"}, {"type", "quantitative"}}}}}}};
  return {.title = "Residuals",
          .description = fmt::format(
              "How far off the predictions are, as a histogram over {} held-out rows. Mean residual {}, mean absolute error {}.",
              count_text(residuals.size()), number_text(residuals.mean(), 3), measure_text(r.test.mae)),
          .spec = spec};
}

Chart residual_against_prediction(const LearnResult& r) {
  const Matrix& pairs = r.test_truth_and_predicted;
  const Range range = padded_range(pairs.col(1).minCoeff(), pairs.col(1).maxCoeff());
  json spec = chart_base(330);
  spec["encoding"] = {{"x", axis_of("p", "predicted " + target_name(r), range)},
                      {"y", quantitative("e", "residual: true minus predicted")}};
  spec["layer"] = {guide_line("p", "e", range.low, 0, range.high, 0),
                   {{"data", {{"values", row_values(r, stride_for(pairs.rows()))}}},
                    {"mark", {{"type", "point"}, {"size", 30}, {"opacity", 0.55}}},
                    {"encoding", {{"color", row_color(r)}, {"tooltip", row_tips(r)}}}}};
  return {.title = "Residuals against predictions",
          .description = fmt::format("{} held-out rows; an even cloud about the dashed line means that nothing is left to learn.{}",
                                     shown_of(pairs.rows()), outside_text(r)),
          .spec = spec};
}

Chart interval_chart(const LearnResult& r) {
  const Vector predicted = r.test_truth_and_predicted.col(1);
  std::vector<Index> order(static_cast<std::size_t>(predicted.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return predicted[a] < predicted[b]; });
  json rows = json::array();
  const Index n = predicted.size();
  for (Index at = 0; at < n; at += stride_for(n)) {
    json row = row_value(r, order[static_cast<std::size_t>(at)]);
    row["at"] = at + 1;
    rows.push_back(std::move(row));
  }
  json spec = chart_base(330);
  spec["data"] = {{"values", rows}};
  spec["encoding"] = {{"x", axis_of("at", "held-out rows, by prediction", padded_range(1, static_cast<double>(n)))}};
  spec["layer"] = {{{"mark", {{"type", "area"}, {"opacity", 0.22}, {"color", "var(--accent)"}}},
                    {"encoding", {{"y", quantitative("l", target_name(r))}, {"y2", {{"field", "u"}}}}}},
                   {{"mark", {{"type", "line"}, {"strokeWidth", 1.5}}}, {"encoding", {{"y", quantitative("p", target_name(r))}}}},
                   {{"mark", {{"type", "point"}, {"size", 22}, {"opacity", 0.8}}},
                    {"encoding", {{"y", quantitative("t", target_name(r))}, {"color", row_color(r)}, {"tooltip", row_tips(r)}}}}};
  return {.title = "Intervals",
          .description =
              fmt::format("Each held-out row's {} interval (band), prediction (line) and true value (point): {} of the {} lie inside.",
                          level_text(r), percent(r.interval_coverage), count_text(n)),
          .spec = spec};
}

}  // namespace

std::vector<Chart> number_charts(const LearnResult& r) {
  const Matrix& pairs = r.test_truth_and_predicted;
  if (pairs.rows() == 0 || pairs.cols() < 2 || !pairs.allFinite()) return {};
  std::vector<Chart> charts{scatter_chart(r), residual_chart(r)};
  if (pairs.rows() > 1) charts.push_back(residual_against_prediction(r));
  if (pairs.rows() > 1 && has_intervals(r)) charts.push_back(interval_chart(r));
  return charts;
}

}  // namespace mercer::report

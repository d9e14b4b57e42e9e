// SPDX-License-Identifier: BSD-3-Clause
#include "report/learn_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart_parts.hpp"
#include "report/escape.hpp"

namespace mercer::report {

namespace {

using nlohmann::json;

Chart scatter_chart(const LearnResult& result) {
  const Matrix& pairs = result.test_truth_and_predicted;
  const Range range = padded_range(pairs.minCoeff(), pairs.maxCoeff());
  json points = json::array();
  for (Index i = 0; i < pairs.rows(); i += stride_for(pairs.rows())) points.push_back({{"t", pairs(i, 0)}, {"p", pairs(i, 1)}});
  const json scale = {{"domain", {range.low, range.high}}, {"nice", false}};
  json x = quantitative("t", "true " + target_name(result));
  json y = quantitative("p", "predicted " + target_name(result));
  x["scale"] = scale;
  y["scale"] = scale;

  json spec = chart_base(330);
  spec["encoding"] = {{"x", x}, {"y", y}};
  spec["layer"] = {{{"data", {{"values", {{{"t", range.low}, {"p", range.low}}, {{"t", range.high}, {"p", range.high}}}}}},
                    {"mark", {{"type", "line"}, {"color", "var(--ink-soft)"}, {"strokeWidth", 1.5}, {"strokeDash", {5, 4}}}}},
                   {{"data", {{"values", points}}},
                    {"mark", {{"type", "point"}, {"size", 30}, {"opacity", 0.55}}},
                    {"encoding", {{"tooltip", {tooltip("t", "true"), tooltip("p", "predicted")}}}}}};
  return {.title = "Predicted against true",
          .description = fmt::format("{} held-out rows; on the dashed line the prediction is exact. RMSE {}, R² {}.",
                                     shown_of(pairs.rows()), measure_text(result.test.rmse), fixed_text(result.test.r2)),
          .spec = spec};
}

Chart residual_chart(const LearnResult& result) {
  const Vector residuals = result.test_truth_and_predicted.col(0) - result.test_truth_and_predicted.col(1);
  const Range range = padded_range(residuals.minCoeff(), residuals.maxCoeff());
  const auto n_bins = std::clamp<Index>(static_cast<Index>(std::ceil(2 * std::cbrt(static_cast<double>(residuals.size())))), 6, 40);
  const double width = (range.high - range.low) / static_cast<double>(n_bins);
  std::vector<int> counts(static_cast<std::size_t>(n_bins), 0);
  for (const double r : residuals) {
    ++counts[static_cast<std::size_t>(std::clamp<Index>(static_cast<Index>((r - range.low) / width), 0, n_bins - 1))];
  }
  json bars = json::array();
  for (Index b = 0; b < n_bins; ++b) {
    const double low = range.low + static_cast<double>(b) * width;
    bars.push_back({{"a", low}, {"b", low + width}, {"n", counts[static_cast<std::size_t>(b)]}});
  }
  json x = quantitative("a", "residual: true minus predicted");
  x["scale"] = {{"domain", {range.low, range.high}}, {"nice", false}, {"zero", false}};
  x["bin"] = "binned";
  json spec = chart_base(330);
  spec["layer"] = {{{"data", {{"values", bars}}},
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
              count_text(residuals.size()), number_text(residuals.mean(), 3), measure_text(result.test.mae)),
          .spec = spec};
}

std::string class_name(const LearnResult& result, Index c) {
  const bool known = result.model.encoder && c < static_cast<Index>(result.model.encoder->classes.size());
  return known ? clean_text(result.model.encoder->classes[static_cast<std::size_t>(c)]) : fmt::format("class {}", c);
}

Chart confusion_chart(const LearnResult& result) {
  const Eigen::MatrixXi& counts = result.confusion;
  const Index n = counts.rows();
  json cells = json::array();
  json order = json::array();
  for (Index i = 0; i < n; ++i) {
    order.push_back(class_name(result, i));
    const int row_total = counts.row(i).sum();
    for (Index j = 0; j < n; ++j) {
      const double share = row_total > 0 ? counts(i, j) / static_cast<double>(row_total) : 0;
      cells.push_back(
          {{"t", class_name(result, i)}, {"p", class_name(result, j)}, {"n", counts(i, j)}, {"share", share}, {"ink", 0.05 + 0.9 * share}});
    }
  }
  const json axis = {{"labelAngle", 0}, {"labelLimit", 130}, {"domain", false}, {"ticks", false}};
  json spec = chart_base(static_cast<int>(std::clamp<Index>(n * 64, 160, n > 8 ? n * 34 : 330)));
  spec["data"] = {{"values", cells}};
  spec["encoding"] = {
      {"x", {{"field", "p"}, {"type", "nominal"}, {"title", "predicted"}, {"sort", order}, {"axis", axis}}},
      {"y", {{"field", "t"}, {"type", "nominal"}, {"title", "true " + clean_text(target_name(result))}, {"sort", order}, {"axis", axis}}}};
  if (n > 8) spec["encoding"]["x"]["axis"]["labelAngle"] = -40;
  spec["layer"] = {{{"mark", {{"type", "rect"}, {"color", "var(--accent)"}, {"stroke", "var(--paper)"}, {"strokeWidth", 2}}},
                    {"encoding",
                     {{"opacity", {{"field", "ink"}, {"type", "quantitative"}, {"scale", nullptr}, {"legend", nullptr}}},
                      {"tooltip",
                       {{{"field", "t"}, {"type", "nominal"}, {"title", "true"}},
                        {{"field", "p"}, {"type", "nominal"}, {"title", "predicted"}},
                        tooltip("n", "rows"),
                        {{"field", "share"}, {"type", "quantitative"}, {"title", "of this true class"}, {"format", ".1%"}}}}}}},
                   {{"mark", {{"type", "text"}, {"fontSize", n > 8 ? 11 : 15}, {"fontWeight", 600}}},
                    {"encoding",
                     {{"text", {{"field", "n"}, {"type", "quantitative"}}},
                      {"color", {{"condition", {{"test", "datum.ink > 0.7"}, {"value", "var(--on-accent)"}}}, {"value", "var(--ink)"}}}}}}};
  return {.title = "Confusion matrix",
          .description = fmt::format(
              "{} held-out rows: each row of the matrix is a true class, each column what was predicted; {} lie on the diagonal, correct. "
              "Shading is the share within the true class.",
              count_text(counts.sum()), count_text(counts.diagonal().sum())),
          .spec = spec};
}

}  // namespace

bool is_classification(const LearnResult& result) {
  return result.model.encoder ? result.model.encoder->task == Task::classification : result.confusion.size() > 0;
}

std::string target_name(const LearnResult& result) {
  return result.model.encoder && !result.model.encoder->target.empty() ? result.model.encoder->target : "target";
}

std::vector<Chart> outcome_charts(const LearnResult& result) {
  if (is_classification(result)) {
    if (result.confusion.rows() == 0 || result.confusion.rows() != result.confusion.cols()) return {};
    return {confusion_chart(result)};
  }
  const Matrix& pairs = result.test_truth_and_predicted;
  if (pairs.rows() == 0 || pairs.cols() < 2 || !pairs.allFinite()) return {};
  return {scatter_chart(result), residual_chart(result)};
}

std::vector<Chart> curve_charts(const LearnResult& result) {
  if (result.curve.rows() < 2 || result.curve.cols() < 2 || !result.curve.allFinite()) return {};
  const std::string feature =
      result.model.encoder && result.model.encoder->features.size() == 1 ? result.model.encoder->features[0].name : "x";
  json line = json::array();
  for (Index i = 0; i < result.curve.rows(); ++i) line.push_back({{"x", result.curve(i, 0)}, {"y", result.curve(i, 1)}});
  const bool has_points = result.curve_points.cols() >= 2 && result.curve_points.rows() > 0;
  json points = json::array();
  for (Index i = 0; has_points && i < result.curve_points.rows(); i += stride_for(result.curve_points.rows())) {
    points.push_back({{"x", result.curve_points(i, 0)}, {"y", result.curve_points(i, 1)}});
  }
  json x = quantitative("x", feature);
  x["scale"]["nice"] = false;
  json spec = chart_base(360);
  spec["encoding"] = {{"x", x}, {"y", quantitative("y", target_name(result))}};
  spec["layer"] = {{{"data", {{"values", points}}},
                    {"mark", {{"type", "point"}, {"size", 26}, {"opacity", 0.4}, {"clip", true}}},
                    {"encoding", {{"tooltip", {tooltip("x", feature), tooltip("y", target_name(result))}}}}},
                   {{"data", {{"values", line}}},
                    {"mark", {{"type", "line"}, {"color", "var(--second)"}, {"strokeWidth", 2.5}, {"clip", true}}},
                    {"encoding", {{"tooltip", {tooltip("x", feature), tooltip("y", "predicted")}}}}}};
  std::string description = fmt::format("The prediction for every {} (line)", feature);
  if (has_points) description += fmt::format(" and {} training rows (points)", shown_of(result.curve_points.rows()));
  return {{.title = "The fitted function", .description = description + ".", .spec = spec}};
}

}  // namespace mercer::report

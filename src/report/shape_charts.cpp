// What a model looks like: the function it fitted where one or two columns can show it, the spectrum of its Gram matrix, which columns
// matter. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/learn_charts.hpp"

namespace mercer::report {

namespace {

using nlohmann::json;

constexpr Index most_surface_points = 600;  // more would hide the surface
constexpr std::size_t most_importances = 30;

// Thousands of cells: six digits are more than a picture shows, and half the bytes.
json brief(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

Chart curve_chart(const LearnResult& result) {
  const std::string feature =
      result.model.encoder && result.model.encoder->features.size() == 1 ? result.model.encoder->features[0].name : "x";
  json line = json::array();
  for (Index i = 0; i < result.curve.rows(); ++i) line.push_back({{"x", result.curve(i, 0)}, {"y", result.curve(i, 1)}});
  const bool has_points = result.curve_points.cols() >= 2 && result.curve_points.rows() > 0;
  json points = json::array();
  for (Index i = 0; has_points && i < result.curve_points.rows(); i += stride_for(result.curve_points.rows())) {
    points.push_back({{"x", finite(result.curve_points(i, 0))}, {"y", finite(result.curve_points(i, 1))}});
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
  return {.title = "The fitted function", .description = description + ".", .spec = spec};
}

// The grid that the surface was made on: its sides, and the width and height of a cell.
struct Grid {
  Index across = 0, upwards = 0;
  double width = 0, height = 0;
};

Grid grid_of(const Matrix& surface) {
  Grid grid;
  while (grid.across < surface.rows() && surface(grid.across, 1) == surface(0, 1)) ++grid.across;
  if (grid.across < 2 || surface.rows() % grid.across != 0) return {};
  grid.upwards = surface.rows() / grid.across;
  if (grid.upwards < 2) return {};
  grid.width = surface(1, 0) - surface(0, 0);
  grid.height = surface(grid.across, 1) - surface(0, 1);
  return grid;
}

std::string surface_name(const LearnResult& r, std::size_t j) {
  return j < r.surface_names.size() ? r.surface_names[j] : fmt::format("x{}", j + 1);
}

// Two classes fade towards the boundary, where the model is least sure.
double strength(const LearnResult& r, Index i, double largest) {
  if (r.surface_score.size() != r.surface.rows()) return 0.3;
  return 0.04 + 0.5 * std::sqrt(std::min(1.0, std::abs(r.surface_score[i]) / largest));
}

json surface_cells(const LearnResult& r, const Grid& grid, bool classes) {
  const bool scored = r.surface_score.size() == r.surface.rows();
  const double largest = scored ? std::max(r.surface_score.cwiseAbs().maxCoeff(), 1e-300) : 1;
  json cells = json::array();
  for (Index i = 0; i < r.surface.rows(); ++i) {
    const double x = r.surface(i, 0), y = r.surface(i, 1);
    json cell = {{"a", brief(x - grid.width / 2)},
                 {"b", brief(x + grid.width / 2)},
                 {"c", brief(y - grid.height / 2)},
                 {"d", brief(y + grid.height / 2)}};
    if (classes) {
      cell["w"] = class_name(r, static_cast<Index>(r.surface(i, 2)));
      cell["o"] = brief(strength(r, i, largest));
      if (scored) cell["s"] = brief(r.surface_score[i]);
    } else {
      cell["v"] = brief(r.surface(i, 2));
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

json surface_points(const LearnResult& r, bool classes, Index stride) {
  json points = json::array();
  for (Index i = 0; i < r.surface_points.rows(); i += stride) {
    json point = {{"a", brief(r.surface_points(i, 0))}, {"c", brief(r.surface_points(i, 1))}};
    if (classes) {
      point["w"] = class_name(r, static_cast<Index>(r.surface_points(i, 2)));
    } else {
      point["v"] = brief(r.surface_points(i, 2));
    }
    points.push_back(std::move(point));
  }
  return points;
}

json surface_tips(const LearnResult& r, bool classes, const char* said) {
  json tips = {tooltip("a", surface_name(r, 0)), tooltip("c", surface_name(r, 1))};
  tips.push_back(classes ? text_tip("w", said) : tooltip("v", said));
  return tips;
}

Chart surface_chart(const LearnResult& r, const Grid& grid) {
  const bool classes = is_classification(r);
  const Range x{r.surface(0, 0) - grid.width / 2, r.surface(grid.across - 1, 0) + grid.width / 2};
  const Range y{r.surface(0, 1) - grid.height / 2, r.surface(r.surface.rows() - 1, 1) + grid.height / 2};
  const bool has_points = r.surface_points.cols() == 3 && r.surface_points.rows() > 0;
  const Index n = r.surface_points.rows();
  const Index stride = std::max<Index>(1, (n + most_surface_points - 1) / most_surface_points);
  const json color = classes ? class_color(r, "w")
                             : json{{"field", "v"},
                                    {"type", "quantitative"},
                                    {"title", clean_text(target_name(r))},
                                    {"scale", {{"scheme", "viridis"}, {"zero", false}}}};
  json cells = {{"data", {{"values", surface_cells(r, grid, classes)}}},
                {"mark", {{"type", "rect"}, {"clip", true}}},
                {"encoding", {{"x2", {{"field", "b"}}}, {"y2", {{"field", "d"}}}, {"tooltip", surface_tips(r, classes, "predicted")}}}};
  if (classes) cells["encoding"]["opacity"] = {{"field", "o"}, {"type", "quantitative"}, {"scale", nullptr}, {"legend", nullptr}};
  if (classes && r.surface_score.size() == r.surface.rows()) cells["encoding"]["tooltip"].push_back(tooltip("s", "score"));
  json spec = chart_base(420);
  spec["encoding"] = {{"x", axis_of("a", surface_name(r, 0), x)}, {"y", axis_of("c", surface_name(r, 1), y)}, {"color", color}};
  spec["layer"] = json::array({cells});
  if (has_points) {
    spec["layer"].push_back(
        {{"data", {{"values", surface_points(r, classes, stride)}}},
         {"mark", {{"type", "point"}, {"size", 34}, {"opacity", 1}, {"clip", true}, {"stroke", "var(--paper)"}, {"strokeWidth", 0.8}}},
         {"encoding", {{"tooltip", surface_tips(r, classes, target_name(r).c_str())}}}});
  }
  std::string description = fmt::format("What is predicted over {} and {}", surface_name(r, 0), surface_name(r, 1));
  if (classes && r.surface_score.size() == r.surface.rows()) description += ", paler where the score is nearer to the boundary";
  if (has_points) {
    const Index shown = (n + stride - 1) / stride;
    description += fmt::format("; {}{} training rows as points", count_text(shown), shown < n ? " of " + count_text(n) : "");
  }
  return {.title = classes ? "Decision surface" : "The fitted surface", .description = description + ".", .spec = spec};
}

}  // namespace

std::vector<Chart> shape_charts(const LearnResult& r) {
  if (r.curve.rows() >= 2 && r.curve.cols() >= 2 && r.curve.allFinite()) return {curve_chart(r)};
  if (r.surface.rows() < 4 || r.surface.cols() != 3 || !r.surface.allFinite()) return {};
  const Grid grid = grid_of(r.surface);
  if (grid.upwards == 0) return {};
  return {surface_chart(r, grid)};
}

std::vector<Chart> spectrum_charts(const LearnResult& r) {
  json points = json::array();
  double sum = 0;
  Index half = 0, most = 0;
  for (Index j = 0; j < r.spectrum.size(); ++j) {
    if (!(r.spectrum[j] > 0)) continue;  // a logarithm shows nothing else
    sum += r.spectrum[j];
    if (half == 0 && sum >= 0.5) half = j + 1;
    if (most == 0 && sum >= 0.95) most = j + 1;
    points.push_back({{"j", j + 1}, {"v", r.spectrum[j]}, {"sum", sum}});
  }
  if (points.size() < 2) return {};
  json spec = chart_base(300);
  spec["data"] = {{"values", points}};
  spec["mark"] = {{"type", "line"}, {"point", {{"size", 40}}}};
  spec["encoding"] = {{"x", axis_of("j", "number of the eigenvalue", {0.5, static_cast<double>(r.spectrum.size()) + 0.5})},
                      {"y",
                       {{"field", "v"},
                        {"type", "quantitative"},
                        {"title", "share of the trace"},
                        {"scale", {{"type", "log"}}},
                        {"axis", {{"format", ".0e"}}}}},
                      {"tooltip", {tooltip("j", "number"), tooltip("v", "share"), share_tip("sum", "up to here")}}};
  std::string description = fmt::format(
      "Eigenvalues of the kernel's Gram matrix on {} training rows, largest first, as shares of their sum.", count_text(r.spectrum_rows));
  if (half > 0)
    description += fmt::format(" The first {} {} half of it", half == 1 ? "one" : count_text(half), half == 1 ? "holds" : "hold");
  if (half > 0) description += most > 0 ? fmt::format(", the first {} hold 95 %.", count_text(most)) : ".";
  description += " A swift fall means that few directions carry what the kernel sees.";
  return {{.title = "Spectrum of the Gram matrix", .description = description, .spec = spec}};
}

std::vector<Chart> importance_charts(const LearnResult& r) {
  if (r.importance.empty()) return {};
  const std::size_t shown = std::min(r.importance.size(), most_importances);
  json bars = json::array();
  json names = json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    const ColumnImportance& c = r.importance[i];
    names.push_back(clean_text(c.column));
    bars.push_back({{"name", clean_text(c.column)},
                    {"v", finite(c.mean)},
                    {"sd", finite(c.deviation)},
                    {"low", finite(c.mean - c.deviation)},
                    {"high", finite(c.mean + c.deviation)}});
  }
  const std::string title = is_classification(r) ? "accuracy lost" : "RMSE gained";
  json spec = chart_base(std::max(120, 24 * static_cast<int>(shown) + 40));
  spec["data"] = {{"values", bars}};
  spec["encoding"] = {{"y", {{"field", "name"}, {"type", "nominal"}, {"title", nullptr}, {"sort", names}, {"axis", {{"labelLimit", 220}}}}},
                      {"tooltip", {text_tip("name", "column"), tooltip("v", title), tooltip("sd", "deviation over shuffles")}}};
  spec["layer"] = {
      {{"mark", {{"type", "bar"}, {"opacity", 0.8}}}, {"encoding", {{"x", {{"field", "v"}, {"type", "quantitative"}, {"title", title}}}}}},
      {{"mark", {{"type", "rule"}, {"color", "var(--ink-soft)"}, {"strokeWidth", 1.5}}},
       {"encoding", {{"x", {{"field", "low"}, {"type", "quantitative"}, {"title", title}}}, {"x2", {{"field", "high"}}}}}}};
  return {{.title = "Which columns matter",
           .description = fmt::format("{} on the held-out rows when one column is shuffled{}; whiskers: the deviation over shuffles.",
                                      is_classification(r) ? "Accuracy lost" : "RMSE gained",
                                      shown < r.importance.size() ? fmt::format(", the {} largest of {}", shown, r.importance.size()) : ""),
           .spec = spec}};
}

}  // namespace mercer::report

// How the cross-validated score depends on what was searched. Candidates are grouped by model and kernel family; a family whose
// kernel has one leading number (its length scale) and several alphas is a grid.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>

#include "report/escape.hpp"
#include "report/learn_charts.hpp"

namespace mercer::report {

namespace {

using nlohmann::json;

struct Cell {
  double scale;  // 0 when the kernel has no leading number
  double alpha;
  double score;
  double deviation;
};

struct Family {
  std::string name;  // "krr, gaussian"
  std::vector<Cell> cells;
  std::set<double> scales;
  std::set<double> alphas;
};

// "gaussian(0.5)" -> "gaussian" and 0.5; sums and products of kernels stay whole, with 0.
std::pair<std::string, double> split_kernel(const std::string& text) {
  static const std::regex form(R"(^([A-Za-z_]\w*)\(\s*([0-9.eE+-]+)\s*(,[^()*+]*)?\)$)");
  std::smatch match;
  if (text.size() > 200 || !std::regex_match(text, match, form)) return {text, 0};
  const double value = std::strtod(match[2].str().c_str(), nullptr);
  return std::isfinite(value) ? std::pair{match[1].str() + (match[3].matched ? "(" + match[3].str().substr(1) + ")" : ""), value}
                              : std::pair{text, 0.0};
}

std::vector<Family> families_of(const std::vector<Candidate>& candidates) {
  std::vector<Family> families;
  for (const Candidate& candidate : candidates) {
    if (candidate.model == "baseline") continue;
    const auto [kernel, scale] = split_kernel(candidate.kernel);
    const std::string name = kernel.empty() ? candidate.model : candidate.model + ", " + kernel;
    auto found = std::find_if(families.begin(), families.end(), [&](const Family& f) { return f.name == name; });
    if (found == families.end()) found = families.insert(families.end(), Family{.name = name, .cells = {}, .scales = {}, .alphas = {}});
    found->cells.push_back({scale, candidate.value, candidate.score, candidate.deviation});
    found->scales.insert(scale);
    found->alphas.insert(candidate.value);
  }
  return families;
}

json labels_of(const std::set<double>& values) {
  json labels = json::array();
  for (const double v : values) labels.push_back(number_text(v, 3));
  return labels;
}

json axis_for(const char* field, const char* title, const std::set<double>& values, bool banded) {
  json axis = {{"labelAngle", 0}, {"labelOverlap", true}};
  if (banded) axis.update({{"domain", false}, {"ticks", false}, {"grid", false}});
  return {{"field", field}, {"type", "ordinal"}, {"title", title}, {"sort", labels_of(values)}, {"axis", axis}};
}

// How dark a score is drawn: 1 for the best, near 0 for the worst. Errors are compared by ratio, so that a few hopeless candidates do
// not wash out the differences among the good.
double darkness(double score, double best, double worst, bool is_error) {
  double t = 0;
  if (is_error && best > 0 && worst > best) {
    t = std::log(score / best) / std::log(worst / best);
  } else if (worst != best) {
    t = (score - best) / (worst - best);
  }
  return std::clamp(1 - 0.94 * t, 0.06, 1.0);
}

struct Extremes {
  const Cell* best = nullptr;
  const Cell* worst = nullptr;
};

Extremes extremes_of(const Family& family, bool is_error) {
  Extremes out;
  for (const Cell& cell : family.cells) {
    if (!std::isfinite(cell.score)) continue;
    const auto better = [&](const Cell& a, const Cell& b) { return is_error ? a.score < b.score : a.score > b.score; };
    if (out.best == nullptr || better(cell, *out.best)) out.best = &cell;
    if (out.worst == nullptr || better(*out.worst, cell)) out.worst = &cell;
  }
  return out;
}

json cell_tooltip(bool has_scale, const char* measure) {
  json tips = json::array();
  if (has_scale) tips.push_back({{"field", "l"}, {"type", "ordinal"}, {"title", "length scale"}});
  tips.push_back({{"field", "a"}, {"type", "ordinal"}, {"title", "alpha"}});
  tips.push_back({{"field", "score"}, {"type", "quantitative"}, {"title", measure}, {"format", ".4~g"}});
  tips.push_back({{"field", "sd"}, {"type", "quantitative"}, {"title", "deviation over folds"}, {"format", ".3~g"}});
  return tips;
}

Chart heat_map(const Family& family, const Extremes& extremes, bool is_error) {
  const char* measure = is_error ? "RMSE" : "accuracy";
  json cells = json::array();
  for (const Cell& cell : family.cells) {
    const bool known = std::isfinite(cell.score);
    cells.push_back({{"l", number_text(cell.scale, 3)},
                     {"a", number_text(cell.alpha, 3)},
                     {"score", known ? json(cell.score) : json()},
                     {"label", measure_text(cell.score, 3)},
                     {"sd", cell.deviation},
                     {"best", &cell == extremes.best},
                     {"ink", known ? darkness(cell.score, extremes.best->score, extremes.worst->score, is_error) : 0.0}});
  }
  // The axis with more values runs along the page; the numbers are written in the cells while they have room.
  const bool wide_scale = family.scales.size() >= family.alphas.size();
  const json scale_axis = axis_for("l", "length scale", family.scales, true);
  const json alpha_axis = axis_for("a", "alpha", family.alphas, true);
  const std::size_t columns = std::max(family.scales.size(), family.alphas.size());
  const std::size_t rows = std::min(family.scales.size(), family.alphas.size());
  json spec = {{"width", "container"},
               {"height", std::clamp<int>(static_cast<int>(rows) * 38, 120, 460)},
               {"autosize", {{"type", "fit-x"}, {"contains", "padding"}}}};
  spec["data"] = {{"values", cells}};
  spec["encoding"] = {{"x", wide_scale ? scale_axis : alpha_axis}, {"y", wide_scale ? alpha_axis : scale_axis}};
  spec["encoding"]["y"]["scale"] = {{"reverse", true}};
  const json rect = {{"type", "rect"}, {"color", "var(--accent)"}, {"stroke", "var(--paper)"}, {"strokeWidth", 2}};
  json layers = json::array();
  layers.push_back({{"mark", rect},
                    {"encoding",
                     {{"opacity", {{"field", "ink"}, {"type", "quantitative"}, {"scale", nullptr}, {"legend", nullptr}}},
                      {"tooltip", cell_tooltip(true, measure)}}}});
  layers.push_back({{"transform", json::array({{{"filter", "datum.best"}}})},
                    {"mark",
                     {{"type", "rect"},
                      {"fillOpacity", 0},
                      {"fill", "transparent"},
                      {"stroke", "var(--second)"},
                      {"strokeWidth", 3},
                      {"tooltip", nullptr}}}});
  if (columns <= 14) {
    layers.push_back(
        {{"mark", {{"type", "text"}, {"fontSize", 11.5}, {"tooltip", nullptr}}},
         {"encoding",
          {{"text", {{"field", "label"}, {"type", "nominal"}}},
           {"color", {{"condition", {{"test", "datum.ink > 0.7"}, {"value", "var(--on-accent)"}}}, {"value", "var(--ink)"}}}}}});
  }
  spec["layer"] = layers;
  return {
      .title = "Cross-validated " + std::string(measure) + ": " + family.name,
      .description = fmt::format(
          "{} combinations of length scale and alpha; the more colour, the better. The best, outlined: length scale {}, alpha {}, {} {}.",
          count_text(static_cast<std::int64_t>(family.cells.size())), number_text(extremes.best->scale, 3),
          number_text(extremes.best->alpha, 3), measure, measure_text(extremes.best->score)),
      .spec = spec};
}

Chart path_chart(const Family& family, const Extremes& extremes, bool is_error) {
  const char* measure = is_error ? "RMSE" : "accuracy";
  const bool by_scale = family.scales.size() > 1;
  const char* word = by_scale ? "length scale" : "alpha";
  json points = json::array();
  for (const Cell& cell : family.cells) {
    if (!std::isfinite(cell.score)) continue;
    const double half = std::isfinite(cell.deviation) ? cell.deviation : 0;
    points.push_back({{"l", number_text(cell.scale, 3)},
                      {"a", number_text(cell.alpha, 3)},
                      {"score", cell.score},
                      {"sd", half},
                      {"low", cell.score - half},
                      {"high", cell.score + half},
                      {"best", &cell == extremes.best}});
  }
  json spec = {{"width", "container"}, {"height", 260}, {"autosize", {{"type", "fit-x"}, {"contains", "padding"}}}};
  spec["data"] = {{"values", points}};
  spec["encoding"] = {{"x", axis_for(by_scale ? "l" : "a", word, by_scale ? family.scales : family.alphas, false)}};
  const json y = {{"field", "score"}, {"type", "quantitative"}, {"title", measure}, {"scale", {{"zero", false}}}};
  spec["layer"] = {{{"mark", {{"type", "rule"}, {"color", "var(--accent)"}, {"opacity", 0.45}, {"strokeWidth", 2}}},
                    {"encoding",
                     {{"y", {{"field", "low"}, {"type", "quantitative"}, {"title", measure}, {"scale", {{"zero", false}}}}},
                      {"y2", {{"field", "high"}}}}}},
                   {{"mark", "line"}, {"encoding", {{"y", y}}}},
                   {{"mark", {{"type", "point"}, {"size", 70}, {"opacity", 1}}},
                    {"encoding",
                     {{"y", y},
                      {"color", {{"condition", {{"test", "datum.best"}, {"value", "var(--second)"}}}, {"value", "var(--accent)"}}},
                      {"tooltip", cell_tooltip(by_scale, measure)}}}}};
  return {.title = "Cross-validated " + std::string(measure) + ": " + family.name,
          .description = fmt::format("Against {}; bars show the deviation over folds. The best, marked: {} {}, {} {}.", word, word,
                                     number_text(by_scale ? extremes.best->scale : extremes.best->alpha, 3), measure,
                                     measure_text(extremes.best->score)),
          .spec = spec};
}

}  // namespace

std::vector<Chart> search_charts(const LearnResult& result) {
  const bool is_error = !is_classification(result);
  std::vector<Chart> charts;
  for (const Family& family : families_of(result.candidates)) {
    const Extremes extremes = extremes_of(family, is_error);
    if (extremes.best == nullptr) continue;
    if (family.scales.size() > 1 && family.alphas.size() > 1) {
      charts.push_back(heat_map(family, extremes, is_error));
    } else if (family.scales.size() > 1 || family.alphas.size() > 1) {
      charts.push_back(path_chart(family, extremes, is_error));
    }
  }
  return charts;
}

}  // namespace mercer::report

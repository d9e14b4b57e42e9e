// How the cross-validated score depends on what was searched. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/families.hpp"
#include "report/learn_charts.hpp"

namespace mercer::report {

namespace {

using nlohmann::json;

constexpr std::size_t most_families = 15;  // that are drawn side by side
constexpr std::size_t most_charts = 9;     // of single families
constexpr std::size_t roomy_columns = 14;  // up to so many, the numbers of a heat map are written in its cells
constexpr std::size_t roomy_beside = 6;    // where two charts share the width

// What candidates are judged by.
struct Measure {
  const char* word;
  bool is_error;
};

json labels_of(const std::set<double>& values) {
  json labels = json::array();
  for (const double v : values) labels.push_back(number_text(v, 3));
  return labels;
}

json axis_for(const char* field, const std::string& title, const std::set<double>& values, bool banded) {
  json axis = {{"labelAngle", 0}, {"labelOverlap", true}};
  if (banded) axis.update({{"domain", false}, {"ticks", false}, {"grid", false}});
  return {{"field", field}, {"type", "ordinal"}, {"title", clean_text(title)}, {"sort", labels_of(values)}, {"axis", axis}};
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

json cell_tooltip(const Family& family, bool has_scale, bool has_penalty, const char* measure) {
  json tips = json::array();
  if (has_scale) tips.push_back({{"field", "l"}, {"type", "ordinal"}, {"title", clean_text(family.scale_word)}});
  if (has_penalty) tips.push_back({{"field", "a"}, {"type", "ordinal"}, {"title", clean_text(family.penalty_word)}});
  tips.push_back(tooltip("score", measure));
  tips.push_back(text_tip("sd", "deviation over folds"));
  tips.push_back(text_tip("by", "judged by"));
  return tips;
}

json cell_value(const Family& family, const Cell& cell) {
  const double half = std::isfinite(cell.deviation) ? cell.deviation : 0;
  return {{"l", number_text(cell.scale, 3)},  {"a", number_text(cell.penalty, 3)},
          {"ln", finite(cell.scale)},         {"an", finite(cell.penalty)},
          {"score", finite(cell.score)},      {"sd", number_text(cell.deviation, 3)},
          {"low", finite(cell.score - half)}, {"high", finite(cell.score + half)},
          {"by", clean_text(cell.judged_by)}, {"best", family.best >= 0 && &cell == &family.best_cell()}};
}

json best_outline() {
  return {{"transform", json::array({{{"filter", "datum.best"}}})},
          {"mark", {{"type", "rect"}, {"filled", false}, {"stroke", "var(--second)"}, {"strokeWidth", 3}, {"tooltip", nullptr}}}};
}

std::string chart_title(const Family& family, const Measure& measure) {
  return fmt::format("Cross-validated {}: {}", measure.word, family.name);
}

Chart heat_map(const Family& family, const Measure& measure, std::size_t room) {
  json cells = json::array();
  for (const Cell& cell : family.cells) {
    json value = cell_value(family, cell);
    const bool known = std::isfinite(cell.score);
    value["label"] = measure_text(cell.score, 3);
    value["ink"] = known ? darkness(cell.score, family.best_cell().score, family.worst_cell().score, measure.is_error) : 0.0;
    cells.push_back(std::move(value));
  }
  // The axis with more values runs along the page; the numbers are written in the cells while they have room.
  const bool wide_scale = family.scales.size() >= family.penalties.size();
  const json scale_axis = axis_for("l", family.scale_word, family.scales, true);
  const json penalty_axis = axis_for("a", family.penalty_word, family.penalties, true);
  const auto [rows, columns] = std::minmax({family.scales.size(), family.penalties.size()});
  json spec = chart_base(std::clamp<int>(static_cast<int>(rows) * 38, 120, 460));
  spec["data"] = {{"values", cells}};
  spec["encoding"] = {{"x", wide_scale ? scale_axis : penalty_axis}, {"y", wide_scale ? penalty_axis : scale_axis}};
  spec["encoding"]["y"]["scale"] = {{"reverse", true}};
  json layers = json::array();
  layers.push_back({{"mark", {{"type", "rect"}, {"color", "var(--accent)"}, {"stroke", "var(--paper)"}, {"strokeWidth", 2}}},
                    {"encoding",
                     {{"opacity", {{"field", "ink"}, {"type", "quantitative"}, {"scale", nullptr}, {"legend", nullptr}}},
                      {"tooltip", cell_tooltip(family, true, true, measure.word)}}}});
  layers.push_back(best_outline());
  if (columns <= room) {
    layers.push_back(
        {{"mark", {{"type", "text"}, {"fontSize", 11.5}, {"tooltip", nullptr}}},
         {"encoding",
          {{"text", {{"field", "label"}, {"type", "nominal"}}},
           {"color", {{"condition", {{"test", "datum.ink > 0.7"}, {"value", "var(--on-accent)"}}}, {"value", "var(--ink)"}}}}}});
  }
  spec["layer"] = layers;
  const Cell& best = family.best_cell();
  return {.title = chart_title(family, measure),
          .description = fmt::format("{} combinations of {} and {}; the more colour, the better. The best, outlined: {} {}, {} {}, {} {}.",
                                     count_text(std::ssize(family.cells)), family.scale_word, family.penalty_word, family.scale_word,
                                     number_text(best.scale, 3), family.penalty_word, number_text(best.penalty, 3), measure.word,
                                     measure_text(best.score)),
          .spec = spec};
}

json score_axis(const char* field, const Measure& measure) { return quantitative(field, measure.word); }

json best_color() { return {{"condition", {{"test", "datum.best"}, {"value", "var(--second)"}}}, {"value", "var(--accent)"}}; }

// One number was searched: a line over it.
Chart path_chart(const Family& family, const Measure& measure) {
  const bool by_scale = family.scales.size() > 1;
  const std::string& word = by_scale ? family.scale_word : family.penalty_word;
  json points = json::array();
  for (const Cell& cell : family.cells) {
    if (std::isfinite(cell.score)) points.push_back(cell_value(family, cell));
  }
  json spec = chart_base(260);
  spec["data"] = {{"values", points}};
  spec["encoding"] = {{"x", axis_for(by_scale ? "l" : "a", word, by_scale ? family.scales : family.penalties, false)}};
  spec["layer"] = {{{"mark", {{"type", "rule"}, {"color", "var(--accent)"}, {"opacity", 0.45}, {"strokeWidth", 2}}},
                    {"encoding", {{"y", score_axis("low", measure)}, {"y2", {{"field", "high"}}}}}},
                   {{"mark", "line"}, {"encoding", {{"y", score_axis("score", measure)}}}},
                   {{"mark", {{"type", "point"}, {"size", 70}, {"opacity", 1}}},
                    {"encoding",
                     {{"y", score_axis("score", measure)},
                      {"color", best_color()},
                      {"tooltip", cell_tooltip(family, by_scale, !by_scale, measure.word)}}}}};
  const Cell& best = family.best_cell();
  return {.title = chart_title(family, measure),
          .description = fmt::format("Against {}; bars show the deviation over folds. The best, marked: {} {}, {} {}.", word, word,
                                     number_text(by_scale ? best.scale : best.penalty, 3), measure.word, measure_text(best.score)),
          .spec = spec};
}

// Two numbers were searched: a line over the penalty for each value of the other.
Chart paths_chart(const Family& family, const Measure& measure) {
  json points = json::array();
  for (const Cell& cell : family.cells) {
    if (std::isfinite(cell.score)) points.push_back(cell_value(family, cell));
  }
  const bool logarithmic = *family.penalties.begin() > 0;
  json x = quantitative("an", family.penalty_word);
  x["scale"]["nice"] = false;
  if (logarithmic) {
    x["scale"] = {{"type", "log"}, {"nice", false}};
    x["axis"] = {{"format", "~g"}, {"labelOverlap", true}};
  }
  json spec = chart_base(300);
  spec["data"] = {{"values", points}};
  spec["encoding"] = {{"x", x},
                      {"y", score_axis("score", measure)},
                      {"color",
                       {{"field", "l"},
                        {"type", "ordinal"},
                        {"title", clean_text(family.scale_word)},
                        {"sort", labels_of(family.scales)},
                        {"scale", {{"scheme", "viridis"}}}}},
                      {"tooltip", cell_tooltip(family, true, true, measure.word)}};
  spec["layer"] = {{{"mark", {{"type", "line"}, {"strokeWidth", 1.5}, {"tooltip", nullptr}}}},
                   {{"mark", {{"type", "point"}, {"size", 36}, {"opacity", 1}}}},
                   {{"transform", json::array({{{"filter", "datum.best"}}})},
                    {"mark", {{"type", "point"}, {"size", 150}, {"filled", false}, {"strokeWidth", 2.5}, {"opacity", 1}}},
                    {"encoding", {{"color", {{"value", "var(--second)"}}}}}}};
  return {.title = "The path: " + family.name,
          .description = fmt::format("Cross-validated {} against {}, a line for each {}; the best is circled.", measure.word,
                                     family.penalty_word, family.scale_word),
          .spec = spec};
}

std::string best_words(const Family& family) {
  const Cell& best = family.best_cell();
  std::string words;
  if (!family.scale_word.empty() && best.scale != 0) words += fmt::format("{} {}, ", family.scale_word, number_text(best.scale, 3));
  return words + fmt::format("{} {}", family.penalty_word, number_text(best.penalty, 3));
}

}  // namespace

std::vector<Chart> family_charts(const LearnResult& result) {
  const Measure measure{is_classification(result) ? "accuracy" : "RMSE", !is_classification(result)};
  json rows = json::array();
  std::size_t scored = 0;
  bool references = false;
  for (const Family& family : families_of(result)) {
    if (family.best < 0 || ++scored > most_families) continue;
    json row = cell_value(family, family.best_cell());
    row.update(
        {{"i", rows.size()}, {"name", clean_text(family.name)}, {"with", clean_text(best_words(family))}, {"n", family.cells.size()}});
    row["kind"] = rows.empty() ? 0 : family.reference ? 2 : 1;
    references = references || (family.reference && !rows.empty());
    rows.push_back(std::move(row));
  }
  if (rows.size() < 2) return {};
  json spec = chart_base(std::max(140, 26 * static_cast<int>(rows.size()) + 20));
  spec["data"] = {{"values", rows}};
  const json color = {
      {"condition",
       {{{"test", "datum.kind == 0"}, {"value", "var(--second)"}}, {{"test", "datum.kind == 2"}, {"value", "var(--ink-soft)"}}}},
      {"value", "var(--accent)"}};
  spec["encoding"] = {{"y",
                       {{"field", "name"},
                        {"type", "nominal"},
                        {"title", nullptr},
                        {"sort", {{"field", "i"}}},
                        {"axis", {{"labelLimit", 260}, {"grid", true}}}}},
                      {"color", color},
                      {"tooltip",
                       {text_tip("name", "family"), text_tip("with", "best with"), tooltip("score", measure.word),
                        text_tip("sd", "deviation over folds"), text_tip("by", "judged by"), tooltip("n", "candidates")}}};
  spec["layer"] = {{{"mark", {{"type", "rule"}, {"opacity", 0.5}, {"strokeWidth", 2}}},
                    {"encoding", {{"x", score_axis("low", measure)}, {"x2", {{"field", "high"}}}}}},
                   {{"mark", {{"type", "point"}, {"size", 90}, {"opacity", 1}}}, {"encoding", {{"x", score_axis("score", measure)}}}}};
  std::string description = fmt::format(
      "The best {} of each family, {} is better; whiskers: the deviation over folds, where it is known. The "
      "chosen one has the other colour",
      measure.word, measure.is_error ? "smaller" : "larger");
  if (references) description += ", grey is only there to compare with";
  return {{.title = "Families of candidates", .description = description + ".", .spec = spec}};
}

std::vector<Chart> search_charts(const LearnResult& result) {
  const Measure measure{is_classification(result) ? "accuracy" : "RMSE", !is_classification(result)};
  std::vector<Chart> charts;
  bool first = true;
  for (const Family& family : families_of(result)) {
    if (family.best < 0 || charts.size() >= most_charts) continue;
    const bool both = family.scales.size() > 1 && family.penalties.size() > 1;
    if (both) {
      charts.push_back(heat_map(family, measure, first ? roomy_columns : roomy_beside));
      if (first) charts.push_back(paths_chart(family, measure));
    } else if (family.scales.size() > 1 || family.penalties.size() > 1) {
      charts.push_back(path_chart(family, measure));
    }
    first = false;
  }
  return charts;
}

}  // namespace mercer::report

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/series_report.hpp"
#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/page.hpp"

namespace mercer {

namespace report {

namespace {

using nlohmann::json;

json line_points(const SeriesPanel& panel) {
  json points = json::array();
  for (const SeriesPanel::Line& line : panel.lines) {
    const Index n = line.values.size();
    for (Index i = 0; i < n; i += stride_for(n)) {
      const double value = line.values[i];
      points.push_back({{"x", panel.first + i}, {"y", std::isfinite(value) ? json(value) : json(nullptr)}, {"w", clean_text(line.name)}});
    }
  }
  return points;
}

Chart panel_chart(const SeriesPanel& panel) {
  json names = json::array();
  for (const SeriesPanel::Line& line : panel.lines) names.push_back(clean_text(line.name));
  json lines = {
      {"data", {{"values", line_points(panel)}}},
      {"mark", {{"type", "line"}, {"strokeWidth", 1.2}, {"invalid", "break-paths-show-domains"}}},
      {"encoding",
       {{"x", quantitative("x", panel.axis)},
        {"y", quantitative("y", panel.unit)},
        {"color", {{"field", "w"}, {"type", "nominal"}, {"title", nullptr}, {"scale", {{"domain", names}}}}},
        {"tooltip", {tooltip("x", panel.axis), tooltip("y", "value"), {{"field", "w"}, {"type", "nominal"}, {"title", "line"}}}}}}};
  if (panel.lines.size() == 1) lines["encoding"]["color"]["legend"] = nullptr;
  json marks = json::array();
  for (const double mark : panel.marks) marks.push_back({{"x", mark}});
  json rules = {{"data", {{"values", marks}}},
                {"mark", {{"type", "rule"}, {"strokeDash", {4, 3}}, {"color", "var(--second)"}}},
                {"encoding", {{"x", {{"field", "x"}, {"type", "quantitative"}}}, {"tooltip", {tooltip("x", panel.axis)}}}}};
  json spec = chart_base(280);
  spec["layer"] = panel.marks.empty() ? json::array({lines}) : json::array({lines, rules});
  return {.title = panel.title, .description = panel.description, .spec = spec};
}

void check(const SeriesReport& r) {
  for (const SeriesPanel& panel : r.panels) {
    if (panel.lines.empty()) throw InvalidArgument(fmt::format("a report: the chart \"{}\" has no lines", panel.title));
  }
  for (const auto& row : r.table_rows) {
    if (row.size() != r.table_columns.size())
      throw InvalidArgument(fmt::format("a report: a row of the table has {} cells for {} columns", row.size(), r.table_columns.size()));
  }
}

}  // namespace

}  // namespace report

std::string series_report(const SeriesReport& r) {
  using namespace report;  // NOLINT(google-build-using-namespace)
  check(r);
  Page page(r.title, r.source);
  if (!r.verdict.empty()) page.lead(r.verdict);
  std::vector<Tile> tiles;
  for (const ReportNumber& number : r.numbers) tiles.push_back({number.value, number.label, number.note});
  page.tiles(tiles);
  if (!r.panels.empty()) page.section("Over time");
  for (const SeriesPanel& panel : r.panels) page.charts({panel_chart(panel)});
  if (!r.table_columns.empty()) {
    page.section("In numbers");
    TableSpec table;
    table.caption = r.table_caption;
    for (std::size_t c = 0; c < r.table_columns.size(); ++c) table.columns.push_back({r.table_columns[c], c > 0});
    table.rows = r.table_rows;
    page.table(table);
  }
  page.section("The run");
  page.run(r.facts, r.notes, r.command);
  return page.html();
}

}  // namespace mercer

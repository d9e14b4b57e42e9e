// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mercer/error.hpp"
#include "mercer/test_report.hpp"
#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/exploration_charts.hpp"
#include "report/page.hpp"
#include "report/test_charts.hpp"

namespace mercer {

namespace report {

namespace {

void require_of_report(bool holds, const std::string& message) {
  if (!holds) throw InvalidArgument("a report: " + message);
}

Index rows_of(const ColorColumn& column) { return column.words.empty() ? std::ssize(column.numbers) : std::ssize(column.words); }

void check(const TestReport& r) {
  require_of_report(!r.statistic_name.empty(), "there is no statistic");
  require_of_report(std::isfinite(r.statistic), "the statistic is not finite");
  require_of_report(r.null.allFinite(), "the null distribution has values that are not finite");
  for (const WitnessCurve& curve : r.curves) {
    require_of_report(curve.at.size() > 0 && curve.at.size() == curve.values.size(),
                      fmt::format("{} witness values at {} places", curve.values.size(), curve.at.size()));
  }
  require_of_report(
      r.map.values.rows() == r.map.y.size() && r.map.values.cols() == r.map.x.size(),
      fmt::format("{} x {} witness values for {} x {} places", r.map.values.rows(), r.map.values.cols(), r.map.y.size(), r.map.x.size()));
  require_of_report(r.map.values.allFinite(), "the witness has values that are not finite");
  require_of_report(r.point_color.empty() || rows_of(r.point_color) == r.points.rows(),
                    fmt::format("{} colours for {} rows", rows_of(r.point_color), r.points.rows()));
  require_of_report(rows_of(r.x) == rows_of(r.y), fmt::format("{} values against {}", rows_of(r.x), rows_of(r.y)));
  for (const ReportTable& table : r.tables) {
    for (const auto& row : table.rows)
      require_of_report(row.size() == table.columns.size(), fmt::format("{} cells for {} columns", row.size(), table.columns.size()));
  }
  for (const TellingRow& row : r.telling) {
    require_of_report(row.cells.size() == r.telling_columns.size(),
                      fmt::format("{} cells for {} columns", row.cells.size(), r.telling_columns.size()));
  }
}

void add_numbers(Page& page, const TestReport& r) {
  std::vector<Tile> tiles;
  tiles.push_back({number_text(r.p_value), "p-value",
                   r.rejected ? fmt::format("at most {}: rejected", number_text(r.level))
                              : fmt::format("above {}: not rejected", number_text(r.level))});
  tiles.push_back({number_text(r.statistic), r.statistic_name,
                   std::isfinite(r.threshold) ? fmt::format("threshold {}", number_text(r.threshold)) : ""});
  for (const auto& [name, rows] : r.samples) tiles.push_back({count_text(rows), "rows", name});
  page.tiles(tiles);
}

void add_telling(Page& page, const TestReport& r) {
  if (r.telling.empty()) return;
  constexpr std::size_t most_columns = 12;
  TableSpec table;
  table.caption = "The most telling rows: where one sample has rows and the other has few.";
  table.columns = {{"Sample", false}, {"Row", true}};
  const std::size_t shown = std::min(r.telling_columns.size(), most_columns);
  for (std::size_t j = 0; j < shown; ++j) table.columns.push_back({r.telling_columns[j], true});
  table.columns.push_back({"Witness", true});
  double largest = 0;
  for (const TellingRow& row : r.telling) largest = std::max(largest, std::abs(row.witness));
  for (const TellingRow& row : r.telling) {
    std::vector<std::string> cells{row.sample, std::to_string(row.row)};
    cells.insert(cells.end(), row.cells.begin(), row.cells.begin() + static_cast<std::ptrdiff_t>(shown));
    cells.push_back(measure_text(row.witness));
    table.rows.push_back(std::move(cells));
    table.bars.push_back(largest > 0 ? std::abs(row.witness) / largest : 0);
  }
  page.table(table);
}

void add_columns(Page& page, const std::vector<ColumnContribution>& columns) {
  if (columns.empty()) return;
  page.section("Columns");
  if (columns.size() > 1) page.charts({contributions_chart(columns)});
  const auto any = [&](double ColumnContribution::*value) {
    return std::any_of(columns.begin(), columns.end(), [&](const auto& c) { return std::isfinite(c.*value); });
  };
  TableSpec table;
  table.caption = "Each column looked at alone.";
  table.columns = {{"Column", false}, {"Statistic", true}};
  const bool tested = any(&ColumnContribution::p_value);
  const bool shared = any(&ColumnContribution::share);
  if (tested) table.columns.push_back({"p, adjusted", true});
  if (shared) table.columns.push_back({"Share", true});
  for (const ColumnContribution& c : columns) {
    std::vector<std::string> cells{c.name, measure_text(c.statistic)};
    if (tested) cells.push_back(number_text(c.p_value));
    if (shared) {
      cells.push_back(percent(c.share));
      table.bars.push_back(std::isfinite(c.share) ? c.share : 0);
    }
    table.rows.push_back(std::move(cells));
  }
  page.table(table);
}

void add_where(Page& page, const TestReport& r) {
  const bool map = r.map.values.size() > 0;
  if (r.curves.empty() && !map && r.points.rows() == 0 && r.telling.empty()) return;
  page.section("Where they differ");
  std::vector<Chart> curves;
  for (const WitnessCurve& curve : r.curves) curves.push_back(witness_curve_chart(curve, r.sample_names));
  page.charts(curves);
  if (map) page.charts({witness_map_chart(r)});
  if (!map && r.points.rows() > 0) page.charts({rows_chart(r)});
  add_telling(page, r);
}

void add_tables(Page& page, const std::vector<ReportTable>& tables) {
  for (const ReportTable& given : tables) {
    if (given.rows.empty()) continue;
    page.section(given.title);
    TableSpec table;
    table.caption = given.caption;
    table.marked = given.marked;
    for (std::size_t j = 0; j < given.columns.size(); ++j)
      table.columns.push_back({given.columns[j], j < given.numeric.size() && given.numeric[j]});
    table.rows = given.rows;
    page.table(table);
  }
}

void add_run(Page& page, const TestReport& r) {
  page.section("The run");
  ReportFacts facts = r.facts;
  if (!r.method.empty()) facts.insert(facts.begin(), {"Null distribution", r.description.empty() ? r.method : r.description});
  page.run(facts, r.notes, r.command);
}

}  // namespace

}  // namespace report

std::string test_report(const TestReport& r) {
  using namespace report;
  check(r);
  Page page(r.title, r.source);
  if (!r.verdict.empty()) page.lead(r.verdict);
  add_numbers(page, r);
  page.section("What was asked");
  if (!r.question.empty()) page.paragraph(r.question);
  if (r.null.size() > 1) page.charts({null_chart(r)});
  if (!r.remarks.empty()) {
    page.section("What to know");
    page.list(r.remarks);
  }
  if (rows_of(r.x) > 0) {
    page.section("The variables");
    page.charts({pair_chart(r.x, r.y)});
  }
  add_where(page, r);
  add_columns(page, r.columns);
  add_tables(page, r.tables);
  if (r.level_p_values.size() > 0 || !r.level_sentence.empty()) {
    page.section("The level on these data");
    if (!r.level_sentence.empty()) page.paragraph(r.level_sentence);
    if (r.level_p_values.size() > 1) page.charts({level_chart(r.level_p_values, r.level)});
  }
  add_run(page, r);
  return page.html();
}

}  // namespace mercer

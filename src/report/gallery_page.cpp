// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "mercer/error.hpp"
#include "mercer/gallery_report.hpp"
#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/exploration_charts.hpp"
#include "report/figure_spec.hpp"
#include "report/page.hpp"

namespace mercer {

namespace report {

namespace {

using Json = nlohmann::ordered_json;

// "E1" where ids are such words, each once; else numbers of places.
std::vector<std::string> anchors_of(const std::vector<Experiment>& experiments) {
  std::vector<std::string> anchors;
  std::set<std::string> taken;
  for (const Experiment& e : experiments) {
    const bool word =
        !e.id.empty() && std::all_of(e.id.begin(), e.id.end(), [](unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; });
    anchors.push_back(word && e.id[0] != 's' ? e.id : fmt::format("experiment-{}", anchors.size() + 1));  // s1, s2, ... are headings
    if (!taken.insert(anchors.back()).second) anchors.back() = fmt::format("experiment-{}", anchors.size());
  }
  return anchors;
}

std::string heading_of(const Experiment& e) { return e.id.empty() ? e.title : fmt::format("{}: {}", e.id, e.title); }

std::string claims_text(const Experiment& e) {
  const auto held = std::count_if(e.claims.begin(), e.claims.end(), [](const Claim& c) { return c.held; });
  return fmt::format("{} of {}", held, e.claims.size());
}

void add_overview(Page& page, const GalleryReport& report, const std::vector<std::string>& anchors) {
  TableSpec table;
  table.caption = "Each experiment, where it comes from, and whether it came out.";
  table.columns = {{"Experiment", false}, {"Source", false}, {"Claims that held", false}, {"Time", true}};
  table.visible = report.experiments.size();
  table.anchors = anchors;
  for (const Experiment& e : report.experiments) table.rows.push_back({heading_of(e), e.source, claims_text(e), seconds_text(e.seconds)});
  page.section("The experiments");
  page.table(table);
  if (report.command.empty()) return;
  page.paragraph("To make this page again:");
  page.code(report.command);
}

void add_table(Page& page, const ExperimentTable& given) {
  TableSpec table;
  table.caption = given.caption;
  const auto numeric = [&](std::size_t c) {
    // A column is set flush right where every cell begins like a number.
    return c > 0 && !given.rows.empty() && std::all_of(given.rows.begin(), given.rows.end(), [&](const auto& row) {
             if (c >= row.size() || row[c].empty()) return true;
             const std::string& cell = row[c];
             const std::size_t first = cell[0] == '-' || cell[0] == '+' || cell[0] == '.' ? 1 : 0;
             return cell == "\xE2\x80\x93" || cell == "-" ||
                    (first < cell.size() && std::isdigit(static_cast<unsigned char>(cell[first])) != 0);
           });
  };
  for (std::size_t c = 0; c < given.columns.size(); ++c) table.columns.push_back({given.columns[c], numeric(c)});
  table.rows = given.rows;
  page.table(table);
}

void add_numbers(Page& page, const Experiment& e) {
  if (e.numbers.empty()) return;
  TableSpec table;
  table.caption = "The numbers, as gallery.json has them";
  table.columns = {{"Name", false}, {"Value", true}};
  table.folded = true;
  for (const auto& [name, value] : e.numbers) table.rows.push_back({name, number_text(value, 5)});
  page.table(table);
}

void add_experiment(Page& page, const Experiment& e, const std::string& anchor) {
  page.section(heading_of(e), anchor);
  if (!e.see.empty()) page.paragraph(e.see);
  if (!e.equation.empty()) page.formula(e.equation);
  std::vector<Check> checks;
  for (const Claim& claim : e.claims) checks.push_back({claim.text, claim.held});
  page.checks(checks);
  std::vector<Chart> charts;
  for (const Figure& figure : e.figures) charts.push_back(figure_chart(figure));
  page.charts(charts);
  for (const ImageStrip& strip : e.images) {
    check_strip(strip);
    if (!strip.lines.empty()) page.images(strip_figure(strip));
  }
  for (const ExperimentTable& table : e.tables) add_table(page, table);
  add_numbers(page, e);
  page.list(e.notes);
  Facts facts;
  for (const auto& [key, value] :
       Facts{{"Source", e.source}, {"Data", e.data}, {"Program", e.program}, {"Time", seconds_text(e.seconds)}}) {
    if (!value.empty()) facts.emplace_back(key, value);
  }
  page.facts(facts);
}

Json words_json(const std::vector<std::string>& words) {
  Json out = Json::array();
  for (const std::string& word : words) out.push_back(clean_text(word));
  return out;
}

Json experiment_json(const Experiment& e) {
  Json claims = Json::array();
  for (const Claim& claim : e.claims) claims.push_back({{"text", clean_text(claim.text)}, {"held", claim.held}});
  Json numbers = Json::object();
  for (const auto& [name, value] : e.numbers) numbers[clean_text(name)] = finite(value);
  Json tables = Json::array();
  for (const ExperimentTable& table : e.tables) {
    Json rows = Json::array();
    for (const auto& row : table.rows) rows.push_back(words_json(row));
    tables.push_back({{"caption", clean_text(table.caption)}, {"columns", words_json(table.columns)}, {"rows", rows}});
  }
  Json charts = Json::array();
  for (const Figure& figure : e.figures)
    charts.push_back({{"title", clean_text(figure.title)}, {"description", clean_text(figure.description)}, {"spec", figure_spec(figure)}});
  return {{"title", clean_text(e.title)},
          {"source", clean_text(e.source)},
          {"equation", clean_text(e.equation)},
          {"data", clean_text(e.data)},
          {"see", clean_text(e.see)},
          {"held", e.held()},
          {"claims", claims},
          {"numbers", numbers},
          {"tables", tables},
          {"charts", charts},
          {"notes", words_json(e.notes)},
          {"program", clean_text(e.program)},
          {"seconds", finite(e.seconds)}};
}

}  // namespace

}  // namespace report

std::string gallery_page(const GalleryReport& gallery) {
  using namespace report;
  const std::vector<std::string> anchors = anchors_of(gallery.experiments);
  const std::size_t n = gallery.experiments.size();
  const auto held = std::count_if(gallery.experiments.begin(), gallery.experiments.end(), [](const Experiment& e) { return e.held(); });
  Page page("Gallery", gallery.setting);
  if (n == 0) {
    page.lead("No experiment was run.");
  } else if (held == std::ssize(gallery.experiments)) {
    page.lead(n == 1 ? "The experiment came out as its source says." : fmt::format("All {} experiments came out as their sources say.", n));
  } else {
    page.lead(fmt::format("{} of {} experiments came out as their sources say; what did not hold is marked.", held, n));
  }
  if (n > 0) add_overview(page, gallery, anchors);
  for (std::size_t i = 0; i < n; ++i) add_experiment(page, gallery.experiments[i], anchors[i]);
  return page.html();
}

std::string gallery_json(const GalleryReport& gallery) {
  // One experiment a line: whole lines change where it did.
  std::string out = "{";
  std::set<std::string> ids;
  for (const Experiment& e : gallery.experiments) {
    const std::string id = report::clean_text(e.id);
    if (!ids.insert(id).second)
      throw InvalidArgument(fmt::format("a gallery: there are two experiments \"{}\"; each needs an id of its own", id));
    out += ids.size() > 1 ? ",\n" : "\n";
    out += report::Json(id).dump() + ": " + report::experiment_json(e).dump();
  }
  return out + "\n}\n";
}

}  // namespace mercer

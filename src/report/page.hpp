// A small builder for self-contained pages: sections of text, tables and charts, in the order they are added.
//
//   Page page("Two samples", "a.csv against b.csv");
//   page.section("Verdict");
//   page.paragraph("They differ (p = 0.001).");
//   page.charts({{.title = "Null distribution", .description = "...", .spec = {...}}});
//   std::string html = page.html();
//
// Every string is plain text: the page escapes it. Charts are Vega-Lite specifications with inline data; field names must be fixed
// words, never names from users (Vega reads dots and brackets in them as paths).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer::report {

struct Chart {
  std::string title;
  std::string description;  // what a person who cannot see the chart should know
  nlohmann::json spec;
};

// A headline number: "0.213", "RMSE on 120 held-out rows", "95 %: 0.19 to 0.24".
struct Tile {
  std::string value;
  std::string label;
  std::string note;
};

struct TableColumn {
  std::string title;
  bool numeric = false;
};

struct TableSpec {
  std::string caption;  // read by screen readers, shown above the table
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<double> bars;            // one in [0, 1] per row: a bar behind the last column; empty: none
  std::size_t visible = 12;            // further rows wait behind a fold
  int marked = -1;                     // this row stands out
  std::vector<bool> soft{};            // rows that stand back, one for each; empty: none
  std::vector<std::string> anchors{};  // one per row: the section its first cell leads to; empty: none
  bool folded = false;                 // all of it waits behind a fold
};

// Something that was to hold, and whether it did.
struct Check {
  std::string text;
  bool held = false;
};

// Lines of small grey images, drawn by the browser without a script: each line one picture, magnified without smoothing.
struct ImageFigure {
  std::string title;
  std::string description;
  std::vector<std::pair<std::string, Matrix>> lines;  // a title, and grey levels in [0, 1]; NaN is transparent
};

using Facts = std::vector<std::pair<std::string, std::string>>;

class Page {
 public:
  Page(std::string title, std::string subtitle);

  void lead(const std::string& text);  // the answer, in large type
  // `anchor`: a name for links to this section, of letters, digits and hyphens.
  void section(const std::string& title, const std::string& anchor = "");
  void paragraph(const std::string& text);
  void formula(const std::string& text);
  void list(const std::vector<std::string>& items);
  void checks(const std::vector<Check>& checks);
  void facts(const Facts& facts);
  void tiles(const std::vector<Tile>& tiles);
  void table(const TableSpec& table);
  void charts(const std::vector<Chart>& charts);  // side by side where there is room
  void images(const ImageFigure& figure);
  void code(const std::string& text);
  // How every page ends: facts of the run, what is to be known of the data, the command that makes the page again.
  void run(const Facts& facts, const std::vector<std::string>& notes, const std::string& command);

  std::string html() const;

 private:
  void close_section();

  std::string title_;
  std::string subtitle_;
  std::string body_;
  bool section_open_ = false;
  int n_sections_ = 0;
  int n_charts_ = 0;
};

// The style sheet and the chart script; the latter is empty when Mercer was built without charts.
std::string_view style_sheet();
std::string_view chart_script();

}  // namespace mercer::report

// Pages about rows in time order: a series with its changes (`mercer changes`), a stream with its alarms (`mercer drift`).
//
//   SeriesReport page{.title = "2 changes", .source = "well.csv", .verdict = "..."};
//   page.panels.push_back({.title = "The series", .lines = {{"depth", values}}, .marks = {100, 200}});
//   write_text_file(series_report(page), "well.html");
//
// Names, words and cells are data: escaped in HTML and in script. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "mercer/exploration_report.hpp"
#include "mercer/matrix.hpp"

namespace mercer {

// Lines over a common axis: row numbers from 0, unless `first` says where they begin.
struct SeriesPanel {
  struct Line {
    std::string name{};
    Vector values{};  // not finite: a gap
  };
  std::string title{};
  std::string description{};
  std::string axis = "row";
  std::string unit{};  // of the lines
  Index first = 0;
  std::vector<Line> lines{};
  std::vector<double> marks{};  // places of vertical lines
};

// A headline: "2", "changes", "in 300 rows".
struct ReportNumber {
  std::string value{};
  std::string label{};
  std::string note{};
};

struct SeriesReport {
  std::string title{};
  std::string source{};
  std::string command{};
  std::string verdict{};
  std::vector<ReportNumber> numbers{};  // a few, in large type
  std::vector<SeriesPanel> panels{};
  std::string table_caption{};
  std::vector<std::string> table_columns{};  // all but the first of numbers; none: no table
  std::vector<std::vector<std::string>> table_rows{};
  ReportFacts facts{};
  std::vector<std::string> notes{};
};

// Throws InvalidArgument where the sizes do not agree.
std::string series_report(const SeriesReport& report);

}  // namespace mercer

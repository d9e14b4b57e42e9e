// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/series_report.hpp"

#include <gtest/gtest.h>

#include "mercer/error.hpp"
#include "unit/report/html.hpp"

namespace mercer::report {
namespace {

using mercer::testing::specs_of;
using mercer::testing::without_script;

SeriesReport series() {
  SeriesReport r{.title = "1 change", .source = "a.csv", .command = "mercer changes a.csv", .verdict = "It changes."};
  r.panels.push_back({.title = "The series", .description = "100 rows.", .lines = {{"a", Vector::LinSpaced(100, 0, 1)}}, .marks = {50}});
  r.table_caption = "Segments";
  r.table_columns = {"rows", "mean"};
  r.table_rows = {{"0 to 49", "0.2"}, {"50 to 99", "0.7"}};
  r.facts = {{"Kernel", "gaussian(2)"}};
  return r;
}

TEST(SeriesReport, ShowsLinesMarksAndTable) {
  const std::string page = series_report(series());
  EXPECT_NE(page.find("1 change"), std::string::npos);
  EXPECT_NE(page.find("50 to 99"), std::string::npos);
  const auto specs = specs_of(page);
  if (specs.empty()) GTEST_SKIP() << "built without charts";
  ASSERT_EQ(specs[0]["layer"].size(), 2U);
  EXPECT_EQ(specs[0]["layer"][0]["data"]["values"].size(), 100U);
  EXPECT_EQ(specs[0]["layer"][1]["data"]["values"][0]["x"], 50);
}

TEST(SeriesReport, NamesAreData) {
  SeriesReport r = series();
  const std::string hostile = "</script><b>";
  r.title = r.source = r.verdict = r.command = r.table_caption = hostile;
  r.panels[0].title = r.panels[0].description = r.panels[0].lines[0].name = r.panels[0].axis = r.panels[0].unit = hostile;
  r.table_columns[0] = r.table_rows[0][0] = hostile;
  r.notes = {hostile};
  EXPECT_EQ(without_script(series_report(r)).find(hostile), std::string::npos);
}

TEST(SeriesReport, RefusesWhatDoesNotAgree) {
  SeriesReport r = series();
  r.table_rows[0].pop_back();
  EXPECT_THROW(series_report(r), InvalidArgument);
  r = series();
  r.panels[0].lines.clear();
  EXPECT_THROW(series_report(r), InvalidArgument);
}

}  // namespace
}  // namespace mercer::report

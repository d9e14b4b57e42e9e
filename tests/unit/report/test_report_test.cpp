// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/test_report.hpp"

#include <gtest/gtest.h>

#include "mercer/error.hpp"
#include "mercer/report.hpp"
#include "report/test_charts.hpp"
#include "unit/report/html.hpp"

namespace mercer::report {
namespace {

using mercer::testing::count_of;
using mercer::testing::specs_of;
using mercer::testing::without_script;
using nlohmann::json;

const std::string hostile = std::string("</script><b>\u2028") + '\0';

TestReport compared() {
  TestReport r{.title = "Two samples", .source = "a.csv and b.csv", .command = "mercer compare a.csv b.csv"};
  r.question = "Do the rows of a.csv and b.csv come from one distribution?";
  r.verdict = "The samples differ (p = 0.001).";
  r.statistic_name = "mmd-u";
  r.statistic = 0.5;
  r.p_value = 0.001;
  r.rejected = true;
  r.threshold = 0.2;
  r.method = "permutation";
  r.description = "1000 exchanges of rows; exact level";
  r.null = Vector::LinSpaced(100, -0.1, 0.3);
  r.samples = {{"a.csv", 3}, {"b.csv", 2}};
  r.sample_names = {"a.csv", "b.csv"};
  r.telling_columns = {"age", "dose"};
  r.telling = {{.sample = "a.csv", .row = 2, .witness = 0.25, .cells = {"31", "0.5"}},
               {.sample = "b.csv", .row = 1, .witness = -0.125, .cells = {"60", "0.1"}}};
  r.columns = {{.name = "dose", .statistic = 0.1, .share = 0.2, .p_value = 0.5},
               {.name = "age", .statistic = 0.4, .share = 0.8, .p_value = 0.01}};
  r.remarks = {"the kernel linear is not characteristic"};
  r.facts = {{"Kernel", "gaussian(2)"}};
  r.notes = {"Column id was left out."};
  return r;
}

TEST(TestReport, SaysWhatWasFound) {
  const std::string html = without_script(test_report(compared()));
  for (const char* part :
       {"<h1>Two samples</h1>", "a.csv and b.csv", "The samples differ (p = 0.001).", "Do the rows of a.csv", "at most 0.05: rejected",
        "threshold 0.2", "1000 exchanges of rows; exact level", "gaussian(2)", "the kernel linear is not characteristic",
        "Column id was left out.", "mercer compare a.csv b.csv</code>", "80.0 %", "most telling rows", ">31</td>"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(count_of(html, "<figure"), 2U);  // the null and the columns
  TestReport accepted = compared();
  accepted.rejected = false;
  accepted.p_value = 0.4;
  EXPECT_NE(test_report(accepted).find("above 0.05: not rejected"), std::string::npos);
}

TEST(TestReport, NullHasTheStatisticAndTheThreshold) {
  const json spec = null_chart(compared()).spec;
  const json& layers = spec["layer"];
  ASSERT_EQ(layers.size(), 5U);  // bars, and a line with its name for each of the two
  Index counted = 0;
  for (const json& bar : layers[0]["data"]["values"]) counted += bar["n"].get<Index>();
  EXPECT_EQ(counted, 100);
  EXPECT_EQ(layers[0]["data"]["values"][0]["a"], -0.1);
  EXPECT_EQ(layers[1]["data"]["values"][0]["v"], 0.2);
  EXPECT_EQ(layers[3]["data"]["values"][0]["v"], 0.5);
  EXPECT_GT(layers[0]["encoding"]["x"]["scale"]["domain"][1].get<double>(), 0.5);

  TestReport flat = compared();  // a constant null, and no threshold
  flat.null = Vector::Constant(50, 0.1);
  flat.threshold = std::numeric_limits<double>::infinity();
  const json one = null_chart(flat).spec;
  EXPECT_EQ(one["layer"].size(), 3U);
  counted = 0;
  for (const json& bar : one["layer"][0]["data"]["values"]) counted += bar["n"].get<Index>();
  EXPECT_EQ(counted, 50);
  flat.null.resize(0);
  EXPECT_EQ(count_of(without_script(test_report(flat)), "<figure"), 1U);
}

TEST(TestReport, ColumnsAreSortedByWhatTheyCarry) {
  const json spec = contributions_chart(compared().columns).spec;
  EXPECT_EQ(spec["data"]["values"][0]["name"], "age");
  EXPECT_EQ(spec["data"]["values"][0]["v"], 0.8);
  std::vector<ColumnContribution> many;
  for (int i = 0; i < 50; ++i) many.push_back({.name = "c" + std::to_string(i), .statistic = static_cast<double>(i)});
  const Chart chart = contributions_chart(many);
  EXPECT_EQ(chart.spec["data"]["values"].size(), 30U);
  EXPECT_EQ(chart.spec["data"]["values"][0]["name"], "c49");
  EXPECT_NE(chart.description.find("30 largest of 50"), std::string::npos);
}

TEST(TestReport, WitnessOverOneColumnAndTwo) {
  TestReport r = compared();
  r.curves = {{.column = "age", .at = Vector{{0, 1, 2}}, .values = Vector{{-1, 0, 1}}, .sample_at = {{0.5, 1}, {2}}}};
  const json curve = witness_curve_chart(r.curves[0], r.sample_names).spec;
  EXPECT_EQ(curve["layer"][0]["data"]["values"][2], (json{{"x", 2.0}, {"v", 1.0}}));
  EXPECT_EQ(curve["layer"][1]["data"]["values"].size(), 2U);
  EXPECT_EQ(curve["layer"][2]["data"]["values"][0], (json{{"x", 2.0}, {"w", "b.csv"}}));

  r.map = {.x_name = "age", .y_name = "dose", .x = Vector{{0, 1, 2}}, .y = Vector{{0, 2}}, .values = Matrix::Constant(2, 3, 0.5)};
  r.points = Matrix::Zero(2, 2);
  r.point_color = {.name = "sample", .words = {"a.csv", "b.csv"}};
  const json map = witness_map_chart(r).spec;
  EXPECT_EQ(map["layer"][0]["data"]["values"].size(), 6U);
  EXPECT_EQ(map["layer"][0]["data"]["values"][5], (json{{"a", 1.5}, {"b", 2.5}, {"c", 1.0}, {"d", 3.0}, {"v", 0.5}}));
  EXPECT_EQ(map["layer"][1]["data"]["values"].size(), 2U);
  EXPECT_EQ(map["layer"][1]["encoding"]["color"]["scale"]["domain"], json({"a.csv", "b.csv"}));
  r.sample_names = {"b.csv", "a.csv"};  // the order of the samples, not of the alphabet
  EXPECT_EQ(rows_chart(r).spec["encoding"]["color"]["scale"]["domain"], json({"b.csv", "a.csv"}));
  EXPECT_EQ(count_of(without_script(test_report(r)), "<figure"), 4U);
}

TEST(TestReport, VariablesByTheirKind) {
  const ColorColumn numbers{.name = "age", .numbers = {1, 2, 3, 4}};
  const ColorColumn words{.name = "kind", .words = {"a", "a", "b", "b"}};
  const ColorColumn other{.name = "side", .words = {"l", "l", "l", "r"}};
  EXPECT_EQ(pair_chart(numbers, numbers).spec["data"]["values"][3]["y"], 4.0);
  EXPECT_EQ(pair_chart(words, numbers).spec["mark"]["type"], "boxplot");
  EXPECT_EQ(pair_chart(numbers, words).spec["data"]["values"][2], (json{{"w", "b"}, {"v", 3.0}}));
  const json counts = pair_chart(words, other).spec["data"]["values"];
  ASSERT_EQ(counts.size(), 4U);
  EXPECT_EQ(counts[0]["n"], 2.0);  // a, l: 1.5 expected
  EXPECT_EQ(counts[0]["e"], 1.5);
  EXPECT_EQ(counts[1]["n"], 0.0);
  ColorColumn many{.name = "city", .words = {}};
  for (int i = 0; i < 60; ++i) many.words.push_back("w" + std::to_string(i < 30 ? i : i % 10));
  EXPECT_EQ(pair_chart(many, many).spec["data"]["values"].size(), 400U);  // 19 words and the rest
}

TEST(TestReport, LevelAndTables) {
  TestReport r = compared();
  r.level_p_values = Vector{{0, 0.02, 0.5, 1}};
  r.level_sentence = "The level is about 0.05.";
  r.tables = {{.title = "Pairs", .caption = "All pairs.", .columns = {"A", "p"}, .numeric = {false, true}, .rows = {{"x", "0.5"}}}};
  const std::string html = without_script(test_report(r));
  EXPECT_NE(html.find("The level is about 0.05."), std::string::npos);
  EXPECT_NE(html.find("<h2 id=\"s4\">Columns"), std::string::npos);
  EXPECT_NE(html.find("All pairs."), std::string::npos);
  const json bars = level_chart(r.level_p_values, 0.05).spec["layer"][0]["data"]["values"];
  EXPECT_EQ(bars.size(), 20U);
  EXPECT_EQ(bars[0]["n"], 2);
  EXPECT_EQ(bars[19]["n"], 1);
}

TEST(TestReport, HostileTextStaysText) {
  TestReport r = compared();
  r.title = r.source = r.command = r.question = r.verdict = r.statistic_name = r.method = r.description = hostile;
  r.samples = {{hostile, 3}, {hostile, 2}};
  r.sample_names = {hostile, hostile};
  r.telling_columns = {hostile, hostile};
  r.telling[0] = {.sample = hostile, .row = 1, .witness = 1, .cells = {hostile, hostile}};
  r.columns[0].name = r.columns[1].name = hostile;
  r.remarks = r.notes = {hostile};
  r.facts = {{hostile, hostile}};
  r.x = {.name = hostile, .words = {hostile, "a.b[0]"}};
  r.y = {.name = hostile, .words = {hostile, "\xFF"}};
  r.curves = {{.column = hostile, .at = Vector{{0, 1}}, .values = Vector{{0, 1}}, .sample_at = {{0}, {1}}}};
  r.map = {.x_name = hostile, .y_name = hostile, .x = Vector{{0, 1}}, .y = Vector{{0, 1}}, .values = Matrix::Zero(2, 2)};
  r.tables = {{.title = hostile, .caption = hostile, .columns = {hostile}, .numeric = {}, .rows = {{hostile}}}};
  r.level_sentence = hostile;
  const std::string html = test_report(r);
  EXPECT_EQ(count_of(html, "<script"), count_of(html, "</script"));
  EXPECT_EQ(html.find("<b>\u2028"), std::string::npos);
  EXPECT_EQ(html.find('\0'), std::string::npos);
  if (!charts_available()) return;
  for (const json& spec : specs_of(html)) EXPECT_FALSE(spec.empty());
}

TEST(TestReport, WrongSizesAreSaid) {
  EXPECT_THROW(test_report({}), InvalidArgument);
  TestReport r = compared();
  r.telling[0].cells.pop_back();
  EXPECT_THROW(test_report(r), InvalidArgument);
  r = compared();
  r.curves = {{.column = "age", .at = Vector::Zero(3), .values = {}, .sample_at = {}}};
  EXPECT_THROW(test_report(r), InvalidArgument);
  r = compared();
  r.map.values = Matrix::Zero(2, 2);
  EXPECT_THROW(test_report(r), InvalidArgument);
  r = compared();
  r.x.numbers = {1, 2};
  EXPECT_THROW(test_report(r), InvalidArgument);
  r = compared();
  r.statistic = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(test_report(r), InvalidArgument);
  r = compared();
  r.null[3] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(test_report(r), InvalidArgument);
}

}  // namespace
}  // namespace mercer::report

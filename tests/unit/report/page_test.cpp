// SPDX-License-Identifier: BSD-3-Clause
#include "report/page.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "mercer/error.hpp"
#include "mercer/report.hpp"
#include "unit/report/html.hpp"

namespace mercer::report {
namespace {

using mercer::testing::count_of;
using mercer::testing::without_script;

const std::string hostile = "</script><b onload='x'>";

Page page_with_everything(const std::string& text) {
  Page page(text, text);
  page.lead(text);
  page.tiles({{text, text, text}});
  page.section(text, text);
  page.paragraph(text);
  page.formula(text);
  page.checks({{text, true}, {text, false}});
  page.list({text, text});
  page.facts({{text, text}});
  page.table({.caption = text,
              .columns = {{text, false}, {text, true}},
              .rows = {{text, text}, {text, text}},
              .bars = {0.5, 2},
              .marked = 1,
              .anchors = {text}});
  page.charts({{.title = text, .description = text, .spec = {{"title", text}, {"data", {{"values", {{{"x", text}}}}}}}}});
  page.code(text);
  return page;
}

TEST(Page, EveryPlaceEscapes) {
  const std::string html = page_with_everything(hostile).html();
  EXPECT_EQ(html.find("<b onload"), std::string::npos);
  // Every script element that opens is closed once, by the page and not by the text.
  EXPECT_EQ(count_of(html, "</script"), count_of(html, "<script"));
  EXPECT_EQ(count_of(html, "<script"), charts_available() ? 2U : 0U);
}

TEST(Page, ElementsAreBalanced) {
  const std::string html = without_script(page_with_everything("x").html());
  for (const char* tag :
       {"html",  "head",  "body",  "header", "main", "footer", "section", "div",    "p",          "ul",  "li",   "dl", "dt", "dd",
        "table", "thead", "tbody", "tr",     "th",   "td",     "caption", "figure", "figcaption", "pre", "code", "h1", "h2"}) {
    const std::regex open(std::string("<") + tag + "[ >]");
    const auto opened = std::distance(std::sregex_iterator(html.begin(), html.end(), open), {});
    EXPECT_EQ(static_cast<std::size_t>(opened), count_of(html, std::string("</") + tag + ">")) << tag;
  }
}

TEST(Page, AsksNothingOfTheNetwork) {
  const std::string html = without_script(page_with_everything("x").html());
  EXPECT_EQ(html.find("http:"), std::string::npos);
  EXPECT_EQ(html.find("https:"), std::string::npos);
  EXPECT_EQ(html.find("url("), std::string::npos);
  EXPECT_EQ(html.find("@import"), std::string::npos);
  EXPECT_EQ(html.find(" src="), std::string::npos);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(Page, TablesTellTheirHeaders) {
  Page page("t", "s");
  page.section("S");
  page.table({.caption = "Two numbers", .columns = {{"Name", false}, {"Value", true}}, .rows = {{"a", "1"}}, .bars = {}});
  const std::string html = page.html();
  EXPECT_NE(html.find("<caption>Two numbers</caption>"), std::string::npos);
  EXPECT_NE(html.find("<th scope=\"col\" class=\"number\">Value</th>"), std::string::npos);
  EXPECT_NE(html.find("<th scope=\"row\">a</th><td class=\"number\">1</td>"), std::string::npos);
}

TEST(Page, TablesLeadToSections) {
  Page page("t", "s");
  page.table({.caption = "c", .columns = {{"n", false}}, .rows = {{"a"}, {"b"}}, .bars = {}, .anchors = {"first", ""}});
  page.section("S", "first");
  const std::string html = page.html();
  EXPECT_NE(html.find("<th scope=\"row\"><a href=\"#first\">a</a></th>"), std::string::npos);
  EXPECT_NE(html.find("<th scope=\"row\">b</th>"), std::string::npos);
  EXPECT_NE(html.find("<section id=\"first\" aria-labelledby=\"s1\">"), std::string::npos);
}

TEST(Page, ChecksSayWhetherTheyHeld) {
  Page page("t", "s");
  page.checks({});
  EXPECT_EQ(page.html().find("class=\"checks\""), std::string::npos);
  page.checks({{"yes", true}, {"no", false}});
  EXPECT_NE(page.html().find("<li class=\"held\"><span class=\"mark\">held</span><span>yes</span></li>"), std::string::npos);
  EXPECT_NE(page.html().find("<li class=\"broken\"><span class=\"mark\">not held</span><span>no</span></li>"), std::string::npos);
}

TEST(Page, LongTablesFold) {
  TableSpec table{.caption = "c", .columns = {{"n", true}}, .rows = {}, .bars = {}, .visible = 3};
  for (int i = 0; i < 5; ++i) table.rows.push_back({std::to_string(i)});
  Page unfolded("t", "s");
  unfolded.table(table);
  EXPECT_EQ(unfolded.html().find("<details>"), std::string::npos);
  table.rows.push_back({"5"});
  Page folded("t", "s");
  folded.table(table);
  const std::string html = folded.html();
  EXPECT_NE(html.find("<summary>3 more</summary>"), std::string::npos);
  EXPECT_EQ(count_of(html, "<th scope=\"row\""), 6U);
}

TEST(Page, ChartsCarryTheirDescription) {
  Page page("t", "s");
  page.charts({{.title = "Shape", .description = "It rises.", .spec = {{"mark", "line"}}}});
  const std::string html = page.html();
  EXPECT_NE(html.find("<b>Shape</b><span>It rises.</span>"), std::string::npos);
  if (charts_available()) {
    EXPECT_NE(html.find("role=\"img\" aria-label=\"Shape. It rises.\""), std::string::npos);
    EXPECT_NE(html.find("<script type=\"application/json\">{\"mark\":\"line\"}</script>"), std::string::npos);
    EXPECT_NE(html.find(std::string(chart_script().substr(0, 60))), std::string::npos);
  } else {
    EXPECT_NE(html.find("npm ci"), std::string::npos);
    EXPECT_EQ(html.find("<script"), std::string::npos);
  }
}

TEST(Page, WithoutChartsThereIsNoScript) {
  Page page("t", "s");
  page.paragraph("x");
  EXPECT_EQ(page.html().find("<script"), std::string::npos);
  EXPECT_LT(page.html().size(), 20000U);
}

TEST(ChartScript, CanStandInsideAScriptElement) {
  const std::string script(chart_script());
  if (script.empty()) GTEST_SKIP() << "built without the chart libraries";
  EXPECT_EQ(script.find("</script"), std::string::npos);
  EXPECT_EQ(script.find("<!--"), std::string::npos);
  EXPECT_EQ(script.find('\0'), std::string::npos);
  EXPECT_NE(script.find("vega-lite"), std::string::npos);
  for (const char c : script) ASSERT_TRUE(static_cast<unsigned char>(c) < 0x80);
}

TEST(WriteTextFile, WritesAndNamesWhatFails) {
  const std::string path = ::testing::TempDir() + "mercer_report_test.html";
  write_text_file("first, longer", path);
  write_text_file("second", path);
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "second");
  std::remove(path.c_str());
  try {
    write_text_file("x", "/nonexistent-folder/report.html");
    FAIL() << "no exception";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent-folder/report.html"), std::string::npos);
  }
}

}  // namespace
}  // namespace mercer::report

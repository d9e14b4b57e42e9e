// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/gallery_report.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "mercer/error.hpp"
#include "mercer/report.hpp"
#include "unit/report/html.hpp"

namespace mercer {
namespace {

using mercer::testing::count_of;
using mercer::testing::specs_of;
using mercer::testing::without_script;
using nlohmann::json;

const std::string hostile = "</script><b>";

Experiment experiment(const std::string& id) {
  Experiment e{
      .id = id, .title = "Ridge is calm", .source = "K fig 1-2", .equation = "ŵ = (XᵀX + nλI)⁻¹ Xᵀy", .data = "made of a polynomial"};
  e.see = "The dashed line wiggles.";
  e.figures.push_back(
      {.title = "Two fits", .description = "A line.", .x_title = "x", .layers = {figures::line(Vector{{0, 1}}, Vector{{0, 1}}, "ridge")}});
  e.images.push_back({.height = 1, .width = 2, .lines = {{"digits", Matrix::Zero(1, 2)}}});
  e.tables.push_back({.caption = "Test RMSE", .columns = {"kernel", "RMSE"}, .rows = {{"gaussian", "0.31"}}});
  e.numbers = {{"rmse_gaussian", 0.31}, {"rmse_of_nothing", std::numeric_limits<double>::quiet_NaN()}};
  e.claims = {{"ridge wiggles less", true}};
  e.notes = {"The source has a slip."};
  e.program = "examples/gallery/e01_ridge.cpp";
  e.seconds = 1.25;
  return e;
}

TEST(Gallery, ClaimsDecide) {
  Experiment e = experiment("E1");
  EXPECT_TRUE(e.held());
  e.claims.push_back({"the sky is green", false});
  EXPECT_FALSE(e.held());
  e.claims.clear();
  EXPECT_FALSE(e.held());  // what claims nothing shows nothing
}

TEST(GalleryPage, HasASectionForEachAndLinksToThem) {
  GalleryReport report{.experiments = {experiment("E1"), experiment("E2")}, .command = "mercer gallery --quick", .setting = "a quick run"};
  report.experiments[1].claims.push_back({"the sky is green", false});
  const std::string html = without_script(gallery_page(report));
  for (const char* part : {"<section id=\"E1\"", "<a href=\"#E1\">E1: Ridge is calm</a>", "<a href=\"#E2\">", "a quick run",
                           "<code>mercer gallery --quick</code>", "1 of 2 experiments came out", "<td>1 of 1</td>", "<td>1 of 2</td>",
                           "The dashed line wiggles.", "<p class=\"formula\">ŵ = (XᵀX + nλI)⁻¹ Xᵀy</p>",
                           "<li class=\"broken\"><span class=\"mark\">not held</span><span>the sky is green</span>", "K fig 1-2",
                           "made of a polynomial", "examples/gallery/e01_ridge.cpp", "The source has a slip.", "Test RMSE", "rmse_gaussian",
                           "<td class=\"number\">0.31</td>", "data:image/png"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(count_of(html, "<figure class=\"chart\""), 2U);
  EXPECT_EQ(gallery_page(report), gallery_page(report));
  report.experiments.pop_back();
  EXPECT_NE(gallery_page(report).find("The experiment came out as its source says."), std::string::npos);
  EXPECT_NE(gallery_page({}).find("No experiment was run."), std::string::npos);
}

TEST(GalleryPage, HostileTextStaysText) {
  Experiment e = experiment(hostile);
  e.title = e.source = e.equation = e.data = e.see = e.program = hostile;
  e.figures[0].title = e.figures[0].description = e.figures[0].x_title = e.figures[0].layers[0].name = hostile;
  e.images[0].lines[0].title = hostile;
  e.tables[0] = {.caption = hostile, .columns = {hostile}, .rows = {{hostile}}};
  e.numbers = {{hostile, 1}};
  e.claims = {{hostile, false}};
  e.notes = {hostile};
  const GalleryReport report{.experiments = {e, e}, .command = hostile, .setting = hostile};
  const std::string html = gallery_page(report);
  EXPECT_EQ(count_of(html, "<script"), count_of(html, "</script"));
  EXPECT_EQ(html.find("<b>\"</"), std::string::npos);
  EXPECT_EQ(without_script(html).find("</script>"), std::string::npos);
  EXPECT_NE(html.find("id=\"experiment-1\""), std::string::npos);  // an anchor is no place for such words, nor twice the same
  EXPECT_NE(html.find("href=\"#experiment-2\""), std::string::npos);
  if (!charts_available()) return;
  EXPECT_EQ(specs_of(html).at(0)["layer"][0]["encoding"]["x"]["title"], hostile);
}

TEST(GalleryJson, HasWhatIsPromised) {
  const GalleryReport report{.experiments = {experiment("E2"), experiment("E1")}};
  const json all = json::parse(gallery_json(report));
  ASSERT_EQ(all.size(), 2U);
  const auto ordered = nlohmann::ordered_json::parse(gallery_json(report));
  EXPECT_EQ(ordered.begin().key(), "E2");
  std::vector<std::string> keys;
  for (const auto& [key, value] : ordered["E1"].items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"title", "source", "equation", "data", "see", "held", "claims", "numbers", "tables", "charts",
                                            "notes", "program", "seconds"}));
  const json& e = all["E1"];
  EXPECT_EQ(e["equation"], "ŵ = (XᵀX + nλI)⁻¹ Xᵀy");
  EXPECT_EQ(e["held"], true);
  EXPECT_EQ(e["claims"], json::parse(R"([{"text": "ridge wiggles less", "held": true}])"));
  EXPECT_EQ(e["numbers"]["rmse_gaussian"], 0.31);
  EXPECT_TRUE(e["numbers"]["rmse_of_nothing"].is_null());
  EXPECT_EQ(e["tables"][0], json::parse(R"({"caption": "Test RMSE", "columns": ["kernel", "RMSE"], "rows": [["gaussian", "0.31"]]})"));
  EXPECT_EQ(e["charts"][0]["title"], "Two fits");
  EXPECT_EQ(e["charts"][0]["spec"], json::parse(vega_lite(report.experiments[1].figures[0])));
  EXPECT_EQ(e["seconds"], 1.25);
  EXPECT_EQ(json::parse(gallery_json({})), json::object());
  EXPECT_THROW(gallery_json({.experiments = {experiment("E1"), experiment("E1")}}), InvalidArgument);
}

TEST(GalleryJson, BytesThatAreNoTextAreReplaced) {
  Experiment e = experiment("E1");
  e.title = "\xFF\x01";
  e.claims[0].text = "\xC0";
  const json all = json::parse(gallery_json({.experiments = {e}}));
  EXPECT_EQ(all["E1"]["title"], "\uFFFD\uFFFD");
}

TEST(GalleryPage, SizesThatDoNotAgreeAreSaid) {
  Experiment e = experiment("E1");
  e.images[0].lines[0].pixels = Matrix::Zero(1, 3);
  EXPECT_THROW(gallery_page({.experiments = {e}}), InvalidArgument);
  e = experiment("E1");
  e.figures[0].layers[0].y = Vector::Zero(7);
  EXPECT_THROW(gallery_page({.experiments = {e}}), InvalidArgument);
  EXPECT_THROW(gallery_json({.experiments = {e}}), InvalidArgument);
}

}  // namespace
}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/exploration_report.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

#include "mercer/error.hpp"
#include "mercer/report.hpp"
#include "report/exploration_charts.hpp"
#include "report/png.hpp"
#include "unit/report/html.hpp"

namespace mercer::report {
namespace {

using mercer::testing::count_of;
using mercer::testing::specs_of;
using mercer::testing::without_script;
using nlohmann::json;

const std::string hostile = std::string("</script><b>\u2028") + '\0';

EmbeddingReport embedding() {
  EmbeddingReport r{.method = "Kernel PCA", .source = "digits.csv", .command = "mercer embed kpca digits.csv"};
  r.verdict = "Two components hold 70 % of the variance.";
  r.scores.resize(4, 2);
  r.scores << 1, 2, 3, 4, 5, 6, 7, 8;
  r.names = {"PC1", "PC2"};
  r.color = {.name = "digit", .words = {"10", "9", "9", "2"}};
  r.explained = Vector{{0.5, 0.2, 0.05}};
  r.novelty = Vector{{0.1, 0.4, 0.2, 0.3}};
  r.facts = {{"Kernel", "gaussian(2)"}};
  r.notes = {"Column digit is left out."};
  return r;
}

ClusterReport clusters() {
  ClusterReport r{.method = "Kernel k-means", .source = "rows.csv", .command = "mercer cluster kmeans rows.csv"};
  r.verdict = "Three clusters.";
  r.labels = {0, 1, 1, 2, 2, 2};
  r.scores = Matrix::Random(6, 2);
  r.names = {"PC1", "PC2"};
  r.silhouettes = Vector{{0, 0.5, -0.1, 0.9, 0.8, 0.7}};
  r.candidates = {{.k = 1, .inertia = 9, .gap = 0.1, .gap_error = 0.02},
                  {.k = 2, .inertia = 5, .silhouette = 0.3, .gap = 0.2, .gap_error = 0.03},
                  {.k = 3, .inertia = 2, .silhouette = 0.6, .gap = 0.4, .gap_error = 0.01}};
  r.truth = {.name = "kind", .words = {"a", "b", "b", "c", "c", "a"}};
  return r;
}

TEST(EmbeddingReport, SaysWhatWasFound) {
  const std::string html = without_script(embedding_report(embedding()));
  for (const char* part :
       {"<h1>Kernel PCA</h1>", "of digits.csv", "Two components hold 70 %", "coloured by digit", "3 components have 75.0 %", "gaussian(2)",
        "Column digit is left out.", "<code>mercer embed kpca digits.csv</code>", "The most unusual rows"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(count_of(html, "<figure"), 2U);
  // The largest error is row 2, counted from 1, then 4.
  EXPECT_LT(html.find(">2</th>"), html.find(">4</th>"));
  EXPECT_EQ(embedding_report(embedding()), embedding_report(embedding()));
}

TEST(EmbeddingReport, PointsCarryTheirRowAndColour) {
  const EmbeddingReport r = embedding();
  const json spec = points_chart("t", r.scores, r.names, r.color).spec;
  EXPECT_EQ(spec["data"]["values"][2], (json{{"x", 5.0}, {"y", 6.0}, {"i", 3}, {"w", "9"}}));
  EXPECT_EQ(spec["encoding"]["color"]["scale"]["domain"], json({"2", "9", "10"}));  // numbers in their order
  EXPECT_EQ(spec["encoding"]["shape"]["field"], "w");
  EXPECT_EQ(spec["encoding"]["tooltip"][0]["title"], "row");
  EXPECT_EQ(spec["encoding"]["x"]["title"], "PC1");

  const json numbers = points_chart("t", r.scores, r.names, {.name = "price", .numbers = {1, 2, NAN, 4}}).spec;
  EXPECT_EQ(numbers["encoding"]["color"]["type"], "quantitative");
  EXPECT_TRUE(numbers["data"]["values"][2]["c"].is_null());
  const json plain = points_chart("t", r.scores, r.names, {}).spec;
  EXPECT_FALSE(plain["encoding"].contains("color"));
  const json flat = points_chart("t", r.scores.leftCols(1), r.names, {}).spec;
  EXPECT_EQ(flat["encoding"]["y"]["title"], "row");
  EXPECT_EQ(flat["data"]["values"][3]["y"], 4);
}

TEST(EmbeddingReport, ManyWordsShareAColour) {
  ColorColumn color{.name = "city", .words = {}};
  for (int i = 0; i < 60; ++i) color.words.push_back("w" + std::to_string(i < 30 ? i : i % 10));  // w0 .. w9 four times, w10 .. w29 once
  const json spec = points_chart("t", Matrix::Zero(60, 2), {}, color).spec;
  const json& domain = spec["encoding"]["color"]["scale"]["domain"];
  EXPECT_EQ(domain.size(), 20U);
  EXPECT_EQ(domain.back(), "(other)");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(std::count(domain.begin(), domain.end(), "w" + std::to_string(i)), 1) << i;
  EXPECT_EQ(spec["encoding"]["color"]["scale"]["scheme"], "tableau20");
  EXPECT_FALSE(spec["encoding"].contains("shape"));
}

TEST(EmbeddingReport, ManyRowsAreThinned) {
  const Chart chart = points_chart("t", Matrix::Zero(5000, 2), {}, {});
  EXPECT_EQ(chart.spec["data"]["values"].size(), 1667U);  // every third
  EXPECT_EQ(chart.spec["data"]["values"][1]["i"], 4);
  EXPECT_NE(chart.description.find(" of "), std::string::npos);
}

TEST(EmbeddingReport, SpectrumAddsUp) {
  const json spec = spectrum_chart(Vector{{0.5, 0.25, 0.125}}).spec;
  EXPECT_EQ(spec["data"]["values"][2], (json{{"j", 3}, {"share", 0.125}, {"sum", 0.875}}));
  EXPECT_EQ(spectrum_chart(Vector::Constant(200, 0.005)).spec["data"]["values"].size(), 50U);
}

TEST(EmbeddingReport, HostileTextStaysText) {
  EmbeddingReport r = embedding();
  r.method = r.source = r.command = r.verdict = hostile;
  r.names = {hostile, hostile};
  r.color = {.name = hostile, .words = {hostile, "a.b[0]", "\xFF", ""}};
  r.facts = {{hostile, hostile}};
  r.notes = {hostile};
  r.images = {.height = 1, .width = 2, .lines = {{hostile, Matrix::Zero(1, 2)}}};
  const std::string html = embedding_report(r);
  EXPECT_EQ(count_of(html, "<script"), count_of(html, "</script"));
  EXPECT_EQ(html.find("<b>\u2028"), std::string::npos);
  EXPECT_EQ(html.find('\0'), std::string::npos);
  if (!charts_available()) return;
  const json spec = specs_of(html).at(0);
  EXPECT_EQ(spec["encoding"]["x"]["title"], "</script><b>\u2028\uFFFD");
  EXPECT_EQ(spec["data"]["values"][0]["w"], "</script><b>\u2028\uFFFD");
  EXPECT_EQ(spec["encoding"]["x"]["field"], "x");
}

TEST(EmbeddingReport, WrongSizesAreSaid) {
  EmbeddingReport r = embedding();
  r.color.words.pop_back();
  EXPECT_THROW(embedding_report(r), InvalidArgument);
  r = embedding();
  r.novelty = Vector::Zero(3);
  EXPECT_THROW(embedding_report(r), InvalidArgument);
  r = embedding();
  r.images = {.height = 2, .width = 2, .lines = {{"a", Matrix::Zero(1, 5)}}};
  EXPECT_THROW(embedding_report(r), InvalidArgument);
  EXPECT_THROW(embedding_report({}), InvalidArgument);
  EXPECT_THROW(cluster_report({}), InvalidArgument);
  ClusterReport c = clusters();
  c.silhouettes = Vector::Zero(2);
  EXPECT_THROW(cluster_report(c), InvalidArgument);
}

// What a PNG reader would see: lengths, checksums, and the pixels after inflating.
std::string inflated_pixels(const std::string& png, std::size_t size) {
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::string pixels(size, '\0');
  std::size_t at = 8;
  const auto number = [&](std::size_t from) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png[from + i]);
    return value;
  };
  std::vector<std::string> names;
  while (at < png.size()) {
    const std::size_t length = number(at);
    names.push_back(png.substr(at + 4, 4));
    EXPECT_EQ(number(at + 8 + length), crc32(0, reinterpret_cast<const Bytef*>(png.data()) + at + 4, static_cast<uInt>(length + 4)));
    if (names.back() == "IDAT") {
      uLongf room = size;
      EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(pixels.data()), &room, reinterpret_cast<const Bytef*>(png.data()) + at + 8, length),
                Z_OK);
      EXPECT_EQ(room, size);
    }
    at += 12 + length;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"IHDR", "IDAT", "IEND"}));
  return pixels;
}

TEST(Png, HoldsThePixels) {
  Matrix grey(2, 3);
  grey << 0, 1, 0.5, -3, 7, NAN;
  const std::string pixels = inflated_pixels(png_of(grey), 14);
  EXPECT_EQ(pixels, std::string("\0\0\xFF\xFF\xFF\x80\xFF\0\0\xFF\xFF\xFF\0\0", 14));
}

TEST(Png, Base64) {  // RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xFE"), "//4=");
}

TEST(ImageStrips, LinesShareTheirShades) {
  Matrix clean(2, 4);
  clean << 0, 1, 2, 3, 4, 3, 2, 1;
  const ImageFigure figure = strip_figure({.height = 2, .width = 2, .lines = {{"original", clean}, {"noisy", 2 * clean}}});
  ASSERT_EQ(figure.lines.size(), 2U);
  const Matrix& picture = figure.lines[0].second;
  ASSERT_EQ(picture.rows(), 2);
  ASSERT_EQ(picture.cols(), 5);  // two images and what is between them
  EXPECT_EQ(picture(1, 0), 0.5);
  EXPECT_EQ(picture(0, 3), 1);
  EXPECT_TRUE(std::isnan(picture(0, 2)));
  EXPECT_EQ(figure.lines[1].second(0, 3), 2);
  EmbeddingReport r = embedding();
  r.images = {.height = 2, .width = 2, .lines = {{"original", clean}, {"noisy", clean}, {"denoised", clean}}};
  EXPECT_EQ(count_of(embedding_report(r), "src=\"data:image/png;base64,iVBORw0KGgo"), 3U);
}

TEST(ClusterReport, SaysWhatWasFound) {
  const std::string html = without_script(cluster_report(clusters()));
  for (const char* part : {"<h1>3 clusters</h1>", "in rows.csv, by Kernel k-means", "3 clusters of 1 to 3 rows.", "3, chosen, is marked.",
                           "Rows of each kind in each cluster.", "16.7 %", "Rows by kind"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(count_of(html, "<figure"), 6U);  // two scatters, sizes, silhouettes, silhouette and gap by k
  ClusterReport one = clusters();
  one.labels.assign(6, 0);
  one.scores.resize(0, 0);
  one.silhouettes.resize(0);
  one.candidates.clear();
  one.truth = {};
  EXPECT_EQ(count_of(without_script(cluster_report(one)), "<figure"), 1U);
}

TEST(ClusterReport, ChartsHaveTheNumbers) {
  const auto charts = candidate_charts(clusters().candidates, 3);
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_EQ(charts[0].spec["data"]["values"].size(), 2U);  // one cluster has no silhouette
  EXPECT_EQ(charts[0].spec["data"]["values"][1]["v"], 0.6);
  EXPECT_TRUE(charts[0].spec["data"]["values"][1]["best"]);
  EXPECT_NEAR(charts[1].spec["data"]["values"][1]["low"].get<double>(), 0.17, 1e-15);
  const json bars = silhouettes_chart(clusters().silhouettes, clusters().labels).spec["data"]["values"];
  std::vector<int> rows;
  for (const json& bar : bars) rows.push_back(bar["i"]);
  EXPECT_EQ(rows, (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(sizes_chart({1, 2, 3}).spec["data"]["values"][2], (json{{"c", 2}, {"n", 3}}));
}

TEST(ClusterReport, HostileTextStaysText) {
  ClusterReport r = clusters();
  r.method = r.source = r.command = r.verdict = hostile;
  r.truth = {.name = hostile, .words = {hostile, "b", "b", "c", "c", "a"}};
  r.notes = {hostile};
  const std::string html = cluster_report(r);
  EXPECT_EQ(count_of(html, "<script"), count_of(html, "</script"));
  EXPECT_EQ(html.find("<b>\u2028"), std::string::npos);
}

}  // namespace
}  // namespace mercer::report

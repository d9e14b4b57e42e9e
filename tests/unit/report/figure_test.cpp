// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/figure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "mercer/error.hpp"

namespace mercer {
namespace {

using nlohmann::json;

const std::string hostile = "</script><b>";
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

json spec_of(const FigureLayer& layer) { return json::parse(vega_lite({.title = "t", .layers = {layer}})); }

Figure figure_of(std::vector<FigureLayer> layers) { return {.title = "t", .x_title = "x", .y_title = "y", .layers = std::move(layers)}; }

// The points of a line between its gaps.
std::vector<std::vector<Eigen::Vector2d>> pieces_of(const FigureLayer& layer) {
  std::vector<std::vector<Eigen::Vector2d>> pieces(1);
  for (Index i = 0; i < layer.x.size(); ++i) {
    if (std::isnan(layer.x[i])) {
      pieces.emplace_back();
    } else {
      pieces.back().emplace_back(layer.x[i], layer.y[i]);
    }
  }
  return pieces;
}

Matrix square_grid(Index n) { return figures::grid_over(Matrix{{-2.0, -2.0}, {2.0, 2.0}}, n, n, 0); }

TEST(Histogram, CountsEveryValueOnce) {
  const FigureLayer h = figures::histogram(Vector{{0, 0.5, 1, 1.5, 4, nan, infinity}}, 4, "a");
  EXPECT_EQ(h.mark, Mark::bars);
  EXPECT_EQ(h.x, (Vector{{0, 1, 2, 3}}));
  EXPECT_EQ(h.x2, (Vector{{1, 2, 3, 4}}));
  EXPECT_EQ(h.y, (Vector{{2, 2, 0, 1}}));  // a bin begins at its lower edge; the last one has its upper edge too
  const FigureLayer density = figures::histogram(Vector::LinSpaced(1000, -3, 5), 16, "", true);
  EXPECT_NEAR((density.y.array() * (density.x2 - density.x).array()).sum(), 1, 1e-12);
}

TEST(Histogram, OneValueIsOneBar) {
  const FigureLayer h = figures::histogram(Vector::Constant(5, 7), 3);
  EXPECT_EQ(h.y.sum(), 5);
  EXPECT_EQ(h.y.maxCoeff(), 5);
  EXPECT_LT(h.x[0], 7);
  EXPECT_GT(h.x2[2], 7);
}

TEST(Histogram, NeedsBinsAndNumbers) {
  EXPECT_THROW(figures::histogram(Vector::Zero(3), 0), InvalidArgument);
  EXPECT_THROW(figures::histogram(Vector{{nan, infinity}}, 3), InvalidArgument);
  EXPECT_THROW(figures::distribution(Vector{}), InvalidArgument);
}

TEST(Distribution, IsTheShareAtOrBelow) {
  const FigureLayer d = figures::distribution(Vector{{3, 1, 2, 2, nan}}, "p");
  EXPECT_EQ(d.mark, Mark::step);
  EXPECT_EQ(d.x, (Vector{{1, 1, 2, 3}}));
  EXPECT_EQ(d.y, (Vector{{0, 0.25, 0.75, 1}}));
}

TEST(Contour, OfACircleLiesOnIt) {
  constexpr Index n = 41;
  const Matrix grid = square_grid(n);
  const Vector value = grid.rowwise().squaredNorm();
  const FigureLayer circle = figures::contour(grid, value, n, n, 1.0, "unit");
  const auto pieces = pieces_of(circle);
  ASSERT_EQ(pieces.size(), 1U);  // one closed line
  EXPECT_EQ(pieces[0].front(), pieces[0].back());
  // Linear interpolation of r² on a step h is off by at most h²/4 in r², half of that in r, and chords cut off as much again.
  const double h = 4.0 / (n - 1);
  double length = 0;
  for (std::size_t i = 0; i < pieces[0].size(); ++i) {
    EXPECT_NEAR(pieces[0][i].norm(), 1, h * h / 8 + 1e-12);
    if (i > 0) length += (pieces[0][i] - pieces[0][i - 1]).norm();
  }
  EXPECT_NEAR(length, 2 * M_PI, 2 * M_PI * h * h);
}

TEST(Contour, OfAPlaneIsStraightFromRimToRim) {
  const Matrix grid = square_grid(11);
  const auto pieces = pieces_of(figures::contour(grid, grid.col(0) - 0.5 * grid.col(1), 11, 11, 0.3));
  ASSERT_EQ(pieces.size(), 1U);
  for (const auto& p : pieces[0]) EXPECT_NEAR(p[0] - 0.5 * p[1], 0.3, 1e-12);
  EXPECT_NEAR(std::abs(pieces[0].front()[1]), 2, 1e-12);
  EXPECT_NEAR(std::abs(pieces[0].back()[1]), 2, 1e-12);
}

TEST(Contour, SaddlesAndHoles) {
  const Matrix grid = square_grid(9);
  const Vector saddle = grid.col(0).array() * grid.col(1).array() - 0.1;
  EXPECT_EQ(pieces_of(figures::contour(grid, saddle, 9, 9)).size(), 2U);  // the two arms of a hyperbola
  // One cell whose corners alternate: two lines, each cutting off a corner, by the mean of the corners.
  const Matrix cell{{0.0, 0.0}, {1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}};
  for (const double corner : {3.0, 0.5}) {
    const auto pieces = pieces_of(figures::contour(cell, Vector{{corner, -1, -1, corner}}, 2, 2));
    ASSERT_EQ(pieces.size(), 2U);
    for (const auto& piece : pieces) {
      ASSERT_EQ(piece.size(), 2U);
      const Eigen::Vector2d middle = (piece[0] + piece[1]) / 2;
      const bool cuts_a_high_corner = (middle[0] < 0.5) == (middle[1] < 0.5);
      EXPECT_EQ(cuts_a_high_corner, corner < 1) << corner;
    }
  }
  Vector holed = grid.col(0);
  holed[4 * 9 + 4] = nan;
  EXPECT_EQ(pieces_of(figures::contour(grid, holed, 9, 9, 0.1)).size(), 2U);
  EXPECT_EQ(figures::contour(grid, Vector::Ones(81), 9, 9).x.size(), 0);
}

TEST(Contour, SizesMustAgree) {
  EXPECT_THROW(figures::contour(square_grid(4), Vector::Zero(15), 4, 4), InvalidArgument);
  EXPECT_THROW(figures::contour(square_grid(4), Vector::Zero(16), 1, 16), InvalidArgument);
  EXPECT_THROW(figures::contour(Matrix::Zero(16, 3), Vector::Zero(16), 4, 4), InvalidArgument);
  EXPECT_THROW(figures::grid_over(Matrix(0, 2), 3, 3), InvalidArgument);
  EXPECT_THROW(figures::classes(Matrix::Zero(2, 2), {"a"}), InvalidArgument);
  EXPECT_THROW(figures::line(Vector::Zero(2), Vector::Zero(3)), InvalidArgument);
  EXPECT_THROW(figures::tiles(Matrix::Zero(2, 2), Vector::Zero(3)), InvalidArgument);
}

TEST(GridOver, FirstColumnChangesFastest) {
  const Matrix grid = figures::grid_over(Matrix{{0.0, 5.0}, {10.0, 5.0}}, 3, 2, 0.1);
  ASSERT_EQ(grid.rows(), 6);
  EXPECT_EQ(grid.col(0).head(3), (Vector{{-1, 5, 11}}));
  EXPECT_EQ(grid.col(1), (Vector{{4, 4, 4, 6, 6, 6}}));  // no spread: one unit around
}

TEST(VegaLite, NothingButNumbersAndNulls) {
  Figure figure = figure_of({figures::line(Vector{{0, 1, 2, 3}}, Vector{{1, nan, infinity, 4}}, "a")});
  json rows = json::parse(vega_lite(figure))["layer"][0]["data"]["values"];
  EXPECT_EQ(rows[0]["y"], 1);
  EXPECT_TRUE(rows[1]["y"].is_null());
  EXPECT_TRUE(rows[2]["y"].is_null());
  EXPECT_EQ(rows[3]["y"], 4);
  figure.layers = {figures::points(Vector{{1, 10, 100}}, Vector{{1, 0, -1}})};
  figure.log_y = true;
  rows = json::parse(vega_lite(figure))["layer"][0]["data"]["values"];
  EXPECT_FALSE(rows[0]["y"].is_null());
  EXPECT_TRUE(rows[1]["y"].is_null());  // there is no such place on a logarithmic axis
  EXPECT_TRUE(rows[2]["y"].is_null());
}

TEST(VegaLite, DigitsThatCanBeSeen) {
  const json rows =
      spec_of(figures::points(Vector{{2015.0, 2015.123456789, 2016}}, Vector{{1e-9, 2e-9, 1.23456789e-9}}))["layer"][0]["data"]["values"];
  EXPECT_NEAR(rows[1]["x"].get<double>(), 2015.123456789, 1e-5);
  EXPECT_EQ(rows[1]["x"].dump().size(), 10U);  // 2015.12346
  EXPECT_NEAR(rows[2]["y"].get<double>(), 1.23456789e-9, 1e-14);
}

TEST(VegaLite, NamesHaveColoursAndALegend) {
  FigureLayer other = figures::line(Vector{{0, 1}}, Vector{{0, 1}}, "ridge");
  FigureLayer soft = figures::dashed_line(Vector{{0, 1}}, Vector{{0, 1}}, "truth");
  soft.soft = true;
  const json spec =
      json::parse(vega_lite(figure_of({figures::points(Vector{{0, 1}}, Vector{{0, 1}}),
                                       figures::band(Vector{{0, 1}}, Vector{{0, 1}}, Vector{{1, 2}}, "ridge"), other, soft})));
  const json& layers = spec["layer"];
  ASSERT_EQ(layers.size(), 5U);  // the last brings the legend
  EXPECT_EQ(layers[0]["mark"]["color"], "var(--accent)");
  EXPECT_EQ(layers[1]["mark"]["color"], "var(--second)");
  EXPECT_EQ(layers[2]["mark"]["color"], "var(--second)");
  EXPECT_EQ(layers[3]["mark"]["color"], "var(--ink-soft)");
  EXPECT_TRUE(layers[3]["mark"].contains("strokeDash"));
  EXPECT_EQ(layers[4]["encoding"]["color"]["scale"]["domain"], json({"ridge", "truth"}));
  EXPECT_EQ(layers[4]["encoding"]["color"]["scale"]["range"], json({"var(--second)", "var(--ink-soft)"}));
  EXPECT_EQ(spec_of(figures::points(Vector{{0}}, Vector{{0}}))["layer"].size(), 1U);
}

TEST(VegaLite, WordsHaveColoursAndShapes) {
  const json spec =
      json::parse(vega_lite(figure_of({figures::classes(Matrix::Zero(3, 2), {"10", "9", "9"}, "digit"), figures::level(1, "limit")})));
  const json& color = spec["layer"][0]["encoding"]["color"];
  EXPECT_EQ(color["scale"]["domain"], json({"9", "10", "limit"}));  // numbers in their order
  EXPECT_EQ(color["field"], "w");
  EXPECT_EQ(spec["layer"][0]["encoding"]["shape"]["scale"]["range"][0], "circle");
  EXPECT_EQ(spec["layer"][0]["data"]["values"][0]["w"], "10");
  std::vector<std::string> many;
  for (int i = 0; i < 40; ++i) many.push_back("w" + std::to_string(i));
  const json crowd = json::parse(vega_lite(figure_of({figures::classes(Matrix::Zero(40, 2), many)})));
  EXPECT_EQ(crowd["layer"][0]["encoding"]["color"]["scale"]["domain"].size(), 20U);
  EXPECT_EQ(crowd["layer"][0]["encoding"]["color"]["scale"]["domain"][19], "(other)");
}

TEST(VegaLite, TilesCoverTheGridAndJoinWhereTheyAreEqual) {
  const Matrix grid = square_grid(5);  // steps of 1
  const json spec = spec_of({.mark = Mark::tiles, .x = grid.col(0), .y = grid.col(1), .words = std::vector<std::string>(25, "a")});
  const json& rows = spec["layer"][0]["data"]["values"];
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0]["x"], -2.5);
  EXPECT_EQ(rows[0]["X"], 2.5);
  EXPECT_EQ(rows[4]["Y"], 2.5);
  EXPECT_EQ(spec["layer"][0]["encoding"]["x"]["scale"]["domain"], json({-2.5, 2.5}));
  Vector value = grid.col(0);
  value[12] = nan;
  const json plane = spec_of(figures::tiles(grid, value, "f"));
  EXPECT_EQ(plane["layer"][0]["data"]["values"].size(), 24U);  // five levels across; nothing where there is no value
  const json& fill = plane["layer"][0]["encoding"]["fill"];
  EXPECT_EQ(fill["title"], "f");
  EXPECT_EQ(fill["scale"]["domain"], json({-2.0, 2.0}));
  const Matrix large = figures::grid_over(Matrix{{0.0, 0.0}, {1.0, 1.0}}, 400, 400);
  EXPECT_LE(spec_of(figures::tiles(large, large.col(0) + large.col(1)))["layer"][0]["data"]["values"].size(), 130U * 130U);
}

TEST(VegaLite, LargeLayersAreThinned) {
  const Vector x = Vector::LinSpaced(9000, 0, 1);
  EXPECT_LE(spec_of(figures::points(x, x))["layer"][0]["data"]["values"].size(), 2000U);
  Vector y = x;
  y[4321] = nan;
  const json rows = spec_of(figures::line(x, y))["layer"][0]["data"]["values"];
  EXPECT_LE(rows.size(), 2010U);
  EXPECT_EQ(rows.back()["x"], 1);  // lines keep their ends and their gaps
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [](const json& row) { return row["y"].is_null(); }), 1);
}

TEST(VegaLite, SquarePicturesHaveEqualUnits) {
  Figure figure = figure_of({figures::points(Vector{{0, 4}}, Vector{{0, 1}})});
  figure.square = true;
  const json spec = json::parse(vega_lite(figure));
  const auto length = [&](const char* axis) {
    const json domain = spec["layer"][0]["encoding"][axis]["scale"]["domain"];
    return domain[1].get<double>() - domain[0].get<double>();
  };
  EXPECT_NEAR(spec["width"].get<double>() / length("x"), spec["height"].get<double>() / length("y"), 0.7);  // whole pixels
  EXPECT_EQ(spec["width"], 350);
}

TEST(VegaLite, NamedBarsStandSideBySide) {
  const FigureLayer train{.mark = Mark::named, .name = "train", .y = Vector{{1, 2}}, .words = {"linear", "gaussian"}};
  FigureLayer test = train;
  test.name = "test";
  const json spec = json::parse(vega_lite(figure_of({train, test, figures::level(1.5)})));
  ASSERT_EQ(spec["layer"].size(), 3U);
  EXPECT_EQ(spec["layer"][0]["data"]["values"].size(), 4U);
  EXPECT_EQ(spec["layer"][0]["encoding"]["x"]["sort"], json({"linear", "gaussian"}));
  EXPECT_EQ(spec["layer"][0]["encoding"]["xOffset"]["scale"]["domain"], json({"train", "test"}));
  EXPECT_TRUE(spec["layer"][0]["encoding"]["y"]["scale"]["zero"]);
  EXPECT_THROW(vega_lite(figure_of({train, figures::points(Vector{{1}}, Vector{{1}})})), InvalidArgument);
}

TEST(VegaLite, FieldsAreFixedWordsAndTextIsText) {
  FigureLayer text{.mark = Mark::text, .x = Vector{{0}}, .y = Vector{{0}}, .words = {hostile + "a.b[0]"}};
  Figure figure =
      figure_of({figures::classes(Matrix::Zero(1, 2), {"\xFF"}, hostile), figures::line(Vector{{0}}, Vector{{0}}, hostile), text});
  figure.x_title = hostile;
  const json spec = json::parse(vega_lite(figure));
  EXPECT_EQ(spec["layer"][0]["encoding"]["x"]["title"], hostile);
  EXPECT_EQ(spec["layer"][0]["encoding"]["x"]["field"], "x");
  EXPECT_EQ(spec["layer"][0]["data"]["values"][0]["w"], "\uFFFD");
  EXPECT_EQ(spec["layer"][2]["data"]["values"][0]["w"], hostile + "a.b[0]");
}

TEST(VegaLite, WrongSizesAreSaid) {
  const Vector two = Vector::Zero(2);
  const Vector three = Vector::Zero(3);
  const std::vector<FigureLayer> wrong{
      {.mark = Mark::points, .x = two, .y = three},
      {.mark = Mark::points, .x = two, .y = two, .value = three},
      {.mark = Mark::points, .x = two, .y = two, .words = {"a"}},
      {.mark = Mark::points, .x = two, .y = two, .value = two, .words = {"a", "b"}},
      {.mark = Mark::line, .x = two, .y = two, .value = two},
      {.mark = Mark::line, .x = two, .y = two, .words = {"a", "b"}},
      {.mark = Mark::band, .x = two, .y = two},
      {.mark = Mark::bars, .x = two, .y = two},
      {.mark = Mark::segments, .x = two, .y = two, .x2 = two, .y2 = three},
      {.mark = Mark::tiles, .x = two, .y = two},
      {.mark = Mark::text, .x = two, .y = two},
      {.mark = Mark::named, .y = two},
      {.mark = Mark::upright, .x = two, .y = two},
      {.mark = Mark::level, .x = two, .y = two},
  };
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    try {
      vega_lite(figure_of({figures::level(0), wrong[i]}));
      FAIL() << "no exception for number " << i;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("layer 2 of the figure \"t\""), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(vega_lite({.title = "t", .height = 0}), InvalidArgument);
  EXPECT_NO_THROW(vega_lite({.title = "nothing in it"}));
}

}  // namespace
}  // namespace mercer

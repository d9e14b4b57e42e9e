// SPDX-License-Identifier: BSD-3-Clause
#include "report/learn_charts.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <tuple>

#include "report/families.hpp"
#include "unit/report/learn_result.hpp"

namespace mercer::report {
namespace {

using mercer::testing::classification_result;
using mercer::testing::regression_result;
using mercer::testing::two_class_result;

TEST(NumberCharts, HistogramCountsEveryRow) {
  const LearnResult r = regression_result();
  const nlohmann::json spec = number_charts(r).at(1).spec;
  const nlohmann::json& bars = spec["layer"][0]["data"]["values"];
  int total = 0;
  for (const auto& bar : bars) {
    const double low = bar["a"], high = bar["b"];
    const Vector residuals = r.test_truth_and_predicted.col(0) - r.test_truth_and_predicted.col(1);
    EXPECT_EQ(bar["n"].get<Index>(), (residuals.array() >= low && residuals.array() < high).count()) << low;
    total += bar["n"].get<int>();
  }
  EXPECT_EQ(total, 120);
}

TEST(NumberCharts, ManyRowsAreThinnedAndSaidSo) {
  LearnResult r = regression_result();
  r.test_truth_and_predicted = Matrix::Random(13221, 2);
  const auto charts = number_charts(r);
  EXPECT_EQ(charts[0].spec["layer"][1]["data"]["values"].size(), 1889U);  // every seventh
  EXPECT_NE(charts[0].description.find("1889 of 13\u202F221 held-out rows"), std::string::npos) << charts[0].description;
  int total = 0;
  for (const auto& bar : charts[1].spec["layer"][0]["data"]["values"]) total += bar["n"].get<int>();
  EXPECT_EQ(total, 13221);
}

TEST(ClassCharts, ConfusionHasEveryCell) {
  const auto spec = class_charts(classification_result()).at(0).spec;
  ASSERT_EQ(spec["data"]["values"].size(), 9U);
  const auto& cell = spec["data"]["values"][3];
  EXPECT_EQ(cell["t"], "chinstrap");
  EXPECT_EQ(cell["p"], "adelie");
  EXPECT_EQ(cell["n"], 2);
  EXPECT_DOUBLE_EQ(cell["share"], 2.0 / 21);
}

TEST(SearchCharts, GridAndPath) {
  const auto charts = search_charts(regression_result());
  ASSERT_EQ(charts.size(), 3U);
  EXPECT_EQ(charts[0].title, "Cross-validated RMSE: krr, gaussian");
  EXPECT_NE(charts[0].description.find("35 combinations"), std::string::npos);
  EXPECT_NE(charts[0].description.find("length scale 0.5, alpha 0.01, RMSE 0.2000"), std::string::npos) << charts[0].description;
  const auto& cells = charts[0].spec["data"]["values"];
  ASSERT_EQ(cells.size(), 35U);
  int best = 0;
  for (const auto& cell : cells) {
    best += cell["best"].get<bool>() ? 1 : 0;
    EXPECT_EQ(cell["best"].get<bool>(), cell["score"] == 0.2);
    EXPECT_GE(cell["ink"].get<double>(), 0.06);
    EXPECT_LE(cell["ink"].get<double>(), 1.0);
  }
  EXPECT_EQ(best, 1);
  EXPECT_EQ(charts[0].spec["encoding"]["x"]["sort"], nlohmann::json({"0.125", "0.25", "0.5", "1", "2", "4", "8"}));
  EXPECT_EQ(charts[1].title, "The path: krr, gaussian");
  EXPECT_EQ(charts[1].spec["data"]["values"].size(), 35U);
  EXPECT_EQ(charts[1].spec["encoding"]["x"]["scale"]["type"], "log");
  EXPECT_EQ(charts[2].title, "Cross-validated RMSE: ridge");
  EXPECT_EQ(charts[2].spec["data"]["values"].size(), 5U);
}

TEST(SearchCharts, AccuracyIsBestWhenLarge) {
  const auto charts = search_charts(classification_result());
  ASSERT_EQ(charts.size(), 3U);
  EXPECT_NE(charts[0].description.find("length scale 0.5, alpha 0.01, accuracy 0.9000"), std::string::npos) << charts[0].description;
}

TEST(SearchCharts, AbandonedCandidatesHaveNoColour) {
  LearnResult r = regression_result();
  r.candidates.back().score = std::numeric_limits<double>::quiet_NaN();
  for (Candidate& c : r.candidates) {
    if (c.model == "krr" && c.value == 1.0) c.score = std::numeric_limits<double>::quiet_NaN();
  }
  const auto charts = search_charts(r);
  int unknown = 0;
  for (const auto& cell : charts.at(0).spec["data"]["values"]) {
    if (!cell["score"].is_null()) continue;
    ++unknown;
    EXPECT_EQ(cell["ink"], 0.0);
    EXPECT_EQ(cell["label"], "–");
  }
  EXPECT_EQ(unknown, 7);
  for (Candidate& c : r.candidates) c.score = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(search_charts(r).empty());
}

TEST(SearchCharts, CompositeKernelsAreNotSplit) {
  LearnResult r = regression_result();
  r.candidates = {{.model = "krr", .kernel = "gaussian(2) + 0.5*linear", .penalty = "C", .value = 0.1, .score = 0.4},
                  {.model = "krr", .kernel = "gaussian(2) + 0.5*linear", .penalty = "C", .value = 1, .score = 0.3}};
  const auto charts = search_charts(r);
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].title, "Cross-validated RMSE: krr, gaussian(2) + 0.5*linear");
  r.candidates.resize(1);
  EXPECT_TRUE(search_charts(r).empty());
}

TEST(ShapeCharts, CurveOfOneFeature) {
  LearnResult r = regression_result();
  const auto charts = shape_charts(r);
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].spec["layer"][0]["data"]["values"].size(), 280U);
  EXPECT_EQ(charts[0].spec["layer"][1]["data"]["values"].size(), 200U);
  EXPECT_EQ(charts[0].spec["encoding"]["x"]["title"], "x");
  r.curve.resize(0, 0);
  EXPECT_TRUE(shape_charts(r).empty());
}

TEST(ShapeCharts, SurfaceOfTwoFeatures) {
  LearnResult r = two_class_result();
  const auto charts = shape_charts(r);
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].title, "Decision surface");
  const auto& cells = charts[0].spec["layer"][0]["data"]["values"];
  ASSERT_EQ(cells.size(), 9U);
  EXPECT_EQ(cells[1]["a"], 0.5);  // the cell about (1, 0) on a grid of 1 and 10
  EXPECT_EQ(cells[1]["b"], 1.5);
  EXPECT_EQ(cells[1]["c"], -5);
  EXPECT_EQ(cells[1]["d"], 5);
  EXPECT_EQ(cells[1]["w"], "yes");
  EXPECT_LT(cells[0]["o"].get<double>(), cells[1]["o"].get<double>());  // nearer to the boundary, paler
  EXPECT_EQ(charts[0].spec["layer"][1]["data"]["values"].size(), 5U);
  EXPECT_EQ(charts[0].spec["encoding"]["color"]["scale"]["domain"], nlohmann::json({"no", "yes"}));
  r.model.encoder->task = Task::regression;
  EXPECT_EQ(shape_charts(r).at(0).spec["encoding"]["color"]["type"], "quantitative");
  r.surface.conservativeResize(8, 3);  // no grid
  EXPECT_TRUE(shape_charts(r).empty());
}

TEST(NumberCharts, IntervalsTellWhichRowsAreOutside) {
  LearnResult r = regression_result();
  const auto charts = number_charts(r);
  ASSERT_EQ(charts.size(), 4U);
  EXPECT_NE(charts[3].description.find("87.5 % of the 120 lie inside"), std::string::npos) << charts[3].description;
  const Vector residuals = r.test_truth_and_predicted.col(0) - r.test_truth_and_predicted.col(1);
  int outside = 0;
  double last = -1e300;
  for (const auto& row : charts[3].spec["data"]["values"]) {
    outside += row["out"].get<bool>() ? 1 : 0;
    EXPECT_GE(row["p"].get<double>(), last);
    last = row["p"];
  }
  EXPECT_EQ(outside, (residuals.array().abs() > 0.27).count());
  EXPECT_GT(outside, 0);
  r.test_intervals.resize(0, 0);
  EXPECT_EQ(number_charts(r).size(), 3U);
  r.test_truth_and_predicted(3, 1) = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(number_charts(r).empty());
}

TEST(ThresholdCharts, RocStandsWhereTheModelDoes) {
  const LearnResult r = two_class_result();
  const auto charts = threshold_charts(r);
  ASSERT_EQ(charts.size(), 3U);
  EXPECT_NE(charts[0].description.find("Area 0.950, 0.930 on training rows out of fold"), std::string::npos) << charts[0].description;
  const auto& curve = charts[0].spec["layer"][1]["data"]["values"];
  EXPECT_EQ(curve.size(), 42U);  // both curves from the corner on
  EXPECT_EQ(curve[0]["x"], 0);
  EXPECT_EQ(curve[20]["y"], 1.0);
  const auto& stand = charts[0].spec["layer"][2]["data"]["values"][0];
  EXPECT_DOUBLE_EQ(stand["x"], r.confusion(0, 1) / 20.0);
  EXPECT_DOUBLE_EQ(stand["y"], r.confusion(1, 1) / 20.0);
  ASSERT_EQ(charts[1].spec["layer"].size(), 4U);  // the folds' choice too
  EXPECT_EQ(charts[1].spec["layer"][3]["data"]["values"][0]["y"], 0.96);
}

TEST(ThresholdCharts, CalibrationCountsEveryRow) {
  const LearnResult r = two_class_result();
  const auto chart = threshold_charts(r).at(2);
  Index rows = 0;
  double positives = 0;
  for (const auto& point : chart.spec["layer"][2]["data"]["values"]) {
    const double n = point["n"], share = point["y"];
    rows += point["n"].get<Index>();
    positives += n * share;
    EXPECT_LE(point["low"].get<double>(), share);
    EXPECT_GE(point["high"].get<double>(), share);
  }
  EXPECT_EQ(rows, 40);
  EXPECT_NEAR(positives, 20, 1e-12);
}

TEST(ThresholdCharts, OnlyWhatWasMeasured) {
  LearnResult r = two_class_result();
  r.test_curve = {};
  r.test_probability[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(threshold_charts(r).empty());
  EXPECT_EQ(class_charts(r).size(), 2U);
  r.test_scores.resize(0);
  EXPECT_EQ(class_charts(r).size(), 1U);
  EXPECT_TRUE(threshold_charts(classification_result()).empty());
}

TEST(ClassCharts, ScoresAreCountedByClass) {
  const auto chart = class_charts(two_class_result()).at(1);
  std::map<std::string, int> rows;
  for (const auto& bar : chart.spec["layer"][0]["data"]["values"]) rows[bar["w"]] += bar["n"].get<int>();
  EXPECT_EQ(rows, (std::map<std::string, int>{{"no", 20}, {"yes", 20}}));
}

TEST(SpectrumCharts, OnlyWhatALogarithmCanShow) {
  LearnResult r = regression_result();
  r.spectrum[11] = -1e-17;
  const auto charts = spectrum_charts(r);
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].spec["data"]["values"].size(), 11U);
  EXPECT_NE(charts[0].description.find("The first one holds half of it, the first 4 hold 95 %"), std::string::npos)
      << charts[0].description;
  r.spectrum.resize(0);
  EXPECT_TRUE(spectrum_charts(r).empty());
}

TEST(Families, SplitKernelsByTheirNumber) {
  const auto split = [](const char* text) {
    const SplitKernel k = split_kernel(text);
    return std::tuple(k.family, k.word, k.value);
  };
  EXPECT_EQ(split("gaussian(0.5)"), std::tuple("gaussian", "length scale", 0.5));
  EXPECT_EQ(split("matern(1.5, 2)"), std::tuple("matern(1.5, …)", "length scale", 2.0));
  EXPECT_EQ(split("laplacian(3, norm=l1)"), std::tuple("laplacian(…, norm=l1)", "length scale", 3.0));
  EXPECT_EQ(split("polynomial(3, 0.5, 1)"), std::tuple("polynomial(…, 0.5, 1)", "degree", 3.0));
  for (const char* whole :
       {"1*matern(1.5, [1, 2])", "gaussian(2) + linear", "linear", "words(table=\"a\")", "", "gaussian(auto)", "matern(1.5)"})
    EXPECT_EQ(split(whole), std::tuple(whole, "", 0.0));
}

TEST(Families, NumbersOfKernelsAreShort) {
  EXPECT_EQ(short_kernel("4519.851396616798*gaussian([10.123456, 2.5])"), "4520*gaussian([10.12, 2.5])");
  EXPECT_EQ(short_kernel("gaussian(0.5)"), "gaussian(0.5)");
  EXPECT_EQ(short_kernel(""), "");
}

TEST(Families, TheChosenOneLeads) {
  LearnResult r = regression_result();
  r.candidates.insert(
      r.candidates.begin(),
      {.model = "svr", .kernel = "gaussian(2)", .penalty = "C", .value = 10, .epsilon = 0.1, .score = 0.3, .judged_by = "5 folds"});
  const auto families = families_of(r);
  ASSERT_EQ(families.size(), 3U);
  EXPECT_EQ(families[0].name, "svr, gaussian, epsilon 0.1");
  EXPECT_EQ(families[1].name, "krr, gaussian");
  EXPECT_TRUE(families[2].reference);
  const auto charts = family_charts(r);
  ASSERT_EQ(charts.size(), 1U);
  const auto& rows = charts[0].spec["data"]["values"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["kind"], 0);
  EXPECT_EQ(rows[1]["with"], "length scale 0.5, alpha 0.01");
  EXPECT_EQ(rows[2]["kind"], 2);
}

}  // namespace
}  // namespace mercer::report

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "mercer/report.hpp"
#include "report/learn_charts.hpp"
#include "unit/report/html.hpp"
#include "unit/report/learn_result.hpp"

namespace mercer::report {
namespace {

using mercer::testing::classification_result;
using mercer::testing::count_of;
using mercer::testing::regression_result;
using mercer::testing::specs_of;
using mercer::testing::without_script;

TEST(LearnReport, RegressionSaysWhatWasFound) {
  const std::string html = without_script(learn_report(regression_result(), "builtin:waves", "mercer learn builtin:waves --seed 7"));
  for (const char* part :
       {"<h1>Predicting y</h1>", "explains 92 %", "<strong>0.2130</strong>", "95 %: 0.1910 to 0.2380", "straight line&#39;s", "0.7240",
        "0.7410", "builtin:waves", "400 rows", "120 rows (30 %)", "the target is column y", "gaussian(0.5)", "Cholesky of 3 x 3",
        "<code>mercer learn builtin:waves --seed 7</code>", "123 MB", "1.23 s", "41 candidates were compared by 5-fold"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(count_of(html, "<figure"), 5U);  // scatter, residuals, curve, gaussian grid, ridge path
}

TEST(LearnReport, ClassificationSaysWhatWasFound) {
  const std::string html = without_script(learn_report(classification_result(), "penguins.csv", "mercer learn penguins.csv"));
  for (const char* part : {"Predicting species", "<strong>95.1 %</strong>", "95 %: 89.0 % to 97.9 %", "43.7 %", "Confusion matrix",
                           "98 lie on the diagonal", "text, 3 categories: blue, green, red", "classification"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(html.find("RMSE"), std::string::npos);
}

TEST(LearnReport, EqualInputGivesEqualBytes) {
  EXPECT_EQ(learn_report(regression_result(), "a", "b"), learn_report(regression_result(), "a", "b"));
}

TEST(LearnReport, HostileNamesStayText) {
  LearnResult r = regression_result();
  const std::string name = std::string("</script><b>\u2028") + '\0';
  r.model = mercer::testing::small_krr(name, {name}, Task::regression);
  r.notes = {name};
  r.verdict = name;
  r.candidates[0].kernel = name;
  const std::string html = learn_report(r, name, name);
  EXPECT_EQ(count_of(html, "<script"), count_of(html, "</script"));
  EXPECT_EQ(html.find("<b>\u2028"), std::string::npos);
  EXPECT_EQ(html.find('\0'), std::string::npos);
  if (!charts_available()) return;
  const auto specs = specs_of(html);
  ASSERT_GE(specs.size(), 3U);
  EXPECT_EQ(specs[0]["encoding"]["x"]["title"], "true </script><b>\u2028\uFFFD");
}

TEST(LearnReport, HostileClassesStayText) {
  LearnResult r = classification_result();
  r.model.encoder->classes = {"</script>", "a.b[0]", "\xFF"};
  const auto chart = outcome_charts(r).at(0);
  EXPECT_EQ(chart.spec["encoding"]["x"]["sort"], nlohmann::json({"</script>", "a.b[0]", "\uFFFD"}));
  EXPECT_EQ(chart.spec["encoding"]["x"]["field"], "p");
  const std::string html = learn_report(r, "s", "c");
  EXPECT_EQ(count_of(html, "<script"), count_of(html, "</script"));
}

TEST(LearnReport, PoorResultsStillMakeAPage) {
  LearnResult r{.model = mercer::testing::small_krr("", {}, Task::regression)};
  r.model.encoder.reset();
  const std::string empty = learn_report(r, "", "");
  EXPECT_NE(empty.find("Predicting target"), std::string::npos);
  EXPECT_EQ(count_of(empty, "<figure"), 0U);

  r.test = {.n = 1, .rmse = 0.5, .r2 = std::numeric_limits<double>::quiet_NaN(), .mae = 0.5};
  r.test_truth_and_predicted = Matrix::Constant(1, 2, 3.0);  // one row, predicted exactly: no spread to make a scale of
  const std::string one = learn_report(r, "s", "c");
  EXPECT_EQ(count_of(one, "<figure"), 2U);
  EXPECT_NE(one.find("–"), std::string::npos);
  EXPECT_EQ(without_script(one).find("nan"), std::string::npos);
}

TEST(OutcomeCharts, HistogramCountsEveryRow) {
  const LearnResult r = regression_result();
  const nlohmann::json spec = outcome_charts(r).at(1).spec;
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

TEST(OutcomeCharts, ManyRowsAreThinnedAndSaidSo) {
  LearnResult r = regression_result();
  r.test_truth_and_predicted = Matrix::Random(13221, 2);
  const auto charts = outcome_charts(r);
  EXPECT_EQ(charts[0].spec["layer"][1]["data"]["values"].size(), 1889U);  // every seventh
  EXPECT_NE(charts[0].description.find("1889 of 13\u202F221 held-out rows"), std::string::npos) << charts[0].description;
  int total = 0;
  for (const auto& bar : charts[1].spec["layer"][0]["data"]["values"]) total += bar["n"].get<int>();
  EXPECT_EQ(total, 13221);
}

TEST(OutcomeCharts, ConfusionHasEveryCell) {
  const auto spec = outcome_charts(classification_result()).at(0).spec;
  ASSERT_EQ(spec["data"]["values"].size(), 9U);
  const auto& cell = spec["data"]["values"][3];
  EXPECT_EQ(cell["t"], "chinstrap");
  EXPECT_EQ(cell["p"], "adelie");
  EXPECT_EQ(cell["n"], 2);
  EXPECT_DOUBLE_EQ(cell["share"], 2.0 / 21);
}

TEST(SearchCharts, GridAndPath) {
  const auto charts = search_charts(regression_result());
  ASSERT_EQ(charts.size(), 2U);
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
  EXPECT_EQ(charts[1].title, "Cross-validated RMSE: ridge");
  EXPECT_EQ(charts[1].spec["data"]["values"].size(), 5U);
}

TEST(SearchCharts, AccuracyIsBestWhenLarge) {
  const auto charts = search_charts(classification_result());
  ASSERT_EQ(charts.size(), 2U);
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
  r.candidates = {{.model = "krr", .kernel = "gaussian(2) + 0.5*linear", .value = 0.1, .score = 0.4},
                  {.model = "krr", .kernel = "gaussian(2) + 0.5*linear", .value = 1, .score = 0.3}};
  const auto charts = search_charts(r);
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].title, "Cross-validated RMSE: krr, gaussian(2) + 0.5*linear");
  r.candidates.resize(1);
  EXPECT_TRUE(search_charts(r).empty());
}

TEST(CurveCharts, OnlyForOneFeature) {
  LearnResult r = regression_result();
  const auto charts = curve_charts(r);
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].spec["layer"][0]["data"]["values"].size(), 280U);
  EXPECT_EQ(charts[0].spec["layer"][1]["data"]["values"].size(), 200U);
  EXPECT_EQ(charts[0].spec["encoding"]["x"]["title"], "x");
  r.curve.resize(0, 0);
  EXPECT_TRUE(curve_charts(r).empty());
}

}  // namespace
}  // namespace mercer::report

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>

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
using mercer::testing::two_class_result;
using mercer::testing::without_script;

TEST(LearnReport, RegressionSaysWhatWasFound) {
  const std::string html = without_script(learn_report(regression_result(), "builtin:waves", "mercer learn builtin:waves --seed 7"));
  for (const char* part : {"<h1>Predicting y</h1>",
                           "explains 92 %",
                           "<strong>0.2130</strong>",
                           "95 %: 0.1910 to 0.2380",
                           "straight line&#39;s",
                           "0.7240",
                           "0.7410",
                           "builtin:waves",
                           "400 rows",
                           "120 rows: 30 % of the rows at random",
                           "the target is column y",
                           "gaussian(0.5)",
                           "Cholesky of 3 x 3",
                           "<code>mercer learn builtin:waves --seed 7</code>",
                           "123 MB",
                           "1.23 s",
                           "40 candidates were compared on 280 rows, in the end by 5-fold",
                           "2.0 min",
                           "Where the time went.",
                           "left out",
                           "to compare with",
                           "Line of the file"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  // scatter, residuals, residuals against predictions, intervals; curve, importance, spectrum; families, grid, paths, ridge
  EXPECT_EQ(count_of(html, "<figure"), 11U);
}

TEST(LearnReport, ClassificationSaysWhatWasFound) {
  const std::string html = without_script(learn_report(classification_result(), "penguins.csv", "mercer learn penguins.csv"));
  for (const char* part : {"Predicting species", "<strong>95.1 %</strong>", "95 %: 89.0 % to 97.9 %", "43.7 %", "Confusion matrix",
                           "98 lie on the diagonal", "3: blue, green, red", "classification"}) {
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
  const auto chart = class_charts(r).at(0);
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

TEST(LearnReport, TwoClassesSayWhatAPrecisionCosts) {
  const std::string html = without_script(learn_report(two_class_result(), "patients.csv", "mercer learn patients.csv"));
  for (const char* part : {"Gaussian SVM (svc)", "C = 0.01", "of yes, 95.0 % wanted", "area under ROC", "What more precision for yes costs",
                           "70.0 % to 95.0 %", "Each class on the held-out rows", "Calibration", "ROC curve", "Precision and recall",
                           "Decision surface", "To compare with: Ridge regression on the columns", "Precision wanted"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(html.find("nan"), std::string::npos);
}

TEST(LearnReport, EveryChartIsJsonWithoutNan) {
  for (LearnResult r : {regression_result(), classification_result(), two_class_result()}) {
    r.candidates.push_back({.model = "gp",
                            .kernel = "1*gaussian([1, 2])",
                            .penalty = "noise",
                            .value = 0.1,
                            .score = std::numeric_limits<double>::quiet_NaN(),
                            .deviation = std::numeric_limits<double>::quiet_NaN(),
                            .judged_by = "evidence, 800 rows"});
    r.test.r2 = r.interval_coverage = std::numeric_limits<double>::quiet_NaN();
    const std::string html = learn_report(r, "s", "c");
    for (const nlohmann::json& spec : specs_of(html)) {  // parsing would fail at a NaN
      EXPECT_TRUE(spec.contains("layer") || spec.contains("mark"));
      EXPECT_EQ(spec["width"], "container");
    }
    EXPECT_EQ(without_script(html).find("nan"), std::string::npos);
  }
}

TEST(LearnReport, EveryKindOfModelIsDescribed) {
  LearnResult r = regression_result();
  const Samples X = Samples::own(Matrix(Matrix::Random(30, 1)));
  const Vector y = Vector::Random(30);
  std::vector<Index> labels;
  for (const double value : y) labels.push_back(value > 0 ? 1 : 0);
  r.n_train = 30;
  const auto page_of = [&](AnyModel model, const char* word, const char* kernel, const char* penalty) {
    r.model.model = std::move(model);
    r.candidates[0] = {.model = word, .kernel = kernel, .penalty = penalty, .value = 2, .score = 0.1, .judged_by = "5 folds"};
    return without_script(learn_report(r, "s", "c"));
  };
  std::string html = page_of(fit_svr(X, y, {.kernel = kernels::gaussian(1.0)}), "svr", "gaussian(1)", "C");
  EXPECT_NE(html.find("Gaussian support vector regression (svr)"), std::string::npos);
  EXPECT_NE(html.find("of 30 training rows"), std::string::npos);
  EXPECT_NE(html.find("duality gap"), std::string::npos);
  html = page_of(fit_gaussian_process(X, y, {.kernel = kernels::gaussian(1.0), .optimize = false}), "gp", "gaussian(1)", "noise");
  EXPECT_NE(html.find("Gaussian process with a Gaussian kernel (gp)"), std::string::npos);
  EXPECT_NE(html.find("noise = 2"), std::string::npos);
  html = page_of(fit_linear_svc(X, labels, {}), "linear-svc", "", "C");
  EXPECT_NE(html.find("Linear SVM (linear-svc)"), std::string::npos);
  EXPECT_EQ(html.find("<dt>Kernel</dt>"), std::string::npos);
  html = page_of(fit_falkon(X, Matrix(y), {.kernel = kernels::gaussian(1.0), .alpha = 0.1, .n_landmarks = 10}), "falkon", "gaussian(1)",
                 "alpha");
  EXPECT_NE(html.find("<dt>Landmarks</dt><dd>10</dd>"), std::string::npos);
}

TEST(LearnReport, LinearAloneIsNotComparedWithItself) {
  LearnResult r = classification_result();
  r.candidates = {{.model = "linear-svc", .kernel = "", .penalty = "C", .value = 1, .score = 0.9}};
  const std::string html = without_script(learn_report(r, "s", "c"));
  EXPECT_EQ(html.find("To compare with"), std::string::npos);
}

}  // namespace
}  // namespace mercer::report

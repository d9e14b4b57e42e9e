// The main job: what it chooses, what it reports, and that nothing of the test rows leaks into the training.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/learn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "mercer/error.hpp"
#include "mercer/metrics.hpp"
#include "mercer/random.hpp"
#include "mercer/simulate.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

Table table_of(const Matrix& X, const std::vector<double>& y) {
  Table table;
  table.source = "test";
  table.has_header = true;
  for (Index j = 0; j < X.cols(); ++j) {
    Column column;
    column.name = "x" + std::to_string(j + 1);
    column.values = std::vector<double>(static_cast<std::size_t>(X.rows()));
    for (Index i = 0; i < X.rows(); ++i) std::get<0>(column.values)[static_cast<std::size_t>(i)] = X(i, j);
    table.names.push_back(column.name);
    table.columns.push_back(column);
  }
  table.columns.push_back({.name = "y", .values = y});
  table.names.emplace_back("y");
  return table;
}

TEST(Learn, FindsTheWavesAndMeasuresThemOnRowsSetAside) {
  const Table table = simulate::builtin("waves");
  const LearnResult r = learn(table, {.folds = 3});
  EXPECT_EQ(r.test.n, std::lround(0.3 * static_cast<double>(table.rows())));
  EXPECT_EQ(r.n_train + r.test.n, table.rows());
  EXPECT_LT(r.test.rmse, 0.6);
  EXPECT_LT(r.test.rmse, 0.7 * r.linear.rmse);
  EXPECT_LT(r.linear.rmse, 1.2 * r.baseline.rmse);
  EXPECT_GT(r.test.r2, 0.5);
  EXPECT_LE(r.test.ci_low, r.test.rmse);
  EXPECT_GE(r.test.ci_high, r.test.rmse);
  EXPECT_FALSE(r.candidates.front().kernel.empty());
  ASSERT_EQ(r.curve.cols(), 2);
  EXPECT_EQ(r.curve_points.rows(), r.n_train);
  EXPECT_GT(r.peak_bytes, 1'000'000U);
  // Best first, and the reported number is that of the saved model.
  const std::string judge = r.candidates.front().judged_by;
  EXPECT_EQ(judge, "3 folds");
  for (std::size_t c = 1; c < r.candidates.size() && r.candidates[c].judged_by == judge; ++c)
    EXPECT_LE(r.candidates[c - 1].score, r.candidates[c].score);
  EXPECT_DOUBLE_EQ(root_mean_squared_error(r.test_truth_and_predicted.col(0), r.test_truth_and_predicted.col(1)), r.test.rmse);
  EXPECT_NE(r.verdict.find("held-out rows"), std::string::npos);
}

TEST(Learn, SameSeedSameResultForAnyThreads) {
  const Table table = simulate::builtin("waves");
  const LearnResult one = learn(table, {.folds = 3, .seed = 5, .run = {.threads = 1}});
  const LearnResult two = learn(table, {.folds = 3, .seed = 5, .run = {.threads = 2}});
  EXPECT_EQ(one.test.rmse, two.test.rmse);
  EXPECT_EQ(one.candidates.front().kernel, two.candidates.front().kernel);
  EXPECT_EQ(one.candidates.front().score, two.candidates.front().score);
}

TEST(Learn, ClassifiesTwoAndThreeClasses) {
  const LearnResult moons = learn(simulate::builtin("moons"), {.folds = 3});
  EXPECT_GT(moons.test.accuracy, 0.9);
  EXPECT_GT(moons.test.accuracy, moons.baseline.accuracy + 0.2);
  EXPECT_EQ(moons.confusion.sum(), moons.test.n);
  EXPECT_EQ(moons.confusion.trace(), std::lround(moons.test.accuracy * static_cast<double>(moons.test.n)));

  const auto blobs = simulate::blobs(150, 3, 2, 0.5, 0);
  const LearnResult three = learn(table_of(blobs.X, {blobs.y.begin(), blobs.y.end()}), {.folds = 3});
  EXPECT_EQ(three.model.encoder->classes, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_GT(three.test.accuracy, 0.9);
  EXPECT_EQ(three.confusion.rows(), 3);
}

TEST(Learn, AClassWithOneMemberIsNoTrouble) {
  const auto blobs = simulate::blobs(60, 2, 2, 0.5, 0);
  std::vector<double> y(blobs.y.begin(), blobs.y.end());
  y[17] = 7;
  const LearnResult r = learn(table_of(blobs.X, y), {.folds = 3});
  EXPECT_EQ(r.model.encoder->classes.size(), 3U);
  EXPECT_GT(r.test.accuracy, 0.8);
}

// Two classes, one of them rare or late: folds without something to tell apart are left out, whatever the model.
TEST(Learn, FoldsOfOneClassAreLeftOut) {
  const Matrix X = RandomStream(9).normal_matrix(120, 2);
  std::vector<double> late, rare;
  for (Index i = 0; i < 120; ++i) {
    late.push_back(i >= 40 && X(i, 0) > 0 ? 1 : 0);
    rare.push_back(i == 5 || i == 77 ? 1 : 0);
  }
  for (const char* model : {"auto", "linear-svc", "svc", "krr", "logistic"}) {
    const LearnResult in_time = learn(table_of(X, late), {.model = model, .time_ordered = true});
    EXPECT_EQ(in_time.test.n, 36) << model;
    EXPECT_GT(in_time.test.accuracy, in_time.baseline.accuracy) << model;
    EXPECT_EQ(in_time.candidates.front().judged_by, "3 steps in time") << model;  // of five: two train on rows before the fortieth
    EXPECT_GT(learn(table_of(X, rare), {.model = model}).test.accuracy, 0.9) << model;
  }
}

// A class with one row among two thousand is in no sample of them.
TEST(Learn, AClassThatSamplesLackIsNoTrouble) {
  const auto blobs = simulate::blobs(2400, 2, 2, 0.5, 0);
  std::vector<double> y(blobs.y.begin(), blobs.y.end());
  y[1234] = 7;
  const LearnResult r = learn(table_of(blobs.X, y), {.model = "svc", .folds = 3});
  EXPECT_EQ(r.model.encoder->classes.size(), 3U);
  EXPECT_GT(r.test.accuracy, 0.95);
}

// Two rows of a class among thousands, in whatever order: the coarse look goes back to all rows where its own have one class alone.
TEST(Learn, TwoClassesOneOfThemVeryRareAreLearned) {
  Matrix X = RandomStream(11).normal_matrix(2600, 2);
  std::vector<double> rare(2600, 0), early(2600, 0);
  for (const std::size_t i : {7U, 900U, 1800U, 2500U}) rare[i] = 1;
  for (std::size_t i = 0; i < 200; ++i) early[i] = static_cast<double>(i % 2);
  early[2599] = 1;
  for (Index i = 0; i < 2600; ++i) X(i, 0) += 8 * early[static_cast<std::size_t>(i)];
  for (const char* model : {"svc", "krr"}) {
    EXPECT_GT(learn(table_of(X, rare), {.kernel = parse_kernel("gaussian(1)"), .model = model, .folds = 3}).test.accuracy, 0.99) << model;
    EXPECT_GT(
        learn(table_of(X, early), {.kernel = parse_kernel("gaussian(1)"), .model = model, .time_ordered = true, .folds = 3}).test.accuracy,
        0.99)
        << model;
  }
}

TEST(Learn, AClassSetAsideWholeIsNamed) {
  Matrix X = RandomStream(10).normal_matrix(60, 1);
  std::vector<double> y;
  for (Index i = 0; i < 60; ++i) y.push_back(i >= 50 ? 2 : i % 2);
  EXPECT_NE(message_of([&] { learn(table_of(X, y), {.time_ordered = true}); }).find("the class \"2\" of \"y\" has all its rows"),
            std::string::npos);
}

TEST(Learn, ALinearTruthIsLeftToTheLinearModel) {
  const Matrix X = RandomStream(1).normal_matrix(120, 3);
  const Vector y = X * Vector::Constant(3, 2.0) + 0.01 * RandomStream(2).normal_matrix(120, 1);
  const LearnResult r = learn(table_of(X, {y.begin(), y.end()}), {.folds = 3});
  EXPECT_EQ(r.model.kind(), "ridge");
  EXPECT_EQ(r.test.rmse, r.linear.rmse);
}

TEST(Learn, ScalingIsLearnedOnTheTrainingRowsAlone) {
  Matrix X = RandomStream(3).normal_matrix(60, 1);
  const Vector y = X.col(0);
  Table train = table_of(X, {y.begin(), y.end()});
  Table far = table_of(X.array() + 1000, {y.begin(), y.end()});
  const LearnResult r = learn(train, far, {.folds = 3});
  EXPECT_NEAR(r.model.encoder->scaler.shift[0], X.mean(), 1e-12);
  EXPECT_EQ(r.test.n, 60);
}

TEST(Learn, GivenKernelOnlyThePenaltyIsChosen) {
  for (const char* model : {"krr", "svr", "nu-svr", "gp", "falkon", "auto"}) {
    const LearnResult r = learn(simulate::builtin("waves"), {.kernel = parse_kernel("laplacian(0.5)"), .model = model, .folds = 3});
    EXPECT_GT(r.linear.rmse, 0);
    for (const Candidate& c : r.candidates) {
      if (!c.reference) {
        EXPECT_EQ(c.kernel, "laplacian(0.5)") << model;
      }
    }
    EXPECT_LT(r.test.rmse, 0.6) << model;
  }
}

TEST(Learn, EveryModelOfClassesLearnsTheMoons) {
  for (const char* model : {"svc", "nu-svc", "linear-svc", "logistic", "krr", "ridge", "mean", "sgd-svm", "falkon"}) {
    const LearnResult r = learn(simulate::builtin("moons"), {.model = model, .folds = 3});
    EXPECT_EQ(r.candidates.front().model, model);
    EXPECT_EQ(r.model.kind(), model);
    EXPECT_GT(r.test.accuracy, 0.8) << model;
  }
}

TEST(Learn, BudgetStopsTheSearchAndSaysSo) {
  const LearnResult r = learn(simulate::builtin("waves"), {.folds = 3, .budget_seconds = 1e-9});
  for (const Candidate& c : r.candidates) EXPECT_TRUE(c.model == "ridge" || c.model == "krr") << c.model;
  EXPECT_NE(r.notes.back().find("not tried: svr, gp, for the budget"), std::string::npos) << r.notes.back();
  // One family alone stops after its first candidate.
  const LearnResult falkon = learn(simulate::builtin("moons"), {.model = "falkon", .folds = 3, .budget_seconds = 1e-9});
  EXPECT_EQ(std::count_if(falkon.candidates.begin(), falkon.candidates.end(), [](const Candidate& c) { return c.model == "falkon"; }), 1);
}

// Of a thousand rows with a rare class: the threshold of an operating point is moved into the model that is saved.
TEST(Learn, AnOperatingPointIsChosenInTheFoldsAndKeptByTheModel) {
  const auto moons = simulate::moons(600, 0.35, 3);
  const Table table = table_of(moons.X, {moons.y.begin(), moons.y.end()});
  const LearnResult plain = learn(table, {.folds = 3});
  const LearnResult strict = learn(table, {.precision = 0.97, .folds = 3});
  ASSERT_TRUE(strict.operating_point.has_value());
  const OperatingPoint& point = *strict.operating_point;
  EXPECT_GE(point.fold_precision, 0.97);
  EXPECT_GT(point.threshold, 0);
  EXPECT_GT(point.precision, plain.test.precision);
  EXPECT_LT(point.recall, plain.test.recall);
  // Said again by hand from the scores: yes above the threshold.
  double yes = 0, right = 0;
  for (Index i = 0; i < plain.test_scores.size(); ++i) {
    if (plain.test_scores[i] <= point.threshold) continue;
    ++yes;
    right += plain.test_truth_and_predicted(i, 0);
  }
  EXPECT_DOUBLE_EQ(point.precision, right / yes);
  EXPECT_EQ(strict.confusion.col(1).sum(), static_cast<int>(yes));
  // The trade has the same rule: recall falls as the wanted precision grows.
  ASSERT_GE(plain.trade.size(), 2U);
  for (std::size_t t = 1; t < plain.trade.size(); ++t) EXPECT_LE(plain.trade[t].fold_recall, plain.trade[t - 1].fold_recall);
}

TEST(Learn, CurvesOfTwoClassesAreThoseOfADoubleLoop) {
  const auto moons = simulate::moons(300, 0.4, 4);
  const LearnResult r = learn(table_of(moons.X, {moons.y.begin(), moons.y.end()}), {.folds = 3});
  const Vector& s = r.test_scores;
  const auto truth = r.test_truth_and_predicted.col(0);
  double pairs = 0, ordered = 0;
  for (Index i = 0; i < s.size(); ++i) {
    for (Index j = 0; j < s.size(); ++j) {
      if (truth[i] <= truth[j]) continue;
      ++pairs;
      ordered += s[i] > s[j] ? 1 : s[i] == s[j] ? 0.5 : 0;
    }
  }
  EXPECT_NEAR(r.test_curve.area_roc, ordered / pairs, 1e-12);
  for (const Index k : {Index{0}, r.test_curve.threshold.size() / 2}) {
    const double threshold = r.test_curve.threshold[k];
    const auto yes = (s.array() >= threshold).cast<double>();
    EXPECT_NEAR(r.test_curve.precision[k], (yes * truth.array()).sum() / yes.sum(), 1e-12);
    EXPECT_NEAR(r.test_curve.recall[k], (yes * truth.array()).sum() / truth.sum(), 1e-12);
  }
  EXPECT_EQ(r.test_probability.size(), s.size());
  EXPECT_TRUE((r.test_probability.array() > 0).all() && (r.test_probability.array() < 1).all());
}

TEST(Learn, PositiveMakesOneClassAgainstTheRest) {
  const auto blobs = simulate::blobs(200, 4, 2, 0.6, 0);
  LearnOptions options{.folds = 3};
  options.encode.positive = "2";
  const LearnResult r = learn(table_of(blobs.X, {blobs.y.begin(), blobs.y.end()}), options);
  EXPECT_EQ(r.model.encoder->classes, (std::vector<std::string>{"not 2", "2"}));
  EXPECT_EQ(r.confusion.rows(), 2);
  EXPECT_NEAR(static_cast<double>(r.confusion.row(1).sum()), 15, 1);  // a quarter of 60
  options.encode.positive = "7";
  EXPECT_NE(message_of([&] { learn(table_of(blobs.X, {blobs.y.begin(), blobs.y.end()}), options); }).find("\"7\""), std::string::npos);
}

// Five rows of each group are copies: a split at random tells the group's label from its copies, a grouped one cannot.
TEST(Learn, GroupsStayOnOneSide) {
  const Index n_groups = 60;
  RandomStream random(8);
  const Matrix centres = random.normal_matrix(n_groups, 3);
  Matrix X(5 * n_groups, 4);
  std::vector<double> y;
  for (Index i = 0; i < X.rows(); ++i) {
    X.row(i).head(3) = centres.row(i / 5) + 0.001 * random.normal_matrix(1, 3);
    X(i, 3) = static_cast<double>(1000 + i / 5);
    y.push_back(static_cast<double>((i / 5) % 2));
  }
  Table table = table_of(X, y);
  for (Index i = 0; i < X.rows(); ++i) table.lines.push_back(i + 2);
  LearnOptions options{.groups = "x4", .folds = 3};
  const LearnResult grouped = learn(table, options);
  EXPECT_LT(grouped.test.accuracy, 0.75);
  EXPECT_EQ(grouped.test.n, 90);
  EXPECT_EQ(grouped.model.encoder->width, 3);
  std::set<std::int64_t> tested;  // all five rows of a group or none
  for (const std::int64_t line : grouped.test_lines) tested.insert(line);
  for (Index g = 0; g < n_groups; ++g) {
    Index here = 0;
    for (Index i = 5 * g; i < 5 * g + 5; ++i) here += tested.count(table.line_of(i)) > 0 ? 1 : 0;
    EXPECT_TRUE(here == 0 || here == 5) << g;
  }
  EXPECT_EQ(std::ssize(tested), 90);
  options.groups.clear();
  options.encode.drop = {"x4"};
  EXPECT_GT(learn(table, options).test.accuracy, 0.95);
  options.groups = "z";
  EXPECT_NE(message_of([&] { learn(table, options); }).find("no column \"z\" to group rows by"), std::string::npos);
}

TEST(Learn, RowsInTheOrderOfTimeAreTestedOnTheLastOnes) {
  Matrix X(100, 1);
  std::vector<double> y;
  for (Index i = 0; i < 100; ++i) {
    X(i, 0) = std::sin(0.37 * static_cast<double>(i));
    y.push_back(static_cast<double>(i) + 0.5);
  }
  const LearnResult r = learn(table_of(X, y), {.model = "ridge", .holdout = 0.2, .time_ordered = true, .folds = 4});
  ASSERT_EQ(r.test.n, 20);
  EXPECT_EQ(r.test_truth_and_predicted(0, 0), 80.5);
  EXPECT_EQ(r.candidates.front().judged_by, "4 steps in time");
}

// y depends on the first column alone: shuffling it hurts, the other not.
TEST(Learn, ExplainFindsTheColumnThatMatters) {
  const Matrix X = RandomStream(5).normal_matrix(300, 2);
  const Vector y = (2 * X.col(0).array()).sin();
  const LearnResult r = learn(table_of(X, {y.begin(), y.end()}), {.model = "krr", .explain = true, .folds = 3});
  ASSERT_EQ(r.importance.size(), 2U);
  EXPECT_EQ(r.importance[0].column, "x1");
  EXPECT_GT(r.importance[0].mean, 20 * std::abs(r.importance[1].mean));
  ASSERT_FALSE(r.influential.empty());
  double before = 1;
  for (const InfluentialRow& row : r.influential) {
    EXPECT_LE(row.influence, before);
    before = row.influence;
  }
  EXPECT_EQ(r.surface.cols(), 3);
  EXPECT_NEAR(r.spectrum.sum(), 1, 0.01);
  EXPECT_EQ(r.stages.size(), 4U);
}

// Nine of ten values lie inside nine-tenths intervals: the rate over seeds within its binomial interval (99.9 %).
TEST(Learn, IntervalsHoldWhatTheyPromise) {
  double inside = 0, n = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const LearnResult r = learn(simulate::builtin("waves", seed), {.model = "krr", .folds = 5, .seed = seed});
    inside += r.interval_coverage * static_cast<double>(r.test.n);
    n += static_cast<double>(r.test.n);
  }
  EXPECT_NEAR(inside / n, 0.9, 3.29 * std::sqrt(2 * 0.09 / n));  // the width itself is an estimate of as many rows
}

TEST(Learn, ManyRowsAreFittedOnLandmarks) {
  const Matrix X = RandomStream(6).normal_matrix(6000, 2);
  const Vector y = (2 * X.col(0).array()).sin() + 0.1 * RandomStream(7).normal_matrix(6000, 1).array();
  const LearnResult r =
      learn(table_of(X, {y.begin(), y.end()}),
            {.kernel = parse_kernel("gaussian(0.5)"), .model = "krr", .folds = 3, .search_rows = 300, .budget_seconds = 1});
  EXPECT_EQ(r.model.kind(), "falkon");
  EXPECT_EQ(r.n_train, 4200);
  EXPECT_EQ(r.n_search, 300);
  EXPECT_LT(r.test.rmse, 0.115);  // the noise is 0.1
  const auto said =
      std::find_if(r.notes.begin(), r.notes.end(), [](const std::string& n) { return n.find("Falkon") != std::string::npos; });
  EXPECT_NE(said, r.notes.end());
}

TEST(Learn, CancelsAndNamesWrongUse) {
  const Table waves = simulate::builtin("waves");
  EXPECT_THROW(learn(waves, {.run = {.progress = [](const ProgressEvent&) { return false; }}}), Cancelled);
  EXPECT_EQ(message_of([&] { learn(waves, {.model = "forest"}); }),
            "there is no model \"forest\" for numbers here; choose auto, krr, ridge, gp, svr, nu-svr, falkon");
  EXPECT_EQ(message_of([&] { learn(waves, {.holdout = 1.5}); }), "holdout must lie between 0 and 1, got 1.5");
  EXPECT_EQ(message_of([&] { learn(waves, {.folds = 1}); }), "folds must be at least 2, got 1");
  EXPECT_NE(message_of([&] { learn(table_of(Matrix::Ones(3, 1), {1, 2, 3.5})); }).find("at least 4 are needed"), std::string::npos);
}

}  // namespace
}  // namespace mercer

// The main job: what it chooses, what it reports, and that nothing of the test rows leaks into the training.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/learn.hpp"

#include <gtest/gtest.h>

#include <cmath>

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
  EXPECT_EQ(r.model.kind(), "krr");
  ASSERT_EQ(r.curve.cols(), 2);
  EXPECT_EQ(r.curve_points.rows(), r.n_train);
  EXPECT_GT(r.peak_bytes, 1'000'000U);
  // Best first, and the reported number is that of the saved model.
  for (std::size_t c = 1; c < r.candidates.size(); ++c) EXPECT_LE(r.candidates[c - 1].score, r.candidates[c].score);
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

TEST(Learn, GivenKernelOnlyAlphaIsChosen) {
  const LearnResult r = learn(simulate::builtin("waves"), {.kernel = parse_kernel("laplacian(0.5)"), .model = "krr", .folds = 3});
  for (const Candidate& c : r.candidates) EXPECT_EQ(c.kernel, "laplacian(0.5)");
  EXPECT_GT(r.linear.rmse, 0);
}

TEST(Learn, BudgetStopsTheSearchAndSaysSo) {
  const LearnResult r = learn(simulate::builtin("waves"), {.folds = 3, .budget_seconds = 1e-9});
  EXPECT_EQ(r.candidates.size(), 2U);  // one of each model
  EXPECT_NE(r.notes.back().find("were not tried"), std::string::npos);
}

TEST(Learn, CancelsAndNamesWrongUse) {
  const Table waves = simulate::builtin("waves");
  EXPECT_THROW(learn(waves, {.run = {.progress = [](const ProgressEvent&) { return false; }}}), Cancelled);
  EXPECT_EQ(message_of([&] { learn(waves, {.model = "forest"}); }), "there is no model \"forest\" here; choose auto, krr or ridge");
  EXPECT_EQ(message_of([&] { learn(waves, {.holdout = 1.5}); }), "holdout must lie between 0 and 1, got 1.5");
  EXPECT_EQ(message_of([&] { learn(waves, {.folds = 1}); }), "folds must be at least 2, got 1");
  EXPECT_NE(message_of([&] { learn(table_of(Matrix::Ones(3, 1), {1, 2, 3.5})); }).find("at least 4 are needed"), std::string::npos);
}

}  // namespace
}  // namespace mercer

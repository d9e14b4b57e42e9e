// The drift monitor's statistic against sums by hand, its thresholds, its rate of false alarms and its delay.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/drift.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "stats/drift_thresholds.hpp"

namespace mercer {
namespace {

using kernels::gaussian;

Matrix normal(std::uint64_t seed, Index rows, Index cols = 1) { return RandomStream(seed).normal_matrix(rows, cols); }

double mmd_u(const Kernel& kernel, const Matrix& X, const Matrix& Y) {
  const Matrix xx = gram(kernel, X);
  const Matrix yy = gram(kernel, Y);
  const auto n = static_cast<double>(X.rows());
  const auto m = static_cast<double>(Y.rows());
  return (xx.sum() - xx.trace()) / (n * (n - 1)) + (yy.sum() - yy.trace()) / (m * (m - 1)) - 2 * gram(kernel, X, Y).mean();
}

TEST(Drift, SimulatedStreamsAgreeWithSumsByHand) {
  const Matrix X = normal(1, 40, 2);
  const Matrix K = gram(gaussian(1.0), X);
  const Index window = 5;
  const std::vector<Index> stream = RandomStream(3).sample(40, 2 * window - 1);
  Matrix others(40 - std::ssize(stream), 2);
  Index at = 0;
  for (Index i = 0; i < 40; ++i) {
    if (std::find(stream.begin(), stream.end(), i) == stream.end()) others.row(at++) = X.row(i);
  }
  Vector statistics(window);
  stats::drift_statistics(K, K.rowwise().sum(), K.sum() - K.trace(), stream, window, statistics.data());
  for (Index step = 0; step < window; ++step) {
    Matrix last(window, 2);
    for (Index i = 0; i < window; ++i) last.row(i) = X.row(stream[static_cast<std::size_t>(step + i)]);
    EXPECT_NEAR(statistics[step], mmd_u(gaussian(1.0), others, last), 1e-13);
  }
}

TEST(Drift, StatisticAgreesWithSumsByHandInAnyChunks) {
  const Matrix reference = normal(1, 60, 2);
  const Matrix stream = normal(2, 700, 2).array() + 0.3;
  const DriftMonitor fresh(reference, {.window = 7, .expected_run_length = 50});
  const Matrix compared = fresh.parts().reference.to_dense();
  ASSERT_EQ(compared.rows(), 60 - 13);
  DriftMonitor whole = fresh;
  const std::vector<DriftStep> steps = whole.update(stream);
  ASSERT_EQ(steps.size(), 700U);
  for (Index t = 0; t < 700; ++t) {
    const DriftStep& step = steps[static_cast<std::size_t>(t)];
    EXPECT_EQ(step.time, t);
    if (t < 6) {
      EXPECT_TRUE(std::isnan(step.statistic));
      EXPECT_FALSE(step.alarm);
    } else if (t < 40 || t > 680 || (t > 250 && t < 270)) {
      EXPECT_NEAR(step.statistic, mmd_u(fresh.kernel(), compared, stream.middleRows(t - 6, 7)), 1e-12) << t;
      EXPECT_EQ(step.threshold, fresh.thresholds()[std::min<Index>(t - 6, 6)]);
    }
  }
  DriftMonitor pieces = fresh;
  Index at = 0;
  for (const Index count : {1, 1, 3, 1, 9, 300, 1, 84, 300}) {
    for (const DriftStep& step : pieces.update(stream.middleRows(at, count))) {
      const DriftStep& other = steps[static_cast<std::size_t>(step.time)];
      if (step.time >= 6) {
        EXPECT_NEAR(step.statistic, other.statistic, 1e-12);
      }
      EXPECT_EQ(step.alarm, other.alarm);
    }
    at += count;
  }
  EXPECT_EQ(pieces.time(), 700);
  EXPECT_EQ(pieces.last_alarm(), whole.last_alarm());
}

TEST(Drift, RestoredMonitorsGoOnAlike) {
  const Matrix stream = normal(2, 50, 3);
  DriftMonitor one(normal(1, 80, 3), {.window = 9, .expected_run_length = 100});
  one.update(stream.topRows(20));
  DriftMonitor two(one.parts());
  const auto a = one.update(stream.bottomRows(30));
  const auto b = two.update(stream.bottomRows(30));
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(a[i].time, b[i].time);
    EXPECT_NEAR(a[i].statistic, b[i].statistic, 1e-14);
    EXPECT_EQ(a[i].threshold, b[i].threshold);
  }
  two.reset();
  EXPECT_EQ(two.filled(), 0);
  EXPECT_EQ(two.time(), 50);
  EXPECT_TRUE(std::isnan(two.update(stream.topRows(1))[0].statistic));
}

TEST(Drift, SparseAndFloatStreamsAgree) {
  Matrix reference = normal(1, 60, 4);
  reference = (reference.array().abs() < 0.5).select(0, reference);
  Matrix stream = normal(2, 30, 4);
  stream = (stream.array().abs() < 0.5).select(0, stream);
  const DriftOptions o{.kernel = gaussian(1.0), .window = 5, .expected_run_length = 20};
  DriftMonitor dense(reference, o);
  const CsrMatrix<double> sparse_reference = reference.sparseView();
  const CsrMatrix<double> sparse_stream = stream.sparseView();
  DriftMonitor sparse{Samples(sparse_reference), o};
  DriftMonitor single{MatrixF(reference.cast<float>()), o};
  const auto a = dense.update(stream);
  const auto b = sparse.update(Samples(sparse_stream));
  const auto c = single.update(MatrixF(stream.cast<float>()));
  for (std::size_t i = 4; i < 30; ++i) {
    EXPECT_NEAR(a[i].statistic, b[i].statistic, 1e-12);
    EXPECT_NEAR(a[i].statistic, c[i].statistic, 1e-6);
  }
}

TEST(Drift, DoesNotDependOnThreads) {
  const Matrix reference = normal(1, 200, 2);
  DriftMonitor one(reference, {.window = 10, .expected_run_length = 100, .run = {.threads = 1}});
  DriftMonitor two(reference, {.window = 10, .expected_run_length = 100, .run = {.threads = 2}});
  EXPECT_EQ(one.thresholds(), two.thresholds());
  const Matrix stream = normal(2, 400, 2);
  const auto a = one.update(stream, {.threads = 1});
  const auto b = two.update(stream, {.threads = 2});
  for (std::size_t i = 9; i < 400; ++i) EXPECT_EQ(a[i].statistic, b[i].statistic);
}

// Rows from the first full window to the alarm, over many references.
double mean_run_length(int monitors, Index reference_rows, Index window, double wanted, std::uint64_t seed, double& first_window) {
  double sum = 0;
  int at_once = 0;
  for (int i = 0; i < monitors; ++i) {
    const std::uint64_t own = seed + static_cast<std::uint64_t>(i);
    DriftMonitor monitor(normal(own, reference_rows, 2),
                         {.window = window, .expected_run_length = wanted, .simulations = 3000, .seed = own, .run = {.threads = 1}});
    RandomStream random(own, 77);
    Index length = 0;
    for (bool alarm = false; !alarm && length < static_cast<Index>(30 * wanted);) {
      for (const DriftStep& step : monitor.update(random.normal_matrix(100, 2), {.threads = 1})) {
        if (std::isnan(step.statistic) || alarm) continue;
        ++length;
        alarm = step.alarm;
      }
    }
    sum += static_cast<double>(length);
    at_once += length <= window ? 1 : 0;
  }
  first_window = static_cast<double>(at_once) / monitors;
  return sum / monitors;
}

TEST(Drift, FalseAlarmsComeAsOftenAsWasSaid) {
  // A geometric time of mean 60 has a deviation of 60: the mean of 150 lies within 3.3 x 60 / sqrt(150) = 16 of it. Between references the
  // rate itself varies, which makes the mean longer; both are small here beside what a wrong threshold would do.
  double early = 0;
  const double length = mean_run_length(150, 300, 8, 60, 100, early);
  EXPECT_GT(length, 60 - 16);
  EXPECT_LT(length, 60 + 30);
  const double expected = 1 - std::pow(1 - 1 / 60.0, 8);  // memoryless: the first steps alarm as often as others
  EXPECT_NEAR(early, expected, 3.3 * std::sqrt(expected * (1 - expected) / 150));
}

TEST(LongLevelDrift, FalseAlarmsComeAsOftenAsWasSaid) {
  if (std::getenv("MERCER_LONG_TESTS") == nullptr) GTEST_SKIP() << "MERCER_LONG_TESTS is not set";
  double early = 0;
  const double length = mean_run_length(1000, 400, 10, 100, 5000, early);
  RecordProperty("mean_run_length", std::to_string(length));
  EXPECT_GT(length, 100 - 11);
  EXPECT_LT(length, 100 + 30);
  const double expected = 1 - std::pow(0.99, 10);
  EXPECT_NEAR(early, expected, 3.3 * std::sqrt(expected * (1 - expected) / 1000));
}

TEST(Drift, ShiftsAreSeenSoon) {
  double delays = 0;
  for (std::uint64_t s = 0; s < 10; ++s) {
    DriftMonitor monitor(normal(s, 400, 2), {.window = 20, .expected_run_length = 1000, .simulations = 5000, .seed = s});
    monitor.update(normal(50 + s, 30, 2));
    const Matrix shifted = normal(90 + s, 200, 2).array() + 1;
    Index delay = 200;
    for (const DriftStep& step : monitor.update(shifted)) {
      if (step.alarm) {
        delay = step.time - 30 + 1;
        break;
      }
    }
    delays += static_cast<double>(delay) / 10;
  }
  EXPECT_LT(delays, 20);  // less than one window
}

TEST(Drift, ConstantReferenceAndStream) {
  DriftMonitor monitor(Matrix::Ones(60, 2), {.window = 10, .expected_run_length = 50});
  for (const DriftStep& step : monitor.update(Matrix::Ones(40, 2))) EXPECT_FALSE(step.alarm);
  EXPECT_TRUE(monitor.update(Matrix::Constant(10, 2, 9.0)).back().alarm);
}

TEST(Drift, RefusesWhatCannotBe) {
  const Matrix X = normal(1, 60, 2);
  EXPECT_THROW(DriftMonitor(Matrix(0, 2)), InvalidArgument);
  EXPECT_THROW(DriftMonitor(X, {.window = 21}), InvalidArgument);
  EXPECT_THROW(DriftMonitor(X, {.window = 1}), InvalidArgument);
  EXPECT_THROW(DriftMonitor(X, {.window = -3}), InvalidArgument);
  EXPECT_THROW(DriftMonitor(X, {.expected_run_length = 1}), InvalidArgument);
  EXPECT_THROW(DriftMonitor(X, {.simulations = 100}), InvalidArgument);
  EXPECT_THROW(DriftMonitor(X, {.kernel = kernels::sigmoid()}), InvalidArgument);
  EXPECT_THROW(DriftMonitor(X, {.kernel = kernels::white()}), InvalidArgument);
  EXPECT_THROW(DriftMonitor(gram(gaussian(1.0), X), {.kernel = kernels::precomputed()}), InvalidArgument);
  EXPECT_THROW(DriftMonitor(X, {.run = {.memory = 1000}}), OverBudget);
  Matrix bad = X;
  bad(0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(DriftMonitor{bad}, InvalidArgument);
  DriftMonitor monitor(X, {.window = 5, .expected_run_length = 20});
  monitor.update(X.topRows(7));
  EXPECT_THROW(monitor.update(normal(1, 3, 3)), InvalidArgument);
  EXPECT_THROW(monitor.update(bad), InvalidArgument);
  EXPECT_EQ(monitor.time(), 7);
  EXPECT_TRUE(monitor.update(Matrix(0, 2)).empty());
  DriftParts parts = monitor.parts();
  parts.thresholds.resize(2);
  EXPECT_THROW(DriftMonitor{parts}, InvalidArgument);
}

}  // namespace
}  // namespace mercer

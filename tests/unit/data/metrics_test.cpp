// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "golden/data.hpp"
#include "mercer/error.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;
using Indices = std::vector<Index>;

constexpr double eps = std::numeric_limits<double>::epsilon();

Vector vector_of(const std::vector<double>& values) { return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())); }

TEST(ClassMetrics, PrecisionAndRecallInOne) {
  const std::vector<Index> truth{0, 0, 1, 1, 1};
  const std::vector<Index> guess{0, 1, 1, 1, 0};
  const auto two = precision_and_recall(truth, guess, 2);  // of class 1
  EXPECT_DOUBLE_EQ(two.first, 2.0 / 3);
  EXPECT_DOUBLE_EQ(two.second, 2.0 / 3);
  const std::vector<Index> three{0, 1, 2, 2};
  const std::vector<Index> called{0, 1, 1, 2};
  const auto mean = precision_and_recall(three, called, 3);
  EXPECT_DOUBLE_EQ(mean.first, (1 + 0.5 + 1) / 3);
  EXPECT_DOUBLE_EQ(mean.second, (1 + 1 + 0.5) / 3);
}

TEST(RegressionMetrics, AgreeWithScikitLearn) {
  const Vector truth = vector_of(golden::truth);
  const Vector predicted = vector_of(golden::predicted);
  EXPECT_NEAR(mean_squared_error(truth, predicted), golden::mse, 9 * eps);
  EXPECT_NEAR(root_mean_squared_error(truth, predicted), golden::rmse, 9 * eps);
  EXPECT_NEAR(mean_absolute_error(truth, predicted), golden::mae, 9 * eps);
  EXPECT_NEAR(r2_score(truth, predicted), golden::r2, 9 * eps);
}

TEST(RegressionMetrics, R2OfPerfectMeanAndConstant) {
  const Vector y = Vector::LinSpaced(5, 0, 4);
  EXPECT_EQ(r2_score(y, y), 1);
  EXPECT_EQ(r2_score(y, Vector::Constant(5, 2)), 0);
  EXPECT_EQ(r2_score(y, -y), 1 - 120.0 / 10);
  const Vector constant = Vector::Constant(3, 0.1);  // whose mean is not exactly 0.1
  EXPECT_EQ(r2_score(constant, constant), 1);
  EXPECT_EQ(r2_score(constant, Vector::Constant(3, 0.2)), 0);
  EXPECT_EQ(r2_score(Vector::Ones(1), Vector::Zero(1)), 0);
}

TEST(RegressionMetrics, RmseDoesNotOverflowOnTheWay) {
  EXPECT_DOUBLE_EQ(root_mean_squared_error(Vector::Constant(4, 1e200), Vector::Zero(4)), 1e200);
  EXPECT_DOUBLE_EQ(root_mean_squared_error(Vector::Constant(4, 1e-200), Vector::Zero(4)), 1e-200);
}

TEST(ClassMetrics, AgreeWithScikitLearn) {
  const auto& t = golden::true_classes;
  const auto& p = golden::predicted_classes;
  EXPECT_DOUBLE_EQ(accuracy(t, p), golden::accuracy);
  EXPECT_NEAR(balanced_accuracy(t, p, 4), golden::balanced, 4 * eps);
  const Eigen::MatrixXi counts = confusion_matrix(t, p, 4);
  for (Index c = 0; c < 4; ++c) {
    const auto at = static_cast<std::size_t>(c);
    EXPECT_DOUBLE_EQ(precision_of_class(t, p, c), golden::precision[at]);
    EXPECT_DOUBLE_EQ(recall_of_class(t, p, c), golden::recall[at]);
    for (Index d = 0; d < 4; ++d) EXPECT_EQ(counts(c, d), golden::confusion[static_cast<std::size_t>(4 * c + d)]);
  }
}

TEST(ClassMetrics, NothingThereIsZero) {
  const Indices truth{0, 0, 1};
  const Indices predicted{0, 0, 0};
  EXPECT_EQ(precision_of_class(truth, predicted, 1), 0) << "never predicted";
  EXPECT_EQ(recall_of_class(truth, predicted, 2), 0) << "not there";
  EXPECT_EQ(balanced_accuracy(truth, predicted, 3), 0.5) << "class 2 does not count";
  EXPECT_EQ(confusion_matrix(truth, predicted, 3).sum(), 3);
}

TEST(ProportionInterval, IsWilsons) {
  for (const auto& c : golden::wilson) {
    const auto [low, high] = proportion_interval(c.successes, c.n, c.level);
    EXPECT_NEAR(low, c.low, 8 * eps);
    EXPECT_NEAR(high, c.high, 8 * eps);
  }
  EXPECT_EQ(proportion_interval(0, 7).first, 0);
  EXPECT_EQ(proportion_interval(7, 7).second, 1);
}

TEST(Metrics, BadInputIsNamed) {
  const Vector two = Vector::Zero(2);
  EXPECT_EQ(message_of<InvalidArgument>([&] { mean_squared_error(two, Vector::Zero(3)); }),
            "truth has 2 values and predicted 3; they must pair up");
  EXPECT_EQ(message_of<InvalidArgument>([&] { r2_score(Vector(), Vector()); }), "a metric needs at least 1 value, got 0");
  const Vector bad = Vector::Constant(2, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(message_of<InvalidArgument>([&] { mean_absolute_error(two, bad); }), "predicted has a NaN at position 0 (counting from 0)");
  EXPECT_THROW(root_mean_squared_error(bad, two), InvalidArgument);
  EXPECT_THROW(accuracy(Indices{1}, Indices{1, 2}), InvalidArgument);
  EXPECT_THROW(accuracy(Indices{}, Indices{}), InvalidArgument);
  EXPECT_THROW(recall_of_class(Indices{}, Indices{}, 0), InvalidArgument);
  EXPECT_EQ(message_of<InvalidArgument>([] {
              confusion_matrix(Indices{0, 1}, Indices{0, 2}, 2);
            }),
            "predicted has class 2 at position 1, but classes run from 0 to 1");
  EXPECT_THROW(balanced_accuracy(Indices{0, -1}, Indices{0, 0}, 2), InvalidArgument);
  EXPECT_EQ(message_of<InvalidArgument>([] { confusion_matrix(Indices{0}, Indices{0}, 0); }), "n_classes must be >= 1, got 0");
  EXPECT_EQ(message_of<InvalidArgument>([] { proportion_interval(3, 2); }), "successes must be from 0 to 2, got 3");
  EXPECT_THROW(proportion_interval(0, 0), InvalidArgument);
  EXPECT_THROW(proportion_interval(1, 2, 1), InvalidArgument);
}

}  // namespace
}  // namespace mercer

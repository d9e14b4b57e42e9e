// Kernel learning: what it finds on problems whose answer is known, its promises, its forms of kernels.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_learning.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/kernel_ridge.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

// y depends on the first two of six columns.
struct Data {
  Matrix X, Y;
};
Data two_of_six(Index n, std::uint64_t seed) {
  RandomStream random(seed);
  Data d{random.normal_matrix(n, 6), 0.1 * random.normal_matrix(n, 1)};
  d.Y.col(0).array() += (2 * d.X.col(0).array()).sin() + d.X.col(1).array().square() / 2;
  return d;
}

double test_error(const Data& train, const Data& test, const LearnedKernel& learned) {
  const auto model = fit_kernel_ridge(train.X, train.Y, {.kernel = learned.kernel, .alpha = learned.alpha});
  return std::sqrt((model.predict(test.X) - test.Y).squaredNorm() / static_cast<double>(test.Y.rows()));
}

TEST(KernelLearning, SeparateLengthScalesFindTheColumnsThatMatter) {
  const Data train = two_of_six(250, 1);
  const Data test = two_of_six(500, 2);
  const Kernel k = kernels::gaussian(kernels::LengthScale::automatic());
  for (const KernelObjective objective : {KernelObjective::loo, KernelObjective::evidence}) {
    const LearnedKernel one = learn_kernel(train.X, train.Y, k, {.objective = objective, .n_restarts = 0});
    const LearnedKernel each = learn_kernel(train.X, train.Y, k, {.objective = objective, .ard = true, .n_restarts = 0});
    ASSERT_EQ(each.parameters.size(), 7U);
    const double relevant = std::max(each.parameters[0].value, each.parameters[1].value);
    for (std::size_t j = 2; j < 6; ++j) EXPECT_GT(each.parameters[j].value, 4 * relevant) << name_of(objective) << " " << j;
    // Noise has a standard deviation of 0.1: nothing can be better.
    EXPECT_LT(test_error(train, test, each), 0.5 * test_error(train, test, one)) << name_of(objective);
    EXPECT_LT(test_error(train, test, each), 0.2);
  }
}

TEST(KernelLearning, NeverWorseThanItsStartOnItsRows) {
  const Data d = two_of_six(120, 3);
  for (const KernelObjective objective : {KernelObjective::loo, KernelObjective::evidence, KernelObjective::alignment}) {
    const Kernel start = kernels::matern(1.5, 2) + 0.5 * kernels::linear();
    const LearnedKernel learned = learn_kernel(d.X, d.Y, start, {.objective = objective, .ard = true});
    const double sign = more_is_better(objective) ? 1 : -1;
    EXPECT_GT(sign * learned.value, sign * learned.start_value) << name_of(objective);
    // What it says is what the objective says, up to rounding times the condition of K + alpha I: the weights were scaled meanwhile.
    const double condition = gram_diagonal(learned.kernel, d.X).sum() / learned.alpha;
    EXPECT_NEAR(score_kernel(d.X, d.Y, learned.kernel, learned.alpha, {.objective = objective}).value, learned.value,
                1e-15 * (10 + condition) * std::abs(learned.value));
    for (const LearningStep& step : learned.path) EXPECT_LE(sign * step.value, sign * learned.value + 1e-4 * std::abs(learned.value));
    EXPECT_EQ(learned.rows, 120);
    EXPECT_NE(learned.sentence.find("on 120 rows, 3 starting points"), std::string::npos) << learned.sentence;
  }
}

TEST(KernelLearning, TheWeightOfAPartThatDoesNotHelpGoesToItsBound) {
  // Only column 0 matters; the second part of the sum sees column 1 alone.
  RandomStream random(4);
  const Matrix X = random.normal_matrix(150, 2);
  const Matrix Y = (2 * X.col(0).array()).sin().matrix() + 0.05 * random.normal_matrix(150, 1);
  const Kernel k = kernels::gaussian(1).on({0}) + kernels::gaussian(1).on({1});
  for (const KernelObjective objective : {KernelObjective::loo, KernelObjective::evidence}) {
    const LearnedKernel learned = learn_kernel(X, Y, k, {.objective = objective, .n_restarts = 0});
    ASSERT_EQ(learned.parameters.size(), 5U);
    EXPECT_EQ(learned.parameters[2].name, "factor");
    EXPECT_TRUE(learned.parameters[2].at_bound) << learned.kernel.text();
    EXPECT_LT(learned.parameters[2].value, 1e-3);
    EXPECT_NEAR(learned.parameters[0].value + learned.parameters[2].value, 1, 1e-12);  // weights add up to 1 where alpha is free
  }
}

TEST(KernelLearning, AlignmentFindsTheKernelOfTheClasses) {
  RandomStream random(5);
  const Matrix X = random.normal_matrix(150, 3);
  std::vector<Index> classes;
  for (Index i = 0; i < 150; ++i) classes.push_back(X(i, 1) > 0.5 ? 2 : X(i, 1) < -0.5 ? 0 : 1);
  const LearnedKernel learned =
      learn_kernel(X, class_indicators(classes, 3), kernels::gaussian(1.5), {.objective = KernelObjective::alignment, .ard = true});
  EXPECT_GT(learned.value, learned.start_value + 0.2);
  EXPECT_GT(learned.parameters[0].value, 3 * learned.parameters[1].value);
  EXPECT_GT(learned.parameters[2].value, 3 * learned.parameters[1].value);
  // Alpha is the best by leave-one-out for that kernel.
  const Matrix Y = class_indicators(classes, 3);
  const double best = score_kernel(X, Y, learned.kernel, learned.alpha).value;
  for (const double factor : {0.5, 2.0}) EXPECT_LT(best, score_kernel(X, Y, learned.kernel, factor * learned.alpha).value);
}

TEST(KernelLearning, LearnsOnASubsetAndSaysSo) {
  const Data d = two_of_six(1500, 6);
  const Kernel k = kernels::gaussian(kernels::LengthScale::automatic());
  const LearnKernelOptions options{.ard = true, .max_rows = 600, .n_restarts = 1, .max_iterations = 30, .seed = 3};
  const LearnedKernel learned = learn_kernel(d.X, d.Y, k, options);
  EXPECT_EQ(learned.rows, 600);
  EXPECT_NE(learned.sentence.find("600 of 1500 rows"), std::string::npos) << learned.sentence;
  EXPECT_EQ(learned.path.front().rows, 300);
  EXPECT_EQ(learned.path.back().rows, 600);
  EXPECT_GT(learned.parameters[5].value, 4 * learned.parameters[0].value);
  // Deterministic, whatever the number of threads.
  LearnKernelOptions alone = options;
  alone.run.threads = 1;
  EXPECT_EQ(learn_kernel(d.X, d.Y, k, alone).kernel, learned.kernel);
}

TEST(KernelLearning, WhatIsHeldStays) {
  const Data d = two_of_six(80, 7);
  const Kernel k = 2.0 * kernels::gaussian(std::vector{1.0, 1.0, 1.0, 1.0, 1.0, 3.0}) + kernels::constant(0.5);
  const LearnedKernel learned =
      learn_kernel(d.X, d.Y, k, {.alpha = 0.05, .hold = {"gaussian.length_scale[5]", "constant.value"}, .n_restarts = 1});
  EXPECT_EQ(learned.alpha, std::exp(std::log(0.05)));
  EXPECT_DOUBLE_EQ(learned.parameters[6].value, 3);
  EXPECT_DOUBLE_EQ(learned.parameters[7].value, 0.5);
  EXPECT_NE(learned.parameters[0].value, 2);  // with alpha held, the overall factor counts
  EXPECT_NE(learned.parameters[1].value, 1);
  // Also where a starting point that was moved wins, and beyond the bounds of what is learned.
  EXPECT_DOUBLE_EQ(learn_kernel(d.X, d.Y, kernels::gaussian(30), {.alpha = 1e-7, .n_restarts = 3}).alpha, 1e-7);
  // Where alpha is free an overall factor is idle, and stays.
  const LearnedKernel idle = learn_kernel(d.X, d.Y, 2.0 * kernels::gaussian(1), {.n_restarts = 0});
  EXPECT_DOUBLE_EQ(idle.parameters[0].value, 2);
  // Nothing to learn but alpha.
  const LearnedKernel linear = learn_kernel(d.X, d.Y, kernels::linear(), {.n_restarts = 0});
  EXPECT_EQ(linear.kernel.text(), "linear");
  EXPECT_LT(linear.value, linear.start_value);
}

TEST(KernelForms, ALengthScaleForEachColumn) {
  const Kernel k = 2.0 * kernels::gaussian(1.5).on({0, 2}) + kernels::laplacian(3, kernels::Norm::l1) * kernels::linear();
  EXPECT_EQ(with_ard(k, 3).text(), "2*gaussian([1.5, 1.5]).on(0, 2) + laplacian([3, 3, 3], norm=l1)*linear");
  EXPECT_EQ(with_ard(with_ard(k, 3), 3), with_ard(k, 3));
  const Matrix X = RandomStream(8).normal_matrix(20, 3);
  EXPECT_LT((gram(k, X) - gram(with_ard(k, 3), X)).cwiseAbs().maxCoeff(), 1e-14 * gram(k, X).cwiseAbs().maxCoeff());
  for (const Kernel& leaf : {kernels::matern(2.5, 2), kernels::rational_quadratic(2, 0.7), kernels::periodic(2, 3)})
    EXPECT_LT((gram(leaf, X) - gram(with_ard(leaf, 3), X)).cwiseAbs().maxCoeff(), 1e-14) << with_ard(leaf, 3).text();

  // Automatic scales follow the spread of each column, so units do not matter.
  Matrix Z = X;
  Z.col(1) *= 1000;
  const Kernel automatic = kernels::gaussian(kernels::LengthScale::automatic());
  EXPECT_LT((gram(with_ard(automatic, Samples(X)), X) - gram(with_ard(automatic, Samples(Z)), Z)).cwiseAbs().maxCoeff(), 1e-13);
  const auto parameters = with_ard(automatic.on({1}), Samples(X)).parameters();
  ASSERT_EQ(parameters.size(), 1U);
  EXPECT_NEAR(parameters[0].value, median_distance(Matrix(X.col(1))), 1e-14);
  EXPECT_EQ(message_of([&] { with_ard(automatic, 3); }), "gaussian(auto) has no length scale yet: with_ard(kernel, X) sets it from data");
  EXPECT_EQ(message_of([&] { with_ard(k, 0); }), "a length scale for each column needs at least one column, got 0");
}

TEST(KernelForms, AFactorForEachPart) {
  EXPECT_EQ(with_weights(parse_kernel("gaussian(1) + 0.5*linear + white(0.1)")).text(), "1*gaussian(1) + 0.5*linear + white(0.1)");
  EXPECT_EQ(with_weights(parse_kernel("gaussian(1)*linear")).text(), "gaussian(1)*linear");
}

TEST(KernelLearning, BadInputIsNamed) {
  const Data d = two_of_six(20, 9);
  const Kernel k = kernels::gaussian(1);
  EXPECT_EQ(message_of([&] { learn_kernel(d.X, d.Y, k, {.alpha = 0.0}); }), "alpha must be a finite number > 0, got 0");
  EXPECT_EQ(message_of([&] { learn_kernel(d.X, d.Y, k, {.max_rows = 1}); }), "max_rows must be at least 3, got 1");
  EXPECT_EQ(message_of([&] { learn_kernel(d.X, d.Y, k, {.n_restarts = -1}); }), "n_restarts must lie between 0 and 10000, got -1");
  EXPECT_EQ(message_of([&] { learn_kernel(d.X, d.Y, k, {.hold = {"scale"}}); }),
            "the kernel has no parameter \"scale\" to hold; it has gaussian.length_scale");
  EXPECT_NE(message_of([&] { learn_kernel(d.X, d.Y, -1.0 * k + 2.0 * kernels::sigmoid(1, 1)); }).find("positive semi-definite"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { learn_kernel(Matrix::Random(5, 6000), d.Y.topRows(5), k, {.ard = true}); }).find("6000 parameters are too many"),
      std::string::npos);
  EXPECT_EQ(message_of([&] { parse_kernel_objective("cv"); }),
            "the objective of kernel learning must be loo, evidence or alignment, got \"cv\"");
  EXPECT_NE(message_of([&] {
              learn_kernel(Matrix::Random(3000, 1), Matrix::Random(3000, 1), k, {.run = {.memory = 1000000}});
            }).find("use a smaller max_rows"),
            std::string::npos);
}

TEST(KernelLearning, RowsThatSayNothingAreNoTrouble) {
  // Duplicates, a constant column and two rows.
  Matrix X = Matrix::Ones(6, 2);
  X.col(0) << 0, 0, 1, 1, 2, 2;
  Matrix Y(6, 1);
  Y << 1, 1.1, 2, 2.1, 0, 0.1;
  const LearnedKernel learned = learn_kernel(X, Y, kernels::gaussian(kernels::LengthScale::automatic()), {.ard = true});
  EXPECT_TRUE(std::isfinite(learned.value));
  EXPECT_LE(learned.value, learned.start_value);
  const LearnedKernel two = learn_kernel(X.topRows(3).bottomRows(2), Y.topRows(3).bottomRows(2), kernels::gaussian(1));
  EXPECT_TRUE(std::isfinite(two.value));
}

TEST(KernelLearning, CancelStopsIt) {
  const Data d = two_of_six(400, 10);
  int calls = 0;
  const ProgressCallback stop_at_third = [&](const ProgressEvent&) { return ++calls < 3; };
  EXPECT_THROW(learn_kernel(d.X, d.Y, kernels::gaussian(1), {.ard = true, .run = {.progress = stop_at_third}}), Cancelled);
}

}  // namespace
}  // namespace mercer

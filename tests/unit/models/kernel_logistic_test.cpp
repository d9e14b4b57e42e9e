// Kernel logistic regression against an independent lower bound (entropy is the conjugate of the softmax), its own twins and simulation.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_logistic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;
using Solver = KernelLogisticOptions::Solver;

struct Data {
  Matrix X;
  std::vector<Index> labels;
};

Data make_classes(Index n, Index classes, std::uint64_t seed) {
  RandomStream random(seed);
  Data d{random.normal_matrix(n, 2), {}};
  for (Index i = 0; i < n; ++i) {
    const double angle = std::atan2(d.X(i, 1), d.X(i, 0)) / 6.2831853072 + 0.5 + 0.08 * random.normal();
    d.labels.push_back(std::clamp<Index>(static_cast<Index>(angle * static_cast<double>(classes)), 0, classes - 1));
  }
  return d;
}

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

// (P - D) / P with the predicted probabilities as the dual point; with an intercept their mean must be that of the labels, class by class.
double relative_gap(const KernelLogisticModel& m, const Data& d, const Vector& w) {
  const Vector p = w / w.sum();
  const Matrix K = gram(m.kernel(), d.X);
  Matrix C = m.dual_coef();
  if (C.cols() == 1) {  // one function f is the pair (-f/2, f/2), with half the squared norm
    C.resize(C.rows(), 2);
    C.col(0) = -m.dual_coef().col(0);
    C.col(1) = m.dual_coef().col(0);
  }
  const Matrix probability = m.probabilities(d.X);
  Matrix Q = Matrix::Zero(C.rows(), C.cols());
  double primal = 0;
  double dual = 0;
  for (Index i = 0; i < C.rows(); ++i) {
    const Index y = d.labels[static_cast<std::size_t>(i)];
    if (p[i] == 0) continue;
    Eigen::RowVectorXd q = probability.row(i);
    for (Index j = 0; j < q.size(); ++j) dual -= p[i] * x_log_x(q[j]);
    q[y] -= 1;
    Q.row(i) = p[i] * q;
    primal -= p[i] * std::log(probability(i, y));
  }
  const double share = m.classes() == 2 ? 0.5 : 1;
  primal += share * m.lambda() * C.cwiseProduct(K * C).sum();
  dual -= share * Q.cwiseProduct(K * Q).sum() / (4 * m.lambda());
  EXPECT_NEAR(primal, m.summary().objective, 1e-9 * primal);
  if (m.intercept().cwiseAbs().maxCoeff() > 0) {
    EXPECT_LT(Q.colwise().sum().cwiseAbs().maxCoeff(), 1e-9);
  }
  return (primal - dual) / primal;
}

TEST(KernelLogistic, ReachesAnIndependentLowerBound) {
  for (const Index classes : {2, 3, 5}) {
    for (const double C : {0.1, 1.0, 1e3}) {
      for (const bool intercept : {false, true}) {
        for (const Kernel& kernel : {kernels::gaussian(0.7), kernels::linear()}) {
          const Data d = make_classes(200, classes, 1);
          const auto model = fit_kernel_logistic(d.X, d.labels, {.kernel = kernel, .C = C, .fit_intercept = intercept, .tolerance = 1e-10});
          const std::string what = kernel.text() + " " + std::to_string(C) + " " + model.summary().sentence;
          EXPECT_EQ(model.summary().status, "converged") << what;
          EXPECT_LT(relative_gap(model, d, Vector::Ones(200)), 1e-6) << what;
          EXPECT_LT((model.probabilities(d.X).rowwise().sum().array() - 1).abs().maxCoeff(), 1e-14);
        }
      }
    }
  }
}

TEST(KernelLogistic, WeightsOfSamplesAndClassesMultiply) {
  const Data d = make_classes(120, 3, 2);
  Vector per_class(3);
  per_class << 1, 2, 0.5;
  Vector w(120);
  for (Index i = 0; i < 120; ++i) w[i] = static_cast<double>(i % 3);
  Vector both(120);
  for (Index i = 0; i < 120; ++i) both[i] = w[i] * per_class[d.labels[static_cast<std::size_t>(i)]];
  const Kernel kernel = kernels::gaussian(1);
  const auto two =
      fit_kernel_logistic(d.X, d.labels, {.kernel = kernel, .class_weight = per_class, .sample_weight = w, .tolerance = 1e-12});
  const auto one = fit_kernel_logistic(d.X, d.labels, {.kernel = kernel, .sample_weight = both, .tolerance = 1e-12});
  EXPECT_EQ(two.dual_coef(), one.dual_coef());
  EXPECT_LT(relative_gap(one, d, both), 1e-6);
  EXPECT_EQ(one.dual_coef().row(0).cwiseAbs().sum(), 0);
}

TEST(KernelLogistic, BinaryIsTheRepresenterSolver) {
  const Data d = make_classes(150, 2, 3);
  Matrix y(150, 1);
  for (Index i = 0; i < 150; ++i) y(i, 0) = d.labels[static_cast<std::size_t>(i)] == 1 ? 1 : -1;
  const auto logistic = fit_kernel_logistic(d.X, d.labels, {.kernel = kernels::gaussian(1), .C = 5});
  const auto representer = fit_representer(
      d.X, y, {.kernel = kernels::gaussian(1), .loss = losses::logistic(), .lambda = 1 / (2 * 5 * 150.0), .fit_intercept = true});
  EXPECT_EQ(logistic.dual_coef(), representer.dual_coef());
  EXPECT_DOUBLE_EQ(logistic.lambda(), representer.lambda()[0]);
}

TEST(KernelLogistic, LogProbabilitiesSurviveWhereProbabilitiesRound) {
  for (const Index classes : {2, 3}) {
    const Data d = make_classes(90, classes, 4);
    const auto model = fit_kernel_logistic(d.X, d.labels, {.kernel = kernels::linear(), .C = 1e4});
    const Matrix near = model.log_probabilities(d.X);
    EXPECT_LT((near.array().exp() - model.probabilities(d.X).array()).abs().maxCoeff(), 1e-14);
    const Matrix far = model.log_probabilities(1e6 * d.X);
    EXPECT_TRUE(far.allFinite());
    EXPECT_LT(far.minCoeff(), -1e4);
  }
}

// Where the truth is a logistic model, predicted probabilities are frequencies: in each of five bins of the prediction, the share of
// the class differs from the mean prediction by less than four binomial standard errors and the estimation error of n = 1500.
TEST(KernelLogistic, ProbabilitiesAreCalibrated) {
  RandomStream random(5);
  const auto draw = [&](Index n) {
    Data d{random.normal_matrix(n, 1), {}};
    for (Index i = 0; i < n; ++i) d.labels.push_back(random.uniform() < 1 / (1 + std::exp(-2 * std::sin(2 * d.X(i, 0)))) ? 1 : 0);
    return d;
  };
  const Data train = draw(1500);
  const Data test = draw(20000);
  const auto model = fit_kernel_logistic(train.X, train.labels, {.kernel = kernels::gaussian(0.7), .C = 1});
  const Vector p = model.probabilities(test.X).col(1);
  for (int bin = 0; bin < 5; ++bin) {
    double predicted = 0;
    double happened = 0;
    double count = 0;
    for (Index i = 0; i < p.size(); ++i) {
      if (p[i] < 0.2 * bin || p[i] >= 0.2 * (bin + 1)) continue;
      predicted += p[i];
      happened += static_cast<double>(test.labels[static_cast<std::size_t>(i)]);
      count += 1;
    }
    ASSERT_GT(count, 500);
    EXPECT_NEAR(happened / count, predicted / count, 4 * 0.5 / std::sqrt(count) + 4 * 0.5 / std::sqrt(1500.0 / 5)) << bin;
  }
}

TEST(KernelLogistic, LandmarksAboveASize) {
  for (const Index classes : {2, 3}) {
    const Data d = make_classes(400, classes, 6);
    KernelLogisticOptions options{.kernel = kernels::gaussian(2), .C = 1};
    const auto exact = fit_kernel_logistic(d.X, d.labels, options);
    EXPECT_EQ(exact.summary().landmarks, 0);
    options.exact_limit = 300;
    options.landmarks = 100;
    const auto some = fit_kernel_logistic(d.X, d.labels, options);
    EXPECT_EQ(some.summary().landmarks, 100);
    EXPECT_EQ(some.samples().size(), 100);
    EXPECT_EQ(some.summary().status, "converged") << some.summary().sentence;
    // A smooth kernel in two dimensions: 100 landmarks span all but a trace of 1e-6 of it.
    EXPECT_NEAR(some.summary().objective, exact.summary().objective, 1e-5 * exact.summary().objective);
    EXPECT_LT((some.probabilities(d.X) - exact.probabilities(d.X)).cwiseAbs().maxCoeff(), 1e-3);
    options.solver = Solver::exact;
    EXPECT_EQ(fit_kernel_logistic(d.X, d.labels, options).dual_coef(), exact.dual_coef());
  }
}

TEST(KernelLogistic, SeparableDataWithLargeC) {
  for (const Index classes : {2, 3}) {
    Data d = make_classes(60, classes, 7);
    const auto model = fit_kernel_logistic(d.X, d.labels, {.kernel = kernels::gaussian(0.3), .C = 1e8, .tolerance = 1e-9});
    EXPECT_EQ(model.summary().status, "converged") << model.summary().sentence;
    EXPECT_LT(relative_gap(model, d, Vector::Ones(60)), 1e-6);
  }
}

TEST(KernelLogistic, BadInputIsNamed) {
  const Data d = make_classes(20, 2, 8);
  const std::vector<Index> same(20, 0);
  EXPECT_EQ(message_of([&] { fit_kernel_logistic(d.X, same); }), "there is only one class: a classifier needs samples of at least two");
  EXPECT_EQ(message_of([&] { fit_kernel_logistic(d.X, {0, 1}); }), "X has 20 samples but y has 2");
  EXPECT_EQ(message_of([&] { fit_kernel_logistic(d.X, d.labels, {.C = 0}); }), "C must be a finite number > 0, got 0");
  EXPECT_EQ(message_of([&] { fit_kernel_logistic(d.X, d.labels, {.class_weight = Vector::Ones(3)}); }),
            "class_weight has 3 numbers for 2 classes");
  std::vector<Index> gap = d.labels;
  for (Index& label : gap) label *= 2;
  EXPECT_EQ(message_of([&] { fit_kernel_logistic(d.X, gap); }), "class 1 has no sample of positive weight");
  EXPECT_NE(message_of([&] { fit_kernel_logistic(d.X, d.labels, {.kernel = kernels::sigmoid(1, -1)}); }).find("not positive semi-definite"),
            std::string::npos);
}

}  // namespace
}  // namespace mercer

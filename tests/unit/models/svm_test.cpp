// Support vector machines against the representer solver, the optimality conditions and each other.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/svm.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "mercer/representer.hpp"

namespace mercer {
namespace {

struct Sample {
  Matrix X;
  std::vector<Index> labels;
  Vector y;      // a smooth target
  Vector signs;  // of two classes
};

Sample make_sample(Index n, Index classes, std::uint64_t seed, Index d = 3) {
  RandomStream random(seed, 0);
  Sample s{Matrix(n, d), {}, Vector(n), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    const Index label = i % classes;
    for (Index j = 0; j < d; ++j) s.X(i, j) = random.normal() + (j == label % d ? 1.3 : 0.0);
    s.labels.push_back(label);
    s.signs[i] = label == 1 ? 1 : -1;
    s.y[i] = std::sin(2 * s.X(i, 0)) + 0.5 * s.X(i, 1) + 0.1 * random.normal();
  }
  return s;
}

// The conditions of optimality of a two-class machine, from the Gram matrix itself.
void expect_optimal(const SvcModel& model, const Sample& s, const Vector& bound, double tolerance, bool bias = true) {
  const Matrix K = gram(model.kernel(), s.X);
  const Vector b = model.coefficients(s.X.rows()).col(0);
  const Vector f = (K * b).array() + model.intercept()[0];
  for (Index i = 0; i < b.size(); ++i) {
    const double a = b[i] * s.signs[i];
    ASSERT_GE(a, 0.0);
    ASSERT_LE(a, bound[i] * (1 + 1e-15));
    const double margin = f[i] * s.signs[i];
    if (a == 0) {
      EXPECT_GE(margin, 1 - tolerance) << i;
    } else if (a == bound[i]) {
      EXPECT_LE(margin, 1 + tolerance) << i;
    } else {
      EXPECT_NEAR(margin, 1, tolerance) << i;
    }
  }
  if (bias) {
    EXPECT_NEAR(b.sum(), 0, 1e-9 * bound.maxCoeff() * static_cast<double>(b.size()));
  }
  EXPECT_NEAR(model.squared_norm()[0], b.dot(K * b), 1e-6 * (1 + b.dot(K * b)));
  // Primal less dual, from scratch.
  double primal = b.dot(K * b) / 2;
  for (Index i = 0; i < b.size(); ++i) primal += bound[i] * std::max(0.0, 1 - s.signs[i] * f[i]);
  const double dual = s.signs.dot(b) - b.dot(K * b) / 2;
  EXPECT_NEAR(model.summary().gap, primal - dual, 1e-6 * (1 + std::abs(primal)));
  EXPECT_NEAR(model.summary().objective, -dual, 1e-6 * (1 + std::abs(dual)));
}

TEST(Svc, OptimalityOverPenaltiesFromTinyToHuge) {
  const Sample s = make_sample(120, 2, 1);
  for (const double C : {1e-6, 1e-2, 1.0, 1e3, 1e8}) {
    for (const bool bias : {true, false}) {
      const SvcModel model = fit_svc(s.X, s.labels, {.kernel = kernels::gaussian(1.0), .C = C, .fit_intercept = bias});
      EXPECT_EQ(model.summary().status, "converged") << C;
      EXPECT_LE(model.summary().violation, 1e-3);
      if (C < 1e6) expect_optimal(model, s, Vector::Constant(120, C), 1e-3, bias);
    }
  }
}

TEST(Svc, FreeVectorsAreSolvedForToTheLastDigits) {
  const Sample s = make_sample(150, 2, 2);
  const SvcModel model = fit_svc(s.X, s.labels, {.kernel = kernels::gaussian(1.5), .C = 2});
  EXPECT_LT(model.summary().violation, 1e-11);
  expect_optimal(model, s, Vector::Constant(150, 2), 1e-10);
}

TEST(Svc, AgreesWithTheHingeOfTheRepresenterSolver) {
  const Sample s = make_sample(80, 2, 3);
  for (const bool bias : {true, false}) {
    const double lambda = 0.01;  // C = 1 / (2 n lambda)
    const SvcModel model = fit_svc(s.X, s.labels, {.kernel = kernels::gaussian(1.2), .lambda = lambda, .fit_intercept = bias});
    RepresenterOptions options;
    options.kernel = kernels::gaussian(1.2);
    options.loss = losses::hinge();
    options.lambda = lambda;
    options.fit_intercept = bias;
    options.tolerance = 1e-10;
    const RepresenterModel other = fit_representer(s.X, s.signs, options);
    const Matrix f = model.decision(s.X);
    EXPECT_LT((f - other.predict(s.X)).cwiseAbs().maxCoeff(), 1e-4);
  }
}

TEST(Svc, WeightsAreRepetitions) {
  const Sample s = make_sample(60, 3, 4);
  Vector weights(60);
  std::vector<Index> repeated;
  for (Index i = 0; i < 60; ++i) {
    weights[i] = static_cast<double>(i % 4);
    for (Index k = 0; k < i % 4; ++k) repeated.push_back(i);
  }
  std::vector<Index> labels;
  for (const Index i : repeated) labels.push_back(s.labels[static_cast<std::size_t>(i)]);
  const Matrix Xr = s.X(repeated, Eigen::all);
  SvcOptions options{.kernel = kernels::gaussian(1.0), .C = 3};
  const SvcModel plain = fit_svc(Xr, labels, options);
  options.sample_weight = weights;
  const SvcModel weighted = fit_svc(s.X, s.labels, options);
  EXPECT_LT((plain.decision(s.X) - weighted.decision(s.X)).cwiseAbs().maxCoeff(), 1e-8);
  for (const Index i : weighted.support()) EXPECT_GT(weights[i], 0);
}

TEST(Svc, PairsAreTheirOwnTwoClassFits) {
  const Sample s = make_sample(90, 3, 5);
  const SvcModel all = fit_svc(s.X, s.labels, {.kernel = kernels::gaussian(1.0), .C = 2, .class_weight = Vector::LinSpaced(3, 1, 2)});
  const Matrix f = all.decision(s.X);
  const std::pair<Index, Index> pairs[] = {{0, 1}, {0, 2}, {1, 2}};
  for (Index p = 0; p < 3; ++p) {
    const auto [a, b] = pairs[p];
    std::vector<Index> members;
    std::vector<Index> labels;
    for (Index i = 0; i < 90; ++i) {
      const Index label = s.labels[static_cast<std::size_t>(i)];
      if (label != a && label != b) continue;
      members.push_back(i);
      labels.push_back(label == a ? 1 : 0);  // positive: the first of the pair
    }
    Vector weights(2);
    weights << 1 + 0.5 * static_cast<double>(b), 1 + 0.5 * static_cast<double>(a);
    const SvcModel pair =
        fit_svc(Matrix(s.X(members, Eigen::all)), labels, {.kernel = kernels::gaussian(1.0), .C = 2, .class_weight = weights});
    EXPECT_LT((pair.decision(s.X).col(0) - f.col(p)).cwiseAbs().maxCoeff(), 1e-8);
  }
  const SvcModel rest = fit_svc(s.X, s.labels, {.kernel = kernels::gaussian(1.0), .C = 2, .multi_class = MultiClass::one_vs_rest});
  EXPECT_EQ(rest.decision(s.X).cols(), 3);
  Index right = 0;
  const std::vector<Index> guess = rest.classes(s.X);
  for (std::size_t i = 0; i < 90; ++i) right += guess[i] == s.labels[i] ? 1 : 0;
  EXPECT_GT(right, 70);
}

TEST(Svc, NuIsAShareAndAPenalty) {
  const Sample s = make_sample(200, 2, 6);
  const double nu = 0.4;
  const SvcModel model = fit_nu_svc(s.X, s.labels, {.kernel = kernels::gaussian(1.0), .nu = nu});
  EXPECT_GE(static_cast<double>(model.summary().support_vectors), nu * 200 - 1e-9);
  EXPECT_LE(static_cast<double>(model.summary().at_bound), nu * 200 + 1e-9);
  // It is the machine of C = the bound of its coefficients.
  const double C = model.dual_coef().cwiseAbs().maxCoeff();
  const SvcModel twin = fit_svc(s.X, s.labels, {.kernel = kernels::gaussian(1.0), .C = C});
  EXPECT_LT((model.decision(s.X) - twin.decision(s.X)).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_THROW(fit_nu_svc(s.X, s.labels, {.nu = 0}), InvalidArgument);
  std::vector<Index> rare(200, 0);
  rare[0] = rare[1] = 1;
  EXPECT_THROW(fit_nu_svc(s.X, rare, {.nu = 0.5}), InvalidArgument);
}

TEST(Svc, HardMarginSeparatesOrSaysThatItCannot) {
  Sample s = make_sample(100, 2, 7);
  for (Index i = 0; i < 100; ++i) s.X(i, 0) = s.signs[i] * (1 + std::abs(s.X(i, 0)));  // a corridor of width 2 along the first column
  const SvcModel model = fit_svc(s.X, s.labels, {.kernel = kernels::linear(), .hard_margin = true});
  EXPECT_EQ(model.summary().status, "converged");
  EXPECT_LT(slacks(model, s.X, s.labels).maxCoeff(), 1e-3);
  const SvcModel soft = fit_svc(s.X, s.labels, {.kernel = kernels::linear(), .C = 1e6});
  EXPECT_NEAR(model.squared_norm()[0], soft.squared_norm()[0], 1e-6 * soft.squared_norm()[0]);
  std::swap(s.labels[0], s.labels[1]);
  const SvcModel mixed = fit_svc(s.X, s.labels, {.kernel = kernels::linear(), .hard_margin = true});
  EXPECT_EQ(mixed.summary().status, "not separable");
  EXPECT_NE(mixed.summary().remark.find("cannot be separated"), std::string::npos);
  EXPECT_EQ(mixed.decision(s.X).rows(), 100);
}

TEST(Svc, ManyRowsInFloat32AgreeWithFloat64) {
  const Sample s = make_sample(2600, 2, 8, 8);
  SvcOptions options{.kernel = kernels::gaussian(2.0), .C = 1};
  options.solver.tolerance = 1e-5;
  const SvcModel coarse = fit_svc(s.X, s.labels, options);
  EXPECT_EQ(coarse.summary().precision, Precision::float32);
  options.solver.precision = Precision::float64;
  const SvcModel fine = fit_svc(s.X, s.labels, options);
  EXPECT_NEAR(coarse.summary().objective, fine.summary().objective, 1e-6 * std::abs(fine.summary().objective));
  EXPECT_LT((coarse.decision(s.X) - fine.decision(s.X)).cwiseAbs().maxCoeff(), 1e-3);
  expect_optimal(fine, s, Vector::Ones(2600), 1e-5 + 1e-12);
  // Little memory: rows come and go, the answer stays.
  options.run.memory = 20 << 20;
  const SvcModel tight = fit_svc(s.X, s.labels, options);
  EXPECT_NEAR(tight.summary().objective, fine.summary().objective, 1e-6 * std::abs(fine.summary().objective));
  EXPECT_LT(tight.summary().bytes, std::size_t{40} << 20);
}

TEST(Svc, ThreadsChangeNothing) {
  const Sample s = make_sample(2200, 3, 9, 5);
  SvcOptions options{.kernel = kernels::gaussian(1.5), .C = 5, .probability = true, .probability_folds = 2};
  options.run.threads = 1;
  const SvcModel one = fit_svc(s.X, s.labels, options);
  options.run.threads = 2;
  const SvcModel two = fit_svc(s.X, s.labels, options);
  EXPECT_EQ(one.dual_coef(), two.dual_coef());
  EXPECT_EQ(one.intercept(), two.intercept());
  EXPECT_EQ(one.sigmoids(), two.sigmoids());
}

TEST(Svc, OneRowIsARowOfABatch) {
  const Sample s = make_sample(70, 3, 10);
  for (const Kernel& kernel : {kernels::gaussian(1.0), kernels::laplacian(2.0), kernels::polynomial(3, 0.5, 1.0), kernels::linear(),
                               2.0 * kernels::matern(1.5, 1.0), kernels::gaussian(1.0) + kernels::linear()}) {
    const SvcModel model = fit_svc(s.X, s.labels, {.kernel = kernel});
    const Matrix batch = model.decision(s.X);
    std::vector<double> row(3);
    for (Index i = 0; i < 5; ++i) {
      model.decision_row({s.X.data() + 3 * i, 3}, row);
      for (Index m = 0; m < 3; ++m) EXPECT_NEAR(row[static_cast<std::size_t>(m)], batch(i, m), 1e-12 * (1 + std::abs(batch(i, m))));
    }
    EXPECT_LT((model.decision(Matrix(s.X.topRows(7))) - batch.topRows(7)).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(Svc, AnUnfinishedFitGoesOnWhereItStopped) {
  const Sample s = make_sample(300, 3, 11);
  SvcOptions options{.kernel = kernels::gaussian(0.7), .C = 100};
  const SvcModel whole = fit_svc(s.X, s.labels, options);
  options.solver.max_iterations = 30;
  const SvcModel part = fit_svc(s.X, s.labels, options);
  EXPECT_EQ(part.summary().status, "step limit");
  EXPECT_NE(part.summary().remark.find("step limit"), std::string::npos);
  EXPECT_EQ(part.decision(s.X).rows(), 300);
  options.solver.max_iterations = 0;
  options.start = part.coefficients(300);
  const SvcModel rest = fit_svc(s.X, s.labels, options);
  EXPECT_EQ(rest.summary().status, "converged");
  EXPECT_NEAR(rest.summary().objective, whole.summary().objective, 1e-7 * std::abs(whole.summary().objective));
  options.solver.time_limit = 1e-9;
  options.start = {};
  const SvcModel none = fit_svc(s.X, s.labels, options);
  EXPECT_EQ(none.summary().status, "time limit");
  EXPECT_EQ(none.classes(s.X).size(), 300U);
}

TEST(Svc, CancelIsHeardInFitsOfManyProblems) {
  const Sample s = make_sample(600, 3, 18);
  for (const bool probability : {false, true}) {
    SvcOptions options{.kernel = kernels::gaussian(0.5), .C = 1e6, .probability = probability};
    options.run.threads = 1;
    int calls = 0;
    options.run.progress = [&](const ProgressEvent&) { return ++calls < 2; };
    options.solver.time_limit = 20;
    try {
      fit_svc(s.X, s.labels, options);
      EXPECT_LT(calls, 2);  // over before the second call
    } catch (const Cancelled&) {
      EXPECT_EQ(calls, 2);
    }
  }
}

TEST(Svc, HardMarginOfManyRowsIsDecidedInFloat64) {
  Sample s = make_sample(2100, 2, 19);
  const SvcModel mixed = fit_svc(s.X, s.labels, {.kernel = kernels::linear(), .hard_margin = true});
  EXPECT_EQ(mixed.summary().precision, Precision::float64);
  EXPECT_EQ(mixed.summary().status, "not separable");
}

TEST(Svc, ProbabilitiesSumToOneAndDecide) {
  const Sample s = make_sample(240, 3, 12);
  const SvcModel model = fit_svc(s.X, s.labels, {.kernel = kernels::gaussian(1.0), .probability = true});
  const Matrix p = model.probabilities(s.X);
  EXPECT_GE(p.minCoeff(), 0);
  EXPECT_LT((p.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  const std::vector<Index> guess = model.classes(s.X);
  for (Index i = 0; i < p.rows(); ++i) {
    Index best = 0;
    p.row(i).maxCoeff(&best);
    EXPECT_EQ(guess[static_cast<std::size_t>(i)], best);
  }
  EXPECT_THROW(fit_svc(s.X, s.labels).probabilities(s.X), NotOffered);
}

// Whether hulls meet does not depend on where the origin is: a gap of a hundredth of the spread, a thousand away.
TEST(Svc, AHardMarginIsFoundFarFromTheOrigin) {
  Matrix X = RandomStream(21).normal_matrix(40, 2);
  std::vector<Index> labels;
  for (Index i = 0; i < 40; ++i) {
    labels.push_back(i % 2);
    X(i, 0) = (i % 2 == 0 ? -1 : 1) * (0.01 + std::abs(X(i, 0)));
  }
  const SvcOptions options{.kernel = kernels::linear(), .hard_margin = true};
  const SvcModel here = fit_svc(X, labels, options);
  const SvcModel there = fit_svc((X.array() + 1000).matrix(), labels, options);
  EXPECT_EQ(here.summary().status, "converged");
  EXPECT_EQ(there.summary().status, "converged") << there.summary().remark;
  EXPECT_NEAR(there.squared_norm()[0] / here.squared_norm()[0], 1, 1e-3);
  EXPECT_EQ(there.classes((X.array() + 1000).matrix()), labels);
}

TEST(Svc, NoMarginIsRemarkedOn) {
  const Matrix half = RandomStream(22).normal_matrix(20, 2);
  Matrix X(40, 2);
  X << half, half;  // every point has both labels
  std::vector<Index> labels(40, 0);
  std::fill(labels.begin() + 20, labels.end(), Index{1});
  const SvcModel model = fit_nu_svc(X, labels, {.kernel = kernels::gaussian(1.0), .nu = 0.5});
  EXPECT_NE(model.summary().remark.find("the margin at nu = 0.5 is zero"), std::string::npos) << model.summary().remark;
  EXPECT_TRUE(model.decision(X).allFinite());
  const Sample s = make_sample(100, 2, 23);
  EXPECT_EQ(fit_nu_svc(s.X, s.labels, {.kernel = kernels::gaussian(1.0), .nu = 0.3}).summary().remark, "");
}

TEST(Svc, MistakesAreNamed) {
  const Sample s = make_sample(20, 2, 13);
  EXPECT_THROW(fit_svc(s.X, std::vector<Index>(20, 0)), InvalidArgument);
  EXPECT_THROW(fit_svc(s.X, s.labels, {.C = 0}), InvalidArgument);
  EXPECT_THROW(fit_svc(s.X, s.labels, {.C = std::nan("")}), InvalidArgument);
  EXPECT_THROW(fit_svc(s.X, {0, 1}), InvalidArgument);
  EXPECT_THROW(fit_svc(Matrix(0, 3), {}), InvalidArgument);
  EXPECT_THROW(fit_svc(s.X, s.labels, {.sample_weight = Vector::Zero(20)}), InvalidArgument);
  EXPECT_THROW(fit_svc(s.X, s.labels).decision(Matrix::Zero(2, 5)), InvalidArgument);
  Matrix unscaled = s.X;
  unscaled.col(2) *= 1e5;
  // Steps enough to see it: by default there would be ten million.
  const SvcModel model = fit_svc(unscaled, s.labels, {.kernel = kernels::linear(), .solver = {.max_iterations = 10000}});
  EXPECT_NE(model.summary().remark.find("column 2"), std::string::npos);
}

TEST(Svc, DegenerateRowsEnd) {
  const Matrix same = Matrix::Ones(40, 3);
  std::vector<Index> labels;
  for (Index i = 0; i < 40; ++i) labels.push_back(i < 39 ? 0 : 1);
  const SvcModel model = fit_svc(same, labels, {.kernel = kernels::gaussian(1.0), .C = 1e6});
  EXPECT_EQ(model.summary().status, "converged");
  EXPECT_EQ(model.classes(same)[0], 0);
  EXPECT_THROW(fit_svc(same, labels, {.probability = true}), InvalidArgument);  // one sample cannot be left out
}

TEST(Svr, AgreesWithTheRepresenterSolver) {
  const Sample s = make_sample(90, 2, 14);
  for (const bool bias : {true, false}) {
    const SvrModel model = fit_svr(s.X, s.y, {.kernel = kernels::gaussian(1.0), .lambda = 0.01, .epsilon = 0.2, .fit_intercept = bias});
    RepresenterOptions options;
    options.kernel = kernels::gaussian(1.0);
    options.loss = parse_loss("epsilon_insensitive(0.2)");
    options.lambda = 0.01;
    options.fit_intercept = bias;
    options.tolerance = 1e-10;
    EXPECT_LT((model.predict(s.X) - fit_representer(s.X, s.y, options).predict(s.X)).cwiseAbs().maxCoeff(), 1e-4);
    EXPECT_LT(model.summary().violation, 1e-9);
  }
}

TEST(Svr, NuFindsTheEpsilonOfItsShare) {
  const Sample s = make_sample(150, 2, 15);
  const SvrModel model = fit_nu_svr(s.X, s.y, {.kernel = kernels::gaussian(1.0), .C = 3, .nu = 0.3});
  EXPECT_GT(model.epsilon(), 0);
  const Vector error = (s.y - model.predict(s.X).col(0)).cwiseAbs();
  EXPECT_LE(static_cast<double>((error.array() > model.epsilon() + 1e-6).count()), 0.3 * 150);
  EXPECT_GE(static_cast<double>(model.summary().support_vectors), 0.3 * 150 - 1e-9);
  const SvrModel twin = fit_svr(s.X, s.y, {.kernel = kernels::gaussian(1.0), .C = 3, .epsilon = model.epsilon()});
  EXPECT_LT((twin.predict(s.X) - model.predict(s.X)).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(Svr, ATubeWiderThanTheTargetsIsAConstant) {
  const Sample s = make_sample(30, 2, 16);
  const SvrModel model = fit_svr(s.X, s.y, {.epsilon = 100});
  EXPECT_EQ(model.summary().support_vectors, 0);
  EXPECT_EQ(model.predict(s.X).col(0), Vector::Constant(30, model.intercept()[0]));
  EXPECT_THROW(fit_svr(s.X, s.y, {.epsilon = -1}), InvalidArgument);
}

TEST(OneClass, NuBoundsTheShareOutside) {
  const Sample s = make_sample(200, 2, 17);
  for (const double nu : {0.05, 0.3, 0.9}) {
    const OneClassModel model = fit_one_class(s.X, {.kernel = kernels::gaussian(1.0), .nu = nu});
    const Vector f = model.decision(s.X).col(0);
    EXPECT_LE(static_cast<double>((f.array() < -1e-9).count()), nu * 200);
    EXPECT_GE(static_cast<double>(model.summary().support_vectors), nu * 200 - 1e-9);
    EXPECT_NEAR(model.dual_coef().sum(), nu * 200, 1e-9);
    EXPECT_NEAR(model.decision_row({s.X.data(), 3}), f[0], 1e-12 * (1 + std::abs(f[0])));
  }
}

// Below one sample nothing may be left outside, so nu is only a factor of f.
TEST(OneClass, ANuBelowOneSampleIsRemarkedOn) {
  const Sample s = make_sample(200, 2, 18);
  const OneClassModel one = fit_one_class(s.X, {.kernel = kernels::gaussian(1.0), .nu = 0.004});
  const OneClassModel tiny = fit_one_class(s.X, {.kernel = kernels::gaussian(1.0), .nu = 4e-9});
  EXPECT_NE(tiny.summary().remark.find("less than one of 200 samples"), std::string::npos);
  EXPECT_EQ(fit_one_class(s.X, {.kernel = kernels::gaussian(1.0), .nu = 0.1}).summary().remark, "");
  const Vector f = one.decision(s.X).col(0);
  EXPECT_LT((f - 1e6 * tiny.decision(s.X).col(0)).cwiseAbs().maxCoeff(), 1e-6 * f.cwiseAbs().maxCoeff());
}

}  // namespace
}  // namespace mercer

// Stochastic gradient descent against source G's loop written out, G's lemma on explicit features, its rate, and the exact optimum.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_sgd.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "mercer/representer.hpp"
#include "mercer/ridge.hpp"
#include "mercer/simulate.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;
using Output = KernelSGDOptions::Output;

struct Data {
  Matrix X;
  std::vector<Index> labels;
};

Data make_classes(Index n, Index classes, std::uint64_t seed, Index width = 2) {
  RandomStream random(seed);
  Data d{random.normal_matrix(n, width), {}};
  for (Index i = 0; i < n; ++i) {
    const double angle = std::atan2(d.X(i, 1), d.X(i, 0)) / 6.2831853072 + 0.5 + 0.08 * random.normal();
    d.labels.push_back(std::clamp<Index>(static_cast<Index>(angle * static_cast<double>(classes)), 0, classes - 1));
  }
  return d;
}

Vector signs_of(const std::vector<Index>& labels, Index positive) {
  Vector y(std::ssize(labels));
  for (Index i = 0; i < y.size(); ++i) y[i] = labels[static_cast<std::size_t>(i)] == positive ? 1 : -1;
  return y;
}

// The definition in G's section 3, line by line.
Vector naive(const Matrix& K, const Vector& y, double lambda, const std::vector<Index>& draws, bool average) {
  Vector beta = Vector::Zero(y.size());
  Vector sum = Vector::Zero(y.size());
  Index t = 0;
  for (const Index i : draws) {
    ++t;
    const Vector alpha = beta / (lambda * static_cast<double>(t));
    sum += alpha;
    if (y[i] * K.row(i).dot(alpha) < 1) beta[i] += y[i];
  }
  return average ? Vector(sum / static_cast<double>(t)) : Vector(beta / (lambda * static_cast<double>(t + 1)));
}

// The model's coefficients, one row per training sample.
Matrix spread(const KernelSGDModel& m, Index n) {
  Matrix all = Matrix::Zero(n, m.dual_coef().cols());
  for (Index s = 0; s < m.dual_coef().rows(); ++s) all.row(m.support()[static_cast<std::size_t>(s)]) = m.dual_coef().row(s);
  return all;
}

double objective(const Matrix& K, const Vector& y, double lambda, const Vector& alpha) {
  const Vector f = K * alpha;
  return lambda / 2 * alpha.dot(f) + (1 - y.array() * f.array()).max(0).mean();
}

TEST(KernelSGD, IsTheLoopOfTheDefinition) {
  for (const Index n : {7, 64, 300}) {
    const Data d = make_classes(n, 2, 3);
    const Kernel kernel = kernels::gaussian(0.8);
    const Matrix K = gram(kernel, d.X);
    const Vector y = signs_of(d.labels, 1);
    for (const Index T : {1, 2, 63, 64, 65, 257, 1500}) {
      for (const Output output : {Output::averaged, Output::last}) {
        for (const std::size_t memory : {std::size_t{0}, static_cast<std::size_t>(n * n * 4)}) {  // stored, and too little for that
          const double lambda = 0.02;
          const auto m = fit_kernel_sgd(d.X, d.labels,
                                        {.kernel = kernel,
                                         .lambda = lambda,
                                         .iterations = T,
                                         .output = output,
                                         .certify = false,
                                         .seed = 5,
                                         .run = {.memory = memory}});
          if (T == 1500) {
            EXPECT_EQ(m.summary().stored, memory == 0);
          }
          const Vector expected = naive(K, y, lambda, sgd_draws(n, T, 5), output == Output::averaged);
          EXPECT_LT((spread(m, n).col(0) - expected).cwiseAbs().maxCoeff(), 1e-12 * (1 + expected.cwiseAbs().maxCoeff()))
              << n << " samples, " << T << " steps";
        }
      }
    }
  }
}

TEST(KernelSGD, EverySampleHasItsShareOfTheDraws) {
  Vector w(4);
  w << 1, 0, 3, 4;
  std::vector<double> count(4, 0);
  for (const Index i : sgd_draws(4, 80000, 1, w)) count[static_cast<std::size_t>(i)] += 1;
  for (Index i = 0; i < 4; ++i) {
    const double p = w[i] / 8;
    EXPECT_NEAR(count[static_cast<std::size_t>(i)] / 80000, p, 5 * std::sqrt(p * (1 - p) / 80000) + 1e-15);
  }
  EXPECT_EQ(sgd_draws(10, 100, 3), sgd_draws(10, 100, 3));
  EXPECT_NE(sgd_draws(10, 100, 3), sgd_draws(10, 100, 4));
}

// G's lemma: the run in the feature space ends at w = sum alpha_j psi(x_j).
TEST(KernelSGD, LemmaTheExplicitRunHasTheSameW) {
  const Data two = make_classes(120, 2, 8, 3);
  const Data four = make_classes(120, 4, 9, 3);
  const auto own_map = [](const Samples& X) -> Matrix {
    const Matrix rows = X.to_dense();
    Matrix F(rows.rows(), 4);
    F << rows.array().sin(), rows.rowwise().norm();
    return F;
  };
  // (1 + <x, y>)^2 = <psi(x), psi(y)> with psi = (1, sqrt 2 x, x_i^2, sqrt 2 x_i x_j).
  const auto quadratic = [](const Samples& X) -> Matrix {
    const Matrix M = monomials(X.to_dense(), 2);  // x1 x2 x3, then x1^2 x1x2 x1x3 x2^2 x2x3 x3^2
    Matrix F(M.rows(), 10);
    F << Vector::Ones(M.rows()), M;
    for (const Index j : {1, 2, 3, 5, 6, 8}) F.col(j) *= std::sqrt(2.0);
    return F;
  };
  struct Case {
    Kernel kernel;
    std::function<Matrix(const Samples&)> psi;
  };
  const Case cases[] = {{kernels::linear(), [](const Samples& X) { return X.to_dense(); }},
                        {kernels::polynomial(2, 1, 1), quadratic},
                        {kernels::feature_map("own", own_map), own_map}};
  for (const Case& c : cases) {
    for (const Data& d : {two, four}) {
      for (const Output output : {Output::averaged, Output::last}) {
        const KernelSGDOptions o{.kernel = c.kernel, .lambda = 0.03, .iterations = 3000, .output = output, .seed = 2};
        const KernelSGDModel in_kernel = fit_kernel_sgd(d.X, d.labels, o);
        const Matrix F = c.psi(d.X);
        const ExplicitSGD in_features = fit_explicit_sgd(F, d.labels, o);
        const Matrix w = spread(in_kernel, 120).transpose() * F;
        EXPECT_EQ(in_features.updates, in_kernel.summary().updates);
        EXPECT_LT((in_features.coef - w).cwiseAbs().maxCoeff(), 1e-12 * (1 + w.cwiseAbs().maxCoeff())) << c.kernel.text();
      }
    }
  }
}

// docs/kernel-sgd.md: E P(w) - P* <= (lambda |w*|^2 / 2 + 2 R^2 (H_{T+1} - 1) / lambda) / T.
TEST(KernelSGD, TheRateIsThatOfTheTheorem) {
  const Data d = make_classes(60, 2, 21);
  const Kernel kernel = kernels::gaussian(1.0);
  const Matrix K = gram(kernel, d.X);
  const Vector y = signs_of(d.labels, 1);
  const double lambda = 0.05;
  const RepresenterModel exact = fit_representer(
      d.X, y, {.kernel = kernel, .loss = losses::hinge(), .lambda = lambda / 2, .fit_intercept = false, .tolerance = 1e-10});
  const double best = exact.summary().objective;
  EXPECT_NEAR(best, objective(K, y, lambda, exact.dual_coef().col(0)), 1e-9);
  std::vector<double> errors;
  double harmonic = 0;
  Index summed = 0;
  for (const Index T : {100, 1600, 25600}) {
    double mean = 0;
    constexpr int seeds = 12;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const auto m = fit_kernel_sgd(d.X, d.labels, {.kernel = kernel, .lambda = lambda, .iterations = T, .seed = seed});
      const double value = objective(K, y, lambda, spread(m, 60).col(0));
      EXPECT_GE(value, best - 1e-9);
      EXPECT_NEAR(m.summary().objective, value, 1e-12);
      EXPECT_LE(value - m.summary().gap, best + 1e-9);  // the gap is a gap
      mean += (value - best) / seeds;
    }
    for (; summed <= T; ++summed) harmonic += 1 / static_cast<double>(summed + 1);
    const double R2 = 1;  // k(x, x)
    const double bound = (lambda * exact.summary().squared_norm / 2 + 2 * R2 * (harmonic - 1) / lambda) / static_cast<double>(T);
    EXPECT_LE(mean, bound) << T;
    errors.push_back(mean);
  }
  // log(T)/T falls by 16 log(100)/log(1600) = 10 and by 11.6.
  EXPECT_LT(errors[1], errors[0] / 5);
  EXPECT_LT(errors[2], errors[1] / 5);
}

TEST(KernelSGD, ReachesTheOptimumOfEachClassAgainstTheRest) {
  const Data d = make_classes(150, 3, 5);
  const Kernel kernel = kernels::gaussian(0.7);
  const double lambda = 0.02;
  const auto m = fit_kernel_sgd(d.X, d.labels, {.kernel = kernel, .lambda = lambda, .iterations = 200000});
  double best = 0;
  for (Index c = 0; c < 3; ++c) {
    best += fit_representer(d.X, signs_of(d.labels, c),
                            {.kernel = kernel, .loss = losses::hinge(), .lambda = lambda / 2, .fit_intercept = false})
                .summary()
                .objective;
  }
  EXPECT_EQ(m.n_targets(), 3);
  EXPECT_GE(m.summary().objective, best - 1e-6);
  EXPECT_LT(m.summary().objective, 1.01 * best);
  EXPECT_LE(m.summary().objective - m.summary().gap, best + 1e-6);
  EXPECT_LT(m.summary().relative_gap, 0.05);
}

TEST(KernelSGD, WeightsAreThoseOfTheObjective) {
  const Data d = make_classes(80, 2, 6);
  const Kernel kernel = kernels::gaussian(1.0);
  Vector w(80);
  for (Index i = 0; i < 80; ++i) w[i] = static_cast<double>(i % 4);
  const double lambda = 0.05;
  const auto m = fit_kernel_sgd(d.X, d.labels, {.kernel = kernel, .lambda = lambda, .iterations = 100000, .sample_weight = w});
  const double best =
      fit_representer(d.X, signs_of(d.labels, 1),
                      {.kernel = kernel, .loss = losses::hinge(), .lambda = lambda / 2, .fit_intercept = false, .sample_weight = w})
          .summary()
          .objective;
  EXPECT_GE(m.summary().objective, best - 1e-6);
  EXPECT_LT(m.summary().objective, 1.01 * best);
  for (const Index i : m.support()) EXPECT_GT(w[i], 0);
}

TEST(KernelSGD, ThreadsDoNotChangeBits) {
  const Data d = make_classes(800, 3, 4);
  for (const std::size_t memory : {std::size_t{0}, std::size_t{4500000}}) {
    for (const Index budget : {0, 20}) {
      KernelSGDOptions o{.kernel = kernels::gaussian(0.5), .iterations = 3000, .budget = budget, .run = {.threads = 1, .memory = memory}};
      const auto one = fit_kernel_sgd(d.X, d.labels, o);
      o.run.threads = 2;
      const auto two = fit_kernel_sgd(d.X, d.labels, o);
      EXPECT_EQ(one.summary().stored, memory == 0);
      EXPECT_EQ(one.dual_coef(), two.dual_coef());
      EXPECT_EQ(one.support(), two.support());
      EXPECT_EQ(one.summary().objective, two.summary().objective);
    }
  }
}

// The rule of the header, on whole matrices.
Vector naive_budgeted(const Matrix& K, const Vector& y, double lambda, const std::vector<Index>& draws, Index budget, Index& removals) {
  Vector beta = Vector::Zero(y.size());
  std::vector<Index> order;  // support vectors, the one that came first in front
  Index t = 0;
  for (const Index i : draws) {
    ++t;
    if (!(y[i] * K.row(i).dot(beta) < lambda * static_cast<double>(t))) continue;
    beta[i] += y[i];
    if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
    std::erase_if(order, [&](Index j) { return beta[j] == 0; });
    if (std::ssize(order) <= budget) continue;
    ++removals;
    Index weakest = -1;
    for (const Index j : order) {
      if (j != i && (weakest < 0 || beta[j] * beta[j] * K(j, j) < beta[weakest] * beta[weakest] * K(weakest, weakest))) weakest = j;
    }
    std::erase(order, weakest);
    Index onto = order.front();
    for (const Index j : order) {
      if (K(weakest, j) * K(weakest, j) / K(j, j) > K(weakest, onto) * K(weakest, onto) / K(onto, onto)) onto = j;
    }
    beta[onto] += beta[weakest] * K(weakest, onto) / K(onto, onto);
    beta[weakest] = 0;
  }
  return beta / (lambda * static_cast<double>(t + 1));
}

TEST(KernelSGD, ABudgetIsKeptByTheRuleItStates) {
  const auto [X, y01] = simulate::moons(200, 0.2, 1);
  std::vector<Index> labels;
  for (const double v : y01) labels.push_back(static_cast<Index>(v));
  const Kernel kernel = kernels::gaussian(0.5);
  const Matrix K = gram(kernel, X);
  const double lambda = 0.01;
  const auto m = fit_kernel_sgd(X, labels, {.kernel = kernel, .lambda = lambda, .iterations = 20000, .budget = 25});
  EXPECT_LE(m.samples().size(), 25);
  EXPECT_EQ(m.summary().output, "last iterate");
  EXPECT_GT(m.summary().removals, 0);
  const Vector signs = signs_of(labels, 1);
  Index removals = 0;
  const Vector other = naive_budgeted(K, signs, lambda, sgd_draws(200, 20000, 0), 25, removals);
  const double ours = objective(K, signs, lambda, spread(m, 200).col(0));
  const double theirs = objective(K, signs, lambda, other);
  const double best = fit_representer(X, signs, {.kernel = kernel, .loss = losses::hinge(), .lambda = lambda / 2, .fit_intercept = false})
                          .summary()
                          .objective;
  EXPECT_EQ(m.summary().removals, removals);
  EXPECT_LT((spread(m, 200).col(0) - other).cwiseAbs().maxCoeff(), 1e-10 * other.cwiseAbs().maxCoeff());
  EXPECT_NEAR(ours, theirs, 1e-10);
  EXPECT_LT(ours, 2 * best);
  // No budget that is never reached changes anything.
  const auto wide = fit_kernel_sgd(X, labels, {.kernel = kernel, .lambda = lambda, .iterations = 3000, .budget = 200});
  const auto free = fit_kernel_sgd(X, labels, {.kernel = kernel, .lambda = lambda, .iterations = 3000, .output = Output::last});
  EXPECT_EQ(wide.support(), free.support());
  EXPECT_LT((wide.dual_coef() - free.dual_coef()).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(KernelSGD, GivenGramSparseAndSingleRowsAgree) {
  const Data d = make_classes(150, 2, 12);
  const KernelSGDOptions o{.kernel = kernels::gaussian(0.6), .lambda = 0.02, .iterations = 5000};
  const auto dense = fit_kernel_sgd(d.X, d.labels, o);
  KernelSGDOptions given = o;
  given.kernel = kernels::precomputed();
  const Matrix K = gram(o.kernel, d.X);
  const auto by_values = fit_kernel_sgd(K, d.labels, given);
  EXPECT_EQ(by_values.support(), dense.support());
  const Matrix X_new = make_classes(40, 2, 13).X;
  EXPECT_LT((by_values.decision(gram(o.kernel, X_new, d.X)) - dense.decision(X_new)).cwiseAbs().maxCoeff(), 1e-10);
  const auto sparse = fit_kernel_sgd(CsrMatrix<double>(d.X.sparseView()), d.labels, o);
  EXPECT_LT((sparse.decision(X_new) - dense.decision(X_new)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_NEAR(dense.decision(X_new.topRows(1))(0, 0), dense.decision(X_new)(0, 0), 1e-13);
  EXPECT_EQ(dense.decision(Matrix(0, 2)).rows(), 0);
  // White noise is on the diagonal of the Gram matrix alone.
  const Matrix noisy = K + 0.5 * Matrix::Identity(150, 150);
  const auto white =
      fit_kernel_sgd(d.X, d.labels, {.kernel = o.kernel + kernels::white(0.5), .lambda = 0.02, .iterations = 500, .seed = 1});
  const Vector expected = naive(noisy, signs_of(d.labels, 1), 0.02, sgd_draws(150, 500, 1), true);
  EXPECT_LT((spread(white, 150).col(0) - expected).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(KernelSGD, DefaultsAndEdges) {
  const Data d = make_classes(50, 2, 2);
  const auto m = fit_kernel_sgd(d.X, d.labels);
  EXPECT_EQ(m.lambda(), 1.0 / 50);
  EXPECT_EQ(m.summary().iterations, 100000);
  EXPECT_TRUE(m.summary().certified);
  EXPECT_NE(m.summary().sentence.find("100000 steps with lambda 0.02"), std::string::npos);
  // The average of one iterate is w_1 = 0.
  const auto zero = fit_kernel_sgd(d.X, d.labels, {.iterations = 1});
  EXPECT_EQ(zero.decision(d.X).cwiseAbs().maxCoeff(), 0);
  EXPECT_EQ(zero.summary().support_vectors, 0);
  EXPECT_FALSE(zero.summary().certified);
  const auto heavy = fit_kernel_sgd(d.X, d.labels, {.lambda = 1e12, .iterations = 100});
  EXPECT_TRUE(heavy.decision(d.X).allFinite());
  EXPECT_NEAR(heavy.summary().objective, 1, 1e-9);
}

TEST(KernelSGD, WhatCannotBeFittedIsSaid) {
  const Data d = make_classes(20, 2, 2);
  const auto said = [&](const KernelSGDOptions& o) { return message_of<InvalidArgument>([&] { fit_kernel_sgd(d.X, d.labels, o); }); };
  EXPECT_EQ(said({.lambda = 0.0}), "lambda must be a finite number > 0, got 0");
  EXPECT_NE(said({.iterations = -1}).find("iterations must be >= 0"), std::string::npos);
  EXPECT_NE(said({.budget = -2}).find("budget must be >= 0"), std::string::npos);
  EXPECT_NE(said({.output = Output::averaged, .budget = 5}).find("take the last iterate"), std::string::npos);
  EXPECT_NE(said({.kernel = kernels::sigmoid()}).find("not positive semi-definite"), std::string::npos);
  EXPECT_NE(said({.lambda = 5e-324}).find("too small"), std::string::npos);
  EXPECT_NE(said({.sample_weight = Vector::Zero(20)}).find("all sample weights are zero"), std::string::npos);
  EXPECT_NE(said({.sample_weight = Vector::Ones(3)}).find("3 numbers for 20 samples"), std::string::npos);
  EXPECT_NE(message_of([&] { fit_kernel_sgd(d.X, std::vector<Index>(20, 0)); }).find("only one class"), std::string::npos);
  EXPECT_NE(message_of([&] { fit_kernel_sgd(d.X, std::vector<Index>(19, 0)); }).find("20 samples but y has 19"), std::string::npos);
  EXPECT_NE(message_of([&] { fit_kernel_sgd(Matrix(0, 2), {}); }).find("there are no samples"), std::string::npos);
  Matrix bad = d.X;
  bad(3, 1) = std::nan("");
  EXPECT_NE(message_of([&] { fit_kernel_sgd(bad, d.labels, {.kernel = kernels::gaussian(1.0)}); }).find("NaN"), std::string::npos);
  EXPECT_NE(message_of([&] { fit_explicit_sgd(bad, d.labels); }).find("NaN"), std::string::npos);
  EXPECT_NE(message_of([&] { fit_kernel_sgd(d.X, d.labels).decision(Matrix::Zero(1, 3)); }).find("3 columns"), std::string::npos);
  // A given matrix that is no Gram matrix shows itself.
  EXPECT_NE(message_of([&] {
              fit_kernel_sgd(Matrix(-Matrix::Identity(20, 20)), d.labels, {.kernel = kernels::precomputed(), .lambda = 1});
            }).find("not positive semi-definite on this data"),
            std::string::npos);
}

TEST(KernelSGD, ABudgetOfSupportVectorsAsksTheMemory) {
  const Data d = make_classes(300, 2, 2);
  EXPECT_NE(message_of<OverBudget>([&] {
              fit_kernel_sgd(d.X, d.labels, {.budget = 300, .run = {.memory = 1000000}});
            }).find("kernel values between 300 support vectors"),
            std::string::npos);
}

TEST(KernelSGD, CanBeStopped) {
  const Data d = make_classes(300, 2, 2);
  testing::on_new_thread([&] {
    EXPECT_THROW(fit_kernel_sgd(d.X, d.labels, {.iterations = 1000000, .run = {.progress = [](const ProgressEvent&) { return false; }}}),
                 Cancelled);
  });
}

}  // namespace
}  // namespace mercer

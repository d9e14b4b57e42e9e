// The class-mean classifier against sums written out, against distances in an explicit feature space, and against Gaussian densities.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_mean.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;
using Priors = KernelMeanOptions::Priors;

struct Data {
  Matrix X;
  std::vector<Index> labels;
};

Data make_classes(Index n, Index classes, std::uint64_t seed, Index width = 2) {
  RandomStream random(seed);
  Data d{random.normal_matrix(n, width), {}};
  for (Index i = 0; i < n; ++i) {
    d.labels.push_back(i < classes ? i : random.below(classes));
    d.X.row(i).array() += 0.9 * static_cast<double>(d.labels.back());
  }
  return d;
}

Vector some_weights(Index n) {
  Vector w(n);
  for (Index i = 0; i < n; ++i) w[i] = 0.5 + static_cast<double>(i % 3);
  return w;
}

// As classes_from_scores has it, which is above this layer.
std::vector<Index> labels_from(const Matrix& scores) {
  std::vector<Index> labels;
  for (Index i = 0; i < scores.rows(); ++i) {
    Index best = scores(i, 0) > 0 ? 1 : 0;
    if (scores.cols() > 1) scores.row(i).maxCoeff(&best);
    labels.push_back(best);
  }
  return labels;
}

// L's formula, double sums and all.
Vector written_out(const Kernel& kernel, const Data& d, const Vector& w, const Matrix& X) {
  const Matrix K = gram(kernel, d.X);
  const Matrix C = gram(kernel, X, d.X);
  double mass[2] = {0, 0};
  for (Index i = 0; i < w.size(); ++i) mass[d.labels[static_cast<std::size_t>(i)]] += w[i];
  double norm[2] = {0, 0};
  for (Index i = 0; i < w.size(); ++i) {
    for (Index j = 0; j < w.size(); ++j) {
      const Index c = d.labels[static_cast<std::size_t>(i)];
      if (c == d.labels[static_cast<std::size_t>(j)]) norm[c] += w[i] * w[j] * K(i, j) / (mass[c] * mass[c]);
    }
  }
  Vector f = Vector::Constant(X.rows(), (norm[0] - norm[1]) / 2);
  for (Index r = 0; r < X.rows(); ++r) {
    for (Index i = 0; i < w.size(); ++i) {
      const Index c = d.labels[static_cast<std::size_t>(i)];
      f[r] += (c == 1 ? 1 : -1) * w[i] * C(r, i) / mass[c];
    }
  }
  return f;
}

TEST(KernelMean, IsTheFormulaOfTheSource) {
  const Matrix X = make_classes(30, 2, 99).X;
  for (const Index n : {5, 255, 256, 257, 600}) {
    const Data d = make_classes(n, 2, 4);
    for (const Kernel& kernel : {kernels::gaussian(0.7), kernels::linear(), kernels::polynomial(3, 0.3, 1), kernels::laplacian(2.0)}) {
      for (const Vector& w : {Vector(Vector::Ones(n)), some_weights(n)}) {
        const auto m = fit_kernel_mean(d.X, d.labels, {.kernel = kernel, .sample_weight = w});
        const Vector expected = written_out(kernel, d, w, X);
        EXPECT_LT((m.decision(X).col(0) - expected).cwiseAbs().maxCoeff(), 1e-12 * (1 + expected.cwiseAbs().maxCoeff()));
        EXPECT_LT((m.decision(X).col(0) - (m.class_scores(X).col(1) - m.class_scores(X).col(0))).cwiseAbs().maxCoeff(), 1e-12);
        EXPECT_NEAR(m.intercept()[0], (m.mean_gram()(0, 0) - m.mean_gram()(1, 1)) / 2, 0);
      }
    }
  }
}

// With the linear kernel the feature space is at hand: means, distances and their order.
TEST(KernelMean, TakesTheNearestMean) {
  for (const Index classes : {2, 3, 5}) {
    const Data d = make_classes(200, classes, 7, 3);
    const Vector w = some_weights(200);
    Matrix mean = Matrix::Zero(classes, 3);
    Vector mass = Vector::Zero(classes);
    for (Index i = 0; i < 200; ++i) {
      mean.row(d.labels[static_cast<std::size_t>(i)]) += w[i] * d.X.row(i);
      mass[d.labels[static_cast<std::size_t>(i)]] += w[i];
    }
    mean.array().colwise() /= mass.array();
    const auto m = fit_kernel_mean(d.X, d.labels, {.kernel = kernels::linear(), .sample_weight = w});
    const Matrix X = make_classes(300, classes, 8, 3).X;
    const std::vector<Index> guess = labels_from(m.decision(X));
    const Matrix scores = m.class_scores(X);
    EXPECT_EQ(m.decision(X).cols(), classes == 2 ? 1 : classes);
    for (Index r = 0; r < X.rows(); ++r) {
      Index nearest = 0;
      const Vector distance = (mean.rowwise() - X.row(r)).rowwise().squaredNorm();
      distance.minCoeff(&nearest);
      EXPECT_EQ(guess[static_cast<std::size_t>(r)], nearest);
      for (Index c = 0; c < classes; ++c) EXPECT_NEAR(-2 * scores(r, c) + X.row(r).squaredNorm(), distance[c], 1e-11);
    }
    for (Index a = 0; a < classes; ++a) {
      for (Index b = 0; b < classes; ++b) EXPECT_NEAR(m.summary().distances(a, b), (mean.row(a) - mean.row(b)).norm(), 1e-7);
    }
  }
}

// |w| is the biased MMD of the classes, K (80).
TEST(KernelMean, TheNormIsTheDiscrepancyOfTheClasses) {
  const Data d = make_classes(90, 2, 3);
  const Kernel kernel = kernels::gaussian(1.0);
  const Matrix K = gram(kernel, d.X);
  double sum[2][2] = {{0, 0}, {0, 0}};
  double count[2] = {0, 0};
  for (std::size_t i = 0; i < 90; ++i) {
    ++count[d.labels[i]];
    for (std::size_t j = 0; j < 90; ++j) sum[d.labels[i]][d.labels[j]] += K(static_cast<Index>(i), static_cast<Index>(j));
  }
  const double mmd2 = sum[0][0] / (count[0] * count[0]) + sum[1][1] / (count[1] * count[1]) - 2 * sum[0][1] / (count[0] * count[1]);
  const auto m = fit_kernel_mean(d.X, d.labels, {.kernel = kernel});
  EXPECT_NEAR(m.summary().distances(0, 1), std::sqrt(mmd2), 1e-12);
  EXPECT_FALSE(m.summary().coincide);
  EXPECT_NE(m.summary().sentence.find("distance (MMD)"), std::string::npos);
}

TEST(KernelMean, SaysWhenMeansCoincide) {
  Matrix X(8, 1);
  X << -1, 1, -2, 2, -3, 3, -4, 4;
  const std::vector<Index> labels{0, 0, 0, 0, 1, 1, 1, 1};
  const auto linear = fit_kernel_mean(X, labels, {.kernel = kernels::linear()});
  EXPECT_TRUE(linear.summary().coincide);
  EXPECT_NE(linear.summary().sentence.find("the means of classes 0 and 1 coincide"), std::string::npos);
  EXPECT_FALSE(fit_kernel_mean(X, labels, {.kernel = kernels::polynomial(2)}).summary().coincide);
  // Rounding does not hide it: the same rows in another order, far from the origin.
  RandomStream random(2);
  const Matrix A = random.normal_matrix(301, 3).array() + 50;
  Matrix both(602, 3);
  both << A, A.colwise().reverse();
  std::vector<Index> half(301, 0);
  half.resize(602, 1);
  for (const Kernel& kernel : {kernels::linear(), kernels::gaussian(1.0), kernels::polynomial(3)})
    EXPECT_TRUE(fit_kernel_mean(both, half, {.kernel = kernel}).summary().coincide) << kernel.text();
}

TEST(KernelMean, ParzenWindowsAreDensities) {
  const Data d = make_classes(120, 3, 5);
  for (const Kernel& kernel : {kernels::gaussian(0.6), parse_kernel("gaussian([0.4, 0.9])")}) {
    const double l1 = kernel.text() == "gaussian(0.6)" ? 0.6 : 0.4;
    const double l2 = kernel.text() == "gaussian(0.6)" ? 0.6 : 0.9;
    const Vector w = some_weights(120);
    const auto m =
        fit_kernel_mean(d.X, d.labels, {.kernel = kernel, .rule = MeanRule::parzen, .priors = Priors::empirical, .sample_weight = w});
    const Matrix X = make_classes(20, 3, 6).X;
    Matrix density = Matrix::Zero(20, 3);
    Vector mass = Vector::Zero(3);
    for (Index i = 0; i < 120; ++i) mass[d.labels[static_cast<std::size_t>(i)]] += w[i];
    for (Index r = 0; r < 20; ++r) {
      for (Index i = 0; i < 120; ++i) {
        const double u = (X(r, 0) - d.X(i, 0)) / l1;
        const double v = (X(r, 1) - d.X(i, 1)) / l2;
        const Index c = d.labels[static_cast<std::size_t>(i)];
        density(r, c) += w[i] / mass[c] * std::exp(-(u * u + v * v) / 2) / (2 * M_PI * l1 * l2);
      }
    }
    EXPECT_LT((m.log_densities(X) - Matrix(density.array().log())).cwiseAbs().maxCoeff(), 1e-11);
    Matrix p = density.array().rowwise() * (mass / mass.sum()).transpose().array();
    const Vector total = p.rowwise().sum();
    p.array().colwise() /= total.array();
    EXPECT_LT((m.probabilities(X) - p).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((m.priors() - mass / mass.sum()).cwiseAbs().maxCoeff(), 1e-15);
    Index best = 0;
    const std::vector<Index> guess = labels_from(m.decision(X));
    for (Index r = 0; r < 20; ++r) {
      p.row(r).maxCoeff(&best);
      EXPECT_EQ(guess[static_cast<std::size_t>(r)], best);
    }
  }
}

// A density has mass 1: the trapezoid rule in one dimension.
TEST(KernelMean, DensitiesIntegrateToOne) {
  const Data d = make_classes(40, 2, 5, 1);
  const auto m = fit_kernel_mean(d.X, d.labels, {.kernel = kernels::gaussian(0.3)});
  constexpr Index n = 4001;
  Matrix grid(n, 1);
  for (Index i = 0; i < n; ++i) grid(i, 0) = -20 + 0.01 * static_cast<double>(i);
  const Matrix p = m.log_densities(grid).array().exp();
  EXPECT_NEAR(0.01 * p.col(0).sum(), 1, 1e-9);
  EXPECT_NEAR(0.01 * p.col(1).sum(), 1, 1e-9);
}

TEST(KernelMean, PriorsMoveTheBoundary) {
  const Data d = make_classes(60, 2, 5);
  Vector priors(2);
  priors << 3, 1;
  const KernelMeanOptions o{.kernel = kernels::gaussian(0.8), .rule = MeanRule::parzen};
  KernelMeanOptions given = o;
  given.priors = Priors::given;
  given.given_priors = priors;
  const Matrix equal = fit_kernel_mean(d.X, d.labels, o).probabilities(d.X);
  const Matrix moved = fit_kernel_mean(d.X, d.labels, given).probabilities(d.X);
  for (Index i = 0; i < 60; ++i) EXPECT_NEAR(moved(i, 0) / moved(i, 1), 3 * equal(i, 0) / equal(i, 1), 1e-9 * moved(i, 0) / moved(i, 1));
  const Matrix difference = moved.col(1) - moved.col(0);
  EXPECT_EQ(fit_kernel_mean(d.X, d.labels, given).decision(d.X), difference);
  // Far away every window rounds to 0: the priors are what is left.
  EXPECT_EQ(fit_kernel_mean(d.X, d.labels, given).probabilities(Matrix::Constant(1, 2, 1e4))(0, 0), 0.75);
  EXPECT_EQ(fit_kernel_mean(d.X, d.labels, given).log_densities(Matrix::Constant(1, 2, 1e4))(0, 0), -INFINITY);
}

TEST(KernelMean, WeightsAreRepetitions) {
  const Data d = make_classes(70, 3, 15);
  Vector w(70);
  Matrix X(0, 2);
  std::vector<Index> labels;
  for (Index i = 0; i < 70; ++i) {
    w[i] = static_cast<double>(i < 3 ? 1 : i % 3);
    for (int r = 0; r < static_cast<int>(w[i]); ++r) {
      X.conservativeResize(X.rows() + 1, 2);
      X.row(X.rows() - 1) = d.X.row(i);
      labels.push_back(d.labels[static_cast<std::size_t>(i)]);
    }
  }
  const Kernel kernel = kernels::gaussian(1.1);
  const auto weighted = fit_kernel_mean(d.X, d.labels, {.kernel = kernel, .sample_weight = w});
  const auto repeated = fit_kernel_mean(X, labels, {.kernel = kernel});
  EXPECT_LT((weighted.decision(d.X) - repeated.decision(d.X)).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_EQ(weighted.samples().size(), (w.array() > 0).count());
}

TEST(KernelMean, GivenGramSparseAndThreads) {
  const Data d = make_classes(300, 3, 12);
  const Kernel kernel = kernels::gaussian(0.6);
  const auto dense = fit_kernel_mean(d.X, d.labels, {.kernel = kernel, .run = {.threads = 1}});
  const auto two = fit_kernel_mean(d.X, d.labels, {.kernel = kernel, .run = {.threads = 2}});
  EXPECT_EQ(dense.mean_gram(), two.mean_gram());
  EXPECT_EQ(dense.decision(d.X, {.threads = 1}), two.decision(d.X, {.threads = 2}));
  const auto given = fit_kernel_mean(gram(kernel, d.X), d.labels, {.kernel = kernels::precomputed()});
  EXPECT_LT((given.decision(gram(kernel, d.X)) - dense.decision(d.X)).cwiseAbs().maxCoeff(), 1e-12);
  const auto sparse = fit_kernel_mean(CsrMatrix<double>(d.X.sparseView()), d.labels, {.kernel = kernel});
  EXPECT_LT((sparse.decision(d.X) - dense.decision(d.X)).cwiseAbs().maxCoeff(), 1e-10);
  // No n x n matrix is made: far less than one is enough.
  EXPECT_NO_THROW(fit_kernel_mean(d.X, d.labels, {.kernel = kernel, .run = {.memory = 100000}}));
  EXPECT_EQ(dense.decision(Matrix(0, 2)).rows(), 0);
}

TEST(KernelMean, WhatCannotBeFittedIsSaid) {
  const Data d = make_classes(20, 2, 2);
  const auto said = [&](const KernelMeanOptions& o) { return message_of([&] { fit_kernel_mean(d.X, d.labels, o); }); };
  EXPECT_NE(said({.kernel = kernels::sigmoid()}).find("no distance to a mean"), std::string::npos);
  EXPECT_NE(said({.kernel = kernels::linear(), .rule = MeanRule::parzen}).find("no Parzen window"), std::string::npos);
  EXPECT_NE(said({.rule = MeanRule::parzen, .priors = Priors::given, .given_priors = Vector::Ones(3)}).find("3 numbers for 2 classes"),
            std::string::npos);
  EXPECT_NE(
      said({.rule = MeanRule::parzen, .priors = Priors::given, .given_priors = Vector::Zero(2)}).find("priors must be finite and > 0"),
      std::string::npos);
  EXPECT_NE(said({.given_priors = Vector::Ones(2)}).find("priors = given"), std::string::npos);
  EXPECT_NE(said({.sample_weight = Vector::Ones(2)}).find("2 numbers for 20 samples"), std::string::npos);
  Vector one_sided(20);
  for (Index i = 0; i < 20; ++i) one_sided[i] = d.labels[static_cast<std::size_t>(i)] == 0 ? 1 : 0;
  EXPECT_NE(said({.sample_weight = one_sided}).find("class 1 has no sample of positive weight"), std::string::npos);
  EXPECT_NE(message_of([&] { fit_kernel_mean(d.X, std::vector<Index>(20, 0)); }).find("only one class"), std::string::npos);
  EXPECT_NE(message_of([&] { fit_kernel_mean(Matrix(0, 1), {}); }).find("there are no samples"), std::string::npos);
  Matrix bad = d.X;
  bad(3, 1) = std::nan("");
  EXPECT_NE(message_of([&] { fit_kernel_mean(bad, d.labels, {.kernel = kernels::gaussian(1.0)}); }).find("NaN"), std::string::npos);
  const auto m = fit_kernel_mean(d.X, d.labels, {.kernel = kernels::laplacian(1.0)});
  EXPECT_NE(message_of<NotOffered>([&] { m.probabilities(d.X); }).find("the Parzen rule has both"), std::string::npos);
  EXPECT_NE(message_of<NotOffered>([&] { m.log_densities(d.X); }).find("known mass"), std::string::npos);
  EXPECT_NE(message_of([&] { m.decision(Matrix::Zero(1, 5)); }).find("5 columns"), std::string::npos);
}

}  // namespace
}  // namespace mercer

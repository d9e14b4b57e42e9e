// Kernel k-means against sums written out, against plain k-means, and with bounds against without.
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/kernel_kmeans.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "mercer/random.hpp"
#include "solvers/kmeans.hpp"

namespace mercer::solvers {
namespace {

Matrix gaussian_gram(const Matrix& X, double scale) {
  Matrix K(X.rows(), X.rows());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.rows(); ++j) K(i, j) = std::exp(-(X.row(i) - X.row(j)).squaredNorm() / (2 * scale * scale));
  }
  return K;
}

KernelKMeans run(const Matrix& K, Index k, const Vector& w, const KernelKMeansSettings& settings) {
  const ProgressCallback none;
  Stage stage(none, "test", 1);
  return kernel_kmeans(*dense_operator(K), k, w, settings, stage);
}

// |phi_i - m_c|^2 with three nested sums, nothing kept.
double naive_distance(const Matrix& K, const Vector& w, const std::vector<Index>& members, Index i, Index c) {
  long double mass = 0;
  long double cross = 0;
  long double square = 0;
  for (Index j = 0; j < K.rows(); ++j) {
    if (members[static_cast<std::size_t>(j)] != c) continue;
    mass += w[j];
    cross += static_cast<long double>(w[j]) * K(i, j);
    for (Index l = 0; l < K.rows(); ++l) {
      if (members[static_cast<std::size_t>(l)] == c) square += static_cast<long double>(w[j]) * w[l] * K(j, l);
    }
  }
  return static_cast<double>(K(i, i) - 2 * cross / mass + square / (mass * mass));
}

void expect_optimal(const Matrix& K, const Vector& w, const KernelKMeans& r) {
  long double inertia = 0;
  for (Index i = 0; i < K.rows(); ++i) {
    const double own = naive_distance(K, w, r.members, i, r.labels[static_cast<std::size_t>(i)]);
    for (Index c = 0; c < r.clusters; ++c) EXPECT_LE(own, naive_distance(K, w, r.members, i, c) + 1e-10) << i << " " << c;
    inertia += w[i] * own;
  }
  EXPECT_NEAR(r.inertia, static_cast<double>(inertia), 1e-10 * static_cast<double>(K.rows()));
}

TEST(KernelKMeans, InertiaAndLabelsAreThoseOfTheSumsWrittenOut) {
  const Matrix X = RandomStream(1).normal_matrix(90, 3);
  const Matrix K = gaussian_gram(X, 1.0);
  Vector w(90);
  RandomStream random(2);
  for (double& value : w) value = random.uniform(0.1, 2.0);
  w[3] = w[50] = 0;
  for (const Index k : {1, 2, 5, 90}) {
    const KernelKMeans r = run(K, k, w, {.restarts = 4, .tolerance = 0});
    EXPECT_TRUE(r.converged);
    expect_optimal(K, w, r);
    EXPECT_LE(r.clusters, k);
  }
}

TEST(KernelKMeans, StoppedEarlyTheLabelsAreStillNearest) {
  const Matrix X = RandomStream(3).normal_matrix(80, 2);
  const Matrix K = gaussian_gram(X, 0.7);
  const KernelKMeans r = run(K, 6, Vector::Ones(80), {.restarts = 1, .max_iterations = 1});
  EXPECT_FALSE(r.converged);
  expect_optimal(K, Vector::Ones(80), r);
}

TEST(KernelKMeans, BoundsChangeNothingButTheWork) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Matrix X = RandomStream(seed).normal_matrix(700, 2);
    const Matrix K = gaussian_gram(X, 0.5);
    const KernelKMeans with = run(K, 12, Vector::Ones(700), {.restarts = 3, .tolerance = 0, .seed = seed});
    const KernelKMeans without = run(K, 12, Vector::Ones(700), {.restarts = 3, .tolerance = 0, .bounds = false, .seed = seed});
    EXPECT_EQ(with.labels, without.labels);
    EXPECT_EQ(with.iterations, without.iterations);
    EXPECT_NEAR(with.inertia, without.inertia, 1e-9);
    EXPECT_LT(with.looked_at, 0.8);
    EXPECT_EQ(without.looked_at, 1);
  }
}

TEST(KernelKMeans, TheLinearKernelIsPlainKMeans) {
  Matrix X = 0.4 * RandomStream(5).normal_matrix(300, 2);
  for (Index i = 0; i < X.rows(); ++i) X(i, 0) += 5.0 * static_cast<double>(i % 4);
  const KMeans plain = kmeans(X, 4, {.max_iterations = 100, .tolerance = 0, .trials = 4});
  const KernelKMeans ours = run(X * X.transpose(), 4, Vector::Ones(300), {.tolerance = 0});
  EXPECT_NEAR(ours.inertia, plain.inertia, 1e-9 * plain.inertia);
  for (Index i = 0; i < X.rows(); ++i)
    EXPECT_EQ(ours.labels[static_cast<std::size_t>(i)], ours.labels[static_cast<std::size_t>(i % 4)]) << i;
}

TEST(KernelKMeans, FewerPlacesThanClusters) {
  Matrix X(12, 1);
  for (Index i = 0; i < 12; ++i) X(i, 0) = static_cast<double>(i % 3);
  const KernelKMeans r = run(gaussian_gram(X, 1), 5, Vector::Ones(12), {});
  EXPECT_EQ(r.clusters, 3);
  EXPECT_NEAR(r.inertia, 0, 1e-12);
  EXPECT_EQ(std::set<Index>(r.labels.begin(), r.labels.end()), (std::set<Index>{0, 1, 2}));
  const KernelKMeans same = run(Matrix::Ones(6, 6), 3, Vector::Ones(6), {});
  EXPECT_EQ(same.clusters, 1);
  EXPECT_TRUE(same.converged);
}

TEST(KernelKMeans, AMatrixWithoutAFeatureSpaceStops) {
  Matrix K = RandomStream(7).normal_matrix(60, 60);
  K = ((K + K.transpose()) / 2).eval();
  const KernelKMeans r = run(K, 4, Vector::Ones(60), {.max_iterations = 50, .bounds = false});
  EXPECT_LE(r.iterations, 50);
  EXPECT_TRUE(std::isfinite(r.inertia));
}

TEST(KernelKMeans, SameForAnyNumberOfThreads) {
  const Matrix K = gaussian_gram(RandomStream(9).normal_matrix(900, 2), 0.4);
  KernelKMeans one;
  KernelKMeans two;
  with_threads(1, [&] { one = run(K, 9, Vector::Ones(900), {}); });
  with_threads(2, [&] { two = run(K, 9, Vector::Ones(900), {}); });
  EXPECT_EQ(one.labels, two.labels);
  EXPECT_EQ(one.inertia, two.inertia);
  EXPECT_EQ(one.restart, two.restart);
}

TEST(KMeans, WeightedCentresAreWeightedMeans) {
  const Matrix X = RandomStream(11).normal_matrix(60, 2);
  Vector w(60);
  for (Index i = 0; i < 60; ++i) w[i] = static_cast<double>(i % 3);
  const KMeans weighted = kmeans(X, 3, {.max_iterations = 200, .tolerance = 0, .weights = w});
  Matrix mean = Matrix::Zero(3, 2);
  Vector mass = Vector::Zero(3);
  double inertia = 0;
  for (Index i = 0; i < 60; ++i) {
    const Index c = weighted.labels[static_cast<std::size_t>(i)];
    mean.row(c) += w[i] * X.row(i);
    mass[c] += w[i];
    inertia += w[i] * (X.row(i) - weighted.centres.row(c)).squaredNorm();
  }
  for (Index c = 0; c < 3; ++c) EXPECT_LT((mean.row(c) / mass[c] - weighted.centres.row(c)).norm(), 1e-12);
  EXPECT_NEAR(weighted.inertia, inertia, 1e-10);
}

}  // namespace
}  // namespace mercer::solvers

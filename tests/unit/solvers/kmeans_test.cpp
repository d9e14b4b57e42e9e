// k-means against clusters that are known and against its own optimality conditions.
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/kmeans.hpp"

#include <gtest/gtest.h>

#include <set>

#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer::solvers {
namespace {

Matrix blobs(Index per_cluster, Index clusters, double spread) {
  Matrix rows = spread * RandomStream(3).normal_matrix(per_cluster * clusters, 2);
  for (Index i = 0; i < rows.rows(); ++i) rows(i, 0) += 10.0 * static_cast<double>(i % clusters);
  return rows;
}

TEST(KMeans, FindsSeparatedClusters) {
  const Matrix rows = blobs(100, 5, 0.3);
  const KMeans result = kmeans(rows, 5);
  EXPECT_TRUE(result.converged);
  std::set<Index> used;
  for (Index i = 0; i < rows.rows(); ++i) {
    EXPECT_EQ(result.labels[static_cast<std::size_t>(i)], result.labels[static_cast<std::size_t>(i % 5)]) << i;
    used.insert(result.labels[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(used.size(), 5U);
  EXPECT_NEAR(result.inertia, 500 * 2 * 0.09, 500 * 2 * 0.09 * 0.2);  // n d s^2; its deviation is sqrt(2/1000) = 4.5 %
}

TEST(KMeans, EveryRowIsNearestToItsCentre) {
  const Matrix rows = RandomStream(5).normal_matrix(700, 3);
  const KMeans result = kmeans(rows, 20, {.max_iterations = 100, .tolerance = 0});
  EXPECT_TRUE(result.converged);
  double inertia = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    const Vector distances = (result.centres.rowwise() - rows.row(i)).rowwise().squaredNorm();
    EXPECT_LE(distances[result.labels[static_cast<std::size_t>(i)]], distances.minCoeff() + 1e-12) << i;
    inertia += distances.minCoeff();
  }
  EXPECT_NEAR(result.inertia, inertia, 1e-9);
}

TEST(KMeans, DuplicatesAndAsManyCentresAsRows) {
  Matrix rows = Matrix::Ones(6, 2);
  const KMeans same = kmeans(rows, 3);
  EXPECT_EQ(same.inertia, 0);
  EXPECT_TRUE(same.centres.allFinite());
  rows = RandomStream(1).normal_matrix(9, 2);
  EXPECT_NEAR(kmeans(rows, 9).inertia, 0, 1e-20);
  EXPECT_EQ(kmeans(rows, 1).centres.row(0).isApprox(rows.colwise().mean()), true);
  EXPECT_THROW(kmeans(rows, 10), InvalidArgument);
  EXPECT_THROW(kmeans(rows, 0), InvalidArgument);
}

TEST(KMeans, SameBitsForAnyNumberOfThreads) {
  const Matrix rows = RandomStream(6).normal_matrix(3000, 4);
  Matrix one;
  Matrix two;
  with_threads(1, [&] { one = kmeans(rows, 30).centres; });
  with_threads(2, [&] { two = kmeans(rows, 30).centres; });
  EXPECT_TRUE((one.array() == two.array()).all());
}

}  // namespace
}  // namespace mercer::solvers

// Top eigenpairs against LAPACK, on spectra that are easy, clustered, degenerate and short.
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/block_krylov.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

Matrix with_spectrum(const Vector& values, std::uint64_t seed) {
  const Index n = values.size();
  Matrix noise = RandomStream(seed).normal_matrix(n, n);
  const linalg::SymmetricEigen frame = linalg::symmetric_eigen(noise + noise.transpose(), {});
  const Matrix A = frame.vectors.transpose() * values.asDiagonal() * frame.vectors;
  return 0.5 * (A + A.transpose());
}

void expect_pairs(const Matrix& A, const BlockKrylovResult& found, double tolerance) {
  const linalg::SymmetricEigen all = linalg::symmetric_eigen(A, {});
  const double scale = all.values.cwiseAbs().maxCoeff();
  const Index n = A.rows();
  for (Index j = 0; j < found.values.size(); ++j) EXPECT_NEAR(found.values[j], all.values[n - 1 - j], tolerance * scale) << j;
  const Matrix products = found.vectors.transpose() * found.vectors;
  EXPECT_LE((products - Matrix::Identity(products.rows(), products.cols())).cwiseAbs().maxCoeff(), 1e-12);
  const Matrix apart = A * found.vectors - found.vectors * found.values.asDiagonal();
  EXPECT_LE(apart.colwise().norm().maxCoeff(), 2 * tolerance * scale);
  for (Index j = 0; j < found.values.size(); ++j) EXPECT_NEAR(found.residuals[j], apart.col(j).norm(), tolerance * scale);
}

Vector decaying(Index n, double rate) {
  Vector v(n);
  for (Index i = 0; i < n; ++i) v[i] = std::pow(rate, static_cast<double>(i));
  return v;
}

TEST(BlockKrylov, MatchesLapackOnADecayingSpectrum) {
  const Matrix A = with_spectrum(decaying(300, 0.9), 1);
  const BlockKrylovResult found = block_krylov(*dense_operator(A), {.pairs = 7, .tolerance = 1e-11});
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.values.size(), 7);
  expect_pairs(A, found, 1e-11);
}

TEST(BlockKrylov, FindsEveryCopyOfARepeatedEigenvalue) {
  Vector values = 0.1 * decaying(200, 0.99);
  values.head(5).setConstant(3);
  const Matrix A = with_spectrum(values, 2);
  const BlockKrylovResult found = block_krylov(*dense_operator(A), {.pairs = 8, .tolerance = 1e-11});
  EXPECT_TRUE(found.converged);
  expect_pairs(A, found, 1e-11);
}

// A slow spectrum needs several restarts of the basis.
TEST(BlockKrylov, RestartsOnASlowSpectrum) {
  Vector values(2000);
  for (Index i = 0; i < values.size(); ++i) values[i] = 1 - 0.5 * static_cast<double>(i) / 2000;
  const auto apply = [&](const Matrix& V) { return Matrix(values.asDiagonal() * V); };
  const BlockKrylovResult found = block_krylov(2000, apply, {.pairs = 3, .block = 6, .tolerance = 1e-8, .max_products = 400});
  EXPECT_TRUE(found.converged);
  EXPECT_GT(found.products, 20);
  for (Index j = 0; j < 3; ++j) EXPECT_NEAR(found.values[j], values[j], 1e-12);
}

TEST(BlockKrylov, LowRankEndsWithZeros) {
  const Matrix F = RandomStream(3).normal_matrix(150, 3);
  const Matrix A = F * F.transpose();
  const BlockKrylovResult found = block_krylov(*dense_operator(A), {.pairs = 6});
  EXPECT_TRUE(found.converged);
  EXPECT_LE(found.products, 4);
  expect_pairs(A, found, 1e-10);
}

TEST(BlockKrylov, SmallAndWholeProblems) {
  for (const Index n : {1, 2, 5, 17}) {
    const Matrix A = with_spectrum(decaying(n, 0.7), 4);
    const BlockKrylovResult found = block_krylov(*dense_operator(A), {.pairs = n});
    EXPECT_EQ(found.values.size(), n);
    EXPECT_TRUE(found.converged);
    expect_pairs(A, found, 1e-10);
  }
  const BlockKrylovResult zero = block_krylov(*dense_operator(Matrix::Zero(9, 9)), {.pairs = 2});
  EXPECT_EQ(zero.values, Vector::Zero(2));
}

TEST(BlockKrylov, NegativeEigenvaluesAreNotTakenForLargeOnes) {
  Vector values = decaying(120, 0.8);
  values[119] = -5;
  const Matrix A = with_spectrum(values, 5);
  expect_pairs(A, block_krylov(*dense_operator(A), {.pairs = 3, .tolerance = 1e-10}), 1e-10);
}

TEST(BlockKrylov, StartsWhereItIsToldAndSaysWhenItStopsEarly) {
  const Matrix A = with_spectrum(decaying(300, 0.95), 6);
  const BlockKrylovResult first = block_krylov(*dense_operator(A), {.pairs = 4, .tolerance = 1e-10});
  const BlockKrylovResult again = block_krylov(*dense_operator(A), {.pairs = 4, .tolerance = 1e-8, .start = first.subspace});
  EXPECT_EQ(again.products, 1);
  const BlockKrylovResult cut = block_krylov(*dense_operator(A), {.pairs = 4, .tolerance = 1e-12, .max_products = 2});
  EXPECT_FALSE(cut.converged);
  EXPECT_EQ(cut.products, 2);
}

TEST(BlockKrylov, SameBitsForOneAndTwoThreads) {
  const Matrix A = with_spectrum(decaying(700, 0.97), 7);
  BlockKrylovResult one;
  BlockKrylovResult two;
  with_threads(1, [&] { one = block_krylov(*dense_operator(A), {.pairs = 5}); });
  with_threads(2, [&] { two = block_krylov(*dense_operator(A), {.pairs = 5}); });
  EXPECT_EQ(one.values, two.values);
  EXPECT_EQ(one.vectors, two.vectors);
}

TEST(BlockKrylov, RefusesWhatItCannotDo) {
  EXPECT_THROW(block_krylov(*dense_operator(Matrix::Identity(3, 3)), {.pairs = 0}), InvalidArgument);
  EXPECT_THROW(block_krylov(*dense_operator(Matrix::Ones(3, 4)), {.pairs = 1}), InvalidArgument);
  EXPECT_THROW(block_krylov(*dense_operator(Matrix::Identity(3, 3)), {.pairs = 1, .start = Matrix::Ones(2, 1)}), InvalidArgument);
}

}  // namespace
}  // namespace mercer

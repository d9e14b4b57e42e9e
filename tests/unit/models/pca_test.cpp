// PCA: every route against Eigen's SVD, the theorems of the theory as tests, sparse and float32 rows, what is refused.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/pca.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>

#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

Matrix data(Index n, Index p, std::uint64_t seed = 1) {
  Matrix X = RandomStream(seed).normal_matrix(n, p);
  for (Index j = 0; j < p; ++j) X.col(j) *= std::pow(0.9, static_cast<double>(j));
  X = X * RandomStream(seed + 50).normal_matrix(p, p) / std::sqrt(static_cast<double>(p));
  X.rowwise() += 5 * RandomStream(seed + 99).normal_matrix(1, p).row(0);
  return X;
}

Matrix centred(const Matrix& X) { return X.rowwise() - X.colwise().mean(); }

CsrMatrix<double> sparse(const Matrix& X) { return X.sparseView(); }

void expect_same_as_svd(const PcaModel& model, const Matrix& X, double tolerance) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(centred(X), Eigen::ComputeThinV);
  const Vector s = svd.singularValues();
  for (Index j = 0; j < model.n_components(); ++j) {
    EXPECT_NEAR(model.singular_values()[j], s[j], tolerance * s[0]) << j;
    EXPECT_NEAR(std::abs(model.components().row(j).dot(svd.matrixV().col(j))), 1, 10 * tolerance) << j;
    Index largest = 0;
    model.components().row(j).cwiseAbs().maxCoeff(&largest);
    EXPECT_GT(model.components()(j, largest), 0);
  }
  EXPECT_NEAR(model.total_variance(), s.squaredNorm() / static_cast<double>(X.rows() - 1), 1e-12 * s.squaredNorm());
  const Matrix frame = model.components() * model.components().transpose();
  EXPECT_LE((frame - Matrix::Identity(frame.rows(), frame.cols())).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Pca, EveryRouteGivesTheSingularVectors) {
  for (const auto& [n, p] : {std::pair<Index, Index>{60, 8}, {8, 60}, {20, 20}, {300, 5}}) {
    const Matrix X = data(n, p);
    for (const PcaRoute route : {PcaRoute::svd, PcaRoute::covariance, PcaRoute::gram, PcaRoute::krylov}) {
      SCOPED_TRACE(testing::Message() << n << " x " << p << ", route " << static_cast<int>(route));
      expect_same_as_svd(fit_pca(X, {.n_components = 3, .route = route}), X, 1e-11);
      expect_same_as_svd(fit_pca(sparse(X), {.n_components = 3, .route = route}), X, 1e-10);
    }
  }
}

TEST(Pca, RouteGoesByShapeAndIsReported) {
  EXPECT_EQ(fit_pca(data(200, 6)).summary().route, "covariance");
  EXPECT_EQ(fit_pca(data(6, 200), {.n_components = 2}).summary().route, "gram");
  EXPECT_EQ(fit_pca(data(50, 40)).summary().route, "svd");
  EXPECT_EQ(fit_pca(RandomStream(1).normal_matrix(1200, 1100), {.n_components = 2, .tolerance = 1e-3}).summary().route, "krylov");
  // All directions of 6 rows: the last has no variance, and no direction in a matrix of products.
  const PcaModel all = fit_pca(data(6, 200), {.route = PcaRoute::gram});
  EXPECT_EQ(all.summary().route, "svd");
  EXPECT_EQ(all.n_components(), 6);
}

// Theorem of source K 2.3: no projection of rank q leaves less, and what is left is the sum of the other variances.
TEST(Pca, EckartYoung) {
  const Matrix X = data(80, 7);
  const Matrix C = centred(X);
  const Vector s = Eigen::JacobiSVD<Eigen::MatrixXd>(C).singularValues();
  for (Index q = 1; q < 7; ++q) {
    const PcaModel model = fit_pca(X, {.n_components = q});
    const Matrix back = model.inverse_transform(model.transform(X));
    EXPECT_NEAR((X - back).squaredNorm(), s.tail(7 - q).squaredNorm(), 1e-10 * s.squaredNorm());
    EXPECT_NEAR(model.reconstruction_error(X).sum(), s.tail(7 - q).squaredNorm(), 1e-10 * s.squaredNorm());
    for (std::uint64_t trial = 0; trial < 20; ++trial) {
      const Matrix random = RandomStream(trial).normal_matrix(7, q);
      const Eigen::JacobiSVD<Eigen::MatrixXd> frame(random, Eigen::ComputeThinU);
      const Matrix P = frame.matrixU() * frame.matrixU().transpose();
      EXPECT_GE((C - C * P).squaredNorm(), (X - back).squaredNorm() - 1e-9);
    }
  }
}

TEST(Pca, ScoresAreDecorrelatedAndWhiteWhenAsked) {
  const Matrix X = data(90, 6);
  const PcaModel model = fit_pca(X, {.n_components = 4});
  const Matrix Z = model.transform(X);
  const Matrix covariance = Z.transpose() * Z / 89;
  EXPECT_LE((covariance - Matrix(model.explained_variance().asDiagonal())).cwiseAbs().maxCoeff(), 1e-12 * model.explained_variance()[0]);
  EXPECT_LE(Z.colwise().mean().cwiseAbs().maxCoeff(), 1e-13 * X.cwiseAbs().maxCoeff() * 90);
  EXPECT_NEAR(model.explained_variance_ratio().sum(), model.explained_variance().sum() / model.total_variance(), 1e-15);
  EXPECT_NEAR(model.noise_variance() * 2, model.total_variance() - model.explained_variance().sum(), 1e-12);
  const PcaModel white = fit_pca(X, {.n_components = 4, .whiten = true});
  const Matrix W = white.transform(X);
  EXPECT_LE((W.transpose() * W / 89 - Matrix::Identity(4, 4)).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LE((white.inverse_transform(W) - model.inverse_transform(Z)).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LE((white.reconstruction_error(X) - model.reconstruction_error(X)).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Pca, NumberOfComponentsByVarianceAndByEvidence) {
  const Matrix X = data(120, 9);
  const Vector ratio = fit_pca(X).explained_variance_ratio();
  const PcaModel some = fit_pca(X, {.variance_fraction = 0.8});
  EXPECT_GT(some.explained_variance_ratio().sum(), 0.8);
  EXPECT_LE(ratio.head(some.n_components() - 1).sum(), 0.8);
  // Three strong directions in noise of variance 0.01.
  RandomStream random(3);
  Matrix Y = random.normal_matrix(500, 3) * random.normal_matrix(3, 10) * 3 + 0.1 * random.normal_matrix(500, 10);
  EXPECT_EQ(fit_pca(Y, {.maximum_likelihood = true}).n_components(), 3);
}

TEST(Pca, FarFromZeroFloat32AndOneSample) {
  Matrix X = data(100, 4);
  const PcaModel here = fit_pca(X);
  X.array() += 1e6;
  const PcaModel far = fit_pca(X);
  EXPECT_LE((far.explained_variance() - here.explained_variance()).cwiseAbs().maxCoeff(), 1e-8 * here.explained_variance()[0]);
  const MatrixF F = data(100, 4).cast<float>();
  EXPECT_LE((fit_pca(F).explained_variance() - fit_pca(Matrix(F.cast<double>())).explained_variance()).cwiseAbs().maxCoeff(), 1e-12);
  const PcaModel one = fit_pca(Matrix(Matrix::Ones(1, 3)));
  EXPECT_EQ(one.explained_variance()[0], 0);
  EXPECT_EQ(one.transform(Matrix(Matrix::Ones(1, 3)))(0, 0), 0);
}

TEST(Pca, RefusesWhatItCannotDo) {
  Matrix X = data(10, 4);
  EXPECT_THROW(fit_pca(Matrix(0, 3)), InvalidArgument);
  EXPECT_THROW(fit_pca(X, {.n_components = 5}), InvalidArgument);
  EXPECT_THROW(fit_pca(X, {.variance_fraction = 1}), InvalidArgument);
  EXPECT_THROW(fit_pca(Matrix(X.topRows(3)), {.maximum_likelihood = true}), InvalidArgument);
  const PcaModel model = fit_pca(X);
  EXPECT_THROW(model.transform(Matrix(X.leftCols(3))), InvalidArgument);
  EXPECT_THROW(model.inverse_transform(Matrix::Zero(2, 3)), InvalidArgument);
  X(2, 1) = std::nan("");
  EXPECT_THROW(fit_pca(X), InvalidArgument);
}

}  // namespace
}  // namespace mercer

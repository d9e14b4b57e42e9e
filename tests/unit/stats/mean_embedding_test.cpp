// Mean embeddings against sums by hand, moments, closed forms of Gaussians, and the bound's coverage.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/mean_embedding.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

using kernels::gaussian;
using kernels::linear;
using kernels::polynomial;

Matrix normal(std::uint64_t seed, Index rows, Index cols) { return RandomStream(seed).normal_matrix(rows, cols); }

double root_of_mmd_b(const Kernel& kernel, const Matrix& X, const Matrix& Y) {
  return std::sqrt(gram(kernel, X).mean() + gram(kernel, Y).mean() - 2 * gram(kernel, X, Y).mean());
}

TEST(MeanEmbedding, IsTheMeanOfSections) {
  const Matrix X = normal(1, 300, 3);
  const Matrix Z = normal(2, 7, 3);
  for (const Kernel& kernel : {gaussian(1.5), polynomial(2), kernels::laplacian(1.0)}) {
    const RkhsFunction mu = mean_embedding(X, {.kernel = kernel});
    const Vector by_hand = gram(kernel, Z, X).rowwise().mean();
    EXPECT_LT((mu(Z) - by_hand).cwiseAbs().maxCoeff(), 1e-13 * by_hand.cwiseAbs().maxCoeff());
    EXPECT_NEAR(mu.squared_norm(), gram(kernel, X).mean(), 1e-13 * gram(kernel, X).cwiseAbs().mean());
  }
}

TEST(MeanEmbedding, WeightsAreShares) {
  const Matrix X = normal(1, 5, 2);
  Vector w(5);
  w << 3, 0, 1, 4, 2;
  const RkhsFunction mu = mean_embedding(X, {.kernel = gaussian(1.0), .weights = w});
  EXPECT_LT((mu.coefficients() - w / 10).cwiseAbs().maxCoeff(), 1e-16);
  const Vector huge = w * 1e307;  // whose sum is infinite
  EXPECT_LT((mean_embedding(X, {.weights = huge}).coefficients() - w / 10).cwiseAbs().maxCoeff(), 1e-16);
}

TEST(MeanEmbedding, ExpectationIsAnInnerProduct) {
  const Matrix X = normal(3, 400, 2);
  const RkhsFunction f(gaussian(0.7), normal(4, 9, 2), normal(5, 9, 1).col(0));
  Vector w = normal(6, 400, 1).col(0).cwiseAbs();
  const RkhsFunction mu = mean_embedding(X, {.kernel = gaussian(0.7)});
  EXPECT_NEAR(expectation(f, X), inner(f, mu), 1e-13);
  EXPECT_NEAR(expectation(f, X), f(X).mean(), 1e-14);
  EXPECT_NEAR(expectation(f, X, w), inner(f, mean_embedding(X, {.kernel = gaussian(0.7), .weights = w})), 1e-13);
}

TEST(MeanEmbedding, DistanceIsTheRootOfTheBiasedMmd) {
  const Matrix X = normal(1, 120, 2);
  const Matrix Y = normal(2, 80, 2).array() * 1.5 + 0.2;
  for (const Kernel& kernel : {gaussian(1.0), polynomial(3), linear()}) {
    const double d = distance(mean_embedding(X, {.kernel = kernel}), mean_embedding(Y, {.kernel = kernel}));
    EXPECT_NEAR(d, root_of_mmd_b(kernel, X, Y), 1e-10 * (1 + d));
  }
}

TEST(MeanEmbedding, SparseFloatAndGivenRowsAgree) {
  Matrix X = normal(1, 60, 4);
  X = (X.array().abs() < 0.5).select(0, X);
  const Matrix Z = normal(2, 5, 4);
  const Vector dense = mean_embedding(X, {.kernel = gaussian(1.0)})(Z);
  const CsrMatrix<double> sparse = X.sparseView();
  EXPECT_LT((mean_embedding(Samples(sparse), {.kernel = gaussian(1.0)})(Z) - dense).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT((mean_embedding(MatrixF(X.cast<float>()), {.kernel = gaussian(1.0)})(Z) - dense).cwiseAbs().maxCoeff(), 1e-6);
  const Samples given = Samples::given_gram(gram(gaussian(1.0), X));
  EXPECT_NEAR(mean_embedding(given, {.kernel = kernels::precomputed()}).norm(), mean_embedding(X, {.kernel = gaussian(1.0)}).norm(), 1e-13);
}

// Gaussian rows under a Gaussian kernel: mu(z) = (1 + 1/l^2)^(-1/2) exp(-z^2 / (2 (l^2 + 1))), and |mu(p) - mu(X)| has a closed form.
double distance_to_standard_normal(const Matrix& X, double l) {
  const RkhsFunction mu = mean_embedding(X, {.kernel = gaussian(l)});
  const double within = std::sqrt(l * l / (l * l + 2));
  const double across = (std::sqrt(l * l / (l * l + 1)) * (-X.array().square() / (2 * (l * l + 1))).exp()).mean();
  return std::sqrt(std::max(0.0, mu.squared_norm() + within - 2 * across));
}

TEST(EmbeddingBound, IsTheFormulaAndCovers) {
  const double l = 0.8;
  Index beyond = 0;
  double sum = 0;
  for (std::uint64_t s = 0; s < 300; ++s) {
    const Matrix X = normal(100 + s, 40, 1);
    const EmbeddingBound b = embedding_bound(mean_embedding(X, {.kernel = gaussian(l)}), 0.1);
    EXPECT_NEAR(b.bound, std::sqrt(1.0 / 40) * (1 + std::sqrt(2 * std::log(10.0))), 1e-14);
    EXPECT_TRUE(b.kappa_known);
    const double apart = distance_to_standard_normal(X, l);
    sum += apart;
    beyond += apart > b.bound ? 1 : 0;
  }
  EXPECT_LE(beyond, 30);                      // at most one in ten; in truth the bound is loose
  EXPECT_LE(sum / 300, 1 / std::sqrt(40.0));  // E |mu(p) - mu(X)| <= sqrt(kappa / m)
}

TEST(EmbeddingBound, CountsRowsByTheirWeights) {
  const Matrix X = normal(1, 4, 1);
  Vector w(4);
  w << 1, 1, 0, 0;
  const EmbeddingBound b = embedding_bound(mean_embedding(X, {.kernel = gaussian(1.0), .weights = w}), 0.05);
  EXPECT_NEAR(b.rows, 2, 1e-12);
  EXPECT_NEAR(b.mean_root, 1, 1e-12);
}

TEST(EmbeddingBound, SaysWhereKappaIsOnlySeen) {
  const Matrix X = normal(1, 50, 2);
  const RkhsFunction mu = mean_embedding(X, {.kernel = polynomial(2)});
  const EmbeddingBound b = embedding_bound(mu, 0.05);
  EXPECT_FALSE(b.kappa_known);
  EXPECT_NEAR(b.kappa, gram_diagonal(polynomial(2), X).maxCoeff(), 1e-12);
  EXPECT_NE(b.sentence.find("has no bound"), std::string::npos);
  const EmbeddingBound told = embedding_bound(mu, 0.05, 1e4);
  EXPECT_TRUE(told.kappa_known);
  EXPECT_NEAR(told.bound / b.bound, std::sqrt(1e4 / b.kappa), 1e-12);
  EXPECT_THROW(embedding_bound(mu, 0.05, b.kappa / 2), InvalidArgument);
}

// ---- when the means coincide

// The values -a, 0, a with the probabilities p, 1 - 2p, p as a sample of 2/p-th parts: equal means and variances for all a^2 p alike.
Matrix three_points(double a, Index each, Index zeros) {
  Matrix X = Matrix::Zero(2 * each + zeros, 1);
  X.topRows(each).setConstant(-a);
  X.middleRows(each, each).setConstant(a);
  return X;
}

TEST(MeansCoincide, LinearSeesTheMeanAlone) {
  const Matrix X = normal(1, 200, 3);
  const Matrix Y = (normal(2, 150, 3).array() * 4).matrix();
  const Vector difference = (X.colwise().mean() - Y.colwise().mean()).transpose();
  const auto apart = [](const Kernel& k, const Matrix& A, const Matrix& B) {
    return distance(mean_embedding(A, {.kernel = k}), mean_embedding(B, {.kernel = k}));
  };
  EXPECT_NEAR(apart(linear(), X, Y), difference.norm(), 1e-12);
  const Matrix moved = Y.rowwise() + difference.transpose();
  EXPECT_LT(apart(linear(), X, moved), 1e-7);  // the root of rounding
  EXPECT_GT(apart(polynomial(2), X, moved), 1);
}

TEST(MeansCoincide, PolynomialsSeeMoments) {
  // Variance 1 both, fourth moments 2 and 4: (p, a^2) = (1/4, 2) and (1/8, 4).
  const Matrix X = three_points(std::sqrt(2.0), 2, 4);
  const Matrix Y = three_points(2, 1, 6);
  const auto apart = [&](const Kernel& k) { return distance(mean_embedding(X, {.kernel = k}), mean_embedding(Y, {.kernel = k})); };
  for (const int degree : {1, 2, 3}) EXPECT_LT(apart(polynomial(degree)), 1e-6) << degree;
  EXPECT_NEAR(apart(polynomial(4)), 2, 1e-9);  // the feature x^4 has weight 1 in (1 + xy)^4
  EXPECT_GT(apart(gaussian(1.0)), 0.05);
  // Homogeneous kernels see one order alone: of degree 4 they see the difference of 2, of degree 3 none.
  EXPECT_NEAR(apart(polynomial(4, 1, 0)), 2, 1e-9);
  EXPECT_LT(apart(polynomial(3, 1, 0)), 1e-6);
}

TEST(MeansCoincide, HomogeneousPolynomialsMissLowerOrders) {
  // Equal second moments, other means: the values 1, 1 against -1, 1.
  Matrix X(2, 1);
  X << 1, 1;
  Matrix Y(2, 1);
  Y << -1, 1;
  const auto apart = [&](const Kernel& k) { return distance(mean_embedding(X, {.kernel = k}), mean_embedding(Y, {.kernel = k})); };
  EXPECT_LT(apart(polynomial(2, 1, 0)), 1e-12);
  EXPECT_NEAR(apart(polynomial(2, 1, 1)), std::sqrt(2.0), 1e-12);  // (1 + xy)^2 has the feature sqrt(2) x
}

TEST(MeansCoincide, ExponentialDotIsTheMomentGeneratingFunction) {
  const Matrix X = normal(1, 250, 2) * 0.5;
  const Matrix T = normal(2, 6, 2);
  const Vector mgf = (X * T.transpose()).array().exp().matrix().colwise().mean().transpose();
  EXPECT_LT((mean_embedding(X, {.kernel = kernels::exponential_dot()})(T) - mgf).cwiseAbs().maxCoeff(), 1e-13 * mgf.maxCoeff());
}

TEST(MeanEmbedding, RefusesWhatCannotBe) {
  const Matrix X = normal(1, 4, 2);
  EXPECT_THROW(mean_embedding(Matrix(0, 2)), InvalidArgument);
  EXPECT_THROW(mean_embedding(X, {.weights = Vector::Ones(3)}), InvalidArgument);
  EXPECT_THROW(mean_embedding(X, {.weights = Vector::Zero(4)}), InvalidArgument);
  EXPECT_THROW(mean_embedding(X, {.weights = -Vector::Ones(4)}), InvalidArgument);
  EXPECT_THROW(mean_embedding(X, {.kernel = kernels::white()}), InvalidArgument);
  Matrix bad = X;
  bad(2, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(mean_embedding(bad), InvalidArgument);
  const RkhsFunction mu = mean_embedding(X);
  EXPECT_THROW(embedding_bound(mu, 0), InvalidArgument);
  EXPECT_THROW(embedding_bound(mu, 1), InvalidArgument);
  EXPECT_THROW(embedding_bound(2.0 * mu, 0.1), InvalidArgument);
  EXPECT_THROW(embedding_bound(mean_embedding(X, {.kernel = kernels::sigmoid()}), 0.1), InvalidArgument);
  EXPECT_THROW(expectation(mu, Matrix(0, 2)), InvalidArgument);
  EXPECT_THROW(expectation(mu, bad), InvalidArgument);
  EXPECT_NO_THROW(mean_embedding(Matrix::Ones(5, 2)));  // all rows equal: no median distance
}

}  // namespace
}  // namespace mercer

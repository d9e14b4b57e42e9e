// Mixture weights against closed forms, a fine grid over the simplex and plain loops.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/mixture_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

Matrix cloud(std::uint64_t seed, Index n, Index d, double shift = 0, double scale = 1) {
  return (scale * RandomStream(seed).normal_matrix(n, d)).array() + shift;
}

double squared_distance(const MixtureWeights& r, const Vector& a, double norm) { return norm - 2 * r.products.dot(a) + a.dot(r.gram * a); }

TEST(MixtureWeights, ProductsAreMeansOfKernelValues) {
  const Matrix X = cloud(1, 300, 2);
  const Matrix A = cloud(2, 270, 2, 1);
  const Matrix B = cloud(3, 100, 2, -1);
  Vector wb = RandomStream(4).normal_matrix(100, 1).cwiseAbs();
  const Kernel k = kernels::laplacian(1.5);
  const MixtureWeights r = mixture_weights(X, {SampleComponent{A}, SampleComponent{B, wb}}, {.kernel = k});
  wb /= wb.sum();
  EXPECT_NEAR(r.gram(0, 0), gram(k, A).mean(), 1e-13);
  EXPECT_NEAR(r.gram(0, 1), (gram(k, A, B) * wb).mean(), 1e-13);
  EXPECT_NEAR(r.gram(1, 1), wb.dot(gram(k, B) * wb), 1e-13);
  EXPECT_NEAR(r.products[0], gram(k, A, X).mean(), 1e-13);
  const double norm = gram(k, X).mean();
  EXPECT_NEAR(r.mmd * r.mmd, squared_distance(r, r.weights, norm), 1e-14);
  EXPECT_NEAR(r.component_mmd[1], std::sqrt(norm - 2 * r.products[1] + r.gram(1, 1)), 1e-12);
}

TEST(MixtureWeights, NoPointOfAGridIsNearer) {
  const Matrix X = cloud(1, 200, 1, 0.3);
  const MixtureWeights r = mixture_weights(X, {SampleComponent{cloud(2, 150, 1, -1, 0.5)}, SampleComponent{cloud(3, 150, 1, 1, 0.7)},
                                               SampleComponent{cloud(4, 150, 1, 3, 0.4)}});
  EXPECT_NEAR(r.weights.sum(), 1, 1e-12);
  EXPECT_GE(r.weights.minCoeff(), 0);
  const double found = squared_distance(r, r.weights, 0);
  double best = found;
  constexpr int steps = 200;
  for (int i = 0; i <= steps; ++i) {
    for (int j = 0; i + j <= steps; ++j) {
      const Vector a = Eigen::Vector3d(i, j, steps - i - j) / steps;
      best = std::min(best, squared_distance(r, a, 0));
    }
  }
  EXPECT_LE(found, best + 1e-12);
  EXPECT_LE(r.gap, 1e-9);
}

// |mu(X) - a mu_1 - (1 - a) mu_2|^2 is a parabola in a.
TEST(MixtureWeights, TwoComponentsHaveAFormula) {
  for (const double shift : {-3.0, 0.2, 0.9, 6.0}) {
    const MixtureWeights r =
        mixture_weights(cloud(1, 100, 2, shift), {SampleComponent{cloud(2, 90, 2)}, SampleComponent{cloud(3, 80, 2, 1.2)}},
                        {.kernel = kernels::gaussian(1.0)});
    const Matrix& Q = r.gram;
    const Vector& p = r.products;
    const double a = (p[0] - p[1] + Q(1, 1) - Q(0, 1)) / (Q(0, 0) + Q(1, 1) - 2 * Q(0, 1));
    EXPECT_NEAR(r.weights[0], std::clamp(a, 0.0, 1.0), 1e-10) << shift;
  }
}

TEST(MixtureWeights, GaussianComponentsAreTheLimitOfSamples) {
  const Matrix X = cloud(1, 50, 2, 0.5);
  Matrix S(2, 2);
  S << 1.0, 0.6, 0.6, 0.8;
  const Vector mean = Eigen::Vector2d(0.4, -0.3);
  const Index many = 200000;
  Matrix L(2, 2);
  L << 1.0, 0, 0.6, std::sqrt(0.8 - 0.36);
  Matrix drawn = RandomStream(9).normal_matrix(many, 2) * L.transpose();
  drawn.rowwise() += mean.transpose();
  const Kernel k = kernels::gaussian(std::vector<double>{0.7, 1.3});
  const MixtureWeights r =
      mixture_weights(X, {GaussianComponent{mean, S}, GaussianComponent{Vector::Zero(2), Matrix::Zero(2, 2)}}, {.kernel = k});
  const double error = 4 / std::sqrt(static_cast<double>(many));
  EXPECT_NEAR(r.products[0], gram(k, X, drawn).mean(), error);
  EXPECT_NEAR(r.gram(0, 1), gram(k, Matrix(Matrix::Zero(1, 2)), drawn).mean(), error);
  // A Gaussian without spread is a point.
  EXPECT_NEAR(r.gram(1, 1), 1, 1e-14);
  EXPECT_NEAR(r.products[1], gram(k, X, Matrix(Matrix::Zero(1, 2))).mean(), 1e-13);
  // Between two of them: draw both.
  Matrix other = drawn;
  std::reverse(other.data(), other.data() + other.size());
  other = other.rowwise().reverse().eval();
  double sum = 0;
  for (Index i = 0; i + 1 < many; i += 2) {
    const double u = (drawn(i, 0) - other(i, 0)) / 0.7;
    const double v = (drawn(i, 1) - other(i, 1)) / 1.3;
    sum += std::exp(-(u * u + v * v) / 2);
  }
  EXPECT_NEAR(r.gram(0, 0), sum / (static_cast<double>(many) / 2), 2 * error);
}

TEST(MixtureWeights, OneDimensionByHand) {
  // k = exp(-(x-y)^2/2), N(0, 3): E k(x, Y) = exp(-x^2/8)/2.
  const Matrix X = Matrix::Constant(1, 1, 2.0);
  const MixtureWeights r =
      mixture_weights(X, {GaussianComponent{Vector::Zero(1), Matrix::Constant(1, 1, 3.0)}}, {.kernel = kernels::gaussian(1.0)});
  EXPECT_NEAR(r.products[0], std::exp(-0.5) / 2, 1e-15);
  EXPECT_NEAR(r.gram(0, 0), 1 / std::sqrt(7.0), 1e-15);
  EXPECT_EQ(r.weights[0], 1);
}

TEST(MixtureWeights, GivenProductsAndEqualComponents) {
  Matrix Q(2, 2);
  Q << 1, 1, 1, 1;  // the same component twice
  const MixtureWeights r = mixture_weights_of_products(Q, Vector::Constant(2, 0.5), 1.0);
  EXPECT_FALSE(r.unique);
  EXPECT_NEAR(r.weights.sum(), 1, 1e-12);
  EXPECT_NEAR(r.mmd, 1, 1e-12);
  EXPECT_FALSE(r.remarks.empty());
  EXPECT_TRUE(std::isnan(mixture_weights_of_products(Q, Vector::Constant(2, 0.5)).mmd));
}

TEST(MixtureWeights, SparseRowsAndThreadsMakeNoDifference) {
  const Matrix X = cloud(1, 300, 3);
  const Matrix A = cloud(2, 260, 3, 0.5);
  const CsrMatrix<double> sparse = X.sparseView();
  MixtureOptions one;
  one.run.threads = 1;
  const MixtureWeights a = mixture_weights(X, {SampleComponent{A}, SampleComponent{cloud(3, 300, 3, -2)}}, one);
  const MixtureWeights b = mixture_weights(X, {SampleComponent{A}, SampleComponent{cloud(3, 300, 3, -2)}});
  EXPECT_EQ(a.weights, b.weights);
  const MixtureWeights c = mixture_weights(Samples(sparse), {SampleComponent{A}, SampleComponent{cloud(3, 300, 3, -2)}});
  EXPECT_NEAR(a.weights[0], c.weights[0], 1e-9);
}

TEST(MixtureWeights, BadInputIsNamed) {
  const Matrix X = cloud(1, 10, 2);
  const auto message = [](auto&& call) {
    try {
      call();
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_NE(message([&] { mixture_weights(X, {}); }).find("at least one component"), std::string::npos);
  EXPECT_NE(message([&] { mixture_weights(X, {SampleComponent{cloud(1, 3, 3)}}); }).find("component 0 has 3 columns, X has 2"),
            std::string::npos);
  EXPECT_NE(message([&] { mixture_weights(X, {SampleComponent{Matrix(0, 2)}}); }).find("no rows"), std::string::npos);
  EXPECT_NE(message([&] {
              mixture_weights(X, {GaussianComponent{Vector::Zero(2), -Matrix::Identity(2, 2)}});
            }).find("positive semi-definite"),
            std::string::npos);
  EXPECT_NE(message([&] {
              mixture_weights(X, {GaussianComponent{Vector::Zero(2), Matrix::Identity(2, 2)}}, {.kernel = kernels::laplacian(1.0)});
            }).find("draw samples"),
            std::string::npos);
  EXPECT_NE(message([&] { mixture_weights_of_products(-Matrix::Identity(2, 2), Vector::Zero(2)); }).find("not a Gram matrix"),
            std::string::npos);
  EXPECT_NE(message([&] { mixture_weights(X, {SampleComponent{X, Vector::Constant(10, -1.0)}}); }).find(">= 0"), std::string::npos);
  EXPECT_NE(message([&] { mixture_weights(X, {SampleComponent{X}}, {.kernel = kernels::sigmoid()}); }).find("not positive semi-definite"),
            std::string::npos);
  Matrix bad = X;
  bad(3, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message([&] { mixture_weights(bad, {SampleComponent{X}}); }).find("NaN in row 3, column 1"), std::string::npos);
}

}  // namespace
}  // namespace mercer

// Pre-images against loops written out, finite differences, closed forms, and a small kernel PCA.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/preimage.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/kernel_ridge.hpp"
#include "mercer/random.hpp"
#include "models/preimage_descent.hpp"
#include "models/preimage_distance.hpp"
#include "models/preimage_slopes.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;
using Method = PreimageMethod;

Matrix normal(Index rows, Index cols, std::uint64_t seed) { return RandomStream(seed).normal_matrix(rows, cols); }

std::vector<Index> all_ids(Index m) {
  std::vector<Index> ids(static_cast<std::size_t>(m));
  std::iota(ids.begin(), ids.end(), Index{0});
  return ids;
}

// k(z,z) - 2 sum_i g_i k(z, x_i) from Gram matrices.
double objective(const Kernel& kernel, const Matrix& X, const Vector& g, const Vector& z) {
  const Matrix row = z.transpose();
  return gram(kernel, row)(0, 0) - 2 * (gram(kernel, row, X) * g)(0);
}

// |phi(z) - p|^2, double sum and all.
double written_out(const Kernel& kernel, const Matrix& X, const Vector& g, const Vector& z) {
  const Matrix K = gram(kernel, X);
  double sum = objective(kernel, X, g, z);
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.rows(); ++j) sum += g[i] * g[j] * K(i, j);
  }
  return sum;
}

// Kernel PCA in a few lines: weights over X of mean + the first q components of every row of Y.
struct TinyKernelPca {
  Matrix X;
  Kernel kernel;
  Matrix directions;  // column j: v_j = sum_i a_ij (phi(x_i) - mean), of unit length

  TinyKernelPca(const Kernel& k, const Matrix& rows, Index q) : X(rows), kernel(k) {
    const Index n = X.rows();
    const Matrix H = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / static_cast<double>(n));
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(H * gram(kernel, X) * H);
    directions = eigen.eigenvectors().rightCols(q) * eigen.eigenvalues().tail(q).cwiseSqrt().cwiseInverse().asDiagonal();
  }
  Matrix scores(const Matrix& Y) const {
    const Matrix K = gram(kernel, X);
    Matrix C = gram(kernel, Y, X);
    C.rowwise() -= K.colwise().mean();
    return C * (directions.rowwise() - directions.colwise().mean());
  }
  Matrix weights(const Matrix& Y) const {
    Matrix G = scores(Y) * directions.transpose();
    G.colwise() -= G.rowwise().mean().eval();
    return G.array() + 1.0 / static_cast<double>(X.rows());
  }
};

std::vector<Kernel> smooth_kernels() {
  return {kernels::linear(),
          kernels::polynomial(3, 0.3, 1),
          kernels::polynomial(2, 1, 0),
          kernels::exponential_dot(0.2),
          kernels::gaussian(1.3),
          kernels::gaussian({std::vector<double>{0.7, 1.5, 2.0}}),
          kernels::laplacian(1.7),
          kernels::matern(0.5, 2.0),
          kernels::matern(1.5, 1.1),
          kernels::matern(2.5, 1.1),
          kernels::rational_quadratic(1.2, 0.8),
          kernels::gaussian(1.0) + 0.5 * kernels::linear(),
          kernels::gaussian(1.5) * kernels::polynomial(2, 0.4, 1),
          kernels::gaussian(1.0).on({0, 2}) + kernels::matern(2.5, 2.0).on({1}),
          kernels::gaussian(1.5).power(3) + kernels::constant(0.3),
          (0.2 * kernels::linear()).exp() * kernels::rational_quadratic({std::vector<double>{1, 2, 3}}, 2)};
}

// Twice the slope that the fixed point is made of, against central differences of the objective.
TEST(PreimageSlopes, AreTheGradientOfTheObjective) {
  const Matrix X = normal(300, 3, 1);
  const Matrix Z = normal(4, 3, 2) * 0.7;
  const Matrix G = normal(4, 300, 3) / 30;
  for (const Kernel& kernel : smooth_kernels()) {
    const KernelSlopes slopes(kernel, X);
    const SlopeValues at = slopes.evaluate(Z, G, all_ids(4));
    for (Index i = 0; i < 4; ++i) {
      const Vector g = G.row(i).transpose();
      EXPECT_NEAR(at.self[i] - 2 * at.inner[i], objective(kernel, X, g, Z.row(i).transpose()), 1e-11 * (at.self[i] + at.absolute[i]))
          << kernel.text();
      for (Index c = 0; c < 3; ++c) {
        constexpr double h = 1e-5;
        Vector up = Z.row(i).transpose();
        Vector down = up;
        up[c] += h;
        down[c] -= h;
        const double slope = (objective(kernel, X, g, up) - objective(kernel, X, g, down)) / (2 * h);
        EXPECT_NEAR(2 * (at.stiffness(i, c) * Z(i, c) - at.pull(i, c)), slope, 1e-6 * (1 + at.absolute[i] + at.self[i])) << kernel.text();
      }
    }
  }
}

// Mika's step, loops and all: z = sum g_i k(z, x_i) x_i / sum g_i k(z, x_i).
TEST(PreimageSlopes, StepIsMikasForTheGaussian) {
  const double l = 1.4;
  for (const Index n : {1, 255, 256, 257}) {
    const Matrix X = normal(n, 20, 4);
    const Matrix Z = normal(3, 20, 5) * 0.4;
    Matrix G = normal(3, n, 6).cwiseAbs();
    const SlopeValues at = KernelSlopes(kernels::gaussian(l), X).evaluate(Z, G, all_ids(3));
    for (Index m = 0; m < 3; ++m) {
      Vector above = Vector::Zero(20);
      double below = 0;
      for (Index i = 0; i < n; ++i) {
        const double w = G(m, i) * std::exp(-(Z.row(m) - X.row(i)).squaredNorm() / (2 * l * l));
        above += w * X.row(i).transpose();
        below += w;
      }
      for (Index c = 0; c < 20; ++c) EXPECT_NEAR(at.pull(m, c) / at.stiffness(m, c), above[c] / below, 1e-12 * (1 + above.norm() / below));
    }
  }
}

TEST(Preimages, OfALinearKernelAreTheWeightedSums) {
  const Matrix X = normal(80, 6, 7);
  const Matrix G = normal(70, 80, 8);
  for (const Method method : {Method::best, Method::fixed_point, Method::gradient}) {
    const Preimages found = preimages(kernels::linear(), X, G, {.method = method, .tolerance = 1e-9});
    const double size = (G * X).norm();
    EXPECT_LT((found.rows - G * X).norm(), 1e-6 * size) << name_of(method);
    EXPECT_LT(found.squared_distance.maxCoeff(), 1e-9 * found.squared_norm.maxCoeff()) << name_of(method);
    EXPECT_EQ(found.summary.converged, 70) << name_of(method);
  }
  // One step of the fixed point is exact, so the third look at the objective ends it.
  const Preimages found = preimages(kernels::linear(), X, G, {.method = Method::fixed_point});
  for (const Index steps : found.iterations) EXPECT_LE(steps, 8);
  EXPECT_LT((found.rows - G * X).norm(), 1e-12 * (G * X).norm());
}

TEST(Preimages, OfAnImageAreTheRowItself) {
  const Matrix X = normal(150, 4, 9);
  const Matrix G = Matrix::Identity(150, 150).topRows(40);
  for (const Kernel& kernel : {kernels::gaussian(1.5), kernels::matern(2.5, 2.0), kernels::matern(1.5, 2.0),
                               kernels::rational_quadratic(1.5, 1), kernels::laplacian(2.0), kernels::polynomial(3, 0.5, 1),
                               kernels::exponential_dot(0.3), kernels::gaussian(std::vector<double>{1, 2, 1.5, 3})}) {
    for (const Method method : {Method::best, Method::fixed_point}) {
      const Preimages found = preimages(kernel, X, G, {.method = method});
      EXPECT_LT((found.rows - X.topRows(40)).cwiseAbs().maxCoeff(), 1e-6) << kernel.text() << " " << name_of(method);
      EXPECT_LT(found.squared_distance.maxCoeff(), 1e-10 * found.squared_norm.maxCoeff()) << kernel.text() << " " << name_of(method);
      EXPECT_EQ(found.summary.converged, 40) << kernel.text() << " " << name_of(method);
    }
  }
}

// A point that is an image of a row outside the basis, written as well as the basis can: the row is found again, away from its start.
TEST(Preimages, FindARowThatIsNoneOfTheBasis) {
  const Matrix X = normal(300, 2, 10);
  const Matrix Y = normal(10, 2, 11) * 0.5;
  const Kernel kernel = kernels::gaussian(1.5);
  const Matrix K = gram(kernel, X) + 1e-10 * Matrix::Identity(300, 300);
  const Matrix G = K.llt().solve(gram(kernel, X, Y)).transpose();
  for (const Method method : {Method::best, Method::fixed_point, Method::gradient}) {
    const Preimages found = preimages(kernel, X, G, {.method = method, .tolerance = 1e-9});
    EXPECT_LT((found.rows - Y).cwiseAbs().maxCoeff(), 1e-3) << name_of(method);
  }
}

// At what the iteration ends with, the gradient written out vanishes, and the objective agrees with its double sum.
TEST(Preimages, EndWhereTheGradientVanishes) {
  const Matrix X = normal(120, 3, 12);
  const Matrix noisy = normal(20, 3, 13);
  for (const Kernel& kernel :
       {kernels::gaussian(1.5), kernels::matern(2.5, 2.0), kernels::rational_quadratic(1.5, 1), kernels::polynomial(2, 0.5, 1),
        kernels::exponential_dot(0.3), kernels::gaussian(1.0) + 0.5 * kernels::linear()}) {
    const TinyKernelPca pca(kernel, X, 6);
    const Matrix G = pca.weights(noisy);
    const Preimages found = preimages(kernel, X, G, {.tolerance = 1e-9, .max_iterations = 5000});
    for (Index i = 0; i < 20; ++i) {
      const Vector g = G.row(i).transpose();
      const Vector z = found.rows.row(i).transpose();
      EXPECT_NEAR(found.squared_distance[i], written_out(kernel, X, g, z), 1e-10 * (1 + found.squared_norm[i])) << kernel.text();
      for (Index c = 0; c < 3; ++c) {
        Vector up = z;
        Vector down = z;
        up[c] += 1e-4;
        down[c] -= 1e-4;
        EXPECT_NEAR((objective(kernel, X, g, up) - objective(kernel, X, g, down)) / 2e-4, 0, 1e-5 * (1 + found.squared_norm[i]))
            << kernel.text();
      }
    }
    const Vector again = preimage_distances(kernel, found.rows, X, G);
    EXPECT_LT((again - found.squared_distance).cwiseAbs().maxCoeff(), 1e-10 * (1 + found.squared_norm.maxCoeff())) << kernel.text();
    EXPECT_EQ(found.summary.converged, 20) << kernel.text() << ": " << found.summary.sentence;
  }
}

TEST(Preimages, BestIsAtLeastAsNearAsEveryOther) {
  const Matrix X = normal(200, 5, 14);
  for (const Kernel& kernel :
       {kernels::gaussian(1.0), kernels::laplacian(2.0), kernels::matern(1.5, 1.0), kernels::rational_quadratic(1.0, 0.5)}) {
    const TinyKernelPca pca(kernel, X, 20);
    const Matrix G = pca.weights(normal(70, 5, 15));
    const Preimages best = preimages(kernel, X, G);
    for (const Method method : {Method::fixed_point, Method::distance, Method::ridge}) {
      const Preimages other = preimages(kernel, X, G, {.method = method});
      for (Index i = 0; i < 70; ++i)
        EXPECT_LE(best.squared_distance[i], other.squared_distance[i] + 1e-12) << kernel.text() << " " << name_of(method);
    }
  }
}

TEST(PreimageDistance, InvertsEveryProfile) {
  const Matrix X = normal(30, 2, 16);
  Vector s(5);
  s << 0, 1e-6, 0.3, 2, 9;
  for (const Kernel& kernel : {kernels::gaussian(1.3), kernels::laplacian(1.7), kernels::matern(1.5, 1.1), kernels::matern(2.5, 2.0),
                               kernels::rational_quadratic(1.2, 0.8), kernels::gaussian(1.0) + 2.0 * kernels::matern(1.5, 1.0)}) {
    const KernelSlopes slopes(kernel, X);
    ASSERT_TRUE(slopes.radial()) << kernel.text();
    const Vector k = slopes.profile(s);
    const Vector back = inverse_profile(slopes, k, 100);
    for (Index i = 0; i < 5; ++i) EXPECT_NEAR(slopes.profile(back)[i], k[i], 1e-14 * k[0]) << kernel.text();
    EXPECT_NEAR(back[3], 2, 1e-9) << kernel.text();
    EXPECT_EQ(inverse_profile(slopes, Vector::Constant(1, 2 * k[0]), 100)[0], 0);
    EXPECT_NEAR(inverse_profile(slopes, Vector::Constant(1, -1.0), 100)[0], 100, 1e-9);
  }
  EXPECT_FALSE(KernelSlopes(kernels::linear(), X).radial());
  EXPECT_FALSE(KernelSlopes(kernels::gaussian(1.0).on({0}), X).radial());
}

// Exact distances give the exact point: in the plane from three rows, in a flat of a larger space from those that span it.
TEST(PreimageDistance, LocatesAPointFromExactDistances) {
  const Matrix X = normal(3, 2, 17);
  const Vector z = normal(1, 2, 18).row(0).transpose();
  Vector s(3);
  for (Index i = 0; i < 3; ++i) s[i] = (X.row(i).transpose() - z).squaredNorm();
  EXPECT_LT((locate(X, s) - z).norm(), 1e-10);
  const Matrix flat = normal(2, 30, 19);
  const Matrix rows = normal(6, 2, 20) * flat;
  const Vector inside = (normal(1, 2, 21) * flat).row(0).transpose();
  Vector t(6);
  for (Index i = 0; i < 6; ++i) t[i] = (rows.row(i).transpose() - inside).squaredNorm();
  EXPECT_LT((locate(rows, t) - inside).norm(), 1e-9 * inside.norm());
}

TEST(PreimageDistance, FindsTheRowOfAnImage) {
  const Matrix X = normal(100, 3, 22);
  const Matrix G = Matrix::Identity(100, 100).topRows(20);
  for (const Kernel& kernel : {kernels::gaussian(1.5), kernels::laplacian(2.0), kernels::matern(1.5, 2.0),
                               kernels::rational_quadratic(1.5, 1), kernels::gaussian(std::vector<double>{1, 2, 3})}) {
    const Preimages found = preimages(kernel, X, G, {.method = Method::distance});
    EXPECT_LT((found.rows - X.topRows(20)).cwiseAbs().maxCoeff(), 1e-6) << kernel.text();
  }
}

// The ridge map is kernel ridge regression of the rows: at an image it predicts, at a mixture it mixes.
TEST(Preimages, RidgeMapIsKernelRidgeRegression) {
  const Matrix X = normal(60, 4, 23);
  const Matrix Y = normal(5, 4, 24);
  for (const Kernel& kernel : {kernels::gaussian(1.5), kernels::laplacian(1.0, kernels::Norm::l1), kernels::cosine()}) {
    const auto model = fit_kernel_ridge(X, X, {.kernel = kernel, .alpha = 0.3, .fit_intercept = true});
    const Matrix I = Matrix::Identity(60, 60);
    EXPECT_LT((preimages(kernel, X, I, {.method = Method::ridge, .ridge_alpha = 0.3}).rows - model.predict(X)).cwiseAbs().maxCoeff(),
              1e-10);
    const Matrix mixture = (0.25 * I.row(3) + 0.75 * I.row(7)).eval();
    const Matrix expected = 0.25 * model.predict(X).row(3) + 0.75 * model.predict(X).row(7);
    EXPECT_LT((preimages(kernel, X, mixture, {.method = Method::ridge, .ridge_alpha = 0.3}).rows - expected).cwiseAbs().maxCoeff(), 1e-10);
  }
  const Preimages given =
      preimages(kernels::gaussian(1.0), X, Matrix::Identity(60, 60).topRows(5), {.method = Method::ridge, .learned = Y});
  EXPECT_EQ(given.rows, Y);
}

// Far from all rows the denominator underflows: the search begins again at the nearest rows.
TEST(Preimages, BeginAgainWhereTheObjectiveIsFlat) {
  const Matrix X = normal(50, 3, 25);
  const Matrix G = Matrix::Identity(50, 50).topRows(10);
  const Matrix far = Matrix::Constant(10, 3, 1e4);
  const Preimages found = preimages(kernels::gaussian(1.0), X, G, {.method = Method::fixed_point, .start = far});
  EXPECT_LT((found.rows - X.topRows(10)).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_EQ(found.summary.converged, 10);
  const Preimages stuck = preimages(kernels::gaussian(1.0), X, G, {.method = Method::fixed_point, .start = far, .restarts = 0});
  EXPECT_EQ(stuck.summary.converged, 0);
  EXPECT_EQ(stuck.rows, far);
}

TEST(Preimages, DoNotDependOnThreadsOrTheRunOfBlocks) {
  const Matrix X = normal(300, 6, 26);
  const TinyKernelPca pca(kernels::gaussian(2.0), X, 15);
  const Matrix G = pca.weights(normal(200, 6, 27));
  const Preimages one = preimages(pca.kernel, X, G, {.run = {.threads = 1}});
  const Preimages two = preimages(pca.kernel, X, G, {.run = {.threads = 2}});
  EXPECT_EQ(one.rows, two.rows);
  EXPECT_EQ(one.squared_distance, two.squared_distance);
  EXPECT_EQ(one.iterations, two.iterations);
  // A point on its own: the same minimum, to the tolerance of the iteration.
  const Preimages alone = preimages(pca.kernel, X, G.row(150), {.tolerance = 1e-9});
  EXPECT_NEAR(alone.squared_distance[0], one.squared_distance[150], 1e-8);
}

// A curve in the plane with noise: the first components and their pre-images are nearer to the curve.
TEST(Preimages, DenoiseACurve) {
  RandomStream random(28);
  const Index n = 300;
  Matrix clean(n, 2);
  for (Index i = 0; i < n; ++i) {
    const double t = 3.1416 * random.uniform();
    clean.row(i) << std::cos(t), std::sin(t);
  }
  const Matrix noisy = clean + 0.15 * random.normal_matrix(n, 2);
  const TinyKernelPca pca(kernels::gaussian(0.7), noisy, 4);
  const Preimages found = preimages(pca.kernel, noisy, pca.weights(noisy), {.start = noisy});
  const auto off = [](const Matrix& rows) { return (rows.rowwise().norm().array() - 1).square().mean(); };
  EXPECT_LT(off(found.rows), 0.4 * off(noisy));
  EXPECT_NE(found.summary.sentence.find("pre-images of 300 points from 300 rows: best ("), std::string::npos) << found.summary.sentence;
}

TEST(Preimages, SayWhichMethodsAKernelHas) {
  using Methods = std::vector<Method>;
  EXPECT_EQ(preimage_methods(kernels::gaussian(kernels::LengthScale::automatic()), 3),
            (Methods{Method::fixed_point, Method::gradient, Method::distance, Method::ridge}));
  EXPECT_EQ(preimage_methods(kernels::polynomial(), 3), (Methods{Method::fixed_point, Method::gradient, Method::ridge}));
  EXPECT_EQ(preimage_methods(kernels::chi2(), 3), (Methods{Method::ridge}));
  EXPECT_EQ(preimage_methods(kernels::periodic(), 3), (Methods{Method::ridge}));
  EXPECT_EQ(preimage_methods(kernels::precomputed(), 3), (Methods{}));
  const Matrix X = normal(20, 2, 29).cwiseAbs();
  const Matrix G = Matrix::Identity(20, 20);
  EXPECT_EQ(preimages(kernels::chi2(), X, G).method, std::vector<Method>(20, Method::ridge));
  EXPECT_EQ(
      message_of<NotOffered>([&] { preimages(kernels::chi2(), X, G, {.method = Method::fixed_point}); }),
      "the fixed point method needs slopes of the kernel, which chi2(1) does not give (dot product and Euclidean distance kernels and "
      "their sums and products do); use best or ridge");
  EXPECT_NE(message_of<NotOffered>([&] { preimages(kernels::linear(), X, G, {.method = Method::distance}); }).find("linear is not"),
            std::string::npos);
}

TEST(Preimages, RefuseWhatCannotBe) {
  const Matrix X = normal(20, 2, 30);
  const Matrix G = Matrix::Identity(20, 20);
  const Kernel k = kernels::gaussian(1.0);
  const auto says = [](const auto& act, const std::string& text) {
    const std::string message = message_of<InvalidArgument>(act);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  says([&] { preimages(k, X, Matrix::Ones(2, 19)); }, "one column per basis row, 20, got 19");
  says([&] { preimages(k, Matrix(0, 2), Matrix(1, 0)); }, "there are no basis rows");
  says([&] { preimages(k, X, Matrix::Constant(1, 20, std::nan(""))); }, "weights has a NaN");
  says([&] { preimages(kernels::sigmoid(), X, G); }, "not positive semi-definite");
  says([&] { preimages(k + kernels::white(0.1), X, G); }, "white noise");
  says([&] { preimages(kernels::precomputed(), G, G); }, "given Gram matrix");
  says([&] { preimages(k, X, G, {.start = Matrix::Zero(3, 2)}); }, "start must have one row per point, 20 x 2, got 3 x 2");
  says([&] { preimages(k, X, G, {.neighbors = 0}); }, "neighbors must be at least 1, got 0");
  says([&] { preimages(k, X, G, {.ridge_alpha = -1}); }, "ridge_alpha must be a finite number >= 0, got -1");
  says([&] { preimages(k, X, G, {.tolerance = 0}); }, "tolerance must be > 0, got 0");
  says([&] { preimages(k, X, G, {.max_iterations = 0}); }, "max_iterations must be at least 1, got 0");
  says([&] { preimages(k, X, G, {.restarts = -1}); }, "restarts must be >= 0, got -1");
  EXPECT_EQ(preimages(k, X, Matrix(0, 20)).rows.rows(), 0);
  testing::on_new_thread([&] {
    const auto stop = [](const ProgressEvent&) { return false; };
    EXPECT_THROW(preimages(k, X, G, {.method = Method::fixed_point, .run = {.progress = stop}}), Cancelled);
  });
}

}  // namespace
}  // namespace mercer

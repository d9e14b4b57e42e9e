// The three solvers of kernel ridge regression against one another and against a dense factorisation.
// SPDX-License-Identifier: BSD-3-Clause
#include "models/kernel_system.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "gram/pivoted_cholesky.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;
using enum KernelRidgeSolver;

struct Data {
  Matrix X, Y;
};

Data make_data(Index n) {
  RandomStream random(5);
  Data d{random.normal_matrix(n, 3), random.normal_matrix(n, 2)};
  d.Y.col(0) += d.X.col(0).array().sin().matrix() * 3;
  return d;
}

double residual(const Matrix& K, double alpha, const Matrix& C, const Matrix& Y) {
  const Matrix R = K * C + alpha * C - Y;
  return R.colwise().norm().cwiseQuotient(Y.colwise().norm()).maxCoeff();
}

const Kernel kernel = kernels::gaussian(1.0);

TEST(KernelSystem, EverySolverMeetsItsTolerance) {
  const Data d = make_data(700);
  const Matrix K = gram(kernel, d.X);
  for (const auto solver : {cholesky, mixed_cholesky, conjugate_gradients}) {
    for (const double alpha : {10.0, 0.1, 1e-3}) {
      const auto model = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = alpha, .solver = solver});
      const double found = residual(K, alpha, model.dual_coef(), d.Y);
      EXPECT_LE(found, 1e-10) << static_cast<int>(solver) << " " << alpha;
      // Both are sums of products K c of size up to |K| |y| / alpha, rounded.
      EXPECT_NEAR(found, model.summary().residual, 1e-15 * K.norm() / alpha);
      EXPECT_TRUE(model.summary().converged);
    }
  }
}

TEST(KernelSystem, MethodsAreNamed) {
  const Data d = make_data(300);
  const auto method = [&](KernelRidgeSolver solver) {
    return fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 1, .solver = solver}).summary();
  };
  EXPECT_EQ(method(cholesky).method, "Cholesky");
  EXPECT_EQ(method(mixed_cholesky).method, "mixed-precision Cholesky");
  EXPECT_EQ(method(conjugate_gradients).method, "conjugate gradients");
  EXPECT_GT(method(conjugate_gradients).iterations, 0);
  EXPECT_NE(method(mixed_cholesky).sentence.find("refinements"), std::string::npos);
}

TEST(KernelSystem, WeightsAndInterceptGoThroughEverySolver) {
  const Data d = make_data(500);
  Vector weights = RandomStream(6).normal_matrix(500, 1).cwiseAbs();
  weights[3] = 0;
  KernelRidgeOptions options{.kernel = kernel, .alpha = 0.2, .fit_intercept = true, .sample_weight = weights, .solver = cholesky};
  const auto exact = fit_kernel_ridge(d.X, d.Y, options);
  for (const auto solver : {mixed_cholesky, conjugate_gradients}) {
    options.solver = solver;
    const auto other = fit_kernel_ridge(d.X, d.Y, options);
    // Residuals of 1e-10 and eigenvalues from 0.2 upwards.
    EXPECT_LE((other.dual_coef() - exact.dual_coef()).norm(), 1e-8 * exact.dual_coef().norm());
    EXPECT_LE((other.intercept() - exact.intercept()).norm(), 1e-8);
  }
}

TEST(KernelSystem, AFloat32FactorThatCannotServeGivesWayToFloat64) {
  const Data d = make_data(400);
  const auto model = fit_kernel_ridge(d.X, d.Y, {.kernel = kernels::gaussian(30.0), .alpha = 1e-12, .solver = mixed_cholesky});
  EXPECT_NE(model.summary().method, "mixed-precision Cholesky");
}

// Entries in float32 say nothing of eigenvalues below 1e-4 here; float64 tiles take over, and nothing is called indefinite that is not.
TEST(KernelSystem, ConjugateGradientsReachSmallPenalties) {
  const Data d = make_data(1200);
  const Kernel smooth = kernels::gaussian(22.0);
  for (const double alpha : {1e-5, 1e-7}) {
    KernelRidgeOptions options{.kernel = smooth, .alpha = alpha, .solver = conjugate_gradients};
    options.run.memory = 30'000'000;  // no eigenproblem of this size fits
    const auto model = fit_kernel_ridge(d.X, d.Y, options);
    EXPECT_EQ(model.summary().method, "conjugate gradients");
    EXPECT_TRUE(model.summary().positive_definite);
    // Coefficients are as large as |y| / alpha, and K has norm 1200: what rounding leaves.
    EXPECT_LE(model.summary().residual, 2.2e-16 * 1200 / alpha) << model.summary().sentence;
  }
}

TEST(KernelSystem, ConjugateGradientsRunOnStreamedTilesWhenNothingFits) {
  const Data d = make_data(1500);
  const Matrix K = gram(kernel, d.X);
  // Half of K in float32 takes 5.5 MB; rank 93 of the preconditioner 1.1 MB.
  KernelRidgeOptions options{.kernel = kernel, .alpha = 0.5, .solver = conjugate_gradients};
  options.run.memory = 2'000'000;
  const auto model = fit_kernel_ridge(d.X, d.Y, options);
  EXPECT_LE(residual(K, 0.5, model.dual_coef(), d.Y), 1e-10);
  EXPECT_LE(model.summary().bytes, 2'000'000U);
  options.solver = mixed_cholesky;
  EXPECT_NE(message_of<OverBudget>([&] { fit_kernel_ridge(d.X, d.Y, options); }).find("solver cg"), std::string::npos);
}

TEST(KernelSystem, SeveralPenaltiesShareOneGramMatrix) {
  const Data d = make_data(400);
  const Matrix K = gram(kernel, d.X);
  const auto model = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha_per_target = Vector{{0.1, 3.0}}, .solver = conjugate_gradients});
  EXPECT_LE(residual(K, 0.1, model.dual_coef().col(0), d.Y.col(0)), 1e-10);
  EXPECT_LE(residual(K, 3.0, model.dual_coef().col(1), d.Y.col(1)), 1e-10);
}

TEST(KernelSystem, TheSameBitsForAnyNumberOfThreads) {
  const Data d = make_data(600);
  for (const auto solver : {cholesky, mixed_cholesky, conjugate_gradients}) {
    KernelRidgeOptions options{.kernel = kernel, .alpha = 0.1, .solver = solver};
    options.run.threads = 1;
    const Matrix one = fit_kernel_ridge(d.X, d.Y, options).dual_coef();
    options.run.threads = 2;
    EXPECT_EQ(one, fit_kernel_ridge(d.X, d.Y, options).dual_coef());
  }
}

TEST(KernelSystem, CancellingReachesTheIterations) {
  const Data d = make_data(600);
  for (const auto solver : {mixed_cholesky, conjugate_gradients}) {
    KernelRidgeOptions options{.kernel = kernel, .alpha = 0.1, .solver = solver};
    options.run.progress = [](const ProgressEvent& event) { return event.stage != "refinement" && event.stage != "conjugate gradients"; };
    EXPECT_THROW(fit_kernel_ridge(d.X, d.Y, options), Cancelled);
  }
}

TEST(KernelSystem, AnIndefiniteKernelIsToldFromASlowOne) {
  const Data d = make_data(300);
  for (const auto solver : {mixed_cholesky, automatic}) {
    const auto model = fit_kernel_ridge(d.X, d.Y, {.kernel = kernels::sigmoid(1.0, -1.0), .alpha = 0.1, .solver = solver});
    EXPECT_FALSE(model.summary().positive_definite);
    EXPECT_EQ(model.summary().method, "pseudo-inverse");
  }
}

TEST(LowRankGram, WhiteNoiseStaysOnTheDiagonal) {
  const Matrix X = RandomStream(2).normal_matrix(60, 2);
  const Kernel noisy = kernels::gaussian(1.0) + kernels::white(0.5);
  const Matrix K = gram(noisy, X);
  const PivotedCholesky f = pivoted_cholesky(noisy, X, {.rank = 60});
  EXPECT_LE((f.factor * f.factor.transpose() - K).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_THROW(pivoted_cholesky(noisy, X, {.rank = 60}, 1000), OverBudget);
}

}  // namespace
}  // namespace mercer

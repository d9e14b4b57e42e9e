// The objectives of kernel learning against refits, closed forms by dense algebra, and differences.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/kernel_learning.hpp"
#include "mercer/kernel_ridge.hpp"
#include "mercer/random.hpp"
#include "reference/kernel_cases.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

constexpr std::array objectives{KernelObjective::loo, KernelObjective::evidence, KernelObjective::alignment};

struct Data {
  Matrix X, Y;
  Vector w;
};

Data make_data(Index n, Index d, Index targets, std::uint64_t seed) {
  RandomStream random(seed);
  Data data{random.normal_matrix(n, d), 0.3 * random.normal_matrix(n, targets), Vector()};
  data.Y.col(0) += (data.X.col(0).array() * 1.5).sin().matrix() + Vector::Constant(n, 0.7);
  data.w = random.normal_matrix(n, 1).cwiseAbs().array() + 0.2;
  return data;
}

const Kernel kernel = kernels::gaussian(1.5) + 0.2 * kernels::linear();

// The mean squared error of n fits, each without one row: the definition, by another route.
double refits(const Data& d, double alpha, bool intercept, const Vector& w) {
  double sum = 0;
  double total = 0;
  for (Index i = 0; i < d.X.rows(); ++i) {
    const double wi = w.size() == 0 ? 1.0 : w[i];
    if (wi == 0) continue;
    std::vector<Index> others;
    for (Index j = 0; j < d.X.rows(); ++j) {
      if (j != i) others.push_back(j);
    }
    const Vector weights = w.size() == 0 ? Vector() : Vector(w(others));
    const auto model = fit_kernel_ridge(Matrix(d.X(others, Eigen::all)), Matrix(d.Y(others, Eigen::all)),
                                        {.kernel = kernel, .alpha = alpha, .fit_intercept = intercept, .sample_weight = weights});
    sum += wi * (model.predict(d.X.row(i)) - d.Y.row(i)).squaredNorm();
    total += wi * static_cast<double>(d.Y.cols());
  }
  return sum / total;
}

TEST(KernelObjective, LeaveOneOutIsTheErrorOfRefits) {
  const Data d = make_data(30, 3, 2, 1);
  Vector some = d.w;
  some[4] = 0;
  for (const bool intercept : {false, true}) {
    for (const Vector& w : {Vector(), d.w, some}) {
      const KernelScore score = score_kernel(d.X, d.Y, kernel, 0.3, {.fit_intercept = intercept, .sample_weight = w});
      const double wanted = refits(d, 0.3, intercept, w);
      EXPECT_NEAR(score.value, wanted, 1e-11 * wanted) << intercept << " " << w.size();
    }
  }
}

// log N(y; 0, s A) at the best s, by eigenvalues; with an intercept that of the contrasts Q'y, Q an orthonormal basis of what sums to zero.
double dense_evidence(const Matrix& K, const Matrix& Y, const Vector& noise, bool intercept, double& s) {
  const Index n = K.rows();
  Matrix A = K;
  A.diagonal() += noise;
  Matrix Z = Y;
  double jacobian = 0;
  if (intercept) {
    const Matrix ones = Matrix::Ones(n, 1);
    const Matrix full = Eigen::HouseholderQR<Eigen::MatrixXd>(ones).householderQ();
    const Matrix Q = full.rightCols(n - 1);
    A = (Q.transpose() * A * Q).eval();
    Z = (Q.transpose() * Y).eval();
    jacobian = -0.5 * static_cast<double>(Y.cols()) * std::log(static_cast<double>(n));  // of 1' A^-1 1 |A| = n |Q'AQ|
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(A);
  const Matrix coordinates = eigen.eigenvectors().transpose() * Z;
  const auto N = static_cast<double>(Z.size());
  s = (coordinates.array().square().colwise() / eigen.eigenvalues().array()).sum() / N;
  return jacobian - 0.5 * N - 0.5 * N * std::log(2 * std::numbers::pi * s) -
         0.5 * static_cast<double>(Y.cols()) * eigen.eigenvalues().array().log().sum();
}

TEST(KernelObjective, EvidenceIsTheGaussianDensity) {
  const Data d = make_data(40, 3, 2, 2);
  const Matrix K = gram(kernel, d.X);
  for (const bool intercept : {false, true}) {
    for (const Vector& w : {Vector(), d.w}) {
      const Vector noise = 0.4 / (w.size() == 0 ? Vector::Ones(40).eval() : w).array();
      double s = 0;
      const double wanted = dense_evidence(K, d.Y, noise, intercept, s);
      const KernelScore score =
          score_kernel(d.X, d.Y, kernel, 0.4, {.objective = KernelObjective::evidence, .fit_intercept = intercept, .sample_weight = w});
      EXPECT_NEAR(score.value, wanted, 1e-11 * std::abs(wanted)) << intercept;
      EXPECT_NEAR(score.signal_variance, s, 1e-11 * s);
    }
  }
}

TEST(KernelObjective, AlignmentIsTheCosineOfCentredMatrices) {
  const Data d = make_data(50, 3, 2, 3);
  const Matrix K = gram(kernel, d.X);
  const Matrix H = Matrix::Identity(50, 50) - Matrix::Constant(50, 50, 1.0 / 50);
  const Matrix A = H * K * H;
  const Matrix B = H * d.Y * d.Y.transpose() * H;
  const KernelScore score = score_kernel(d.X, d.Y, kernel, 1, {.objective = KernelObjective::alignment});
  EXPECT_NEAR(score.value, A.cwiseProduct(B).sum() / (A.norm() * B.norm()), 1e-13);
  EXPECT_EQ(score.gradient.tail(1)[0], 0.0);

  // A weight of 2 is a sample that is there twice.
  const Vector w = 1 + (d.X.col(1).array() > 0).cast<double>();
  std::vector<Index> repeated;
  for (Index i = 0; i < 50; ++i) repeated.insert(repeated.end(), static_cast<std::size_t>(w[i]), i);
  const Matrix Xr = d.X(repeated, Eigen::all);
  const Matrix Yr = d.Y(repeated, Eigen::all);
  const double twice = score_kernel(Xr, Yr, kernel, 1, {.objective = KernelObjective::alignment}).value;
  EXPECT_NEAR(score_kernel(d.X, d.Y, kernel, 1, {.objective = KernelObjective::alignment, .sample_weight = w}).value, twice, 1e-13);

  // The ideal kernel of classes is aligned with itself; a kernel that is constant with nothing.
  const Matrix classes = class_indicators({0, 1, 2, 0, 1, 2, 0}, 3);
  EXPECT_NEAR(score_kernel(Samples(classes), classes, kernels::linear(), 1, {.objective = KernelObjective::alignment}).value, 1, 1e-14);
  EXPECT_EQ(score_kernel(d.X, d.Y, kernels::constant(3), 1, {.objective = KernelObjective::alignment}).value, 0.0);
}

double score_at(const Data& d, const Kernel& k, const Vector& theta, const KernelScoreOptions& options) {
  std::vector<double> values;
  for (Index p = 0; p + 1 < theta.size(); ++p) values.push_back(std::exp(theta[p]));
  return score_kernel(d.X, d.Y, k.with_parameters(values), std::exp(theta[theta.size() - 1]), options).value;
}

void expect_gradient(const std::string& name, const Data& d, const Kernel& k, const KernelScoreOptions& options) {
  const auto parameters = k.parameters();
  Vector theta(std::ssize(parameters) + 1);
  for (std::size_t p = 0; p < parameters.size(); ++p) theta[static_cast<Index>(p)] = std::log(parameters[p].value);
  theta[theta.size() - 1] = std::log(0.5);
  const KernelScore score = score_kernel(d.X, d.Y, k, 0.5, options);
  ASSERT_EQ(score.gradient.size(), theta.size()) << name;
  // Differences of fourth order: h^4 = 1e-12 of the fifth derivative, and rounding of the values over h, 1e-15 / 1e-3 times what the
  // condition of A (below some 1e4 here) adds.
  constexpr double h = 1e-3;
  for (Index p = 0; p < theta.size(); ++p) {
    const auto at = [&](double step) {
      Vector moved = theta;
      moved[p] += step;
      return score_at(d, k, moved, options);
    };
    const double wanted = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    EXPECT_NEAR(score.gradient[p], wanted, 1e-8 * (1 + std::abs(score.value) + std::abs(wanted)))
        << name << ", " << name_of(options.objective) << ", parameter " << p;
  }
}

TEST(KernelObjective, GradientsAgreeWithDifferencesForEveryKernel) {
  for (const auto& c : naive::kernel_cases(3)) {
    if (!c.kernel.is_psd() || c.name == "constant") continue;
    Data d = make_data(13, 3, 2, 4);
    d.X = c.data(d.X);
    for (const KernelObjective objective : objectives) expect_gradient(c.name, d, c.kernel, {.objective = objective});
  }
}

TEST(KernelObjective, GradientsWithInterceptAndWeightsAcrossTiles) {
  const Data small = make_data(20, 2, 1, 5);
  const Kernel k = 2.0 * kernels::matern(1.5, std::vector{1.2, 0.8}) * kernels::rational_quadratic(2, 1) + kernels::white(0.3);
  for (const KernelObjective objective : objectives) {
    for (const bool intercept : {false, true}) {
      expect_gradient("weighted", small, k, {.objective = objective, .fit_intercept = intercept, .sample_weight = small.w});
    }
    const Data large = make_data(300, 2, 1, 6);
    expect_gradient("tiles", large, kernels::gaussian(std::vector{1.0, 2.0}), {.objective = objective, .fit_intercept = true});
  }
}

TEST(KernelObjective, ScalingKernelAndAlphaTogetherChangesNothing) {
  const Data d = make_data(40, 3, 1, 7);
  for (const KernelObjective objective : objectives) {
    const double one = score_kernel(d.X, d.Y, kernel, 0.2, {.objective = objective}).value;
    const double seven = score_kernel(d.X, d.Y, 7.0 * kernel, 1.4, {.objective = objective}).value;
    EXPECT_NEAR(one, seven, 1e-11 * std::abs(one));
  }
}

TEST(KernelObjective, SameBitsForAnyNumberOfThreads) {
  const Data d = make_data(600, 3, 1, 8);
  for (const KernelObjective objective : objectives) {
    const auto one = score_kernel(d.X, d.Y, kernel, 0.2, {.objective = objective, .run = {.threads = 1}});
    const auto two = score_kernel(d.X, d.Y, kernel, 0.2, {.objective = objective, .run = {.threads = 2}});
    EXPECT_EQ(one.value, two.value);
    EXPECT_EQ(one.gradient, two.gradient);
  }
}

TEST(KernelObjective, BadInputIsNamed) {
  const Data d = make_data(10, 2, 1, 9);
  EXPECT_EQ(message_of([&] { score_kernel(d.X, d.Y, kernel, -1); }), "alpha must be a finite number >= 0, got -1");
  EXPECT_EQ(message_of([&] { score_kernel(d.X, d.Y.topRows(4), kernel, 1); }), "X has 10 samples but y has 4");
  EXPECT_EQ(message_of([&] { score_kernel(d.X, Matrix::Zero(10, 1), kernel, 1); }),
            "y is zero for all samples: there is nothing to learn a kernel from");
  EXPECT_EQ(message_of([&] { score_kernel(d.X, Matrix::Ones(10, 1), kernel, 1, {.fit_intercept = true}); }),
            "y is the same for all samples: there is nothing to learn a kernel from");
  EXPECT_EQ(message_of([&] { score_kernel(d.X.topRows(1), d.Y.topRows(1), kernel, 1); }),
            "learning a kernel needs at least 2 samples of positive weight, got 1");
  EXPECT_NE(message_of([&] { score_kernel(d.X, d.Y, -1.0 * kernel, 0.01); }).find("is not positive definite"), std::string::npos);
  EXPECT_NE(message_of([&] {
              score_kernel(Matrix::Random(3000, 1), Matrix::Random(3000, 1), kernel, 1, {.run = {.memory = 1000000}});
            }).find("the objective loo on 3000 samples needs"),
            std::string::npos);
}

TEST(KernelObjective, CancelIsHeardWithinAnEvaluation) {
  const Matrix X = RandomStream(1).normal_matrix(600, 2);
  int calls = 0;
  const auto stop = [&](const ProgressEvent&) { return ++calls < 1; };
  EXPECT_THROW(score_kernel(X, X.leftCols(1), kernels::gaussian(1), 0.1, {.run = {.progress = stop}}), Cancelled);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace mercer

// Costs of all scores together: against the sums that some of them are, stationarity, and the eigenproblem behind unit variance.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "mercer/representer.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

struct Data {
  Matrix X, Y;
};

Data make_data(Index n, Index d, Loss::Targets targets, std::uint64_t seed) {
  RandomStream random(seed);
  Data data{random.normal_matrix(n, d), random.normal_matrix(n, 1)};
  for (Index i = 0; i < n; ++i) {
    double& y = data.Y(i, 0);
    y = 2 * std::sin(2 * data.X(i, 0)) + 0.7 * y + 0.5;
    if (targets == Loss::Targets::signs) y = y > 0 ? 1 : -1;
    if (targets == Loss::Targets::counts) y = std::floor(std::abs(2 * y));
  }
  return data;
}

TEST(JointCost, MeanSquaresAreKernelRidge) {
  const Data d = make_data(80, 2, Loss::Targets::real, 17);
  const Vector y = d.Y.col(0);
  const JointCost squares = [&](const VectorRef& z) { return JointValue{(z - y).squaredNorm() / 80, 2 * (z - y) / 80}; };
  for (const bool intercept : {false, true}) {
    const auto joint = fit_joint_cost(d.X, squares, {.kernel = kernels::gaussian(1.0), .lambda = 1e-2, .fit_intercept = intercept});
    const auto ridge = fit_representer(d.X, d.Y, {.kernel = kernels::gaussian(1.0), .lambda = 1e-2, .fit_intercept = intercept});
    EXPECT_NEAR(joint.summary().objective, ridge.summary().objective, 1e-6 * ridge.summary().objective) << joint.summary().sentence;
    EXPECT_EQ(joint.summary().status, "converged") << joint.summary().sentence;
    EXPECT_LT((joint.predict(d.X) - ridge.predict(d.X)).cwiseAbs().maxCoeff(), 1e-3);
  }
  EXPECT_EQ(message_of([&] { fit_joint_cost(d.X, [](const VectorRef&) {
                               return JointValue{0, Vector::Zero(3)};
                             }); }),
            "the joint cost must give a gradient of 80 numbers, got 3");
}

// A cost that is no sum over samples: pairs ranked by a logistic loss of score differences (the area under the ROC curve, smoothed).
TEST(JointCost, RanksPairs) {
  const Data d = make_data(60, 2, Loss::Targets::signs, 18);
  const JointCost ranking = [&](const VectorRef& z) {
    JointValue out{0, Vector::Zero(60)};
    double pairs = 0;
    for (Index i = 0; i < 60; ++i) {
      for (Index j = 0; j < 60; ++j) {
        if (d.Y(i, 0) < 0 || d.Y(j, 0) > 0) continue;
        const double wrong = 1 / (1 + std::exp(z[i] - z[j]));
        out.value -= std::log1p(-wrong);
        out.gradient[i] -= wrong;
        out.gradient[j] += wrong;
        pairs += 1;
      }
    }
    return JointValue{out.value / pairs, out.gradient / pairs};
  };
  const auto model = fit_joint_cost(d.X, ranking, {.kernel = kernels::gaussian(1.0), .lambda = 1e-3, .fit_intercept = false});
  EXPECT_EQ(model.summary().status, "converged") << model.summary().sentence;
  // Stationary: 2 lambda c + gradient vanishes where K does not.
  const Matrix K = gram(kernels::gaussian(1.0), d.X);
  const Vector gradient = ranking(Vector(K * model.dual_coef())).gradient;
  EXPECT_LT((K * (2e-3 * model.dual_coef() + gradient)).norm(), 1e-3 * (K * gradient).norm());
}

// The least-norm f with unit empirical variance is the first kernel principal component v_1 / sqrt(lambda_1): with a the leading
// eigenvector of H K H (eigenvalue n lambda_1, |a| = 1), v_1 = sum a_i k(x_i, .) / sqrt(n lambda_1) up to a constant and f = v_1 /
// sqrt(lambda_1).
TEST(JointCost, TheLeastNormOfUnitVarianceIsTheFirstPrincipalComponent) {
  const Index n = 50;
  const Matrix X = RandomStream(19).normal_matrix(n, 2);
  const Matrix K = gram(kernels::gaussian(1.0), X);
  const Matrix H = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / n);
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(H * K * H);
  const double lambda1 = eigen.eigenvalues()[n - 1] / n;
  const Vector a = eigen.eigenvectors().col(n - 1) / (std::sqrt(n * lambda1) * std::sqrt(lambda1));
  const auto variance = [&](const Vector& c) { return (H * K * c).squaredNorm() / n; };
  const auto squared_norm = [&](const Vector& c) { return c.dot(K * c); };
  EXPECT_NEAR(variance(a), 1, 1e-10);
  EXPECT_NEAR(squared_norm(a), 1 / lambda1, 1e-8 / lambda1);
  RandomStream random(20);
  for (int i = 0; i < 200; ++i) {  // no other function of unit variance is shorter, near ones and far ones
    const Vector c = a + std::pow(10.0, -i % 6) * random.normal_matrix(n, 1).col(0);
    EXPECT_GE(squared_norm(c) / variance(c), (1 / lambda1) * (1 - 1e-10));
  }
  // The solver finds it too: among costs of the variance alone, mu (var - t)^2 with large mu pins the variance at nearly t.
  const JointCost pinned = [&](const VectorRef& z) {
    const Vector centred = z.array() - z.mean();
    const double off = centred.squaredNorm() / n - 1;
    return JointValue{0.5 * off * off - z[0] * 1e-6,
                      Vector(2 * off * centred / n - 1e-6 * Vector::Unit(n, 0))};  // the last term breaks the symmetry f, -f
  };
  const auto model =
      fit_joint_cost(X, pinned, {.kernel = kernels::gaussian(1.0), .lambda = 1e-4, .fit_intercept = false, .max_iterations = 1000});
  const Vector c = model.dual_coef().col(0);
  EXPECT_NEAR(squared_norm(c) / variance(c), 1 / lambda1, 1e-3 / lambda1);
}

}  // namespace
}  // namespace mercer

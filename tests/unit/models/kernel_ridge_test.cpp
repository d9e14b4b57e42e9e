// Kernel ridge regression against its normal equations, closed forms and its own linear twin.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_ridge.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <thread>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/metrics.hpp"
#include "mercer/random.hpp"
#include "mercer/ridge.hpp"
#include "mercer/simulate.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

struct Data {
  Matrix X, Y, Z;  // training samples, targets, new samples
};

Data make_data(Index n, Index d, Index targets, std::uint64_t seed) {
  RandomStream random(seed);
  Data data{random.normal_matrix(n, d), random.normal_matrix(n, targets), random.normal_matrix(40, d)};
  data.Y.col(0) += data.X.col(0).array().sin().matrix() * 3;
  return data;
}

// (K + alpha W^-1) c + 1 b = y, 1'c = 0 as one dense system, solved by LU: an independent route to the same answer.
Matrix bordered_solution(const Matrix& K, const Matrix& Y, double alpha, const Vector& w) {
  const Index n = K.rows();
  Matrix A = Matrix::Zero(n + 1, n + 1);
  A.topLeftCorner(n, n) = K;
  A.topLeftCorner(n, n).diagonal().array() += alpha / w.array();
  A.col(n).head(n).setOnes();
  A.row(n).head(n).setOnes();
  Matrix right = Matrix::Zero(n + 1, Y.cols());
  right.topRows(n) = Y;
  return A.partialPivLu().solve(right);
}

const Kernel kernel = kernels::gaussian(1.5) + 0.2 * kernels::linear();

TEST(KernelRidge, SolvesTheNormalEquationsAtTileEdges) {
  for (const Index n : {1, 2, 100, 256, 257, 600}) {
    const Data d = make_data(n, 4, 3, 1);
    const KernelRidgeModel model = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.3});
    Matrix A = gram(kernel, d.X);
    A.diagonal().array() += 0.3;
    EXPECT_LT((A * model.dual_coef() - d.Y).norm() / d.Y.norm(), 1e-12) << n;
    EXPECT_LT(model.summary().residual, 1e-12);
    EXPECT_EQ(model.summary().method, "Cholesky");
    const Matrix expected = gram(kernel, d.Z, d.X) * A.ldlt().solve(d.Y);
    EXPECT_LT((model.predict(d.Z) - expected).norm() / expected.norm(), 1e-11) << n;
  }
}

TEST(KernelRidge, LambdaIsAlphaOverN) {
  const Data d = make_data(120, 3, 1, 2);
  const auto by_alpha = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 120 * 0.01});
  const auto by_lambda = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .lambda = 0.01});
  EXPECT_EQ(by_alpha.dual_coef(), by_lambda.dual_coef());
  EXPECT_DOUBLE_EQ(by_lambda.alpha()[0], 1.2);
}

TEST(KernelRidge, WeightsAndInterceptSolveTheBorderedSystem) {
  const Data d = make_data(150, 3, 2, 3);
  Vector w = RandomStream(4).normal_matrix(150, 1).cwiseAbs().array() + 0.1;
  const Matrix expected = bordered_solution(gram(kernel, d.X), d.Y, 0.7, w);
  const auto model = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.7, .fit_intercept = true, .sample_weight = w});
  EXPECT_LT((model.dual_coef() - expected.topRows(150)).norm() / expected.norm(), 1e-11);
  EXPECT_LT((model.intercept() - expected.row(150).transpose()).norm(), 1e-11);
  EXPECT_LT(model.summary().residual, 1e-12);
}

TEST(KernelRidge, WholeWeightsAreRepeatedSamplesAndZeroLeavesOut) {
  const Data d = make_data(60, 2, 1, 5);
  Vector w(60);
  std::vector<Index> repeated;
  for (Index i = 0; i < 60; ++i) {
    w[i] = static_cast<double>(i % 4);
    for (Index r = 0; r < i % 4; ++r) repeated.push_back(i);
  }
  Matrix Y(static_cast<Index>(repeated.size()), 1);
  for (std::size_t i = 0; i < repeated.size(); ++i) Y(static_cast<Index>(i), 0) = d.Y(repeated[i], 0);
  for (const bool intercept : {false, true}) {
    const auto weighted = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.5, .fit_intercept = intercept, .sample_weight = w});
    const auto plain = fit_kernel_ridge(Samples(d.X).subset(repeated), Y, {.kernel = kernel, .alpha = 0.5, .fit_intercept = intercept});
    EXPECT_LT((weighted.predict(d.Z) - plain.predict(d.Z)).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_EQ(weighted.dual_coef()(0, 0), 0.0);
    EXPECT_LT(weighted.summary().residual, 1e-12);
  }
}

TEST(KernelRidge, OneAlphaPerTarget) {
  const Data d = make_data(80, 3, 3, 6);
  Vector alphas(3);
  alphas << 0.1, 5, 0.1;
  const auto together = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha_per_target = alphas});
  for (Index t = 0; t < 3; ++t) {
    const auto alone = fit_kernel_ridge(d.X, Matrix(d.Y.col(t)), {.kernel = kernel, .alpha = alphas[t]});
    EXPECT_LT((together.dual_coef().col(t) - alone.dual_coef().col(0)).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(KernelRidge, LinearKernelIsRidge) {
  const Data d = make_data(200, 6, 2, 7);
  for (const bool intercept : {false, true}) {
    const auto krr = fit_kernel_ridge(d.X, d.Y, {.kernel = kernels::linear(), .alpha = 2, .fit_intercept = intercept});
    const auto ridge = fit_ridge(d.X, d.Y, {.alpha = 2, .fit_intercept = intercept});
    EXPECT_LT((krr.predict(d.Z) - ridge.predict(d.Z)).cwiseAbs().maxCoeff(), 1e-11);
  }
}

TEST(KernelRidge, AlphaZeroIsTheMinimumNormInterpolant) {
  // Rank 3 of 50: infinitely many solutions; the pseudo-inverse is the one of least norm.
  const Data d = make_data(50, 3, 1, 8);
  const auto model = fit_kernel_ridge(d.X, d.Y, {.kernel = kernels::linear(), .alpha = 0});
  const Matrix K = gram(kernels::linear(), d.X);
  const Vector expected = K.completeOrthogonalDecomposition().pseudoInverse() * d.Y;
  EXPECT_LT((model.dual_coef() - expected).norm() / expected.norm(), 1e-8);  // condition of K squared eats half the digits
  EXPECT_EQ(model.summary().method, "pseudo-inverse");
  EXPECT_EQ(model.summary().rank, 3);

  // A nonsingular Gram matrix: interpolation.
  Matrix x(5, 1);
  x << 0, 1, 2, 3, 4;
  const Matrix y = x.array().cos().matrix();
  const auto exact = fit_kernel_ridge(x, y, {.kernel = kernels::gaussian(0.7), .lambda = 0.0});
  EXPECT_LT((exact.predict(x) - y).cwiseAbs().maxCoeff(), 1e-12);

  // Duplicates with contradicting targets: the least-squares answer is their mean.
  Matrix twice(2, 1);
  twice << 1, 1;
  Matrix values(2, 1);
  values << 0, 4;
  EXPECT_NEAR(fit_kernel_ridge(twice, values, {.kernel = kernels::gaussian(1), .alpha = 0}).predict(twice)(0, 0), 2, 1e-12);
}

TEST(KernelRidge, AlphaZeroWithInterceptIsLeastSquares) {
  Matrix x(3, 1);
  x << -1, 0, 1;
  Matrix y(3, 1);
  y << 9, 10, 11.5;
  const auto line = fit_kernel_ridge(x, y, {.kernel = kernels::linear(), .alpha = 0, .fit_intercept = true});
  EXPECT_NEAR(line.predict(x)(0, 0), 10 + 1.0 / 6 - 1.25, 1e-12);
  EXPECT_NEAR(line.intercept()[0], 10 + 1.0 / 6, 1e-12);

  const Data d = make_data(40, 3, 2, 15);
  Vector w = RandomStream(16).normal_matrix(40, 1).cwiseAbs();
  w[5] = 0;
  for (const double alpha : {0.0, 1e-30}) {  // the second is lost in rounding, so Cholesky fails
    const auto krr = fit_kernel_ridge(d.X, d.Y, {.kernel = kernels::linear(), .alpha = alpha, .fit_intercept = true, .sample_weight = w});
    const auto ols = fit_ridge(d.X, d.Y, {.alpha = 0, .sample_weight = w});
    EXPECT_LT((krr.predict(d.Z) - ols.predict(d.Z)).cwiseAbs().maxCoeff(), 1e-10) << alpha;
  }
  // A nonsingular Gram matrix interpolates whatever the intercept; the chosen one leaves f the least norm.
  const auto exact = fit_kernel_ridge(x, y, {.kernel = kernels::gaussian(1), .alpha = 0, .fit_intercept = true});
  EXPECT_LT((exact.predict(x) - y).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(exact.dual_coef().sum(), 0, 1e-12);
}

TEST(KernelRidge, TheSummaryOfSeveralAlphasSpeaksForAll) {
  const Data d = make_data(40, 3, 2, 17);
  Vector alphas(2);
  alphas << 1e-30, 1;
  const auto model = fit_kernel_ridge(d.X, d.Y, {.kernel = kernels::linear(), .alpha_per_target = alphas});
  EXPECT_EQ(model.summary().method, "pseudo-inverse");
  EXPECT_EQ(model.summary().rank, 3);
}

TEST(KernelRidge, NullVectorsOfKChangeNoPrediction) {
  // Source K, Lemma 1 (slip S8 corrected): with lambda > 0 and singular K, c + v with K v = 0 predicts the same.
  const Data d = make_data(30, 2, 1, 9);
  const auto model = fit_kernel_ridge(d.X, d.Y, {.kernel = kernels::linear(), .alpha = 0.5});
  const Matrix K = gram(kernels::linear(), d.X);
  Eigen::FullPivLU<Matrix> lu(K);
  const Vector v = lu.setThreshold(1e-10).kernel().col(0);
  ASSERT_LT((K * v).norm(), 1e-12 * v.norm() * K.norm());
  const auto moved = KernelRidgeModel::from_parts(model.kernel(), model.samples(), model.dual_coef() + v, model.intercept(), model.alpha(),
                                                  Precision::float64, {});
  EXPECT_LT((moved.predict(d.Z) - model.predict(d.Z)).cwiseAbs().maxCoeff(), 1e-11 * v.norm());
}

TEST(KernelRidge, IndefiniteKernelsAreSolvedAndSaid) {
  const Data d = make_data(40, 3, 1, 10);
  const Kernel indefinite = -1.0 * kernels::gaussian(1);
  const auto model = fit_kernel_ridge(d.X, d.Y, {.kernel = indefinite, .alpha = 0.5});
  EXPECT_FALSE(model.summary().positive_definite);
  EXPECT_NE(model.summary().sentence.find("not positive definite"), std::string::npos);
  EXPECT_LT(model.summary().residual, 1e-9);
}

TEST(KernelRidge, SameBitsForAnyNumberOfThreads) {
  const Data d = make_data(700, 20, 2, 11);
  const auto one = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.1, .run = {.threads = 1}});
  const auto two = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.1, .run = {.threads = 2}});
  EXPECT_EQ(one.dual_coef(), two.dual_coef());
  EXPECT_EQ(one.predict(d.Z, {.threads = 1}), two.predict(d.Z, {.threads = 2}));
}

TEST(KernelRidge, SparseFloatAndSingleRowInputs) {
  const Data d = make_data(90, 8, 1, 12);
  Matrix X = d.X;
  X = (X.array().abs() < 1).select(0, X);
  const CsrMatrix<double> sparse = X.sparseView();
  const auto dense = fit_kernel_ridge(X, d.Y, {.kernel = kernel, .alpha = 0.2});
  const auto csr = fit_kernel_ridge(sparse, d.Y, {.kernel = kernel, .alpha = 0.2});
  EXPECT_LT((dense.predict(d.Z) - csr.predict(d.Z)).cwiseAbs().maxCoeff(), 1e-11);
  const auto single = fit_kernel_ridge(MatrixF(X.cast<float>()), d.Y, {.kernel = kernel, .alpha = 0.2, .precision = Precision::float32});
  EXPECT_LT((dense.predict(d.Z) - single.predict(d.Z)).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LT(single.summary().residual, 1e-4);
  const auto lonely = fit_kernel_ridge(d.X.topRows(1), d.Y.topRows(1), {.kernel = kernels::gaussian(1), .alpha = 1});
  EXPECT_NEAR(lonely.predict(d.X.topRows(1))(0, 0), d.Y(0, 0) / 2, 1e-15);
  EXPECT_EQ(dense.predict(Matrix(0, 8)).rows(), 0);
}

TEST(KernelRidge, BadInputIsNamed) {
  const Data d = make_data(10, 2, 1, 13);
  EXPECT_EQ(message_of([&] { fit_kernel_ridge(d.X, d.Y, {.alpha = -1}); }), "alpha must be a finite number >= 0, got -1");
  EXPECT_EQ(message_of([&] { fit_kernel_ridge(d.X, d.Y, {.lambda = -2.0}); }), "lambda must be a finite number >= 0, got -2");
  EXPECT_EQ(message_of([&] { fit_kernel_ridge(d.X, d.Y.topRows(4)); }), "X has 10 samples but y has 4");
  EXPECT_EQ(message_of([&] { fit_kernel_ridge(d.X, d.Y, {.sample_weight = Vector::Zero(10)}); }),
            "all sample weights are zero: nothing to learn from");
  EXPECT_EQ(message_of([&] { fit_kernel_ridge(d.X, d.Y, {.sample_weight = -Vector::Ones(10)}); }),
            "sample_weight must be finite and >= 0, got -1 for sample 0");
  Matrix bad = d.Y;
  bad(7, 0) = std::nan("");
  EXPECT_NE(message_of([&] { fit_kernel_ridge(d.X, bad); }).find("y has a NaN in row 7"), std::string::npos);
  EXPECT_EQ(message_of([&] { fit_kernel_ridge(d.X, d.Y).predict(Matrix::Ones(1, 3)); }), "X has 3 columns, the model was fitted on 2");
  EXPECT_NE(message_of([&] {
              fit_kernel_ridge(Matrix::Ones(3000, 1), Matrix::Ones(3000, 1),
                               {.solver = KernelRidgeSolver::cholesky, .run = {.memory = 1'000'000}});
            }).find("kernel ridge regression on 3000 samples in float64 needs"),
            std::string::npos);
}

TEST(KernelRidge, CancelStopsTheFit) {
  const Data d = make_data(4000, 3, 1, 14);
  int calls = 0;
  const ProgressCallback stop_at_third = [&](const ProgressEvent&) { return ++calls < 3; };
  EXPECT_THROW(fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.1, .run = {.progress = stop_at_third}}), Cancelled);
  EXPECT_EQ(calls, 3);
}

TEST(KernelRidge, LearnsTheWavesOfExperimentE3) {
  const auto train = simulate::waves(100, 0.3, 0);
  Matrix grid(200, 1);
  grid.col(0) = Vector::LinSpaced(200, 0.5, 9.5);
  const Vector truth = grid.col(0).unaryExpr([](double x) { return simulate::waves_mean(x); });
  const auto model = fit_kernel_ridge(train.X, train.y, {.kernel = kernels::gaussian(0.7), .alpha = 0.1});
  EXPECT_LT(root_mean_squared_error(truth, model.predict(grid).col(0)), 0.2);
}

// Kernels that are given or written by the user go the same way as those with a name.
TEST(KernelRidge, TakesGivenGramMatricesAndOwnFunctions) {
  const Data d = make_data(300, 4, 2, 21);
  const KernelRidgeModel named = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.3, .fit_intercept = true});
  const Matrix expected = named.predict(d.Z);
  const KernelRidgeOptions options{.kernel = kernels::precomputed(), .alpha = 0.3, .fit_intercept = true};
  const Matrix K = gram(kernel, d.X);
  const Matrix C = gram(kernel, d.Z, d.X);
  const KernelRidgeModel given = fit_kernel_ridge(K, d.Y, options);
  EXPECT_LT((given.dual_coef() - named.dual_coef()).norm(), 1e-12 * named.dual_coef().norm());
  EXPECT_LT((given.predict(C) - expected).norm(), 1e-12 * expected.norm());
  EXPECT_EQ(given.samples().to_dense().size(), 0) << "the model keeps the matrix";
  // A fold of the same objects: rows of kernel values against all of them still serve.
  const std::vector<Index> some{5, 299, 17, 100, 3, 256};
  const Matrix Y = d.Y(some, Eigen::all);
  const KernelRidgeModel fold = fit_kernel_ridge(Samples::given_gram(K).subset(some), Y, options);
  const KernelRidgeModel same = fit_kernel_ridge(Matrix(d.X(some, Eigen::all)), Y, {.kernel = kernel, .alpha = 0.3, .fit_intercept = true});
  EXPECT_LT((fold.predict(C) - same.predict(d.Z)).norm(), 1e-12);

  const Kernel own = kernels::function("mine", [](const Samples& A, const Samples& B) { return gram(kernel, A, B); });
  const KernelRidgeModel function = fit_kernel_ridge(d.X, d.Y, {.kernel = own, .alpha = 0.3, .fit_intercept = true});
  EXPECT_LT((function.predict(d.Z) - expected).norm(), 1e-12 * expected.norm());
}

// White noise belongs to the samples that were seen: a prediction is of what lies below it, at training rows as elsewhere.
TEST(KernelRidge, PredictionsHaveNoWhiteNoise) {
  const Data d = make_data(50, 3, 1, 22);
  const Samples X(d.X);
  const KernelRidgeModel noisy = fit_kernel_ridge(X, d.Y, {.kernel = kernel + kernels::white(0.3), .alpha = 0});
  const KernelRidgeModel ridge = fit_kernel_ridge(X, d.Y, {.kernel = kernel, .alpha = 0.3});
  EXPECT_LT((noisy.predict(X) - ridge.predict(X)).norm(), 1e-10 * d.Y.norm());
  EXPECT_EQ(noisy.predict(X), noisy.predict(Samples(d.X)));
}

}  // namespace
}  // namespace mercer

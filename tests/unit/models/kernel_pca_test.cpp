// Kernel PCA: solvers against each other and against PCA and explicit centring, projections of new points against the definition, the
// low-rank form with all points, its growth, the whitened map, files, what is refused.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_pca.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/pca.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

using Solver = KernelPcaSolver;

Matrix data(Index n, Index p, std::uint64_t seed = 1) {
  Matrix X = RandomStream(seed).normal_matrix(n, p);
  for (Index i = 0; i < n; ++i) X(i, 0) += i % 3 == 0 ? 4 : 0;
  return X;
}

struct Oracle {
  Vector values;   // descending
  Matrix vectors;  // as columns
  Matrix K;
  double trace = 0;
};

// The centred Gram matrix written out, by Eigen.
Oracle oracle(const Kernel& kernel, const Matrix& X) {
  Oracle out;
  out.K = gram(kernel, X);
  const Index n = X.rows();
  const Matrix H = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / static_cast<double>(n));
  const Matrix C = H * out.K * H;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(C);
  out.values = eigen.eigenvalues().reverse();
  out.vectors = eigen.eigenvectors().rowwise().reverse();
  out.trace = C.trace();
  return out;
}

TEST(KernelPca, SolversGiveTheEigenpairsOfTheCentredGramMatrix) {
  const Kernel kernel = kernels::gaussian(1.5);
  const Matrix X = data(230, 3);
  const Oracle want = oracle(kernel, X);
  for (const Solver solver : {Solver::dense, Solver::krylov}) {
    const KernelPcaModel model = fit_kernel_pca(X, {.kernel = kernel, .n_components = 5, .solver = solver});
    const Matrix U = model.eigenvectors();
    for (Index j = 0; j < 5; ++j) {
      EXPECT_NEAR(model.eigenvalues()[j], want.values[j], 1e-10 * want.values[0]);
      EXPECT_NEAR(std::abs(U.col(j).dot(want.vectors.col(j))), 1, 1e-8);
      Index largest = 0;
      U.col(j).cwiseAbs().maxCoeff(&largest);
      EXPECT_GT(U(largest, j), 0);
    }
    EXPECT_NEAR(model.summary().trace, want.trace, 1e-10 * want.trace);
    EXPECT_NEAR(model.explained_variance_ratio().sum(), want.values.head(5).sum() / want.trace, 1e-9);
    // Scores of the training samples are sqrt(lambda) u.
    const Matrix Z = model.transform(X);
    EXPECT_LE((Z - U * model.eigenvalues().cwiseSqrt().asDiagonal()).cwiseAbs().maxCoeff(), 1e-8);
  }
}

// <v_j, phi(x) - mean> written out with both means, as source K 3.6 defines it.
TEST(KernelPca, NewPointsAreCentredByTheMeanOfTheTrainingPoints) {
  const Kernel kernel = kernels::polynomial(3, 0.3, 1);
  const Matrix X = data(60, 2);
  const Matrix Y = data(7, 2, 5);
  const KernelPcaModel model = fit_kernel_pca(X, {.kernel = kernel, .n_components = 4});
  const Matrix K = gram(kernel, X);
  const Matrix L = gram(kernel, Y, X);
  const Matrix U = model.eigenvectors();
  const Matrix Z = model.transform(Y);
  const Vector error = model.reconstruction_error(Y);
  const Vector kyy = gram_diagonal(kernel, Y);
  for (Index a = 0; a < Y.rows(); ++a) {
    double norm = kyy[a] - 2 * L.row(a).mean() + K.mean();
    for (Index j = 0; j < 4; ++j) {
      double score = 0;
      for (Index i = 0; i < X.rows(); ++i)
        score += U(i, j) / std::sqrt(model.eigenvalues()[j]) * (L(a, i) - L.row(a).mean() - K.row(i).mean() + K.mean());
      EXPECT_NEAR(Z(a, j), score, 1e-9 * std::sqrt(model.eigenvalues()[0]));
      norm -= score * score;
    }
    EXPECT_NEAR(error[a], norm, 1e-9 * kyy.maxCoeff());
  }
}

TEST(KernelPca, LinearKernelIsPca) {
  const Matrix X = data(80, 4);
  const Matrix Y = data(9, 4, 8);
  const PcaModel pca = fit_pca(X, {.n_components = 3});
  const KernelPcaModel model = fit_kernel_pca(X, {.kernel = kernels::linear(), .n_components = 3});
  EXPECT_LE((model.transform(Y).cwiseAbs() - pca.transform(Y).cwiseAbs()).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((model.explained_variance() - pca.explained_variance()).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LE((model.explained_variance_ratio() - pca.explained_variance_ratio()).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LE((model.reconstruction_error(Y) - pca.reconstruction_error(Y)).cwiseAbs().maxCoeff(), 1e-10);
  // No more than four directions vary.
  const KernelPcaModel all = fit_kernel_pca(X, {.kernel = kernels::linear()});
  EXPECT_EQ(all.n_components(), 4);
  EXPECT_NEAR(all.summary().explained, 1, 1e-12);
  EXPECT_LE(all.reconstruction_error(Y).maxCoeff(), 1e-10);
  const KernelPcaModel kept = fit_kernel_pca(X, {.kernel = kernels::linear(), .n_components = 6});
  EXPECT_EQ(kept.n_components(), 6);
  EXPECT_EQ(kept.eigenvalues()[5], 0);
  EXPECT_EQ(kept.transform(Y).col(5), Vector::Zero(9));
}

TEST(KernelPca, FloatGramMatrixIsRefinedInDouble) {
  const Matrix X = data(5200, 4);
  const Kernel kernel = kernels::gaussian(2.0);
  const KernelPcaModel rough = fit_kernel_pca(X, {.kernel = kernel, .n_components = 4});
  EXPECT_EQ(rough.summary().solver, "block Krylov on a stored float32 Gram matrix");
  EXPECT_LE(rough.summary().residual, 1e-5);
  const Operator K = centred(gram_operator(kernel, X, {Precision::float64, Storage::streamed}));
  const Matrix U = rough.eigenvectors();
  const Matrix apart = K->apply(U) - U * rough.eigenvalues().asDiagonal();
  EXPECT_NEAR(apart.colwise().norm().maxCoeff() / rough.eigenvalues()[0], rough.summary().residual, 1e-9);
  // Ritz values are good to the square of the residual over the gap.
  const KernelPcaModel fine = fit_kernel_pca(X, {.kernel = kernel, .n_components = 4, .tolerance = 1e-11, .run = {.memory = 60'000'000}});
  EXPECT_EQ(fine.summary().solver, "block Krylov on a streamed Gram matrix");
  EXPECT_LE(fine.summary().residual, 1e-11);
  for (Index j = 0; j < 4; ++j) EXPECT_NEAR(rough.eigenvalues()[j] / fine.eigenvalues()[j], 1, 1e-8);
}

TEST(KernelPca, ValuesThatFloat32CannotHoldAreFloat64) {
  const Matrix X = 1e3 * data(5001, 3);
  const KernelPcaModel model = fit_kernel_pca(X, {.kernel = kernels::polynomial(7, 1, 1), .n_components = 2});
  EXPECT_EQ(model.summary().solver, "block Krylov on a stored float64 Gram matrix");
  EXPECT_EQ(model.summary().status, "converged");
  EXPECT_GT(model.eigenvalues()[0], 1e38);
}

TEST(KernelPca, LowRankWithAllPointsIsExact) {
  const Kernel kernel = kernels::gaussian(1.0);
  const Matrix X = data(70, 3);
  const Matrix Y = data(11, 3, 6);
  const KernelPcaModel exact = fit_kernel_pca(X, {.kernel = kernel, .n_components = 4});
  const KernelPcaModel low = fit_kernel_pca(X, {.kernel = kernel, .n_components = 4, .solver = Solver::low_rank});
  EXPECT_EQ(low.summary().landmarks, 70);
  EXPECT_LE(low.summary().trace_error, 1e-9);
  EXPECT_LE((low.eigenvalues() - exact.eigenvalues()).cwiseAbs().maxCoeff(), 1e-9 * exact.eigenvalues()[0]);
  EXPECT_NEAR(low.summary().trace, exact.summary().trace, 1e-9 * exact.summary().trace);
  EXPECT_LE((low.transform(Y).cwiseAbs() - exact.transform(Y).cwiseAbs()).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LE((low.reconstruction_error(Y) - exact.reconstruction_error(Y)).cwiseAbs().maxCoeff(), 1e-7);
}

// With few landmarks: principal components of the explicit features L^-1 k(T, x).
TEST(KernelPca, LowRankIsPcaOfLandmarkFeatures) {
  const Kernel kernel = kernels::gaussian(1.5);
  const Matrix X = data(400, 3);
  const KernelPcaModel low = fit_kernel_pca(X, {.kernel = kernel, .n_components = 3, .solver = Solver::low_rank, .rank = 20});
  EXPECT_EQ(low.basis().size(), 20);
  const Matrix T = low.basis().to_dense();
  const Eigen::LLT<Eigen::MatrixXd> factor(gram(kernel, T));
  const Matrix Z = factor.matrixL().solve(gram(kernel, T, X)).transpose();
  const PcaModel pca = fit_pca(Z, {.n_components = 3});
  EXPECT_LE((low.eigenvalues() - 399 * pca.explained_variance()).cwiseAbs().maxCoeff(), 1e-8 * low.eigenvalues()[0]);
  EXPECT_LE((low.transform(X).cwiseAbs() - pca.transform(Z).cwiseAbs()).cwiseAbs().maxCoeff(), 1e-7);
  const double whole = gram_diagonal(kernel, X).sum();
  EXPECT_NEAR(low.summary().trace_error, (whole - Z.squaredNorm()) / low.summary().trace, 1e-8);
  // What the components leave, summed over the samples, is the trace less the eigenvalues.
  EXPECT_NEAR(low.reconstruction_error(X).sum(), low.summary().trace - low.eigenvalues().sum(), 1e-7 * low.summary().trace);
}

TEST(KernelPca, GrowthIsTheFitOnAllRowsWithTheSameLandmarks) {
  const Kernel kernel = kernels::gaussian(1.5);
  const Matrix X = data(300, 3);
  const KernelPcaModel first =
      fit_kernel_pca(Matrix(X.topRows(100)), {.kernel = kernel, .n_components = 3, .solver = Solver::low_rank, .rank = 15});
  const KernelPcaModel grown = extend_kernel_pca(first, Matrix(X.bottomRows(200)));
  const KernelPcaModel whole =
      fit_kernel_pca(X, {.kernel = kernel, .n_components = 3, .solver = Solver::low_rank, .landmarks = first.basis()});
  EXPECT_EQ(grown.summary().samples, 300);
  EXPECT_LE((grown.eigenvalues() - whole.eigenvalues()).cwiseAbs().maxCoeff(), 1e-9 * whole.eigenvalues()[0]);
  EXPECT_LE((grown.transform(X).cwiseAbs() - whole.transform(X).cwiseAbs()).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_NEAR(grown.summary().trace, whole.summary().trace, 1e-9 * whole.summary().trace);
  EXPECT_THROW(extend_kernel_pca(fit_kernel_pca(X, {.kernel = kernel, .n_components = 2}), X), NotOffered);
  EXPECT_THROW(extend_kernel_pca(first, Matrix(X.leftCols(2))), InvalidArgument);
}

// |mean + sum score v - phi(x)|^2 from the expansion's weights alone is the reconstruction error.
TEST(KernelPca, ExpansionIsTheProjectionInFeatureSpace) {
  const Kernel kernel = kernels::gaussian(1.2);
  const Matrix X = data(50, 2);
  const Matrix Y = data(6, 2, 9);
  for (const Solver solver : {Solver::dense, Solver::krylov, Solver::low_rank}) {
    for (const KernelPcaOutput output : {KernelPcaOutput::scores, KernelPcaOutput::unit_variance, KernelPcaOutput::whitened_map}) {
      if (solver == Solver::low_rank && output == KernelPcaOutput::whitened_map) continue;
      const KernelPcaModel model = fit_kernel_pca(X, {.kernel = kernel, .n_components = 4, .output = output, .solver = solver, .rank = 12});
      const Matrix G = model.expansion(model.transform(Y));
      const Matrix B = gram(kernel, model.basis());
      const Matrix C = gram(kernel, Y, model.basis());
      const Vector error = model.reconstruction_error(Y);
      for (Index a = 0; a < Y.rows(); ++a) {
        const double norm = 1 - 2 * C.row(a).dot(G.row(a)) + (G.row(a) * B * G.row(a).transpose())(0, 0);
        EXPECT_NEAR(error[a], norm, 1e-8);
      }
    }
  }
}

// Source L: products of the whitened map are the kernel, and it is K^(-1/2) k.
TEST(KernelPca, WhitenedMapAndUnitVariance) {
  const Kernel kernel = kernels::gaussian(0.7);
  const Matrix X = data(40, 3);
  const KernelPcaModel map = fit_kernel_pca(X, {.kernel = kernel, .center = false, .output = KernelPcaOutput::whitened_map});
  const Matrix K = gram(kernel, X);
  const Matrix M = map.transform(X);
  EXPECT_EQ(M.cols(), 40);
  EXPECT_LE((M * M.transpose() - K).cwiseAbs().maxCoeff(), 1e-9);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(K);
  EXPECT_LE((M - Matrix(eigen.operatorSqrt())).cwiseAbs().maxCoeff(), 1e-8);
  const KernelPcaModel white = fit_kernel_pca(X, {.kernel = kernel, .n_components = 5, .output = KernelPcaOutput::unit_variance});
  const Matrix W = white.transform(X);
  EXPECT_LE((W.transpose() * W / 39 - Matrix::Identity(5, 5)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_THROW(fit_kernel_pca(X, {.kernel = kernel, .output = KernelPcaOutput::whitened_map, .solver = Solver::low_rank}), InvalidArgument);
}

TEST(KernelPca, GivenGramMatrixAndSparseRows) {
  const Kernel kernel = kernels::gaussian(1.5);
  const Matrix X = data(60, 3);
  const Matrix Y = data(8, 3, 4);
  const KernelPcaModel want = fit_kernel_pca(X, {.kernel = kernel, .n_components = 3});
  const KernelPcaModel given = fit_kernel_pca(Samples(gram(kernel, X)), {.kernel = kernels::precomputed(), .n_components = 3});
  EXPECT_LE((given.transform(Samples(gram(kernel, Y, X))) - want.transform(Y)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_THROW(given.reconstruction_error(Samples(gram(kernel, Y, X))), NotOffered);
  const CsrMatrix<double> S = X.sparseView();
  const KernelPcaModel sparse = fit_kernel_pca(S, {.kernel = kernel, .n_components = 3});
  EXPECT_LE((sparse.transform(Y) - want.transform(Y)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(KernelPca, SameBitsForOneAndTwoThreads) {
  const Matrix X = data(700, 3);
  for (const Solver solver : {Solver::krylov, Solver::low_rank}) {
    const auto fit = [&](int threads) {
      return fit_kernel_pca(
          X, {.kernel = kernels::gaussian(1.0), .n_components = 3, .solver = solver, .rank = 40, .run = {.threads = threads}});
    };
    EXPECT_EQ(fit(1).transform(X), fit(2).transform(X));
  }
}

TEST(KernelPca, RefusesWhatItCannotDo) {
  Matrix X = data(30, 3);
  EXPECT_THROW(fit_kernel_pca(Matrix(0, 3)), InvalidArgument);
  EXPECT_THROW(fit_kernel_pca(X, {.n_components = -1}), InvalidArgument);
  EXPECT_THROW(fit_kernel_pca(X, {.kernel = kernels::gaussian(1.0) + kernels::white(0.1)}), InvalidArgument);
  EXPECT_THROW(fit_kernel_pca(X, {.kernel = kernels::sigmoid(5, -1)}), InvalidArgument);  // not positive semi-definite
  EXPECT_THROW(fit_kernel_pca(X, {.kernel = kernels::sigmoid(5, -1), .n_components = 2, .solver = KernelPcaSolver::low_rank}),
               InvalidArgument);
  EXPECT_THROW(fit_kernel_pca(X, {.kernel = kernels::sigmoid(5, -1), .n_components = 8, .solver = KernelPcaSolver::krylov}),
               InvalidArgument);
  try {  // a kernel that is one, under an offset that hides it
    fit_kernel_pca(Matrix(X.array() + 1e7), {.kernel = kernels::linear()});
    ADD_FAILURE();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("centre the columns"), std::string::npos) << error.what();
  }
  const KernelPcaModel model = fit_kernel_pca(X, {.n_components = 2});
  EXPECT_THROW(model.transform(Matrix(X.leftCols(2))), InvalidArgument);
  EXPECT_THROW(model.expansion(Matrix::Zero(1, 3)), InvalidArgument);
  const KernelPcaModel flat = fit_kernel_pca(Matrix(Matrix::Ones(5, 2)), {.kernel = kernels::gaussian(1.0)});
  EXPECT_EQ(flat.eigenvalues(), Vector::Zero(1));
  X(1, 1) = std::nan("");
  EXPECT_THROW(fit_kernel_pca(X), InvalidArgument);
}

TEST(KernelPca, CancelsAndReports) {
  int calls = 0;
  KernelPcaOptions options{.n_components = 5};
  options.run.progress = [&](const ProgressEvent&) { return ++calls < 2; };
  EXPECT_THROW(fit_kernel_pca(data(3000, 5), options), Cancelled);
}

}  // namespace
}  // namespace mercer

// Regression on landmarks against kernel ridge, dense normal equations and its own other route.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/falkon.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/kernel_ridge.hpp"
#include "mercer/random.hpp"
#include "models/landmarks.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

struct Data {
  Matrix X, Y, Z;  // training samples, targets, new samples
  Vector w;
};

Data make_data(Index n, Index targets = 1) {
  RandomStream random(static_cast<std::uint64_t>(n));
  Data d{random.normal_matrix(n, 3), 0.1 * random.normal_matrix(n, targets), random.normal_matrix(50, 3), Vector(n)};
  for (Index t = 0; t < targets; ++t) d.Y.col(t) += (d.X.col(0).array() * (1.0 + static_cast<double>(t))).sin().matrix() + d.X.col(1);
  d.Y.array() += 2;
  for (double& w : d.w) w = random.uniform() < 0.1 ? 0 : random.uniform(0.2, 3);
  return d;
}

double difference(const Matrix& a, const Matrix& b) { return (a - b).norm() / b.norm(); }

const Kernel kernel = kernels::gaussian(1.5) + 0.1 * kernels::linear();

// Rows that are not in memory as far as anybody can tell, in chunks of a size of its own.
class HiddenRows final : public RowSource {
 public:
  HiddenRows(const Data& d, Index chunk, bool weighted) : d_(d), chunk_(chunk), weighted_(weighted) {}
  Index rows() const override { return d_.X.rows(); }
  Index width() const override { return d_.X.cols(); }
  Index targets() const override { return d_.Y.cols(); }
  void for_each_chunk(Index rows, const std::function<void(const RowChunk&)>& visit) const override {
    const MemoryRows all(d_.X, d_.Y, weighted_ ? d_.w : Vector());
    ++passes;
    all.for_each_chunk(std::min(rows, chunk_), visit);
  }
  std::string describe() const override { return "hidden rows"; }
  mutable Index passes = 0;

 private:
  const Data& d_;
  Index chunk_;
  bool weighted_;
};

TEST(Falkon, WithAllRowsAsLandmarksIsKernelRidge) {
  const Data d = make_data(300, 2);
  for (const bool intercept : {false, true}) {
    for (const bool weighted : {false, true}) {
      const Vector w = weighted ? d.w : Vector();
      const auto exact = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.5, .fit_intercept = intercept, .sample_weight = w});
      for (const FalkonRoute route : {FalkonRoute::one_pass, FalkonRoute::conjugate_gradients}) {
        const auto model = fit_falkon(
            d.X, d.Y, {.kernel = kernel, .alpha = 0.5, .fit_intercept = intercept, .sample_weight = w, .route = route, .tolerance = 1e-10});
        // K_mm is singular to 1e-12. The sums are wrong by eps |G|, which whitening magnifies until the jitter stops it: half the digits
        // go.
        const double tolerance = route == FalkonRoute::one_pass ? 5e-6 : 1e-7;
        EXPECT_LT(difference(model.predict(d.Z), exact.predict(d.Z)), tolerance) << intercept << weighted << model.summary().sentence;
        EXPECT_LT((model.intercept() - exact.intercept()).cwiseAbs().maxCoeff(), 10 * tolerance);
        EXPECT_LT(model.summary().trace_error, 1e-9);
        EXPECT_EQ(model.summary().landmarks, "all rows");
      }
    }
  }
}

TEST(Falkon, SolvesTheNormalEquations) {
  const Data d = make_data(700, 3);
  FalkonOptions options{.kernel = kernel, .alpha = 2, .n_landmarks = 60, .sample_weight = d.w, .seed = 5};
  const auto model = fit_falkon(d.X, d.Y, options);
  EXPECT_EQ(model.summary().method, "one pass");
  EXPECT_EQ(model.landmarks().size(), 60);
  ASSERT_EQ(model.landmark_rows().size(), 60U);
  EXPECT_EQ(Samples(d.X).subset(model.landmark_rows()).to_dense(), model.landmarks().to_dense());
  const Matrix F = gram(kernel, d.X, model.landmarks());
  const Matrix K = gram(kernel, model.landmarks());
  const Matrix A = F.transpose() * d.w.asDiagonal() * F + 2 * K;
  const Matrix coef = A.fullPivLu().solve(F.transpose() * d.w.asDiagonal() * d.Y);
  const Matrix expected = gram(kernel, d.Z, model.landmarks()) * coef;
  EXPECT_LT(difference(model.predict(d.Z), expected), 1e-8);
  const double mse = ((F * model.dual_coef() - d.Y).cwiseAbs2().transpose() * d.w).mean() / d.w.sum();
  EXPECT_NEAR(model.summary().train_mse, mse, 1e-9 * mse);
  // Trace error by its definition.
  const Vector explained = (F * K.ldlt().solve(F.transpose())).diagonal();
  const Vector whole = gram_diagonal(kernel, d.X);
  EXPECT_NEAR(model.summary().trace_error, 1 - explained.sum() / whole.sum(), 1e-9);

  options.lambda = 2.0 / 700;
  EXPECT_EQ(fit_falkon(d.X, d.Y, options).dual_coef(), model.dual_coef());
}

TEST(Falkon, BothRoutesAgree) {
  const Data d = make_data(900, 2);
  for (const bool intercept : {false, true}) {
    FalkonOptions options{.kernel = kernel,
                          .alpha = 0.3,
                          .n_landmarks = 120,
                          .fit_intercept = intercept,
                          .sample_weight = d.w,
                          .route = FalkonRoute::one_pass,
                          .tolerance = 1e-8};
    const auto direct = fit_falkon(d.X, d.Y, options);
    options.route = FalkonRoute::conjugate_gradients;
    const auto iterated = fit_falkon(d.X, d.Y, options);
    EXPECT_LT(difference(iterated.predict(d.Z), direct.predict(d.Z)), 1e-6);
    EXPECT_TRUE(iterated.summary().converged) << iterated.summary().sentence;
    EXPECT_LT(iterated.summary().iterations, 80);  // fewer than unknowns, of a system with a condition beyond 1e6 without preconditioner
    EXPECT_LE(iterated.summary().residual, 1e-7);
    EXPECT_NEAR(iterated.summary().train_mse, direct.summary().train_mse, 1e-5 * direct.summary().train_mse);
    // One iteration cannot be enough, and is said not to be.
    options.max_iterations = 1;
    const auto stopped = fit_falkon(d.X, d.Y, options);
    EXPECT_FALSE(stopped.summary().converged);
    EXPECT_NE(stopped.summary().sentence.find("stopped at the iteration limit"), std::string::npos);
  }
}

TEST(Falkon, RowsInChunksGiveTheSameAnswer) {
  const Data d = make_data(1500);
  for (const FalkonRoute route : {FalkonRoute::one_pass, FalkonRoute::conjugate_gradients}) {
    for (const LandmarkMethod method :
         {LandmarkMethod::uniform, LandmarkMethod::kmeans, LandmarkMethod::leverage, LandmarkMethod::rpcholesky}) {
      FalkonOptions options{.n_landmarks = 50, .landmarks = method, .route = route, .tolerance = 1e-10, .validation = 0.2, .seed = 3};
      const HiddenRows hidden(d, 333, true);
      const auto chunked = fit_falkon(hidden, options);
      options.sample_weight = d.w;
      const auto whole = fit_falkon(d.X, d.Y, options);
      EXPECT_EQ(chunked.kernel().text(), whole.kernel().text());  // the automatic length scale too
      EXPECT_EQ(chunked.landmark_rows(), whole.landmark_rows());
      EXPECT_LT(difference(chunked.predict(d.Z), whole.predict(d.Z)), 1e-7) << name_of(method);
      EXPECT_EQ(chunked.summary().validation_rows, whole.summary().validation_rows);
      EXPECT_NEAR(chunked.summary().validation_mse, whole.summary().validation_mse, 1e-7);
      EXPECT_EQ(hidden.passes, chunked.summary().passes);
    }
  }
}

TEST(Falkon, KeepsRowsOutToMeasureItself) {
  const Data d = make_data(2000);
  const auto model = fit_falkon(d.X, d.Y, {.kernel = kernel, .alpha = 0.1, .n_landmarks = 200, .validation = 0.25});
  const FalkonSummary& s = model.summary();
  EXPECT_EQ(s.rows + s.validation_rows, 2000);
  EXPECT_NEAR(static_cast<double>(s.validation_rows), 500, 4 * std::sqrt(2000 * 0.25 * 0.75));  // four deviations of a binomial
  // Noise of deviation 0.1: the error on new rows is a bit above 0.01 of a variance of about 1.4.
  EXPECT_GT(s.validation_mse, 0.008);
  EXPECT_LT(s.validation_mse, 0.02);
  EXPECT_NEAR(s.validation_r2, 1 - s.validation_mse / 1.4, 0.01);
  EXPECT_LT(s.train_mse, s.validation_mse);
  const auto whole = fit_falkon(d.X, d.Y, {.kernel = kernel, .alpha = 0.1, .n_landmarks = 200});
  EXPECT_EQ(whole.summary().validation_rows, 0);
}

TEST(Falkon, PrecisionsAgree) {
  const Data d = make_data(6000);
  FalkonOptions options{.kernel = kernels::gaussian(0.7), .alpha = 1, .n_landmarks = 80, .precision = Precision::float64};
  const auto exact = fit_falkon(d.X, d.Y, options);
  EXPECT_EQ(exact.summary().rounding, 0);
  for (const FalkonRoute route : {FalkonRoute::one_pass, FalkonRoute::conjugate_gradients}) {
    options.precision = Precision::float32;
    options.route = route;
    const auto single = fit_falkon(d.X, d.Y, options);
    EXPECT_EQ(single.precision(), Precision::float32);
    EXPECT_LT(single.summary().rounding, 1e-3);
    const double error = (single.predict(d.Z) - exact.predict(d.Z)).cwiseAbs().maxCoeff();
    EXPECT_LT(error, route == FalkonRoute::one_pass ? 1e-3 : 3e-3) << single.summary().sentence;  // of a spread of 1.2
  }
}

TEST(Falkon, PrecisionIsChosenByNumberAndCondition) {
  const Data d = make_data(130000);
  FalkonOptions options{.kernel = kernels::gaussian(0.5), .n_landmarks = 80};
  const auto rough = fit_falkon(d.X, d.Y, options);  // ten million kernel values, landmarks far apart
  EXPECT_EQ(rough.precision(), Precision::float32) << rough.summary().sentence;
  EXPECT_EQ(rough.summary().sums_precision, Precision::float32);
  // K_mm is singular to rounding, but alpha damps what float32 gets wrong.
  options.kernel = kernels::gaussian(20);
  const auto damped = fit_falkon(d.X, d.Y, options);
  options.precision = Precision::float64;
  EXPECT_EQ(damped.precision(), Precision::float32);
  EXPECT_EQ(damped.summary().sums_precision, Precision::float64);
  // As far apart as the summary expects; the largest of the differences is the rounding's own, and other on other processors.
  const Matrix apart = damped.predict(d.Z) - fit_falkon(d.X, d.Y, options).predict(d.Z);
  const double spread = std::sqrt((d.Y.array() - d.Y.mean()).square().mean());
  EXPECT_LT(std::sqrt(apart.array().square().mean()), 1.5 * damped.summary().rounding * spread);
  // A small alpha damps nothing.
  options.precision.reset();
  options.alpha = 1e-6;
  EXPECT_EQ(fit_falkon(d.X, d.Y, options).precision(), Precision::float64);
  options.n_landmarks = 8;
  options.kernel = kernels::gaussian(0.5);
  EXPECT_EQ(fit_falkon(d.X, d.Y, options).precision(), Precision::float64);  // few values
}

TEST(Falkon, NearlySingularLandmarks) {
  // A very smooth kernel in one dimension: K_mm has a numerical rank of about ten out of 100, and spans what all rows span.
  const Matrix X = RandomStream(1).normal_matrix(1000, 1);
  const Matrix y = X.array().sin();
  const Matrix Z = Vector::LinSpaced(50, -2, 2);
  const Matrix exact = fit_kernel_ridge(X, y, {.kernel = kernels::gaussian(3), .alpha = 1e-4}).predict(Z);
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    const auto model = fit_falkon(X, y, {.kernel = kernels::gaussian(3), .alpha = 1e-4, .n_landmarks = 100, .precision = precision});
    EXPECT_LT((model.predict(Z) - exact).cwiseAbs().maxCoeff(), precision == Precision::float64 ? 1e-4 : 2e-2) << model.summary().sentence;
    EXPECT_EQ(model.summary().sums_precision, Precision::float64);
  }
}

TEST(Falkon, LeverageScoresOfAllRowsAreExact) {
  const Data d = make_data(200);
  std::vector<Index> all(200);
  std::iota(all.begin(), all.end(), Index{0});
  const Vector scores = approximate_leverage(kernel, d.X, all, 0.7, 200, {});
  const Matrix K = gram(kernel, d.X);
  Matrix A = K;
  A.diagonal().array() += 0.7;
  EXPECT_LT((scores - Vector((A.ldlt().solve(K)).diagonal())).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Falkon, ChosenLandmarksLeaveOutLessThanUniformOnes) {
  // Most rows in one tight cluster: 30 uniform rows hardly see the 5 % that are spread widely.
  RandomStream random(2);
  Matrix X = 0.05 * random.normal_matrix(2000, 2);
  for (Index i = 0; i < 100; ++i) X.row(20 * i) = 4 * random.normal_matrix(1, 2);
  const Matrix y = X.col(0);
  const auto error = [&](LandmarkMethod method) {
    return fit_falkon(X, y, {.kernel = kernels::gaussian(1), .alpha = 0.1, .n_landmarks = 30, .landmarks = method, .seed = 1})
        .summary()
        .trace_error;
  };
  const double uniform = error(LandmarkMethod::uniform);
  EXPECT_GT(uniform, 0.02);
  EXPECT_LT(error(LandmarkMethod::kmeans), 0.7 * uniform);
  EXPECT_LT(error(LandmarkMethod::leverage), 0.8 * uniform);
  EXPECT_LT(error(LandmarkMethod::rpcholesky), 0.7 * uniform);
}

TEST(Falkon, GivenLandmarksAndSparseRows) {
  const Data d = make_data(400);
  const Matrix landmarks = RandomStream(9).normal_matrix(25, 3);
  const auto model = fit_falkon(d.X, d.Y, {.kernel = kernel, .given_landmarks = Samples(landmarks)});
  EXPECT_EQ(model.landmarks().to_dense(), landmarks);
  EXPECT_TRUE(model.landmark_rows().empty());
  EXPECT_EQ(model.summary().landmarks, "given");
  const CsrMatrix<double> sparse = d.X.sparseView();
  const auto dense_model = fit_falkon(d.X, d.Y, {.kernel = kernel, .n_landmarks = 40});
  const auto sparse_model = fit_falkon(sparse, d.Y, {.kernel = kernel, .n_landmarks = 40});
  EXPECT_LT(difference(sparse_model.predict(d.Z), dense_model.predict(d.Z)), 1e-9);
  const auto message = message_of([&] { fit_falkon(sparse, d.Y, {.n_landmarks = 40, .landmarks = LandmarkMethod::kmeans}); });
  EXPECT_NE(message.find("need dense rows"), std::string::npos) << message;
}

TEST(Falkon, GivenGramMatrix) {
  const Data d = make_data(250);
  const Kernel gaussian = kernels::gaussian(1.5);
  const Matrix K = gram(gaussian, d.X);
  const auto by_rows = fit_falkon(d.X, d.Y, {.kernel = gaussian, .n_landmarks = 50});
  const auto by_gram = fit_falkon(K, d.Y, {.kernel = kernels::precomputed(), .n_landmarks = 50});
  EXPECT_LT(difference(by_gram.predict(gram(gaussian, d.Z, d.X)), by_rows.predict(d.Z)), 1e-9);
}

TEST(Falkon, SumsOfPartsMerge) {
  const Data d = make_data(800, 2);
  const Samples landmarks = Samples(d.X).slice(0, 70);
  const MemoryRows all(d.X, d.Y, d.w);
  const Samples X(d.X);
  LandmarkSums left = landmark_sums(kernel, landmarks, MemoryRows(X.slice(0, 300), d.Y.topRows(300), d.w.head(300)));
  const LandmarkSums right = landmark_sums(kernel, landmarks, MemoryRows(X.slice(300, 500), d.Y.bottomRows(500), d.w.tail(500)));
  left.merge(LandmarkSums::from_bytes(right.to_bytes()));
  const auto merged = solve_landmark_sums(kernel, landmarks, left, 0.5, true);
  const auto whole = fit_falkon(all, {.kernel = kernel, .alpha = 0.5, .given_landmarks = landmarks, .fit_intercept = true});
  EXPECT_LT(difference(merged.predict(d.Z), whole.predict(d.Z)), 1e-9);
  // By the sums: weighted, and with their rounding magnified.
  const Matrix K = gram(kernel, landmarks);
  const Matrix F = gram(kernel, d.X, landmarks);
  const double explained = (F * K.ldlt().solve(F.transpose())).diagonal().dot(d.w);
  EXPECT_NEAR(merged.summary().trace_error, 1 - explained / gram_diagonal(kernel, d.X).dot(d.w), 1e-7);
  EXPECT_THROW(LandmarkSums::from_bytes("short"), InvalidArgument);
  EXPECT_THROW(solve_landmark_sums(kernel, landmarks.slice(0, 3), left, 0.5), InvalidArgument);
}

// y + offset has the same error with an intercept, to the rounding of the targets themselves.
TEST(Falkon, TargetsFarFromZero) {
  const Data d = make_data(600, 2);
  const Kernel local = kernels::gaussian(1.5);
  for (const FalkonRoute route : {FalkonRoute::one_pass, FalkonRoute::conjugate_gradients}) {
    FalkonOptions options{.kernel = local, .n_landmarks = 60, .fit_intercept = true, .route = route, .tolerance = 1e-10, .validation = 0.2};
    const auto plain = fit_falkon(d.X, d.Y, options).summary();
    for (const double offset : {1e7, -1e9}) {
      const auto far = fit_falkon(d.X, d.Y.array() + offset, options).summary();
      EXPECT_NEAR(far.train_mse, plain.train_mse, 1e-6 * plain.train_mse) << offset;
      EXPECT_NEAR(far.validation_mse, plain.validation_mse, 1e-5 * plain.validation_mse) << offset;  // the intercept is rounded to 1e-7
      EXPECT_NEAR(far.validation_r2, plain.validation_r2, 1e-5) << offset;
    }
  }
}

TEST(Falkon, SameBitsForAnyNumberOfThreads) {
  const Data d = make_data(3000);
  for (const FalkonRoute route : {FalkonRoute::one_pass, FalkonRoute::conjugate_gradients}) {
    FalkonOptions options{
        .kernel = kernel, .n_landmarks = 300, .landmarks = LandmarkMethod::leverage, .route = route, .run = {.threads = 1}};
    const auto one = fit_falkon(d.X, d.Y, options);
    options.run.threads = 2;
    EXPECT_EQ(fit_falkon(d.X, d.Y, options).dual_coef(), one.dual_coef());
  }
}

TEST(Falkon, EdgesOfWhatCanBeFitted) {
  // One row, equal rows, a constant target, alpha = 0.
  EXPECT_NEAR(fit_falkon(Matrix::Ones(1, 2), Matrix::Constant(1, 1, 4), {.kernel = kernels::gaussian(1), .alpha = 1})
                  .predict(Matrix::Ones(1, 2))(0, 0),
              2, 1e-9);
  const auto same =
      fit_falkon(Matrix::Ones(40, 2), Matrix::Constant(40, 1, 3), {.kernel = kernels::gaussian(1), .alpha = 1e-6, .n_landmarks = 10});
  EXPECT_NEAR(same.predict(Matrix::Ones(1, 2))(0, 0), 3, 1e-5);
  const Data d = make_data(60);
  for (const FalkonRoute route : {FalkonRoute::one_pass, FalkonRoute::conjugate_gradients}) {
    const auto model = fit_falkon(d.X, d.Y, {.kernel = kernels::gaussian(1), .alpha = 0, .n_landmarks = 60, .route = route});
    EXPECT_LT((model.predict(d.X) - d.Y).cwiseAbs().maxCoeff(), 1e-3) << model.summary().sentence;  // interpolates
  }
  EXPECT_EQ(fit_falkon(d.X, d.Y, {.kernel = kernel}).predict(Matrix(0, 3)).rows(), 0);
}

TEST(Falkon, MisuseIsNamed) {
  const Data d = make_data(30);
  const auto fails = [&](const FalkonOptions& options, const std::string& words) {
    const std::string message = message_of([&] { fit_falkon(d.X, d.Y, options); });
    EXPECT_NE(message.find(words), std::string::npos) << message << " should say " << words;
  };
  fails({.alpha = -1}, "alpha must be a finite number >= 0, got -1");
  fails({.n_landmarks = 0}, "n_landmarks must be >= 1, got 0");
  fails({.tolerance = 0}, "tolerance must be");
  fails({.max_iterations = 0}, "max_iterations must be >= 1");
  fails({.validation = 1}, "validation must be in [0, 1), got 1");
  fails({.given_landmarks = Samples(Matrix(Matrix::Ones(3, 2)))}, "the given landmarks have 2 columns, X has 3");
  fails({.sample_weight = Vector::Ones(3)}, "sample_weight has 3 numbers for 30 samples");
  fails({.sample_weight = Vector::Zero(30)}, "all sample weights are zero");
  fails({.kernel = kernels::gaussian(1), .n_landmarks = 30, .run = {.memory = 1000}}, "use fewer landmarks");
  fails({.kernel = kernels::sigmoid(1, -1)}, "not positive semi-definite");
  const Kernel noisy = kernel + kernels::white(0.1);
  fails({.kernel = noisy}, "take the white part out, the penalty alpha plays its part");
  EXPECT_THROW(landmark_sums(noisy, d.X.topRows(5), MemoryRows(d.X, d.Y)), InvalidArgument);
  EXPECT_THROW(fit_falkon(d.X, d.Y.topRows(3)), InvalidArgument);
  EXPECT_THROW(fit_falkon(Matrix(0, 3), Matrix(0, 1)), InvalidArgument);
  Matrix nan = d.X;
  nan(3, 1) = std::nan("");
  EXPECT_THROW(fit_falkon(nan, d.Y), InvalidArgument);
  EXPECT_THROW(fit_falkon(d.X, d.Y).predict(Matrix(2, 4)), InvalidArgument);
}

}  // namespace
}  // namespace mercer

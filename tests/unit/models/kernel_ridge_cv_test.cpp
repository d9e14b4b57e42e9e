// The path of kernel ridge against refits: every leave-one-out number, GCV, evidence and degrees of freedom from their definitions.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_ridge_cv.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

struct Data {
  Matrix X, Y, Z;
};

Data make_data(Index n, Index d, Index targets, std::uint64_t seed) {
  RandomStream random(seed);
  Data data{random.normal_matrix(n, d), 0.3 * random.normal_matrix(n, targets), random.normal_matrix(20, d)};
  for (Index t = 0; t < targets; ++t) data.Y.col(t) += (2 * data.X.col(t % d)).array().sin().matrix() + Vector::Constant(n, 2.0);
  return data;
}

const Kernel kernel = kernels::gaussian(1.2) + 0.1 * kernels::linear();

std::vector<Index> all_but(Index n, Index left_out) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  rows.erase(rows.begin() + left_out);
  return rows;
}

// n refits by the other solver.
Matrix refitted_residuals(const Samples& X, const Matrix& Y, KernelRidgeOptions o) {
  Matrix out(Y.rows(), Y.cols());
  const Vector weight = o.sample_weight;
  for (Index i = 0; i < Y.rows(); ++i) {
    const std::vector<Index> rest = all_but(Y.rows(), i);
    if (weight.size() > 0) o.sample_weight = weight(rest);
    const KernelRidgeModel model = fit_kernel_ridge(X.subset(rest), Matrix(Y(rest, Eigen::all)), o);
    const std::vector<Index> one{i};
    out.row(i) = Y.row(i) - model.predict(X.subset(one)).row(0);
  }
  return out;
}

TEST(KernelRidgeCv, LeaveOneOutEqualsRefits) {
  const Data d = make_data(70, 3, 2, 1);
  Vector weight = RandomStream(2).normal_matrix(70, 1).cwiseAbs().array() + 0.05;
  for (const PathMethod method : {PathMethod::band, PathMethod::eigen}) {
    for (const bool intercept : {false, true}) {
      for (const Vector& w : {Vector(), weight}) {
        const std::vector<double> alphas{1e-5, 0.01, 1, 50};
        const auto result = fit_kernel_ridge_cv(d.X, d.Y,
                                                {.kernels = {kernel},
                                                 .alphas = alphas,
                                                 .fit_intercept = intercept,
                                                 .sample_weight = w,
                                                 .keep_residuals = true,
                                                 .method = method});
        ASSERT_EQ(result.points().size(), 4U);
        for (const PathPoint& point : result.points()) {
          const Matrix expected =
              refitted_residuals(d.X, d.Y, {.kernel = kernel, .alpha = point.alpha, .fit_intercept = intercept, .sample_weight = w});
          EXPECT_LT((point.residuals - expected).cwiseAbs().maxCoeff(), 1e-8) << point.alpha << intercept << w.size();
          const Vector ones = w.size() > 0 ? w : Vector(Vector::Ones(70));
          const double error = (expected.cwiseAbs2().transpose() * ones).mean() / ones.sum();
          EXPECT_NEAR(point.leave_one_out_error, error, 1e-8 * error);
          EXPECT_NEAR(point.score, -error, 1e-8 * error);
        }
      }
    }
  }
}

TEST(KernelRidgeCv, GivenGramMatricesAndZeroWeights) {
  const Data d = make_data(60, 3, 1, 3);
  const Matrix K = gram(kernel, d.X);
  Vector w = Vector::Ones(60);
  w[4] = 0;
  w[59] = 0;
  w[10] = 3;
  const KernelRidgeCvOptions options{.kernels = {kernels::precomputed()}, .alphas = {0.1}, .fit_intercept = true, .sample_weight = w};
  const auto given = fit_kernel_ridge_cv(K, d.Y, options);
  const Matrix expected = refitted_residuals(d.X, d.Y, {.kernel = kernel, .alpha = 0.1, .fit_intercept = true, .sample_weight = w});
  EXPECT_LT((given.leave_one_out_residuals() - expected).cwiseAbs().maxCoeff(), 1e-8);  // those of weight zero too
  const auto direct = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.1, .fit_intercept = true, .sample_weight = w});
  EXPECT_LT((given.model().predict(gram(kernel, d.Z, d.X)) - direct.predict(d.Z)).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_EQ(given.model().dual_coef()(4, 0), 0);
  EXPECT_LT(given.model().summary().residual, 1e-12);
}

// GCV, degrees of freedom and evidence by dense algebra on the hat matrix and the covariance.
TEST(KernelRidgeCv, CriteriaFromTheirDefinitions) {
  const Index n = 50;
  const Data d = make_data(n, 2, 1, 4);
  const Vector w = RandomStream(5).normal_matrix(n, 1).cwiseAbs().array() + 0.2;
  const Matrix K = gram(kernel, d.X);
  const double alpha = 0.3;
  const Vector y = d.Y.col(0);
  const Matrix C = K + alpha * Matrix(w.cwiseInverse().asDiagonal());
  const Matrix inverse = C.inverse();
  const double log_det = 2 * Eigen::LLT<Matrix>(C).matrixLLT().diagonal().array().log().sum();
  for (const bool intercept : {false, true}) {
    const auto point =
        fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {kernel}, .alphas = {alpha}, .fit_intercept = intercept, .sample_weight = w}).points()[0];
    const Vector ones = Vector::Ones(n);
    Matrix P = inverse;
    double precision = 1;
    if (intercept) {
      precision = ones.dot(inverse * ones);
      P -= inverse * ones * ones.transpose() * inverse / precision;
    }
    // The largest over v of log N(y; 0, v C), or of its integral over b of N(y; b 1, v C), looked for on a fine grid.
    double evidence = -std::numeric_limits<double>::infinity();
    for (double log_v = -8; log_v < 8; log_v += 1e-4) {
      const double v = std::exp(log_v);
      double value = -0.5 * (log_det + static_cast<double>(n) * (log_v + std::log(2 * std::numbers::pi))) - 0.5 * y.dot(P * y) / v;
      if (intercept) value += 0.5 * std::log(2 * std::numbers::pi * v / precision);
      evidence = std::max(evidence, value);
    }
    // Residuals of the fit are alpha W^-1 P y.
    const Vector residuals = alpha * w.cwiseInverse().cwiseProduct(P * y);
    const double df = static_cast<double>(n) - alpha * (P * Matrix(w.cwiseInverse().asDiagonal())).trace();
    const double gcv = residuals.cwiseAbs2().dot(w) / w.sum() / std::pow(1 - df / static_cast<double>(n), 2);
    EXPECT_NEAR(point.degrees_of_freedom, df, 1e-9);
    EXPECT_NEAR(point.gcv, gcv, 1e-10 * gcv);
    EXPECT_NEAR(point.log_evidence, evidence, 50 * 1e-8);  // a grid of 1e-4 misses the top by (n / 4) 1e-8 at most
  }
}

TEST(KernelRidgeCv, EveryCriterionChoosesItsBest) {
  const Data d = make_data(80, 2, 2, 6);
  const std::vector<Kernel> kernels{kernels::gaussian(0.2), kernels::gaussian(1), kernels::linear()};
  for (const PathCriterion criterion : {PathCriterion::leave_one_out, PathCriterion::gcv, PathCriterion::log_evidence}) {
    const auto result = fit_kernel_ridge_cv(d.X, d.Y, {.kernels = kernels, .n_alphas = 12, .criterion = criterion, .fit_intercept = true});
    ASSERT_EQ(result.points().size(), 36U);
    double best = -1e300;
    for (const PathPoint& p : result.points()) {
      const double value = criterion == PathCriterion::leave_one_out ? -p.leave_one_out_error
                           : criterion == PathCriterion::gcv         ? -p.gcv
                                                                     : p.log_evidence;
      EXPECT_EQ(p.score, value);
      best = std::max(best, value);
    }
    EXPECT_EQ(result.best_score(), best);
    EXPECT_EQ(result.best_kernel(), 1);
    EXPECT_EQ(result.model().kernel().text(), kernels[1].text());
    EXPECT_LT(result.model().summary().residual, 1e-11);
  }
}

TEST(KernelRidgeCv, TheModelIsTheRefitAndResidualsBelongToIt) {
  const Data d = make_data(90, 3, 3, 7);
  for (const bool per_target : {false, true}) {
    const auto result = fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {kernel}, .alpha_per_target = per_target, .fit_intercept = true});
    const auto refit = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha_per_target = result.best_alpha(), .fit_intercept = true});
    EXPECT_LT((result.model().predict(d.Z) - refit.predict(d.Z)).cwiseAbs().maxCoeff(), 1e-8);
    const Matrix expected =
        refitted_residuals(d.X, d.Y, {.kernel = kernel, .alpha_per_target = result.best_alpha(), .fit_intercept = true});
    EXPECT_LT((result.leave_one_out_residuals() - expected).cwiseAbs().maxCoeff(), 1e-8);
    for (Index t = 0; per_target && t < 3; ++t) {
      const auto alone = fit_kernel_ridge_cv(d.X, Matrix(d.Y.col(t)), {.kernels = {kernel}, .fit_intercept = true});
      EXPECT_NEAR(alone.best_alpha()[0], result.best_alpha()[t], 1e-12 * result.best_alpha()[t]);
    }
  }
}

// Folds: the same mean squared errors as fits on each training part, for K-fold, grouped and time folds.
TEST(KernelRidgeCv, FoldsEqualRefits) {
  const Data d = make_data(64, 3, 2, 8);
  const Vector w = RandomStream(9).normal_matrix(64, 1).cwiseAbs().array() + 0.2;
  std::vector<Index> groups;
  for (Index i = 0; i < 64; ++i) groups.push_back(i % 7);
  for (const auto& folds : {k_folds(64, 5, false), grouped_folds(groups, 3), time_folds(64, 4)}) {
    for (const bool intercept : {false, true}) {
      const auto result = fit_kernel_ridge_cv(d.X, d.Y,
                                              {.kernels = {kernel, kernels::laplacian(2.0)},
                                               .alphas = {0.0, 0.1, 3},
                                               .folds = folds,
                                               .fit_intercept = intercept,
                                               .sample_weight = w,
                                               .keep_residuals = true});
      ASSERT_EQ(result.points().size(), 6U);
      for (const PathPoint& point : result.points()) {
        const Kernel& k = result.kernels()[static_cast<std::size_t>(point.kernel)];
        for (std::size_t f = 0; f < folds.size(); ++f) {
          const auto part =
              fit_kernel_ridge(Samples(d.X).subset(folds[f].train), Matrix(d.Y(folds[f].train, Eigen::all)),
                               {.kernel = k, .alpha = point.alpha, .fit_intercept = intercept, .sample_weight = w(folds[f].train)});
          const Matrix r = d.Y(folds[f].test, Eigen::all) - part.predict(Samples(d.X).subset(folds[f].test));
          const Vector wt = w(folds[f].test);
          EXPECT_LT((point.residuals(folds[f].test, Eigen::all) - r).cwiseAbs().maxCoeff(), 1e-8) << point.alpha;
          EXPECT_NEAR(point.fold_scores[static_cast<Index>(f)], -(r.cwiseAbs2().transpose() * wt).mean() / wt.sum(), 1e-8);
        }
        EXPECT_NEAR(point.score, point.fold_scores.mean(), 1e-12);
      }
      EXPECT_EQ(result.leave_one_out_residuals().size(), 0);
    }
  }
}

TEST(KernelRidgeCv, LeaveOneOutIsNFoldsOfOne) {
  const Data d = make_data(30, 2, 1, 10);
  const auto folds = k_folds(30, 30, false);
  const auto by_folds = fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {kernel}, .n_alphas = 5, .folds = folds, .fit_intercept = true});
  const auto exact = fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {kernel}, .n_alphas = 5, .fit_intercept = true});
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(by_folds.points()[k].alpha, exact.points()[k].alpha, 1e-9 * exact.points()[k].alpha);
    EXPECT_NEAR(by_folds.points()[k].score, exact.points()[k].score, 1e-8 * std::abs(exact.points()[k].score));
  }
}

// alpha = 0 on singular matrices: the residuals of refitted least-norm solutions, where the limit of small alphas lies too.
TEST(KernelRidgeCv, AlphaZeroIsTheLeastNormSolution) {
  const Data d = make_data(25, 3, 1, 11);
  for (const bool intercept : {false, true}) {
    for (const Kernel& k : {kernels::linear(), kernels::gaussian(1.5)}) {
      const auto result =
          fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {k}, .alphas = {0.0, 10}, .fit_intercept = intercept, .keep_residuals = true});
      const PathPoint& zero = result.points()[0];
      ASSERT_TRUE(zero.valid);
      const Matrix expected = refitted_residuals(d.X, d.Y, {.kernel = k, .alpha = 0, .fit_intercept = intercept});
      // The condition number of the Gaussian's matrix is 1e7 here.
      EXPECT_LT((zero.residuals - expected).cwiseAbs().maxCoeff(), 1e-7 * expected.cwiseAbs().maxCoeff()) << k.text() << intercept;
      EXPECT_EQ(zero.note.empty(), k.text() != "linear");
      if (k.text() == "linear") {
        EXPECT_NEAR(zero.degrees_of_freedom, intercept ? 4 : 3, 1e-9);
        EXPECT_EQ(zero.log_evidence, -std::numeric_limits<double>::infinity());
      } else {
        EXPECT_NEAR(zero.degrees_of_freedom, 25, 1e-9);
      }
    }
  }
}

TEST(KernelRidgeCv, IndefinitePointsAreSkippedAndSaid) {
  const Data d = make_data(40, 3, 1, 12);
  const Kernel indefinite = kernels::gaussian(1) + -0.5 * kernels::constant(1.0);
  const auto result = fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {indefinite}, .alphas = {0.001, 0, 1000}});
  EXPECT_FALSE(result.points()[0].valid);
  EXPECT_TRUE(std::isnan(result.points()[0].score) && std::isnan(result.points()[0].gcv));
  EXPECT_NE(result.points()[0].note.find("not positive definite"), std::string::npos);
  EXPECT_FALSE(result.points()[1].valid);
  EXPECT_TRUE(result.points()[2].valid);
  EXPECT_EQ(result.best_alpha()[0], 1000);
  EXPECT_NE(result.summary().sentence.find("2 skipped"), std::string::npos);
  EXPECT_NE(message_of([&] {
              fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {-1.0 * kernels::gaussian(1)}, .alphas = {0.001}});
            }).find("no alpha makes K + alpha I positive definite"),
            std::string::npos);
}

TEST(KernelRidgeCv, TheAutomaticGridSpansTheSpectrum) {
  const Data d = make_data(60, 2, 1, 13);
  const Kernel k = kernels::laplacian(1.0);
  const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(gram(k, d.X)).eigenvalues();
  const auto result = fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {k}});
  ASSERT_EQ(result.points().size(), 30U);
  EXPECT_NEAR(result.points().back().alpha / values[59], 1, 0.02);
  EXPECT_NEAR(result.points().front().alpha / (0.1 * values[0]), 1, 0.15);
  const auto smooth = fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {kernels::gaussian(3)}});
  EXPECT_NEAR(smooth.points().front().alpha / smooth.points().back().alpha, 1e-10, 1e-12);
  for (const PathPoint& point : smooth.points()) EXPECT_TRUE(point.valid) << point.alpha;
}

TEST(KernelRidgeCv, SameBitsForAnyNumberOfThreads) {
  const Data d = make_data(400, 5, 1, 14);
  const auto one = fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {kernel}, .n_alphas = 4, .run = {.threads = 1}});
  const auto two = fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {kernel}, .n_alphas = 4, .run = {.threads = 2}});
  EXPECT_EQ(one.model().dual_coef(), two.model().dual_coef());
  EXPECT_EQ(one.leave_one_out_residuals(), two.leave_one_out_residuals());
}

TEST(KernelRidgeCv, SmallAndDegenerateInputs) {
  const Data d = make_data(3, 2, 1, 15);
  const auto lonely = fit_kernel_ridge_cv(d.X.topRows(1), d.Y.topRows(1), {.kernels = {kernels::gaussian(1)}, .alphas = {1}});
  EXPECT_DOUBLE_EQ(lonely.leave_one_out_residuals()(0, 0), d.Y(0, 0));  // nothing left: the prediction is 0
  EXPECT_NE(message_of([&] { fit_kernel_ridge_cv(d.X.topRows(1), d.Y.topRows(1), {.fit_intercept = true}); }).find("at least 2 samples"),
            std::string::npos);
  const auto two = fit_kernel_ridge_cv(d.X.topRows(2), d.Y.topRows(2), {.kernels = {kernels::gaussian(1)}, .fit_intercept = true});
  EXPECT_NEAR(two.leave_one_out_residuals()(0, 0), d.Y(0, 0) - d.Y(1, 0), 1e-12);  // the other one's value
  const Matrix same = Matrix::Ones(20, 1);                                         // all samples alike
  const auto flat = fit_kernel_ridge_cv(same, RandomStream(1).normal_matrix(20, 1), {.kernels = {kernels::gaussian(1)}});
  EXPECT_TRUE(flat.model().dual_coef().allFinite());
  const auto zero = fit_kernel_ridge_cv(Matrix::Zero(20, 2), RandomStream(1).normal_matrix(20, 1), {.kernels = {kernels::linear()}});
  EXPECT_EQ(zero.model().predict(Matrix::Ones(1, 2))(0, 0), 0);
}

TEST(KernelRidgeCv, BadInputIsNamed) {
  const Data d = make_data(10, 2, 1, 16);
  EXPECT_EQ(message_of([&] { fit_kernel_ridge_cv(d.X, d.Y, {.alphas = {1, -2}}); }), "alphas must be finite numbers >= 0, got -2");
  EXPECT_EQ(message_of([&] { fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {}}); }), "there are no kernels to choose from: give at least one");
  EXPECT_EQ(message_of([&] { fit_kernel_ridge_cv(d.X, d.Y, {.n_alphas = 0}); }), "the number of alphas must lie in 1 .. 100000, got 0");
  EXPECT_EQ(message_of([&] { fit_kernel_ridge_cv(d.X, d.Y, {.folds = {{{0, 1}, {1}}}}); }), "fold 1 has sample 1 twice");
  EXPECT_EQ(message_of([&] {
              fit_kernel_ridge_cv(d.X, d.Y, {.folds = {{{0, 10}, {1}}}});
            }),
            "fold 1 names sample 10, which is outside 0 .. 9");
  EXPECT_NE(message_of([&] { fit_kernel_ridge_cv(d.X, d.Y, {.folds = {{{}, {1}}}}); }).find("0 training and 1 test"), std::string::npos);
  EXPECT_EQ(message_of([&] { fit_kernel_ridge_cv(d.X, d.Y.topRows(4)); }), "X has 10 samples but y has 4");
  EXPECT_NE(message_of([&] {
              fit_kernel_ridge_cv(Matrix::Ones(2000, 1), Matrix::Ones(2000, 1), {.run = {.memory = 20'000'000}});
            }).find("the regularisation path of 2000 samples needs"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              fit_kernel_ridge_cv(gram(kernel, d.X), d.Y, {.kernels = {kernels::precomputed(), kernel}});
            }).find("cannot be compared"),
            std::string::npos);
}

TEST(KernelRidgeCv, CancelStops) {
  const Data d = make_data(1500, 3, 1, 17);
  int calls = 0;
  const ProgressCallback stop = [&](const ProgressEvent&) { return ++calls < 2; };
  EXPECT_THROW(fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {kernel}, .run = {.progress = stop}}), Cancelled);
}

}  // namespace
}  // namespace mercer

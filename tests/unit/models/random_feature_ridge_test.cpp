// Ridge regression on random features against dense normal equations of the same features, kernel ridge regression, and its own sums taken
// in another way. SPDX-License-Identifier: BSD-3-Clause
#include "mercer/random_feature_ridge.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/kernel_ridge.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

struct Data {
  Matrix X, Y, Z;  // training samples, targets, new samples
  Vector w;
};

Data make_data(Index n, Index d, Index targets, std::uint64_t seed) {
  RandomStream random(seed);
  Data data{random.normal_matrix(n, d), random.normal_matrix(n, targets), random.normal_matrix(40, d), {}};
  data.Y.col(0) += (data.X.rowwise().sum().array().sin() * 3 + 5).matrix();
  data.w = random.normal_matrix(n, 1).cwiseAbs().array() + 0.1;
  return data;
}

// sum w (y - Zc - b)^2 + a |c|^2 as one dense system in (c, b), solved by LU: another route to the same answer.
Matrix bordered_solution(const Matrix& Z, const Matrix& Y, const Vector& w, double alpha, bool intercept) {
  const Index L = Z.cols();
  Matrix F(Z.rows(), L + 1);
  F << Z, Vector::Ones(Z.rows());
  Matrix A = F.transpose() * w.asDiagonal() * F;
  A.topLeftCorner(L, L).diagonal().array() += alpha;
  Matrix right = F.transpose() * w.asDiagonal() * Y;
  if (!intercept) {
    A.row(L).setZero();
    A.col(L).setZero();
    A(L, L) = 1;
    right.row(L).setZero();
  }
  return A.partialPivLu().solve(right);
}

TEST(RandomFeatureRidge, SolvesTheNormalEquations) {
  const Data d = make_data(700, 3, 2, 1);
  for (const FourierForm form : {FourierForm::sine_cosine, FourierForm::cosine}) {
    for (const bool intercept : {true, false}) {
      for (const bool weighted : {true, false}) {
        for (const Index L : {2, 60, 300}) {
          const auto model = fit_random_feature_ridge(d.X, d.Y,
                                                      {.kernel = kernels::gaussian(1.5),
                                                       .n_components = L,
                                                       .form = form,
                                                       .alpha = 0.3,
                                                       .fit_intercept = intercept,
                                                       .sample_weight = weighted ? d.w : Vector(),
                                                       .precision = Precision::float64});
          const Vector w = weighted ? d.w : Vector(Vector::Ones(700));
          const Matrix expected = bordered_solution(model.features().transform(d.X), d.Y, w, 0.3, intercept);
          // Condition number some 1e4 at most: L + 700/L over 0.3.
          EXPECT_LT((model.coef() - expected.topRows(L)).norm(), 1e-10 * expected.norm());
          EXPECT_LT((model.intercept() - expected.row(L).transpose()).norm(), 1e-10 * expected.norm());
          EXPECT_LT(model.summary().residual, 1e-12);
          EXPECT_EQ(model.summary().method, "Cholesky");
          const Matrix f = (model.features().transform(d.Z) * model.coef()).rowwise() + model.intercept().transpose();
          EXPECT_LT((model.predict(d.Z) - f).norm(), 1e-12 * f.norm());
          const Matrix fitted = model.predict(d.X);
          const Vector rmse = ((d.Y - fitted).cwiseAbs2().transpose() * w / w.sum()).cwiseSqrt();
          EXPECT_LT((model.summary().training_rmse - rmse).norm(), 1e-11);
        }
      }
    }
  }
}

TEST(RandomFeatureRidge, Float32IsCloseToFloat64) {
  Data d = make_data(5000, 3, 1, 2);
  d.X.array() += 1000;  // far from 0: the centre keeps float32's digits
  const RandomFeatureRidgeOptions options{.kernel = kernels::gaussian(1), .n_components = 200, .alpha = 1, .precision = Precision::float32};
  RandomFeatureRidgeOptions exact = options;
  exact.precision = Precision::float64;
  const auto narrow = fit_random_feature_ridge(d.X, d.Y, options);
  const auto wide = fit_random_feature_ridge(d.X, d.Y, exact);
  EXPECT_EQ(narrow.precision(), Precision::float32);
  EXPECT_EQ(wide.precision(), Precision::float64);
  // The frequencies round to float32 too, which at x = 1000 turns phases by 1e-4: compare what was fitted, not feature by feature.
  EXPECT_LT((narrow.predict(d.X) - wide.predict(d.X)).norm(), 2e-3 * wide.predict(d.X).norm());
  EXPECT_NEAR(narrow.summary().training_rmse[0], wide.summary().training_rmse[0], 1e-4);
  // Left to itself: float32 where there is much to do, unless the penalty is as small as its rounding.
  const Matrix many = RandomStream(3).normal_matrix(50000, 1);
  const auto chosen = [&](Index rows, double alpha) {
    return fit_random_feature_ridge(many.topRows(rows), many.topRows(rows), {.n_components = 200, .alpha = alpha}).precision();
  };
  EXPECT_EQ(chosen(50000, 1), Precision::float32);
  EXPECT_EQ(chosen(49999, 1), Precision::float64);
  EXPECT_EQ(chosen(50000, 4e-4), Precision::float64);
}

// f_L - f falls as 1/sqrt(L): its square, averaged over seeds, by 8 for 8 times the features.
TEST(RandomFeatureRidge, ApproachesKernelRidge) {
  const Data d = make_data(150, 2, 1, 3);
  const Kernel kernel = kernels::matern(1.5, 2);
  const Matrix exact = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.5, .fit_intercept = true}).predict(d.Z);
  double error[2] = {0, 0};
  for (const int longer : {0, 1}) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const auto model =
          fit_random_feature_ridge(d.X, d.Y, {.kernel = kernel, .n_components = longer == 1 ? 1024 : 128, .seed = seed, .alpha = 0.5});
      error[longer] += (model.predict(d.Z) - exact).squaredNorm() / 12;
    }
  }
  EXPECT_LT(error[1], error[0] / 5);
  EXPECT_LT(std::sqrt(error[1]), 0.05 * exact.norm());
}

TEST(RandomFeatureRidge, AutomaticLengthScaleSparseRowsAndPenalties) {
  Data d = make_data(400, 3, 2, 4);
  const auto automatic = fit_random_feature_ridge(d.X, d.Y, {.n_components = 20});
  EXPECT_EQ(automatic.kernel(), resolve(kernels::gaussian(kernels::LengthScale::automatic()), d.X));
  const auto by_alpha = fit_random_feature_ridge(d.X, d.Y, {.n_components = 20, .alpha = 400 * 0.01});
  const auto by_lambda = fit_random_feature_ridge(d.X, d.Y, {.n_components = 20, .lambda = 0.01});
  EXPECT_EQ(by_alpha.coef(), by_lambda.coef());
  const auto each = fit_random_feature_ridge(d.X, d.Y, {.n_components = 20, .alpha_per_target = Vector{{4.0, 9.0}}});
  EXPECT_EQ(each.coef().col(0), by_alpha.coef().col(0));
  EXPECT_EQ(each.coef().col(1), fit_random_feature_ridge(d.X, d.Y, {.n_components = 20, .alpha = 9}).coef().col(1));

  d.X = (d.X.array().abs() > 0.7).select(d.X, 0.0);
  const RandomFeatureRidgeOptions options{.kernel = kernels::gaussian(1), .n_components = 50, .precision = Precision::float64};
  const CsrMatrix<double> sparse = d.X.sparseView();
  const auto from_sparse = fit_random_feature_ridge(sparse, d.Y, options);
  EXPECT_LT((from_sparse.predict(d.Z) - fit_random_feature_ridge(d.X, d.Y, options).predict(d.Z)).norm(), 1e-9);
  EXPECT_LT((from_sparse.predict(sparse) - from_sparse.predict(d.X)).norm(), 1e-10);
}

TEST(RandomFeatureRidge, ZeroAlphaIsTheLeastNormSolution) {
  const Data d = make_data(30, 3, 1, 5);
  // Fewer rows than features: it interpolates, with the coefficients of least norm.
  const auto model =
      fit_random_feature_ridge(d.X, d.Y, {.kernel = kernels::gaussian(0.5), .n_components = 80, .alpha = 0, .fit_intercept = false});
  EXPECT_EQ(model.summary().method, "pseudo-inverse");
  EXPECT_EQ(model.summary().rank, 30);
  EXPECT_EQ(model.precision(), Precision::float64);
  const Matrix Z = model.features().transform(d.X);
  const Matrix expected = Z.completeOrthogonalDecomposition().solve(d.Y);
  EXPECT_LT((model.coef() - expected).norm(), 1e-9 * expected.norm());
  EXPECT_LT((model.predict(d.X) - d.Y).norm(), 1e-9 * d.Y.norm());
}

TEST(RandomFeatureRidge, ChunksMergesAndBytesGiveTheSameSums) {
  const Data d = make_data(5000, 3, 2, 6);
  const auto map = random_fourier_features(kernels::gaussian(1), 3, {.n_components = 40});
  const auto fresh = [&] { return RandomFeatureSums(map, 2, Precision::float64, 0.2, 9); };
  RandomFeatureSums whole = fresh();
  whole.accumulate(d.X, d.Y, d.w);
  RandomFeatureSums chunks = fresh();
  for (Index begin = 0; begin < 5000; begin += 1300) {
    const Index count = std::min<Index>(1300, 5000 - begin);
    chunks.accumulate(Samples(d.X).slice(begin, count), d.Y.middleRows(begin, count), d.w.segment(begin, count));
  }
  const auto expect_same = [&](const RandomFeatureSums& a, const RandomFeatureSums& b, double rounding) {
    EXPECT_EQ(a.rows(), b.rows());
    EXPECT_EQ(a.held_out().rows(), b.held_out().rows());
    const auto x = a.solve({.alpha = 2}), y = b.solve({.alpha = 2});
    EXPECT_LE((x.coef() - y.coef()).norm(), rounding * y.coef().norm());
    EXPECT_LE((x.summary().held_out_rmse - y.summary().held_out_rmse).norm(), rounding);
  };
  expect_same(whole, chunks, 1e-11);

  RandomFeatureSums first = fresh();
  first.accumulate(Samples(d.X).slice(0, 1300), d.Y.topRows(1300), d.w.head(1300));
  RandomFeatureSums copy = fresh();
  copy.restore(first.to_bytes());
  expect_same(copy, first, 0);
  copy.accumulate(Samples(d.X).slice(1300, 3700), d.Y.bottomRows(3700), d.w.tail(3700));
  expect_same(copy, whole, 1e-11);

  // Merged, the sums are those of all rows; other rows may have been held out, so that only the model is compared.
  RandomFeatureSums second = fresh();
  second.accumulate(Samples(d.X).slice(1300, 3700), d.Y.bottomRows(3700), d.w.tail(3700));
  first.merge(second);
  EXPECT_EQ(first.rows(), 5000);
  const Matrix expected = whole.solve({.alpha = 2}).coef();
  EXPECT_LT((first.solve({.alpha = 2}).coef() - expected).norm(), 1e-11 * expected.norm());

  RandomFeatureSums other(random_fourier_features(kernels::gaussian(1), 3, {.n_components = 40, .seed = 1}), 2, Precision::float64);
  EXPECT_NE(message_of([&] { other.merge(first); }).find("same feature map"), std::string::npos);
  RandomFeatureSums one_target(map, 1, Precision::float64);
  EXPECT_NE(message_of([&] { one_target.merge(first); }).find("1 targets"), std::string::npos);
  EXPECT_THROW(one_target.restore(first.to_bytes()), InvalidArgument);
  RandomFeatureSums all_rows(map, 2, Precision::float64);
  all_rows.accumulate(d.X, d.Y);
  EXPECT_NE(message_of([&] { all_rows.merge(first); }).find("validation_fraction 0 cannot be merged with those with 0.2"),
            std::string::npos);
  EXPECT_THROW(first.merge(all_rows), InvalidArgument);
  EXPECT_NE(message_of([&] { all_rows.restore(first.to_bytes()); }).find("with held-out rows, wanted are some without"), std::string::npos);
  EXPECT_EQ(all_rows.rows(), 5000);
  const std::string bytes = first.to_bytes();
  for (const std::size_t cut : {std::size_t{0}, std::size_t{15}, std::size_t{16}, bytes.size() / 2, bytes.size() - 1})
    EXPECT_THROW(fresh().restore(std::string_view(bytes).substr(0, cut)), InvalidArgument) << cut;
}

TEST(RandomFeatureRidge, HeldOutErrorIsThatOfAFitWithoutThoseRows) {
  const Data d = make_data(3000, 2, 2, 7);
  const RandomFeatureRidgeOptions options{.kernel = kernels::gaussian(1),
                                          .n_components = 60,
                                          .seed = 11,
                                          .lambda = 1e-3,
                                          .sample_weight = d.w,
                                          .validation_fraction = 0.25,
                                          .precision = Precision::float64};
  const auto model = fit_random_feature_ridge(d.X, d.Y, options);
  std::vector<Index> kept, held;  // which rows is part of the contract: chunks and machines agree on it
  for (Index i = 0; i < 3000; ++i)
    (RandomStream(11, (std::uint64_t{1} << 63U) + static_cast<std::uint64_t>(i)).uniform() < 0.25 ? held : kept).push_back(i);
  ASSERT_EQ(model.summary().held_out_rows, std::ssize(held));
  ASSERT_EQ(model.summary().rows, 3000);
  RandomFeatureRidgeOptions without = options;
  without.validation_fraction = 0;
  without.sample_weight = d.w(kept);
  const auto part = fit_random_feature_ridge(Matrix(d.X(kept, Eigen::all)), Matrix(d.Y(kept, Eigen::all)), without);
  const Matrix Y = d.Y(held, Eigen::all);
  const Matrix residual = part.predict(Matrix(d.X(held, Eigen::all))) - Y;
  const Vector w = d.w(held);
  const Vector mse = residual.cwiseAbs2().transpose() * w / w.sum();
  EXPECT_LT((model.summary().held_out_rmse - mse.cwiseSqrt()).norm(), 1e-9);
  const Vector mean = Y.transpose() * w / w.sum();
  const Vector variance = (Y.rowwise() - mean.transpose()).cwiseAbs2().transpose() * w / w.sum();
  EXPECT_LT((model.summary().held_out_r2.array() - (1 - mse.array() / variance.array())).matrix().norm(), 1e-9);
  // The model itself is of all rows.
  without.sample_weight = d.w;
  EXPECT_LT((model.coef() - fit_random_feature_ridge(d.X, d.Y, without).coef()).norm(), 1e-10 * model.coef().norm());
  EXPECT_NE(model.summary().sentence.find("held-out rows"), std::string::npos);
}

TEST(RandomFeatureRidge, WholeWeightsAreRepeatedRows) {
  const Data d = make_data(60, 2, 1, 8);
  Vector w(60);
  std::vector<Index> repeated;
  for (Index i = 0; i < 60; ++i) {
    w[i] = static_cast<double>(i % 4);
    for (Index k = 0; k < i % 4; ++k) repeated.push_back(i);
  }
  const RandomFeatureRidgeOptions options{.kernel = kernels::gaussian(1), .n_components = 30, .precision = Precision::float64};
  RandomFeatureRidgeOptions weighted = options;
  weighted.sample_weight = w;
  const Matrix a = fit_random_feature_ridge(d.X, d.Y, weighted).predict(d.Z);
  const Matrix b = fit_random_feature_ridge(Matrix(d.X(repeated, Eigen::all)), Matrix(d.Y(repeated, Eigen::all)), options).predict(d.Z);
  EXPECT_LT((a - b).norm(), 1e-10 * b.norm());
}

TEST(RandomFeatureRidge, SameBitsForAnyNumberOfThreads) {
  const Data d = make_data(20000, 3, 1, 9);
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    const auto fit = [&](int threads) {
      return fit_random_feature_ridge(
          d.X, d.Y, {.n_components = 300, .validation_fraction = 0.1, .precision = precision, .run = {.threads = threads}});
    };
    const auto one = fit(1), three = fit(3);
    EXPECT_EQ(one.coef(), three.coef());
    EXPECT_EQ(one.predict(d.Z, {.threads = 1}), three.predict(d.Z, {.threads = 3}));
    EXPECT_EQ(one.summary().held_out_rmse, three.summary().held_out_rmse);
  }
}

TEST(RandomFeatureRidge, SmallAndDegenerateData) {
  const RandomFeatureRidgeOptions options{.kernel = kernels::gaussian(1), .n_components = 10};
  const auto one_row = fit_random_feature_ridge(Matrix::Ones(1, 2), Matrix::Constant(1, 1, 7.0), options);
  EXPECT_NEAR(one_row.predict(Matrix::Ones(1, 2))(0, 0), 7, 1e-6);
  const auto constant = fit_random_feature_ridge(Matrix::Ones(50, 2), Matrix::Constant(50, 1, 3.0), options);
  EXPECT_NEAR(constant.predict(Matrix::Ones(1, 2))(0, 0), 3, 1e-6);
  EXPECT_EQ(one_row.predict(Matrix(0, 2)).rows(), 0);
  // Held-out rows of constant targets, or so few that none is drawn.
  RandomFeatureRidgeOptions half = options;
  half.validation_fraction = 0.5;
  EXPECT_EQ(fit_random_feature_ridge(Matrix::Ones(50, 2), Matrix::Constant(50, 1, 3.0), half).summary().held_out_r2[0], 0);
  EXPECT_NEAR(fit_random_feature_ridge(Matrix::Ones(1, 2), Matrix::Constant(1, 1, 7.0), half).predict(Matrix::Ones(1, 2))(0, 0), 7, 1e-6);
}

TEST(RandomFeatureRidge, SaysWhatIsWrong) {
  const Data d = make_data(50, 3, 1, 10);
  const auto says = [&](const RandomFeatureRidgeOptions& options, const char* what) {
    const std::string message = message_of([&] { fit_random_feature_ridge(d.X, d.Y, options); });
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  says({.n_components = 0}, "from 1 to 1000000, got 0");
  says({.n_components = 7}, "must be even");
  says({.kernel = kernels::linear()}, "use gaussian, laplacian, matern");
  says({.kernel = kernels::precomputed()}, "given Gram matrix");
  says({.alpha = -1}, "alpha must be a finite number >= 0, got -1");
  says({.sample_weight = Vector::Ones(3)}, "3 numbers for 50 samples");
  says({.sample_weight = Vector::Zero(50)}, "all sample weights are zero");
  says({.validation_fraction = 1}, "[0, 1), got 1");
  EXPECT_THROW(fit_random_feature_ridge(d.X, d.Y, {.n_components = 10000, .run = {.memory = 1000000}}), OverBudget);
  EXPECT_NE(message_of([&] { fit_random_feature_ridge(d.X, Matrix(d.Y.topRows(3))); }).find("50 samples but y has 3"), std::string::npos);
  Matrix bad = d.X;
  bad(4, 1) = std::nan("");
  EXPECT_NE(message_of([&] { fit_random_feature_ridge(bad, d.Y); }).find("NaN in row 4"), std::string::npos);
  const auto model = fit_random_feature_ridge(d.X, d.Y, {.n_components = 4});
  EXPECT_NE(message_of([&] { model.predict(Matrix::Zero(2, 5)); }).find("X has 5 columns, the model was fitted on 3"), std::string::npos);
  EXPECT_THROW(
      RandomFeatureRidgeModel::from_parts(model.features(), Matrix::Zero(3, 1), Vector::Zero(1), Vector::Zero(1), Precision::float32, {}),
      InvalidArgument);
  RandomFeatureSums sums(model.features(), 1);
  EXPECT_NE(message_of([&] { sums.solve(); }).find("no rows were seen yet"), std::string::npos);
  EXPECT_THROW(sums.accumulate(bad, d.Y), InvalidArgument);
  EXPECT_THROW(sums.accumulate(d.X, d.Y, Vector::Constant(50, -1.0)), InvalidArgument);
  EXPECT_THROW(sums.accumulate(d.X, Matrix::Zero(50, 2)), InvalidArgument);
  EXPECT_EQ(sums.rows(), 0);
  const ProgressCallback stop = [](const ProgressEvent&) { return false; };
  testing::on_new_thread([&] { EXPECT_THROW(fit_random_feature_ridge(d.X, d.Y, {.run = {.progress = stop}}), Cancelled); });
}

}  // namespace
}  // namespace mercer

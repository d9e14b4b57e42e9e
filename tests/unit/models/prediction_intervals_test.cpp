// Intervals against n refits, and their coverage by simulation.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/prediction_intervals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/folds.hpp"
#include "mercer/gram.hpp"
#include "mercer/kernel_ridge_cv.hpp"
#include "mercer/random.hpp"
#include "models/interval_parts.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

struct Data {
  Matrix X, Y, Z;
};

Data make_data(Index n, Index targets, std::uint64_t seed) {
  RandomStream random(seed);
  Data data{random.normal_matrix(n, 2), 0.3 * random.normal_matrix(n, targets), random.normal_matrix(9, 2)};
  for (Index t = 0; t < targets; ++t) data.Y.col(t) += (2 * data.X.col(t % 2)).array().sin().matrix() + Vector::Ones(n);
  return data;
}

const Kernel kernel = kernels::gaussian(1.2);

// Ends from the definition: sort all f_-i(x) -+ |r_i|, i of weight > 0. `models` has one model per sample, fitted without it.
IntervalPrediction naive(const std::vector<KernelRidgeModel>& models, const Samples& X, const Matrix& Y, const Samples& Z, double level,
                         const Vector& weight = {}) {
  const Index n = weight.size() == 0 ? Y.rows() : (weight.array() > 0).count();
  IntervalPrediction out{{}, Matrix(Z.size(), Y.cols()), Matrix(Z.size(), Y.cols())};
  for (Index t = 0; t < Y.cols(); ++t) {
    std::vector<std::vector<double>> low(static_cast<std::size_t>(Z.size())), high(low);
    for (Index i = 0; i < Y.rows(); ++i) {
      if (weight.size() > 0 && weight[i] == 0) continue;
      const std::vector<Index> one{i};
      const auto& model = models[static_cast<std::size_t>(i)];
      const double r = std::abs(Y(i, t) - model.predict(X.subset(one))(0, t));
      const Matrix f = model.predict(Z);
      for (Index j = 0; j < Z.size(); ++j) {
        low[static_cast<std::size_t>(j)].push_back(f(j, t) - r);
        high[static_cast<std::size_t>(j)].push_back(f(j, t) + r);
      }
    }
    const auto up = static_cast<std::size_t>(std::ceil(level * static_cast<double>(n + 1) - 1e-9));
    const std::size_t down = static_cast<std::size_t>(n) + 1 - up;  // floor((1 - level) (n + 1))
    for (std::size_t j = 0; j < low.size(); ++j) {
      std::sort(low[j].begin(), low[j].end());
      std::sort(high[j].begin(), high[j].end());
      out.lower(static_cast<Index>(j), t) = low[j][down - 1];
      out.upper(static_cast<Index>(j), t) = high[j][up - 1];
    }
  }
  return out;
}

std::vector<KernelRidgeModel> refits(const Samples& X, const Matrix& Y, KernelRidgeOptions o, const std::vector<Fold>& folds) {
  std::vector<std::optional<KernelRidgeModel>> models(static_cast<std::size_t>(Y.rows()));
  const Vector weight = o.sample_weight;
  for (const Fold& fold : folds) {
    if (weight.size() > 0) o.sample_weight = weight(fold.train);
    const auto model = fit_kernel_ridge(X.subset(fold.train), Matrix(Y(fold.train, Eigen::all)), o);
    for (const Index i : fold.test) models[static_cast<std::size_t>(i)] = model;
  }
  std::vector<KernelRidgeModel> out;
  for (auto& model : models) out.push_back(*model);
  return out;
}

TEST(PredictionIntervals, JackknifePlusEqualsRefits) {
  const Data d = make_data(59, 2, 1);
  Vector weight = RandomStream(2).normal_matrix(59, 1).cwiseAbs().array() + 0.1;
  weight[7] = 0;
  Vector alphas(2);
  alphas << 0.05, 2;
  for (const bool intercept : {false, true}) {
    for (const Vector& w : {Vector(), weight}) {
      KernelRidgeOptions o{.kernel = kernel, .alpha_per_target = alphas, .fit_intercept = intercept, .sample_weight = w};
      const auto models = refits(d.X, d.Y, o, k_folds(59, 59, false));
      o.intervals = true;
      const KernelRidgeModel model = fit_kernel_ridge(d.X, d.Y, o);
      EXPECT_EQ(model.interval_summary().method, IntervalMethod::jackknife_plus);
      for (const double level : {0.5, 0.8, 0.95}) {
        const IntervalPrediction got = model.predict_interval(d.Z, level);
        const IntervalPrediction want = naive(models, d.X, d.Y, d.Z, level, w);
        EXPECT_EQ(got.prediction, model.predict(d.Z));
        EXPECT_LT((got.lower - want.lower).cwiseAbs().maxCoeff(), 1e-9) << level << intercept;
        EXPECT_LT((got.upper - want.upper).cwiseAbs().maxCoeff(), 1e-9) << level << intercept;
      }
    }
  }
}

TEST(PredictionIntervals, CvPlusEqualsFoldRefits) {
  const Data d = make_data(43, 2, 3);
  const KernelRidgeOptions o{.kernel = kernel, .alpha = 0.1, .fit_intercept = true};
  const KernelRidgeModel model = add_intervals(fit_kernel_ridge(d.X, d.Y, o), d.X, d.Y,
                                               {.fit_intercept = true, .method = IntervalMethod::cv_plus, .folds = 5, .seed = 3});
  const IntervalPrediction want = naive(refits(d.X, d.Y, o, k_folds(43, 5, true, 3)), d.X, d.Y, d.Z, 0.9);
  const IntervalPrediction got = model.predict_interval(d.Z, 0.9);
  EXPECT_LT((got.lower - want.lower).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((got.upper - want.upper).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_NE(model.interval_summary().sentence.find("CV+ with 5 folds"), std::string::npos);
}

// Rows that no fit sees: neither their residuals nor their number may count.
TEST(PredictionIntervals, SamplesOfWeightZeroDoNotCount) {
  const double infinity = std::numeric_limits<double>::infinity();
  Data d = make_data(30, 2, 8);
  d.Y.topRows(3).array() += 1000;
  Vector weight = Vector::Ones(30);
  weight.head(3).setZero();
  const Matrix X = d.X.bottomRows(27);
  const Matrix Y = d.Y.bottomRows(27);
  for (const bool intercept : {false, true}) {
    const KernelRidgeOptions o{.kernel = kernel, .alpha = 0.1, .fit_intercept = intercept};
    KernelRidgeOptions weighted = o;
    weighted.sample_weight = weight;
    for (const IntervalMethod method : {IntervalMethod::jackknife_plus, IntervalMethod::cv_plus}) {
      const auto all = add_intervals(fit_kernel_ridge(d.X, d.Y, weighted), d.X, d.Y,
                                     {.sample_weight = weight, .fit_intercept = intercept, .method = method});
      const auto seen = add_intervals(fit_kernel_ridge(X, Y, o), X, Y, {.fit_intercept = intercept, .method = method});
      const auto got = all.predict_interval(d.Z, 0.95);
      const auto want = seen.predict_interval(d.Z, 0.95);
      EXPECT_LT((got.lower - want.lower).cwiseAbs().maxCoeff(), 1e-9);
      EXPECT_LT((got.upper - want.upper).cwiseAbs().maxCoeff(), 1e-9);
      EXPECT_EQ(all.predict_interval(d.Z, 0.965).upper(0, 0), infinity);  // needs 28 samples
    }
    weighted.sample_weight.setZero();
    weighted.sample_weight[4] = 1;
    weighted.intervals = true;
    EXPECT_EQ(fit_kernel_ridge(d.X, d.Y, weighted).predict_interval(d.Z, 0.4).lower(0, 0), -infinity);
  }
}

TEST(PredictionIntervals, GivenGramMatrices) {
  const Data d = make_data(50, 1, 4);
  const KernelRidgeModel named = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.1, .intervals = true});
  const KernelRidgeModel given =
      fit_kernel_ridge(gram(kernel, d.X), d.Y, {.kernel = kernels::precomputed(), .alpha = 0.1, .intervals = true});
  const auto a = named.predict_interval(d.Z, 0.9);
  const auto b = given.predict_interval(gram(kernel, d.Z, d.X), 0.9);
  EXPECT_LT((a.lower - b.lower).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((a.upper - b.upper).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(PredictionIntervals, ThePathHasThemTooAndManySamplesTakeFolds) {
  const Data d = make_data(60, 1, 5);
  const auto result = fit_kernel_ridge_cv(d.X, d.Y, {.kernels = {kernel}, .intervals = true});
  const auto direct = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = result.best_alpha()[0], .intervals = true});
  const auto a = result.model().predict_interval(d.Z, 0.8);
  const auto b = direct.predict_interval(d.Z, 0.8);
  EXPECT_LT((a.upper - b.upper).cwiseAbs().maxCoeff(), 1e-8);
  // An indefinite system has no jackknife+.
  const auto indefinite = fit_kernel_ridge(d.X, d.Y, {.kernel = -1.0 * kernel, .alpha = 0.5, .intervals = true});
  EXPECT_EQ(indefinite.interval_summary().method, IntervalMethod::cv_plus);
  EXPECT_NE(indefinite.interval_summary().sentence.find("not positive definite"), std::string::npos);
}

TEST(PredictionIntervals, OrderStatisticsAreExact) {
  EXPECT_EQ(upper_rank(9, 0.9), 8);    // the ninth of nine
  EXPECT_EQ(upper_rank(8, 0.9), 8);    // ceil(8.1) = 9 of eight: infinite
  EXPECT_EQ(upper_rank(99, 0.9), 89);  // the ninetieth
  EXPECT_EQ(upper_rank(100, 0.9), 90);
  EXPECT_EQ(upper_rank(19, 0.95), 18);
  EXPECT_EQ(upper_rank(5, 0.999), 5);
  const Data d = make_data(8, 1, 6);
  const auto model = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.1, .intervals = true});
  const auto few = model.predict_interval(d.Z, 0.9);
  EXPECT_EQ(few.upper(0, 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(few.lower(0, 0), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(model.predict_interval(d.Z, 0.8).upper.allFinite());
  const auto one = fit_kernel_ridge(d.X.topRows(1), d.Y.topRows(1), {.kernel = kernel, .intervals = true});
  EXPECT_EQ(one.predict_interval(d.Z, 0.5).upper(0, 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(model.predict_interval(Matrix(0, 2), 0.5).lower.rows(), 0);
}

TEST(PredictionIntervals, BadUseIsNamed) {
  const Data d = make_data(20, 1, 7);
  const auto plain = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel});
  EXPECT_NE(message_of([&] { plain.predict_interval(d.Z, 0.9); }).find("fitted without prediction intervals"), std::string::npos);
  const auto model = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .intervals = true});
  EXPECT_EQ(message_of([&] { model.predict_interval(d.Z, 90); }), "the level of an interval must lie between 0 and 1, got 90");
  EXPECT_NE(message_of([&] { add_intervals(plain, d.X.topRows(5), d.Y.topRows(5)); }).find("was fitted on 20 samples"), std::string::npos);
}

// Coverage of a new value over many training sets: independent trials, so the count is binomial.
struct Coverage {
  int hits = 0;
  int trials = 0;
  double rate() const { return static_cast<double>(hits) / trials; }
};

Coverage simulate(bool heteroscedastic, IntervalMethod method, double level, int repeats) {
  Coverage c;
  for (int r = 0; r < repeats; ++r) {
    RandomStream random(1000 + static_cast<std::uint64_t>(r));
    const Index n = 60;
    const Matrix X = 2 * random.normal_matrix(n + 1, 1);
    Matrix noise = random.normal_matrix(n + 1, 1);
    if (heteroscedastic) noise = noise.cwiseProduct((0.2 + X.array().abs()).matrix());
    const Matrix Y = X.array().sin().matrix() + 0.5 * noise;
    const auto fitted = fit_kernel_ridge(X.topRows(n), Y.topRows(n), {.kernel = kernels::gaussian(1), .alpha = 0.5});
    const auto model = add_intervals(fitted, X.topRows(n), Y.topRows(n), {.method = method});
    const auto p = model.predict_interval(X.bottomRows(1), level);
    ++c.trials;
    if (p.lower(0, 0) <= Y(n, 0) && Y(n, 0) <= p.upper(0, 0)) ++c.hits;
  }
  return c;
}

TEST(PredictionIntervals, CoverTheirLevelByEqualOrUnequalNoise) {
  // Guaranteed: 1 - 2 * 0.2 = 0.6; in practice the level. Five standard deviations of a binomial share with 600 trials are 0.082.
  const double level = 0.8;
  const int repeats = 600;
  const double slack = 5 * std::sqrt(level * (1 - level) / repeats);
  for (const bool heteroscedastic : {false, true}) {
    for (const IntervalMethod method : {IntervalMethod::jackknife_plus, IntervalMethod::cv_plus}) {
      const Coverage c = simulate(heteroscedastic, method, level, repeats);
      EXPECT_GT(c.rate(), level - slack) << heteroscedastic;
      EXPECT_LT(c.rate(), level + slack) << heteroscedastic;
    }
  }
}

}  // namespace
}  // namespace mercer

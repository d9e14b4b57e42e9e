// Gaussian processes against the formulas in long double, refits, differences, kernel ridge regression, and simulation.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numbers>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/kernel_ridge.hpp"
#include "mercer/random.hpp"
#include "reference/kernel_cases.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using naive::KernelCase;
using naive::Real;
using testing::message_of;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Objective = GaussianProcessObjective;

// Positive semi-definite ones alone: the others are no covariances.
std::vector<KernelCase> covariances(Index d) {
  std::vector<KernelCase> out;
  for (KernelCase& c : naive::kernel_cases(d)) {
    if (c.kernel.is_psd()) out.push_back(std::move(c));
  }
  return out;
}

RealMatrix naive_gram(const KernelCase& c, const Matrix& X, const Matrix& Y) {
  RealMatrix out(X.rows(), Y.rows());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < Y.rows(); ++j) out(i, j) = c.naive(X.row(i), Y.row(j));
  }
  return out;
}

// Algorithm 2.1 of Rasmussen and Williams, with the inverse written out.
struct Naive {
  Real value;
  RealMatrix mean;
  RealMatrix covariance;

  Naive(const RealMatrix& K, const RealMatrix& cross, const RealMatrix& prior, const Vector& noise, const Matrix& Y) {
    RealMatrix A = K;
    A.diagonal() += noise.cast<Real>();
    const RealMatrix inverse = A.fullPivLu().inverse();
    const RealMatrix y = Y.cast<Real>();
    const Real log_det = A.fullPivLu().matrixLU().diagonal().array().abs().log().sum();
    const auto n = static_cast<Real>(Y.rows());
    const auto targets = static_cast<Real>(Y.cols());
    value = -Real(0.5) * (y.transpose() * inverse * y).trace() - targets / 2 * (log_det + n * std::log(2 * std::numbers::pi_v<Real>));
    mean = cross * inverse * y;
    covariance = prior - cross * inverse * cross.transpose();
  }
};

struct Data {
  Matrix X, Y, Z;
};

Data make_data(Index n, Index d, Index targets, std::uint64_t seed) {
  RandomStream random(seed);
  Data data{random.normal_matrix(n, d), 0.3 * random.normal_matrix(n, targets), random.normal_matrix(7, d)};
  data.Y.col(0) += (data.X.col(0).array() * 2).sin().matrix();
  return data;
}

double log_normal(double y, double mean, double variance) {
  return -0.5 * (std::log(2 * std::numbers::pi * variance) + (y - mean) * (y - mean) / variance);
}

TEST(GaussianProcess, AgreesWithTheFormulasForEveryCovariance) {
  for (const KernelCase& c : covariances(2)) {
    const Data d = make_data(13, 2, 2, 1);
    const Matrix X = c.data(d.X);
    const Matrix Z = c.data(d.Z);
    const Vector noise = 0.2 + RandomStream(2).normal_matrix(13, 1).cwiseAbs().array();
    const Naive exact(naive_gram(c, X, X), naive_gram(c, Z, X), naive_gram(c, Z, Z), noise, d.Y);
    const auto model = fit_gaussian_process(X, d.Y, {.kernel = c.kernel, .noise_per_sample = noise, .optimize = false});
    const double size = 1 + static_cast<double>(naive_gram(c, Z, Z).cwiseAbs().maxCoeff());
    EXPECT_NEAR(model.summary().log_marginal_likelihood, static_cast<double>(exact.value),
                1e-11 * (20 + std::abs(static_cast<double>(exact.value))))
        << c.name;
    const GaussianPrediction at = model.predict_with_variance(Z);
    EXPECT_LT((at.mean - exact.mean.cast<double>()).cwiseAbs().maxCoeff(), 1e-11 * size) << c.name;
    EXPECT_LT((model.predict(Z) - at.mean).cwiseAbs().maxCoeff(), 1e-12 * size) << c.name;
    for (const Matrix& covariance : model.covariance(Z)) {
      EXPECT_LT((covariance - exact.covariance.cast<double>()).cwiseAbs().maxCoeff(), 1e-11 * size) << c.name;
      EXPECT_LT((covariance.diagonal() - at.variance.col(0)).cwiseAbs().maxCoeff(), 1e-12 * size) << c.name;
    }
  }
}

TEST(GaussianProcess, GradientsOfBothLikelihoodsAgreeWithDifferences) {
  for (const KernelCase& c : covariances(2)) {
    const Data d = make_data(17, 2, 2, 3);
    for (const Objective objective : {Objective::marginal, Objective::leave_one_out}) {
      GaussianProcessOptions options{.kernel = c.kernel, .noise = 0.3, .optimize_noise = true, .objective = objective};
      const Samples X = c.data(d.X);
      const auto at = gaussian_process_likelihood(X, d.Y, options);
      const auto parameters = c.kernel.parameters();
      ASSERT_EQ(at.gradient.size(), std::ssize(parameters) + 1) << c.name;
      const auto moved = [&](Index p, double h) {
        GaussianProcessOptions other = options;
        std::vector<double> values;
        for (const auto& parameter : parameters) values.push_back(parameter.value);
        if (p < std::ssize(parameters)) {
          values[static_cast<std::size_t>(p)] *= std::exp(h);
          other.kernel = c.kernel.with_parameters(values);
        } else {
          other.noise *= std::exp(h);
        }
        return gaussian_process_likelihood(X, d.Y, other).value;
      };
      for (Index p = 0; p < at.gradient.size(); ++p) {
        constexpr double h = 1e-4;  // five points: the error is h^4 and rounding / h
        const double wanted = (8 * (moved(p, h) - moved(p, -h)) - (moved(p, 2 * h) - moved(p, -2 * h))) / (12 * h);
        EXPECT_NEAR(at.gradient[p], wanted, 2e-9 * (20 + std::abs(at.value) + std::abs(wanted))) << c.name << " " << p;
      }
    }
  }
}

TEST(GaussianProcess, GradientsCoverAllTiles) {
  const Index n = 530;
  const Data d = make_data(n, 3, 2, 4);
  const Kernel kernel = 1.5 * kernels::gaussian(std::vector{0.7, 1.0, 2.0}) + kernels::white(0.2);
  const Vector noise = 0.05 + 0.1 * RandomStream(5).normal_matrix(n, 1).cwiseAbs().array();
  Matrix A = gram(kernel, d.X);
  A.diagonal() += noise;
  const Matrix Q = A.inverse();
  const Matrix a = Q * d.Y;
  const Vector q = Q.diagonal();
  const Operator op = gram_operator(kernel, d.X);
  const Matrix W = 0.5 * (a * a.transpose() - 2 * Q);
  const auto marginal = gaussian_process_likelihood(d.X, d.Y, {.kernel = kernel, .noise_per_sample = noise, .optimize_noise = true});
  Vector wanted(6);
  wanted << op->gradient_inner(W), W.diagonal().dot(noise);
  EXPECT_LT((marginal.gradient - wanted).cwiseAbs().maxCoeff(), 1e-10 * wanted.cwiseAbs().maxCoeff());

  const Vector c = (0.5 * (2 + (a.array().square().rowwise().sum() / q.array())) / q.array()).matrix();
  const Matrix b = a.array().colwise() / q.array();
  const Matrix V = -Q * c.asDiagonal() * Q + 0.5 * (Q * b * a.transpose() + a * b.transpose() * Q);
  const auto loo = gaussian_process_likelihood(
      d.X, d.Y, {.kernel = kernel, .noise_per_sample = noise, .optimize_noise = true, .objective = Objective::leave_one_out});
  wanted << op->gradient_inner(V), V.diagonal().dot(noise);
  EXPECT_LT((loo.gradient - wanted).cwiseAbs().maxCoeff(), 1e-10 * wanted.cwiseAbs().maxCoeff());
}

TEST(GaussianProcess, LeaveOneOutIsWhatRefitsSay) {
  const Index n = 19;
  const Data d = make_data(n, 2, 2, 6);
  const Kernel kernel = 1.5 * kernels::matern(2.5, 0.9) + kernels::white(0.1);
  const Vector noise = 0.05 + 0.2 * RandomStream(7).normal_matrix(n, 1).cwiseAbs().array();
  double sum = 0;
  for (Index left = 0; left < n; ++left) {
    std::vector<Index> others;
    for (Index i = 0; i < n; ++i) {
      if (i != left) others.push_back(i);
    }
    const Vector kept = noise(others);
    const auto model = fit_gaussian_process(Matrix(d.X(others, Eigen::all)), Matrix(d.Y(others, Eigen::all)),
                                            {.kernel = kernel, .noise_per_sample = kept, .optimize = false});
    const GaussianPrediction at = model.predict_with_variance(Matrix(d.X.row(left)));
    for (Index t = 0; t < 2; ++t) sum += log_normal(d.Y(left, t), at.mean(0, t), at.variance(0, t) + noise[left]);
  }
  const GaussianProcessOptions options{
      .kernel = kernel, .noise_per_sample = noise, .optimize = false, .objective = Objective::leave_one_out};
  EXPECT_NEAR(gaussian_process_likelihood(d.X, d.Y, options).value, sum, 1e-10 * std::abs(sum));
  EXPECT_NEAR(fit_gaussian_process(d.X, d.Y, options).summary().leave_one_out_log_likelihood, sum, 1e-10 * std::abs(sum));
}

TEST(GaussianProcess, MeanIsKernelRidgeRegressionAtTileEdges) {
  const Kernel kernel = kernels::gaussian(1.5) + 0.2 * kernels::linear();
  for (const Index n : {1, 2, 256, 257, 600}) {
    const Data d = make_data(n, 3, 2, 8);
    const auto process = fit_gaussian_process(d.X, d.Y, {.kernel = kernel, .noise = 0.3, .optimize = false});
    const auto ridge = fit_kernel_ridge(d.X, d.Y, {.kernel = kernel, .alpha = 0.3});
    EXPECT_LT((process.predict(d.Z) - ridge.predict(d.Z)).cwiseAbs().maxCoeff(), 1e-11) << n;
    // L is the factor, and the variance at a training sample what the formula gives there.
    Matrix A = gram(kernel, d.X);
    A.diagonal().array() += 0.3;
    EXPECT_LT((process.factor() * process.factor().transpose() - A).cwiseAbs().maxCoeff(), 1e-12 * A.maxCoeff()) << n;
    const Matrix cross = gram(kernel, d.Z, d.X);
    const Vector variance = gram_diagonal(kernel, d.Z) - (cross * A.llt().solve(cross.transpose())).diagonal();
    EXPECT_LT((process.predict_with_variance(d.Z).variance.col(1) - variance).cwiseAbs().maxCoeff(), 1e-11) << n;
  }
}

TEST(GaussianProcess, FindsTheMaximum) {
  const Data d = make_data(60, 2, 1, 9);
  for (const Objective objective : {Objective::marginal, Objective::leave_one_out}) {
    GaussianProcessOptions options{
        .kernel = 1.0 * kernels::gaussian(std::vector{1.0, 1.0}), .noise = 0.5, .optimize_noise = true, .objective = objective};
    const auto model = fit_gaussian_process(d.X, d.Y, options);
    EXPECT_TRUE(model.summary().converged);
    EXPECT_LT(model.summary().gradient, 1e-3);
    options.kernel = model.kernel();
    options.noise = model.noise()[0];
    const auto best = gaussian_process_likelihood(d.X, d.Y, options);
    EXPECT_GT(best.value, model.summary().start_value + 1);
    const auto parameters = model.kernel().parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      for (const double factor : {0.9, 1.1}) {
        std::vector<double> values;
        for (const auto& parameter : parameters) values.push_back(parameter.value);
        values[p] *= factor;
        GaussianProcessOptions other = options;
        other.kernel = model.kernel().with_parameters(values);
        EXPECT_LE(gaussian_process_likelihood(d.X, d.Y, other).value, best.value + 1e-9) << parameters[p].name;
      }
    }
    EXPECT_NE(model.summary().sentence.find("fitted: log"), std::string::npos);
  }
}

TEST(GaussianProcess, FixedParametersAndBoundsHold) {
  const Data d = make_data(40, 2, 1, 10);
  const Kernel kernel = 2.0 * kernels::gaussian(std::vector{0.7, 0.9}) + kernels::white(0.3);
  const auto value = [](const GaussianProcessModel& model, std::size_t p) { return model.kernel().parameters()[p].value; };
  const auto scales = fit_gaussian_process(d.X, d.Y, {.kernel = kernel, .fixed = {"gaussian.length_scale"}});
  EXPECT_EQ(value(scales, 1), 0.7);
  EXPECT_EQ(value(scales, 2), 0.9);
  EXPECT_NE(value(scales, 0), 2.0);
  const auto one = fit_gaussian_process(d.X, d.Y, {.kernel = kernel, .fixed = {"gaussian.length_scale[1]", "factor"}});
  EXPECT_EQ(value(one, 2), 0.9);
  EXPECT_EQ(value(one, 0), 2.0);
  EXPECT_NE(value(one, 1), 0.7);
  const auto bounded = fit_gaussian_process(d.X, d.Y, {.kernel = kernel, .bounds = {{1, 3}, {0.5, 0.5}, {4, 5}, {0.2, 0.25}}});
  EXPECT_EQ(value(bounded, 1), 0.7);  // equal ends: it stays
  EXPECT_GE(value(bounded, 2), 4);
  EXPECT_EQ(value(bounded, 3), 0.2);
  EXPECT_FALSE(bounded.summary().at_bound.empty());
  EXPECT_NE(bounded.summary().sentence.find("at a bound"), std::string::npos);
  const auto none = fit_gaussian_process(d.X, d.Y, {.kernel = kernel, .bounds = {{1, 1}}});
  EXPECT_EQ(none.kernel(), kernel);
  EXPECT_EQ(none.summary().starts, 0);
}

TEST(GaussianProcess, NoiseOfItsOwnAndWhiteNoiseAreOneThing) {
  const Data d = make_data(50, 2, 1, 11);
  const auto white = fit_gaussian_process(d.X, d.Y, {.kernel = 1.0 * kernels::gaussian(1) + kernels::white(0.3), .noise = 0});
  const auto own = fit_gaussian_process(d.X, d.Y, {.kernel = 1.0 * kernels::gaussian(1), .noise = 0.3, .optimize_noise = true});
  EXPECT_NEAR(white.summary().log_marginal_likelihood, own.summary().log_marginal_likelihood, 1e-7);
  EXPECT_NEAR(white.kernel().parameters()[2].value, own.noise()[0], 1e-4 * own.noise()[0]);
  EXPECT_LT((white.predict(d.Z) - own.predict(d.Z)).cwiseAbs().maxCoeff(), 1e-4);
  // The kernel's white noise is part of what is predicted, the model's own is not; a new observation has either.
  const Matrix with = white.predict_with_variance(d.Z).variance;
  const Matrix without = own.predict_with_variance(d.Z).variance;
  EXPECT_LT(((without.array() + own.noise()[0]).matrix() - with).cwiseAbs().maxCoeff(), 1e-4);
  const IntervalPrediction a = white.predict_interval(d.Z, 0.9);
  const IntervalPrediction b = own.predict_interval(d.Z, 0.9);
  EXPECT_LT((a.upper - b.upper).cwiseAbs().maxCoeff() + (a.lower - b.lower).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT((a.upper - a.lower - 2 * 1.6448536269514722 * with.cwiseSqrt()).cwiseAbs().maxCoeff(), 1e-12);
  // At the training rows themselves too: they are asked for as new ones.
  EXPECT_GT((white.predict(d.X) - d.Y).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT((white.predict_with_variance(d.X).mean - white.predict(d.X)).cwiseAbs().maxCoeff(), 1e-10);
  // A factor on noise per sample, from any common size.
  const Vector sizes = 1 + RandomStream(12).normal_matrix(50, 1).array().square();
  const Kernel kernel = 1.0 * kernels::gaussian(1);
  const auto small = fit_gaussian_process(d.X, d.Y, {.kernel = kernel, .noise_per_sample = 0.05 * sizes, .optimize_noise = true});
  const auto large = fit_gaussian_process(d.X, d.Y, {.kernel = kernel, .noise_per_sample = 0.5 * sizes, .optimize_noise = true});
  EXPECT_LT((small.noise() - large.noise()).norm(), 1e-3 * small.noise().norm());
}

TEST(GaussianProcess, NormalisedTargetsComeBackInTheirUnits) {
  const Data d = make_data(45, 2, 2, 13);
  const Matrix far = (1000 * d.Y).array() + 5e4;
  const GaussianProcessOptions options{.kernel = 1.0 * kernels::gaussian(1), .noise = 0.1, .optimize_noise = true, .normalize_y = true};
  const auto near_model = fit_gaussian_process(d.X, d.Y, options);
  const auto far_model = fit_gaussian_process(d.X, far, options);
  EXPECT_NEAR(near_model.summary().log_marginal_likelihood, far_model.summary().log_marginal_likelihood, 1e-7);
  const GaussianPrediction a = near_model.predict_with_variance(d.Z);
  const GaussianPrediction b = far_model.predict_with_variance(d.Z);
  EXPECT_LT((1000 * a.mean - (b.mean.array() - 5e4).matrix()).cwiseAbs().maxCoeff(), 0.1);  // parameters to about 1e-5
  EXPECT_LT((1e6 * a.variance - b.variance).cwiseAbs().maxCoeff(), 1e-4 * b.variance.maxCoeff());
  EXPECT_LT((1e6 * near_model.covariance(d.Z)[1] - far_model.covariance(d.Z)[1]).cwiseAbs().maxCoeff(), 1e-4 * b.variance.maxCoeff());
  // A constant target has no scale.
  const auto flat = fit_gaussian_process(d.X, Matrix::Constant(45, 1, 0.1),
                                         {.kernel = kernels::gaussian(1), .noise = 0.1, .optimize = false, .normalize_y = true});
  EXPECT_EQ(flat.target_scale()[0], 1);
  EXPECT_NEAR(flat.predict(d.Z)(0, 0), 0.1, 1e-15);
}

TEST(GaussianProcess, ManyStartsAreTheSameForAnyNumberOfThreads) {
  const Data d = make_data(30, 2, 1, 14);
  const auto fit = [&](int threads, std::uint64_t seed) {
    return fit_gaussian_process(
        d.X, d.Y,
        {.kernel = 1.0 * kernels::periodic(1.0, 3.0) + kernels::white(0.1), .restarts = 4, .seed = seed, .run = {.threads = threads}});
  };
  const auto one = fit(1, 3);
  const auto two = fit(2, 3);
  EXPECT_EQ(one.kernel(), two.kernel());
  EXPECT_EQ(one.summary().evaluations, two.summary().evaluations);
  EXPECT_EQ(one.dual_coef(), two.dual_coef());
  EXPECT_EQ(one.summary().starts, 5);
  const auto alone = fit_gaussian_process(d.X, d.Y, {.kernel = 1.0 * kernels::periodic(1.0, 3.0) + kernels::white(0.1)});
  EXPECT_GE(one.summary().log_marginal_likelihood, alone.summary().log_marginal_likelihood - 1e-9);
}

TEST(GaussianProcess, ThreadsDoNotChangeTheBits) {
  const Data d = make_data(700, 3, 1, 15);
  const auto fit = [&](int threads) {
    return fit_gaussian_process(d.X, d.Y,
                                {.kernel = 1.0 * kernels::gaussian(std::vector{1.0, 1.0, 1.0}),
                                 .noise = 0.2,
                                 .optimize_noise = true,
                                 .max_iterations = 3,
                                 .run = {.threads = threads}});
  };
  const auto one = fit(1);
  const auto two = fit(2);
  EXPECT_EQ(one.dual_coef(), two.dual_coef());
  EXPECT_EQ(one.kernel(), two.kernel());
  EXPECT_FALSE(one.summary().converged);
  EXPECT_NE(one.summary().sentence.find("limit"), std::string::npos);
  EXPECT_EQ(one.predict_with_variance(d.Z, {.threads = 1}).variance, two.predict_with_variance(d.Z, {.threads = 2}).variance);
}

TEST(GaussianProcess, NewObservationsHaveNoiseOfTheirOwn) {
  const Data d = make_data(40, 2, 1, 21);
  const Vector weight = RandomStream(3).normal_matrix(40, 1).cwiseAbs().array() + 0.5;
  GaussianProcessOptions o{
      .kernel = kernels::gaussian(1), .noise = 0.3, .noise_per_sample = 0.3 * weight.cwiseInverse(), .optimize = false};
  const auto width = [&](const GaussianProcessModel& model) -> Matrix {
    const IntervalPrediction band = model.predict_interval(d.Z, 0.9);
    return (band.upper - band.lower) / (2 * 1.6448536269514722);
  };
  const auto expected = [&](const GaussianProcessModel& model, double noise) -> Matrix {
    return (model.predict_with_variance(d.Z).variance.array() + noise).sqrt();
  };
  const auto given = fit_gaussian_process(d.X, d.Y, o);
  EXPECT_EQ(given.new_noise(), 0.3);
  EXPECT_LT((width(given) - expected(given, 0.3)).cwiseAbs().maxCoeff(), 1e-12);
  // The factor that is learned is common to samples and new observations.
  o.optimize = o.optimize_noise = true;
  const auto learned = fit_gaussian_process(d.X, d.Y, o);
  EXPECT_NE(learned.new_noise(), 0.3);
  EXPECT_NEAR(learned.new_noise(), learned.noise()[5] * weight[5], 1e-14);
  EXPECT_LT((width(learned) - expected(learned, learned.new_noise())).cwiseAbs().maxCoeff(), 1e-12);
  o.noise_per_sample = {};
  const auto common = fit_gaussian_process(d.X, d.Y, o);
  EXPECT_EQ(common.new_noise(), common.noise()[0]);
}

// The covariance is the identity at the lowest length scale, so the slope is zero there and tells nothing.
TEST(GaussianProcess, ABoundIsNamedWhereTheSlopeVanishes) {
  const Matrix X = RandomStream(22).normal_matrix(60, 2);
  const Matrix noise = RandomStream(23).normal_matrix(60, 1);
  const auto model = fit_gaussian_process(X, noise, {.kernel = kernels::gaussian(1)});
  ASSERT_NEAR(model.kernel().parameters()[0].value, 1e-5, 1e-9);
  EXPECT_EQ(model.summary().at_bound, std::vector<std::string>{"gaussian.length_scale"});
  EXPECT_NE(model.summary().sentence.find("at a bound: gaussian.length_scale"), std::string::npos);
}

TEST(GaussianProcess, SaysWhyASearchStopped) {
  const Data d = make_data(40, 2, 1, 24);
  const auto model = fit_gaussian_process(d.X, d.Y, {.noise = 0.1, .max_iterations = 2});
  EXPECT_FALSE(model.summary().converged);
  EXPECT_EQ(model.summary().sentence.find("stopped, because the limit of evaluations was reached: log"), 0U) << model.summary().sentence;
}

TEST(GaussianProcess, AFactorThatIsMadeAgainObeysTheCaller) {
  const Data d = make_data(300, 2, 1, 25);
  const auto model = fit_gaussian_process(d.X, d.Y, {.kernel = kernels::gaussian(1), .noise = 0.2, .optimize = false});
  const auto copy = GaussianProcessModel::from_parts(model.kernel(), model.samples(), model.dual_coef(), model.noise(), model.target_mean(),
                                                     model.target_scale(), model.summary());
  EXPECT_THROW(copy.factor({.memory = 1000}), OverBudget);
  const ProgressCallback stop = [](const ProgressEvent&) { return false; };
  testing::on_new_thread([&] { EXPECT_THROW(copy.factor({.progress = stop}), Cancelled); });
  EXPECT_EQ(copy.factor(), model.factor());  // neither spoils the next call
}

TEST(GaussianProcess, RebuildsItsFactor) {
  const Data d = make_data(300, 2, 1, 16);
  const auto model = fit_gaussian_process(d.X, d.Y, {.kernel = kernels::gaussian(1), .noise = 0.2, .optimize = false});
  const auto copy = GaussianProcessModel::from_parts(model.kernel(), model.samples(), model.dual_coef(), model.noise(), model.target_mean(),
                                                     model.target_scale(), model.summary());
  EXPECT_EQ(copy.predict_with_variance(d.Z).variance, model.predict_with_variance(d.Z).variance);
  EXPECT_THROW(GaussianProcessModel::from_parts(model.kernel(), model.samples(), Matrix::Zero(3, 1), model.noise(), model.target_mean(),
                                                model.target_scale(), {}),
               InvalidArgument);
}

TEST(GaussianProcess, DrawsHaveTheMomentsOfThePosterior) {
  const Data d = make_data(20, 2, 2, 17);
  const auto model = fit_gaussian_process(d.X, d.Y, {.kernel = kernels::gaussian(1), .noise = 0.1, .optimize = false, .normalize_y = true});
  const Index draws = 20000;
  const std::vector<Matrix> drawn = model.sample(d.Z, draws, 5);
  ASSERT_EQ(drawn.size(), 2U);
  const Matrix mean = model.predict(d.Z);
  for (Index t = 0; t < 2; ++t) {
    const Matrix& values = drawn[static_cast<std::size_t>(t)];
    const Matrix wanted = model.covariance(d.Z)[static_cast<std::size_t>(t)];
    const Matrix centred = values.colwise() - mean.col(t);
    const Matrix moments = centred * centred.transpose() / static_cast<double>(draws);
    for (Index i = 0; i < 7; ++i) {
      EXPECT_LT(std::abs(centred.row(i).mean()), 5 * std::sqrt(wanted(i, i) / static_cast<double>(draws)) + 1e-9);
      for (Index j = 0; j < 7; ++j) {  // the variance of a product of two normals
        const double sd = std::sqrt((wanted(i, i) * wanted(j, j) + wanted(i, j) * wanted(i, j)) / static_cast<double>(draws));
        EXPECT_LT(std::abs(moments(i, j) - wanted(i, j)), 5 * sd + 1e-9);
      }
    }
  }
  EXPECT_EQ(model.sample(d.Z, 3, 5)[0], model.sample(d.Z, 3, 5, {.threads = 1})[0]);
  EXPECT_NE(model.sample(d.Z, 3, 6)[0], model.sample(d.Z, 3, 5)[0]);
  EXPECT_EQ(model.sample(d.Z, 0, 5)[0].cols(), 0);
  // Rows that repeat have a singular covariance, and equal draws.
  const Matrix twice = d.Z.row(0).replicate(2, 1);
  const Matrix same = model.sample(twice, 4, 1)[0];
  EXPECT_LT((same.row(0) - same.row(1)).cwiseAbs().maxCoeff(), 1e-4);
}

// y from the model itself: one interval a time, so that hits are independent, 0.9 +- four standard deviations of a binomial share.
TEST(GaussianProcess, IntervalsCoverWhatTheModelDraws) {
  const Index trials = 600;
  const Kernel kernel = 2.0 * kernels::matern(1.5, 0.8);
  const double noise = 0.3;
  Index hits = 0;
  for (Index trial = 0; trial < trials; ++trial) {
    RandomStream random(100 + static_cast<std::uint64_t>(trial));
    const Matrix X = random.normal_matrix(13, 1);
    Matrix A = gram(kernel, X);
    A.diagonal().array() += noise;
    const Matrix y = A.llt().matrixL() * random.normal_matrix(13, 1);
    const auto model = fit_gaussian_process(Matrix(X.topRows(12)), y.topRows(12), {.kernel = kernel, .noise = noise, .optimize = false});
    const IntervalPrediction band = model.predict_interval(Matrix(X.bottomRows(1)), 0.9);
    if (band.lower(0, 0) <= y(12, 0) && y(12, 0) <= band.upper(0, 0)) ++hits;
  }
  EXPECT_NEAR(static_cast<double>(hits) / static_cast<double>(trials), 0.9, 4 * std::sqrt(0.09 / static_cast<double>(trials)));
}

TEST(GaussianProcess, SaysWhyThereIsNoFactor) {
  const Data d = make_data(30, 2, 1, 18);
  const auto sigmoid = message_of<InvalidArgument>(
      [&] { fit_gaussian_process(d.X, d.Y, {.kernel = kernels::sigmoid(1, -1), .noise = 1e-3, .optimize = false}); });
  EXPECT_NE(sigmoid.find("sigmoid(scale=1, offset=-1)"), std::string::npos) << sigmoid;
  EXPECT_NE(sigmoid.find("not positive definite: the pivot of sample "), std::string::npos) << sigmoid;
  EXPECT_NE(sigmoid.find("check_kernel"), std::string::npos) << sigmoid;
  Matrix repeated = d.X;
  repeated.row(7) = repeated.row(3);
  const auto twins =
      message_of<InvalidArgument>([&] { fit_gaussian_process(repeated, d.Y, {.kernel = kernels::laplacian(1), .noise = 0}); });
  EXPECT_NE(twins.find("the pivot of sample 7 is"), std::string::npos) << twins;
  EXPECT_NE(twins.find("larger noise"), std::string::npos) << twins;
  // A start without a factor does not matter where another has one.
  const auto found =
      fit_gaussian_process(d.X, d.Y, {.kernel = 1.0 * kernels::gaussian(1e5), .noise = 0, .bounds = {{1e-2, 1e5}}, .restarts = 8});
  EXPECT_GT(found.summary().best_start, 0);
}

TEST(GaussianProcess, RefusesWhatMakesNoSense) {
  const Data d = make_data(10, 2, 1, 19);
  const auto message = [&](GaussianProcessOptions options) {
    return message_of<InvalidArgument>([&] { fit_gaussian_process(d.X, d.Y, options); });
  };
  const Kernel kernel = 2.0 * kernels::gaussian(1);
  EXPECT_EQ(message({.noise = -1}), "noise must be a finite variance >= 0, got -1 for sample 0");
  EXPECT_EQ(message({.noise_per_sample = Vector::Ones(3)}), "3 noise variances for 10 samples: give one, or one each");
  EXPECT_EQ(message({.noise = 0, .optimize_noise = true}), "a noise that is optimised must start above 0");
  EXPECT_EQ(message({.kernel = kernel, .fixed = {"gaussian.scale"}}),
            "2*gaussian(1) has no parameter \"gaussian.scale\" to be fixed; it has: factor, gaussian.length_scale");
  EXPECT_NE(message({.kernel = kernel, .bounds = {{1, 2}, {1, 2}, {1, 2}}}).find("3 bounds for 2 parameters"), std::string::npos);
  EXPECT_NE(message({.kernel = kernel, .bounds = {{2, 1}}}).find("the bounds of factor must be finite with 0 < lower <= upper"),
            std::string::npos);
  EXPECT_NE(message({.restarts = -1}).find("restarts must be >= 0, got -1"), std::string::npos);
  EXPECT_THROW(fit_gaussian_process(d.X, Matrix::Zero(9, 1)), InvalidArgument);
  EXPECT_THROW(fit_gaussian_process(Matrix(0, 2), Matrix(0, 1)), InvalidArgument);
  Matrix bad = d.X;
  bad(3, 1) = std::nan("");
  EXPECT_THROW(fit_gaussian_process(bad, d.Y), InvalidArgument);
  EXPECT_THROW(fit_gaussian_process(d.X, d.Y, {.run = {.memory = 1000}}), OverBudget);
  const auto model = fit_gaussian_process(d.X, d.Y, {.noise = 0.1});
  EXPECT_THROW(model.predict(Matrix::Zero(2, 3)), InvalidArgument);
  EXPECT_THROW(model.predict_interval(d.Z, 1), InvalidArgument);
  EXPECT_THROW(model.sample(d.Z, -1, 0), InvalidArgument);
  EXPECT_EQ(model.predict_with_variance(Matrix(0, 2)).mean.rows(), 0);
  const ProgressCallback stop = [](const ProgressEvent&) { return false; };
  testing::on_new_thread([&] { EXPECT_THROW(fit_gaussian_process(d.X, d.Y, {.noise = 0.1, .run = {.progress = stop}}), Cancelled); });
  testing::on_new_thread(
      [&] { EXPECT_THROW(fit_gaussian_process(d.X, d.Y, {.noise = 0.1, .restarts = 2, .run = {.progress = stop}}), Cancelled); });
}

TEST(GaussianProcess, SparseRowsAndGivenGramMatrices) {
  const Data d = make_data(40, 3, 1, 20);
  const Kernel kernel = kernels::gaussian(1.2);
  const auto dense = fit_gaussian_process(d.X, d.Y, {.kernel = kernel, .noise = 0.1, .optimize = false});
  const auto sparse = fit_gaussian_process(CsrMatrix<double>(d.X.sparseView()), d.Y, {.kernel = kernel, .noise = 0.1, .optimize = false});
  EXPECT_LT((dense.predict(d.Z) - sparse.predict(d.Z)).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((dense.predict_with_variance(d.Z).variance - sparse.predict_with_variance(d.Z).variance).cwiseAbs().maxCoeff(), 1e-10);
  const auto given = fit_gaussian_process(gram(kernel, d.X), d.Y, {.kernel = kernels::precomputed(), .noise = 0.1});
  EXPECT_LT((dense.predict(d.Z) - given.predict(gram(kernel, d.Z, d.X))).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_EQ(message_of<InvalidArgument>([&] { given.predict_with_variance(gram(kernel, d.Z, d.X)); }),
            "variances need k(x,x) of new objects, which rows of a given Gram matrix do not tell: ask for the mean alone");
}

}  // namespace
}  // namespace mercer

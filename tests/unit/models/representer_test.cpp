// The representer solver against weak duality: a feasible dual point made here from the coefficients alone, with conjugates written here,
// bounds the optimum from below; an objective within 1e-6 of that bound is optimal to 1e-6 whatever the solver did.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/representer.hpp"

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
using Kind = Loss::Kind;

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

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

// l*(t), with t moved into its domain where rounding left it a little outside.
double conjugate(const Loss& loss, double y, double& t) {
  const double a = loss.parameter();
  switch (loss.kind()) {
    case Kind::squared:
      return t * y + t * t / 4;
    case Kind::hinge:
      t = y * std::clamp(t * y, -1.0, 0.0);
      return t * y;
    case Kind::squared_hinge:
      t = y * std::min(t * y, 0.0);
      return t * y + t * t / 4;
    case Kind::logistic: {
      const double q = std::clamp(-t * y, 0.0, 1.0);
      t = -q * y;
      return x_log_x(q) + x_log_x(1 - q);
    }
    case Kind::huber:
      t = std::clamp(t, -a, a);
      return t * y + t * t / 2;
    case Kind::epsilon:
      t = std::clamp(t, -1.0, 1.0);
      return t * y + a * std::abs(t);
    case Kind::squared_epsilon:
      return t * y + a * std::abs(t) + t * t / 4;
    case Kind::quantile:
      t = std::clamp(t, -a, 1 - a);
      return t * y;
    case Kind::expectile:
      return t * y + t * t / (4 * (t < 0 ? a : 1 - a));
    case Kind::poisson:
      t = std::max(t, -y);
      return x_log_x(t + y) - (t + y) - x_log_x(y) + y;
    default:
      return std::nan("");
  }
}

struct Bound {
  double primal = 0;
  double dual = 0;
  double imbalance = 0;  // |sum c| / sum |c|, 0 for a feasible dual point with an intercept
  double relative_gap() const { return (primal - dual) / primal; }
};

Bound bound_of(const RepresenterModel& model, const Matrix& X, const Vector& y, const Vector& weights = {}) {
  const double lambda = model.lambda()[0];
  const Vector w = weights.size() > 0 ? weights : Vector(Vector::Ones(y.size()));
  const Vector p = w / w.sum();
  const Matrix K = gram(model.kernel(), X);
  const Vector c = model.dual_coef().col(0);
  const Vector f = K * c;
  Bound out;
  Vector theta_p = Vector::Zero(y.size());
  const LossValues at = model.loss()(y, (f.array() + model.intercept()[0]).matrix());
  for (Index i = 0; i < y.size(); ++i) {
    if (p[i] == 0) continue;
    double t = -2 * lambda * c[i] / p[i];
    out.dual -= p[i] * conjugate(model.loss(), y[i], t);
    theta_p[i] = p[i] * t;
    out.primal += p[i] * at.value[i];
  }
  out.primal += lambda * c.dot(f);
  out.dual -= theta_p.dot(K * theta_p) / (4 * lambda);
  out.imbalance = std::abs(theta_p.sum()) / theta_p.cwiseAbs().sum();
  return out;
}

const std::vector<Loss> all_losses{losses::squared(),
                                   losses::hinge(),
                                   losses::squared_hinge(),
                                   losses::logistic(),
                                   losses::huber(0.5),
                                   losses::epsilon(0.3),
                                   losses::squared_epsilon(0.3),
                                   losses::quantile(0.8),
                                   losses::epsilon(0.0),
                                   losses::expectile(0.9),
                                   losses::poisson(),
                                   losses::quantile(0.05)};

// The bound above takes its dual point from the coefficients, which a gap of t fixes to sqrt(t) only; Newton's last step makes up for it.
double tight(const Loss& loss) { return loss.smooth() ? 1e-13 : 1e-9; }

class EveryLoss : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Loss& loss() const { return all_losses[GetParam()]; }
};

TEST_P(EveryLoss, ReachesAnIndependentLowerBound) {
  for (const double lambda : {1e-1, 1e-3, 1e-5}) {
    for (const bool intercept : {false, true}) {
      for (const Kernel& kernel : {kernels::gaussian(1.0), kernels::linear(), kernels::polynomial(3, 1.0, 1.0)}) {
        const Data d = make_data(150, 2, loss().targets(), 1);
        const auto model = fit_representer(
            d.X, d.Y, {.kernel = kernel, .loss = loss(), .lambda = lambda, .fit_intercept = intercept, .tolerance = tight(loss())});
        const std::string what = kernel.text() + " " + std::to_string(lambda) + (intercept ? " b " : " ") + model.summary().sentence;
        EXPECT_EQ(model.summary().status, "converged") << what;
        const Bound bound = bound_of(model, d.X, d.Y.col(0));
        EXPECT_LT(bound.relative_gap(), 1e-6) << what;
        EXPECT_GT(bound.relative_gap(), -1e-9) << what;
        EXPECT_NEAR(bound.primal, model.summary().objective, 1e-9 * bound.primal) << what;
        if (intercept) {
          EXPECT_LT(bound.imbalance, 1e-7) << what;
        }
      }
    }
  }
}

TEST_P(EveryLoss, WholeWeightsAreRepeatedSamplesAndZeroLeavesOut) {
  const Data d = make_data(60, 2, loss().targets(), 5);
  Vector w(60);
  std::vector<Index> repeated;
  for (Index i = 0; i < 60; ++i) {
    w[i] = static_cast<double>(i % 4);
    for (Index r = 0; r < i % 4; ++r) repeated.push_back(i);
  }
  const Matrix Y = d.Y(repeated, Eigen::all);
  RepresenterOptions options{.kernel = kernels::gaussian(1.0), .loss = loss(), .lambda = 1e-3, .fit_intercept = true, .tolerance = 1e-8};
  const auto plain = fit_representer(Samples(d.X).subset(repeated), Y, options);  // duplicates: a singular Gram matrix
  options.sample_weight = w;
  const auto weighted = fit_representer(d.X, d.Y, options);
  EXPECT_NEAR(weighted.summary().objective, plain.summary().objective, 1e-7 * plain.summary().objective);
  EXPECT_LT(bound_of(weighted, d.X, d.Y.col(0), w).relative_gap(), 1e-7);
  EXPECT_EQ(weighted.dual_coef()(0, 0), 0.0);
}

TEST_P(EveryLoss, DerivativesAreThoseOfTheValue) {
  RandomStream random(3);
  for (int i = 0; i < 50; ++i) {
    const Loss::Targets kind = loss().targets();
    const double drawn = 2 * random.normal();
    const Vector y = Vector::Constant(1, kind == Loss::Targets::signs    ? (drawn > 0 ? 1 : -1)
                                         : kind == Loss::Targets::counts ? std::abs(drawn)
                                                                         : drawn);
    const Vector z = Vector::Constant(1, 2 * random.normal());
    const double h = 1e-5;
    const auto value = [&](double at) { return loss()(y, Vector::Constant(1, at)).value[0]; };
    const auto first = [&](double at) { return loss()(y, Vector::Constant(1, at)).first[0]; };
    const LossValues at = loss()(y, z);
    // Central differences err by h^2/6 times a third derivative, and by h across a corner, which a draw hits with probability 1e-5.
    EXPECT_NEAR(at.first[0], (value(z[0] + h) - value(z[0] - h)) / (2 * h), 1e-6 * (1 + std::abs(at.first[0])));
    if (loss().smooth()) {
      EXPECT_NEAR(at.second[0], (first(z[0] + h) - first(z[0] - h)) / (2 * h), 1e-6 * (1 + at.second[0]));
    }
    EXPECT_GE(at.value[0], 0);
  }
}

TEST_P(EveryLoss, TextIsReadBack) { EXPECT_EQ(parse_loss(loss().text()).text(), loss().text()); }

INSTANTIATE_TEST_SUITE_P(Representer, EveryLoss, ::testing::Range<std::size_t>(0, all_losses.size()), [](const auto& at) {
  std::string name = std::to_string(at.param) + all_losses[at.param].text();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

TEST(Representer, SquaredIsKernelRidge) {
  const Data d = make_data(300, 3, Loss::Targets::real, 2);
  Matrix Y(300, 2);
  Y << d.Y, d.X.col(1);
  for (const bool intercept : {false, true}) {
    const auto model =
        fit_representer(d.X, Y, {.kernel = kernels::gaussian(1.5), .lambda = 1e-3, .fit_intercept = intercept, .tolerance = 1e-12});
    const auto ridge = fit_kernel_ridge(d.X, Y, {.kernel = kernels::gaussian(1.5), .lambda = 1e-3, .fit_intercept = intercept});
    EXPECT_LT((model.predict(d.X) - ridge.predict(d.X)).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_EQ(model.n_targets(), 2);
  }
}

TEST(Representer, SupportVectorsHaveExactZerosElsewhere) {
  const Data d = make_data(200, 2, Loss::Targets::signs, 6);
  const auto model =
      fit_representer(d.X, d.Y, {.kernel = kernels::gaussian(1.0), .loss = losses::hinge(), .lambda = 1e-3, .fit_intercept = true});
  const Matrix f = model.decision(d.X);
  const double C = 1 / (2 * 200 * 1e-3);
  Index zeros = 0;
  for (Index i = 0; i < 200; ++i) {
    const double margin = d.Y(i, 0) * f(i, 0);
    const double a = d.Y(i, 0) * model.dual_coef()(i, 0);  // in [0, C]: the box of the support vector machine
    EXPECT_GE(a, 0);
    EXPECT_LE(a, C * (1 + 1e-12));
    if (margin > 1 + 1e-3) {
      EXPECT_EQ(a, 0) << margin;
    }
    if (margin < 1 - 1e-3) {
      EXPECT_NEAR(a, C, 1e-9) << margin;
    }
    zeros += a == 0 ? 1 : 0;
  }
  EXPECT_GT(zeros, 20);
}

TEST(Representer, QuantilesHaveTheirShareBelow) {
  const Data d = make_data(400, 1, Loss::Targets::real, 7);
  for (const double level : {0.1, 0.5, 0.9}) {
    const auto model = fit_representer(
        d.X, d.Y, {.kernel = kernels::gaussian(1.0), .loss = losses::quantile(level), .lambda = 1e-4, .fit_intercept = true});
    const Vector r = d.Y - model.predict(d.X);
    // With a free intercept at most level n residuals are negative and at most (1 - level) n positive.
    EXPECT_LE((r.array() < -1e-4).count(), level * 400 + 1e-9);
    EXPECT_LE((r.array() > 1e-4).count(), (1 - level) * 400 + 1e-9);
  }
}

TEST(Representer, TakesALossOfTheUser) {
  const Data d = make_data(120, 2, Loss::Targets::real, 8);
  const Loss logcosh = losses::custom("logcosh", [](const VectorRef& y, const VectorRef& z) {
    const Eigen::ArrayXd r = (z - y).array();
    return LossValues{r.abs() + (-2 * r.abs()).exp().log1p() - std::log(2.0), r.tanh(), 1 - r.tanh().square()};
  });
  const RepresenterOptions options{
      .kernel = kernels::gaussian(1.0), .loss = logcosh, .lambda = 1e-3, .fit_intercept = true, .tolerance = 1e-12};
  const auto model = fit_representer(d.X, d.Y, options);
  EXPECT_EQ(model.summary().status, "converged");
  const Vector slope = (model.decision(d.X) - d.Y).array().tanh();
  EXPECT_LT((2e-3 * model.dual_coef() + slope / 120).cwiseAbs().maxCoeff(), 1e-7) << "the gradient vanishes";
  EXPECT_LT(std::abs(slope.sum()), 1e-10);
  EXPECT_EQ(model.loss().text(), "custom(logcosh)");

  const Loss logistic = losses::custom("mine", [](const VectorRef& y, const VectorRef& z) { return losses::logistic()(y, z); });
  const Data s = make_data(120, 2, Loss::Targets::signs, 8);
  const auto own = fit_representer(s.X, s.Y, {.kernel = kernels::gaussian(1.0), .loss = logistic, .lambda = 1e-3});
  const auto named = fit_representer(s.X, s.Y, {.kernel = kernels::gaussian(1.0), .loss = losses::logistic(), .lambda = 1e-3});
  EXPECT_EQ(own.dual_coef(), named.dual_coef());

  const Loss concave = losses::custom("concave", [](const VectorRef& y, const VectorRef& z) {
    return LossValues{-(z - y).array().square(), -2 * (z - y), Vector::Constant(z.size(), -2)};
  });
  EXPECT_EQ(message_of([&] { fit_representer(d.X, d.Y, {.loss = concave}); }),
            "the loss concave is not convex: its second derivative is -2 for sample 0");
}

TEST(Representer, TargetsFarFromZero) {
  const Data d = make_data(80, 2, Loss::Targets::real, 5);
  for (const Loss& loss : {losses::squared(), losses::quantile(0.7)}) {
    RepresenterOptions options{.kernel = kernels::gaussian(1.0), .loss = loss, .lambda = 1e-3, .fit_intercept = true, .tolerance = 1e-9};
    const Matrix near = fit_representer(d.X, d.Y, options).predict(d.X);
    for (const double far : {1e9, -1e11}) {  // moved: y itself is rounded to eps * far
      const auto moved = fit_representer(d.X, (d.Y.array() + far).matrix(), options);
      EXPECT_EQ(moved.summary().status, "converged") << loss.text();
      EXPECT_LT((moved.predict(d.X).array() - far - near.array()).abs().maxCoeff(), 1e-3) << loss.text() << " at " << far;
    }
    for (const double unit : {1e9, 1e11}) {  // in another unit, with the penalty that makes the same problem of it
      options.lambda = loss.smooth() ? 1e-3 : 1e-3 / unit;
      const auto scaled = fit_representer(d.X, unit * d.Y, options);
      EXPECT_EQ(scaled.summary().status, "converged") << loss.text();
      EXPECT_LT((scaled.predict(d.X) / unit - near).cwiseAbs().maxCoeff(), 1e-3) << loss.text() << " times " << unit;
    }
  }
}

TEST(Representer, ADerivativeThatIsNotOneIsNamed) {
  const Data d = make_data(20, 2, Loss::Targets::real, 5);
  const Loss half = losses::custom("half", [](const VectorRef& y, const VectorRef& z) {
    return LossValues{(z - y).cwiseAbs2(), z - y, Vector::Ones(z.size())};
  });
  EXPECT_NE(message_of([&] {
              fit_representer(d.X, d.Y, {.loss = half});
            }).find("the derivative of the loss custom(half) disagrees with its value"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { fit_representer(d.X, 1e200 * Matrix::Ones(20, 1)); }),
            "y is too large to square (largest |y| is 1e+200); divide it, say by 1e+200");
}

TEST(Representer, OmegaOfTheNorm) {
  const Data d = make_data(80, 2, Loss::Targets::real, 9);
  RepresenterOptions options{
      .kernel = kernels::gaussian(1.0), .loss = losses::huber(1.0), .lambda = 3e-3, .fit_intercept = true, .tolerance = 1e-10};
  const auto plain = fit_representer(d.X, d.Y, options);
  options.omega = [](double norm) { return 3e-3 * norm * norm; };
  const auto same = fit_representer(d.X, d.Y, options);
  EXPECT_NEAR(same.summary().objective, plain.summary().objective, 1e-8 * plain.summary().objective);
  EXPECT_NEAR(std::log(same.lambda()[0] / 3e-3), 0, 1e-3);
  options.omega = [](double norm) { return 0.05 * norm; };  // stationary where 0.05 = 2 lambda |f|
  const auto linear = fit_representer(d.X, d.Y, options);
  EXPECT_NEAR(2 * linear.lambda()[0] * std::sqrt(linear.summary().squared_norm), 0.05, 0.05 * 1e-3);
  options.omega = [](double norm) { return norm <= 1 ? 0 : std::numeric_limits<double>::infinity(); };  // a ball
  const auto ball = fit_representer(d.X, d.Y, options);
  EXPECT_NEAR(ball.summary().squared_norm, 1, 1e-3);
  EXPECT_LE(ball.summary().squared_norm, 1);
}

TEST(Representer, WhiteNoiseAndLandmarksDoNotGoTogether) {
  const Matrix X = RandomStream(3).normal_matrix(60, 2);
  RepresenterOptions options{.kernel = kernels::gaussian(1.0) + kernels::white(0.1), .landmarks = 20};
  EXPECT_THROW(fit_representer(X, Vector(X.col(0)), options), InvalidArgument);
  options.landmarks = 0;
  EXPECT_NO_THROW(fit_representer(X, Vector(X.col(0)), options));
}

TEST(Representer, AllSamplesAsLandmarksIsExactAndFewSayIt) {
  for (const Loss& loss : {losses::logistic(), losses::hinge(), losses::squared()}) {
    const Data d = make_data(300, 2, Loss::Targets::signs, 10);
    RepresenterOptions options{.kernel = kernels::gaussian(2.0), .loss = loss, .lambda = 1e-2, .fit_intercept = true};
    const auto exact = fit_representer(d.X, d.Y, options);
    options.landmarks = 299;  // a smooth kernel: the one left out is a combination of the others to rounding
    const auto almost = fit_representer(d.X, d.Y, options);
    EXPECT_NEAR(almost.summary().objective, exact.summary().objective, 1e-6 * exact.summary().objective);
    EXPECT_EQ(almost.summary().landmarks, 299);
    EXPECT_NE(almost.summary().sentence.find("on 299 landmarks of 300 samples"), std::string::npos);
    options.landmarks = 60;
    options.run.memory = 200000;  // the features do not fit, so tiles are made in each pass
    const auto streamed = fit_representer(d.X, d.Y, options);
    options.run.memory = 0;
    const auto stored = fit_representer(d.X, d.Y, options);
    EXPECT_NEAR(streamed.summary().objective, stored.summary().objective, 1e-6 * stored.summary().objective);
    EXPECT_GE(stored.summary().objective, exact.summary().objective * (1 - 1e-6));
    EXPECT_EQ(stored.samples().size(), 60);
  }
}

TEST(Representer, SameBitsForAnyNumberOfThreads) {
  const Data d = make_data(600, 3, Loss::Targets::signs, 11);
  for (const Index landmarks : {0, 50}) {
    RepresenterOptions options{.kernel = kernels::gaussian(1.0), .loss = losses::logistic(), .lambda = 1e-4, .landmarks = landmarks};
    options.run.threads = 1;
    const auto one = fit_representer(d.X, d.Y, options);
    options.run.threads = 2;
    EXPECT_EQ(one.dual_coef(), fit_representer(d.X, d.Y, options).dual_coef());
  }
}

TEST(Representer, SeparableDataWithTinyLambdaConverges) {
  const Data d = make_data(100, 2, Loss::Targets::signs, 12);
  for (const Loss& loss : {losses::logistic(), losses::hinge(), losses::squared_hinge()}) {
    for (const double lambda : {1e-8, 1e-10}) {
      const auto model = fit_representer(d.X, d.Y,
                                         {.kernel = kernels::gaussian(0.3),
                                          .loss = loss,
                                          .lambda = lambda,
                                          .fit_intercept = true,
                                          .tolerance = loss.smooth() ? 1e-9 : 1e-7});
      EXPECT_EQ(model.summary().status, "converged") << loss.text() << model.summary().sentence;
      EXPECT_LT(bound_of(model, d.X, d.Y.col(0)).relative_gap(), 1e-6) << loss.text() << model.summary().sentence;
    }
  }
}

TEST(Representer, AnIterationLimitIsSaid) {
  const Data d = make_data(100, 2, Loss::Targets::signs, 13);
  const auto model =
      fit_representer(d.X, d.Y, {.kernel = kernels::gaussian(0.5), .loss = losses::logistic(), .lambda = 1e-6, .max_iterations = 2});
  EXPECT_EQ(model.summary().status, "iteration limit");
  EXPECT_EQ(model.summary().iterations, 2);
  EXPECT_GT(model.summary().relative_gap, 1e-7);
  EXPECT_EQ(model.summary().sentence.find("iteration limit reached: 2 Newton steps"), 0U);
}

TEST(Representer, BadInputIsNamed) {
  const Data d = make_data(10, 2, Loss::Targets::real, 14);
  EXPECT_EQ(message_of([&] { fit_representer(d.X, d.Y, {.lambda = 0}); }), "lambda must be a finite number > 0, got 0");
  EXPECT_EQ(message_of([&] { fit_representer(d.X, d.Y.topRows(4)); }), "X has 10 samples but y has 4");
  EXPECT_NE(message_of([&] { fit_representer(d.X, d.Y, {.loss = losses::hinge()}); }).find("the loss hinge wants targets -1 or 1"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit_representer(d.X, -d.Y.cwiseAbs(), {.loss = losses::poisson()}); }).find("wants targets >= 0"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit_representer(d.X, d.Y, {.kernel = -1.0 * kernels::gaussian(1)}); }).find("not positive semi-definite"),
            std::string::npos);
  Matrix K = gram(kernels::gaussian(1), d.X);
  K.diagonal().array() -= 0.9;
  EXPECT_NE(
      message_of([&] { fit_representer(K, d.Y, {.kernel = kernels::precomputed()}); }).find("not positive semi-definite on these samples"),
      std::string::npos);
  EXPECT_NE(message_of([&] {
              fit_representer(d.X, Matrix::Ones(10, 1), {.loss = losses::logistic(), .fit_intercept = true});
            }).find("no finite best intercept"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { losses::quantile(1.5); }), "quantile must lie between 0 and 1, got 1.5");
  EXPECT_NE(message_of([&] { parse_loss("hugs"); }).find("\"hugs\" is not a loss; known are squared, hinge"), std::string::npos);
  EXPECT_NE(message_of([&] {
              fit_representer(Matrix::Ones(3000, 1), Matrix::Ones(3000, 1), {.run = {.memory = 1'000'000}});
            }).find("the representer solver on 3000 samples"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { fit_representer(d.X, d.Y).predict(Matrix::Ones(1, 3)); }), "X has 3 columns, the model was fitted on 2");
}

TEST(Representer, OneRowConstantColumnsAndFloatAndSparseRows) {
  const auto lonely =
      fit_representer(Matrix::Ones(1, 1), Matrix::Constant(1, 1, 3.0),
                      {.kernel = kernels::gaussian(1), .loss = losses::epsilon(0.5), .lambda = 1e-3, .fit_intercept = false});
  EXPECT_NEAR(lonely.predict(Matrix::Ones(1, 1))(0, 0), 2.5, 1e-4);
  const Data d = make_data(90, 4, Loss::Targets::real, 15);
  Matrix X = (d.X.array().abs() < 0.5).select(0, d.X);
  X.col(2).setConstant(7);
  const RepresenterOptions options{.kernel = kernels::gaussian(1.5), .loss = losses::huber(0.5), .lambda = 1e-3};
  const auto dense = fit_representer(X, d.Y, options);
  const CsrMatrix<double> sparse = X.sparseView();
  EXPECT_LT((dense.predict(X) - fit_representer(sparse, d.Y, options).predict(X)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((dense.predict(X) - fit_representer(MatrixF(X.cast<float>()), d.Y, options).predict(X)).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_EQ(dense.predict(Matrix(0, 4)).rows(), 0);
}

TEST(Representer, CancelStopsTheFit) {
  const Data d = make_data(2000, 3, Loss::Targets::signs, 16);
  int calls = 0;
  const ProgressCallback stop = [&](const ProgressEvent&) { return ++calls < 3; };
  EXPECT_THROW(fit_representer(d.X, d.Y, {.kernel = kernels::gaussian(1), .loss = losses::logistic(), .run = {.progress = stop}}),
               Cancelled);
}

}  // namespace
}  // namespace mercer

// Linear support vector machines against naive solvers on dense matrices: projected gradients on the dual of the hinge, damped Newton on
// the primal of the squared hinge, both written from the definitions. SPDX-License-Identifier: BSD-3-Clause
#include "mercer/linear_svc.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "mercer/error.hpp"
#include "mercer/folds.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;
using Loss = LinearSvcOptions::Loss;
using Solver = LinearSvcOptions::Solver;

struct Data {
  Matrix X;
  std::vector<Index> labels;
};

Data make_classes(Index n, Index d, Index classes, std::uint64_t seed) {
  RandomStream random(seed);
  Data out{random.normal_matrix(n, d), {}};
  const Matrix W = random.normal_matrix(d, classes);
  for (Index i = 0; i < n; ++i) {
    Index best = 0;
    (out.X.row(i) * W + 0.8 * random.normal_matrix(1, classes)).maxCoeff(&best);
    out.labels.push_back(i < classes ? i : best);  // every class is there
  }
  return out;
}

CsrMatrix<double> sparse_rows(Index n, Index d, double density, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<Eigen::Triplet<double>> cells;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      if (random.uniform() < density) cells.emplace_back(static_cast<int>(i), static_cast<int>(j), random.normal());
    }
  }
  CsrMatrix<double> X(n, d);
  X.setFromTriplets(cells.begin(), cells.end());
  return X;
}

std::vector<Index> labels_of(const Vector& scores) {
  std::vector<Index> out;
  for (const double s : scores) out.push_back(s > 0 ? 1 : 0);
  return out;
}

// One function: its design with the constant column, signs and weights.
struct Naive {
  Matrix Z;
  Vector y;
  Vector C;

  double objective(const Vector& w, bool squared) const {
    const Vector short_of = (1 - y.array() * (Z * w).array()).max(0.0);
    return w.squaredNorm() / 2 + (squared ? C.dot(short_of.cwiseAbs2()) : C.dot(short_of));
  }

  // The dual of the hinge, by accelerated projected gradients: a lower bound of the optimum for any a.
  double hinge_optimum() const {
    const Matrix A = y.asDiagonal() * Z;
    const Matrix Q = A * A.transpose();
    const double step = 1 / Q.trace();
    Vector a = Vector::Zero(y.size());
    Vector b = a;
    double t = 1;
    for (int k = 0; k < 400000; ++k) {
      const Vector next = (b - step * (Q * b - Vector::Ones(y.size()))).cwiseMax(0.0).cwiseMin(C);
      if ((next - a).dot(b - next) > 0) t = 1;  // restart where it overshoots
      const double t_next = (1 + std::sqrt(1 + 4 * t * t)) / 2;
      b = next + (t - 1) / t_next * (next - a);
      const double change = (next - a).norm();
      a = next;
      t = t_next;
      if (change < 1e-15) break;
    }
    return a.sum() - 0.5 * a.dot(Q * a);
  }

  Vector squared_minimiser() const {
    Vector w = Vector::Zero(Z.cols());
    for (int k = 0; k < 200; ++k) {
      Matrix H = Matrix::Identity(Z.cols(), Z.cols());
      Vector g = w;
      for (Index i = 0; i < Z.rows(); ++i) {
        const double m = 1 - y[i] * Z.row(i).dot(w);
        if (m <= 0) continue;
        g -= 2 * C[i] * m * y[i] * Z.row(i).transpose();
        H += 2 * C[i] * Z.row(i).transpose() * Z.row(i);
      }
      if (g.norm() < 1e-13) break;
      const Vector s = H.ldlt().solve(-g);
      double step = 1;
      while (step > 1e-12 && objective(w + step * s, true) > objective(w, true)) step /= 2;
      w += step * s;
    }
    return w;
  }
};

Naive naive_of(const Data& d, Index positive, double bias, const Vector& C) {
  Naive out{Matrix(d.X.rows(), d.X.cols() + (bias != 0 ? 1 : 0)), Vector(d.X.rows()), C};
  out.Z.leftCols(d.X.cols()) = d.X;
  if (bias != 0) out.Z.rightCols(1).setConstant(bias);
  for (Index i = 0; i < d.X.rows(); ++i) out.y[i] = d.labels[static_cast<std::size_t>(i)] == positive ? 1 : -1;
  return out;
}

Vector all_of(const LinearSvcModel& m, Index row, double bias) {
  Vector w(m.coef().cols() + (bias != 0 ? 1 : 0));
  w.head(m.coef().cols()) = m.coef().row(row).transpose();
  if (bias != 0) w[m.coef().cols()] = m.intercept()[row] / bias;
  return w;
}

LinearSvcOptions exact(Loss loss, Solver solver) {
  LinearSvcOptions o;
  o.loss = loss;
  o.solver = solver;
  o.tolerance = 1e-10;
  o.max_iterations = 200000;
  return o;
}

class BothSolvers : public ::testing::TestWithParam<std::tuple<Solver, double>> {};
INSTANTIATE_TEST_SUITE_P(LinearSvc, BothSolvers,
                         ::testing::Combine(::testing::Values(Solver::newton, Solver::coordinate_descent),
                                            ::testing::Values(0.0, 1.0, 2.5)));

TEST_P(BothSolvers, HingeReachesTheNaiveDualOptimum) {
  const auto [solver, bias] = GetParam();
  const Data d = make_classes(40, 3, 2, 1);
  LinearSvcOptions o = exact(Loss::hinge, solver);
  o.C = 0.7;
  o.fit_intercept = bias != 0;
  o.intercept_scaling = bias != 0 ? bias : 1;
  const LinearSvcModel m = fit_linear_svc(d.X, d.labels, o);
  const Naive naive = naive_of(d, 1, bias, Vector::Constant(40, 0.7));
  const double optimum = naive.hinge_optimum();
  const double reached = naive.objective(all_of(m, 0, bias), false);
  EXPECT_NEAR(reached, optimum, 1e-8 * optimum);
  EXPECT_NEAR(m.summary().objective, reached, 1e-12 * reached);
  EXPECT_GE(m.summary().gap, reached - optimum - 1e-11 * optimum);
  EXPECT_LE(m.summary().gap, 1e-10 * reached);
  EXPECT_EQ(m.summary().status, "converged");
}

TEST_P(BothSolvers, SquaredHingeHasTheNaiveMinimiser) {
  const auto [solver, bias] = GetParam();
  const Data d = make_classes(60, 5, 3, 2);
  LinearSvcOptions o = exact(Loss::squared_hinge, solver);
  o.C = 2;
  o.fit_intercept = bias != 0;
  o.intercept_scaling = bias != 0 ? bias : 1;
  const LinearSvcModel m = fit_linear_svc(d.X, d.labels, o);
  ASSERT_EQ(m.coef().rows(), 3);
  double sum = 0;
  for (Index k = 0; k < 3; ++k) {
    const Naive naive = naive_of(d, k, bias, Vector::Constant(60, 2));
    const Vector w = naive.squared_minimiser();
    const double optimum = naive.objective(w, true);
    // Strong convexity: |w - w*|^2 / 2 <= gap.
    EXPECT_LE((all_of(m, k, bias) - w).norm(), std::sqrt(2e-10 * optimum) + 1e-9);
    EXPECT_NEAR(naive.objective(all_of(m, k, bias), true), optimum, 1e-10 * optimum);
    sum += optimum;
  }
  EXPECT_NEAR(m.summary().objective, sum, 1e-9 * sum);
}

TEST_P(BothSolvers, RowsOfEveryKindAgree) {
  const auto [solver, bias] = GetParam();
  const CsrMatrix<double> rows = sparse_rows(150, 20, 0.3, 3);
  const CsrMatrix<float> narrow = rows.cast<float>();
  const CsrMatrix<double> same = narrow.cast<double>();
  const std::vector<Index> labels = labels_of(Matrix(same).rowwise().sum() + 0.7 * RandomStream(4).normal_matrix(150, 1));
  for (const Loss loss : {Loss::hinge, Loss::squared_hinge}) {
    LinearSvcOptions o = exact(loss, solver);
    o.C = 0.5;
    o.fit_intercept = bias != 0;
    const LinearSvcModel reference = fit_linear_svc(Matrix(same), labels, o);
    for (const Samples& X : {Samples(same), Samples(narrow), Samples(MatrixF(Matrix(same).cast<float>()))}) {
      const LinearSvcModel m = fit_linear_svc(X, labels, o);
      EXPECT_NEAR(m.summary().objective, reference.summary().objective, 2e-10 * reference.summary().objective);
      EXPECT_LE((m.coef() - reference.coef()).norm(), 2 * std::sqrt(2e-10 * reference.summary().objective));
      EXPECT_LE((m.decision(X) - reference.decision(Matrix(same))).cwiseAbs().maxCoeff(), 1e-3);
    }
  }
}

TEST_P(BothSolvers, WeightsAreRepetitions) {
  const auto [solver, bias] = GetParam();
  const Data d = make_classes(50, 4, 2, 5);
  RandomStream random(6);
  Vector weights(50);
  std::vector<Index> repeated;
  for (Index i = 0; i < 50; ++i) {
    weights[i] = i < 2 ? 1 : static_cast<double>(random.below(4));
    for (int k = 0; k < static_cast<int>(weights[i]); ++k) repeated.push_back(i);
  }
  std::vector<Index> labels;
  for (const Index i : repeated) labels.push_back(d.labels[static_cast<std::size_t>(i)]);
  for (const Loss loss : {Loss::hinge, Loss::squared_hinge}) {
    LinearSvcOptions o = exact(loss, solver);
    o.fit_intercept = bias != 0;
    o.lambda = 0.02;
    const LinearSvcModel twice = fit_linear_svc(Samples(d.X).subset(repeated), labels, o);
    o.sample_weight = weights;
    const LinearSvcModel weighted = fit_linear_svc(d.X, d.labels, o);
    EXPECT_NEAR(weighted.summary().objective, twice.summary().objective, 2e-10 * twice.summary().objective);
    EXPECT_LE((weighted.coef() - twice.coef()).norm(), 2 * std::sqrt(2e-10 * twice.summary().objective));
    EXPECT_DOUBLE_EQ(weighted.C(), 1 / (2 * 0.02 * weights.sum()));
  }
}

TEST_P(BothSolvers, ClassWeightsAreThoseOfLiblinear) {
  const auto [solver, bias] = GetParam();
  for (const Index classes : {2, 3}) {
    const Data d = make_classes(60, 3, classes, 7);
    LinearSvcOptions o = exact(Loss::squared_hinge, solver);
    o.fit_intercept = bias != 0;
    o.intercept_scaling = bias != 0 ? bias : 1;
    o.class_weight = Vector::LinSpaced(classes, 0.5, 3);
    const LinearSvcModel m = fit_linear_svc(d.X, d.labels, o);
    for (Index k = 0; k < m.coef().rows(); ++k) {
      const Index positive = classes == 2 ? 1 : k;
      Vector C(60);
      for (Index i = 0; i < 60; ++i) {
        const Index label = d.labels[static_cast<std::size_t>(i)];
        C[i] = classes == 2 || label == positive ? o.class_weight[label] : 1;
      }
      const Naive naive = naive_of(d, positive, bias, C);
      const double optimum = naive.objective(naive.squared_minimiser(), true);
      EXPECT_NEAR(naive.objective(all_of(m, k, bias), true), optimum, 1e-9 * optimum);
    }
  }
}

TEST(LinearSvc, ManyColumnsOfNewtonAndDescentMeet) {
  // Conjugate gradients, and several blocks of rows: sparse and dense.
  const CsrMatrix<double> rows = sparse_rows(4000, 1200, 0.02, 8);
  const Vector truth = rows * RandomStream(9).normal_matrix(1200, 1) + 2.0 * RandomStream(10).normal_matrix(4000, 1);
  const std::vector<Index> labels = labels_of(truth);
  for (const Loss loss : {Loss::squared_hinge, Loss::hinge}) {
    LinearSvcOptions o;
    o.loss = loss;
    o.C = 0.05;
    o.tolerance = 1e-8;
    o.solver = Solver::newton;
    const LinearSvcModel newton = fit_linear_svc(rows, labels, o);
    o.solver = Solver::coordinate_descent;
    const LinearSvcModel descent = fit_linear_svc(rows, labels, o);
    EXPECT_EQ(newton.summary().status, "converged");
    EXPECT_EQ(descent.summary().status, "converged");
    EXPECT_NEAR(newton.summary().objective, descent.summary().objective, 1e-8 * newton.summary().objective);
  }
  const Matrix dense = Matrix(rows.topRows(600)).leftCols(500);
  const std::vector<Index> few(labels.begin(), labels.begin() + 600);
  LinearSvcOptions o = exact(Loss::squared_hinge, Solver::newton);
  const LinearSvcModel newton = fit_linear_svc(dense, few, o);
  o.solver = Solver::coordinate_descent;
  EXPECT_NEAR(newton.summary().objective, fit_linear_svc(dense, few, o).summary().objective, 1e-9 * newton.summary().objective);
}

TEST(LinearSvc, ThreadsDoNotChangeAnyBit) {
  const CsrMatrix<double> rows = sparse_rows(6000, 700, 0.03, 11);
  const Matrix scores = rows * RandomStream(12).normal_matrix(700, 3);
  std::vector<Index> three;
  for (Index i = 0; i < scores.rows(); ++i) {
    three.push_back(0);
    scores.row(i).maxCoeff(&three.back());
  }
  const std::vector<Index> two = labels_of(scores.col(0));
  for (const Solver solver : {Solver::newton, Solver::coordinate_descent}) {
    for (const auto& labels : {two, three}) {
      LinearSvcOptions o;
      o.solver = solver;
      o.C = 0.01;
      o.run.threads = 1;
      const LinearSvcModel one = fit_linear_svc(rows, labels, o);
      o.run.threads = 2;
      const LinearSvcModel both = fit_linear_svc(rows, labels, o);
      EXPECT_TRUE((one.coef().array() == both.coef().array()).all());
      EXPECT_TRUE((one.intercept().array() == both.intercept().array()).all());
    }
  }
}

TEST(LinearSvc, ChoosesByShape) {
  const auto method = [](Index n, Index d, Loss loss) {
    LinearSvcOptions o;
    o.loss = loss;
    const CsrMatrix<double> rows = sparse_rows(n, d, 3.0 / static_cast<double>(d), 13);
    std::vector<Index> labels;
    for (Index i = 0; i < n; ++i) labels.push_back(i % 2);
    return fit_linear_svc(rows, labels, o).summary().method;
  };
  EXPECT_EQ(method(50, 20, Loss::hinge), "Newton");
  EXPECT_EQ(method(1500, 1200, Loss::squared_hinge), "Newton");
  EXPECT_EQ(method(1500, 1200, Loss::hinge), "coordinate descent");
  EXPECT_EQ(method(50, 1200, Loss::squared_hinge), "coordinate descent");
}

TEST(LinearSvc, IterationLimitIsAStatus) {
  const Data d = make_classes(200, 6, 2, 14);
  for (const Solver solver : {Solver::newton, Solver::coordinate_descent}) {
    LinearSvcOptions o = exact(Loss::hinge, solver);
    o.max_iterations = 1;
    const LinearSvcModel m = fit_linear_svc(d.X, d.labels, o);
    EXPECT_EQ(m.summary().status, "iteration limit");
    EXPECT_EQ(m.summary().iterations, 1);
    EXPECT_TRUE(m.coef().allFinite());
    const Naive naive = naive_of(d, 1, 1, Vector::Ones(200));
    const double reached = naive.objective(all_of(m, 0, 1), false);
    EXPECT_NEAR(m.summary().objective, reached, 1e-10 * reached);
    EXPECT_GE(m.summary().gap, reached - naive.hinge_optimum() - 1e-9 * reached);  // it says how far away it may be
    EXPECT_NE(m.summary().sentence.find("limit of 1"), std::string::npos);
  }
}

TEST(LinearSvc, ExtremesStayFinite) {
  Data d = make_classes(80, 3, 2, 15);
  d.X.col(0) *= 1e5;
  d.X.col(2).setZero();
  d.X.row(7).setZero();
  for (const double C : {1e-12, 1.0, 1e6}) {
    for (const Loss loss : {Loss::hinge, Loss::squared_hinge}) {
      LinearSvcOptions o;
      o.C = C;
      o.loss = loss;
      o.fit_intercept = C != 1.0;
      const LinearSvcModel m = fit_linear_svc(d.X, d.labels, o);
      EXPECT_TRUE(m.coef().allFinite());
      EXPECT_LE(m.summary().relative_gap, 1e-6) << C;
      EXPECT_EQ(m.coef()(0, 2), 0);
      o.solver = Solver::coordinate_descent;
      o.max_iterations = 50;
      EXPECT_TRUE(fit_linear_svc(d.X, d.labels, o).coef().allFinite());
    }
  }
}

TEST(LinearSvc, SearchFromTheLastCFindsWhatFreshFitsFind) {
  const Data d = make_classes(150, 6, 3, 16);
  for (const Solver solver : {Solver::newton, Solver::coordinate_descent}) {
    LinearSvcOptions o;
    o.solver = solver;
    o.seed = 5;
    Vector grid(3);
    grid << 1, 0.01, 0.1;
    const LinearSvcSearch search = search_linear_svc(d.X, d.labels, o, grid, 4);
    ASSERT_EQ(search.accuracy.rows(), 3);
    ASSERT_EQ(search.accuracy.cols(), 4);
    const std::vector<Fold> folds = stratified_folds(d.labels, 4, true, 5);
    for (Index c = 0; c < 3; ++c) {
      for (Index f = 0; f < 4; ++f) {
        const Fold& fold = folds[static_cast<std::size_t>(f)];
        std::vector<Index> train;
        for (const Index i : fold.train) train.push_back(d.labels[static_cast<std::size_t>(i)]);
        o.C = search.C[c];
        const Matrix scores = fit_linear_svc(Samples(d.X).subset(fold.train), train, o).decision(Samples(d.X).subset(fold.test));
        double right = 0;
        for (Index i = 0; i < scores.rows(); ++i) {
          Index guess = 0;
          scores.row(i).maxCoeff(&guess);
          right += guess == d.labels[static_cast<std::size_t>(fold.test[static_cast<std::size_t>(i)])] ? 1 : 0;
        }
        // One sample on the border may fall to either side.
        EXPECT_NEAR(search.accuracy(c, f), right / static_cast<double>(scores.rows()), 1.01 / static_cast<double>(scores.rows()));
      }
    }
    EXPECT_EQ(search.C[0], 0.01);
    EXPECT_EQ(search.mean[search.best], search.mean.maxCoeff());
  }
  const LinearSvcSearch automatic = search_linear_svc(d.X, d.labels);
  EXPECT_EQ(automatic.C.size(), 9);
  EXPECT_GT(automatic.mean[automatic.best], 0.6);
}

TEST(LinearSvc, SaysWhatIsWrong) {
  const Data d = make_classes(20, 3, 2, 17);
  const auto fails = [&](const LinearSvcOptions& o) { return message_of<InvalidArgument>([&] { fit_linear_svc(d.X, d.labels, o); }); };
  EXPECT_EQ(fails({.C = 0}), "C must be a finite number > 0, got 0");
  EXPECT_EQ(fails({.lambda = -1.0}), "lambda must be a finite number > 0, got -1");
  EXPECT_EQ(fails({.intercept_scaling = -2}), "intercept_scaling must be a finite number > 0, got -2");
  EXPECT_EQ(fails({.tolerance = 0}), "tolerance must be a finite number > 0, got 0");
  EXPECT_EQ(fails({.max_iterations = 0}), "max_iterations must be at least 1, got 0");
  EXPECT_EQ(fails({.class_weight = Vector::Ones(3)}), "class_weight has 3 numbers for 2 classes");
  EXPECT_EQ(fails({.class_weight = Vector::Zero(2)}), "class_weight must be finite and > 0");
  EXPECT_EQ(fails({.sample_weight = Vector::Ones(3)}), "sample_weight has 3 numbers for 20 samples");
  EXPECT_EQ(fails({.sample_weight = Vector::Zero(20)}), "all sample weights are zero: nothing to learn from");
  Vector one_class(20);
  for (Index i = 0; i < 20; ++i) one_class[i] = d.labels[static_cast<std::size_t>(i)] == 0 ? 1 : 0;
  EXPECT_EQ(fails({.sample_weight = one_class}), "class 1 has no sample of positive weight");
  const auto of = [&](const Samples& X, const std::vector<Index>& labels) {
    return message_of<InvalidArgument>([&] { fit_linear_svc(X, labels); });
  };
  EXPECT_EQ(of(d.X, std::vector<Index>(20, 0)), "there is only one class: a classifier needs samples of at least two");
  EXPECT_EQ(of(d.X, {0, 1}), "X has 20 samples but y has 2");
  EXPECT_EQ(of(Matrix(0, 3), {}), "there are no samples: X must have at least one row");
  EXPECT_EQ(of(Matrix(2, 0), {0, 1}), "the samples have no columns: X must have at least one column");
  Matrix bad = d.X;
  bad(3, 1) = std::nan("");
  EXPECT_EQ(of(bad, d.labels), "X has a NaN in row 3, column 1 (counting from 0); remove the row or fill the value in");
  EXPECT_NE(of(Samples::given_gram(Matrix(d.X * d.X.transpose())), d.labels).find("looks at columns"), std::string::npos);
  const LinearSvcModel m = fit_linear_svc(d.X, d.labels);
  EXPECT_EQ(message_of<InvalidArgument>([&] { m.decision(Matrix(2, 4)); }), "X has 4 columns, the model was fitted on 3");
  EXPECT_EQ(message_of<InvalidArgument>([&] { search_linear_svc(d.X, d.labels, {}, Vector::Zero(2)); }),
            "every C of the grid must be a finite number > 0");
}

TEST(LinearSvc, IsCancelled) {
  const Data d = make_classes(2000, 30, 2, 18);
  for (const Solver solver : {Solver::newton, Solver::coordinate_descent}) {
    LinearSvcOptions o = exact(Loss::hinge, solver);
    o.run.progress = [](const ProgressEvent&) { return false; };
    testing::on_new_thread([&] { EXPECT_THROW(fit_linear_svc(d.X, d.labels, o), Cancelled); });
  }
}

}  // namespace
}  // namespace mercer

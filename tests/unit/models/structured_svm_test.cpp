// Structured machines against a dense interior-point solver, against problems written by their definitions with searches by enumeration,
// and on data with a known answer.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/structured_svm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "models/structured_fit.hpp"
#include "reference/dense_qp.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

struct Data {
  Matrix X;
  std::vector<Index> labels;
};

Data make_classes(Index n, Index classes, std::uint64_t seed, Index width = 3) {
  RandomStream random(seed);
  Data d{random.normal_matrix(n, width), {}};
  for (Index i = 0; i < n; ++i) {
    const double angle = std::atan2(d.X(i, 1), d.X(i, 0)) / 6.2831853072 + 0.5 + 0.08 * random.normal();
    d.labels.push_back(i < classes ? i : std::clamp<Index>(static_cast<Index>(angle * static_cast<double>(classes)), 0, classes - 1));
  }
  return d;
}

// Crammer and Singer's dual written out over all pairs of a sample and a class; its optimum, which is that of the primal.
double optimum(const Matrix& K, const std::vector<Index>& labels, Index classes, const Vector& C) {
  const Index n = K.rows();
  const Index m = n * classes;
  naive::DenseQp qp;
  qp.K = naive::LongMatrix(m, m);
  qp.p = naive::LongVector(m);
  qp.lower = qp.kink = naive::LongVector::Zero(m);
  qp.upper = naive::LongVector::Ones(m);
  qp.A = naive::LongMatrix::Zero(n, m);
  qp.sums = naive::LongVector::Ones(n);
  const auto truth = [&](Index i) { return labels[static_cast<std::size_t>(i)]; };
  for (Index i = 0; i < n; ++i) {
    for (Index y = 0; y < classes; ++y) {
      qp.p[i * classes + y] = y == truth(i) ? 0 : -C[i];
      qp.A(i, i * classes + y) = 1;
      for (Index j = 0; j < n; ++j) {
        for (Index z = 0; z < classes; ++z) {
          const int same = (truth(i) == truth(j)) - (truth(i) == z) - (y == truth(j)) + (y == z);
          qp.K(i * classes + y, j * classes + z) = static_cast<long double>(C[i] * C[j] * K(i, j)) * same;
        }
      }
    }
  }
  const naive::DenseQpSolution solution = naive::solve_dense_qp(qp);
  EXPECT_LT(solution.gap, 1e-12L * std::abs(solution.objective));
  return static_cast<double>(-solution.objective);
}

// The dual is below the optimum, the objective above it by no more than the gap.
void expect_brackets(const StructuredSvmSummary& s, double best) {
  const double rounding = 1e-12 * std::abs(best);
  EXPECT_LE(s.dual, best + rounding);
  EXPECT_GE(s.objective, best - rounding);
  EXPECT_LE(s.objective - best, s.gap + rounding);
  EXPECT_GE(s.gap, 0);
}

// The objective is 1-strongly convex: a w with gap g is within sqrt(2 g) of the best one.
double distance_bound(const StructuredSvmSummary& a, const StructuredSvmSummary& b) {
  return std::sqrt(2 * a.gap) + std::sqrt(2 * b.gap) + 1e-12;
}

TEST(MulticlassSvm, LinearMeetsTheDenseSolver) {
  const Data d = make_classes(24, 3, 1);
  for (const bool intercept : {false, true}) {
    for (const double C : {0.05, 1.0, 20.0}) {
      const double best = optimum((d.X * d.X.transpose()).array() + (intercept ? 1 : 0), d.labels, 3, Vector::Constant(24, C));
      for (const double tolerance : {1e-1, 1e-3, 1e-9}) {
        const auto model = fit_multiclass_svm(
            d.X, d.labels, {.C = C, .fit_intercept = intercept, .tolerance = tolerance, .max_passes = 100000, .run = {}});
        EXPECT_EQ(model.summary().status, "converged") << model.summary().sentence;
        EXPECT_LE(model.summary().gap, tolerance * model.summary().objective);
        expect_brackets(model.summary(), best);
      }
    }
  }
}

TEST(MulticlassSvm, TheReportedObjectiveIsThatOfTheCoefficients) {
  const Data d = make_classes(60, 4, 2);
  const auto model = fit_multiclass_svm(d.X, d.labels, {.C = 0.7});
  const Matrix f = model.decision(d.X);
  double objective = (model.parts().coef.squaredNorm() + model.intercept().squaredNorm()) / 2;
  for (Index i = 0; i < 60; ++i) {
    const Index y = d.labels[static_cast<std::size_t>(i)];
    double worst = 0;
    for (Index c = 0; c < 4; ++c) worst = std::max(worst, f(i, c) - f(i, y) + (c == y ? 0 : 1));
    objective += 0.7 * worst;
  }
  EXPECT_NEAR(model.summary().objective, objective, 1e-12 * objective);
  EXPECT_NEAR(model.intercept().sum(), 0, 1e-12);  // a machine of this kind never moves all classes together
}

TEST(MulticlassSvm, KernelsMeetTheDenseSolver) {
  const Data d = make_classes(20, 4, 3);
  const Kernel kernel = kernels::gaussian(0.8);
  const double best = optimum(gram(kernel, d.X).array() + 1, d.labels, 4, Vector::Constant(20, 5.0));
  const auto model = fit_multiclass_svm(d.X, d.labels, {.kernel = kernel, .C = 5, .tolerance = 1e-8, .max_passes = 100000});
  EXPECT_EQ(model.summary().status, "converged");
  expect_brackets(model.summary(), best);
  EXPECT_FALSE(model.is_linear());
  EXPECT_EQ(model.summary().support_vectors, model.samples().size());
  for (std::size_t s = 0; s < model.parts().support.size(); ++s)
    EXPECT_EQ(model.samples().to_dense().row(static_cast<Index>(s)), d.X.row(model.parts().support[s]));
}

TEST(MulticlassSvm, TheLinearKernelInTheDualIsThePrimal) {
  const Data d = make_classes(150, 5, 4);
  const StructuredSvmOptions o{.C = 0.5, .tolerance = 1e-8, .max_passes = 100000};
  const auto primal = fit_multiclass_svm(d.X, d.labels, o);
  StructuredSvmOptions in_dual = o;
  in_dual.kernel = kernels::polynomial(1, 1.0, 0.0);
  const auto dual = fit_multiclass_svm(d.X, d.labels, in_dual);
  ASSERT_TRUE(primal.is_linear());
  ASSERT_FALSE(dual.is_linear());
  const double bound = distance_bound(primal.summary(), dual.summary());
  const Matrix W = dual.parts().coef.transpose() * dual.samples().to_dense();
  EXPECT_LE((W - primal.parts().coef).norm(), bound);
  EXPECT_LE((dual.intercept() - primal.intercept()).norm(), bound);
  EXPECT_LT((dual.decision(d.X) - primal.decision(d.X)).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_EQ(dual.classes(d.X), primal.classes(d.X));
}

TEST(MulticlassSvm, RowsOfTheGramMatrixAreMadeWhenItDoesNotFit) {
  const Data d = make_classes(300, 3, 5);
  StructuredSvmOptions o{.kernel = kernels::gaussian(1.0), .C = 2, .tolerance = 1e-7, .max_passes = 100000};
  const auto stored = fit_multiclass_svm(d.X, d.labels, o);
  o.run.memory = 300'000;  // of 720000 bytes
  const auto by_rows = fit_multiclass_svm(d.X, d.labels, o);
  EXPECT_NE(by_rows.summary().sentence.find("by rows"), std::string::npos) << by_rows.summary().sentence;
  EXPECT_LE((by_rows.decision(d.X) - stored.decision(d.X)).cwiseAbs().maxCoeff(),
            std::sqrt(2.0) * distance_bound(stored.summary(), by_rows.summary()));  // |k(x, .) + 1| <= sqrt(2)
}

TEST(MulticlassSvm, SparseAndFloatRowsAreTheSameProblem) {
  const Data d = make_classes(80, 3, 6);
  Matrix X = d.X.unaryExpr([](double v) { return std::abs(v) < 0.5 ? 0.0 : static_cast<double>(static_cast<float>(v)); });
  const StructuredSvmOptions o{.tolerance = 1e-8, .max_passes = 100000};
  const auto dense = fit_multiclass_svm(X, d.labels, o);
  const CsrMatrix<double> sparse_rows = X.sparseView();
  const auto sparse = fit_multiclass_svm(sparse_rows, d.labels, o);
  const auto single = fit_multiclass_svm(MatrixF(X.cast<float>()), d.labels, o);
  EXPECT_LE((sparse.parts().coef - dense.parts().coef).norm(), distance_bound(dense.summary(), sparse.summary()));
  EXPECT_LE((single.parts().coef - dense.parts().coef).norm(), distance_bound(dense.summary(), single.summary()));
}

TEST(MulticlassSvm, WeightsRepeatRowsAndLeaveThemOut) {
  const Data d = make_classes(20, 3, 7);
  Vector weight = Vector::Ones(20);
  weight[4] = 3;
  weight[11] = 0;
  std::vector<Index> rows;
  std::vector<Index> labels;
  for (Index i = 0; i < 20; ++i) {
    for (int k = 0; k < static_cast<int>(weight[i]); ++k) {
      rows.push_back(i);
      labels.push_back(d.labels[static_cast<std::size_t>(i)]);
    }
  }
  for (const Kernel& kernel : {kernels::linear(), kernels::gaussian(1.0)}) {
    StructuredSvmOptions o{.kernel = kernel, .C = 0.6, .tolerance = 1e-9, .max_passes = 100000};
    const auto repeated = fit_multiclass_svm(Samples(d.X).subset(rows), labels, o);
    o.sample_weight = weight;
    const auto weighted = fit_multiclass_svm(d.X, d.labels, o);
    EXPECT_NEAR(weighted.summary().objective, repeated.summary().objective, 1e-8 * repeated.summary().objective);
    EXPECT_LE((weighted.decision(d.X) - repeated.decision(d.X)).cwiseAbs().maxCoeff(),
              (1 + d.X.rowwise().norm().maxCoeff()) * distance_bound(weighted.summary(), repeated.summary()));
    EXPECT_DOUBLE_EQ(weighted.parts().C, 0.6);
  }
}

TEST(MulticlassSvm, LambdaIsSourceKs) {
  const Data d = make_classes(40, 3, 8);
  const auto by_C = fit_multiclass_svm(d.X, d.labels, {.C = 1 / (2 * 40 * 0.01)});
  const auto by_lambda = fit_multiclass_svm(d.X, d.labels, {.lambda = 0.01});
  EXPECT_EQ(by_C.parts().coef, by_lambda.parts().coef);
  EXPECT_DOUBLE_EQ(by_lambda.parts().C, 1.25);
}

// The multi-class machine as a user would write it.
class ClassProblem : public StructuredProblem {
 public:
  explicit ClassProblem(const Data& d, Index classes) : d_(d), classes_(classes) {}
  Index examples() const override { return d_.X.rows(); }
  Index dimension() const override { return classes_ * d_.X.cols(); }
  StructuredOutput truth(Index i) const override { return {d_.labels[static_cast<std::size_t>(i)]}; }
  JointFeature joint_feature(Index i, const StructuredOutput& y) const override {
    JointFeature phi;
    for (Index j = d_.X.cols() - 1; j >= 0; --j) {
      phi.indices.push_back(y[0] * d_.X.cols() + j);
      phi.values.push_back(d_.X(i, j));
    }
    return phi;
  }
  double loss(Index i, const StructuredOutput& y) const override { return y == truth(i) ? 0 : 1; }
  StructuredOutput loss_augmented_argmax(Index i, const Vector& w) const override {
    Index best = 0;
    double most = -1e300;
    for (Index c = 0; c < classes_; ++c) {
      const double value = w.segment(c * d_.X.cols(), d_.X.cols()).dot(d_.X.row(i)) + loss(i, {c});
      if (value > most) {
        most = value;
        best = c;
      }
    }
    return {best};
  }

 private:
  const Data& d_;
  Index classes_;
};

TEST(StructuredSvm, AUsersMulticlassIsTheShippedOne) {
  const Data d = make_classes(120, 4, 9);
  const StructuredSvmOptions o{.C = 0.3, .fit_intercept = false, .tolerance = 1e-8, .max_passes = 100000};
  const auto shipped = fit_multiclass_svm(d.X, d.labels, o);
  const StructuredFit own = fit_structured_svm(ClassProblem(d, 4), o);
  const Eigen::Map<const Matrix> W(own.weights.data(), 4, 3);
  EXPECT_LE((W - shipped.parts().coef).norm(), distance_bound(own.summary, shipped.summary()));
  EXPECT_EQ(own.summary.missed, 0);
}

// All outputs of some positions with so many labels each.
std::vector<StructuredOutput> all_sequences(Index length, Index labels) {
  std::vector<StructuredOutput> out{{}};
  for (Index t = 0; t < length; ++t) {
    std::vector<StructuredOutput> longer;
    for (const StructuredOutput& y : out) {
      for (Index l = 0; l < labels; ++l) {
        longer.push_back(y);
        longer.back().push_back(l);
      }
    }
    out = std::move(longer);
  }
  return out;
}

// A problem by its definitions: dense phi, search by enumeration.
class EnumeratedProblem : public StructuredProblem {
 public:
  using Phi = std::function<Vector(Index, const StructuredOutput&)>;
  using Loss = std::function<double(const StructuredOutput&, const StructuredOutput&)>;
  EnumeratedProblem(std::vector<StructuredOutput> truth, std::vector<std::vector<StructuredOutput>> outputs, Index dimension, Phi phi,
                    Loss loss)
      : truth_(std::move(truth)), outputs_(std::move(outputs)), dimension_(dimension), phi_(std::move(phi)), loss_(std::move(loss)) {}
  Index examples() const override { return std::ssize(truth_); }
  Index dimension() const override { return dimension_; }
  StructuredOutput truth(Index i) const override { return truth_[static_cast<std::size_t>(i)]; }
  JointFeature joint_feature(Index i, const StructuredOutput& y) const override {
    JointFeature out;
    const Vector phi = phi_(i, y);
    for (Index j = 0; j < phi.size(); ++j) {
      out.indices.push_back(j);
      out.values.push_back(phi[j]);
    }
    return out;
  }
  double loss(Index i, const StructuredOutput& y) const override { return loss_(truth(i), y); }
  StructuredOutput loss_augmented_argmax(Index i, const Vector& w) const override {
    StructuredOutput best;
    double most = -1e300;
    for (const StructuredOutput& y : outputs_[static_cast<std::size_t>(i)]) {
      if (const double value = loss(i, y) + w.dot(phi_(i, y)); value > most) {
        most = value;
        best = y;
      }
    }
    return best;
  }

 private:
  std::vector<StructuredOutput> truth_;
  std::vector<std::vector<StructuredOutput>> outputs_;
  Index dimension_;
  Phi phi_;
  Loss loss_;
};

TEST(ChainSvm, ViterbiIsTheBestOfAllSequences) {
  RandomStream random(10);
  for (const Index length : {1, 2, 3, 5}) {
    for (const Index labels : {2, 3, 4}) {
      const Matrix unary = random.normal_matrix(length, labels);
      const Matrix T = random.normal_matrix(labels, labels);
      const Vector start = random.normal_matrix(labels, 1).col(0);
      const Vector end = random.normal_matrix(labels, 1).col(0);
      const auto value = [&](const StructuredOutput& y) {
        double sum = start[y.front()] + end[y.back()];
        for (Index t = 0; t < length; ++t) {
          sum += unary(t, y[static_cast<std::size_t>(t)]);
          if (t > 0) sum += T(y[static_cast<std::size_t>(t) - 1], y[static_cast<std::size_t>(t)]);
        }
        return sum;
      };
      StructuredOutput best;
      for (const StructuredOutput& y : all_sequences(length, labels)) {
        if (best.empty() || value(y) > value(best)) best = y;
      }
      EXPECT_EQ(viterbi(unary, T, start, end), best);
    }
  }
  EXPECT_TRUE(viterbi(Matrix(0, 2), Matrix::Zero(2, 2), Vector::Zero(2), Vector::Zero(2)).empty());
}

struct Sequences {
  Matrix X;
  std::vector<Index> offsets{0};
  std::vector<Index> labels{};
};

// A Markov chain that mostly goes round through its states, seen through noise.
Sequences make_sequences(Index count, Index length, Index states, double noise, std::uint64_t seed) {
  RandomStream random(seed);
  Sequences s;
  for (Index k = 0; k < count; ++k) {
    const Index steps = 1 + random.below(2 * length - 1);
    Index state = random.below(states);
    for (Index t = 0; t < steps; ++t) {
      s.labels.push_back(state);
      const double u = random.uniform();
      state = u < 0.7 ? (state + 1) % states : u < 0.9 ? state : random.below(states);
    }
    s.offsets.push_back(std::ssize(s.labels));
  }
  s.X = noise * random.normal_matrix(std::ssize(s.labels), states);
  for (Index i = 0; i < s.X.rows(); ++i) s.X(i, s.labels[static_cast<std::size_t>(i)]) += 1;
  return s;
}

TEST(ChainSvm, MeetsItsDefinition) {
  const Index L = 3;
  const Index d = 3;
  const Sequences s = make_sequences(12, 3, L, 0.6, 11);
  std::vector<StructuredOutput> truth;
  std::vector<std::vector<StructuredOutput>> outputs;
  for (std::size_t k = 0; k + 1 < s.offsets.size(); ++k) {
    truth.emplace_back(s.labels.begin() + s.offsets[k], s.labels.begin() + s.offsets[k + 1]);
    outputs.push_back(all_sequences(std::ssize(truth.back()), L));
  }
  const auto phi = [&](Index i, const StructuredOutput& y) {
    Vector out = Vector::Zero(L * (d + 1) + L * L + 2 * L);
    for (std::size_t t = 0; t < y.size(); ++t) {
      out.segment(y[t] * (d + 1), d) += s.X.row(s.offsets[static_cast<std::size_t>(i)] + static_cast<Index>(t)).transpose();
      out[y[t] * (d + 1) + d] += 1;
      if (t > 0) out[L * (d + 1) + y[t - 1] * L + y[t]] += 1;
    }
    out[L * (d + 1) + L * L + y.front()] += 1;
    out[L * (d + 1) + L * L + L + y.back()] += 1;
    return out;
  };
  const auto loss = [](const StructuredOutput& a, const StructuredOutput& b) {
    double wrong = 0;
    for (std::size_t t = 0; t < a.size(); ++t) wrong += a[t] != b[t];
    return wrong;
  };
  const EnumeratedProblem problem(truth, outputs, L * (d + 1) + L * L + 2 * L, phi, loss);
  const StructuredSvmOptions o{.C = 0.8, .tolerance = 1e-7, .max_passes = 20000};
  const StructuredFit naive = fit_structured_svm(problem, o);
  const auto check = [&](const Samples& X) {
    const auto model = fit_chain_svm(X, s.offsets, s.labels, o);
    EXPECT_EQ(model.summary().status, "converged");
    EXPECT_EQ(model.summary().missed, 0);
    const double bound = distance_bound(naive.summary, model.summary());
    const Eigen::Map<const Matrix> unary(naive.weights.data(), L, d + 1);
    EXPECT_LE((model.parts().coef - unary.leftCols(d)).norm(), bound);
    EXPECT_LE((model.intercept() - unary.col(d)).norm(), bound);
    const Eigen::Map<const Matrix> T(naive.weights.data() + L * (d + 1), L, L);
    EXPECT_LE((model.parts().transition - T).norm(), bound);
    EXPECT_LE((model.parts().start - naive.weights.segment(L * (d + 1) + L * L, L)).norm(), bound);
    EXPECT_LE((model.parts().end - naive.weights.tail(L)).norm(), bound);
  };
  check(s.X);
  const CsrMatrix<double> sparse = s.X.sparseView();
  check(sparse);
}

TEST(ChainSvm, NeighboursHelp) {
  const Sequences train = make_sequences(60, 12, 4, 0.8, 12);
  const Sequences test = make_sequences(200, 12, 4, 0.8, 13);
  const auto accuracy = [&](const std::vector<Index>& guess) {
    Index right = 0;
    for (std::size_t i = 0; i < guess.size(); ++i) right += guess[i] == test.labels[i];
    return static_cast<double>(right) / static_cast<double>(guess.size());
  };
  const auto chain = fit_chain_svm(train.X, train.offsets, train.labels, {.C = 0.1});
  const auto single = fit_multiclass_svm(train.X, train.labels, {.C = 0.1});
  const double with = accuracy(chain.label_sequences(test.X, test.offsets));
  const double without = accuracy(single.classes(test.X));
  EXPECT_GT(with, without + 0.08) << with << " against " << without;
  const std::vector<Index> all = chain.label_sequences(test.X, test.offsets);
  EXPECT_EQ(chain.classes(test.X.topRows(test.offsets[1])), std::vector<Index>(all.begin(), all.begin() + test.offsets[1]));
}

double spearman(const StructuredOutput& a, const StructuredOutput& b) {
  double sum = 0;
  for (std::size_t l = 0; l < a.size(); ++l) sum += static_cast<double>((a[l] - b[l]) * (a[l] - b[l]));
  const auto L = static_cast<double>(a.size());
  return 1 - 6 * sum / (L * (L * L - 1));
}

TEST(RankingSvm, MeetsItsDefinition) {
  for (const Index L : {2, 3, 4, 5}) {
    RandomStream random(14, static_cast<std::uint64_t>(L));
    const Index n = 10;
    const Index d = 2;
    const Matrix X = random.normal_matrix(n, d);
    RowMatrix<Index> ranks(n, L);
    std::vector<StructuredOutput> truth;
    std::vector<StructuredOutput> orders;
    StructuredOutput order(static_cast<std::size_t>(L));
    std::iota(order.begin(), order.end(), Index{0});
    do orders.push_back(order);
    while (std::next_permutation(order.begin(), order.end()));
    for (Index i = 0; i < n; ++i) {
      truth.push_back(random.permutation(L));
      for (Index l = 0; l < L; ++l) ranks(i, l) = truth.back()[static_cast<std::size_t>(l)];
    }
    const auto phi = [&](Index i, const StructuredOutput& y) {  // over pairs of labels, the first before the second
      Vector out = Vector::Zero(L * d);
      for (Index a = 0; a < L; ++a) {
        for (Index b = 0; b < L; ++b) {
          if (y[static_cast<std::size_t>(a)] >= y[static_cast<std::size_t>(b)]) continue;
          out.segment(a * d, d) += X.row(i).transpose() / static_cast<double>(L - 1);
          out.segment(b * d, d) -= X.row(i).transpose() / static_cast<double>(L - 1);
        }
      }
      return out;
    };
    const auto loss = [](const StructuredOutput& a, const StructuredOutput& b) { return a == b ? 0 : (1 - spearman(a, b)) / 2; };
    const EnumeratedProblem problem(truth, std::vector(static_cast<std::size_t>(n), orders), L * d, phi, loss);
    const StructuredSvmOptions o{.C = 2, .fit_intercept = false, .tolerance = 1e-7, .max_passes = 20000};
    const StructuredFit naive = fit_structured_svm(problem, o);
    const auto model = fit_ranking_svm(X, ranks, o);
    EXPECT_EQ(model.summary().status, "converged");
    EXPECT_EQ(model.summary().missed, 0);
    EXPECT_NEAR(model.summary().objective, naive.summary.objective, model.summary().gap + naive.summary.gap);
    const Eigen::Map<const Matrix> W(naive.weights.data(), L, d);
    EXPECT_LE((model.parts().coef - W).norm(), distance_bound(naive.summary, model.summary())) << L;
    // The best order of all, by the same definition, is the one that sorting gives.
    const RowMatrix<Index> predicted = model.ranks(X);
    const Eigen::Map<const Vector> w(model.parts().coef.data(), L * d);
    for (Index i = 0; i < n; ++i) {
      double most = -1e300;
      for (const StructuredOutput& y : orders) most = std::max(most, w.dot(phi(i, y)));
      StructuredOutput own(static_cast<std::size_t>(L));
      for (Index l = 0; l < L; ++l) own[static_cast<std::size_t>(l)] = predicted(i, l);
      EXPECT_NEAR(w.dot(phi(i, own)), most, 1e-12 * (1 + std::abs(most)));
    }
  }
}

TEST(RankingSvm, RecoversPlantedScores) {
  RandomStream random(15);
  const Matrix W = random.normal_matrix(5, 3);
  const auto draw = [&](Index n, RowMatrix<Index>& ranks) {
    Matrix X = random.normal_matrix(n, 3);
    ranks.resize(n, 5);
    for (Index i = 0; i < n; ++i) {
      const std::vector<Index> places = places_of(W * X.row(i).transpose());
      for (Index l = 0; l < 5; ++l) ranks(i, l) = places[static_cast<std::size_t>(l)];
    }
    return X;
  };
  RowMatrix<Index> ranks;
  const Matrix X = draw(300, ranks);
  const auto model = fit_ranking_svm(X, ranks, {.C = 100});
  RowMatrix<Index> truth;
  const Matrix X_new = draw(200, truth);
  const RowMatrix<Index> predicted = model.ranks(X_new);
  double rho = 0;
  for (Index i = 0; i < 200; ++i) {
    rho += spearman({predicted.row(i).begin(), predicted.row(i).end()}, {truth.row(i).begin(), truth.row(i).end()}) / 200;
  }
  EXPECT_GT(rho, 0.97);
  EXPECT_EQ(places_of(Vector::Zero(3)), (std::vector<Index>{0, 1, 2}));
}

TEST(StructuredSvm, ASearchThatIsNotExactIsSaid) {
  const Data d = make_classes(60, 3, 16);
  class Lazy final : public ClassProblem {
   public:
    using ClassProblem::ClassProblem;
    StructuredOutput loss_augmented_argmax(Index i, const Vector& w) const override {
      return i % 2 == 0 ? ClassProblem::loss_augmented_argmax(i, w) : StructuredOutput{2};
    }
  };
  const StructuredFit fit = fit_structured_svm(Lazy(d, 3), {.C = 5, .max_passes = 50});
  EXPECT_GT(fit.summary.missed, 0);
  EXPECT_NE(fit.summary.sentence.find("the gap is no bound"), std::string::npos);
}

TEST(StructuredSvm, TheNumberOfThreadsChangesNothing) {
  const Data d = make_classes(200, 4, 17);
  const Sequences s = make_sequences(20, 6, 3, 0.7, 18);
  for (const Kernel& kernel : {kernels::linear(), kernels::gaussian(1.0)}) {
    StructuredSvmOptions o{.kernel = kernel, .run = {.threads = 1}};
    const auto one = fit_multiclass_svm(d.X, d.labels, o);
    o.run.threads = 2;
    const auto two = fit_multiclass_svm(d.X, d.labels, o);
    EXPECT_EQ(one.parts().coef, two.parts().coef);
    EXPECT_EQ(one.summary().objective, two.summary().objective);
    EXPECT_EQ(one.decision(d.X, {.threads = 1}), two.decision(d.X, {.threads = 2}));
  }
  const auto one = fit_chain_svm(s.X, s.offsets, s.labels, {.run = {.threads = 1}});
  const auto two = fit_chain_svm(s.X, s.offsets, s.labels, {.run = {.threads = 2}});
  EXPECT_EQ(one.parts().transition, two.parts().transition);
  EXPECT_EQ(one.label_sequences(s.X, s.offsets, {.threads = 1}), two.label_sequences(s.X, s.offsets, {.threads = 2}));
}

TEST(StructuredSvm, LimitsAndCancelling) {
  const Data d = make_classes(400, 4, 19);
  const auto short_of = fit_multiclass_svm(d.X, d.labels, {.C = 100, .tolerance = 1e-10, .max_passes = 1});
  EXPECT_EQ(short_of.summary().status, "iteration limit");
  EXPECT_EQ(short_of.summary().passes, 1);
  EXPECT_GT(short_of.summary().relative_gap, 1e-10);
  EXPECT_NE(short_of.summary().sentence.find("not converged: 1 passes"), std::string::npos) << short_of.summary().sentence;
  StructuredSvmOptions o{.C = 1e6, .tolerance = 1e-14, .max_passes = 1'000'000};
  o.run.progress = [](const ProgressEvent& e) { return e.stage != "Frank-Wolfe"; };
  EXPECT_THROW(fit_multiclass_svm(d.X, d.labels, o), Cancelled);
}

TEST(StructuredSvm, BadInputIsSaid) {
  const Data d = make_classes(12, 3, 20);
  const auto fit = [&](StructuredSvmOptions o) { return message_of([&] { fit_multiclass_svm(d.X, d.labels, o); }); };
  EXPECT_EQ(fit({.C = 0}), "C must be a finite number > 0, got 0");
  EXPECT_EQ(fit({.lambda = -1}), "lambda must be a finite number > 0, got -1");
  EXPECT_EQ(fit({.tolerance = 0}), "tolerance must be a finite number > 0, got 0");
  EXPECT_EQ(fit({.max_passes = 0}), "max_passes must be at least 1, got 0");
  EXPECT_NE(fit({.kernel = kernels::sigmoid(1.0, -1.0)}).find("not positive semi-definite"), std::string::npos);
  EXPECT_EQ(message_of([&] { fit_multiclass_svm(d.X, {0, 1}); }), "X has 12 samples but y has 2");
  EXPECT_NE(message_of([&] { fit_multiclass_svm(d.X, std::vector<Index>(12, 0)); }).find("only one class"), std::string::npos);
  Matrix bad = d.X;
  bad(3, 1) = std::nan("");
  EXPECT_EQ(message_of([&] { fit_multiclass_svm(bad, d.labels); }),
            "X has a NaN in row 3, column 1 (counting from 0); remove the row or fill the value in");
  EXPECT_NE(message_of([&] {
              fit_chain_svm(d.X, {0, 12}, d.labels, {.kernel = kernels::gaussian(1.0)});
            }).find("a chain machine is linear, got the kernel gaussian(1)"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { fit_chain_svm(d.X, {0, 11}, d.labels); }), "offsets of sequences must go from 0 to the number of rows, 12");
  EXPECT_EQ(message_of([&] {
              fit_chain_svm(d.X, {0, 5, 5, 12}, d.labels);
            }),
            "sequence 1 has no positions: offsets must grow, got 5 behind 5");
  RowMatrix<Index> ranks = RowMatrix<Index>::Zero(12, 2);
  EXPECT_EQ(message_of([&] { fit_ranking_svm(d.X, ranks); }), "row 0 gives rank 0 to two labels; a ranking is a permutation, without ties");
  ranks(0, 1) = 2;
  EXPECT_EQ(message_of([&] { fit_ranking_svm(d.X, ranks); }), "the rank of label 1 in row 0 is 2, wanted 0 .. 1");
  const auto model = fit_multiclass_svm(d.X, d.labels);
  EXPECT_EQ(message_of([&] { model.decision(Matrix::Zero(2, 5)); }), "X has 5 columns, the model was fitted on 3 columns of numbers");
  EXPECT_THROW(model.ranks(d.X), NotOffered);
  EXPECT_THROW(model.label_sequences(d.X, {0, 12}), NotOffered);
  class Negative final : public ClassProblem {
   public:
    using ClassProblem::ClassProblem;
    double loss(Index i, const StructuredOutput& y) const override { return y == truth(i) ? 0 : -1; }
    StructuredOutput loss_augmented_argmax(Index i, const Vector&) const override { return {(truth(i)[0] + 1) % 3}; }
  };
  EXPECT_EQ(message_of([&] { fit_structured_svm(Negative(d, 3)); }), "a loss must be a finite number >= 0, got -1");
}

}  // namespace
}  // namespace mercer

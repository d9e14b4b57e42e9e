// The oracle of the dual engine's tests against closed forms.
// SPDX-License-Identifier: BSD-3-Clause
#include "reference/dense_qp.hpp"

#include <gtest/gtest.h>

#include "mercer/random.hpp"
#include "unit/solvers/box_problems.hpp"

namespace mercer::naive {
namespace {

DenseQp plain(Eigen::Index n) {
  return {LongMatrix::Identity(n, n), LongVector::Zero(n),           LongVector::Constant(n, -10), LongVector::Constant(n, 10),
          LongVector::Zero(n),        LongMatrix::Constant(0, n, 1), LongVector::Zero(0)};
}

void expect_answer(const DenseQp& qp, const LongVector& wanted, long double room = 1e-12L) {
  const DenseQpSolution got = solve_dense_qp(qp);
  EXPECT_LT(static_cast<double>((got.b - wanted).cwiseAbs().maxCoeff()), static_cast<double>(room)) << got.b.transpose().cast<double>();
  EXPECT_NEAR(static_cast<double>(got.objective), static_cast<double>(qp.objective(wanted)), 1e-13);
  EXPECT_LT(static_cast<double>(got.gap), 1e-13);
  EXPECT_GT(static_cast<double>(got.gap), -1e-15);
}

TEST(DenseQpOracle, SeparateVariablesAreClippedAndShrunk) {
  RandomStream random(1);
  DenseQp qp = plain(40);
  LongVector wanted(40);
  for (Eigen::Index i = 0; i < 40; ++i) {
    qp.K(i, i) = 0.1 + random.uniform();
    qp.p[i] = 3 * random.normal();
    qp.kink[i] = i % 3 == 0 ? 0.0 : random.uniform();
    qp.lower[i] = i % 5 == 0 ? 0.0 : -random.uniform();
    qp.upper[i] = i % 7 == 0 ? static_cast<double>(qp.lower[i]) : 2 * random.uniform();
    const long double shrunk = std::max(0.0L, std::abs(qp.p[i]) - qp.kink[i]) / qp.K(i, i);
    wanted[i] = std::clamp(qp.p[i] > 0 ? -shrunk : shrunk, qp.lower[i], qp.upper[i]);
  }
  expect_answer(qp, wanted);
}

TEST(DenseQpOracle, HeldSumsTakeTheMean) {
  DenseQp qp = plain(6);
  qp.p << 1, 2, 3, -4, 5, 0;
  qp.A = LongMatrix::Ones(1, 6);
  qp.sums = LongVector::Zero(1);
  const LongVector centred = -(qp.p.array() - qp.p.mean()).matrix();
  expect_answer(qp, centred);
  EXPECT_NEAR(static_cast<double>(solve_dense_qp(qp).multiplier[0]), static_cast<double>(qp.p.mean()), 1e-12);
  qp.A = LongMatrix::Zero(2, 6);
  qp.A.row(0).head(3).setOnes();
  qp.A.row(1).tail(3).setOnes();
  qp.sums = LongVector::Zero(2);
  qp.sums << 3, -6;
  LongVector wanted(6);
  wanted << 2, 1, 0, 0, 0, 0;
  for (Eigen::Index i = 3; i < 6; ++i) wanted[i] = -(qp.p[i] - 1.0L / 3) - 2;
  expect_answer(qp, wanted);
}

TEST(DenseQpOracle, TwoPointsOfAMachine) {
  for (const long double k : {-0.5L, 0.0L, 0.9L, 0.999L}) {
    for (const long double C : {1e-6L, 0.5L, 2.0L, 1e8L}) {
      DenseQp qp = plain(2);
      qp.K(0, 1) = qp.K(1, 0) = k;
      qp.p << -1, 1;
      qp.lower << 0, -C;
      qp.upper << C, 0;
      qp.A = LongMatrix::Ones(1, 2);
      qp.sums = LongVector::Zero(1);
      const long double a = std::min(C, 1 / (1 - k));
      LongVector wanted(2);
      wanted << a, -a;
      const DenseQpSolution got = solve_dense_qp(qp);
      EXPECT_LT(static_cast<double>((got.b - wanted).cwiseAbs().maxCoeff() / a), 1e-9) << static_cast<double>(C);
      EXPECT_LT(static_cast<double>(std::abs(got.objective - qp.objective(wanted)) / a), 1e-14);
    }
  }
}

// No curvature at all: who is cheapest fills up first.
TEST(DenseQpOracle, ALinearProgramme) {
  DenseQp qp = plain(5);
  qp.K.setZero();
  qp.p << 3, 1, 2, 5, 4;
  qp.lower.setZero();
  qp.upper.setOnes();
  qp.A = LongMatrix::Ones(1, 5);
  qp.sums = LongVector::Constant(1, 2.5L);
  LongVector wanted(5);
  wanted << 0.5L, 1, 1, 0, 0;
  expect_answer(qp, wanted, 1e-10L);
}

// The certificate of every random problem that the engine is held against.
TEST(DenseQpOracle, ProvesItselfOnEveryForm) {
  for (int form = 0; form < testing::forms; ++form) {
    for (int sort = 0; sort < testing::kernel_sorts; ++sort) {
      for (const double C : {1e-6, 1.0, 1e8}) {
        const testing::Case c = testing::random_case(static_cast<testing::Form>(form), sort, 12, C, 77);
        const DenseQp qp = testing::dense(c);
        const DenseQpSolution got = solve_dense_qp(qp);
        const long double size = got.b.cwiseAbs().dot(qp.K.cwiseAbs() * got.b.cwiseAbs()) + qp.p.cwiseAbs().dot(got.b.cwiseAbs());
        EXPECT_LT(std::abs(static_cast<double>(got.gap)), static_cast<double>(1e-10L * size)) << c.name << " steps " << got.steps;
        EXPECT_TRUE(((got.b - qp.lower).array() >= 0).all() && ((qp.upper - got.b).array() >= 0).all()) << c.name;
        const LongVector off = qp.A * got.b - qp.sums;
        EXPECT_LT(static_cast<double>(off.size() > 0 ? off.cwiseAbs().maxCoeff() : 0), 1e-15 * C * 100) << c.name;
      }
    }
  }
}

}  // namespace
}  // namespace mercer::naive

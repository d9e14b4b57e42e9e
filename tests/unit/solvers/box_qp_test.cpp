// The dual engine against an interior-point method in long double on small random problems of every form, and against what K and b say.
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/box_qp.hpp"

#include <gtest/gtest.h>

#include "unit/solvers/box_problems.hpp"

namespace mercer::testing {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

BoxSolution solve(const Case& c, const BoxOptions& options) { return solve_box_qp(MatrixRows<double>(c.K), c.problem, options); }

// Everything that must hold of any answer, whether it is the optimum or not.
void expect_consistent(const Case& c, const naive::DenseQp& qp, const BoxSolution& s) {
  ASSERT_EQ(s.b.size(), c.size());
  const Truth t = truth(qp, s.b, s.steps);
  EXPECT_TRUE((s.b.array() >= c.problem.lower.array()).all() && (s.b.array() <= c.problem.upper.array()).all());
  const Vector sums = t.sums.cast<double>();
  const double moved = s.b.cwiseAbs().sum() + c.start().cwiseAbs().sum();
  for (Index k = 0; k < sums.size(); ++k) {
    EXPECT_NEAR(sums[k], static_cast<double>(qp.sums[k]), eps * (8 + std::sqrt(static_cast<double>(s.steps))) * moved);
  }
  EXPECT_LT((s.gradient - t.gradient.cast<double>()).cwiseAbs().maxCoeff(), t.rounding);
  EXPECT_NEAR(s.violation, static_cast<double>(t.violation), 2 * t.rounding);
  EXPECT_NEAR(s.objective, static_cast<double>(t.objective), t.rounding * s.b.cwiseAbs().sum());
}

// The multiplier prices every variable rightly, to within the violation.
void expect_multiplier(const Case& c, const naive::DenseQp& qp, const BoxSolution& s) {
  ASSERT_EQ(s.multiplier.size(), c.problem.held.groups);
  const Truth t = truth(qp, s.b, s.steps);
  const double room = static_cast<double>(t.violation) + t.rounding;
  for (Index i = 0; i < c.size() && c.problem.held.groups > 0; ++i) {
    const double slope = static_cast<double>(t.gradient[i]) - s.multiplier[c.group(i)];
    const double e = c.kink(i);
    EXPECT_TRUE(s.b[i] >= c.problem.upper[i] || slope + (s.b[i] < 0 ? -e : e) >= -room) << i;
    EXPECT_TRUE(s.b[i] <= c.problem.lower[i] || slope + (s.b[i] > 0 ? e : -e) <= room) << i;
  }
}

std::vector<Case> random_cases() {
  std::vector<Case> out;
  for (std::uint64_t seed = 0; seed < 210; ++seed) {
    RandomStream random(9000 + seed);
    const double C = seed % 3 == 0 ? std::pow(10.0, 14 * random.uniform() - 6) : std::pow(10.0, 3 * random.uniform() - 1);
    const Index n = 3 + static_cast<Index>(random.uniform() * 25);
    out.push_back(random_case(static_cast<Form>(seed % forms), static_cast<int>(seed / forms % kernel_sorts), n, C, seed));
  }
  return out;
}

// What float64 can tell apart in an objective, and how far the oracle may be off.
double objective_room(const naive::DenseQp& qp, const Truth& t, const Vector& b, const naive::DenseQpSolution& best) {
  const naive::LongVector size = b.cwiseAbs().cast<long double>();
  return t.rounding * b.cwiseAbs().sum() + 1e-15 * static_cast<double>(size.dot(qp.K.cwiseAbs() * size)) +
         static_cast<double>(std::abs(best.gap));
}

// Slopes are compared with 1 where p is of that size; without p their own size is the measure.
double tolerance_for(const naive::DenseQp& qp) {
  return 1e-5 * (qp.p.cwiseAbs().maxCoeff() > 0 ? 1.0 : static_cast<double>((qp.K * (qp.upper - qp.lower)).cwiseAbs().maxCoeff()) / 1000);
}

// Smooth kernels have Gram matrices that are singular to rounding: what polishing does along their null directions keeps the sum too.
TEST(BoxQp, PolishingKeepsTheSumOfNearlySingularProblems) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomStream random(seed);
    const Index n = 150 + static_cast<Index>(random.below(200));
    const Matrix X = random.normal_matrix(n, 2);
    const Matrix target = (0.5 * random.normal_matrix(100, 2)).array() + 0.9;
    Matrix K(n, n);
    Vector p = Vector::Zero(n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) K(i, j) = std::exp(-(X.row(i) - X.row(j)).squaredNorm() / 1.28);
      for (Index j = 0; j < 100; ++j) p[i] -= std::exp(-(X.row(i) - target.row(j)).squaredNorm() / 1.28) / 100;
    }
    BoxProblem problem{.linear = p, .lower = Vector::Zero(n), .upper = Vector::Ones(n)};
    problem.start = Vector::Constant(n, 1 / static_cast<double>(n));
    const BoxSolution s = solve_box_qp(MatrixRows<double>(K), problem, {.tolerance = 1e-6, .polish = true});
    EXPECT_NEAR(s.b.sum(), 1, 1e-12) << seed;
  }
}

TEST(BoxQp, FindsTheOptimumOfEveryForm) {
  int limited = 0;
  for (const Case& c : random_cases()) {
    SCOPED_TRACE(c.name);
    const naive::DenseQp qp = dense(c);
    const naive::DenseQpSolution best = naive::solve_dense_qp(qp);
    const double tolerance = tolerance_for(qp);
    const bool huge = (c.problem.upper - c.problem.lower).maxCoeff() > 1e4;  // steps of two variables may need millions
    const BoxSolution s = solve(c, {.tolerance = tolerance, .max_steps = huge ? 300'000 : 0});
    ASSERT_NO_FATAL_FAILURE(expect_consistent(c, qp, s));
    expect_multiplier(c, qp, s);
    const Truth t = truth(qp, s.b, s.steps);
    const auto optimum = static_cast<double>(best.objective);
    const double short_of = static_cast<double>(t.objective - best.objective);
    const double room = objective_room(qp, t, s.b, best);
    EXPECT_GE(short_of, -room);
    EXPECT_GE(s.gap, short_of - room);
    // By convexity no more is missing than the violation along the way to the optimum.
    const double way = static_cast<double>((best.b - s.b.cast<long double>()).cwiseAbs().sum());
    EXPECT_LE(short_of, s.violation * way + room);
    if (s.status != BoxStatus::converged && huge) {
      EXPECT_EQ(s.status, BoxStatus::step_limit);
      ++limited;
      continue;
    }
    EXPECT_EQ(s.status, BoxStatus::converged);
    EXPECT_LE(s.violation, tolerance + t.rounding);
    EXPECT_LE(short_of, 1e-6 * std::abs(optimum) + room) << "steps " << s.steps << " optimum " << optimum;
  }
  EXPECT_LE(limited, 0);
}

}  // namespace
}  // namespace mercer::testing

// The interior-point method against the long double oracle: every form whose variables have rows of their own, C up to 1e8; and the
// problems it is there for. SPDX-License-Identifier: BSD-3-Clause
#include "solvers/box_interior.hpp"

#include <gtest/gtest.h>

#include "unit/solvers/box_problems.hpp"

namespace mercer::testing {
namespace {

Vector held_sums(const Case& c) {
  Vector out = Vector::Zero(c.problem.held.groups);
  for (Index i = 0; i < c.size() && out.size() > 0; ++i) out[c.group(i)] += c.start()[i];
  return out;
}

std::optional<Vector> solve(const Case& c) {
  std::vector<const double*> rows;
  for (Index i = 0; i < c.K.rows(); ++i) rows.push_back(c.K.row(i).data());
  return box_interior_point(rows, c.problem, held_sums(c), [] { return true; });
}

TEST(BoxInterior, ComesCloseToTheOptimumOfEveryForm) {
  int tried = 0;
  for (int form = 0; form < forms; ++form) {
    for (const double C : {0.01, 1.0, 1e4, 1e8}) {
      for (int sort = 0; sort < kernel_sorts; ++sort) {
        const Case c = random_case(static_cast<Form>(form), sort, 37, C, 900 + static_cast<std::uint64_t>(form));
        if (!c.problem.row.empty()) continue;
        SCOPED_TRACE(c.name);
        const auto b = solve(c);
        ASSERT_TRUE(b.has_value());
        const naive::DenseQp qp = dense(c);
        const Truth t = truth(qp, *b);
        ASSERT_TRUE((b->array() >= c.problem.lower.array()).all() && (b->array() <= c.problem.upper.array()).all());
        for (Index g = 0; g < qp.sums.size(); ++g)
          EXPECT_NEAR(static_cast<double>(t.sums[g]), static_cast<double>(qp.sums[g]), 1e-12 * (1 + b->cwiseAbs().sum()));
        const naive::DenseQpSolution best = naive::solve_dense_qp(qp);
        // Where the optimum is 0 by cancellation (one class around the origin), what is cancelled is the measure.
        const naive::LongVector size = b->cwiseAbs().cast<long double>();
        const auto cancelled = static_cast<double>(size.dot(qp.K.cwiseAbs() * size));
        const double room = 1e-6 * std::abs(static_cast<double>(best.objective)) + 1e-7 * cancelled;
        EXPECT_LE(static_cast<double>(t.objective - best.objective), room);
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 100);
}

TEST(BoxInterior, GivesUpWhereItCannotHelp) {
  Case c = random_case(Form::classify, 0, 30, 10, 4);
  std::vector<const double*> rows;
  for (Index i = 0; i < c.K.rows(); ++i) rows.push_back(c.K.row(i).data());
  EXPECT_FALSE(box_interior_point(rows, c.problem, held_sums(c), [] { return false; }).has_value());
  c.K = -c.K;  // not positive
  rows.clear();
  for (Index i = 0; i < c.K.rows(); ++i) rows.push_back(c.K.row(i).data());
  static_cast<void>(box_interior_point(rows, c.problem, held_sums(c), [] { return true; }));  // whatever it says, it ends
}

// Noisy rows in few directions with a large C: millions of steps of two variables each, or some twenty of these.
TEST(BoxInterior, ZigzaggingProblemsConvergeInTime) {
  const Index n = 300;
  const Matrix X = RandomStream(3).normal_matrix(n, 3);
  const Vector noise = RandomStream(4).normal_matrix(n, 1);
  Case c;
  c.K = X * X.transpose();
  c.problem.linear.resize(n);
  c.problem.lower.resize(n);
  c.problem.upper.resize(n);
  for (const double C : {1e3, 1e6, 1e8}) {
    for (Index i = 0; i < n; ++i) {
      const double y = X(i, 0) + noise[i] > 0 ? 1 : -1;
      c.problem.linear[i] = -y;
      c.problem.lower[i] = y > 0 ? 0 : -C;
      c.problem.upper[i] = y > 0 ? C : 0;
    }
    const BoxSolution s = solve_box_qp(MatrixRows<double>(c.K), c.problem, {.tolerance = 1e-3, .polish = true});
    EXPECT_EQ(s.status, BoxStatus::converged) << s.violation;
    EXPECT_LE(s.steps, 200 * n + 20000);
    const double objective = static_cast<double>(truth(dense(c), s.b).objective);
    EXPECT_LE(s.gap, 1e-6 * std::abs(objective));
  }
}

}  // namespace
}  // namespace mercer::testing

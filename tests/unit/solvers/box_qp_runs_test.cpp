// How the dual engine runs: warm starts, limits, polish, blocks, threads, precision, kernels that are not positive, tiny problems,
// progress. SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <thread>

#include "mercer/error.hpp"
#include "solvers/box_qp.hpp"
#include "unit/solvers/box_problems.hpp"

namespace mercer::testing {
namespace {

BoxSolution solve(const Case& c, const BoxOptions& options) { return solve_box_qp(MatrixRows<double>(c.K), c.problem, options); }

// One of each form and a kernel of each sort.
std::vector<Case> some_cases(Index n, double C = 2) {
  std::vector<Case> out;
  for (int form = 0; form < forms; ++form)
    out.push_back(random_case(static_cast<Form>(form), form % kernel_sorts, n, C, 300 + static_cast<std::uint64_t>(form)));
  return out;
}

void expect_feasible(const Case& c, const Vector& b) {
  ASSERT_TRUE((b.array() >= c.problem.lower.array()).all() && (b.array() <= c.problem.upper.array()).all());
  for (int group = 0; group < c.problem.held.groups; ++group) {
    const Index first = c.problem.held.begin(group);
    const Index count = c.problem.held.end(group, c.size()) - first;
    EXPECT_NEAR(b.segment(first, count).sum(), c.start().segment(first, count).sum(), 1e-12 * (1 + b.cwiseAbs().sum()));
  }
}

// Objectives within what the tolerance leaves open.
void expect_same_optimum(const BoxSolution& a, const BoxSolution& b) {
  EXPECT_NEAR(a.objective, b.objective, std::max(a.gap, b.gap) + 1e-12 * (1 + std::abs(a.objective)));
}

TEST(BoxQpRuns, AWarmStartAtTheSolutionEndsAtOnce) {
  for (Case c : some_cases(40)) {
    SCOPED_TRACE(c.name);
    const BoxSolution s = solve(c, {.tolerance = 1e-6});
    c.problem.start = s.b;
    const BoxSolution again = solve(c, {.tolerance = 1.001e-6});
    EXPECT_EQ(again.steps, 0);
    EXPECT_EQ(again.b, s.b);
    EXPECT_NEAR(again.objective, s.objective, 1e-12 * (1 + std::abs(s.objective)));
  }
}

TEST(BoxQpRuns, EveryFeasibleStartGivesTheSameOptimum) {
  RandomStream random(4);
  for (const Case& c : some_cases(40)) {
    SCOPED_TRACE(c.name);
    const BoxSolution wanted = solve(c, {.tolerance = 1e-6});
    for (int turn = 0; turn < 5; ++turn) {
      // From the given start by random moves that keep the sums: pairs of a group against each other, or one alone.
      Case from = c;
      Vector b = c.start();
      for (int move = 0; move < 500; ++move) {
        const auto i = static_cast<Index>(random.uniform() * static_cast<double>(c.size()));
        const auto j = static_cast<Index>(random.uniform() * static_cast<double>(c.size()));
        if (i == j || c.group(i) != c.group(j)) continue;
        const bool alone = c.problem.held.groups == 0;
        double t = random.uniform() * (c.problem.upper[i] - b[i]);
        if (!alone) t = std::min(t, b[j] - c.problem.lower[j]);
        b[i] = std::min(b[i] + t, c.problem.upper[i]);
        if (!alone) b[j] = std::max(b[j] - t, c.problem.lower[j]);
      }
      from.problem.start = b;
      const BoxSolution s = solve(from, {.tolerance = 1e-6});
      EXPECT_EQ(s.status, BoxStatus::converged);
      expect_feasible(from, s.b);
      expect_same_optimum(s, wanted);
    }
  }
}

TEST(BoxQpRuns, AStepLimitLeavesAPointToGoOnFrom) {
  for (Case c : some_cases(60, 20)) {
    SCOPED_TRACE(c.name);
    const BoxSolution wanted = solve(c, {.tolerance = 1e-6});
    ASSERT_GT(wanted.steps, 7);
    BoxSolution s;
    double objective = std::numeric_limits<double>::infinity();
    int turns = 0;
    do {
      s = solve(c, {.tolerance = 1e-6, .max_steps = turns == 0 ? 7 : 2000, .block = turns % 2 == 0 ? 0 : 8});
      EXPECT_LE(s.steps, turns == 0 ? 7 : 2000);
      expect_feasible(c, s.b);
      EXPECT_LE(s.objective, objective + 1e-12 * (1 + std::abs(s.objective)));
      EXPECT_GE(s.gap, s.objective - wanted.objective - 1e-12 * (1 + std::abs(s.objective)));
      EXPECT_EQ(s.status == BoxStatus::converged, s.violation <= 1e-6);
      EXPECT_TRUE(turns > 0 || s.status == BoxStatus::step_limit);
      objective = s.objective;
      c.problem.start = s.b;
    } while (s.status != BoxStatus::converged && ++turns < 2000);
    EXPECT_EQ(s.status, BoxStatus::converged);
    expect_same_optimum(s, wanted);
  }
}

TEST(BoxQpRuns, ATimeLimitLeavesAPointToGoOnFrom) {
  Case c = random_case(Form::classify, 0, 300, 1e6, 5);
  const BoxSolution s = solve(c, {.tolerance = 1e-9, .time_limit = 1e-9, .block = 16});
  EXPECT_EQ(s.status, BoxStatus::time_limit);
  expect_feasible(c, s.b);
  const BoxSolution longer = solve(c, {.tolerance = 1e-12, .time_limit = 0.003});
  EXPECT_EQ(longer.status, BoxStatus::time_limit);
  EXPECT_LT(longer.objective, s.objective);
  expect_feasible(c, longer.b);
  c = random_case(Form::classify, 0, 300, 1, 5);
  const BoxSolution wanted = solve(c, {.tolerance = 1e-6});
  c.problem.start = solve(c, {.tolerance = 1e-6, .time_limit = 1e-9, .block = 16}).b;
  const BoxSolution resumed = solve(c, {.tolerance = 1e-6, .time_limit = 60});
  EXPECT_EQ(resumed.status, BoxStatus::converged);
  expect_same_optimum(resumed, wanted);
}

TEST(BoxQpRuns, PolishReachesTheLastDigits) {
  for (int form = 0; form < forms; ++form) {
    for (int sort = 0; sort < kernel_sorts; ++sort) {
      const Case c = random_case(static_cast<Form>(form), sort, 40, 3, 20);
      SCOPED_TRACE(c.name);
      const BoxSolution rough = solve(c, {.tolerance = 1e-5});
      const BoxSolution s = solve(c, {.tolerance = 1e-5, .polish = true});
      EXPECT_EQ(s.status, BoxStatus::converged);
      expect_feasible(c, s.b);
      const naive::DenseQp qp = dense(c);
      const Truth t = truth(qp, s.b);
      EXPECT_LE(static_cast<double>(t.violation), 1e-12 + 32 * t.rounding);
      EXPECT_NEAR(s.violation, static_cast<double>(t.violation), 2 * t.rounding);
      EXPECT_LE(s.objective, rough.objective + 1e-13 * (1 + std::abs(rough.objective)));
      EXPECT_LE(std::abs(static_cast<double>(t.objective - naive::solve_dense_qp(qp).objective)), 1e-10 * (1 + std::abs(s.objective)));
    }
  }
}

// A sample of weight two is the sample twice.
TEST(BoxQpRuns, WeightsAreRepetitions) {
  for (const Form form : {Form::classify, Form::classify_no_bias, Form::regress, Form::one_class}) {
    const Index n = 30;
    Case once = random_case(form, 0, n, 1.5, 8);
    Case twice;
    std::vector<Index> from;
    for (Index i = 0; i < n; ++i) {
      from.push_back(i);
      if (i % 3 == 0) from.push_back(i);
    }
    const BoxProblem& p = once.problem;
    twice.K = once.K(from, from);
    twice.problem = {.linear = p.linear(from), .lower = p.lower(from), .upper = p.upper(from), .held = p.held};
    if (p.kink.size() > 0) twice.problem.kink = p.kink(from);
    for (Index i = 0; i < n; i += 3) {
      once.problem.lower[i] *= 2;
      once.problem.upper[i] *= 2;
    }
    if (p.start.size() > 0) {
      for (Case* c : {&once, &twice}) {
        c->problem.start = Vector::Zero(c->size());
        fill_to(c->problem.start, c->problem.lower, c->problem.upper, 0, c->size(), 0.3 * once.problem.upper.sum());
      }
    }
    SCOPED_TRACE(once.name);
    const BoxSolution a = solve(once, {.tolerance = 1e-5, .polish = true});
    const BoxSolution b = solve(twice, {.tolerance = 1e-5, .polish = true});
    Vector merged = Vector::Zero(n);
    for (std::size_t k = 0; k < from.size(); ++k) merged[from[k]] += b.b[static_cast<Index>(k)];
    EXPECT_NEAR(a.objective, b.objective, 1e-9 * (1 + std::abs(a.objective)));
    EXPECT_LT((once.K * (merged - a.b)).cwiseAbs().maxCoeff(), 1e-9);
    for (Index k = 0; k < a.multiplier.size(); ++k) EXPECT_NEAR(a.multiplier[k], b.multiplier[k], 1e-9);
  }
}

TEST(BoxQpRuns, BlocksOfAnySizeFindTheSameOptimum) {
  for (const Case& c : some_cases(30)) {
    SCOPED_TRACE(c.name);
    const BoxSolution wanted = solve(c, {.tolerance = 1e-4});
    for (const Index block : {Index{2}, Index{3}, Index{16}, Index{25}, c.size()}) {
      SCOPED_TRACE(block);
      for (const bool stored : {false, true}) {
        const BoxSolution s = solve_box_qp(MatrixRows<double>(c.K, stored), c.problem, {.tolerance = 1e-4, .block = block});
        EXPECT_EQ(s.status, BoxStatus::converged);
        EXPECT_LE(s.violation, 1e-4);
        expect_feasible(c, s.b);
        expect_same_optimum(s, wanted);
        EXPECT_EQ(s.rows_computed > 0, !stored);
      }
    }
  }
}

// More rows than memory holds, blocks that grow, tasks of the gradient: with any number of threads the same bits.
TEST(BoxQpRuns, ThreadsDoNotChangeABit) {
  for (const Form form : {Form::classify, Form::regress, Form::nu_regress}) {
    const Case c = random_case(form, 0, form == Form::nu_regress ? 1200 : 2300, 5, 31);
    BoxSolution one, two;
    const BoxOptions options{.tolerance = 1e-3, .memory = 5'000'000};
    with_threads(1, [&] { one = solve_box_qp(MatrixRows<float>(c.K), c.problem, options); });
    with_threads(2, [&] { two = solve_box_qp(MatrixRows<float>(c.K), c.problem, options); });
    EXPECT_EQ(one.status, BoxStatus::converged);
    EXPECT_LE(one.violation, 1e-3);
    EXPECT_GT(one.rounds, 1);
    EXPECT_EQ(one.b, two.b);
    EXPECT_EQ(one.gradient, two.gradient);
    EXPECT_EQ(one.objective, two.objective);
    EXPECT_EQ(one.steps, two.steps);
    EXPECT_EQ(one.rows_computed, two.rows_computed);
    expect_feasible(c, one.b);
  }
}

// A budget of next to nothing is kept to, but for 64 rows, and finds the same optimum.
TEST(BoxQpRuns, ATinyBudgetOfRowsIsEnough) {
  const Case c = random_case(Form::classify, 0, 900, 5, 32);
  const BoxSolution wanted = solve(c, {.tolerance = 1e-4});
  const BoxSolution s = solve(c, {.tolerance = 1e-4, .memory = 1, .polish = true});
  EXPECT_EQ(s.status, BoxStatus::converged);
  EXPECT_LE(s.bytes, std::size_t{2 * 64 * 904 * 8});  // rows, and the block's part of K
  expect_same_optimum(s, wanted);
}

TEST(BoxQpRuns, FloatRowsAgreeToTheirRounding) {
  for (const Case& c : some_cases(80)) {
    SCOPED_TRACE(c.name);
    const BoxSolution exact = solve(c, {.tolerance = 1e-6});
    const BoxSolution rounded = solve_box_qp(MatrixRows<float>(c.K), c.problem, {.tolerance = 1e-6});
    EXPECT_EQ(rounded.status, BoxStatus::converged);
    expect_feasible(c, rounded.b);
    // Half a unit of K's last place in every product.
    const double room = 6e-8 * c.K.cwiseAbs().maxCoeff() * std::pow(std::max(exact.b.lpNorm<1>(), rounded.b.lpNorm<1>()), 2);
    EXPECT_NEAR(rounded.objective, exact.objective, room + exact.gap + rounded.gap);
  }
}

// Inside blocks the gradient may be float32 too, which must not show: the violation is that of float64, however large C and K b are.
TEST(BoxQpRuns, BlocksOfFloatRowsMeetTheTolerance) {
  for (const double C : {0.1, 10.0, 1000.0}) {
    for (const Case& c : some_cases(150, C)) {
      SCOPED_TRACE(c.name + " C " + std::to_string(C));
      const Matrix rounded_K = c.K.cast<float>().cast<double>();
      for (const double tolerance : {1e-2, 1e-3}) {
        const BoxSolution s = solve_box_qp(MatrixRows<float>(c.K), c.problem, {.tolerance = tolerance, .max_steps = 300'000, .block = 32});
        const bool converged = s.status == BoxStatus::converged;
        EXPECT_TRUE(converged || C == 1000) << s.violation;
        EXPECT_EQ(converged, s.violation <= tolerance) << s.violation;
        expect_feasible(c, s.b);
        Vector sums = Vector::Zero(c.K.rows());
        for (Index i = 0; i < c.size(); ++i) sums[c.problem.row.empty() ? i : c.problem.row[static_cast<std::size_t>(i)]] += s.b[i];
        const Vector product = rounded_K * sums;
        for (Index i = 0; i < c.size(); ++i) {
          const Index row = c.problem.row.empty() ? i : c.problem.row[static_cast<std::size_t>(i)];
          ASSERT_NEAR(s.gradient[i], product[row] + c.problem.linear[i], 1e-11 * (1 + rounded_K.cwiseAbs().maxCoeff() * s.b.lpNorm<1>()));
        }
      }
    }
  }
}

// Far from the origin float32 cannot tell neighbours apart: curvatures must come from the same rounded numbers as slopes do.
TEST(BoxQpRuns, FloatRowsOfALinearKernelFarFromTheOrigin) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Case c = random_case(seed % 2 == 0 ? Form::classify : Form::regress, 2, 40, 1, 600 + seed);
    const Matrix X = RandomStream(seed).normal_matrix(40, 2).array() * 0.02 + 30;
    c.K = X * X.transpose();
    SCOPED_TRACE(c.name);
    for (const Index block : {0, 16}) {
      const BoxSolution s = solve_box_qp(MatrixRows<float>(c.K), c.problem, {.tolerance = 1e-2, .max_steps = 200'000, .block = block});
      EXPECT_EQ(s.status, BoxStatus::converged) << s.steps << " steps, violation " << s.violation;
      expect_feasible(c, s.b);
    }
  }
}

TEST(BoxQpRuns, KernelsThatAreNotPositiveEnd) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (int form = 0; form < forms; ++form) {
      Case c = random_case(static_cast<Form>(form), 0, 50, 10, seed);
      const Matrix X = RandomStream(seed).normal_matrix(50, 3);
      c.K = (X * X.transpose()).array().tanh() * (seed % 2 == 0 ? 1 : -1);
      SCOPED_TRACE(c.name);
      const BoxSolution s = solve(c, {.tolerance = 1e-4, .max_steps = 200'000});
      EXPECT_TRUE(s.b.allFinite());
      EXPECT_EQ(s.status, BoxStatus::converged);
      EXPECT_LE(s.violation, 1e-4);  // a point where no pair of variables can go down
      expect_feasible(c, s.b);
      const BoxSolution polished = solve(c, {.tolerance = 1e-4, .max_steps = 200'000, .polish = true});
      EXPECT_TRUE(polished.b.allFinite());
      expect_feasible(c, polished.b);
    }
  }
}

TEST(BoxQpRuns, AllRowsEqual) {
  for (int form = 0; form < forms; ++form) {
    for (const Index n : {2, 5, 33}) {
      Case c = random_case(static_cast<Form>(form), 0, n, 2, 70);
      c.K = Matrix::Ones(n, n);
      SCOPED_TRACE(c.name);
      const naive::DenseQp qp = dense(c);
      const naive::DenseQpSolution best = naive::solve_dense_qp(qp);
      for (const bool polish : {false, true}) {
        const BoxSolution s = solve(c, {.tolerance = 1e-8, .polish = polish});
        EXPECT_EQ(s.status, BoxStatus::converged);
        EXPECT_LE(s.violation, 1e-8);
        expect_feasible(c, s.b);
        EXPECT_NEAR(s.objective, static_cast<double>(best.objective), 1e-6 * (1 + std::abs(s.objective)));
      }
    }
  }
}

TEST(BoxQpRuns, OneAndTwoVariables) {
  const MatrixRows<double> one(Matrix::Constant(1, 1, 4.0));
  for (const bool polish : {false, true}) {
    const BoxOptions options{.tolerance = 1e-9, .polish = polish};
    BoxProblem p{.linear = Vector{{-2.0}}, .lower = Vector{{0.0}}, .upper = Vector{{3.0}}, .held = {0, 0}};
    EXPECT_NEAR(solve_box_qp(one, p, options).b[0], 0.5, 1e-12);  // 2 b^2 - 2 b
    p.kink = Vector{{1.0}};
    EXPECT_NEAR(solve_box_qp(one, p, options).b[0], 0.25, 1e-12);
    p.kink = Vector{{2.5}};
    EXPECT_EQ(solve_box_qp(one, p, options).b[0], 0);
    p.kink = Vector{};
    p.upper[0] = 0.1;
    EXPECT_EQ(solve_box_qp(one, p, options).b[0], 0.1);
    p.held.groups = 1;  // its own sum is held: it cannot move
    const BoxSolution still = solve_box_qp(one, p, options);
    EXPECT_EQ(still.b[0], 0);
    EXPECT_EQ(still.steps, 0);
    EXPECT_EQ(still.multiplier[0], -2);

    Matrix K = Matrix::Identity(2, 2);
    K(0, 1) = K(1, 0) = 0.5;
    const MatrixRows<double> two(K);
    BoxProblem machine{.linear = Vector{{-1.0, 1.0}}, .lower = Vector{{0.0, -9.0}}, .upper = Vector{{9.0, 0.0}}};
    const BoxSolution s = solve_box_qp(two, machine, options);
    EXPECT_NEAR(s.b[0], 2, 1e-12);
    EXPECT_NEAR(s.b[1], -2, 1e-12);
    EXPECT_NEAR(s.multiplier[0], 0, 1e-12);
    EXPECT_NEAR(s.objective, -2, 1e-12);
    EXPECT_NEAR(s.gap, 0, 1e-11);
    machine.lower[1] = machine.upper[0] = 0;  // nothing may move
    const BoxSolution fixed = solve_box_qp(two, {.linear = machine.linear, .lower = Vector::Zero(2), .upper = Vector::Zero(2)}, options);
    EXPECT_EQ(fixed.b, Vector(Vector::Zero(2)));
    EXPECT_EQ(fixed.violation, 0);
    EXPECT_EQ(fixed.gap, 0);
  }
}

TEST(BoxQpRuns, ProgressIsToldAndCancels) {
  const Case c = random_case(Form::classify, 0, 400, 10, 3);
  const MatrixRows<double> rows(c.K);
  std::vector<double> fractions;
  // A new thread's callback is called at once, then every 50 ms.
  std::thread([&] {
    BoxOptions options{.tolerance = 1e-8, .time_limit = 0.3, .block = 8};
    options.run.progress = [&](const ProgressEvent& event) {
      EXPECT_EQ(event.stage, "support vectors");
      fractions.push_back(event.fraction);
      return true;
    };
    solve_box_qp(rows, c.problem, options);
  }).join();
  ASSERT_GE(fractions.size(), 1U);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_GE(fractions.front(), 0);
  EXPECT_LE(fractions.back(), 1);
  std::thread([&] {
    BoxOptions options{.tolerance = 1e-6};
    options.run.progress = [](const ProgressEvent&) { return false; };
    EXPECT_THROW(solve_box_qp(rows, c.problem, options), Cancelled);
  }).join();
}

}  // namespace
}  // namespace mercer::testing

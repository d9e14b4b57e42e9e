// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/minimize.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "mercer/error.hpp"

namespace mercer {
namespace {

double rosenbrock(const Vector& x, Vector& g) {
  const double a = x[1] - x[0] * x[0];
  g[0] = -400 * x[0] * a - 2 * (1 - x[0]);
  g[1] = 200 * a;
  return 100 * a * a + (1 - x[0]) * (1 - x[0]);
}

TEST(Minimize, FindsTheBottomOfRosenbrocksValley) {
  const Minimum m = minimize(rosenbrock, Vector{{-1.2, 1.0}}, {}, {}, {.value_tolerance = 1e-14});
  EXPECT_TRUE(m.converged);
  EXPECT_NEAR(m.x[0], 1, 1e-5);
  EXPECT_NEAR(m.x[1], 1, 1e-5);
  EXPECT_LT(m.value, 1e-10);
  EXPECT_EQ(m.history.back(), m.value);
}

TEST(Minimize, StaysWithinBounds) {
  const Minimum m = minimize(rosenbrock, Vector{{5.0, 5.0}}, Vector{{-2.0, -2.0}}, Vector{{0.5, 2.0}});
  EXPECT_NEAR(m.x[0], 0.5, 1e-6);  // the best point with x <= 0.5 lies on that bound, at y = x^2
  EXPECT_NEAR(m.x[1], 0.25, 1e-5);
}

TEST(Minimize, StepsBackFromWhereTheFunctionIsNotFinite) {
  // x - log x has its minimum at 1; left of zero there is nothing.
  const auto f = [](const Vector& x, Vector& g) {
    if (x[0] <= 0) return std::numeric_limits<double>::quiet_NaN();
    g[0] = 1 - 1 / x[0];
    return x[0] - std::log(x[0]);
  };
  const Minimum m = minimize(f, Vector{{20.0}}, {}, {});
  EXPECT_NEAR(m.x[0], 1, 1e-4);
}

TEST(Minimize, PassesExceptionsOn) {
  const auto f = [](const Vector&, Vector&) -> double { throw std::runtime_error("stop"); };
  EXPECT_THROW(minimize(f, Vector{{1.0}}, {}, {}), std::runtime_error);
  EXPECT_THROW(minimize(rosenbrock, Vector{{1.0, 1.0}}, Vector{{1.0}}, {}), InvalidArgument);
}

TEST(Minimize, SaysWhenTheLimitStoppedIt) {
  const Minimum m = minimize(rosenbrock, Vector{{-1.2, 1.0}}, {}, {}, {.max_evaluations = 3});
  EXPECT_FALSE(m.converged);
  EXPECT_NE(m.status.find("limit"), std::string::npos);
}

}  // namespace
}  // namespace mercer

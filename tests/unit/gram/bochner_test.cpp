// Fourier transforms against closed forms, functions that are kernels on some R^d and not on others, and functions that are none.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using std::numbers::pi;
using testing::message_of;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const auto triangle = [](double r) { return std::max(0.0, 1 - r); };
const auto box = [](double r) { return r < 1 ? 1.0 : 0.0; };
const auto sinc = [](double r) { return r == 0 ? 1.0 : std::sin(r) / r; };

// Slip S14: D (14) should read (2 pi s^2)^(d/2) exp(-2 pi^2 s^2 |xi|^2), with w = 2 pi xi. The window makes s^-2 of l^-2 + R^-2.
TEST(Bochner, GaussianAgreesWithItsClosedForm) {
  for (const int d : {1, 2, 3, 4, 7, 12}) {
    for (const double length : {0.01, 1.0, 300.0}) {
      const double R = 8 * length;
      const BochnerCheck check =
          check_bochner(kernels::gaussian(length), {.dimension = d, .window = R, .max_frequency = 6 / length, .frequencies = 61});
      const double s2 = 1 / (1 / (length * length) + 1 / (R * R));
      for (Index i = 0; i < check.frequencies.size(); ++i) {
        const double xi = check.frequencies[i] / (2 * pi);
        const double exact = std::pow(2 * pi * s2, d / 2.0) * std::exp(-2 * pi * pi * s2 * xi * xi);
        EXPECT_LE(std::abs(check.transform[i] - exact), check.bound[i]) << d << ' ' << length << ' ' << i;
        EXPECT_LT(check.bound[i], 1e-11 * check.transform[0]) << d << ' ' << length << ' ' << i;
      }
      EXPECT_FALSE(check.violated) << check.verdict();
    }
  }
}

// F smoothed by a normal density of standard deviation s = 1/R is F + s^2/2 F'' + remainder, |remainder| <= s^4/8 max|F''''|;
// F = 2l/(1 + l^2 w^2) has |F''''| <= F''''(0) = 48 l^5.
TEST(Bochner, LaplacianAgreesWithItsClosedForm) {
  const double l = 0.5;
  const double R = 50;
  const BochnerCheck check = check_bochner(kernels::laplacian(l), {.window = R, .max_frequency = 30});
  EXPECT_FALSE(check.violated) << check.verdict();
  for (Index i = 0; i < check.frequencies.size(); ++i) {
    const double u = l * l * check.frequencies[i] * check.frequencies[i];
    const double plain = 2 * l / (1 + u);
    const double second = 2 * l * l * l * (6 * u - 2) / ((1 + u) * (1 + u) * (1 + u));
    EXPECT_LE(std::abs(check.transform[i] - plain - second / (2 * R * R)), 6 * std::pow(l, 5) / std::pow(R, 4) + check.bound[i]) << i;
    EXPECT_LT(check.bound[i], 1e-11);
  }
}

// The box has 2 sin(w)/w in one dimension, least -0.4345 at w = 4.4934; smoothing over 1/R moves that by max|F''|/(2 R^2) at most, and
// |F''| <= int r^2 |f| = 2/3.
TEST(Bochner, TheBoxIsNoKernel) {
  const double R = 40;
  const BochnerCheck check = check_bochner(box, {.window = R, .max_frequency = 10, .frequencies = 401});
  EXPECT_TRUE(check.violated);
  EXPECT_NEAR(check.lowest_frequency, 4.4934, 10.0 / 400);
  EXPECT_NEAR(check.lowest, -0.4345, 1.0 / (3 * R * R) + 1e-3);
  EXPECT_LT(check.lowest_bound, 1e-10);
  EXPECT_LT(check.lowest + check.lowest_bound, 0);
  for (Index i = 1; i < check.frequencies.size(); ++i) {
    const double w = check.frequencies[i];
    EXPECT_NEAR(check.transform[i], 2 * std::sin(w) / w, 1.0 / (3 * R * R) + check.bound[i]);
  }
  EXPECT_TRUE(contains(check.verdict(), "f is no kernel on R^1: its Fourier transform is -0.43")) << check.verdict();
  for (const int d : {1, 2, 3, 5}) EXPECT_TRUE(check_bochner(box, {.dimension = d}).violated) << d;
}

TEST(Bochner, AFlatTopIsNoKernel) {
  // exp(-r^p) is a kernel up to p = 2 and none above, on every R^d (Schoenberg).
  for (const int d : {1, 2, 3}) {
    for (const double p : {0.5, 1.0, 1.5, 2.0}) {
      EXPECT_FALSE(check_bochner([p](double r) { return std::exp(-std::pow(r, p)); }, {.dimension = d}).violated) << d << ' ' << p;
    }
    for (const double p : {2.5, 3.0, 4.0, 10.0}) {
      EXPECT_TRUE(check_bochner([p](double r) { return std::exp(-std::pow(r, p)); }, {.dimension = d}).violated) << d << ' ' << p;
    }
  }
  const BochnerCheck quartic = check_bochner([](double r) { return std::exp(-r * r * r * r); });
  EXPECT_LT(quartic.lowest + 1e6 * quartic.lowest_bound, 0) << quartic.verdict();
  // The frequency is a witness that can be used: points spaced along it make a Gram matrix with a negative eigenvalue.
  const Index n = 60;
  Matrix K(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) K(i, j) = std::exp(-std::pow(0.2 * std::abs(static_cast<double>(i - j)), 4));
  }
  EXPECT_FALSE(check_gram(K).psd);
}

TEST(Bochner, SomeFunctionsAreKernelsOnLowDimensionsOnly) {
  // max(0, 1 - r): 4 sin^2(w/2)/w^2 >= 0 on R, 4 pi (2 - 2 cos w - w sin w)/w^4 on R^3.
  EXPECT_FALSE(check_bochner(triangle).violated);
  EXPECT_TRUE(check_bochner(triangle, {.dimension = 2}).violated);
  const double R = 30;
  const BochnerCheck solid = check_bochner(triangle, {.dimension = 3, .window = R, .max_frequency = 20});
  EXPECT_TRUE(solid.violated);
  // |F''| <= int |x|^2 f = 4 pi (1/5 - 1/6) along a direction; three directions at most.
  const double slack = 3 * 4 * pi * (1.0 / 5 - 1.0 / 6) / (2 * R * R);
  for (Index i = 1; i < solid.frequencies.size(); ++i) {
    const double w = solid.frequencies[i];
    EXPECT_NEAR(solid.transform[i], 4 * pi * (2 - 2 * std::cos(w) - w * std::sin(w)) / std::pow(w, 4), slack + solid.bound[i]) << w;
  }
  // cos r on R only; sin(r)/r, the transform of the unit sphere, up to R^3.
  const auto cosine = [](double r) { return std::cos(r); };
  EXPECT_FALSE(check_bochner(cosine).violated);
  EXPECT_TRUE(check_bochner(cosine, {.dimension = 2}).violated);
  for (const int d : {1, 2, 3}) EXPECT_FALSE(check_bochner(sinc, {.dimension = d}).violated) << d;
  EXPECT_TRUE(check_bochner(sinc, {.dimension = 4}).violated);
  EXPECT_FALSE(check_bochner([](double) { return 2.0; }, {.dimension = 3}).violated);
  EXPECT_FALSE(check_bochner([](double) { return 0.0; }).violated);
}

// cos r under the window exp(-r^2/(2R^2)) has sqrt(pi/2) R (exp(-R^2 (w-1)^2/2) + exp(-R^2 (w+1)^2/2)).
TEST(Bochner, PeriodicFunctionsHaveTheWindowsPeak) {
  const double R = 20;
  const BochnerCheck check = check_bochner([](double r) { return std::cos(r); }, {.window = R, .max_frequency = 2, .frequencies = 201});
  for (Index i = 0; i < check.frequencies.size(); ++i) {
    const double w = check.frequencies[i];
    const double exact = std::sqrt(pi / 2) * R * (std::exp(-R * R * (w - 1) * (w - 1) / 2) + std::exp(-R * R * (w + 1) * (w + 1) / 2));
    EXPECT_LE(std::abs(check.transform[i] - exact), check.bound[i]) << w;
    EXPECT_LT(check.bound[i], 1e-11 * R);
  }
}

TEST(Bochner, BoundednessComesFirst) {
  const BochnerCheck linear = check_bochner([](double r) { return 1 + r; });
  EXPECT_TRUE(linear.violated);
  ASSERT_TRUE(linear.exceeding);
  EXPECT_GT(linear.exceeding->second, linear.at_zero);
  EXPECT_EQ(linear.frequencies.size(), 0);
  EXPECT_TRUE(contains(linear.verdict(), "is larger than f(0) = 1, against Cauchy-Schwarz")) << linear.verdict();
  const BochnerCheck negative = check_bochner([](double r) { return -std::exp(-r); });
  EXPECT_TRUE(negative.violated);
  EXPECT_TRUE(contains(negative.verdict(), "f(0) = -1 is negative")) << negative.verdict();
  // A bump away from the octaves that are tried first is met by the panels.
  EXPECT_TRUE(check_bochner([](double r) { return std::exp(-r) + 0.9 * std::exp(-100 * (r - 1.2) * (r - 1.2)); }).violated);
  // f(0) above the limit adds white noise to a kernel: a kernel.
  EXPECT_FALSE(check_bochner([](double r) { return r == 0 ? 1.5 : std::exp(-r); }).violated);
}

TEST(Bochner, SaysEvidenceAndNotProof) {
  const BochnerCheck check = check_bochner(kernels::gaussian(1.0), {.dimension = 2});
  EXPECT_EQ(check.frequencies.size(), 200);
  EXPECT_TRUE(contains(check.verdict(), "no violation found at 200 frequencies up to ")) << check.verdict();
  EXPECT_TRUE(contains(check.verdict(), "evidence, not proof, that gaussian(1) is a kernel on R^2")) << check.verdict();
  EXPECT_NEAR(check.frequencies[1], 1 / check.window, 1e-2 / check.window);
}

TEST(Bochner, KernelsMustBeFunctionsOfTheDistance) {
  EXPECT_TRUE(contains(message_of([] { check_bochner(kernels::linear()); }), "linear is not a function of |x - y| on R^1: it is "));
  EXPECT_TRUE(contains(message_of([] { check_bochner(kernels::polynomial(3, 1, 1), {.dimension = 2}); }), "for x = ("));
  // The L1 norm is the Euclidean one in one dimension alone.
  EXPECT_FALSE(check_bochner(kernels::laplacian(2.0, kernels::Norm::l1)).violated);
  EXPECT_TRUE(
      contains(message_of([] { check_bochner(kernels::laplacian(2.0, kernels::Norm::l1), {.dimension = 2}); }), "not a function of"));
  EXPECT_TRUE(contains(message_of([] { check_bochner(kernels::gaussian(kernels::LengthScale::automatic())); }), "waits for data"));
  EXPECT_FALSE(check_bochner(kernels::gaussian(1.0) * kernels::laplacian(3.0) + 2.0, {.dimension = 3}).violated);
  // A negative multiple is found out by its value at 0.
  EXPECT_TRUE(check_bochner(-1.0 * kernels::gaussian(1.0)).violated);
  // gaussian(1) - 0.5 gaussian(3) has a transform that is negative at 0: 1 - 0.5 * 3 < 0.
  EXPECT_TRUE(check_bochner(kernels::gaussian(1.0) + (-0.5) * kernels::gaussian(3.0)).violated);
}

TEST(Bochner, BadInputIsNamed) {
  EXPECT_EQ(message_of([] { check_bochner(box, {.dimension = 0}); }), "dimension must be from 1 to 12, got 0");
  EXPECT_TRUE(contains(message_of([] { check_bochner(box, {.window = -1.0}); }), "window must be a finite number > 0, got -1"));
  EXPECT_TRUE(contains(message_of([] { check_bochner(box, {.max_frequency = std::nan("")}); }), "max_frequency must be"));
  EXPECT_TRUE(contains(message_of([] { check_bochner(box, {.frequencies = 1}); }), "frequencies must be from 2"));
  EXPECT_TRUE(contains(message_of([] { check_bochner(box, {.window = 1e6, .max_frequency = 1e6}); }), "lower one of them"));
  EXPECT_TRUE(contains(message_of([] { check_bochner([](double r) { return std::sin(r) / r; }); }), "f(0) = "));
  EXPECT_TRUE(contains(message_of([] { check_bochner([](double r) { return r > 3 && r < 4 ? std::nan("") : std::exp(-r); }); }),
                       "must be finite, got f(3."));
  EXPECT_TRUE(contains(message_of([] { check_bochner(RadialProfile([](const Vector&) { return Vector(Vector::Ones(3)); })); }),
                       "returned 3 values for"));
}

TEST(Bochner, TheSameForAnyNumberOfThreadsAndStoppedWhenAsked) {
  const BochnerCheck one = check_bochner(triangle, {.dimension = 2, .run = {.threads = 1}});
  const BochnerCheck two = check_bochner(triangle, {.dimension = 2, .run = {.threads = 2}});
  EXPECT_EQ(one.transform, two.transform);
  EXPECT_EQ(one.bound, two.bound);
  testing::on_new_thread(
      [] { EXPECT_THROW(check_bochner(triangle, {.run = {.progress = [](const ProgressEvent&) { return false; }}}), Cancelled); });
}

}  // namespace
}  // namespace mercer

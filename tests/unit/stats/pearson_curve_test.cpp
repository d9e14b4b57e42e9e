// Pearson curves of every type have the moments that they were made of.
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/pearson_curve.hpp"

#include <gtest/gtest.h>

#include <array>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/quadrature/tanh_sinh.hpp>
#include <cmath>

#include "mercer/error.hpp"

namespace mercer::stats {
namespace {

// E T^r = integral of quantile(p)^r dp.
double moment(const PearsonCurve& curve, int r) {
  boost::math::quadrature::tanh_sinh<double> integrate;
  return integrate.integrate([&](double p) { return std::pow(curve.quantile(p), r); }, 1e-13, 1 - 1e-13);
}

struct Case {
  double skewness;
  double kurtosis;
  const char* type;
};

TEST(PearsonCurve, HasTheMomentsItWasMadeOf) {
  for (const Case c :
       {Case{0, 3, "normal"}, Case{0, 1.8, "I"}, Case{0, 2.5, "I"}, Case{1, 3.5, "I"}, Case{1, 4.5, "III"}, Case{1, 4.6, "VI"},
        Case{1.5, 6.6, "VI"}, Case{0.5, 4, "IV"}, Case{0, 4, "IV"}, Case{0.7, 4.2, "IV"}, Case{-1, 4.6, "VI"}}) {
    const PearsonCurve curve(2, 9, c.skewness, c.kurtosis);
    EXPECT_EQ(curve.type(), c.type) << c.skewness << " " << c.kurtosis;
    const PearsonCurve standard(0, 1, c.skewness, c.kurtosis);
    EXPECT_NEAR(moment(standard, 1), 0, 1e-6) << c.type;
    EXPECT_NEAR(moment(standard, 2), 1, 1e-5) << c.type;
    EXPECT_NEAR(moment(standard, 3), c.skewness, 1e-3) << c.type;
    EXPECT_NEAR(moment(standard, 4), c.kurtosis, 3e-2) << c.type;  // heavy tails beyond 1e-13 are left out
    for (const double p : {1e-6, 0.01, 0.3, 0.5, 0.95, 0.999}) {
      EXPECT_NEAR(curve.upper_tail(curve.quantile(p)), 1 - p, 1e-9) << c.type << " " << p;
      EXPECT_NEAR(curve.quantile(p), 2 + 3 * standard.quantile(p), 1e-9);
    }
  }
}

TEST(PearsonCurve, IsContinuousAcrossItsTypes) {
  // Type V lies between VI and IV: where kappa = 1.
  const auto kappa = [](double b1, double b2) { return b1 * (b2 + 3) * (b2 + 3) / (4 * (4 * b2 - 3 * b1) * (2 * b2 - 3 * b1 - 6)); };
  double low = 4.5 + 1e-6;
  double high = 8;
  for (int step = 0; step < 200; ++step) {
    const double middle = (low + high) / 2;
    (kappa(1, middle) > 1 ? low : high) = middle;
  }
  const PearsonCurve five(0, 1, 1, low);
  EXPECT_EQ(five.type(), "V");
  const PearsonCurve six(0, 1, 1, low - 1e-3);
  const PearsonCurve four(0, 1, 1, low + 1e-3);
  EXPECT_EQ(six.type(), "VI");
  EXPECT_EQ(four.type(), "IV");
  const PearsonCurve three(0, 1, 1, 4.5);
  for (const double p : {0.01, 0.5, 0.9, 0.95, 0.99}) {
    EXPECT_NEAR(five.quantile(p), six.quantile(p), 1e-3);
    EXPECT_NEAR(five.quantile(p), four.quantile(p), 1e-3);
    EXPECT_NEAR(three.quantile(p), PearsonCurve(0, 1, 1, 4.501).quantile(p), 1e-3);
    EXPECT_NEAR(three.quantile(p), PearsonCurve(0, 1, 1, 4.499).quantile(p), 1e-3);
    EXPECT_NEAR(PearsonCurve(0, 1, 1e-4, 3.0001).quantile(p), boost::math::quantile(boost::math::normal_distribution<>(), p), 1e-3);
  }
  EXPECT_THROW(PearsonCurve(0, 1, 1, 1.9), InvalidArgument);
  EXPECT_THROW(PearsonCurve(0, 0, 0, 3), InvalidArgument);
}

}  // namespace
}  // namespace mercer::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "golden/data.hpp"
#include "mercer/error.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using namespace simulate;
using testing::message_of;

// Rows (x1, x2, class) in a fixed order, to compare sets. Rounded, so that the order does not hang on the last bit.
using Row = std::array<double, 3>;
std::vector<Row> sorted(std::vector<Row> rows) {
  for (Row& row : rows) {
    for (double& v : row) v = std::round(v * 1e12) / 1e12 + 0.0;
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}
std::vector<Row> rows_of(const Labelled& set) {
  std::vector<Row> rows;
  for (Index i = 0; i < set.y.size(); ++i) rows.push_back({set.X(i, 0), set.X(i, 1), set.y[i]});
  return sorted(rows);
}
std::vector<Row> rows_of(const std::vector<double>& flat) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < flat.size(); i += 3) rows.push_back({flat[i], flat[i + 1], flat[i + 2]});
  return sorted(rows);
}

double fraction_of(const Vector& y, double value) {
  return static_cast<double>((y.array() == value).count()) / static_cast<double>(y.size());
}

TEST(Simulate, MoonsAndCirclesWithoutNoiseAreScikitLearns) {
  EXPECT_EQ(rows_of(moons(11, 0)), rows_of(golden::moons));
  EXPECT_EQ(rows_of(circles(11, 0, 0.5)), rows_of(golden::circles));
}

TEST(Simulate, NoiseHasTheGivenDeviation) {
  const Index n = 20000;
  const Labelled set = circles(n, 0.2, 0, 3);  // factor 0: the inner circle is the point 0, so its rows are the noise
  double sum = 0;
  Index count = 0;
  for (Index i = 0; i < n; ++i) {
    if (set.y[i] != 1) continue;
    sum += set.X.row(i).squaredNorm();
    count += 2;
  }
  EXPECT_EQ(count, n);
  EXPECT_NEAR(std::sqrt(sum / static_cast<double>(count)), 0.2, 5 * 0.2 / std::sqrt(2.0 * static_cast<double>(count)));
}

TEST(Simulate, RowsAreShuffled) {
  const Labelled set = moons(200, 0.1, 1);
  EXPECT_GT(fraction_of(set.y.head(50), 0), 0.2);
  EXPECT_LT(fraction_of(set.y.head(50), 0), 0.8);
}

TEST(Simulate, TwoGaussiansLieAtTheirDistance) {
  const Labelled set = two_gaussians(40000, 3, 4, 2);
  EXPECT_EQ(fraction_of(set.y, 1), 0.5);
  for (Index j = 0; j < 4; ++j) {
    double mean[2] = {0, 0};
    double square[2] = {0, 0};
    for (Index i = 0; i < 40000; ++i) {
      const double x = set.X(i, j);
      mean[static_cast<int>(set.y[i])] += x / 20000;
      square[static_cast<int>(set.y[i])] += x * x / 20000;
    }
    const double error = 5 / std::sqrt(20000.0);
    EXPECT_NEAR(mean[0], j == 0 ? -1.5 : 0, error);
    EXPECT_NEAR(mean[1], j == 0 ? 1.5 : 0, error);
    for (int c = 0; c < 2; ++c) EXPECT_NEAR(square[c] - mean[c] * mean[c], 1, 5 * std::sqrt(2.0 / 20000));
  }
}

TEST(Simulate, DiscLiesInTheRing) {
  const Labelled set = disc_in_ring(20000, 4);
  Index inner_half = 0;
  for (Index i = 0; i < set.y.size(); ++i) {
    const double r = set.X.row(i).norm();
    if (set.y[i] == 0) {
      ASSERT_LE(r, 1);
      inner_half += r * r < 0.5 ? 1 : 0;
    } else {
      ASSERT_GE(r, 1.5);
      ASSERT_LE(r, 2.5);
    }
  }
  EXPECT_EQ(fraction_of(set.y, 0), 0.5);
  EXPECT_NEAR(static_cast<double>(inner_half) / 10000, 0.5, 5 * 0.5 / 100) << "uniform on the area";
}

TEST(Simulate, BlobsGatherAroundTheirCentres) {
  const Labelled set = blobs(3000, 3, 2, 0.5, 5);
  Matrix centre = Matrix::Zero(3, 2);
  for (Index i = 0; i < 3000; ++i) centre.row(static_cast<Index>(set.y[i])) += set.X.row(i) / 1000;
  double sum = 0;
  for (Index i = 0; i < 3000; ++i) sum += (set.X.row(i) - centre.row(static_cast<Index>(set.y[i]))).squaredNorm() / 6000;
  EXPECT_NEAR(sum, 0.25, 5 * 0.25 * std::sqrt(2.0 / 6000));
  EXPECT_LE(centre.cwiseAbs().maxCoeff(), 10.1);
}

TEST(Simulate, ParabolaIsTheSetOfTheSource) {
  const Labelled set = parabola();
  ASSERT_EQ(set.y.size(), 21);
  for (Index i = 0; i < 21; ++i) {
    const double x = static_cast<double>(i) - 10;
    EXPECT_EQ(set.X(i, 0), x);
    EXPECT_EQ(set.y[i], std::abs(x) > 2 ? 1 : 0);
    // Lifted to (x, x^2), the line w = (0, 0.4) at 6.5 has the widest margin: squares go up to 4 inside and start at 9 outside.
    EXPECT_GE((set.y[i] == 1 ? 1 : -1) * 0.4 * (x * x - 6.5), 1 - 1e-15);
  }
}

TEST(Simulate, WavesFollowTheirMean) {
  EXPECT_DOUBLE_EQ(waves_mean(0), std::exp(-13.5));
  EXPECT_DOUBLE_EQ(waves_mean(9), std::sin(18.0) + 1);
  const Labelled quiet = waves(50, 0, 1);
  for (Index i = 0; i < 50; ++i) EXPECT_EQ(quiet.y[i], waves_mean(quiet.X(i, 0)));
  const Labelled set = waves(20000, 0.3, 2);
  double sum = 0;
  for (Index i = 0; i < 20000; ++i) sum += std::pow(set.y[i] - waves_mean(set.X(i, 0)), 2) / 20000;
  EXPECT_NEAR(std::sqrt(sum), 0.3, 5 * 0.3 / std::sqrt(40000.0));
  EXPECT_GE(set.X.minCoeff(), 0);
  EXPECT_LE(set.X.maxCoeff(), 10);
  EXPECT_NEAR(set.X.mean(), 5, 5 * 10 / std::sqrt(12.0 * 20000));
}

TEST(Simulate, SineBandIsTheRule) {
  const Labelled set = sine_band(20000, 1);
  for (Index i = 0; i < 20000; ++i) ASSERT_EQ(set.y[i], std::abs(set.X(i, 1) - 1.5 * std::sin(2 * set.X(i, 0))) < 0.8 ? 1 : 0);
  EXPECT_NEAR(fraction_of(set.y, 1), 1.6 / 6, 0.02) << "the band is 1.6 high everywhere and stays inside the square";
  EXPECT_LE(set.X.cwiseAbs().maxCoeff(), 3);
}

TEST(Simulate, DependentPairsFollowTheirShapes) {
  const Index n = 20000;
  const Pair third = cubic(n, 1);
  const Pair wave = cosine(n, 2);
  const Pair ring = noisy_circle(n, 3);
  double cubic_error = 0;
  double cosine_error = 0;
  double radius = 0;
  for (Index i = 0; i < n; ++i) {
    cubic_error += std::pow(third.y(i, 0) - std::pow(third.x(i, 0), 3), 2) / static_cast<double>(n);
    cosine_error += std::pow(wave.y(i, 0) - std::cos(2 * 3.14159265358979323846 * wave.x(i, 0)), 2) / static_cast<double>(n);
    radius += (std::pow(ring.x(i, 0), 2) + std::pow(ring.y(i, 0), 2)) / static_cast<double>(n);
  }
  const double relative = 5 / std::sqrt(2.0 * static_cast<double>(n));
  EXPECT_NEAR(std::sqrt(cubic_error), 0.2, 0.2 * relative);
  EXPECT_NEAR(std::sqrt(cosine_error), 0.3, 0.3 * relative);
  EXPECT_NEAR(radius, 1 + 2 * 0.01, 5 * 0.21 / std::sqrt(static_cast<double>(n)));
  EXPECT_LE(third.x.cwiseAbs().maxCoeff(), 1);
  EXPECT_NEAR(third.x.mean(), 0, 5 / std::sqrt(3.0 * static_cast<double>(n)));
}

TEST(Simulate, RegressionDependsOnThreeDirections) {
  const Labelled set = regression(4000, 8, 0, 6);
  EXPECT_EQ(set.X.cols(), 8);
  // y = sin 2z0 + cos(z1) z2 has mean 0 and variance about 1/2 + 1/2 var(z2), z of variance about 1.
  const double variance = (set.y.array() - set.y.mean()).square().mean();
  EXPECT_GT(variance, 0.4);
  EXPECT_LT(variance, 2.5);
  const Labelled noisy = regression(4000, 8, 0.5, 6);
  EXPECT_EQ(noisy.X, set.X) << "the noise is drawn beside";
  EXPECT_NEAR(std::sqrt((noisy.y - set.y).squaredNorm() / 4000), 0.5, 5 * 0.5 / std::sqrt(8000.0));
}

TEST(Simulate, TheSeedDecides) {
  EXPECT_EQ(moons(50, 0.1, 3).X, moons(50, 0.1, 3).X);
  EXPECT_NE(moons(50, 0.1, 3).X, moons(50, 0.1, 4).X);
  EXPECT_NE(waves(50, 0.1, 3).X, waves(50, 0.1, 4).X);
  EXPECT_NE(blobs(50, 3, 2, 1, 3).X, blobs(50, 3, 2, 1, 4).X);
  EXPECT_NE(cubic(50, 3).x, cubic(50, 4).x);
}

TEST(Builtin, EveryNameIsATable) {
  const auto names = builtin_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const char* wanted : {"two_gaussians", "moons", "circles", "disc_in_ring", "blobs", "parabola", "waves", "sine_band", "cubic",
                             "cosine", "noisy_circle"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), wanted), names.end()) << wanted;
  }
  for (const std::string& name : names) {
    const Table table = builtin(name, 7);
    EXPECT_EQ(table.source, "builtin:" + name);
    ASSERT_GE(table.columns.size(), 2U);
    ASSERT_EQ(table.names.size(), table.columns.size());
    EXPECT_TRUE(table.names.back() == "y" || table.names.back() == "class") << "the target is found without being named";
    for (std::size_t j = 0; j < table.columns.size(); ++j) {
      EXPECT_EQ(table.columns[j].name, table.names[j]);
      EXPECT_EQ(table.columns[j].numbers().size(), table.columns[0].numbers().size());
      EXPECT_TRUE(table.columns[j].missing.empty());
    }
    EXPECT_EQ(builtin(name, 7).columns[0].numbers(), table.columns[0].numbers());
  }
}

TEST(Builtin, HoldsTheRowsOfTheSet) {
  const Table table = builtin("sine_band", 3);
  const Labelled set = sine_band(600, 3);
  EXPECT_EQ(table.names, (std::vector<std::string>{"x1", "x2", "class"}));
  for (Index i = 0; i < 600; ++i) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_EQ(table.columns[0].numbers()[at], set.X(i, 0));
    ASSERT_EQ(table.columns[1].numbers()[at], set.X(i, 1));
    ASSERT_EQ(table.columns[2].numbers()[at], set.y[i]);
  }
  EXPECT_EQ(builtin("waves").names, (std::vector<std::string>{"x", "y"}));
}

TEST(Simulate, BadRequestsAreNamed) {
  EXPECT_EQ(message_of<InvalidArgument>([] { moons(1); }), "n must be >= 2, got 1");
  EXPECT_EQ(message_of<InvalidArgument>([] { waves(0); }), "n must be >= 1, got 0");
  EXPECT_EQ(message_of<InvalidArgument>([] { moons(10, -0.1); }), "noise must be >= 0 and finite, got -0.1");
  EXPECT_EQ(message_of<InvalidArgument>([] { circles(10, 0, 1); }), "factor must be in [0, 1), got 1");
  EXPECT_EQ(message_of<InvalidArgument>([] { blobs(10, 0); }), "centres must be >= 1, got 0");
  EXPECT_EQ(message_of<InvalidArgument>([] { regression(10, 0); }), "dimension must be >= 1, got 0");
  EXPECT_THROW(two_gaussians(10, std::nan("")), InvalidArgument);
  EXPECT_THROW(cubic(-1), InvalidArgument);
  EXPECT_EQ(message_of<InvalidArgument>([] { builtin("moon"); }),
            "there is no built-in set \"moon\"; the built-in sets are two_gaussians, moons, circles, disc_in_ring, blobs, parabola, "
            "sine_band, waves, "
            "regression, cubic, cosine, noisy_circle");
}

}  // namespace
}  // namespace mercer

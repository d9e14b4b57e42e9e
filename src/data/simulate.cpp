// Simulated sets. Rows come in random order or with classes in turn, so that a split by position is as good as any other.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/simulate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <tuple>
#include <utility>

#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer::simulate {

namespace {

constexpr double pi = std::numbers::pi;

void require_size(Index n, Index least = 1) {
  if (n < least) throw InvalidArgument(fmt::format("n must be >= {}, got {}", least, n));
}

void require_not_negative(double value, const char* name) {
  if (!(value >= 0) || !std::isfinite(value)) throw InvalidArgument(fmt::format("{} must be >= 0 and finite, got {}", name, value));
}

void require_dimension(Index dimension) {
  if (dimension < 1) throw InvalidArgument(fmt::format("dimension must be >= 1, got {}", dimension));
}

Labelled shuffled(const Labelled& rows, RandomStream& random) {
  const std::vector<Index> order = random.permutation(rows.y.size());
  return {rows.X(order, Eigen::all), rows.y(order)};
}

void add_noise(Matrix& X, double deviation, RandomStream& random) {
  if (deviation > 0) X += deviation * random.normal_matrix(X.rows(), X.cols());
}

Matrix column(const Vector& values) { return values; }

// A point drawn uniformly from the plane between two circles around 0.
std::pair<double, double> in_ring(double inner, double outer, RandomStream& random) {
  const double radius = std::sqrt(random.uniform(inner * inner, outer * outer));  // area grows with the square
  const double angle = random.uniform(0, 2 * pi);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

Pair dependent(Index n, std::uint64_t seed, const std::function<std::pair<double, double>(RandomStream&)>& draw) {
  require_size(n);
  RandomStream random(seed);
  Pair out{Matrix(n, 1), Matrix(n, 1)};
  for (Index i = 0; i < n; ++i) std::tie(out.x(i, 0), out.y(i, 0)) = draw(random);
  return out;
}

}  // namespace

Labelled two_gaussians(Index n, double distance, Index dimension, std::uint64_t seed) {
  require_size(n);
  require_not_negative(distance, "distance");
  require_dimension(dimension);
  RandomStream random(seed);
  Labelled out{random.normal_matrix(n, dimension), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    out.y[i] = static_cast<double>(i % 2);
    out.X(i, 0) += (out.y[i] - 0.5) * distance;
  }
  return out;
}

Labelled moons(Index n, double noise, std::uint64_t seed) {
  require_size(n, 2);
  require_not_negative(noise, "noise");
  RandomStream random(seed);
  const Index upper = n / 2;
  Labelled out{Matrix(n, 2), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    const bool lower = i >= upper;
    const Index place = lower ? i - upper : i;
    const Index count = lower ? n - upper : upper;
    const double angle = count == 1 ? 0 : pi * static_cast<double>(place) / static_cast<double>(count - 1);
    out.X(i, 0) = lower ? 1 - std::cos(angle) : std::cos(angle);
    out.X(i, 1) = lower ? 0.5 - std::sin(angle) : std::sin(angle);
    out.y[i] = lower ? 1 : 0;
  }
  add_noise(out.X, noise, random);
  return shuffled(out, random);
}

Labelled circles(Index n, double noise, double factor, std::uint64_t seed) {
  require_size(n, 2);
  require_not_negative(noise, "noise");
  if (!(factor >= 0 && factor < 1)) throw InvalidArgument(fmt::format("factor must be in [0, 1), got {}", factor));
  RandomStream random(seed);
  const Index outer = n / 2;
  Labelled out{Matrix(n, 2), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    const bool inside = i >= outer;
    const Index place = inside ? i - outer : i;
    const Index count = inside ? n - outer : outer;
    const double angle = 2 * pi * static_cast<double>(place) / static_cast<double>(count);
    const double radius = inside ? factor : 1;
    out.X(i, 0) = radius * std::cos(angle);
    out.X(i, 1) = radius * std::sin(angle);
    out.y[i] = inside ? 1 : 0;
  }
  add_noise(out.X, noise, random);
  return shuffled(out, random);
}

Labelled disc_in_ring(Index n, std::uint64_t seed) {
  require_size(n);
  RandomStream random(seed);
  Labelled out{Matrix(n, 2), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    out.y[i] = static_cast<double>(i % 2);
    std::tie(out.X(i, 0), out.X(i, 1)) = i % 2 == 0 ? in_ring(0, 1, random) : in_ring(1.5, 2.5, random);
  }
  return out;
}

Labelled blobs(Index n, Index centres, Index dimension, double spread, std::uint64_t seed) {
  require_size(n);
  if (centres < 1) throw InvalidArgument(fmt::format("centres must be >= 1, got {}", centres));
  require_dimension(dimension);
  require_not_negative(spread, "spread");
  RandomStream random(seed);
  Matrix middle(centres, dimension);
  for (Index i = 0; i < middle.size(); ++i) middle.data()[i] = random.uniform(-10, 10);
  Labelled out{spread * random.normal_matrix(n, dimension), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    out.X.row(i) += middle.row(i % centres);
    out.y[i] = static_cast<double>(i % centres);
  }
  return out;
}

Labelled parabola() {
  const Vector x = Vector::LinSpaced(21, -10, 10);
  return {column(x), (x.array().abs() > 2).cast<double>()};
}

double waves_mean(double x) { return std::sin(2 * x) + std::exp(1.5 * (x - 9)); }

Labelled waves(Index n, double noise, std::uint64_t seed) {
  require_size(n);
  require_not_negative(noise, "noise");
  RandomStream random(seed);
  Labelled out{Matrix(n, 1), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    out.X(i, 0) = random.uniform(0, 10);
    out.y[i] = waves_mean(out.X(i, 0)) + noise * random.normal();
  }
  return out;
}

Labelled sine_band(Index n, std::uint64_t seed) {
  require_size(n);
  RandomStream random(seed);
  Labelled out{Matrix(n, 2), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 2; ++j) out.X(i, j) = random.uniform(-3, 3);
    out.y[i] = std::abs(out.X(i, 1) - 1.5 * std::sin(2 * out.X(i, 0))) < 0.8 ? 1 : 0;
  }
  return out;
}

Pair cubic(Index n, std::uint64_t seed) {
  return dependent(n, seed, [](RandomStream& random) {
    const double x = random.uniform(-1, 1);
    return std::pair(x, x * x * x + 0.2 * random.normal());
  });
}

Pair cosine(Index n, std::uint64_t seed) {
  return dependent(n, seed, [](RandomStream& random) {
    const double x = random.uniform(-1, 1);
    return std::pair(x, std::cos(2 * pi * x) + 0.3 * random.normal());
  });
}

Pair noisy_circle(Index n, std::uint64_t seed) {
  return dependent(n, seed, [](RandomStream& random) {
    const double angle = random.uniform(0, 2 * pi);
    const double x = std::cos(angle) + 0.1 * random.normal();
    return std::pair(x, std::sin(angle) + 0.1 * random.normal());
  });
}

Labelled regression(Index n, Index dimension, double noise, std::uint64_t seed) {
  require_size(n);
  require_dimension(dimension);
  require_not_negative(noise, "noise");
  RandomStream random(seed);
  const Matrix W = random.normal_matrix(dimension, 3) / std::sqrt(static_cast<double>(dimension));
  Labelled out{random.normal_matrix(n, dimension), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    const Eigen::RowVector3d z = out.X.row(i) * W;
    out.y[i] = std::sin(2 * z[0]) + std::cos(z[1]) * z[2] + noise * random.normal();
  }
  return out;
}

}  // namespace mercer::simulate

// Drawing the frequencies of random Fourier features. Every frequency has a random stream of its own (of an orthogonal group, the group has
// one): the first independent frequencies of a longer map are those of a shorter one.
// SPDX-License-Identifier: BSD-3-Clause
#include "gram/frequencies.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <bit>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/random/sobol.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "gram/hadamard.hpp"
#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

using Kind = KernelNode::Kind;
using Family = SpectralMeasure::Family;

constexpr std::uint64_t shift_stream = (std::uint64_t{1} << 62U) + 1;
constexpr Index most_sobol_columns = 3667;  // of the direction numbers by Joe and Kuo that Boost has

[[noreturn]] void refuse(const Kernel& kernel) {
  throw InvalidArgument(
      fmt::format("random Fourier features draw from a kernel's spectral measure, which \"{}\" does not offer; use gaussian, laplacian, "
                  "matern or rational_quadratic, their positive multiples, sums and products, and .on(columns) of them; for other kernels "
                  "use landmarks (Nystroem, Falkon)",
                  kernel.text()));
}

// Where the numbers of a frequency come from, in the order they are asked for.
class Draws {
 public:
  Draws() = default;
  Draws(const Draws&) = delete;
  Draws& operator=(const Draws&) = delete;
  virtual ~Draws() = default;
  virtual double uniform() = 0;
  virtual double normal() = 0;
  virtual double gamma_of_mean_one(double shape) = 0;
};

class RandomDraws final : public Draws {
 public:
  explicit RandomDraws(RandomStream& random) : random_(random) {}
  double uniform() override { return random_.uniform(); }
  double normal() override { return random_.normal(); }

  // Gamma distribution of the given shape and mean 1. Marsaglia and Tsang, ACM Trans. Math. Software 26 (2000): a cube of a normal,
  // accepted almost always; a shape below 1 by that of shape + 1 times a power of a uniform number.
  double gamma_of_mean_one(double shape) override {
    const double raised = shape < 1 ? shape + 1 : shape;
    const double d = raised - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = random_.normal();
      const double root = 1 + c * x;
      if (root <= 0) continue;
      const double v = root * root * root;
      const double u = 1 - random_.uniform();  // in (0, 1]
      if (std::log(u) >= 0.5 * x * x + d * (1 - v + std::log(v))) continue;
      const double boost = shape < 1 ? std::pow(1 - random_.uniform(), 1 / shape) : 1;
      return d * v * boost / shape;
    }
  }

 private:
  RandomStream& random_;
};

// One point of a low-discrepancy sequence: every number is the inverse distribution function at its next coordinate.
class QuasiDraws final : public Draws {
 public:
  explicit QuasiDraws(std::span<const double> point) : point_(point) {}
  double uniform() override { return point_[used_++]; }
  double normal() override { return std::numbers::sqrt2 * boost::math::erf_inv(2 * uniform() - 1); }
  double gamma_of_mean_one(double shape) override {
    if (shape > 1e8) return std::max(0.0, 1 + normal() / std::sqrt(shape));  // normal to single precision, where quantiles lose digits
    return boost::math::gamma_p_inv(shape, uniform()) / shape;
  }

 private:
  std::span<const double> point_;
  std::size_t used_ = 0;
};

// The random length that a standard normal vector is multiplied with.
double mixing_length(const SpectralMeasure& measure, Draws& random) {
  switch (measure.family) {
    case Family::normal_over_root_gamma:
      return 1 / std::sqrt(std::max(random.gamma_of_mean_one(measure.shape), std::numeric_limits<double>::min()));
    case Family::normal_times_root_gamma:
      return std::sqrt(random.gamma_of_mean_one(measure.shape));
    default:
      return 1;
  }
}

void require_scales(const SpectralMeasure& measure, std::size_t columns) {
  if (measure.scales.size() != 1 && measure.scales.size() != columns)
    throw InvalidArgument(fmt::format("the kernel has {} length scales, but looks at {} column{}: give one per column",
                                      measure.scales.size(), columns, columns == 1 ? "" : "s"));
}
double scale_at(const SpectralMeasure& measure, std::size_t column) { return measure.scales[measure.scales.size() == 1 ? 0 : column]; }

void add_leaf(const SpectralMeasure& measure, std::span<const Index> columns, Draws& random, Eigen::Ref<Vector> w) {
  require_scales(measure, columns.size());
  const bool cauchy = measure.family == Family::cauchy_each;
  const double length = mixing_length(measure, random);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const double draw = cauchy ? std::tan(std::numbers::pi * (random.uniform() - 0.5)) : length * random.normal();
    w[columns[j]] += draw / scale_at(measure, j);
  }
}

std::vector<Index> chosen(std::span<const ColumnRef> wanted, std::span<const Index> columns, const Kernel& kernel) {
  std::vector<Index> out;
  for (const ColumnRef& column : wanted) {
    if (column.index < 0)
      throw InvalidArgument(fmt::format("\"{}\" names a column: use positions, or resolve_columns(kernel, names)", kernel.text()));
    if (column.index >= std::ssize(columns))
      throw InvalidArgument(fmt::format("\"{}\" asks for column {}, but there are {} columns (0 to {})", kernel.text(), column.index,
                                        columns.size(), std::ssize(columns) - 1));
    out.push_back(columns[static_cast<std::size_t>(column.index)]);
  }
  return out;
}

// Adds one frequency of the kernel to w. Independent frequencies of factors add up (a product of characteristic functions), and a sum of
// kernels is a mixture of their measures.
void add_frequency(const Kernel& kernel, std::span<const Index> columns, Draws& random, Eigen::Ref<Vector> w) {
  const KernelNode& node = kernel.node();
  switch (node.kind()) {
    case Kind::leaf:
      return add_leaf(node.spectral_measure(), columns, random, w);
    case Kind::scaled:
      return add_frequency(node.parts()[0], columns, random, w);
    case Kind::restricted:
      return add_frequency(node.parts()[0], chosen(node.columns(), columns, kernel), random, w);
    case Kind::product:
      for (const Kernel& part : node.parts()) add_frequency(part, columns, random, w);
      return;
    default: {
      double left = random.uniform() * scale_of(kernel);
      const auto parts = node.parts();
      std::size_t at = 0;
      for (; at + 1 < parts.size(); ++at) {
        left -= scale_of(parts[at]);
        if (left < 0) break;
      }
      add_frequency(parts[at], columns, random, w);
    }
  }
}

// The one leaf of an expression without sums and products, and the columns it looks at.
struct Lone {
  SpectralMeasure measure;
  std::vector<Index> columns;
};
Lone lone_leaf(const Kernel& kernel, std::vector<Index> columns) {
  const KernelNode& node = kernel.node();
  if (node.kind() == Kind::scaled) return lone_leaf(node.parts()[0], std::move(columns));
  if (node.kind() == Kind::restricted) return lone_leaf(node.parts()[0], chosen(node.columns(), columns, kernel));
  if (node.kind() != Kind::leaf || node.spectral_measure().family == Family::cauchy_each)
    throw InvalidArgument(
        fmt::format("orthogonal features need a spectral measure that looks the same in every direction, which \"{}\" does not have; use "
                    "gaussian, matern, rational_quadratic or laplacian with its L2 norm, or independent features",
                    kernel.text()));
  return {node.spectral_measure(), std::move(columns)};
}

// How many numbers one frequency asks for, at most.
Index coordinates(const Kernel& kernel, Index columns) {
  const KernelNode& node = kernel.node();
  switch (node.kind()) {
    case Kind::leaf: {
      const Family family = node.spectral_measure().family;
      return columns + (family == Family::normal_over_root_gamma || family == Family::normal_times_root_gamma ? 1 : 0);
    }
    case Kind::scaled:
      return coordinates(node.parts()[0], columns);
    case Kind::restricted:
      return coordinates(node.parts()[0], std::ssize(node.columns()));
    case Kind::product: {
      Index sum = 0;
      for (const Kernel& part : node.parts()) sum += coordinates(part, columns);
      return sum;
    }
    default: {
      Index most = 0;
      for (const Kernel& part : node.parts()) most = std::max(most, coordinates(part, columns));
      return most + 1;
    }
  }
}

// A Sobol sequence, moved as a whole by one random shift of the cube (around its edges): each point is uniform by itself.
void draw_quasi(const Kernel& kernel, std::span<const Index> columns, std::uint64_t seed, Matrix& frequencies) {
  const Index dimensions = coordinates(kernel, std::ssize(columns));
  if (dimensions > most_sobol_columns)
    throw InvalidArgument(
        fmt::format("quasi-random frequencies of this kernel need {} coordinates, and Sobol sequences have {}; use "
                    "independent or orthogonal ones",
                    dimensions, most_sobol_columns));
  RandomStream random(seed, shift_stream);
  std::vector<double> shift(static_cast<std::size_t>(dimensions));
  for (double& s : shift) s = random.uniform();
  boost::random::sobol sequence(static_cast<std::size_t>(dimensions));
  std::vector<double> point(shift.size());
  Vector w(frequencies.rows());
  for (Index c = 0; c < frequencies.cols(); ++c) {
    for (std::size_t j = 0; j < point.size(); ++j) {
      const double u = std::ldexp(static_cast<double>(sequence() >> 11U), -53) + shift[j];
      point[j] = std::clamp(u - std::floor(u), 0x1p-53, 1 - 0x1p-53);
    }
    QuasiDraws draws(point);
    w.setZero();
    add_frequency(kernel, columns, draws, w);
    frequencies.col(c) = w;
  }
}

// Groups of orthogonal directions (the Q of a normal matrix with its signs made random by R's, so uniform), each with the length that a
// normal vector has, so that every frequency by itself is distributed as an independent one.
void draw_orthogonal(const Lone& leaf, std::uint64_t seed, Matrix& frequencies) {
  require_scales(leaf.measure, leaf.columns.size());
  const auto d = std::ssize(leaf.columns);
  for (Index first = 0; first < frequencies.cols(); first += d) {
    RandomStream stream(seed, static_cast<std::uint64_t>(first));
    RandomDraws random(stream);
    const Index count = std::min(d, frequencies.cols() - first);
    const Eigen::MatrixXd normal = stream.normal_matrix(d, count);
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(normal);
    const Eigen::MatrixXd Q = qr.householderQ() * Eigen::MatrixXd::Identity(d, count);
    for (Index c = 0; c < count; ++c) {
      const double sign = qr.matrixQR()(c, c) < 0 ? -1 : 1;
      const double length = std::sqrt(static_cast<double>(d) * random.gamma_of_mean_one(0.5 * static_cast<double>(d)));  // chi
      const double mixing = mixing_length(leaf.measure, random);
      for (Index j = 0; j < d; ++j) {
        const auto column = static_cast<std::size_t>(j);
        frequencies(leaf.columns[column], first + c) = sign * length * mixing * Q(j, c) / scale_at(leaf.measure, column);
      }
    }
  }
}

// Rows of H D1 H D2 H D3 as directions, each with the length that a normal vector of p numbers has: the columns that the kernel looks at
// then see nearly a normal vector.
HadamardFactors draw_structured(const Lone& leaf, Index width, std::uint64_t seed, Matrix& frequencies) {
  require_scales(leaf.measure, leaf.columns.size());
  // Of few columns the signs make few directions, and what they average to is another kernel: rows are longer than need be then.
  const auto p = static_cast<Index>(std::bit_ceil(static_cast<std::size_t>(std::max<Index>(width, 16))));
  const Index count = frequencies.cols();
  const Index blocks = (count + p - 1) / p;
  HadamardFactors out{Matrix(3 * blocks, p), Vector(count), Vector::Zero(width)};
  for (std::size_t j = 0; j < leaf.columns.size(); ++j) out.column_scale[leaf.columns[j]] = 1 / scale_at(leaf.measure, j);
  const double unit = std::pow(static_cast<double>(p), -1.5);
  Vector v(p);
  for (Index block = 0; block < blocks; ++block) {
    RandomStream stream(seed, static_cast<std::uint64_t>(block));
    RandomDraws random(stream);
    for (Index r = 3 * block; r < 3 * block + 3; ++r) {
      for (Index j = 0; j < p; ++j) out.signs(r, j) = stream.below(2) == 0 ? -1 : 1;
    }
    for (Index c = block * p; c < std::min(count, (block + 1) * p); ++c) {
      const double length = std::sqrt(static_cast<double>(p) * random.gamma_of_mean_one(0.5 * static_cast<double>(p)));
      out.lengths[c] = length * mixing_length(leaf.measure, random);
      v.setZero();
      v[c - block * p] = 1;
      for (const Index r : {Index{0}, Index{1}, Index{2}}) {
        hadamard_transform(v.data(), p);
        v.array() *= out.signs.row(3 * block + r).transpose().array();
      }
      frequencies.col(c) = (unit * out.lengths[c]) * v.head(width).cwiseProduct(out.column_scale);
    }
  }
  return out;
}

}  // namespace

double scale_of(const Kernel& kernel) {
  const KernelNode& node = kernel.node();
  switch (node.kind()) {
    case Kind::leaf:
      if (node.spectral_measure().family == Family::none) refuse(kernel);
      return 1;
    case Kind::scaled:
      if (!(node.factor() > 0)) refuse(kernel);
      return node.factor() * scale_of(node.parts()[0]);
    case Kind::restricted:
      return scale_of(node.parts()[0]);
    case Kind::sum: {
      double sum = 0;
      for (const Kernel& part : node.parts()) sum += scale_of(part);
      return sum;
    }
    case Kind::product: {
      double product = 1;
      for (const Kernel& part : node.parts()) product *= scale_of(part);
      return product;
    }
    default:
      refuse(kernel);
  }
}

Frequencies draw_frequencies(const Kernel& kernel, Index width, Index count, FourierDraw draw, std::uint64_t seed) {
  Frequencies out{Matrix::Zero(width, count), std::nullopt};
  std::vector<Index> columns(static_cast<std::size_t>(width));
  for (Index j = 0; j < width; ++j) columns[static_cast<std::size_t>(j)] = j;
  switch (draw) {
    case FourierDraw::orthogonal:
      draw_orthogonal(lone_leaf(kernel, std::move(columns)), seed, out.w);
      break;
    case FourierDraw::structured:
      out.hadamard = draw_structured(lone_leaf(kernel, std::move(columns)), width, seed, out.w);
      break;
    case FourierDraw::quasi_random:
      draw_quasi(kernel, columns, seed, out.w);
      break;
    default:
      Vector w(width);
      for (Index c = 0; c < count; ++c) {
        RandomStream stream(seed, static_cast<std::uint64_t>(c));
        RandomDraws random(stream);
        w.setZero();
        add_frequency(kernel, columns, random, w);
        out.w.col(c) = w;
      }
  }
  return out;
}

}  // namespace mercer

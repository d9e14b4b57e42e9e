// Drawing the frequencies of random Fourier features. Every frequency has a random stream of its own (of an orthogonal group, the group has
// one): the first independent frequencies of a longer map are those of a shorter one.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/random_features.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <cmath>
#include <limits>
#include <numbers>

#include "gram/fourier_blocks.hpp"
#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

using Kind = KernelNode::Kind;
using Family = SpectralMeasure::Family;

// Streams of one seed: frequencies, offsets and orthogonal groups must not meet.
constexpr std::uint64_t offset_streams = std::uint64_t{1} << 62U;

[[noreturn]] void refuse(const Kernel& kernel) {
  throw InvalidArgument(
      fmt::format("random Fourier features draw from a kernel's spectral measure, which \"{}\" does not offer; use gaussian, laplacian, "
                  "matern or rational_quadratic, their positive multiples, sums and products, and .on(columns) of them; for other kernels "
                  "use landmarks (Nystroem, Falkon)",
                  kernel.text()));
}

double scale_of(const Kernel& kernel) {  // k(x, x)
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

// Gamma distribution of the given shape and mean 1. Marsaglia and Tsang, ACM Trans. Math. Software 26 (2000): a cube of a normal, accepted
// almost always; a shape below 1 by that of shape + 1 times a power of a uniform number.
double gamma_of_mean_one(double shape, RandomStream& random) {
  const double raised = shape < 1 ? shape + 1 : shape;
  const double d = raised - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double u = 1 - random.uniform();  // in (0, 1]
    if (std::log(u) >= 0.5 * x * x + d * (1 - v + std::log(v))) continue;
    const double boost = shape < 1 ? std::pow(1 - random.uniform(), 1 / shape) : 1;
    return d * v * boost / shape;
  }
}

// The random length that a standard normal vector is multiplied with.
double mixing_length(const SpectralMeasure& measure, RandomStream& random) {
  switch (measure.family) {
    case Family::normal_over_root_gamma:
      return 1 / std::sqrt(std::max(gamma_of_mean_one(measure.shape, random), std::numeric_limits<double>::min()));
    case Family::normal_times_root_gamma:
      return std::sqrt(gamma_of_mean_one(measure.shape, random));
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

void add_leaf(const SpectralMeasure& measure, std::span<const Index> columns, RandomStream& random, Eigen::Ref<Vector> w) {
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
void add_frequency(const Kernel& kernel, std::span<const Index> columns, RandomStream& random, Eigen::Ref<Vector> w) {
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

// Groups of orthogonal directions (the Q of a normal matrix with its signs made random by R's, so uniform), each with the length that a
// normal vector has, so that every frequency by itself is distributed as an independent one.
void draw_orthogonal(const Lone& leaf, std::uint64_t seed, Matrix& frequencies) {
  require_scales(leaf.measure, leaf.columns.size());
  const auto d = std::ssize(leaf.columns);
  for (Index first = 0; first < frequencies.cols(); first += d) {
    RandomStream random(seed, static_cast<std::uint64_t>(first));
    const Index count = std::min(d, frequencies.cols() - first);
    const Eigen::MatrixXd normal = random.normal_matrix(d, count);
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(normal);
    const Eigen::MatrixXd Q = qr.householderQ() * Eigen::MatrixXd::Identity(d, count);
    for (Index c = 0; c < count; ++c) {
      const double sign = qr.matrixQR()(c, c) < 0 ? -1 : 1;
      const double length = std::sqrt(static_cast<double>(d) * gamma_of_mean_one(0.5 * static_cast<double>(d), random));  // chi
      const double mixing = mixing_length(leaf.measure, random);
      for (Index j = 0; j < d; ++j) {
        const auto column = static_cast<std::size_t>(j);
        frequencies(leaf.columns[column], first + c) = sign * length * mixing * Q(j, c) / scale_at(leaf.measure, column);
      }
    }
  }
}

// log of the number of pairs times 2, the factor in front of the exponential.
double log_pairs(Index samples) {
  if (samples < 2) throw InvalidArgument(fmt::format("a pair needs at least 2 samples, got {}", samples));
  const auto n = static_cast<double>(samples);
  return std::log(n) + std::log(n - 1);
}
double exponent_of(FourierForm form) { return form == FourierForm::cosine ? 8 : 4; }

void require_confidence(double confidence) {
  if (!(confidence > 0 && confidence < 1)) throw InvalidArgument(fmt::format("confidence must lie between 0 and 1, got {}", confidence));
}

void require_independent(bool orthogonal) {
  if (orthogonal)
    throw InvalidArgument("Hoeffding's bound is for independent frequencies; orthogonal ones have none (use orthogonal = false for it)");
}

template <class T>
void transform_rows(const RandomFourierFeatures& map, const Samples& X, T* out, Index stride, const Run& run) {
  if (X.is_given()) throw InvalidArgument("random Fourier features need the columns of the samples, but a given Gram matrix has none");
  if (X.width() != map.width()) throw InvalidArgument(fmt::format("X has {} columns, the feature map takes {}", X.width(), map.width()));
  require_finite(X, "X");
  const FourierBlocks<T> blocks(map);
  Stage stage(run.progress, "random features", static_cast<double>(X.size()));
  with_threads(run.threads, [&] {
    parallel_for(block_count(X.size()), [&](Index block) {
      const Range rows = block_range(block, X.size());
      blocks.fill(X, rows, out + rows.begin * stride, stride);
      stage.advance(static_cast<double>(rows.count));
    });
  });
}

}  // namespace

RandomFourierFeatures random_fourier_features(const Kernel& kernel, Index width, const FourierOptions& options) {
  const bool pairs = options.form == FourierForm::sine_cosine;
  if (width < 1) throw InvalidArgument(fmt::format("the samples must have at least one column, got {}", width));
  if (options.n_components < 1) throw InvalidArgument(fmt::format("n_components must be >= 1, got {}", options.n_components));
  if (pairs && options.n_components % 2 != 0)
    throw InvalidArgument(
        fmt::format("n_components must be even for the sine-cosine form, which has two columns per frequency, got {}; use {}, "
                    "or the cosine form",
                    options.n_components, options.n_components + 1));
  const double scale = scale_of(kernel);
  const Index count = pairs ? options.n_components / 2 : options.n_components;
  const double bytes = 8.0 * static_cast<double>(width) * static_cast<double>(count);
  require_memory(static_cast<std::size_t>(std::min(bytes, 1e18)), options.memory,
                 fmt::format("random Fourier features of {} columns and {} frequencies", width, count), "use fewer components or columns");

  Matrix frequencies = Matrix::Zero(width, count);
  std::vector<Index> columns(static_cast<std::size_t>(width));
  for (Index j = 0; j < width; ++j) columns[static_cast<std::size_t>(j)] = j;
  if (options.orthogonal) {
    draw_orthogonal(lone_leaf(kernel, std::move(columns)), options.seed, frequencies);
  } else {
    Vector w(width);
    for (Index c = 0; c < count; ++c) {
      RandomStream random(options.seed, static_cast<std::uint64_t>(c));
      w.setZero();
      add_frequency(kernel, columns, random, w);
      frequencies.col(c) = w;
    }
  }
  Vector offsets = Vector::Zero(count);
  if (!pairs) {
    RandomStream random(options.seed, offset_streams);
    for (double& b : offsets) b = random.uniform(0, 2 * std::numbers::pi);
  }
  return RandomFourierFeatures::from_parts(kernel, options.form, options.orthogonal, std::move(frequencies), std::move(offsets), scale);
}

RandomFourierFeatures RandomFourierFeatures::from_parts(Kernel kernel, FourierForm form, bool orthogonal, Matrix frequencies,
                                                        Vector offsets, double scale, Vector centre) {
  if (frequencies.size() == 0 || offsets.size() != frequencies.cols() || (centre.size() != 0 && centre.size() != frequencies.rows()))
    throw InvalidArgument(fmt::format("a Fourier feature map of {} x {} frequencies cannot have {} offsets and a centre of {} columns",
                                      frequencies.rows(), frequencies.cols(), offsets.size(), centre.size()));
  if (!(scale > 0 && std::isfinite(scale))) throw InvalidArgument(fmt::format("k(x, x) must be > 0 and finite, got {}", scale));
  require_finite(frequencies, "the frequencies");
  require_finite(offsets, "the offsets");
  if (centre.size() > 0) require_finite(centre, "the centre");
  RandomFourierFeatures map(std::move(kernel));
  map.form_ = form;
  map.orthogonal_ = orthogonal;
  map.frequencies_ = std::move(frequencies);
  map.offsets_ = std::move(offsets);
  map.scale_ = scale;
  map.centre_ = std::move(centre);
  return map;
}

RandomFourierFeatures RandomFourierFeatures::centred_at(Vector centre) const {
  return from_parts(kernel_, form_, orthogonal_, frequencies_, offsets_, scale_, std::move(centre));
}

Matrix RandomFourierFeatures::transform(const Samples& X, const Run& run) const {
  const double bytes = 8.0 * static_cast<double>(X.size()) * static_cast<double>(n_components());
  require_memory(static_cast<std::size_t>(std::min(bytes, 1e18)), run.memory,
                 fmt::format("the {} x {} random features", X.size(), n_components()), "transform chunks of rows, or use fewer components");
  Matrix out(X.size(), n_components());
  transform_into(X, out.data(), out.cols(), run);
  return out;
}
void RandomFourierFeatures::transform_into(const Samples& X, double* out, Index stride, const Run& run) const {
  transform_rows(*this, X, out, stride, run);
}
void RandomFourierFeatures::transform_into(const Samples& X, float* out, Index stride, const Run& run) const {
  transform_rows(*this, X, out, stride, run);
}

double RandomFourierFeatures::hoeffding_failure(double error, Index samples) const {
  require_independent(orthogonal_);
  if (!(error > 0)) throw InvalidArgument(fmt::format("error must be > 0, got {}", error));
  const double relative = error / scale_;
  const double exponent = static_cast<double>(n_components()) * relative * relative / exponent_of(form_);
  return std::min(1.0, std::exp(log_pairs(samples) - exponent));
}

double RandomFourierFeatures::hoeffding_error(double confidence, Index samples) const {
  require_independent(orthogonal_);
  require_confidence(confidence);
  const double exponent = log_pairs(samples) - std::log1p(-confidence);
  return scale_ * std::sqrt(exponent_of(form_) * exponent / static_cast<double>(n_components()));
}

Index hoeffding_components(FourierForm form, double error, double confidence, Index samples, double scale) {
  require_confidence(confidence);
  if (!(error > 0)) throw InvalidArgument(fmt::format("error must be > 0, got {}", error));
  if (!(scale > 0)) throw InvalidArgument(fmt::format("k(x, x) must be > 0, got {}", scale));
  const double relative = error / scale;
  const double needed = std::ceil(exponent_of(form) * (log_pairs(samples) - std::log1p(-confidence)) / (relative * relative));
  if (!(needed < 1e15)) throw InvalidArgument(fmt::format("an error of {} needs more features than any machine holds", error));
  const auto count = static_cast<Index>(needed);
  return form == FourierForm::sine_cosine ? count + count % 2 : count;
}

}  // namespace mercer

// Random Fourier features from drawn frequencies, and Hoeffding's bound. gram/frequencies.cpp draws.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/random_features.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "gram/fourier_blocks.hpp"
#include "gram/frequencies.hpp"
#include "gram/hadamard.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

// Apart from the streams of frequencies of the same seed.
constexpr std::uint64_t offset_streams = std::uint64_t{1} << 62U;

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

void require_independent(FourierDraw draw) {
  if (draw != FourierDraw::independent)
    throw InvalidArgument(fmt::format("Hoeffding's bound is for independent frequencies; {} ones have none",
                                      draw == FourierDraw::quasi_random ? "quasi-random" : name_of(draw)));
}

template <class T>
void transform_rows(const RandomFourierFeatures& map, const Samples& X, T* out, Index stride, const Run& run) {
  if (X.is_given()) throw InvalidArgument("random Fourier features need the columns of the samples, but a given Gram matrix has none");
  if (X.width() != map.width()) throw InvalidArgument(fmt::format("X has {} columns, the feature map takes {}", X.width(), map.width()));
  require_finite(X, "X");
  const FourierBlocks<T> blocks(map);
  Stage stage(run.progress, "random features", static_cast<double>(X.size()));
  with_run(run, [&] {
    parallel_for(block_count(X.size()), [&](Index block) {
      const Range rows = block_range(block, X.size());
      blocks.fill(X, rows, out + rows.begin * stride, stride);
      stage.advance(static_cast<double>(rows.count));
    });
  });
}

}  // namespace

const char* name_of(FourierDraw draw) {
  switch (draw) {
    case FourierDraw::orthogonal:
      return "orthogonal";
    case FourierDraw::structured:
      return "structured";
    case FourierDraw::quasi_random:
      return "quasi";
    default:
      return "independent";
  }
}

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
  Frequencies drawn = draw_frequencies(kernel, width, count, options.draw, options.seed);
  Vector offsets = Vector::Zero(count);
  if (!pairs) {
    RandomStream random(options.seed, offset_streams);
    for (double& b : offsets) b = random.uniform(0, 2 * std::numbers::pi);
  }
  const auto map = RandomFourierFeatures::from_parts(kernel, options.form, options.draw, std::move(drawn.w), std::move(offsets), scale);
  return drawn.hadamard ? map.with_hadamard(std::move(*drawn.hadamard)) : map;
}

RandomFourierFeatures RandomFourierFeatures::from_parts(Kernel kernel, FourierForm form, FourierDraw draw, Matrix frequencies,
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
  map.draw_ = draw;
  map.frequencies_ = std::move(frequencies);
  map.offsets_ = std::move(offsets);
  map.scale_ = scale;
  map.centre_ = std::move(centre);
  return map;
}

RandomFourierFeatures RandomFourierFeatures::centred_at(Vector centre) const {
  RandomFourierFeatures map = from_parts(kernel_, form_, draw_, frequencies_, offsets_, scale_, std::move(centre));
  map.hadamard_ = hadamard_;
  return map;
}

RandomFourierFeatures RandomFourierFeatures::with_hadamard(HadamardFactors factors) const {
  const Index p = factors.signs.cols();
  const bool fits = p > 0 && (p & (p - 1)) == 0 && factors.signs.rows() == 3 * ((n_frequencies() + p - 1) / p) && p >= width() &&
                    factors.lengths.size() == n_frequencies() && factors.column_scale.size() == width() && factors.lengths.allFinite() &&
                    factors.column_scale.allFinite() && (factors.signs.array().abs() == 1).all();
  if (!fits)
    throw InvalidArgument(fmt::format("the Hadamard factors ({} x {} signs, {} lengths) are not those of {} x {} frequencies",
                                      factors.signs.rows(), p, factors.lengths.size(), width(), n_frequencies()));
  // One random row through both; a difference beyond rounding means that they belong to different maps.
  const Vector x = RandomStream(0, offset_streams).normal_matrix(1, width()).row(0);
  Vector fast(n_frequencies());
  HadamardPhases<double>(factors).of(x.data(), width(), 1, fast.data(), n_frequencies());
  const Vector slow = frequencies_.transpose() * x;
  const Vector size = frequencies_.cwiseAbs().transpose() * x.cwiseAbs();
  if (((fast - slow).array().abs() > 1e-10 * (size.array() + factors.lengths.array().abs())).any())
    throw InvalidArgument("the Hadamard factors are not those of the frequencies");
  RandomFourierFeatures map = *this;
  map.hadamard_ = std::make_shared<const HadamardFactors>(std::move(factors));
  return map;
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
  require_independent(draw_);
  if (!(error > 0)) throw InvalidArgument(fmt::format("error must be > 0, got {}", error));
  const double relative = error / scale_;
  const double exponent = static_cast<double>(n_components()) * relative * relative / exponent_of(form_);
  return std::min(1.0, std::exp(log_pairs(samples) - exponent));
}

double RandomFourierFeatures::hoeffding_error(double confidence, Index samples) const {
  require_independent(draw_);
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

// Kernels of a distance: Gaussian, Laplacian, Matern, rational quadratic, periodic.
//
// Notation: s the reduction (|x-y|^2, or |x-y|_1 for the Laplacian of that norm), r = sqrt(s), l the length scale, k the value.
// References: K 3.2 and 5.1, D 2.5, N 4. Derivatives are with respect to log l (and log alpha), and to s.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "kernels/leaf.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

// Bounded, shift-invariant, spectral density positive everywhere: rich in every sense.
const Properties rich{.strictly_pd = Verdict::yes,
                      .universal = Verdict::yes,
                      .characteristic = Verdict::yes,
                      .bounded = Verdict::yes,
                      .shift_invariant = Verdict::yes};

// exp(-s/(2 l^2)): of distances between rows, or between points on circles.
template <class Derived>
class GaussianOfDistance : public LengthScaleLeaf<Derived> {
 public:
  using LengthScaleLeaf<Derived>::LengthScaleLeaf;

  Reduction reduction() const override { return Reduction::squared_distance; }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    const auto factor = exponent<T>(-1 / (2 * this->l() * this->l()));
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().exp_of(x, n, factor); });
  }
  void gradient(Tile<const double> inputs, Tile<const double> values, Tile<double> weights, std::span<double> gradient) const override {
    const double a = 1 / (this->l() * this->l());
    double sum = 0;
    for_pairs(inputs, values, weights, [&](double s, double k, double& w) {
      sum += w * k * s * a;
      w *= -0.5 * a * k;
    });
    if (this->scalar()) gradient[0] += sum;
  }
};

class GaussianKernel final : public GaussianOfDistance<GaussianKernel> {
 public:
  using GaussianOfDistance::GaussianOfDistance;

  std::string text() const override { return fmt::format("gaussian({})", text_of(length_scale_)); }
  Properties properties() const override { return rich; }
  SpectralMeasure spectral_measure() const override { return measure(SpectralMeasure::Family::normal); }
  std::vector<KernelParameter> own_parameters() const override {
    std::vector<KernelParameter> out;
    append_parameters(out, "gaussian.length_scale", length_scale_);
    return out;
  }
  GaussianKernel with(std::span<const double> own) const { return GaussianKernel(like(length_scale_, own)); }
};

class LaplacianKernel final : public LengthScaleLeaf<LaplacianKernel> {
 public:
  LaplacianKernel(kernels::LengthScale length_scale, kernels::Norm norm) : LengthScaleLeaf(std::move(length_scale)), norm_(norm) {}

  std::string text() const override {
    return fmt::format("laplacian({}{})", text_of(length_scale_), norm_ == kernels::Norm::l1 ? ", norm=l1" : "");
  }
  Properties properties() const override { return rich; }
  Reduction reduction() const override { return norm_ == kernels::Norm::l1 ? Reduction::l1_distance : Reduction::squared_distance; }
  SpectralMeasure spectral_measure() const override {
    return norm_ == kernels::Norm::l1 ? measure(SpectralMeasure::Family::cauchy_each)
                                      : measure(SpectralMeasure::Family::normal_over_root_gamma, 0.5);
  }
  std::vector<KernelParameter> own_parameters() const override {
    std::vector<KernelParameter> out;
    append_parameters(out, "laplacian.length_scale", length_scale_);
    return out;
  }
  LaplacianKernel with(std::span<const double> own) const { return {like(length_scale_, own), norm_}; }

  template <class T>
  void finish_tile(Tile<T> tile) const {
    const auto factor = exponent<T>(-1 / l());
    const auto& ops = simd::ops<T>();
    const auto f = norm_ == kernels::Norm::l1 ? ops.exp_of : ops.exp_of_root;
    simd::for_rows(tile, [&](T* x, Index n) { f(x, n, factor); });
  }
  void gradient(Tile<const double> inputs, Tile<const double> values, Tile<double> weights, std::span<double> gradient) const override {
    const double a = 1 / l();
    const bool l1 = norm_ == kernels::Norm::l1;
    double sum = 0;
    for_pairs(inputs, values, weights, [&](double s, double k, double& w) {
      const double r = l1 ? s : std::sqrt(s);
      sum += w * k * r * a;
      // At r = 0 the slope in s is infinite, but what it is multiplied with there, ds, is 0.
      w *= l1 ? -a * k : r > 0 ? -0.5 * a * k / r : 0.0;
    });
    if (scalar()) gradient[0] += sum;
  }

 private:
  kernels::Norm norm_;
};

// nu = 3/2: (1 + a) exp(-a), a = sqrt(3) r/l; nu = 5/2: (1 + a + a^2/3) exp(-a), a = sqrt(5) r/l; nu = 1/2 is exp(-r/l).
class MaternKernel final : public LengthScaleLeaf<MaternKernel> {
 public:
  MaternKernel(double nu, kernels::LengthScale length_scale) : LengthScaleLeaf(std::move(length_scale)), nu_(nu) {}

  std::string text() const override { return fmt::format("matern({}, {})", nu_, text_of(length_scale_)); }
  Properties properties() const override { return rich; }
  SpectralMeasure spectral_measure() const override { return measure(SpectralMeasure::Family::normal_over_root_gamma, nu_); }
  Reduction reduction() const override { return Reduction::squared_distance; }
  std::vector<KernelParameter> own_parameters() const override {
    std::vector<KernelParameter> out;
    append_parameters(out, "matern.length_scale", length_scale_);
    return out;
  }
  MaternKernel with(std::span<const double> own) const { return {nu_, like(length_scale_, own)}; }

  template <class T>
  void finish_tile(Tile<T> tile) const {
    const auto& ops = simd::ops<T>();
    const double root = std::sqrt(2 * nu_) / l();
    if (nu_ == 0.5) {
      simd::for_rows(tile, [&](T* x, Index n) { ops.exp_of_root(x, n, exponent<T>(-root)); });
    } else {
      const auto f = nu_ == 1.5 ? ops.matern3_of_root : ops.matern5_of_root;
      const auto factor = -exponent<T>(-root);
      simd::for_rows(tile, [&](T* x, Index n) { f(x, n, factor); });
    }
  }
  void gradient(Tile<const double> inputs, Tile<const double> values, Tile<double> weights, std::span<double> gradient) const override {
    const double root = std::sqrt(2 * nu_) / l();
    double sum = 0;
    for_pairs(inputs, values, weights, [&](double s, double k, double& w) {
      const double a = root * std::sqrt(s);
      if (nu_ == 0.5) {
        sum += w * k * a;
        w *= a > 0 ? -0.5 * root * root * k / a : 0.0;
      } else if (nu_ == 1.5) {
        const double e = k / (1 + a);  // exp(-a)
        sum += w * a * a * e;
        w *= -0.5 * root * root * e;
      } else {
        const double e = k / (1 + a + a * a / 3);
        sum += w * a * a * (1 + a) / 3 * e;
        w *= -root * root / 6 * (1 + a) * e;
      }
    });
    if (scalar()) gradient[0] += sum;
  }

 private:
  double nu_;
};

double checked_alpha(double alpha) {
  require_positive(alpha, "alpha");
  if (alpha < 1e-100 || alpha > 1e100) throw InvalidArgument(fmt::format("alpha must lie between 1e-100 and 1e100, got {}", alpha));
  return alpha;
}

class RationalQuadraticKernel final : public LengthScaleLeaf<RationalQuadraticKernel> {
 public:
  RationalQuadraticKernel(kernels::LengthScale length_scale, double alpha) : LengthScaleLeaf(std::move(length_scale)), alpha_(alpha) {}

  std::string text() const override { return fmt::format("rational_quadratic({}, alpha={})", text_of(length_scale_), alpha_); }
  Properties properties() const override { return rich; }
  SpectralMeasure spectral_measure() const override { return measure(SpectralMeasure::Family::normal_times_root_gamma, alpha_); }
  Reduction reduction() const override { return Reduction::squared_distance; }
  std::vector<KernelParameter> own_parameters() const override {
    std::vector<KernelParameter> out{{"rational_quadratic.alpha", alpha_}};
    append_parameters(out, "rational_quadratic.length_scale", length_scale_);
    return out;
  }
  RationalQuadraticKernel with(std::span<const double> own) const { return {like(length_scale_, own.subspan(1)), checked_alpha(own[0])}; }

  template <class T>
  void finish_tile(Tile<T> tile) const {
    // In float32 a large alpha would leave nothing of its factor; from here on it is a Gaussian to rounding.
    if (sizeof(T) == 4 && alpha_ > 1e9) {
      simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().exp_of(x, n, exponent<T>(-1 / (2 * l() * l()))); });
      return;
    }
    const auto factor = -exponent<T>(-1 / (2 * alpha_ * l() * l()));
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().rational_of(x, n, factor, static_cast<T>(alpha_)); });
  }
  void gradient(Tile<const double> inputs, Tile<const double> values, Tile<double> weights, std::span<double> gradient) const override {
    const double a = 1 / (2 * alpha_ * l() * l());
    double by_alpha = 0;
    double by_scale = 0;
    for_pairs(inputs, values, weights, [&](double s, double k, double& w) {
      const double u = a * s;
      by_alpha += w * alpha_ * k * (u / (1 + u) - std::log1p(u));
      by_scale += w * 2 * alpha_ * u * k / (1 + u);
      w *= -alpha_ * a * k / (1 + u);
    });
    gradient[0] += by_alpha;
    if (scalar()) gradient[1] += by_scale;
  }

 private:
  double alpha_;
};

// Each column becomes a point on a circle: |(cos, sin)(2 pi x/p) - (cos, sin)(2 pi y/p)|^2 = 4 sin^2(pi (x-y)/p), so the kernel is a
// Gaussian of the circles' coordinates. The Euclidean-distance form is positive semi-definite in one dimension only (SPEC K1).
class PeriodicKernel final : public GaussianOfDistance<PeriodicKernel> {
 public:
  PeriodicKernel(kernels::LengthScale length_scale, kernels::LengthScale period)
      : GaussianOfDistance(std::move(length_scale)), period_(std::move(period)) {
    transform_.periods = period_.values();
  }

  std::string text() const override { return fmt::format("periodic({}, period={})", text_of(length_scale_), text_of(period_)); }
  Properties properties() const override {
    return {.strictly_pd = Verdict::no,
            .universal = Verdict::no,
            .characteristic = Verdict::no,
            .bounded = Verdict::yes,
            .shift_invariant = Verdict::yes};
  }
  std::vector<KernelParameter> own_parameters() const override {
    std::vector<KernelParameter> out;
    append_parameters(out, "periodic.length_scale", length_scale_);
    append_parameters(out, "periodic.period", period_);
    return out;
  }
  PeriodicKernel with(std::span<const double> own) const {
    return {like(length_scale_, own), like(period_, own.subspan(length_scale_.values().size()))};
  }

 private:
  kernels::LengthScale period_;
};

}  // namespace

namespace kernels {

Kernel gaussian(LengthScale length_scale) { return Kernel(std::make_shared<GaussianKernel>(checked(std::move(length_scale)))); }

Kernel laplacian(LengthScale length_scale, Norm norm) {
  return Kernel(std::make_shared<LaplacianKernel>(checked(std::move(length_scale)), norm));
}

Kernel matern(double nu, LengthScale length_scale) {
  if (nu != 0.5 && nu != 1.5 && nu != 2.5)
    throw InvalidArgument(fmt::format("nu must be 0.5, 1.5 or 2.5 (gaussian is the limit of large nu), got {}", nu));
  return Kernel(std::make_shared<MaternKernel>(nu, checked(std::move(length_scale))));
}

Kernel rational_quadratic(LengthScale length_scale, double alpha) {
  return Kernel(std::make_shared<RationalQuadraticKernel>(checked(std::move(length_scale)), checked_alpha(alpha)));
}

Kernel periodic(LengthScale length_scale, LengthScale period) {
  if (length_scale.is_auto() || period.is_auto())
    throw InvalidArgument("periodic has no automatic length scale or period: give numbers (the period is what the data repeat after)");
  return Kernel(std::make_shared<PeriodicKernel>(checked(std::move(length_scale)), checked(std::move(period), "period")));
}

}  // namespace kernels

}  // namespace mercer

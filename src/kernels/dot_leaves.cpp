// Kernels of the dot product s = <x,y>: linear, polynomial, sigmoid, exponential, cosine.
// References: K 3.2 (with S9: the polynomial needs scale > 0 and offset >= 0), N 4, L.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "kernels/leaf.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

const Properties finite{.strictly_pd = Verdict::no,
                        .universal = Verdict::no,
                        .characteristic = Verdict::no,
                        .bounded = Verdict::no,
                        .shift_invariant = Verdict::no,
                        .finite_dimensional = true};

Properties with_psd(Properties p, bool psd) {
  p.psd = psd ? Verdict::yes : Verdict::no;
  return p;
}

class LinearKernel final : public Leaf<LinearKernel> {
 public:
  std::string text() const override { return "linear"; }
  Properties properties() const override { return finite; }
  Reduction reduction() const override { return Reduction::dot; }
  double largest_value(double s) const override { return s; }
  template <class T>
  void finish_tile(Tile<T>) const {}
};

// Kernels of offset + scale s: Derived::slope(that, k) is the derivative with respect to it. Scale and offset are parameters to be tuned
// where they are positive: an offset of 0 stays 0.
template <class Derived>
class AffineLeaf : public Leaf<Derived> {
 public:
  Reduction reduction() const override { return Reduction::dot; }
  std::vector<KernelParameter> own_parameters() const override {
    std::vector<KernelParameter> out;
    if (scale_ > 0) out.push_back({fmt::format("{}.scale", Derived::name_in_text), scale_});
    if (offset_ > 0) out.push_back({fmt::format("{}.offset", Derived::name_in_text), offset_});
    return out;
  }
  Derived with(std::span<const double> own) const {
    Derived copy = *static_cast<const Derived*>(this);
    if (scale_ > 0) copy.scale_ = own.front();
    if (offset_ > 0) copy.offset_ = own.back();
    return copy;
  }
  void gradient(Tile<const double> inputs, Tile<const double> values, Tile<double> weights, std::span<double> gradient) const override {
    double by_scale = 0;
    double by_offset = 0;
    for_pairs(inputs, values, weights, [&](double s, double k, double& w) {
      const double slope = w * static_cast<const Derived*>(this)->slope(offset_ + scale_ * s, k);
      by_scale += slope * scale_ * s;
      by_offset += slope * offset_;
      w = slope * scale_;
    });
    std::size_t place = 0;
    if (scale_ > 0) gradient[place++] += by_scale;
    if (offset_ > 0) gradient[place] += by_offset;
  }

 protected:
  AffineLeaf(double scale, double offset) : scale_(scale), offset_(offset) {}

  double scale_;
  double offset_;
};

class PolynomialKernel final : public AffineLeaf<PolynomialKernel> {
 public:
  static constexpr const char* name_in_text = "polynomial";
  PolynomialKernel(int degree, double scale, double offset) : AffineLeaf(scale, offset), degree_(degree) {}

  std::string text() const override { return fmt::format("polynomial({}, scale={}, offset={})", degree_, scale_, offset_); }
  Properties properties() const override { return with_psd(finite, scale_ > 0 && offset_ >= 0); }
  double largest_value(double s) const override { return std::pow(std::abs(offset_) + std::abs(scale_) * s, degree_); }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().power_of(x, n, static_cast<T>(scale_), static_cast<T>(offset_), degree_); });
  }
  double slope(double base, double /*k*/) const { return degree_ * std::pow(base, degree_ - 1); }

 private:
  int degree_;
};

class SigmoidKernel final : public AffineLeaf<SigmoidKernel> {
 public:
  static constexpr const char* name_in_text = "sigmoid";
  SigmoidKernel(double scale, double offset) : AffineLeaf(scale, offset) {}

  std::string text() const override { return fmt::format("sigmoid(scale={}, offset={})", scale_, offset_); }
  Properties properties() const override {
    return {.psd = Verdict::no, .strictly_pd = Verdict::no, .bounded = Verdict::yes, .shift_invariant = Verdict::no};
  }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().tanh_of(x, n, narrowed<T>(scale_), narrowed<T>(offset_)); });
  }
  static double slope(double /*base*/, double k) { return 1 - k * k; }
};

// All Taylor coefficients are positive: universal, and its embedding is the moment generating function, which determines the distribution.
class ExponentialDotKernel final : public Leaf<ExponentialDotKernel> {
 public:
  explicit ExponentialDotKernel(double scale) : scale_(scale) {}

  std::string text() const override { return fmt::format("exponential_dot({})", scale_); }
  Properties properties() const override {
    return {.strictly_pd = Verdict::yes,
            .universal = Verdict::yes,
            .characteristic = Verdict::yes,
            .bounded = Verdict::no,
            .shift_invariant = Verdict::no};
  }
  Reduction reduction() const override { return Reduction::dot; }
  double largest_value(double s) const override { return std::exp(scale_ * s); }
  std::vector<KernelParameter> own_parameters() const override { return {{"exponential_dot.scale", scale_}}; }
  ExponentialDotKernel with(std::span<const double> own) const { return ExponentialDotKernel(own[0]); }

  template <class T>
  void finish_tile(Tile<T> tile) const {
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().exp_of(x, n, static_cast<T>(scale_)); });
  }
  void gradient(Tile<const double> inputs, Tile<const double> values, Tile<double> weights, std::span<double> gradient) const override {
    for_pairs(inputs, values, weights, [&](double s, double k, double& w) {
      gradient[0] += w * scale_ * s * k;
      w *= scale_ * k;
    });
  }

 private:
  double scale_;
};

class CosineKernel final : public Leaf<CosineKernel> {
 public:
  std::string text() const override { return "cosine"; }
  Properties properties() const override {
    Properties p = finite;
    p.bounded = Verdict::yes;
    return p;
  }
  Reduction reduction() const override { return Reduction::dot; }
  const Transform& transform() const override {
    static const Transform unit{.unit_rows = true};
    return unit;
  }
  template <class T>
  void finish_tile(Tile<T>) const {}
};

}  // namespace

namespace kernels {

Kernel linear() { return Kernel(std::make_shared<LinearKernel>()); }

Kernel polynomial(int degree, double scale, double offset) {
  if (degree < 1 || degree > 1000) throw InvalidArgument(fmt::format("degree must be a whole number from 1 to 1000, got {}", degree));
  require_number(scale, "scale");
  require_number(offset, "offset");
  return Kernel(std::make_shared<PolynomialKernel>(degree, scale, offset));
}

Kernel sigmoid(double scale, double offset) {
  require_number(scale, "scale");
  require_number(offset, "offset");
  return Kernel(std::make_shared<SigmoidKernel>(scale, offset));
}

Kernel exponential_dot(double scale) {
  require_positive(scale, "scale");
  return Kernel(std::make_shared<ExponentialDotKernel>(scale));
}

Kernel cosine() { return Kernel(std::make_shared<CosineKernel>()); }

}  // namespace kernels

}  // namespace mercer

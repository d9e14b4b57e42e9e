// The kernels of one formula each. Adding one: a struct here, a maker in kernels.hpp, a row in catalogue.cpp (HACKING.md).
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/node.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

// Gives a leaf both finishes from one template: Derived::finish_tile<T>(Tile<T>).
template <class Derived>
class Leaf : public KernelNode {
 public:
  void finish(Tile<double> tile) const override { static_cast<const Derived*>(this)->template finish_tile<double>(tile); }
  void finish(Tile<float> tile) const override { static_cast<const Derived*>(this)->template finish_tile<float>(tile); }
};

void require_positive(double value, const char* what) {
  if (!(value > 0) || !std::isfinite(value)) throw InvalidArgument(fmt::format("{} must be a number > 0, got {}", what, value));
}

void require_number(double value, const char* what) {
  if (!std::isfinite(value)) throw InvalidArgument(fmt::format("{} must be a finite number, got {}", what, value));
}

std::string text_of(const kernels::LengthScale& scale) { return scale.is_auto() ? "auto" : fmt::format("{}", scale.value()); }

double number_of(const kernels::LengthScale& scale, const char* kernel) {
  if (scale.is_auto()) throw InvalidArgument(fmt::format("{}(auto) has no length scale yet: resolve(kernel, X) sets it from data", kernel));
  return scale.value();
}

// An exponent's factor, kept inside the range of T: with infinity a distance of zero would give NaN instead of 1.
template <class T>
T exponent(double factor) {
  return static_cast<T>(std::max(factor, static_cast<double>(std::numeric_limits<T>::lowest())));
}

// Squares must neither overflow nor vanish, whatever the kernel does with the scale.
kernels::LengthScale checked(kernels::LengthScale scale) {
  if (scale.is_auto()) return scale;
  require_positive(scale.value(), "length_scale");
  if (scale.value() > 1e150 || scale.value() < 1e-150)
    throw InvalidArgument(fmt::format("length_scale must lie between 1e-150 and 1e150, got {}", scale.value()));
  return scale;
}

class LinearKernel final : public Leaf<LinearKernel> {
 public:
  std::string text() const override { return "linear"; }
  Properties properties() const override { return {true, Verdict::no, Verdict::no, true, false}; }
  Reduction reduction() const override { return Reduction::dot; }
  template <class T>
  void finish_tile(Tile<T>) const {}
};

class PolynomialKernel final : public Leaf<PolynomialKernel> {
 public:
  PolynomialKernel(int degree, double scale, double offset) : degree_(degree), scale_(scale), offset_(offset) {}

  std::string text() const override { return fmt::format("polynomial({}, scale={}, offset={})", degree_, scale_, offset_); }
  Properties properties() const override { return {scale_ > 0 && offset_ >= 0, Verdict::no, Verdict::no, true, false}; }
  Reduction reduction() const override { return Reduction::dot; }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().power_of(x, n, static_cast<T>(scale_), static_cast<T>(offset_), degree_); });
  }

 private:
  int degree_;
  double scale_;
  double offset_;
};

class GaussianKernel final : public Leaf<GaussianKernel> {
 public:
  explicit GaussianKernel(kernels::LengthScale length_scale) : length_scale_(length_scale) {}

  std::string text() const override { return fmt::format("gaussian({})", text_of(length_scale_)); }
  Properties properties() const override { return {true, Verdict::yes, Verdict::yes, false, true}; }
  Reduction reduction() const override { return Reduction::squared_distance; }
  bool has_auto() const override { return length_scale_.is_auto(); }
  std::shared_ptr<const KernelNode> resolved(const TypicalDistance& distance) const override {
    return has_auto() ? std::make_shared<GaussianKernel>(checked(distance(Reduction::squared_distance))) : nullptr;
  }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    const double l = number_of(length_scale_, "gaussian");
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().exp_of(x, n, exponent<T>(-1 / (2 * l * l))); });
  }

 private:
  kernels::LengthScale length_scale_;
};

class LaplacianKernel final : public Leaf<LaplacianKernel> {
 public:
  LaplacianKernel(kernels::LengthScale length_scale, kernels::Norm norm) : length_scale_(length_scale), norm_(norm) {}

  std::string text() const override {
    return fmt::format("laplacian({}{})", text_of(length_scale_), norm_ == kernels::Norm::l1 ? ", norm=l1" : "");
  }
  Properties properties() const override { return {true, Verdict::yes, Verdict::yes, false, true}; }
  Reduction reduction() const override { return norm_ == kernels::Norm::l1 ? Reduction::l1_distance : Reduction::squared_distance; }
  bool has_auto() const override { return length_scale_.is_auto(); }
  std::shared_ptr<const KernelNode> resolved(const TypicalDistance& distance) const override {
    return has_auto() ? std::make_shared<LaplacianKernel>(checked(distance(reduction())), norm_) : nullptr;
  }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    const auto factor = exponent<T>(-1 / number_of(length_scale_, "laplacian"));
    const auto& ops = simd::ops<T>();
    const auto f = norm_ == kernels::Norm::l1 ? ops.exp_of : ops.exp_of_root;
    simd::for_rows(tile, [&](T* x, Index n) { f(x, n, factor); });
  }

 private:
  kernels::LengthScale length_scale_;
  kernels::Norm norm_;
};

class ConstantKernel final : public Leaf<ConstantKernel> {
 public:
  explicit ConstantKernel(double value) : value_(value) {}

  std::string text() const override { return fmt::format("constant({})", value_); }
  Properties properties() const override { return {value_ >= 0, Verdict::no, Verdict::no, true, true}; }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    for (Index i = 0; i < tile.rows; ++i) std::fill_n(tile.row(i), tile.cols, static_cast<T>(value_));
  }

 private:
  double value_;
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

Kernel gaussian(LengthScale length_scale) { return Kernel(std::make_shared<GaussianKernel>(checked(length_scale))); }

Kernel laplacian(LengthScale length_scale, Norm norm) { return Kernel(std::make_shared<LaplacianKernel>(checked(length_scale), norm)); }

Kernel constant(double value) {
  require_number(value, "constant");
  return Kernel(std::make_shared<ConstantKernel>(value));
}

}  // namespace kernels

}  // namespace mercer

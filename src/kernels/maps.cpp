// Functions of a kernel's values: powers, exp(k), 1/(1-k), polynomials in k. All are power series in k; with coefficients >= 0 they are
// kernels wherever k is one (K 3.2, D 2.4, L), because powers, multiples and sums of kernels are.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <ranges>

#include "kernels/composite.hpp"
#include "kernels/leaf.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

// Gives a map both finishes and its gradient: Derived::finish_tile<T>(Tile<T>), Derived::slope(input, value).
template <class Derived>
class Map : public Composite {
 public:
  Kind kind() const override { return Kind::mapped; }
  void finish(Tile<double> tile) const override { self().template finish_tile<double>(tile); }
  void finish(Tile<float> tile) const override { self().template finish_tile<float>(tile); }
  void gradient(Tile<const double> inputs, Tile<const double> values, Tile<double> weights, std::span<double>) const override {
    for_pairs(inputs, values, weights, [&](double k, double value, double& w) { w *= self().slope(k, value); });
  }

 protected:
  Map(const Kernel& part, const std::string& postfix, Properties properties)
      : Composite({part}, before_postfix(part) + postfix, std::move(properties), depth_before_postfix(part)) {}

 private:
  const Derived& self() const { return *static_cast<const Derived*>(this); }
};

class PowerKernel final : public Map<PowerKernel> {
 public:
  PowerKernel(const Kernel& part, int exponent)
      : Map(part, fmt::format("^{}", exponent), properties_of(part, exponent)), exponent_(exponent) {}
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<PowerKernel>(parts[0], exponent_);
  }
  double largest_value(double k) const override { return std::pow(k, exponent_); }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().power_of(x, n, T{1}, T{0}, exponent_); });
  }
  double slope(double k, double) const { return exponent_ * std::pow(k, exponent_ - 1); }
  int exponent() const { return exponent_; }

 private:
  // What a product with itself has, two at a time being enough: the third factor adds nothing new.
  static Properties properties_of(const Kernel& part, int exponent) {
    return exponent == 1 ? part.node().properties() : product_properties(std::vector{part, part});
  }
  int exponent_;
};

class ExpKernel final : public Map<ExpKernel> {
 public:
  explicit ExpKernel(const Kernel& part) : Map(part, ".exp()", series_properties({}, true, part)) {}
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<ExpKernel>(parts[0]);
  }
  double largest_value(double k) const override { return std::exp(k); }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().exp_of(x, n, T{1}); });
  }
  double slope(double, double value) const { return value; }
};

class GeometricKernel final : public Map<GeometricKernel> {
 public:
  explicit GeometricKernel(const Kernel& part) : Map(part, ".geometric()", properties_of(part)) {}
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<GeometricKernel>(parts[0]);
  }
  // The series has a sum below 1 only.
  double largest_value(double k) const override { return k < 1 ? 1 / (1 - k) : std::numeric_limits<double>::infinity(); }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    simd::for_rows(tile, [&](T* x, Index n) {
      for (Index i = 0; i < n; ++i) x[i] = 1 / (1 - x[i]);
    });
  }
  double slope(double, double value) const { return value * value; }

 private:
  static Properties properties_of(const Kernel& part) {
    Properties p = series_properties({}, true, part);
    p.bounded = Verdict::unknown;  // k(x,x) may come near 1
    return p;
  }
};

class SeriesKernel final : public Map<SeriesKernel> {
 public:
  SeriesKernel(const Kernel& part, std::vector<double> coefficients)
      : Map(part, fmt::format(".series({})", text_of(kernels::LengthScale(coefficients))), series_properties(coefficients, false, part)),
        coefficients_(std::move(coefficients)) {}
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<SeriesKernel>(parts[0], coefficients_);
  }
  double largest_value(double k) const override {
    double sum = 0;
    for (const double c : coefficients_ | std::views::reverse) sum = sum * k + std::abs(c);
    return sum;
  }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    const std::vector<T> c(coefficients_.begin(), coefficients_.end());
    simd::for_rows(tile, [&](T* x, Index n) {
      for (Index i = 0; i < n; ++i) {
        T sum = 0;
        for (const T power : c | std::views::reverse) sum = sum * x[i] + power;
        x[i] = sum;
      }
    });
  }
  double slope(double k, double) const {
    double sum = 0;
    for (std::size_t p = coefficients_.size() - 1; p > 0; --p) sum = sum * k + static_cast<double>(p) * coefficients_[p];
    return sum;
  }

 private:
  std::vector<double> coefficients_;
};

}  // namespace

Kernel Kernel::power(int exponent) const {
  if (exponent < 1 || exponent > 1000)
    throw InvalidArgument(fmt::format("a power must be a whole number from 1 to 1000, got {}", exponent));
  if (exponent == 1) return *this;
  if (const auto* inner = dynamic_cast<const PowerKernel*>(node_.get())) {
    if (inner->exponent() * exponent <= 1000) return inner->parts()[0].power(inner->exponent() * exponent);  // (k^2)^3 = k^6
  }
  return Kernel(std::make_shared<PowerKernel>(*this, exponent));
}

Kernel Kernel::exp() const { return Kernel(std::make_shared<ExpKernel>(*this)); }
Kernel Kernel::geometric() const { return Kernel(std::make_shared<GeometricKernel>(*this)); }

Kernel Kernel::series(std::vector<double> coefficients) const {
  if (coefficients.empty()) throw InvalidArgument("a series needs at least one coefficient");
  for (const double c : coefficients) require_number(c, "a coefficient");
  return Kernel(std::make_shared<SeriesKernel>(*this, std::move(coefficients)));
}

}  // namespace mercer

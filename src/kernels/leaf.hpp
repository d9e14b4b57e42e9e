// What the leaves share: checks of parameters, both finishes from one template, length scales and their gradients.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/node.hpp"

namespace mercer {

void require_positive(double value, const char* what);
void require_number(double value, const char* what);

// Squares of a length scale must neither overflow nor vanish, whatever the kernel does with it.
kernels::LengthScale checked(kernels::LengthScale scale, const char* what = "length_scale");
std::string text_of(const kernels::LengthScale& scale);
// "name" for a number, "name[j]" for each of several.
void append_parameters(std::vector<KernelParameter>& out, const std::string& name, const kernels::LengthScale& scale);

// An exponent's factor, kept inside the range of T: with infinity a distance of zero would give NaN instead of 1.
template <class T>
T exponent(double factor) {
  return static_cast<T>(std::max(factor, static_cast<double>(std::numeric_limits<T>::lowest())));
}

// A number in T, kept finite: infinity times a reduction of 0 would be NaN.
template <class T>
T narrowed(double value) {
  const auto most = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp(value, -most, most));
}

// Gives a leaf both finishes from one template: Derived::finish_tile<T>(Tile<T>).
template <class Derived>
class Leaf : public KernelNode {
 public:
  void finish(Tile<double> tile) const override { static_cast<const Derived*>(this)->template finish_tile<double>(tile); }
  void finish(Tile<float> tile) const override { static_cast<const Derived*>(this)->template finish_tile<float>(tile); }
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> /*parts*/, std::span<const double> own) const override {
    return std::make_shared<Derived>(static_cast<const Derived*>(this)->with(own));
  }

  // Leaves without parameters are their own copies.
  Derived with(std::span<const double> /*own*/) const { return *static_cast<const Derived*>(this); }
};

// Calls f(input, value, weight) for every pair of a tile; f may change the weight.
template <class F>
void for_pairs(Tile<const double> inputs, Tile<const double> values, Tile<double> weights, F&& f) {
  for (Index i = 0; i < weights.rows; ++i) {
    const double* s = inputs.row(i);
    const double* k = values.row(i);
    double* w = weights.row(i);
    for (Index j = 0; j < weights.cols; ++j) f(s[j], k[j], w[j]);
  }
}

[[noreturn]] void throw_unresolved(const std::string& text);
[[noreturn]] void throw_waiting(const std::string& text);  // for something other than a length scale

// A leaf with a length scale: one number stands in the finish, one per column in the transform (and the finish then has 1).
template <class Derived>
class LengthScaleLeaf : public Leaf<Derived> {
 public:
  explicit LengthScaleLeaf(kernels::LengthScale length_scale) : length_scale_(std::move(length_scale)) {
    if (length_scale_.per_column()) transform_.scales = length_scale_.values();
  }

  const Transform& transform() const override { return transform_; }
  bool has_auto() const override { return length_scale_.is_auto(); }
  std::shared_ptr<const KernelNode> resolved(const TypicalDistance& distance) const override {
    if (!has_auto()) return nullptr;
    Derived copy = *static_cast<const Derived*>(this);
    copy.length_scale_ = checked(distance(this->reduction(), {}));
    return std::make_shared<Derived>(std::move(copy));
  }
  std::shared_ptr<const KernelNode> per_column(const ColumnScales& scales) const override {
    if (length_scale_.per_column()) return nullptr;
    Derived copy = *static_cast<const Derived*>(this);
    copy.length_scale_ = checked(scales(this->reduction(), has_auto() ? 0.0 : length_scale_.value()));
    copy.transform_.scales = copy.length_scale_.values();
    return std::make_shared<Derived>(std::move(copy));
  }

 protected:
  // In the finish; throws while it waits for data.
  double l() const;
  bool scalar() const { return !length_scale_.per_column(); }
  SpectralMeasure measure(SpectralMeasure::Family family, double shape = 0) const {
    if (has_auto()) throw_unresolved(this->text());
    return {family, shape, length_scale_.values()};
  }

  kernels::LengthScale length_scale_;
  Transform transform_{};
};

template <class Derived>
double LengthScaleLeaf<Derived>::l() const {
  if (has_auto()) throw_unresolved(this->text());
  return scalar() ? length_scale_.value() : 1.0;
}

// The first `count` own values (or the one) as a length scale of the same form.
kernels::LengthScale like(const kernels::LengthScale& form, std::span<const double> values);

}  // namespace mercer

// Kernels of histograms, kernels that look at no column, given Gram matrices, and kernels written by the user.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/leaf.hpp"
#include "kernels/quoted.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

// scikit-learn's exponential form, exp(-gamma s), s = sum (x-y)^2/(x+y). sqrt s is a Hilbert-space metric that separates points, so the
// kernel is a Gaussian in that space: strictly positive definite, and universal on compact sets of non-negative rows (Christmann and
// Steinwart 2010).
class Chi2Kernel final : public Leaf<Chi2Kernel> {
 public:
  explicit Chi2Kernel(double gamma) : gamma_(gamma) {}

  std::string text() const override { return fmt::format("chi2({})", gamma_); }
  Properties properties() const override {
    return {.strictly_pd = Verdict::yes, .universal = Verdict::yes, .bounded = Verdict::yes, .shift_invariant = Verdict::no};
  }
  Reduction reduction() const override { return Reduction::chi2_distance; }
  std::vector<KernelParameter> own_parameters() const override { return {{"chi2.gamma", gamma_}}; }
  Chi2Kernel with(std::span<const double> own) const { return Chi2Kernel(own[0]); }

  template <class T>
  void finish_tile(Tile<T> tile) const {
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().exp_of(x, n, exponent<T>(-gamma_)); });
  }
  void gradient(Tile<const double> inputs, Tile<const double> values, Tile<double> weights, std::span<double> gradient) const override {
    for_pairs(inputs, values, weights, [&](double s, double k, double& w) {
      gradient[0] -= w * gamma_ * s * k;
      w *= -gamma_ * k;
    });
  }

 private:
  double gamma_;
};

// sum_j min(x_j, y_j): a sum over columns, so it sees marginals alone, and all its functions vanish at 0.
class HistogramIntersectionKernel final : public Leaf<HistogramIntersectionKernel> {
 public:
  std::string text() const override { return "histogram_intersection"; }
  Properties properties() const override {
    return {.strictly_pd = Verdict::no,
            .universal = Verdict::no,
            .characteristic = Verdict::no,
            .bounded = Verdict::no,
            .shift_invariant = Verdict::no};
  }
  Reduction reduction() const override { return Reduction::minimum_sum; }
  template <class T>
  void finish_tile(Tile<T>) const {}
};

// What constant and white share: one number, tuned where it is positive.
template <class Derived>
class NumberLeaf : public Leaf<Derived> {
 public:
  NumberLeaf(const char* name, const char* parameter, double value) : name_(name), parameter_(parameter), value_(value) {}

  std::string text() const override { return fmt::format("{}({})", name_, value_); }
  std::vector<KernelParameter> own_parameters() const override {
    if (value_ <= 0) return {};
    return {{fmt::format("{}.{}", name_, parameter_), value_}};
  }
  Derived with(std::span<const double> own) const { return Derived(own.empty() ? value_ : own[0]); }
  void gradient(Tile<const double> inputs, Tile<const double> values, Tile<double> weights, std::span<double> gradient) const override {
    if (value_ > 0) for_pairs(inputs, values, weights, [&](double, double k, double& w) { gradient[0] += w * k; });
  }
  double largest_value(double) const override { return std::abs(value_); }

 protected:
  const char* name_;
  const char* parameter_;
  double value_;
};

class ConstantKernel final : public NumberLeaf<ConstantKernel> {
 public:
  explicit ConstantKernel(double value) : NumberLeaf("constant", "value", value) {}

  Properties properties() const override {
    return {.psd = value_ >= 0 ? Verdict::yes : Verdict::no,
            .strictly_pd = Verdict::no,
            .universal = Verdict::no,
            .characteristic = Verdict::no,
            .bounded = Verdict::yes,
            .shift_invariant = Verdict::yes,
            .finite_dimensional = true,
            .zero = value_ == 0,
            .sees_columns = false};
  }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    for (Index i = 0; i < tile.rows; ++i) std::fill_n(tile.row(i), tile.cols, static_cast<T>(value_));
  }
};

// Noise of its own for every sample: equal rows of a cross-Gram matrix are still different samples (SPEC K2).
class WhiteKernel final : public NumberLeaf<WhiteKernel> {
 public:
  explicit WhiteKernel(double variance) : NumberLeaf("white", "variance", variance) {}

  Properties properties() const override {
    return {.psd = value_ >= 0 ? Verdict::yes : Verdict::no,
            .strictly_pd = value_ > 0 ? Verdict::yes : Verdict::no,
            .universal = Verdict::no,
            .characteristic = Verdict::no,
            .bounded = Verdict::yes,
            .shift_invariant = Verdict::no,
            .zero = value_ == 0,
            .sees_columns = false};
  }
  Reduction reduction() const override { return Reduction::same; }
  template <class T>
  void finish_tile(Tile<T> tile) const {
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().scale(x, n, static_cast<T>(value_)); });
  }
};

class PrecomputedKernel final : public Leaf<PrecomputedKernel> {
 public:
  std::string text() const override { return "precomputed"; }
  Properties properties() const override { return {.psd = Verdict::unknown, .shift_invariant = Verdict::unknown}; }
  Reduction reduction() const override { return Reduction::given; }
  template <class T>
  void finish_tile(Tile<T>) const {}
};

class FeatureMapKernel final : public Leaf<FeatureMapKernel> {
 public:
  FeatureMapKernel(std::string name, kernels::FeatureMap map) : name_(std::move(name)) {
    transform_.map = std::make_shared<const kernels::FeatureMap>(std::move(map));
  }

  std::string text() const override { return fmt::format("feature_map({})", in_quotes(name_)); }
  std::string name() const override { return name_; }
  Properties properties() const override {
    return {.strictly_pd = Verdict::no,
            .universal = Verdict::no,
            .characteristic = Verdict::no,
            .shift_invariant = Verdict::unknown,
            .finite_dimensional = true};
  }
  Reduction reduction() const override { return Reduction::dot; }
  const Transform& transform() const override { return transform_; }
  template <class T>
  void finish_tile(Tile<T>) const {}

 private:
  std::string name_;
  Transform transform_{};
};

class FunctionKernel final : public KernelNode {
 public:
  FunctionKernel(std::string name, kernels::BlockFunction f, Verdict psd)
      : name_(std::move(name)), f_(std::make_shared<const kernels::BlockFunction>(std::move(f))), psd_(psd) {}

  Kind kind() const override { return Kind::function; }
  std::string text() const override { return fmt::format("function({})", in_quotes(name_)); }
  std::string name() const override { return name_; }
  Properties properties() const override {
    return {.psd = psd_, .strictly_pd = psd_ == Verdict::no ? Verdict::no : Verdict::unknown, .shift_invariant = Verdict::unknown};
  }
  const kernels::BlockFunction& function() const override { return *f_; }
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> /*parts*/, std::span<const double> /*own*/) const override {
    return std::make_shared<FunctionKernel>(*this);
  }

 private:
  std::string name_;
  std::shared_ptr<const kernels::BlockFunction> f_;
  Verdict psd_;
};

void require_name(const std::string& name, bool callable) {
  if (name.empty()) throw InvalidArgument("a kernel of your own needs a name: its text and its files call it by that");
  if (!callable) throw InvalidArgument(fmt::format("the kernel {} has no function", in_quotes(name)));
}

}  // namespace

namespace kernels {

Kernel chi2(double gamma) {
  require_positive(gamma, "gamma");
  return Kernel(std::make_shared<Chi2Kernel>(gamma));
}

Kernel histogram_intersection() { return Kernel(std::make_shared<HistogramIntersectionKernel>()); }

Kernel constant(double value) {
  require_number(value, "constant");
  return Kernel(std::make_shared<ConstantKernel>(value));
}

Kernel white(double variance) {
  require_number(variance, "variance");
  return Kernel(std::make_shared<WhiteKernel>(variance));
}

Kernel precomputed() { return Kernel(std::make_shared<PrecomputedKernel>()); }

Kernel feature_map(std::string name, FeatureMap phi) {
  require_name(name, static_cast<bool>(phi));
  return Kernel(std::make_shared<FeatureMapKernel>(std::move(name), std::move(phi)));
}

Kernel function(std::string name, BlockFunction f, Verdict psd) {
  require_name(name, static_cast<bool>(f));
  return Kernel(std::make_shared<FunctionKernel>(std::move(name), std::move(f), psd));
}

const BlockFunction* function_of(const Kernel& kernel) {
  return kernel.node().kind() == KernelNode::Kind::function ? &kernel.node().function() : nullptr;
}

const FeatureMap* feature_map_of(const Kernel& kernel) {
  return kernel.node().kind() == KernelNode::Kind::leaf ? kernel.node().transform().map.get() : nullptr;
}

}  // namespace kernels

}  // namespace mercer

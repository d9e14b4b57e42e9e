// Sums, products and multiples of kernels, and how properties pass through them. Text, properties and depth of a composite are worked out
// once, when it is built: asked for afresh at every level they would cost exponential time in the depth.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernels/node.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

using Kind = KernelNode::Kind;

class Composite : public KernelNode {
 public:
  std::span<const Kernel> parts() const override { return parts_; }
  std::string text() const override { return text_; }
  Properties properties() const override { return properties_; }
  int depth() const override { return depth_; }
  bool has_auto() const override { return has_auto_; }
  void finish(Tile<double>) const override { assert(false && "only leaves finish a tile"); }
  void finish(Tile<float>) const override { assert(false && "only leaves finish a tile"); }

 protected:
  Composite(std::vector<Kernel> parts, std::string text, Properties properties)
      : parts_(std::move(parts)), text_(std::move(text)), properties_(properties) {
    for (const Kernel& part : parts_) {
      depth_ = std::max(depth_, part.node().depth());
      has_auto_ = has_auto_ || part.has_auto();
    }
    if (text_.size() > longest_text)
      throw InvalidArgument(fmt::format("a kernel expression of {} characters is too long (at most {})", text_.size(), longest_text));
  }

  std::vector<Kernel> resolved_parts(const TypicalDistance& distance) const {
    std::vector<Kernel> out;
    for (const Kernel& part : parts_) {
      auto node = part.node().resolved(distance);
      out.push_back(node ? Kernel(std::move(node)) : part);
    }
    return out;
  }

  // A sum inside a product or multiple stands in brackets.
  void count_brackets() {
    for (const Kernel& part : parts_) {
      if (part.node().kind() == Kind::sum) depth_ = std::max(depth_, part.node().depth() + 1);
    }
    if (depth_ > deepest_nesting) throw InvalidArgument(fmt::format("kernels may be nested {} deep at most", deepest_nesting));
  }

 private:
  std::vector<Kernel> parts_;
  std::string text_;
  Properties properties_;
  int depth_ = 0;
  bool has_auto_ = false;
};

std::string joined(std::span<const Kernel> parts, const char* separator, bool bracket_sums) {
  std::string out;
  for (const Kernel& part : parts) {
    if (!out.empty()) out += separator;
    const bool brackets = bracket_sums && part.node().kind() == Kind::sum;
    out += brackets ? "(" + part.text() + ")" : part.text();
  }
  return out;
}

std::vector<Properties> properties_of(std::span<const Kernel> parts) {
  std::vector<Properties> out;
  for (const Kernel& part : parts) out.push_back(part.node().properties());
  return out;
}

// What sums and products have in common: a property that holds when all parts have it.
Properties shared_properties(const std::vector<Properties>& parts) {
  const auto all = [&](auto member) { return std::all_of(parts.begin(), parts.end(), [&](const Properties& p) { return p.*member; }); };
  Properties p;
  p.psd = all(&Properties::psd);
  p.finite_dimensional = all(&Properties::finite_dimensional);
  p.shift_invariant = all(&Properties::shift_invariant);
  if (p.finite_dimensional) p.universal = p.characteristic = Verdict::no;
  return p;
}

class SumKernel final : public Composite {
 public:
  explicit SumKernel(std::vector<Kernel> parts) : Composite(parts, joined(parts, " + ", false), combined(properties_of(parts))) {}
  Kind kind() const override { return Kind::sum; }
  std::shared_ptr<const KernelNode> resolved(const TypicalDistance& distance) const override {
    return has_auto() ? std::make_shared<SumKernel>(resolved_parts(distance)) : nullptr;
  }

 private:
  static Properties combined(const std::vector<Properties>& parts) {
    Properties p = shared_properties(parts);
    if (!p.psd || p.finite_dimensional) return p;
    // The feature space of a sum contains those of its parts, so one rich part is enough.
    const auto any = [&](auto member) {
      return std::any_of(parts.begin(), parts.end(), [&](const Properties& q) { return q.*member == Verdict::yes; });
    };
    if (any(&Properties::universal)) p.universal = Verdict::yes;
    if (any(&Properties::characteristic)) p.characteristic = Verdict::yes;
    return p;
  }
};

class ProductKernel final : public Composite {
 public:
  explicit ProductKernel(std::vector<Kernel> parts) : Composite(parts, joined(parts, "*", true), combined(properties_of(parts))) {
    count_brackets();
  }
  Kind kind() const override { return Kind::product; }
  std::shared_ptr<const KernelNode> resolved(const TypicalDistance& distance) const override {
    return has_auto() ? std::make_shared<ProductKernel>(resolved_parts(distance)) : nullptr;
  }

 private:
  static Properties combined(const std::vector<Properties>& parts) {
    Properties p = shared_properties(parts);
    const bool all_rich = std::all_of(parts.begin(), parts.end(), [](const Properties& q) { return q.characteristic == Verdict::yes; });
    // Spectral measures convolve, and a convolution of measures with full support has full support.
    if (p.psd && p.shift_invariant && all_rich) p.universal = p.characteristic = Verdict::yes;
    return p;
  }
};

class ScaledKernel final : public Composite {
 public:
  ScaledKernel(double factor, const Kernel& part)
      : Composite({part}, fmt::format("{}*{}", factor, joined({&part, 1}, "", true)), scaled(factor, part.node().properties())),
        factor_(factor) {
    count_brackets();
  }
  Kind kind() const override { return Kind::scaled; }
  double factor() const override { return factor_; }
  std::shared_ptr<const KernelNode> resolved(const TypicalDistance& distance) const override {
    return has_auto() ? std::make_shared<ScaledKernel>(factor_, resolved_parts(distance)[0]) : nullptr;
  }

 private:
  static Properties scaled(double factor, Properties p) {
    if (factor == 0) return {true, Verdict::no, Verdict::no, true, true};
    if (factor < 0) p.psd = false, p.universal = p.characteristic = p.finite_dimensional ? Verdict::no : Verdict::unknown;
    return p;
  }

  double factor_;
};

// a + (b + c) and (a + b) + c are one sum of three, so that text has one form.
void append_flat(std::vector<Kernel>& parts, const Kernel& k, Kind kind) {
  if (k.node().kind() == kind) {
    parts.insert(parts.end(), k.node().parts().begin(), k.node().parts().end());
  } else {
    parts.push_back(k);
  }
}

}  // namespace

std::string Kernel::text() const { return node_->text(); }
bool Kernel::is_psd() const { return node_->properties().psd; }
Verdict Kernel::is_universal() const { return node_->properties().universal; }
Verdict Kernel::is_characteristic() const { return node_->properties().characteristic; }
bool Kernel::has_auto() const { return node_->has_auto(); }

Kernel sum_of(std::span<const Kernel> parts) {
  if (parts.size() == 1) return parts[0];
  std::vector<Kernel> flat;
  for (const Kernel& part : parts) append_flat(flat, part, Kind::sum);
  return Kernel(std::make_shared<SumKernel>(std::move(flat)));
}

Kernel product_of(std::span<const Kernel> parts) {
  if (parts.size() == 1) return parts[0];
  // Factors gather in front, so that 2*(k*l), (2*k)*l and k*(2*l) are one kernel with one text.
  std::vector<Kernel> flat;
  double factor = 1;
  bool scaled = false;
  for (const Kernel& part : parts) {
    const bool multiple = part.node().kind() == Kind::scaled;
    factor *= part.node().factor();
    scaled = scaled || multiple;
    append_flat(flat, multiple ? part.node().parts()[0] : part, Kind::product);
  }
  const Kernel product(std::make_shared<ProductKernel>(std::move(flat)));
  return scaled ? factor * product : product;
}

Kernel operator+(const Kernel& a, const Kernel& b) { return sum_of(std::vector{a, b}); }
Kernel operator*(const Kernel& a, const Kernel& b) { return product_of(std::vector{a, b}); }

Kernel operator*(double factor, const Kernel& k) {
  if (!std::isfinite(factor)) throw InvalidArgument(fmt::format("a kernel's factor must be a finite number, got {}", factor));
  if (k.node().kind() == Kind::scaled) return (factor * k.node().factor()) * k.node().parts()[0];
  return Kernel(std::make_shared<ScaledKernel>(factor, k));
}

Kernel operator+(const Kernel& k, double constant) { return k + kernels::constant(constant); }

}  // namespace mercer

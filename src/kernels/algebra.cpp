// Sums, products and multiples of kernels, and how properties pass through them.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernels/node.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

std::vector<Kernel> resolve_parts(std::span<const Kernel> parts, const TypicalDistance& distance) {
  std::vector<Kernel> out;
  for (const Kernel& part : parts) {
    auto node = part.node().resolved(distance);
    out.push_back(node ? Kernel(std::move(node)) : part);
  }
  return out;
}

template <class Test>
bool all_parts(std::span<const Kernel> parts, Test&& test) {
  return std::all_of(parts.begin(), parts.end(), [&](const Kernel& part) { return test(part.node().properties()); });
}

template <class Test>
bool any_part(std::span<const Kernel> parts, Test&& test) {
  return std::any_of(parts.begin(), parts.end(), [&](const Kernel& part) { return test(part.node().properties()); });
}

class Composite : public KernelNode {
 public:
  explicit Composite(std::vector<Kernel> parts) : parts_(std::move(parts)) {}

  std::span<const Kernel> parts() const override { return parts_; }
  bool has_auto() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const Kernel& part) { return part.has_auto(); });
  }
  void finish(Tile<double>) const override { assert(false && "only leaves finish a tile"); }
  void finish(Tile<float>) const override { assert(false && "only leaves finish a tile"); }

 protected:
  std::vector<Kernel> parts_;
};

class SumKernel final : public Composite {
 public:
  using Composite::Composite;
  Kind kind() const override { return Kind::sum; }
  std::string text() const override {
    std::string out;
    for (const Kernel& part : parts_) out += (out.empty() ? "" : " + ") + part.text();
    return out;
  }
  Properties properties() const override {
    Properties p;
    p.psd = all_parts(parts_, [](const Properties& q) { return q.psd; });
    p.finite_dimensional = all_parts(parts_, [](const Properties& q) { return q.finite_dimensional; });
    p.shift_invariant = all_parts(parts_, [](const Properties& q) { return q.shift_invariant; });
    // The feature space of a sum contains those of its parts, so one rich part is enough.
    const auto inherited = [&](auto member) {
      if (p.finite_dimensional) return Verdict::no;
      return p.psd && any_part(parts_, [&](const Properties& q) { return q.*member == Verdict::yes; }) ? Verdict::yes : Verdict::unknown;
    };
    p.universal = inherited(&Properties::universal);
    p.characteristic = inherited(&Properties::characteristic);
    return p;
  }
  std::shared_ptr<const KernelNode> resolved(const TypicalDistance& distance) const override {
    return has_auto() ? std::make_shared<SumKernel>(resolve_parts(parts_, distance)) : nullptr;
  }
};

class ProductKernel final : public Composite {
 public:
  using Composite::Composite;
  Kind kind() const override { return Kind::product; }
  std::string text() const override {
    std::string out;
    for (const Kernel& part : parts_) {
      const std::string inner = part.text();
      out += (out.empty() ? "" : "*") + (part.node().kind() == Kind::sum ? "(" + inner + ")" : inner);
    }
    return out;
  }
  Properties properties() const override {
    Properties p;
    p.psd = all_parts(parts_, [](const Properties& q) { return q.psd; });
    p.finite_dimensional = all_parts(parts_, [](const Properties& q) { return q.finite_dimensional; });
    p.shift_invariant = all_parts(parts_, [](const Properties& q) { return q.shift_invariant; });
    if (p.finite_dimensional) {
      p.universal = p.characteristic = Verdict::no;
    } else if (p.psd && p.shift_invariant && all_parts(parts_, [](const Properties& q) { return q.characteristic == Verdict::yes; })) {
      // Spectral measures convolve, and a convolution of measures with full support has full support.
      p.universal = p.characteristic = Verdict::yes;
    }
    return p;
  }
  std::shared_ptr<const KernelNode> resolved(const TypicalDistance& distance) const override {
    return has_auto() ? std::make_shared<ProductKernel>(resolve_parts(parts_, distance)) : nullptr;
  }
};

class ScaledKernel final : public Composite {
 public:
  ScaledKernel(double factor, Kernel part) : Composite({std::move(part)}), factor_(factor) {}
  Kind kind() const override { return Kind::scaled; }
  double factor() const override { return factor_; }
  std::string text() const override {
    const std::string inner = parts_[0].text();
    return fmt::format("{}*{}", factor_, parts_[0].node().kind() == Kind::sum ? "(" + inner + ")" : inner);
  }
  Properties properties() const override {
    Properties p = parts_[0].node().properties();
    if (factor_ == 0) return {true, Verdict::no, Verdict::no, true, true};
    if (factor_ < 0) p.psd = false, p.universal = p.characteristic = p.finite_dimensional ? Verdict::no : Verdict::unknown;
    return p;
  }
  std::shared_ptr<const KernelNode> resolved(const TypicalDistance& distance) const override {
    return has_auto() ? std::make_shared<ScaledKernel>(factor_, resolve_parts(parts_, distance)[0]) : nullptr;
  }

 private:
  double factor_;
};

// a + (b + c) and (a + b) + c are one sum of three, so that text has one form.
std::vector<Kernel> flatten(const Kernel& a, const Kernel& b, KernelNode::Kind kind) {
  std::vector<Kernel> parts;
  for (const Kernel& k : {a, b}) {
    if (k.node().kind() == kind) {
      parts.insert(parts.end(), k.node().parts().begin(), k.node().parts().end());
    } else {
      parts.push_back(k);
    }
  }
  return parts;
}

}  // namespace

std::string Kernel::text() const { return node_->text(); }
bool Kernel::is_psd() const { return node_->properties().psd; }
Verdict Kernel::is_universal() const { return node_->properties().universal; }
Verdict Kernel::is_characteristic() const { return node_->properties().characteristic; }
bool Kernel::has_auto() const { return node_->has_auto(); }

Kernel operator+(const Kernel& a, const Kernel& b) { return Kernel(std::make_shared<SumKernel>(flatten(a, b, KernelNode::Kind::sum))); }

Kernel operator*(const Kernel& a, const Kernel& b) {
  // Factors gather in front, so that 2*(k*l), (2*k)*l and k*(2*l) are one kernel with one text.
  const double factor = a.node().factor() * b.node().factor();
  const auto strip = [](const Kernel& k) { return k.node().kind() == KernelNode::Kind::scaled ? k.node().parts()[0] : k; };
  const bool scaled = a.node().kind() == KernelNode::Kind::scaled || b.node().kind() == KernelNode::Kind::scaled;
  const Kernel product(std::make_shared<ProductKernel>(flatten(strip(a), strip(b), KernelNode::Kind::product)));
  return scaled ? factor * product : product;
}

Kernel operator*(double factor, const Kernel& k) {
  if (!std::isfinite(factor)) throw InvalidArgument(fmt::format("a kernel's factor must be a finite number, got {}", factor));
  if (k.node().kind() == KernelNode::Kind::scaled) return (factor * k.node().factor()) * k.node().parts()[0];
  return Kernel(std::make_shared<ScaledKernel>(factor, k));
}

Kernel operator+(const Kernel& k, double constant) { return k + kernels::constant(constant); }

}  // namespace mercer

// Sums, products and multiples of kernels.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/composite.hpp"
#include "mercer/error.hpp"

namespace mercer {

using Kind = KernelNode::Kind;

Composite::Composite(std::vector<Kernel> parts, std::string text, Properties properties, int depth)
    : parts_(std::move(parts)), text_(std::move(text)), properties_(std::move(properties)), depth_(depth) {
  for (const Kernel& part : parts_) has_auto_ = has_auto_ || part.has_auto();
  if (text_.size() > longest_text)
    throw InvalidArgument(fmt::format("a kernel expression of {} characters is too long (at most {})", text_.size(), longest_text));
  if (depth_ > deepest_nesting) throw InvalidArgument(fmt::format("kernels may be nested {} deep at most", deepest_nesting));
}

std::string in_product(const Kernel& part) { return part.node().kind() == Kind::sum ? "(" + part.text() + ")" : part.text(); }
int depth_in_product(const Kernel& part) { return part.node().depth() + (part.node().kind() == Kind::sum ? 1 : 0); }

namespace {

bool bracketed_before_postfix(const Kernel& part) {
  const Kind kind = part.node().kind();
  return kind == Kind::sum || kind == Kind::product || kind == Kind::scaled || (kind == Kind::mapped && !part.text().ends_with(')'));
}

int deepest(std::span<const Kernel> parts, int (*depth)(const Kernel&)) {
  int most = 0;
  for (const Kernel& part : parts) most = std::max(most, depth(part));
  return most;
}

std::string joined(std::span<const Kernel> parts, const char* separator, bool product) {
  std::string out;
  for (const Kernel& part : parts) {
    if (!out.empty()) out += separator;
    out += product ? in_product(part) : part.text();
  }
  return out;
}

class SumKernel final : public Composite {
 public:
  explicit SumKernel(std::vector<Kernel> parts)
      : Composite(parts, joined(parts, " + ", false), sum_properties(parts),
                  deepest(parts, [](const Kernel& k) { return k.node().depth(); })) {}
  Kind kind() const override { return Kind::sum; }
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<SumKernel>(std::move(parts));
  }
};

class ProductKernel final : public Composite {
 public:
  explicit ProductKernel(std::vector<Kernel> parts)
      : Composite(parts, joined(parts, "*", true), product_properties(parts), deepest(parts, depth_in_product)) {}
  Kind kind() const override { return Kind::product; }
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<ProductKernel>(std::move(parts));
  }
};

class ScaledKernel final : public Composite {
 public:
  ScaledKernel(double factor, const Kernel& part)
      : Composite({part}, fmt::format("{}*{}", factor, in_product(part)), scaled_properties(factor, part.node().properties()),
                  depth_in_product(part)),
        factor_(factor) {}
  Kind kind() const override { return Kind::scaled; }
  double factor() const override { return factor_; }
  std::vector<KernelParameter> own_parameters() const override {
    if (factor_ <= 0) return {};
    return {{"factor", factor_}};
  }
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double> own) const override {
    return std::make_shared<ScaledKernel>(own.empty() ? factor_ : own[0], parts[0]);
  }

 private:
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

std::string before_postfix(const Kernel& part) { return bracketed_before_postfix(part) ? "(" + part.text() + ")" : part.text(); }
int depth_before_postfix(const Kernel& part) { return part.node().depth() + 1 + (bracketed_before_postfix(part) ? 1 : 0); }

std::string Kernel::text() const { return node_->text(); }
bool Kernel::is_psd() const { return psd() == Verdict::yes; }
Verdict Kernel::psd() const { return node_->properties().psd; }
Verdict Kernel::is_strictly_pd() const { return node_->properties().strictly_pd; }
Verdict Kernel::is_universal() const { return node_->properties().universal; }
Verdict Kernel::is_characteristic() const { return node_->properties().characteristic; }
Verdict Kernel::is_bounded() const { return node_->properties().bounded; }
Verdict Kernel::is_shift_invariant() const { return node_->properties().shift_invariant; }
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

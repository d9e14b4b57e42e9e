// Kernels as values: build them by name, combine them with + and *, print them and parse them back.
//
//   auto k = kernels::gaussian(2.0) + 0.5 * kernels::linear();
//   k.text()                                  // "gaussian(2) + 0.5*linear"
//   parse_kernel("gaussian(2) + 0.5*linear")  // the same kernel
//
// A kernel knows nothing of data or tiles: gram.hpp brings the two together.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

enum class Verdict : std::uint8_t { no, yes, unknown };

class KernelNode;  // src/kernels/node.hpp: one small value type per kernel

class Kernel {
 public:
  explicit Kernel(std::shared_ptr<const KernelNode> node) : node_(std::move(node)) {}

  std::string text() const;           // canonical; parse_kernel(text()) is the same kernel
  bool is_psd() const;                // false also for parameters that make it indefinite (polynomial with a negative offset)
  Verdict is_universal() const;       // on every compact set
  Verdict is_characteristic() const;  // on R^d
  bool has_auto() const;              // some length scale still waits for data

  const KernelNode& node() const { return *node_; }
  std::shared_ptr<const KernelNode> node_ptr() const { return node_; }

  friend bool operator==(const Kernel& a, const Kernel& b) { return a.text() == b.text(); }

 private:
  std::shared_ptr<const KernelNode> node_;
};

Kernel operator+(const Kernel& a, const Kernel& b);
Kernel operator*(const Kernel& a, const Kernel& b);
Kernel operator*(double a, const Kernel& k);
Kernel operator+(const Kernel& k, double constant);  // k + constant(c)

// Throws InvalidArgument with the text, a caret under the offending character and the nearest known name.
Kernel parse_kernel(std::string_view text);

namespace kernels {

enum class Norm : std::uint8_t { l2, l1 };

// A length scale: a number, or automatic (the median heuristic, resolved against the data when the kernel is bound to it).
class LengthScale {
 public:
  LengthScale(double value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  static LengthScale automatic() { return LengthScale(); }
  bool is_auto() const { return !value_; }
  double value() const { return value_.value(); }

 private:
  LengthScale() = default;
  std::optional<double> value_;
};

Kernel linear();                                                         // <x,y>
Kernel polynomial(int degree = 3, double scale = 1, double offset = 1);  // (offset + scale <x,y>)^degree
Kernel gaussian(LengthScale length_scale = 1.0);                         // exp(-|x-y|^2 / (2 l^2))
Kernel laplacian(LengthScale length_scale = 1.0, Norm norm = Norm::l2);  // exp(-|x-y| / l)
Kernel constant(double value = 1);                                       // c

}  // namespace kernels

// What `mercer kernels` and the docs say about one kernel.
struct KernelInfo {
  std::string name;
  std::string formula;
  std::string parameters;  // names, defaults and ranges
  std::string properties;  // "psd, universal, characteristic"
};
const std::vector<KernelInfo>& kernel_catalogue();

}  // namespace mercer

// What a kernel is inside: a leaf is a reduction of two samples to one number plus a finish that maps it, composites combine the tiles of
// their parts. So one GEMM and one vector exp serve every kernel, and dispatch happens once per tile, never per pair.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "simd/tile_ops.hpp"

namespace mercer {

using simd::Tile;

// The number a leaf looks at for a pair of samples.
enum class Reduction : std::uint8_t { none, dot, squared_distance, l1_distance };

struct Properties {
  bool psd = true;
  Verdict universal = Verdict::unknown;
  Verdict characteristic = Verdict::unknown;
  bool finite_dimensional = false;  // of the feature space: then neither universal nor characteristic
  bool shift_invariant = false;
};

// The typical distance of the data a kernel is bound to, under the given reduction: what an automatic length scale becomes.
using TypicalDistance = std::function<double(Reduction)>;

// What text may be, for kernels that are built as for those that are parsed: whatever exists can be written down and read back, and no
// text from outside can make recursion deep.
inline constexpr std::size_t longest_text = 100000;
inline constexpr int deepest_nesting = 100;

class KernelNode {
 public:
  enum class Kind : std::uint8_t { leaf, sum, product, scaled };

  virtual ~KernelNode() = default;
  virtual Kind kind() const { return Kind::leaf; }
  virtual std::string text() const = 0;
  virtual Properties properties() const = 0;

  // Leaves.
  virtual Reduction reduction() const { return Reduction::none; }
  virtual void finish(Tile<double> tile) const = 0;
  virtual void finish(Tile<float> tile) const = 0;

  // Composites: the parts whose tiles are combined (one part, and a factor, for Kind::scaled).
  virtual std::span<const Kernel> parts() const { return {}; }
  virtual double factor() const { return 1; }
  virtual int depth() const { return 0; }  // brackets around the innermost part

  // A copy with automatic length scales set, or nullptr when there are none.
  virtual std::shared_ptr<const KernelNode> resolved(const TypicalDistance&) const { return nullptr; }
  virtual bool has_auto() const { return false; }
};

// Sums and products of one or more kernels: nested ones are flattened, the factors of a product gathered in front.
Kernel sum_of(std::span<const Kernel> parts);
Kernel product_of(std::span<const Kernel> parts);

}  // namespace mercer

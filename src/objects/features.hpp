// What a kernel of objects comes to for two lists of objects: rows of explicit features whose dot products (or sums of minima) are its
// values, or values pair by pair. No normalisation here: src/gram divides by k(x,x).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "mercer/matrix.hpp"
#include "mercer/objects.hpp"
#include "mercer/samples.hpp"

namespace mercer::objects {

// The objects of both sides of a Gram matrix. Where `same`, cols is rows.
template <class Object>
struct Both {
  std::span<const Object> rows;
  std::span<const Object> cols;
  bool same = false;
};
using BothStrings = Both<std::string_view>;
using BothGraphs = Both<const Graph*>;

// k(x, y) = <rows(x), cols(y)>, features numbered alike on both sides.
struct Features {
  Samples rows;      // CSR, float64, one row an object
  Samples cols;      // the same handle as rows where both sides are the same, unless the two are weighted differently
  Vector self_rows;  // k(x, x) of the rows' side, from all features of x
  Vector self_cols;  // of the other side
};

// Values pair by pair, for kernels that have no explicit features. Safe from many threads.
class PairValues {
 public:
  virtual ~PairValues() = default;
  // out[c] = k(x_i, y_(first + c))
  virtual void row(Index i, Index first, Index count, double* out) const = 0;
  virtual Vector self_rows() const = 0;
  virtual Vector self_cols() const = 0;
};

}  // namespace mercer::objects

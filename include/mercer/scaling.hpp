// Column scaling that travels with a model: standard (mean 0, deviation 1) and min-max (to [0, 1]).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mercer/samples.hpp"

namespace mercer {

enum class ScalingKind : std::uint8_t { none, standard, min_max };

// x -> (x - shift) / scale, column by column. A constant column has scale 1. Sparse rows are never shifted (they would not
// stay sparse): standard divides by the root mean square, min-max by the largest absolute value.
struct Scaler {
  ScalingKind kind = ScalingKind::none;
  Vector shift;
  Vector scale;

  Samples apply(const Samples& X) const;  // same kind of rows, same precision
  Matrix undo(const MatrixRef& X) const;
};

Scaler fit_scaler(const Samples& X, ScalingKind kind);

}  // namespace mercer

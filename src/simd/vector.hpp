// The vector levels, by Highway target.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "simd/tile_ops.hpp"

namespace mercer::simd {

// The table compiled for one Highway target (HWY_AVX2, ...), which this CPU must support.
const TileOps<float>& vector_ops_f32(std::int64_t target);
const TileOps<double>& vector_ops_f64(std::int64_t target);

}  // namespace mercer::simd

// The vector levels, by Highway target.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "simd/tile_ops.hpp"

namespace mercer::simd {

// The table compiled for one Highway target (HWY_AVX2, ...), which this CPU must support.
template <class T>
const TileOps<T>& vector_ops(std::int64_t target);

}  // namespace mercer::simd

// The scalar twin of every tile operation: short loops that are read, not tuned.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "simd/tile_ops.hpp"

namespace mercer::simd {

template <class T>
const TileOps<T>& scalar_ops();

}  // namespace mercer::simd

// Weights of a sample's rows as all statistics take them. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/matrix.hpp"

namespace mercer::stats {

// Scaled to sum 1; equal where none are given. Throws InvalidArgument unless there is one for each row, finite, >= 0, and some are > 0;
// `name` is that of the option.
Vector shares_of(const Vector& weights, Index rows, const char* name);

}  // namespace mercer::stats

// The rows that automatic length scales are measured on: whoever does not hold all rows gathers these and gives them to `resolve`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

// All of n rows when they are few, else a fixed sample; ascending. resolve() of these rows is resolve() of all.
std::vector<Index> length_scale_rows(Index n);

}  // namespace mercer

// What automatic length scales are measured on: which rows (whoever does not hold all rows gathers these and gives them to `resolve`), and
// their distances.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "kernels/node.hpp"
#include "mercer/samples.hpp"

namespace mercer {

// All of n rows when they are few, else a fixed sample; ascending. resolve() of these rows is resolve() of all.
std::vector<Index> length_scale_rows(Index n);

// The distances of all pairs of those rows of X, in no order; `columns` empty: all. Not squared, whatever the kernel looks at.
std::vector<double> length_scale_distances(const Samples& X, Reduction reduction, std::span<const ColumnRef> columns);

}  // namespace mercer

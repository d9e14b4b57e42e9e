// What fits of classifiers ask of labels before they begin.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/samples.hpp"

namespace mercer {

// The number of classes. Labels must be 0 .. k-1, one per sample, at least two of them, each with positive weight (empty weights: all 1).
// Throws InvalidArgument that says which is not so; looks at the weights too.
Index require_classes(const Samples& X, const std::vector<Index>& labels, const Vector& sample_weight);

// One score per class: with two classes one function tells them apart.
inline Index functions_for(Index classes) { return classes == 2 ? 1 : classes; }

}  // namespace mercer

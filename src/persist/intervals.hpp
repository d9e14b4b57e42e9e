// What prediction intervals need, in a model file: "intervals" in the metadata and tensors "intervals.*". The inverse of the jackknife+ is
// stored as its lower half, row by row.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "models/interval_parts.hpp"
#include "persist/container.hpp"

namespace mercer::persist {

void write_intervals(const IntervalParts& parts, ContainerWriter& out);
std::shared_ptr<const IntervalParts> read_intervals(const ContainerReader& in, Index n, Index targets);

}  // namespace mercer::persist

// Forms of a kernel with more parameters to learn, and which of them only scale it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/kernel_learning.hpp"

namespace mercer {

// The places, among kernel.parameters(), of the numbers that together multiply the whole kernel: the factor of a multiple, those of all
// parts of a sum. Empty where there is no such set.
std::vector<Index> overall_weights(const Kernel& kernel);

}  // namespace mercer

// Two samples as one: what is checked before they are joined. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/kernels.hpp"
#include "mercer/samples.hpp"

namespace mercer::stats {

// Throws InvalidArgument unless both have rows, of the same width, finite, and of one given Gram matrix where the kernel looks at one.
void require_two_samples(const Samples& X, const Samples& Y, const Kernel& kernel);

}  // namespace mercer::stats

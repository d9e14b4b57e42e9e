// Frequencies drawn from the spectral measure of a kernel. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "mercer/random_features.hpp"

namespace mercer {

struct Frequencies {
  Matrix w{};                                 // width x count
  std::optional<HadamardFactors> hadamard{};  // of structured ones
};

// k(x, x). Throws InvalidArgument for a kernel without a spectral measure to draw from.
double scale_of(const Kernel& kernel);

Frequencies draw_frequencies(const Kernel& kernel, Index width, Index count, FourierDraw draw, std::uint64_t seed);

}  // namespace mercer

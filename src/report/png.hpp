// Small grey images as PNG files in memory, and bytes as text that can stand in a page.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "mercer/matrix.hpp"

namespace mercer::report {

// One image of grey levels in [0, 1] (beyond: clipped), its pixels as a matrix; NaN is transparent. PNG, 8 bits, grey and alpha.
std::string png_of(const Matrix& grey);

std::string base64(std::string_view bytes);

}  // namespace mercer::report

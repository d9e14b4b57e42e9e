// The second half of E4: the Gaussian kernel growing wide. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "gallery.hpp"

namespace mercer::gallery {

constexpr Index boundary_side = 81;  // of the grids that boundaries are drawn on

std::vector<std::string> class_words(const Vector& y);

// Adds the agreement with the linear machine on new points as the Gaussian kernel grows wide, with C as it is and with C growing as the
// square of the width.
void widening_gaussian(Experiment& e, const Setting& setting);

}  // namespace mercer::gallery

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "mercer/samples.hpp"

namespace mercer {

// Throws InvalidArgument where samples have columns of objects: `who` ("a linear machine") looks at the columns of numbers themselves, and
// no kernel stands between.
void require_numbers(const Samples& X, std::string_view who);

}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#define MERCER_VERSION_MAJOR 0
#define MERCER_VERSION_MINOR 1
#define MERCER_VERSION_PATCH 0

namespace mercer {

// "0.1.0"
const char* version();

}  // namespace mercer

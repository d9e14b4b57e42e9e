// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/version.hpp"

namespace mercer {

#define MERCER_TEXT_(x) #x
#define MERCER_TEXT(x) MERCER_TEXT_(x)

const char* version() {
  return MERCER_TEXT(MERCER_VERSION_MAJOR) "." MERCER_TEXT(MERCER_VERSION_MINOR) "." MERCER_TEXT(MERCER_VERSION_PATCH);
}

}  // namespace mercer

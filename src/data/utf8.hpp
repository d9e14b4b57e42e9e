// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mercer {

// Where the first byte stands that is not UTF-8: overlong forms, surrogates and code points above U+10FFFF are not.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

}  // namespace mercer

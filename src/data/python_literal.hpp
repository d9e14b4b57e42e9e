// The few Python literals that an NPY header is made of: text, True, False, None, integers, tuples, lists, dictionaries with text keys.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mercer {

struct PythonLiteral {
  enum class Kind : std::uint8_t { none, boolean, integer, text, tuple, list, dict };

  Kind kind = Kind::none;
  std::int64_t integer = 0;  // 0 and 1 for booleans
  std::string text;
  std::vector<PythonLiteral> items;  // dict: the values
  std::vector<std::string> keys;     // dict

  const PythonLiteral* find(std::string_view key) const;
};

// The whole of `text` as one literal; nullopt if it is anything else.
std::optional<PythonLiteral> parse_python_literal(std::string_view text);

}  // namespace mercer

// One cell of a text file as a number, or why it is not one.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fast_float/fast_float.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace mercer {

enum class CellKind : std::uint8_t { number, missing, overflow, infinite, text };

struct Cell {
  CellKind kind = CellKind::text;
  double value = 0;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

std::string_view trimmed(std::string_view text);

// Blanks around and a leading + are allowed. Missing: nothing, NA, N/A, #N/A, ?, null and nan in any case.
Cell read_cell(std::string_view text);
bool is_missing_word(std::string_view trimmed_text);
// 1,5 or -3,25e4: somebody's decimal comma.
bool has_decimal_comma(std::string_view text);

// Reads a finite number that starts at `first` and returns where it ends, nullptr if there is none there. Correctly rounded.
inline const char* read_number(const char* first, const char* last, double& value) {
  if (first != last && *first == '+') {
    ++first;
    if (first != last && (*first == '-' || *first == '+')) return nullptr;
  }
  // The library also takes words (nan, infinity), which are not numbers here.
  const char* digit = first != last && *first == '-' ? first + 1 : first;
  if (digit == last || !(is_digit(*digit) || *digit == '.')) return nullptr;
  const auto [end, error] = fast_float::from_chars(first, last, value);
  constexpr double largest = 1.7976931348623157e308;
  if (error == std::errc::invalid_argument || !(value >= -largest && value <= largest)) return nullptr;
  return end;
}

// A cell as it may appear in a message: quoted, shortened, control characters made visible.
std::string quoted(std::string_view text);

// The position of the first byte that is not UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace mercer

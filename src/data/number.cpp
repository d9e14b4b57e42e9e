// SPDX-License-Identifier: BSD-3-Clause
#include "data/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "mercer/table.hpp"

namespace mercer {

namespace {

bool same_word(std::string_view text, std::string_view lower_case) {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

// Text with the shape of a number; only its size keeps it from being one.
bool reads_as_infinity(std::string_view text) {
  double value = 0;
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  return end == text.data() + text.size() && error != std::errc::invalid_argument && std::isinf(value);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_missing_word(std::string_view text) {
  switch (text.size()) {
    case 0:
      return true;
    case 1:
      return text == "?";
    case 2:
      return text == "NA";
    case 3:
      return same_word(text, "nan") || same_word(text, "n/a");
    case 4:
      return same_word(text, "null") || same_word(text, "-nan") || same_word(text, "#n/a");
    default:
      return false;
  }
}

Cell read_cell(std::string_view text) {
  text = trimmed(text);
  Cell cell;
  const char* last = text.data() + text.size();
  if (const char* end = read_number(text.data(), last, cell.value); end == last && !text.empty()) {
    cell.kind = CellKind::number;
  } else if (is_missing_word(text)) {
    cell.kind = CellKind::missing;
  } else if (const std::string_view unsigned_text = text.substr(text.front() == '+' || text.front() == '-' ? 1 : 0);
             same_word(unsigned_text, "inf") || same_word(unsigned_text, "infinity")) {
    cell.kind = CellKind::infinite;
  } else if (reads_as_infinity(text)) {
    cell.kind = CellKind::overflow;
  }
  return cell;
}

bool has_decimal_comma(std::string_view text) {
  text = trimmed(text);
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || comma + 1 == text.size() || !is_digit(text[comma + 1])) return false;
  std::string with_point(text);
  with_point[comma] = '.';
  return read_cell(with_point).kind == CellKind::number;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (i >= longest && (c & 0xC0) != 0x80) {  // never cut inside a character
      out += "...";
      break;
    }
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", c);
    } else {
      out += text[i];
    }
  }
  return out + '"';
}

std::size_t find_invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned c = byte(i);
    const unsigned next = byte(i + 1);
    if (c < 0x80) {
      i += 1;
    } else if (c >= 0xC2 && c <= 0xDF && follows(i + 1)) {
      i += 2;
    } else if (c >= 0xE0 && c <= 0xEF && follows(i + 1) && follows(i + 2) && (c != 0xE0 || next >= 0xA0) && (c != 0xED || next < 0xA0)) {
      i += 3;
    } else if (c >= 0xF0 && c <= 0xF4 && follows(i + 1) && follows(i + 2) && follows(i + 3) && (c != 0xF0 || next >= 0x90) &&
               (c != 0xF4 || next < 0x90)) {
      i += 4;
    } else {
      return i;
    }
  }
  return std::string_view::npos;
}

std::string format_number(double value) { return fmt::format("{}", value); }

std::optional<double> parse_number(std::string_view text) {
  const Cell cell = read_cell(text);
  if (cell.kind != CellKind::number) return std::nullopt;
  return cell.value;
}

}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "report/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mercer::report {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::string_view narrow_space = "\xE2\x80\xAF";

// The length of the well-formed UTF-8 sequence at the head of `text` (no overlong forms, no surrogates), 0 when there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) { return byte(i) >= low && byte(i) <= high; };
  const unsigned head = byte(0);
  if (head < 0x80) return 1;
  if (head >= 0xC2 && head <= 0xDF) return follows(1) ? 2 : 0;
  if (head >= 0xE0 && head <= 0xEF) {
    const unsigned low = head == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = head == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (head >= 0xF0 && head <= 0xF4) {
    const unsigned low = head == 0xF0 ? 0x90 : 0x80;
    const unsigned high = head == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool is_control(std::string_view sequence) {
  const auto head = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return (head < 0x20 && head != '\n' && head != '\t') || head == 0x7F;
  return sequence.size() == 2 && head == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || is_control(text.substr(0, length))) {
      out += replacement;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string script_json(const nlohmann::json& value) {
  std::string out;
  for (const char c : value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "\xE2\x80\x93";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  const double magnitude = std::abs(value);
  if (magnitude != 0 && (magnitude < 1e-3 || magnitude >= 1e7)) {
    const std::string text = fmt::format("{:.{}e}", value, digits - 1);
    const std::size_t e = text.find('e');
    std::string mantissa = text.substr(0, e);
    if (mantissa.find('.') != std::string::npos) mantissa.erase(mantissa.find_last_not_of('0') + 1);
    if (mantissa.back() == '.') mantissa.pop_back();
    return fmt::format("{}e{}", mantissa, std::stoi(text.substr(e + 1)));
  }
  if (magnitude >= 1e4) return count_text(std::llround(value));
  if (magnitude >= std::pow(10, digits) - 0.5) return fmt::format("{:.0f}", value);  // 1000 in three digits is not 1e+03
  return fmt::format("{:.{}g}", value, digits);
}

std::string measure_text(double value, int digits) {
  const double magnitude = std::abs(value);
  if (!std::isfinite(value) || magnitude < 1e-3 || magnitude >= 1e4) return number_text(value, digits);
  const int decimals = std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(magnitude))));
  return fmt::format("{:.{}f}", value, decimals);
}

std::string fixed_text(double value) {
  return std::isfinite(value) && std::abs(value) < 1e4 ? fmt::format("{:.3f}", value) : number_text(value);
}

std::string seconds_text(double seconds) {
  if (seconds < 0.0995) return fmt::format("{:.0f} ms", 1000 * seconds);
  if (seconds < 99.5) return fmt::format("{:.{}f} s", seconds, seconds < 9.95 ? 2 : 1);
  return fmt::format("{:.1f} min", seconds / 60);
}

std::string count_text(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  if (digits.size() - first < 5) return digits;
  for (std::size_t i = digits.size() - 3; i > first; i -= 3) {
    digits.insert(i, narrow_space);
    if (i < first + 4) break;
  }
  return digits;
}

}  // namespace mercer::report

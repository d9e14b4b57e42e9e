// Text from users made harmless: for HTML, for JSON inside a script element, for people's eyes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace mercer::report {

// The text as valid UTF-8 without control characters: whatever cannot stand in a page becomes U+FFFD. Line ends and tabs stay.
std::string clean_text(std::string_view text);
// Safe as element content and inside a quoted attribute.
std::string escape_html(std::string_view text);
// Safe inside <script>: pure ASCII, and no character that could end the element or open a comment.
std::string script_json(const nlohmann::json& value);

// A number for reading: four digits, "1.2e-5" beyond the usual range, a dash when there is none.
std::string number_text(double value, int digits = 4);
// The same with its trailing zeros, for numbers that stand in columns: "0.2130".
std::string measure_text(double value, int digits = 4);
// Three decimals, for shares and R²; a dash when there is none.
std::string fixed_text(double value);
// "12 ms", "1.23 s", "2.0 min".
std::string seconds_text(double seconds);
// 13221 -> "13 221", with a space that does not break.
std::string count_text(std::int64_t value);

}  // namespace mercer::report

// Small tools for looking at pages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::testing {

inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

// The page without the contents of its script elements.
inline std::string without_script(const std::string& html) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = html.find("<script"); at != std::string::npos; at = html.find("<script", from)) {
    out += html.substr(from, at - from);
    from = html.find("</script>", at) + 9;
  }
  return out + html.substr(from);
}

// The chart specifications of a page, in order.
inline std::vector<nlohmann::json> specs_of(const std::string& html) {
  constexpr std::string_view open = "<script type=\"application/json\">";
  std::vector<nlohmann::json> specs;
  for (std::size_t at = html.find(open); at != std::string::npos; at = html.find(open, at + 1)) {
    const std::size_t begin = at + open.size();
    specs.push_back(nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin)));
  }
  return specs;
}

}  // namespace mercer::testing

// The colours of pages can be told apart: contrast after WCAG 2.1, at least 4.5 for text and 3 for marks, light and dark.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>

#include "report/page.hpp"

namespace mercer::report {
namespace {

// The colours of the nth :root of the style sheet.
std::map<std::string, std::string> colours_of(std::size_t nth) {
  const std::string css(style_sheet());
  std::size_t at = css.find(":root");
  for (std::size_t i = 0; i < nth; ++i) at = css.find(":root", at + 1);
  const std::string block = css.substr(at, css.find('}', at) - at);
  static const std::regex form(R"(--([a-z-]+): #([0-9a-f]{6});)");
  std::map<std::string, std::string> colours;
  for (std::sregex_iterator it(block.begin(), block.end(), form), end; it != end; ++it) colours[(*it)[1]] = (*it)[2];
  return colours;
}

double luminance(const std::string& hex) {
  const auto channel = [&](std::size_t place) {
    const double c = std::stoi(hex.substr(place, 2), nullptr, 16) / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4);
}

double contrast(const std::string& a, const std::string& b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

TEST(Style, ContrastOfBlackAndWhite) { EXPECT_NEAR(contrast("000000", "ffffff"), 21, 1e-12); }

TEST(Style, ColoursCanBeTold) {
  for (const std::size_t theme : {0U, 1U}) {
    const auto c = colours_of(theme);
    ASSERT_EQ(c.size(), 12U) << theme;
    EXPECT_NE(colours_of(0), colours_of(1));
    for (const char* ground : {"page", "paper"}) {
      for (const char* text : {"ink", "ink-soft", "accent"}) EXPECT_GE(contrast(c.at(text), c.at(ground)), 4.5) << theme << text << ground;
      for (const char* mark : {"second", "third", "fourth", "fifth"})
        EXPECT_GE(contrast(c.at(mark), c.at(ground)), 3) << theme << mark << ground;
    }
    EXPECT_GE(contrast(c.at("on-accent"), c.at("accent")), 4.5);
    EXPECT_GE(contrast(c.at("ink"), c.at("wash")), 4.5);
  }
}

}  // namespace
}  // namespace mercer::report

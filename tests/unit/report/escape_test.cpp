// SPDX-License-Identifier: BSD-3-Clause
#include "report/escape.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

namespace mercer::report {
namespace {

using namespace std::string_literals;

TEST(EscapeHtml, MarkupBecomesText) {
  EXPECT_EQ(escape_html("</script><b>"), "&lt;/script&gt;&lt;b&gt;");
  EXPECT_EQ(escape_html("a & \"b\" 'c'"), "a &amp; &quot;b&quot; &#39;c&#39;");
  EXPECT_EQ(escape_html(""), "");
  EXPECT_EQ(escape_html("größe 長さ 🐧"), "größe 長さ 🐧");
}

TEST(EscapeHtml, WhatCannotStandInAPageIsReplaced) {
  EXPECT_EQ(escape_html("a\0b"s), "a\uFFFDb");
  EXPECT_EQ(escape_html("\x1b[31m"), "\uFFFD[31m");
  EXPECT_EQ(escape_html("one\ttwo\nthree"), "one\ttwo\nthree");
  EXPECT_EQ(escape_html("\xC2\x85"), "\uFFFD");                            // a C1 control
  EXPECT_EQ(escape_html("\xE9t\xE9"), "\uFFFDt\uFFFD");                    // Latin-1
  EXPECT_EQ(escape_html("\xC0\xAF"), "\uFFFD\uFFFD");                      // overlong slash
  EXPECT_EQ(escape_html("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // surrogate
  EXPECT_EQ(escape_html("\xE2\x82"), "\uFFFD\uFFFD");                      // cut short
  EXPECT_EQ(escape_html("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond U+10FFFF
}

TEST(ScriptJson, CannotEndItsElementAndReadsBack) {
  const std::string hostile = "</script><b><!-- & \u2028 \u2029 \0 \\ \""s;
  const nlohmann::json value = {{"title", hostile}, {"n", {1, 2.5, -1e-9}}};
  const std::string text = script_json(value);
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  for (const char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << static_cast<int>(c);
  EXPECT_EQ(nlohmann::json::parse(text), value);
}

TEST(ScriptJson, InvalidBytesDoNotThrow) { EXPECT_EQ(script_json("\xFF"), "\"\\ufffd\""); }

TEST(ScriptJson, AnyBytesAreSafe) {
  rc::check([](const std::string& bytes) {
    const std::string text = script_json({{"x", bytes}});
    RC_ASSERT(text.find_first_of("<>&") == std::string::npos);
    RC_ASSERT(nlohmann::json::parse(text).contains("x"));
    const std::string html = escape_html(bytes);
    RC_ASSERT(html.find_first_of(std::string("<>\"'\0", 5)) == std::string::npos);
    RC_ASSERT(clean_text(clean_text(bytes)) == clean_text(bytes));
  });
}

TEST(NumberText, ReadsWell) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(0.25), "0.25");
  EXPECT_EQ(number_text(-1.23456), "-1.235");
  EXPECT_EQ(number_text(1000, 3), "1000");
  EXPECT_EQ(number_text(9999.7), "10000");
  EXPECT_EQ(number_text(0.0001), "1e-4");
  EXPECT_EQ(number_text(0.000123456, 3), "1.23e-4");
  EXPECT_EQ(number_text(1.5e12), "1.5e12");
  EXPECT_EQ(number_text(-2e-300), "-2e-300");
  EXPECT_EQ(number_text(12345.6), "12\u202F346");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "–");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "-infinite");
}

TEST(MeasureText, KeepsItsZeros) {
  EXPECT_EQ(measure_text(0.2), "0.2000");
  EXPECT_EQ(measure_text(1, 3), "1.00");
  EXPECT_EQ(measure_text(1234), "1234");
  EXPECT_EQ(measure_text(0), "0");
  EXPECT_EQ(fixed_text(-0.0004), "-0.000");
  EXPECT_EQ(fixed_text(0.92149), "0.921");
  EXPECT_EQ(fixed_text(std::numeric_limits<double>::quiet_NaN()), "–");
}

TEST(CountText, GroupsLongNumbers) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(9999), "9999");
  EXPECT_EQ(count_text(10000), "10\u202F000");
  EXPECT_EQ(count_text(-1234567), "-1\u202F234\u202F567");
  EXPECT_EQ(count_text(123456), "123\u202F456");
}

}  // namespace
}  // namespace mercer::report

// SPDX-License-Identifier: BSD-3-Clause
#include "objects/letters.hpp"

#include "string_support.hpp"

namespace mercer::objects {
namespace {

using mercer::testing::message_of;
using Codes = std::vector<std::uint32_t>;

TEST(Letters, CodePoints) {
  EXPECT_EQ(code_points(""), Codes{});
  EXPECT_EQ(code_points("a\x7F"), (Codes{'a', 0x7F}));
  EXPECT_EQ(code_points("\xC2\x80\xDF\xBF"), (Codes{0x80, 0x7FF}));
  EXPECT_EQ(code_points("\xE0\xA0\x80\xEF\xBF\xBF"), (Codes{0x800, 0xFFFF}));
  EXPECT_EQ(code_points("\xF0\x90\x80\x80x\xF4\x8F\xBF\xBF"), (Codes{0x10000, 'x', 0x10FFFF}));
  EXPECT_EQ(code_points("Zürich"), (Codes{'Z', 0xFC, 'r', 'i', 'c', 'h'}));
}

TEST(Letters, WhatIsNotUtf8) {
  EXPECT_EQ(find_invalid_utf8("Zürich, 東京, 𝒳"), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("ab\x80"), 2U);            // begins with a byte that follows
  EXPECT_EQ(find_invalid_utf8("a\xC3"), 1U);             // ends early
  EXPECT_EQ(find_invalid_utf8("a\xC3(b"), 1U);           // nothing follows
  EXPECT_EQ(find_invalid_utf8("\xC0\xAF"), 0U);          // overlong, two bytes
  EXPECT_EQ(find_invalid_utf8("\xE0\x9F\xBF"), 0U);      // three
  EXPECT_EQ(find_invalid_utf8("\xF0\x8F\xBF\xBF"), 0U);  // four
  EXPECT_EQ(find_invalid_utf8("\xED\xA0\x80"), 0U);      // a surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0U);  // beyond U+10FFFF
  EXPECT_EQ(find_invalid_utf8("\xF8\x88\x80\x80\x80"), 0U);
  EXPECT_NE(message_of<InvalidArgument>([] { code_points("ab\xFF"); }).find("not UTF-8 at its byte 2"), std::string::npos);
  EXPECT_NE(message_of<InvalidArgument>([] { words_of("ab\xFF"); }).find("not UTF-8 at its byte 2"), std::string::npos);
}

TEST(Letters, Words) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of("Don't STOP, snake_case 42nd!"), (Words{"don", "t", "stop", "snake_case", "42nd"}));
  EXPECT_EQ(words_of(" \t\n.,;"), Words{});
  EXPECT_EQ(words_of(""), Words{});
  EXPECT_EQ(words_of("Übergröße naïve"), (Words{"Übergröße", "naïve"}));  // letters beyond ASCII stay as they are
  EXPECT_EQ(words_of("«one»\u00A0two\u2003three\u2014four\u2026"), (Words{"one", "two", "three", "four"}));
  EXPECT_EQ(words_of("東京。大阪、人々\u3000ＡＢ！"), (Words{"東京", "大阪", "人々", "ＡＢ"}));
  EXPECT_EQ(words_of("2×3÷4 5µm"), (Words{"2", "3", "4", "5µm"}));
  EXPECT_EQ(words_of("می\u200Cخواهم"), (Words{"می\u200Cخواهم"}));  // a joiner is within a word
}

TEST(Letters, NumbersOverBothSides) {
  const std::vector<std::string_view> rows{"ca", "", "é"};
  const std::vector<std::string_view> cols{"bé"};
  const BothLetters both = letters_of({rows, cols, false});
  EXPECT_EQ(both.alphabet, 4U);
  EXPECT_EQ(both.rows.letters, (Codes{2, 0, 3}));
  EXPECT_EQ(both.rows.offsets, (std::vector<Index>{0, 2, 2, 3}));
  EXPECT_EQ(both.cols().letters, (Codes{1, 3}));
  EXPECT_EQ(both.rows.longest(), 2);
  const BothLetters same = letters_of({rows, rows, true});
  EXPECT_EQ(&same.cols(), &same.rows);
  EXPECT_EQ(same.alphabet, 3U);
}

}  // namespace
}  // namespace mercer::objects

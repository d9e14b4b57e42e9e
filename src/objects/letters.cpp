// SPDX-License-Identifier: BSD-3-Clause
#include "objects/letters.hpp"

#include <fmt/format.h>

#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer::objects {

namespace {

constexpr Index strings_per_block = 256;

// Reads one code point of valid UTF-8 and moves past it.
std::uint32_t take_code_point(const char*& at) {
  const auto byte = [&](int i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(at[i])); };
  const auto tail = [&](int i) { return byte(i) & 0x3FU; };
  const std::uint32_t first = byte(0);
  std::uint32_t code = first;
  if (first < 0x80) {
    at += 1;
  } else if (first < 0xE0) {
    code = (first & 0x1FU) << 6U | tail(1);
    at += 2;
  } else if (first < 0xF0) {
    code = (first & 0x0FU) << 12U | tail(1) << 6U | tail(2);
    at += 3;
  } else {
    code = (first & 0x07U) << 18U | tail(1) << 12U | tail(2) << 6U | tail(3);
    at += 4;
  }
  return code;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

bool in_word(std::uint32_t c) {
  const auto within = [c](std::uint32_t first, std::uint32_t last) { return c >= first && c <= last; };
  if (c < 0x80) return within('a', 'z') || within('A', 'Z') || within('0', '9') || c == '_';
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;  // the ordinals and the micro sign
  if (c == 0xD7 || c == 0xF7) return false;                  // multiplication and division
  if (within(0x2000, 0x206F)) return c == 0x200C || c == 0x200D;
  if (within(0x2E00, 0x2E7F)) return false;
  if (within(0x3000, 0x303F)) return within(0x3005, 0x3007);  // iteration marks and the zero
  if (within(0xFF00, 0xFF65)) return within(0xFF10, 0xFF19) || within(0xFF21, 0xFF3A) || within(0xFF41, 0xFF5A);
  return c != 0x1680 && c != 0x180E && c != 0xFEFF;  // further blanks
}

// Code points, not yet numbers of letters.
LetterRows decoded(std::span<const std::string_view> strings) {
  const Index n = std::ssize(strings);
  const Index blocks = (n + strings_per_block - 1) / strings_per_block;
  LetterRows out;
  out.offsets.assign(strings.size() + 1, 0);
  const auto for_each_string = [&](const auto& body) {
    parallel_for(blocks, [&](Index block) {
      const Index end = std::min(n, (block + 1) * strings_per_block);
      for (Index i = block * strings_per_block; i < end; ++i) body(static_cast<std::size_t>(i));
    });
  };
  std::vector<Index> wrong(strings.size(), -1);  // all are looked at before the first is named, whatever the threads did
  for_each_string([&](std::size_t i) {
    if (const std::size_t at = find_invalid_utf8(strings[i]); at != std::string_view::npos) wrong[i] = static_cast<Index>(at);
    out.offsets[i + 1] = std::count_if(strings[i].begin(), strings[i].end(), [](char c) { return !is_continuation(c); });
  });
  for (std::size_t i = 0; i < strings.size(); ++i) {
    if (wrong[i] >= 0)
      throw InvalidArgument(fmt::format("string {} is not UTF-8 at its byte {}; convert the strings to UTF-8", i, wrong[i]));
    out.offsets[i + 1] += out.offsets[i];
  }
  out.letters.resize(static_cast<std::size_t>(out.offsets.back()));
  for_each_string([&](std::size_t i) {
    const char* at = strings[i].data();
    for (auto k = static_cast<std::size_t>(out.offsets[i]); k < static_cast<std::size_t>(out.offsets[i + 1]); ++k)
      out.letters[k] = take_code_point(at);
  });
  return out;
}

}  // namespace

std::vector<std::uint32_t> code_points(std::string_view text) { return decoded(std::span(&text, 1)).letters; }

std::vector<std::string> words_of(std::string_view text) {
  if (const std::size_t wrong = find_invalid_utf8(text); wrong != std::string_view::npos)
    throw InvalidArgument(fmt::format("the text is not UTF-8 at its byte {}; convert it to UTF-8", wrong));
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  const char* const last = text.data() + text.size();
  for (const char* at = text.data(); at != last;) {
    const char* const begin = at;
    const std::uint32_t code = take_code_point(at);
    if (!in_word(code)) {
      finish();
    } else if (code >= 'A' && code <= 'Z') {
      word += static_cast<char>(code - 'A' + 'a');
    } else {
      word.append(begin, at);
    }
  }
  finish();
  return words;
}

void require_short(const BothLetters& letters, double steps_a_cell, double most, std::string_view who) {
  const Index x = letters.rows.longest();
  const Index y = letters.cols().longest();
  if (static_cast<double>(x) * static_cast<double>(y) * steps_a_cell <= most) return;
  throw InvalidArgument(fmt::format(
      "{}: strings of {} and {} letters take a step for every letter of one and every letter of the other, which is too many; take "
      "parts of them, or spectrum or gappy, which take a step for every letter",
      who, x, y));
}

BothLetters letters_of(const BothStrings& both) {
  BothLetters out;
  out.same = both.same;
  out.rows = decoded(both.rows);
  if (!both.same) out.other = decoded(both.cols);
  std::uint32_t largest = 0;
  for (const LetterRows* side : {&out.rows, &out.other}) {
    for (const std::uint32_t code : side->letters) largest = std::max(largest, code);
  }
  std::vector<std::uint32_t> number(std::size_t{largest} + 1, 0);
  for (const LetterRows* side : {&out.rows, &out.other}) {
    for (const std::uint32_t code : side->letters) number[code] = 1;
  }
  std::uint32_t count = 0;
  for (std::uint32_t& entry : number) {
    if (entry != 0) entry = count++;
  }
  for (LetterRows* side : {&out.rows, &out.other}) {
    for (std::uint32_t& letter : side->letters) letter = number[letter];
  }
  out.alphabet = count;
  return out;
}

}  // namespace mercer::objects

// Text as kernels of strings look at it: letters are the code points of UTF-8, so that an accented letter that is one code point is one
// letter, whatever its bytes. (A base letter with a combining accent is two; normalise such text beforehand.)
//
// Letters are numbered 0, 1, ... in the order of their code points over both sides of a Gram matrix: then k letters of an alphabet of A fit
// a number below A^k, which is how features find each other without being compared letter by letter. Linear in the bytes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/number.hpp"
#include "objects/features.hpp"

namespace mercer::objects {

// Throws InvalidArgument with the place of the first byte that is not UTF-8.
std::vector<std::uint32_t> code_points(std::string_view text);

// The words of a text: runs of letters, digits and underscores, with the ASCII letters made small ("Don't stop" has don, t and stop). Any
// code point beyond ASCII counts as a letter, and stays as it is, unless it is a blank, punctuation or a sign of the blocks that have most
// of them: Latin-1, General Punctuation (without its two joiners), Supplemental Punctuation, CJK Symbols and Punctuation, and the
// full-width forms.
std::vector<std::string> words_of(std::string_view text);

// Strings as numbers of letters, one string after the other.
struct LetterRows {
  std::vector<std::uint32_t> letters{};
  std::vector<Index> offsets{0};  // strings + 1 of them

  Index size() const { return std::ssize(offsets) - 1; }
  std::span<const std::uint32_t> operator[](Index i) const {
    const auto at = static_cast<std::size_t>(i);
    return std::span(letters).subspan(static_cast<std::size_t>(offsets[at]), static_cast<std::size_t>(offsets[at + 1] - offsets[at]));
  }
  Index longest() const {
    Index most = 0;
    for (std::size_t i = 1; i < offsets.size(); ++i) most = std::max(most, offsets[i] - offsets[i - 1]);
    return most;
  }
};

struct BothLetters {
  LetterRows rows{};
  LetterRows other{};  // of the columns' side, empty where that is the rows
  bool same = false;
  std::uint64_t alphabet = 0;  // different letters on both sides together

  const LetterRows& cols() const { return same ? rows : other; }
};

// Throws InvalidArgument where the longest pair of strings would take more than `most` steps, each of `steps_a_cell` for a letter of one
// beside a letter of the other: such a kernel would run for days, and nothing could stop it within a pair.
void require_short(const BothLetters& letters, double steps_a_cell, double most, std::string_view who);

// Throws InvalidArgument naming the first string that is not UTF-8.
BothLetters letters_of(const BothStrings& both);

}  // namespace mercer::objects

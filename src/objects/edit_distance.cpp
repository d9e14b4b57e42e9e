// Levenshtein's distance by bits: Myers 1999 (in Hyyro's form of 2003, which carries between words). The table of distances between
// prefixes differs by -1, 0 or 1 from one cell to the next; a column of 64 such differences is two words, and a handful of word operations
// gives the next column. O(ceil(|x| / 64) |y|) a pair, for any alphabet: where the letters of x stand is looked up once for a whole row of
// pairs. SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "mercer/run.hpp"
#include "objects/letters.hpp"
#include "objects/string_features.hpp"

namespace mercer::objects {

namespace {

using Letters = std::span<const std::uint32_t>;
using Word = std::uint64_t;

// Where each letter stands in x, 64 places a word.
class LetterPlaces {
 public:
  LetterPlaces(Letters x, std::uint64_t alphabet) : words_((x.size() + 63) / 64), slot_(alphabet, 0), bits_(words_, 0) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::uint32_t& slot = slot_[x[i]];
      if (slot == 0) {
        slot = ++used_;
        bits_.resize((std::size_t{used_} + 1) * words_, 0);
      }
      bits_[slot * words_ + i / 64] |= Word{1} << (i % 64);
    }
  }

  std::size_t words() const { return words_; }
  const Word* of(std::uint32_t letter) const { return bits_.data() + slot_[letter] * words_; }

 private:
  std::size_t words_;
  std::vector<std::uint32_t> slot_;  // 0: the letter is not in x
  std::vector<Word> bits_;
  std::uint32_t used_ = 0;
};

// The state of 64 places: where the distance grows and where it falls from one place of x to the next.
struct Differences {
  Word up = ~Word{0};
  Word down = 0;
};

double distance(const LetterPlaces& places, std::size_t x_size, Letters y, std::vector<Differences>& column) {
  if (x_size == 0) return static_cast<double>(y.size());
  column.assign(places.words(), {});
  const unsigned last = (x_size - 1) % 64;
  auto score = static_cast<std::int64_t>(x_size);
  for (const std::uint32_t letter : y) {
    const Word* equal = places.of(letter);
    Word grows = 1;  // the distance of nothing to y grows with every letter
    Word falls = 0;
    for (std::size_t w = 0; w < column.size(); ++w) {
      const Differences v = column[w];
      const Word along = equal[w] | v.down;
      const Word same = equal[w] | falls;
      const Word across = (((same & v.up) + v.up) ^ v.up) | same;
      Word up = v.down | ~(across | v.up);
      Word down = v.up & across;
      if (w + 1 == column.size()) score += static_cast<std::int64_t>(up >> last & 1U) - static_cast<std::int64_t>(down >> last & 1U);
      const Word carry_up = up >> 63U;
      const Word carry_down = down >> 63U;
      up = up << 1U | grows;
      down = down << 1U | falls;
      grows = carry_up;
      falls = carry_down;
      column[w] = {.up = down | ~(along | up), .down = up & along};
    }
  }
  return static_cast<double>(score);
}

class EditDistance final : public PairValues {
 public:
  explicit EditDistance(const BothStrings& both) : letters_(letters_of(both)) { require_short(letters_, 1.0 / 64, 2e9, "edit_distance"); }

  void row(Index i, Index first, Index count, double* out) const override {
    const Letters x = letters_.rows[i];
    const LetterPlaces places(x, letters_.alphabet);
    std::vector<Differences> column;
    for (Index c = 0; c < count; ++c) out[c] = distance(places, x.size(), letters_.cols()[first + c], column);
  }

  Vector self_rows() const override { return Vector::Zero(letters_.rows.size()); }
  Vector self_cols() const override { return Vector::Zero(letters_.cols().size()); }

 private:
  BothLetters letters_;
};

}  // namespace

std::unique_ptr<PairValues> edit_distance(const BothStrings& both) { return std::make_unique<EditDistance>(both); }

}  // namespace mercer::objects

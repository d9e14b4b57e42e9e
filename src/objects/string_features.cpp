// Spectrum, gappy and weighted degree. Names of parts are numbers in base A (the letters of both sides) where those fit 64 bits, and are
// then made anew in each pass; else they are handed out by PairNames, one string after the other, and kept.
// SPDX-License-Identifier: BSD-3-Clause
#include "objects/string_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/run.hpp"
#include "objects/key_counts.hpp"
#include "objects/letters.hpp"
#include "objects/names.hpp"

namespace mercer::objects {

namespace {

using Letters = std::span<const std::uint32_t>;
using Keys = std::vector<std::uint64_t>;

constexpr double most_of_window = 1e5;  // features: every window has as many

void require_at_least(const char* kernel, const char* what, int got, int least) {
  if (got < least) throw InvalidArgument(fmt::format("{}: {} must be >= {}, got {}", kernel, what, least, got));
}

// Counts the keys that `make(letters, out)` appends for each string.
template <class Make>
KeyCounts count_made(const BothLetters& both, const Make& make, std::uint64_t space, const char* who,
                     std::span<const std::uint64_t> first_keys = {}) {
  const auto bags = [&](const LetterRows& side) {
    return KeyBags{.objects = side.size(), .keys = [&](Index i, Keys& out) { make(side[i], out); }};
  };
  const KeyBags rows = bags(both.rows);
  const KeyBags cols = bags(both.cols());
  return count_keys(rows, both.same ? nullptr : &cols, space, who, first_keys);
}

// The same for keys that must be made one string after the other: made once, and kept.
template <class Make>
KeyCounts count_kept(const BothLetters& both, const Make& make, const char* who, std::span<const std::uint64_t> first_keys = {}) {
  std::vector<Keys> kept_rows(static_cast<std::size_t>(both.rows.size()));
  std::vector<Keys> kept_cols(both.same ? 0 : static_cast<std::size_t>(both.cols().size()));
  for (std::size_t i = 0; i < kept_rows.size(); ++i) make(both.rows[static_cast<Index>(i)], kept_rows[i]);
  for (std::size_t i = 0; i < kept_cols.size(); ++i) make(both.cols()[static_cast<Index>(i)], kept_cols[i]);
  const auto bags = [](const std::vector<Keys>& kept) {
    return KeyBags{.objects = std::ssize(kept), .keys = [&kept](Index i, Keys& out) {
                     const Keys& keys = kept[static_cast<std::size_t>(i)];
                     out.insert(out.end(), keys.begin(), keys.end());
                   }};
  };
  const KeyBags rows = bags(kept_rows);
  const KeyBags cols = bags(kept_cols);
  return count_keys(rows, both.same ? nullptr : &cols, 0, who, first_keys);
}

// Substrings of k letters as numbers in base A, each from the one before.
void substrings(Letters x, std::size_t k, std::uint64_t A, std::uint64_t highest, Keys& out) {
  if (x.size() < k) return;
  std::uint64_t key = 0;
  for (std::size_t l = 0; l + 1 < k; ++l) key = key * A + x[l];
  const std::size_t first = out.size();
  out.resize(first + x.size() - k + 1);
  std::uint64_t* to = out.data() + first;
  for (std::size_t l = k - 1; l < x.size(); ++l) {
    key = key * A + x[l];
    *to++ = key;
    key -= x[l + 1 - k] * highest;
  }
}

// Names of substrings of k letters, from those of half as many: two halves, which share a letter where k is odd, say what the whole is. A
// name stands for one length alone, because every length of this halving gives its pairs one length.
void named_substrings(Letters x, std::size_t k, PairNames& names, Keys& out) {
  if (x.size() < k) return;
  std::vector<std::size_t> lengths;
  for (std::size_t length = k; length > 1; length = (length + 1) / 2) lengths.push_back(length);
  Keys name(x.begin(), x.end());
  std::size_t half = 1;
  for (auto length = lengths.rbegin(); length != lengths.rend(); ++length) {
    for (std::size_t l = 0; l + *length <= x.size(); ++l) name[l] = names.of(name[l], name[l + *length - half]);
    half = *length;
  }
  name.resize(x.size() - k + 1);
  out.insert(out.end(), name.begin(), name.end());
}

// The subsequences of k letters of one window, each once: only where every letter is the first of its kind behind the letter before it. Of
// all places that hold a subsequence, exactly the leftmost are like that.
template <class Extend>
struct WindowSubsequences {
  Letters x;
  std::span<const std::ptrdiff_t> previous;  // where the letter at a place was seen last, -1: nowhere
  Extend extend;
  Keys& out;

  // `wanted` more letters from the places behind `last` and before `end`.
  void visit(std::ptrdiff_t last, std::ptrdiff_t end, std::size_t wanted, std::uint64_t key, bool empty) {
    if (wanted == 0) {
      out.push_back(key);
      return;
    }
    for (std::ptrdiff_t p = last + 1; p + static_cast<std::ptrdiff_t>(wanted) <= end; ++p) {
      const auto place = static_cast<std::size_t>(p);
      if (previous[place] > last) continue;
      visit(p, end, wanted - 1, empty ? x[place] : extend(key, x[place]), false);
    }
  }
};

template <class Extend>
void gappy_keys(Letters x, std::size_t k, std::size_t window, std::uint64_t alphabet, const Extend& extend, Keys& out) {
  if (x.size() < window) return;
  std::vector<std::ptrdiff_t> seen(alphabet, -1);
  std::vector<std::ptrdiff_t> previous(x.size());
  for (std::size_t l = 0; l < x.size(); ++l) previous[l] = std::exchange(seen[x[l]], static_cast<std::ptrdiff_t>(l));
  WindowSubsequences<Extend> all{x, previous, extend, out};
  for (std::size_t l = 0; l + window <= x.size(); ++l)
    all.visit(static_cast<std::ptrdiff_t>(l) - 1, static_cast<std::ptrdiff_t>(l + window), k, 0, true);
}

// In base A, the parts of d letters at position l begin at l * span + begins[d - 1].
struct DegreeKeys {
  std::uint64_t A = 1;
  std::uint64_t span = 0;
  std::vector<std::uint64_t> begins{};

  // Nothing where these numbers do not fit 64 bits.
  static std::optional<DegreeKeys> fitting(std::uint64_t A, std::size_t degree, std::uint64_t positions) {
    DegreeKeys out{.A = A};
    for (std::size_t d = 1; d <= degree; ++d) {
      const auto parts = small_power(A, d);
      out.begins.push_back(out.span);
      if (!parts || __builtin_add_overflow(out.span, *parts, &out.span)) return std::nullopt;
    }
    std::uint64_t all = 0;
    if (__builtin_mul_overflow(out.span, positions, &all)) return std::nullopt;
    return out;
  }

  void make(Letters x, Keys& out) const {
    for (std::size_t l = 0; l < x.size(); ++l) {
      std::uint64_t part = 0;
      for (std::size_t d = 0; d < std::min(begins.size(), x.size() - l); ++d) {
        part = part * A + x[l + d];
        out.push_back(l * span + begins[d] + part);
      }
    }
  }
};

}  // namespace

Features spectrum(const BothStrings& both, int k) {
  require_at_least("spectrum", "k", k, 1);
  const BothLetters letters = letters_of(both);
  const auto length = static_cast<std::size_t>(k);
  const std::uint64_t A = std::max<std::uint64_t>(letters.alphabet, 1);
  if (const auto space = small_power(A, length)) {
    return features_of(count_made(
        letters, [&](Letters x, Keys& out) { substrings(x, length, A, *space / A, out); }, *space, "spectrum"));
  }
  PairNames names(A);
  return features_of(count_kept(
      letters, [&](Letters x, Keys& out) { named_substrings(x, length, names, out); }, "spectrum"));
}

Features gappy(const BothStrings& both, int k, int gaps) {
  require_at_least("gappy", "k", k, 1);
  require_at_least("gappy", "gaps", gaps, 0);
  double features = 1;  // of a window
  for (int i = 1; i <= std::min(k, gaps) && features <= most_of_window; ++i) features *= (static_cast<double>(k) + gaps - i + 1) / i;
  if (features > most_of_window)
    throw InvalidArgument(
        fmt::format("gappy: k = {} and gaps = {} give every window up to {:.3g} features, wanted at most {:g}; take fewer gaps", k, gaps,
                    features, most_of_window));
  const BothLetters letters = letters_of(both);
  const auto length = static_cast<std::size_t>(k);
  const std::size_t window = length + static_cast<std::size_t>(gaps);
  const std::uint64_t A = std::max<std::uint64_t>(letters.alphabet, 1);
  if (const auto space = small_power(A, length)) {
    const auto extend = [A](std::uint64_t key, std::uint32_t letter) { return key * A + letter; };
    return features_of(count_made(
        letters, [&](Letters x, Keys& out) { gappy_keys(x, length, window, A, extend, out); }, *space, "gappy"));
  }
  PairNames names(A);
  const auto extend = [&names](std::uint64_t key, std::uint32_t letter) { return std::uint64_t{names.of(key, letter)}; };
  return features_of(count_kept(
      letters, [&](Letters x, Keys& out) { gappy_keys(x, length, window, A, extend, out); }, "gappy"));
}

Features weighted_degree(const BothStrings& both, int degree) {
  require_at_least("weighted_degree", "the degree", degree, 1);
  const BothLetters letters = letters_of(both);
  const auto positions = static_cast<std::uint64_t>(std::max(letters.rows.longest(), letters.cols().longest()));
  // No part is longer than the longest string; degrees beyond only change the weights.
  const auto D =
      static_cast<std::size_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(degree), std::max<std::uint64_t>(positions, 1)));
  const std::size_t all_letters = letters.rows.letters.size() + letters.other.letters.size();
  require_memory(2 * sizeof(std::uint64_t) * D * all_letters, 0,
                 fmt::format("weighted_degree: {} features for each of {} letters", D, all_letters),
                 "take a smaller degree or shorter strings, or allow more (MERCER_MEMORY)");
  const std::uint64_t A = std::max<std::uint64_t>(letters.alphabet, 1);
  std::vector<std::uint64_t> first_keys;
  KeyCounts counts;
  if (const auto keys = DegreeKeys::fitting(A, D, positions)) {
    for (std::uint64_t l = 0; l < positions; ++l) {
      for (const std::uint64_t begin : keys->begins) first_keys.push_back(l * keys->span + begin);
    }
    const auto make = [&](Letters x, Keys& out) { keys->make(x, out); };
    counts = count_made(letters, make, std::max<std::uint64_t>(keys->span * positions, 1), "weighted_degree", first_keys);
  } else {
    for (std::uint64_t part = 0; part < positions * D; ++part) first_keys.push_back(part << 32U);
    PairNames names(A);
    const auto make = [&](Letters x, Keys& out) {
      for (std::size_t l = 0; l < x.size(); ++l) {
        std::uint64_t part = x[l];
        for (std::size_t d = 0; d < std::min(D, x.size() - l); ++d) {
          if (d > 0) part = names.of(part, x[l + d]);
          out.push_back((l * D + d) << 32U | part);
        }
      }
    };
    counts = count_kept(letters, make, "weighted_degree", first_keys);
  }
  std::vector<double> weights(static_cast<std::size_t>(counts.width));
  const double all = static_cast<double>(degree);
  for (std::size_t part = 0; part < first_keys.size(); ++part) {
    const double beta = 2.0 * (all - static_cast<double>(part % D)) / (all * (all + 1));
    const Index end = part + 1 < first_keys.size() ? counts.starts[part + 1] : counts.width;
    for (Index column = counts.starts[part]; column < end; ++column) weights[static_cast<std::size_t>(column)] = std::sqrt(beta);
  }
  return features_of(std::move(counts), weights);
}

}  // namespace mercer::objects

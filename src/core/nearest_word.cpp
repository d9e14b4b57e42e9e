// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/nearest_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "mercer/error.hpp"

namespace mercer {

namespace {

std::string in_small_letters(std::string_view word) {
  std::string out(word);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// Whether two neighbouring letters changed places.
bool is_swapped(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  return at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at] && a.substr(at + 2) == b.substr(at + 2);
}

// The only known word that goes on where the typed one ends; empty: there are several, or none.
std::string completed(std::string_view typed, const std::vector<std::string>& known) {
  std::string found;
  for (const std::string& word : known) {
    if (!word.starts_with(typed)) continue;
    if (!found.empty()) return "";
    found = word;
  }
  return found;
}

}  // namespace

std::string nearest_word(std::string_view typed, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 200;  // the distance of two words costs the product of their lengths
  if (typed.empty() || typed.size() > longest) return "";
  const std::string letters = in_small_letters(typed);
  std::string best;
  std::size_t least = std::min(std::max<std::size_t>(1, typed.size() / 3) + 1, typed.size());  // some letter must agree
  for (const std::string& word : known) {
    if (word.size() > longest + typed.size()) continue;
    const std::string other = in_small_letters(word);
    const std::size_t distance = is_swapped(letters, other) ? 1 : edit_distance(letters, other);
    if (distance < least) {
      least = distance;
      best = word;
    }
  }
  return best.empty() && typed.size() >= 3 ? completed(typed, known) : best;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known) {
  const std::string near = nearest_word(typed, known);
  return near.empty() ? "" : fmt::format(", did you mean {}?", near);
}

}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "objects/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "data/number.hpp"
#include "mercer/error.hpp"
#include "objects/key_counts.hpp"

namespace mercer::objects {

namespace {

// Different words, and which of them the words of all texts are, one text after the other.
struct Vocabulary {
  std::vector<const std::string*> words{};
  std::vector<std::vector<std::uint64_t>> texts{};

  void add(const Tokens& side) {
    for (const auto& text : side) {
      std::vector<std::uint64_t>& numbers = texts.emplace_back();
      numbers.reserve(text.size());
      for (const std::string& word : text) {
        const auto [entry, is_new] = number_.try_emplace(word, words.size());
        if (is_new) words.push_back(&word);
        numbers.push_back(entry->second);
      }
    }
  }

  // The words in order, as places in `words`.
  std::vector<std::size_t> sorted() const {
    std::vector<std::size_t> order(words.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return *words[a] < *words[b]; });
    return order;
  }

 private:
  std::unordered_map<std::string_view, std::uint64_t> number_{};
};

}  // namespace

Features bag_of_words(const Tokens& rows, const Tokens& cols, bool same, const std::function<double(const std::string&)>& weight,
                      bool binary) {
  constexpr std::uint64_t left_out = ~std::uint64_t{0};
  Vocabulary all;
  all.add(rows);
  if (!same) all.add(cols);
  // Numbered in the order of the words: a sum over the words of two texts is then the same in any company.
  std::vector<std::uint64_t> column(all.words.size(), left_out);
  std::vector<double> weights;
  for (const std::size_t w : all.sorted()) {
    const double value = weight(*all.words[w]);
    if (!std::isfinite(value))
      throw InvalidArgument(fmt::format("the weight of the word {} must be a finite number, got {}", quoted(*all.words[w]), value));
    if (value == 0) continue;
    column[w] = weights.size();
    weights.push_back(value);
  }
  for (auto& text : all.texts) {
    for (std::uint64_t& word : text) word = column[word];
    std::erase(text, left_out);
    if (binary) {
      std::sort(text.begin(), text.end());
      text.erase(std::unique(text.begin(), text.end()), text.end());
    }
  }
  const auto bags = [&](std::size_t first, std::size_t count) {
    return KeyBags{.objects = static_cast<Index>(count), .keys = [&all, first](Index i, std::vector<std::uint64_t>& out) {
                     const auto& text = all.texts[first + static_cast<std::size_t>(i)];
                     out.insert(out.end(), text.begin(), text.end());
                   }};
  };
  const KeyBags row_bags = bags(0, rows.size());
  const KeyBags col_bags = bags(rows.size(), same ? 0 : cols.size());
  const std::uint64_t space = std::max<std::uint64_t>(weights.size(), 1);
  // Every column occurs, so that its weight stands at its place.
  return features_of(count_keys(row_bags, same ? nullptr : &col_bags, space, "bag_of_words"), weights);
}

std::vector<std::pair<std::string, Index>> document_frequencies(const Tokens& texts) {
  Vocabulary all;
  all.add(texts);
  std::vector<Index> documents(all.words.size(), 0);
  for (auto& text : all.texts) {
    std::sort(text.begin(), text.end());
    text.erase(std::unique(text.begin(), text.end()), text.end());
    for (const std::uint64_t word : text) ++documents[word];
  }
  std::vector<std::pair<std::string, Index>> out;
  out.reserve(all.words.size());
  for (const std::size_t w : all.sorted()) out.emplace_back(*all.words[w], documents[w]);
  return out;
}

double smooth_idf(Index texts, Index texts_with_word) {
  return std::log((1.0 + static_cast<double>(texts)) / (1.0 + static_cast<double>(texts_with_word))) + 1.0;
}

}  // namespace mercer::objects

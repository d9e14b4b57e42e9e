// Texts as bags of words: counts of words, or whether they occur, each multiplied by a weight of the word. With the weights below this is
// scikit-learn's tf-idf (Salton & Buckley 1988) before its rows are scaled to length 1. Linear in the words, but for sorting the different
// ones. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "objects/features.hpp"

namespace mercer::objects {

using Tokens = std::vector<std::vector<std::string>>;  // the words of each text

// k(x, y) = sum over words w of (weight(w) times_x(w)) (weight(w) times_y(w)); `binary`: times is 1 for any number of them. `weight` is
// called once for each word that occurs; words of weight 0 are left out. Throws InvalidArgument for a weight that is not finite.
Features bag_of_words(const Tokens& rows, const Tokens& cols, bool same, const std::function<double(const std::string&)>& weight,
                      bool binary);

// In how many texts each word occurs, in the order of the words.
std::vector<std::pair<std::string, Index>> document_frequencies(const Tokens& texts);

// ln((1 + texts) / (1 + texts with the word)) + 1: as if one more text had every word, so that none is divided by 0.
double smooth_idf(Index texts, Index texts_with_word);

}  // namespace mercer::objects

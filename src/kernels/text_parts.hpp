// What kernels of texts share: their words, tables to look these up in, and the ways to take a string apart.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/objects.hpp"

namespace mercer {

class KernelNode;
using Tokens = std::vector<std::vector<std::string>>;  // the words of each text

// The words of each sample: of strings as `words` has them, of sets of strings their elements.
Tokens tokens_of(const Samples& X, std::string_view who);

// A table of words with the way from a word to its row. Of equal words the first counts. Throws InvalidArgument where sizes do not fit.
class WordIndex {
 public:
  explicit WordIndex(std::shared_ptr<const WordTable> table);

  const std::shared_ptr<const WordTable>& table() const { return table_; }
  Index find(std::string_view word) const;  // -1: not there
  // The mean of the vectors of the words that are there; zeros where none is.
  Matrix mean_vectors(const Tokens& texts) const;

 private:
  std::shared_ptr<const WordTable> table_;
  std::unordered_map<std::string_view, Index> rows_;  // views of the table's words
};

// "words", "letters", "lines": strings to sets of strings; nullptr for any other name.
std::shared_ptr<const kernels::Decomposition> known_decomposition(std::string_view name);

// bag_of_words with weights that are there already (one number a word; that of the empty word is for all others), and what it has of them.
Kernel weighted_words(std::shared_ptr<const WordTable> weights, std::string name, bool normalized);
std::shared_ptr<const WordTable> weight_table_of(const KernelNode& node);

}  // namespace mercer

// Texts by their words: bags of words with or without weights learned from data (tf-idf), vectors from a table.
// SPDX-License-Identifier: BSD-3-Clause
#include <zlib.h>

#include <cmath>

#include "kernels/object_leaf.hpp"
#include "kernels/quoted.hpp"
#include "kernels/text_parts.hpp"
#include "mercer/error.hpp"
#include "mercer/run.hpp"
#include "objects/letters.hpp"
#include "objects/words.hpp"

namespace mercer {

Tokens tokens_of(const Samples& X, std::string_view who) {
  Tokens out(static_cast<std::size_t>(X.size()));
  if (kind_of(X, who) == ObjectKind::set) {
    const Sets sets = sets_of(X, who);
    const std::vector<std::string_view> all = strings_of(sets.elements, who);
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (Index e = sets.offsets[i]; e < sets.offsets[i + 1]; ++e) {
        const std::string_view token = all[static_cast<std::size_t>(e)];
        if (!token.empty()) out[i].emplace_back(token);  // nothing between two blanks is no word
      }
    }
    return out;
  }
  const std::vector<std::string_view> texts = strings_of(X, who);
  parallel_for(std::ssize(texts),
               [&](Index i) { out[static_cast<std::size_t>(i)] = objects::words_of(texts[static_cast<std::size_t>(i)]); });
  return out;
}

WordIndex::WordIndex(std::shared_ptr<const WordTable> table) : table_(std::move(table)) {
  if (std::ssize(table_->words) != table_->vectors.rows())
    throw InvalidArgument(
        fmt::format("a table of {} words has {} rows of numbers: give one each", table_->words.size(), table_->vectors.rows()));
  require_finite(table_->vectors, "the table of words");
  rows_.reserve(table_->words.size());
  for (std::size_t i = 0; i < table_->words.size(); ++i) rows_.emplace(table_->words[i], static_cast<Index>(i));  // the first of equal ones
}

Index WordIndex::find(std::string_view word) const {
  const auto it = rows_.find(word);
  return it == rows_.end() ? -1 : it->second;
}

Matrix WordIndex::mean_vectors(const Tokens& texts) const {
  Matrix out = Matrix::Zero(std::ssize(texts), table_->vectors.cols());
  parallel_for(std::ssize(texts), [&](Index i) {
    Index known = 0;
    for (const std::string& word : texts[static_cast<std::size_t>(i)]) {
      const Index row = find(word);
      if (row < 0) continue;
      out.row(i) += table_->vectors.row(row);
      ++known;
    }
    if (known > 0) out.row(i) /= static_cast<double>(known);
  });
  return out;
}

namespace {

using kernels::WordWeights;

class BagOfWordsKernel final : public ObjectLeaf<BagOfWordsKernel> {
 public:
  BagOfWordsKernel(WordWeights weights, std::shared_ptr<const WordIndex> table, std::string name, bool normalized)
      : ObjectLeaf(normalized), weights_(weights), table_(std::move(table)), name_(std::move(name)) {}

  std::string text() const override {
    if (table_ != nullptr) return called("bag_of_words", in_quotes(name_));
    return called("bag_of_words", weights_ == WordWeights::count ? "count" : weights_ == WordWeights::binary ? "binary" : "");
  }
  std::string name() const override { return name_; }
  bool has_auto() const override { return weights_ == WordWeights::tfidf && table_ == nullptr; }
  const std::shared_ptr<const WordIndex>& table() const { return table_; }

  // The weight of a word that is nowhere in the data stands in the table for the empty word.
  std::shared_ptr<const KernelNode> resolved_on(const Samples& X) const override {
    if (!has_auto()) return nullptr;
    const auto frequencies = objects::document_frequencies(tokens_of(X, text()));
    auto table = std::make_shared<WordTable>();
    table->vectors.resize(std::ssize(frequencies) + 1, 1);
    const auto idf = [&](Index documents) { return objects::smooth_idf(X.size(), documents); };
    table->words.emplace_back();
    table->vectors(0, 0) = idf(0);
    for (const auto& [word, documents] : frequencies) {
      table->vectors(std::ssize(table->words), 0) = idf(documents);
      table->words.push_back(word);
    }
    // The name tells tables of different data apart.
    uLong words = crc32(0, nullptr, 0);
    for (const std::string& word : table->words)
      words = crc32(crc32(words, reinterpret_cast<const Bytef*>(word.data()), static_cast<uInt>(word.size())),
                    reinterpret_cast<const Bytef*>(" "), 1);
    const uLong weights =
        crc32_z(0, reinterpret_cast<const Bytef*>(table->vectors.data()), static_cast<z_size_t>(table->vectors.size()) * sizeof(double));
    return std::make_shared<BagOfWordsKernel>(weights_, std::make_shared<const WordIndex>(std::move(table)),
                                              fmt::format("idf-{:08x}{:08x}", words, weights), normalizes());
  }

  ObjectValues object_values(const Samples& X, const Samples& Y) const override {
    if (has_auto()) throw_waiting(text());
    const bool same = X.same_rows(Y);
    const Tokens rows = tokens_of(X, text());
    const Tokens cols = same ? Tokens{} : tokens_of(Y, text());
    const auto weight = [&](const std::string& word) {
      if (table_ == nullptr) return 1.0;
      const Index row = table_->find(word);
      const Index other = row < 0 ? table_->find("") : row;
      return other < 0 ? 0.0 : table_->table()->vectors(other, 0);
    };
    return as_features(objects::bag_of_words(rows, same ? rows : cols, same, weight, weights_ == WordWeights::binary));
  }

 private:
  WordWeights weights_;
  std::shared_ptr<const WordIndex> table_;
  std::string name_;
};

// Strings to sets of strings by a function of one string.
template <class Split>
std::shared_ptr<const kernels::Decomposition> split_by(Split split) {
  return std::make_shared<const kernels::Decomposition>([split](const Samples& X) {
    std::vector<std::vector<std::string>> parts;
    for (const std::string_view text : strings_of(X, "convolution")) parts.push_back(split(text));
    return Samples::token_bags(parts);
  });
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) out.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::vector<std::string> single_letters(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    out.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

}  // namespace

std::shared_ptr<const kernels::Decomposition> known_decomposition(std::string_view name) {
  if (name == "words") return split_by([](std::string_view text) { return objects::words_of(text); });
  if (name == "lines") return split_by(lines_of);
  if (name == "letters") return split_by(single_letters);
  return nullptr;
}

Kernel weighted_words(std::shared_ptr<const WordTable> weights, std::string name, bool normalized) {
  if (weights->vectors.cols() != 1)
    throw InvalidArgument(
        fmt::format("bag_of_words({}) needs one weight a word, but the table has {} numbers", in_quotes(name), weights->vectors.cols()));
  return Kernel(std::make_shared<BagOfWordsKernel>(WordWeights::tfidf, std::make_shared<const WordIndex>(std::move(weights)),
                                                   std::move(name), normalized));
}

std::shared_ptr<const WordTable> weight_table_of(const KernelNode& node) {
  const auto* bag = dynamic_cast<const BagOfWordsKernel*>(&node);
  return bag == nullptr || bag->table() == nullptr ? nullptr : bag->table()->table();
}

namespace kernels {

Kernel bag_of_words(WordWeights weights, bool normalized) {
  return Kernel(std::make_shared<BagOfWordsKernel>(weights, nullptr, "", normalized));
}

}  // namespace kernels

}  // namespace mercer

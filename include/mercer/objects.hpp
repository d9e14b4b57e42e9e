// Samples that are no rows of numbers: strings, sets, graphs, and records that mix them with numbers.
//
//   Samples S = Samples::strings({"ACGT", "ACCT"});
//   Matrix K = gram(kernels::spectrum(2), S);
//   Samples R = Samples::records({S, Matrix(...)});          // column 0 holds strings, the others numbers
//   Matrix L = gram(kernels::spectrum(2).on({0}) * kernels::gaussian(1.0).on({1, 2}), R);
//
// A column of objects never changes and is shared; a sample knows which of its objects it is, so that subsets and slices copy no object.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mercer/samples.hpp"

namespace mercer {

using Strings = std::vector<std::string>;  // UTF-8

// Sets, in the sense of lists whose order no kernel looks at and where an element may stand more than once: of rows of numbers, or of
// further objects (of strings: token bags). The elements of all sets stand one after the other.
struct Sets {
  Samples elements{};
  std::vector<Index> offsets{0};  // sets + 1 of them, from 0 to elements.size()

  Index size() const { return std::ssize(offsets) - 1; }
};

// Undirected and simple: an edge may be given once or in both directions; loops are left out.
struct Graph {
  Index nodes = 0;
  std::vector<std::pair<Index, Index>> edges{};
  std::vector<std::string> labels{};       // of the nodes, one each; empty: without labels
  std::vector<std::string> edge_labels{};  // one each, equal in both directions; empty: without labels
};
using Graphs = std::vector<Graph>;

// Words and their vectors, a row each; a text is looked up word by word.
struct WordTable {
  std::vector<std::string> words{};
  Matrix vectors;
};
// From a text file as GloVe and word2vec have them, plain or compressed: a word and its numbers in each line (and perhaps a first line with
// both counts). At most `limit` words, 0: all. Tab separated files may have other text before the word. Throws naming file and line.
WordTable read_word_table(const std::string& path, Index limit = 0);

enum class ObjectKind : std::uint8_t { string, set, graph };
std::string_view name_of(ObjectKind kind);  // "strings", "sets", "graphs"

struct ObjectColumn {
  std::variant<Strings, Sets, Graphs> values{};

  ObjectKind kind() const { return static_cast<ObjectKind>(values.index()); }
  Index size() const;
  const Strings& strings() const { return std::get<Strings>(values); }
  const Sets& sets() const { return std::get<Sets>(values); }
  const Graphs& graphs() const { return std::get<Graphs>(values); }
};

// What samples have beside their numbers. The ids are also who the samples are: slices share them, subsets have their own.
struct ObjectRows {
  std::vector<std::shared_ptr<const ObjectColumn>> columns{};
  std::vector<Index> places{};  // of these among all columns, ascending; numbers stand at the others, in order
  std::shared_ptr<const std::vector<Index>> all_ids{};
  std::span<const Index> ids{};  // into them: which object of the columns each sample is
};

// Throws InvalidArgument with the number of the first string that is not UTF-8, of the first graph with an edge beyond its nodes or with a
// wrong number of labels, or if sets do not cover their elements.
void require_valid(const ObjectColumn& column);

// The samples' own objects, sample after sample. The samples must have one column, of objects of that kind; else InvalidArgument says that
// `who` looks at such objects, what there is in place of them, and the remedy. What comes back looks into the samples (sets are gathered).
std::vector<std::string_view> strings_of(const Samples& X, std::string_view who);
std::vector<const Graph*> graphs_of(const Samples& X, std::string_view who);
Sets sets_of(const Samples& X, std::string_view who);
// The kind of the objects of the only column; throws as above where the samples are not one column of objects.
ObjectKind kind_of(const Samples& X, std::string_view who);

}  // namespace mercer

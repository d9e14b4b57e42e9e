// Kernels of strings, sets and graphs on the command line: which columns of a table they look at, which one suits a table where none was
// asked for, and the tables of words that their text names.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "files.hpp"

namespace mercer::cli {

// Before a table is encoded: what the kernel looks at stays as it is (EncodeOptions::keep_text), and columns that only name rows (of a
// FASTA file) are left out. Where no kernel was asked for and columns hold objects, one is chosen; text in a CSV file is none of these: it
// may be categories. The sentences say what was done. Throws where a kernel that names no column could look at several.
void suit_objects(const Table& table, std::optional<Kernel>& kernel, EncodeOptions& encode, std::vector<std::string>& notes);

// The kernel that suits a column of objects or of text by itself.
Kernel usual_kernel(const Column& column);
// A column that is taken for objects without being asked: sets and graphs, and the strings of files that hold strings.
bool holds_objects(const Table& table, const Column& column);

// The column that make_dataset takes for the target; -1: none.
Index target_column(const Table& table, const EncodeOptions& encode);
bool is_target_name(const std::string& name);  // y, label, target or class

// Throws where columns hold objects, which `who` ("ridge regression") cannot take.
void require_numbers(const Samples& X, const std::string& who);

// What samples are, for people: "200 x 3, dense float64", "62 strings", "40 graphs with 2 numbers each".
std::string samples_words(const Samples& X);
// One object for people: "graph of 17 nodes", "set of 4", the string itself.
std::string object_words(const Samples& column, Index row);
// The kernel of a model that has one.
std::optional<Kernel> kernel_in(const AnyModel& model);
// The tables behind a kernel's text: "glove: 400000 words of 50 numbers". Empty where it has none.
std::string library_words(const Kernel& kernel);

}  // namespace mercer::cli

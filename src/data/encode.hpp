// What make_dataset and Encoder share: a table's columns as feature columns, and the words of their messages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/dataset.hpp"

namespace mercer {

std::string source_name(const Table& table);                 // "train.csv", "standard input"
std::string place_of(const Table& table, Index row);         // "train.csv:17", "train.npy: row 17"
std::string column_words(const Table& table, Index column);  // "column 3 (age)"

std::string_view kind_words(const Column& column);  // "numbers", "text", "sets", "graphs"

// What the features of `table` are, of which columns[k] is features[k]; not scaled. Missing numbers are filled or an error. Records, where
// some features are objects.
Samples encode_samples(const Table& table, std::span<const FeatureColumn> features, std::span<const Index> columns, bool fill_missing);
// The same of features that are all numbers or categories; missing numbers are filled.
Matrix encode_features(const Table& table, std::span<const FeatureColumn> features, std::span<const Index> columns);
// Throws for the first row where one of the columns has no value.
void require_complete(const Table& table, std::span<const Index> columns);
// Throws if a column holds another kind of thing than it did in learning.
void require_kind(const Table& table, const FeatureColumn& feature, Index column);

// Which text columns stay strings, by EncodeOptions::keep_text.
std::vector<bool> kept_text(const Table& table, const EncodeOptions& options, const std::vector<bool>& left_out);

// The target column as numbers; text is an error.
Vector numeric_target(const Table& table, Index column);

// Throws if the target column has an empty cell, or objects.
void require_target_values(const Table& table, Index column);

}  // namespace mercer

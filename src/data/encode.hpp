// What make_dataset and Encoder share: a table's columns as feature columns, and the words of their messages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mercer/dataset.hpp"

namespace mercer {

std::string source_name(const Table& table);                 // "train.csv", "standard input"
std::string place_of(const Table& table, Index row);         // "train.csv:17", "train.npy: row 17"
std::string column_words(const Table& table, Index column);  // "column 3 (age)"

// The feature columns of `table`, of which columns[k] is features[k]; not scaled. Missing values are filled or an error.
Matrix encode_features(const Table& table, std::span<const FeatureColumn> features, std::span<const Index> columns, bool fill_missing);

// The target column as numbers; text is an error.
Vector numeric_target(const Table& table, Index column);

// Throws if the target column has an empty cell.
void require_target_values(const Table& table, Index column);

}  // namespace mercer

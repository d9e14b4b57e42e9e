// A model from a file on new data: what predict and score share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "files.hpp"

namespace mercer::cli {

// The features that the model wants, by its encoder; a model without one takes the columns as they are. `target` names a column that
// is not a feature; empty: none. Categories that the model never saw are said on standard error.
Samples features_for(const SavedModel& saved, const Table& table, const std::string& target);

// A saved model, or a LIBSVM model, which fits itself to the table: it does not know how many columns there were, nor their names.
SavedModel load_for(const std::string& path, const Table& table, const std::string& target = "");

// The class of each row: as the model itself decides, where it does not go by the scores alone (votes, probabilities).
// `sequences` tells which sequence each row is of; a chain without it is one sequence.
std::vector<Index> classes_of(const SavedModel& saved, const Samples& X, const Matrix& scores, const CommonOptions& common,
                              const std::vector<Index>& sequences = {});

// Rows with the same value of a column, number or word, are one group; numbered as they come. `option` is what named the column.
std::vector<Index> groups_in(const Table& table, const std::string& name, const std::string& option);

// Rows of groups one after the other, each in the order of the table; group g has rows[offsets[g]] .. rows[offsets[g + 1] - 1].
struct SequenceOrder {
  std::vector<Index> rows{};
  std::vector<Index> offsets{0};
};
SequenceOrder sequence_order(const std::vector<Index>& groups);

// The sequence of each row for a model that labels sequences, by the column it was fitted with or the one that was asked for; empty for all
// other models, of which asking for one is an error.
std::vector<Index> sequences_for(const SavedModel& saved, const std::string& model, const Table& table, const std::string& asked);

// Predicts with a progress bar, after an estimate when that is long.
Matrix predict_with_bar(const SavedModel& saved, const Samples& X, const CommonOptions& common);

}  // namespace mercer::cli

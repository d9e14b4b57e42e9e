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
std::vector<Index> classes_of(const SavedModel& saved, const Samples& X, const Matrix& scores, const CommonOptions& common);

// Predicts with a progress bar, after an estimate when that is long.
Matrix predict_with_bar(const SavedModel& saved, const Samples& X, const CommonOptions& common);

}  // namespace mercer::cli

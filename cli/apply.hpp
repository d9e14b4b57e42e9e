// A model from a file on new data: what predict and score share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "files.hpp"

namespace mercer::cli {

// The features that the model wants, by its encoder; a model without one takes the columns as they are. `target` names a column that
// is not a feature; empty: none. Categories that the model never saw are said on standard error.
Samples features_for(const SavedModel& saved, const Table& table, const std::string& target);

// Predicts with a progress bar, after an estimate when that is long.
Matrix predict_with_bar(const SavedModel& saved, const Samples& X, const CommonOptions& common);

}  // namespace mercer::cli

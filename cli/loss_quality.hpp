// What the loss of a representer model is fitted for, beside R2: quantiles and bands.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "files.hpp"

namespace mercer::cli {

// Adds the pinball loss and the share of rows below of a quantile, or the share of rows within epsilon; leaves other models alone.
void add_loss_quality(const SavedModel& saved, const Vector& truth, const Matrix& predicted, Quality& quality);

}  // namespace mercer::cli

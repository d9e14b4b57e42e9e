// How long work will take, for the sentences that come before it: rough counts of floating-point operations, good to a factor of some two.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mercer/mercer.hpp>
#include <string>

namespace mercer::cli {

// Numbers that samples hold: all of dense rows, those other than zero of sparse ones; of strings, sets and graphs the rows.
double values_in(const Samples& X);

// Operations for a kernel value of two rows of X.
double kernel_value_flops(const Samples& X);

// Before a saved model says something about new rows: predictions, components, labels.
void announce_application(const std::string& what, const SavedModel& saved, const Samples& X, const Run& run);

// Before a file is read.
void announce_reading(const std::string& path, const Run& run);

}  // namespace mercer::cli

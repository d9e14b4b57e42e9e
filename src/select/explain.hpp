// What a person wants to see of a model: its columns, the rows it leans on, its spectrum, its shape. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "select/search.hpp"

namespace mercer {

std::vector<ColumnSummary> summarise_columns(const Table& table);

// Accuracy lost, or RMSE gained, on test rows when the values of a column of the table are shuffled among them. Empty for objects and for
// sparse rows.
std::vector<ColumnImportance> permutation_importance(const SavedModel& model, const Samples& test, const Vector& truth, std::uint64_t seed,
                                                     const Run& run);

// Training rows by their share in the model's values on test rows, the first few. `lines` of the training rows and `targets` as written.
std::vector<InfluentialRow> influential_rows(const AnyModel& model, const Samples& test, const std::vector<std::int64_t>& lines,
                                             const std::vector<std::string>& targets, const Run& run);

// The kernel of a model that has one, else nullptr.
const Kernel* kernel_of(const AnyModel& model);

// Leading eigenvalues of the kernel's Gram matrix on some training rows, as shares of its trace.
void add_spectrum(LearnResult& result, const Samples& train, std::uint64_t seed, const Run& run);
// The fitted function over one column of numbers (regression) or two.
void add_shape(LearnResult& result, const Dataset& train, const Run& run);

}  // namespace mercer

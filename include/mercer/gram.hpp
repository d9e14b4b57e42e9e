// Gram matrices: where data and kernels meet.
//
//   Matrix K = gram(kernels::gaussian(2.0), X);            // n x n
//   Matrix C = gram(kernels::gaussian(2.0), X_new, X);     // m x n
//   Operator op = gram_operator(kernels::gaussian(2.0), X, {.storage = Storage::streamed});
//
// Accuracy: float64 entries agree with exact arithmetic to 1e-13 relative for well scaled data; float32 to about 1e-5 (see
// docs/gram.md). Duplicates have distance exactly 0, the diagonal is exact, symmetry is exact.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "mercer/kernels.hpp"
#include "mercer/linear_operator.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

enum class Storage : std::uint8_t { automatic, stored, streamed };

struct GramOptions {
  std::optional<Precision> precision{};  // of the entries; not given: that of the samples (gram(): float64)
  Storage storage = Storage::automatic;  // stored when it fits the budget
  Run run{};
};

// The kernel with every automatic length scale set from the data (median of pairwise distances; of all pairs up to 1000 rows, of
// a fixed sample of rows above). A kernel without automatic parts comes back unchanged.
Kernel resolve(const Kernel& kernel, const Samples& X);

// Rows of numbers as what the kernel takes them for: of `precomputed` they are a Gram matrix, or rows of kernel values between new objects
// and those of `columns`; of all other kernels they are samples already. Every function below does this by itself.
Samples as_given(const Kernel& kernel, const Samples& X);
Samples as_given(const Kernel& kernel, const Samples& X, const Samples& columns);

// X as samples of their own, for predictions at rows that happen to be those a model was fitted on: white noise then does not take them for
// the same samples. A copy where the kernel has white noise and X shares its rows with `columns`, X itself otherwise.
Samples as_new(const Kernel& kernel, const Samples& X, const Samples& columns);

// The median pairwise Euclidean distance, as `resolve` takes it.
double median_distance(const Samples& X);

Matrix gram(const Kernel& kernel, const Samples& X, const GramOptions& options = {});
Matrix gram(const Kernel& kernel, const Samples& X, const Samples& Y, const GramOptions& options = {});
// Into memory that the caller has (row-major, n x m with `stride` elements a row); the zero-copy way of the bindings.
void gram_into(const Kernel& kernel, const Samples& X, const Samples& Y, double* out, Index stride, const Run& run = {});
void gram_into(const Kernel& kernel, const Samples& X, const Samples& Y, float* out, Index stride, const Run& run = {});
Vector gram_diagonal(const Kernel& kernel, const Samples& X);

// X against itself (symmetric), or X against Y.
Operator gram_operator(const Kernel& kernel, const Samples& X, const GramOptions& options = {});
Operator gram_operator(const Kernel& kernel, const Samples& X, const Samples& Y, const GramOptions& options = {});

}  // namespace mercer

// The landmarks of Nystrom-type models, chosen from rows that need not be in memory.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mercer/falkon.hpp"

namespace mercer {

struct Landmarks {
  Samples samples;
  std::vector<Index> rows{};  // which rows they are, ascending; empty: they are no rows
  std::string method{};
};

// Throws InvalidArgument for a kernel with white noise: it would be in K_mm but not in K_nm, and the answer that of no problem.
void require_no_white_noise(const Kernel& kernel);

// What is drawn from the rows in one pass: the pool that landmarks are chosen from, rows to measure length scales on, rows to test on.
struct DrawnRows {
  Samples pool;
  std::vector<Index> pool_rows{};
  Samples for_length_scale;
  Samples probe;  // a random sample of at most 2048 rows
};

// Uniform landmarks are the pool itself; the other methods choose from a larger one.
DrawnRows draw_rows(const RowSource& source, const FalkonOptions& options, bool wants_length_scale);

// The kernel has no automatic parts left. alpha is the penalty that leverage scores are taken at, for `total_rows` rows.
Landmarks choose_landmarks(const Kernel& kernel, const DrawnRows& drawn, double alpha, Index total_rows, const FalkonOptions& options);

// Approximate ridge leverage scores l_i = (k_ii - k_iJ (K_JJ + alpha (|J| / n) I)^-1 k_Ji) / alpha of all samples, from a uniform random
// subset J of them that stands for n rows; in (0, 1].
Vector approximate_leverage(const Kernel& kernel, const Samples& X, std::span<const Index> subset, double alpha, Index total_rows,
                            const Run& run);

}  // namespace mercer

// The two fits of kernel PCA, exact and low rank; kernel_pca.cpp chooses.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/kernel_pca.hpp"

namespace mercer {

// X are samples as the kernel takes them, the kernel is resolved, `components` is at least 1 and at most n. Summaries lack times and
// sentence.
KernelPcaModel::Parts exact_kernel_pca(const Kernel& kernel, const Samples& X, Index components, KernelPcaSolver solver,
                                       const KernelPcaOptions& options);

struct LowRankStart {
  Samples landmarks;
  KernelPcaSums sums;  // with no rows yet
};

LowRankStart low_rank_start(const Kernel& kernel, const Samples& X, Index components, const KernelPcaOptions& options);
// Adds rows to the sums.
void add_rows(const Kernel& kernel, const Samples& landmarks, const Samples& X, KernelPcaSums& sums, const Run& run);
// Principal components from the sums.
KernelPcaModel::Parts low_rank_parts(KernelPcaSums sums, Index components, bool center, bool remove_zero, const Run& run);

// Eigenvalues up to this share of the largest are rounding (scikit-learn's bound).
inline constexpr double zero_eigenvalue = 1e-12;

// Each column's entry of largest size is made positive: the sign of an eigenvector is otherwise an accident.
void fix_signs(Matrix& vectors);

void write_sentence(KernelPcaSummary& summary);

}  // namespace mercer

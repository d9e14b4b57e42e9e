// k-means in the feature space of a kernel, from its Gram matrix alone.
//
// Problem: min over a partition of sum_i w_i |phi_i - m_c(i)|^2, m_c the weighted mean of cluster c. With g_ic = sum over j in c of w_j
// K_ij, s_c the mass of c and q_c = sum over i in c of w_i g_ic:  |phi_i - m_c|^2 = K_ii - 2 g_ic / s_c + q_c / s_c^2. Method: k-means++
// with several trials a centre (Arthur and Vassilvitskii 2007), Lloyd's iterations, the best of several restarts, which run side by side.
// Two things keep the sums few. Samples that changed cluster go into a log, and g of a row is brought up to date from the log since it was
// last looked at, not summed again. And a row is looked at only if Hamerly's bounds (2010) do not decide it: |phi_i - m| of its own mean
// from above, of all others from below, moved by how far the means went, which the same sums tell exactly. Bounds need the triangle
// inequality, that is, a positive semi-definite matrix. Cost: n^2 additions a restart, then about n for each change of cluster; n k
// numbers. References: Dhillon, Guan, Kulis 2004; Hamerly, Making k-means even faster, 2010. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "mercer/linear_operator.hpp"
#include "mercer/run.hpp"

namespace mercer::solvers {

struct KernelKMeansSettings {
  Index restarts = 10;
  Index max_iterations = 300;
  double tolerance = 1e-4;  // stop when the squared movements of the means add up to at most this share of the variance
  bool bounds = true;
  std::uint64_t seed = 0;
};

struct KernelKMeans {
  std::vector<Index> labels{};   // the nearest mean of each sample, 0 .. clusters - 1
  std::vector<Index> members{};  // the mean that each sample is counted in: the labels, unless the iterations were stopped early
  Index clusters = 0;            // fewer than asked for where samples coincide
  double inertia = 0;            // sum of w_i |phi_i - mean of labels_i|^2
  Index iterations = 0;
  Index restart = 0;  // which of the restarts it was
  bool converged = false;
  double looked_at = 1;  // share of the rows, over all iterations and restarts, that bounds did not decide
};

// K: symmetric, with rows (stored). 1 <= k <= n; the weights are >= 0 with a positive sum. Stage: restarts * (max_iterations + 1) of work.
KernelKMeans kernel_kmeans(const LinearOperator& K, Index k, const Vector& weights, const KernelKMeansSettings& settings, Stage& stage);

}  // namespace mercer::solvers

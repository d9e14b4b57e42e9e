// Quadratic forms of exchanges within pairs (x_i, y_i): a quarter of the work of free ones.
//
// Such an exchange is a sign s_i for each pair, and with H_ij = k(x_i, x_j) + k(y_i, y_j) - k(x_i, y_j) - k(y_i, x_j) the form v'Kv over
// the pooled rows (v = s for X, -s for Y, K without its diagonal) is sum_{i != j} s_i s_j H_ij - 2 sum_i k(x_i, y_i): products with n x n
// matrices in place of 2n x 2n ones (the wild bootstrap). SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stats/quadratic_forms.hpp"

namespace mercer::stats {

// `pooled`: the kernels on the rows of X, then as many of Y; S: signs, one labelling a vector of n. Answer: v'Kv, labellings x kernels.
template <class T>
Matrix paired_forms(const PreparedFamily<T>& pooled, const VectorPanels<T>& S, const Run& run);

}  // namespace mercer::stats

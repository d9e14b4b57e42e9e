// The sums that every MMD statistic is made of, in float64, in one pass over the tiles of the pooled sample's kernel matrix, which is never
// stored: sums of k over the rows of X and of Y for each row. Statistics and their standard errors follow from these.
// Cost: (n + m)^2 / 2 kernel values. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "gram/prepared_kernel.hpp"
#include "mercer/run.hpp"
#include "mercer/two_sample.hpp"

namespace mercer::stats {

// X and Y as one sample set, X first, and the kernel with its length scales set on it. Dense rows far from 0 are moved towards it where the
// kernel is linear, which no MMD statistic sees.
struct Pooled {
  Samples rows;
  Index n = 0;
  Index m = 0;
  Kernel kernel;

  Index size() const { return n + m; }
};
// Throws InvalidArgument for empty samples, unequal widths and numbers that are not finite.
Pooled pool(const Samples& X, const Samples& Y, const Kernel& kernel);

struct SampleSums {
  // Row i: sum over j != i of w_j k(z_i, z_j), over the rows of X (column 0) and of Y (column 1).
  Eigen::MatrixX2d against{};
  Vector paired{};     // k(x_i, y_i), i < min(n, m)
  Vector diagonal{};   // k(z_i, z_i)
  double squares = 0;  // sum over i != j of k(z_i, z_j)^2
  double xx = 0;       // sum over i != j of w_i w_j k, within X, within Y and between them
  double yy = 0;
  double xy = 0;
};
// weights: one for each row, X first; empty: all 1.
// Throws InvalidArgument where sums of kernel values leave the range of float64.
SampleSums sample_sums(const Pooled& pooled, const Vector& weights, const Run& run);

// The sum over i != j of (k(z_i, z_j) - r_i - r_j + mean)^2: a second pass over the tiles, because taking |r|^2 off the sum of k^2 cancels
// where kernel values share a large part (a linear kernel far from 0).
double centred_squares(const Pooled& pooled, const Vector& r, double mean, const Run& run);
// Centred so that the off-diagonal entries of each row sum to 0, as mmd-u under all permutations takes them. N >= 3.
double centred_pair_squares(const Pooled& pooled, const SampleSums& sums, const Run& run);

// A statistic from sums over the labels of the rows: n rows of the first label, m of the second.
struct LabelSums {
  double n = 0;
  double m = 0;
  double xx = 0;  // over i != j
  double yy = 0;
  double xy = 0;
  double diagonal_x = 0;
  double diagonal_y = 0;
  double paired = 0;  // sum over i of k(x_i, y_i); for h
};
double statistic_of(MmdStatistic statistic, const LabelSums& sums);
// How much of an error of xx (with the row sums known, so that xy and yy follow from it) comes into the statistic.
double sensitivity_of(MmdStatistic statistic, double n, double m);

// The statistic of one block after the other, in rows of X and Y that no two share: of linear, h of two pairs of rows; of block, u.
Vector block_values(const Pooled& pooled, MmdStatistic statistic, Index block_size, const Run& run);

// Throws InvalidArgument where the samples are too small for the statistic, or of unequal size for h.
void require_sizes(MmdStatistic statistic, Index n, Index m);

}  // namespace mercer::stats

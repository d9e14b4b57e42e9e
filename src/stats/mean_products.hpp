// Mean embeddings by their products: mu = sum_i w_i k(x_i, .) with weights that add up to 1, its values at rows, and distances between
// such means. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "mercer/coresets.hpp"
#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer::stats {

// The rows as the kernel takes them. Throws InvalidArgument for no rows, numbers that are not finite, kernels with white noise (samples are
// told apart there, not points) and kernels known not to be positive semi-definite: there is no distance of means then.
Samples embedded(const Kernel& kernel, const Samples& X, std::string_view name);

// Weights of n rows that add up to 1; empty: equal. Throws for a wrong number of them, negative ones, and a sum of 0.
Vector proportions(const Vector& weights, Index n, std::string_view name);

// float32 for bounded kernels where there are many values to work out, else float64.
Precision working_precision(const Kernel& kernel, const Samples& X, double kernel_values);

// mu_X(z) for every row z, from streamed tiles.
Vector mean_at(const Kernel& kernel, const Samples& X, const Vector& w, const Samples& Z, Precision precision, const Run& run);

// Squared distances of mu_X to means over the rows of Y, whose weights are the columns of V.
struct MeanDistances {
  bool known = false;
  Vector squared{};         // of each column
  Vector error{};           // standard error of each; 0: exact
  double squared_norm = 0;  // |mu_X|^2
};
MeanDistances mean_distances(const Kernel& kernel, const Samples& X, const Vector& w, const Samples& Y, const Matrix& V, CoresetMeasure how,
                             const Run& run);

// Of one mean: the distance, sqrt(max(0, squared)), and its standard error.
double distance_of(double squared);
double distance_error(double squared, double error);

// " (estimated, +- 0.0012)", or nothing.
std::string error_words(double error);

}  // namespace mercer::stats

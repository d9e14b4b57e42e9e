// What is asked of single rows, whatever they are stored as: their sums, their mean, and distances by differences.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/samples.hpp"

namespace mercer {

// |x - y|^2, |x - y|_1 or sum (x - y)^2/(x + y) of two rows, by differences in float64.
double squared_distance_of(const Samples& X, Index i, const Samples& Y, Index j);
double l1_distance_of(const Samples& X, Index i, const Samples& Y, Index j);
double chi2_distance_of(const Samples& X, Index i, const Samples& Y, Index j);

// Throws InvalidArgument naming the first negative value.
void require_not_negative(const Samples& X, const char* name);

// Sums of squares and of absolute values in float64, a pair per row.
struct RowSums {
  std::vector<double> squares;
  std::vector<double> absolutes;
};

// Of the rows moved by -centre (empty: not moved; sparse rows never are).
RowSums row_sums(const Samples& X, const Vector& centre);

// The sums tell for free whether every value is finite, and whether squares overflow in T: throws InvalidArgument naming the place.
template <class T>
void require_usable(const Samples& X, const RowSums& sums, const char* name);

// The same rows in memory of their own.
Samples copy_of(const Samples& X);

// The mean of each column; zeros for sparse rows, which are never centred.
Vector column_means(const Samples& X);

}  // namespace mercer

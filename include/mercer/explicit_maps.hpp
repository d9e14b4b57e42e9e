// Feature maps by formula: monomials of the columns, and the additive chi-squared map.
//
//   Matrix Z = monomial_features(X, {.max_degree = 3});   // x1, x2, x1^2, x1 x2, ...
//   Matrix R = monomial_features(X, {.min_degree = 3, .max_degree = 3, .weighting = MonomialWeighting::root});  // R R' = <x, y>^3
//   Matrix C = additive_chi2_features(X);                 // C C' ~ sum_j 2 x_j y_j / (x_j + y_j)
//
// Monomials, of total degree from a to b: `plain` has each once (scikit-learn's PolynomialFeatures); `ordered` has every ordered product,
// d^r of degree r, whose kernel is sum over r of <x, y>^r (source G); `root` has each monomial once with the square root of its multinomial
// coefficient, the same kernel in fewer columns (source L for one degree). Each is one multiplication from one of a degree less.
// Additive chi-squared: the homogeneous kernel 2xy / (x + y) = sqrt(xy) sech(log(x / y) / 2) column by column, its spectrum sech sampled at
// 0, L, 2L, ...: 2 steps - 1 numbers a column. Reference: Vedaldi and Zisserman, PAMI 2012; the numbers are scikit-learn's
// AdditiveChi2Sampler's. SPEC K6. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

enum class MonomialWeighting : std::uint8_t { plain, ordered, root };

struct MonomialOptions {
  int min_degree = 1;  // 0: a constant column too
  int max_degree = 2;
  MonomialWeighting weighting = MonomialWeighting::plain;
  Run run{};
};

// The number of columns; infinite where it exceeds what a double counts.
double monomial_columns(Index width, const MonomialOptions& options);

// The factors of each monomial, in the order of the columns: by degree, then lexicographic. Ascending but for ordered products.
std::vector<std::vector<Index>> monomial_factors(Index width, const MonomialOptions& options);

// n x columns. Asks the memory budget first, and names the number of columns where it is too large.
Matrix monomial_features(const Samples& X, const MonomialOptions& options = {});

struct AdditiveChi2Options {
  int sample_steps = 2;
  std::optional<double> sample_interval{};  // not given: 0.8, 0.5, 0.4 for 1, 2, 3 steps; needed for more
  Run run{};
};

double additive_chi2_interval(const AdditiveChi2Options& options);

// n x (2 steps - 1) width: sqrt(x L) of every column, then cosine and sine for j = 1, 2, ...; 0 maps to 0. Throws InvalidArgument for
// numbers below 0.
Matrix additive_chi2_features(const Samples& X, const AdditiveChi2Options& options = {});

}  // namespace mercer

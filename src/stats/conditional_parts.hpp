// What the two methods of conditional independence hand to the verdict. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mercer/conditional_independence.hpp"

namespace mercer::stats {

struct ConditionalParts {
  double statistic = 0;
  double mean = 0;          // of the null law
  double variance = 0;      // of the null law
  Vector null{};            // draws, where they were asked for
  bool determined = false;  // X or Y is constant: there is nothing to test
  double share_x = 1;       // of the variance of X's features (or columns, where means are removed) that Z leaves
  double share_y = 1;
  std::vector<std::string> kernels{};
  std::vector<std::pair<std::string, double>> numbers{};
};

// What one variable is after its conditional means are taken away.
bool means_can_go(const Kernel& kernel, const Samples& X, bool wanted);

ConditionalParts conditional_by_kernels(const Samples& X, const Samples& Y, const Samples& Z, const ConditionalIndependenceOptions& o);
ConditionalParts conditional_by_features(const Samples& X, const Samples& Y, const Samples& Z, const ConditionalIndependenceOptions& o);

// Multiples of the median distance that an automatic kernel of z may have.
std::vector<double> length_factors(const Kernel& kernel_z);

// Where a variable's spread is rounding, next to what it was.
inline constexpr double nothing_left = 1e-14;

}  // namespace mercer::stats

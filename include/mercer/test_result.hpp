// What every statistical test answers with: enough to judge it, to draw it and to run it again.
//
// A p-value of a test by exchanges (permutations, signs) is p = (1 + #{null >= statistic}) / (1 + B): never 0, and of exact level whatever
// B is. Ties count against the statistic: what differs from it by rounding alone counts as equal to it. SPDX-License-Identifier:
// BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

struct TestResult {
  std::string test{};            // the question: "two-sample", "independence", "joint independence", ...
  std::string statistic_name{};  // "mmd-u"
  double statistic = 0;          // unscaled, in float64
  double p_value = 1;
  double level = 0.05;  // what `rejected` was judged at
  bool rejected = false;
  double threshold =
      std::numeric_limits<double>::quiet_NaN();  // a statistic above it is rejected at this level; NaN where the null has none

  std::string method{};       // the word of the null: "permutation", "gamma", ...
  std::string description{};  // the same in one sentence: how the null was made, and whether its level is exact
  bool exact = false;         // the level holds for every sample size, not only in the limit
  // The null distribution in the units of the statistic: the statistics of the exchanges or of the draws; of a law with a formula its
  // quantiles at (i - 1/2) / 1000; empty where there is neither.
  Vector null{};

  std::vector<std::string> kernels{};  // their text, automatic length scales set; one for each variable, or one for each candidate
  Index n = 0;                         // rows of X
  Index m = 0;                         // rows of Y, where the samples are two; else 0
  std::uint64_t seed = 0;
  Index draws = 0;  // B

  std::vector<std::pair<std::string, double>> numbers{};  // what else the test knows, by name: "gamma shape"
  std::vector<std::string> remarks{};  // what a reader must know: a kernel that cannot see some differences, too few rows
  double seconds = 0;
  std::string sentence{};  // the verdict: "the samples differ: mmd-u = 0.0123, p = 0.001 (...)"

  std::string kernel() const;  // the kernels as one text
};

}  // namespace mercer

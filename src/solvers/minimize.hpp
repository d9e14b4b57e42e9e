// Minimum of a smooth function within bounds, from its values and gradients.
//
// Method: limited memory BFGS (NLopt's LD_LBFGS, after Luksan). Reference: Nocedal, Updating quasi-Newton matrices with limited storage.
// Cost: a few evaluations per step; O(memory * p) besides.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

struct MinimizeOptions {
  int max_evaluations = 1000;
  double value_tolerance = 1e-10;     // relative change of the value over a step
  double argument_tolerance = 1e-10;  // relative change of every argument
};

struct Minimum {
  Vector x{};
  double value = 0;
  Vector gradient{};  // at x
  int evaluations = 0;
  bool converged = false;         // false: the evaluation limit, or no progress was possible
  std::string status{};           // "the value no longer changes", in words
  std::vector<double> history{};  // values in the order they were found, best so far
};

// Writes the gradient (of x's size) and returns the value; a value that is not finite tells the search to stay away (it is taken for a very
// large one). What it throws ends the search and comes out of minimize.
using SmoothFunction = std::function<double(const Vector& x, Vector& gradient)>;

// Bounds may be empty (none) or of x's size, with infinities. The start is moved within them.
Minimum minimize(const SmoothFunction& f, const Vector& start, const Vector& lower, const Vector& upper,
                 const MinimizeOptions& options = {});

}  // namespace mercer

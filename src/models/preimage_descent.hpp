// The fixed point of the slopes, made safe: z <- z + t (pull / stiffness - z), which is a gradient step in the metric of the stiffness (its
// absolute value, column by column), so some t of 1, 1/2, 1/4, ... lowers the objective. t = 1 is the plain iteration. No step is longer
// than the diameter of the rows, and it ends when one that would lower the objective is shorter than the tolerance.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "models/preimage_slopes.hpp"

namespace mercer {

struct DescentOptions {
  double tolerance = 1e-6;
  Index max_iterations = 500;
  std::function<void()> check{};  // called once a step: may throw to cancel
};

struct DescentResult {
  enum class End : std::uint8_t { converged, limit, vanished };  // vanished: the objective is flat here, as far as numbers can tell

  Matrix rows{};
  Vector objective{};  // k(z,z) - 2 <phi(z), p>
  std::vector<Index> iterations{};
  std::vector<End> end{};
};

// From every row of `start`, all at a time; row i belongs to point ids[i] of G.
DescentResult descend(const KernelSlopes& slopes, const Matrix& start, const MatrixRef& G, std::span<const Index> ids,
                      const DescentOptions& options);

// The same minimum by limited memory BFGS, one point after the other.
DescentResult minimize_each(const KernelSlopes& slopes, const Matrix& start, const MatrixRef& G, std::span<const Index> ids,
                            const DescentOptions& options);

}  // namespace mercer

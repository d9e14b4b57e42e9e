// The linear systems of kernel ridge regression, (S K S + alpha I) X = B with S = diag(s), by the solver that size and memory ask for:
//
//   Cholesky                  float64 factor, n^2/2 numbers of 8 bytes. Below some thousand samples.
//   mixed-precision Cholesky  float32 factor (half the memory, twice the speed) as the preconditioner of conjugate gradients on float64
//   tiles
//                             that are made anew each step; a handful of steps reach the tolerance. Where K + alpha I is too
//                             ill-conditioned for float32 the float64 factor takes over.
//   conjugate gradients       on the float32 half of K if it fits the budget, else on streamed tiles, preconditioned by a randomly pivoted
//                             Cholesky factor; residuals are float64 ones, and rounds of refinement go on until they meet the tolerance.
//                             Where that takes more work than a factorisation, the factorisation takes over.
// References: Carson, Higham, Accelerating the solution of linear systems by iterative refinement in three precisions; Diaz, Epperly,
// Frangella, Tropp, Webber, Robust, randomized preconditioning for kernel ridge regression.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "linalg/cholesky.hpp"
#include "mercer/kernel_ridge.hpp"
#include "mercer/linear_operator.hpp"

namespace mercer {

struct SystemOptions {
  KernelRidgeSolver solver = KernelRidgeSolver::automatic;
  double tolerance = 1e-10;
  Precision precision = Precision::float64;  // float32: a float32 factor and no refinement
  Run run{};
};

struct SystemSolution {
  Matrix X{};
  std::string method{};
  Index iterations = 0;
  bool converged = true;  // false: the tolerance was not met within the iterations allowed and a factor does not fit the memory
  std::size_t bytes = 0;  // largest allocation
};

class KernelSystem {
 public:
  // s empty: all 1. The kernel must be resolved.
  KernelSystem(const Kernel& kernel, const Samples& X, Vector s, SystemOptions options);
  ~KernelSystem();
  KernelSystem(KernelSystem&&) noexcept;
  KernelSystem& operator=(KernelSystem&&) noexcept;

  // Nothing: S K S + alpha I is not positive definite, in float64 arithmetic. What was computed for one alpha serves the next.
  std::optional<SystemSolution> solve(double alpha, const Matrix& B);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace mercer

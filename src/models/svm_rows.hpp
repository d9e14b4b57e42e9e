// What all support vector machines stand on: the Gram matrix of the training rows, asked for by parts, and the engine run on them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/samples.hpp"
#include "mercer/svm.hpp"
#include "solvers/box_qp.hpp"

namespace mercer {

// Coefficients of some rows.
struct PairExpansion {
  std::vector<Index> samples;
  Vector b;
};

// The rows of one sample set's Gram matrix for one or many problems on parts of it. Many problems (pairs of classes, folds) share a stored
// Gram matrix when it fits the budget; one problem alone has its rows computed as they are visited.
class SvmRows {
 public:
  // `largest_coefficient` bounds |b|: it decides the precision where none is asked for.
  SvmRows(const Kernel& kernel, const Samples& X, const SvmSolver& solver, double largest_coefficient, bool many_problems, const Run& run);
  ~SvmRows();
  // Stored ones for each of some kernels: what they look at is worked out once for all. The memory for all of them is the caller's care.
  static std::vector<std::shared_ptr<const SvmRows>> of_each(const std::vector<Kernel>& kernels, const Samples& X, const SvmSolver& solver,
                                                             double largest_coefficient, const Run& run);
  SvmRows(const SvmRows&) = delete;
  SvmRows& operator=(const SvmRows&) = delete;

  Index size() const;
  Precision precision() const;
  std::size_t stored_bytes() const;  // of a shared Gram matrix
  const Vector& diagonal() const;

  // The problem on these samples, whose variables (or their `row`) are numbered by their place in the list. Safe from many threads. Small
  // problems in float64 are solved to the last digits, unless `to_tolerance`.
  BoxSolution solve(std::span<const Index> samples, const BoxProblem& problem, const SvmSolver& solver, const Run& run,
                    bool to_tolerance = false) const;
  // A column for each expansion: sum_j b_j k(x_i, x_j) at rows that took no part in its problem. A row of a stored Gram matrix is read once
  // for all expansions that it is in.
  Eigen::MatrixXd products(std::span<const Index> at, const std::vector<PairExpansion>& expansions, const Run& run) const;
  // Some of the rows by themselves, for problems that come back to them; nothing where they are not stored or would be too many to keep.
  std::shared_ptr<const SvmRows> part(const std::vector<Index>& samples) const;

 private:
  struct Impl;
  explicit SvmRows(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

// Coefficients that sum to zero, by shortening the heavier side: a start from a fit without intercept has another sum, which would be held.
Vector balanced(const Vector& b);

// C from C or lambda, checked.
double box_bound(double C, const std::optional<double>& lambda, Index n);
void require_solver(const SvmSolver& solver);
void require_nu(double nu);

// Adds what one problem's solution says to a summary; finish_summary is called at the end.
void add_to_summary(const BoxSolution& solution, const BoxProblem& problem, SvmSummary& summary);
void finish_summary(SvmSummary& summary, const SvmSolver& solver, const Samples& X, Index n);

}  // namespace mercer

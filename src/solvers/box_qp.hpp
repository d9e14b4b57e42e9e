// The dual engine: min over b of  1/2 b'K b + p'b + sum_i e_i |b_i|  with  lower <= b <= upper  and the sums of b over no, one or two
// groups of variables held where they start. All support vector machines are this problem with the signs inside b:
//
//   classification   b_i = y_i a_i in [0, C] or [-C, 0], p = -y, sum 0        regression   b in [-C, C], p = -y, e = epsilon, sum 0
//   without bias     the same, no sum held                                    one class    b in [0, 1], p = 0, sum nu n
//   nu forms         two sums held; of regression with two variables a row
//
// Method: blocks of hundreds of variables, chosen by violation, solved by SMO on their own part of K; then one product with the rows of
// those that moved brings the gradient of all others up to date. Rows are computed by tiles when first needed and kept while memory lasts.
// When the same variables keep coming back, the block grows until it holds all that are not settled: the rest is then out of the way
// (shrinking), and is looked at again when the block is solved. Everything is done in a fixed order: no result depends on the threads.
// References: Joachims 1999 (decomposition, shrinking); Fan, Chen, Lin 2005; Wen et al., ThunderSVM, JMLR 2018 (blocks).
// Cost: the rows visited (d n flops each), 2 n flops per row and round for the gradient, two passes over a block per step.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "linalg/row_source.hpp"
#include "mercer/run.hpp"
#include "solvers/smo.hpp"

namespace mercer {

struct BoxProblem {
  Vector linear;  // p
  Vector lower;   // of every variable, <= upper
  Vector upper;
  Vector kink{};  // e >= 0; empty: none
  HeldSums held{};
  std::vector<Index> row{};  // the row of K that a variable belongs to; empty: its own number
  Vector start{};            // feasible; empty: zeros
  Vector start_product{};    // K start, of every row, where it is known; empty: computed
};

struct BoxOptions {
  double tolerance = 1e-3;
  Index max_steps = 0;     // 0: at least ten million, 100 a variable
  double time_limit = 0;   // seconds; 0: none
  std::size_t memory = 0;  // bytes for rows of K; 0: the budget of the run
  Run run{};
  bool polish = false;  // then solve for the free variables exactly: few of them, T = double
  Index block = 0;      // variables to start with; 0: chosen. For tests and measurements.
};

// rounding: no step moved anything any more, with a violation well above the tolerance (huge coefficients in float32, say).
enum class BoxStatus : std::uint8_t { converged, step_limit, time_limit, rounding };

struct BoxSolution {
  Vector b{};
  Vector gradient{};    // K b + p, of every variable
  Vector multiplier{};  // of each held sum: the slope that free variables share
  double objective = 0;
  double violation = 0;
  double gap = 0;  // to the optimum at most
  Index steps = 0;
  Index rounds = 0;
  Index rows_computed = 0;
  std::size_t bytes = 0;  // of rows kept
  BoxStatus status = BoxStatus::converged;
};

template <class T>
BoxSolution solve_box_qp(const RowSource<T>& K, const BoxProblem& problem, const BoxOptions& options);

}  // namespace mercer

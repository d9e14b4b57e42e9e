// Structured estimation with rescaled margins, in a space of planes that only the caller knows:
//
//   min over w of P(w) = 1/2 |w|^2 + sum_i C_i H_i(w),   H_i(w) = max over y of [ L_i(y) - <w, psi_i(y)> ]
//
// where y runs through the outputs of example i, psi_i(y) = phi(x_i, y_i) - phi(x_i, y) and L_i(y) >= 0 is the loss; the true output has
// psi = 0 and L = 0, so H_i >= 0. The dual is max over a_i in the simplex over the outputs of
//
//   D(a) = sum_i C_i sum_y a_i(y) L_i(y) - 1/2 |w|^2,   w = sum_i C_i sum_y a_i(y) psi_i(y).
//
// Method: block-coordinate Frank-Wolfe. A visit to example i asks the oracle for the output with the largest slope s(y) = L_i(y) -
// <w, psi_i(y)> and moves a_i towards it by exact line search. The planes met so far are remembered, so mass moves from the worst of them
// (pairwise steps), and some visits after each pass use remembered planes alone, without the oracle, which is what costs. P - D is the sum
// of C_i (max_y s - sum_y a_i(y) s): a pass has an estimate of it for nothing, and one more look at all examples at a fixed w, remade from
// a, makes it exact. References: Lacoste-Julien, Jaggi, Schmidt, Pletscher, Block-coordinate Frank-Wolfe optimization for structural SVMs,
// 2013; Shah, Kolmogorov, Lampert, A multi-plane block-coordinate Frank-Wolfe algorithm, 2015 (remembered planes); Osokin et al., Minding
// the gaps for block Frank-Wolfe optimization of structured SVMs, 2016 (pairwise steps). Cost of a pass: n calls of the oracle and, for m
// remembered planes of an example, m products with w. Memory: those planes, and the m x m products between them. SPDX-License-Identifier:
// BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer::solvers {

// L - <w, psi> for one output of one example. psi is a sparse vector with ascending indices, or whatever the space makes of these numbers.
struct Plane {
  double loss = 0;
  std::vector<Index> indices{};
  std::vector<double> values{};

  bool operator==(const Plane&) const = default;
};

// What the method asks of a problem. The space holds w.
class PlaneSpace {
 public:
  virtual ~PlaneSpace() = default;
  PlaneSpace() = default;
  PlaneSpace(const PlaneSpace&) = delete;
  PlaneSpace& operator=(const PlaneSpace&) = delete;

  virtual Index examples() const = 0;
  virtual bool parallel() const { return true; }                                  // `worst` may be called from several threads at once
  virtual Plane worst(Index example) const = 0;                                   // the output with the largest loss - <w, psi>
  virtual double product(Index example, const Plane& plane) const = 0;            // <w, psi>
  virtual double inner(Index example, const Plane& a, const Plane& b) const = 0;  // <psi, psi>
  virtual void restart() = 0;                                                     // w = 0
  virtual void add(Index example, const Plane& plane, double amount) = 0;         // w += amount psi, in force after settle()
  virtual void settle() = 0;
  virtual double squared_norm() const = 0;  // |w|^2
};

struct FrankWolfeOptions {
  double tolerance = 1e-3;  // on P - D, relative to P
  Index max_passes = 1000;  // over the examples with the oracle
  std::uint64_t seed = 0;   // of the order of each pass
};

struct FrankWolfeSolution {
  bool converged = false;
  Index passes = 0;
  Index oracle_calls = 0;
  Index planes = 0;         // with a positive coefficient, the true outputs not counted
  double objective = 0;     // P
  double dual = 0;          // D
  double gap = 0;           // P - D
  double squared_norm = 0;  // |w|^2
  Index missed = 0;         // times that the oracle's output was worse than one already known: P and the gap are then no bounds
};

// C: one number >= 0 per example. The space is left at the w of the solution.
FrankWolfeSolution frank_wolfe(PlaneSpace& space, const Vector& C, const FrankWolfeOptions& options, const ProgressCallback& progress);

}  // namespace mercer::solvers

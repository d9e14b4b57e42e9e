// Regularised convex problems over a space of functions seen only through their scores at n samples:
//
//   P(f, b) = L(z) + ridge/2 |f|^2,   z = A f + 1 b  (n x k, k outputs),   L convex with gradient g and curvature H.
//
// Method: damped Newton. The intercept is eliminated exactly: before each step b minimises L(A f + 1 b), so that 1'g = 0. With
// f' = -A*g / ridge the gradient is ridge (f - f'), and because g is a feasible point of the dual problem,
//
//   P(f, b) - D(g) = ridge/2 |f - f'|^2
//
// is the duality gap, with no conjugate needed (L differentiable). The Newton equation (ridge + A* H~ A) v = ridge (f' - f), H~ = H less
// its part along the intercept, is solved by conjugate gradients preconditioned with the same operator for one curvature s_i per sample,
// which is factored; for k = 1 that is the operator itself and one step suffices. The step length zeroes the derivative along v: convexity
// makes that a safe one-dimensional search of n k operations a trial. Reference: Nocedal and Wright, Numerical Optimization, ch. 6-7; for
// kernels Zhu and Hastie 2005, Chapelle 2007. Cost of a step: one factorisation, two applications of A a conjugate gradient iteration.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer::solvers {

// Functions, one per output: coefficients in whatever basis the space has, and their scores A f.
struct Functions {
  Matrix coefficients;
  Matrix scores;
};

// (ridge + A* (diag(s) - s s'/sum(s)) A)^-1; without the second term when there is no intercept.
class SpaceSolver {
 public:
  virtual ~SpaceSolver() = default;
  virtual Matrix solve(const Functions& right) const = 0;  // coefficients
};

class FunctionSpace {
 public:
  virtual ~FunctionSpace() = default;
  virtual Index samples() const = 0;
  virtual Index dimension() const = 0;                                     // rows of coefficients
  virtual Matrix scores(const Matrix& coefficients) const = 0;             // A v
  virtual Matrix adjoint(const Matrix& g) const = 0;                       // A* g
  virtual Vector diagonal() const = 0;                                     // of A A*
  virtual double inner(const Functions& a, const Functions& b) const = 0;  // <a, b>, summed over outputs
  virtual std::unique_ptr<SpaceSolver> factor(const Vector& s, double ridge, bool intercept) const = 0;
};

// The loss of all samples as a function of their scores.
class ScoreLoss {
 public:
  virtual ~ScoreLoss() = default;
  struct Slope {
    double value = 0;
    Matrix gradient;
  };
  virtual Slope at(const Matrix& z) const = 0;
  // Keeps the curvature at z for the three below.
  virtual void curve(const Matrix& z) = 0;
  virtual Vector per_sample() const = 0;            // s: one curvature for all outputs of a sample
  virtual Matrix times(const Matrix& V) const = 0;  // H V
  virtual Matrix intercept_curvature() const = 0;   // 1'H1, k x k; for k > 1 zero along (1, ..., 1)
};

struct NewtonState {
  Functions f;
  Vector intercept;  // k
  Matrix gradient;   // g at f + b, n x k
  Functions dual;    // f' = -A*g / ridge
  double loss = 0;
  double objective = 0;
  double gap = 0;            // ridge/2 |f - f'|^2
  double gradient_norm = 0;  // |ridge (f - f')|
  Index iterations = 0;
  Index inner_iterations = 0;  // of conjugate gradients
  bool stalled = false;        // rounding leaves no descent
};

struct NewtonOptions {
  double ridge = 1;  // 2 lambda
  bool intercept = false;
  double tolerance = 1e-8;  // gap <= tolerance * |objective|
  double gap_floor = 0;     // or gap <= this
  Index min_iterations = 0;
  Index max_iterations = 100;
};

// The state with the scores of no function and the best intercept; throws InvalidArgument where no finite intercept is best.
NewtonState newton_start(const FunctionSpace& space, const ScoreLoss& loss, Index outputs, const NewtonOptions& options);

// From where `state` stands until the gap is small enough, `max_iterations` are done or rounding leaves no descent. The loss may differ
// from the one that the state was made with.
NewtonState newton_minimize(const FunctionSpace& space, ScoreLoss& loss, NewtonState state, const NewtonOptions& options, Stage& stage);

}  // namespace mercer::solvers

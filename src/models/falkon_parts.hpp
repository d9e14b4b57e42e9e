// The pieces of regression on landmarks.
//
// Notation: m landmarks, Z; K_mm + jitter I = L L'; F = K_nm; G = F' W F; whitened unknowns beta = L' c, in which the normal equations are
// (L^-1 G L^-T + alpha I) beta = L^-1 F' W Y: condition at most 1 + |L^-1 G L^-T| / alpha, however close to singular K_mm is.
// With an intercept G and F' W Y are centred by the sums F' w and Y' w, which eliminates it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/falkon.hpp"

namespace mercer::falkon {

struct Whitening {
  Matrix L;
  double jitter = 0;
  double smallest = 0;     // eigenvalue of K_mm + jitter I, about
  double mean_square = 0;  // of the entries of K_mm
  double largest = 0;      // entry on its diagonal
};
// With a jitter of at least this. Throws InvalidArgument when K_mm is not positive semi-definite to rounding.
Whitening whiten(const Kernel& kernel, const Samples& landmarks, double jitter, const Run& run);

// How rounding in G, which whitening magnifies along the weak directions of K_mm, compares with what is there to be solved.
struct Noise {
  double size = 0;       // of the error matrix of G
  bool quiet = true;     // small against mu ((n/m) mu + alpha), what G has along the weakest direction of K_mm, of eigenvalue mu
  double jitter = 0;     // that keeps it below alpha, if it is not quiet
  bool harmless = true;  // that jitter changes nothing that alpha would not damp away
};
// `depth`: how many products are added up in the precision of the sums before they go to float64.
constexpr Index one_pass_depth = 2048;
constexpr Index gradients_depth = 256;
Noise noise_of(const Whitening& whitening, Index rows, double alpha, Precision values, Precision sums, Index depth);

struct Solution {
  Matrix coef;
  Vector intercept;
  double explained = -1;  // trace of L^-1 G L^-T without centring: that of K_nm K_mm^-1 K_mn; -1: not known
  double residual = 0;
  Index iterations = 0;
  bool converged = true;
  bool pseudo_inverse = false;
  Vector squared_error;  // on the rows fitted on, by target
  Vector spread;         // standard deviation of the targets (their size, where that is zero)
  double weight = 0;     // sum of weights
  Index passes = 0;
  std::size_t stored_bytes = 0;  // of K_nm, where it was kept
};

// Rows of K_nm at a time, as a function of the problem and the budget.
Index panel_rows(Index landmarks, std::size_t bytes_per_number, std::size_t budget);

// One pass over the rows. Sums within a tile in `sums_precision`, which is float32 only for float32 kernel values.
LandmarkSums accumulate(const Kernel& kernel, const Samples& landmarks, const RowSource& source, Precision precision,
                        Precision sums_precision, const Run& run);

Solution solve_sums(const LandmarkSums& sums, const Whitening& whitening, double alpha, bool fit_intercept, const Run& run);

struct Gradients {
  double tolerance = 1e-6;
  Index max_iterations = 200;
};
Solution solve_gradients(const Kernel& kernel, const Samples& landmarks, const RowSource& source, const Whitening& whitening, double alpha,
                         bool fit_intercept, Precision precision, const Gradients& options, const Run& run);

// The spread of the targets; their size, where it is zero.
Vector spread_of(const NormalSums& sums);

}  // namespace mercer::falkon

// Pre-images: the row z whose feature-space image is nearest to a point p = sum_i g_i phi(x_i),  min over z of |phi(z) - p|^2.
//
//   Preimages found = preimages(kernels::gaussian(2.0), X, weights);    // one row of weights, and one row of found.rows, per point
//   found.squared_distance                                              // |phi(z) - p|^2 of each, so that answers can be judged
//
// Methods. `fixed_point`: where the gradient of the objective vanishes, z = sum_i w_i x_i / sum_i w_i with w_i = -g_i k'(|z - x_i|^2) for
// kernels of a distance (Mika's iteration where the kernel is Gaussian) and z = sum_i g_i k'(<z, x_i>) x_i / k'(|z|^2) for those of a dot
// product; iterated, each step halved until the objective does not grow. Sums, products, powers and multiples of such kernels, length
// scales per column and kernels of some columns are covered by one formula (preimage_slopes.hpp). `gradient`: limited memory BFGS on the
// same gradient. `distance`: distances in feature space to the nearest rows, turned into input distances by inverting the kernel's profile,
// and the point that has them (Kwok and Tsang); kernels that are a decreasing function of one distance on all columns. `ridge`: kernel
// ridge regression of the rows on their own images, evaluated at p; any kernel. `best`: all that apply, the better of the last two moved on
// by the fixed point, and of what there is then the nearest to p. Cost: 4 n d flops per point and step besides the kernel; n^2 (d + 2 m)
// once for m points; n^3/3 for the ridge map. References: source L, "The pre-image problem"; Mika, Schoelkopf, Smola, Mueller, Scholz,
// Raetsch, Kernel PCA and de-noising in feature spaces, 1999; Kwok, Tsang, The pre-image problem in kernel methods, 2004; Bakir, Weston,
// Schoelkopf, Learning to find pre-images, 2004. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

enum class PreimageMethod : std::uint8_t { best, fixed_point, gradient, distance, ridge };
std::string_view name_of(PreimageMethod method);  // "fixed point"

struct PreimageOptions {
  PreimageMethod method = PreimageMethod::best;
  Matrix start{};           // one row per point: where the methods that iterate begin; empty: at the likeliest of what is known of p
  Matrix learned{};         // one row per point: answers of a map learnt elsewhere, taken in place of the ridge map's
  Index neighbors = 10;     // rows that the distance method looks at, at least 1
  double ridge_alpha = 1;   // >= 0, the penalty of the ridge map
  double tolerance = 1e-6;  // the methods that iterate end with a step below this share of the rows' spread (root mean square radius)
  Index max_iterations = 500;
  Index restarts = 3;  // where an iteration leads nowhere: from the next nearest rows, so many of them
  Run run{};
};

struct PreimageSummary {
  Index points = 0;
  Index converged = 0;
  double mean_squared_distance = 0;
  double seconds = 0;
  std::string sentence{};  // "pre-images of 500 points from 3000 rows: best (480 fixed point, 20 distance), 498 converged, ..."
};

struct Preimages {
  Matrix rows{};                         // the answers, one per point
  Vector squared_distance{};             // |phi(z) - p|^2, at least 0
  Vector squared_norm{};                 // |p|^2: what that distance is to be compared with
  std::vector<PreimageMethod> method{};  // the method that found each answer, or what the fixed point started from
  std::vector<Index> iterations{};       // evaluations of the objective
  std::vector<bool> converged{};         // always true for methods that do not iterate
  PreimageSummary summary{};
};

// basis: the rows x_i (dense or sparse, not objects of a given Gram matrix); weights: one row of g per point. The kernel is taken as
// positive semi-definite. Throws NotOffered where the method asked for does not exist for the kernel; `best` always has one.
Preimages preimages(const Kernel& kernel, const Samples& basis, const MatrixRef& weights, const PreimageOptions& options = {});

// Which methods (other than `best`) a kernel has.
std::vector<PreimageMethod> preimage_methods(const Kernel& kernel, Index width);

// |phi(z) - p|^2 for each row z of Z and row of weights.
Vector preimage_distances(const Kernel& kernel, const Samples& Z, const Samples& basis, const MatrixRef& weights, const Run& run = {});

}  // namespace mercer

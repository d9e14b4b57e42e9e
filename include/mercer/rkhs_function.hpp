// Functions of a reproducing kernel Hilbert space as values: f = sum_i a_i k(x_i, .).
//
//   RkhsFunction f(kernels::gaussian(2.0), X, a);
//   Vector at = f(X_new);                        // f(x) = <f, k(x, .)>
//   double length = f.norm();                    // sqrt(a'Ka)
//   RkhsFunction g = 2.0 * f - h;                // the same kernel; other samples are joined
//   Vector most = f.bound(X_new);                // |f(x)| <= |f| sqrt(k(x, x))
//
// A fitted kernel ridge model is one: RkhsFunction(model.kernel(), model.samples(), model.dual_coef().col(0)), without the intercept.
// Everything is computed in float64 from streamed tiles, whatever the samples are stored in; no n x n matrix is kept.
// References: source K section 3.2, source N eq. (7), source L. Cost: n m kernel values for m points, n^2 / 2 for a norm.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/kernels.hpp"
#include "mercer/matrix.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

class RkhsFunction {
 public:
  // An automatic length scale is set from the samples. The samples are shared, never copied: they must not change.
  RkhsFunction(const Kernel& kernel, Samples samples, Vector coefficients);

  Vector operator()(const Samples& X, const Run& run = {}) const;

  // |f|^2 = a'Ka and |f|. Refused for a kernel that is not known to be PSD: there is no norm then; `inner` is still a bilinear form.
  double squared_norm(const Run& run = {}) const;
  double norm(const Run& run = {}) const;

  // |f| sqrt(k(x, x)) for each row: by Cauchy-Schwarz no |f(x)| is larger. Refused as the norm is.
  Vector bound(const Samples& X, const Run& run = {}) const;

  const Kernel& kernel() const { return kernel_; }
  const Samples& samples() const { return samples_; }
  const Vector& coefficients() const { return coefficients_; }
  Index size() const { return coefficients_.size(); }  // terms of the sum

 private:
  Kernel kernel_;
  Samples samples_;
  Vector coefficients_;
};

// <f, g> = sum_ij a_i b_j k(x_i, z_j). Both must have the same kernel, to the letter of its text.
double inner(const RkhsFunction& f, const RkhsFunction& g, const Run& run = {});
// |f - g|.
double distance(const RkhsFunction& f, const RkhsFunction& g, const Run& run = {});

// Functions on equal samples add their coefficients; otherwise the samples are joined: float64 if either is, sparse if either is.
RkhsFunction operator+(const RkhsFunction& f, const RkhsFunction& g);
RkhsFunction operator-(const RkhsFunction& f, const RkhsFunction& g);
RkhsFunction operator-(const RkhsFunction& f);
RkhsFunction operator*(double c, const RkhsFunction& f);
RkhsFunction operator*(const RkhsFunction& f, double c);

// The matrix of |Phi(x) - Phi(y)| = sqrt(k(x,x) + k(y,y) - 2 k(x,y)), without Phi: x in the rows of X, y in those of Y. The distance of a
// sample of X to itself is exactly 0. Absolute error about sqrt(eps k(x,x)) where the two are near: a difference of near numbers is
// under the root. Automatic length scales are set from Y, as gram does. Refused for a kernel that is not known to be PSD.
Matrix feature_distance(const Kernel& kernel, const Samples& X, const Run& run = {});
Matrix feature_distance(const Kernel& kernel, const Samples& X, const Samples& Y, const Run& run = {});

}  // namespace mercer

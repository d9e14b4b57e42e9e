// TensorSketch: an explicit map z of L numbers a row with z(x)'z(y) close to the polynomial kernel (offset + scale <x, y>)^degree, whose
// own features would be d^degree.
//
//   TensorSketch sketch = tensor_sketch(X.cols(), {.degree = 3, .scale = 0.5, .offset = 1, .n_components = 512});
//   Matrix Z = sketch.transform(X);
//
// Method: a count sketch hashes the columns (and a constant column sqrt(offset)) to L places with random signs; the sketch of the p-fold
// tensor product of a row is the circular convolution of p independent count sketches of it, taken by FFT. Products are unbiased, with
// variance at most (2 + 3^p) / L times (offset + scale |x|^2)^p (offset + scale |y|^2)^p. Cost: p (nonzeros + L log L) a row; sizes L made
// of small factors are fastest. References: Pham and Pagh, KDD 2013; Avron, Nguyen, Woodruff, NIPS 2014 (the variance). FFT: Eigen's.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct TensorSketchOptions {
  int degree = 2;
  double scale = 1;   // > 0
  double offset = 0;  // >= 0
  Index n_components = 100;
  std::uint64_t seed = 0;
};

class TensorSketch {
 public:
  using Hashes = RowMatrix<std::int32_t>;

  // n x n_components, in float64, or in the type of the memory given (row-major with `stride` numbers a row; sums are float64). The same
  // bits for any number of threads. Throws InvalidArgument for a wrong number of columns and for numbers that are not finite.
  Matrix transform(const Samples& X, const Run& run = {}) const;
  void transform_into(const Samples& X, double* out, Index stride, const Run& run = {}) const;
  void transform_into(const Samples& X, float* out, Index stride, const Run& run = {}) const;

  Kernel kernel() const;  // polynomial(degree, scale, offset)
  int degree() const { return static_cast<int>(places_.rows()); }
  double scale() const { return scale_; }
  double offset() const { return offset_; }
  Index n_features() const { return places_.cols() - (offset_ > 0 ? 1 : 0); }  // columns of X
  Index n_components() const { return n_components_; }
  // degree x columns (and one for the offset, where there is one): the place of each column, and its sign.
  const Hashes& places() const { return places_; }
  const Hashes& signs() const { return signs_; }

  // An error that |z(x)'z(y) - k(x, y)| stays below with this confidence, for one pair, in units of sqrt(k(x, x) k(y, y)): Chebyshev's
  // inequality with the variance above.
  double error_bound(double confidence) const;

  // From its parts. Checks that they agree.
  static TensorSketch from_parts(double scale, double offset, Index n_components, Hashes places, Hashes signs);

 private:
  TensorSketch() = default;
  double scale_ = 1;
  double offset_ = 0;
  Index n_components_ = 0;
  Hashes places_{};
  Hashes signs_{};
};

// Draws the hashes for rows of `width` columns.
TensorSketch tensor_sketch(Index width, const TensorSketchOptions& options = {});

}  // namespace mercer

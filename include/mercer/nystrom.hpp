// The Nystrom map: rows to features z(x) = K_mm^(-1/2) k(x, landmarks), whose products z(x)'z(y) approximate k(x, y), exactly on landmarks.
//
//   NystromMap map = fit_nystrom(X, {.kernel = kernels::gaussian(2.0), .n_components = 100});
//   Matrix Z = map.transform(X);
//
// Method: the symmetric inverse square root by all eigenpairs of K_mm, eigenvalues below 1e-12 taken as 1e-12 (scikit-learn's choice); rows
// in blocks, one GEMM each. Cost: m^3 once, n m (kernel + 2 m) flops a transform. Reference: Williams and Seeger, "Using the Nystrom method
// to speed up kernel machines", 2001. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mercer/falkon.hpp"

namespace mercer {

struct NystromOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Index n_components = 100;  // all rows, if there are not more
  LandmarkMethod landmarks = LandmarkMethod::uniform;
  std::optional<Samples> given_landmarks{};
  double alpha = 1;  // the penalty that leverage scores are taken at
  std::uint64_t seed = 0;
  Run run{};
};

class NystromMap {
 public:
  Matrix transform(const Samples& X, const Run& run = {}) const;  // one row of features for each sample
  // Into memory that the caller has (row-major, `stride` elements a row). Kernel values and products are in `precision`.
  void transform_into(const Samples& X, double* out, Index stride, Precision precision = Precision::float64, const Run& run = {}) const;
  void transform_into(const Samples& X, float* out, Index stride, Precision precision = Precision::float32, const Run& run = {}) const;

  const Kernel& kernel() const { return kernel_; }
  const Samples& landmarks() const { return landmarks_; }
  const std::vector<Index>& landmark_rows() const { return landmark_rows_; }  // which rows they are; empty: they are no rows, or given
  const Matrix& normalization() const { return normalization_; }              // K_mm^(-1/2), symmetric
  Index n_components() const { return normalization_.rows(); }
  Index n_features() const { return landmarks_.width(); }  // columns of X

  // From its parts. Checks that the sizes agree.
  static NystromMap from_parts(Kernel kernel, Samples landmarks, std::vector<Index> landmark_rows, Matrix normalization);

 private:
  NystromMap(Kernel kernel, Samples landmarks) : kernel_(std::move(kernel)), landmarks_(std::move(landmarks)) {}
  Kernel kernel_;
  Samples landmarks_;
  std::vector<Index> landmark_rows_;
  Matrix normalization_;
};

NystromMap fit_nystrom(const Samples& X, const NystromOptions& options = {});

// (trace K - trace of its approximation) / trace K over the rows of X.
double trace_error(const NystromMap& map, const Samples& X, const Run& run = {});

}  // namespace mercer

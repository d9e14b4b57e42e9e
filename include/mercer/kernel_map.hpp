// Feature maps made of kernel values with given points: z(x) = k(x, points) W.
//
//   KernelMap values = fit_empirical_kernel_map(X, {.kernel = k});                  // (k(x, x_1), ..., k(x, x_m))
//   KernelMap white = fit_empirical_kernel_map(X, {.kernel = k, .whiten = true});   // z(x)'z(y) = k(x, y) on the points
//   KernelMap mercer = fit_mercer_map(X, {.kernel = k, .n_components = 20});        // sqrt(lambda_i) psi_i(x)
//
// Empirical map: kernel values as they are; its Gram matrix on the points is K^2. Whitened: W = K^(-1/2), by the pseudo-inverse where K is
// singular, and the Gram matrix is K. Mercer's map: the rows stand for a measure, sum_j w_j delta(x_j) (equal weights: their empirical
// measure; quadrature weights: any other); the eigenpairs (lambda, u) of sqrt(w_i) k(x_i, x_j) sqrt(w_j) are those of the integral operator
// f -> sum_j w_j k(., x_j) f(x_j), and Nystrom's extension psi_i(x) = sum_j sqrt(w_j) u_ij k(x, x_j) / lambda_i gives its eigenfunctions
// everywhere. Products of features are the best approximation of k of that rank in the measure; the inner product of functions
// sum a_i psi_i and sum b_i psi_i in the RKHS is sum a_i b_i / lambda_i.
// Cost: m^3 once (m^2 without whitening), n m (kernel + 2 q) flops a transform of n rows. References: source L ("empirical kernel map",
// "Mercer's theorem"), source N (9)-(10); Williams and Seeger, 2001. SPEC K6. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mercer/falkon.hpp"

namespace mercer {

enum class KernelMapKind : std::uint8_t { empirical, whitened, mercer };
const char* name_of(KernelMapKind kind);  // "empirical", "whitened", "mercer"

struct EmpiricalKernelMapOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  bool whiten = false;
  Index n_components = 0;                              // points chosen among the rows; 0: all
  LandmarkMethod landmarks = LandmarkMethod::uniform;  // how they are chosen
  std::optional<Samples> given_landmarks{};            // the points, instead
  std::optional<double> tolerance{};                   // eigenvalues up to this share of the largest are 0; not given: m eps
  std::uint64_t seed = 0;
  Run run{};
};

struct MercerMapOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Index n_components = 100;  // at most; eigenvalues that are 0 to rounding (m eps of the largest) have no eigenfunction
  Index n_points = 0;        // rows used, drawn uniformly; 0: all
  Vector sample_weight{};    // of the measure, >= 0, made to sum to 1; empty: equal
  std::uint64_t seed = 0;
  Run run{};
};

class KernelMap {
 public:
  Matrix transform(const Samples& X, const Run& run = {}) const;  // one row of features for each sample
  // Into memory that the caller has (row-major, `stride` elements a row). Kernel values and products are float64 in both cases.
  void transform_into(const Samples& X, double* out, Index stride, const Run& run = {}) const;
  void transform_into(const Samples& X, float* out, Index stride, const Run& run = {}) const;

  KernelMapKind kind() const { return kind_; }
  const Kernel& kernel() const { return kernel_; }
  const Samples& points() const { return points_; }
  const std::vector<Index>& point_rows() const { return point_rows_; }  // which rows they are; empty: they are no rows, or given
  const Matrix& projection() const { return projection_; }              // W, points x n_components; empty: the identity
  // Descending: of K (whitened), of the integral operator (Mercer); empty for the empirical map.
  const Vector& eigenvalues() const { return eigenvalues_; }
  Index n_components() const { return projection_.size() == 0 ? points_.size() : projection_.cols(); }
  Index n_features() const { return points_.width(); }  // columns of X

  // From its parts. Checks that the sizes agree.
  static KernelMap from_parts(KernelMapKind kind, Kernel kernel, Samples points, std::vector<Index> point_rows, Matrix projection,
                              Vector eigenvalues);

 private:
  KernelMap(KernelMapKind kind, Kernel kernel, Samples points) : kind_(kind), kernel_(std::move(kernel)), points_(std::move(points)) {}
  KernelMapKind kind_;
  Kernel kernel_;
  Samples points_;
  std::vector<Index> point_rows_{};
  Matrix projection_{};
  Vector eigenvalues_{};
};

KernelMap fit_empirical_kernel_map(const Samples& X, const EmpiricalKernelMapOptions& options = {});
KernelMap fit_mercer_map(const Samples& X, const MercerMapOptions& options = {});

}  // namespace mercer

// Kernel principal component analysis: the directions v_j of a feature space along which the images of the samples vary most.
//
//   auto model = fit_kernel_pca(X, {.kernel = kernels::gaussian(1.0), .n_components = 2});
//   Matrix Z = model.transform(X_new);               // scores <v_j, phi(x) - mean>, one column per component
//   Vector novelty = model.reconstruction_error(X_new);  // |phi(x) - mean|^2 - sum_j score_j^2
//
// Method: eigenvectors of the centred Gram matrix H K H, by the solver that size and budget ask for (the summary says which):
//   dense     all eigenpairs by LAPACK, n^3; small n, or many components
//   krylov    the top few by block Krylov on a stored Gram matrix (half of it, float32 above some thousand samples and then refined on
//             float64 tiles), or on a streamed one where that does not fit; n^2 kernel values
//   low rank  landmarks by randomly pivoted Cholesky, then principal components of their features in one pass over the rows: n m^2, no
//             n x n matrix; grows with new rows (extend)
// With v_j = sum_i C_ij phi(b_i) over the basis b (the samples, or the landmarks) and the mean = sum_i g_i phi(b_i), the score of a new
// point is sum_i C_ij k(x, b_i) - offset_j. Conventions (SPEC C3): eigenvalues are those of the centred Gram matrix; the variance of a
// score is eigenvalue / n (or n - 1); ratios are against the trace of the whole centred Gram matrix, not the sum of what was computed.
// References: source K 3.6, D 4, L ("whitened map"); Schoelkopf, Smola, Mueller 1998. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

enum class KernelPcaSolver : std::uint8_t { automatic, dense, krylov, low_rank };

// What transform gives: scores; scores of unit variance (divided by n - 1, as scikit-learn's PCA does); or the whitened map of source L,
// (H K H)^(-1/2) applied to the centred kernel values, one column per training sample: its products are those of the feature space.
enum class KernelPcaOutput : std::uint8_t { scores, unit_variance, whitened_map };

struct KernelPcaOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Index n_components = 0;  // 0: all with an eigenvalue above rounding
  bool center = true;      // false: the mean is taken as 0 (second moments in place of variances)
  KernelPcaOutput output = KernelPcaOutput::scores;
  KernelPcaSolver solver = KernelPcaSolver::automatic;
  bool remove_zero = false;            // leave out components whose eigenvalue is rounding
  Index rank = 0;                      // landmarks of the low-rank form; 0: the larger of 1000 and 10 n_components
  std::optional<Samples> landmarks{};  // given ones for the low-rank form; not given: chosen by randomly pivoted Cholesky
  double tolerance = 0;                // of |K u - lambda u| / lambda_1; 0: 1e-10 on a float64 Gram matrix, 1e-5 on a float32 one
  Index max_iterations = 0;            // products with the Gram matrix; 0: 200
  Index exact_limit = 20000;           // the automatic solver takes the low-rank form above
  std::uint64_t seed = 0;              // of the landmarks and of the first block
  Run run{};
};

struct KernelPcaSummary {
  std::string solver{};  // "dense", "krylov", "low rank"
  std::string status{};  // "converged" or "iteration limit"
  Index samples = 0;
  Index components = 0;
  Index landmarks = 0;     // of the low-rank form
  Index iterations = 0;    // products with the Gram matrix
  double residual = 0;     // largest |K u - lambda u| / lambda_1 of the components, from float64 kernel values; not known for the low rank
  double trace = 0;        // of the centred Gram matrix: n times the total variance
  double explained = 0;    // share of it
  double trace_error = 0;  // share of the trace that the landmarks do not span
  double seconds = 0;
  std::size_t bytes = 0;  // largest allocation
  std::string sentence{};
};

// What the low-rank form keeps to take in more rows: sums over rows of its features z = L^-1 k(landmarks, x).
struct KernelPcaSums {
  Matrix factor{};      // L, K(landmarks, landmarks) = L L'
  Vector sum{};         // of z
  Matrix squares{};     // of z z'
  double diagonal = 0;  // of k(x, x)
  Index rows = 0;
};

class KernelPcaModel {
 public:
  Matrix transform(const Samples& X, const Run& run = {}) const;
  Matrix predict(const Samples& X, const Run& run = {}) const { return transform(X, run); }  // as models in files have it
  // The scores themselves, whatever `output` says.
  Matrix scores(const Samples& X, const Run& run = {}) const;
  // |phi(x) - P phi(x)|^2, P the projection on mean + span(v): how far a point is from what the components can say. At least 0.
  Vector reconstruction_error(const Samples& X, const Run& run = {}) const;
  // For each row of scores (as transform gives them) the weights over basis() of mean + sum_j score_j v_j, one row each.
  Matrix expansion(const Matrix& scores) const;

  const Kernel& kernel() const { return kernel_; }
  const Samples& basis() const { return basis_; }        // the training samples, or the landmarks
  const Vector& eigenvalues() const { return values_; }  // of the centred Gram matrix, descending
  const Matrix& weights() const { return weights_; }     // C: v_j = sum_i C_ij phi(b_i)
  const Vector& offset() const { return offset_; }       // <v_j, mean>
  const Vector& mean_weights() const { return mean_; }   // g
  double mean_square() const { return mean_square_; }    // |mean|^2
  Matrix eigenvectors() const;                           // n x components, of an exact fit; zero where the eigenvalue is
  Vector explained_variance() const;                     // eigenvalues / (n - 1)
  Vector explained_variance_ratio() const;               // eigenvalues / trace
  Index n_components() const { return values_.size(); }
  Index n_features() const { return basis_.width(); }
  // Columns of transform.
  Index n_targets() const { return output_ == KernelPcaOutput::whitened_map ? basis_.size() : values_.size(); }
  KernelPcaOutput output() const { return output_; }
  bool centered() const { return center_; }
  bool is_low_rank() const { return sums_.rows > 0; }
  const KernelPcaSums& sums() const { return sums_; }
  const KernelPcaSummary& summary() const { return summary_; }

  struct Parts {
    Matrix weights{};
    Vector offset{};
    Vector mean{};
    double mean_square = 0;
    Vector eigenvalues{};
    KernelPcaOutput output = KernelPcaOutput::scores;
    bool center = true;
    KernelPcaSums sums{};
    KernelPcaSummary summary{};
  };
  // From its parts. Checks that the sizes agree.
  static KernelPcaModel from_parts(Kernel kernel, Samples basis, Parts parts);

 private:
  KernelPcaModel(Kernel kernel, Samples basis) : kernel_(std::move(kernel)), basis_(std::move(basis)) {}
  Matrix raw_scores(const Samples& X, bool with_mean, const Run& run) const;

  Kernel kernel_;
  Samples basis_;
  Matrix weights_;
  Vector offset_{};
  Vector mean_{};
  double mean_square_ = 0;
  Vector values_{};
  KernelPcaOutput output_ = KernelPcaOutput::scores;
  bool center_ = true;
  KernelPcaSums sums_;
  KernelPcaSummary summary_;
};

KernelPcaModel fit_kernel_pca(const Samples& X, const KernelPcaOptions& options = {});

// The low-rank model of all rows it has seen and those of X: the same as a fit on all of them with its landmarks, which stay. The summary's
// trace_error tells when they no longer span what comes in.
KernelPcaModel extend_kernel_pca(const KernelPcaModel& model, const Samples& X, const Run& run = {});

}  // namespace mercer

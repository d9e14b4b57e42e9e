// Principal component analysis: the orthogonal directions along which rows vary most, and rows as their scores along them.
//
//   auto model = fit_pca(X, {.n_components = 2});
//   Matrix Z = model.transform(X_new);             // principal components (scores): (x - mean)'v_j
//   Matrix R = model.inverse_transform(Z);         // the nearest points of the principal subspace
//
// Method, chosen by shape (the summary says which):
//   svd         thin singular value decomposition of the centred rows; keeps all digits of small singular values
//   covariance  all eigenpairs of the p x p covariance, rows in chunks; many more rows than columns
//   gram        all eigenpairs of the n x n matrix of products; many more columns than rows
//   krylov      the top few by block Krylov on products with the centred rows, which are never formed; large and sparse rows
// Words (SPEC C3): directions v_j are the rows of components(), principal components are the scores. Variances are divided by n - 1, as
// scikit-learn has them; source K divides by n. Float32 and sparse rows are taken as they are, sums are float64.
// References: source K 2.3; Minka, Automatic choice of dimensionality for PCA, 2000; Tipping and Bishop, Probabilistic PCA, 1999.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

enum class PcaRoute : std::uint8_t { automatic, svd, covariance, gram, krylov };

struct PcaOptions {
  Index n_components = 0;           // 0: as many as there are, min(n, p)
  double variance_fraction = 0;     // in (0, 1): the fewest components whose share of the variance is above it; overrides n_components
  bool maximum_likelihood = false;  // Minka's choice of their number; needs n >= p
  bool whiten = false;              // scores of unit variance
  PcaRoute route = PcaRoute::automatic;
  double tolerance = 1e-10;    // of the Krylov route: |C v - lambda v| / lambda_1
  Index max_iterations = 300;  // of the Krylov route: products
  std::uint64_t seed = 0;      // of its first block
  Run run{};
};

struct PcaSummary {
  std::string route{};
  std::string status{};
  Index samples = 0;
  Index components = 0;
  Index iterations = 0;  // products of the Krylov route
  double explained = 0;  // share of the variance
  double seconds = 0;
  std::string sentence{};
};

class PcaModel {
 public:
  Matrix transform(const Samples& X, const Run& run = {}) const;
  Matrix predict(const Samples& X, const Run& run = {}) const { return transform(X, run); }  // as models in files have it
  Matrix inverse_transform(const MatrixRef& scores) const;
  // |x - its reconstruction|^2 of each row.
  Vector reconstruction_error(const Samples& X, const Run& run = {}) const;

  const Matrix& components() const { return components_; }  // directions, one a row
  const Vector& mean() const { return mean_; }
  const Vector& explained_variance() const { return variance_; }  // of the scores, divided by n - 1
  Vector explained_variance_ratio() const;                        // of the total variance
  Vector singular_values() const;                                 // of the centred rows
  double total_variance() const { return total_variance_; }
  double noise_variance() const { return noise_variance_; }  // mean variance of the directions left out
  bool whiten() const { return whiten_; }
  Index n_components() const { return components_.rows(); }
  Index n_features() const { return mean_.size(); }
  Index n_targets() const { return components_.rows(); }  // columns of transform
  const PcaSummary& summary() const { return summary_; }

  // From its parts. Checks that the sizes agree.
  static PcaModel from_parts(Matrix components, Vector mean, Vector variance, double total_variance, double noise_variance, bool whiten,
                             PcaSummary summary);

 private:
  PcaModel() = default;
  Matrix components_;
  Vector mean_{};
  Vector variance_{};
  double total_variance_ = 0;
  double noise_variance_ = 0;
  bool whiten_ = false;
  PcaSummary summary_;
};

PcaModel fit_pca(const Samples& X, const PcaOptions& options = {});

// The number of components that Minka's approximation of the evidence asks for, from all p variances of n samples, descending.
Index minka_dimension(const Vector& variances, Index samples);

}  // namespace mercer

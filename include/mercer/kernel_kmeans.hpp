// Kernel k-means: min over a partition into k clusters of sum_i w_i |psi(x_i) - m_c(i)|^2, m_c the mean of its cluster in the feature
// space.
//
//   KernelKMeansModel model = fit_kernel_kmeans(X, {.kernel = kernels::gaussian(0.5), .clusters = 2});
//   model.labels();                                    // of the rows of X
//   std::vector<Index> c = model.classes(X_new);       // the nearest mean of new rows
//   Matrix d = model.distances(X_new);                 // |psi(x) - m_c|, one column per cluster
//
// Two routes, chosen by size and said in the summary. Exact: a stored Gram matrix, k-means++ and Lloyd's iterations by changes of sums and
// bounds (solvers/kernel_kmeans.hpp). Low rank: K ~ F F' by randomly pivoted Cholesky, plain k-means on the rows of F; the means lie in the
// span of the pivots, so distances to them and the inertia are exact all the same. Cost: n^2 kernel values, or n m and n m^2 multiply-adds.
// A fit is the same for any number of threads. References: Schoelkopf, Smola, Mueller 1998; Dhillon, Guan, Kulis 2004; source D section 3.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct KernelKMeansOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Index clusters = 8;
  Vector sample_weight{};  // empty: all 1; a sample of weight zero gets a label and nothing else
  enum class Method : std::uint8_t { automatic, exact, low_rank } method = Method::automatic;
  Index restarts = 10;
  Index max_iterations = 300;
  double tolerance = 1e-4;  // stop when the squared movements of the means add up to at most this share of the variance; 0: at rest
  std::optional<Precision> precision{};  // of the stored Gram matrix; not given: float64, or float32 where only that fits the memory
  Index exact_limit = 20000;             // the automatic method takes the low-rank route above, or where the matrix does not fit
  Index landmarks = 0;                   // rank of that route; 0: 2 sqrt(n), between 200 and 1000
  std::uint64_t seed = 0;
  Run run{};
};

struct KernelKMeansSummary {
  Index samples = 0;
  Index wanted = 0;    // clusters asked for
  Index clusters = 0;  // and found: fewer where samples coincide
  double inertia = 0;  // sum of w_i |psi(x_i) - m_c(i)|^2
  Index iterations = 0;
  Index restart = 0;  // the best one, counted from 0
  bool converged = false;
  std::string method{};    // "exact" or "low rank"
  Index rank = 0;          // of the low-rank route
  double trace_error = 0;  // its share of the trace
  double looked_at = 1;    // share of the rows, over all iterations, that bounds did not decide
  std::size_t bytes = 0;
  double seconds = 0;
  std::string sentence{};
};

class KernelKMeansModel {
 public:
  // |psi(x) - m_c|, n x clusters. NotOffered for new objects of a given Gram matrix: k(x, x) is not among their kernel values.
  Matrix distances(const Samples& X, const Run& run = {}) const;
  std::vector<Index> classes(const Samples& X, const Run& run = {}) const;  // the nearest mean
  // <m_c, psi(x)> - |m_c|^2 / 2, n x clusters: the largest is the nearest. As models in files have it.
  Matrix predict(const Samples& X, const Run& run = {}) const;
  double inertia(const Samples& X, const Run& run = {}) const;  // sum of the squared distances to the nearest means

  const Kernel& kernel() const { return kernel_; }
  const Samples& samples() const { return samples_; }             // b_i: the training rows, or the pivots
  const Matrix& coefficients() const { return coefficients_; }    // A, samples x clusters: m_c = sum_i A_ic psi(b_i)
  const Vector& squared_norms() const { return squared_norms_; }  // |m_c|^2
  const std::vector<Index>& labels() const { return labels_; }    // of the training rows
  std::vector<Index> sizes() const;                               // training rows in each cluster
  Index clusters() const { return coefficients_.cols(); }
  Index n_targets() const { return clusters(); }
  const KernelKMeansSummary& summary() const { return summary_; }

  static KernelKMeansModel from_parts(Kernel kernel, Samples samples, Matrix coefficients, Vector squared_norms, std::vector<Index> labels,
                                      KernelKMeansSummary summary);

 private:
  KernelKMeansModel(Kernel kernel, Samples samples) : kernel_(std::move(kernel)), samples_(std::move(samples)) {}
  Kernel kernel_;
  Samples samples_;
  Matrix coefficients_;
  Vector squared_norms_{};
  std::vector<Index> labels_{};
  KernelKMeansSummary summary_;
};

KernelKMeansModel fit_kernel_kmeans(const Samples& X, const KernelKMeansOptions& options = {});

}  // namespace mercer

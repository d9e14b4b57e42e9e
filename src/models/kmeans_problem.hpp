// Samples made ready for kernel k-means with any number of clusters: a stored Gram matrix or a low-rank factor, made once.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "mercer/kernel_kmeans.hpp"
#include "mercer/linear_operator.hpp"
#include "solvers/kernel_kmeans.hpp"
#include "solvers/pivoted_cholesky.hpp"

namespace mercer {

class KMeansProblem {
 public:
  // Checks the options but for `clusters`; the kernel is resolved on X. Call within with_threads.
  KMeansProblem(const Samples& X, const KernelKMeansOptions& options);

  const Kernel& kernel() const { return kernel_; }
  const Samples& samples() const { return X_; }
  bool low_rank() const { return gram_ == nullptr; }
  std::string describe() const;

  solvers::KernelKMeans partition(Index clusters, std::uint64_t seed) const;
  KernelKMeansModel fit(Index clusters, std::uint64_t seed) const;

 private:
  void store(const KernelKMeansOptions& options);
  void factorise(const KernelKMeansOptions& options);
  solvers::KernelKMeans low_rank_partition(Index clusters, std::uint64_t seed, Matrix* centres) const;
  KernelKMeansModel exact_model(solvers::KernelKMeans found, KernelKMeansSummary summary) const;

  Samples X_;
  Kernel kernel_;
  Vector weights_{};
  KernelKMeansOptions options_;
  Operator gram_{};
  PivotedCholesky factor_{};
  double residual_ = 0;  // sum of w_i (K_ii - |F_i|^2)
  std::size_t bytes_ = 0;
};

// Throws unless 1 <= clusters <= n.
void require_clusters(Index clusters, Index n);

}  // namespace mercer

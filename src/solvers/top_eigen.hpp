// The largest eigenvalues of a symmetric matrix that is known by its products, with their vectors.
//
// Method: block Krylov with thick restarts: a basis Q is enlarged by the residuals of the wanted Ritz vectors (which span the next Krylov
// block), A is reduced to Q'AQ, and when the basis is full it shrinks to its best Ritz vectors. Full orthogonalisation, twice. A block of b
// finds eigenvalues of multiplicity b. Vectors that are known already are kept out of the basis. Cost: b products and about 4 n m b
// multiply-adds a step, m the size of the basis; 2 n m numbers. References: Wu and Simon, Thick-restart Lanczos, 2000; Saad, Numerical
// methods for large eigenvalue problems, 6.6. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer::solvers {

struct TopEigenOptions {
  double tolerance = 1e-8;     // of every residual |A v - theta v|, relative to the largest |theta|
  Index max_products = 20000;  // of A with a vector
  Index block = 4;
  Index basis = 0;  // 0: 3 k + 40
  std::uint64_t seed = 0;
  ProgressCallback progress{};
};

struct TopEigen {
  Vector values{};            // descending
  Eigen::MatrixXd vectors{};  // n x k, orthonormal; the largest entry of each is positive
  double residual = 0;        // the largest |A v - theta v|
  Index products = 0;
  bool converged = false;
};

// `apply(V)` gives A V for a block of columns. `known`: orthonormal eigenvectors (n x any) to which the answer is orthogonal.
// 1 <= k <= n - known.
TopEigen top_eigen(Index n, Index k, const std::function<Eigen::MatrixXd(const Eigen::MatrixXd&)>& apply, const Eigen::MatrixXd& known,
                   const TopEigenOptions& options);

// Each column times 1 or -1, so that its entry of largest size (the first of these) is positive.
void fix_signs(Eigen::Ref<Eigen::MatrixXd> vectors);

}  // namespace mercer::solvers

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <limits>

#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"

namespace mercer {

GramCheck check_gram(const MatrixRef& K, const Run& run) {
  if (K.rows() != K.cols() || K.rows() == 0)
    throw InvalidArgument(fmt::format("a Gram matrix is square and not empty, got {} x {}", K.rows(), K.cols()));
  require_finite(K, "the Gram matrix");
  const auto n = static_cast<std::size_t>(K.rows());
  require_memory(4 * n * n * sizeof(double), run.memory, fmt::format("the spectrum of a {0} x {0} matrix", n),
                 "check a sample of the rows");
  GramCheck check;
  check.asymmetry = (K - K.transpose()).cwiseAbs().maxCoeff();
  const double largest_entry = K.cwiseAbs().maxCoeff();
  check.symmetric = check.asymmetry <= 4 * std::numeric_limits<double>::epsilon() * largest_entry;
  with_threads(run.threads, [&] {
    const linalg::SymmetricEigen eigen = linalg::symmetric_eigen((K + K.transpose()) / 2, run.progress, run.memory);
    const Vector& values = eigen.values;
    check.smallest_eigenvalue = values[0];
    check.largest_eigenvalue = values[values.size() - 1];
    check.tolerance = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * values.cwiseAbs().maxCoeff();
    check.psd = check.smallest_eigenvalue >= -check.tolerance;
    check.rank = (values.array() > check.tolerance).count();
    if (!check.psd) check.violating = eigen.vectors.row(0).transpose();
  });
  return check;
}

std::string GramCheck::verdict() const {
  if (!symmetric) {
    return fmt::format("not a Gram matrix: it is not symmetric, K_ij and K_ji differ by up to {:.3g}", asymmetry);
  }
  if (!psd) {
    return fmt::format(
        "not a Gram matrix: v'Kv = {:.6g} < 0 for a unit vector v (rounding alone explains {:.1g}); the largest eigenvalue is {:.6g}",
        smallest_eigenvalue, tolerance, largest_eigenvalue);
  }
  return fmt::format("a Gram matrix: symmetric and positive semi-definite, eigenvalues from {:.6g} to {:.6g}, numerical rank {}",
                     smallest_eigenvalue, largest_eigenvalue, rank);
}

}  // namespace mercer

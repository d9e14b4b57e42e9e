// SPDX-License-Identifier: BSD-3-Clause
#include "models/normal_equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "linalg/cholesky.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

bool solve_cholesky(const Matrix& S, double alpha, Matrix& right, const Run& run) {
  using Tiles = linalg::SymmetricTiles<double>;
  Tiles A(S.rows());
  constexpr Index edge = linalg::cholesky_tile;
  parallel_for(A.tiles(), [&](Index i) {
    for (Index j = 0; j <= i; ++j) {
      for (Index r = 0; r < A.tile_rows(i); ++r)
        std::copy_n(S.row(i * edge + r).data() + j * edge, A.tile_rows(j), A.tile(i, j) + r * Tiles::stride());
    }
  });
  A.add_to_diagonal(alpha);
  if (linalg::cholesky(A, run.progress) >= 0) return false;
  linalg::cholesky_solve(A, right);
  return right.allFinite();
}

Matrix solve_spectrum(Matrix S, double alpha, const Matrix& right, double rounding, const Run& run, Index& rank) {
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(std::move(S), run.progress, run.memory);
  const double cut = rounding * eigen.values.cwiseAbs().maxCoeff();
  const Vector inverse = eigen.values.unaryExpr([&](double value) { return value > cut ? 1 / (value + alpha) : 0.0; });
  rank = std::min<Index>(rank, (inverse.array() != 0).count());
  return eigen.vectors.transpose() * (inverse.asDiagonal() * (eigen.vectors * right));
}

}  // namespace

std::size_t ridge_from_sums_bytes(Index features) {
  return static_cast<std::size_t>(std::min(16.0 * static_cast<double>(features) * static_cast<double>(features), 1e18));
}

RidgeFromSums ridge_from_sums(const NormalSums& sums, const Vector& alpha, bool fit_intercept, Precision precision, const Run& run) {
  const Index m = sums.features();
  require_memory(ridge_from_sums_bytes(m), run.memory, fmt::format("the normal equations of {} features", m), "use fewer components");
  Matrix S = sums.gram();
  const Matrix right = fit_intercept ? sums.centred_cross() : sums.cross();
  const Vector feature_sums = sums.feature_sums();
  if (fit_intercept) S.noalias() -= feature_sums / sums.weight() * feature_sums.transpose();
  RidgeFromSums out;
  out.rank = m;
  out.coef = Matrix::Zero(m, sums.targets());
  // What rounding may have made of an eigenvalue that is zero: one unit of the products' precision for each of so many random errors.
  const double unit = precision == Precision::float32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const double rounding = unit * std::max(10.0, precision == Precision::float64 ? static_cast<double>(m) : 0.0);
  std::map<double, std::vector<Index>> by_alpha;  // one factorisation each
  for (Index t = 0; t < alpha.size(); ++t) by_alpha[alpha[t]].push_back(t);
  for (const auto& [a, targets] : by_alpha) {
    Matrix solution = right(Eigen::all, targets);
    if (a == 0 || !solve_cholesky(S, a, solution, run)) {
      out.method = "pseudo-inverse";
      solution = solve_spectrum(S, a, right(Eigen::all, targets), rounding, run, out.rank);
    }
    out.coef(Eigen::all, targets) = solution;
  }
  const Matrix residual = S * out.coef + out.coef * alpha.asDiagonal() - right;
  for (Index t = 0; t < alpha.size(); ++t) {
    const double scale = right.col(t).norm();
    out.residual = std::max(out.residual, residual.col(t).norm() / (scale > 0 ? scale : 1));
  }
  out.intercept = Vector::Zero(sums.targets());
  if (fit_intercept) out.intercept = sums.target_means() - out.coef.transpose() * feature_sums / sums.weight();
  return out;
}

}  // namespace mercer

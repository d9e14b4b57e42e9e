// Notation: d what is left of the diagonal, S the candidates of a round, H = (K - F F')(S, S), T the accepted ones.
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/pivoted_cholesky.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "linalg/blas.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

constexpr Index block_size = 128;
constexpr Index band = 256;
constexpr double rounding = 1e-14;  // a pivot below this share of the largest diagonal entry is rounding

// Draws `count` indices with probability proportional to d.
std::vector<Index> draw(const Vector& d, Index count, RandomStream& random) {
  std::vector<double> sums(static_cast<std::size_t>(d.size()));
  double total = 0;
  for (Index i = 0; i < d.size(); ++i) sums[static_cast<std::size_t>(i)] = total += d[i];
  std::vector<Index> drawn(static_cast<std::size_t>(count));
  for (Index& index : drawn) {
    const auto at = std::upper_bound(sums.begin(), sums.end(), random.uniform() * total);
    index = std::min<Index>(at - sums.begin(), d.size() - 1);
  }
  return drawn;
}

struct Accepted {
  std::vector<Index> places;  // within the candidates
  Matrix L;                   // Cholesky factor of H(T, T), lower
};

// One pass of Cholesky over the candidates in their order; each is taken with the probability that what the earlier ones left of it is of
// what it had. H is overwritten.
Accepted accept(Matrix& H, Index most, double smallest, RandomStream& random) {
  const Index b = H.rows();
  const Vector initial = H.diagonal();
  Accepted out;
  Matrix columns(b, b);  // of the factor, by candidate
  for (Index i = 0; i < b && std::ssize(out.places) < most; ++i) {
    if (random.uniform() * initial[i] >= H(i, i) || H(i, i) <= smallest) continue;
    const Vector column = H.col(i) / std::sqrt(H(i, i));
    columns.col(std::ssize(out.places)) = column;
    out.places.push_back(i);
    H -= column * column.transpose();
  }
  const auto k = std::ssize(out.places);
  out.L = Matrix::Zero(k, k);
  for (Index r = 0; r < k; ++r) out.L.row(r).head(r + 1) = columns.row(out.places[static_cast<std::size_t>(r)]).head(r + 1);
  return out;
}

}  // namespace

PivotedCholesky pivoted_cholesky(const Vector& diagonal, const std::function<Matrix(std::span<const Index>)>& columns,
                                 const PivotedCholeskyOptions& options) {
  const Index n = diagonal.size();
  if (n == 0) throw InvalidArgument("a low-rank factor needs at least one sample");
  if (options.rank < 1) throw InvalidArgument(fmt::format("the rank must be at least 1, got {}", options.rank));
  if (!(diagonal.minCoeff() >= 0))
    throw InvalidArgument(
        fmt::format("the diagonal of a kernel matrix must be >= 0, got {}: the kernel is not positive semi-definite", diagonal.minCoeff()));
  const Index rank = std::min(options.rank, n);
  PivotedCholesky out;
  out.trace = diagonal.sum();
  out.factor = Matrix::Zero(n, rank);
  Vector d = diagonal;
  RandomStream random(options.seed, 71);
  Stage stage(options.progress, "low-rank factor", static_cast<double>(rank));
  const double smallest = rounding * diagonal.maxCoeff();
  Index done = 0;
  while (done < rank && d.sum() > std::max(options.tolerance * out.trace, static_cast<double>(n) * smallest)) {
    const Index count = std::min({block_size, n, std::max<Index>(1, 2 * (rank - done))});
    const std::vector<Index> S = draw(d, count, random);
    const Matrix C = columns(S);
    const Matrix FS = out.factor(S, Eigen::seqN(0, done));
    Matrix H = C(S, Eigen::all);
    if (done > 0) H -= FS * FS.transpose();
    const Accepted accepted = accept(H, rank - done, smallest, random);
    const auto k = std::ssize(accepted.places);
    if (k == 0) {  // what is left is rounding at the places drawn
      for (const Index i : S) d[i] = 0;
      continue;
    }
    const Matrix FT = FS(accepted.places, Eigen::all);
    parallel_for((n + band - 1) / band, [&](Index b) {
      const Index first = b * band;
      const Index rows = std::min(band, n - first);
      Matrix G = C.middleRows(first, rows)(Eigen::all, accepted.places);
      if (done > 0) linalg::gemm_nt(rows, k, done, -1.0, out.factor.row(first).data(), rank, FT.data(), FT.outerStride(), 1.0, G.data(), k);
      cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(rows), static_cast<int>(k), 1.0,
                  accepted.L.data(), static_cast<int>(k), G.data(), static_cast<int>(k));
      out.factor.block(first, done, rows, k) = G;
      d.segment(first, rows) -= G.rowwise().squaredNorm();
    });
    d = d.cwiseMax(0.0);
    for (const Index place : accepted.places) {
      out.pivots.push_back(S[static_cast<std::size_t>(place)]);
      d[out.pivots.back()] = 0;
    }
    done += k;
    stage.advance(static_cast<double>(k));
  }
  out.factor.conservativeResize(n, done);
  out.trace_error = d.sum();
  return out;
}

}  // namespace mercer

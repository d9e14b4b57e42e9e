// Kernel PCA on landmarks: with T the landmarks, K_TT = L L' and z(x) = L^-1 k(T, x), products z(x)'z(y) are those of the features'
// projections on the span of phi(T). Principal components of z need the sums of z and z z' alone, which rows add to one by one.
//
// Trace: around the projected mean, sum_i k(x_i, x_i) - n |mean z|^2; the true mean would need n^2 kernel values, and differs by less than
// what the landmarks do not span. Cost: n m (kernel + 2 m) flops, n independent memory.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gram/pivoted_cholesky.hpp"
#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "linalg/triangular.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "models/kernel_pca_parts.hpp"

namespace mercer {

namespace {

constexpr Index rows_per_landmark = 20;  // of the pool that landmarks are chosen from
constexpr Index chunk = 4096;

// S += Z'Z on and above the diagonal, in panels of columns.
void add_squares(const Matrix& Z, Matrix& S) {
  constexpr Index panel = 64;
  const Index m = Z.cols();
  parallel_for((m + panel - 1) / panel, [&](Index p) {
    const Index first = p * panel;
    linalg::gemm_n(true, std::min(panel, m - first), m - first, Z.rows(), 1.0, Z.data() + first, m, Z.data() + first, m, 1.0,
                   S.data() + first * m + first, m);
  });
}

Matrix symmetric_from_upper(const Matrix& S) {
  Matrix out = S;
  out.triangularView<Eigen::StrictlyLower>() = S.transpose();
  return out;
}

}  // namespace

LowRankStart low_rank_start(const Kernel& kernel, const Samples& X, Index components, const KernelPcaOptions& o) {
  Samples pool = X;
  Index rank = o.rank > 0 ? o.rank : std::max<Index>(1000, 10 * components);
  if (o.landmarks) {
    pool = as_given(kernel, *o.landmarks);
    if (pool.empty() || pool.width() != X.width())
      throw InvalidArgument(fmt::format("{} landmarks of {} columns were given, X has {} columns", pool.size(), pool.width(), X.width()));
    rank = pool.size();
  } else if (X.size() > rows_per_landmark * rank) {
    std::vector<Index> rows = RandomStream(o.seed, 85).sample(X.size(), rows_per_landmark * rank);
    std::sort(rows.begin(), rows.end());
    pool = X.subset(rows);
  }
  const PivotedCholesky chosen =
      pivoted_cholesky(kernel, pool, {.rank = rank, .tolerance = 1e-13, .seed = o.seed, .progress = o.run.progress}, o.run.memory);
  if (chosen.pivots.empty()) throw InvalidArgument(fmt::format("the kernel {} vanishes on all samples", kernel.text()));
  const Index m = std::ssize(chosen.pivots);
  LowRankStart out{pool.subset(chosen.pivots), {}};
  out.sums.factor = Matrix::Zero(m, m);
  for (Index i = 0; i < m; ++i)
    out.sums.factor.row(i).head(i + 1) = chosen.factor.row(chosen.pivots[static_cast<std::size_t>(i)]).head(i + 1);
  out.sums.sum = Vector::Zero(m);
  out.sums.squares = Matrix::Zero(m, m);
  return out;
}

void add_rows(const Kernel& kernel, const Samples& landmarks, const Samples& X, KernelPcaSums& sums, const Run& run) {
  sums.diagonal += gram_diagonal(kernel, X).sum();
  Stage stage(run.progress, "landmark features", static_cast<double>(X.size()));
  Matrix S = sums.squares;
  X.for_each_chunk(chunk, [&](const Samples& rows, Index) {
    Matrix Z = gram(kernel, rows, landmarks);
    linalg::solve_right_lower_transposed(sums.factor, Z);
    sums.sum += Z.colwise().sum().transpose();
    add_squares(Z, S);
    stage.advance(static_cast<double>(rows.size()));
  });
  sums.squares = symmetric_from_upper(S);
  sums.rows += X.size();
}

KernelPcaModel::Parts low_rank_parts(KernelPcaSums sums, Index components, bool center, bool remove_zero, const Run& run) {
  const auto n = static_cast<double>(sums.rows);
  const Index m = sums.factor.rows();
  const Vector mean = center ? Vector(sums.sum / n) : Vector(Vector::Zero(m));
  Matrix S = sums.squares;
  if (center) S -= n * mean * mean.transpose();
  linalg::SymmetricEigen eigen;
  // One thread where that is quick: the same bits however many there are.
  with_threads(m <= 1000 ? 1 : 0, [&] { eigen = linalg::symmetric_eigen(std::move(S), run.progress, run.memory); });
  const Vector values = eigen.values.reverse();
  Index kept = std::min(components, m);
  const auto positive = (values.array() > zero_eigenvalue * values[0]).count();
  kept = std::max<Index>(1, remove_zero ? std::min<Index>(kept, positive) : kept);
  KernelPcaModel::Parts parts;
  parts.eigenvalues = values.head(kept);
  for (double& value : parts.eigenvalues) value = value > zero_eigenvalue * values[0] ? value : 0;
  Matrix W = eigen.vectors.colwise().reverse().topRows(kept).transpose();
  // Signs by the scores of the landmarks.
  const Matrix scores = (sums.factor.rowwise() - mean.transpose()) * W;
  for (Index j = 0; j < kept; ++j) {
    Index largest = 0;
    scores.col(j).cwiseAbs().maxCoeff(&largest);
    if (scores(largest, j) < 0) W.col(j) *= -1;
    if (parts.eigenvalues[j] == 0) W.col(j).setZero();
  }
  parts.offset = W.transpose() * mean;
  parts.weights = std::move(W);
  linalg::solve_lower_transposed(sums.factor, parts.weights);
  Matrix g = mean;
  linalg::solve_lower_transposed(sums.factor, g);
  parts.mean = g.col(0);
  parts.mean_square = mean.squaredNorm();
  parts.center = center;
  KernelPcaSummary& s = parts.summary;
  s.solver = "low rank";
  s.status = "converged";
  s.landmarks = m;
  s.samples = sums.rows;
  s.trace = sums.diagonal - n * mean.squaredNorm();
  s.trace_error = s.trace > 0 ? std::max(0.0, (sums.diagonal - sums.squares.trace()) / s.trace) : 0;
  s.bytes = static_cast<std::size_t>(m) * static_cast<std::size_t>(std::max<Index>(3 * m, chunk)) * sizeof(double);
  parts.sums = std::move(sums);
  return parts;
}

}  // namespace mercer

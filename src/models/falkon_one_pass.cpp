// The one-pass route: sums over the rows, then a dense solve in whitened coordinates.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gram/fill.hpp"
#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "linalg/triangular.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/falkon_parts.hpp"

namespace mercer::falkon {

namespace {

constexpr std::size_t panel_bytes = 32'000'000;
constexpr Index slice_rows = 2048;  // of NormalSums

// The smallest eigenvalue of L L' by some steps of inverse iteration: at most too large, by little.
double smallest_eigenvalue(const Matrix& L) {
  constexpr int steps = 12;
  Matrix v = Matrix::Ones(L.rows(), 1);
  for (Index i = 0; i < v.rows(); i += 2) v(i, 0) = -1;  // the constant is what smooth kernels see best
  double growth = 1;
  for (int step = 0; step < steps; ++step) {
    v /= v.norm();
    linalg::solve_lower(L, v);
    linalg::solve_lower_transposed(L, v);
    growth = v.norm();
  }
  return 1 / growth;
}

// k(x, x) of some samples, summed with their weights.
double trace_of(const Kernel& kernel, const RowChunk& chunk) {
  const double weight = chunk.weight.size() == 0 ? static_cast<double>(chunk.X.size()) : chunk.weight.sum();
  if (kernel.is_shift_invariant() == Verdict::yes) return weight * gram_diagonal(kernel, chunk.X.slice(0, 1))[0];
  const Vector diagonal = gram_diagonal(kernel, chunk.X);
  return chunk.weight.size() == 0 ? diagonal.sum() : diagonal.dot(chunk.weight);
}

// K values of the chunk's rows against the landmarks, computed in T, kept in S.
template <class T, class S>
void fill_panel(const PreparedKernel<T>& kernel, S* panel) {
  const Index n = kernel.rows();
  const Index m = kernel.cols();
  parallel_for(block_count(n), [&](Index a) {
    const Range I = block_range(a, n);
    for (Index b = 0; b < block_count(m); ++b) {
      const Range J = block_range(b, m);
      S* out = panel + I.begin * m + J.begin;
      if constexpr (std::is_same_v<T, S>) {
        kernel.tile(I, J, Tile<T>{out, I.count, J.count, m});
      } else {
        TileMemory<T> memory;
        const Tile<T> tile = memory.tile(I.count, J.count);
        kernel.tile(I, J, tile);
        for (Index i = 0; i < I.count; ++i) std::copy_n(tile.row(i), J.count, out + i * m);
      }
    }
  });
}

template <class T, class S>
LandmarkSums accumulate_as(const Kernel& kernel, const Samples& Z, const RowSource& source, const Run& run) {
  const Index m = Z.size();
  const Index rows = panel_rows(m, sizeof(S), memory_budget(run.memory));
  LandmarkSums out{NormalSums(m, source.targets())};
  Buffer<S> panel(static_cast<std::size_t>(std::min(rows, source.rows()) * m));
  Stage stage(run.progress, "sums over rows", static_cast<double>(source.rows()));
  source.for_each_chunk(rows, [&](const RowChunk& chunk) {
    fill_panel<T, S>(PreparedKernel<T>(kernel, chunk.X, Z), panel.data());
    out.sums.accumulate(Eigen::Map<const RowMatrix<S>>(panel.data(), chunk.X.size(), m), chunk.Y, chunk.weight);
    out.weighted_trace += trace_of(kernel, chunk);
    stage.advance(static_cast<double>(chunk.X.size()));
  });
  return out;
}

// beta with (A + alpha I) beta = q, by the spectrum: the least norm where A + alpha I is singular to rounding.
Matrix solve_by_spectrum(const Matrix& A, double alpha, const Matrix& q, const Run& run) {
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(A, run.progress, run.memory);
  const double cut = static_cast<double>(A.rows()) * std::numeric_limits<double>::epsilon() * eigen.values.cwiseAbs().maxCoeff();
  const Vector inverse = eigen.values.unaryExpr([&](double v) { return v + alpha > cut ? 1 / (v + alpha) : 0.0; });
  return eigen.vectors.transpose() * (inverse.asDiagonal() * (eigen.vectors * q));
}

}  // namespace

Index panel_rows(Index landmarks, std::size_t bytes_per_number, std::size_t budget) {
  const std::size_t room = std::min(panel_bytes, budget / 8);
  const auto rows = static_cast<Index>(room / (static_cast<std::size_t>(landmarks) * bytes_per_number));
  if (rows >= slice_rows) return std::min<Index>(rows / slice_rows, 4) * slice_rows;
  return std::max<Index>(rows / tile_size, 1) * tile_size;
}

Whitening whiten(const Kernel& kernel, const Samples& landmarks, double jitter, const Run& run) {
  const Index m = landmarks.size();
  const Matrix K = gram(kernel, landmarks, {.run = run});
  Whitening out;
  out.largest = K.diagonal().maxCoeff();
  if (!(out.largest > 0)) throw InvalidArgument(fmt::format("{} is zero on all landmarks: nothing can be learned with it", kernel.text()));
  out.mean_square = K.squaredNorm() / static_cast<double>(m * m);
  // Rounding makes eigenvalues of a singular K_mm as negative as m eps; what has to be added beyond that is no rounding.
  const double unit = static_cast<double>(m) * std::numeric_limits<double>::epsilon() * out.largest;
  for (const double factor : {1.0, 10.0, 100.0, 1000.0, 1e4}) {
    const double added = std::max(jitter, factor * unit);
    if (std::optional<Matrix> L = linalg::cholesky_lower(K, added, run.progress)) {
      out.L = std::move(*L);
      out.jitter = added;
      out.smallest = smallest_eigenvalue(out.L);
      return out;
    }
  }
  throw InvalidArgument(
      fmt::format("{} is not positive semi-definite on the landmarks; use a kernel that is (mercer gram --check tells), or kernel ridge",
                  kernel.text()));
}

Noise noise_of(const Whitening& w, Index rows, double alpha, Precision values, Precision sums, Index depth) {
  const auto n = static_cast<double>(rows);
  const auto m = static_cast<double>(w.L.rows());
  const double value_error = (values == Precision::float32 ? 5e-7 : 1e-15) * w.largest;
  const double eps = sums == Precision::float32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  Noise out;
  // Errors of kernel values add up as squares. Sums of `depth` products are wrong by an eps of their value or so, each at random, and a
  // random matrix has a norm of sqrt(m) entries.
  out.size = n * value_error * value_error + eps * std::sqrt(static_cast<double>(std::min(depth, rows)) * n * m) * w.mean_square;
  out.quiet = out.size <= 0.02 * w.smallest * (n / m * w.smallest + alpha);
  // Either enough to drown the noise in alpha, or up to where G itself, (n/m) mu^2, stands out of it.
  out.jitter = std::sqrt(10 * out.size * m / n);
  // Sums that are wrong stay wrong, so they are drowned deep; conjugate gradients meet new errors at each step, and stop at them.
  const double depth_of_drowning = depth == gradients_depth ? 2 : 30;
  if (alpha > 0) out.jitter = std::min(out.jitter, depth_of_drowning * out.size / alpha);
  out.harmless = out.quiet || out.jitter <= 0.01 * alpha * m / n;
  return out;
}

LandmarkSums accumulate(const Kernel& kernel, const Samples& Z, const RowSource& source, Precision precision, Precision sums_precision,
                        const Run& run) {
  if (precision == Precision::float64) return accumulate_as<double, double>(kernel, Z, source, run);
  if (sums_precision == Precision::float64) return accumulate_as<float, double>(kernel, Z, source, run);
  return accumulate_as<float, float>(kernel, Z, source, run);
}

Vector spread_of(const NormalSums& sums) {
  const Vector variance = sums.target_variation() / sums.weight();
  return (variance.array() > 0).select(variance.cwiseSqrt(), sums.target_means().cwiseAbs());
}

Solution solve_sums(const LandmarkSums& landmark_sums, const Whitening& whitening, double alpha, bool fit_intercept, const Run& run) {
  const NormalSums& sums = landmark_sums.sums;
  Solution out;
  out.weight = sums.weight();
  if (!(out.weight > 0)) throw InvalidArgument("all sample weights are zero: nothing to learn from");
  out.spread = spread_of(sums);
  Matrix A = sums.gram();
  Matrix q = fit_intercept ? sums.centred_cross() : sums.cross();
  Matrix constant = sums.feature_sums();
  if (fit_intercept) A.noalias() -= constant * constant.transpose() / out.weight;
  linalg::solve_lower(whitening.L, A);
  linalg::solve_right_lower_transposed(whitening.L, A);
  linalg::solve_lower(whitening.L, q);
  out.explained = A.trace();
  if (fit_intercept) {
    Matrix whitened = constant;
    linalg::solve_lower(whitening.L, whitened);
    out.explained += whitened.squaredNorm() / out.weight;
  }
  Matrix beta = q;
  if (const auto R = alpha > 0 ? linalg::cholesky_lower(A, alpha, run.progress) : std::nullopt) {
    linalg::solve_lower(*R, beta);
    linalg::solve_lower_transposed(*R, beta);
  } else {
    out.pseudo_inverse = true;
    A = (0.5 * (A + A.transpose())).eval();
    beta = solve_by_spectrum(A, alpha, q, run);
  }
  const Matrix error = A.selfadjointView<Eigen::Lower>() * beta + alpha * beta - q;
  for (Index t = 0; t < q.cols(); ++t)
    out.residual = std::max(out.residual, q.col(t).norm() > 0 ? error.col(t).norm() / q.col(t).norm() : error.col(t).norm());
  linalg::solve_lower_transposed(whitening.L, beta);
  out.coef = std::move(beta);
  out.intercept = Vector::Zero(sums.targets());
  if (fit_intercept) out.intercept = sums.target_means() - out.coef.transpose() * constant.col(0) / out.weight;
  out.squared_error = sums.squared_error(out.coef, out.intercept);
  out.passes = 1;
  return out;
}

}  // namespace mercer::falkon

// SPDX-License-Identifier: BSD-3-Clause
#include "models/kernel_objective.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "gram/fill.hpp"
#include "linalg/blas.hpp"
#include "linalg/inverse.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Tiles = linalg::SymmetricTiles<double>;

void add_diagonal(Tiles& A, const Vector& d) {
  for (Index i = 0; i < A.tiles(); ++i) {
    for (Index r = 0; r < A.tile_rows(i); ++r) A.tile(i, i)[r * Tiles::stride() + r] += d[i * linalg::cholesky_tile + r];
  }
}

// The whole of a symmetric matrix from its lower half.
Matrix whole(const Tiles& A) {
  const Index n = A.size();
  Matrix out(n, n);
  parallel_for(A.tiles(), [&](Index i) {
    const Index rows = A.tile_rows(i);
    for (Index j = 0; j <= i; ++j) {
      const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> tile(A.tile(i, j), rows, A.tile_rows(j),
                                                                   Eigen::OuterStride<>(Tiles::stride()));
      auto below = out.block(i * linalg::cholesky_tile, j * linalg::cholesky_tile, rows, tile.cols());
      if (i == j) {
        below.triangularView<Eigen::Lower>() = tile;
        below.triangularView<Eigen::StrictlyUpper>() = tile.transpose();
      } else {
        below = tile;
        out.block(j * linalg::cholesky_tile, i * linalg::cholesky_tile, tile.cols(), rows) = tile.transpose();
      }
    }
  });
  return out;
}

// B B', each tile by one product and written twice.
Matrix outer_product(const Matrix& B) {
  const Index n = B.rows();
  Matrix out(n, n);
  const Index blocks = block_count(n);
  parallel_for(upper_count(blocks), [&](Index number) {
    const BlockPair pair = upper_pair(number, blocks);
    const Range I = block_range(pair.row, n);
    const Range J = block_range(pair.col, n);
    linalg::gemm_nt(I.count, J.count, B.cols(), 1.0, B.data() + I.begin * B.cols(), B.cols(), B.data() + J.begin * B.cols(), B.cols(), 0.0,
                    out.data() + I.begin * n + J.begin, n);
    if (pair.row != pair.col) out.block(J.begin, I.begin, J.count, I.count) = out.block(I.begin, J.begin, I.count, J.count).transpose();
  });
  return out;
}

// A^-1 or, with an intercept, its projection (see the header), with what the evidence needs besides.
struct Inverse {
  Matrix G;
  double log_det = 0;  // log |A|, plus log 1' A^-1 1 with an intercept
};

std::optional<Inverse> inverse_of(const LearningData& data, const Kernel& kernel, double alpha, const ProgressCallback& progress) {
  const Index n = data.X.size();
  Tiles A(n);
  fill_lower(PreparedKernel<double>(kernel, data.X, data.X), Vector(), A, progress);
  add_diagonal(A, alpha / data.weight.array());
  if (linalg::cholesky(A, progress) >= 0) return std::nullopt;
  Inverse out;
  out.log_det = linalg::log_determinant(A);
  linalg::symmetric_inverse(A, progress);
  out.G = whole(A);
  if (!data.fit_intercept) return out;
  const Vector u = out.G.rowwise().sum();
  const double total = u.sum();
  if (!(total > 0)) return std::nullopt;
  out.G.noalias() -= (u / total) * u.transpose();
  out.log_det += std::log(total);
  return out;
}

// Gradient by the kernel's parameters, then by alpha, from W.
Vector gradient_of(const LearningData& data, const Kernel& kernel, double alpha, const Matrix& W, const ProgressCallback& progress) {
  const Operator K = gram_operator(kernel, data.X, {Precision::float64, Storage::streamed, {.progress = progress}});
  const Vector by_kernel = K->gradient_inner(W);
  Vector out(by_kernel.size() + 1);
  out << by_kernel, alpha * (W.diagonal().array() / data.weight.array()).sum();
  return out;
}

std::optional<KernelScore> leave_one_out(const LearningData& data, const Kernel& kernel, double alpha, const ProgressCallback& progress) {
  auto inverse = inverse_of(data, kernel, alpha, progress);
  if (!inverse) return std::nullopt;
  const Matrix& G = inverse->G;
  const Vector& w = data.weight;
  const double scale = 1 / (static_cast<double>(data.Y.cols()) * w.sum());
  const Matrix C = G * data.Y;
  const Vector g = G.diagonal();
  const Matrix r = g.cwiseInverse().asDiagonal() * C;
  KernelScore score;
  score.value = scale * w.dot(r.rowwise().squaredNorm());
  const Vector q = w.array() * r.rowwise().squaredNorm().array() / g.array();
  const Matrix Q = G * (w.cwiseQuotient(g).asDiagonal() * r);
  inverse->G = G * q.cwiseSqrt().asDiagonal();
  Matrix W = outer_product(inverse->G);
  W.noalias() -= 0.5 * Q * C.transpose();
  W.noalias() -= 0.5 * C * Q.transpose();
  W *= 2 * scale;
  score.gradient = gradient_of(data, kernel, alpha, W, progress);
  return score;
}

std::optional<KernelScore> evidence(const LearningData& data, const Kernel& kernel, double alpha, const ProgressCallback& progress) {
  auto inverse = inverse_of(data, kernel, alpha, progress);
  if (!inverse) return std::nullopt;
  const auto targets = static_cast<double>(data.Y.cols());
  const double N = targets * static_cast<double>(data.X.size() - (data.fit_intercept ? 1 : 0));
  const Matrix C = inverse->G * data.Y;
  const double S = C.cwiseProduct(data.Y).sum();
  if (!(S > 0)) return std::nullopt;
  KernelScore score;
  score.signal_variance = S / N;
  score.value = -0.5 * N * (1 + std::log(2 * std::numbers::pi * score.signal_variance)) - 0.5 * targets * inverse->log_det;
  Matrix& W = inverse->G;
  W *= -0.5 * targets;
  W.noalias() += (0.5 / score.signal_variance) * C * C.transpose();
  score.gradient = gradient_of(data, kernel, alpha, W, progress);
  return score;
}

// With Z = P diag(s) Y and T = |Z Z'| = |Z' Z|:  a = <M, Z Z'> / (|M| T), so da/dM = Z Z' / (|M| T) - a M / |M|^2; P leaves Z and M as they
// are, so the derivative by K is that between diag(s) on both sides.
std::optional<KernelScore> alignment(const LearningData& data, const Kernel& kernel, double alpha, const ProgressCallback& progress) {
  const Vector s = data.weight.cwiseSqrt();
  const Vector unit = s.normalized();
  Matrix Z = s.asDiagonal() * data.Y;
  Z -= unit * (unit.transpose() * Z);
  Matrix M = gram(kernel, data.X);
  M = s.asDiagonal() * M * s.asDiagonal();
  const Vector Mu = M * unit;
  M -= Mu * unit.transpose();
  M -= unit * (unit.transpose() * M);
  const double norm = M.norm();
  const double wanted = (Z.transpose() * Z).norm();
  KernelScore score;
  if (norm <= 1e-14 * std::abs(Mu.dot(unit)) || norm == 0) {  // K is constant: aligned with nothing, whatever moves
    score.gradient = Vector::Zero(std::ssize(kernel.parameters()) + 1);
    return score;
  }
  score.value = (Z.transpose() * (M * Z)).trace() / (norm * wanted);
  M *= -score.value / (norm * norm);
  M.noalias() += (1 / (norm * wanted)) * Z * Z.transpose();
  M = s.asDiagonal() * M * s.asDiagonal();
  score.gradient = gradient_of(data, kernel, alpha, M, progress);
  score.gradient.tail(1).setZero();
  return score;
}

}  // namespace

LearningData subset(const LearningData& data, const std::vector<Index>& rows) {
  if (std::ssize(rows) == data.X.size()) return data;
  return {data.X.subset(rows), data.Y(rows, Eigen::all), data.weight(rows), data.fit_intercept};
}

LearningData learning_data(const Samples& X, const MatrixRef& Y, const Vector& sample_weight, bool fit_intercept) {
  require_matching(X, Y);
  const Vector roots = root_weights(sample_weight, X.size());
  std::vector<Index> kept;
  for (Index i = 0; i < X.size(); ++i) {
    if (roots[i] > 0) kept.push_back(i);
  }
  return subset({X, Y, roots.cwiseAbs2(), fit_intercept}, kept);
}

void require_variation(const LearningData& data, KernelObjective objective) {
  const Index least = objective == KernelObjective::loo || !data.fit_intercept ? 2 : 3;
  if (data.X.size() < least)
    throw InvalidArgument(fmt::format("learning a kernel needs at least {} samples of positive weight, got {}", least, data.X.size()));
  const bool centred = data.fit_intercept || objective == KernelObjective::alignment;
  for (Index t = 0; t < data.Y.cols(); ++t) {
    const double first = centred ? data.Y(0, t) : 0.0;
    if ((data.Y.col(t).array() != first).any()) return;
  }
  throw InvalidArgument(centred ? "y is the same for all samples: there is nothing to learn a kernel from"
                                : "y is zero for all samples: there is nothing to learn a kernel from");
}

std::size_t objective_bytes(KernelObjective objective, Index n) {
  const auto all = static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * sizeof(double);
  return objective == KernelObjective::alignment ? 2 * all : Tiles::bytes(n) + 2 * all;
}

std::optional<KernelScore> evaluate(const LearningData& data, KernelObjective objective, const Kernel& kernel, double alpha,
                                    const ProgressCallback& progress) {
  switch (objective) {
    case KernelObjective::loo:
      return leave_one_out(data, kernel, alpha, progress);
    case KernelObjective::evidence:
      return evidence(data, kernel, alpha, progress);
    case KernelObjective::alignment:
      return alignment(data, kernel, alpha, progress);
  }
  return std::nullopt;
}

KernelScore score_kernel(const Samples& rows, const MatrixRef& Y, const Kernel& kernel, double alpha, const KernelScoreOptions& options) {
  const LearningData data = learning_data(as_given(kernel, rows), Y, options.sample_weight, options.fit_intercept);
  if (!(alpha >= 0) || !std::isfinite(alpha)) throw InvalidArgument(fmt::format("alpha must be a finite number >= 0, got {}", alpha));
  require_variation(data, options.objective);
  const Index n = data.X.size();
  require_memory(objective_bytes(options.objective, n), options.run.memory,
                 fmt::format("the objective {} on {} samples", name_of(options.objective), n), "use fewer samples");
  std::optional<KernelScore> score;
  with_run(options.run, [&] { score = evaluate(data, options.objective, resolve(kernel, data.X), alpha, options.run.progress); });
  if (!score)
    throw InvalidArgument(
        fmt::format("K + alpha I is not positive definite for {} and alpha = {}: a larger alpha helps", kernel.text(), alpha));
  return *score;
}

}  // namespace mercer

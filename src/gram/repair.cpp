// An indefinite matrix made positive semi-definite by its spectrum.
//
// Clipped and flipped matrices are products B B', B = V diag(sqrt(lambda')): positive semi-definite by construction, to the rounding of
// one product, whatever the eigenvectors' own errors. Reference: Higham, Linear Algebra Appl. 103 (1988), theorem 2.1: the nearest PSD
// matrix in Frobenius norm is the clipped symmetric part. Cost: the eigenproblem, then n^3 flops.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gram/pairs.hpp"
#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

constexpr Index tile = 256;

// sum_j values_j v_j v_j' over the rows v_j of `vectors`, values >= 0, symmetric to the bit: lower tiles are made and mirrored.
Matrix from_spectrum(Matrix vectors, const Vector& values, const ProgressCallback& progress) {
  const Index n = vectors.cols();
  Index first = 0;
  while (first < n && values[first] == 0) ++first;  // clipped ones come first, for eigenvalues ascend
  const Index kept = n - first;
  vectors.array().colwise() *= values.array().sqrt();
  Matrix out = Matrix::Zero(n, n);
  if (kept == 0) return out;
  const Index blocks = (n + tile - 1) / tile;
  Stage stage(progress, "repaired matrix", static_cast<double>(blocks) * static_cast<double>(blocks + 1) / 2);
  parallel_for(blocks * blocks, [&](Index number) {
    const Index i = number / blocks * tile;
    const Index j = number % blocks * tile;
    if (j > i) return;
    const Index rows = std::min(tile, n - i);
    const Index cols = std::min(tile, n - j);
    linalg::gemm_n(true, rows, cols, kept, 1.0, vectors.data() + first * n + i, n, vectors.data() + first * n + j, n, 0.0,
                   out.data() + i * n + j, n);
    for (Index a = i; a < i + rows; ++a) {
      for (Index b = j; b < std::min(a, j + cols); ++b) out(b, a) = out(a, b);
    }
    stage.advance(1);
  });
  return out;
}

// |(K - K')/2|_F.
double antisymmetric_norm(const MatrixRef& K, const ProgressCallback& progress) {
  double squares = 0;
  for_each_pair(K.rows(), progress, "symmetry", [&](Index i, Index j) {
    const double apart = K(i, j) - K(j, i);
    squares += apart * apart / 2;
  });
  return std::sqrt(squares);
}

}  // namespace

GramRepair repair_gram(const MatrixRef& K, Repair method, const Run& run) {
  if (K.rows() != K.cols() || K.rows() == 0)
    throw InvalidArgument(
        fmt::format("a Gram matrix is square and not empty, got {} x {}; there is nothing to repair", K.rows(), K.cols()));
  require_finite(K, "the Gram matrix");
  const Index n = K.rows();
  const auto count = static_cast<std::size_t>(n);
  require_memory(5 * count * count * sizeof(double), run.memory, fmt::format("the repair of a {0} x {0} matrix", n),
                 "repair a sample of the rows");
  GramRepair repair;
  repair.method = method;
  const double asymmetry = antisymmetric_norm(K, run.progress);
  repair.frobenius_distance = asymmetry;
  repair.K = (K + K.transpose()) / 2;
  with_run(run, [&] {
    linalg::SymmetricEigen eigen = linalg::symmetric_eigen(repair.K, run.progress, run.memory);
    const Vector& values = eigen.values;
    const double t = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * values.cwiseAbs().maxCoeff();
    const Index negative = (values.array() < -t).count();
    if (negative == 0) return;
    Vector moved;
    if (method == Repair::shift) {
      // A rounding error more than the least that would do, so that rounding does not take it below zero again.
      repair.shift = t - values[0];
      repair.changed = n;
      repair.K.diagonal().array() += repair.shift;
      moved = Vector::Constant(n, repair.shift);
    } else {
      const Vector wanted = method == Repair::clip ? Vector(values.cwiseMax(0)) : Vector(values.cwiseAbs());
      repair.changed = negative;
      moved = wanted - values;
      repair.K = from_spectrum(std::move(eigen.vectors), wanted, run.progress);
    }
    repair.spectral_distance = moved.cwiseAbs().maxCoeff();
    repair.frobenius_distance = std::hypot(asymmetry, moved.norm());
  });
  return repair;
}

}  // namespace mercer

// What the two kinds of ShiftedSystems share: leaving out one direction, and products with G, the orthonormal rows.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "core/buffer.hpp"
#include "linalg/blas.hpp"
#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer::linalg {

// The Householder reflection H = I - 2 u u' that takes s to a multiple of the last axis.
class Deflation {
 public:
  Deflation(const Vector& s, Index n) : n_(n) {
    if (s.size() == 0) return;
    u_ = s / s.norm();
    u_[n - 1] += u_[n - 1] < 0 ? -1 : 1;
    u_.normalize();
  }

  bool active() const { return u_.size() > 0; }
  Index size() const { return active() ? n_ - 1 : n_; }
  const Vector& axis() const { return u_; }

  // Y <- H Y, n rows.
  void apply(Matrix& Y) const {
    if (active()) Y -= 2 * u_ * (u_.transpose() * Y);
  }

  // G (size x n, last column zero) <- G H: rows in the coordinates of the samples again.
  void turn_back(Buffer<double>& g, Index size) const {
    if (!active()) return;
    parallel_for(size, [&](Index j) {
      Eigen::Map<Vector> row(g.data() + j * n_, n_);
      row -= 2 * row.dot(u_) * u_;
    });
  }

 private:
  Index n_;
  Vector u_{};
};

inline constexpr Index rotation_block = 256;

// G Y, row blocks of G in parallel.
inline Matrix rotate(const Buffer<double>& g, Index size, Index n, const MatrixRef& Y) {
  const Matrix in = Y;
  Matrix out(size, in.cols());
  parallel_for((size + rotation_block - 1) / rotation_block, [&](Index t) {
    const Index begin = t * rotation_block;
    gemm_n(false, std::min(rotation_block, size - begin), in.cols(), n, 1.0, g.data() + begin * n, n, in.data(), in.cols(), 0.0,
           out.data() + begin * in.cols(), in.cols());
  });
  return out;
}

// G' C, column blocks of G in parallel.
inline Matrix rotate_back(const Buffer<double>& g, Index size, Index n, const Matrix& coordinates) {
  const Index columns = coordinates.cols();
  Matrix out = Matrix::Zero(n, columns);
  if (columns == 0 || size == 0) return out;
  parallel_for((n + rotation_block - 1) / rotation_block, [&](Index t) {
    const Index begin = t * rotation_block;
    gemm_n(true, std::min(rotation_block, n - begin), columns, size, 1.0, g.data() + begin, n, coordinates.data(), columns, 0.0,
           out.data() + begin * columns, columns);
  });
  return out;
}

}  // namespace mercer::linalg

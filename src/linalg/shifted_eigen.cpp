// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/band_reduction.hpp"
#include "linalg/deflation.hpp"
#include "linalg/lapack.hpp"
#include "linalg/shifted_systems.hpp"

namespace mercer::linalg {

namespace {

Matrix full_matrix(const SymmetricTiles<double>& A, Index size) {
  Matrix out(size, size);
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j <= i; ++j) {
      out(i, j) = A.tile(i / cholesky_tile, j / cholesky_tile)[(i % cholesky_tile) * cholesky_tile + j % cholesky_tile];
      out(j, i) = out(i, j);
    }
  }
  return out;
}

class EigenSystems final : public ShiftedSystems {
 public:
  EigenSystems(SymmetricTiles<double> A, const Vector& deflate, const ProgressCallback& progress, std::size_t memory) : n_(A.size()) {
    const Deflation deflation(deflate, n_);
    size_ = deflation.size();
    if (deflation.active()) reflect(A, deflation.axis());
    Matrix full = full_matrix(A, size_);
    A = SymmetricTiles<double>(0);
    if (size_ == 0) return;
    SymmetricEigen eigen = symmetric_eigen(std::move(full), progress, memory);
    values_ = std::move(eigen.values);
    g_ = Buffer<double>(static_cast<std::size_t>(size_ * n_));
    Eigen::Map<Matrix> G(g_.data(), size_, n_);
    G.leftCols(size_) = eigen.vectors;
    if (deflation.active()) G.col(n_ - 1).setZero();
    eigen.vectors.resize(0, 0);
    deflation.turn_back(g_, size_);
  }

  SpectrumEnds ends() const override {
    if (size_ == 0) return {};
    return {values_[0] > cut() ? values_[0] : 0.0, values_[size_ - 1]};
  }

  std::vector<ShiftedAnswer> answers(std::span<const double> shifts, const MatrixRef& Y, const ProgressCallback& progress) const override {
    std::vector<ShiftedAnswer> out(shifts.size());
    Stage stage(progress, "regularisation path", static_cast<double>(shifts.size()));
    const Matrix right = rotate(g_, size_, n_, Y);
    Buffer<double> squares(g_.size());
    parallel_for(size_, [&](Index j) {
      for (Index i = 0; i < n_; ++i) squares[static_cast<std::size_t>(j * n_ + i)] = std::pow(g_[static_cast<std::size_t>(j * n_ + i)], 2);
    });
    for (std::size_t a = 0; a < shifts.size(); ++a) {
      out[a] = answer(shifts[a], right, squares);
      stage.advance(1);
    }
    return out;
  }

 private:
  double cut() const { return static_cast<double>(n_) * std::numeric_limits<double>::epsilon() * values_.cwiseAbs().maxCoeff(); }

  ShiftedAnswer answer(double shift, const Matrix& right, const Buffer<double>& squares) const {
    ShiftedAnswer out;
    if (size_ == 0) {
      out.positive_definite = true;
      out.solution = Matrix::Zero(n_, right.cols());
      out.inverse_diagonal = Vector::Zero(n_);
      return out;
    }
    // At shift 0 eigenvalues within rounding are zero; at every other shift an eigenvalue that is not positive is a failure.
    const Vector moved = values_.array() + shift;
    out.positive_definite = shift == 0 ? moved[0] >= -cut() : moved[0] > 0;
    if (!out.positive_definite) return out;
    Vector inverse(size_);
    Vector null(size_);
    for (Index j = 0; j < size_; ++j) {
      const bool zero = shift == 0 && moved[j] <= cut();
      null[j] = zero ? 1 : 0;
      inverse[j] = zero ? 0 : 1 / moved[j];
      if (!zero) out.log_determinant += std::log(moved[j]);
    }
    out.nullity = static_cast<Index>(null.sum());
    out.solution = rotate_back(g_, size_, n_, inverse.asDiagonal() * right);
    out.inverse_diagonal = rotate_back(squares, size_, n_, inverse);
    if (out.nullity > 0) {
      out.null_solution = rotate_back(g_, size_, n_, null.asDiagonal() * right);
      out.null_diagonal = rotate_back(squares, size_, n_, null);
    }
    return out;
  }

  Index n_ = 0;
  Index size_ = 0;
  Vector values_{};
  Buffer<double> g_{};
};

}  // namespace

std::unique_ptr<ShiftedSystems> eigen_systems(SymmetricTiles<double> A, const Vector& deflate, const ProgressCallback& progress,
                                              std::size_t memory) {
  return std::make_unique<EigenSystems>(std::move(A), deflate, progress, memory);
}

std::size_t eigen_systems_bytes(Index n) {
  const auto m = static_cast<std::size_t>(n);
  return 4 * m * m * sizeof(double);
}

}  // namespace mercer::linalg

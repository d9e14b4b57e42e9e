// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "linalg/band_reduction.hpp"
#include "linalg/blas.hpp"
#include "linalg/deflation.hpp"
#include "linalg/shifted_systems.hpp"

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): LAPACK's names
void dpbtrf_(const char* uplo, const int* n, const int* kd, double* ab, const int* ldab, int* info);
void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda, int* info);
void dpbtrs_(const char* uplo, const int* n, const int* kd, const int* nrhs, const double* ab, const int* ldab, double* b, const int* ldb,
             int* info);
// NOLINTEND(readability-identifier-naming)
}

namespace mercer::linalg {

namespace {

constexpr Index columns_at_once = 256;  // samples whose columns of L^-1 G are made together, in cache
constexpr std::size_t shifts_at_once = 8;

// sign * B + shift I = L L', in LAPACK's lower band; false when it is not positive definite.
struct BandCholesky {
  bool positive_definite = false;
  Matrix factor{};  // row j: L(j, j) .. L(j + bandwidth, j)

  BandCholesky(const Matrix& band, double sign, double shift) : factor(sign * band) {
    factor.col(0).array() += shift;
    const int n = static_cast<int>(band.rows());
    const int ldab = static_cast<int>(band.cols());
    const int kd = ldab - 1;
    int info = 0;
    dpbtrf_("L", &n, &kd, factor.data(), &ldab, &info);
    positive_definite = info == 0 && factor.col(0).allFinite() && (factor.col(0).array() > 0).all();
  }

  double log_determinant() const { return 2 * factor.col(0).array().log().sum(); }

  Eigen::MatrixXd solve(Eigen::MatrixXd right) const {
    if (right.size() == 0) return right;  // LAPACK complains of a leading dimension 0
    const int n = static_cast<int>(factor.rows());
    const int ldab = static_cast<int>(factor.cols());
    const int kd = ldab - 1;
    const int columns = static_cast<int>(right.cols());
    int info = 0;
    dpbtrs_("L", &n, &kd, &columns, factor.data(), &ldab, right.data(), &n, &info);
    return right;
  }
};

// The factor cut into square blocks: the inverse of J's own (lower triangular) and the one that couples it to J - 1 (upper triangular).
// Beyond the last row the own block goes on as the identity.
class BlockedFactor {
 public:
  BlockedFactor(const Matrix& factor, Index width)
      : width_(width), blocks_((factor.rows() + width - 1) / width), data_(static_cast<std::size_t>(2 * blocks_ * width * width)) {
    std::memset(data_.data(), 0, data_.size() * sizeof(double));
    for (Index j = 0; j < blocks_ * width; ++j) {
      if (j >= factor.rows()) own(j / width)[(j % width) * (width + 1)] = 1;
      for (Index d = 0; d < factor.cols() && j + d < factor.rows(); ++d) {
        const Index i = j + d;
        double* block = i / width == j / width ? own(j / width) : coupling(i / width);
        block[(i % width) * width + j % width] = factor(j, d);
      }
    }
    const int n = static_cast<int>(width);
    for (Index J = 0; J < blocks_; ++J) {
      int info = 0;
      dtrtri_("U", "N", &n, own(J), &n, &info);  // the row-major lower half is the column-major upper one
    }
  }

  // x <- own^-1 (g - coupling x), x width x c. Products, because OpenBLAS solves with small triangles at a third of their speed.
  void substitute(Index J, const double* g, Index stride, Index rows, Index c, double* x) const {
    const int w = static_cast<int>(width_);
    const int columns = static_cast<int>(c);
    if (J > 0) {
      cblas_dtrmm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, w, columns, 1.0, coupling(J), w, x, columns);
    }
    for (Index i = 0; i < width_; ++i) {
      double* out = x + i * c;
      const double* in = g + i * stride;
      if (i >= rows) {
        std::memset(out, 0, static_cast<std::size_t>(c) * sizeof(double));
      } else {
        for (Index j = 0; j < c; ++j) out[j] = in[j] - out[j];
      }
    }
    cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, w, columns, 1.0, own(J), w, x, columns);
  }

 private:
  double* own(Index J) { return data_.data() + 2 * J * width_ * width_; }
  double* coupling(Index J) { return own(J) + width_ * width_; }
  const double* own(Index J) const { return data_.data() + 2 * J * width_ * width_; }
  const double* coupling(Index J) const { return own(J) + width_ * width_; }

  Index width_;
  Index blocks_;
  Buffer<double> data_;
};

class BandSystems final : public ShiftedSystems {
 public:
  BandSystems(SymmetricTiles<double> A, const Vector& deflate, const ProgressCallback& progress, const BandOptions& options)
      : n_(A.size()), deflation_(deflate, n_), diagonals_(options.diagonals) {
    size_ = deflation_.size();
    width_ = std::max<Index>(1, std::min(options.bandwidth, size_ - 1));
    if (deflation_.active()) reflect(A, deflation_.axis());
    reduction_ = reduce_to_band(std::move(A), size_, width_, progress);
    if (!diagonals_) return;
    g_ = transposed_q(reduction_, n_, progress);
    reduction_.panels.clear();
    deflation_.turn_back(g_, size_);
  }

  SpectrumEnds ends() const override;
  std::vector<ShiftedAnswer> answers(std::span<const double> shifts, const MatrixRef& Y, const ProgressCallback& progress) const override;

 private:
  struct Factored {
    std::size_t number;
    BlockedFactor factor;
  };
  void add_diagonals(const std::vector<Factored>& factors, std::vector<ShiftedAnswer>& out, Stage& stage) const;
  Matrix to_band(const MatrixRef& Y) const;      // G Y
  Matrix from_band(const Matrix& coords) const;  // G' C

  Index n_ = 0;
  Deflation deflation_;
  bool diagonals_;
  Index size_ = 0;
  Index width_ = 0;
  BandReduction reduction_{};
  Buffer<double> g_{};  // size x n, with diagonals
};

Matrix BandSystems::to_band(const MatrixRef& Y) const {
  if (diagonals_) return rotate(g_, size_, n_, Y);
  Matrix out = Y;
  deflation_.apply(out);
  out.conservativeResize(size_, Eigen::NoChange);
  reduction_.apply_q_transposed(out);
  return out;
}

Matrix BandSystems::from_band(const Matrix& coords) const {
  if (diagonals_) return rotate_back(g_, size_, n_, coords);
  Matrix out = coords;
  reduction_.apply_q(out);
  out.conservativeResize(n_, Eigen::NoChange);
  if (n_ > size_) out.row(n_ - 1).setZero();
  deflation_.apply(out);
  return out;
}

// Bisection: s I - B is positive definite exactly when s lies above the spectrum, B - s I when it lies below.
SpectrumEnds BandSystems::ends() const {
  if (size_ == 0) return {};
  double bound = 0;  // Gershgorin's
  Vector sums = Vector::Zero(size_);
  for (Index j = 0; j < size_; ++j) {
    for (Index d = 0; d < reduction_.band.cols() && j + d < size_; ++d) {
      sums[j] += std::abs(reduction_.band(j, d));
      if (d > 0) sums[j + d] += std::abs(reduction_.band(j, d));
    }
  }
  bound = sums.maxCoeff();
  if (bound == 0) return {};
  double high = bound * (1 + 1e-12);
  double low = reduction_.band.col(0).maxCoeff();  // no eigenvalue bound lies below the largest diagonal entry
  if (low <= 0) low = bound * 1e-3;
  while (high > 1.01 * low) {
    const double middle = std::sqrt(low * high);
    (BandCholesky(reduction_.band, -1, middle).positive_definite ? high : low) = middle;
  }
  SpectrumEnds ends{0, high};
  const double rounding = static_cast<double>(n_) * std::numeric_limits<double>::epsilon() * high;
  if (!BandCholesky(reduction_.band, 1, -rounding).positive_definite) return ends;  // singular to rounding, or indefinite
  double above = high;
  double below = rounding;
  while (above > 1.1 * below) {
    const double middle = std::sqrt(below * above);
    (BandCholesky(reduction_.band, 1, -middle).positive_definite ? below : above) = middle;
  }
  ends.lowest = below;
  return ends;
}

// diag(P)_i = |column i of L^-1 G|^2, by forward substitution over blocks of rows, several shifts on the same piece of G.
void BandSystems::add_diagonals(const std::vector<Factored>& factors, std::vector<ShiftedAnswer>& out, Stage& stage) const {
  const Index b = width_;
  const Index blocks = (size_ + b - 1) / b;
  parallel_for((n_ + columns_at_once - 1) / columns_at_once, [&](Index t) {
    const Index begin = t * columns_at_once;
    const Index c = std::min(columns_at_once, n_ - begin);
    std::vector<Matrix> x(factors.size(), Matrix::Zero(b, c));
    Matrix sums = Matrix::Zero(static_cast<Index>(factors.size()), c);
    for (Index J = 0; J < blocks; ++J) {
      const Index rows = std::min(b, size_ - J * b);
      for (std::size_t f = 0; f < factors.size(); ++f) {
        factors[f].factor.substitute(J, g_.data() + J * b * n_ + begin, n_, rows, c, x[f].data());
        for (Index i = 0; i < rows; ++i) sums.row(static_cast<Index>(f)).array() += x[f].row(i).array().square();
      }
      stage.advance(static_cast<double>(rows) * static_cast<double>(c) * static_cast<double>(factors.size()));
    }
    for (std::size_t f = 0; f < factors.size(); ++f) {
      out[factors[f].number].inverse_diagonal.segment(begin, c) = sums.row(static_cast<Index>(f)).transpose();
    }
  });
}

std::vector<ShiftedAnswer> BandSystems::answers(std::span<const double> shifts, const MatrixRef& Y,
                                                const ProgressCallback& progress) const {
  std::vector<ShiftedAnswer> out(shifts.size());
  Stage stage(progress, "regularisation path",
              static_cast<double>(shifts.size()) * static_cast<double>(n_) * static_cast<double>(std::max<Index>(1, size_)));
  const Eigen::MatrixXd right = to_band(Y);
  for (std::size_t start = 0; start < shifts.size(); start += shifts_at_once) {
    std::vector<Factored> factors;
    std::vector<std::size_t> good;
    Matrix coordinates(size_, 0);
    for (std::size_t a = start; a < std::min(shifts.size(), start + shifts_at_once); ++a) {
      const BandCholesky cholesky(reduction_.band, 1, shifts[a]);
      if (!cholesky.positive_definite) continue;
      out[a].positive_definite = true;
      out[a].log_determinant = cholesky.log_determinant();
      if (diagonals_) out[a].inverse_diagonal = Vector::Zero(n_);
      good.push_back(a);
      coordinates.conservativeResize(Eigen::NoChange, coordinates.cols() + Y.cols());
      coordinates.rightCols(Y.cols()) = cholesky.solve(right);
      if (diagonals_) factors.push_back({a, BlockedFactor(cholesky.factor, width_)});
    }
    const Matrix solutions = from_band(coordinates);
    for (std::size_t k = 0; k < good.size(); ++k) {
      out[good[k]].solution = solutions.middleCols(static_cast<Index>(k) * Y.cols(), Y.cols());
    }
    if (diagonals_) add_diagonals(factors, out, stage);
  }
  return out;
}

}  // namespace

std::unique_ptr<ShiftedSystems> band_systems(SymmetricTiles<double> A, const Vector& deflate, const ProgressCallback& progress,
                                             const BandOptions& options) {
  return std::make_unique<BandSystems>(std::move(A), deflate, progress, options);
}

std::size_t band_systems_bytes(Index n) {
  const auto m = static_cast<std::size_t>(n);
  const std::size_t small = (2 * shifts_at_once + 10) * m * default_bandwidth * sizeof(double);
  return std::max(SymmetricTiles<double>::bytes(n) + m * m / 2 * sizeof(double), m * m * 3 / 2 * sizeof(double)) + small;
}

}  // namespace mercer::linalg

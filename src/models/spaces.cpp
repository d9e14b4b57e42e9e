// SPDX-License-Identifier: BSD-3-Clause
#include "models/spaces.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "linalg/blas.hpp"
#include "linalg/cholesky.hpp"
#include "mercer/error.hpp"
#include "models/landmarks.hpp"

namespace mercer {

namespace {

using solvers::Functions;
constexpr Index tile = linalg::cholesky_tile;
constexpr double eps = std::numeric_limits<double>::epsilon();

// The lower tiles of diag(scale) K_AA diag(scale) + shift I.
linalg::SymmetricTiles<double> scaled_part(const LinearOperator& K, const std::vector<Index>& A, const Vector& scale, double shift) {
  const RowBlock rows = K.row_block(0, K.rows());
  const double* k = std::get<const double*>(rows.values);
  linalg::SymmetricTiles<double> out(static_cast<Index>(A.size()));
  const Index blocks = out.tiles();
  parallel_for(blocks * (blocks + 1) / 2, [&](Index number) {
    auto i = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(number) + 1) - 1) / 2);
    while (i * (i + 1) / 2 > number) --i;
    while ((i + 1) * (i + 2) / 2 <= number) ++i;
    const Index j = number - i * (i + 1) / 2;
    double* to = out.tile(i, j);
    for (Index a = 0; a < out.tile_rows(i); ++a) {
      const Index row = i * tile + a;
      const double* from = k + A[static_cast<std::size_t>(row)] * rows.stride;
      for (Index b = 0; b < out.tile_rows(j); ++b) {
        const Index col = j * tile + b;
        to[a * tile + b] = scale[row] * scale[col] * from[A[static_cast<std::size_t>(col)]];
      }
    }
  });
  out.add_to_diagonal(shift);
  return out;
}

class KernelSolver final : public solvers::SpaceSolver {
 public:
  KernelSolver(const LinearOperator& K, const Vector& s, double ridge, bool intercept, const Run& run)
      : ridge_(ridge), intercept_(intercept), root_(active_root(s, ridge, K.diagonal())), L_(scaled_part(K, active_, root_, 1)) {
    if (linalg::cholesky(L_, run.progress) >= 0) {
      throw InvalidArgument(
          "the Gram matrix is not positive semi-definite: the penalty |f|^2 is none then; use a PSD kernel or repair the matrix");
    }
    if (!intercept || active_.empty()) return;
    constant_ = root_;
    linalg::cholesky_solve(L_, constant_);
  }

  Matrix solve(const Functions& r) const override {
    Matrix x = r.coefficients / ridge_;
    if (active_.empty()) return x;
    Matrix e(root_.rows(), x.cols());
    for (Index a = 0; a < e.rows(); ++a) e.row(a) = root_[a] / ridge_ * r.scores.row(active_[static_cast<std::size_t>(a)]);
    linalg::cholesky_solve(L_, e);
    const double seen = intercept_ ? root_.col(0).dot(constant_.col(0)) : 0;
    if (seen > 0) e -= constant_ * (root_.transpose() * e) / seen;
    for (Index a = 0; a < e.rows(); ++a) x.row(active_[static_cast<std::size_t>(a)]) -= root_[a] * e.row(a);
    return x;
  }

 private:
  // Samples whose curvature is lost in rounding beside 1 are left out: the system stays exact to that.
  Vector active_root(const Vector& s, double ridge, const Vector& diagonal) {
    std::vector<double> roots;
    const double visible = 1e-14 * s.maxCoeff();  // to the intercept
    for (Index i = 0; i < s.size(); ++i) {
      const bool counts = s[i] / ridge * diagonal[i] > 1e-20 || (intercept_ && s[i] > visible);
      if (!counts) continue;
      active_.push_back(i);
      roots.push_back(std::sqrt(s[i] / ridge));
    }
    return Eigen::Map<Vector>(roots.data(), static_cast<Index>(roots.size()));
  }

  double ridge_;
  bool intercept_;
  std::vector<Index> active_{};
  Vector root_;
  linalg::SymmetricTiles<double> L_;
  Matrix constant_{};  // (I + S K S)^-1 S 1
};

class LandmarkSolver final : public solvers::SpaceSolver {
 public:
  explicit LandmarkSolver(const Matrix& normal) : factor_(normal) {}
  Matrix solve(const Functions& r) const override { return factor_.solve(r.coefficients); }

 private:
  Eigen::LLT<Matrix> factor_;
};

}  // namespace

std::size_t KernelSpace::bytes(Index n) {
  const auto numbers = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  return numbers * sizeof(double) + linalg::SymmetricTiles<double>::bytes(n);
}

KernelSpace::KernelSpace(const Kernel& kernel, const Samples& X, const Run& run, const std::string& what) : n_(X.size()), run_(run) {
  require_memory(bytes(n_), run.memory, fmt::format("{} on {} samples (Gram matrix and factor in float64)", what, n_),
                 "use landmarks (Nystrom features) or fewer samples");
  K_ = gram_operator(kernel, X, {Precision::float64, Storage::stored, run});
}

double KernelSpace::inner(const Functions& a, const Functions& b) const { return a.coefficients.cwiseProduct(b.scores).sum(); }

std::unique_ptr<solvers::SpaceSolver> KernelSpace::factor(const Vector& s, double ridge, bool intercept) const {
  return std::make_unique<KernelSolver>(*K_, s, ridge, intercept, run_);
}

void KernelSpace::require_psd(const Kernel& kernel) const {
  std::vector<Index> all(static_cast<std::size_t>(n_));
  for (Index i = 0; i < n_; ++i) all[static_cast<std::size_t>(i)] = i;
  const double largest = K_->diagonal().cwiseAbs().maxCoeff();
  auto shifted = scaled_part(*K_, all, Vector::Ones(n_), 1e-10 * largest + 8 * eps * static_cast<double>(n_) * largest);
  if (largest == 0 || linalg::cholesky(shifted, run_.progress) < 0) return;
  throw InvalidArgument(
      fmt::format("the Gram matrix of {} is not positive semi-definite on these samples: |f|^2 could be negative; use a "
                  "PSD kernel, or repair the matrix (clip its negative eigenvalues) and give it as precomputed",
                  kernel.text()));
}

LandmarkSpace::LandmarkSpace(const Kernel& kernel, const Samples& X, const Samples& landmarks, const Run& run)
    : n_(X.size()), diagonal_(gram_diagonal(kernel, X)), run_(run) {
  require_no_white_noise(kernel);
  const Index m = landmarks.size();
  Matrix K = gram(kernel, landmarks, {.run = run});
  const double largest = K.diagonal().cwiseAbs().maxCoeff();
  if (!(largest > 0)) throw InvalidArgument(fmt::format("the kernel {} vanishes on all landmarks", kernel.text()));
  K.diagonal().array() += std::max(1e-11, 8 * eps * static_cast<double>(m)) * largest;
  const Eigen::LLT<Matrix> factor(K);
  if (factor.info() != Eigen::Success) {
    throw InvalidArgument(
        fmt::format("the Gram matrix of {} is not positive semi-definite on the landmarks; use a PSD kernel", kernel.text()));
  }
  basis_ = factor.matrixU().solve(Matrix::Identity(m, m));
  cross_ = gram_operator(kernel, X, landmarks, {Precision::float64, Storage::streamed, run});
  const double bytes = 8.0 * static_cast<double>(n_) * static_cast<double>(m);
  if (bytes <= 0.5 * static_cast<double>(memory_budget(run.memory))) features_ = cross_->apply(basis_);
}

Matrix LandmarkSpace::scores(const Matrix& w) const {
  if (!stored()) return cross_->apply(basis_ * w);
  Matrix out(n_, w.cols());
  parallel_for((n_ + tile - 1) / tile, [&](Index block) {
    const Index begin = block * tile;
    const Index count = std::min(tile, n_ - begin);
    linalg::gemm_n(false, count, w.cols(), w.rows(), 1.0, features_.data() + begin * features_.cols(), features_.cols(), w.data(), w.cols(),
                   0.0, out.data() + begin * w.cols(), w.cols());
  });
  return out;
}

namespace {

// sum over row blocks of body(begin, count), in a fixed number of partial sums added in order.
template <class Body>
Matrix sum_of_blocks(Index n, Index rows, Index cols, const Body& body) {
  constexpr Index parts = 8;
  const Index blocks = (n + tile - 1) / tile;
  std::vector<Matrix> sums(parts);
  parallel_for(parts, [&](Index part) {
    Matrix& sum = sums[static_cast<std::size_t>(part)];
    sum = Matrix::Zero(rows, cols);
    for (Index b = part * blocks / parts; b < (part + 1) * blocks / parts; ++b) body(b * tile, std::min(tile, n - b * tile), sum);
  });
  for (std::size_t p = 1; p < sums.size(); ++p) sums[0] += sums[p];
  return sums[0];
}

}  // namespace

Matrix LandmarkSpace::adjoint(const Matrix& g) const {
  if (!stored()) return basis_.transpose() * cross_->apply_transpose(g);
  const Index m = features_.cols();
  return sum_of_blocks(n_, m, g.cols(), [&](Index begin, Index count, Matrix& sum) {
    linalg::gemm_n(true, m, g.cols(), count, 1.0, features_.data() + begin * m, m, g.data() + begin * g.cols(), g.cols(), 1.0, sum.data(),
                   g.cols());
  });
}

double LandmarkSpace::inner(const Functions& a, const Functions& b) const { return a.coefficients.cwiseProduct(b.coefficients).sum(); }

Matrix LandmarkSpace::normal_matrix(const Vector& s) const {
  if (!stored()) return basis_.transpose() * cross_->apply_normal(basis_, s);
  const Index m = features_.cols();
  return sum_of_blocks(n_, m, m, [&](Index begin, Index count, Matrix& sum) {
    const Matrix weighted = s.segment(begin, count).asDiagonal() * features_.middleRows(begin, count);
    linalg::gemm_n(true, m, m, count, 1.0, features_.data() + begin * m, m, weighted.data(), m, 1.0, sum.data(), m);
  });
}

std::unique_ptr<solvers::SpaceSolver> LandmarkSpace::factor(const Vector& s, double ridge, bool intercept) const {
  Matrix normal = normal_matrix(s);
  const double total = s.sum();
  if (intercept && total > 0) {
    const Vector mean = adjoint(s);
    normal -= mean * mean.transpose() / total;
  }
  normal.diagonal().array() += ridge;
  return std::make_unique<LandmarkSolver>(normal);
}

}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/top_eigen.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "mercer/random.hpp"

namespace mercer::solvers {

namespace {

using Columns = Eigen::MatrixXd;

class Basis {
 public:
  Basis(Index n, Index most, const Columns& known) : known_(known), Q_(n, most), AQ_(n, most), H_(Columns::Zero(most, most)) {}

  Index size() const { return size_; }
  Index room() const { return Q_.cols() - size_; }

  // The columns of `block` that are new, orthonormal to each other and to all before; returns how many there are.
  Index append(Columns block) {
    const Index before = size_;
    for (Index j = 0; j < block.cols() && room() > 0; ++j) {
      auto v = block.col(j);
      const double norm = v.norm();
      if (!(norm > 0)) continue;
      v /= norm;
      double left = 1;
      for (int pass = 0; pass < 3; ++pass) {
        if (known_.cols() > 0) v -= known_ * (known_.transpose() * v);
        if (size_ > 0) v -= Q_.leftCols(size_) * (Q_.leftCols(size_).transpose() * v);
        const double now = v.norm();
        left *= now;
        if (!(left > 1e-12)) break;
        v /= now;
        if (now > 0.7) break;
      }
      if (!(left > 1e-12)) continue;  // nothing but rounding is new in it
      Q_.col(size_++) = v;
    }
    return size_ - before;
  }

  void multiply(Index fresh, const std::function<Columns(const Columns&)>& apply) {
    const Index first = size_ - fresh;
    Columns image = apply(Q_.middleCols(first, fresh));
    if (known_.cols() > 0) image -= known_ * (known_.transpose() * image);
    AQ_.middleCols(first, fresh) = image;
    const Columns part = Q_.leftCols(size_).transpose() * image;
    H_.block(0, first, size_, fresh) = part;
    H_.block(first, 0, fresh, size_) = part.transpose();
    const Columns corner = H_.block(first, first, fresh, fresh);
    H_.block(first, first, fresh, fresh) = (corner + corner.transpose()) / 2;
  }

  // Ritz pairs, the largest first.
  void ritz() {
    const Eigen::SelfAdjointEigenSolver<Columns> eigen(H_.topLeftCorner(size_, size_));
    values_ = eigen.eigenvalues().reverse();
    vectors_ = eigen.eigenvectors().rowwise().reverse();
  }
  const Vector& values() const { return values_; }
  Columns vectors(Index k) const { return Q_.leftCols(size_) * vectors_.leftCols(k); }
  Columns residuals(Index k) const { return AQ_.leftCols(size_) * vectors_.leftCols(k) - vectors(k) * values_.head(k).asDiagonal(); }
  void shrink(Index keep) {
    const Columns Q = vectors(keep);
    AQ_.leftCols(keep) = (AQ_.leftCols(size_) * vectors_.leftCols(keep)).eval();
    Q_.leftCols(keep) = Q;
    H_.topLeftCorner(keep, keep) = values_.head(keep).asDiagonal().toDenseMatrix();
    size_ = keep;
  }

 private:
  const Columns& known_;
  Columns Q_;
  Columns AQ_;
  Columns H_;
  Vector values_{};
  Columns vectors_{};
  Index size_ = 0;
};

}  // namespace

void fix_signs(Eigen::Ref<Columns> vectors) {
  for (Index j = 0; j < vectors.cols(); ++j) {
    Index at = 0;
    // Entries that are equal but for rounding must not decide: the first that comes near the largest does.
    const double largest = vectors.col(j).cwiseAbs().maxCoeff();
    while (std::abs(vectors(at, j)) < largest * (1 - 1e-6)) ++at;
    if (vectors(at, j) < 0) vectors.col(j) *= -1;
  }
}

TopEigen top_eigen(Index n, Index k, const std::function<Columns(const Columns&)>& apply, const Columns& known,
                   const TopEigenOptions& options) {
  assert(k >= 1 && k <= n - known.cols());
  const Index block = std::min<Index>({options.block, k + 2, n - known.cols()});
  const Index most = std::min(n - known.cols(), std::max(options.basis > 0 ? options.basis : 3 * k + 40, k + 2 * block));
  Basis basis(n, most, known);
  RandomStream random(options.seed, 0x746f70);
  const auto random_block = [&] { return Columns(random.normal_matrix(n, block)); };
  Stage stage(options.progress, "eigenvectors", static_cast<double>(options.max_products));
  TopEigen out;
  Index fresh = basis.append(random_block());
  while (fresh == 0) fresh = basis.append(random_block());
  for (;;) {
    basis.multiply(fresh, apply);
    out.products += fresh;
    stage.advance(static_cast<double>(fresh));
    basis.ritz();
    const Index wanted = std::min(k, basis.size());
    Columns R = basis.residuals(wanted);
    const Vector norms = R.colwise().norm().transpose();
    out.residual = norms.maxCoeff();
    const double goal = options.tolerance * basis.values().cwiseAbs().maxCoeff();
    out.converged = basis.size() >= k && out.residual <= goal;
    if (out.converged || basis.size() == n - known.cols() || (out.products >= options.max_products && basis.size() >= k)) break;
    if (basis.room() < block) basis.shrink(std::min(basis.size() - block, k + (most - k) / 3));
    Columns next(n, std::min(block, wanted));
    Index count = 0;
    for (Index j = 0; j < wanted && count < next.cols(); ++j) {
      if (norms[j] > goal) next.col(count++) = R.col(j);
    }
    fresh = basis.append(next.leftCols(count));
    for (int attempt = 0; fresh == 0 && attempt < 5; ++attempt) fresh = basis.append(random_block());  // an invariant subspace, too small
    if (fresh == 0) break;
  }
  out.converged = out.converged || basis.size() == n - known.cols();
  const Index found = std::min(k, basis.size());
  out.values = basis.values().head(found);
  out.vectors = basis.vectors(found);
  fix_signs(out.vectors);
  return out;
}

}  // namespace mercer::solvers

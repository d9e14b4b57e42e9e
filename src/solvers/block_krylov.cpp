// Notation: Q the basis, T = Q'AQ, the remainder what of A Q_last is outside the basis, theta and y the eigenpairs of T.
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/block_krylov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

constexpr Index stripe = 2048;  // rows of tall products that are summed in one go
constexpr double eps = std::numeric_limits<double>::epsilon();

// Small problems on one thread: the same bits however many the job has.
linalg::SymmetricEigen small_eigen(const Matrix& A) {
  linalg::SymmetricEigen out;
  with_threads(1, [&] { out = linalg::symmetric_eigen(A, {}); });
  return out;
}

// A' B of two tall matrices: stripes in parallel, added in order.
Matrix inner(const Matrix& A, Index a, const Matrix& B) {
  const Index n = A.rows();
  const Index b = B.cols();
  const Index stripes = (n + stripe - 1) / stripe;
  const Index parts = std::min<Index>(stripes, 16);
  std::vector<Matrix> sums(static_cast<std::size_t>(parts));
  parallel_for(parts, [&](Index p) {
    Matrix& sum = sums[static_cast<std::size_t>(p)];
    sum = Matrix::Zero(a, b);
    for (Index s = p * stripes / parts; s < (p + 1) * stripes / parts; ++s) {
      const Index first = s * stripe;
      linalg::gemm_n(true, a, b, std::min(stripe, n - first), 1.0, A.data() + first * A.cols(), A.cols(), B.data() + first * b, b, 1.0,
                     sum.data(), b);
    }
  });
  for (std::size_t p = 1; p < sums.size(); ++p) sums[0] += sums[p];
  return sums[0];
}

// C = alpha A(:, :a) P + beta C, row stripes in parallel.
void add_product(double alpha, const Matrix& A, Index a, const Matrix& P, double beta, Matrix& C) {
  const Index n = A.rows();
  parallel_for((n + stripe - 1) / stripe, [&](Index s) {
    const Index first = s * stripe;
    linalg::gemm_n(false, std::min(stripe, n - first), P.cols(), a, alpha, A.data() + first * A.cols(), A.cols(), P.data(), P.cols(), beta,
                   C.data() + first * C.cols(), C.cols());
  });
}

// An orthonormal basis of the columns of R, longest direction first, by the eigenvectors of R'R, twice for full orthogonality; directions
// no longer than `smallest` are rounding and are left out.
Matrix orthogonalize(Matrix R, double smallest) {
  for (int pass = 0; pass < 2 && R.cols() > 0; ++pass) {
    const linalg::SymmetricEigen eigen = small_eigen(inner(R, R.cols(), R));
    const double largest = std::max(eigen.values.maxCoeff(), 0.0);
    // Squares lose half the digits: what is smaller than 1e-7 of the largest is found again by the next block.
    const double floor = std::max(pass == 0 ? smallest * smallest : 0.0, 1e-14 * largest);
    std::vector<Index> kept;
    for (Index j = eigen.values.size() - 1; j >= 0; --j) {
      if (eigen.values[j] > floor) kept.push_back(j);
    }
    Matrix to_unit(R.cols(), std::ssize(kept));
    for (Index c = 0; c < std::ssize(kept); ++c) {
      const Index j = kept[static_cast<std::size_t>(c)];
      to_unit.col(c) = eigen.vectors.row(j).transpose() / std::sqrt(eigen.values[j]);
    }
    Matrix Q(R.rows(), to_unit.cols());
    add_product(1, R, R.cols(), to_unit, 0, Q);
    R = std::move(Q);
  }
  return R;
}

class Basis {
 public:
  Basis(Index n, Index capacity) : q_(n, capacity), t_(Matrix::Zero(capacity, capacity)) {}

  Index size() const { return size_; }
  bool holds(Index more) const { return size_ + more <= q_.cols(); }

  // Takes the block Q_next and W = A Q_next; what is left of W outside the basis is the new remainder.
  void add(const Matrix& next, Matrix W) {
    const Index m = size_ + next.cols();
    q_.middleCols(size_, next.cols()) = next;
    Matrix P = inner(q_, m, W);
    add_product(-1, q_, m, P, 1, W);
    const Matrix again = inner(q_, m, W);
    add_product(-1, q_, m, again, 1, W);
    P += again;
    t_.block(0, size_, m, next.cols()) = P;
    t_.block(size_, 0, next.cols(), m) = P.transpose();
    const Matrix corner = t_.block(size_, size_, next.cols(), next.cols());
    t_.block(size_, size_, next.cols(), next.cols()) = 0.5 * (corner + corner.transpose());
    last_ = next.cols();
    size_ = m;
    remainder_ = std::move(W);
  }

  // theta descending, y as columns.
  void solve() {
    const linalg::SymmetricEigen eigen = small_eigen(t_.topLeftCorner(size_, size_));
    theta_ = eigen.values.reverse();
    y_ = eigen.vectors.colwise().reverse().transpose();
  }
  const Vector& theta() const { return theta_; }

  // The next block, orthogonal to the basis, and the residuals of the first `pairs` Ritz pairs.
  Matrix next_block(Index pairs, Index most, Vector& residuals) {
    const double scale = std::max({std::abs(theta_[0]), std::abs(theta_[size_ - 1]), std::numeric_limits<double>::min()});
    Matrix apart(q_.rows(), pairs);  // A u - theta u
    add_product(1, remainder_, last_, Matrix(y_.block(size_ - last_, 0, last_, pairs)), 0, apart);
    residuals = apart.colwise().norm().transpose();
    const Matrix Q = orthogonalize(std::move(remainder_), 8 * eps * scale);
    return outside(Q.leftCols(std::min(Q.cols(), most)));
  }

  // Unit vectors V, and what of them lies outside the basis: a remainder close to rounding is not orthogonal to it by itself.
  Matrix outside(Matrix V) const {
    for (int pass = 0; pass < 2 && V.cols() > 0; ++pass) {
      add_product(-1, q_, size_, inner(q_, size_, V), 1, V);
      V = orthogonalize(std::move(V), 0.1);
    }
    return V;
  }

  Matrix ritz_vectors(Index count) const {
    Matrix U(q_.rows(), count);
    add_product(1, q_, size_, Matrix(y_.leftCols(count)), 0, U);
    return U;
  }

  // Goes on with the best Ritz vectors alone: T is diagonal on them, what couples them to later blocks is computed with those.
  void restart(Index keep) {
    const Matrix U = ritz_vectors(keep);
    q_.leftCols(keep) = U;
    t_.setZero();
    t_.diagonal().head(keep) = theta_.head(keep);
    size_ = keep;
  }

 private:
  Matrix q_;
  Matrix t_;
  Index size_ = 0;
  Index last_ = 0;
  Vector theta_;
  Matrix y_;
  Matrix remainder_;
};

Matrix first_block(Index n, Index block, const BlockKrylovOptions& o) {
  Matrix V = o.start.cols() > 0 ? o.start : RandomStream(o.seed, 83).normal_matrix(n, block);
  double longest = 0;
  for (Index j = 0; j < V.cols(); ++j) longest = std::max(longest, V.col(j).norm());
  return orthogonalize(std::move(V), 1e-12 * longest);
}

}  // namespace

BlockKrylovResult block_krylov(Index n, const BlockFunctionOf& apply, const BlockKrylovOptions& o) {
  if (n < 1) throw InvalidArgument("an eigenproblem needs at least one row");
  if (o.pairs < 1) throw InvalidArgument(fmt::format("the number of eigenpairs must be at least 1, got {}", o.pairs));
  if (o.start.cols() > 0 && o.start.rows() != n)
    throw InvalidArgument(fmt::format("the starting vectors have {} rows, the matrix has {}", o.start.rows(), n));
  const Index pairs = std::min(o.pairs, n);
  const Index block = std::min(n, o.block > 0 ? o.block : pairs + std::max<Index>(pairs / 2, 6));
  const Index widest = std::max(block, o.start.cols());
  // Two steps at least fit beside what a restart keeps.
  const Index keep = std::max(pairs + 4, block);
  const Index capacity = std::min(n + widest, keep + std::max<Index>(12 * block, 3 * widest));
  Basis basis(n, capacity);
  BlockKrylovResult out;
  Stage stage(o.progress, "eigenvectors", 12);
  Matrix next = first_block(n, block, o);
  while (true) {
    Matrix W = apply(next);
    ++out.products;
    basis.add(next, std::move(W));
    basis.solve();
    const Index found = std::min(pairs, basis.size());
    next = basis.next_block(found, block, out.residuals);
    const double scale = std::max(std::abs(basis.theta()[0]), std::numeric_limits<double>::min());
    const bool small = out.residuals.maxCoeff() <= o.tolerance * scale;
    out.converged = found == pairs && (small || next.cols() == 0);
    stage.advance(1);
    if (next.cols() == 0 && found < pairs && basis.size() < n) {  // an invariant subspace with too few pairs: go on outside it
      const auto stream = 84 + static_cast<std::uint64_t>(out.products);
      next = RandomStream(o.seed, stream).normal_matrix(n, std::min(pairs - found, n - basis.size()));
      next.colwise().normalize();
      next = basis.outside(std::move(next));
    }
    if (out.converged || out.products >= o.max_products || next.cols() == 0 || basis.size() >= n) break;
    if (!basis.holds(next.cols())) basis.restart(std::min(keep, basis.size()));
  }
  const Index found = std::min(pairs, basis.size());
  out.values = basis.theta().head(found);
  out.subspace = basis.ritz_vectors(std::min(std::max(block, found), basis.size()));
  out.vectors = out.subspace.leftCols(found);
  out.converged = out.converged || basis.size() >= n;
  return out;
}

BlockKrylovResult block_krylov(const LinearOperator& A, const BlockKrylovOptions& options) {
  if (!A.symmetric()) throw InvalidArgument(fmt::format("eigenvectors by block Krylov need a symmetric operator, got {}", A.describe()));
  return block_krylov(
      A.rows(), [&](const Matrix& V) { return A.apply(V); }, options);
}

}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "models/low_rank_preconditioner.hpp"

#include <algorithm>
#include <vector>

#include "linalg/blas.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

constexpr Index bands = 16;  // fixed, so that sums are

// F'R, r x k.
Matrix transposed_product(const Matrix& F, const Matrix& R) {
  std::vector<Matrix> sums(bands);
  parallel_for(bands, [&](Index b) {
    const Index first = b * F.rows() / bands;
    const Index count = (b + 1) * F.rows() / bands - first;
    Matrix& sum = sums[static_cast<std::size_t>(b)];
    sum = Matrix::Zero(F.cols(), R.cols());
    if (count == 0) return;
    const double* f = F.data() + first * F.cols();
    const double* r = R.data() + first * R.cols();
    if (R.cols() == 1) {
      linalg::gemv_add(true, count, F.cols(), 1.0, f, F.cols(), r, sum.data());
    } else {
      linalg::gemm_n(true, F.cols(), R.cols(), count, 1.0, f, F.cols(), r, R.cols(), 0.0, sum.data(), R.cols());
    }
  });
  for (std::size_t b = 1; b < sums.size(); ++b) sums[0] += sums[b];
  return std::move(sums[0]);
}

}  // namespace

LowRankPreconditioner::LowRankPreconditioner(const Matrix& F, double alpha) : F_(F), alpha_(alpha), inner_(F.cols()) {
  // An alpha below the rounding of F'F is helped until the factor exists; a preconditioner may be rough.
  const double scale = F.squaredNorm() / static_cast<double>(std::max<Index>(1, F.cols()));
  for (double help = 0; help <= 1; help = help == 0 ? 1e-15 : 10 * help) {
    fill(F);
    inner_.add_to_diagonal(alpha + help * scale);
    if (linalg::cholesky(inner_, {}) < 0) return;
  }
  throw Error("the low-rank preconditioner could not be factored; check the kernel values for extreme sizes");
}

void LowRankPreconditioner::fill(const Matrix& F) {
  const Index tiles = inner_.tiles();
  parallel_for(tiles * tiles, [&](Index t) {
    const Index i = t / tiles;
    const Index j = t % tiles;
    if (j > i) return;
    linalg::gemm_n(true, inner_.tile_rows(i), inner_.tile_rows(j), F.rows(), 1.0, F.data() + i * linalg::cholesky_tile, F.cols(),
                   F.data() + j * linalg::cholesky_tile, F.cols(), 0.0, inner_.tile(i, j), linalg::SymmetricTiles<double>::stride());
  });
}

Matrix LowRankPreconditioner::apply(const Matrix& R) const {
  Matrix T = transposed_product(F_, R);
  linalg::cholesky_solve(inner_, T);
  Matrix out = R;
  parallel_for(bands, [&](Index b) {
    const Index first = b * F_.rows() / bands;
    const Index count = (b + 1) * F_.rows() / bands - first;
    if (count == 0) return;
    const double* f = F_.data() + first * F_.cols();
    double* o = out.data() + first * out.cols();
    if (R.cols() == 1) {
      linalg::gemv_add(false, count, F_.cols(), -1.0, f, F_.cols(), T.data(), o);
    } else {
      linalg::gemm_n(false, count, R.cols(), F_.cols(), -1.0, f, F_.cols(), T.data(), T.cols(), 1.0, o, out.cols());
    }
  });
  return out / alpha_;
}

}  // namespace mercer

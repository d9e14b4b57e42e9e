// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/cholesky.hpp"

#include <fmt/format.h>

#include <cmath>

#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"

namespace mercer::linalg {

namespace {

// X <- X L^-T (rows of X against the transposed lower triangle).
void trsm_right(Index m, Index n, const double* l, Index ldl, double* x, Index ldx) {
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(m), static_cast<int>(n), 1.0, l,
              static_cast<int>(ldl), x, static_cast<int>(ldx));
}
void trsm_right(Index m, Index n, const float* l, Index ldl, float* x, Index ldx) {
  cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(m), static_cast<int>(n), 1.0F, l,
              static_cast<int>(ldl), x, static_cast<int>(ldx));
}

// X <- op(L)^-1 X.
void trsm_left(bool transposed, Index m, Index n, const double* l, Index ldl, double* x, Index ldx) {
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, static_cast<int>(m),
              static_cast<int>(n), 1.0, l, static_cast<int>(ldl), x, static_cast<int>(ldx));
}
void trsm_left(bool transposed, Index m, Index n, const float* l, Index ldl, float* x, Index ldx) {
  cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, static_cast<int>(m),
              static_cast<int>(n), 1.0F, l, static_cast<int>(ldl), x, static_cast<int>(ldx));
}

// C <- C - A A', lower half.
void syrk_minus(Index n, Index k, const double* a, Index lda, double* c, Index ldc) {
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, static_cast<int>(n), static_cast<int>(k), -1.0, a, static_cast<int>(lda), 1.0, c,
              static_cast<int>(ldc));
}
void syrk_minus(Index n, Index k, const float* a, Index lda, float* c, Index ldc) {
  cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, static_cast<int>(n), static_cast<int>(k), -1.0F, a, static_cast<int>(lda), 1.0F, c,
              static_cast<int>(ldc));
}

}  // namespace

template <class T>
void SymmetricTiles<T>::add_to_diagonal(double value) {
  for (Index i = 0; i < count_; ++i) {
    for (Index r = 0; r < tile_rows(i); ++r) tile(i, i)[r * stride() + r] += static_cast<T>(value);
  }
}

template <class T>
Index cholesky(SymmetricTiles<T>& A, const ProgressCallback& progress) {
  const Index count = A.tiles();
  const Index s = SymmetricTiles<T>::stride();
  Stage stage(progress, "Cholesky", static_cast<double>(count) * static_cast<double>(count + 1) * static_cast<double>(count + 2) / 6);
  for (Index k = 0; k < count; ++k) {
    const Index nk = A.tile_rows(k);
    const Index bad = potrf_lower(nk, A.tile(k, k), s);
    if (bad >= 0) return k * cholesky_tile + bad;
    for (Index r = 0; r < nk; ++r) {  // LAPACK lets NaN pass
      if (!std::isfinite(A.tile(k, k)[r * s + r])) return k * cholesky_tile + r;
    }
    stage.advance(1);
    parallel_for(count - k - 1, [&](Index t) {
      const Index i = k + 1 + t;
      trsm_right(A.tile_rows(i), nk, A.tile(k, k), s, A.tile(i, k), s);
      stage.advance(1);
    });
    const Index rest = count - k - 1;
    parallel_for(rest * (rest + 1) / 2, [&](Index t) {
      // t counts the lower triangle of the remaining tiles row by row.
      auto row = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(t) + 1) - 1) / 2);
      while (row * (row + 1) / 2 > t) --row;
      while ((row + 1) * (row + 2) / 2 <= t) ++row;
      const Index i = k + 1 + row;
      const Index j = k + 1 + t - row * (row + 1) / 2;
      if (i == j) {
        syrk_minus(A.tile_rows(i), nk, A.tile(i, k), s, A.tile(i, i), s);
      } else {
        gemm_nt(A.tile_rows(i), A.tile_rows(j), nk, T{-1}, A.tile(i, k), s, A.tile(j, k), s, T{1}, A.tile(i, j), s);
      }
      stage.advance(1);
    });
  }
  return -1;
}

template <class T>
void cholesky_solve(const SymmetricTiles<T>& L, RowMatrix<T>& B) {
  const Index count = L.tiles();
  const Index s = SymmetricTiles<T>::stride();
  const Index k = B.cols();
  if (B.rows() != L.size())
    throw InvalidArgument(fmt::format("the right-hand side has {} rows, the factored matrix {}", B.rows(), L.size()));
  if (k == 0) return;
  const auto rows_of = [&](Index i) { return B.data() + i * cholesky_tile * k; };
  const auto update = [&](bool transposed, Index to, Index from, const T* tile) {
    // rows `to` -= op(tile) rows `from`
    const Index m = L.tile_rows(to);
    const Index n = L.tile_rows(from);
    if (k == 1) {
      gemv_add(transposed, transposed ? n : m, transposed ? m : n, T{-1}, tile, s, rows_of(from), rows_of(to));
    } else {
      gemm_n(transposed, m, k, n, T{-1}, tile, s, rows_of(from), k, T{1}, rows_of(to), k);
    }
  };
  for (Index j = 0; j < count; ++j) {
    trsm_left(false, L.tile_rows(j), k, L.tile(j, j), s, rows_of(j), k);
    parallel_for(count - j - 1, [&](Index t) { update(false, j + 1 + t, j, L.tile(j + 1 + t, j)); });
  }
  for (Index i = count - 1; i >= 0; --i) {
    trsm_left(true, L.tile_rows(i), k, L.tile(i, i), s, rows_of(i), k);
    parallel_for(i, [&](Index j) { update(true, j, i, L.tile(i, j)); });
  }
}

template class SymmetricTiles<float>;
template class SymmetricTiles<double>;
template Index cholesky(SymmetricTiles<float>&, const ProgressCallback&);
template Index cholesky(SymmetricTiles<double>&, const ProgressCallback&);
template void cholesky_solve(const SymmetricTiles<float>&, RowMatrix<float>&);
template void cholesky_solve(const SymmetricTiles<double>&, RowMatrix<double>&);

}  // namespace mercer::linalg

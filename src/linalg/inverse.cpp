// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/inverse.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "linalg/blas.hpp"
#include "mercer/error.hpp"

// NOLINTBEGIN(readability-identifier-naming): LAPACK's names
extern "C" {
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void spotri_(const char* uplo, const int* n, float* a, const int* lda, int* info);
}
// NOLINTEND(readability-identifier-naming)

namespace mercer::linalg {

namespace {

void potri(const int* n, double* a, const int* lda, int* info) { dpotri_("U", n, a, lda, info); }
void potri(const int* n, float* a, const int* lda, int* info) { spotri_("U", n, a, lda, info); }

// X <- op(L)^-1 X.
void solve_left(bool transposed, Index m, Index n, const double* l, double* x, Index stride) {
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, static_cast<int>(m),
              static_cast<int>(n), 1.0, l, static_cast<int>(stride), x, static_cast<int>(stride));
}
void solve_left(bool transposed, Index m, Index n, const float* l, float* x, Index stride) {
  cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, static_cast<int>(m),
              static_cast<int>(n), 1.0F, l, static_cast<int>(stride), x, static_cast<int>(stride));
}

// X <- -X L^-1.
void solve_right_minus(Index m, Index n, const double* l, double* x, Index stride) {
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, static_cast<int>(m), static_cast<int>(n), -1.0, l,
              static_cast<int>(stride), x, static_cast<int>(stride));
}
void solve_right_minus(Index m, Index n, const float* l, float* x, Index stride) {
  cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, static_cast<int>(m), static_cast<int>(n), -1.0F, l,
              static_cast<int>(stride), x, static_cast<int>(stride));
}

// C <- C + A'A, lower half.
void syrk_plus(Index n, Index k, const double* a, double* c, Index stride) {
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, static_cast<int>(n), static_cast<int>(k), 1.0, a, static_cast<int>(stride), 1.0, c,
              static_cast<int>(stride));
}
void syrk_plus(Index n, Index k, const float* a, float* c, Index stride) {
  cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, static_cast<int>(n), static_cast<int>(k), 1.0F, a, static_cast<int>(stride), 1.0F, c,
              static_cast<int>(stride));
}

// X <- X L^-T.
void solve_right_transposed(Index m, Index n, const double* l, Index ldl, double* x, Index ldx) {
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(m), static_cast<int>(n), 1.0, l,
              static_cast<int>(ldl), x, static_cast<int>(ldx));
}
void solve_right_transposed(Index m, Index n, const float* l, Index ldl, float* x, Index ldx) {
  cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(m), static_cast<int>(n), 1.0F, l,
              static_cast<int>(ldl), x, static_cast<int>(ldx));
}

struct Place {
  Index row;
  Index col;
};

// Number t of the lower triangle, counted row by row.
Place lower_place(Index t) {
  auto row = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(t) + 1) - 1) / 2);
  while (row * (row + 1) / 2 > t) --row;
  while ((row + 1) * (row + 2) / 2 <= t) ++row;
  return {row, t - row * (row + 1) / 2};
}

}  // namespace

template <class T>
void symmetric_inverse(SymmetricTiles<T>& L, const ProgressCallback& progress) {
  const Index count = L.tiles();
  const Index s = SymmetricTiles<T>::stride();
  Stage stage(progress, "Inverse", static_cast<double>(count) * static_cast<double>(count + 1) * static_cast<double>(2 * count + 1) / 6);
  for (Index k = 0; k < count; ++k) {
    const Index nk = L.tile_rows(k);
    T* const diagonal = L.tile(k, k);
    parallel_for(k, [&](Index j) { solve_left(false, nk, L.tile_rows(j), diagonal, L.tile(k, j), s); });
    const Index below = (count - k - 1) * k;
    parallel_for(below + k * (k + 1) / 2, [&](Index t) {
      if (t < below) {
        const Index m = k + 1 + t / k;
        const Index j = t % k;
        gemm_n(false, L.tile_rows(m), L.tile_rows(j), nk, T{-1}, L.tile(m, k), s, L.tile(k, j), s, T{1}, L.tile(m, j), s);
      } else {
        const auto [i, j] = lower_place(t - below);
        if (i == j) {
          syrk_plus(L.tile_rows(i), nk, L.tile(k, i), L.tile(i, i), s);
        } else {
          gemm_n(true, L.tile_rows(i), L.tile_rows(j), nk, T{1}, L.tile(k, i), s, L.tile(k, j), s, T{1}, L.tile(i, j), s);
        }
      }
      stage.advance(1);
    });
    parallel_for(count - 1, [&](Index t) {
      if (t < k) {
        solve_left(true, nk, L.tile_rows(t), diagonal, L.tile(k, t), s);
      } else {
        solve_right_minus(L.tile_rows(t + 1), nk, diagonal, L.tile(t + 1, k), s);
      }
      stage.advance(1);
    });
    const int size = static_cast<int>(nk);
    const int lda = static_cast<int>(s);
    int info = 0;
    potri(&size, diagonal, &lda, &info);  // the row-major lower half is the column-major upper one
    if (info != 0) throw Error(fmt::format("row {} of a Cholesky factor has a zero on its diagonal", k * cholesky_tile + info - 1));
    stage.advance(1);
  }
}

template <class T>
double log_determinant(const SymmetricTiles<T>& L) {
  const Vector diagonal = diagonal_of(L);
  return 2 * diagonal.array().log().sum();
}

template <class T>
Vector diagonal_of(const SymmetricTiles<T>& A) {
  Vector out(A.size());
  for (Index i = 0; i < A.size(); ++i) {
    const Index r = i % cholesky_tile;
    out[i] = static_cast<double>(A.tile(i / cholesky_tile, i / cholesky_tile)[r * A.stride() + r]);
  }
  return out;
}

namespace {

// A B, A the symmetric matrix of this lower half, or the lower triangle itself.
template <class T, bool symmetric>
Matrix multiply(const SymmetricTiles<T>& A, const Matrix& B) {
  if (B.rows() != A.size()) throw InvalidArgument(fmt::format("B has {} rows, the matrix {}", B.rows(), A.size()));
  const Index count = A.tiles();
  const Index s = SymmetricTiles<T>::stride();
  const Index k = B.cols();
  Matrix out = Matrix::Zero(B.rows(), k);
  if (k == 0) return out;
  const RowMatrix<T> right = B.template cast<T>();
  const auto rows_of = [&](Index i) { return right.data() + i * cholesky_tile * k; };
  parallel_for(count, [&](Index i) {  // a row of tiles: those left of the diagonal as they are, those right of it from their mirror images
    RowMatrix<T> sum = RowMatrix<T>::Zero(A.tile_rows(i), k);
    for (Index j = 0; j < (symmetric ? count : i + 1); ++j) {
      if (j == i) {
        const Eigen::Map<const RowMatrix<T>, 0, Eigen::OuterStride<>> tile(A.tile(i, i), A.tile_rows(i), A.tile_rows(i),
                                                                           Eigen::OuterStride<>(s));
        const auto mine = right.middleRows(i * cholesky_tile, A.tile_rows(i));
        if constexpr (symmetric) {
          sum += tile.template selfadjointView<Eigen::Lower>() * mine;
        } else {
          sum += tile.template triangularView<Eigen::Lower>() * mine;
        }
      } else {
        gemm_n(j > i, A.tile_rows(i), k, A.tile_rows(j), T{1}, j > i ? A.tile(j, i) : A.tile(i, j), s, rows_of(j), k, T{1}, sum.data(), k);
      }
    }
    out.middleRows(i * cholesky_tile, A.tile_rows(i)) = sum.template cast<double>();
  });
  return out;
}

}  // namespace

template <class T>
Matrix symmetric_multiply(const SymmetricTiles<T>& A, const Matrix& B) {
  return multiply<T, true>(A, B);
}

template <class T>
Matrix lower_multiply(const SymmetricTiles<T>& L, const Matrix& B) {
  return multiply<T, false>(L, B);
}

template <class T>
SymmetricTiles<T> symmetric_sandwich(const SymmetricTiles<T>& Q, const Vector& c, const ProgressCallback& progress) {
  if (c.size() != Q.size()) throw InvalidArgument(fmt::format("{} weights for a matrix of {} rows", c.size(), Q.size()));
  const Index count = Q.tiles();
  const Index s = SymmetricTiles<T>::stride();
  SymmetricTiles<T> out(Q.size());
  const Index tiles = count * (count + 1) / 2;
  Stage stage(progress, "Product", static_cast<double>(tiles) * static_cast<double>(count));
  // Q_kj as rows k: from the tile, from its mirror image, or (on the diagonal) from the half that counts; times c_k where asked.
  const auto copy = [&](Index k, Index j, bool weighted, T* to) {
    const T* from = k >= j ? Q.tile(k, j) : Q.tile(j, k);
    for (Index r = 0; r < Q.tile_rows(k); ++r) {
      const T factor = weighted ? static_cast<T>(c[k * cholesky_tile + r]) : T{1};
      for (Index x = 0; x < Q.tile_rows(j); ++x) {
        const bool mirrored = k < j || (k == j && x > r);
        to[r * s + x] = factor * (mirrored ? from[x * s + r] : from[r * s + x]);
      }
    }
  };
  parallel_for(tiles, [&](Index t) {
    const auto [i, j] = lower_place(t);
    std::vector<T> left(static_cast<std::size_t>(s * s));
    std::vector<T> right(static_cast<std::size_t>(s * s));
    for (Index k = 0; k < count; ++k) {
      copy(k, j, true, right.data());
      if (k == i) copy(i, i, false, left.data());
      const T* q = k == i ? left.data() : k > i ? Q.tile(k, i) : Q.tile(i, k);
      gemm_n(k > i, Q.tile_rows(i), Q.tile_rows(j), Q.tile_rows(k), T{1}, q, s, right.data(), s, k == 0 ? T{0} : T{1}, out.tile(i, j), s);
      stage.advance(1);
    }
  });
  return out;
}

template <class T>
void half_solve_rows(const SymmetricTiles<T>& L, T* rows, Index count, Index stride) {
  const Index s = SymmetricTiles<T>::stride();
  for (Index i = 0; i < L.tiles(); ++i) {
    T* const mine = rows + i * cholesky_tile;
    for (Index j = 0; j < i; ++j)
      gemm_nt(count, L.tile_rows(i), L.tile_rows(j), T{-1}, rows + j * cholesky_tile, stride, L.tile(i, j), s, T{1}, mine, stride);
    solve_right_transposed(count, L.tile_rows(i), L.tile(i, i), s, mine, stride);
  }
}

template SymmetricTiles<float> symmetric_sandwich(const SymmetricTiles<float>&, const Vector&, const ProgressCallback&);
template SymmetricTiles<double> symmetric_sandwich(const SymmetricTiles<double>&, const Vector&, const ProgressCallback&);
template void half_solve_rows(const SymmetricTiles<float>&, float*, Index, Index);
template void half_solve_rows(const SymmetricTiles<double>&, double*, Index, Index);
template void symmetric_inverse(SymmetricTiles<float>&, const ProgressCallback&);
template void symmetric_inverse(SymmetricTiles<double>&, const ProgressCallback&);
template double log_determinant(const SymmetricTiles<float>&);
template double log_determinant(const SymmetricTiles<double>&);
template Vector diagonal_of(const SymmetricTiles<float>&);
template Vector diagonal_of(const SymmetricTiles<double>&);
template Matrix lower_multiply(const SymmetricTiles<float>&, const Matrix&);
template Matrix lower_multiply(const SymmetricTiles<double>&, const Matrix&);
template Matrix symmetric_multiply(const SymmetricTiles<float>&, const Matrix&);
template Matrix symmetric_multiply(const SymmetricTiles<double>&, const Matrix&);

}  // namespace mercer::linalg

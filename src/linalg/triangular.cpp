// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/triangular.hpp"

#include <algorithm>
#include <utility>

#include "linalg/blas.hpp"
#include "linalg/cholesky.hpp"

namespace mercer::linalg {

namespace {

constexpr Index panel = 128;

// visit(first, count) for fixed panels of `total`, in parallel.
template <class Visit>
void for_each_panel(Index total, const Visit& visit) {
  parallel_for((total + panel - 1) / panel, [&](Index p) { visit(p * panel, std::min(panel, total - p * panel)); });
}

void solve_left(const Matrix& L, bool transposed, Matrix& B) {
  for_each_panel(B.cols(), [&](Index first, Index count) {
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, static_cast<int>(L.rows()),
                static_cast<int>(count), 1, L.data(), static_cast<int>(L.cols()), B.data() + first, static_cast<int>(B.cols()));
  });
}

}  // namespace

std::optional<Matrix> cholesky_lower(const Matrix& A, double shift, const ProgressCallback& progress) {
  const Index n = A.rows();
  SymmetricTiles<double> tiles(n);
  const auto visit_tiles = [&](const auto& visit) {  // visit(row in the matrix, row in the tile)
    parallel_for(tiles.tiles(), [&](Index i) {
      for (Index j = 0; j <= i; ++j) {
        for (Index r = 0; r < tiles.tile_rows(i); ++r) {
          const Index row = i * cholesky_tile + r;
          const Index count = std::min(tiles.tile_rows(j), row + 1 - j * cholesky_tile);
          visit(row, j * cholesky_tile, count, tiles.tile(i, j) + r * SymmetricTiles<double>::stride());
        }
      }
    });
  };
  visit_tiles([&](Index row, Index col, Index count, double* to) { std::copy_n(A.data() + row * n + col, count, to); });
  tiles.add_to_diagonal(shift);
  if (cholesky(tiles, progress) >= 0) return std::nullopt;
  Matrix L = Matrix::Zero(n, n);
  visit_tiles([&](Index row, Index col, Index count, const double* from) { std::copy_n(from, count, L.data() + row * n + col); });
  if (!L.diagonal().allFinite()) return std::nullopt;
  return L;
}

void solve_lower(const Matrix& L, Matrix& B) { solve_left(L, false, B); }

void solve_lower_transposed(const Matrix& L, Matrix& B) { solve_left(L, true, B); }

void solve_right_lower_transposed(const Matrix& L, Matrix& B) {
  for_each_panel(B.rows(), [&](Index first, Index count) {
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(count), static_cast<int>(L.rows()), 1,
                L.data(), static_cast<int>(L.cols()), B.data() + first * B.cols(), static_cast<int>(B.cols()));
  });
}

}  // namespace mercer::linalg

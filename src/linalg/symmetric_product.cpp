// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/symmetric_product.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "linalg/blas.hpp"

namespace mercer::linalg {

namespace {

constexpr Index most_parts = 16;

struct Place {
  Index row, col;
};

// The lower tiles are numbered row by row.
Place place_of(Index number) {
  auto row = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(number) + 1) - 1) / 2);
  while (row * (row + 1) / 2 > number) --row;
  while ((row + 1) * (row + 2) / 2 <= number) ++row;
  return {row, number - row * (row + 1) / 2};
}

// sum (double) += op(tile) v, op(tile) of m rows.
template <class T>
void add_tile(bool transposed, const T* tile, Index rows, Index cols, const T* v, Index k, double* sum) {
  const Index m = transposed ? cols : rows;
  const Index depth = transposed ? rows : cols;
  thread_local std::vector<T> part;
  part.assign(static_cast<std::size_t>(m * k), T{0});
  if (k == 1) {
    gemv_add(transposed, rows, cols, T{1}, tile, SymmetricTiles<T>::stride(), v, part.data());
  } else {
    gemm_n(transposed, m, k, depth, T{1}, tile, SymmetricTiles<T>::stride(), v, k, T{0}, part.data(), k);
  }
  for (Index i = 0; i < m * k; ++i) sum[i] += static_cast<double>(part[static_cast<std::size_t>(i)]);
}

}  // namespace

template <class T>
Matrix symmetric_product(const SymmetricTiles<T>& A, const Matrix& V) {
  const Index n = A.size();
  const Index k = V.cols();
  const Index tiles = A.tiles() * (A.tiles() + 1) / 2;
  const Index parts = std::clamp<Index>(tiles, 1, most_parts);
  const RowMatrix<T> v = V.cast<T>();
  std::vector<Matrix> sums(static_cast<std::size_t>(parts));
  parallel_for(parts, [&](Index p) {
    Matrix& sum = sums[static_cast<std::size_t>(p)];
    sum = Matrix::Zero(n, k);
    for (Index number = p * tiles / parts; number < (p + 1) * tiles / parts; ++number) {
      const auto [i, j] = place_of(number);
      const T* tile = A.tile(i, j);
      const Index row = i * cholesky_tile;
      const Index col = j * cholesky_tile;
      add_tile(false, tile, A.tile_rows(i), A.tile_rows(j), v.data() + col * k, k, sum.data() + row * k);
      if (i != j) add_tile(true, tile, A.tile_rows(i), A.tile_rows(j), v.data() + row * k, k, sum.data() + col * k);
    }
  });
  for (std::size_t p = 1; p < sums.size(); ++p) sums[0] += sums[p];
  return std::move(sums[0]);
}

template <class T>
Matrix symmetric_columns(const SymmetricTiles<T>& A, std::span<const Index> J) {
  const Index s = SymmetricTiles<T>::stride();
  Matrix out(A.size(), std::ssize(J));
  parallel_for(A.tiles(), [&](Index i) {
    for (std::size_t c = 0; c < J.size(); ++c) {
      const Index j = J[c] / cholesky_tile;
      const Index within = J[c] % cholesky_tile;
      for (Index r = 0; r < A.tile_rows(i); ++r) {
        const T value = j <= i ? A.tile(i, j)[r * s + within] : A.tile(j, i)[within * s + r];
        out(i * cholesky_tile + r, static_cast<Index>(c)) = static_cast<double>(value);
      }
    }
  });
  return out;
}

template Matrix symmetric_product(const SymmetricTiles<float>&, const Matrix&);
template Matrix symmetric_product(const SymmetricTiles<double>&, const Matrix&);
template Matrix symmetric_columns(const SymmetricTiles<float>&, std::span<const Index>);
template Matrix symmetric_columns(const SymmetricTiles<double>&, std::span<const Index>);

}  // namespace mercer::linalg

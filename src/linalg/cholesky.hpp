// Cholesky of a symmetric positive definite matrix kept as square tiles, lower half only: half the memory of a full matrix, every BLAS call
// on one cache-sized piece, and the same bits for any number of threads because each tile receives its updates in one fixed order.
//
// Method: right-looking. For each tile column k: factor A_kk, solve the tiles below it, subtract their products from the rest.
// Cost: n^3/3 flops, n (n + tile)/2 numbers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/buffer.hpp"
#include "mercer/run.hpp"

namespace mercer::linalg {

inline constexpr Index cholesky_tile = 256;

template <class T>
class SymmetricTiles {
 public:
  explicit SymmetricTiles(Index n) : n_(n), count_((n + cholesky_tile - 1) / cholesky_tile), data_(numbers(n)) {}

  Index size() const { return n_; }
  Index tiles() const { return count_; }
  Index tile_rows(Index i) const { return i + 1 < count_ ? cholesky_tile : n_ - i * cholesky_tile; }
  static constexpr Index stride() { return cholesky_tile; }

  // Tile (i, j), j <= i, row-major with stride(); on the diagonal only its lower half counts.
  T* tile(Index i, Index j) { return data_.data() + static_cast<std::size_t>(i * (i + 1) / 2 + j) * cholesky_tile * cholesky_tile; }
  const T* tile(Index i, Index j) const {
    return data_.data() + static_cast<std::size_t>(i * (i + 1) / 2 + j) * cholesky_tile * cholesky_tile;
  }

  void add_to_diagonal(double value);

  static std::size_t numbers(Index n) {
    const auto tiles = static_cast<std::size_t>((n + cholesky_tile - 1) / cholesky_tile);
    return tiles * (tiles + 1) / 2 * cholesky_tile * cholesky_tile;
  }
  static std::size_t bytes(Index n) { return numbers(n) * sizeof(T); }

 private:
  Index n_;
  Index count_;
  Buffer<T> data_;
};

// Replaces A by its factor L, A = L L'. Returns the row where A turned out not to be positive definite, or -1 when all went well.
template <class T>
Index cholesky(SymmetricTiles<T>& A, const ProgressCallback& progress);

// B <- (L L')^-1 B, B row-major n x k.
template <class T>
void cholesky_solve(const SymmetricTiles<T>& L, RowMatrix<T>& B);

}  // namespace mercer::linalg

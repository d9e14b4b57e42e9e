// SPDX-License-Identifier: BSD-3-Clause
#include "stats/quadratic_forms.hpp"

#include <algorithm>
#include <vector>

#include "core/buffer.hpp"
#include "gram/tile_memory.hpp"
#include "linalg/blas.hpp"

namespace mercer::stats {

namespace {

constexpr Index panel = 256;        // vectors multiplied at a time
constexpr Index most_parts = 64;    // partial sums: a number of the problem alone, never of the threads
constexpr double part_bytes = 3e8;  // that they may take together

using simd::Tile;

Index parts_for(Index tiles, Index numbers) {
  const auto affordable = static_cast<Index>(part_bytes / (8.0 * static_cast<double>(std::max<Index>(1, numbers))));
  return std::clamp<Index>(std::min(affordable, tiles), 1, most_parts);
}

template <class T>
void clear_diagonal(Tile<T> tile) {
  for (Index i = 0; i < std::min(tile.rows, tile.cols); ++i) tile.data[i * tile.stride + i] = T{0};
}

// Calls body(part's sum, kernel, I, J, tile) for the upper tiles of all kernels; the sums are then added up in order.
template <class T, class Body>
Matrix sum_over_tiles(const PreparedFamily<T>& kernels, Diagonal diagonal, const Run& run, const char* stage_name, Index rows,
                      Body&& body) {
  const Index n = kernels.size();
  const Index blocks = block_count(n);
  const Index tiles = upper_count(blocks);
  const auto count = static_cast<Index>(kernels.count());
  const Index parts = parts_for(tiles, rows * count);
  std::vector<Matrix> sums(static_cast<std::size_t>(parts));
  with_threads(run.threads, [&] {
    Stage stage(run.progress, stage_name, static_cast<double>(tiles));
    parallel_for(parts, [&](Index part) {
      Matrix& sum = sums[static_cast<std::size_t>(part)];
      sum = Matrix::Zero(rows, count);
      TileMemory<T> memory;
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const Range I = block_range(pair.row, n);
        const Range J = block_range(pair.col, n);
        kernels.tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t k, Tile<T> tile) {
          if (pair.row == pair.col && diagonal == Diagonal::left_out) clear_diagonal(tile);
          body(sum, static_cast<Index>(k), I, J, tile);
        });
        stage.advance(1);
      }
    });
  });
  for (std::size_t p = 1; p < sums.size(); ++p) sums[0] += sums[p];
  return sums[0];
}

}  // namespace

template <class T>
Matrix quadratic_forms(const PreparedFamily<T>& kernels, const RowMatrix<T>& V, Diagonal diagonal, const Run& run) {
  const Index n = kernels.size();
  return sum_over_tiles(kernels, diagonal, run, "Permutations", V.rows(), [&](Matrix& sum, Index k, Range I, Range J, Tile<T> tile) {
    Buffer<T> product(static_cast<std::size_t>(panel * tile_size));
    const double times = I.begin == J.begin ? 1 : 2;  // a tile above the diagonal stands for its mirror image too
    for (Index first = 0; first < V.rows(); first += panel) {
      const Index some = std::min(panel, V.rows() - first);
      const T* v = V.data() + first * n;
      linalg::gemm_nt(some, I.count, J.count, T{1}, v + J.begin, n, tile.data, tile.stride, T{0}, product.data(), I.count);
      for (Index b = 0; b < some; ++b) {
        const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> image(product.data() + b * I.count, I.count);
        const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> side(v + b * n + I.begin, I.count);
        sum(first + b, k) += times * static_cast<double>((image * side).sum());
      }
    }
  });
}

template <class T>
Matrix row_sums(const PreparedFamily<T>& kernels, Diagonal diagonal, const Run& run) {
  return sum_over_tiles(kernels, diagonal, run, "Row sums", kernels.size(), [&](Matrix& sum, Index k, Range I, Range J, Tile<T> tile) {
    for (Index i = 0; i < I.count; ++i) {
      double total = 0;
      for (Index j = 0; j < J.count; ++j) {
        const auto value = static_cast<double>(tile.data[i * tile.stride + j]);
        total += value;
        if (I.begin != J.begin) sum(J.begin + j, k) += value;
      }
      sum(I.begin + i, k) += total;
    }
  });
}

template Matrix quadratic_forms<float>(const PreparedFamily<float>&, const RowMatrix<float>&, Diagonal, const Run&);
template Matrix quadratic_forms<double>(const PreparedFamily<double>&, const RowMatrix<double>&, Diagonal, const Run&);
template Matrix row_sums<float>(const PreparedFamily<float>&, Diagonal, const Run&);
template Matrix row_sums<double>(const PreparedFamily<double>&, Diagonal, const Run&);

}  // namespace mercer::stats

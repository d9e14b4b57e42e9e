// SPDX-License-Identifier: BSD-3-Clause
#include "stats/quadratic_forms.hpp"

#include <algorithm>
#include <vector>

#include "gram/tile_memory.hpp"
#include "linalg/blas.hpp"
#include "mercer/error.hpp"

namespace mercer::stats {

namespace {

constexpr Index most_together = 1024;  // vectors multiplied at a time: their images stay in the cache
constexpr Index most_parts = 64;       // partial sums: a number of the problem alone, never of the threads
constexpr double part_bytes = 3e8;     // that they may take together

using simd::Tile;

double dot(Index n, const float* a, const float* b) { return static_cast<double>(cblas_sdot(static_cast<int>(n), a, 1, b, 1)); }
double dot(Index n, const double* a, const double* b) { return cblas_ddot(static_cast<int>(n), a, 1, b, 1); }

template <class T>
void clear_diagonal(Tile<T> tile) {
  for (Index i = 0; i < std::min(tile.rows, tile.cols); ++i) tile.data[i * tile.stride + i] = T{0};
}

// sums += the tile's row sums, and its column sums where it stands for its mirror image too. In double: statistics of unequal samples are
// differences of these.
template <class T>
void add_row_sums(Tile<T> tile, Range I, Range J, Eigen::Ref<Vector> sums) {
  Eigen::Array<double, Eigen::Dynamic, 1> columns = Eigen::Array<double, Eigen::Dynamic, 1>::Zero(J.count);
  for (Index i = 0; i < I.count; ++i) {
    const auto row = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>(tile.data + i * tile.stride, J.count).template cast<double>();
    sums[I.begin + i] += row.sum();
    columns += row;
  }
  if (I.begin != J.begin) sums.segment(J.begin, J.count).array() += columns;
}

void add_to(FormSums& sum, const FormSums& other) {
  sum.forms += other.forms;
  sum.row_sums += other.row_sums;
  sum.squares += other.squares;
}

// forms(b, k) += times * v_R' K(R, C) v_C for all vectors, R and C rows and columns of the tile.
template <class T>
void add_forms(Tile<T> tile, const T* left, const T* right, Range R, Range C, double times, Index vectors, T* images, Index k,
               Matrix& forms) {
  const T* part = tile.data + R.begin * tile.stride + C.begin;
  for (Index first = 0; first < vectors; first += most_together) {
    const Index some = std::min(most_together, vectors - first);
    linalg::gemm_nt(some, R.count, C.count, T{1}, right + first * tile.cols + C.begin, tile.cols, part, tile.stride, T{0}, images, R.count);
    const T* side = left + first * tile.rows + R.begin;
    for (Index b = 0; b < some; ++b) forms(first + b, k) += times * dot(R.count, images + b * R.count, side + b * tile.rows);
  }
}

// The same for a whole tile. One above the diagonal stands for its mirror image too; of one on it, the square above the diagonal does.
template <class T>
void add_forms(Tile<T> tile, Index row_block, Index col_block, const VectorPanels<T>& V, T* images, Index k, Matrix& forms) {
  const T* left = V.panel(row_block);
  const T* right = V.panel(col_block);
  if (row_block != col_block) return add_forms(tile, left, right, {0, tile.rows}, {0, tile.cols}, 2, V.vectors(), images, k, forms);
  const Index half = tile.rows / 2;
  const Range top{0, half};
  const Range bottom{half, tile.rows - half};
  for (const Range part : {top, bottom}) {
    if (part.count > 0) add_forms(tile, left, right, part, part, 1, V.vectors(), images, k, forms);
  }
  if (half > 0) add_forms(tile, left, right, top, bottom, 2, V.vectors(), images, k, forms);
}

}  // namespace

void require_no_overflow(bool finite) {
  if (!finite) throw InvalidArgument("kernel values overflow: sums of them or of their squares are not finite; scale the data");
}

template <class T>
FormSums form_sums(const PreparedFamily<T>& kernels, const VectorPanels<T>& V, Diagonal diagonal, const Run& run) {
  const Index n = kernels.size();
  const Index blocks = block_count(n);
  const Index tiles = upper_count(blocks);
  const auto count = static_cast<Index>(kernels.count());
  const double numbers = static_cast<double>(std::max<Index>(1, (V.vectors() + n) * count));
  const Index parts = std::clamp<Index>(std::min(static_cast<Index>(part_bytes / 8 / numbers), tiles), 1, most_parts);
  std::vector<FormSums> sums(static_cast<std::size_t>(parts));
  with_run(run, [&] {
    Stage stage(run.progress, "Kernel sums", static_cast<double>(tiles));
    parallel_for(parts, [&](Index part) {
      FormSums& sum = sums[static_cast<std::size_t>(part)];
      sum = {Matrix::Zero(V.vectors(), count), Matrix::Zero(n, count), Vector::Zero(count)};
      Matrix columns_first = Matrix::Zero(count, n);  // row sums, a kernel's together while they are added up
      TileMemory<T> memory;
      Buffer<T> images(static_cast<std::size_t>(std::min(most_together, std::max<Index>(1, V.vectors())) * tile_size));
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const Range I = block_range(pair.row, n);
        const Range J = block_range(pair.col, n);
        kernels.tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t kernel, Tile<T> tile) {
          const auto k = static_cast<Index>(kernel);
          if (pair.row == pair.col && diagonal == Diagonal::left_out) clear_diagonal(tile);
          add_forms(tile, pair.row, pair.col, V, images.data(), k, sum.forms);
          add_row_sums<T>(tile, I, J, columns_first.row(k).transpose());
          for (Index i = 0; i < I.count; ++i)
            sum.squares[k] += (I.begin == J.begin ? 1 : 2) * dot(J.count, tile.data + i * tile.stride, tile.data + i * tile.stride);
        });
        stage.advance(1);
      }
      sum.row_sums = columns_first.transpose();
    });
  });
  for (std::size_t p = 1; p < sums.size(); ++p) add_to(sums[0], sums[p]);
  // Squares leave the range of float32 long before the values do; who needs them there does without float32.
  require_no_overflow(sums[0].forms.allFinite() && sums[0].row_sums.allFinite() && (sizeof(T) == 4 || sums[0].squares.allFinite()));
  return std::move(sums[0]);
}

template <class T>
Matrix quadratic_forms(const PreparedFamily<T>& kernels, const RowMatrix<T>& V, Diagonal diagonal, const Run& run) {
  VectorPanels<T> panels(V.rows(), V.cols());
  with_run(run, [&] {
    parallel_for(block_count(V.cols()), [&](Index block) {
      const Range range = block_range(block, V.cols());
      Eigen::Map<RowMatrix<T>>(panels.panel(block), V.rows(), range.count) = V.middleCols(range.begin, range.count);
    });
  });
  return form_sums<T>(kernels, panels, diagonal, run).forms;
}

template <class T>
Matrix row_sums(const PreparedFamily<T>& kernels, Diagonal diagonal, const Run& run) {
  return form_sums<T>(kernels, VectorPanels<T>(0, kernels.size()), diagonal, run).row_sums;
}

template FormSums form_sums<float>(const PreparedFamily<float>&, const VectorPanels<float>&, Diagonal, const Run&);
template FormSums form_sums<double>(const PreparedFamily<double>&, const VectorPanels<double>&, Diagonal, const Run&);
template Matrix quadratic_forms<float>(const PreparedFamily<float>&, const RowMatrix<float>&, Diagonal, const Run&);
template Matrix quadratic_forms<double>(const PreparedFamily<double>&, const RowMatrix<double>&, Diagonal, const Run&);
template Matrix row_sums<float>(const PreparedFamily<float>&, Diagonal, const Run&);
template Matrix row_sums<double>(const PreparedFamily<double>&, Diagonal, const Run&);

}  // namespace mercer::stats

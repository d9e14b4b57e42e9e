// SPDX-License-Identifier: BSD-3-Clause
#include "gram/kernel_rows.hpp"

#include <algorithm>

#include "gram/fill.hpp"
#include "mercer/run.hpp"

namespace mercer {

template <class T>
void KernelRows<T>::rows(std::span<const Index> I, std::span<T* const> out) const {
  const Index n = size();
  const Index wanted = std::ssize(I);
  const Index columns = block_count(n);
  parallel_for(block_count(wanted) * columns, [&](Index number) {
    const Range rows = block_range(number / columns, wanted);
    const Range J = block_range(number % columns, n);
    TileMemory<T> memory;
    const Tile<T> tile = memory.tile(rows.count, J.count);
    const auto first = static_cast<std::size_t>(rows.begin);
    kernel_.tile(RowSet(I.subspan(first, static_cast<std::size_t>(rows.count))), J, tile);
    for (Index i = 0; i < rows.count; ++i) std::copy_n(tile.row(i), J.count, out[first + static_cast<std::size_t>(i)] + J.begin);
  });
}

template <class T>
std::unique_ptr<StoredRows<T>> StoredRows<T>::of(const PreparedKernel<T>& kernel, const ProgressCallback& progress) {
  Buffer<T> entries(static_cast<std::size_t>(kernel.rows()) * static_cast<std::size_t>(kernel.rows()));
  fill_full(kernel, entries.data(), kernel.rows(), progress);
  return std::make_unique<StoredRows>(std::move(entries), kernel.diagonal());
}

template <class T>
std::vector<std::unique_ptr<StoredRows<T>>> StoredRows<T>::of_each(const PreparedFamily<T>& kernels, const ProgressCallback& progress) {
  const Index n = kernels.size();
  std::vector<Buffer<T>> entries;
  for (std::size_t k = 0; k < kernels.count(); ++k) entries.emplace_back(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  const Index blocks = block_count(n);
  Stage stage(progress, "Gram matrices", static_cast<double>(upper_count(blocks)));
  const auto& ops = simd::ops<T>();
  parallel_for(upper_count(blocks), [&](Index number) {
    const BlockPair pair = upper_pair(number, blocks);
    const Range I = block_range(pair.row, n);
    const Range J = block_range(pair.col, n);
    TileMemory<T> memory;
    kernels.tiles(I, J, Tile<T>{memory.data(), I.count, J.count, J.count}, [&](std::size_t k, Tile<T> tile) {
      const Tile<const T> made{tile.data, tile.rows, tile.cols, tile.stride};
      ops.copy_out(made, entries[k].data() + I.begin * n + J.begin, n);
      if (pair.row != pair.col) ops.copy_out_transposed(made, entries[k].data() + J.begin * n + I.begin, n);
    });
    stage.advance(1);
  });
  std::vector<std::unique_ptr<StoredRows>> out;
  for (std::size_t k = 0; k < kernels.count(); ++k) out.push_back(std::make_unique<StoredRows>(std::move(entries[k]), kernels.diagonal(k)));
  return out;
}

template <class T>
std::unique_ptr<StoredRows<T>> StoredRows<T>::part(std::span<const Index> samples) const {
  const Index m = std::ssize(samples);
  Buffer<T> entries(static_cast<std::size_t>(m) * static_cast<std::size_t>(m));
  Vector diagonal(m);
  for (Index i = 0; i < m; ++i) diagonal[i] = diagonal_[samples[static_cast<std::size_t>(i)]];
  parallel_for(block_count(m), [&](Index block) {
    const Range range = block_range(block, m);
    for (Index i = range.begin; i < range.begin + range.count; ++i) {
      const T* from = stored(samples[static_cast<std::size_t>(i)]);
      T* to = entries.data() + i * m;
      for (Index j = 0; j < m; ++j) to[j] = from[samples[static_cast<std::size_t>(j)]];
    }
  });
  return std::make_unique<StoredRows>(std::move(entries), std::move(diagonal));
}

template <class T>
void StoredRows<T>::rows(std::span<const Index> I, std::span<T* const> out) const {
  for (std::size_t a = 0; a < I.size(); ++a) std::copy_n(stored(I[a]), size(), out[a]);
}

template class KernelRows<float>;
template class KernelRows<double>;
template class StoredRows<float>;
template class StoredRows<double>;

}  // namespace mercer

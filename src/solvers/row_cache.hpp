// Rows of a matrix kept while memory lasts: those asked for least recently make room for new ones.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "core/buffer.hpp"
#include "linalg/row_source.hpp"

namespace mercer {

template <class T>
class RowCache {
 public:
  // Room for `bytes` of rows, and for `least` rows at any rate.
  RowCache(const RowSource<T>& source, std::size_t bytes, Index least);

  // Where these rows are, each until the next call; missing ones are computed together. No row twice; at most capacity() of them.
  std::vector<const T*> rows(std::span<const Index> wanted);

  Index capacity() const { return capacity_; }
  Index computed() const { return computed_; }
  std::size_t bytes() const { return chunks_.size() * static_cast<std::size_t>(chunk_rows_ * stride_) * sizeof(T); }

 private:
  T* take_place(Index for_row);

  const RowSource<T>& source_;
  Index stride_;
  Index capacity_;
  Index chunk_rows_;
  Index used_ = 0;
  Index computed_ = 0;
  Index clock_ = 0;
  std::vector<Buffer<T>> chunks_{};
  std::vector<T*> place_;          // of each row; null: not here
  std::vector<Index> last_use_{};  // of each row that is here
  std::vector<Index> here_{};      // rows in the cache
  std::vector<Index> victims_{};   // of this call, the least recent last
};

}  // namespace mercer

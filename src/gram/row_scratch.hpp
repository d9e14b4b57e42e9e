// The rows of a tile where a loop can run over them: as they are when consecutive, else copied next to each other into memory that the
// thread keeps. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "gram/tiling.hpp"

namespace mercer {

template <class T>
class RowScratch {
 public:
  // Rows of `depth` numbers, `stride` apart. Valid until the thread's next call for a list of rows.
  const T* gather(const T* all, Index stride, Index depth, const RowSet& rows) {
    if (rows.ids == nullptr) {
      stride_ = stride;
      return all + rows.begin * stride;
    }
    thread_local std::vector<T> memory;
    stride_ = depth;
    memory.resize(static_cast<std::size_t>(rows.count * depth));
    for (Index i = 0; i < rows.count; ++i) std::copy_n(all + rows[i] * stride, depth, memory.data() + i * depth);
    return memory.data();
  }
  Index stride() const { return stride_; }  // of what gather gave

 private:
  Index stride_ = 0;
};

}  // namespace mercer

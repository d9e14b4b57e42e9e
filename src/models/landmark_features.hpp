// Rows of features k(x, Z) W, block by block: a panel of kernel values with the points Z and one product. What the Nystrom map, the
// empirical kernel map and Mercer's map have in common. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "core/buffer.hpp"
#include "gram/fill.hpp"
#include "linalg/blas.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"

namespace mercer {

// Kernel values and products in T, answers kept in the type of `out` (`stride` numbers a row). W: |Z| x q; empty: the kernel values
// themselves.
template <class T, class Out>
void landmark_features(const Kernel& k, const Samples& Z, const Matrix& projection, const Samples& X, Out* out, Index stride,
                       const char* label, const Run& run) {
  const Index m = Z.size();
  const RowMatrix<T> W = projection.template cast<T>();
  const Index q = W.size() == 0 ? m : W.cols();
  const PreparedKernel<T> kernel(k, X, Z);
  Stage stage(run.progress, label, static_cast<double>(X.size()));
  parallel_for(block_count(X.size()), [&](Index a) {
    const Range I = block_range(a, X.size());
    Buffer<T> panel(static_cast<std::size_t>(I.count * m));
    for (Index b = 0; b < block_count(m); ++b) {
      const Range J = block_range(b, m);
      kernel.tile(I, J, Tile<T>{panel.data() + J.begin, I.count, J.count, m});
    }
    const auto keep = [&](const T* from, Index from_stride) {
      for (Index i = 0; i < I.count; ++i) {
        const T* row = from + i * from_stride;
        std::transform(row, row + q, out + (I.begin + i) * stride, [](T value) { return static_cast<Out>(value); });
      }
    };
    if (W.size() == 0) {
      keep(panel.data(), m);
    } else if constexpr (std::is_same_v<T, Out>) {
      linalg::gemm_n(false, I.count, q, m, T{1}, panel.data(), m, W.data(), q, T{0}, out + I.begin * stride, stride);
    } else {
      Buffer<T> product(static_cast<std::size_t>(I.count * q));
      linalg::gemm_n(false, I.count, q, m, T{1}, panel.data(), m, W.data(), q, T{0}, product.data(), q);
      keep(product.data(), q);
    }
    stage.advance(static_cast<double>(I.count));
  });
}

// Rows as the kernel takes them against the points of a map; throws InvalidArgument for a wrong number of columns.
inline Samples rows_for_map(const Kernel& kernel, const Samples& rows, const Samples& points) {
  if (rows.width() != points.width())
    throw InvalidArgument(fmt::format("X has {} columns, the map was made for {}", rows.width(), points.width()));
  return as_new(kernel, as_given(kernel, rows, points), points);
}

}  // namespace mercer

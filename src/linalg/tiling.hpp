// How Mercer cuts an operator that has no tiles of its own, and the checks that all operators share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "mercer/error.hpp"
#include "mercer/linear_operator.hpp"

namespace mercer::linalg {

// Square tiles row by row; of a symmetric operator only those on and above the diagonal.
struct TileGrid {
  static constexpr Index edge = 256;

  struct Rectangle {
    Index row, col, rows, cols;
  };

  Index rows = 0;
  Index cols = 0;
  bool symmetric = false;

  static Index bands(Index n) { return (n + edge - 1) / edge; }

  Index count() const { return symmetric ? bands(rows) * (bands(rows) + 1) / 2 : bands(rows) * bands(cols); }

  Rectangle operator[](Index number) const {
    Index i = 0;
    Index width = bands(cols);
    for (; number >= width; ++i) {
      number -= width;
      if (symmetric) --width;
    }
    const Index row = i * edge;
    const Index col = (number + (symmetric ? i : 0)) * edge;
    return {row, col, std::min(edge, rows - row), std::min(edge, cols - col)};
  }
};

inline void require_rows(const char* what, Index got, Index wanted) {
  if (got != wanted) throw InvalidArgument(fmt::format("{} has {} rows, the operator needs {}", what, got, wanted));
}

inline void require_weights(const LinearOperator& op, const MatrixRef& W) {
  if (W.rows() != op.rows() || W.cols() != op.cols())
    throw InvalidArgument(fmt::format("W is {} x {}, the operator needs {} x {}", W.rows(), W.cols(), op.rows(), op.cols()));
}

inline void require_block(const LinearOperator& op, std::span<const Index> I, std::span<const Index> J, const char* view = "") {
  const auto check = [&](std::span<const Index> indices, Index size, const char* what) {
    for (const Index i : indices) {
      if (i < 0 || i >= size) throw InvalidArgument(fmt::format("{}{} index {} is outside 0 .. {}", view, what, i, size - 1));
    }
  };
  check(I, op.rows(), "row");
  check(J, op.cols(), "column");
}

inline void require_row_range(const LinearOperator& op, Index first, Index count) {
  if (first < 0 || count < 0 || first > op.rows() - count)
    throw InvalidArgument(fmt::format("rows {} .. {} are outside 0 .. {}", first, first + count - 1, op.rows() - 1));
}

// Calls f with a float or a double, the type that `precision` stands for.
template <class F>
decltype(auto) with_type_of(Precision precision, F&& f) {
  return precision == Precision::float32 ? f(float{}) : f(double{});
}

// Rows that were computed, not borrowed: the memory lives as long as the block.
template <class T>
RowBlock pinned(std::shared_ptr<T[]> values, Index stride) {
  return {static_cast<const T*>(values.get()), stride, values};
}

}  // namespace mercer::linalg

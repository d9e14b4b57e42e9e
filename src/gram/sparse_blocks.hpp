// CSR rows cut into blocks of tile_size, each turned into inverted lists: for every column that occurs in the block, the rows that have it.
// A row of the other side then meets only entries it shares a column with.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gram/tiling.hpp"
#include "mercer/samples.hpp"

namespace mercer {

template <class T>
struct InvertedBlock {
  std::vector<std::int32_t> columns;  // distinct, ascending
  std::vector<std::int32_t> first;    // columns.size() + 1 offsets into rows and values
  std::vector<std::int32_t> rows;     // within the block
  std::vector<T> values;
};

template <class T>
InvertedBlock<T> invert(const CsrRows<T>& all, Range range) {
  struct Entry {
    std::int32_t column;
    std::int32_t row;
    T value;
  };
  std::vector<Entry> entries;
  for (Index i = 0; i < range.count; ++i) {
    for (Index p = all.begin(range.begin + i); p < all.end(range.begin + i); ++p) {
      entries.push_back({all.columns[p], static_cast<std::int32_t>(i), all.values[p]});
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
  InvertedBlock<T> block;
  for (const Entry& entry : entries) {
    if (block.columns.empty() || block.columns.back() != entry.column) {
      block.columns.push_back(entry.column);
      block.first.push_back(static_cast<std::int32_t>(block.rows.size()));
    }
    block.rows.push_back(entry.row);
    block.values.push_back(entry.value);
  }
  block.first.push_back(static_cast<std::int32_t>(block.rows.size()));
  return block;
}

// The rows of a sample set as CSR in T: borrowed when they are that already, converted otherwise (dense rows lose their zeros).
template <class T>
struct CsrCopy {
  std::vector<T> values;
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> offsets;
  CsrRows<T> view;

  explicit CsrCopy(const Samples& X) {
    if (const auto* same = std::get_if<CsrRows<T>>(&X.storage())) {
      view = *same;
      return;
    }
    offsets.push_back(0);
    std::visit(
        [&](const auto& all) {
          for (Index i = 0; i < all.rows; ++i) {
            if constexpr (requires { all.data; }) {
              for (Index j = 0; j < all.cols; ++j) append(static_cast<std::int32_t>(j), static_cast<double>(all.row(i)[j]));
            } else {
              for (Index p = all.begin(i); p < all.end(i); ++p) append(all.columns[p], static_cast<double>(all.values[p]));
            }
            offsets.push_back(static_cast<std::int64_t>(values.size()));
          }
        },
        X.storage());
    view = {values.data(), columns.data(), offsets.data(), X.size(), X.width()};
  }
  CsrCopy(const CsrCopy&) = delete;
  CsrCopy& operator=(const CsrCopy&) = delete;

 private:
  void append(std::int32_t column, double value) {
    if (value == 0) return;
    columns.push_back(column);
    values.push_back(static_cast<T>(value));
  }
};

}  // namespace mercer

// Counts of what each graph holds, as rows of features.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "objects/features.hpp"

namespace mercer::objects {

// One row a graph, in the order of Adjacency: rows, then columns unless both sides are the same.
struct GraphCountRows {
  std::vector<std::int64_t> offsets{};
  std::vector<std::int32_t> columns{};  // ascending within a row
  std::vector<double> values{};
};

// k(x, x) are sums of squares.
Features features_of(GraphCountRows counts, Index width, const BothGraphs& both);

// How often each key was added, exactly: open addressing, keys compared in full.
class KeyTally {
 public:
  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t count = 0;  // 0: a free place
  };

  void add(std::uint64_t key, std::uint64_t times = 1);
  std::vector<Entry> sorted() const;  // by key

 private:
  void grow();

  std::vector<Entry> places_{};
  std::size_t used_ = 0;
};

// The columns are the keys of all graphs in ascending order.
Features features_of(const std::vector<std::vector<KeyTally::Entry>>& graphs, const BothGraphs& both);

}  // namespace mercer::objects

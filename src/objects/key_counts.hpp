// Objects as bags of keys to rows of counts: what spectrum, mismatch, gappy and weighted degree kernels, bags of words and labels of graphs
// come to once their features have exact 64-bit names.
//
// Method: two passes. The first finds how many different keys each object has and which keys occur at all; the second counts again and
// writes the columns and values where they belong, so that nothing is stored twice. Columns are the ranks of the keys among those that
// occur on either side: rows come out ascending, and the numbering depends on neither the order of the objects nor the threads. Keys are
// counted in a table where their range allows, else sorted; they are ranked by a bitmap where their range allows, else by one sort of all
// of them. Cost: linear in the keys that the objects have, but for those sorts. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "objects/features.hpp"

namespace mercer::objects {

// One side. `keys` appends the keys of an object, in any order, one for every time it has them; it is called twice, from any thread.
struct KeyBags {
  Index objects = 0;
  std::function<void(Index object, std::vector<std::uint64_t>& out)> keys{};
};

struct CountRows {
  Buffer<double> values{};
  Buffer<std::int32_t> columns{};
  std::vector<std::int64_t> offsets{0};

  Index size() const { return std::ssize(offsets) - 1; }
};

struct KeyCounts {
  std::shared_ptr<CountRows> rows{};
  std::shared_ptr<CountRows> cols{};  // the rows themselves where there is no other side
  Index width = 0;
  std::vector<Index> starts{};  // the column of the first key that is not below each of the keys asked for
};

// All keys are below `space`; 0: any number is a key. `cols`: nullptr where both sides are the same. `who` names the kernel in messages.
// Throws OverBudget where the counts do not fit in memory, or need more columns than there are numbers for.
KeyCounts count_keys(const KeyBags& rows, const KeyBags* cols, std::uint64_t space, const std::string& who,
                     std::span<const std::uint64_t> first_keys = {});

// Features whose values are the counts, each multiplied in place by the weight of its column (empty: by 1).
Features features_of(KeyCounts counts, std::span<const double> weights = {});

// The samples of one side, sharing the arrays.
Samples samples_of(const std::shared_ptr<CountRows>& side, Index width);

}  // namespace mercer::objects

// Which exchanges leave the null hypothesis as it is: what a permutation test may shuffle.
//
//   free           every row may take every place: independent rows
//   within_groups  rows change places with rows of their own group only (strata: hospitals, batches)
//   whole_groups   groups change places as wholes, rows inside stay together (clusters: repeated measures of one patient)
//   blocks         consecutive blocks of block_length rows change places: series whose rows depend on their neighbours
//   shifts         all rows move on by the same number of places, the last to the front: stationary series
//   pairs          row i of X and row i of Y change places or not: before and after, of two samples of equal size
//
// A wrong choice makes the test's level wrong: free exchanges of dependent rows reject far too often.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

enum class Exchange : std::uint8_t { free, within_groups, whole_groups, blocks, shifts, pairs };

const char* name_of(Exchange exchange);  // "free", "within-groups", ...

struct ExchangeOptions {
  Exchange scheme = Exchange::free;
  std::vector<Index> groups{};  // of each row, any numbers; of two samples those of X, then those of Y
  Index block_length = 0;       // 0: about the cube root of the rows, for blocks
};

}  // namespace mercer

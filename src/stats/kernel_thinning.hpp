// Kernel thinning within Compress++: m of n rows that count alike and whose mean embedding is near that of all.
//
// Halving (KT-SPLIT, Dwivedi and Mackey): rows are taken in pairs; of each pair one goes to the left and one to the right, by a coin whose
// bias makes the difference of the two halves smaller: f = k(x, .) - k(x', .), a = <right - left, f>, x goes left with probability
// (1 + a / threshold) / 2, the threshold being as large as a gets with the failure probability that is allowed. Each half has half the rows
// and nearly the mean of all.
// Compress (Shetty, Dwivedi, Mackey): blocks of 4^(g+1) rows are halved; what is left is halved again in blocks of twice that length, and
// so on: every round costs the same number of kernel values, 4^(g+1) n / 2. When one block holds all that is left, it is halved into all
// 2^G parts of m rows, of which the one nearest the mean is taken; swaps with rows of the block then bring it nearer (KT-SWAP). Any n and
// m: n' = m 2^h rows take part, h = floor(log2(n / m)), at equal distances in the sample from a random start; blocks are cut at even
// places. The mean that the last part looks at is that of all n rows. More than half of the rows: the others are thinned for.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "mercer/coresets.hpp"

namespace mercer::stats {

struct Thinned {
  std::vector<Index> rows{};  // ascending
  Index taking_part = 0;      // n'
  Index rounds = 0;           // h
  Index pool = 0;             // rows that swaps chose from; 0: none
  bool mean_of_all = true;    // the last part looked at the mean of all rows, not of those left
};

// The kernel must be resolved, 1 <= m <= n.
Thinned thinned_rows(const Kernel& kernel, const Samples& X, Index m, const ThinOptions& options);

}  // namespace mercer::stats

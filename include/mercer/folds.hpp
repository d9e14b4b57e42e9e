// Ways to split samples for cross-validation and hold-out tests. Deterministic in the seed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

struct Fold {
  std::vector<Index> train;  // ascending
  std::vector<Index> test;   // ascending
};

// k parts of nearly equal size; without shuffling they are consecutive runs, as scikit-learn's KFold has them.
std::vector<Fold> k_folds(Index n, Index k, bool shuffle = true, std::uint64_t seed = 0);
// Every class spread evenly over the folds. `classes` are indices 0 .. ; a class with fewer than k members is spread as far as it goes,
// a class with one member is an error.
std::vector<Fold> stratified_folds(std::span<const Index> classes, Index k, bool shuffle = true, std::uint64_t seed = 0);
// No group on both sides; groups are dealt largest first to the smallest fold, groups of one size in an order that the seed decides.
std::vector<Fold> grouped_folds(std::span<const Index> groups, Index k, std::uint64_t seed = 0);
// Time order: fold i trains on everything before its test block. The k blocks have n / (k + 1) samples each and end with the last one.
std::vector<Fold> time_folds(Index n, Index k);

// One split with round(fraction * n) test rows (at least 1, at most n - 1).
Fold holdout(Index n, double fraction, std::uint64_t seed = 0);
// The same with every class in proportion; a class keeps at least one member for training, so a lone one is never held out.
Fold stratified_holdout(std::span<const Index> classes, double fraction, std::uint64_t seed = 0);

}  // namespace mercer

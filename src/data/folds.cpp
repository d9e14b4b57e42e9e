// Splits are the partitions of scikit-learn's KFold, StratifiedKFold, GroupKFold and TimeSeriesSplit, with Mercer's own random
// streams where something is shuffled. Cost: O(n log n).
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
Index size_of(std::span<const Index> values) { return static_cast<Index>(values.size()); }

// From the fold that every sample is tested in.
std::vector<Fold> folds_from(const std::vector<Index>& fold_of, Index k) {
  std::vector<Fold> folds(at(k));
  for (Index f = 0; f < k; ++f) {
    for (std::size_t i = 0; i < fold_of.size(); ++i) {
      auto& side = fold_of[i] == f ? folds[at(f)].test : folds[at(f)].train;
      side.push_back(static_cast<Index>(i));
    }
  }
  return folds;
}

void require_fold_count(Index k, Index most, const char* of_what) {
  if (k < 2 || k > most) throw InvalidArgument(fmt::format("the number of folds must be from 2 to the {} {}, got {}", most, of_what, k));
}

void require_holdout(Index n, double fraction) {
  if (n < 2) throw InvalidArgument(fmt::format("a hold-out split needs at least 2 samples, got {}", n));
  if (!(fraction > 0 && fraction < 1))
    throw InvalidArgument(fmt::format("the hold-out fraction must be between 0 and 1, got {}", fraction));
}

Index holdout_size(Index n, double fraction) { return std::clamp<Index>(std::llround(fraction * static_cast<double>(n)), 1, n - 1); }

Fold split_off(Index n, const std::vector<Index>& test) {
  std::vector<Index> fold_of(at(n), 1);
  for (const Index i : test) fold_of[at(i)] = 0;
  return folds_from(fold_of, 1).front();
}

// Members of every class, classes numbered in the order in which they first appear (as scikit-learn numbers them).
std::vector<std::vector<Index>> members_by_class(std::span<const Index> classes) {
  std::unordered_map<Index, std::size_t> place;
  std::vector<std::vector<Index>> members;
  for (Index i = 0; i < size_of(classes); ++i) {
    const Index c = classes[at(i)];
    if (c < 0)
      throw InvalidArgument(fmt::format("classes must be indices 0, 1, ..., got {} at position {}; encode_labels makes them", c, i));
    const auto [it, is_new] = place.try_emplace(c, members.size());
    if (is_new) members.emplace_back();
    members[it->second].push_back(i);
  }
  return members;
}

}  // namespace

std::vector<Fold> k_folds(Index n, Index k, bool shuffle, std::uint64_t seed) {
  require_fold_count(k, n, "samples");
  std::vector<Index> order(at(n));
  std::iota(order.begin(), order.end(), Index{0});
  if (shuffle) RandomStream(seed).shuffle(order);
  std::vector<Index> fold_of(at(n));
  Index first = 0;
  for (Index f = 0; f < k; ++f) {
    const Index last = first + n / k + (f < n % k ? 1 : 0);
    for (; first < last; ++first) fold_of[at(order[at(first)])] = f;
  }
  return folds_from(fold_of, k);
}

std::vector<Fold> stratified_folds(std::span<const Index> classes, Index k, bool shuffle, std::uint64_t seed) {
  const Index n = size_of(classes);
  require_fold_count(k, n, "samples");
  std::vector<Index> fold_of(at(n));
  RandomStream random(seed);
  Index dealt = 0;  // place in the list of all samples sorted by class, which is dealt like cards to the folds
  for (const std::vector<Index>& members : members_by_class(classes)) {
    if (members.size() == 1) {
      throw InvalidArgument(fmt::format(
          "class {} has one member (sample {}), which cannot be both trained on and tested; leave it out, merge the class or use k_folds",
          classes[at(members[0])], members[0]));
    }
    std::vector<Index> folds(members.size());
    for (Index& f : folds) f = dealt++ % k;
    std::sort(folds.begin(), folds.end());  // unshuffled, the first members go to the first fold
    if (shuffle) random.shuffle(folds);
    for (std::size_t i = 0; i < members.size(); ++i) fold_of[at(members[i])] = folds[i];
  }
  return folds_from(fold_of, k);
}

std::vector<Fold> grouped_folds(std::span<const Index> groups, Index k, std::uint64_t seed) {
  std::vector<Index> names(groups.begin(), groups.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  require_fold_count(k, size_of(names), "groups");
  const auto place = [&](Index group) { return at(std::lower_bound(names.begin(), names.end(), group) - names.begin()); };
  std::vector<Index> sizes(names.size(), 0);
  for (const Index group : groups) ++sizes[place(group)];

  std::vector<Index> order = RandomStream(seed).permutation(size_of(names));  // among groups of one size, chance decides
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return sizes[at(a)] > sizes[at(b)]; });
  std::vector<Index> load(at(k), 0);
  std::vector<Index> fold_of_group(names.size());
  for (const Index group : order) {
    const Index lightest = std::min_element(load.begin(), load.end()) - load.begin();
    load[at(lightest)] += sizes[at(group)];
    fold_of_group[at(group)] = lightest;
  }
  std::vector<Index> fold_of(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) fold_of[i] = fold_of_group[place(groups[i])];
  return folds_from(fold_of, k);
}

std::vector<Fold> time_folds(Index n, Index k) {
  if (k < 1 || k >= n)
    throw InvalidArgument(fmt::format("{} time folds need at least {} samples and k >= 1, got n = {}", k, std::max<Index>(k, 1) + 1, n));
  const Index size = n / (k + 1);
  std::vector<Fold> folds(at(k));
  Index first = n - k * size;
  for (Fold& fold : folds) {
    fold.train.resize(at(first));
    fold.test.resize(at(size));
    std::iota(fold.train.begin(), fold.train.end(), Index{0});
    std::iota(fold.test.begin(), fold.test.end(), first);
    first += size;
  }
  return folds;
}

Fold holdout(Index n, double fraction, std::uint64_t seed) {
  require_holdout(n, fraction);
  return split_off(n, RandomStream(seed).sample(n, holdout_size(n, fraction)));
}

Fold stratified_holdout(std::span<const Index> classes, double fraction, std::uint64_t seed) {
  const Index n = size_of(classes);
  require_holdout(n, fraction);
  const Index wanted = holdout_size(n, fraction);
  std::vector<std::vector<Index>> members = members_by_class(classes);
  RandomStream random(seed);

  // Shares in proportion, rounded down; what is left goes to the largest remainders (ties by chance), but a class keeps one
  // member to train on.
  std::vector<Index> take(members.size());
  Index left = wanted;
  for (std::size_t c = 0; c < members.size(); ++c) left -= take[c] = wanted * size_of(members[c]) / n;
  std::vector<Index> order = random.permutation(static_cast<Index>(members.size()));
  const auto remainder = [&](Index c) { return wanted * size_of(members[at(c)]) % n; };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return remainder(a) > remainder(b); });
  for (bool gave = true; left > 0 && gave;) {
    gave = false;
    for (const Index c : order) {
      if (left == 0 || take[at(c)] + 1 >= size_of(members[at(c)])) continue;
      ++take[at(c)];
      --left;
      gave = true;
    }
  }
  std::vector<Index> test;
  for (std::size_t c = 0; c < members.size(); ++c) {
    for (const Index i : random.sample(size_of(members[c]), take[c])) test.push_back(members[c][at(i)]);
  }
  if (test.empty())
    throw InvalidArgument(
        "every class has only one member, so none can be held out; is this the right target? A number to predict is regression");
  return split_off(n, test);
}

}  // namespace mercer

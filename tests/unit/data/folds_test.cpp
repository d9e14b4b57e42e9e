// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "golden/data.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;
using Indices = std::vector<Index>;

// The fold that tests each sample, -1 if none does.
Indices fold_of(const std::vector<Fold>& folds, Index n) {
  Indices out(static_cast<std::size_t>(n), -1);
  for (std::size_t f = 0; f < folds.size(); ++f) {
    for (const Index i : folds[f].test) out[static_cast<std::size_t>(i)] = static_cast<Index>(f);
  }
  return out;
}

// Both sides ascending, together every sample once.
void expect_split(const Fold& fold, Index n) {
  EXPECT_TRUE(std::is_sorted(fold.train.begin(), fold.train.end()));
  EXPECT_TRUE(std::is_sorted(fold.test.begin(), fold.test.end()));
  Indices all(fold.train);
  all.insert(all.end(), fold.test.begin(), fold.test.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(static_cast<Index>(all.size()), n);
  for (Index i = 0; i < n; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i);
}

// Every sample is tested exactly once.
void expect_partition(const std::vector<Fold>& folds, Index n) {
  std::size_t tested = 0;
  for (const Fold& fold : folds) {
    expect_split(fold, n);
    EXPECT_FALSE(fold.test.empty());
    EXPECT_FALSE(fold.train.empty());
    tested += fold.test.size();
  }
  EXPECT_EQ(static_cast<Index>(tested), n);
  const Indices of = fold_of(folds, n);
  EXPECT_EQ(std::count(of.begin(), of.end(), -1), 0);
}

Indices classes_of(const std::vector<Index>& counts, std::uint64_t seed) {
  Indices classes;
  for (std::size_t c = 0; c < counts.size(); ++c) classes.insert(classes.end(), static_cast<std::size_t>(counts[c]), static_cast<Index>(c));
  RandomStream(seed).shuffle(classes);
  return classes;
}

std::map<Index, Index> counts_in(const Indices& rows, const Indices& classes) {
  std::map<Index, Index> counts;
  for (const Index i : rows) ++counts[classes[static_cast<std::size_t>(i)]];
  return counts;
}

TEST(Folds, UnshuffledAreScikitLearns) {
  for (const auto& c : golden::k_folds) {
    const auto n = static_cast<Index>(c.labels.size());
    EXPECT_EQ(fold_of(k_folds(n, c.k, false), n), c.fold_of);
  }
  for (const auto& c : golden::stratified_folds)
    EXPECT_EQ(fold_of(stratified_folds(c.labels, c.k, false), static_cast<Index>(c.labels.size())), c.fold_of);
  for (const auto& c : golden::grouped_folds)
    EXPECT_EQ(fold_of(grouped_folds(c.labels, c.k), static_cast<Index>(c.labels.size())), c.fold_of);
  for (const auto& c : golden::time_folds) {
    const auto n = static_cast<Index>(c.labels.size());
    EXPECT_EQ(fold_of(time_folds(n, c.k), n), c.fold_of);
  }
}

TEST(KFolds, PartitionInNearlyEqualParts) {
  for (const Index n : {2, 3, 10, 101}) {
    for (const Index k : {Index{2}, (n + 2) / 2, n}) {
      const auto folds = k_folds(n, k, true, 5);
      expect_partition(folds, n);
      for (const Fold& fold : folds) EXPECT_LE(std::abs(static_cast<Index>(fold.test.size()) - n / k), 1);
    }
  }
}

TEST(KFolds, FollowTheSeed) {
  EXPECT_EQ(fold_of(k_folds(50, 5, true, 1), 50), fold_of(k_folds(50, 5, true, 1), 50));
  EXPECT_NE(fold_of(k_folds(50, 5, true, 1), 50), fold_of(k_folds(50, 5, true, 2), 50));
  EXPECT_NE(fold_of(k_folds(50, 5, true, 1), 50), fold_of(k_folds(50, 5, false), 50));
}

TEST(StratifiedFolds, SpreadEveryClassEvenly) {
  const Indices classes = classes_of({50, 23, 7, 2}, 3);
  for (const Index k : {2, 5, 10}) {
    const auto folds = stratified_folds(classes, k, true, 11);
    expect_partition(folds, 82);
    for (Index c = 0; c < 4; ++c) {
      const auto members = static_cast<Index>(std::count(classes.begin(), classes.end(), c));
      for (const Fold& fold : folds) {
        const Index here = counts_in(fold.test, classes)[c];
        EXPECT_TRUE(here == members / k || here == members / k + 1) << "class " << c << ", k = " << k;
        EXPECT_LT(here, members) << "something is left to train on";
      }
    }
    for (const Fold& fold : folds) EXPECT_LE(std::abs(static_cast<Index>(fold.test.size()) - 82 / k), 1);
  }
  EXPECT_NE(fold_of(stratified_folds(classes, 5, true, 1), 82), fold_of(stratified_folds(classes, 5, true, 2), 82));
}

TEST(StratifiedFolds, TakeIndicesWithGaps) { expect_partition(stratified_folds(Indices{900, 3, 900, 3}, 2), 4); }

TEST(GroupedFolds, KeepGroupsTogetherAndFoldsBalanced) {
  const Indices groups = classes_of({9, 9, 4, 4, 4, 3, 3, 2, 1, 1}, 8);
  const auto folds = grouped_folds(groups, 4, 3);
  expect_partition(folds, 40);
  for (const Fold& fold : folds) {
    const auto tested = counts_in(fold.test, groups);
    for (const auto& [group, count] : counts_in(fold.train, groups)) EXPECT_FALSE(tested.contains(group));
    EXPECT_NEAR(static_cast<double>(fold.test.size()), 10, 1);
  }
  const Indices equal = classes_of({2, 2, 2, 2, 2, 2, 2, 2}, 1);
  EXPECT_NE(fold_of(grouped_folds(equal, 4, 1), 16), fold_of(grouped_folds(equal, 4, 2), 16)) << "the seed decides among equals";
}

TEST(TimeFolds, TrainOnThePastOnly) {
  for (const Index n : {2, 9, 100}) {
    for (const Index k : {Index{1}, n / 2, n - 1}) {
      const auto folds = time_folds(n, k);
      ASSERT_EQ(static_cast<Index>(folds.size()), k);
      for (const Fold& fold : folds) {
        ASSERT_FALSE(fold.train.empty());
        ASSERT_FALSE(fold.test.empty());
        EXPECT_EQ(fold.train.front(), 0);
        EXPECT_EQ(fold.train.back() + 1, static_cast<Index>(fold.train.size()));
        EXPECT_EQ(fold.train.back() + 1, fold.test.front());
      }
      EXPECT_EQ(folds.back().test.back(), n - 1);
    }
  }
}

TEST(Holdout, HasTheRoundedSize) {
  const auto size = [](Index n, double fraction) { return holdout(n, fraction, 1).test.size(); };
  EXPECT_EQ(size(10, 0.3), 3U);
  EXPECT_EQ(size(10, 0.25), 3U);
  EXPECT_EQ(size(10, 0.01), 1U) << "at least one";
  EXPECT_EQ(size(10, 0.99), 9U) << "at least one to train on";
  EXPECT_EQ(size(2, 0.5), 1U);
  expect_split(holdout(57, 0.3, 4), 57);
  EXPECT_EQ(holdout(57, 0.3, 4).test, holdout(57, 0.3, 4).test);
  EXPECT_NE(holdout(57, 0.3, 4).test, holdout(57, 0.3, 5).test);
}

TEST(StratifiedHoldout, TakesEveryClassInProportion) {
  const Indices classes = classes_of({60, 30, 9, 1}, 2);
  for (const double fraction : {0.1, 0.3, 0.5, 0.77}) {
    const Fold fold = stratified_holdout(classes, fraction, 6);
    expect_split(fold, 100);
    EXPECT_EQ(static_cast<double>(fold.test.size()), std::round(fraction * 100));
    auto counts = counts_in(fold.test, classes);
    EXPECT_NEAR(static_cast<double>(counts[0]), 60 * fraction, 1);
    EXPECT_NEAR(static_cast<double>(counts[1]), 30 * fraction, 1);
    EXPECT_NEAR(static_cast<double>(counts[2]), 9 * fraction, 1);
    EXPECT_EQ(counts[3], 0) << "the lone member is trained on";
  }
  EXPECT_NE(stratified_holdout(classes, 0.3, 1).test, stratified_holdout(classes, 0.3, 2).test);
}

TEST(StratifiedHoldout, EveryClassIsTrainedOn) {
  const Indices pairs = classes_of({2, 2, 2, 2}, 1);
  const Fold fold = stratified_holdout(pairs, 0.9, 0);
  EXPECT_EQ(counts_in(fold.train, pairs).size(), 4U);
  EXPECT_EQ(fold.test.size(), 4U);
}

TEST(Folds, BadRequestsAreNamed) {
  EXPECT_EQ(message_of<InvalidArgument>([] { k_folds(10, 1); }), "the number of folds must be from 2 to the 10 samples, got 1");
  EXPECT_EQ(message_of<InvalidArgument>([] { k_folds(3, 4); }), "the number of folds must be from 2 to the 3 samples, got 4");
  EXPECT_THROW(k_folds(0, 2), InvalidArgument);
  EXPECT_EQ(message_of<InvalidArgument>([] {
              stratified_folds(Indices{0, 0, 4, 0}, 2);
            }),
            "class 4 has one member (sample 2), which cannot be both trained on and tested; leave it out, merge the class or use k_folds");
  EXPECT_EQ(message_of<InvalidArgument>([] {
              stratified_folds(Indices{0, 0, -1, 0}, 2);
            }),
            "classes must be indices 0, 1, ..., got -1 at position 2; encode_labels makes them");
  EXPECT_EQ(message_of<InvalidArgument>([] {
              grouped_folds(Indices{1, 1, 2}, 3);
            }),
            "the number of folds must be from 2 to the 2 groups, got 3");
  EXPECT_EQ(message_of<InvalidArgument>([] { time_folds(5, 5); }), "5 time folds need at least 6 samples and k >= 1, got n = 5");
  EXPECT_THROW(time_folds(5, 0), InvalidArgument);
  EXPECT_EQ(message_of<InvalidArgument>([] { holdout(1, 0.5); }), "a hold-out split needs at least 2 samples, got 1");
  for (const double fraction : {0.0, 1.0, -0.1, std::nan("")}) EXPECT_THROW(holdout(10, fraction), InvalidArgument);
  EXPECT_EQ(message_of<InvalidArgument>([] { holdout(9, 1.5); }), "the hold-out fraction must be between 0 and 1, got 1.5");
  EXPECT_EQ(message_of<InvalidArgument>([] {
              stratified_holdout(Indices{0, 1, 2}, 0.5);
            }),
            "every class has only one member, so none can be held out; is this the right target? A number to predict is regression");
}

}  // namespace
}  // namespace mercer

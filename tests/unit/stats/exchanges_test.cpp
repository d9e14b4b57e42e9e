// Exchanges keep to their scheme, and all of what a scheme allows comes up equally often.
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/exchanges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "mercer/error.hpp"

namespace mercer::stats {
namespace {

std::vector<Index> drawn(const Exchanges& e, Index b) {
  std::vector<Index> order(static_cast<std::size_t>(e.rows()));
  e.draw(b, order);
  return order;
}

std::vector<char> labels(const Exchanges& e, Index b) {
  std::vector<char> out(static_cast<std::size_t>(e.rows()));
  e.draw_labels(b, out);
  return out;
}

bool is_permutation_of_places(std::vector<Index> order) {
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<Index>(i)) return false;
  }
  return true;
}

TEST(Exchanges, EverySchemeDrawsPermutations) {
  const std::vector<Index> groups = {5, 5, 2, 2, 7, 7, 1, 1};
  for (const Exchange scheme :
       {Exchange::free, Exchange::within_groups, Exchange::whole_groups, Exchange::blocks, Exchange::shifts, Exchange::pairs}) {
    const bool grouped = scheme == Exchange::within_groups || scheme == Exchange::whole_groups;
    const Exchanges e(8, scheme == Exchange::pairs ? 4 : 8, {scheme, grouped ? groups : std::vector<Index>{}, 0}, 3);
    for (Index b = 0; b < 50; ++b) EXPECT_TRUE(is_permutation_of_places(drawn(e, b))) << name_of(scheme);
    EXPECT_EQ(drawn(e, 7), drawn(e, 7));
  }
}

TEST(Exchanges, FreeOrdersComeUpEquallyOften) {
  const Exchanges e(4, 4, {}, 1);
  std::map<std::vector<Index>, int> seen;
  const int draws = 24000;
  for (Index b = 0; b < draws; ++b) ++seen[drawn(e, b)];
  EXPECT_EQ(seen.size(), 24U);
  EXPECT_NEAR(std::exp(e.log_count()), 24, 1e-9);
  double chi2 = 0;
  for (const auto& [order, count] : seen) chi2 += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi2, 56.0);  // 99.99 % point of chi-square with 23 degrees of freedom
}

TEST(Exchanges, RowsStayInTheirGroups) {
  const std::vector<Index> groups = {0, 1, 0, 1, 2, 0};
  const Exchanges e(6, 6, {Exchange::within_groups, groups, 0}, 2);
  bool moved = false;
  for (Index b = 0; b < 30; ++b) {
    const std::vector<Index> order = drawn(e, b);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(groups[static_cast<std::size_t>(order[i])], groups[i]);
      moved = moved || order[i] != static_cast<Index>(i);
    }
  }
  EXPECT_TRUE(moved);
}

TEST(Exchanges, WholeGroupsOfUnequalSizeKeepOneLabel) {
  const std::vector<Index> groups = {0, 0, 0, 1, 1, 2, 3, 3, 3, 3};  // the first five rows are X
  const Exchanges e(10, 5, {Exchange::whole_groups, groups, 0}, 2);
  std::map<std::vector<char>, int> seen;
  for (Index b = 0; b < 600; ++b) {
    const std::vector<char> in_first = labels(e, b);
    for (std::size_t i = 1; i < 10; ++i) {
      if (groups[i] == groups[i - 1]) {
        EXPECT_EQ(in_first[i], in_first[i - 1]);
      }
    }
    ++seen[in_first];
  }
  EXPECT_EQ(seen.size(), 6U);  // two of four groups are X
}

TEST(Exchanges, FreeLabelsComeUpEquallyOften) {
  for (const Index first : {1, 2, 3, 5}) {
    const Exchanges e(6, first, {}, 4);
    std::map<std::vector<char>, int> seen;
    const std::size_t kinds = e.all_labels(1000).size();
    const int draws = static_cast<int>(kinds) * 1000;
    for (Index b = 0; b < draws; ++b) {
      const std::vector<char> drawn_labels = labels(e, b);
      EXPECT_EQ(std::count(drawn_labels.begin(), drawn_labels.end(), 1), first);
      ++seen[drawn_labels];
    }
    EXPECT_EQ(seen.size(), kinds);
    double chi2 = 0;
    for (const auto& [order, count] : seen) chi2 += (count - 1000.0) * (count - 1000.0) / 1000.0;
    EXPECT_LT(chi2, 49.0) << first;  // 99.98 % point of chi-square with 19 degrees of freedom
  }
}

TEST(Exchanges, AllLabelsAreDistinctAndBeginWithTheObserved) {
  EXPECT_EQ(Exchanges(7, 3, {}, 0).all_labels(35).size(), 35U);
  EXPECT_TRUE(Exchanges(7, 3, {}, 0).all_labels(34).empty());
  EXPECT_EQ(Exchanges(8, 4, {Exchange::pairs, {}, 0}, 0).all_labels(16).size(), 16U);
  for (auto all : {Exchanges(7, 3, {}, 0).all_labels(100), Exchanges(6, 3, {Exchange::pairs, {}, 0}, 0).all_labels(100)}) {
    EXPECT_EQ(std::vector<char>(all[0].begin(), all[0].begin() + 3), std::vector<char>(3, 1));
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  }
}

TEST(Exchanges, PairsSwapTheirTwoRowsOrNot) {
  const Exchanges e(6, 3, {Exchange::pairs, {}, 0}, 2);
  std::map<std::vector<char>, int> seen;
  for (Index b = 0; b < 400; ++b) {
    const std::vector<char> in_first = labels(e, b);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(in_first[i] + in_first[i + 3], 1);
    ++seen[in_first];
  }
  EXPECT_EQ(seen.size(), 8U);
}

TEST(Exchanges, WhatDoesNotFitIsRefused) {
  EXPECT_THROW(Exchanges(6, 6, {Exchange::within_groups, {0, 1}, 0}, 0), InvalidArgument);
  EXPECT_THROW(Exchanges(3, 3, {Exchange::within_groups, {0, 1, 2}, 0}, 0), InvalidArgument);
  EXPECT_THROW(Exchanges(3, 3, {Exchange::whole_groups, {0, 0, 1}, 0}, 0), InvalidArgument);
  EXPECT_THROW(Exchanges(4, 2, {Exchange::whole_groups, {0, 1, 1, 2}, 0}, 0), InvalidArgument);
  EXPECT_THROW(Exchanges(5, 2, {Exchange::pairs, {}, 0}, 0), InvalidArgument);
  EXPECT_THROW(Exchanges(5, 5, {Exchange::free, {0, 0, 0, 1, 1}, 0}, 0), InvalidArgument);
  EXPECT_THROW(Exchanges(10, 10, {Exchange::blocks, {}, 6}, 0), InvalidArgument);
}

}  // namespace
}  // namespace mercer::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "objects/key_counts.hpp"

#include <map>
#include <set>

#include "objects/names.hpp"
#include "string_support.hpp"

namespace mercer::objects {
namespace {

using Keys = std::vector<std::uint64_t>;

KeyBags bags_of(const std::vector<Keys>& all) {
  return {.objects = std::ssize(all), .keys = [&all](Index i, Keys& out) {
            const Keys& keys = all[static_cast<std::size_t>(i)];
            out.insert(out.end(), keys.begin(), keys.end());
          }};
}

std::vector<Keys> random_bags(std::uint64_t seed, Index objects, Index most, std::uint64_t space) {
  RandomStream random(seed);
  std::vector<Keys> all(static_cast<std::size_t>(objects));
  for (Keys& keys : all) {
    // Squared, so that small keys come again and again.
    for (Index k = random.below(most + 1); k > 0; --k) {
      const double u = random.uniform();
      keys.push_back(static_cast<std::uint64_t>(u * u * static_cast<double>(space)));
    }
  }
  return all;
}

void expect_counts(const std::vector<Keys>& objects, const CountRows& rows, const std::vector<std::uint64_t>& distinct) {
  ASSERT_EQ(rows.size(), std::ssize(objects));
  for (std::size_t i = 0; i < objects.size(); ++i) {
    std::map<std::uint64_t, double> wanted;
    for (const std::uint64_t key : objects[i]) ++wanted[key];
    std::map<std::uint64_t, double> got;
    for (auto s = rows.offsets[i]; s < rows.offsets[i + 1]; ++s) {
      const auto slot = static_cast<std::size_t>(s);
      got[distinct[static_cast<std::size_t>(rows.columns[slot])]] = rows.values[slot];
      ASSERT_TRUE(s == rows.offsets[i] || rows.columns[slot - 1] < rows.columns[slot]);
    }
    ASSERT_EQ(got, wanted);
  }
}

// Ranges for a table and a bitmap, a bitmap alone, and sorting; said and not said.
TEST(KeyCounts, AreThoseOfTheObjects) {
  for (const std::uint64_t space : {1ULL, 2ULL, 63ULL, 64ULL, 5000ULL, 1ULL << 20, (1ULL << 20) + 1, 3000000ULL, 1ULL << 40, 1ULL << 62}) {
    const auto a = random_bags(1, 140, 300, space);
    const auto b = random_bags(2, 70, 40, space);
    std::set<std::uint64_t> both;
    for (const auto* side : {&a, &b})
      for (const Keys& keys : *side) both.insert(keys.begin(), keys.end());
    const Keys distinct(both.begin(), both.end());
    const Keys starts{0, space / 7, space / 2, space};
    const KeyBags rows = bags_of(a);
    const KeyBags cols = bags_of(b);
    for (const std::uint64_t said : {space, std::uint64_t{0}}) {
      for (const int threads : {1, 2}) {
        with_threads(threads, [&] {
          const KeyCounts counts = count_keys(rows, &cols, said, "test", starts);
          ASSERT_EQ(counts.width, std::ssize(distinct));
          expect_counts(a, *counts.rows, distinct);
          expect_counts(b, *counts.cols, distinct);
          ASSERT_EQ(counts.starts.size(), starts.size());
          for (std::size_t s = 0; s < starts.size(); ++s)
            EXPECT_EQ(counts.starts[s], std::lower_bound(distinct.begin(), distinct.end(), starts[s]) - distinct.begin());
        });
      }
    }
    const KeyCounts same = count_keys(rows, nullptr, space, "test");
    EXPECT_EQ(same.rows, same.cols);
  }
}

TEST(KeyCounts, FeaturesAreWeighed) {
  const std::vector<Keys> a{{7, 3, 7}, {}, {9}};
  const KeyBags rows = bags_of(a);
  const std::vector<double> weights{2, 0.5, 10};
  const Features f = features_of(count_keys(rows, nullptr, 10, "test"), weights);
  Matrix wanted(3, 3);
  wanted << 2, 1, 0, 0, 0, 0, 0, 0, 10;
  EXPECT_EQ(f.rows.to_dense(), wanted);
  EXPECT_TRUE(f.rows.same_rows(f.cols));
  EXPECT_EQ(f.self_rows, (Vector(3) << 5, 0, 100).finished());
}

TEST(Names, TellPairsApart) {
  PairNames names(100);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> seen;
  RandomStream random(3);
  for (int i = 0; i < 20000; ++i) {
    const auto a = static_cast<std::uint64_t>(random.below(100));
    const auto b = static_cast<std::uint64_t>(random.below(100)) << 20U;
    const std::uint32_t name = names.of(a, b);
    EXPECT_EQ(seen.try_emplace({a, b}, name).first->second, name);
  }
  std::set<std::uint32_t> different;
  for (const auto& [pair, name] : seen) different.insert(name);
  EXPECT_EQ(different.size(), seen.size());
  EXPECT_EQ(*different.begin(), 100U);
}

TEST(Names, Powers) {
  EXPECT_EQ(small_power(4, 6), 4096U);
  EXPECT_EQ(small_power(2, 62), 1ULL << 62);
  EXPECT_EQ(small_power(2, 63), std::nullopt);
  EXPECT_EQ(small_power(10, 1000000000), std::nullopt);
  EXPECT_EQ(small_power(1, 1000000000), 1U);
  EXPECT_EQ(small_power(5, 0), 1U);
}

}  // namespace
}  // namespace mercer::objects

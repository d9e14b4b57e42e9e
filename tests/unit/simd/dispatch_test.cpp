// Which level is used, and how MERCER_SIMD forces one. The choice is made once a process, so each case runs in a process of its own.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "mercer/error.hpp"
#include "simd/scalar.hpp"

namespace mercer::simd {
namespace {

TEST(SimdLevels, ScalarFirstAllDifferent) {
  const std::vector<std::string> names = levels();
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.front(), "scalar");
  std::set<const void*> tables;
  for (const std::string& name : names) {
    tables.insert(&ops_at<float>(name));
    tables.insert(&ops_at<double>(name));
  }
  EXPECT_EQ(tables.size(), 2 * names.size()) << "two levels share a table";
  EXPECT_EQ(&ops_at<double>("scalar"), &scalar_ops<double>());
#if defined(__x86_64__)
  EXPECT_GE(names.size(), 2U) << "every x86-64 CPU of the last decade has sse4";
#endif
}

TEST(SimdLevels, UnknownNameSaysWhatThereIs) {
  try {
    ops_at<float>("avx9000");
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("there is no SIMD level \"avx9000\" on this machine; it has scalar"), std::string::npos) << text;
    for (const std::string& name : levels()) EXPECT_NE(text.find(name), std::string::npos) << text;
  }
}

class SimdForced : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  [[noreturn]] static void leave_with_level(const char* forced, const std::string& expected) {
    setenv("MERCER_SIMD", forced, 1);
    const bool right = level() == expected && &ops<float>() == &ops_at<float>(expected) && &ops<double>() == &ops_at<double>(expected);
    std::exit(right ? 0 : 1);
  }
};

TEST_F(SimdForced, EachLevelCanBeForced) {
  for (const std::string& name : levels()) EXPECT_EXIT(leave_with_level(name.c_str(), name), testing::ExitedWithCode(0), "") << name;
}

TEST_F(SimdForced, EmptyMeansTheBest) { EXPECT_EXIT(leave_with_level("", levels().back()), testing::ExitedWithCode(0), ""); }

TEST_F(SimdForced, UnknownLevelThrowsEveryTime) {
  const auto leave = [] {
    setenv("MERCER_SIMD", "quantum", 1);
    int errors = 0;
    for (int i = 0; i < 2; ++i) {
      try {
        ops<double>();
      } catch (const InvalidArgument& error) {
        errors += std::string(error.what()).find("MERCER_SIMD") != std::string::npos;
        errors += std::string(error.what()).find("\"quantum\"") != std::string::npos;
      }
    }
    std::exit(errors);
  };
  EXPECT_EXIT(leave(), testing::ExitedWithCode(4), "");
}

}  // namespace
}  // namespace mercer::simd

// What the tests of readers and writers share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "mercer/error.hpp"
#include "mercer/table.hpp"
#include "unit/core/support.hpp"

// A list has just these elements.
#define EXPECT_LIST(list, ...) EXPECT_EQ(list, (std::decay_t<decltype(list)>{__VA_ARGS__}))
// A message begins with, or holds, a text.
#define EXPECT_STARTS(message, text) EXPECT_EQ(std::string(message).substr(0, std::string(text).size()), text)
#define EXPECT_HAS(message, text) EXPECT_NE(std::string(message).find(text), std::string::npos) << message

namespace mercer::io_test {

using testing::message_of;

inline Table read(std::string_view text, const ReadOptions& options = {}, const std::string& name = "t.csv") {
  return read_table_from(text, name, options);
}

inline std::string error_of(std::string_view text, const ReadOptions& options = {}, const std::string& name = "t.csv") {
  return message_of([&] { read(text, options, name); });
}

// A directory of its own that goes away.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "mercer-io-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void spill(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

inline bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace mercer::io_test

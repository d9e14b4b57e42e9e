// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "core/buffer.hpp"
#include "core/cgroup.hpp"
#include "mercer/error.hpp"
#include "mercer/run.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::Environment;
using testing::message_of;

constexpr std::size_t mib = std::size_t{1} << 20;

std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

TEST(ParseBytes, ReadsNumbersWithUnits) {
  EXPECT_EQ(parse_bytes("1000000"), 1000000U);
  EXPECT_EQ(parse_bytes("17B"), 17U);
  EXPECT_EQ(parse_bytes("4G"), std::size_t{4} << 30);
  EXPECT_EQ(parse_bytes("4g"), std::size_t{4} << 30);
  EXPECT_EQ(parse_bytes("512M"), 512 * mib);
  EXPECT_EQ(parse_bytes("1.5GiB"), std::size_t{3} << 29);
  EXPECT_EQ(parse_bytes("1.5GB"), 1500000000U);
  EXPECT_EQ(parse_bytes("2 kB"), 2000U);
  EXPECT_EQ(parse_bytes(" 3 KiB "), 3072U);
  EXPECT_EQ(parse_bytes("1T"), std::size_t{1} << 40);
  EXPECT_EQ(parse_bytes("1e3"), 1000U);
}

TEST(ParseBytes, RefusesTheRestByName) {
  for (const char* bad : {"", " ", "G", "four", "-1G", "0", "0.5", "4X", "4GG", "4 G B", "nan", "inf", "1e300", "4G,", "0x10"}) {
    EXPECT_EQ(message_of<InvalidArgument>([&] { parse_bytes(bad); }),
              "\"" + std::string(bad) + "\" is not an amount of memory; write something like 4G, 512M or 1.5GB");
  }
}

TEST(FormatBytes, HasThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(999.6), "1 kB");
  EXPECT_EQ(format_bytes(1000), "1 kB");
  EXPECT_EQ(format_bytes(1234), "1.23 kB");
  EXPECT_EQ(format_bytes(999499), "999 kB");
  EXPECT_EQ(format_bytes(999600), "1 MB");
  EXPECT_EQ(format_bytes(3355443200.0), "3.36 GB");
  EXPECT_EQ(format_bytes(2e13), "20 TB");
  EXPECT_EQ(format_bytes(5e15), "5 PB");
  EXPECT_EQ(format_bytes(5e18), "5e+03 PB");
}

TEST(MemoryBudget, RequestThenEnvironmentThenMachine) {
  const Environment env("MERCER_MEMORY", "3M");
  EXPECT_EQ(memory_budget(12345), 12345U);
  EXPECT_EQ(memory_budget(), 3 * mib);
  {
    const Environment none("MERCER_MEMORY", nullptr);
    const auto machine = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    EXPECT_GT(memory_budget(), 10 * mib);
    EXPECT_LT(static_cast<double>(memory_budget()), 0.81 * machine);
  }
  {
    const Environment bad("MERCER_MEMORY", "lots");
    EXPECT_THROW(memory_budget(), InvalidArgument);
  }
}

TEST(MemoryBudget, OverBudgetSaysWhatHowMuchAndWhatToDo) {
  EXPECT_NO_THROW(require_memory(1000, 1000, "a thing", "nothing"));
  EXPECT_EQ(
      message_of<OverBudget>([] {
        require_memory(20000000000, 4000000000, "the 50000 x 50000 Gram matrix in float64", "use float32, fewer rows or Storage::streamed");
      }),
      "the 50000 x 50000 Gram matrix in float64 needs 20 GB, but the memory budget is 4 GB; use float32, fewer rows or Storage::streamed");
}

TEST(Buffer, IsAlignedAndWritable) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, mib / 8 - 1, mib / 8, mib, 5 * mib + 3}) {
    Buffer<double> buffer(count);
    ASSERT_EQ(buffer.size(), count);
    EXPECT_EQ(address(buffer.data()) % (count * sizeof(double) >= 2 * mib ? 2 * mib : 64), 0U);
    buffer[0] = 1;
    buffer[count - 1] = 2;
    EXPECT_EQ(buffer[count - 1], 2);
  }
  EXPECT_EQ(Buffer<float>().data(), nullptr);
  EXPECT_EQ(Buffer<float>(0).data(), nullptr);
}

TEST(Buffer, MovesLikeAValue) {
  Buffer<int> a(10);
  a[3] = 42;
  const int* where = a.data();
  Buffer<int> b(std::move(a));
  EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move): empty by contract
  EXPECT_EQ(a.size(), 0U);
  EXPECT_EQ(b.data(), where);
  Buffer<int> c(20);
  c = std::move(b);
  EXPECT_EQ(c.data(), where);
  EXPECT_EQ(c[3], 42);
  EXPECT_EQ(c.size(), 10U);
}

TEST(Buffer, FreedMemoryServesTheNextOneOfItsSize) {
  release_memory();
  const void* first = Buffer<char>(64 * mib).data();
  {
    const Buffer<char> again(64 * mib - 100);
    EXPECT_EQ(again.data(), first);
    const Buffer<char> beside(64 * mib);
    EXPECT_NE(beside.data(), first) << "still in use";
  }
  const Buffer<char> tiny(3 * mib);
  EXPECT_NE(tiny.data(), first) << "most of the block would lie idle";
}

// A block keeps its whole size when it serves a smaller request.
TEST(Buffer, BlocksDoNotShrinkWithUse) {
  release_memory();
  const void* first = Buffer<char>(64 * mib).data();
  EXPECT_EQ(Buffer<char>(52 * mib).data(), first);
  EXPECT_EQ(Buffer<char>(64 * mib).data(), first);
}

TEST(Buffer, ReleaseMemoryGivesBack) {
  const auto resident = [] {
    std::ifstream in("/proc/self/statm");
    std::size_t total = 0;
    std::size_t pages = 0;
    in >> total >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  };
  release_memory();
  {
    Buffer<char> big(256 * mib);
    std::fill_n(big.data(), big.size(), 'x');
  }
  const std::size_t kept = resident();
  release_memory();
  EXPECT_LT(resident() + 200 * mib, kept);
}

TEST(Buffer, ImpossibleSizesAreErrors) {
  EXPECT_THROW(Buffer<double>{std::numeric_limits<std::size_t>::max()}, OverBudget);
  EXPECT_THROW(Buffer<double>{std::numeric_limits<std::size_t>::max() / 8}, OverBudget);
  EXPECT_THROW(Buffer<char>{std::numeric_limits<std::size_t>::max() - 5}, OverBudget);
}

TEST(Buffer, ManyThreadsNeverShareABlock) {
  with_threads(4, [] {
    parallel_for(200, [](Index i) {
      const std::size_t count = mib / 4 + static_cast<std::size_t>(i % 5) * mib / 2;
      Buffer<Index> mine(count);
      mine[0] = mine[count - 1] = i;
      std::this_thread::yield();
      EXPECT_EQ(mine[0], i);
      EXPECT_EQ(mine[count - 1], i);
    });
  });
}

TEST(Buffer, ServesAForkedChildWhateverOtherThreadsDo) {
  const std::jthread busy([](const std::stop_token& stop) {  // asked to stop by its destructor, also when an assertion fails
    while (!stop.stop_requested()) const Buffer<char> b(2 * mib);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      Buffer<char> b(2 * mib);
      b[0] = 1;
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

// A made-up tree of control groups.
class Cgroup : public ::testing::Test {
 protected:
  Cgroup() : root_(std::filesystem::path(::testing::TempDir()) / ("cgroup" + std::to_string(getpid()))) {
    std::filesystem::create_directories(root_);
  }
  ~Cgroup() override { std::filesystem::remove_all(root_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  double memory() const { return cgroup_free_memory(root_, root_ / "self"); }
  double cpus() const { return cgroup_cpus(root_, root_ / "self"); }

  std::filesystem::path root_;
};

TEST_F(Cgroup, NoneMeansNoLimit) {
  EXPECT_TRUE(std::isinf(memory()));
  write("self", "0::/\n");
  EXPECT_TRUE(std::isinf(memory()));
  EXPECT_TRUE(std::isinf(cpus()));
  write("self", "garbage\n\n:\n");
  EXPECT_TRUE(std::isinf(memory()));
}

TEST_F(Cgroup, Version2TakesTheTightestLevel) {
  write("self", "0::/a/b\n");
  write("a/b/memory.max", "max\n");
  write("a/b/memory.current", "500\n");
  write("a/memory.max", "10000\n");
  write("a/memory.current", "4000\n");
  write("a/memory.stat", "anon 3000\ninactive_file 900\n");
  write("a/b/cpu.max", "max 100000\n");
  write("a/cpu.max", "150000 100000\n");
  EXPECT_EQ(memory(), 6900);
  EXPECT_EQ(cpus(), 1.5);
}

TEST_F(Cgroup, Version1HasATreePerController) {
  write("self", "9:name=systemd:/x\n4:memory:/host/path\n3:cpu,cpuacct:/c\n0::/\n");
  write("memory/memory.limit_in_bytes", "8000\n");  // inside a container the host's path is not there, the root is the group
  write("memory/memory.usage_in_bytes", "9000\n");
  write("memory/memory.stat", "inactive_file 1\ntotal_inactive_file 3000\n");
  write("cpu/c/cpu.cfs_quota_us", "-1\n");
  write("cpu/c/cpu.cfs_period_us", "100000\n");
  write("cpu/cpu.cfs_quota_us", "50000\n");
  write("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(memory(), 2000);
  EXPECT_EQ(cpus(), 0.5);
  write("memory/memory.stat", "");
  EXPECT_EQ(memory(), 0) << "used above the limit is nothing left, not a negative number";
}

}  // namespace
}  // namespace mercer

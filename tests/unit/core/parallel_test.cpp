// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/run.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using namespace std::chrono_literals;
using testing::Environment;
using testing::message_of;

// Waits until `done` or five seconds have passed: a loop that has no second thread fails instead of hanging.
template <class Done>
bool wait_for(Done done) {
  for (int i = 0; i < 5000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    for (const Index count : {0, 1, 2, 3, 7, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      with_threads(threads, [&] { parallel_for(count, [&](Index i) { ++visits[static_cast<std::size_t>(i)]; }); });
      for (const auto& v : visits) ASSERT_EQ(v, 1) << threads << " threads, " << count << " bodies";
    }
  }
  parallel_for(-5, [](Index) { FAIL() << "a negative count has no bodies"; });
}

TEST(ParallelFor, TwoThreadsWorkAtTheSameTime) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  with_threads(2, [&] {
    parallel_for(2, [&](Index) {
      ++arrived;
      if (!wait_for([&] { return arrived == 2; })) met = false;
    });
  });
  EXPECT_TRUE(met) << "each body waited for the other";
}

TEST(ParallelFor, OneThreadMeansTheCallerInOrder) {
  std::vector<Index> seen;
  const auto me = std::this_thread::get_id();
  with_threads(1, [&] {
    parallel_for(50, [&](Index i) {
      EXPECT_EQ(std::this_thread::get_id(), me);
      seen.push_back(i);
    });
  });
  std::vector<Index> expected(50);
  std::iota(expected.begin(), expected.end(), Index{0});
  EXPECT_EQ(seen, expected);
}

// No more threads than asked for, over all loops of a job, nested ones included.
TEST(ParallelFor, NeverMoreThreadsThanTheJobHas) {
  for (const int threads : {1, 2}) {
    std::atomic<int> active{0};
    std::atomic<int> most{0};
    with_threads(threads, [&] {
      parallel_for(6, [&](Index) {
        parallel_for(6, [&](Index) {
          const int now = ++active;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::sleep_for(200us);
          --active;
        });
      });
    });
    EXPECT_LE(most, threads);
  }
}

TEST(ParallelFor, EveryThreadOfAJobKnowsItsThreadCount) {
  std::mutex guard;
  std::set<int> counts;
  with_threads(3, [&] {
    parallel_for(64, [&](Index) {
      std::this_thread::sleep_for(100us);  // so that workers get some
      const std::lock_guard lock(guard);
      counts.insert(current_threads());
      parallel_for(2, [&](Index) { EXPECT_EQ(current_threads(), 3); });
    });
  });
  EXPECT_EQ(counts, std::set<int>{3});
}

TEST(ParallelFor, ThreadCountIsForgottenAfterTheJob) {
  const Environment env("MERCER_NUM_THREADS", "2");
  with_threads(5, [] { parallel_for(100, [](Index) {}); });
  EXPECT_EQ(current_threads(), 2);
  EXPECT_THROW(with_threads(5, [] { throw FileError("x"); }), FileError);
  EXPECT_EQ(current_threads(), 2);
  parallel_for(100, [](Index) { EXPECT_EQ(current_threads(), 2); });
}

TEST(ParallelFor, RethrowsTheFirstExceptionAndStartsNothingAfterIt) {
  constexpr Index count = 100'000'000;  // seconds of work, so that nobody finishes it while the thrower is put to sleep
  for (const int threads : {1, 2, 4}) {
    std::atomic<Index> bodies{0};
    const std::string message = message_of<FileError>([&] {
      with_threads(threads, [&] {
        parallel_for(count, [&](Index i) {
          ++bodies;
          if (i == 10) throw FileError("body 10");
        });
      });
    });
    EXPECT_EQ(message, "body 10");
    EXPECT_LT(bodies, count) << threads << " threads";
  }
}

TEST(ParallelFor, ManyFailuresGiveOneException) {
  const std::string message = message_of<InvalidArgument>([] { parallel_for(1000, [](Index) { throw InvalidArgument("all of them"); }); });
  EXPECT_EQ(message, "all of them");
}

TEST(ParallelFor, IsUsableAfterAFailure) {
  EXPECT_THROW(parallel_for(100, [](Index) { throw 7; }), int);
  std::atomic<int> bodies{0};
  parallel_for(100, [&](Index) { ++bodies; });
  EXPECT_EQ(bodies, 100);
}

TEST(ParallelFor, NestsToAnyDepth) {
  std::atomic<int> bodies{0};
  with_threads(2, [&] { parallel_for(5, [&](Index) { parallel_for(5, [&](Index) { parallel_for(5, [&](Index) { ++bodies; }); }); }); });
  EXPECT_EQ(bodies, 125);
}

// A loop inside a body is whole or throws, even while the loop around it is failing: what follows it may rely on it.
TEST(ParallelFor, InnerLoopIsNeverCutShortByAFailureOutside) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<bool> cut{false};
    EXPECT_THROW(with_threads(2,
                              [&] {
                                parallel_for(2, [&](Index outer) {
                                  if (outer == 0) {
                                    std::this_thread::sleep_for(500us);
                                    throw FileError("outside");
                                  }
                                  std::vector<std::atomic<int>> visits(64);
                                  parallel_for(64, [&](Index i) {
                                    std::this_thread::sleep_for(20us);
                                    ++visits[static_cast<std::size_t>(i)];
                                  });
                                  for (const auto& v : visits) cut = cut || v != 1;
                                });
                              }),
                 FileError);
    EXPECT_FALSE(cut);
  }
}

// A body that holds a lock and runs a nested loop must not meet another body of the outer loop on its own thread.
TEST(ParallelFor, WaitingForAnInnerLoopTakesUpNoOuterBody) {
  thread_local bool inside = false;
  std::atomic<int> re_entered{0};
  with_threads(2, [&] {
    parallel_for(200, [&](Index) {
      if (inside) ++re_entered;
      inside = true;
      parallel_for(4, [](Index) { std::this_thread::sleep_for(20us); });
      inside = false;
    });
  });
  EXPECT_EQ(re_entered, 0);
}

TEST(WithThreads, InnerJobsStayWithinTheOuter) {
  with_threads(2, [] {
    with_threads(0, [] { EXPECT_EQ(current_threads(), 2) << "0 means: as the job around"; });
    with_threads(8, [] { EXPECT_EQ(current_threads(), 2); });
    with_threads(1, [] { EXPECT_EQ(current_threads(), 1); });
    EXPECT_EQ(current_threads(), 2);
  });
  std::atomic<int> bodies{0};
  with_threads(2, [&] {
    parallel_for(8, [&](Index i) { with_threads(1 + static_cast<int>(i % 3), [&] { parallel_for(10, [&](Index) { ++bodies; }); }); });
  });
  EXPECT_EQ(bodies, 80);
  EXPECT_EQ(message_of<InvalidArgument>([] { with_threads(-1, [] {}); }), "threads must be >= 0 (0: all cores), got -1");
}

TEST(DefaultThreads, ComeFromTheEnvironment) {
  {
    const Environment env("MERCER_NUM_THREADS", "3");
    EXPECT_EQ(default_threads(), 3);
    with_threads(0, [] { EXPECT_EQ(current_threads(), 3); });
  }
  for (const char* bad : {"0", "-2", "abc", "3x", "2.5", "99999", "9999999999999999999999"}) {
    const Environment env("MERCER_NUM_THREADS", bad);
    const std::string wanted = "MERCER_NUM_THREADS must be a number from 1 to 4096, got \"" + std::string(bad) + "\"";
    EXPECT_EQ(message_of<InvalidArgument>([] { default_threads(); }), wanted);
    EXPECT_EQ(message_of<InvalidArgument>([] { parallel_for(10, [](Index) {}); }), wanted);
  }
  for (const char* none : {static_cast<const char*>(nullptr), ""}) {
    const Environment env("MERCER_NUM_THREADS", none);
    EXPECT_GE(default_threads(), 1);
    EXPECT_LE(default_threads(), static_cast<int>(std::thread::hardware_concurrency()));
  }
}

// Sums in fixed blocks: the same bits for every number of threads.
TEST(ParallelFor, FixedBlocksGiveFixedBits) {
  const auto sum = [](int threads) {
    std::vector<double> parts(37);
    with_threads(threads, [&] {
      parallel_for(37, [&](Index b) {
        double s = 0;
        for (Index i = b * 100; i < (b + 1) * 100; ++i) s += 1.0 / static_cast<double>(i + 1);
        parts[static_cast<std::size_t>(b)] = s;
      });
    });
    return std::accumulate(parts.begin(), parts.end(), 0.0);
  };
  const double one = sum(1);
  for (const int threads : {2, 3, 5, 16}) EXPECT_EQ(sum(threads), one);
}

TEST(ParallelFor, ServesSeveralCallersAtOnce) {
  std::atomic<int> bodies{0};
  std::vector<std::jthread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat) with_threads(2, [&] { parallel_for(25, [&](Index) { ++bodies; }); });
    });
  }
  callers.clear();
  EXPECT_EQ(bodies, 4 * 20 * 25);
}

// Runs `work` in a forked child; false if it fails or has not ended after ten seconds.
template <class Work>
bool succeeds_in_fork(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);              // the default action ends the child
    _exit(work() ? 0 : 1);  // not exit(): TBB's own cleanup may wait for a lock that a thread of the parent held
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Fork, ChildRunsLoopsSerially) {
  std::atomic<int> warm{0};
  with_threads(2, [&] { parallel_for(1000, [&](Index) { ++warm; }); });  // the pool exists in the parent
  parallel_for(1000, [&](Index) { ++warm; });
  const auto in_child = [] {
    int sum = 0;  // no lock: one thread
    with_threads(4, [&] { parallel_for(1000, [&](Index i) { parallel_for(2, [&](Index j) { sum += static_cast<int>(i + j); }); }); });
    parallel_for(10, [&](Index) { ++sum; });
    return sum == 2 * 499500 + 1000 + 10 && current_threads() == 1;
  };
  EXPECT_TRUE(succeeds_in_fork(in_child));
  with_threads(2, [&] { EXPECT_TRUE(succeeds_in_fork(in_child)) << "forked from inside a job"; });
  std::atomic<int> after{0};
  parallel_for(100, [&](Index) { ++after; });
  EXPECT_EQ(after, 100) << "the parent goes on in parallel";
}

}  // namespace
}  // namespace mercer

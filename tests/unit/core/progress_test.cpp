// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Seen {
  std::string stage;
  double fraction;
  double seconds;
};

TEST(Progress, TellsStageFractionAndTimeAtMostTwentyTimesASecond) {
  std::vector<Seen> events;
  const ProgressCallback callback = [&](const ProgressEvent& e) {
    events.push_back({std::string(e.stage), e.fraction, e.seconds});
    return true;
  };
  const auto start = Clock::now();
  Stage stage(callback, "Gram matrix", 400);
  for (int i = 0; i < 400; ++i) {
    std::this_thread::sleep_for(1ms);
    stage.advance(1);
  }
  const double took = std::chrono::duration<double>(Clock::now() - start).count();
  ASSERT_GE(events.size(), 3U);
  EXPECT_LE(static_cast<double>(events.size()), 20 * took + 1);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].stage, "Gram matrix");
    EXPECT_GT(events[i].fraction, i == 0 ? 0 : events[i - 1].fraction);
    EXPECT_LE(events[i].fraction, 1);
    EXPECT_LE(events[i].seconds, took);
  }
  EXPECT_NEAR(events.back().seconds, took, 0.2);
}

TEST(Progress, FractionStaysBelowOneWhenMoreIsDoneThanAnnounced) {
  double last = 0;
  const ProgressCallback callback = [&](const ProgressEvent& e) {
    last = e.fraction;
    return true;
  };
  std::this_thread::sleep_for(60ms);
  Stage(callback, "s", 1).advance(50);
  EXPECT_EQ(last, 1);
  std::this_thread::sleep_for(60ms);
  Stage(callback, "nothing to do", 0).check();
  EXPECT_EQ(last, 0);
}

TEST(Progress, OnlyTheOwnerCallsBack) {
  const auto me = std::this_thread::get_id();
  int calls = 0;  // no lock: that is the promise
  const ProgressCallback callback = [&](const ProgressEvent&) {
    EXPECT_EQ(std::this_thread::get_id(), me);
    ++calls;
    return true;
  };
  with_threads(2, [&] {
    Stage stage(callback, "loop", 300);
    parallel_for(300, [&](Index) {
      std::this_thread::sleep_for(1ms);
      stage.advance(1);
    });
  });
  EXPECT_GE(calls, 2);
}

TEST(Progress, FalseCancelsEveryThreadOfTheJob) {
  std::atomic<int> bodies{0};
  const ProgressCallback callback = [&](const ProgressEvent&) { return bodies < 20; };
  const auto start = Clock::now();
  EXPECT_THROW(with_threads(2,
                            [&] {
                              Stage stage(callback, "loop", 1e6);
                              parallel_for(1000000, [&](Index) {
                                ++bodies;
                                std::this_thread::sleep_for(1ms);
                                stage.advance(1);
                              });
                            }),
               Cancelled);
  EXPECT_LT(Clock::now() - start, 1s);
  EXPECT_LT(bodies, 5000);
}

TEST(Progress, AfterCancellingEveryAdvanceThrows) {
  const ProgressCallback callback = [](const ProgressEvent&) { return false; };
  std::this_thread::sleep_for(60ms);
  Stage stage(callback, "s", 1);
  EXPECT_THROW(stage.advance(0.1), Cancelled);
  EXPECT_THROW(stage.check(), Cancelled);
  std::jthread([&] { EXPECT_THROW(stage.check(), Cancelled); });
}

// A search over many small fits: no single stage lasts as long as the pause between two calls.
TEST(Progress, ManyShortStagesCanBeCancelled) {
  int calls = 0;
  const ProgressCallback callback = [&](const ProgressEvent&) { return ++calls < 3; };
  const auto start = Clock::now();
  const auto job = [&] {
    while (Clock::now() - start < 5s) {
      Stage stage(callback, "short", 1);
      std::this_thread::sleep_for(1ms);
      stage.advance(1);
    }
  };
  EXPECT_THROW(job(), Cancelled);
  EXPECT_LT(Clock::now() - start, 2s);
}

TEST(Progress, AnExceptionOfTheCallbackLeavesTheJobAsItIs) {
  struct Interrupt {};
  const ProgressCallback callback = [](const ProgressEvent&) -> bool { throw Interrupt(); };
  EXPECT_THROW(with_threads(2,
                            [&] {
                              Stage stage(callback, "loop", 1000);
                              parallel_for(1000, [&](Index) {
                                std::this_thread::sleep_for(1ms);
                                stage.advance(1);
                              });
                            }),
               Interrupt);
}

TEST(Progress, NoCallbackIsFine) {
  const ProgressCallback none;
  Stage stage(none, "s", 10);
  EXPECT_NO_THROW(parallel_for(10, [&](Index) { stage.advance(1); }));
}

// Long work inside a loop that knows nothing of stages: all threads of the loop hear that the job has ended.
TEST(Progress, WorkWithoutAStageAsksTheOneAround) {
  std::atomic<int> bodies{0};
  const mercer::Run run{.threads = 2, .progress = [&](const ProgressEvent&) { return bodies < 2; }};
  const auto start = Clock::now();
  const auto job = [&] {
    parallel_for(2, [&](Index) {
      ++bodies;
      while (Clock::now() - start < 5s) check_stopped();
    });
  };
  EXPECT_THROW(with_run(run, job), Cancelled);
  EXPECT_LT(Clock::now() - start, 2s);
}

TEST(Progress, LoopsLookBeforeEveryBody) {
  int bodies = 0;
  const mercer::Run run{.threads = 1, .progress = [&](const ProgressEvent&) { return bodies < 2; }};
  const auto job = [&] {
    parallel_for(1000, [&](Index) {
      ++bodies;
      std::this_thread::sleep_for(60ms);
    });
  };
  EXPECT_THROW(with_run(run, job), Cancelled);
  EXPECT_EQ(bodies, 2);
}

// An inner job without a callback of its own ends with the job around it.
TEST(Progress, AStageWithoutCallbackAsksTheOneAround) {
  const ProgressCallback stop = [](const ProgressEvent&) { return false; };
  const ProgressCallback none;
  Stage outer(stop, "outer", 1);
  std::this_thread::sleep_for(60ms);
  Stage inner(none, "inner", 1);
  EXPECT_THROW(inner.advance(1), Cancelled);
}

TEST(Progress, StagesEndInAnyOrder) {
  const ProgressCallback stop = [](const ProgressEvent&) { return false; };
  const ProgressCallback none;
  auto first = std::make_unique<Stage>(stop, "first", 1);
  auto second = std::make_unique<Stage>(none, "second", 1);
  first.reset();
  std::this_thread::sleep_for(60ms);
  EXPECT_NO_THROW(second->check());
  second.reset();
  EXPECT_NO_THROW(check_stopped());
}

TEST(Progress, NothingToAskIsFine) {
  EXPECT_NO_THROW(check_stopped());
  EXPECT_NO_THROW(with_run({.threads = 2}, [] { parallel_for(10, [](Index) { check_stopped(); }); }));
}

// The stage keeps a reference: a temporary would dangle.
static_assert(!std::is_constructible_v<Stage, ProgressCallback&&, std::string, double>);
static_assert(std::is_constructible_v<Stage, const ProgressCallback&, std::string, double>);

}  // namespace
}  // namespace mercer

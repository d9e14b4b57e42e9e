// How a job runs: threads, memory and progress. Every Options aggregate carries a `Run run` with these three.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "mercer/matrix.hpp"

namespace mercer {

struct ProgressEvent {
  std::string_view stage;  // what is being done: "Gram matrix", "Cholesky"
  double fraction = 0;     // of this stage, in [0, 1]
  double seconds = 0;      // since the stage began
};

// Called from the thread that started the job, at most some twenty times a second. Return false to cancel the job, which then
// throws Cancelled; an exception thrown here leaves the job as it is.
using ProgressCallback = std::function<bool(const ProgressEvent&)>;

struct Run {
  int threads = 0;         // 0: MERCER_NUM_THREADS, else all cores
  std::size_t memory = 0;  // bytes; 0: MERCER_MEMORY, else a share of what the machine has free
  ProgressCallback progress{};
};

// One stage of a job. Workers call advance(); only the thread that made the stage calls back, so callbacks need no locks.
// After the callback asked to stop, the next advance() on any thread throws Cancelled. While it lives it is the stage that
// check_stopped() asks, here and in the bodies of parallel_for; without a callback it asks the stage around it.
class Stage {
 public:
  // The callback must outlive the stage, so a temporary is refused.
  Stage(const ProgressCallback& callback, std::string name, double total_work);
  Stage(ProgressCallback&&, std::string, double) = delete;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  ~Stage();

  void advance(double work);
  void check();

 private:
  friend class StageScope;  // gives the stage of a loop to the threads that help
  friend void check_stopped();
  using Clock = std::chrono::steady_clock;
  static Stage*& current();
  void look(double done);

  const ProgressCallback& callback_;
  std::string name_{};
  double total_;
  std::atomic<double> done_{0};
  std::atomic<bool> stop_{false};
  std::thread::id owner_;
  Clock::time_point start_;
  Stage* around_;  // on this thread
};

// Throws Cancelled where the job that this thread works for has been stopped: for long work that has no stage of its own. parallel_for
// looks before each body.
void check_stopped();

// The number of threads a job uses when it does not say: MERCER_NUM_THREADS, else the cores this process may run on,
// or the share of them that its container has.
int default_threads();

// Runs `job` on this thread, with at most `threads` threads (0: as many as the job around it has, else the default). Every
// parallel_for inside it obeys. Nested use is safe; an inner job never gets more threads than the one around it.
void with_threads(int threads, const std::function<void()>& job);

// with_threads of run.threads, where the job can be stopped by run.progress before its first stage and between stages.
void with_run(const Run& run, const std::function<void()>& job);

// The threads that parallel_for may use here.
int current_threads();

// Calls body(i) for every i in [0, count), in parallel, in no fixed order. After an exception no new body starts; those under way
// finish, then the first exception is rethrown here. May be called from a body; the thread then takes up nothing but that inner loop
// until it is done. In a forked child it runs serially (thread pools do not survive fork); such a child should end by _exit or exec, as
// Python's multiprocessing does, because oneTBB's cleanup at exit() may wait for threads that the fork left behind.
void parallel_for(Index count, const std::function<void(Index)>& body);

// The memory a job may use: `requested` if not 0, else MERCER_MEMORY (like 4G), else 80 % of what the machine (or the
// container) has available.
std::size_t memory_budget(std::size_t requested = 0);

// Throws OverBudget if `bytes` exceeds memory_budget(requested). `what` names the thing ("the 50000 x 50000 Gram matrix in
// float64"), `remedy` says what to do instead.
void require_memory(std::size_t bytes, std::size_t requested, std::string_view what, std::string_view remedy);

// "4G", "512M", "1.5GiB", "2GB", "1000000" -> bytes: K, KiB and so on are powers of 1024, KB and so on powers of 1000.
std::size_t parse_bytes(std::string_view text);
// 3355443200 -> "3.36 GB".
std::string format_bytes(double bytes);

// Memory for a big array of a type that Mercer does not know (numpy's, say): huge pages are asked for, and freed memory is used again.
// Contents start undefined; aligned to 64 bytes at least.
std::shared_ptr<void> allocate_big(std::size_t bytes);

// Gives back the memory that Mercer keeps for its next big matrix.
void release_memory();

}  // namespace mercer

// parallel_for and thread counts over oneTBB: a job's thread count is a task_arena, never a process-wide setting, so an
// application that uses TBB itself is left alone. The thread sanitizer build replaces TBB (which is not instrumented) by std::thread.
//
// A loop is a few runners (one per thread) that draw indices from one counter, in ascending order. Exceptions stop at the runner, so
// TBB never cancels anything: were a loop's context bound to the one around it, a failure there would make this loop return early
// with work undone and no exception. And a thread that waits for the last bodies of its loop takes no other work (isolate), so what
// a body holds while it runs a nested loop (a lock, a scratch buffer of its thread) is never met again from inside.
// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "core/cgroup.hpp"
#include "core/stage_scope.hpp"
#include "mercer/error.hpp"

#ifdef MERCER_STD_THREADS
#include <system_error>
#include <thread>
#include <vector>
#else
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif

namespace mercer {

namespace {

// TBB's workers do not exist in a forked child and waiting for them hangs: remember who loaded us.
const pid_t loading_process = getpid();

bool in_forked_child() { return getpid() != loading_process; }

int allowed_cores() {
  int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  cpu_set_t set;
  // Fails on machines with more than 1024 cores, where the count above stands.
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = std::max(1, CPU_COUNT(&set));
  static const double quota = cgroup_cpus();  // a container's share: more threads than that are only put to sleep in turn
  return static_cast<int>(std::clamp(std::ceil(quota), 1.0, static_cast<double>(cores)));
}

thread_local int scoped_threads = 0;  // of the job this thread works for; 0: of none

// Sets scoped_threads for a block, on the thread that started the job and on every worker that helps.
class ThreadScope {
 public:
  explicit ThreadScope(int threads) : before_(std::exchange(scoped_threads, threads)) {}
  ~ThreadScope() { scoped_threads = before_; }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

// What the runners of one loop share.
struct Loop {
  Index count;
  const std::function<void(Index)>& body;
  int threads;
  Stage* stage;
  std::atomic<Index> next{0};
  std::atomic<bool> failed{false};
  std::mutex guard{};
  std::exception_ptr first{};

  void run() noexcept {
    const ThreadScope scope(threads);
    const StageScope stops(stage);
    // Bounded, so that runners coming late cannot push the counter past the end of its type.
    for (Index i = next.load(); i < count && !failed; i = next.load()) {
      if (!next.compare_exchange_weak(i, i + 1)) continue;
      try {
        check_stopped();
        body(i);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!first) first = std::current_exception();
        failed = true;
      }
    }
  }
};

#ifdef MERCER_STD_THREADS

thread_local bool in_loop = false;  // nested loops stay on their thread: without a pool they would multiply threads

void run_on(Loop& loop, int runners) {
  const auto work = [&] {
    const bool before = std::exchange(in_loop, true);
    loop.run();
    in_loop = before;
  };
  if (in_loop) runners = 1;
  std::vector<std::jthread> helpers;
  try {
    for (int t = 1; t < runners; ++t) helpers.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads to be had: go on with those there are
  }
  work();
}

void in_arena(int, const std::function<void()>& job) { job(); }
bool arena_has(int) { return true; }

#else

void run_on(Loop& loop, int runners) {
  tbb::this_task_arena::isolate([&] {
    tbb::task_group_context context(tbb::task_group_context::isolated);
    tbb::parallel_for(
        0, runners, [&](int) { loop.run(); }, tbb::simple_partitioner{}, context);
  });
}

// TBB has one worker for every core but the caller's; asked for more, it prints a warning, and a library must not.
int places_for(int threads) { return std::min(threads, tbb::info::default_concurrency()); }

void in_arena(int threads, const std::function<void()>& job) {
  tbb::task_arena arena(places_for(threads));
  arena.execute(job);  // on this thread: a new arena keeps a place for it
}

bool arena_has(int threads) { return tbb::this_task_arena::max_concurrency() == places_for(threads); }

#endif

}  // namespace

int default_threads() {
  if (const char* text = std::getenv("MERCER_NUM_THREADS"); text != nullptr && *text != '\0') {
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);
    if (*end != '\0' || n < 1 || n > 4096)
      throw InvalidArgument(std::string("MERCER_NUM_THREADS must be a number from 1 to 4096, got \"") + text + "\"");
    return static_cast<int>(n);
  }
  return allowed_cores();
}

int current_threads() {
  if (in_forked_child()) return 1;
  return scoped_threads > 0 ? scoped_threads : default_threads();
}

void with_threads(int threads, const std::function<void()>& job) {
  if (threads < 0) throw InvalidArgument("threads must be >= 0 (0: all cores), got " + std::to_string(threads));
  const int around = scoped_threads;
  int wanted = threads > 0 ? threads : around;
  if (wanted == 0) wanted = default_threads();
  if (around > 0) wanted = std::min(wanted, around);
  const ThreadScope scope(wanted);
  if (wanted == 1 || wanted == around || in_forked_child()) {
    job();
  } else {
    in_arena(wanted, job);
  }
}

void with_run(const Run& run, const std::function<void()>& job) {
  with_threads(run.threads, [&] {
    if (!run.progress) return job();
    const Stage before_the_first(run.progress, "Preparing", 1);
    job();
  });
}

void parallel_for(Index count, const std::function<void(Index)>& body) {
  const int threads = current_threads();
  const int runners = static_cast<int>(std::min<Index>(threads, count));
  if (runners <= 1) {
    for (Index i = 0; i < count; ++i) {
      check_stopped();
      body(i);
    }
    return;
  }
  if (scoped_threads == 0 && !arena_has(threads)) {  // outside any job, the default count holds all the same
    with_threads(threads, [&] { parallel_for(count, body); });
    return;
  }
  Loop loop{.count = count, .body = body, .threads = threads, .stage = StageScope::current()};
  run_on(loop, runners);
  if (loop.first) std::rethrow_exception(loop.first);
}

}  // namespace mercer

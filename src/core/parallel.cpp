// parallel_for and thread counts over oneTBB: a job's thread count is a task_arena, never a process-wide setting, so an
// application that uses TBB itself is left alone. The thread sanitizer build replaces TBB (which is not instrumented) by std::thread.
// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "mercer/error.hpp"
#include "mercer/run.hpp"

#ifdef MERCER_STD_THREADS
#include <exception>
#include <mutex>
#include <vector>
#else
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace mercer {

namespace {

// TBB's workers do not exist in a forked child and waiting for them hangs: remember who loaded us.
const pid_t loading_process = getpid();

bool in_forked_child() { return getpid() != loading_process; }

int allowed_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

thread_local int scoped_threads = 0;  // set while this thread runs a job of with_threads

}  // namespace

int default_threads() {
  if (const char* text = std::getenv("MERCER_NUM_THREADS"); text != nullptr && *text != '\0') {
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);
    if (*end != '\0' || n < 1 || n > 4096) throw InvalidArgument(std::string("MERCER_NUM_THREADS must be a number from 1 to 4096, got \"") + text + "\"");
    return static_cast<int>(n);
  }
  return allowed_cores();
}

#ifdef MERCER_STD_THREADS

int current_threads() { return scoped_threads > 0 ? scoped_threads : default_threads(); }

void with_threads(int threads, const std::function<void()>& job) {
  const int before = scoped_threads;
  scoped_threads = threads > 0 ? threads : default_threads();
  try {
    job();
  } catch (...) {
    scoped_threads = before;
    throw;
  }
  scoped_threads = before;
}

void parallel_for(Index count, const std::function<void(Index)>& body) {
  const int threads = static_cast<int>(std::min<Index>(current_threads(), count));
  if (threads <= 1 || in_forked_child()) {
    for (Index i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<Index> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr first;
  std::mutex guard;
  const auto work = [&](bool caller) {
    const int before = scoped_threads;
    if (!caller) scoped_threads = 1;  // nested loops stay on their thread
    for (Index i = next++; i < count && !failed; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!first) first = std::current_exception();
        failed = true;
      }
    }
    scoped_threads = before;
  };
  std::vector<std::thread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work, false);
  work(true);
  for (auto& thread : pool) thread.join();
  if (first) std::rethrow_exception(first);
}

#else

int current_threads() {
  if (in_forked_child()) return 1;
  return scoped_threads > 0 ? scoped_threads : default_threads();
}

void with_threads(int threads, const std::function<void()>& job) {
  const int wanted = threads > 0 ? threads : default_threads();
  if (in_forked_child() || wanted == scoped_threads) {
    job();
    return;
  }
  tbb::task_arena arena(wanted);
  arena.execute([&] {
    const int before = scoped_threads;
    scoped_threads = wanted;
    try {
      job();
    } catch (...) {
      scoped_threads = before;
      throw;
    }
    scoped_threads = before;
  });
}

void parallel_for(Index count, const std::function<void(Index)>& body) {
  if (count <= 0) return;
  if (count == 1 || in_forked_child()) {
    for (Index i = 0; i < count; ++i) body(i);
    return;
  }
  const auto loop = [&] { tbb::parallel_for(Index{0}, count, [&](Index i) { body(i); }, tbb::simple_partitioner{}); };
  // Outside any arena of ours (no with_threads above), obey the default thread count.
  if (tbb::this_task_arena::max_concurrency() == current_threads() || scoped_threads > 0) {
    loop();
  } else {
    with_threads(0, loop);
  }
}

#endif

}  // namespace mercer

// One process-wide thread count rules OpenBLAS. It is 1 from load on, so that Mercer's own tiles are the parallelism and their bits never
// change; BlasThreads raises it for a LAPACK call. Nobody waits for anybody: a LAPACK call that was cancelled and left to finish must not
// hold up the next one.
//
// Fork: OpenBLAS stops its workers before a fork and starts them again on demand; a worker that is busy then misses the word and the fork
// hangs. So before OpenBLAS gets its turn the count goes down to 1, and the fork waits for the calls in flight: until they are over, but
// no longer than the longest single BLAS call inside them should take, after which the workers are idle.
// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/blas.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

// OpenBLAS's own choice of kernels, where it was built to have one.
extern "C" {
__attribute__((weak)) void gotoblas_dynamic_init();
__attribute__((weak)) void gotoblas_dynamic_quit();
}

namespace mercer::linalg {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto longest_call = std::chrono::seconds(5);

struct Process {
  std::mutex guard;
  std::condition_variable idle;
  int raised = 0;             // BlasThreads alive with more than one thread
  Clock::time_point lowered;  // when the count last went down to 1
};

// Never destroyed: an abandoned LAPACK call may outlive the static objects.
Process& process() {
  static auto* const state = new Process;
  return *state;
}

// The guard must be held.
void lower(Process& p) {
  if (openblas_get_num_threads() == 1) return;
  openblas_set_num_threads(1);
  p.lowered = Clock::now();
}

void before_fork() {
  Process& p = process();
  std::unique_lock lock(p.guard);
  lower(p);
  p.idle.wait_until(lock, p.lowered + longest_call, [&] { return p.raised == 0; });
  lock.release();  // held across the fork
}
void after_fork_in_parent() { process().guard.unlock(); }
void after_fork_in_child() {
  process().raised = 0;
  process().guard.unlock();
}

// An OpenBLAS older than the CPU does not know its number and takes it for the oldest relative (Prescott, SSE3), several times slower than
// what the CPU can do. Its own start-up is then run again with the kernels that the CPU's features allow; OPENBLAS_CORETYPE, where the user
// has set it, is left to decide. Only at load and while no thread but this one and OpenBLAS's own exists: whoever else is inside BLAS then
// would mix the old kernels with the new. (The Python package sees to it before other libraries have started threads.)
void choose_kernels() {
#if defined(__x86_64__)
  static constexpr std::array<std::string_view, 6> modern{"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids", "Excavator"};
  if (gotoblas_dynamic_init == nullptr || gotoblas_dynamic_quit == nullptr || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  if (std::find(modern.begin(), modern.end(), openblas_get_corename()) != modern.end()) return;
  std::error_code error;
  const auto threads = std::distance(std::filesystem::directory_iterator("/proc/self/task", error), std::filesystem::directory_iterator());
  if (error || threads > openblas_get_num_threads()) return;
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (!avx2) return;
  ::setenv("OPENBLAS_CORETYPE", avx512 ? "SkylakeX" : "Haswell", 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  ::unsetenv("OPENBLAS_CORETYPE");
#endif
}

// OpenBLAS registered its own handlers when it was loaded, before us: those that prepare run in reverse order, so ours comes first.
const bool ready_from_load = [] {
  choose_kernels();
  process();
  openblas_set_num_threads(1);
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  return true;
}();

}  // namespace

BlasThreads::BlasThreads(int threads) : raises_(threads > 1) {
  if (!raises_) return;
  const std::lock_guard lock(process().guard);
  ++process().raised;
  openblas_set_num_threads(threads);
}

BlasThreads::~BlasThreads() {
  if (!raises_) return;
  const std::lock_guard lock(process().guard);
  --process().raised;
  lower(process());
  process().idle.notify_all();
}

void BlasThreads::calm() {
  const std::lock_guard lock(process().guard);
  lower(process());
}

const char* blas_name() {
  static const std::string name = std::string("OpenBLAS (") + openblas_get_corename() + ")";
  return name.c_str();
}

}  // namespace mercer::linalg

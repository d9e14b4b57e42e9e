// One process-wide thread count rules OpenBLAS. It is 1 from load on, so that Mercer's own tiles are the parallelism and their bits never
// change; BlasThreads raises it for a LAPACK call. Counted, not exclusive: a LAPACK call that was cancelled and left to finish must not
// make the next one wait.
//
// Fork: OpenBLAS stops its workers before a fork and starts them again on demand, which is only safe while none is at work; so a fork
// waits until the LAPACK calls in flight have ended, and the child starts with no call in flight and one thread.
// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/blas.hpp"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <string>

namespace mercer::linalg {

namespace {

struct Process {
  std::mutex guard;
  std::condition_variable idle;
  int raised = 0;  // BlasThreads alive with more than one thread
};

// Never destroyed: an abandoned LAPACK call may outlive the static objects.
Process& process() {
  static auto* const state = new Process;
  return *state;
}

void before_fork() {
  Process& p = process();
  std::unique_lock lock(p.guard);
  p.idle.wait(lock, [&] { return p.raised == 0; });
  lock.release();  // held across the fork
}
void after_fork() { process().guard.unlock(); }

// OpenBLAS registered its own handlers when it was loaded, before us: those that prepare run in reverse order, so ours waits first.
const bool ready_from_load = [] {
  process();
  openblas_set_num_threads(1);
  pthread_atfork(before_fork, after_fork, after_fork);
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
  if (--process().raised == 0) {
    openblas_set_num_threads(1);
    process().idle.notify_all();
  }
}

void BlasThreads::calm() { openblas_set_num_threads(1); }

const char* blas_name() {
  static const std::string name = std::string("OpenBLAS (") + openblas_get_corename() + ")";
  return name.c_str();
}

}  // namespace mercer::linalg

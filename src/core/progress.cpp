// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

constexpr auto call_every = std::chrono::milliseconds(50);

// Of the thread, not of the stage: a job of many short stages must hear its callback too, or it could not be cancelled.
thread_local std::chrono::steady_clock::time_point last_call;

}  // namespace

Stage::Stage(const ProgressCallback& callback, std::string name, double total_work)
    : callback_(callback),
      name_(std::move(name)),
      total_(std::max(total_work, 1e-300)),
      owner_(std::this_thread::get_id()),
      start_(Clock::now()) {}

void Stage::advance(double work) {
  const double done = done_.fetch_add(work, std::memory_order_relaxed) + work;
  if (stop_.load(std::memory_order_relaxed)) throw Cancelled();
  if (!callback_ || std::this_thread::get_id() != owner_) return;
  const auto now = Clock::now();
  if (now - last_call < call_every) return;
  last_call = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  // If the callback throws, its exception must be the one that leaves the job: the others are not told to stop by Cancelled here,
  // but by the loop that fails.
  if (!callback_({name_, std::min(done / total_, 1.0), seconds})) {
    stop_ = true;
    throw Cancelled();
  }
}

}  // namespace mercer

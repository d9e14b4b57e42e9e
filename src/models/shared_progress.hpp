// The progress of one job made of many solved side by side: only the thread that started it calls back, from inside whatever problem it is
// solving, and a wish to stop reaches the problems of all threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {

class SharedProgress {
 public:
  // The callback must outlive it.
  SharedProgress(const ProgressCallback& user, std::string name, double total)
      : user_(user), name_(std::move(name)), total_(std::max(total, 1e-300)), owner_(std::this_thread::get_id()), start_(Clock::now()) {}
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;

  void advance(double work) {
    done_.fetch_add(work, std::memory_order_relaxed);
    if (stop_.load(std::memory_order_relaxed)) throw Cancelled();
  }
  // What the problems are given; their own stages see to it that it is not called too often.
  ProgressCallback inner() {
    return [this](const ProgressEvent&) {
      if (user_ && std::this_thread::get_id() == owner_) {
        const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
        if (!user_({name_, std::min(done_.load() / total_, 1.0), seconds})) stop_ = true;
      }
      return !stop_.load(std::memory_order_relaxed);
    };
  }

 private:
  using Clock = std::chrono::steady_clock;

  const ProgressCallback& user_;
  std::string name_;
  double total_;
  std::thread::id owner_;
  Clock::time_point start_;
  std::atomic<double> done_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace mercer

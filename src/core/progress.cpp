// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {
constexpr auto call_every = std::chrono::milliseconds(50);
}

Stage::Stage(const ProgressCallback& callback, std::string name, double total_work)
    : callback_(callback), name_(std::move(name)), total_(std::max(total_work, 1e-300)), owner_(std::this_thread::get_id()), start_(Clock::now()), last_call_(start_) {}

void Stage::advance(double work) {
  const double done = done_.fetch_add(work, std::memory_order_relaxed) + work;
  if (stop_.load(std::memory_order_relaxed)) throw Cancelled();
  if (!callback_ || std::this_thread::get_id() != owner_) return;
  const auto now = Clock::now();
  if (now - last_call_ < call_every) return;
  last_call_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (!callback_({name_, std::min(done / total_, 1.0), seconds})) {
    stop_ = true;
    throw Cancelled();
  }
}

}  // namespace mercer

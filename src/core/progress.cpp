// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "core/stage_scope.hpp"
#include "mercer/error.hpp"

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
      start_(Clock::now()),
      around_(std::exchange(current(), this)) {}

// Stages end in any order: those that are members of something do.
Stage::~Stage() {
  Stage** link = &current();
  while (*link != nullptr && *link != this) link = &(*link)->around_;
  if (*link == this) *link = around_;
}

Stage*& Stage::current() {
  thread_local Stage* stage = nullptr;
  return stage;
}

void Stage::advance(double work) { look(done_.fetch_add(work, std::memory_order_relaxed) + work); }

void Stage::check() { look(done_.load(std::memory_order_relaxed)); }

void Stage::look(double done) {
  if (stop_.load(std::memory_order_relaxed)) throw Cancelled();
  if (!callback_) {
    if (around_ != nullptr) around_->check();
    return;
  }
  if (std::this_thread::get_id() != owner_) return;
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

void check_stopped() {
  if (Stage* stage = Stage::current(); stage != nullptr) stage->check();
}

StageScope::StageScope(Stage* stage) : before_(std::exchange(Stage::current(), stage)) {}
StageScope::~StageScope() { Stage::current() = before_; }
Stage* StageScope::current() { return Stage::current(); }

}  // namespace mercer

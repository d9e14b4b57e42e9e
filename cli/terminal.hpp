// What a person at a terminal sees and does: a progress bar, and Ctrl-C.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <mercer/run.hpp>
#include <string>

namespace mercer::cli {

// Standard streams that are closed get placeholders, so that no file of ours is opened in their place; a closed pipe becomes an error
// instead of a signal; Ctrl-C and termination are caught.
void prepare_process();

// While one of these lives, the first Ctrl-C asks the job to stop at its next progress call; otherwise, and the second time, the
// process ends at once. Reading leaves nothing behind, so it needs none.
class CarefulStop {
 public:
  CarefulStop();
  ~CarefulStop();
  CarefulStop(const CarefulStop&) = delete;
  CarefulStop& operator=(const CarefulStop&) = delete;
};

// The exit status that a signal asked for (130 for Ctrl-C), 0: none came.
int stop_status();

// On standard error, only when that is a terminal: stage, bar, percent, time. Shown after a moment, redrawn some ten times a second,
// erased at the end.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar() { erase(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  ProgressCallback callback();
  void erase();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const ProgressEvent& event);

  CarefulStop careful_;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

// "about 12 s and 0.80 GB of memory" on standard error when the work will take more than some 2 seconds. Silent where the memory is over
// the run's budget: the job then says so itself, or finds another way.
void announce(const std::string& what, double seconds, double bytes, const Run& run);

// Floating-point operations a second that the estimates count on, for all threads of a run.
double estimated_flops(const Run& run);

}  // namespace mercer::cli

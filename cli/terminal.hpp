// What a person at a terminal sees and does: a progress bar, and Ctrl-C.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <mercer/run.hpp>
#include <optional>
#include <string>

#include "progress_line.hpp"

namespace mercer::cli {

// Standard streams that are closed get placeholders, so that no file of ours is opened in their place; a closed pipe becomes an error
// instead of a signal; Ctrl-C, termination and a terminal that closes are caught.
void prepare_process();

// TERM=dumb: one that cannot move back on its line, nor show colours.
bool terminal_is_dumb();

// While one of these lives, the first Ctrl-C asks the job to stop at its next progress call; otherwise, and the second time, the
// process ends at once and takes files under way with it. Reading leaves nothing behind, so it needs none.
class CarefulStop {
 public:
  CarefulStop();
  ~CarefulStop();
  CarefulStop(const CarefulStop&) = delete;
  CarefulStop& operator=(const CarefulStop&) = delete;
};

// The exit status that a signal asked for (130 for Ctrl-C), 0: none came.
int stop_status();

// On standard error, only when that is a terminal: stage, bar, percent, the time gone by and the time that the stage still needs. Shown
// after a moment, redrawn some ten times a second, as wide as the terminal allows, erased at the end.
class ProgressBar {
 public:
  enum class Stop : bool { careful, at_once };  // what the first Ctrl-C does while it lives

  explicit ProgressBar(Stop stop = Stop::careful);
  ~ProgressBar() { erase(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  ProgressCallback callback();
  void erase();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const ProgressEvent& event);

  std::optional<CarefulStop> careful_{};
  Remaining remaining_{};
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

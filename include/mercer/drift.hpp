// Has a stream left its reference? An online monitor of the maximum mean discrepancy, with a false-alarm rate that is set beforehand.
//
//   DriftMonitor monitor(reference, {.window = 50, .expected_run_length = 1000});
//   for (const DriftStep& step : monitor.update(rows))      // one row or many, in time order
//     if (step.alarm) std::printf("drift at row %td\n", step.time);
//
// Statistic: mmd-u between the reference and the last `window` rows of the stream, at every row once the window is full.
// Threshold: at each step the chance of an alarm, given that there was none before, is 1 / expected_run_length while nothing has changed,
// so the time to a false alarm is geometric with that mean (measured from the first full window). Found by simulation: again and again
// 2 window - 1 rows of the reference play the stream against the rest, and the threshold of step t is the quantile among the streams that
// have not alarmed yet; the mean threshold of the last half of the steps holds from then on. To keep both situations alike, the monitor
// itself compares with as many reference rows as the simulations had: all but 2 window - 1, drawn at random.
// What is promised holds on average over references and for independent rows: one reference that is small or unlucky shifts its own rate,
// and rows that depend on their neighbours alarm more often.
// Reference: Cobb, Van Looveren and Klaise, Sequential multivariate change detection with calibrated and memoryless false detection rates,
// AISTATS 2022. Cost: reference^2 kernel values and simulations x (2 window)^2 additions to calibrate; reference + window kernel values
// for each row. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct DriftOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());  // auto: the median distance of the reference
  Index window = 0;                                                      // rows; 0: a quarter of the reference, at most 50
  double expected_run_length = 1000;                                     // rows between false alarms, >= 2; their rate per row is 1 over it
  Index simulations = 0;                                                 // 0: 25 times the run length, from 2000 to 1000000
  Index max_reference = 4000;                                            // rows; more are thinned at random
  std::uint64_t seed = 0;
  Run run{};
};

struct DriftStep {
  Index time = 0;        // the row's number since the monitor was made, from 0
  double statistic = 0;  // NaN until the window is full
  double threshold = 0;  // NaN until then
  bool alarm = false;
};

// What a monitor is made of, for files and other processes.
struct DriftParts {
  Kernel kernel = kernels::gaussian();
  Samples reference{};  // the rows compared with
  Vector thresholds{};  // of the steps after the window is full; the last one holds from then on
  Index window = 0;
  double expected_run_length = 0;
  Index simulations = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> remarks{};
  Samples recent{};  // the rows in the window
  Index time = 0;    // rows seen
  Index steps = 0;   // of them after the window was full, since the last reset
  Index last_alarm = -1;
};

// The calibration is shared by copies and never changes; the state is the window.
class DriftMonitor {
 public:
  explicit DriftMonitor(const Samples& reference, const DriftOptions& options = {});
  explicit DriftMonitor(const DriftParts& parts);

  // The steps of these rows; a monitor that has alarmed goes on, until it is reset. Throws InvalidArgument for rows of another width or
  // with values that are not finite, and is then as before.
  std::vector<DriftStep> update(const Samples& rows, const Run& run = {});
  // Empties the window: the next alarm can come `window` rows later at the earliest. Time goes on.
  void reset();

  const Kernel& kernel() const;
  const Vector& thresholds() const;
  Index window() const;
  Index reference_rows() const;  // that rows are compared with
  double expected_run_length() const;
  Index simulations() const;
  std::uint64_t seed() const;
  const std::vector<std::string>& remarks() const;
  Index width() const;
  Index time() const { return time_; }              // rows seen
  Index filled() const { return recent_.size(); }   // rows in the window
  Index last_alarm() const { return last_alarm_; }  // time of the latest alarm since the last reset, -1: none
  std::string sentence() const;
  DriftParts parts() const;

 private:
  struct Calibration;
  std::vector<DriftStep> update_some(const Samples& rows, const Run& run);

  std::shared_ptr<const Calibration> calibration_;
  Samples recent_{};  // in time order
  Vector means_{};    // mean of k(row, reference) for each of them
  Matrix within_{};   // k between them
  Index time_ = 0;
  Index steps_ = 0;
  Index last_alarm_ = -1;
};

}  // namespace mercer

// A series whose spread changes at row 150: found afterwards by segmentation, and as it happens by a drift monitor.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  mercer::RandomStream random(2);
  mercer::Matrix series = random.normal_matrix(300, 1);
  series.bottomRows(150) *= 3;

  const mercer::ChangePoints found = mercer::change_points(series);
  std::printf("%s\n", found.sentence.c_str());
  const mercer::TestResult any = mercer::change_point_test(series, {.permutations = 199});
  std::printf("%s\n", any.sentence.c_str());

  mercer::DriftMonitor monitor(random.normal_matrix(300, 1), {.window = 30, .expected_run_length = 5000});
  for (const mercer::DriftStep& step : monitor.update(series)) {
    if (!step.alarm) continue;
    std::printf("alarm at row %td: mmd-u %.4f above %.4f\n", step.time, step.statistic, step.threshold);
    break;
  }
  return found.changes.size() == 1 && monitor.last_alarm() >= 150 ? 0 : 1;
}

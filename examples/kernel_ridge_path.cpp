// Thirty penalties times three length scales, each by exact leave-one-out, and an interval around every prediction.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  using mercer::kernels::gaussian;
  const auto train = mercer::simulate::waves(200, 0.3, 0);
  const auto test = mercer::simulate::waves(500, 0.3, 1);

  const auto path =
      mercer::fit_kernel_ridge_cv(train.X, train.y, {.kernels = {gaussian(0.2), gaussian(0.7), gaussian(3)}, .intervals = true});
  std::puts(path.summary().sentence.c_str());
  std::puts(path.model().interval_summary().sentence.c_str());

  const mercer::IntervalPrediction p = path.model().predict_interval(test.X, 0.9);
  int inside = 0;
  for (mercer::Index i = 0; i < test.y.size(); ++i) inside += p.lower(i, 0) <= test.y[i] && test.y[i] <= p.upper(i, 0) ? 1 : 0;
  std::printf("%.1f %% of 500 new values lie in their 90 %% intervals\n", inside / 5.0);
  return inside > 400 ? 0 : 1;
}

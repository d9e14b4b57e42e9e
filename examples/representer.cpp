// A band of conditional quantiles, a robust curve, and class probabilities, all from one solver.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  const auto waves = mercer::simulate::waves(300, 0.3, 0);
  const auto curve = [&](const mercer::Loss& loss) {
    return mercer::fit_representer(waves.X, waves.y, {.kernel = mercer::kernels::gaussian(0.7), .loss = loss, .lambda = 1e-4});
  };
  const auto low = curve(mercer::losses::quantile(0.1));
  const auto high = curve(mercer::losses::quantile(0.9));
  std::puts(high.summary().sentence.c_str());

  const mercer::Vector from = low.predict(waves.X).col(0);
  const mercer::Vector to = high.predict(waves.X).col(0);
  int inside = 0;
  for (mercer::Index i = 0; i < waves.y.size(); ++i) inside += waves.y[i] >= from[i] - 1e-6 && waves.y[i] <= to[i] + 1e-6 ? 1 : 0;
  std::printf("%d of 300 samples between the quantiles 0.1 and 0.9\n", inside);

  const auto robust = curve(mercer::losses::huber(0.3));
  std::printf("Huber: %s\n", robust.summary().sentence.c_str());

  const auto moons = mercer::simulate::moons(300);
  const auto classifier =
      mercer::fit_kernel_logistic(moons.X, mercer::class_indices(moons.y), {.kernel = mercer::kernels::gaussian(0.5), .C = 10});
  const mercer::Matrix p = classifier.probabilities(moons.X);
  std::printf("P(second class) of the first sample: %.3f\n", p(0, 1));
  return inside >= 240 && inside <= 285 && classifier.summary().status == "converged" ? 0 : 1;
}

// Three ways to a boundary between two moons: class means, Parzen windows, and a support vector machine by stochastic gradients.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

namespace {

double accuracy(const mercer::Matrix& scores, const std::vector<mercer::Index>& labels) {
  const std::vector<mercer::Index> guess = mercer::classes_from_scores(scores);
  double right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) right += guess[i] == labels[i] ? 1 : 0;
  return right / static_cast<double>(labels.size());
}

}  // namespace

int main() {
  const auto moons = mercer::simulate::moons(400);
  const std::vector<mercer::Index> labels = mercer::class_indices(moons.y);
  const mercer::Kernel kernel = mercer::kernels::gaussian(0.3);

  const auto mean = mercer::fit_kernel_mean(moons.X, labels, {.kernel = kernel});
  std::printf("nearest mean %.3f: %s\n", accuracy(mean.decision(moons.X), labels), mean.summary().sentence.c_str());

  const auto windows = mercer::fit_kernel_mean(moons.X, labels, {.kernel = kernel, .rule = mercer::MeanRule::parzen});
  std::printf("P(second class) of the first sample: %.3f\n", windows.probabilities(moons.X)(0, 1));

  const auto machine = mercer::fit_kernel_sgd(moons.X, labels, {.kernel = kernel, .lambda = 0.005});
  std::printf("stochastic gradients %.3f: %s\n", accuracy(machine.decision(moons.X), labels), machine.summary().sentence.c_str());

  const auto small = mercer::fit_kernel_sgd(moons.X, labels, {.kernel = kernel, .lambda = 0.005, .budget = 30});
  std::printf("30 support vectors %.3f\n", accuracy(small.decision(moons.X), labels));
  return accuracy(machine.decision(moons.X), labels) > 0.9 && small.samples().size() <= 30 ? 0 : 1;
}

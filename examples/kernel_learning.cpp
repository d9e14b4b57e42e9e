// Which of six columns matter? Length scales learned by leave-one-out tell.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <iostream>
#include <mercer/mercer.hpp>

int main() {
  mercer::RandomStream random(0);
  const mercer::Matrix X = random.normal_matrix(200, 6);
  mercer::Matrix y = 0.1 * random.normal_matrix(200, 1);
  y.col(0).array() += (2 * X.col(0).array()).sin() + X.col(1).array().square() / 2;

  const auto found = mercer::learn_kernel(X, y, mercer::parse_kernel("gaussian(auto)"), {.ard = true});
  std::cout << found.sentence << '\n';
  for (const auto& p : found.parameters) std::cout << p.name << ": " << p.start << " -> " << p.value << '\n';

  const auto model = mercer::fit_kernel_ridge(X, y, {.kernel = found.kernel, .alpha = found.alpha});
  const double error = (model.predict(X) - y).norm() / std::sqrt(200.0);
  std::cout << "training error " << error << '\n';
  return found.parameters[5].value > 2 * found.parameters[0].value ? 0 : 1;
}

// Kernel regression on 200 landmarks of 20000 rows, and how much of the kernel they see.
// SPDX-License-Identifier: BSD-3-Clause
#include <iostream>
#include <mercer/mercer.hpp>

int main() {
  using namespace mercer;
  const auto [X, y] = simulate::waves(20000);
  const FalkonModel model = fit_falkon(
      X, y, {.kernel = kernels::gaussian(0.5), .alpha = 0.1, .n_landmarks = 200, .landmarks = LandmarkMethod::leverage, .validation = 0.1});
  std::cout << model.summary().sentence << "\n"
            << "error on rows kept out: " << std::sqrt(model.summary().validation_mse) << "\n";
}

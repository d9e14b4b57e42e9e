// Kernel ridge regression on simulated waves: fit, look at the summary, predict, save and load.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  const auto train = mercer::simulate::waves(200, 0.3, 0);
  const auto test = mercer::simulate::waves(200, 0.0, 1);

  const auto model = mercer::fit_kernel_ridge(train.X, train.y, {.kernel = mercer::kernels::gaussian(0.7), .alpha = 0.1});
  std::puts(model.summary().sentence.c_str());

  const mercer::Matrix f = model.predict(test.X);
  const double rmse = mercer::root_mean_squared_error(test.y, f.col(0));
  std::printf("RMSE against the noiseless curve: %.3f (the noise has 0.3)\n", rmse);

  const std::string bytes = mercer::model_to_bytes({model, {}});
  const bool same = mercer::model_from_bytes(bytes).predict(test.X) == f;
  return rmse < 0.2 && same ? 0 : 1;
}

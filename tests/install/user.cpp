// Fits kernel ridge regression on two points and compares with the system solved by hand.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  mercer::Matrix X(2, 1);
  X << 0, 1;
  mercer::Matrix y(2, 1);
  y << 1, 3;
  const auto model = mercer::fit_kernel_ridge(X, y, {.kernel = mercer::kernels::gaussian(1.0), .alpha = 0.5});

  // [1.5 k; k 1.5] c = y with k = exp(-1/2); at x = 0 the prediction is c_0 + k c_1.
  const double k = std::exp(-0.5);
  const double determinant = 1.5 * 1.5 - k * k;
  const double c0 = (1.5 * 1 - k * 3) / determinant;
  const double c1 = (1.5 * 3 - k * 1) / determinant;
  const double predicted = model.predict(X)(0, 0);
  std::printf("mercer %s: predicted %.15f, by hand %.15f\n", mercer::version(), predicted, c0 + k * c1);
  return std::abs(predicted - (c0 + k * c1)) < 1e-13 ? 0 : 1;
}

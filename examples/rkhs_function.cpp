// Functions of an RKHS as values: a fitted model among them, with its norm, a bound, and the distance to another.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  const mercer::Matrix X = mercer::RandomStream(0).normal_matrix(80, 1);
  const mercer::Vector y = X.col(0).array().sin();
  const auto fit = [&](double alpha) {
    const auto model = mercer::fit_kernel_ridge(X, y, {.kernel = mercer::kernels::gaussian(1.0), .alpha = alpha});
    return mercer::RkhsFunction(model.kernel(), model.samples(), model.dual_coef().col(0));
  };
  const mercer::RkhsFunction f = fit(0.01);
  const mercer::RkhsFunction calm = fit(10);
  std::printf("|f| = %.4f, |calm| = %.4f, |f - calm| = %.4f\n", f.norm(), calm.norm(), distance(f, calm));

  const mercer::Matrix at = mercer::Matrix::Constant(1, 1, 0.5);
  const mercer::RkhsFunction section(f.kernel(), at, mercer::Vector::Ones(1));  // k(0.5, .)
  const double value = f(at)[0];
  std::printf("f(0.5) = %.6f = <f, k(0.5, .)> = %.6f, at most %.4f\n", value, inner(f, section), f.bound(at)[0]);
  const bool reproduced = std::abs(value - inner(f, section)) < 1e-10;
  return reproduced && std::abs(value) <= f.bound(at)[0] && calm.norm() < f.norm() ? 0 : 1;
}

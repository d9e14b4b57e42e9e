// Source K, figures 1 and 2: nine powers through twelve points, by least squares and by ridge.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  mercer::RandomStream random(8);
  mercer::Matrix x(12, 1);
  mercer::Matrix y(12, 1);
  for (mercer::Index i = 0; i < 12; ++i) {
    x(i, 0) = -1 + 2.0 * static_cast<double>(i) / 11;
    y(i, 0) = std::sin(3 * x(i, 0)) + 0.3 * random.normal();
  }
  mercer::Matrix powers(12, 9);  // 1, x, ..., x^8: the constant is penalised, as in the source
  powers.col(0).setOnes();
  powers.rightCols(8) = mercer::monomials(x, 8);

  const auto ols = mercer::fit_ridge(powers, y, {.alpha = 0, .fit_intercept = false});
  const auto ridge = mercer::fit_ridge(powers, y, {.lambda = 1.0, .fit_intercept = false});
  std::printf("least squares: |w| = %8.1f, condition number %.3g\n", ols.coef().norm(), ols.summary().condition_before);
  std::printf("ridge:         |w| = %8.1f, condition number %.3g\n", ridge.coef().norm(), ridge.summary().condition_after);
  return ols.coef().norm() > 10 * ridge.coef().norm() ? 0 : 1;
}

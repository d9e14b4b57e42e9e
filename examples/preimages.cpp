// Noise taken off a curve: projections on kernel principal components, and the rows whose images are nearest to them.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  // A point of the feature space is a row of weights over rows: here the mean of the images of eight neighbours.
  mercer::RandomStream random(0);
  mercer::Matrix X(400, 2);
  for (mercer::Index i = 0; i < X.rows(); ++i) {
    const double t = 6.2831853 * static_cast<double>(i) / 400;
    X.row(i) << std::cos(t) + 0.1 * random.normal(), std::sin(t) + 0.1 * random.normal();
  }
  mercer::Matrix weights = mercer::Matrix::Zero(50, 400);
  for (mercer::Index p = 0; p < 50; ++p) weights.block(p, 8 * p, 1, 8).setConstant(1.0 / 8);

  const auto found = mercer::preimages(mercer::kernels::gaussian(0.5), X, weights);
  std::printf("%s\n", found.summary.sentence.c_str());
  const auto off = [](const mercer::Matrix& rows) { return (rows.rowwise().norm().array() - 1).square().mean(); };
  std::printf("mean squared distance from the circle: rows %.4f, pre-images %.4f\n", off(X), off(found.rows));
  return off(found.rows) < 0.5 * off(X) && found.summary.converged == 50 ? 0 : 1;
}

// Random Fourier features: how close their products come to the kernel, and ridge regression on them in pieces that are merged at the end.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  const auto train = mercer::simulate::waves(4000, 0.3, 0);
  const auto test = mercer::simulate::waves(500, 0.0, 1);
  const mercer::Kernel kernel = mercer::kernels::gaussian(0.5);

  const auto map = mercer::random_fourier_features(kernel, 1, {.n_components = 1000});
  const mercer::Matrix Z = map.transform(test.X);
  const double error = (Z * Z.transpose() - mercer::gram(kernel, test.X)).cwiseAbs().maxCoeff();
  const double bound = map.hoeffding_error(0.999, test.X.rows());
  std::printf("kernel values are off by %.3f at most; with probability 0.999 by less than %.3f\n", error, bound);

  // Two machines, each with half of the rows.
  mercer::RandomFeatureSums here(map, 1), there(map, 1);
  here.accumulate(mercer::Matrix(train.X.topRows(2000)), train.y.head(2000));
  there.accumulate(mercer::Matrix(train.X.bottomRows(2000)), train.y.tail(2000));
  here.merge(there);
  const auto model = here.solve({.alpha = 0.1});
  std::puts(model.summary().sentence.c_str());

  const double rmse = mercer::root_mean_squared_error(test.y, model.predict(test.X).col(0));
  std::printf("RMSE against the noiseless curve: %.3f (the noise has 0.3)\n", rmse);
  return error < bound && rmse < 0.1 ? 0 : 1;
}

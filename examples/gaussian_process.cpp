// A Gaussian process on simulated waves: learn the parameters, look at intervals, draw functions, save and load.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  using namespace mercer;
  const auto train = simulate::waves(150, 0.3, 0);
  const auto test = simulate::waves(500, 0.3, 1);

  const auto model = fit_gaussian_process(train.X, train.y, {.kernel = 1.0 * kernels::gaussian(1.0), .noise = 0.1, .optimize_noise = true});
  std::puts(model.summary().sentence.c_str());
  std::printf("%s, noise variance %.3f (the data have 0.09)\n", model.kernel().text().c_str(), model.noise()[0]);

  const IntervalPrediction band = model.predict_interval(test.X, 0.9);
  const auto inside = ((band.lower.col(0).array() <= test.y.array()) && (test.y.array() <= band.upper.col(0).array())).count();
  const double share = static_cast<double>(inside) / 500;
  std::printf("%.0f %% of new observations lie in their 90 %% intervals\n", 100 * share);

  const Matrix draws = model.sample(test.X.topRows(5), 3, 7).front();  // 5 places, 3 functions
  const std::string bytes = model_to_bytes({model, {}});
  const bool same = model_from_bytes(bytes).predict(test.X) == model.predict(test.X);
  return share > 0.84 && share < 0.96 && same && draws.cols() == 3 ? 0 : 1;
}

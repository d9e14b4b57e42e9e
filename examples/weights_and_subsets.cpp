// Weights and subsets: a line fitted under covariate shift, a sample squashed and thinned, the shares of two sources in a blend.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  using namespace mercer;  // NOLINT(google-build-using-namespace)
  // The target lies left of the training rows, where the line through all of them is wrong.
  const Matrix X = (0.5 * RandomStream(1).normal_matrix(300, 1)).array() + 0.5;
  const Matrix target = 0.3 * RandomStream(2).normal_matrix(300, 1);
  const Matrix y = X.array().cube() - X.array() + 0.2 * RandomStream(3).normal_matrix(300, 1).array();
  const MeanMatching matching = match_means(X, target);
  RidgeOptions plain;
  plain.alpha = 1e-3;
  RidgeOptions weighted = plain;
  weighted.sample_weight = matching.weights;
  const auto error = [&](const RidgeOptions& options) {
    const Matrix truth = target.array().cube() - target.array();
    return std::sqrt((fit_ridge(X, y, options).predict(target) - truth).squaredNorm() / 300);
  };
  std::printf("%s\nRMSE on the target: %.3f with weights, %.3f without\n", matching.sentence.c_str(), error(weighted), error(plain));

  const Matrix Z = RandomStream(4).normal_matrix(2000, 2);
  std::printf("%s\n%s\n", squash(Z, 40).sentence.c_str(), thin(Z, 40).sentence.c_str());

  const GaussianComponent left{Vector::Zero(2), Matrix::Identity(2, 2)};
  const GaussianComponent right{Vector::Constant(2, 3.0), Matrix::Identity(2, 2)};
  std::printf("%s\n", mixture_weights(Z, {left, right}).sentence.c_str());
}

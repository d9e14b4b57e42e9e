// Is a sample from this distribution, known by its score? Is it normal at all? SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  const mercer::Matrix X = mercer::RandomStream(1).normal_matrix(300, 2);
  const auto standard = mercer::Distribution::normal(mercer::Vector::Zero(2), mercer::Matrix::Identity(2, 2));
  const auto fits = mercer::goodness_of_fit_test(X, standard);
  std::printf("%s\n", fits.sentence.c_str());
  // A density known up to its constant: log p(x) = -|x|^4 / 4, so the score is -|x|^2 x.
  const auto quartic = mercer::Distribution::from_score("the quartic density", [](const mercer::Matrix& x) -> mercer::Matrix {
    return -(x.array().colwise() * x.rowwise().squaredNorm().array()).matrix();
  });
  const auto differs = mercer::goodness_of_fit_test(X, quartic);
  std::printf("%s\n", differs.sentence.c_str());
  const auto skew = mercer::normality_test(mercer::Matrix(X.array().exp()));
  std::printf("%s\n", skew.sentence.c_str());
  return !fits.rejected && differs.rejected && skew.rejected ? 0 : 1;
}

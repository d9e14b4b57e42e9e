// Two circles that no line separates: principal components of the rows do not tell them apart, those of a Gaussian kernel do; and the error
// of reconstruction tells a point that belongs to neither.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>

namespace {

// |difference of means| over the sum of standard deviations, for the best of the columns.
double separation(const mercer::Matrix& Z, const mercer::Vector& y) {
  double best = 0;
  for (mercer::Index j = 0; j < Z.cols(); ++j) {
    double sum[2] = {}, squares[2] = {}, count[2] = {};
    for (mercer::Index i = 0; i < Z.rows(); ++i) {
      const int c = y[i] > 0.5 ? 1 : 0;
      sum[c] += Z(i, j), squares[c] += Z(i, j) * Z(i, j), ++count[c];
    }
    const double a = sum[0] / count[0], b = sum[1] / count[1];
    best = std::max(best, std::abs(a - b) / (std::sqrt(squares[0] / count[0] - a * a) + std::sqrt(squares[1] / count[1] - b * b)));
  }
  return best;
}

}  // namespace

int main() {
  const auto data = mercer::simulate::circles(400, 0.05, 0.3);
  const auto linear = mercer::fit_pca(data.X, {.n_components = 2});
  const auto curved = mercer::fit_kernel_pca(data.X, {.kernel = mercer::kernels::gaussian(0.5), .n_components = 5});
  std::puts(linear.summary().sentence.c_str());
  std::puts(curved.summary().sentence.c_str());
  const double flat = separation(linear.transform(data.X), data.y);
  const double apart = separation(curved.transform(data.X), data.y);
  std::printf("separation of the circles: %.2f by PCA, %.2f by kernel PCA\n", flat, apart);

  mercer::Matrix far(1, 2);
  far << 3, 3;
  const double usual = curved.reconstruction_error(data.X).maxCoeff();
  const double strange = curved.reconstruction_error(far)[0];
  std::printf("error of reconstruction: at most %.3f on the circles, %.3f far from them\n", usual, strange);
  return apart > 2 && flat < 0.5 && strange > usual ? 0 : 1;
}

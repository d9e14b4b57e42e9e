// Mercer's eigenfunctions of the Brownian kernel min(x, y), which are sines, and a sketch of a polynomial kernel.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>
#include <numbers>

int main() {
  using namespace mercer;
  const Kernel brownian = kernels::function("min", [](const Samples& A, const Samples& B) -> Matrix {
    const Vector a = A.to_dense().col(0);
    const Vector b = B.to_dense().col(0);
    return a.replicate(1, b.size()).cwiseMin(b.transpose().replicate(a.size(), 1));
  });
  const Matrix grid = (Vector::LinSpaced(400, 0, 399).array() + 0.5) / 400;
  const KernelMap map = fit_mercer_map(grid, {.kernel = brownian, .n_components = 3});
  bool good = true;
  for (Index i = 0; i < 3; ++i) {
    const double w = (static_cast<double>(i) + 0.5) * std::numbers::pi;
    std::printf("eigenvalue %.5f, in closed form %.5f\n", map.eigenvalues()[i], 1 / (w * w));
    good = good && std::abs(map.eigenvalues()[i] * w * w - 1) < 1e-3;
  }

  const Matrix X = RandomStream(1).normal_matrix(20, 6);
  const TensorSketch sketch = tensor_sketch(6, {.degree = 2, .offset = 1, .n_components = 256});
  const Matrix Z = sketch.transform(X);
  const Matrix K = gram(sketch.kernel(), X);
  const Matrix unit = (K.diagonal() * K.diagonal().transpose()).cwiseSqrt();
  const double error = ((Z * Z.transpose() - K).array() / unit.array()).abs().maxCoeff();
  std::printf("256 sketches of %s: off by %.3f at most, bound %.3f\n", sketch.kernel().text().c_str(), error, sketch.error_bound(0.99));
  return good && error < sketch.error_bound(0.99) ? 0 : 1;
}

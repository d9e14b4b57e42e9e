// Every kernel and operation beside its formula in long double: what the tests of Gram matrices, gradients and files run over.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/random.hpp"
#include "reference/naive_kernels.hpp"

namespace mercer::naive {

struct KernelCase {
  std::string name;
  Kernel kernel;
  PairFunction naive;
  bool through_zero = false;  // values pass through zero, so errors are measured against their typical size
  bool positive = false;      // for numbers >= 0 only

  Matrix data(const Matrix& X) const { return positive ? Matrix(X.cwiseAbs()) : X; }
};

// Kernels on rows of d columns.
inline std::vector<KernelCase> kernel_cases(Index d) {
  using kernels::Norm;
  std::vector<double> scales;
  std::vector<double> periods;
  for (Index j = 0; j < d; ++j) scales.push_back(2.0 + 0.25 * static_cast<double>(j % 5));
  for (Index j = 0; j < d; ++j) periods.push_back(3.0 + 0.5 * static_cast<double>(j % 3));
  const std::vector<Index> first{0};
  const std::vector<Index> last{d - 1};
  const Matrix Z = RandomStream(77).normal_matrix(4, d);
  const auto sum = [](PairFunction a, PairFunction b) { return [=](const Vector& x, const Vector& y) { return a(x, y) + b(x, y); }; };
  const auto product = [](PairFunction a, PairFunction b) { return [=](const Vector& x, const Vector& y) { return a(x, y) * b(x, y); }; };
  const auto times = [](Real a, PairFunction k) { return [=](const Vector& x, const Vector& y) { return a * k(x, y); }; };
  const auto map = [](PairFunction k, auto f) { return [=](const Vector& x, const Vector& y) { return f(k(x, y)); }; };
  const Kernel g = kernels::gaussian(3);
  const PairFunction ng = gaussian(3);
  return {
      {"linear", kernels::linear(), linear(), true},
      {"polynomial", kernels::polynomial(3, 0.25, 1), polynomial(3, 0.25, 1), true},
      {"homogeneous", kernels::polynomial(2, 0.25, 0), polynomial(2, 0.25, 0), true},
      {"sigmoid", kernels::sigmoid(0.1, 0.3), sigmoid(Real(0.1), Real(0.3)), true},
      {"exponential_dot", kernels::exponential_dot(0.0625), exponential_dot(Real(0.0625))},
      {"cosine", kernels::cosine(), cosine(), true},
      {"gaussian", g, ng},
      {"gaussian_ard", kernels::gaussian(scales), scaled_columns(gaussian(1), scales)},
      {"laplacian", kernels::laplacian(3), laplacian(3)},
      {"laplacian_ard", kernels::laplacian(scales), scaled_columns(laplacian(1), scales)},
      {"laplacian_l1", kernels::laplacian(5, Norm::l1), laplacian_l1(5)},
      {"laplacian_l1_ard", kernels::laplacian(scales, Norm::l1), scaled_columns(laplacian_l1(1), scales, 1)},
      {"matern1", kernels::matern(0.5, 3), matern(Real(0.5), 3)},
      {"matern3", kernels::matern(1.5, 3), matern(Real(1.5), 3)},
      {"matern5", kernels::matern(2.5, 3), matern(Real(2.5), 3)},
      {"matern5_ard", kernels::matern(2.5, scales), scaled_columns(matern(Real(2.5), 1), scales)},
      {"rational_quadratic", kernels::rational_quadratic(2, 1.5), rational_quadratic(2, Real(1.5))},
      {"rational_quadratic_ard", kernels::rational_quadratic(scales, 0.75), scaled_columns(rational_quadratic(1, Real(0.75)), scales)},
      {"periodic", kernels::periodic(4, 3.5), periodic({4}, {3.5})},
      {"periodic_ard", kernels::periodic(scales, periods), periodic(scales, periods)},
      {"chi2", kernels::chi2(0.25), chi2(Real(0.25)), false, true},
      {"histogram_intersection", kernels::histogram_intersection(), histogram_intersection(), false, true},
      {"constant", kernels::constant(2.5), [](const Vector&, const Vector&) { return Real(2.5); }},
      {"sum", kernels::gaussian(2) + 0.5 * kernels::linear(), sum(gaussian(2), times(Real(0.5), linear())), true},
      {"mixed", (g + kernels::gaussian(1)) * (kernels::laplacian(9, Norm::l1) + 2.0) + kernels::laplacian(4),
       sum(product(sum(ng, gaussian(1)), map(laplacian_l1(9), [](Real k) { return k + 2; })), laplacian(4))},
      {"direct_sum", g.on({0}) + kernels::matern(1.5, 2).on({ColumnRef(d - 1)}), sum(on(ng, first), on(matern(Real(1.5), 2), last))},
      {"tensor_product", g.on({0}) * kernels::polynomial(2, 0.5, 1).on({ColumnRef(d - 1)}),
       product(on(ng, first), on(polynomial(2, Real(0.5), 1), last)), true},
      {"power", (g + 0.125 * kernels::linear()).power(3), power(sum(ng, times(Real(0.125), linear())), 3), true},
      {"normalized", (kernels::linear() + 1.0).normalized(), normalized(map(linear(), [](Real k) { return k + 1; }), true), true},
      {"normalized_product", kernels::polynomial(2, 0.5, 1).normalized(Normalization::product),
       normalized(polynomial(2, Real(0.5), 1), false), true},
      {"exp", (0.5 * g).exp(), map(times(Real(0.5), ng), [](Real k) { return std::exp(k); })},
      {"geometric", (0.5 * g).geometric(), map(times(Real(0.5), ng), [](Real k) { return 1 / (1 - k); })},
      {"series", g.series({1, 0, 0.5}), map(ng, [](Real k) { return 1 + Real(0.5) * k * k; })},
      {"over", g.over(Z), over(ng, Z)},
      {"deep", (2.0 * (g * kernels::rational_quadratic(2, 1)).normalized().power(2) + kernels::periodic(4, 3)).exp(),
       map(sum(times(2, power(normalized(product(ng, rational_quadratic(2, 1)), true), 2)), periodic({4}, {3})),
           [](Real k) { return std::exp(k); })},
  };
}

}  // namespace mercer::naive

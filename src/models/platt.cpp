// SPDX-License-Identifier: BSD-3-Clause
#include "models/platt.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace mercer {

double Sigmoid::operator()(double f) const {
  const double z = A * f + B;
  return z >= 0 ? std::exp(-z) / (1 + std::exp(-z)) : 1 / (1 + std::exp(z));
}

Sigmoid fit_sigmoid(const VectorRef& f, std::span<const char> positive, const VectorRef& weights) {
  double ups = 0;
  double downs = 0;
  for (Index i = 0; i < f.size(); ++i) (positive[static_cast<std::size_t>(i)] != 0 ? ups : downs) += weights[i];
  const double high = (ups + 1) / (ups + 2);
  const double low = 1 / (downs + 2);
  const auto target = [&](Index i) { return positive[static_cast<std::size_t>(i)] != 0 ? high : low; };
  // -log likelihood: sum w (t z + log(1 + exp(-z))), z = A f + B, without overflow.
  const auto cost = [&](double A, double B) {
    double sum = 0;
    for (Index i = 0; i < f.size(); ++i) {
      const double z = A * f[i] + B;
      sum += weights[i] * (z >= 0 ? target(i) * z + std::log1p(std::exp(-z)) : (target(i) - 1) * z + std::log1p(std::exp(z)));
    }
    return sum;
  };
  Sigmoid s{0, std::log((downs + 1) / (ups + 1))};
  double value = cost(s.A, s.B);
  for (int iteration = 0; iteration < 100; ++iteration) {
    double gA = 0, gB = 0, hAA = 1e-12, hBB = 1e-12, hAB = 0;
    for (Index i = 0; i < f.size(); ++i) {
      const double p = s(f[i]);
      const double d1 = weights[i] * (target(i) - p);
      const double d2 = weights[i] * p * (1 - p);
      gA += f[i] * d1;
      gB += d1;
      hAA += f[i] * f[i] * d2;
      hBB += d2;
      hAB += f[i] * d2;
    }
    if (std::abs(gA) < 1e-8 * (ups + downs) && std::abs(gB) < 1e-8 * (ups + downs)) break;
    const double det = hAA * hBB - hAB * hAB;
    const double dA = -(hBB * gA - hAB * gB) / det;
    const double dB = -(hAA * gB - hAB * gA) / det;
    const double slope = gA * dA + gB * dB;
    double step = 1;
    for (; step >= 1e-10; step /= 2) {
      const double next = cost(s.A + step * dA, s.B + step * dB);
      if (next < value + 1e-4 * step * slope) {
        s = {s.A + step * dA, s.B + step * dB};
        value = next;
        break;
      }
    }
    if (step < 1e-10) break;  // rounding
  }
  return s;
}

Vector couple_pairs(const MatrixRef& r) {
  const Index k = r.rows();
  Matrix A = Matrix::Zero(k + 1, k + 1);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) {
      if (i == j) continue;
      A(i, i) += r(j, i) * r(j, i);
      A(i, j) = -r(j, i) * r(i, j);
    }
    A(i, k) = A(k, i) = 1;
  }
  Vector right = Vector::Zero(k + 1);
  right[k] = 1;
  Vector p = Eigen::PartialPivLU<Matrix>(A).solve(right).head(k).cwiseMax(0);
  const double sum = p.sum();
  return std::isfinite(sum) && sum > 0 ? Vector(p / sum) : Vector(Vector::Constant(k, 1.0 / static_cast<double>(k)));
}

}  // namespace mercer

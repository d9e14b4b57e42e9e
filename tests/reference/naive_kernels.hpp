// Kernels the slow way: one pair at a time in long double, straight from the formulas. The oracle for every Gram matrix.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <functional>

#include "mercer/matrix.hpp"

namespace mercer::naive {

using Real = long double;
using PairFunction = std::function<Real(const Vector&, const Vector&)>;

inline Real dot(const Vector& x, const Vector& y) {
  Real sum = 0;
  for (Index k = 0; k < x.size(); ++k) sum += static_cast<Real>(x[k]) * static_cast<Real>(y[k]);
  return sum;
}

inline Real squared_distance(const Vector& x, const Vector& y) {
  Real sum = 0;
  for (Index k = 0; k < x.size(); ++k) {
    const Real d = static_cast<Real>(x[k]) - static_cast<Real>(y[k]);
    sum += d * d;
  }
  return sum;
}

inline Real l1_distance(const Vector& x, const Vector& y) {
  Real sum = 0;
  for (Index k = 0; k < x.size(); ++k) sum += std::abs(static_cast<Real>(x[k]) - static_cast<Real>(y[k]));
  return sum;
}

inline PairFunction linear() { return dot; }
inline PairFunction polynomial(int degree, Real scale, Real offset) {
  return [=](const Vector& x, const Vector& y) { return std::pow(offset + scale * dot(x, y), static_cast<Real>(degree)); };
}
inline PairFunction gaussian(Real l) {
  return [=](const Vector& x, const Vector& y) { return std::exp(-squared_distance(x, y) / (2 * l * l)); };
}
inline PairFunction laplacian(Real l) {
  return [=](const Vector& x, const Vector& y) { return std::exp(-std::sqrt(squared_distance(x, y)) / l); };
}
inline PairFunction laplacian_l1(Real l) {
  return [=](const Vector& x, const Vector& y) { return std::exp(-l1_distance(x, y) / l); };
}

// The Gram matrix rounded to double once at the end.
inline Matrix gram(const PairFunction& k, const Matrix& X, const Matrix& Y) {
  Matrix out(X.rows(), Y.rows());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < Y.rows(); ++j) out(i, j) = static_cast<double>(k(X.row(i).transpose(), Y.row(j).transpose()));
  }
  return out;
}

}  // namespace mercer::naive

// Kernels the slow way: one pair at a time in long double, straight from the formulas. The oracle for every Gram matrix.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

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
inline PairFunction sigmoid(Real scale, Real offset) {
  return [=](const Vector& x, const Vector& y) { return std::tanh(scale * dot(x, y) + offset); };
}
inline PairFunction exponential_dot(Real scale) {
  return [=](const Vector& x, const Vector& y) { return std::exp(scale * dot(x, y)); };
}
inline PairFunction cosine() {
  return [=](const Vector& x, const Vector& y) {
    const Real lengths = std::sqrt(dot(x, x) * dot(y, y));
    return lengths > 0 ? dot(x, y) / lengths : Real{0};
  };
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
inline PairFunction matern(Real nu, Real l) {
  return [=](const Vector& x, const Vector& y) {
    const Real a = std::sqrt(2 * nu * squared_distance(x, y)) / l;
    const Real polynomial = nu == Real(0.5) ? 1 : nu == Real(1.5) ? 1 + a : 1 + a + a * a / 3;
    return polynomial * std::exp(-a);
  };
}
inline PairFunction rational_quadratic(Real l, Real alpha) {
  return [=](const Vector& x, const Vector& y) { return std::pow(1 + squared_distance(x, y) / (2 * alpha * l * l), -alpha); };
}
// One length scale and one period per column.
inline PairFunction periodic(const std::vector<double>& l, const std::vector<double>& p) {
  return [=](const Vector& x, const Vector& y) {
    Real sum = 0;
    for (Index k = 0; k < x.size(); ++k) {
      const auto c = static_cast<std::size_t>(k);
      const Real scale = l[l.size() == 1 ? 0 : c];
      const Real period = p[p.size() == 1 ? 0 : c];
      const Real sine = std::sin(std::numbers::pi_v<Real> * (static_cast<Real>(x[k]) - static_cast<Real>(y[k])) / period);
      sum += 2 * sine * sine / (scale * scale);
    }
    return std::exp(-sum);
  };
}
inline PairFunction chi2(Real gamma) {
  return [=](const Vector& x, const Vector& y) {
    Real sum = 0;
    for (Index k = 0; k < x.size(); ++k) {
      const Real d = static_cast<Real>(x[k]) - static_cast<Real>(y[k]);
      const Real total = static_cast<Real>(x[k]) + static_cast<Real>(y[k]);
      if (total > 0) sum += d * d / total;
    }
    return std::exp(-gamma * sum);
  };
}
inline PairFunction histogram_intersection() {
  return [=](const Vector& x, const Vector& y) {
    Real sum = 0;
    for (Index k = 0; k < x.size(); ++k) sum += static_cast<Real>(std::min(x[k], y[k]));
    return sum;
  };
}

// k of x_j / l_j; the pattern of scales is repeated over the columns.
inline PairFunction scaled_columns(const PairFunction& k, const std::vector<double>& l, int norm = 2) {
  return [=](const Vector& x, const Vector& y) {
    // As distances in long double: a scaled vector of doubles would round.
    Real sum = 0;
    for (Index c = 0; c < x.size(); ++c) {
      const Real d = (static_cast<Real>(x[c]) - static_cast<Real>(y[c])) / static_cast<Real>(l[static_cast<std::size_t>(c) % l.size()]);
      sum += norm == 2 ? d * d : std::abs(d);
    }
    Vector at(1);
    at[0] = static_cast<double>(norm == 2 ? std::sqrt(sum) : sum);
    return k(at, Vector::Zero(1));
  };
}
inline PairFunction on(const PairFunction& k, const std::vector<Index>& columns) {
  return [=](const Vector& x, const Vector& y) { return k(x(columns), y(columns)); };
}
inline PairFunction power(const PairFunction& k, int p) {
  return [=](const Vector& x, const Vector& y) { return std::pow(k(x, y), static_cast<Real>(p)); };
}
inline PairFunction normalized(const PairFunction& k, bool root) {
  return [=](const Vector& x, const Vector& y) {
    const Real diagonal = k(x, x) * k(y, y);
    return k(x, y) / (root ? std::sqrt(diagonal) : diagonal);
  };
}
inline PairFunction over(const PairFunction& k, const Matrix& Z) {
  return [=](const Vector& x, const Vector& y) {
    Real sum = 0;
    for (Index i = 0; i < Z.rows(); ++i) sum += k(x, Z.row(i).transpose()) * k(Z.row(i).transpose(), y);
    return sum;
  };
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

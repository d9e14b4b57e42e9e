// Problems for the tests of the dual engine: rows of a matrix, every formulation of support vector machines with random numbers, the same
// for the oracle, and what is true of an answer worked out again from K and b.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "mercer/random.hpp"
#include "reference/dense_qp.hpp"
#include "solvers/box_qp.hpp"

namespace mercer::testing {

// A matrix as a source of rows: in memory, or computed (copied) when asked for.
template <class T>
class MatrixRows final : public RowSource<T> {
 public:
  explicit MatrixRows(const Matrix& K, bool stored = false) : K_(K.cast<T>()), diagonal_(K.diagonal()), stored_(stored) {}

  Index size() const override { return K_.rows(); }
  const Vector& diagonal() const override { return diagonal_; }
  const T* stored(Index row) const override { return stored_ ? K_.row(row).data() : nullptr; }
  void rows(std::span<const Index> I, std::span<T* const> out) const override {
    for (std::size_t a = 0; a < I.size(); ++a) std::copy_n(K_.row(I[a]).data(), size(), out[a]);
    asked += std::ssize(I);
    calls.emplace_back(I.begin(), I.end());
  }

  mutable Index asked = 0;
  mutable std::vector<std::vector<Index>> calls{};

 private:
  RowMatrix<T> K_;
  Vector diagonal_;
  bool stored_;
};

enum class Form { classify, classify_no_bias, regress, regress_no_bias, one_class, nu_classify, nu_regress };
inline constexpr int forms = 7;

struct Case {
  std::string name{};
  Matrix K{};
  BoxProblem problem{};

  Index size() const { return problem.linear.size(); }
  Index row(Index i) const { return problem.row.empty() ? i : problem.row[static_cast<std::size_t>(i)]; }
  double kink(Index i) const { return problem.kink.size() > 0 ? problem.kink[i] : 0; }
  Vector start() const { return problem.start.size() > 0 ? problem.start : Vector(Vector::Zero(size())); }
  int group(Index i) const { return problem.held.groups == 2 && i >= problem.held.split ? 1 : 0; }
};

inline Matrix gaussian_kernel(const Matrix& X, double scale) {
  Matrix K(X.rows(), X.rows());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.rows(); ++j) K(i, j) = std::exp(-(X.row(i) - X.row(j)).squaredNorm() / (2 * scale * scale));
  }
  return K;
}

// Positive semi-definite: 0 full rank, 1 with duplicates, 2 of low rank, 3 a product of random matrices, 4 entries of very different sizes.
inline constexpr int kernel_sorts = 5;
inline Matrix random_kernel(int sort, const Matrix& X, RandomStream& random) {
  const Index n = X.rows();
  Matrix at = X;
  if (sort == 1) {
    for (Index i = 0; i + 1 < n; i += 2) at.row(i + 1) = at.row(i);
  }
  if (sort <= 1) return gaussian_kernel(at, 1.0);
  if (sort == 2) return X * X.transpose();
  Matrix G = random.normal_matrix(n, n);
  if (sort == 4) {
    for (Index i = 0; i < n; ++i) G.row(i) *= std::pow(10.0, random.uniform() * 2 - 1);
  }
  Matrix K = G * G.transpose() / static_cast<double>(n);
  return (K + K.transpose()) / 2;
}

// Fills variables from the first on until their sum is `sum`; bounds on one side of zero.
inline void fill_to(Vector& b, const Vector& lower, const Vector& upper, Index begin, Index end, double sum) {
  double left = sum;
  for (Index i = begin; i < end; ++i) {
    b[i] = std::clamp(left, lower[i], upper[i]);
    left -= b[i];
  }
}

inline Case random_case(Form form, int sort, Index n, double C, std::uint64_t seed) {
  RandomStream random(seed);
  Matrix X = random.normal_matrix(n, 2);
  Vector target(n), weight = Vector::Ones(n);
  for (Index i = 0; i < n; ++i) target[i] = std::sin(2 * X(i, 0)) + 0.3 * random.normal();
  const bool weighted = random.uniform() < 0.5;
  for (Index i = 0; i < n && weighted; ++i) weight[i] = random.uniform() < 0.1 ? 0.0 : 0.1 + 3 * random.uniform();
  weight[0] = weight[n - 1] = 1;
  Vector y(n);
  for (Index i = 0; i < n; ++i) y[i] = X(i, 0) + X(i, 1) + 0.5 * random.normal() > 0 ? 1.0 : -1.0;
  y[0] = 1;
  y[n - 1] = -1;
  if (form == Form::nu_classify) std::sort(y.data(), y.data() + n, std::greater<>());
  Case out;
  out.K = random_kernel(sort, X, random);
  BoxProblem& p = out.problem;
  const Vector bound = C * weight;
  const Vector zero = Vector::Zero(n);
  const double nu = 0.1 + 0.5 * random.uniform();
  switch (form) {
    case Form::classify:
    case Form::classify_no_bias:
      p = {.linear = -y, .lower = (y.array() > 0).select(zero, -bound), .upper = (y.array() > 0).select(bound, zero)};
      p.held.groups = form == Form::classify ? 1 : 0;
      break;
    case Form::regress:
    case Form::regress_no_bias:
      p = {.linear = -target, .lower = -bound, .upper = bound, .kink = Vector::Constant(n, 0.05 + 0.2 * random.uniform())};
      p.held.groups = form == Form::regress ? 1 : 0;
      break;
    case Form::one_class:
      p = {.linear = zero, .lower = zero, .upper = bound, .start = zero};
      fill_to(p.start, p.lower, p.upper, 0, n, nu * bound.sum());
      break;
    case Form::nu_classify: {
      const Index split = (y.array() > 0).count();
      p = {.linear = zero, .lower = (y.array() > 0).select(zero, -bound), .upper = (y.array() > 0).select(bound, zero), .start = zero};
      p.held = {2, split};
      const double sum = nu * std::min(p.upper.sum(), -p.lower.sum());
      fill_to(p.start, p.lower, p.upper, 0, split, sum);
      fill_to(p.start, p.lower, p.upper, split, n, -sum);
      p.row.resize(static_cast<std::size_t>(n));  // samples in another order than variables
      for (Index i = 0; i < n; ++i) p.row[static_cast<std::size_t>(i)] = n - 1 - i;
      break;
    }
    case Form::nu_regress: {
      p.linear.resize(2 * n);
      p.linear << -target, -target;
      p.lower.resize(2 * n);
      p.lower << zero, -bound;
      p.upper.resize(2 * n);
      p.upper << bound, zero;
      p.held = {2, n};
      p.start = Vector::Zero(2 * n);
      fill_to(p.start, p.lower, p.upper, 0, n, nu * bound.sum() / 2);
      fill_to(p.start, p.lower, p.upper, n, 2 * n, -nu * bound.sum() / 2);
      for (Index i = 0; i < 2 * n; ++i) p.row.push_back(i % n);
      break;
    }
  }
  static const char* const names[] = {"classify",  "classify_no_bias", "regress",   "regress_no_bias",
                                      "one_class", "nu_classify",      "nu_regress"};
  out.name = std::string(names[static_cast<int>(form)]) + " kernel " + std::to_string(sort) + " n " + std::to_string(n) + " C " +
             std::to_string(C) + " seed " + std::to_string(seed) + (weighted ? " weighted" : "");
  return out;
}

inline naive::DenseQp dense(const Case& c) {
  const Index n = c.size();
  naive::DenseQp out;
  out.K.resize(n, n);
  out.kink.resize(n);
  out.A = naive::LongMatrix::Zero(c.problem.held.groups, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) out.K(i, j) = c.K(c.row(i), c.row(j));
    out.kink[i] = c.kink(i);
    if (c.problem.held.groups > 0) out.A(c.group(i), i) = 1;
  }
  out.p = c.problem.linear.cast<long double>();
  out.lower = c.problem.lower.cast<long double>();
  out.upper = c.problem.upper.cast<long double>();
  out.sums = out.A * c.start().cast<long double>();
  return out;
}

// What is true of b, from K, p and b alone, in long double.
struct Truth {
  naive::LongVector gradient{};
  long double violation = 0;
  long double objective = 0;
  naive::LongVector sums{};
  double rounding = 0;  // of a slope that was summed up step by step
};

inline Truth truth(const naive::DenseQp& qp, const Vector& b, Index steps = 0) {
  constexpr long double infinity = std::numeric_limits<long double>::infinity();
  const naive::LongVector exact = b.cast<long double>();
  Truth out;
  out.gradient = qp.K * exact + qp.p;
  out.objective = qp.objective(exact);
  out.sums = qp.A * exact;
  const Index groups = qp.A.rows();
  for (Index group = 0; group < std::max<Index>(1, groups); ++group) {
    long double lowest = groups == 0 ? 0 : infinity;
    long double highest = groups == 0 ? 0 : -infinity;
    for (Index i = 0; i < b.size(); ++i) {
      if (groups > 0 && qp.A(group, i) == 0) continue;
      const long double g = out.gradient[i];
      const long double e = qp.kink[i];
      if (b[i] < qp.upper[i]) lowest = std::min(lowest, b[i] < 0 ? g - e : g + e);
      if (b[i] > qp.lower[i]) highest = std::max(highest, b[i] > 0 ? g + e : g - e);
    }
    if (groups == 0) {
      out.violation = std::max(highest, -lowest);
    } else {
      out.violation = std::max(out.violation, highest - lowest);
    }
  }
  const double size = static_cast<double>(qp.p.cwiseAbs().maxCoeff() + qp.K.cwiseAbs().maxCoeff() * exact.cwiseAbs().sum());
  out.rounding = std::numeric_limits<double>::epsilon() * size * (8 + std::sqrt(static_cast<double>(steps)));
  return out;
}

}  // namespace mercer::testing

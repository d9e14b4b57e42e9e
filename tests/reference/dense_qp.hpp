// The problem of the dual engine, min 1/2 b'K b + p'b + sum e|b| in a box with held sums, by another road: a primal-dual interior-point
// method (Mehrotra 1992) in long double. A variable with a kink inside its box is split, b = u - v; held sums are equality rows; a
// variable whose box is a point is a constant. The answer proves itself: `gap` is the distance to the lower bound
// f(b) + min over the box of the linear part, held sums priced by their multipliers. Cost: m^3 a step, some thirty steps; for small n.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

namespace mercer::naive {

using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

struct DenseQp {
  LongMatrix K;  // of the variables, positive semi-definite
  LongVector p, lower, upper, kink;
  LongMatrix A;  // one row of zeros and ones for each held sum
  LongVector sums;

  long double objective(const LongVector& b) const { return b.dot(K * b) / 2 + p.dot(b) + kink.dot(b.cwiseAbs()); }
};

struct DenseQpSolution {
  LongVector b, multiplier;
  long double objective = 0;
  long double gap = 0;
  int steps = 0;
};

// What is below every feasible point's objective, by convexity, for these multipliers.
inline long double lower_bound(const DenseQp& qp, const LongVector& b, const LongVector& multiplier) {
  const LongVector slope = qp.K * b + qp.p - qp.A.transpose() * multiplier;
  long double bound = -b.dot(qp.K * b) / 2 + multiplier.dot(qp.sums);
  for (Eigen::Index i = 0; i < b.size(); ++i) {
    const auto value = [&](long double x) { return slope[i] * x + qp.kink[i] * std::abs(x); };
    long double least = std::min(value(qp.lower[i]), value(qp.upper[i]));
    if (qp.lower[i] < 0 && qp.upper[i] > 0) least = std::min(least, 0.0L);
    bound += least;
  }
  return bound;
}

// min 1/2 x'Q x + c'x, A x = r, 0 <= x <= w.
class InteriorPoint {
 public:
  InteriorPoint(LongMatrix Q, LongVector c, LongMatrix A, LongVector r, LongVector w)
      : Q_(std::move(Q)), c_(std::move(c)), A_(std::move(A)), r_(std::move(r)), w_(std::move(w)) {
    const Eigen::Index n = c_.size();
    x = w_ / 2;
    const long double scale = std::max(1e-9L, (Q_ * x + c_).cwiseAbs().maxCoeff());
    z = y = LongVector::Constant(n, scale);
    multiplier = LongVector::Zero(A_.rows());
  }

  int run() {
    int step = 0;
    for (; step < 200; ++step) {
      const LongVector t = w_ - x;
      const long double mu = (x.dot(z) + t.dot(y)) / static_cast<long double>(2 * x.size());
      const LongVector dual = Q_ * x + c_ - A_.transpose() * multiplier - z + y;
      const LongVector primal = A_ * x - r_;
      const long double size = std::abs(x.dot(Q_ * x)) / 2 + std::abs(c_.dot(x)) + 1e-30L;
      if (mu * static_cast<long double>(x.size()) < 1e-17L * size && dual.cwiseAbs().dot(w_) < 1e-15L * size) break;
      factor(t);
      // Predictor, then a centred corrector with its second-order term.
      LongVector xz = -x.cwiseProduct(z);
      LongVector ty = -t.cwiseProduct(y);
      Direction d = solve(t, dual, primal, xz, ty);
      const long double affine = length(t, d);
      const long double mu_affine =
          ((x + affine * d.x).dot(z + affine * d.z) + (t - affine * d.x).dot(y + affine * d.y)) / static_cast<long double>(2 * x.size());
      const long double centre = mu * std::pow(mu_affine / mu, 3.0L);
      xz.array() += centre - d.x.array() * d.z.array();
      ty.array() += centre + d.x.array() * d.y.array();
      d = solve(t, dual, primal, xz, ty);
      const long double by = std::min(1.0L, 0.99L * length(t, d));
      if (!(by > 1e-14L) || !d.x.allFinite()) break;
      x += by * d.x;
      z += by * d.z;
      y += by * d.y;
      multiplier += by * d.multiplier;
    }
    return step;
  }

  LongVector x, z, y, multiplier;

 private:
  struct Direction {
    LongVector x, z, y, multiplier;
  };

  void factor(const LongVector& t) {
    LongMatrix H = Q_;
    H.diagonal() += z.cwiseQuotient(x) + y.cwiseQuotient(t);
    factor_.compute(H);
    if (A_.rows() > 0) {
      through_ = factor_.solve(A_.transpose());
      schur_.compute(A_ * through_);
    }
  }

  Direction solve(const LongVector& t, const LongVector& dual, const LongVector& primal, const LongVector& xz, const LongVector& ty) {
    Direction d;
    const LongVector right = -dual + xz.cwiseQuotient(x) - ty.cwiseQuotient(t);
    d.x = factor_.solve(right);
    d.multiplier = LongVector::Zero(A_.rows());
    if (A_.rows() > 0) {
      d.multiplier = schur_.solve(-primal - A_ * d.x);
      d.x += through_ * d.multiplier;
    }
    d.z = (xz - z.cwiseProduct(d.x)).cwiseQuotient(x);
    d.y = (ty + y.cwiseProduct(d.x)).cwiseQuotient(t);
    return d;
  }

  // How far along d before a number that must be positive is zero.
  long double length(const LongVector& t, const Direction& d) const {
    long double most = 1e3L;
    const auto limit = [&](const LongVector& at, const LongVector& by, long double sign) {
      for (Eigen::Index i = 0; i < at.size(); ++i) {
        if (sign * by[i] < 0) most = std::min(most, -at[i] / (sign * by[i]));
      }
    };
    limit(x, d.x, 1);
    limit(t, d.x, -1);
    limit(z, d.z, 1);
    limit(y, d.y, 1);
    return std::min(most, 1.0L / 0.99L);
  }

  LongMatrix Q_;
  LongVector c_;
  LongMatrix A_;
  LongVector r_, w_;
  Eigen::LDLT<LongMatrix> factor_;
  LongMatrix through_;
  Eigen::FullPivLU<LongMatrix> schur_;
};

inline DenseQpSolution solve_dense_qp(const DenseQp& qp) {
  // b = offset + P x with one column of P for each piece.
  struct Piece {
    Eigen::Index of;
    long double sign, width, cost;
  };
  const Eigen::Index n = qp.p.size();
  std::vector<Piece> pieces;
  LongVector offset = LongVector::Zero(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const long double e = qp.kink[i];
    if (e > 0 && qp.lower[i] < 0 && qp.upper[i] > 0) {
      pieces.push_back({i, 1, qp.upper[i], e});
      pieces.push_back({i, -1, -qp.lower[i], e});
      continue;
    }
    // From the bound next to zero, so that a small b in a huge box is a small x.
    const bool from_lower = std::abs(qp.lower[i]) <= std::abs(qp.upper[i]);
    offset[i] = from_lower ? qp.lower[i] : qp.upper[i];
    const long double sign = from_lower ? 1 : -1;
    if (qp.upper[i] > qp.lower[i]) pieces.push_back({i, sign, qp.upper[i] - qp.lower[i], sign * (qp.lower[i] < 0 ? -e : e)});
  }
  const auto m = static_cast<Eigen::Index>(pieces.size());
  DenseQpSolution out;
  out.b = offset;
  out.multiplier = LongVector::Zero(qp.A.rows());
  if (m > 0) {
    LongMatrix P = LongMatrix::Zero(n, m);
    LongVector cost(m), width(m);
    for (Eigen::Index k = 0; k < m; ++k) {
      const Piece& piece = pieces[static_cast<std::size_t>(k)];
      P(piece.of, k) = piece.sign;
      cost[k] = piece.cost;
      width[k] = piece.width;
    }
    InteriorPoint method(P.transpose() * qp.K * P, P.transpose() * (qp.p + qp.K * offset) + cost, qp.A * P, qp.sums - qp.A * offset, width);
    out.steps = method.run();
    out.b += P * method.x;
    out.multiplier = method.multiplier;
  }
  out.objective = qp.objective(out.b);
  out.gap = out.objective - lower_bound(qp, out.b, out.multiplier);
  return out;
}

}  // namespace mercer::naive

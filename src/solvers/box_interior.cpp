// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/box_interior.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "linalg/cholesky.hpp"

namespace mercer {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int most_steps = 100;
constexpr double enough = 1e-9;      // of the gap, relative to the objective
constexpr double rounding = 1e-12;   // of the same, in units of typical products, where the objective is 0
constexpr double almost_all = 0.99;  // of the way to the nearest bound

using linalg::cholesky_tile;

// Notation: b the variables, v their pieces, t = cap - v, z and w the multipliers of v >= 0 and t >= 0, y that of a held sum.
class Interior {
 public:
  Interior(std::span<const double* const> rows, const BoxProblem& problem, const Vector& sums)
      : rows_(rows), p_(problem), sums_(sums), n_(problem.linear.size()), base_(n_) {
    for (Index i = 0; i < n_; ++i) split(i);
    const Index m = count();
    double diagonal = 1e-300;
    for (Index i = 0; i < n_; ++i) diagonal = std::max(diagonal, rows_[static_cast<std::size_t>(i)][i]);
    dual_ = cost_.cwiseAbs().maxCoeff();
    if (!(dual_ > 0)) dual_ = diagonal * std::max(1e-300, sums_.cwiseAbs().sum());  // forms without p: sums give the size
    primal_ = dual_ / diagonal;
    v_ = bounded_.select((cap_ / 2).array(), primal_).matrix();
    z_ = w_ = Vector::Zero(m);
    y_ = Vector::Zero(p_.held.groups);
    measure();
    // The slopes as they are, shared out between the bounds; all products of about one size, or the first steps would be tiny.
    const double most = std::max(dual_, dual_residual_.cwiseAbs().maxCoeff());
    for (Index k = 0; k < m; ++k) {
      z_[k] = std::max(dual_residual_[k], 0.0) + most;
      if (bounded_[k]) w_[k] = std::max(-dual_residual_[k], 0.0) + most;
    }
    jitter_ = 1e-14 * diagonal;
  }

  bool run(const std::function<bool()>& go_on) {
    measure();
    for (int step = 0; step < most_steps; ++step) {
      if (gap_ <= enough * objective_ || gap_ <= rounding * dual_ * primal_) return true;
      if (!go_on()) return false;
      if (!factor()) return step > 5;
      const double before = mu_;
      const double off_before = off();
      const auto [v, z, w, y] = std::tuple(v_, z_, w_, y_);
      const bool went = advance();
      measure();
      if (off() > std::max({1e-3, 100 * off_before, 1e-12 * slope_size_ / dual_})) {  // a step that rounding has spoilt is taken back
        std::tie(v_, z_, w_, y_) = std::tie(v, z, w, y);
        measure();
        return step > 5;
      }
      if (!went || !(mu_ < 0.999 * before)) return step > 5;  // as far as float64 goes
    }
    return true;
  }

  // Pieces on their bounds where they belong, and what that takes from a held sum given back by those between theirs.
  Vector point() const {
    Vector v = v_;
    std::vector<char> between(static_cast<std::size_t>(count()), 1);
    for (Index k = 0; k < count(); ++k) {
      if (v_[k] / primal_ < z_[k] / dual_) {
        v[k] = 0;
        between[static_cast<std::size_t>(k)] = 0;
      } else if (bounded_[k] && t(k) / primal_ < w_[k] / dual_) {
        v[k] = cap_[k];
        between[static_cast<std::size_t>(k)] = 0;
      }
    }
    for (int group = 0; group < p_.held.groups; ++group) {
      for (const bool anyone : {false, true}) {  // those between their bounds first, then whoever has room; each by its share
        const double missing = sums_[group] - sum_of(values(v), group);
        const auto room = [&](Index k) {
          if (group_of(owner_[static_cast<std::size_t>(k)]) != group || (!anyone && between[static_cast<std::size_t>(k)] == 0)) return 0.0;
          return std::min(sign_[k] * missing > 0 ? cap_[k] - v[k] : v[k], std::abs(missing));
        };
        double all = 0;
        for (Index k = 0; k < count(); ++k) all += room(k);
        const double share = all > 0 ? std::min(1.0, std::abs(missing) / all) : 0;
        for (Index k = 0; k < count(); ++k) v[k] += std::copysign(share * room(k), sign_[k] * missing);
      }
    }
    return values(v).cwiseMax(p_.lower).cwiseMin(p_.upper);
  }

 private:
  Index count() const { return std::ssize(owner_); }
  // How far slopes and sums are from where they belong, in units of their size.
  double off() const {
    const double sums = sum_residual_.size() > 0 ? sum_residual_.cwiseAbs().maxCoeff() : 0;
    return std::max(dual_residual_.cwiseAbs().maxCoeff() / dual_, sums / std::max(primal_, v_.sum()));
  }
  double t(Index k) const { return cap_[k] - v_[k]; }
  int group_of(Index i) const { return p_.held.groups == 2 && i >= p_.held.split ? 1 : 0; }

  void add(Index i, double sign, double cap, double cost) {
    owner_.push_back(i);
    const Index k = count();
    sign_.conservativeResize(k);
    cap_.conservativeResize(k);
    cost_.conservativeResize(k);
    bounded_.conservativeResize(k);
    sign_[k - 1] = sign;
    cap_[k - 1] = cap;
    cost_[k - 1] = cost;
    bounded_[k - 1] = cap < infinity;
  }

  // Variables that cannot move have no piece.
  void split(Index i) {
    const double lower = p_.lower[i];
    const double upper = p_.upper[i];
    const double e = p_.kink.size() > 0 ? p_.kink[i] : 0;
    const double p = p_.linear[i];
    if (e > 0 && lower < 0 && upper > 0) {
      base_[i] = 0;
      add(i, 1, upper, p + e);
      add(i, -1, -lower, e - p);
      return;
    }
    const double slope = e > 0 ? (lower >= 0 ? p + e : p - e) : p;  // on one side of the kink
    const bool from_below = std::abs(lower) <= std::abs(upper);     // from the bound that is nearer to 0
    base_[i] = from_below ? lower : upper;
    if (upper > lower) add(i, from_below ? 1 : -1, upper - lower, from_below ? slope : -slope);
  }

  Vector values(const Vector& v) const {
    Vector b = base_;
    for (Index k = 0; k < count(); ++k) b[owner_[static_cast<std::size_t>(k)]] += sign_[k] * v[k];
    return b;
  }
  double sum_of(const Vector& b, int group) const {
    const Index first = p_.held.begin(group);
    return b.segment(first, p_.held.end(group, n_) - first).sum();
  }

  // Residuals and the mean product of pieces and multipliers at the point as it is.
  void measure() {
    const Vector b = values(v_);
    Kb_.resize(n_);
    parallel_for((n_ + cholesky_tile - 1) / cholesky_tile, [&](Index block) {
      for (Index i = block * cholesky_tile; i < std::min(n_, (block + 1) * cholesky_tile); ++i)
        Kb_[i] = Eigen::Map<const Vector>(rows_[static_cast<std::size_t>(i)], n_).dot(b);
    });
    dual_residual_.resize(count());
    double products = 0;
    for (Index k = 0; k < count(); ++k) {
      const Index i = owner_[static_cast<std::size_t>(k)];
      const double y = p_.held.groups > 0 ? y_[group_of(i)] : 0;
      dual_residual_[k] = sign_[k] * (Kb_[i] - y) + cost_[k] - z_[k] + w_[k];
      products += v_[k] * z_[k] + (bounded_[k] ? t(k) * w_[k] : 0);
    }
    gap_ = products;
    slope_size_ = Kb_.cwiseAbs().maxCoeff() + z_.maxCoeff() + w_.maxCoeff();
    objective_ = std::abs(b.dot(Kb_) / 2 + cost_.dot(v_));
    mu_ = products / static_cast<double>(std::max<Index>(1, count() + bounded_.count()));
    sum_residual_.resize(p_.held.groups);
    for (int group = 0; group < p_.held.groups; ++group) sum_residual_[group] = sum_of(b, group) - sums_[group];
  }

  // K + diag(E), a variable's E being one over the sum of one over its pieces' D = z/v + w/t; and its products with the held sums.
  bool factor() {
    D_.resize(count());
    E_ = Vector::Zero(n_);
    for (Index k = 0; k < count(); ++k) {
      D_[k] = z_[k] / v_[k] + (bounded_[k] ? w_[k] / t(k) : 0);
      E_[owner_[static_cast<std::size_t>(k)]] += 1 / D_[k];
    }
    E_ = E_.cwiseInverse().cwiseMin(1e300);  // infinite for what cannot move
    const Index tiles = L_.tiles();
    parallel_for(tiles * (tiles + 1) / 2, [&](Index number) {
      Index i = 0;
      while ((i + 1) * (i + 2) / 2 <= number) ++i;
      const Index j = number - i * (i + 1) / 2;
      for (Index a = 0; a < L_.tile_rows(i); ++a) {
        const Index row = i * cholesky_tile + a;
        double* to = L_.tile(i, j) + a * L_.stride();
        std::copy_n(rows_[static_cast<std::size_t>(row)] + j * cholesky_tile, L_.tile_rows(j), to);
        if (i == j) to[a] += E_[row] + jitter_;
      }
    });
    if (linalg::cholesky(L_, {}) >= 0) return false;
    sums_solved_ = Matrix::Zero(n_, p_.held.groups);
    for (Index i = 0; i < n_ && p_.held.groups > 0; ++i) sums_solved_(i, group_of(i)) = 1;
    if (p_.held.groups > 0) linalg::cholesky_solve(L_, sums_solved_);
    return true;
  }

  struct Direction {
    Vector v, z, w, y;
  };

  // Towards products v z = target - corrections.
  Direction direction(double target, const Vector& first, const Vector& second) const {
    Vector rho(count());
    Vector weighted = Vector::Zero(n_);
    for (Index k = 0; k < count(); ++k) {
      rho[k] = -dual_residual_[k] + (target - first[k]) / v_[k] - z_[k];
      if (bounded_[k]) rho[k] -= (target - second[k]) / t(k) - w_[k];
      weighted[owner_[static_cast<std::size_t>(k)]] += sign_[k] * rho[k] / D_[k];
    }
    Matrix right = (E_.array() * weighted.array()).matrix();
    linalg::cholesky_solve(L_, right);
    Vector db = right.col(0);
    Direction out;
    out.y = Vector::Zero(p_.held.groups);
    if (p_.held.groups > 0) {
      Matrix A(p_.held.groups, p_.held.groups);
      Vector missing(p_.held.groups);
      for (int g = 0; g < p_.held.groups; ++g) {
        for (int h = 0; h < p_.held.groups; ++h) A(g, h) = sum_of(sums_solved_.col(h), g);
        missing[g] = -sum_residual_[g] - sum_of(db, g);
      }
      out.y = Eigen::FullPivLU<Matrix>(A).solve(missing);
      db += sums_solved_ * out.y;
    }
    // K db less the multipliers' change, from the equation it solves: E (what pieces want together - db).
    const Vector pull = (E_.array() * (weighted - db).array()).matrix();
    out.v.resize(count());
    out.z.resize(count());
    out.w = Vector::Zero(count());
    for (Index k = 0; k < count(); ++k) {
      out.v[k] = (rho[k] - sign_[k] * pull[owner_[static_cast<std::size_t>(k)]]) / D_[k];
      out.z[k] = (target - first[k] - z_[k] * out.v[k]) / v_[k] - z_[k];
      if (bounded_[k]) out.w[k] = (target - second[k] + w_[k] * out.v[k]) / t(k) - w_[k];
    }
    return out;
  }

  // How far one may go until a number that must stay positive is 0, at most 1.
  static void shorten(double value, double change, double& length) {
    if (change < 0) length = std::min(length, -value / change);
  }
  std::pair<double, double> lengths(const Direction& d) const {
    double primal = 1 / almost_all;
    double dual = 1 / almost_all;
    for (Index k = 0; k < count(); ++k) {
      shorten(v_[k], d.v[k], primal);
      shorten(z_[k], d.z[k], dual);
      if (!bounded_[k]) continue;
      shorten(t(k), -d.v[k], primal);
      shorten(w_[k], d.w[k], dual);
    }
    return {almost_all * primal, almost_all * dual};
  }

  bool advance() {
    const Vector none = Vector::Zero(count());
    const Direction ahead = direction(0, none, none);
    const auto [primal, dual] = lengths(ahead);
    double products = 0;
    for (Index k = 0; k < count(); ++k) {
      products += (v_[k] + primal * ahead.v[k]) * (z_[k] + dual * ahead.z[k]);
      if (bounded_[k]) products += (t(k) - primal * ahead.v[k]) * (w_[k] + dual * ahead.w[k]);
    }
    const double reached = products / static_cast<double>(std::max<Index>(1, count() + bounded_.count()));
    const double target = mu_ * std::pow(std::clamp(reached / mu_, 0.0, 1.0), 3);
    const Direction d = direction(target, ahead.v.cwiseProduct(ahead.z), -ahead.v.cwiseProduct(ahead.w));
    if (!d.v.allFinite() || !d.z.allFinite() || !d.w.allFinite()) return false;
    // One length for both: the residual of a quadratic objective mixes them.
    const auto [p, q] = lengths(d);
    const double length = std::min(p, q);
    v_ += length * d.v;
    z_ += length * d.z;
    w_ += length * d.w;
    y_ += length * d.y;
    return length > 1e-10;
  }

  std::span<const double* const> rows_;
  const BoxProblem& p_;
  const Vector& sums_;
  Index n_;
  Vector base_;
  std::vector<Index> owner_{};
  Vector sign_{}, cap_{}, cost_{};
  Eigen::Array<bool, Eigen::Dynamic, 1> bounded_{};
  double primal_ = 1;  // the size of a typical piece, and of a typical multiplier
  double dual_ = 1;
  double jitter_ = 0;
  Vector v_{}, z_{}, w_{}, y_{};
  Vector Kb_{}, dual_residual_{}, sum_residual_{}, D_{}, E_{};
  double mu_ = 0;  // the mean product of pieces and multipliers
  double gap_ = 0;
  double objective_ = 0;
  double slope_size_ = 0;  // of the numbers that slopes are sums of
  linalg::SymmetricTiles<double> L_{n_};
  Matrix sums_solved_{};
};

}  // namespace

std::optional<Vector> box_interior_point(std::span<const double* const> rows, const BoxProblem& problem, const Vector& sums,
                                         const std::function<bool()>& go_on) {
  Interior method(rows, problem, sums);
  if (!method.run(go_on)) return std::nullopt;
  return method.point();
}

}  // namespace mercer

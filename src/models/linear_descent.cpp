// Notation: Q_ii = |x_i|^2 (+ 1 / (2 C_i)), G_i = y_i w.x_i - 1 (+ a_i / (2 C_i)) the gradient of -D, its projection PG_i = what of it the
// bounds let through; a_i <- clip(a_i - G_i / Q_ii, 0, U_i). SPDX-License-Identifier: BSD-3-Clause
#include "models/linear_descent.hpp"
#include "data/numbers_only.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace mercer {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Storage>
class Descent {
 public:
  Descent(const Storage& x, double bias, const LinearProblem& p, Vector a)
      : rows_{x},
        bias_(bias),
        p_(p),
        a_(std::move(a)),
        ridge_(p.squared ? Vector(0.5 * p.C.cwiseInverse()) : Vector(Vector::Zero(p.C.size()))) {
    q_ = (p.rows.squared_norms() + ridge_).cwiseMax(std::numeric_limits<double>::min());
    w_ = p.rows.combine(p.y.cwiseProduct(a_));
    order_.resize(static_cast<std::size_t>(p.y.size()));
    unshrink();
  }

  // One pass over the samples that are not left out. Returns the spread of the projected gradients it met.
  double pass(RandomStream& random) {
    shuffle(random);
    double largest = -infinity;
    double smallest = infinity;
    const double outward = largest_ > 0 ? largest_ : infinity;
    const double inward = smallest_ < 0 ? smallest_ : -infinity;
    std::size_t k = 0;
    while (k < live_) {
      if (k + 3 < live_) rows_.prefetch(order_[k + 3]);
      const Index i = order_[k];
      const double y = p_.y[i];
      const double a = a_[i];
      const double G = y * score(i) - 1 + a * ridge_[i];
      const double upper = p_.squared ? infinity : p_.C[i];
      double projected = G;
      if (a <= 0) {
        if (G > outward) {
          leave_out(k);
          continue;
        }
        projected = std::min(G, 0.0);
      } else if (a >= upper) {
        if (G < inward) {
          leave_out(k);
          continue;
        }
        projected = std::max(G, 0.0);
      }
      largest = std::max(largest, projected);
      smallest = std::min(smallest, projected);
      if (std::abs(projected) > 1e-13) {
        const double next = std::clamp(a - G / q_[i], 0.0, upper);
        const double step = (next - a) * y;
        a_[i] = next;
        rows_.add(i, step, w_.data());
        if (bias_ != 0) w_[w_.size() - 1] += step * bias_;
      }
      ++k;
    }
    largest_ = largest;
    smallest_ = smallest;
    return live_ == 0 ? 0 : std::max(largest, 0.0) - std::min(smallest, 0.0);
  }

  bool all_live() const { return live_ == order_.size(); }
  void unshrink() {
    std::iota(order_.begin(), order_.end(), 0);
    live_ = order_.size();
    largest_ = infinity;
    smallest_ = -infinity;
  }

  // Sums of many steps drift; from here on w is exact for a again.
  void refresh() { w_ = p_.rows.combine(p_.y.cwiseProduct(a_)); }
  const Vector& w() const { return w_; }
  const Vector& a() const { return a_; }

 private:
  double score(Index i) const {
    const double z = rows_.dot(i, w_.data());
    return bias_ != 0 ? z + bias_ * w_[w_.size() - 1] : z;
  }

  void leave_out(std::size_t k) { std::swap(order_[k], order_[--live_]); }

  void shuffle(RandomStream& random) {  // 32 bits a draw: a bias of n / 2^32 in an order is no matter
    std::uint64_t bits = 0;
    for (std::size_t k = live_; k > 1; --k) {
      bits = k % 2 == live_ % 2 ? random() : bits >> 32U;
      std::swap(order_[k - 1], order_[((bits & 0xffffffffU) * k) >> 32U]);
    }
  }

  RowLoops<Storage> rows_;
  double bias_;
  const LinearProblem& p_;
  Vector a_;
  Vector ridge_;
  Vector q_{};
  Vector w_{};
  std::vector<std::int32_t> order_{};
  std::size_t live_ = 0;
  double largest_ = infinity;
  double smallest_ = -infinity;
};

template <class Storage>
LinearSolution descend(const Storage& x, double bias, const LinearProblem& p, const LinearStop& stop, Vector a, RandomStream& random,
                       Stage& stage) {
  Descent<Storage> descent(x, bias, p, std::move(a));
  LinearSolution best;
  best.gap = infinity;
  double close = 0.5;  // spread at which a look at the gap is worth its passes
  int fruitless = 0;   // looks in a row that saw no progress at a spread that is all rounding
  const auto look = [&] {
    descent.refresh();
    double objective = 0;
    const double gap = duality_gap(p, descent.w(), descent.a(), objective);
    fruitless = gap > 0.99 * best.gap && close < 1e-12 ? fruitless + 1 : 0;
    if (gap < best.gap) best = {descent.w(), descent.a(), objective, gap, 0, ""};
    // The gap falls about as the square of the spread; not all the way at once.
    close *= std::clamp(std::sqrt(stop.tolerance * objective / std::max(gap, 1e-300)), 0.1, 0.7);
    return gap <= stop.tolerance * objective || fruitless > 3;
  };
  Index passes = 0;
  bool done = false;
  while (!done && passes < stop.max_iterations) {
    stage.advance(1);
    const double spread = descent.pass(random);
    ++passes;
    if (spread > close && passes < stop.max_iterations) continue;
    done = look();
    descent.unshrink();
  }
  best.iterations = passes;
  best.status = best.gap <= stop.tolerance * best.objective ? "converged" : passes >= stop.max_iterations ? "iteration limit" : "rounding";
  return best;
}

}  // namespace

LinearSolution linear_descent(const LinearProblem& problem, const Samples& X, double bias, const LinearStop& stop, LinearSolution start,
                              RandomStream random, Stage& stage) {
  require_numbers(X, "a linear machine");
  Vector a = start.a.size() > 0 ? std::move(start.a) : Vector(Vector::Zero(problem.y.size()));
  if (!problem.squared) a = a.cwiseMin(problem.C);
  return std::visit([&](const auto& x) { return descend(x, bias, problem, stop, std::move(a), random, stage); }, X.storage());
}

}  // namespace mercer

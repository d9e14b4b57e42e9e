// Notation: every sample has phi(m) = max over 0 <= a <= u of a m - (a - c)^2 / (2 s), so that a = clip(c + s m, 0, u) is the derivative of
// phi and s its second derivative where the clip does nothing. The squared hinge of weight C is c = 0, s = 2 C, u = infinity; one proximal
// step on the dual of the hinge is c = the last a, u = C. F(w) = |w|^2 / 2 + sum phi(m_i), g = its gradient = w - X'(y a). The dual value
// at a falls short of F by exactly |g|^2 / 2. SPDX-License-Identifier: BSD-3-Clause
#include "models/linear_newton.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "linalg/lapack.hpp"

namespace mercer {

namespace {

struct Pieces {
  Vector c;
  Vector s;
  Vector u;
};

struct Slope {
  double first = 0;
  double second = 0;
  Slope& operator+=(const Slope& o) {
    first += o.first;
    second += o.second;
    return *this;
  }
};

class Minimiser {
 public:
  Minimiser(const LinearProblem& problem, Vector w)
      : p_(problem), w_(std::move(w)), z_(p_.rows.scores(w_)), factored_(p_.rows.small_normal()) {}

  enum class End : std::uint8_t { reached, limit, rounding };

  // Steps until |g|^2 / 2 <= target(F).
  template <class Target>
  End run(const Pieces& f, const Target& target, Index max_steps, Stage& stage) {
    if (!same_curvature(f)) held_.clear();
    f_ = &f;
    evaluate();
    for (Index step = 0;; ++step) {
      const double goal = target(value_);
      if (gap() <= goal) {
        if (step == 0 || fresh_) return End::reached;
        refresh();  // sums of steps have drifted by rounding; the answer must not rest on them
        continue;
      }
      if (step >= max_steps) return End::limit;
      stage.advance(1);
      ++steps_;
      const Vector s = factored_ ? factored_direction() : conjugate_direction(std::sqrt(2 * goal));
      const double slope = g_.dot(s);
      if (!(slope < -4 * std::numeric_limits<double>::epsilon() * value_)) {
        refresh();
        return gap() <= target(value_) ? End::reached : End::rounding;
      }
      const Vector zs = p_.rows.scores(s);
      const double t = line_search(s, zs, slope);
      w_ += t * s;
      z_ += t * zs;
      fresh_ = false;
      evaluate();
    }
  }

  double value() const { return value_; }
  double gap() const { return g_.squaredNorm() / 2; }
  const Vector& w() const { return w_; }
  const Vector& a() const { return a_; }
  const Vector& scores() const { return z_; }
  Vector combination() const { return w_ - g_; }  // X'(y a)
  Index steps() const { return steps_; }

 private:
  void refresh() {
    z_ = p_.rows.scores(w_);
    fresh_ = true;
    evaluate();
  }

  void evaluate() {
    const Index n = z_.size();
    a_.resize(n);
    Vector signed_a(n);
    value_ = 0.5 * w_.squaredNorm() + sum_pieces<double>(n, [&](Index begin, Index end) {
               double sum = 0;
               for (Index i = begin; i < end; ++i) {
                 const double m = 1 - p_.y[i] * z_[i];
                 const double a = std::clamp(f_->c[i] + f_->s[i] * m, 0.0, f_->u[i]);
                 a_[i] = a;
                 signed_a[i] = p_.y[i] * a;
                 sum += a * m - (a - f_->c[i]) * (a - f_->c[i]) / (2 * f_->s[i]);
               }
               return sum;
             });
    active_.clear();
    for (Index i = 0; i < n; ++i) {
      if (a_[i] > 0 && a_[i] < f_->u[i]) active_.push_back(static_cast<std::int32_t>(i));
    }
    g_ = w_ - p_.rows.combine(signed_a);
  }

  // The zero of the slope along s, which rises and is piecewise linear.
  double line_search(const Vector& s, const Vector& zs, double slope0) const {
    const double along = w_.dot(s);
    const double curve = s.squaredNorm();
    const auto slope_at = [&](double t) {
      Slope d = sum_pieces<Slope>(z_.size(), [&](Index begin, Index end) {
        Slope sum;
        for (Index i = begin; i < end; ++i) {
          const double a = f_->c[i] + f_->s[i] * (1 - p_.y[i] * (z_[i] + t * zs[i]));
          sum.first -= std::clamp(a, 0.0, f_->u[i]) * p_.y[i] * zs[i];
          sum.second += a > 0 && a < f_->u[i] ? f_->s[i] * zs[i] * zs[i] : 0.0;
        }
        return sum;
      });
      d.first += along + t * curve;
      d.second += curve;
      return d;
    };
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
    double t = 1;
    for (int k = 0; k < 40; ++k) {
      const Slope d = slope_at(t);
      if (std::abs(d.first) <= 1e-3 * std::abs(slope0)) break;
      (d.first < 0 ? low : high) = t;
      t -= d.first / d.second;
      if (!(t > low && t < high)) t = std::isfinite(high) ? (low + high) / 2 : 2 * low;
    }
    return t;
  }

  bool same_curvature(const Pieces& f) const { return h_.size() == f.s.size() && (h_.array() == f.s.array()).all(); }

  // I + X_A' S X_A from the one before: samples that entered are added, those that left are taken out.
  void update_matrix() {
    std::vector<std::int32_t> in;
    std::vector<std::int32_t> out;
    std::set_difference(active_.begin(), active_.end(), held_.begin(), held_.end(), std::back_inserter(in));
    std::set_difference(held_.begin(), held_.end(), active_.begin(), active_.end(), std::back_inserter(out));
    if (held_.empty() || in.size() + out.size() >= active_.size()) {
      H_ = Matrix::Identity(p_.rows.cols(), p_.rows.cols());
      h_ = f_->s;
      in = active_;
      out.clear();
    }
    if (!in.empty()) p_.rows.add_normal(in, h_, H_);
    if (!out.empty()) p_.rows.add_normal(out, -h_, H_);
    held_ = active_;
  }

  Vector factored_direction() {
    update_matrix();
    Matrix L = H_;
    if (linalg::potrf_lower(L.rows(), L.data(), L.cols()) >= 0) {  // rounding of the differences: make it anew, with more of the identity
      held_.clear();
      update_matrix();
      L = H_;
      L.diagonal().array() += 1e-10 * H_.diagonal().maxCoeff();
      if (linalg::potrf_lower(L.rows(), L.data(), L.cols()) >= 0) return -g_;
    }
    Vector s = -g_;
    L.triangularView<Eigen::Lower>().solveInPlace(s);
    L.triangularView<Eigen::Lower>().transpose().solveInPlace(s);
    return s;
  }

  // Conjugate gradients on (I + X_A' S X_A) s = -g until the residual is a tenth of g, or what the goal allows.
  Vector conjugate_direction(double goal) const {
    const Vector scale = (p_.rows.normal_diagonal(active_, f_->s).array() + 1).inverse();
    const double enough = std::max(0.5 * goal, 0.1 * g_.norm());
    Vector s = Vector::Zero(g_.size());
    Vector r = -g_;
    Vector d = scale.cwiseProduct(r);
    double rho = r.dot(d);
    Vector Hd;
    for (Index k = 0; k < 500 && r.norm() > enough; ++k) {
      p_.rows.apply_normal(active_, f_->s, d, Hd);
      Hd += d;
      const double step = rho / d.dot(Hd);
      s += step * d;
      r -= step * Hd;
      const Vector q = scale.cwiseProduct(r);
      const double next = r.dot(q);
      d = q + next / rho * d;
      rho = next;
    }
    return s;
  }

  const LinearProblem& p_;
  const Pieces* f_ = nullptr;
  Vector w_;
  Vector z_;
  Vector a_{};
  Vector g_{};
  double value_ = 0;
  bool factored_;
  bool fresh_ = true;
  Index steps_ = 0;
  std::vector<std::int32_t> active_{};
  std::vector<std::int32_t> held_{};  // the samples in H_
  Vector h_{};                        // their curvature there
  Matrix H_{};
};

std::string words(Minimiser::End end) {
  return end == Minimiser::End::reached ? "converged" : end == Minimiser::End::limit ? "iteration limit" : "rounding";
}

LinearSolution smooth(const LinearProblem& problem, const LinearStop& stop, LinearSolution start, Stage& stage) {
  const Pieces f{Vector::Zero(problem.C.size()), 2 * problem.C,
                 Vector::Constant(problem.C.size(), std::numeric_limits<double>::infinity())};
  Minimiser m(problem, std::move(start.w));
  const auto end = m.run(
      f, [&](double value) { return stop.tolerance * value; }, stop.max_iterations, stage);
  return {m.w(), m.a(), m.value(), m.gap(), m.steps(), words(end)};
}

LinearSolution proximal(const LinearProblem& problem, const LinearStop& stop, LinearSolution start, Stage& stage) {
  Minimiser m(problem, std::move(start.w));
  Vector a = start.a.size() > 0 ? Vector(start.a.cwiseMin(problem.C)) : Vector(Vector::Zero(problem.C.size()));
  LinearSolution best;
  best.gap = std::numeric_limits<double>::infinity();
  double gap = problem.C.sum();
  double last_gap = std::numeric_limits<double>::infinity();
  Minimiser::End end = Minimiser::End::reached;
  // A step of s on the dual has curvature s |x|^2 beside the 1 of |w|^2; the first must not drown that 1 in rounding.
  const double largest = problem.rows.squared_norms().maxCoeff() * problem.C.maxCoeff();
  for (double scale = std::min(4.0, 1e8 / std::max(largest, 1e-300)); end != Minimiser::End::limit && m.steps() < stop.max_iterations;
       scale *= gap > 0.2 * last_gap ? 4 : 1) {
    const Pieces f{a, scale * problem.C, problem.C};
    const double goal = std::max(0.01 * std::min(gap, last_gap), 0.0);
    const auto target = [&](double value) { return std::max(0.1 * stop.tolerance * std::abs(value), goal); };
    end = m.run(f, target, stop.max_iterations - m.steps(), stage);
    a = m.a();
    const double objective = 0.5 * m.w().squaredNorm() + (problem.C.array() * (1 - problem.y.array() * m.scores().array()).max(0.0)).sum();
    last_gap = gap;
    gap = objective - (a.sum() - 0.5 * m.combination().squaredNorm());
    if (gap < best.gap) best = {m.w(), a, objective, gap, 0, ""};
    if (gap <= stop.tolerance * objective) break;
    if (scale > 1e9) {
      end = Minimiser::End::rounding;
      break;
    }
  }
  best.iterations = m.steps();
  best.status = best.gap <= stop.tolerance * best.objective ? "converged"
                : end == Minimiser::End::rounding           ? "rounding"
                                                            : "iteration limit";
  return best;
}

}  // namespace

double duality_gap(const LinearProblem& problem, const Vector& w, const Vector& a, double& objective) {
  const Vector loss = (1 - problem.y.array() * problem.rows.scores(w).array()).max(0.0);
  const Vector v = problem.rows.combine(problem.y.cwiseProduct(a));
  double dual = a.sum() - 0.5 * v.squaredNorm();
  if (problem.squared) {
    objective = 0.5 * w.squaredNorm() + (problem.C.array() * loss.array().square()).sum();
    dual -= (a.array().square() / (4 * problem.C.array())).sum();
  } else {
    objective = 0.5 * w.squaredNorm() + problem.C.dot(loss);
  }
  return objective - dual;
}

LinearSolution linear_newton(const LinearProblem& problem, const LinearStop& stop, LinearSolution start, Stage& stage) {
  if (start.w.size() == 0) start.w = Vector::Zero(problem.rows.cols());
  return problem.squared ? smooth(problem, stop, std::move(start), stage) : proximal(problem, stop, std::move(start), stage);
}

}  // namespace mercer

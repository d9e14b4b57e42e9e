// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/convex_newton.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "mercer/error.hpp"

namespace mercer::solvers {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

Matrix plus_intercept(const Matrix& scores, const Vector& b) { return scores.rowwise() + b.transpose(); }

[[noreturn]] void no_best_intercept() {
  throw InvalidArgument(
      "the loss has no finite best intercept: it falls for ever as the constant grows (all targets on one side: one class, or all counts "
      "zero); fit without an intercept, or give targets of both sides");
}

struct Bracket {
  double low;
  double high;
  double g_low;
  double g_high;

  bool tight() const { return high - low <= 2 * eps * std::max(std::abs(low), std::abs(high)); }
  double secant_or_middle(bool middle) const {
    const double secant = low + (high - low) * (-g_low / (g_high - g_low));
    return !middle && std::isfinite(secant) && secant > low && secant < high ? secant : 0.5 * (low + high);
  }
  // Takes in a point inside; whether the bracket failed to halve, so that the next point should be its middle.
  bool narrow(double at, double g) {
    const double width = high - low;
    (g > 0 ? high : low) = at;
    (g > 0 ? g_high : g_low) = g;
    return high - low > 0.5 * width;
  }
};

// Targets that can be squared have their best intercept nearer than this, whatever their unit: some 260 steps of growing length.
constexpr double farthest = 1e155;

// argmin over b of L(scores + b), k = 1: a root of the derivative, which is monotone in b.
double best_single_intercept(const ScoreLoss& loss, const Matrix& scores, double b) {
  const auto slope = [&](double at) { return loss.at((scores.array() + at).matrix()).gradient; };
  const auto small = [](const Matrix& g) { return std::abs(g.sum()) <= 4 * eps * g.cwiseAbs().sum(); };
  Matrix g = slope(b);
  if (small(g)) return b;
  const double start = g.sum();
  const double direction = start > 0 ? -1 : 1;
  double near = b;
  double g_near = start;
  double step = 1e-3 * (1 + std::abs(b));
  while (true) {
    const double far = near + direction * step;
    if (step > farthest) no_best_intercept();
    g = slope(far);
    if (small(g)) return far;
    if (std::isnan(g.sum()) || g.sum() * direction > 0) {
      Bracket in = direction > 0 ? Bracket{near, far, g_near, g.sum()} : Bracket{far, near, g.sum(), g_near};
      bool middle = false;
      for (int i = 0; i < 200 && !in.tight(); ++i) {
        const double at = in.secant_or_middle(middle);
        if (at <= in.low || at >= in.high) break;
        g = slope(at);
        if (small(g)) return at;
        middle = in.narrow(at, g.sum());
      }
      return -in.g_low <= in.g_high ? in.low : in.high;
    }
    near = far;
    g_near = g.sum();
    step *= 4;
  }
}

// k > 1: damped Newton on k numbers, of which only differences count.
Vector best_intercepts(ScoreLoss& loss, const Matrix& scores, Vector b) {
  for (int i = 0; i < 100; ++i) {
    const Matrix z = plus_intercept(scores, b);
    const ScoreLoss::Slope here = loss.at(z);
    const Vector g = here.gradient.colwise().sum();
    if (g.cwiseAbs().maxCoeff() <= 16 * eps * here.gradient.cwiseAbs().sum()) break;
    loss.curve(z);
    Matrix H = loss.intercept_curvature();
    H.array() += H.trace() / static_cast<double>(H.size());  // along (1, ..., 1), where it vanishes
    const Vector step = -H.ldlt().solve(g);
    double t = 1;
    const double descent = g.dot(step);
    if (!(descent < 0)) break;
    while (t > 1e-10 &&
           !(loss.at(plus_intercept(scores, b + t * step)).value <= here.value + 1e-4 * t * descent + 4 * eps * std::abs(here.value)))
      t /= 2;
    if (t <= 1e-10) break;
    b += t * step;
    if (b.cwiseAbs().maxCoeff() > 1e8) no_best_intercept();
  }
  return b;
}

void set_intercept(ScoreLoss& loss, NewtonState& s, const NewtonOptions& o) {
  if (!o.intercept) return;
  if (s.intercept.size() == 1) {
    s.intercept[0] = best_single_intercept(loss, s.f.scores, s.intercept[0]);
  } else {
    s.intercept = best_intercepts(loss, s.f.scores, s.intercept);
  }
}

Functions difference(const Functions& a, const Functions& b) { return {a.coefficients - b.coefficients, a.scores - b.scores}; }

// Everything about the point (f, b): intercept, gradient, dual functions, objective and gap.
void look_around(const FunctionSpace& space, ScoreLoss& loss, NewtonState& s, const NewtonOptions& o) {
  set_intercept(loss, s, o);
  ScoreLoss::Slope here = loss.at(plus_intercept(s.f.scores, s.intercept));
  s.loss = here.value;
  s.gradient = std::move(here.gradient);
  s.objective = s.loss + o.ridge / 2 * space.inner(s.f, s.f);
  s.dual.coefficients = space.adjoint(s.gradient) / -o.ridge;
  s.dual.scores = space.scores(s.dual.coefficients);
  const Functions d = difference(s.dual, s.f);
  const double squared = std::max(0.0, space.inner(d, d));
  s.gap = o.ridge / 2 * squared;
  s.gradient_norm = o.ridge * std::sqrt(squared);
}

// H~ V = H V - H 1 (1'H1)^+ 1'H V, and the intercepts that go with it.
class Reduced {
 public:
  Reduced(const ScoreLoss& loss, Index n, Index k, bool intercept) : loss_(loss), intercept_(intercept) {
    if (!intercept) return;
    ones_ = Matrix::Ones(n, k);
    Matrix C = loss.intercept_curvature();
    // Outputs of which only differences count: the curvature vanishes along (1, ..., 1), and so do the sums that it is applied to.
    if (k > 1) C.array() += C.trace() / static_cast<double>(k * k);
    middle_ = C.trace() > 0 ? Matrix(C.inverse()) : Matrix(Matrix::Zero(k, k));
  }
  Vector intercepts(const Matrix& HV) const { return intercept_ ? Vector(-(middle_ * HV.colwise().sum().transpose())) : Vector(); }
  Matrix times(const Matrix& V) const {
    Matrix HV = loss_.times(V);
    if (intercept_) HV += loss_.times(ones_ * intercepts(HV).asDiagonal());
    return HV;
  }

 private:
  const ScoreLoss& loss_;
  bool intercept_;
  Matrix middle_;
  Matrix ones_;
};

// (ridge + A* H~ A) v = r by preconditioned conjugate gradients in the space's own inner product.
Functions newton_direction(const FunctionSpace& space, const Reduced& H, const SpaceSolver& solver, Functions r, double ridge,
                           Index& steps) {
  const auto preconditioned = [&](const Functions& right) {
    Functions z{solver.solve(right), {}};
    z.scores = space.scores(z.coefficients);
    return z;
  };
  const Index k = r.coefficients.cols();
  Functions z = preconditioned(r);
  ++steps;
  if (k == 1) return z;  // the preconditioner is the operator
  Functions v{Matrix::Zero(r.coefficients.rows(), k), Matrix::Zero(r.scores.rows(), k)};
  Functions p = z;
  double rz = space.inner(r, z);
  const double target = 1e-3 * std::sqrt(std::max(rz, 0.0));  // in the preconditioner's norm: Newton's own error is of that order
  for (int i = 0; i < 60 && rz > 0; ++i) {
    const Matrix HAp = H.times(p.scores);
    Functions Tp{ridge * p.coefficients + space.adjoint(HAp), {}};
    Tp.scores = space.scores(Tp.coefficients);
    const double curvature = space.inner(p, Tp);
    if (!(curvature > 0)) break;
    const double step = rz / curvature;
    v.coefficients += step * p.coefficients;
    v.scores += step * p.scores;
    r.coefficients -= step * Tp.coefficients;
    r.scores -= step * Tp.scores;
    z = preconditioned(r);
    ++steps;
    const double next = space.inner(r, z);
    if (std::sqrt(std::max(next, 0.0)) <= target) break;
    const double ratio = next / rz;
    rz = next;
    p.coefficients = z.coefficients + ratio * p.coefficients;
    p.scores = z.scores + ratio * p.scores;
  }
  return v;
}

// The objective along (f, b) + t (v, db).
struct Line {
  const ScoreLoss& loss;
  Matrix z;
  Matrix dz;
  double ridge;
  double ff;
  double fv;
  double vv;
  double value(double t, double loss_value) const { return loss_value + ridge / 2 * (ff + 2 * t * fv + t * t * vv); }
  // derivative and value at t; an infinite loss is uphill
  std::pair<double, double> at(double t) const {
    const ScoreLoss::Slope s = loss.at(z + t * dz);
    if (!std::isfinite(s.value) || !s.gradient.allFinite())
      return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    return {s.gradient.cwiseProduct(dz).sum() + ridge * (fv + t * vv), value(t, s.value)};
  }
};

// A step at which the derivative has all but vanished; 0 when there is no descent to be had.
double step_length(const Line& line) {
  const auto [slope0, value0] = line.at(0);
  if (!(slope0 < 0)) return 0;
  const double enough = 0.05 * -slope0;
  double low = 0;
  double g_low = slope0;
  double high = 1;
  auto [g_high, value] = line.at(high);
  for (int i = 0; i < 20 && g_high < -0.5 * -slope0; ++i) {  // far too short: losses of growing curvature ask for longer steps
    low = high;
    g_low = g_high;
    high *= 2;
    std::tie(g_high, value) = line.at(high);
  }
  if (g_high < 0 || (g_high <= enough && value <= value0 + 16 * eps * std::abs(value0))) return high;
  Bracket in{low, high, g_low, g_high};
  bool middle = false;
  for (int i = 0; i < 60; ++i) {
    const double t = in.secant_or_middle(middle);
    const auto [g, here] = line.at(t);
    if (std::abs(g) <= enough && (g < 0 || here <= value0)) return t;  // a slope seen beyond the minimum says nothing of the height
    middle = in.narrow(t, g);
  }
  return in.low;
}

bool good_enough(const NewtonState& s, const NewtonOptions& o) {
  return s.gap <= std::max(o.gap_floor, o.tolerance * std::abs(s.objective));
}

}  // namespace

NewtonState newton_start(const FunctionSpace& space, const ScoreLoss& loss, Index outputs, const NewtonOptions& options) {
  NewtonState s;
  s.f = {Matrix::Zero(space.dimension(), outputs), Matrix::Zero(space.samples(), outputs)};
  s.intercept = Vector::Zero(outputs);
  if (options.intercept && outputs == 1) s.intercept[0] = best_single_intercept(loss, s.f.scores, 0);
  return s;
}

NewtonState newton_minimize(const FunctionSpace& space, ScoreLoss& loss, NewtonState s, const NewtonOptions& o, Stage& stage) {
  s.stalled = false;
  look_around(space, loss, s, o);
  double best = s.objective;
  int without_progress = 0;
  for (Index i = 0; i < o.max_iterations && (i < o.min_iterations || !good_enough(s, o)); ++i) {
    stage.advance(1);
    loss.curve(plus_intercept(s.f.scores, s.intercept));
    const Reduced H(loss, space.samples(), s.intercept.size(), o.intercept);
    const auto solver = space.factor(loss.per_sample(), o.ridge, o.intercept);
    Functions r = difference(s.dual, s.f);
    r.coefficients *= o.ridge;
    r.scores *= o.ridge;
    const Functions v = newton_direction(space, H, *solver, std::move(r), o.ridge, s.inner_iterations);
    Line line{
        loss, plus_intercept(s.f.scores, s.intercept), v.scores, o.ridge, space.inner(s.f, s.f), space.inner(s.f, v), space.inner(v, v)};
    const Vector db = H.intercepts(loss.times(v.scores));
    if (o.intercept) line.dz.rowwise() += db.transpose();
    const double t = step_length(line);
    ++s.iterations;
    if (t == 0) {
      s.stalled = true;
      break;
    }
    s.f.coefficients += t * v.coefficients;
    s.f.scores += t * v.scores;
    if (o.intercept) s.intercept += t * db;
    look_around(space, loss, s, o);
    without_progress = s.objective < best - 4 * eps * std::abs(best) ? 0 : without_progress + 1;
    best = std::min(best, s.objective);
    if (without_progress >= 3) {
      s.stalled = !good_enough(s, o);
      break;
    }
  }
  return s;
}

}  // namespace mercer::solvers

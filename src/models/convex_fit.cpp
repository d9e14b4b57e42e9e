// SPDX-License-Identifier: BSD-3-Clause
#include "models/convex_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "models/score_losses.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using solvers::Functions;
using solvers::FunctionSpace;
using solvers::NewtonOptions;
using solvers::NewtonState;

NewtonOptions newton_options(const ColumnOptions& o) {
  return {.ridge = 2 * o.lambda,
          .intercept = o.intercept,
          .tolerance = o.tolerance,
          .gap_floor = 0,
          .min_iterations = 0,
          .max_iterations = o.max_iterations};
}

// The state with its scores made anew from the coefficients: what is reported then has no rounding of the way behind it.
ColumnFit report(const FunctionSpace& space, solvers::ScoreLoss& loss, NewtonState s, const ColumnOptions& o, Stage& stage) {
  s.f.scores = space.scores(s.f.coefficients);
  NewtonOptions look = newton_options(o);
  look.max_iterations = 0;
  const bool stalled = s.stalled;
  s = newton_minimize(space, loss, std::move(s), look, stage);
  // The dual functions are as good to the tolerance, mostly; their coefficients are slopes of the loss, without the null vectors of K that
  // a way there may leave, and exactly zero where the loss is flat.
  NewtonState other = s;
  std::swap(other.f, other.dual);
  other = newton_minimize(space, loss, std::move(other), look, stage);
  const double bound = s.objective - s.gap;
  if (other.objective - bound <= o.tolerance * std::abs(other.objective)) {
    other.gap = std::min(other.gap, std::max(0.0, other.objective - bound));
    s = std::move(other);
  }
  ColumnFit fit;
  fit.lambda = o.lambda;
  fit.loss = s.loss;
  fit.objective = s.objective;
  fit.squared_norm = (s.objective - s.loss) / o.lambda;
  fit.gap = s.gap;
  fit.gradient_norm = s.gradient_norm;
  fit.iterations = s.iterations;
  fit.converged = s.gap <= o.tolerance * std::abs(s.objective) || s.gap == 0;
  fit.stalled = stalled && !fit.converged;
  fit.intercept = std::move(s.intercept);
  fit.coefficients = std::move(s.f.coefficients);
  return fit;
}

double weighted_median(const Vector& y, const Vector& p) {
  std::vector<Index> order(static_cast<std::size_t>(y.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return y[i] < y[j]; });
  double below = 0;
  for (const Index i : order) {
    below += p[i];
    if (below >= 0.5) return y[i];
  }
  return y[order.back()];
}

// A length that scores move over: the spread of the targets about their median.
double score_scale(const Loss& loss, const Vector& y, const Vector& p) {
  if (loss.targets() != Loss::Targets::real) return 1;
  const double spread = p.dot((y.array() - weighted_median(y, p)).abs().matrix());
  return spread > 0 ? spread : 1;
}

// Losses of y - z alone: with an intercept, targets and scores may be moved together.
bool of_residual(const Loss& loss) { return loss.targets() == Loss::Targets::real && loss.kind() != Loss::Kind::custom; }

struct Certified {
  double objective = 0;
  double gap = 0;
};

// P(f, b) - D(slopes at z): the gap of the problem without smoothing.
Certified certify(const FunctionSpace& space, const SmoothedLoss& loss, const Functions& f, const Matrix& z, const NewtonState& s,
                  double lambda) {
  const double primal = loss.loss((f.scores.array() + s.intercept[0]).matrix()) + lambda * space.inner(f, f);
  const double dual = -loss.conjugate(z) - lambda * space.inner(s.dual, s.dual);
  return {primal, std::max(0.0, primal - dual)};
}

// Proximal point steps on the dual; the inner problems are solved only as well as the outer gap deserves.
ColumnFit fit_with_corners(const FunctionSpace& space, const Loss& base, const Vector& y, const Vector& p, const ColumnOptions& o,
                           Stage& stage) {
  const double stiffness = p.dot(space.diagonal());
  const double scale = score_scale(base, y, p);
  // The Newton systems have eigenvalues up to this over mu: smaller mu than that allows would be lost in rounding, and is not needed
  // either.
  const double least_mu = std::max(1e-10 * stiffness / (2 * o.lambda), 1e-7 * scale);
  // So much smoothing at first that hardly a sample is beyond its corner: those have no curvature, and Newton would overshoot.
  const double level = base.kind() == Loss::Kind::quantile ? std::min(base.parameter(), 1 - base.parameter()) : 1;  // least slope
  SmoothedLoss loss(base, y, p, std::max(4 * scale / level, least_mu));
  NewtonOptions inner = newton_options(o);
  NewtonState s = newton_start(space, loss, 1, inner);
  ColumnFit fit;
  fit.lambda = o.lambda;
  double best_gap = std::numeric_limits<double>::infinity();
  int without_progress = 0;
  inner.tolerance = 1e-3;
  inner.min_iterations = 1;  // a moved centre asks for a step, however small the gap of the inner problem
  while (true) {
    inner.max_iterations = o.max_iterations - s.iterations;
    s = newton_minimize(space, loss, std::move(s), inner, stage);
    const Matrix z = (s.f.scores.array() + s.intercept[0]).matrix();  // where the slopes of the dual point were taken
    s.f.scores = space.scores(s.f.coefficients);
    // Two primal points share the dual one: where Newton stands, and the dual functions, whose coefficients are exactly zero off the
    // margin.
    const Certified here = certify(space, loss, s.f, z, s, o.lambda);
    const Certified there = certify(space, loss, s.dual, z, s, o.lambda);
    const bool sparse = there.gap <= std::max(here.gap, o.tolerance * there.objective);
    const Certified& taken = sparse ? there : here;
    without_progress = taken.gap < 0.9 * best_gap ? 0 : without_progress + 1;
    if (taken.gap < best_gap || fit.coefficients.size() == 0) {
      best_gap = taken.gap;
      const Functions& f = sparse ? s.dual : s.f;
      fit.coefficients = f.coefficients;
      fit.intercept = s.intercept;
      fit.objective = taken.objective;
      fit.gap = taken.gap;
      fit.squared_norm = std::max(0.0, space.inner(f, f));
      fit.loss = fit.objective - o.lambda * fit.squared_norm;
      fit.gradient_norm = s.gradient_norm;
    }
    fit.iterations = s.iterations;
    fit.converged = fit.gap <= o.tolerance * fit.objective;
    fit.stalled = !fit.converged && without_progress >= 6;
    if (fit.converged || fit.stalled || s.iterations >= o.max_iterations) return fit;
    loss.move_centre(z);
    loss.set_mu(std::max(0.2 * loss.mu(), least_mu));
    inner.tolerance = std::clamp(0.02 * here.gap / std::max(here.objective, std::numeric_limits<double>::min()), 0.1 * o.tolerance, 1e-3);
  }
}

ColumnFit fit_moved(const FunctionSpace& space, const Loss& loss, const Vector& y, const Vector& p, const ColumnOptions& o, Stage& stage) {
  if (!loss.smooth()) return fit_with_corners(space, loss, y, p, o, stage);
  SampleLoss sum(loss, y, p);
  const NewtonOptions newton = newton_options(o);
  return report(space, sum, newton_minimize(space, sum, newton_start(space, sum, 1, newton), newton, stage), o, stage);
}

}  // namespace

// Far from zero the loss would be a difference of large numbers, so targets are taken from their median where an intercept can put it back.
ColumnFit fit_column(const FunctionSpace& space, const Loss& loss, const Vector& y, const Vector& p, const ColumnOptions& o, Stage& stage) {
  if (!o.intercept || !of_residual(loss)) return fit_moved(space, loss, y, p, o, stage);
  const double middle = weighted_median(y, p);
  ColumnFit fit = fit_moved(space, loss, (y.array() - middle).matrix(), p, o, stage);
  fit.intercept.array() += middle;
  return fit;
}

ColumnFit fit_softmax(const FunctionSpace& space, const std::vector<Index>& labels, Index classes, const Vector& p, const ColumnOptions& o,
                      Stage& stage) {
  SoftmaxLoss loss(labels, p);
  const NewtonOptions newton = newton_options(o);
  return report(space, loss, newton_minimize(space, loss, newton_start(space, loss, classes, newton), newton, stage), o, stage);
}

Matrix FitSpace::dual_coef(const Matrix& coefficients) const {
  if (landmarks == 0) return coefficients;
  return static_cast<const LandmarkSpace&>(*space).landmark_coefficients(coefficients);
}

FitSpace make_space(const Kernel& kernel, const Samples& X, Index landmarks, std::uint64_t seed, const Run& run, const std::string& what) {
  if (kernel.psd() == Verdict::no) {
    throw InvalidArgument(
        fmt::format("the kernel {} is not positive semi-definite, so |f|^2 is no penalty; use a PSD kernel", kernel.text()));
  }
  if (landmarks < 0) throw InvalidArgument(fmt::format("landmarks must be >= 0, got {}", landmarks));
  if (landmarks == 0 || landmarks >= X.size()) {
    auto space = std::make_unique<KernelSpace>(kernel, X, run, what);
    if (kernel.psd() != Verdict::yes) space->require_psd(kernel);
    return {std::move(space), X, 0, KernelSpace::bytes(X.size())};
  }
  const Samples chosen = X.subset(RandomStream(seed).sample(X.size(), landmarks));
  const auto n = static_cast<std::size_t>(X.size());
  const auto m = static_cast<std::size_t>(landmarks);
  require_memory(5 * m * m * sizeof(double), run.memory, fmt::format("{} on {} landmarks", what, landmarks), "use fewer landmarks");
  auto space = std::make_unique<LandmarkSpace>(kernel, X, chosen, run);
  const std::size_t bytes = 5 * m * m * sizeof(double) + (space->stored() ? n * m * sizeof(double) : 0);
  return {std::move(space), chosen, landmarks, bytes};
}

Kernel ready_kernel(const Kernel& kernel, const Samples& X) {
  if (normalizes_given(kernel))
    throw InvalidArgument(fmt::format(
        "{} could be fitted but never predict: k(x,x) of new objects is not among given kernel values; normalise the matrix first",
        kernel.text()));
  return resolve(kernel, X);
}

Vector proportions(const Vector& sample_weight, Index n) {
  root_weights(sample_weight, n);  // for its checks: a root squared is not the number itself
  return sample_weight.size() > 0 ? Vector(sample_weight / sample_weight.sum()) : Vector(Vector::Constant(n, 1.0 / static_cast<double>(n)));
}

void add_to_summary(const ColumnFit& fit, ConvexSummary& s) {
  s.iterations += fit.iterations;
  s.objective += fit.objective;
  s.squared_norm += fit.squared_norm;
  s.gap = std::max(s.gap, fit.gap);
  const double relative = fit.gap == 0 ? 0 : fit.gap / std::max(std::abs(fit.objective), std::numeric_limits<double>::min());
  s.relative_gap = std::max(s.relative_gap, relative);
  s.gradient_norm = std::max(s.gradient_norm, fit.gradient_norm);
  if (fit.converged || s.status != "converged") return;
  s.status = fit.stalled ? "rounding" : "iteration limit";
}

void finish_summary(ConvexSummary& s, double tolerance, Index n) {
  const bool done = s.status == "converged";
  const std::string where =
      s.landmarks > 0 ? fmt::format(" on {} landmarks of {} samples", s.landmarks, n) : fmt::format(" on {} samples", n);
  const char* outcome = done                     ? "converged"
                        : s.status == "rounding" ? "stopped by rounding (no descent left in float64)"
                                                 : "iteration limit reached";
  s.sentence =
      fmt::format("{}: {} {} steps{}, objective {:.6g}, relative duality gap {:.1e} {} {:g}, {}, {:.2f} s", outcome, s.iterations, s.method,
                  where, s.objective, s.relative_gap, done ? "<=" : ">", tolerance, format_bytes(static_cast<double>(s.bytes)), s.seconds);
}

Matrix expansion_at(const Kernel& kernel, const Samples& samples, const Matrix& coef, const Vector& intercept, const Samples& X,
                    const Run& run) {
  if (X.width() != samples.width())
    throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {}", X.width(), samples.width()));
  if (X.empty()) return Matrix(0, coef.cols());
  const Samples rows = as_new(kernel, as_given(kernel, X, samples), samples);
  Matrix f = gram_operator(kernel, rows, samples, {Precision::float64, Storage::streamed, run})->apply(coef);
  f.rowwise() += intercept.transpose();
  return f;
}

}  // namespace mercer

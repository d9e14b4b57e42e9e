// Regression on landmarks: what to draw, which precision and route to take, what to report. falkon_parts.hpp has the notation.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/falkon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "kernels/node.hpp"
#include "linalg/triangular.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/falkon_parts.hpp"
#include "models/landmarks.hpp"
#include "models/split_rows.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using falkon::Solution;
using falkon::Whitening;

constexpr double many_values = 1e7;         // kernel values above which float32 is worth it
constexpr double rounding_allowed = 1e-3;   // of the spread of y
constexpr double expected_iterations = 25;  // of conjugate gradients

void check(const RowSource& source, const FalkonOptions& o) {
  const auto require = [](bool condition, const std::string& message) {
    if (!condition) throw InvalidArgument(message);
  };
  require(source.rows() > 0, "there are no samples: X must have at least one row");
  require(source.targets() > 0, "y has no columns");
  require(o.n_landmarks >= 1, fmt::format("n_landmarks must be >= 1, got {}", o.n_landmarks));
  require(o.tolerance > 0 && o.tolerance < 1, fmt::format("tolerance must be above 0 and below 1, got {}", o.tolerance));
  require(o.max_iterations >= 1, fmt::format("max_iterations must be >= 1, got {}", o.max_iterations));
  require(o.validation >= 0 && o.validation < 1, fmt::format("validation must be in [0, 1), got {}", o.validation));
  if (o.given_landmarks) {
    require(!o.given_landmarks->empty(), "the given landmarks have no rows");
    require(o.given_landmarks->width() == source.width(),
            fmt::format("the given landmarks have {} columns, X has {}", o.given_landmarks->width(), source.width()));
    require_finite(*o.given_landmarks, "landmarks");
  }
  require_no_white_noise(o.kernel);
  if (normalizes_given(o.kernel))
    throw InvalidArgument(fmt::format(
        "{} could be fitted but never predict: k(x,x) of new objects is not among given kernel values; normalise the matrix first",
        o.kernel.text()));
}

// Estimated time of the routes in arithmetic operations; the sums also give the trace error and an exact answer, so they are preferred
// while they do not take half as long again.
FalkonRoute choose_route(const FalkonOptions& o, const RowSource& source, Index landmarks) {
  if (o.route != FalkonRoute::automatic) return o.route;
  const auto n = static_cast<double>(source.rows());
  const auto m = static_cast<double>(landmarks);
  const double kernel_value = 2 * static_cast<double>(source.width()) + 30;
  const double one_pass = n * m * (kernel_value + m) + 8 * m * m * m;
  const double gradients = expected_iterations * n * m * (kernel_value + 8.0 * static_cast<double>(source.targets())) + 2 * m * m * m;
  return one_pass <= 1.5 * gradients ? FalkonRoute::one_pass : FalkonRoute::conjugate_gradients;
}

std::size_t bytes_needed(Index landmarks, Index targets, std::size_t budget) {
  const auto m = static_cast<std::size_t>(landmarks);
  const auto panel = static_cast<std::size_t>(falkon::panel_rows(landmarks, sizeof(double), budget)) * m * sizeof(double);
  return (9 * m * m / 2 + 6 * m * static_cast<std::size_t>(targets)) * sizeof(double) + panel;
}

// (trace K - trace of its approximation) / trace K over a sample of rows.
double trace_error_on(const Kernel& kernel, const Samples& probe, const Samples& Z, const Whitening& whitening, const Run& run) {
  constexpr Index rows_at_a_time = 256;  // the budget may be no more than some landmarks need
  double explained = 0;
  probe.for_each_chunk(rows_at_a_time, [&](const Samples& rows, Index) {
    Matrix F = gram(kernel, Z, rows, {.run = run});
    linalg::solve_lower(whitening.L, F);
    explained += F.squaredNorm();
  });
  const double whole = gram_diagonal(kernel, probe).sum();
  return whole > 0 ? std::clamp(1 - explained / whole, 0.0, 1.0) : 0;
}

// What float32 kernel values (wrong by some 5e-7 of the largest, at random) do to a prediction, by the spread of the targets.
double rounding_of(const Solution& s, const Whitening& whitening) {
  double worst = 0;
  for (Index t = 0; t < s.coef.cols(); ++t)
    worst = std::max(worst, s.spread[t] > 0 ? 5e-7 * whitening.largest * s.coef.col(t).norm() / s.spread[t] : 0.0);
  return worst;
}

void measure_validation(const FalkonModel& model, const SplitRows& rows, const Run& run, FalkonSummary& summary) {
  const Index targets = rows.targets();
  Vector error = Vector::Zero(targets);
  NormalSums moments(0, targets);
  rows.for_each_chunk(16384, [&](const RowChunk& chunk) {
    const Vector w = chunk.weight.size() == 0 ? Vector::Ones(chunk.X.size()) : chunk.weight;
    error += (model.predict(chunk.X, run) - chunk.Y).cwiseAbs2().transpose() * w;
    moments.accumulate(Matrix(chunk.X.size(), 0), chunk.Y, w);
  });
  summary.validation_rows = rows.rows();
  if (!(moments.weight() > 0)) return;
  summary.validation_mse = error.mean() / moments.weight();
  const Vector variation = moments.target_variation();
  double r2 = 0;
  for (Index t = 0; t < targets; ++t) r2 += variation[t] > 0 ? 1 - error[t] / variation[t] : (error[t] > 0 ? 0.0 : 1.0);
  summary.validation_r2 = r2 / static_cast<double>(targets);
  ++summary.passes;
}

std::string sentence_of(const FalkonSummary& s, Index landmarks, Precision precision, bool again, Index max_iterations) {
  std::string how = s.method == "one pass" ? fmt::format("one pass over {} rows", s.rows)
                                           : fmt::format("{} conjugate gradient steps over {} rows", s.iterations, s.rows);
  std::string values = name_of(precision);
  if (precision == Precision::float32 && s.method == "one pass") values += fmt::format(" (sums in {})", name_of(s.sums_precision));
  if (again) values += ", for float32 would have shown";
  const char* outcome = s.converged                      ? "solved"
                        : s.iterations >= max_iterations ? "stopped at the iteration limit"
                                                         : "stopped where rounding allows no more";
  return fmt::format("{}: {}, {} landmarks ({}), trace error {:.2g} %{}, relative residual {:.1e}, kernel values in {}, {}, {:.2f} s",
                     outcome, how, landmarks, s.landmarks, 100 * s.trace_error,
                     s.trace_rows < s.rows ? fmt::format(" (on {} rows)", s.trace_rows) : "", s.residual, values,
                     format_bytes(static_cast<double>(s.bytes)), s.seconds);
}

// One fit at one precision.
struct Attempt {
  Precision precision;
  FalkonRoute route;
  Solution solution;
  FalkonSummary summary;
};

void attempt(const Kernel& kernel, const Samples& Z, const RowSource& train, const Whitening& bare, double alpha, const FalkonOptions& o,
             Attempt& a) {
  FalkonSummary& s = a.summary;
  const bool gradients = a.route == FalkonRoute::conjugate_gradients;
  const Index depth = gradients ? falkon::gradients_depth : falkon::one_pass_depth;
  const auto noise_with = [&](Precision sums) { return falkon::noise_of(bare, train.rows(), alpha, a.precision, sums, depth); };
  s.sums_precision = a.precision;
  if (!gradients && !noise_with(Precision::float32).quiet) s.sums_precision = Precision::float64;
  const falkon::Noise noise = noise_with(s.sums_precision);
  const Whitening whitening = noise.quiet ? bare : falkon::whiten(kernel, Z, noise.jitter, o.run);
  if (gradients) {
    a.solution =
        falkon::solve_gradients(kernel, Z, train, whitening, alpha, o.fit_intercept, a.precision, {o.tolerance, o.max_iterations}, o.run);
    s.method = "conjugate gradients";
  } else {
    const LandmarkSums sums = falkon::accumulate(kernel, Z, train, a.precision, s.sums_precision, o.run);
    a.solution = falkon::solve_sums(sums, whitening, alpha, o.fit_intercept, o.run);
    s.method = "one pass";
  }
  s.jitter = whitening.jitter;
  s.iterations = a.solution.iterations;
  s.converged = a.solution.converged;
  s.residual = a.solution.residual;
  s.train_mse = a.solution.squared_error.mean() / a.solution.weight;
  s.rounding = a.precision == Precision::float32 ? rounding_of(a.solution, whitening) : 0;
  s.passes += a.solution.passes;
}

// Whether float32 kernel values are worth it, and good enough as far as can be told before the fit.
bool wants_float32(const Whitening& bare, Index rows, double alpha, FalkonRoute route) {
  if (static_cast<double>(rows) * static_cast<double>(bare.L.rows()) <= many_values) return false;
  if (route == FalkonRoute::conjugate_gradients)
    return falkon::noise_of(bare, rows, alpha, Precision::float32, Precision::float32, falkon::gradients_depth).harmless;
  return falkon::noise_of(bare, rows, alpha, Precision::float32, Precision::float64, falkon::one_pass_depth).harmless;
}

FalkonModel fit_now(const RowSource& source, const FalkonOptions& o) {
  const auto start = Clock::now();
  check(source, o);
  const SplitRows train(source, o.validation, o.seed, SplitRows::Part::train);
  if (train.rows() == 0) throw InvalidArgument("no row is left to fit on; use a smaller validation share or more rows");
  const double alpha = penalties(o.alpha, {}, o.lambda, train.rows(), 1)[0];
  const Index wanted = o.given_landmarks ? o.given_landmarks->size() : std::min(o.n_landmarks, train.rows());
  const std::size_t budget = memory_budget(o.run.memory);
  const std::size_t bytes = bytes_needed(wanted, source.targets(), budget);
  require_memory(bytes, o.run.memory, fmt::format("regression on {} landmarks", wanted),
                 "use fewer landmarks (their square is what counts)");

  const FalkonRoute route = choose_route(o, train, wanted);
  const DrawnRows drawn = draw_rows(train, o, o.kernel.has_auto());
  const Kernel kernel = o.kernel.has_auto() ? resolve(o.kernel, drawn.for_length_scale) : o.kernel;
  Landmarks landmarks = choose_landmarks(kernel, drawn, alpha, train.rows(), o);
  landmarks.rows = train.original(std::move(landmarks.rows));
  if (o.given_landmarks) landmarks.samples = as_given(kernel, landmarks.samples);
  const Samples& Z = landmarks.samples;
  const Whitening whitening = falkon::whiten(kernel, Z, 0, o.run);
  const bool coarse = wants_float32(whitening, train.rows(), alpha, route);
  Attempt a{o.precision.value_or(coarse ? Precision::float32 : Precision::float64), route, {}, {}};
  a.summary.passes = source.in_memory() != nullptr ? 0 : 1;
  attempt(kernel, Z, train, whitening, alpha, o, a);
  const bool again = !o.precision && a.precision == Precision::float32 &&
                     (!(a.summary.rounding <= rounding_allowed) || (!a.summary.converged && a.summary.iterations < o.max_iterations));
  if (again) {
    a.precision = Precision::float64;
    attempt(kernel, Z, train, whitening, alpha, o, a);
  }
  FalkonSummary& s = a.summary;
  s.landmarks = landmarks.method;
  s.rows = train.rows();
  s.bytes = bytes + a.solution.stored_bytes;
  s.trace_error = trace_error_on(kernel, drawn.probe, Z, whitening, o.run);
  s.trace_rows = drawn.probe.size();
  FalkonModel model =
      FalkonModel::from_parts(kernel, Z.without_values(), landmarks.rows, a.solution.coef, a.solution.intercept, alpha, a.precision, s);
  if (o.validation > 0) {
    const SplitRows held_out(source, o.validation, o.seed, SplitRows::Part::held_out);
    if (held_out.rows() > 0) measure_validation(model, held_out, o.run, s);
  }
  s.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  s.sentence = sentence_of(s, Z.size(), a.precision, again, o.max_iterations);
  if (s.validation_rows > 0) s.sentence += fmt::format("; R2 {:.4g} on {} rows kept out", s.validation_r2, s.validation_rows);
  return FalkonModel::from_parts(kernel, Z.without_values(), std::move(landmarks.rows), std::move(a.solution.coef),
                                 std::move(a.solution.intercept), alpha, a.precision, std::move(s));
}

}  // namespace

FalkonModel FalkonModel::from_parts(Kernel kernel, Samples landmarks, std::vector<Index> landmark_rows, Matrix dual_coef, Vector intercept,
                                    double alpha, Precision precision, FalkonSummary summary) {
  if (dual_coef.rows() != landmarks.size() || intercept.size() != dual_coef.cols() ||
      !(landmark_rows.empty() || std::ssize(landmark_rows) == landmarks.size())) {
    throw InvalidArgument(fmt::format("a model of {} landmarks and {} targets cannot have {} x {} coefficients and {} row numbers",
                                      landmarks.size(), intercept.size(), dual_coef.rows(), dual_coef.cols(), landmark_rows.size()));
  }
  FalkonModel model(std::move(kernel), std::move(landmarks));
  model.landmark_rows_ = std::move(landmark_rows);
  model.dual_coef_ = std::move(dual_coef);
  model.intercept_ = std::move(intercept);
  model.alpha_ = alpha;
  model.precision_ = precision;
  model.summary_ = std::move(summary);
  return model;
}

Matrix FalkonModel::predict(const Samples& X, const Run& run) const {
  if (X.width() != landmarks_.width())
    throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {}", X.width(), landmarks_.width()));
  if (X.empty()) return Matrix(0, n_targets());
  const Samples rows = as_new(kernel_, as_given(kernel_, X, landmarks_), landmarks_);
  Matrix f = gram_operator(kernel_, rows, landmarks_, {precision_, Storage::streamed, run})->apply(dual_coef_);
  f.rowwise() += intercept_.transpose();
  return f;
}

FalkonModel fit_falkon(const RowSource& source, const FalkonOptions& options) {
  if (options.sample_weight.size() > 0)
    throw InvalidArgument("the weights of rows from a source come with the rows; leave sample_weight empty");
  std::optional<FalkonModel> model;
  with_run(options.run, [&] { model = fit_now(source, options); });
  return std::move(*model);
}

FalkonModel fit_falkon(const Samples& X, const MatrixRef& Y, const FalkonOptions& options) {
  FalkonOptions without_weights = options;
  without_weights.sample_weight = Vector();
  require_finite(X, "X");
  const Samples rows = as_given(options.kernel, X);
  require_matching(rows, Y);
  return fit_falkon(MemoryRows(rows, Y, options.sample_weight), without_weights);
}

void LandmarkSums::merge(const LandmarkSums& other) {
  sums.merge(other.sums);
  weighted_trace += other.weighted_trace;
}

std::string LandmarkSums::to_bytes() const {
  std::string out(sizeof weighted_trace, '\0');
  std::memcpy(out.data(), &weighted_trace, sizeof weighted_trace);
  return out + sums.to_bytes();
}

LandmarkSums LandmarkSums::from_bytes(std::string_view bytes) {
  LandmarkSums out;
  if (bytes.size() < sizeof out.weighted_trace) throw InvalidArgument(fmt::format("{} bytes are too few for running sums", bytes.size()));
  std::memcpy(&out.weighted_trace, bytes.data(), sizeof out.weighted_trace);
  if (!(out.weighted_trace >= 0) || !std::isfinite(out.weighted_trace)) throw InvalidArgument("the trace in these running sums is damaged");
  out.sums = NormalSums::from_bytes(bytes.substr(sizeof out.weighted_trace));
  return out;
}

LandmarkSums landmark_sums(const Kernel& kernel, const Samples& landmarks, const RowSource& source, Precision precision, const Run& run) {
  if (kernel.has_auto()) throw InvalidArgument(fmt::format("{} still has an automatic length scale; resolve it first", kernel.text()));
  if (landmarks.empty()) throw InvalidArgument("there are no landmarks");
  require_no_white_noise(kernel);
  LandmarkSums out;
  with_run(run, [&] { out = falkon::accumulate(kernel, landmarks, source, precision, Precision::float64, run); });
  return out;
}

FalkonModel solve_landmark_sums(const Kernel& kernel, const Samples& landmarks, const LandmarkSums& sums, double alpha, bool fit_intercept,
                                Precision precision, const Run& run) {
  const auto start = Clock::now();
  if (sums.sums.features() != landmarks.size())
    throw InvalidArgument(fmt::format("sums of {} features for {} landmarks", sums.sums.features(), landmarks.size()));
  if (sums.sums.rows() == 0) throw InvalidArgument("the sums have seen no rows");
  alpha = penalties(alpha, {}, {}, sums.sums.rows(), 1)[0];
  FalkonSummary s;
  Solution solution;
  with_run(run, [&] {
    Whitening whitening = falkon::whiten(kernel, landmarks, 0, run);
    const falkon::Noise noise = falkon::noise_of(whitening, sums.sums.rows(), alpha, precision, Precision::float64, falkon::one_pass_depth);
    if (!noise.quiet) whitening = falkon::whiten(kernel, landmarks, noise.jitter, run);
    solution = falkon::solve_sums(sums, whitening, alpha, fit_intercept, run);
    s.jitter = whitening.jitter;
    s.rounding = precision == Precision::float32 ? rounding_of(solution, whitening) : 0;
  });
  s.method = "one pass";
  s.landmarks = "given";
  s.rows = s.trace_rows = sums.sums.rows();
  s.trace_error = sums.weighted_trace > 0 ? std::clamp(1 - solution.explained / sums.weighted_trace, 0.0, 1.0) : 0;
  s.residual = solution.residual;
  s.train_mse = solution.squared_error.mean() / solution.weight;
  s.passes = 1;
  s.bytes = bytes_needed(landmarks.size(), sums.sums.targets(), memory_budget(run.memory));
  s.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  s.sentence = sentence_of(s, landmarks.size(), precision, false, 0);
  return FalkonModel::from_parts(kernel, landmarks.without_values(), {}, std::move(solution.coef), std::move(solution.intercept), alpha,
                                 precision, std::move(s));
}

}  // namespace mercer

// Gaussian process regression: choosing the parameters.
//
// The objective is maximised over the logarithms of the free parameters, from the given values and from starts drawn log-uniformly within
// the bounds. Starts run side by side while one of them is too small to fill the machine; larger ones take all threads in turn. What each
// of them finds is the same either way, so the answer does not depend on the number of threads.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>

#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "models/gp_factor.hpp"
#include "models/gp_likelihood.hpp"
#include "models/weights.hpp"
#include "solvers/minimize.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Index side_by_side = 1024;       // samples up to which starts share the threads
constexpr int default_iterations = 15000;  // as in scipy's L-BFGS-B

// The free parameters, and how their logarithms become a kernel and noise variances.
class Parameters {
 public:
  Parameters(const Kernel& kernel, const GaussianProcessOptions& options, Vector noise)
      : kernel_(kernel), all_(kernel.parameters()), noise_(std::move(noise)) {
    const std::size_t count = all_.size() + (options.optimize_noise ? 1 : 0);
    if (options.bounds.size() > 1 && options.bounds.size() != count)
      throw InvalidArgument(fmt::format("{} bounds for {} parameters of {}{}: give one for all, or one each", options.bounds.size(), count,
                                        kernel.text(), options.optimize_noise ? " and its noise" : ""));
    const auto bounds = [&](std::size_t i) {
      return options.bounds.empty() ? ParameterBounds{} : options.bounds[options.bounds.size() == 1 ? 0 : i];
    };
    require_known(options.fixed);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      values_.push_back(all_[i].value);
      if (!is_fixed(all_[i].name, options.fixed)) add(all_[i].name, all_[i].value, bounds(i), static_cast<Index>(i));
    }
    if (options.optimize_noise) {
      noise_is_free_ = true;
      if (!(noise_.minCoeff() > 0)) throw InvalidArgument("a noise that is optimised must start above 0");
      // One number: the noise itself. One per sample: a factor common to all.
      common_ = options.noise_per_sample.size() == 0;
      add("noise", common_ ? noise_[0] : 1.0, bounds(all_.size()), -1);
    }
  }

  Index size() const { return static_cast<Index>(names_.size()); }
  const Vector& start() const { return start_; }
  const Vector& lower() const { return lower_; }
  const Vector& upper() const { return upper_; }
  const std::string& name(Index i) const { return names_[static_cast<std::size_t>(i)]; }

  Kernel kernel(const Vector& theta) const {
    if (size() == 0) return kernel_;
    std::vector<double> values = values_;
    for (Index i = 0; i < size(); ++i) {
      if (place(i) >= 0) values[static_cast<std::size_t>(place(i))] = value_at(theta, i);
    }
    return kernel_.with_parameters(values);
  }
  Vector noise(const Vector& theta) const {
    if (!noise_is_free_) return noise_;
    const double value = value_at(theta, size() - 1);
    return common_ ? Vector(Vector::Constant(noise_.size(), value)) : Vector(value * noise_);
  }
  // Of new observations, whose noise was `given`: it goes with that of the samples.
  double new_noise(const Vector& theta, double given) const {
    if (!noise_is_free_) return given;
    return common_ ? value_at(theta, size() - 1) : value_at(theta, size() - 1) * given;
  }
  // Near enough that nothing but rounding separates the two, by the measure of numpy.isclose.
  bool is_at_bound(const Vector& theta, Index i) const {
    const auto close = [&](double bound) { return std::abs(theta[i] - bound) <= 1e-8 + 1e-5 * std::abs(bound); };
    return close(lower_[i]) || close(upper_[i]);
  }
  Vector gradient(const LikelihoodValue& at) const {
    Vector out(size());
    for (Index i = 0; i < size(); ++i) out[i] = place(i) >= 0 ? at.by_kernel[place(i)] : at.by_noise;
    return out;
  }
  Vector random_start(std::uint64_t seed, Index number) const {
    RandomStream random(seed, static_cast<std::uint64_t>(number));
    Vector out(size());
    for (Index i = 0; i < size(); ++i) out[i] = random.uniform(lower_[i], upper_[i]);
    return out;
  }

 private:
  Index place(Index i) const { return places_[static_cast<std::size_t>(i)]; }
  // Where a bound was reached, the bound itself rather than the exponential of its logarithm.
  double value_at(const Vector& theta, Index i) const {
    const ParameterBounds& b = bounds_[static_cast<std::size_t>(i)];
    if (theta[i] == start_[i]) return starts_[static_cast<std::size_t>(i)];
    return std::clamp(std::exp(theta[i]), b.lower, b.upper);
  }

  static bool is_fixed(const std::string& name, const std::vector<std::string>& fixed) {
    return std::any_of(fixed.begin(), fixed.end(), [&](const std::string& f) {
      return name == f || (name.size() > f.size() && name.starts_with(f) && name[f.size()] == '[');
    });
  }

  void require_known(const std::vector<std::string>& fixed) const {
    for (const std::string& f : fixed) {
      const bool found = std::any_of(all_.begin(), all_.end(), [&](const KernelParameter& p) { return is_fixed(p.name, {f}); });
      if (found) continue;
      std::string names;
      for (const KernelParameter& p : all_) names += (names.empty() ? "" : ", ") + p.name;
      throw InvalidArgument(
          fmt::format("{} has no parameter \"{}\" to be fixed; it has: {}", kernel_.text(), f, names.empty() ? "none" : names));
    }
  }

  void add(const std::string& name, double value, ParameterBounds b, Index place) {
    if (!(b.lower > 0) || !(b.upper >= b.lower) || !std::isfinite(b.upper))
      throw InvalidArgument(fmt::format("the bounds of {} must be finite with 0 < lower <= upper, got {} and {}", name, b.lower, b.upper));
    if (b.lower == b.upper) {  // it stays
      if (place < 0) noise_is_free_ = false;
      return;
    }
    const double start = std::clamp(value, b.lower, b.upper);
    names_.push_back(name);
    places_.push_back(place);
    bounds_.push_back(b);
    starts_.push_back(start);
    const Index i = start_.size();
    start_.conservativeResize(i + 1);
    lower_.conservativeResize(i + 1);
    upper_.conservativeResize(i + 1);
    start_[i] = std::log(start);
    lower_[i] = std::log(b.lower);
    upper_[i] = std::log(b.upper);
  }

  Kernel kernel_;
  std::vector<KernelParameter> all_;
  Vector noise_;
  bool noise_is_free_ = false;
  bool common_ = true;
  std::vector<double> values_{};
  std::vector<std::string> names_{};
  std::vector<Index> places_{};  // among the kernel's parameters, -1: the noise
  std::vector<ParameterBounds> bounds_{};
  std::vector<double> starts_{};
  Vector start_{};
  Vector lower_{};
  Vector upper_{};
};

struct Prepared {
  LikelihoodProblem problem;
  Kernel kernel;
  Vector noise;  // one per sample
  Vector mean;
  Vector scale;
};

Prepared prepare(const Samples& rows, const MatrixRef& Y, const GaussianProcessOptions& options) {
  const Samples X = as_given(options.kernel, rows);
  require_matching(X, Y);
  if (normalizes_given(options.kernel))
    throw InvalidArgument(
        fmt::format("{} could be fitted but never predict: k(x,x) of new objects is not among given kernel values", options.kernel.text()));
  Vector noise = options.noise_per_sample;
  if (noise.size() == 0) noise = Vector::Constant(X.size(), options.noise);
  if (noise.size() != X.size())
    throw InvalidArgument(fmt::format("{} noise variances for {} samples: give one, or one each", noise.size(), X.size()));
  for (Index i = 0; i < noise.size(); ++i) {
    if (!(noise[i] >= 0) || !std::isfinite(noise[i]))
      throw InvalidArgument(fmt::format("noise must be a finite variance >= 0, got {} for sample {}", noise[i], i));
  }
  if (!(options.noise >= 0) || !std::isfinite(options.noise))
    throw InvalidArgument(fmt::format("noise must be a finite variance >= 0, got {}", options.noise));
  if (options.restarts < 0) throw InvalidArgument(fmt::format("restarts must be >= 0, got {}", options.restarts));
  if (options.max_iterations < 0) throw InvalidArgument(fmt::format("max_iterations must be >= 0, got {}", options.max_iterations));
  Vector mean = Vector::Zero(Y.cols());
  Vector scale = Vector::Ones(Y.cols());
  Matrix normal = Y;
  if (options.normalize_y) {
    mean = Y.colwise().mean().transpose();
    normal.rowwise() -= mean.transpose();
    for (Index t = 0; t < Y.cols(); ++t) {
      const double deviation = std::sqrt(normal.col(t).squaredNorm() / static_cast<double>(Y.rows()));
      // A constant target stays one: what is left of it is rounding.
      if (deviation > 10 * std::numeric_limits<double>::epsilon() * Y.col(t).cwiseAbs().maxCoeff()) scale[t] = deviation;
    }
    normal = normal * scale.cwiseInverse().asDiagonal();
  }
  return {{X, std::move(normal), options.objective}, resolve(options.kernel, X), std::move(noise), std::move(mean), std::move(scale)};
}

// One search and how it went.
struct Attempt {
  Minimum found{};
  double start_value = -std::numeric_limits<double>::infinity();
  Index failed = -1;  // of the first evaluation
};

class Search {
 public:
  Search(const Prepared& prepared, const Parameters& parameters, const GaussianProcessOptions& options)
      : prepared_(prepared), parameters_(parameters), options_(options) {}

  std::vector<Attempt> run() {
    const Index starts = 1 + options_.restarts;
    std::vector<Attempt> attempts(static_cast<std::size_t>(starts));
    const auto attempt = [&](Index i, const ProgressCallback& progress, Stage* stage) {
      const Vector start = i == 0 ? parameters_.start() : parameters_.random_start(options_.seed, i);
      attempts[static_cast<std::size_t>(i)] = from(start, progress, stage);
    };
    if (prepared_.problem.X.size() <= side_by_side && starts > 1) {
      Stage stage(options_.run.progress, "Likelihood", 0);
      parallel_for(starts, [&](Index i) { attempt(i, {}, &stage); });
    } else {
      for (Index i = 0; i < starts; ++i) attempt(i, options_.run.progress, nullptr);
    }
    return attempts;
  }

 private:
  Attempt from(const Vector& start, const ProgressCallback& progress, Stage* stage) const {
    Attempt out;
    bool first = true;
    const SmoothFunction f = [&](const Vector& theta, Vector& slope) {
      if (stage != nullptr) stage->check();
      const LikelihoodValue at = likelihood(prepared_.problem, parameters_.kernel(theta), parameters_.noise(theta), true, progress);
      if (std::exchange(first, false)) {
        out.start_value = at.value;
        out.failed = at.failed;
        if (at.failed >= 0) throw NoStart();
      }
      slope = at.failed >= 0 ? Vector::Zero(theta.size()) : Vector(-parameters_.gradient(at));
      return -at.value;
    };
    MinimizeOptions how;
    how.max_evaluations = options_.max_iterations > 0 ? options_.max_iterations : default_iterations;
    how.value_tolerance = 1e-9;
    how.argument_tolerance = 1e-8;
    try {
      out.found = minimize(f, start, parameters_.lower(), parameters_.upper(), how);
    } catch (const NoStart&) {
      out.found.evaluations = 1;
    }
    return out;
  }

  struct NoStart {};  // the covariance has no factor where a search begins

  const Prepared& prepared_;
  const Parameters& parameters_;
  const GaussianProcessOptions& options_;
};

// What is left to gain: entries of the gradient along which the bounds leave room.
Vector free_slope(const Minimum& found, const Parameters& parameters) {
  Vector out = -found.gradient;
  for (Index i = 0; i < out.size(); ++i) {
    if ((found.x[i] <= parameters.lower()[i] && out[i] < 0) || (found.x[i] >= parameters.upper()[i] && out[i] > 0)) out[i] = 0;
  }
  return out;
}

// The parameters that maximise the objective; `summary` tells how they were found.
Vector optimum(const Prepared& prepared, const Parameters& parameters, const GaussianProcessOptions& options,
               GaussianProcessSummary& summary) {
  const std::vector<Attempt> attempts = Search(prepared, parameters, options).run();
  const Attempt* best = nullptr;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    summary.evaluations += attempts[i].found.evaluations;
    if (attempts[i].failed >= 0 || attempts[i].found.x.size() == 0) continue;
    if (best != nullptr && !(attempts[i].found.value < best->found.value)) continue;
    best = &attempts[i];
    summary.best_start = static_cast<Index>(i);
  }
  if (best == nullptr)
    throw_not_positive(parameters.kernel(parameters.start()), prepared.problem.X, parameters.noise(parameters.start()), attempts[0].failed);
  summary.starts = std::ssize(attempts);
  summary.start_value = attempts[0].start_value;
  summary.converged = best->found.converged;
  summary.status = best->found.status;
  const Vector slope = free_slope(best->found, parameters);
  summary.gradient = slope.cwiseAbs().maxCoeff();
  for (Index i = 0; i < parameters.size(); ++i) {
    if (parameters.is_at_bound(best->found.x, i)) summary.at_bound.push_back(parameters.name(i));
  }
  return best->found.x;
}

std::string sentence_of(const GaussianProcessSummary& s, bool leave_one_out) {
  const double value = leave_one_out ? s.leave_one_out_log_likelihood : s.log_marginal_likelihood;
  const char* name = leave_one_out ? "leave-one-out" : "marginal";
  std::string how = "parameters as given";
  if (s.starts > 0) {
    how = fmt::format("from {:.4f}, {} evaluation{}{}, largest gradient {:.1e}", s.start_value, s.evaluations,
                      s.evaluations == 1 ? "" : "s", s.starts > 1 ? fmt::format(" from {} starts", s.starts) : "", s.gradient);
    for (std::size_t i = 0; i < s.at_bound.size(); ++i) how += (i == 0 ? "; at a bound: " : ", ") + s.at_bound[i];
  }
  return fmt::format("{}: log {} likelihood {:.4f} ({}), {}, {:.2f} s", s.converged ? "fitted" : "stopped, because " + s.status, name,
                     value, how, format_bytes(static_cast<double>(s.bytes)), s.seconds);
}

void ask_memory(const Prepared& prepared, const GaussianProcessOptions& options, bool gradient, GaussianProcessSummary& summary) {
  const Index n = prepared.problem.X.size();
  summary.bytes = likelihood_bytes(n, options.objective, gradient);
  require_memory(summary.bytes, options.run.memory, fmt::format("Gaussian process regression on {} samples", n),
                 "use fewer samples, or kernel ridge regression on landmarks");
}

}  // namespace

GaussianProcessModel fit_gaussian_process(const Samples& rows, const MatrixRef& Y, const GaussianProcessOptions& options) {
  const auto started = Clock::now();
  const bool leave_one_out = options.objective == GaussianProcessObjective::leave_one_out;
  GaussianProcessSummary summary;
  std::optional<GaussianProcessModel> model;
  with_run(options.run, [&] {
    const Prepared prepared = prepare(rows, Y, options);
    Kernel kernel = prepared.kernel;
    Vector noise = prepared.noise;
    double new_noise = options.noise;
    const Parameters parameters(kernel, options, noise);
    const bool search = options.optimize && parameters.size() > 0;
    ask_memory(prepared, options, search, summary);
    if (search) {
      const Vector theta = optimum(prepared, parameters, options, summary);
      kernel = parameters.kernel(theta);
      noise = parameters.noise(theta);
      new_noise = parameters.new_noise(theta, options.noise);
    }
    const Samples& X = prepared.problem.X;
    FactoredCovariance f = factored(kernel, X, noise, prepared.problem.Y, options.run.progress);
    if (f.failed >= 0) throw_not_positive(kernel, X, noise, f.failed);
    summary.log_marginal_likelihood = f.log_marginal;
    summary.leave_one_out_log_likelihood = std::numeric_limits<double>::quiet_NaN();
    if (leave_one_out)
      summary.leave_one_out_log_likelihood = likelihood(prepared.problem, kernel, noise, false, options.run.progress).value;
    if (options.noise_per_sample.size() == 0) noise.conservativeResize(1);
    summary.seconds = std::chrono::duration<double>(Clock::now() - started).count();
    summary.sentence = sentence_of(summary, leave_one_out);
    auto factor = std::make_shared<const GaussianProcessModel::Factor>(std::move(f.L));
    model = GaussianProcessModel::from_parts(kernel, X.without_values(), std::move(f.coef), noise, prepared.mean, prepared.scale, summary,
                                             std::move(factor), new_noise);
  });
  return *model;
}

GaussianProcessLikelihood gaussian_process_likelihood(const Samples& rows, const MatrixRef& Y, const GaussianProcessOptions& options) {
  GaussianProcessLikelihood out;
  with_run(options.run, [&] {
    const Prepared prepared = prepare(rows, Y, options);
    const Parameters parameters(prepared.kernel, options, prepared.noise);
    GaussianProcessSummary unused;
    ask_memory(prepared, options, true, unused);
    const LikelihoodValue at = likelihood(prepared.problem, prepared.kernel, prepared.noise, true, options.run.progress);
    if (at.failed >= 0) throw_not_positive(prepared.kernel, prepared.problem.X, prepared.noise, at.failed);
    out = {at.value, parameters.gradient(at)};
  });
  return out;
}

}  // namespace mercer

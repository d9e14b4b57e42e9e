// Gaussian process regression.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/gaussian_process.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "models.hpp"

namespace mercer::python {

namespace {

using Bounds = std::vector<std::pair<double, double>>;

GaussianProcessOptions options_of(const Kernel& kernel, const Vector& noise, bool optimize_noise, const std::vector<std::string>& fixed,
                                  const Bounds& bounds, bool leave_one_out, bool normalize_y) {
  GaussianProcessOptions options{.kernel = kernel, .optimize_noise = optimize_noise, .fixed = fixed, .normalize_y = normalize_y};
  if (noise.size() == 1) {
    options.noise = noise[0];
  } else {
    options.noise_per_sample = noise;
    if (noise.size() > 0) options.noise = noise.mean();  // of new observations
  }
  for (const auto& [lower, upper] : bounds) options.bounds.push_back({lower, upper});
  if (leave_one_out) options.objective = GaussianProcessObjective::leave_one_out;
  return options;
}

GaussianProcessModel fit(const Samples& X, const Targets& y, const Kernel& kernel, const Vector& noise, bool optimize, bool optimize_noise,
                         const std::vector<std::string>& fixed, const Bounds& bounds, bool leave_one_out, int restarts, std::uint64_t seed,
                         bool normalize_y, int threads, std::size_t memory, nb::object progress) {
  GaussianProcessOptions options = options_of(kernel, noise, optimize_noise, fixed, bounds, leave_one_out, normalize_y);
  options.optimize = optimize;
  options.restarts = restarts;
  options.seed = seed;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return fit_gaussian_process(X, matrix_of(y), options);
  });
}

std::pair<double, Vector> likelihood(const Samples& X, const Targets& y, const Kernel& kernel, const Vector& noise, bool optimize_noise,
                                     const std::vector<std::string>& fixed, const Bounds& bounds, bool leave_one_out, int threads,
                                     std::size_t memory) {
  GaussianProcessOptions options = options_of(kernel, noise, optimize_noise, fixed, bounds, leave_one_out, false);
  Job job(threads, memory, nb::none());
  return job([&](const Run& run) {
    options.run = run;
    GaussianProcessLikelihood at = gaussian_process_likelihood(X, matrix_of(y), options);
    return std::pair(at.value, std::move(at.gradient));
  });
}

}  // namespace

void bind_gaussian_process(nb::module_& m) {
  using Model = GaussianProcessModel;
  using Summary = GaussianProcessSummary;
  nb::class_<Summary>(m, "GaussianProcessSummary", "How the parameters of a Gaussian process were found.")
      .def_ro("log_marginal_likelihood", &Summary::log_marginal_likelihood)
      .def_ro("leave_one_out_log_likelihood", &Summary::leave_one_out_log_likelihood)
      .def_ro("start_value", &Summary::start_value)
      .def_ro("gradient", &Summary::gradient)
      .def_ro("converged", &Summary::converged)
      .def_ro("evaluations", &Summary::evaluations)
      .def_ro("starts", &Summary::starts)
      .def_ro("best_start", &Summary::best_start)
      .def_ro("at_bound", &Summary::at_bound)
      .def_ro("status", &Summary::status)
      .def_ro("seconds", &Summary::seconds)
      .def_ro("bytes", &Summary::bytes)
      .def("__str__", [](const Summary& s) { return s.sentence; })
      .def("__repr__", [](const Summary& s) { return s.sentence; });
  bind_model<Model>(m, "GaussianProcessModel", "A fitted Gaussian process; immutable.")
      .def(
          "predict_with_variance",
          [](const Model& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
            Job job(threads, memory, std::move(progress));
            return job([&](const Run& run) {
              GaussianPrediction at = model.predict_with_variance(X, run);
              return std::pair(std::move(at.mean), std::move(at.variance));
            });
          },
          "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def(
          "covariance",
          [](const Model& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
            Job job(threads, memory, std::move(progress));
            return job([&](const Run& run) { return model.covariance(X, run); });
          },
          "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def(
          "sample",
          [](const Model& model, const Samples& X, Index draws, std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
            Job job(threads, memory, std::move(progress));
            return job([&](const Run& run) { return model.sample(X, draws, seed, run); });
          },
          "X"_a, "draws"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def(
          "predict_interval",
          [](const Model& model, const Samples& X, double level, int threads, std::size_t memory, nb::object progress) {
            Job job(threads, memory, std::move(progress));
            return job([&](const Run& run) {
              IntervalPrediction band = model.predict_interval(X, level, run);
              return std::tuple(std::move(band.prediction), std::move(band.lower), std::move(band.upper));
            });
          },
          "X"_a, "level"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def(
          "factor",
          [](const Model& model, int threads, std::size_t memory) {
            Job job(threads, memory, nb::none());
            return job([&](const Run& run) { return model.factor(run); });
          },
          "threads"_a = 0, "memory"_a = 0)
      .def_prop_ro("kernel", &Model::kernel)
      .def_prop_ro("samples", &Model::samples)
      .def_prop_ro("dual_coef", &Model::dual_coef, nb::rv_policy::copy)
      .def_prop_ro("noise", &Model::noise, nb::rv_policy::copy)
      .def_prop_ro("new_noise", &Model::new_noise)
      .def_prop_ro("target_mean", &Model::target_mean, nb::rv_policy::copy)
      .def_prop_ro("target_scale", &Model::target_scale, nb::rv_policy::copy)
      .def_prop_ro("summary", &Model::summary, nb::rv_policy::copy);
  m.def("fit_gaussian_process", &fit, "X"_a, "y"_a, "kernel"_a, "noise"_a, "optimize"_a, "optimize_noise"_a, "fixed"_a, "bounds"_a,
        "leave_one_out"_a, "restarts"_a, "seed"_a, "normalize_y"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("gaussian_process_likelihood", &likelihood, "X"_a, "y"_a, "kernel"_a, "noise"_a, "optimize_noise"_a, "fixed"_a, "bounds"_a,
        "leave_one_out"_a, "threads"_a = 0, "memory"_a = 0);
}

}  // namespace mercer::python

// Kernel learning.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_learning.hpp"

#include <nanobind/stl/tuple.h>

#include "bindings.hpp"

namespace mercer::python {

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Eigen::Map<const Matrix> matrix_of(const Numbers& y) { return {y.data(), static_cast<Index>(y.shape(0)), static_cast<Index>(y.shape(1))}; }

LearnedKernel learn(const Samples& X, const Numbers& y, const Kernel& kernel, const std::string& objective, bool ard, bool weights,
                    std::optional<double> alpha, const std::vector<std::string>& hold, bool fit_intercept, const Vector& sample_weight,
                    Index max_rows, int n_restarts, int max_iterations, std::uint64_t seed, int threads, std::size_t memory,
                    nb::object progress) {
  LearnKernelOptions options{.objective = parse_kernel_objective(objective),
                             .ard = ard,
                             .weights = weights,
                             .alpha = alpha,
                             .hold = hold,
                             .fit_intercept = fit_intercept,
                             .sample_weight = sample_weight,
                             .max_rows = max_rows,
                             .n_restarts = n_restarts,
                             .max_iterations = max_iterations,
                             .seed = seed,
                             .run = {}};
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return learn_kernel(X, matrix_of(y), kernel, options);
  });
}

KernelScore score(const Samples& X, const Numbers& y, const Kernel& kernel, double alpha, const std::string& objective, bool fit_intercept,
                  const Vector& sample_weight, int threads, std::size_t memory) {
  KernelScoreOptions options{
      .objective = parse_kernel_objective(objective), .fit_intercept = fit_intercept, .sample_weight = sample_weight, .run = {}};
  Job job(threads, memory, nb::none());
  return job([&](const Run& run) {
    options.run = run;
    return score_kernel(X, matrix_of(y), kernel, alpha, options);
  });
}

}  // namespace

void bind_kernel_learning(nb::module_& m) {
  nb::class_<LearnedKernel>(m, "LearnedKernel", "What learn_kernel found; immutable.")
      .def_prop_ro("kernel", [](const LearnedKernel& k) { return k.kernel; })
      .def_ro("alpha", &LearnedKernel::alpha)
      .def_prop_ro("objective", [](const LearnedKernel& k) { return std::string(name_of(k.objective)); })
      .def_ro("start_value", &LearnedKernel::start_value)
      .def_ro("value", &LearnedKernel::value)
      .def_ro("signal_variance", &LearnedKernel::signal_variance)
      .def_ro("rows", &LearnedKernel::rows)
      .def_prop_ro("parameters",
                   [](const LearnedKernel& k) {
                     std::vector<std::tuple<std::string, double, double, bool>> out;
                     for (const LearnedParameter& p : k.parameters) out.emplace_back(p.name, p.start, p.value, p.at_bound);
                     return out;
                   })
      .def_prop_ro("path",
                   [](const LearnedKernel& k) {
                     std::vector<std::tuple<int, Index, double>> out;
                     for (const LearningStep& step : k.path) out.emplace_back(step.start, step.rows, step.value);
                     return out;
                   })
      .def_ro("seconds", &LearnedKernel::seconds)
      .def_ro("sentence", &LearnedKernel::sentence);
  m.def("learn_kernel", &learn, "X"_a, "y"_a, "kernel"_a, "objective"_a, "ard"_a, "weights"_a, "alpha"_a.none(), "hold"_a,
        "fit_intercept"_a, "sample_weight"_a, "max_rows"_a, "n_restarts"_a, "max_iterations"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
  nb::class_<KernelScore>(m, "KernelScore", "An objective of kernel learning at one kernel.")
      .def_ro("value", &KernelScore::value)
      .def_ro("gradient", &KernelScore::gradient)
      .def_ro("signal_variance", &KernelScore::signal_variance);
  m.def("score_kernel", &score, "X"_a, "y"_a, "kernel"_a, "alpha"_a, "objective"_a, "fit_intercept"_a, "sample_weight"_a, "threads"_a = 0,
        "memory"_a = 0);
  m.def(
      "with_ard", [](const Kernel& kernel, const Samples& X) { return with_ard(kernel, X); }, "kernel"_a, "X"_a);
}

}  // namespace mercer::python

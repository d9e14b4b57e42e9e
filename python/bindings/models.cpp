// Kernel ridge and ridge regression.
// SPDX-License-Identifier: BSD-3-Clause
#include "models.hpp"

#include "mercer/kernel_ridge.hpp"
#include "mercer/ridge.hpp"

namespace mercer::python {

namespace {

KernelRidgeModel fit_krr(const Samples& X, const Targets& y, const Kernel& kernel, const Vector& alpha, std::optional<double> lambda,
                         bool fit_intercept, const Vector& sample_weight, std::optional<bool> float32, KernelRidgeSolver solver,
                         double tolerance, bool intervals, int threads, std::size_t memory, nb::object progress) {
  KernelRidgeOptions options{.kernel = kernel,
                             .alpha_per_target = alpha,
                             .lambda = lambda,
                             .fit_intercept = fit_intercept,
                             .sample_weight = sample_weight,
                             .precision = {},
                             .solver = solver,
                             .tolerance = tolerance,
                             .intervals = intervals,
                             .run = {}};
  if (float32) options.precision = *float32 ? Precision::float32 : Precision::float64;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return fit_kernel_ridge(X, matrix_of(y), options);
  });
}

RidgeModel fit_ridge_of(const Samples& X, const Targets& y, const Vector& alpha, std::optional<double> lambda, bool fit_intercept,
                        int degree, const Vector& sample_weight, int threads, std::size_t memory, nb::object progress) {
  RidgeOptions options{.alpha_per_target = alpha,
                       .lambda = lambda,
                       .fit_intercept = fit_intercept,
                       .degree = degree,
                       .sample_weight = sample_weight,
                       .run = {}};
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return fit_ridge(X, matrix_of(y), options);
  });
}

}  // namespace

void bind_models(nb::module_& m) {
  nb::enum_<KernelRidgeSolver>(m, "KernelRidgeSolver")
      .value("auto", KernelRidgeSolver::automatic)
      .value("cholesky", KernelRidgeSolver::cholesky)
      .value("mixed", KernelRidgeSolver::mixed_cholesky)
      .value("cg", KernelRidgeSolver::conjugate_gradients);
  nb::class_<SolveSummary>(m, "SolveSummary", "How a linear system was solved.")
      .def_ro("method", &SolveSummary::method)
      .def_ro("positive_definite", &SolveSummary::positive_definite)
      .def_ro("converged", &SolveSummary::converged)
      .def_ro("iterations", &SolveSummary::iterations)
      .def_ro("rank", &SolveSummary::rank)
      .def_ro("residual", &SolveSummary::residual)
      .def_ro("seconds", &SolveSummary::seconds)
      .def_ro("bytes", &SolveSummary::bytes)
      .def("__str__", [](const SolveSummary& s) { return s.sentence; })
      .def("__repr__", [](const SolveSummary& s) { return s.sentence; });
  bind_model<KernelRidgeModel>(m, "KernelRidgeModel", "A fitted kernel ridge regression; immutable.")
      .def_prop_ro("kernel", &KernelRidgeModel::kernel)
      .def_prop_ro("samples", &KernelRidgeModel::samples)
      .def_prop_ro("dual_coef", &KernelRidgeModel::dual_coef, nb::rv_policy::copy)
      .def_prop_ro("intercept", &KernelRidgeModel::intercept, nb::rv_policy::copy)
      .def_prop_ro("alpha", &KernelRidgeModel::alpha, nb::rv_policy::copy)
      .def_prop_ro("is_float32", [](const KernelRidgeModel& k) { return k.precision() == Precision::float32; })
      .def_prop_ro("summary", &KernelRidgeModel::summary, nb::rv_policy::copy)
      .def_prop_ro("has_intervals", &KernelRidgeModel::has_intervals)
      .def_prop_ro("interval_sentence", [](const KernelRidgeModel& k) { return k.interval_summary().sentence; })
      .def(
          "predict_interval",
          [](const KernelRidgeModel& model, const Samples& X, double level, int threads, std::size_t memory, nb::object progress) {
            Job job(threads, memory, std::move(progress));
            IntervalPrediction p = job([&](const Run& run) { return model.predict_interval(X, level, run); });
            return nb::make_tuple(std::move(p.prediction), std::move(p.lower), std::move(p.upper));
          },
          "X"_a, "level"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("fit_kernel_ridge", &fit_krr, "X"_a, "y"_a, "kernel"_a, "alpha"_a, "lambda_"_a.none(), "fit_intercept"_a, "sample_weight"_a,
        "float32"_a.none(), "solver"_a, "tolerance"_a, "intervals"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());

  nb::class_<RidgeSummary>(m, "RidgeSummary", "Spectrum and conditioning of a ridge regression.")
      .def_ro("singular_values", &RidgeSummary::singular_values)
      .def_ro("filter", &RidgeSummary::filter, "s / (s^2 + alpha), for the first target")
      .def_ro("rank", &RidgeSummary::rank)
      .def_ro("condition_before", &RidgeSummary::condition_before, "condition number of the design")
      .def_ro("condition_after", &RidgeSummary::condition_after, "condition number of [X; sqrt(alpha) I]")
      .def_ro("degrees_of_freedom", &RidgeSummary::degrees_of_freedom)
      .def_ro("seconds", &RidgeSummary::seconds)
      .def("__str__", [](const RidgeSummary& s) { return s.sentence; })
      .def("__repr__", [](const RidgeSummary& s) { return s.sentence; });
  bind_model<RidgeModel>(m, "RidgeModel", "A fitted ridge regression; immutable.")
      .def_prop_ro("coef", &RidgeModel::coef, nb::rv_policy::copy)
      .def_prop_ro("intercept", &RidgeModel::intercept, nb::rv_policy::copy)
      .def_prop_ro("degree", &RidgeModel::degree)
      .def_prop_ro("n_features", &RidgeModel::n_features)
      .def_prop_ro("summary", &RidgeModel::summary, nb::rv_policy::copy);
  m.def("fit_ridge", &fit_ridge_of, "X"_a, "y"_a, "alpha"_a, "lambda_"_a.none(), "fit_intercept"_a, "degree"_a, "sample_weight"_a,
        "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "monomials", [](const Targets& X, int degree) { return monomials(matrix_of(X), degree); }, "X"_a, "degree"_a);
}

}  // namespace mercer::python

// Linear support vector machines.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/linear_svc.hpp"

#include "models.hpp"

namespace mercer::python {

namespace {

using Labels = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

LinearSvcModel fit(const Samples& X, const Labels& y, bool squared, double C, std::optional<double> lambda, bool fit_intercept,
                   double intercept_scaling, const Vector& class_weight, const Vector& sample_weight, const std::string& solver,
                   double tolerance, Index max_iterations, std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
  using Solver = LinearSvcOptions::Solver;
  LinearSvcOptions o;
  o.loss = squared ? LinearSvcOptions::Loss::squared_hinge : LinearSvcOptions::Loss::hinge;
  o.C = C;
  o.lambda = lambda;
  o.fit_intercept = fit_intercept;
  o.intercept_scaling = intercept_scaling;
  o.class_weight = class_weight;
  o.sample_weight = sample_weight;
  o.solver = solver == "newton" ? Solver::newton : solver == "descent" ? Solver::coordinate_descent : Solver::automatic;
  o.tolerance = tolerance;
  o.max_iterations = max_iterations;
  o.seed = seed;
  const std::vector<Index> labels(y.data(), y.data() + y.shape(0));
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_linear_svc(X, labels, o);
  });
}

}  // namespace

void bind_linear_svc(nb::module_& m) {
  nb::class_<LinearSvcSummary>(m, "LinearSvcSummary", "How a linear SVM was fitted.")
      .def_ro("method", &LinearSvcSummary::method)
      .def_ro("status", &LinearSvcSummary::status)
      .def_ro("iterations", &LinearSvcSummary::iterations)
      .def_ro("objective", &LinearSvcSummary::objective, "summed over the classes")
      .def_ro("gap", &LinearSvcSummary::gap, "primal minus dual objective, summed")
      .def_ro("relative_gap", &LinearSvcSummary::relative_gap, "of the class where it is largest")
      .def_ro("support_vectors", &LinearSvcSummary::support_vectors)
      .def_ro("seconds", &LinearSvcSummary::seconds)
      .def_ro("bytes", &LinearSvcSummary::bytes)
      .def("__str__", [](const LinearSvcSummary& s) { return s.sentence; })
      .def("__repr__", [](const LinearSvcSummary& s) { return s.sentence; });
  bind_model<LinearSvcModel>(m, "LinearSvcModel", "A fitted linear SVM; immutable.")
      .def_prop_ro("coef", &LinearSvcModel::coef, nb::rv_policy::copy)
      .def_prop_ro("intercept", &LinearSvcModel::intercept, nb::rv_policy::copy)
      .def_prop_ro("C", &LinearSvcModel::C)
      .def_prop_ro("loss", [](const LinearSvcModel& k) { return k.loss() == LinearSvcOptions::Loss::hinge ? "hinge" : "squared_hinge"; })
      .def_prop_ro("n_classes", &LinearSvcModel::classes)
      .def_prop_ro("n_features", &LinearSvcModel::n_features)
      .def_prop_ro("summary", &LinearSvcModel::summary, nb::rv_policy::copy);
  m.def("fit_linear_svc", &fit, "X"_a, "y"_a, "squared"_a, "C"_a, "lambda_"_a.none(), "fit_intercept"_a, "intercept_scaling"_a,
        "class_weight"_a, "sample_weight"_a, "solver"_a, "tolerance"_a, "max_iterations"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
}

}  // namespace mercer::python

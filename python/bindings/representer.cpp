// The representer solver and kernel logistic regression. Losses, costs and penalties written in Python are called with the GIL held, once
// for all samples. SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/pair.h>

#include "mercer/kernel_logistic.hpp"
#include "mercer/representer.hpp"
#include "models.hpp"

namespace mercer::python {

namespace {

using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Line = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// callable(y, z) gives three rows: values, first and second derivatives.
Loss custom_loss(const std::string& name, nb::object callable) {
  const auto held = hold(std::move(callable));
  return losses::custom(name, [held](const VectorRef& y, const VectorRef& z) {
    const nb::gil_scoped_acquire gil;
    const auto got = nb::cast<Values>(std::get<0>(*held)(Vector(y), Vector(z)));
    const Eigen::Map<const Matrix> rows(got.data(), static_cast<Index>(got.shape(0)), static_cast<Index>(got.shape(1)));
    if (rows.rows() != 3) throw InvalidArgument("a loss gives three rows: values, first and second derivatives");
    return LossValues{rows.row(0).transpose(), rows.row(1).transpose(), rows.row(2).transpose()};
  });
}

struct Settings {
  Kernel kernel;
  double lambda;
  bool fit_intercept;
  Index landmarks;
  std::uint64_t seed;
  double tolerance;
  Index max_iterations;
};

RepresenterOptions options_of(const Settings& s, const Loss& loss, const Vector& weight) {
  RepresenterOptions o;
  o.kernel = s.kernel;
  o.loss = loss;
  o.lambda = s.lambda;
  o.fit_intercept = s.fit_intercept;
  o.sample_weight = weight;
  o.landmarks = s.landmarks;
  o.seed = s.seed;
  o.tolerance = s.tolerance;
  o.max_iterations = s.max_iterations;
  return o;
}

RepresenterModel fit_any(const Samples& X, const Targets& y, const Settings& s, const Loss& loss, nb::object omega, const Vector& weight,
                         int threads, std::size_t memory, nb::object progress) {
  RepresenterOptions options = options_of(s, loss, weight);
  if (!omega.is_none()) {
    options.omega = [held = hold(std::move(omega))](double norm) {
      const nb::gil_scoped_acquire gil;
      return nb::cast<double>(std::get<0>(*held)(norm));
    };
  }
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return fit_representer(X, matrix_of(y), options);
  });
}

// callable(z) gives (value, gradient).
RepresenterModel fit_joint(const Samples& X, const Settings& s, nb::object callable, int threads, std::size_t memory, nb::object progress) {
  RepresenterOptions options = options_of(s, losses::squared(), {});
  const JointCost cost = [held = hold(std::move(callable))](const VectorRef& z) {
    const nb::gil_scoped_acquire gil;
    const auto [value, gradient] = nb::cast<std::pair<double, Line>>(std::get<0>(*held)(Vector(z)));
    return JointValue{value, Eigen::Map<const Vector>(gradient.data(), static_cast<Index>(gradient.shape(0)))};
  };
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return fit_joint_cost(X, cost, options);
  });
}

KernelLogisticModel fit_logistic(const Samples& X, const std::vector<Index>& labels, const Kernel& kernel, double C,
                                 std::optional<double> lambda, bool fit_intercept, const Vector& class_weight, const Vector& weight,
                                 const std::string& solver, Index landmarks, std::uint64_t seed, double tolerance, Index max_iterations,
                                 int threads, std::size_t memory, nb::object progress) {
  using Solver = KernelLogisticOptions::Solver;
  KernelLogisticOptions o;
  o.kernel = kernel;
  o.C = C;
  o.lambda = lambda;
  o.fit_intercept = fit_intercept;
  o.class_weight = class_weight;
  o.sample_weight = weight;
  o.solver = solver == "exact" ? Solver::exact : solver == "nystrom" ? Solver::landmarks : Solver::automatic;
  o.landmarks = landmarks;
  o.seed = seed;
  o.tolerance = tolerance;
  o.max_iterations = max_iterations;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_kernel_logistic(X, labels, o);
  });
}

template <class Model, class Method>
auto run_method(Method method) {
  return [method](const Model& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
    Job job(threads, memory, std::move(progress));
    return job([&](const Run& run) { return (model.*method)(X, run); });
  };
}

}  // namespace

void bind_representer(nb::module_& m) {
  nb::class_<ConvexSummary>(m, "ConvexSummary", "How a convex problem was solved.")
      .def_ro("method", &ConvexSummary::method)
      .def_ro("status", &ConvexSummary::status)
      .def_ro("iterations", &ConvexSummary::iterations)
      .def_ro("objective", &ConvexSummary::objective)
      .def_ro("squared_norm", &ConvexSummary::squared_norm)
      .def_ro("gap", &ConvexSummary::gap)
      .def_ro("relative_gap", &ConvexSummary::relative_gap)
      .def_ro("gradient_norm", &ConvexSummary::gradient_norm)
      .def_ro("landmarks", &ConvexSummary::landmarks)
      .def_ro("seconds", &ConvexSummary::seconds)
      .def_ro("bytes", &ConvexSummary::bytes)
      .def("__str__", [](const ConvexSummary& s) { return s.sentence; })
      .def("__repr__", [](const ConvexSummary& s) { return s.sentence; });
  nb::class_<Loss>(m, "Loss", "A convex loss.").def_prop_ro("text", &Loss::text).def("__repr__", &Loss::text);
  m.def(
      "parse_loss", [](const std::string& text) { return parse_loss(text); }, "text"_a);
  m.def("loss_names", &loss_names);
  m.def("custom_loss", &custom_loss, "name"_a, "callable"_a);
  nb::class_<Settings>(m, "RepresenterSettings")
      .def(nb::init<Kernel, double, bool, Index, std::uint64_t, double, Index>(), "kernel"_a, "lambda_"_a, "fit_intercept"_a, "landmarks"_a,
           "seed"_a, "tolerance"_a, "max_iterations"_a);
  bind_model<RepresenterModel>(m, "RepresenterModel", "A fitted representer model; immutable.")
      .def("scores", run_method<RepresenterModel>(&RepresenterModel::decision), "X"_a, "threads"_a = 0, "memory"_a = 0,
           "progress"_a.none() = nb::none())
      .def_prop_ro("kernel", &RepresenterModel::kernel)
      .def_prop_ro("loss", &RepresenterModel::loss)
      .def_prop_ro("samples", &RepresenterModel::samples)
      .def_prop_ro("dual_coef", &RepresenterModel::dual_coef, nb::rv_policy::copy)
      .def_prop_ro("intercept", &RepresenterModel::intercept, nb::rv_policy::copy)
      .def_prop_ro("lambda_", &RepresenterModel::lambda, nb::rv_policy::copy)
      .def_prop_ro("summary", &RepresenterModel::summary, nb::rv_policy::copy);
  m.def("fit_representer", &fit_any, "X"_a, "y"_a, "settings"_a, "loss"_a, "omega"_a.none(), "sample_weight"_a, "threads"_a = 0,
        "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("fit_joint_cost", &fit_joint, "X"_a, "settings"_a, "cost"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  bind_model<KernelLogisticModel>(m, "KernelLogisticModel", "A fitted kernel logistic regression; immutable.")
      .def("probabilities", run_method<KernelLogisticModel>(&KernelLogisticModel::probabilities), "X"_a, "threads"_a = 0, "memory"_a = 0,
           "progress"_a.none() = nb::none())
      .def("log_probabilities", run_method<KernelLogisticModel>(&KernelLogisticModel::log_probabilities), "X"_a, "threads"_a = 0,
           "memory"_a = 0, "progress"_a.none() = nb::none())
      .def_prop_ro("kernel", &KernelLogisticModel::kernel)
      .def_prop_ro("samples", &KernelLogisticModel::samples)
      .def_prop_ro("dual_coef", &KernelLogisticModel::dual_coef, nb::rv_policy::copy)
      .def_prop_ro("intercept", &KernelLogisticModel::intercept, nb::rv_policy::copy)
      .def_prop_ro("lambda_", &KernelLogisticModel::lambda)
      .def_prop_ro("n_classes", &KernelLogisticModel::classes)
      .def_prop_ro("summary", &KernelLogisticModel::summary, nb::rv_policy::copy);
  m.def("fit_kernel_logistic", &fit_logistic, "X"_a, "labels"_a, "kernel"_a, "C"_a, "lambda_"_a.none(), "fit_intercept"_a, "class_weight"_a,
        "sample_weight"_a, "solver"_a, "landmarks"_a, "seed"_a, "tolerance"_a, "max_iterations"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
}

}  // namespace mercer::python

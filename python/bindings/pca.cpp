// Principal component analysis and kernel PCA.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/pca.hpp"

#include "mercer/kernel_pca.hpp"
#include "models.hpp"

namespace mercer::python {

namespace {

PcaModel fit_rows(const Samples& X, const nb::dict& o, int threads, std::size_t memory, nb::object progress) {
  PcaOptions options;
  options.n_components = nb::cast<Index>(o["n_components"]);
  options.variance_fraction = nb::cast<double>(o["variance_fraction"]);
  options.maximum_likelihood = nb::cast<bool>(o["maximum_likelihood"]);
  options.whiten = nb::cast<bool>(o["whiten"]);
  options.route = static_cast<PcaRoute>(nb::cast<int>(o["route"]));
  options.seed = nb::cast<std::uint64_t>(o["seed"]);
  if (const auto tolerance = nb::cast<double>(o["tol"]); tolerance > 0) options.tolerance = tolerance;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return fit_pca(X, options);
  });
}

KernelPcaModel fit_kernel(const Samples& X, const Kernel& kernel, const nb::dict& o, int threads, std::size_t memory, nb::object progress) {
  KernelPcaOptions options;
  options.kernel = kernel;
  options.n_components = nb::cast<Index>(o["n_components"]);
  options.center = nb::cast<bool>(o["center"]);
  options.output = static_cast<KernelPcaOutput>(nb::cast<int>(o["output"]));
  options.solver = static_cast<KernelPcaSolver>(nb::cast<int>(o["solver"]));
  options.remove_zero = nb::cast<bool>(o["remove_zero"]);
  options.rank = nb::cast<Index>(o["rank"]);
  if (!o["landmarks"].is_none()) options.landmarks = nb::cast<Samples>(o["landmarks"]);
  options.tolerance = nb::cast<double>(o["tol"]);
  options.max_iterations = nb::cast<Index>(o["max_iter"]);
  options.seed = nb::cast<std::uint64_t>(o["seed"]);
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return fit_kernel_pca(X, options);
  });
}

KernelPcaModel extend(const KernelPcaModel& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) { return extend_kernel_pca(model, X, run); });
}

template <class Model>
Vector reconstruction_error(const Model& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) { return model.reconstruction_error(X, run); });
}

void bind_rows(nb::module_& m) {
  nb::class_<PcaSummary>(m, "PcaSummary", "How principal components were found.")
      .def_ro("route", &PcaSummary::route)
      .def_ro("status", &PcaSummary::status)
      .def_ro("samples", &PcaSummary::samples)
      .def_ro("components", &PcaSummary::components)
      .def_ro("iterations", &PcaSummary::iterations)
      .def_ro("explained", &PcaSummary::explained)
      .def_ro("seconds", &PcaSummary::seconds)
      .def("__str__", [](const PcaSummary& s) { return s.sentence; })
      .def("__repr__", [](const PcaSummary& s) { return s.sentence; });
  using Model = PcaModel;
  bind_model<Model>(m, "PcaModel", "Fitted principal components; immutable.")
      .def("reconstruction_error", &reconstruction_error<Model>, "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def(
          "inverse_transform", [](const Model& model, const Targets& scores) { return model.inverse_transform(matrix_of(scores)); },
          "scores"_a)
      .def_prop_ro("components", &Model::components, nb::rv_policy::copy)
      .def_prop_ro("mean", &Model::mean, nb::rv_policy::copy)
      .def_prop_ro("explained_variance", &Model::explained_variance, nb::rv_policy::copy)
      .def_prop_ro("explained_variance_ratio", &Model::explained_variance_ratio)
      .def_prop_ro("singular_values", &Model::singular_values)
      .def_prop_ro("total_variance", &Model::total_variance)
      .def_prop_ro("noise_variance", &Model::noise_variance)
      .def_prop_ro("whiten", &Model::whiten)
      .def_prop_ro("n_components", &Model::n_components)
      .def_prop_ro("n_features", &Model::n_features)
      .def_prop_ro("summary", &Model::summary, nb::rv_policy::copy);
  m.def("fit_pca", &fit_rows, "X"_a, "options"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
}

void bind_kernel(nb::module_& m) {
  using Summary = KernelPcaSummary;
  nb::class_<Summary>(m, "KernelPcaSummary", "How kernel principal components were found.")
      .def_ro("solver", &Summary::solver)
      .def_ro("status", &Summary::status)
      .def_ro("samples", &Summary::samples)
      .def_ro("components", &Summary::components)
      .def_ro("landmarks", &Summary::landmarks)
      .def_ro("iterations", &Summary::iterations)
      .def_ro("residual", &Summary::residual)
      .def_ro("trace", &Summary::trace)
      .def_ro("explained", &Summary::explained)
      .def_ro("trace_error", &Summary::trace_error)
      .def_ro("seconds", &Summary::seconds)
      .def_ro("bytes", &Summary::bytes)
      .def("__str__", [](const Summary& s) { return s.sentence; })
      .def("__repr__", [](const Summary& s) { return s.sentence; });
  using Model = KernelPcaModel;
  bind_model<Model>(m, "KernelPcaModel", "Fitted kernel principal components; immutable.")
      .def("reconstruction_error", &reconstruction_error<Model>, "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def("extend", &extend, "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def(
          "expansion", [](const Model& model, const Targets& scores) { return model.expansion(matrix_of(scores)); }, "scores"_a)
      .def_prop_ro("kernel", &Model::kernel)
      .def_prop_ro("basis", &Model::basis)
      .def_prop_ro("eigenvalues", &Model::eigenvalues, nb::rv_policy::copy)
      .def_prop_ro("eigenvectors", &Model::eigenvectors)
      .def_prop_ro("weights", &Model::weights, nb::rv_policy::copy)
      .def_prop_ro("explained_variance", &Model::explained_variance)
      .def_prop_ro("explained_variance_ratio", &Model::explained_variance_ratio)
      .def_prop_ro("n_components", &Model::n_components)
      .def_prop_ro("n_targets", &Model::n_targets)
      .def_prop_ro("output", [](const Model& model) { return static_cast<int>(model.output()); })
      .def_prop_ro("is_centered", &Model::centered)
      .def_prop_ro("is_low_rank", &Model::is_low_rank)
      .def_prop_ro("summary", &Model::summary, nb::rv_policy::copy);
  m.def("fit_kernel_pca", &fit_kernel, "X"_a, "kernel"_a, "options"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
}

}  // namespace

void bind_pca(nb::module_& m) {
  bind_rows(m);
  bind_kernel(m);
}

}  // namespace mercer::python

// Regression on landmarks, and the Nystrom map.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/falkon.hpp"

#include "mercer/chunked_file.hpp"
#include "mercer/nystrom.hpp"
#include "models.hpp"

namespace mercer::python {

namespace {

LandmarkMethod landmark_method(const std::string& word) {
  for (const LandmarkMethod method :
       {LandmarkMethod::uniform, LandmarkMethod::kmeans, LandmarkMethod::rpcholesky, LandmarkMethod::leverage}) {
    if (word == name_of(method)) return method;
  }
  throw InvalidArgument("landmarks must be \"uniform\", \"kmeans\", \"rpcholesky\", \"leverage\" or rows, got \"" + word + "\"");
}

FalkonRoute route_of(const std::string& word) {
  if (word == "auto") return FalkonRoute::automatic;
  if (word == "one-pass") return FalkonRoute::one_pass;
  if (word == "cg") return FalkonRoute::conjugate_gradients;
  throw InvalidArgument("solver must be \"auto\", \"one-pass\" or \"cg\", got \"" + word + "\"");
}

FalkonOptions options_of(const Kernel& kernel, const nb::dict& o) {
  FalkonOptions options{.kernel = kernel};
  options.alpha = nb::cast<double>(o["alpha"]);
  if (!o["lambda_"].is_none()) options.lambda = nb::cast<double>(o["lambda_"]);
  options.n_landmarks = nb::cast<Index>(o["n_landmarks"]);
  if (nb::isinstance<nb::str>(o["landmarks"])) {
    options.landmarks = landmark_method(nb::cast<std::string>(o["landmarks"]));
  } else {
    options.given_landmarks = nb::cast<Samples>(o["landmarks"]);
  }
  options.fit_intercept = nb::cast<bool>(o["fit_intercept"]);
  if (!o["float32"].is_none()) options.precision = nb::cast<bool>(o["float32"]) ? Precision::float32 : Precision::float64;
  options.route = route_of(nb::cast<std::string>(o["solver"]));
  options.tolerance = nb::cast<double>(o["tol"]);
  options.max_iterations = nb::cast<Index>(o["max_iter"]);
  options.validation = nb::cast<double>(o["validation_fraction"]);
  options.seed = nb::cast<std::uint64_t>(o["seed"]);
  return options;
}

FalkonModel fit(const Samples& X, const Targets& y, const Kernel& kernel, const Vector& sample_weight, const nb::dict& o, int threads,
                std::size_t memory, nb::object progress) {
  FalkonOptions options = options_of(kernel, o);
  options.sample_weight = sample_weight;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return fit_falkon(X, matrix_of(y), options);
  });
}

// (model, names of the columns, classes, notes). The kernel is a function of the number of features, which the file tells.
nb::tuple fit_file(const std::string& path, const std::string& target, bool classify, const std::vector<std::string>& drop,
                   const std::string& weights, const nb::callable& kernel_of, const nb::dict& o, int threads, std::size_t memory,
                   nb::object progress) {
  FalkonOptions options = options_of(FalkonOptions().kernel, o);
  FileRowsOptions file;
  file.encode.target = target;
  file.encode.drop = drop;
  file.encode.task = classify ? Task::classification : Task::regression;
  file.weights = weights;
  Encoder encoder;
  std::vector<std::string> notes;
  Job job(threads, memory, std::move(progress));
  FalkonModel model = job([&](const Run& run) {
    options.run = run;
    file.read.run = run;
    const FileRows rows(path, file);
    encoder = rows.encoder();
    notes = rows.notes();
    notes.push_back(rows.describe());
    {
      const nb::gil_scoped_acquire held;
      options.kernel = nb::cast<Kernel>(kernel_of(rows.width()));
    }
    if (options.kernel.has_named_columns()) options.kernel = resolve_columns(options.kernel, encoder.column_names());
    return fit_falkon(rows, options);
  });
  return nb::make_tuple(std::move(model), encoder.sparse || !encoder.named ? nb::none() : nb::cast(encoder.feature_names()),
                        encoder.classes, notes);
}

template <class T>
nb::object transformed(const NystromMap& map, const Samples& X, Precision precision, Job& job) {
  const auto n = static_cast<std::size_t>(X.size());
  const auto m = static_cast<std::size_t>(map.n_components());
  const std::shared_ptr<void> memory = job([&](const Run& run) {
    require_memory(n * m * sizeof(T), run.memory, "the Nystrom features of " + std::to_string(n) + " rows",
                   "transform fewer rows at a time");
    std::shared_ptr<void> out = allocate_big(n * m * sizeof(T));
    map.transform_into(X, static_cast<T*>(out.get()), static_cast<Index>(m), precision, run);
    return out;
  });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(memory.get(), {n, m}, keep(memory)));
}

void bind_nystrom(nb::module_& m) {
  nb::class_<NystromMap>(m, "NystromMap", "Rows to features whose products approximate a kernel; immutable.")
      .def_static(
          "from_parts",
          [](const Kernel& kernel, const Samples& landmarks, const Targets& normalization) {
            return NystromMap::from_parts(kernel, landmarks, {}, Matrix(matrix_of(normalization)));
          },
          "kernel"_a, "landmarks"_a, "normalization"_a)
      .def("__getstate__",
           [](const NystromMap& map) {
             return pickled({map, std::nullopt});
           })
      .def("__setstate__",
           [](NystromMap& self, const nb::object& state) { new (&self) NystromMap(std::get<NystromMap>(unpickled(state).model)); })
      .def(
          "trace_error",
          [](const NystromMap& map, const Samples& X, int threads, std::size_t memory) {
            Job job(threads, memory, nb::none());
            return job([&](const Run& run) { return trace_error(map, X, run); });
          },
          "X"_a, "threads"_a = 0, "memory"_a = 0)
      .def_prop_ro("kernel", &NystromMap::kernel)
      .def_prop_ro("landmarks", &NystromMap::landmarks)
      .def_prop_ro("landmark_rows", &NystromMap::landmark_rows, nb::rv_policy::copy)
      .def_prop_ro("normalization", &NystromMap::normalization, nb::rv_policy::copy)
      .def(
          "transform",
          [](const NystromMap& map, const Samples& X, bool float32_out, bool float32_values, int threads, std::size_t memory,
             nb::object progress) {
            Job job(threads, memory, std::move(progress));
            const Precision precision = float32_values ? Precision::float32 : Precision::float64;
            return float32_out ? transformed<float>(map, X, precision, job) : transformed<double>(map, X, precision, job);
          },
          "X"_a, "float32_out"_a, "float32_values"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "fit_nystrom",
      [](const Samples& X, const Kernel& kernel, Index n_components, const nb::object& landmarks, double alpha, std::uint64_t seed,
         int threads, std::size_t memory, nb::object progress) {
        NystromOptions options{.kernel = kernel, .n_components = n_components, .alpha = alpha, .seed = seed};
        if (nb::isinstance<nb::str>(landmarks)) {
          options.landmarks = landmark_method(nb::cast<std::string>(landmarks));
        } else {
          options.given_landmarks = nb::cast<Samples>(landmarks);
        }
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          options.run = run;
          return fit_nystrom(X, options);
        });
      },
      "X"_a, "kernel"_a, "n_components"_a, "landmarks"_a, "alpha"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0,
      "progress"_a.none() = nb::none());
}

}  // namespace

void bind_falkon(nb::module_& m) {
  nb::class_<FalkonSummary>(m, "FalkonSummary", "How a regression on landmarks went.")
      .def_ro("method", &FalkonSummary::method, "\"one pass\" or \"conjugate gradients\"")
      .def_ro("landmarks", &FalkonSummary::landmarks)
      .def_ro("rows", &FalkonSummary::rows, "fitted on")
      .def_prop_ro("sums_float32", [](const FalkonSummary& s) { return s.sums_precision == Precision::float32; })
      .def_ro("jitter", &FalkonSummary::jitter)
      .def_ro("trace_error", &FalkonSummary::trace_error)
      .def_ro("trace_rows", &FalkonSummary::trace_rows)
      .def_ro("train_mse", &FalkonSummary::train_mse)
      .def_ro("validation_rows", &FalkonSummary::validation_rows)
      .def_ro("validation_mse", &FalkonSummary::validation_mse)
      .def_ro("validation_r2", &FalkonSummary::validation_r2)
      .def_ro("iterations", &FalkonSummary::iterations)
      .def_ro("residual", &FalkonSummary::residual)
      .def_ro("converged", &FalkonSummary::converged)
      .def_ro("rounding", &FalkonSummary::rounding)
      .def_ro("passes", &FalkonSummary::passes)
      .def_ro("seconds", &FalkonSummary::seconds)
      .def_ro("bytes", &FalkonSummary::bytes)
      .def("__str__", [](const FalkonSummary& s) { return s.sentence; })
      .def("__repr__", [](const FalkonSummary& s) { return s.sentence; });
  bind_model<FalkonModel>(m, "FalkonModel", "A fitted regression on landmarks; immutable.")
      .def_prop_ro("kernel", &FalkonModel::kernel)
      .def_prop_ro("samples", &FalkonModel::samples)
      .def_prop_ro("landmark_rows", &FalkonModel::landmark_rows, nb::rv_policy::copy)
      .def_prop_ro("dual_coef", &FalkonModel::dual_coef, nb::rv_policy::copy)
      .def_prop_ro("intercept", &FalkonModel::intercept, nb::rv_policy::copy)
      .def_prop_ro("alpha", &FalkonModel::alpha)
      .def_prop_ro("is_float32", [](const FalkonModel& k) { return k.precision() == Precision::float32; })
      .def_prop_ro("summary", &FalkonModel::summary, nb::rv_policy::copy);
  m.def("fit_falkon", &fit, "X"_a, "y"_a, "kernel"_a, "sample_weight"_a, "options"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
  m.def("fit_falkon_file", &fit_file, "path"_a, "target"_a, "classify"_a, "drop"_a, "weights"_a, "kernel_of"_a, "options"_a,
        "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  bind_nystrom(m);
}

}  // namespace mercer::python

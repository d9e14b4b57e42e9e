// Feature maps that are not Fourier's: empirical and Mercer kernel maps, tensor sketches, monomials, additive chi-squared; and functions of
// a matrix. SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/function.h>

#include "mercer/explicit_maps.hpp"
#include "mercer/kernel_map.hpp"
#include "mercer/matrix_function.hpp"
#include "mercer/tensor_sketch.hpp"
#include "models.hpp"

namespace mercer::python {

namespace {

template <class T, class Map>
nb::object filled(const Map& map, const Samples& X, Job& job) {
  const auto n = static_cast<std::size_t>(X.size());
  const auto m = static_cast<std::size_t>(map.n_components());
  const std::shared_ptr<void> memory = job([&](const Run& run) {
    require_memory(n * m * sizeof(T), run.memory, "the " + std::to_string(n) + " x " + std::to_string(m) + " features",
                   "transform chunks of rows, or use fewer components");
    std::shared_ptr<void> out = allocate_big(n * m * sizeof(T));
    map.transform_into(X, static_cast<T*>(out.get()), static_cast<Index>(m), run);
    return out;
  });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(memory.get(), {n, m}, keep(memory)));
}

template <class Map>
nb::object transform(const Map& map, const Samples& X, bool float32, int threads, std::size_t memory, nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return float32 ? filled<float>(map, X, job) : filled<double>(map, X, job);
}

template <class Map>
nb::class_<Map> bind_map(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<Map>(m, name, doc)
      .def("transform", &transform<Map>, "X"_a, "float32"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def_prop_ro("kernel", [](const Map& map) { return map.kernel(); })
      .def_prop_ro("n_components", &Map::n_components)
      .def_prop_ro("n_features", &Map::n_features)
      .def("__getstate__",
           [](const Map& map) {
             return pickled({map, std::nullopt});
           })
      .def("__setstate__", [](Map& self, const nb::object& state) { new (&self) Map(std::get<Map>(unpickled(state).model)); });
}

LandmarkMethod method_of(const std::string& word) {
  for (const LandmarkMethod method :
       {LandmarkMethod::uniform, LandmarkMethod::kmeans, LandmarkMethod::rpcholesky, LandmarkMethod::leverage}) {
    if (word == name_of(method)) return method;
  }
  throw InvalidArgument("landmarks must be \"uniform\", \"kmeans\", \"rpcholesky\", \"leverage\" or an array of rows, got \"" + word +
                        "\"");
}

void bind_kernel_maps(nb::module_& m) {
  bind_map<KernelMap>(m, "KernelMap", "Features made of kernel values with given points; immutable.")
      .def_prop_ro("kind", [](const KernelMap& map) { return std::string(name_of(map.kind())); })
      .def_prop_ro("points", &KernelMap::points)
      .def_prop_ro("point_rows", &KernelMap::point_rows, nb::rv_policy::copy)
      .def_prop_ro("projection", &KernelMap::projection, nb::rv_policy::copy)
      .def_prop_ro("eigenvalues", &KernelMap::eigenvalues, nb::rv_policy::copy);
  m.def(
      "fit_empirical_kernel_map",
      [](const Samples& X, const Kernel& kernel, bool whiten, Index n_components, const nb::object& landmarks, std::uint64_t seed,
         int threads, std::size_t memory, nb::object progress) {
        EmpiricalKernelMapOptions options{.kernel = kernel, .whiten = whiten, .n_components = n_components, .seed = seed};
        if (nb::isinstance<nb::str>(landmarks)) {
          options.landmarks = method_of(nb::cast<std::string>(landmarks));
        } else {
          options.given_landmarks = nb::cast<Samples>(landmarks);
        }
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          options.run = run;
          return fit_empirical_kernel_map(X, options);
        });
      },
      "X"_a, "kernel"_a, "whiten"_a, "n_components"_a, "landmarks"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0,
      "progress"_a.none() = nb::none());
  m.def(
      "fit_mercer_map",
      [](const Samples& X, const Kernel& kernel, Index n_components, Index n_points, const Vector& sample_weight, std::uint64_t seed,
         int threads, std::size_t memory, nb::object progress) {
        MercerMapOptions options{
            .kernel = kernel, .n_components = n_components, .n_points = n_points, .sample_weight = sample_weight, .seed = seed};
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          options.run = run;
          return fit_mercer_map(X, options);
        });
      },
      "X"_a, "kernel"_a, "n_components"_a, "n_points"_a, "sample_weight"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0,
      "progress"_a.none() = nb::none());
}

void bind_sketch(nb::module_& m) {
  bind_map<TensorSketch>(m, "TensorSketchMap", "A sketch of tensor powers; immutable.")
      .def_prop_ro("places", &TensorSketch::places, nb::rv_policy::copy)
      .def_prop_ro("signs", &TensorSketch::signs, nb::rv_policy::copy)
      .def_prop_ro("degree", &TensorSketch::degree)
      .def_prop_ro("scale", &TensorSketch::scale)
      .def_prop_ro("offset", &TensorSketch::offset)
      .def("error_bound", &TensorSketch::error_bound, "confidence"_a);
  m.def(
      "tensor_sketch",
      [](Index width, int degree, double scale, double offset, Index n_components, std::uint64_t seed) {
        return tensor_sketch(width, {.degree = degree, .scale = scale, .offset = offset, .n_components = n_components, .seed = seed});
      },
      "width"_a, "degree"_a, "scale"_a, "offset"_a, "n_components"_a, "seed"_a);
}

MonomialWeighting weighting_of(const std::string& word) {
  if (word == "ordered") return MonomialWeighting::ordered;
  if (word == "sqrt") return MonomialWeighting::root;
  return MonomialWeighting::plain;
}

void bind_explicit_maps(nb::module_& m) {
  m.def(
      "monomial_columns",
      [](Index width, int low, int high, const std::string& weighting) {
        return monomial_columns(width, {.min_degree = low, .max_degree = high, .weighting = weighting_of(weighting)});
      },
      "width"_a, "low"_a, "high"_a, "weighting"_a);
  m.def(
      "monomial_factors",
      [](Index width, int low, int high, const std::string& weighting) {
        return monomial_factors(width, {.min_degree = low, .max_degree = high, .weighting = weighting_of(weighting)});
      },
      "width"_a, "low"_a, "high"_a, "weighting"_a);
  m.def(
      "monomial_features",
      [](const Samples& X, int low, int high, const std::string& weighting, int threads, std::size_t memory, nb::object progress) {
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          return monomial_features(X, {.min_degree = low, .max_degree = high, .weighting = weighting_of(weighting), .run = run});
        });
      },
      "X"_a, "low"_a, "high"_a, "weighting"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "additive_chi2_interval",
      [](int steps, std::optional<double> interval) {
        return additive_chi2_interval({.sample_steps = steps, .sample_interval = interval});
      },
      "steps"_a, "interval"_a.none());
  m.def(
      "additive_chi2_features",
      [](const Samples& X, int steps, std::optional<double> interval, int threads, std::size_t memory) {
        Job job(threads, memory, nb::none());
        return job(
            [&](const Run& run) { return additive_chi2_features(X, {.sample_steps = steps, .sample_interval = interval, .run = run}); });
      },
      "X"_a, "steps"_a, "interval"_a.none(), "threads"_a = 0, "memory"_a = 0);
}

void bind_matrix_function(nb::module_& m) {
  m.def(
      "matrix_function",
      [](const Targets& K, const std::string& name, double exponent, std::optional<double> tolerance, int threads, std::size_t memory,
         nb::object progress) {
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          const MatrixFunctionOptions options{.tolerance = tolerance, .run = run};
          if (name == "sqrt") return matrix_sqrt(matrix_of(K), options);
          if (name == "invsqrt") return matrix_inverse_sqrt(matrix_of(K), options);
          if (name == "log") return matrix_log(matrix_of(K), options);
          return matrix_power(matrix_of(K), exponent, options);
        });
      },
      "K"_a, "name"_a, "exponent"_a, "tolerance"_a.none(), "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "matrix_function_of",
      [](const Targets& K, const std::function<Vector(const Vector&)>& f, std::optional<double> tolerance, int threads, std::size_t memory,
         nb::object progress) {
        Job job(threads, memory, std::move(progress));
        const auto with_gil = [&](const Vector& d) {
          const nb::gil_scoped_acquire held;
          return f(d);
        };
        return job([&](const Run& run) { return matrix_function(matrix_of(K), with_gil, {.tolerance = tolerance, .run = run}); });
      },
      "K"_a, "f"_a, "tolerance"_a.none(), "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
}

}  // namespace

void bind_maps(nb::module_& m) {
  bind_kernel_maps(m);
  bind_sketch(m);
  bind_explicit_maps(m);
  bind_matrix_function(m);
}

}  // namespace mercer::python

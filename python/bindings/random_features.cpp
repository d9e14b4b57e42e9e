// Random Fourier features, and ridge regression on them.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/random_features.hpp"

#include "mercer/random_feature_ridge.hpp"
#include "models.hpp"

namespace mercer::python {

namespace {

FourierForm form_of(bool cosine) { return cosine ? FourierForm::cosine : FourierForm::sine_cosine; }
FourierDraw draw_of(const std::string& word) {
  for (const FourierDraw draw : {FourierDraw::orthogonal, FourierDraw::structured, FourierDraw::quasi_random}) {
    if (word == name_of(draw)) return draw;
  }
  return FourierDraw::independent;
}
Precision precision_of_flag(bool float32) { return float32 ? Precision::float32 : Precision::float64; }

template <class T>
nb::object filled(const RandomFourierFeatures& map, const Samples& X, Job& job) {
  const auto n = static_cast<std::size_t>(X.size());
  const auto m = static_cast<std::size_t>(map.n_components());
  const std::shared_ptr<void> memory = job([&](const Run& run) {
    require_memory(n * m * sizeof(T), run.memory, "the " + std::to_string(n) + " x " + std::to_string(m) + " random features",
                   "transform chunks of rows, use fewer components, or RandomFeatureRidge, which never stores them");
    std::shared_ptr<void> out = allocate_big(n * m * sizeof(T));
    map.transform_into(X, static_cast<T*>(out.get()), map.n_components(), run);
    return out;
  });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(memory.get(), {n, m}, keep(memory)));
}

nb::object transform(const RandomFourierFeatures& map, const Samples& X, bool float32, int threads, std::size_t memory,
                     nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return float32 ? filled<float>(map, X, job) : filled<double>(map, X, job);
}

// The map alone, for the state of running sums.
nb::tuple state_of(const RandomFourierFeatures& map) {
  return nb::make_tuple(map.kernel().text(), map.form() == FourierForm::cosine, std::string(name_of(map.draw())), map.frequencies(),
                        map.offsets(), map.scale(), map.centre());
}

RandomFourierFeatures map_from(const nb::tuple& state) {
  return RandomFourierFeatures::from_parts(parse_kernel(nb::cast<std::string>(state[0])), form_of(nb::cast<bool>(state[1])),
                                           draw_of(nb::cast<std::string>(state[2])), nb::cast<Matrix>(state[3]), nb::cast<Vector>(state[4]),
                                           nb::cast<double>(state[5]), nb::cast<Vector>(state[6]));
}

RandomFeatureSums sums_of(const Samples& X, const Targets& y, const Kernel& kernel, Index n_components, bool cosine,
                          const std::string& draw, std::uint64_t seed, const Vector& alpha, std::optional<double> lambda,
                          const Vector& sample_weight, double validation_fraction, std::optional<bool> float32, int threads,
                          std::size_t memory, nb::object progress) {
  RandomFeatureRidgeOptions options{.kernel = kernel,
                                    .n_components = n_components,
                                    .form = form_of(cosine),
                                    .draw = draw_of(draw),
                                    .seed = seed,
                                    .alpha_per_target = alpha,
                                    .lambda = lambda,
                                    .sample_weight = sample_weight,
                                    .validation_fraction = validation_fraction,
                                    .precision = {},
                                    .run = {}};
  if (float32) options.precision = precision_of_flag(*float32);
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return random_feature_sums(X, matrix_of(y), options);
  });
}

// On a copy that replaces the sums when all has gone well: an interrupted call leaves them as they were.
void accumulate(RandomFeatureSums& self, const Samples& X, const Targets& y, const Vector& sample_weight, int threads, std::size_t memory,
                nb::object progress) {
  Job job(threads, memory, std::move(progress));
  self = job([&](const Run& run) {
    RandomFeatureSums copy = self;
    copy.accumulate(X, matrix_of(y), sample_weight, run);
    return copy;
  });
}

RandomFeatureRidgeModel solve(const RandomFeatureSums& self, const Vector& alpha, std::optional<double> lambda, bool fit_intercept,
                              int threads, std::size_t memory, nb::object progress) {
  RandomFeatureSolve options{.alpha_per_target = alpha, .lambda = lambda, .fit_intercept = fit_intercept, .run = {}};
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return self.solve(options);
  });
}

nb::bytes bytes_of(const RandomFeatureSums& self) {
  const std::string bytes = self.to_bytes();
  return nb::bytes(bytes.data(), bytes.size());
}

void bind_map(nb::module_& m) {
  nb::class_<RandomFourierFeatures>(m, "FourierMap", "A random Fourier feature map; immutable.")
      .def("transform", &transform, "X"_a, "float32"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def("centred_at", &RandomFourierFeatures::centred_at, "centre"_a)
      .def("hoeffding_error", &RandomFourierFeatures::hoeffding_error, "confidence"_a, "samples"_a)
      .def("hoeffding_failure", &RandomFourierFeatures::hoeffding_failure, "error"_a, "samples"_a)
      .def_prop_ro("kernel", &RandomFourierFeatures::kernel)
      .def_prop_ro("frequencies", &RandomFourierFeatures::frequencies, nb::rv_policy::copy)
      .def_prop_ro("offsets", &RandomFourierFeatures::offsets, nb::rv_policy::copy)
      .def_prop_ro("n_components", &RandomFourierFeatures::n_components)
      .def_prop_ro("scale", &RandomFourierFeatures::scale)
      .def_prop_ro("is_cosine", [](const RandomFourierFeatures& map) { return map.form() == FourierForm::cosine; })
      .def_prop_ro("draw", [](const RandomFourierFeatures& map) { return std::string(name_of(map.draw())); })
      .def("__getstate__",
           [](const RandomFourierFeatures& map) {
             return pickled({map, std::nullopt});
           })
      .def("__setstate__", [](RandomFourierFeatures& self, const nb::object& state) {
        new (&self) RandomFourierFeatures(std::get<RandomFourierFeatures>(unpickled(state).model));
      });
  m.def(
      "random_fourier_features",
      [](const Kernel& kernel, Index width, Index n_components, bool cosine, const std::string& draw, std::uint64_t seed,
         std::size_t memory) {
        return random_fourier_features(
            kernel, width, {.n_components = n_components, .form = form_of(cosine), .draw = draw_of(draw), .seed = seed, .memory = memory});
      },
      "kernel"_a, "width"_a, "n_components"_a, "cosine"_a, "draw"_a, "seed"_a, "memory"_a = 0);
  m.def(
      "hoeffding_components",
      [](bool cosine, double error, double confidence, Index samples, double scale) {
        return hoeffding_components(form_of(cosine), error, confidence, samples, scale);
      },
      "cosine"_a, "error"_a, "confidence"_a, "samples"_a, "scale"_a);
}

void bind_ridge(nb::module_& m) {
  using Summary = RandomFeatureSummary;
  nb::class_<Summary>(m, "RandomFeatureSummary", "How ridge regression on random features was solved, and how well it does.")
      .def_ro("method", &Summary::method)
      .def_ro("rows", &Summary::rows)
      .def_ro("rank", &Summary::rank)
      .def_ro("residual", &Summary::residual)
      .def_ro("training_rmse", &Summary::training_rmse)
      .def_ro("held_out_rows", &Summary::held_out_rows)
      .def_ro("held_out_rmse", &Summary::held_out_rmse)
      .def_ro("held_out_r2", &Summary::held_out_r2)
      .def_ro("seconds", &Summary::seconds)
      .def_ro("bytes", &Summary::bytes)
      .def("__str__", [](const Summary& s) { return s.sentence; })
      .def("__repr__", [](const Summary& s) { return s.sentence; });
  using Model = RandomFeatureRidgeModel;
  bind_model<Model>(m, "RandomFeatureRidgeModel", "A fitted ridge regression on random Fourier features; immutable.")
      .def_prop_ro("kernel", &Model::kernel)
      .def_prop_ro("features", &Model::features)
      .def_prop_ro("coef", &Model::coef, nb::rv_policy::copy)
      .def_prop_ro("intercept", &Model::intercept, nb::rv_policy::copy)
      .def_prop_ro("alpha", &Model::alpha, nb::rv_policy::copy)
      .def_prop_ro("is_float32", [](const Model& model) { return model.precision() == Precision::float32; })
      .def_prop_ro("summary", &Model::summary, nb::rv_policy::copy);
  nb::class_<RandomFeatureSums>(m, "RandomFeatureSums", "Running sums of ridge regression on random features.")
      .def("accumulate", &accumulate, "X"_a, "y"_a, "sample_weight"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def("merge", &RandomFeatureSums::merge, "other"_a)
      .def("solve", &solve, "alpha"_a, "lambda_"_a.none(), "fit_intercept"_a, "threads"_a = 0, "memory"_a = 0,
           "progress"_a.none() = nb::none())
      .def_prop_ro("rows", &RandomFeatureSums::rows)
      .def_prop_ro("targets", &RandomFeatureSums::targets)
      .def_prop_ro("features", &RandomFeatureSums::features)
      .def("to_bytes", &bytes_of)
      .def("__copy__", [](const RandomFeatureSums& self) { return RandomFeatureSums(self); })
      .def("__getstate__",
           [](const RandomFeatureSums& self) {
             return nb::make_tuple(state_of(self.features()), self.targets(), self.precision() == Precision::float32,
                                   self.validation_fraction(), self.seed(), bytes_of(self));
           })
      .def("__setstate__", [](RandomFeatureSums& self, const nb::tuple& state) {
        RandomFeatureSums sums(map_from(nb::cast<nb::tuple>(state[0])), nb::cast<Index>(state[1]),
                               precision_of_flag(nb::cast<bool>(state[2])), nb::cast<double>(state[3]), nb::cast<std::uint64_t>(state[4]));
        const auto bytes = nb::cast<nb::bytes>(state[5]);
        sums.restore({bytes.c_str(), bytes.size()});
        new (&self) RandomFeatureSums(std::move(sums));
      });
  m.def("random_feature_sums", &sums_of, "X"_a, "y"_a, "kernel"_a, "n_components"_a, "cosine"_a, "draw"_a, "seed"_a, "alpha"_a,
        "lambda_"_a.none(), "sample_weight"_a, "validation_fraction"_a, "float32"_a.none(), "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
}

}  // namespace

void bind_random_features(nb::module_& m) {
  bind_map(m);
  bind_ridge(m);
}

}  // namespace mercer::python

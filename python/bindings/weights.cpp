// Mixture weights, mean matching and coresets; mercer/_coresets.py, _mean_matching.py and _mixture.py are what people use.
// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "mercer/coresets.hpp"
#include "mercer/mean_matching.hpp"
#include "mercer/mixture_weights.hpp"

namespace mercer::python {

namespace {

Atoms atoms_of(const std::string& word) {
  for (const Atoms atoms : {Atoms::automatic, Atoms::pivoted, Atoms::herded, Atoms::thinned, Atoms::random}) {
    if (word == name_of(atoms)) return atoms;
  }
  throw InvalidArgument(R"(atoms must be "auto", "pivoted", "herded", "thinned" or "random", got ")" + word + '"');
}

CoresetMeasure measure_of(const std::string& word) {
  if (word == "auto") return CoresetMeasure::automatic;
  if (word == "exact") return CoresetMeasure::exact;
  if (word == "features") return CoresetMeasure::features;
  if (word == "none") return CoresetMeasure::none;
  throw InvalidArgument(R"(measure must be "auto", "exact", "features" or "none", got ")" + word + '"');
}

void bind_coresets(nb::module_& m) {
  nb::class_<Coreset>(m, "Coreset")
      .def_ro("rows", &Coreset::rows)
      .def_prop_ro("weights", [](const Coreset& c) { return c.weights; })
      .def_prop_ro("path", [](const Coreset& c) { return c.path; })
      .def_ro("mmd", &Coreset::mmd)
      .def_ro("mmd_error", &Coreset::mmd_error)
      .def_ro("random_mmd", &Coreset::random_mmd)
      .def_ro("gap", &Coreset::gap)
      .def_ro("method", &Coreset::method)
      .def_ro("kernel", &Coreset::kernel)
      .def_ro("n", &Coreset::n)
      .def_ro("seed", &Coreset::seed)
      .def_ro("remarks", &Coreset::remarks)
      .def_ro("seconds", &Coreset::seconds)
      .def_ro("sentence", &Coreset::sentence);
  m.def(
      "squash",
      [](const Samples& X, Index size, const Kernel& kernel, const std::string& atoms, Index candidates, const std::string& measure,
         std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
        SquashOptions options{kernel, atoms_of(atoms), candidates, measure_of(measure), seed, {}};
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          options.run = run;
          return squash(X, size, options);
        });
      },
      "X"_a, "m"_a, "kernel"_a, "atoms"_a, "candidates"_a, "measure"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0,
      "progress"_a.none() = nb::none());
  m.def(
      "herd",
      [](const Samples& X, Index size, const Kernel& kernel, Index candidates, const std::string& measure, std::uint64_t seed, int threads,
         std::size_t memory, nb::object progress) {
        HerdOptions options{kernel, candidates, measure_of(measure), seed, {}};
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          options.run = run;
          return herd(X, size, options);
        });
      },
      "X"_a, "m"_a, "kernel"_a, "candidates"_a, "measure"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "thin",
      [](const Samples& X, Index size, const Kernel& kernel, Index oversampling, double failure, int swap_passes,
         const std::string& measure, std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
        ThinOptions options{kernel, oversampling, failure, swap_passes, measure_of(measure), seed, {}};
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          options.run = run;
          return thin(X, size, options);
        });
      },
      "X"_a, "m"_a, "kernel"_a, "oversampling"_a, "failure"_a, "swap_passes"_a, "measure"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0,
      "progress"_a.none() = nb::none());
}

void bind_mean_matching(nb::module_& m) {
  nb::class_<MeanMatching>(m, "MeanMatching")
      .def_prop_ro("weights", [](const MeanMatching& r) { return r.weights; })
      .def_ro("effective_sample_size", &MeanMatching::effective_sample_size)
      .def_ro("mmd_before", &MeanMatching::mmd_before)
      .def_ro("mmd_after", &MeanMatching::mmd_after)
      .def_ro("mmd_error", &MeanMatching::mmd_error)
      .def_ro("gap", &MeanMatching::gap)
      .def_ro("mean", &MeanMatching::mean)
      .def_ro("zeros", &MeanMatching::zeros)
      .def_ro("at_bound", &MeanMatching::at_bound)
      .def_ro("converged", &MeanMatching::converged)
      .def_ro("kernel", &MeanMatching::kernel)
      .def_ro("remarks", &MeanMatching::remarks)
      .def_ro("seconds", &MeanMatching::seconds)
      .def_ro("sentence", &MeanMatching::sentence);
  m.def(
      "match_means",
      [](const Samples& train, const Samples& target, const Kernel& kernel, double bound, double epsilon, double ridge,
         Vector target_weights, double tolerance, int threads, std::size_t memory, nb::object progress) {
        MeanMatchingOptions options{kernel, bound, epsilon, ridge, std::move(target_weights), tolerance, {}};
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          options.run = run;
          return match_means(train, target, options);
        });
      },
      "train"_a, "target"_a, "kernel"_a, "bound"_a, "epsilon"_a, "ridge"_a, "target_weights"_a, "tolerance"_a, "threads"_a = 0,
      "memory"_a = 0, "progress"_a.none() = nb::none());
}

void bind_mixture(nb::module_& m) {
  nb::class_<MixtureWeights>(m, "MixtureWeights")
      .def_prop_ro("weights", [](const MixtureWeights& r) { return r.weights; })
      .def_ro("mmd", &MixtureWeights::mmd)
      .def_prop_ro("component_mmd", [](const MixtureWeights& r) { return r.component_mmd; })
      .def_ro("gap", &MixtureWeights::gap)
      .def_prop_ro("gram", [](const MixtureWeights& r) { return r.gram; })
      .def_prop_ro("products", [](const MixtureWeights& r) { return r.products; })
      .def_ro("unique", &MixtureWeights::unique)
      .def_ro("kernel", &MixtureWeights::kernel)
      .def_ro("remarks", &MixtureWeights::remarks)
      .def_ro("seconds", &MixtureWeights::seconds)
      .def_ro("sentence", &MixtureWeights::sentence);
  // A component is (samples, weights) or (mean, covariance).
  m.def(
      "mixture_weights",
      [](const Samples& X, Vector weights, const nb::list& components, const Kernel& kernel, int threads, std::size_t memory,
         nb::object progress) {
        std::vector<MixtureComponent> parts;
        for (const nb::handle item : components) {
          const auto pair = nb::cast<nb::tuple>(item);
          if (nb::isinstance<Samples>(pair[0])) {
            parts.emplace_back(SampleComponent{nb::cast<Samples>(pair[0]), nb::cast<Vector>(pair[1])});
          } else {
            parts.emplace_back(GaussianComponent{nb::cast<Vector>(pair[0]), nb::cast<Matrix>(pair[1])});
          }
        }
        MixtureOptions options{kernel, std::move(weights), {}};
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          options.run = run;
          return mixture_weights(X, parts, options);
        });
      },
      "X"_a, "weights"_a, "components"_a, "kernel"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "mixture_weights_of_products",
      [](const Matrix& Q, const Vector& p, double squared_norm, int threads) {
        Job job(threads, 0, nb::none());
        return job([&](const Run& run) { return mixture_weights_of_products(Q, p, squared_norm, run); });
      },
      "Q"_a, "p"_a, "squared_norm"_a, "threads"_a = 0);
}

}  // namespace

void bind_weights(nb::module_& m) {
  bind_coresets(m);
  bind_mean_matching(m);
  bind_mixture(m);
}

}  // namespace mercer::python

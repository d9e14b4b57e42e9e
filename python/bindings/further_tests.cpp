// Conditional independence, goodness of fit and k samples; mercer/_conditional_independence.py, _goodness_of_fit.py and _k_sample.py have
// the functions that people use. SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "mercer/conditional_independence.hpp"
#include "mercer/goodness_of_fit.hpp"
#include "mercer/k_sample.hpp"

namespace mercer::python {

namespace {

using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

ConditionalMethod method_of(const std::string& word) {
  for (const auto method : {ConditionalMethod::automatic, ConditionalMethod::kci, ConditionalMethod::randomized}) {
    if (word == name_of(method)) return method;
  }
  throw InvalidArgument(R"(method must be "auto", "kci" or "randomized", got ")" + word + '"');
}

ConditionalNull conditional_null_of(const std::string& word) {
  for (const auto null : {ConditionalNull::spectral, ConditionalNull::gamma}) {
    if (word == name_of(null)) return null;
  }
  throw InvalidArgument(R"(null must be "spectral" or "gamma", got ")" + word + '"');
}

KsdStatistic statistic_of(const std::string& word) {
  if (word == "ksd-u") return KsdStatistic::u;
  if (word == "ksd-v") return KsdStatistic::v;
  throw InvalidArgument(R"(statistic must be "ksd-u" or "ksd-v", got ")" + word + '"');
}

TestResult conditional(const Samples& X, const Samples& Y, const Samples& Z, const std::optional<Kernel>& kernel_x,
                       const std::optional<Kernel>& kernel_y, const std::optional<Kernel>& kernel_z, const std::string& method,
                       const std::string& null, Index draws, std::optional<double> epsilon, bool remove_means, Index features_xy,
                       Index features_z, Index features_weight, double level, std::uint64_t seed, int threads, std::size_t memory,
                       nb::object progress) {
  ConditionalIndependenceOptions o;
  if (kernel_x) o.kernel_x = *kernel_x;
  if (kernel_y) o.kernel_y = *kernel_y;
  if (kernel_z) o.kernel_z = *kernel_z;
  o.method = method_of(method);
  o.null = conditional_null_of(null);
  o.draws = draws;
  o.epsilon = epsilon;
  o.remove_means = remove_means;
  o.features_xy = features_xy;
  o.features_z = features_z;
  o.features_weight = features_weight;
  o.level = level;
  o.seed = seed;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return conditional_independence_test(X, Y, Z, o);
  });
}

GoodnessOfFitOptions fit_options(const std::optional<Kernel>& kernel, const std::string& statistic, Index draws, double flip_probability,
                                 double level, std::uint64_t seed) {
  GoodnessOfFitOptions o;
  if (kernel) o.kernel = *kernel;
  o.statistic = statistic_of(statistic);
  o.draws = draws;
  o.flip_probability = flip_probability;
  o.level = level;
  o.seed = seed;
  return o;
}

// A score written in Python: rows to rows, under the GIL. mercer/_goodness_of_fit.py sees to the type of what it gives.
Distribution scored(std::string name, nb::object callable) {
  auto held = hold(std::move(callable));
  return Distribution::from_score(std::move(name), [held](const Matrix& X) -> Matrix {
    const nb::gil_scoped_acquire gil;
    const auto values = nb::cast<Values>(std::get<0>(*held)(X));
    return Eigen::Map<const Matrix>(values.data(), static_cast<Index>(values.shape(0)), static_cast<Index>(values.shape(1)));
  });
}

Distribution mixture(const Vector& weights, const Matrix& means, const std::vector<Matrix>& covariances) {
  std::vector<Distribution::Component> components;
  for (Index c = 0; c < weights.size(); ++c) components.push_back({weights[c], means.row(c), covariances.at(static_cast<std::size_t>(c))});
  return Distribution::mixture(components);
}

KSampleResult k_sample(const Samples& X, const std::vector<Index>& labels, const std::optional<Kernel>& kernel, Index permutations,
                       const std::string& exchange, std::vector<Index> groups, bool pairwise, std::vector<std::string> names, double level,
                       std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
  KSampleOptions o;
  if (kernel) o.kernel = *kernel;
  o.permutations = permutations;
  if (exchange == name_of(Exchange::within_groups)) {
    o.exchange.scheme = Exchange::within_groups;
  } else if (exchange != name_of(Exchange::free)) {
    throw InvalidArgument(R"(exchange must be "free" or "within-groups", got ")" + exchange + '"');
  }
  o.exchange.groups = std::move(groups);
  o.pairwise = pairwise;
  o.names = std::move(names);
  o.level = level;
  o.seed = seed;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return k_sample_test(X, labels, o);
  });
}

}  // namespace

void bind_further_tests(nb::module_& m) {
  m.def("conditional_independence_test", &conditional, "X"_a, "Y"_a, "Z"_a, "kernel_x"_a.none(), "kernel_y"_a.none(), "kernel_z"_a.none(),
        "method"_a, "null"_a, "draws"_a, "epsilon"_a.none(), "remove_means"_a, "features_xy"_a, "features_z"_a, "features_weight"_a,
        "level"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());

  nb::class_<Distribution>(m, "Distribution")
      .def_static("mixture", &mixture, "weights"_a, "means"_a, "covariances"_a)
      .def_static("from_score", &scored, "name"_a, "score"_a)
      .def_prop_ro("name", [](const Distribution& p) { return p.name(); })
      .def(
          "scores", [](const Distribution& p, const Matrix& X) { return p.scores(X); }, "X"_a)
      .def(
          "sample",
          [](const Distribution& p, Index n, std::uint64_t seed) {
            RandomStream random(seed);
            return p.sample(n, random, p.width());
          },
          "n"_a, "seed"_a);
  m.def(
      "goodness_of_fit_test",
      [](const Samples& X, const Distribution& p, const std::optional<Kernel>& kernel, const std::string& statistic, Index draws,
         double flip_probability, double level, std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
        GoodnessOfFitOptions o = fit_options(kernel, statistic, draws, flip_probability, level, seed);
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          o.run = run;
          return goodness_of_fit_test(X, p, o);
        });
      },
      "X"_a, "distribution"_a, "kernel"_a.none(), "statistic"_a, "draws"_a, "flip_probability"_a, "level"_a, "seed"_a, "threads"_a = 0,
      "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "fitted_goodness_of_fit_test",
      [](const Samples& X, nb::object fit, const std::optional<Kernel>& kernel, const std::string& statistic, Index draws,
         double flip_probability, double level, std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
        GoodnessOfFitOptions o = fit_options(kernel, statistic, draws, flip_probability, level, seed);
        const auto held = hold(std::move(fit));
        const DistributionFit call = [held](const Matrix& rows) {
          const nb::gil_scoped_acquire gil;
          return nb::cast<Distribution>(std::get<0>(*held)(rows));
        };
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          o.run = run;
          return fitted_goodness_of_fit_test(X, call, o);
        });
      },
      "X"_a, "fit"_a, "kernel"_a.none(), "statistic"_a, "draws"_a, "flip_probability"_a, "level"_a, "seed"_a, "threads"_a = 0,
      "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "normality_test",
      [](const Samples& X, const std::optional<Kernel>& kernel, const std::string& statistic, Index draws, double flip_probability,
         double level, std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
        GoodnessOfFitOptions o = fit_options(kernel, statistic, draws, flip_probability, level, seed);
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          o.run = run;
          return normality_test(X, o);
        });
      },
      "X"_a, "kernel"_a.none(), "statistic"_a, "draws"_a, "flip_probability"_a, "level"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0,
      "progress"_a.none() = nb::none());

  nb::class_<KSamplePair>(m, "KSamplePair")
      .def_ro("first", &KSamplePair::first)
      .def_ro("second", &KSamplePair::second)
      .def_ro("squared", &KSamplePair::squared)
      .def_ro("p_value", &KSamplePair::p_value)
      .def_ro("adjusted", &KSamplePair::adjusted)
      .def_ro("rejected", &KSamplePair::rejected);
  nb::class_<KSampleResult, TestResult>(m, "KSampleResult")
      .def_ro("labels", &KSampleResult::labels)
      .def_ro("sizes", &KSampleResult::sizes)
      .def_ro("pairs", &KSampleResult::pairs);
  m.def("k_sample_test", &k_sample, "X"_a, "labels"_a, "kernel"_a.none(), "permutations"_a, "exchange"_a, "groups"_a, "pairwise"_a,
        "names"_a, "level"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
}

}  // namespace mercer::python

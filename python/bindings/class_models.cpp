// The support vector machine by stochastic gradients, and the class-mean classifier.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_mean.hpp"
#include "mercer/kernel_sgd.hpp"
#include "models.hpp"

namespace mercer::python {

namespace {

KernelSGDModel fit_sgd(const Samples& X, const std::vector<Index>& labels, const Kernel& kernel, std::optional<double> lambda,
                       Index iterations, std::optional<bool> average, Index budget, std::uint64_t seed, const Vector& weight, int threads,
                       std::size_t memory, nb::object progress) {
  using Output = KernelSGDOptions::Output;
  KernelSGDOptions o;
  o.kernel = kernel;
  o.lambda = lambda;
  o.iterations = iterations;
  if (average) o.output = *average ? Output::averaged : Output::last;
  o.budget = budget;
  o.seed = seed;
  o.sample_weight = weight;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_kernel_sgd(X, labels, o);
  });
}

// priors: empty for equal ones; `empirical` overrides them.
KernelMeanModel fit_mean(const Samples& X, const std::vector<Index>& labels, const Kernel& kernel, bool parzen, bool empirical,
                         const Vector& priors, const Vector& weight, int threads, std::size_t memory, nb::object progress) {
  using Priors = KernelMeanOptions::Priors;
  KernelMeanOptions o;
  o.kernel = kernel;
  o.rule = parzen ? MeanRule::parzen : MeanRule::nearest;
  o.priors = empirical ? Priors::empirical : priors.size() > 0 ? Priors::given : Priors::equal;
  o.given_priors = priors;
  o.sample_weight = weight;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_kernel_mean(X, labels, o);
  });
}

template <class Method>
auto mean_method(Method method) {
  return [method](const KernelMeanModel& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
    Job job(threads, memory, std::move(progress));
    return job([&](const Run& run) { return (model.*method)(X, run); });
  };
}

}  // namespace

void bind_class_models(nb::module_& m) {
  nb::class_<KernelSGDSummary>(m, "KernelSGDSummary", "How stochastic gradients went.")
      .def_ro("iterations", &KernelSGDSummary::iterations)
      .def_ro("output", &KernelSGDSummary::output)
      .def_ro("updates", &KernelSGDSummary::updates)
      .def_ro("support_vectors", &KernelSGDSummary::support_vectors)
      .def_ro("removals", &KernelSGDSummary::removals)
      .def_ro("certified", &KernelSGDSummary::certified)
      .def_ro("objective", &KernelSGDSummary::objective)
      .def_ro("squared_norm", &KernelSGDSummary::squared_norm)
      .def_ro("gap", &KernelSGDSummary::gap)
      .def_ro("relative_gap", &KernelSGDSummary::relative_gap)
      .def_ro("stored", &KernelSGDSummary::stored)
      .def_ro("seconds", &KernelSGDSummary::seconds)
      .def_ro("bytes", &KernelSGDSummary::bytes)
      .def("__str__", [](const KernelSGDSummary& s) { return s.sentence; })
      .def("__repr__", [](const KernelSGDSummary& s) { return s.sentence; });
  bind_model<KernelSGDModel>(m, "KernelSGDModel", "A support vector machine fitted by stochastic gradients; immutable.")
      .def_prop_ro("kernel", &KernelSGDModel::kernel)
      .def_prop_ro("samples", &KernelSGDModel::samples)
      .def_prop_ro("support", &KernelSGDModel::support)
      .def_prop_ro("dual_coef", &KernelSGDModel::dual_coef, nb::rv_policy::copy)
      .def_prop_ro("lambda_", &KernelSGDModel::lambda)
      .def_prop_ro("n_classes", &KernelSGDModel::classes)
      .def_prop_ro("summary", &KernelSGDModel::summary, nb::rv_policy::copy);
  m.def("fit_kernel_sgd", &fit_sgd, "X"_a, "labels"_a, "kernel"_a, "lambda_"_a.none(), "iterations"_a, "average"_a.none(), "budget"_a,
        "seed"_a, "sample_weight"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  nb::class_<KernelMeanSummary>(m, "KernelMeanSummary", "What the class means are like.")
      .def_ro("samples", &KernelMeanSummary::samples)
      .def_ro("classes", &KernelMeanSummary::classes)
      .def_prop_ro("distances", [](const KernelMeanSummary& s) { return s.distances; })
      .def_ro("coincide", &KernelMeanSummary::coincide)
      .def_ro("seconds", &KernelMeanSummary::seconds)
      .def("__str__", [](const KernelMeanSummary& s) { return s.sentence; })
      .def("__repr__", [](const KernelMeanSummary& s) { return s.sentence; });
  bind_model<KernelMeanModel>(m, "KernelMeanModel", "Class means in a feature space; immutable.")
      .def("class_scores", mean_method(&KernelMeanModel::class_scores), "X"_a, "threads"_a = 0, "memory"_a = 0,
           "progress"_a.none() = nb::none())
      .def("probabilities", mean_method(&KernelMeanModel::probabilities), "X"_a, "threads"_a = 0, "memory"_a = 0,
           "progress"_a.none() = nb::none())
      .def("log_densities", mean_method(&KernelMeanModel::log_densities), "X"_a, "threads"_a = 0, "memory"_a = 0,
           "progress"_a.none() = nb::none())
      .def_prop_ro("kernel", &KernelMeanModel::kernel)
      .def_prop_ro("is_parzen", [](const KernelMeanModel& model) { return model.rule() == MeanRule::parzen; })
      .def_prop_ro("samples", &KernelMeanModel::samples)
      .def_prop_ro("labels", &KernelMeanModel::labels)
      .def_prop_ro("weights", &KernelMeanModel::weights, nb::rv_policy::copy)
      .def_prop_ro("priors", &KernelMeanModel::priors, nb::rv_policy::copy)
      .def_prop_ro("mean_gram", &KernelMeanModel::mean_gram, nb::rv_policy::copy)
      .def_prop_ro("intercept", &KernelMeanModel::intercept)
      .def_prop_ro("n_classes", &KernelMeanModel::classes)
      .def_prop_ro("summary", &KernelMeanModel::summary, nb::rv_policy::copy);
  m.def("fit_kernel_mean", &fit_mean, "X"_a, "labels"_a, "kernel"_a, "parzen"_a, "empirical"_a, "priors"_a, "sample_weight"_a,
        "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
}

}  // namespace mercer::python

// Support vector machines with structured outputs, and those whose outputs only a Python object knows.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/structured_svm.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "models.hpp"

namespace mercer::python {

namespace {

using Whole = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using WholeRows = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<Index> indices_of(const Whole& values) { return {values.data(), values.data() + values.shape(0)}; }

// C, lambda_, fit_intercept, sample_weight, tolerance, max_passes, seed: as all fits take them.
using Settings = std::tuple<double, std::optional<double>, bool, Vector, double, Index, std::uint64_t>;

StructuredSvmOptions options_of(const Settings& settings) {
  StructuredSvmOptions o;
  std::tie(o.C, o.lambda, o.fit_intercept, o.sample_weight, o.tolerance, o.max_passes, o.seed) = settings;
  return o;
}

template <class Fit>
auto fit_in_job(const Settings& settings, int threads, std::size_t memory, nb::object progress, const Fit& fit) {
  StructuredSvmOptions o = options_of(settings);
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit(o);
  });
}

StructuredSvmModel fit_multiclass(const Samples& X, const Whole& labels, const Kernel& kernel, const Settings& settings, int threads,
                                  std::size_t memory, nb::object progress) {
  const std::vector<Index> y = indices_of(labels);
  return fit_in_job(settings, threads, memory, std::move(progress), [&](StructuredSvmOptions& o) {
    o.kernel = kernel;
    return fit_multiclass_svm(X, y, o);
  });
}

StructuredSvmModel fit_chain(const Samples& X, const Whole& offsets, const Whole& labels, const Settings& settings, int threads,
                             std::size_t memory, nb::object progress) {
  const std::vector<Index> at = indices_of(offsets);
  const std::vector<Index> y = indices_of(labels);
  return fit_in_job(settings, threads, memory, std::move(progress),
                    [&](const StructuredSvmOptions& o) { return fit_chain_svm(X, at, y, o); });
}

StructuredSvmModel fit_ranking(const Samples& X, const WholeRows& ranks, const Settings& settings, int threads, std::size_t memory,
                               nb::object progress) {
  const RowMatrix<Index> places =
      Eigen::Map<const RowMatrix<std::int64_t>>(ranks.data(), static_cast<Index>(ranks.shape(0)), static_cast<Index>(ranks.shape(1)))
          .cast<Index>();
  return fit_in_job(settings, threads, memory, std::move(progress),
                    [&](const StructuredSvmOptions& o) { return fit_ranking_svm(X, places, o); });
}

// A callable (example, w) -> (loss, indices, values). Called on the thread that asked, one example at a time.
class PythonOracle final : public StructuredOracle {
 public:
  PythonOracle(Index examples, Index dimension, nb::object callable)
      : examples_(examples), dimension_(dimension), callable_(hold(std::move(callable))) {}
  Index examples() const override { return examples_; }
  Index dimension() const override { return dimension_; }
  bool parallel() const override { return false; }
  StructuredAnswer worst(Index i, const Vector& w) const override {
    const nb::gil_scoped_acquire held;
    const auto [loss, indices, values] = nb::cast<std::tuple<double, Whole, Numbers>>(std::get<0>(*callable_)(i, Vector(w)));
    return {{indices_of(indices), {values.data(), values.data() + values.shape(0)}}, loss};
  }

 private:
  Index examples_;
  Index dimension_;
  std::shared_ptr<const std::tuple<nb::object>> callable_;
};

std::pair<Vector, StructuredSvmSummary> fit_oracle(Index examples, Index dimension, nb::object callable, const Settings& settings,
                                                   int threads, std::size_t memory, nb::object progress) {
  const PythonOracle oracle(examples, dimension, std::move(callable));
  StructuredFit fit = fit_in_job(settings, threads, memory, std::move(progress),
                                 [&](const StructuredSvmOptions& o) { return fit_structured_svm(oracle, o); });
  return {std::move(fit.weights), std::move(fit.summary)};
}

using SummaryState =
    std::tuple<std::string, Index, Index, double, double, double, double, Index, Index, Index, double, std::size_t, std::string>;

SummaryState state_of(const StructuredSvmSummary& s) {
  return {s.status, s.passes,          s.searches, s.objective, s.dual,  s.gap,     s.relative_gap,
          s.planes, s.support_vectors, s.missed,   s.seconds,   s.bytes, s.sentence};
}

StructuredSvmSummary summary_of(const SummaryState& state) {
  StructuredSvmSummary s;
  std::tie(s.status, s.passes, s.searches, s.objective, s.dual, s.gap, s.relative_gap, s.planes, s.support_vectors, s.missed, s.seconds,
           s.bytes, s.sentence) = state;
  return s;
}

}  // namespace

void bind_structured_svm(nb::module_& m) {
  nb::class_<StructuredSvmSummary>(m, "StructuredSvmSummary", "How a structured machine was fitted.")
      .def_ro("status", &StructuredSvmSummary::status)
      .def_ro("passes", &StructuredSvmSummary::passes)
      .def_ro("searches", &StructuredSvmSummary::searches, "calls of the loss-augmented argmax")
      .def_ro("objective", &StructuredSvmSummary::objective)
      .def_ro("dual", &StructuredSvmSummary::dual)
      .def_ro("gap", &StructuredSvmSummary::gap, "objective minus dual")
      .def_ro("relative_gap", &StructuredSvmSummary::relative_gap)
      .def_ro("planes", &StructuredSvmSummary::planes)
      .def_ro("support_vectors", &StructuredSvmSummary::support_vectors)
      .def_ro("missed", &StructuredSvmSummary::missed, "searches that returned less than an output already known")
      .def_ro("seconds", &StructuredSvmSummary::seconds)
      .def_ro("bytes", &StructuredSvmSummary::bytes)
      .def("__str__", [](const StructuredSvmSummary& s) { return s.sentence; })
      .def("__repr__", [](const StructuredSvmSummary& s) { return s.sentence; })
      .def("__getstate__", &state_of)
      .def("__setstate__",
           [](StructuredSvmSummary& self, const SummaryState& state) { new (&self) StructuredSvmSummary(summary_of(state)); });
  bind_model<StructuredSvmModel>(m, "StructuredSvmModel", "A fitted structured machine; immutable.")
      .def(
          "label_sequences",
          [](const StructuredSvmModel& model, const Samples& X, const Whole& offsets, int threads, std::size_t memory,
             nb::object progress) {
            const std::vector<Index> at = indices_of(offsets);
            Job job(threads, memory, std::move(progress));
            return job([&](const Run& run) { return model.label_sequences(X, at, run); });
          },
          "X"_a, "offsets"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def(
          "ranks",
          [](const StructuredSvmModel& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
            Job job(threads, memory, std::move(progress));
            return job([&](const Run& run) { return RowMatrix<std::int64_t>(model.ranks(X, run).cast<std::int64_t>()); });
          },
          "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def_prop_ro("form", [](const StructuredSvmModel& model) { return name_of(model.form()); })
      .def_prop_ro("kernel", &StructuredSvmModel::kernel)
      .def_prop_ro("samples", &StructuredSvmModel::samples)
      .def_prop_ro("is_linear", &StructuredSvmModel::is_linear)
      .def_prop_ro("support", [](const StructuredSvmModel& model) { return model.parts().support; })
      .def_prop_ro("coef", [](const StructuredSvmModel& model) { return model.parts().coef; })
      .def_prop_ro("intercept", &StructuredSvmModel::intercept, nb::rv_policy::copy)
      .def_prop_ro("transition", [](const StructuredSvmModel& model) { return model.parts().transition; })
      .def_prop_ro("start", [](const StructuredSvmModel& model) { return model.parts().start; })
      .def_prop_ro("end", [](const StructuredSvmModel& model) { return model.parts().end; })
      .def_prop_ro("C", [](const StructuredSvmModel& model) { return model.parts().C; })
      .def_prop_ro("sequence_column", [](const StructuredSvmModel& model) { return model.parts().sequence_column; })
      .def_prop_ro("n_classes", &StructuredSvmModel::n_targets)
      .def_prop_ro("n_features", &StructuredSvmModel::n_features)
      .def_prop_ro("summary", &StructuredSvmModel::summary, nb::rv_policy::copy);
  m.def("fit_multiclass_svm", &fit_multiclass, "X"_a, "labels"_a, "kernel"_a, "settings"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
  m.def("fit_chain_svm", &fit_chain, "X"_a, "offsets"_a, "labels"_a, "settings"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
  m.def("fit_ranking_svm", &fit_ranking, "X"_a, "ranks"_a, "settings"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("fit_structured_oracle", &fit_oracle, "examples"_a, "dimension"_a, "worst"_a, "settings"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
}

}  // namespace mercer::python

// Support vector machines that choose their own penalty and kernel.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/svm_cv.hpp"

#include <nanobind/stl/pair.h>

#include "models.hpp"

namespace mercer::python {

namespace {

using Labels = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FoldPairs = std::vector<std::pair<std::vector<Index>, std::vector<Index>>>;

std::vector<Fold> folds_of(FoldPairs& pairs) {
  std::vector<Fold> out;
  for (auto& [train, test] : pairs) out.push_back({std::move(train), std::move(test)});
  return out;
}

SvcScore class_score(const std::string& word) {
  if (word == "balanced_accuracy") return SvcScore::balanced_accuracy;
  if (word == "f1") return SvcScore::f1;
  if (word == "f1_macro") return SvcScore::f1_macro;
  return SvcScore::accuracy;
}

SvrScore value_score(const std::string& word) {
  if (word == "neg_mean_squared_error") return SvrScore::mean_squared_error;
  if (word == "neg_mean_absolute_error") return SvrScore::mean_absolute_error;
  return SvrScore::r2;
}

SvcCvResult fit_svc(const Samples& X, const Labels& y, const std::vector<Kernel>& kernels, const std::vector<double>& C, FoldPairs folds,
                    const std::string& score, bool abandon, bool fit_intercept, bool balanced, const Vector& class_weight,
                    const Vector& sample_weight, bool one_vs_rest, bool break_ties, bool probability, std::uint64_t seed, double tolerance,
                    Index max_iterations, double time_limit, int threads, std::size_t memory, nb::object progress) {
  SvcCvOptions o;
  o.kernels = kernels;
  o.C = C;
  o.folds = folds_of(folds);
  o.score = class_score(score);
  o.abandon = abandon;
  o.fit_intercept = fit_intercept;
  o.balanced = balanced;
  o.class_weight = class_weight;
  o.sample_weight = sample_weight;
  o.multi_class = one_vs_rest ? MultiClass::one_vs_rest : MultiClass::one_vs_one;
  o.break_ties = break_ties;
  o.probability = probability;
  o.seed = seed;
  o.solver.tolerance = tolerance;
  o.solver.max_iterations = max_iterations;
  o.solver.time_limit = time_limit;
  const std::vector<Index> labels(y.data(), y.data() + y.shape(0));
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_svc_cv(X, labels, o);
  });
}

SvrCvResult fit_svr(const Samples& X, const Vector& y, const std::vector<Kernel>& kernels, const std::vector<double>& C,
                    const std::vector<double>& epsilon, FoldPairs folds, const std::string& score, bool abandon, bool fit_intercept,
                    const Vector& sample_weight, double tolerance, Index max_iterations, double time_limit, int threads, std::size_t memory,
                    nb::object progress) {
  SvrCvOptions o;
  o.kernels = kernels;
  o.C = C;
  o.epsilon = epsilon;
  o.folds = folds_of(folds);
  o.score = value_score(score);
  o.abandon = abandon;
  o.fit_intercept = fit_intercept;
  o.sample_weight = sample_weight;
  o.solver.tolerance = tolerance;
  o.solver.max_iterations = max_iterations;
  o.solver.time_limit = time_limit;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_svr_cv(X, y, o);
  });
}

// One number of every candidate.
template <class Result, class Get>
Vector column(const Result& result, const Get& get) {
  Vector out(static_cast<Index>(result.table.size()));
  for (Index k = 0; k < out.size(); ++k) out[k] = static_cast<double>(get(result.table[static_cast<std::size_t>(k)]));
  return out;
}

template <class Result>
void bind_result(nb::module_& m, const char* name) {
  nb::class_<Result>(m, name, "The candidates of a grid search, and the model of the best.")
      .def_prop_ro("model", [](const Result& r) { return r.model; })
      .def_ro("kernels", &Result::kernels)
      .def_ro("best", &Result::best)
      .def_prop_ro("kernel", [](const Result& r) { return column(r, [](const SvmCandidate& c) { return c.kernel; }); })
      .def_prop_ro("C", [](const Result& r) { return column(r, [](const SvmCandidate& c) { return c.C; }); })
      .def_prop_ro("epsilon", [](const Result& r) { return column(r, [](const SvmCandidate& c) { return c.epsilon; }); })
      .def_prop_ro("mean", [](const Result& r) { return column(r, [](const SvmCandidate& c) { return c.mean; }); })
      .def_prop_ro("deviation", [](const Result& r) { return column(r, [](const SvmCandidate& c) { return c.deviation; }); })
      .def_prop_ro("abandoned", [](const Result& r) { return column(r, [](const SvmCandidate& c) { return c.abandoned; }); })
      .def_prop_ro("converged", [](const Result& r) { return column(r, [](const SvmCandidate& c) { return c.converged; }); })
      .def_prop_ro("fold_scores",
                   [](const Result& r) {
                     Matrix out(static_cast<Index>(r.table.size()), r.table.front().fold_scores.size());
                     for (Index k = 0; k < out.rows(); ++k) out.row(k) = r.table[static_cast<std::size_t>(k)].fold_scores.transpose();
                     return out;
                   })
      .def_prop_ro("fits", [](const Result& r) { return r.summary.fits; })
      .def_prop_ro("iterations", [](const Result& r) { return r.summary.iterations; })
      .def_prop_ro("seconds", [](const Result& r) { return r.summary.seconds; })
      .def_prop_ro("refit_seconds", [](const Result& r) { return r.summary.refit_seconds; })
      .def_prop_ro("remark", [](const Result& r) { return r.summary.remark; })
      .def("__str__", [](const Result& r) { return r.summary.sentence; });
}

Matrix decision_of(const SvcModel& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) { return model.decision(X, run); });
}

Matrix probabilities_of(const SvcModel& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) { return model.probabilities(X, run); });
}

Matrix scores_of(const SvcModel& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) { return model.scores(X, run); });
}

std::vector<Index> classes_of(const SvcModel& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) { return model.classes(X, run); });
}

Matrix values_of(const SvrModel& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) { return model.predict(X, run); });
}

}  // namespace

// What the estimators ask of a model are functions here, so that they need nothing of how the models are bound.
void bind_svm_cv(nb::module_& m) {
  bind_result<SvcCvResult>(m, "SvcCvResult");
  bind_result<SvrCvResult>(m, "SvrCvResult");
  m.def("fit_svc_cv", &fit_svc, "X"_a, "y"_a, "kernels"_a, "C"_a, "folds"_a, "score"_a, "abandon"_a, "fit_intercept"_a, "balanced"_a,
        "class_weight"_a, "sample_weight"_a, "one_vs_rest"_a, "break_ties"_a, "probability"_a, "seed"_a, "tolerance"_a, "max_iterations"_a,
        "time_limit"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("fit_svr_cv", &fit_svr, "X"_a, "y"_a, "kernels"_a, "C"_a, "epsilon"_a, "folds"_a, "score"_a, "abandon"_a, "fit_intercept"_a,
        "sample_weight"_a, "tolerance"_a, "max_iterations"_a, "time_limit"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
  m.def("svc_decision", &decision_of, "model"_a, "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("svc_scores", &scores_of, "model"_a, "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("svc_probabilities", &probabilities_of, "model"_a, "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("svc_classes", &classes_of, "model"_a, "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("svr_predict", &values_of, "model"_a, "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  const auto parts = [](const SupportExpansion& e) { return nb::make_tuple(e.support, e.coef, e.intercept); };
  m.def(
      "svm_parts", [parts](const SvcModel& model) { return parts(model.parts()); }, "model"_a);
  m.def(
      "svm_parts", [parts](const SvrModel& model) { return parts(model.parts()); }, "model"_a);
  m.def(
      "svm_vectors", [](const SvcModel& model) { return model.samples(); }, "model"_a);
  m.def(
      "svm_vectors", [](const SvrModel& model) { return model.samples(); }, "model"_a);
  m.def(
      "svc_n_support", [](const SvcModel& model) { return model.n_support(); }, "model"_a);
}

}  // namespace mercer::python

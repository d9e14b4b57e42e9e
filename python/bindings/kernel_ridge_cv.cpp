// The regularisation path of kernel ridge, and intervals for models that were fitted without.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_ridge_cv.hpp"

#include <nanobind/stl/pair.h>

#include "models.hpp"

namespace mercer::python {

namespace {

using FoldPairs = std::vector<std::pair<std::vector<Index>, std::vector<Index>>>;

PathCriterion criterion_of(const std::string& word) {
  if (word == "loo") return PathCriterion::leave_one_out;
  if (word == "gcv") return PathCriterion::gcv;
  if (word == "evidence") return PathCriterion::log_evidence;
  throw InvalidArgument("criterion must be \"loo\", \"gcv\" or \"evidence\", got \"" + word + "\"");
}

KernelRidgeCvResult fit_path(const Samples& X, const Targets& y, const std::vector<Kernel>& kernels, const std::vector<double>& alphas,
                             const std::string& criterion, FoldPairs folds, bool alpha_per_target, bool fit_intercept,
                             const Vector& sample_weight, bool intervals, bool keep_residuals, int threads, std::size_t memory,
                             nb::object progress) {
  KernelRidgeCvOptions options;
  options.kernels = kernels;
  options.alphas = alphas;
  options.criterion = criterion_of(criterion);
  for (auto& [train, test] : folds) options.folds.push_back({std::move(train), std::move(test)});
  options.alpha_per_target = alpha_per_target;
  options.fit_intercept = fit_intercept;
  options.sample_weight = sample_weight;
  options.intervals = intervals;
  options.keep_residuals = keep_residuals;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    options.run = run;
    return fit_kernel_ridge_cv(X, matrix_of(y), options);
  });
}

KernelRidgeModel with_intervals(const KernelRidgeModel& model, const Samples& X, const Targets& y, const Vector& sample_weight,
                                bool fit_intercept, int threads, std::size_t memory, nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    return add_intervals(model, X, matrix_of(y), {.sample_weight = sample_weight, .fit_intercept = fit_intercept, .run = run});
  });
}

// One number of every point.
template <class Get>
Vector column(const KernelRidgeCvResult& result, const Get& get) {
  Vector out(static_cast<Index>(result.points().size()));
  for (Index k = 0; k < out.size(); ++k) out[k] = static_cast<double>(get(result.points()[static_cast<std::size_t>(k)]));
  return out;
}

// One row of every point.
Matrix rows(const KernelRidgeCvResult& result, Vector PathPoint::*member) {
  const auto& points = result.points();
  Matrix out(static_cast<Index>(points.size()), (points.front().*member).size());
  for (Index k = 0; k < out.rows(); ++k) out.row(k) = (points[static_cast<std::size_t>(k)].*member).transpose();
  return out;
}

}  // namespace

void bind_kernel_ridge_cv(nb::module_& m) {
  using Result = KernelRidgeCvResult;
  nb::class_<Result>(m, "KernelRidgeCvResult", "The path of kernel ridge: every kernel with every alpha, and the model at the best.")
      .def_prop_ro("model", &Result::model, nb::rv_policy::copy)
      .def_prop_ro("kernels", [](const Result& r) { return r.kernels(); })
      .def_prop_ro("best_kernel", &Result::best_kernel)
      .def_prop_ro("best_alpha", [](const Result& r) { return r.best_alpha(); })
      .def_prop_ro("best_score", &Result::best_score)
      .def_prop_ro("residuals", [](const Result& r) { return r.leave_one_out_residuals(); })
      .def("residuals_of", [](const Result& r, std::size_t k) { return r.points().at(k).residuals; })
      .def_prop_ro("kernel", [](const Result& r) { return column(r, [](const PathPoint& p) { return p.kernel; }); })
      .def_prop_ro("alpha", [](const Result& r) { return column(r, [](const PathPoint& p) { return p.alpha; }); })
      .def_prop_ro("score", [](const Result& r) { return column(r, [](const PathPoint& p) { return p.score; }); })
      .def_prop_ro("valid", [](const Result& r) { return column(r, [](const PathPoint& p) { return p.valid; }); })
      .def_prop_ro("loo", [](const Result& r) { return column(r, [](const PathPoint& p) { return p.leave_one_out_error; }); })
      .def_prop_ro("gcv", [](const Result& r) { return column(r, [](const PathPoint& p) { return p.gcv; }); })
      .def_prop_ro("log_evidence", [](const Result& r) { return column(r, [](const PathPoint& p) { return p.log_evidence; }); })
      .def_prop_ro("degrees_of_freedom", [](const Result& r) { return column(r, [](const PathPoint& p) { return p.degrees_of_freedom; }); })
      .def_prop_ro("scores", [](const Result& r) { return rows(r, &PathPoint::scores); })
      .def_prop_ro("fold_scores", [](const Result& r) { return rows(r, &PathPoint::fold_scores); })
      .def_prop_ro("notes",
                   [](const Result& r) {
                     std::vector<std::string> out;
                     for (const PathPoint& p : r.points()) out.push_back(p.note);
                     return out;
                   })
      .def("__str__", [](const Result& r) { return r.summary().sentence; });
  m.def("fit_kernel_ridge_cv", &fit_path, "X"_a, "y"_a, "kernels"_a, "alphas"_a, "criterion"_a, "folds"_a, "alpha_per_target"_a,
        "fit_intercept"_a, "sample_weight"_a, "intervals"_a, "keep_residuals"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
  m.def("add_intervals", &with_intervals, "model"_a, "X"_a, "y"_a, "sample_weight"_a, "fit_intercept"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
}

}  // namespace mercer::python

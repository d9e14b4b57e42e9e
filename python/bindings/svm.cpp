// Support vector machines: fits without the GIL, and single rows by the shortest way there is.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/svm.hpp"

#include "models.hpp"

namespace mercer::python {

namespace {

using Labels = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Line = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<Index> labels_of(const Labels& y) { return {y.data(), y.data() + y.shape(0)}; }
Eigen::Map<const Vector> vector_of(const Line& y) { return {y.data(), static_cast<Index>(y.shape(0))}; }

// What the fits of both families of classifiers take.
struct ClassifierSettings {
  Vector class_weight;
  Vector sample_weight;
  bool probability;
  std::uint64_t seed;
  bool break_ties;
  bool one_vs_rest;
};

template <class Options>
Options classifier_options(const Kernel& kernel, const ClassifierSettings& s, const SvmSolver& solver) {
  Options o;
  o.kernel = kernel;
  o.class_weight = s.class_weight;
  o.sample_weight = s.sample_weight;
  o.probability = s.probability;
  o.seed = s.seed;
  o.break_ties = s.break_ties;
  o.multi_class = s.one_vs_rest ? MultiClass::one_vs_rest : MultiClass::one_vs_one;
  o.solver = solver;
  return o;
}

SvcModel fit_c(const Samples& X, const Labels& y, const Kernel& kernel, const ClassifierSettings& settings, const SvmSolver& solver,
               double C, std::optional<double> lambda, bool hard_margin, bool fit_intercept, const Matrix& start, int threads,
               std::size_t memory, nb::object progress) {
  auto o = classifier_options<SvcOptions>(kernel, settings, solver);
  o.C = C;
  o.lambda = lambda;
  o.hard_margin = hard_margin;
  o.fit_intercept = fit_intercept;
  o.start = start;
  const std::vector<Index> labels = labels_of(y);
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_svc(X, labels, o);
  });
}

SvcModel fit_nu(const Samples& X, const Labels& y, const Kernel& kernel, const ClassifierSettings& settings, const SvmSolver& solver,
                double nu, int threads, std::size_t memory, nb::object progress) {
  auto o = classifier_options<NuSvcOptions>(kernel, settings, solver);
  o.nu = nu;
  const std::vector<Index> labels = labels_of(y);
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_nu_svc(X, labels, o);
  });
}

SvrModel fit_epsilon(const Samples& X, const Line& y, const Kernel& kernel, const Vector& weight, const SvmSolver& solver, double C,
                     std::optional<double> lambda, double epsilon, bool fit_intercept, const Matrix& start, int threads, std::size_t memory,
                     nb::object progress) {
  SvrOptions o{kernel, C, lambda, epsilon, fit_intercept, weight, start, solver, {}};
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_svr(X, vector_of(y), o);
  });
}

SvrModel fit_nu_regression(const Samples& X, const Line& y, const Kernel& kernel, const Vector& weight, const SvmSolver& solver, double C,
                           double nu, int threads, std::size_t memory, nb::object progress) {
  NuSvrOptions o{kernel, C, nu, weight, solver, {}};
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_nu_svr(X, vector_of(y), o);
  });
}

OneClassModel fit_one(const Samples& X, const Kernel& kernel, const Vector& weight, const SvmSolver& solver, double nu, int threads,
                      std::size_t memory, nb::object progress) {
  OneClassOptions o{kernel, nu, weight, solver, {}};
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_one_class(X, o);
  });
}

Vector values_of_row(const SvcModel& model, std::span<const double> x) {
  Vector f(model.functions());
  model.decision_row(x, {f.data(), static_cast<std::size_t>(f.size())});
  return f;
}
Vector values_of_row(const SvrModel& model, std::span<const double> x) { return Vector::Constant(1, model.predict_row(x)); }
Vector values_of_row(const OneClassModel& model, std::span<const double> x) { return Vector::Constant(1, model.decision_row(x)); }

// One float64 row goes straight to the row evaluator; anything else the way of batches. Functions, not votes.
template <class Model>
nb::object quick_decision(const Model& model, const Rows& x) {
  const bool one_row = x.ndim() == 1 || (x.ndim() == 2 && x.shape(0) == 1);
  if (one_row && x.dtype() == nb::dtype<double>() && model.has_row_path()) {
    Vector f = values_of_row(model, {static_cast<const double*>(x.data()), x.shape(x.ndim() - 1)});
    if (x.ndim() == 1 && f.size() == 1) return nb::float_(f[0]);
    if (x.ndim() == 1 || f.size() == 1) return nb::cast(std::move(f));
    return nb::cast(Matrix(f.transpose()));
  }
  Samples X = rows_of(x);
  if (model.samples().is_given()) X = Samples::given_rows(X);
  Matrix f;
  {
    const nb::gil_scoped_release released;
    const Run run{.threads = one_row ? 1 : 0};
    if constexpr (requires { model.decision(X, run); }) {
      f = model.decision(X, run);
    } else {
      f = model.predict(X, run);
    }
  }
  if (x.ndim() == 1 && f.cols() == 1) return nb::float_(f(0, 0));
  if (x.ndim() == 1) return nb::cast(Vector(f.row(0).transpose()));
  if (f.cols() == 1) return nb::cast(Vector(f.col(0)));
  return nb::cast(std::move(f));
}

template <class Method>
auto run_method(Method method) {
  return [method](const SvcModel& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
    Job job(threads, memory, std::move(progress));
    return job([&](const Run& run) { return (model.*method)(X, run); });
  };
}

template <class Model>
nb::class_<Model> bind_support_model(nb::module_& m, const char* name, const char* doc) {
  return bind_model<Model>(m, name, doc, &quick_decision<Model>)
      .def_prop_ro("kernel", &Model::kernel)
      .def_prop_ro("samples", &Model::samples)
      .def_prop_ro("support", &Model::support)
      .def_prop_ro("dual_coef", &Model::dual_coef, nb::rv_policy::copy)
      .def_prop_ro("intercept", &Model::intercept, nb::rv_policy::copy)
      .def_prop_ro("by_nu", [](const Model& model) { return model.setting().by_nu; })
      .def_prop_ro("hard_margin", [](const Model& model) { return model.setting().hard_margin; })
      .def_prop_ro("C", [](const Model& model) { return model.setting().C; })
      .def_prop_ro("nu", [](const Model& model) { return model.setting().nu; })
      .def_prop_ro("summary", &Model::summary, nb::rv_policy::copy);
}

void bind_summary(nb::module_& m) {
  nb::class_<SvmSummary>(m, "SvmSummary", "How a support vector machine was fitted.")
      .def_prop_ro("precision", [](const SvmSummary& s) { return name_of(s.precision); })
      .def_ro("status", &SvmSummary::status)
      .def_ro("problems", &SvmSummary::problems)
      .def_ro("iterations", &SvmSummary::iterations)
      .def_ro("steps", &SvmSummary::steps)
      .def_ro("support_vectors", &SvmSummary::support_vectors)
      .def_ro("at_bound", &SvmSummary::at_bound)
      .def_ro("objective", &SvmSummary::objective)
      .def_ro("gap", &SvmSummary::gap)
      .def_ro("violation", &SvmSummary::violation)
      .def_prop_ro("is_float32", [](const SvmSummary& s) { return s.precision == Precision::float32; })
      .def_ro("kernel_rows", &SvmSummary::kernel_rows)
      .def_ro("seconds", &SvmSummary::seconds)
      .def_ro("bytes", &SvmSummary::bytes)
      .def_ro("sentence", &SvmSummary::sentence)
      .def_ro("remark", &SvmSummary::remark)
      .def("__str__", [](const SvmSummary& s) { return s.sentence; })
      .def("__repr__", [](const SvmSummary& s) { return s.sentence; });
}

void bind_fits(nb::module_& m) {
  nb::class_<SvmSolver>(m, "SvmSolver")
      .def(
          "__init__",
          [](SvmSolver* self, double tolerance, Index max_iterations, double time_limit) {
            new (self) SvmSolver{tolerance, max_iterations, time_limit, std::nullopt};
          },
          "tolerance"_a, "max_iterations"_a, "time_limit"_a);
  nb::class_<ClassifierSettings>(m, "SvcSettings")
      .def(nb::init<Vector, Vector, bool, std::uint64_t, bool, bool>(), "class_weight"_a, "sample_weight"_a, "probability"_a, "seed"_a,
           "break_ties"_a, "one_vs_rest"_a)
      .def_ro("sample_weight", &ClassifierSettings::sample_weight);
  m.def("fit_svc", &fit_c, "X"_a, "labels"_a, "kernel"_a, "settings"_a, "solver"_a, "C"_a, "lambda_"_a.none(), "hard_margin"_a,
        "fit_intercept"_a, "start"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("fit_nu_svc", &fit_nu, "X"_a, "labels"_a, "kernel"_a, "settings"_a, "solver"_a, "nu"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
  m.def("fit_svr", &fit_epsilon, "X"_a, "y"_a, "kernel"_a, "sample_weight"_a, "solver"_a, "C"_a, "lambda_"_a.none(), "epsilon"_a,
        "fit_intercept"_a, "start"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("fit_nu_svr", &fit_nu_regression, "X"_a, "y"_a, "kernel"_a, "sample_weight"_a, "solver"_a, "C"_a, "nu"_a, "threads"_a = 0,
        "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("fit_one_class", &fit_one, "X"_a, "kernel"_a, "sample_weight"_a, "solver"_a, "nu"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
}

}  // namespace

void bind_svm(nb::module_& m) {
  bind_summary(m);
  bind_support_model<SvcModel>(m, "SvcModel", "A fitted support vector classifier; immutable.")
      .def("functions", run_method(&SvcModel::decision), "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def("classes", run_method(&SvcModel::classes), "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def("probabilities", run_method(&SvcModel::probabilities), "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def("scores_of", &SvcModel::scores_of, "decision"_a)
      .def("classes_of", &SvcModel::classes_of, "decision"_a)
      .def("probabilities_of", &SvcModel::probabilities_of, "decision"_a)
      .def("coefficients", &SvcModel::coefficients, "n"_a)
      .def_prop_ro("n_support", &SvcModel::n_support)
      .def_prop_ro("squared_norm", &SvcModel::squared_norm, nb::rv_policy::copy)
      .def_prop_ro("sigmoids", &SvcModel::sigmoids, nb::rv_policy::copy)
      .def_prop_ro("has_probabilities", &SvcModel::has_probabilities)
      .def_prop_ro("break_ties", &SvcModel::break_ties)
      .def_prop_ro("one_vs_one", [](const SvcModel& s) { return s.multi_class() == MultiClass::one_vs_one; })
      .def_prop_ro("n_functions", &SvcModel::functions)
      .def_prop_ro("n_classes", &SvcModel::n_classes);
  bind_support_model<SvrModel>(m, "SvrModel", "A fitted support vector regression; immutable.")
      .def("coefficients", &SvrModel::coefficients, "n"_a)
      .def_prop_ro("squared_norm", &SvrModel::squared_norm)
      .def_prop_ro("epsilon", &SvrModel::epsilon);
  bind_support_model<OneClassModel>(m, "OneClassModel", "A fitted one-class support vector machine; immutable.");
  bind_fits(m);
  m.def(
      "is_finite_row", [](const Line& x) { return vector_of(x).allFinite(); }, "x"_a);
}

}  // namespace mercer::python

// mercer fit linear-svc: linear support vector machines on the columns themselves, for many rows and many columns.
// SPDX-License-Identifier: BSD-3-Clause
#include "estimates.hpp"
#include "fit.hpp"
#include "objects.hpp"
#include "svm_choice.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct LinearSvcCommand : FitOptions {
  LinearSvcOptions::Loss loss = LinearSvcOptions::Loss::squared_hinge;
  double C = -1;
  double lambda = -1;
  std::optional<bool> intercept{};
  bool balanced = false;
  double tolerance = 1e-6;
  std::int64_t max_iterations = 1000;
};

Json summary_json(const LinearSvcSummary& s) {
  return {{"method", s.method},
          {"status", s.status},
          {"iterations", s.iterations},
          {"objective", number_json(s.objective)},
          {"gap", number_json(s.gap)},
          {"relative_gap", number_json(s.relative_gap)},
          {"support_vectors", s.support_vectors},
          {"seconds", s.seconds},
          {"bytes", s.bytes},
          {"sentence", s.sentence}};
}

// Sets C by as many folds as every class has rows of positive weight, five at most; says how.
std::string choose_C(const Training& t, const std::vector<Index>& labels, LinearSvcOptions& options, Json& choice) {
  std::vector<Index> kept;
  std::vector<Index> kept_labels;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (t.weights.size() > 0 && !(t.weights[static_cast<Index>(i)] > 0)) continue;
    kept.push_back(static_cast<Index>(i));
    kept_labels.push_back(labels[i]);
  }
  const Index folds = possible_folds(kept_labels, std::ssize(kept));
  if (folds == 0) {
    choice = {{"searched", false}, {"best", options.C}};
    return fmt::format("There are too few rows (of some class) to choose C by cross-validation: it is {:g}; --C says another.\n",
                       options.C);
  }
  LinearSvcOptions searched = options;
  if (t.weights.size() > 0) searched.sample_weight = t.weights(kept);
  const LinearSvcSearch search = search_linear_svc(t.data.X.subset(kept), kept_labels, searched, {}, folds);
  options.C = search.C[search.best];
  choice = {{"searched", true},
            {"folds", folds},
            {"C", std::vector<double>(search.C.begin(), search.C.end())},
            {"accuracy", std::vector<double>(search.mean.begin(), search.mean.end())},
            {"best", options.C},
            {"sentence", search.sentence}};
  return fmt::format("{}; --C says another.\n", search.sentence);
}

// Some twenty passes over the rows for each class and each C.
void announce_fit(const LinearSvcCommand& o, const Training& t) {
  const auto classes = static_cast<double>(t.data.encoder.classes.size());
  const double fits = o.C <= 0 && o.lambda < 0 ? 30 : 1;
  const double values = values_in(t.data.X);
  announce(fmt::format("a linear support vector machine on {} rows", t.data.X.size()),
           20 * 4 * values * (classes == 2 ? 1 : classes) * fits / estimated_flops(o.common.run()), 2 * 8 * values, o.common.run());
}

Fitted fit_it(const LinearSvcCommand& o, const Training& t) {
  require_numbers(t.data.X, "a linear support vector machine");
  if (t.data.encoder.task != Task::classification) {
    throw InvalidArgument(
        fmt::format("this machine is for classes; the target \"{}\" is taken for numbers (fit svr, or --task classify to "
                    "take them for labels)",
                    t.data.encoder.target));
  }
  (void)class_masses(t);  // a class without weight is said by its name
  LinearSvcOptions options;
  options.loss = o.loss;
  if (o.C > 0) options.C = o.C;
  if (o.lambda >= 0) options.lambda = o.lambda;
  options.fit_intercept = o.intercept.value_or(true);
  if (o.balanced) options.class_weight = balanced_weights(t);
  options.sample_weight = t.weights;
  options.tolerance = o.tolerance;
  options.max_iterations = static_cast<Index>(o.max_iterations);
  options.seed = o.reading.seed;
  const std::vector<Index> labels = class_indices(t.data.y);
  announce_fit(o, t);
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  Json choice;
  std::string sentence;
  if (o.C <= 0 && o.lambda < 0) sentence = choose_C(t, labels, options, choice);
  LinearSvcModel model = fit_linear_svc(t.data.X, labels, options);
  bar.erase();
  const char* loss = o.loss == LinearSvcOptions::Loss::hinge ? "hinge" : "squared_hinge";
  Json json = {{"loss", loss}, {"C", model.C()}};
  if (!choice.is_null()) json["choice"] = std::move(choice);
  json["summary"] = summary_json(model.summary());
  sentence += fmt::format("linear support vector machine, {}, C {:g}; {}", loss, model.C(), model.summary().sentence);
  return {std::move(model), std::move(json), std::move(sentence)};
}

}  // namespace

void add_fit_linear_svc(CLI::App& fit, Invocation& invocation) {
  using Loss = LinearSvcOptions::Loss;
  auto o = std::make_shared<LinearSvcCommand>();
  CLI::App* command = fit.add_subcommand("linear-svc", "Linear support vector machine, for many rows or columns");
  add_shared(*command, *o);
  CLI::Option* C = add_number(*command, "--C", o->C, 1e-300, 1e300, "a number > 0",
                              "Weight of the losses beside |w|^2 / 2 (default: chosen by cross-validation, 5 folds or fewer)");
  C->excludes(add_number(*command, "--lambda", o->lambda, 1e-300, 1e300, "a number > 0", "The same as 1 / (2 C n)"));
  add_choice<Loss>(*command, "--loss", o->loss, {{"squared_hinge", Loss::squared_hinge}, {"hinge", Loss::hinge}},
                   "Loss of a row (default: squared_hinge)");
  add_choice<bool>(*command, "--class-weight", o->balanced, {{"none", false}, {"balanced", true}},
                   "All rows alike, or all classes: a row weighs n / (classes * rows of its class) (default: none)");
  add_intercept(*command, o->intercept);
  command->get_option("--intercept")->description("Fit a constant (the default); it is penalised like a weight, as LIBLINEAR has it");
  add_number(*command, "--tol", o->tolerance, 1e-15, 1, "a number > 0", "Stop at this relative duality gap (default: 1e-6)");
  add_whole(*command, "--max-iter", o->max_iterations, 1, 1'000'000'000, "Newton steps, or passes over the rows, at most (default: 1000)");
  command->footer(
      "The constant is the weight of a column of ones, penalised with the others: columns far from zero should be scaled (--scale "
      "standard,\n"
      "the default). svc with --kernel linear has a constant without penalty.\n"
      "Examples:\n"
      "  mercer fit linear-svc train.csv --target kind --out model.mercer\n"
      "  mercer fit linear-svc rcv1.svm.xz --scale none --C 1 --loss hinge");
  command->callback([o, &invocation] { invocation.job = [o] { run_fit(*o, [&](const Training& t) { return fit_it(*o, t); }); }; });
}

}  // namespace mercer::cli

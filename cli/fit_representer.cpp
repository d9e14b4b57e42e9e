// mercer fit logistic and mercer fit representer: convex losses in the function space of a kernel.
// SPDX-License-Identifier: BSD-3-Clause
#include "fit.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct ConvexOptions : FitOptions {
  std::optional<bool> intercept{};
  double lambda = -1;
  double tolerance = 1e-7;
  std::int64_t max_iterations = 0;  // 0: the model's own
  std::int64_t landmarks = 0;
};

struct LogisticOptions : ConvexOptions {
  double C = 1;
  bool balanced = false;
  KernelLogisticOptions::Solver solver = KernelLogisticOptions::Solver::automatic;
};

struct RepresenterCommand : ConvexOptions {
  std::string loss = "squared";
  double delta = -1;
  double epsilon = -1;
  double level = -1;
};

Json summary_json(const ConvexSummary& s) {
  return {{"method", s.method},
          {"status", s.status},
          {"iterations", s.iterations},
          {"objective", number_json(s.objective)},
          {"squared_norm", number_json(s.squared_norm)},
          {"gap", number_json(s.gap)},
          {"relative_gap", number_json(s.relative_gap)},
          {"gradient_norm", number_json(s.gradient_norm)},
          {"landmarks", s.landmarks},
          {"seconds", s.seconds},
          {"bytes", s.bytes},
          {"sentence", s.sentence}};
}

// Some ten Newton steps, each of them a Cholesky factorisation (or a normal matrix of the landmarks' features).
void announce_newton(const std::string& what, const ConvexOptions& o, const Training& t, double landmarks) {
  const auto n = static_cast<double>(t.data.X.size());
  const double step = landmarks > 0 ? 2 * n * landmarks * landmarks : n * n * n / 3;
  announce(fmt::format("{} on {} rows", what, t.data.X.size()), 10 * step / estimated_flops(o.common.run()),
           landmarks > 0 ? 8 * n * landmarks : 12 * n * n, o.common.run());
}

// What the library advises in its own words is an option here.
template <class Fit>
auto said_for_the_shell(const Fit& fit) {
  try {
    return fit();
  } catch (const OverBudget& error) {
    throw OverBudget(fmt::format("{} (--landmarks 1000, say)", error.what()));
  }
}

Fitted fit_logistic(const LogisticOptions& o, const Training& t) {
  if (t.data.encoder.task != Task::classification) {
    throw InvalidArgument(
        fmt::format("logistic regression is for classes; the target \"{}\" is taken for numbers (--task classify takes them for labels)",
                    t.data.encoder.target));
  }
  KernelLogisticOptions options;
  options.kernel = kernel_for(t, options.kernel);
  options.C = o.C;
  if (o.lambda >= 0) options.lambda = o.lambda;
  options.fit_intercept = o.intercept.value_or(true);
  options.sample_weight = t.weights;
  (void)class_masses(t);  // a class without weight is said by its name
  if (o.balanced) options.class_weight = balanced_weights(t);
  options.solver = o.solver;
  options.landmarks = static_cast<Index>(o.landmarks);
  if (o.landmarks > 0 && o.solver == KernelLogisticOptions::Solver::automatic) options.solver = KernelLogisticOptions::Solver::landmarks;
  options.tolerance = o.tolerance;
  if (o.max_iterations > 0) options.max_iterations = static_cast<Index>(o.max_iterations);
  options.seed = o.reading.seed;
  const bool few = options.solver == KernelLogisticOptions::Solver::landmarks || t.data.X.size() > options.exact_limit;
  announce_newton("kernel logistic regression", o, t, few ? std::max(500.0, static_cast<double>(o.landmarks)) : 0);
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  KernelLogisticModel model = said_for_the_shell([&] { return fit_kernel_logistic(t.data.X, class_indices(t.data.y), options); });
  Json json = {{"kernel", model.kernel().text()},
               {"lambda", model.lambda()},
               {"C", o.lambda >= 0 ? Json(nullptr) : Json(o.C)},
               {"summary", summary_json(model.summary())}};
  const std::string sentence =
      fmt::format("kernel logistic regression, {}, lambda {:g}; {}", model.kernel().text(), model.lambda(), model.summary().sentence);
  return {std::move(model), std::move(json), sentence};
}

// --loss quantile --quantile 0.9 is quantile(0.9).
Loss loss_of(const RepresenterCommand& o) {
  const Loss loss = [&] {
    try {
      return parse_loss(o.loss);
    } catch (const InvalidArgument& error) {
      throw UsageError(fmt::format("--loss: {}", error.what()));
    }
  }();
  const Loss::Kind kind = loss.kind();
  const auto take = [&](double value, const char* option, bool fits) {
    if (value < 0) return false;
    if (!fits) throw UsageError(fmt::format("{} does not belong to the loss {}", option, loss.text()));
    if (o.loss.find('(') != std::string::npos)
      throw UsageError(fmt::format("--loss {} and {} {} both give the number of the loss; leave one out", o.loss, option, value));
    return true;
  };
  if (take(o.delta, "--delta", kind == Loss::Kind::huber)) return Loss::make(kind, o.delta);
  if (take(o.epsilon, "--epsilon", kind == Loss::Kind::epsilon || kind == Loss::Kind::squared_epsilon)) return Loss::make(kind, o.epsilon);
  if (take(o.level, "--quantile", kind == Loss::Kind::quantile || kind == Loss::Kind::expectile)) return Loss::make(kind, o.level);
  return loss;
}

Fitted fit_any_loss(const RepresenterCommand& o, const Loss& loss, const Training& t) {
  RepresenterOptions options;
  options.kernel = kernel_for(t, options.kernel);
  options.loss = loss;
  const bool classify = t.data.encoder.task == Task::classification;
  if (options.loss.targets() == Loss::Targets::signs && !classify) {
    throw InvalidArgument(
        fmt::format("the loss {} is for classes; the target \"{}\" is taken for numbers (--task classify takes them for labels)",
                    options.loss.text(), t.data.encoder.target));
  }
  if (options.loss.targets() != Loss::Targets::signs && options.loss.kind() != Loss::Kind::squared && classify) {
    throw InvalidArgument(fmt::format("the loss {} is for {}; the target \"{}\" is taken for classes (--task regress takes it for numbers)",
                                      options.loss.text(), options.loss.targets() == Loss::Targets::counts ? "counts" : "numbers",
                                      t.data.encoder.target));
  }
  if (o.lambda >= 0) options.lambda = o.lambda;
  options.fit_intercept = o.intercept.value_or(true);
  options.sample_weight = t.weights;
  options.landmarks = static_cast<Index>(o.landmarks);
  options.seed = o.reading.seed;
  options.tolerance = o.tolerance;
  if (o.max_iterations > 0) options.max_iterations = static_cast<Index>(o.max_iterations);
  announce_newton("the representer solver", o, t, static_cast<double>(o.landmarks));
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  RepresenterModel model = said_for_the_shell([&] { return fit_representer(t.data.X, t.targets, options); });
  Json json = {{"kernel", model.kernel().text()},
               {"loss", model.loss().text()},
               {"lambda", model.lambda()[0]},
               {"summary", summary_json(model.summary())}};
  const std::string sentence = fmt::format("representer solver, loss {}, {}, lambda {:g}; {}", model.loss().text(), model.kernel().text(),
                                           model.lambda()[0], model.summary().sentence);
  return {std::move(model), std::move(json), sentence};
}

void add_convex(CLI::App& command, ConvexOptions& o, const std::string& lambda_words) {
  add_shared(command, o);
  add_fit_kernel(command, o, "Kernel, like \"gaussian(2) + 0.5*linear\" (default: gaussian(auto), the median distance)");
  add_number(command, "--lambda", o.lambda, 1e-300, 1e300, "a number > 0", lambda_words);
  add_intercept(command, o.intercept);
  add_whole(command, "--landmarks", o.landmarks, 1, 1'000'000,
            "Functions in the span of so many rows, drawn at random (default: all rows)");
  add_number(command, "--tolerance", o.tolerance, 1e-15, 1, "a number > 0", "Stop at this relative duality gap (default: 1e-7)");
  add_whole(command, "--max-iterations", o.max_iterations, 1, 1'000'000, "Newton steps at most (default: 100, representer 300)");
}

}  // namespace

void add_fit_logistic(CLI::App& fit, Invocation& invocation) {
  using Solver = KernelLogisticOptions::Solver;
  auto o = std::make_shared<LogisticOptions>();
  CLI::App* command = fit.add_subcommand("logistic", "Kernel logistic regression: classes with probabilities");
  add_convex(*command, *o, "Penalty on |f|^2 beside the mean loss, 1 / (2 C n)");
  CLI::Option* C = add_number(*command, "--C", o->C, 1e-300, 1e300, "a number > 0", "Weight of the losses beside |f|^2 / 2 (default: 1)");
  C->excludes(command->get_option("--lambda"));
  add_choice<bool>(*command, "--class-weight", o->balanced, {{"none", false}, {"balanced", true}},
                   "All rows alike, or all classes: a row weighs n / (classes * rows of its class) (default: none)");
  add_choice<Solver>(*command, "--solver", o->solver,
                     {{"auto", Solver::automatic}, {"exact", Solver::exact}, {"nystrom", Solver::landmarks}},
                     "All rows, or landmarks (default: auto, landmarks above 20000 rows or with --landmarks)");
  command->footer(
      "Examples:\n"
      "  mercer fit logistic train.csv --target kind --C 10 --out model.mercer\n"
      "  mercer predict model.mercer new.csv --proba");
  command->callback([o, &invocation] { invocation.job = [o] { run_fit(*o, [&](const Training& t) { return fit_logistic(*o, t); }); }; });
}

void add_fit_representer(CLI::App& fit, Invocation& invocation) {
  auto o = std::make_shared<RepresenterCommand>();
  CLI::App* command = fit.add_subcommand("representer", "Any convex loss in the function space of a kernel");
  add_convex(*command, *o, "Penalty on |f|^2 beside the mean loss (default: 0.01)");
  std::string names;
  for (const std::string& name : loss_names()) names += (names.empty() ? "" : "|") + name;
  command->add_option("--loss", o->loss, "Loss of a row (default: squared); a number may stand behind it, like quantile(0.9)")
      ->type_name(names);
  add_number(*command, "--delta", o->delta, 1e-300, 1e300, "a number > 0", "Of huber: linear beyond this residual (default: 1.345)");
  add_number(*command, "--epsilon", o->epsilon, 0, 1e300, "a number >= 0", "Of the insensitive losses: no loss within it (default: 0.1)");
  add_number(*command, "--quantile", o->level, 1e-12, 1 - 1e-12, "a number between 0 and 1",
             "Level of quantile and expectile (default: 0.5)");
  command->footer(
      "Examples:\n"
      "  mercer fit representer train.csv --loss quantile --quantile 0.9 --lambda 1e-4 --out q90.mercer\n"
      "  mercer fit representer counts.csv --task regress --loss poisson\n"
      "  mercer fit representer train.csv --target kind --loss hinge");
  command->callback([o, &invocation] {
    invocation.job = [o] {
      const Loss loss = loss_of(*o);  // wrong words are said before anything is read
      run_fit(*o, [&](const Training& t) { return fit_any_loss(*o, loss, t); });
    };
  });
}

}  // namespace mercer::cli

// mercer fit krr|ridge: one model with given parameters.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/ranges.h>

#include <chrono>

#include "commands.hpp"
#include "files.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct FitOptions {
  CommonOptions common{};
  ReadingOptions reading{};
  EncodeOptions encode{.target = {}, .drop = {}, .scaling = ScalingKind::standard};
  std::string weights{};
  double alpha = 1;
  double lambda = -1;
  std::optional<bool> intercept{};
  std::string out{};
  // krr
  std::optional<Kernel> kernel{};
  std::optional<Precision> precision{};
  // ridge
  std::int64_t degree = 1;

  std::optional<double> given_lambda() const { return lambda >= 0 ? std::optional<double>(lambda) : std::nullopt; }
};

struct Training {
  Dataset data;
  Matrix targets;
  Vector weights;
};

struct Fitted {
  AnyModel model;
  Json json;  // what is special about this kind of model
  std::string sentence;
};

void add_shared(CLI::App& command, FitOptions& o) {
  add_reading(command, o.reading);
  add_target(command, o.encode);
  add_choice<Task>(command, "--task", o.encode.task,
                   {{"auto", Task::automatic}, {"classify", Task::classification}, {"regress", Task::regression}},
                   "What the target is (default: auto; text or few whole numbers are classes)");
  add_encoding(command, o.encode);
  command.add_flag("--one-hot", o.encode.one_hot, "Turn text columns into 0/1 columns, one for each word (default: text is an error)");
  add_scaling(command, o.encode.scaling);
  command.add_option("--sample-weight", o.weights, "Column with the weight of each row (left out of the features)")->type_name("COL");
  CLI::Option* alpha = add_number(command, "--alpha", o.alpha, 0, 1e300, "a number >= 0", "Penalty on the norm, n lambda (default: 1)");
  CLI::Option* lambda = add_number(command, "--lambda", o.lambda, 0, 1e300, "a number >= 0", "The same for each row: alpha / n");
  alpha->excludes(lambda);
  CLI::Option* with = command.add_flag_callback(
      "--intercept", [&o] { o.intercept = true; }, "Fit a constant that is not penalised");
  CLI::Option* without = command.add_flag_callback(
      "--no-intercept", [&o] { o.intercept = false; }, "Fit none");
  with->excludes(without);
  command.add_option("--out", o.out, "Write the model to this file (default: nothing is written)")->type_name("FILE");
  add_seed(command, o.reading.seed, "Seed of built-in sets (default: 0)");
  add_common(command, o.common);
}

Training prepare(const FitOptions& o, const Speaker& speaker) {
  const Table table = read_data(o.reading, o.common);
  EncodeOptions encode = o.encode;
  Vector weights;
  if (!o.weights.empty()) {
    weights = numbers_in(table, o.weights, " for --sample-weight");
    encode.drop.push_back(o.weights);
  }
  const bool given = o.kernel && o.kernel->needs_given_gram();
  if (given) encode.scaling = ScalingKind::none;  // kernel values are no columns
  Training t{make_dataset(table, encode), {}, std::move(weights)};
  if (given) t.data.notes.emplace_back("The columns are taken for the Gram matrix of the rows, without scaling.");
  speaker.notes(t.data.notes);
  const auto classes = static_cast<Index>(t.data.encoder.classes.size());
  const bool classify = t.data.encoder.task == Task::classification;
  if (classify && classes < 2) {
    throw InvalidArgument(fmt::format("the target \"{}\" has only one class, {}; there is nothing to tell apart", t.data.encoder.target,
                                      t.data.encoder.classes.at(0)));
  }
  t.targets = classify ? score_targets(t.data.y, classes) : Matrix(t.data.y);
  return t;
}

Fitted fit_krr(const FitOptions& o, const Training& t) {
  KernelRidgeOptions options;
  if (o.kernel) options.kernel = resolve_columns(*o.kernel, t.data.encoder.column_names());
  options.alpha = o.alpha;
  options.lambda = o.given_lambda();
  options.fit_intercept = o.intercept.value_or(false);
  options.sample_weight = t.weights;
  options.precision = o.precision;
  const auto n = static_cast<double>(t.data.X.size());
  const bool single = o.precision == Precision::float32;
  const bool spectrum = (o.lambda >= 0 ? o.lambda : o.alpha) == 0;
  const double work = spectrum ? 9 * n * n * n : n * n * n / 3 / (single ? 1.8 : 1.0);
  announce(fmt::format("kernel ridge on {} rows", t.data.X.size()), work / estimated_flops(o.common.run()),
           spectrum ? 32 * n * n : n * n / 2 * (single ? 4 : 8));
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  KernelRidgeModel model = fit_kernel_ridge(t.data.X, t.targets, options);
  const SolveSummary& s = model.summary();
  Json json = {{"kernel", model.kernel().text()},
               {"alpha", model.alpha()[0]},
               {"lambda", model.alpha()[0] / n},
               {"precision", name_of(model.precision())},
               {"summary",
                {{"method", s.method},
                 {"positive_definite", s.positive_definite},
                 {"rank", s.rank},
                 {"residual", number_json(s.residual)},
                 {"seconds", s.seconds},
                 {"bytes", s.bytes},
                 {"sentence", s.sentence}}}};
  const std::string sentence = fmt::format("kernel ridge, {}, alpha {:g}; {}", model.kernel().text(), model.alpha()[0], s.sentence);
  return {std::move(model), std::move(json), sentence};
}

Fitted fit_linear(const FitOptions& o, const Training& t) {
  RidgeOptions options;
  options.alpha = o.alpha;
  options.lambda = o.given_lambda();
  options.fit_intercept = o.intercept.value_or(true);
  options.degree = static_cast<int>(o.degree);
  options.sample_weight = t.weights;
  const auto n = static_cast<double>(t.data.X.size());
  const auto p = static_cast<double>(t.data.X.width());
  if (o.degree == 1) {
    announce(fmt::format("ridge on {} rows and {} columns", t.data.X.size(), t.data.X.width()),
             8 * n * p * std::min(n, p) / estimated_flops(o.common.run()), 24 * n * p);
  }
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  RidgeModel model = fit_ridge(t.data.X, t.targets, options);
  const RidgeSummary& s = model.summary();
  const double alpha = o.lambda >= 0 ? o.lambda * n : o.alpha;
  Json json = {{"degree", model.degree()},
               {"alpha", alpha},
               {"lambda", alpha / n},
               {"summary",
                {{"rank", s.rank},
                 {"condition_before", number_json(s.condition_before)},
                 {"condition_after", number_json(s.condition_after)},
                 {"degrees_of_freedom", number_json(s.degrees_of_freedom)},
                 {"seconds", s.seconds},
                 {"sentence", s.sentence}}}};
  const std::string sentence =
      fmt::format("ridge{}, alpha {:g}; {}", o.degree > 1 ? fmt::format(" of degree {}", o.degree) : "", alpha, s.sentence);
  return {std::move(model), std::move(json), sentence};
}

void run_fit(const FitOptions& o, Fitted (*fit)(const FitOptions&, const Training&)) {
  const auto start = Clock::now();
  if (!o.out.empty()) check_output("--out", o.out, {o.reading.path}, false);
  const Speaker speaker(o.common);
  const Training t = prepare(o, speaker);
  Fitted fitted = fit(o, t);
  const SavedModel saved{std::move(fitted.model), t.data.encoder};
  Quality quality;
  {
    ProgressBar bar;
    quality = quality_of(&*saved.encoder, t.data.y, saved.predict(t.data.X, o.common.run(bar.callback())));
  }
  if (!o.out.empty()) write_carefully(o.out, o.common, [&](const Run& run) { save_model(saved, o.out, run); });
  if (o.common.json) {
    const Encoder& encoder = *saved.encoder;
    Json json = {{"model", saved.kind()},
                 {"n", t.data.X.size()},
                 {"features", t.data.X.width()},
                 {"target", encoder.target},
                 {"task", encoder.task == Task::classification ? "classification" : "regression"}};
    if (encoder.task == Task::classification) json["classes"] = encoder.classes;
    json.update(fitted.json);
    quality.json.erase("classes");
    json["train"] = quality.json;
    json["notes"] = t.data.notes;
    json["seconds"] = std::chrono::duration<double>(Clock::now() - start).count();
    json["files"] = Json::object();
    if (!o.out.empty()) json["files"]["model"] = o.out;
    print_json(json);
    return;
  }
  speaker.say("{}", fitted.sentence);
  speaker.say("On the {} training rows:", t.data.X.size());
  for (const std::string& line : quality.lines) speaker.say("  {}", line);
  if (o.out.empty()) {
    speaker.say("The model was not saved; --out model.mercer saves it.");
  } else {
    speaker.say("The model is {}.", o.out);
  }
}

}  // namespace

void add_fit(CLI::App& app, Invocation& invocation) {
  CLI::App* fit = app.add_subcommand("fit", "Fit one model with given parameters");
  fit->require_subcommand(1);
  fit->footer(
      "Examples:\n  mercer fit krr train.csv --target price --alpha 0.1 --out model.mercer\n  mercer fit ridge train.csv --degree 2");

  auto krr = std::make_shared<FitOptions>();
  CLI::App* krr_command = fit->add_subcommand("krr", "Kernel ridge regression; classes by the sign or the largest score");
  add_shared(*krr_command, *krr);
  add_kernel(*krr_command, krr->kernel, "Kernel, like \"gaussian(2) + 0.5*linear\" (default: gaussian(auto), the median distance)");
  krr_command
      ->add_option_function<std::string>(
          "--precision",
          [krr](const std::string& word) {
            if (word != "float32" && word != "float64") throw CLI::ValidationError("--precision", "must be float32|float64, got " + word);
            krr->precision = word == "float32" ? Precision::float32 : Precision::float64;
          },
          "Precision of kernel values (default: float64)")
      ->type_name("float32|float64");
  krr_command->footer(
      "Examples:\n"
      "  mercer fit krr train.csv --target price --alpha 0.1 --out model.mercer\n"
      "  mercer fit krr builtin:moons --kernel \"gaussian(0.5)\" --lambda 0.001\n"
      "  zcat big.csv.gz | mercer fit krr - --kernel \"laplacian(auto)\" --precision float32 --json");
  krr_command->callback([krr, &invocation] { invocation.job = [krr] { run_fit(*krr, fit_krr); }; });

  auto ridge = std::make_shared<FitOptions>();
  CLI::App* ridge_command = fit->add_subcommand("ridge", "Ridge regression on the columns, or on their monomials");
  add_shared(*ridge_command, *ridge);
  add_whole(*ridge_command, "--degree", ridge->degree, 1, 100, "All monomials up to this degree (default: 1)");
  ridge_command->footer(
      "Examples:\n"
      "  mercer fit ridge train.csv --target price --out model.mercer\n"
      "  mercer fit ridge builtin:cubic --degree 3 --alpha 0");
  ridge_command->callback([ridge, &invocation] { invocation.job = [ridge] { run_fit(*ridge, fit_linear); }; });
}

}  // namespace mercer::cli

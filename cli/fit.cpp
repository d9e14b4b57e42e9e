// mercer fit MODEL: one model with given parameters.
// SPDX-License-Identifier: BSD-3-Clause
#include "fit.hpp"

#include <fmt/ranges.h>

#include <chrono>
#include <map>

#include "apply.hpp"
#include "commands.hpp"
#include "given_gram.hpp"
#include "loss_quality.hpp"
#include "objects.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Training prepare(const FitOptions& o, const Speaker& speaker) {
  const bool from_file = !o.gram.empty();
  if (from_file && o.gram == o.reading.path) throw UsageError("DATA and --gram name the same file; DATA is the one with the target");
  const bool has_data = !from_file || !o.reading.path.empty();
  const Table table = has_data ? read_data(o.reading, o.common) : Table{};
  EncodeOptions encode = o.encode;
  Vector weights;
  if (!o.weights.empty()) {
    weights = numbers_in(table, o.weights, " for --sample-weight");
    encode.drop.push_back(o.weights);
  }
  std::vector<Index> groups;
  if (!o.groups.empty()) {
    groups = groups_in(table, o.groups, o.groups_option);
    encode.drop.push_back(o.groups);
  }
  Training t{{}, {}, std::move(weights), std::move(groups), o.kernel};
  if (from_file) {
    t.data = gram_dataset(o.gram, has_data ? &table : nullptr, encode, o.common);
    t.kernel = kernels::precomputed();
  } else {
    std::vector<std::string> notes;
    std::optional<Kernel> candidates = o.looked_at;
    suit_objects(table, candidates ? candidates : t.kernel, encode, notes);
    const bool given = t.kernel && t.kernel->needs_given_gram();
    if (given) encode.scaling = ScalingKind::none;  // kernel values are no columns
    t.data = make_dataset(table, encode);
    t.data.notes.insert(t.data.notes.end(), notes.begin(), notes.end());
    if (given) t.data.notes.emplace_back("The columns are taken for the Gram matrix of the rows, without scaling.");
  }
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

Vector class_masses(const Training& t) {
  const std::vector<std::string>& classes = t.data.encoder.classes;
  Vector mass = Vector::Zero(std::ssize(classes));
  const std::vector<Index> labels = class_indices(t.data.y);
  for (std::size_t i = 0; i < labels.size(); ++i) mass[labels[i]] += t.weights.size() > 0 ? t.weights[static_cast<Index>(i)] : 1;
  for (Index c = 0; c < mass.size(); ++c) {
    if (mass[c] == 0)
      throw InvalidArgument(fmt::format("the class {} has no row of positive weight", classes[static_cast<std::size_t>(c)]));
  }
  return mass;
}

Vector balanced_weights(const Training& t) {
  const Vector mass = class_masses(t);
  return mass.sum() / static_cast<double>(mass.size()) * mass.cwiseInverse();
}

namespace {

Quality training_quality(const SavedModel& saved, const Training& t, const CommonOptions& common) {
  Matrix predicted;
  {
    ProgressBar bar;
    predicted = saved.predict(t.data.X, common.run(bar.callback()));
  }
  if (saved.encoder->target.empty()) {
    const double inside = (predicted.col(0).array() > 0).cast<double>().mean();
    return {{{"n", predicted.rows()}, {"inside", inside}}, {fmt::format("share of rows inside {:.6g}", inside)}};
  }
  const bool classify = saved.encoder->task == Task::classification;
  const std::vector<Index> guess = classify ? classes_of(saved, t.data.X, predicted, common, t.groups) : std::vector<Index>();
  Quality quality = quality_of(&*saved.encoder, t.data.y, predicted, classify ? &guess : nullptr);
  add_loss_quality(saved, t.data.y, predicted, quality);
  return quality;
}

const char* task_word(const Encoder& encoder) {
  if (encoder.target.empty()) return "one-class";
  return encoder.task == Task::classification ? "classification" : "regression";
}

}  // namespace

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
  command.add_option("--out", o.out, "Write the model to this file (default: nothing is written)")->type_name("FILE");
  add_seed(command, o.reading.seed, "Seed of built-in sets (default: 0)");
  add_common(command, o.common);
}

void add_penalty(CLI::App& command, PenaltyOptions& o) {
  CLI::Option* alpha = add_number(command, "--alpha", o.alpha, 0, 1e300, "a number >= 0", "Penalty on the norm, n lambda (default: 1)");
  CLI::Option* lambda = add_number(command, "--lambda", o.lambda, 0, 1e300, "a number >= 0", "The same for each row: alpha / n");
  alpha->excludes(lambda);
  alpha->each([&o](const std::string&) { o.alpha_is_given = true; });
  add_intercept(command, o.intercept);
}

void add_intercept(CLI::App& command, std::optional<bool>& intercept) {
  CLI::Option* with = command.add_flag_callback(
      "--intercept", [&intercept] { intercept = true; }, "Fit a constant that is not penalised");
  CLI::Option* without = command.add_flag_callback(
      "--no-intercept", [&intercept] { intercept = false; }, "Fit none");
  with->excludes(without);
}

CLI::Option* add_precision(CLI::App& command, std::optional<Precision>& precision) {
  return command
      .add_option_function<std::string>(
          "--precision",
          [&precision](const std::string& word) {
            if (word != "float32" && word != "float64") throw wrong_choice("--precision", word, {"float32", "float64"});
            precision = word == "float32" ? Precision::float32 : Precision::float64;
          },
          "Precision of kernel values (default: float64)")
      ->type_name("float32|float64");
}

CLI::Option* add_fit_kernel(CLI::App& command, FitOptions& o, const std::string& words,
                            const std::shared_ptr<const KernelLibrary>& tables) {
  CLI::Option* kernel = add_kernel(command, o.kernel, words, "--kernel", tables);
  add_gram_file(
      command, o.gram,
      "Kernel values of the training rows in place of a kernel: a square matrix, .npy or .csv without names; DATA has the target");
  return kernel;
}

Kernel kernel_for(const Training& t, const Kernel& standard) {
  return t.kernel ? resolve_columns(*t.kernel, t.data.encoder.column_names()) : standard;
}

void run_fit(const FitOptions& o, const std::function<Fitted(const Training&)>& fit) {
  const auto start = Clock::now();
  if (!o.out.empty()) check_output("--out", o.out, {o.reading.path, o.gram}, false);
  const Speaker speaker(o.common);
  Training t = prepare(o, speaker);
  Fitted fitted = fit(t);
  const SavedModel saved{std::move(fitted.model), t.data.encoder};
  if (const std::optional<Kernel> kernel = kernel_in(saved.model)) {
    const std::vector<std::string> remarks = kernel_remarks(*kernel, t.data.X);
    speaker.notes(remarks);
    t.data.notes.insert(t.data.notes.end(), remarks.begin(), remarks.end());
  }
  Quality quality = training_quality(saved, t, o.common);
  if (!o.out.empty()) write_carefully(o.out, o.common, [&](const Run& run) { save_model(saved, o.out, run); });
  if (o.common.json) {
    const Encoder& encoder = *saved.encoder;
    Json json = {{"model", saved.kind()},
                 {"n", t.data.X.size()},
                 {"features", t.data.X.width()},
                 {"target", encoder.target.empty() ? Json() : Json(encoder.target)},
                 {"task", task_word(encoder)}};
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

void add_fit(CLI::App& app, Invocation& invocation) {
  CLI::App* fit = app.add_subcommand("fit", "Fit one model with given parameters");
  fit->require_subcommand(1);
  fit->footer(
      "Examples:\n  mercer fit krr train.csv --target price --alpha 0.1 --out model.mercer\n  mercer fit ridge train.csv --degree 2");
  add_fit_krr(*fit, invocation);
  add_fit_gp(*fit, invocation);
  add_fit_ridge(*fit, invocation);
  add_fit_rff(*fit, invocation);
  add_fit_logistic(*fit, invocation);
  add_fit_representer(*fit, invocation);
  add_fit_falkon(*fit, invocation);
  add_fit_sgd_svm(*fit, invocation);
  add_fit_mean(*fit, invocation);
  add_fit_svm(*fit, invocation);
  add_fit_linear_svc(*fit, invocation);
  add_fit_structured(*fit, invocation);
}

}  // namespace mercer::cli

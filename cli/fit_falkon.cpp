// mercer fit falkon: regression and classification on landmarks, for many rows, of files that need not fit in memory.
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <filesystem>

#include "fit.hpp"
#include "kernel_learning.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct FalkonCommand : FitOptions {
  PenaltyOptions penalty{};
  KernelLearningOptions learning{};
  std::optional<Precision> precision{};
  std::int64_t landmarks = 1000;
  LandmarkMethod method = LandmarkMethod::uniform;
  FalkonRoute route = FalkonRoute::automatic;
  double tolerance = 1e-6;
  std::int64_t max_iterations = 200;
  double validation = 0;
  bool in_parts = false;
};

FalkonOptions options_of(const FalkonCommand& o) {
  FalkonOptions options;
  options.alpha = o.penalty.alpha;
  options.lambda = o.penalty.given_lambda();
  options.fit_intercept = o.penalty.intercept.value_or(true);
  options.n_landmarks = o.landmarks;
  options.landmarks = o.method;
  options.precision = o.precision;
  options.route = o.route;
  options.tolerance = o.tolerance;
  options.max_iterations = o.max_iterations;
  options.validation = o.validation;
  options.seed = o.reading.seed;
  return options;
}

void announce_fit(const FalkonCommand& o, Index rows, Index width) {
  const auto n = static_cast<double>(rows);
  const double m = std::min(n, static_cast<double>(o.landmarks));
  const double kernel_value = 2 * static_cast<double>(width) + 30;
  const double work = n * m * std::min(kernel_value + m, 25 * (kernel_value + 8)) + 8 * m * m * m;
  announce(fmt::format("{:.0f} landmarks on {} rows", m, rows), work / estimated_flops(o.common.run()), 36 * m * m + 3.2e7, o.common.run());
}

Json json_of(const FalkonModel& model) {
  const FalkonSummary& s = model.summary();
  Json summary = {{"method", s.method},
                  {"landmarks", s.landmarks},
                  {"rows", s.rows},
                  {"sums_precision", name_of(s.sums_precision)},
                  {"jitter", number_json(s.jitter)},
                  {"trace_error", number_json(s.trace_error)},
                  {"trace_rows", s.trace_rows},
                  {"train_mse", number_json(s.train_mse)},
                  {"iterations", s.iterations},
                  {"residual", number_json(s.residual)},
                  {"converged", s.converged},
                  {"rounding", number_json(s.rounding)},
                  {"passes", s.passes},
                  {"seconds", s.seconds},
                  {"bytes", s.bytes},
                  {"sentence", s.sentence}};
  if (s.validation_rows > 0) {
    summary["validation"] = {
        {"n", s.validation_rows}, {"rmse", number_json(std::sqrt(s.validation_mse))}, {"r2", number_json(s.validation_r2)}};
  }
  return {{"kernel", model.kernel().text()},
          {"alpha", model.alpha()},
          {"lambda", model.alpha() / static_cast<double>(s.rows)},
          {"precision", name_of(model.precision())},
          {"landmarks", model.landmarks().size()},
          {"summary", summary}};
}

std::string sentence_of(const FalkonModel& model) {
  return fmt::format("falkon, {}, alpha {:g}; {}", model.kernel().text(), model.alpha(), model.summary().sentence);
}

Fitted fit_in_memory(const FalkonCommand& o, const Training& t) {
  FalkonOptions options = options_of(o);
  const KernelChoice choice = choose_kernel(o.learning, t, kernel_for(t, options.kernel), o.penalty.given_alpha(t.data.X.size()),
                                            options.fit_intercept, o.reading.seed, o.common);
  options.kernel = choice.kernel;
  if (choice.alpha) options.alpha = *choice.alpha;
  options.sample_weight = t.weights;
  announce_fit(o, t.data.X.size(), t.data.X.width());
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  FalkonModel model = fit_falkon(t.data.X, t.targets, options);
  Json json = json_of(model);
  if (!choice.json.is_null()) json["learned"] = choice.json;
  std::string sentence = choice.text + sentence_of(model);
  return {std::move(model), std::move(json), std::move(sentence)};
}

// The training error of a file in parts, without its predictions in memory at once: they are gathered as numbers, not as rows.
Quality quality_in_parts(const SavedModel& saved, const FileRows& rows, const Run& run) {
  Vector truth(rows.rows());
  Matrix predicted(rows.rows(), rows.targets());
  Index at = 0;
  rows.for_each_labelled(16384, [&](const Samples& X, const Vector& y) {
    truth.segment(at, y.size()) = y;
    predicted.middleRows(at, y.size()) = saved.predict(X, run);
    at += y.size();
  });
  return quality_of(&*saved.encoder, truth, predicted);
}

void report(const FalkonCommand& o, const SavedModel& saved, const FileRows& rows, Quality quality, double seconds) {
  const auto& model = std::get<FalkonModel>(saved.model);
  const Encoder& encoder = *saved.encoder;
  const Speaker speaker(o.common);
  if (!o.common.json) {
    speaker.say("{}", sentence_of(model));
    speaker.say("On the {} training rows:", rows.rows());
    for (const std::string& line : quality.lines) speaker.say("  {}", line);
    speaker.say("{}", o.out.empty() ? "The model was not saved; --out model.mercer saves it." : fmt::format("The model is {}.", o.out));
    return;
  }
  const bool classify = encoder.task == Task::classification;
  Json json = {{"model", saved.kind()},
               {"n", rows.rows()},
               {"features", rows.width()},
               {"target", encoder.target},
               {"task", classify ? "classification" : "regression"}};
  if (classify) json["classes"] = encoder.classes;
  json.update(json_of(model));
  quality.json.erase("classes");
  json["train"] = quality.json;
  json["notes"] = rows.notes();
  json["in_parts"] = rows.describe();
  json["seconds"] = seconds;
  json["files"] = Json::object();
  if (!o.out.empty()) json["files"]["model"] = o.out;
  print_json(json);
}

void run_in_parts(const FalkonCommand& o) {
  const auto start = Clock::now();
  if (o.learning.objective)
    throw InvalidArgument("--learn-kernel looks at rows in memory; learn the kernel on a part of the file first (fit krr --learn-kernel)");
  if (!o.out.empty()) check_output("--out", o.out, {o.reading.path}, false);
  if (o.kernel && o.kernel->looks_at_objects())
    throw InvalidArgument("strings, sets and graphs cannot be read in parts; allow more memory, or use fewer of them");
  if (o.kernel && o.kernel->needs_given_gram())
    throw InvalidArgument("a given Gram matrix cannot be read in parts; allow more memory, or use a kernel of the columns");
  require_file(o.reading.path);
  const Speaker speaker(o.common);
  ProgressBar bar;
  const Run run = o.common.run(bar.callback());
  FileRowsOptions file{.read = o.reading.read, .encode = o.encode, .weights = o.weights};
  file.read.run = run;
  const FileRows rows(o.reading.path, file);
  bar.erase();
  speaker.notes(rows.notes());
  speaker.say("{}{}.", rows.describe(), o.in_parts ? "" : ", for all of it would not fit the memory budget");
  FalkonOptions options = options_of(o);
  if (o.kernel) options.kernel = resolve_columns(*o.kernel, rows.encoder().column_names());
  options.run = run;
  announce_fit(o, rows.rows(), rows.width());
  const SavedModel saved{fit_falkon(rows, options), rows.encoder()};
  Quality quality = quality_in_parts(saved, rows, run);
  bar.erase();
  if (!o.out.empty()) write_carefully(o.out, o.common, [&](const Run& writing) { save_model(saved, o.out, writing); });
  report(o, saved, rows, std::move(quality), std::chrono::duration<double>(Clock::now() - start).count());
}

void run_falkon(const FalkonCommand& o) {
  if (o.in_parts && !o.gram.empty()) throw UsageError("--in-parts reads columns, and --gram has kernel values; leave one out");
  if (o.in_parts || (o.gram.empty() && exceeds_memory(o.reading.path, o.common.memory))) {
    run_in_parts(o);
    return;
  }
  bool was_read = false;
  try {
    run_fit(o, [&](const Training& t) {
      was_read = true;
      return fit_in_memory(o, t);
    });
  } catch (const OverBudget&) {  // what a file unpacks to is known only after a try
    std::error_code error;
    if (was_read || !std::filesystem::is_regular_file(o.reading.path, error)) throw;
    run_in_parts(o);
  }
}

}  // namespace

void add_fit_falkon(CLI::App& fit, Invocation& invocation) {
  auto falkon = std::make_shared<FalkonCommand>();
  CLI::App* command =
      fit.add_subcommand("falkon", "Kernel regression on landmarks, for many rows; files larger than memory are read in parts");
  add_shared(*command, *falkon);
  add_penalty(*command, falkon->penalty);
  add_fit_kernel(*command, *falkon, "Kernel, like \"gaussian(2) + 0.5*linear\" (default: gaussian(auto), the median distance)");
  add_kernel_learning(*command, falkon->learning);
  add_precision(*command, falkon->precision)->description("Precision of kernel values (default: by their number and the landmarks)");
  add_whole(*command, "--landmarks", falkon->landmarks, 1, 1'000'000, "Number of landmarks (default: 1000)");
  add_choice<LandmarkMethod>(*command, "--choose", falkon->method,
                             {{"uniform", LandmarkMethod::uniform},
                              {"kmeans", LandmarkMethod::kmeans},
                              {"rpcholesky", LandmarkMethod::rpcholesky},
                              {"leverage", LandmarkMethod::leverage}},
                             "How landmarks are chosen (default: uniform)");
  add_choice<FalkonRoute>(*command, "--solver", falkon->route,
                          {{"auto", FalkonRoute::automatic}, {"one-pass", FalkonRoute::one_pass}, {"cg", FalkonRoute::conjugate_gradients}},
                          "One pass over the rows, or conjugate gradients (default: auto, the quicker one)");
  add_number(*command, "--tolerance", falkon->tolerance, 1e-15, 0.5, "a number from 1e-15 to 0.5",
             "Relative residual of conjugate gradients (default: 1e-6)");
  add_whole(*command, "--max-iterations", falkon->max_iterations, 1, 1'000'000, "Of conjugate gradients (default: 200)");
  add_number(*command, "--validation", falkon->validation, 0, 0.99, "a number from 0 to 0.99",
             "Share of rows kept out of the fit to measure it (default: 0)");
  command->add_flag("--in-parts", falkon->in_parts, "Read the file in parts though it would fit in memory");
  command->footer(
      "Examples:\n"
      "  mercer fit falkon train.csv --target price --landmarks 2000 --out model.mercer\n"
      "  mercer fit falkon big.csv.gz --landmarks 1000 --memory 200M --validation 0.1");
  command->callback([falkon, &invocation] { invocation.job = [falkon] { run_falkon(*falkon); }; });
}

}  // namespace mercer::cli

// mercer learn: the main job, from a table to a tuned, measured, saved model and a report.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "commands.hpp"
#include "files.hpp"
#include "objects.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct LearnCommandOptions {
  CommonOptions common{};
  ReadingOptions reading{};
  LearnOptions learn{};
  std::string test{};
  std::int64_t folds = 5;
  std::string out{};
  std::string report{};
  std::string command_line{};
};

Json evaluation_json(const Evaluation& e, bool classify) {
  Json json = {{"n", e.n}};
  if (classify) {
    json.update({{"accuracy", e.accuracy}, {"precision", e.precision}, {"recall", e.recall}});
  } else {
    json.update({{"rmse", number_json(e.rmse)}, {"r2", number_json(e.r2)}, {"mae", number_json(e.mae)}});
  }
  json["ci"] = {number_json(e.ci_low), number_json(e.ci_high)};
  return json;
}

Json files_json(const LearnCommandOptions& o) {
  Json files = Json::object();
  if (!o.out.empty()) files["model"] = o.out;
  if (!o.report.empty()) files["report"] = o.report;
  return files;
}

Json result_json(const LearnCommandOptions& o, const LearnResult& result, bool classify) {
  Json candidates = Json::array();
  for (const Candidate& c : result.candidates) {
    candidates.push_back({{"model", c.model},
                          {"kernel", c.kernel},
                          {"alpha", c.alpha},
                          {"score", number_json(c.score)},
                          {"deviation", number_json(c.deviation)}});
  }
  const auto* krr = std::get_if<KernelRidgeModel>(&result.model.model);
  Json json = {{"model", result.model.kind()},
               {"kernel", krr != nullptr ? krr->kernel().text() : "linear"},
               {"task", classify ? "classification" : "regression"},
               {"target", result.model.encoder->target}};
  if (classify) json["classes"] = result.model.encoder->classes;
  json.update({{"n_train", result.n_train},
               {"test", evaluation_json(result.test, classify)},
               {"baseline", evaluation_json(result.baseline, classify)},
               {"linear", result.linear.n > 0 ? evaluation_json(result.linear, classify) : Json()},
               {"candidates", std::move(candidates)},
               {"folds", result.folds},
               {"seed", result.seed},
               {"verdict", result.verdict},
               {"notes", result.notes},
               {"seconds", result.seconds},
               {"peak_bytes", result.peak_bytes},
               {"files", files_json(o)}});
  return json;
}

void say_candidates(const Speaker& speaker, const LearnResult& result, bool classify) {
  constexpr std::size_t shown = 5;
  const char* measure = classify ? "accuracy" : "RMSE";
  std::vector<std::vector<std::string>> rows{{"model", "kernel", "alpha", measure, "+-"}};
  for (std::size_t i = 0; i < std::min(shown, result.candidates.size()); ++i) {
    const Candidate& c = result.candidates[i];
    rows.push_back({c.model, c.kernel, fmt::format("{:.3g}", c.alpha), fmt::format("{:.4g}", c.score), fmt::format("{:.2g}", c.deviation)});
  }
  speaker.say("The best of {} candidates, {}-fold cross-validation on {} rows:", result.candidates.size(), result.folds, result.n_search);
  speaker.say("{}", aligned(rows));
}

void say_measures(const Speaker& speaker, const LearnResult& result, bool classify) {
  const auto row = [&](const char* name, const Evaluation& e) -> std::vector<std::string> {
    if (classify) {
      return {name, fmt::format("{:.4f}", e.accuracy), fmt::format("{:.4f}", e.precision), fmt::format("{:.4f}", e.recall),
              fmt::format("{:.4f} to {:.4f}", e.ci_low, e.ci_high)};
    }
    return {name, fmt::format("{:.4g}", e.rmse), fmt::format("{:.4f}", e.r2), fmt::format("{:.4g}", e.mae),
            fmt::format("{:.4g} to {:.4g}", e.ci_low, e.ci_high)};
  };
  const std::vector<std::string> heading = classify ? std::vector<std::string>{"", "accuracy", "precision", "recall", "95 % of accuracy"}
                                                    : std::vector<std::string>{"", "RMSE", "R2", "MAE", "95 % of RMSE"};
  speaker.say("On {} rows that the search never saw:", result.test.n);
  std::vector<std::vector<std::string>> rows{heading, row("this model", result.test)};
  if (result.linear.n > 0) rows.push_back(row("linear", result.linear));
  rows.push_back(row(classify ? "most frequent class" : "mean", result.baseline));
  speaker.say("{}", aligned(rows));
}

void check_outputs(const LearnCommandOptions& o) {
  std::vector<std::string> inputs{o.reading.path};
  if (!o.test.empty()) inputs.push_back(o.test);
  if (!o.out.empty()) check_output("--out", o.out, inputs, false);
  if (!o.report.empty()) check_output("--report", o.report, inputs, false);
  if (!o.out.empty() && o.out == o.report) throw UsageError("--out and --report name the same file; give each its own");
  if (o.test == "-" && o.reading.path == "-") throw UsageError("DATA and --test cannot both be standard input");
}

void announce_search(const LearnCommandOptions& o, const Table& data) {
  const double n = static_cast<double>(data.rows()) * (o.test.empty() ? 1 - o.learn.holdout : 1.0);
  constexpr double candidates = 40;  // about what a search tries
  const double work = candidates * static_cast<double>(o.folds) * std::pow(n, 3) / 3;
  const double seconds = std::min(o.learn.budget_seconds, work / estimated_flops(o.common.run()));
  announce(fmt::format("learning from {} rows", data.rows()), seconds, n * n * 8, o.common.run());
}

LearnResult search_and_fit(const LearnCommandOptions& o) {
  LearnOptions options = o.learn;
  options.folds = static_cast<Index>(o.folds);
  const Table data = read_data(o.reading, o.common);
  std::vector<std::string> notes;
  suit_objects(data, options.kernel, options.encode, notes);
  const auto with_notes = [&](LearnResult result) {
    result.notes.insert(result.notes.begin(), notes.begin(), notes.end());
    return result;
  };
  if (o.test.empty()) {
    announce_search(o, data);
    ProgressBar bar;
    options.run = o.common.run(bar.callback());
    return with_notes(learn(data, options));
  }
  const Table test = read_data(o.reading, o.test, o.common);
  announce_search(o, data);
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  return with_notes(learn(data, test, options));
}

void run_learn(const LearnCommandOptions& o) {
  check_outputs(o);
  const LearnResult result = search_and_fit(o);
  const std::string source = o.reading.path == "-" ? "standard input" : o.reading.path;
  if (!o.out.empty()) write_carefully(o.out, o.common, [&](const Run& run) { save_model(result.model, o.out, run); });
  if (!o.report.empty()) {
    const CarefulStop careful;
    write_text_file(learn_report(result, source, o.command_line), o.report);
  }
  const bool classify = result.model.encoder->task == Task::classification;
  if (o.common.json) {
    print_json(result_json(o, result, classify));
    return;
  }
  const Speaker speaker(o.common);
  speaker.notes(result.notes);
  speaker.say("");
  speaker.say("{}", result.verdict);
  speaker.say("");
  say_measures(speaker, result, classify);
  speaker.say("");
  say_candidates(speaker, result, classify);
  speaker.say("");
  speaker.say("{:.1f} s, {} of memory at most.", result.seconds, format_bytes(static_cast<double>(result.peak_bytes)));
  if (!o.out.empty()) speaker.say("The model is {}.", o.out);
  if (!o.report.empty())
    speaker.say("The report is {}.{}", o.report, charts_available() ? "" : " It has no charts: make setup, then make build.");
  if (o.out.empty()) speaker.say("The model was not saved; --out model.mercer saves it.");
}

void add_search_options(CLI::App& command, LearnCommandOptions& o) {
  add_choice<std::string>(command, "--model", o.learn.model, {{"auto", "auto"}, {"krr", "krr"}, {"ridge", "ridge"}},
                          "Model to tune (default: auto, the better of krr and ridge; krr when --kernel is given)");
  add_kernel(command, o.learn.kernel, "Kernel; only alpha is chosen then (default: auto, a Gaussian with a chosen length scale)");
  CLI::Option* test = command.add_option("--test", o.test, "Measure on this file")->type_name("FILE");
  CLI::Option* holdout = add_number(command, "--holdout", o.learn.holdout, 0.001, 0.999, "a number between 0 and 1",
                                    "Share of rows set aside to measure on (default: 0.3)");
  test->excludes(holdout);
  add_whole(command, "--folds", o.folds, 2, 1000, "Folds of the cross-validation (default: 5)");
  add_seed(command, o.learn.seed, "Seed of the split and of built-in sets (default: 0)");
  command
      .add_option_function<std::string>(
          "--budget",
          [&o](const std::string& text) {
            const std::string digits = text.ends_with('s') ? text.substr(0, text.size() - 1) : text;
            const std::optional<double> seconds = parse_number(digits);
            if (!seconds || !(*seconds > 0)) throw CLI::ValidationError("--budget", "must be seconds > 0, like 120s, got " + text);
            o.learn.budget_seconds = *seconds;
          },
          "Time after which no new candidate is tried (default: 120s)")
      ->type_name("SECONDS");
}

}  // namespace

void add_learn(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<LearnCommandOptions>();
  CLI::App* command = app.add_subcommand("learn", "The main job: read, scale, choose, fit, measure, save, report");
  add_reading(*command, o->reading);
  add_target(*command, o->learn.encode);
  add_choice<Task>(*command, "--task", o->learn.encode.task,
                   {{"auto", Task::automatic}, {"classify", Task::classification}, {"regress", Task::regression}},
                   "What the target is (default: auto; text or few whole numbers are classes)");
  add_encoding(*command, o->learn.encode);
  command->add_flag("--one-hot,!--no-one-hot", o->learn.encode.one_hot, "Turn text columns into 0/1 columns (default: yes)");
  add_scaling(*command, o->learn.encode.scaling);
  add_search_options(*command, *o);
  command->add_option("--out", o->out, "Write the model to this file (default: nothing is written)")->type_name("FILE");
  command->add_option("--report", o->report, "Write a self-contained HTML page with charts to this file")->type_name("FILE");
  add_common(*command, o->common);
  command->footer(
      "Examples:\n"
      "  mercer learn builtin:waves --out model.mercer --report report.html\n"
      "  mercer learn train.csv --target price --test test.csv --json\n"
      "  mercer learn train.csv --kernel \"laplacian(auto)\" --folds 10 --holdout 0.2");
  command->callback([o, &invocation] {
    o->reading.seed = o->learn.seed;
    o->command_line = invocation.command_line();
    invocation.job = [o] { run_learn(*o); };
  });
}

}  // namespace mercer::cli

// mercer learn: the main job, from a table to a tuned, measured, saved model and a report.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "commands.hpp"
#include "files.hpp"
#include "learn.hpp"
#include "objects.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

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
  constexpr double candidates = 40;     // about what a search tries
  constexpr double coarse_rows = 1500;  // of those that most candidates are compared on
  const double work = candidates * static_cast<double>(o.folds) * std::pow(std::min(n, coarse_rows), 3) / 3;
  const double speed = estimated_flops(o.common.run());
  const double search = std::min(o.learn.budget_seconds, work / speed), fit = std::min(o.learn.budget_seconds, n * n * n / 3 / speed);
  announce(fmt::format("learning from {} rows", data.rows()), search + fit, n * n * 4, o.common.run());
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
  if (o.common.json) {
    print_json(learn_json(o, result));
  } else {
    say_learned(o, result);
  }
}

const std::vector<std::string>& model_words() {
  static const std::vector<std::string> words{"auto", "svc", "nu-svc", "linear-svc", "logistic", "krr",   "ridge",
                                              "gp",   "svr", "nu-svr", "mean",       "sgd-svm",  "falkon"};
  return words;
}

void set_model(std::string& model, const std::string& word) {
  const std::vector<std::string>& known = model_words();
  if (std::find(known.begin(), known.end(), word) == known.end()) {
    if (word == "one-class")
      throw CLI::ValidationError("--model", "one-class has no target to be measured by; mercer fit one-class fits it");
    throw CLI::ValidationError(
        "--model", fmt::format("there is no model \"{}\"{}; choose {}", word, did_you_mean(word, known), fmt::join(known, ", ")));
  }
  model = word;
}

void add_split_options(CLI::App& command, LearnCommandOptions& o) {
  CLI::Option* test = command.add_option("--test", o.test, "Measure on this file")->type_name("FILE");
  CLI::Option* holdout = add_number(command, "--holdout", o.learn.holdout, 0.001, 0.999, "a number between 0 and 1",
                                    "Share of rows set aside to measure on (default: 0.3)");
  test->excludes(holdout);
  CLI::Option* groups =
      command
          .add_option("--groups", o.learn.groups,
                      "Column whose rows of equal value stay together: on one side of the split, in one fold; it is no feature")
          ->type_name("COL");
  CLI::Option* time = command.add_flag("--time", o.learn.time_ordered,
                                       "Rows are in the order of time: the last ones are set aside, folds train on what came before");
  groups->excludes(time);
  add_whole(command, "--folds", o.folds, 2, 1000, "Folds of the cross-validation (default: 5)");
  add_seed(command, o.learn.seed, "Seed of the split and of built-in sets (default: 0)");
}

// 90, 90s, 2m, 1h, 500ms.
double parse_budget(const std::string& text) {
  static const std::vector<std::pair<std::string, double>> units{{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
  std::size_t end = text.size();
  while (end > 0 && std::isalpha(static_cast<unsigned char>(text[end - 1])) != 0) --end;
  const std::string unit = text.substr(end);
  const std::optional<double> number = parse_number(text.substr(0, end));
  for (const auto& [name, seconds] : units) {
    if (number && *number > 0 && (unit == name || (unit.empty() && name == "s"))) return *number * seconds;
  }
  throw CLI::ValidationError("--budget", "must be a time > 0, like 90s, 2m or 1h, got " + text);
}

void add_search_options(CLI::App& command, LearnCommandOptions& o) {
  command
      .add_option_function<std::string>(
          "--model", [&o](const std::string& word) { set_model(o.learn.model, word); },
          "Model to tune, a word of fit (default: auto, chosen by cross-validation)")
      ->type_name(CLI::detail::join(model_words(), "|"));
  add_kernel(command, o.learn.kernel, "Kernel; only the penalty is chosen then (default: auto, the family and its width are chosen)");
  command
      .add_option_function<std::string>(
          "--budget", [&o](const std::string& text) { o.learn.budget_seconds = parse_budget(text); },
          "Time after which no new candidate is tried (default: 120s)")
      ->type_name("TIME");
  add_number(command, "--precision", o.learn.precision, 1e-6, 1 - 1e-9, "a number between 0 and 1",
             "Choose the threshold, in the training folds, that makes this share of the yeses right (two classes; default: none)");
  command.add_flag("--explain", o.learn.explain, "Say which columns matter (by shuffling them) and which training rows the model leans on");
}

// The model of a part of the objects would want kernel values with just those: nobody has them by rows of a file.
void refuse_gram(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--gram",
          [](const std::string&) {
            throw CLI::ValidationError(
                "--gram",
                "learn sets rows aside and chooses among kernels, where a given Gram matrix has one and all its rows; mercer fit svc DATA "
                "--gram K.npy chooses C by cross-validation, mercer fit krr DATA --gram K.npy --alphas auto the penalty by leave-one-out");
          },
          "")
      ->group("");
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
  command->add_option("--positive", o->learn.encode.positive, "One class against the rest: this label is \"yes\"")->type_name("LABEL");
  add_encoding(*command, o->learn.encode);
  command->add_flag("--one-hot,!--no-one-hot", o->learn.encode.one_hot, "Turn text columns into 0/1 columns (default: yes)");
  add_scaling(*command, o->learn.encode.scaling);
  add_split_options(*command, *o);
  add_search_options(*command, *o);
  refuse_gram(*command);
  command->add_option("--out", o->out, "Write the model to this file (default: nothing is written)")->type_name("FILE");
  command->add_option("--report", o->report, "Write a self-contained HTML page with charts to this file")->type_name("FILE");
  add_common(*command, o->common);
  command->footer(
      "Examples:\n"
      "  mercer learn builtin:waves --out model.mercer --report report.html\n"
      "  mercer learn train.csv --target price --test test.csv --json\n"
      "  mercer learn patients.csv --positive ill --precision 0.95 --groups hospital --explain\n"
      "  mercer learn train.csv --kernel \"laplacian(auto)\" --folds 10 --holdout 0.2");
  command->callback([o, &invocation] {
    o->reading.seed = o->learn.seed;
    o->command_line = invocation.command_line();
    invocation.job = [o] { run_learn(*o); };
  });
}

}  // namespace mercer::cli

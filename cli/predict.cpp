// mercer predict: what a saved model says about new rows.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/ranges.h>

#include "apply.hpp"
#include "commands.hpp"
#include "estimates.hpp"
#include "given_gram.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct PredictOptions {
  CommonOptions common{};
  ReadingOptions reading{};
  std::string model{};
  std::string out{};
  std::string sequence{};
  std::string gram{};
  bool scores = false;
  bool proba = false;
  double interval = 0;  // level; 0: none
};

void add_column(Table& table, std::string name, decltype(Column::values) values) {
  table.names.push_back(name);
  table.columns.push_back({std::move(name), std::move(values), {}});
}

std::vector<double> column_of(const Matrix& values, Index j) {
  const Vector column = values.col(j);
  return {column.begin(), column.end()};
}

Table regression_answers(const Matrix& predicted) {
  Table table;
  for (Index j = 0; j < predicted.cols(); ++j) {
    add_column(table, predicted.cols() == 1 ? "prediction" : fmt::format("prediction{}", j + 1), column_of(predicted, j));
  }
  return table;
}

// By the residuals that a kernel ridge model keeps, or the variance of a Gaussian process.
IntervalPrediction intervals_of(const PredictOptions& o, const SavedModel& saved, const Samples& X, const Run& run) {
  if (const auto* gp = std::get_if<GaussianProcessModel>(&saved.model)) return gp->predict_interval(X, o.interval, run);
  const auto* krr = std::get_if<KernelRidgeModel>(&saved.model);
  if (krr == nullptr || (saved.encoder && saved.encoder->task == Task::classification))
    throw UsageError(
        fmt::format("--interval is for kernel ridge models and Gaussian processes of numbers; {} is another kind of model", o.model));
  if (!krr->has_intervals())
    throw UsageError(fmt::format("{} was saved without what intervals need; fit it with --intervals, or with --alphas", o.model));
  return krr->predict_interval(X, o.interval, run);
}

Table interval_answers(const PredictOptions& o, const SavedModel& saved, const Samples& X) {
  announce_application("intervals of", saved, X, o.common.run());
  ProgressBar bar;
  const IntervalPrediction p = intervals_of(o, saved, X, o.common.run(bar.callback()));
  if (p.upper.size() > 0 && !p.upper.allFinite())
    print_warning(fmt::format("the intervals are infinite: there are too few training rows for level {:g}", o.interval));
  Table table;
  for (Index j = 0; j < p.prediction.cols(); ++j) {
    const std::string number = p.prediction.cols() == 1 ? "" : fmt::format("{}", j + 1);
    add_column(table, "prediction" + number, column_of(p.prediction, j));
    add_column(table, "lower" + number, column_of(p.lower, j));
    add_column(table, "upper" + number, column_of(p.upper, j));
  }
  return table;
}

// 1 inside, -1 outside.
Table one_class_answers(const Matrix& values, bool with_scores) {
  Table table;
  std::vector<double> inside;
  for (Index i = 0; i < values.rows(); ++i) inside.push_back(values(i, 0) > 0 ? 1 : -1);
  add_column(table, "prediction", std::move(inside));
  if (with_scores) add_column(table, "score", column_of(values, 0));
  return table;
}

// Labels that are all numbers are written as numbers.
Table class_answers(const std::vector<std::string>& classes, const std::vector<Index>& guess, const Matrix& scores, bool with_scores) {
  Table table;
  std::vector<double> numbers;
  for (const std::string& label : classes) {
    if (const auto number = parse_number(label)) numbers.push_back(*number);
  }
  if (numbers.size() == classes.size()) {
    std::vector<double> labels;
    labels.reserve(guess.size());
    for (const Index c : guess) labels.push_back(numbers[static_cast<std::size_t>(c)]);
    add_column(table, "prediction", std::move(labels));
  } else {
    std::vector<std::string> labels;
    labels.reserve(guess.size());
    for (const Index c : guess) labels.push_back(classes[static_cast<std::size_t>(c)]);
    add_column(table, "prediction", std::move(labels));
  }
  if (!with_scores) return table;
  for (Index j = 0; j < scores.cols(); ++j) {
    // One column of scores is that of the second class: positive means that class.
    add_column(table, "score_" + classes[static_cast<std::size_t>(scores.cols() == 1 ? 1 : j)], column_of(scores, j));
  }
  return table;
}

void add_probabilities(Table& table, const std::vector<std::string>& classes, const Matrix& probability) {
  for (Index j = 0; j < probability.cols(); ++j) {
    add_column(table, "probability_" + classes[static_cast<std::size_t>(j)], column_of(probability, j));
  }
}

Json column_json(const Column& column) {
  Json values = Json::array();
  if (column.is_text()) {
    for (const std::string& word : column.text()) values.push_back(word);
  } else {
    for (const double value : column.numbers()) values.push_back(number_json(value));
  }
  return values;
}

void print_answers_json(const PredictOptions& o, const SavedModel& saved, const Table& answers) {
  Json json = {{"model", saved.kind()}, {"n", answers.rows()}, {"columns", answers.names}};
  if (o.out.empty()) {
    for (const Column& column : answers.columns) json["predictions"][column.name] = column_json(column);
  }
  json["files"] = Json::object();
  if (!o.out.empty()) json["files"]["predictions"] = o.out;
  print_json(json);
}

bool has_probabilities(const SavedModel& saved) {
  const auto* mean = std::get_if<KernelMeanModel>(&saved.model);
  const auto* svc = std::get_if<SvcModel>(&saved.model);
  return std::holds_alternative<KernelLogisticModel>(saved.model) || (mean != nullptr && mean->rule() == MeanRule::parzen) ||
         (svc != nullptr && svc->has_probabilities());
}

void run_predict(const PredictOptions& o) {
  if (!o.out.empty()) check_output("--out", o.out, {o.model, o.reading.path, o.gram}, true);
  if (o.common.json && o.out == "-") throw UsageError("--json and --out - both want standard output; choose one");
  SavedModel saved = open_model(o.model);  // a wrong file is said before the data are read
  const bool classify = saved.encoder && saved.encoder->task == Task::classification;
  const bool one_class = std::holds_alternative<OneClassModel>(saved.model);
  if (o.scores && !classify && !one_class)
    throw UsageError(fmt::format("--scores is for classification; {} is a model of numbers", o.model));
  if (o.proba && !(classify && has_probabilities(saved))) {
    throw UsageError(fmt::format(
        "--proba is for models with probabilities (fit logistic, fit svc --probability, fit mean --rule parzen); {} is a {} model of {}",
        o.model, saved.kind(), classify ? "scores" : "numbers"));
  }
  const bool from_file = !o.gram.empty();
  const Table table = from_file && o.reading.path.empty() ? Table{} : read_data(o.reading, o.common);
  if (!from_file) saved = load_for(o.model, table);
  const std::vector<Index> sequences = sequences_for(saved, o.model, table, o.sequence);
  const Samples X = from_file ? read_gram_rows(o.gram, saved, o.model, o.common) : features_for(saved, table, "");
  if (from_file && !o.reading.path.empty()) require_rows(o.gram, X, table);
  const auto plain = [&] {
    const Matrix predicted = predict_with_bar(saved, X, o.common);
    if (one_class) return one_class_answers(predicted, o.scores);
    if (!classify) return regression_answers(predicted);
    Table out = class_answers(saved.encoder->classes, classes_of(saved, X, predicted, o.common, sequences), predicted, o.scores);
    if (o.proba) {
      ProgressBar bar;
      add_probabilities(out, saved.encoder->classes, saved.probabilities(X, o.common.run(bar.callback())));
    }
    return out;
  };
  const Table answers = o.interval > 0 ? interval_answers(o, saved, X) : plain();
  const std::string path = o.out.empty() ? "-" : o.out;
  const FileFormat format = format_of_output(path);
  if (!(o.common.json && o.out.empty())) {
    write_carefully(path, o.common, [&](const Run& run) { write_table(answers, path, {.format = format, .run = run}); });
  }
  if (o.common.json) {
    print_answers_json(o, saved, answers);
  } else {
    Speaker(o.common, path).say("{} prediction{}{}", answers.rows(), answers.rows() == 1 ? "" : "s", path == "-" ? "" : " in " + path);
  }
}

}  // namespace

void add_predict(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<PredictOptions>();
  CLI::App* command = app.add_subcommand("predict", "Predict new rows with a saved model");
  command->add_option("MODELFILE", o->model, "A model that fit or learn saved")->required();
  add_reading(*command, o->reading);
  add_gram_file(*command, o->gram,
                "Kernel values k(new, training object), a row for each new object, for a model that was fitted with --gram");
  command
      ->add_option("--out", o->out,
                   "Write the predictions to this file: .csv, .tsv or .npy, .gz or .xz behind (default: CSV on standard output)")
      ->type_name("FILE");
  command->add_flag("--scores", o->scores, "Classification, one-class: add the scores behind the labels");
  command->add_flag("--proba", o->proba, "Models with probabilities: add that of each class");
  add_number(*command, "--interval", o->interval, 1e-9, 1 - 1e-9, "a number between 0 and 1",
             "Add columns lower and upper: an interval for a new value at this level, 0.9 say");
  command
      ->add_option("--sequence", o->sequence, "Models of sequences: the column that tells them apart (default: the one it had in training)")
      ->type_name("COL");
  add_seed(*command, o->reading.seed, "Seed of built-in sets (default: 0)");
  add_common(*command, o->common);
  command->footer(
      "Columns are found by name, in any order; the target may be missing.\n"
      "Examples:\n"
      "  mercer predict model.mercer new.csv --out predictions.csv\n"
      "  zcat new.csv.gz | mercer predict model.mercer - --scores | head");
  command->callback([o, &invocation] { invocation.job = [o] { run_predict(*o); }; });
}

}  // namespace mercer::cli

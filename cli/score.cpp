// mercer score: how well a saved model predicts rows whose answers are known.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "apply.hpp"
#include "commands.hpp"
#include "given_gram.hpp"
#include "loss_quality.hpp"

namespace mercer::cli {

namespace {

struct ScoreOptions {
  CommonOptions common{};
  ReadingOptions reading{};
  std::string model{};
  std::string target{};
  std::string sequence{};
  std::string gram{};
};

// The answers of a table for a model that knows nothing of columns.
Vector plain_target(const Table& table, const std::string& name) {
  if (table.sparse) return Eigen::Map<const Vector>(table.sparse_labels.data(), std::ssize(table.sparse_labels));
  return numbers_in(table, name);
}

// Rows inside are 1, others -1, as predict says them.
Quality one_class_quality(const std::string& model, const Vector& answers, const Matrix& values) {
  Vector truth(answers.size());
  std::vector<Index> guess;
  for (Index i = 0; i < answers.size(); ++i) {
    if (std::abs(answers[i]) != 1)
      throw InvalidArgument(fmt::format("{} says 1 (inside) or -1; the answer in row {} is {:g}", model, i + 1, answers[i]));
    truth[i] = answers[i] > 0 ? 1 : 0;
    guess.push_back(values(i, 0) > 0 ? 1 : 0);
  }
  return class_quality({"-1", "1"}, truth, guess);
}

void run_score(const ScoreOptions& o) {
  SavedModel saved = open_model(o.model);  // a wrong file is said before the data are read
  if (o.reading.path.empty()) throw UsageError("score needs DATA beside --gram, the file with the answers");
  const Table table = read_data(o.reading, o.common);
  saved = load_for(o.model, table, o.target);
  const bool one_class = std::holds_alternative<OneClassModel>(saved.model);
  if (one_class && o.target.empty() && !table.sparse)
    throw UsageError(fmt::format("{} is a one-class model, which has no target; name a column of 1 and -1 with --target", o.model));
  std::string target = o.target;
  Vector truth;
  if (saved.encoder) {
    Encoder encoder = *saved.encoder;
    if (!target.empty() && !encoder.sparse) {
      encoder.target = table.names[static_cast<std::size_t>(require_column(table, target))];
    }
    const std::optional<Vector> found = o.gram.empty() ? encoder.target_of(table) : gram_target(encoder, table);
    if (!found) {
      throw InvalidArgument(
          fmt::format("{}: lacks the target \"{}\", so there is nothing to compare with; use predict, or name it with --target",
                      table.source, encoder.target));
    }
    truth = *found;
    target = encoder.target;
  } else {
    if (target.empty() && !table.sparse) {
      throw UsageError(fmt::format("{} does not know its target column; name it with --target", o.model));
    }
    truth = plain_target(table, target);
  }
  const std::vector<Index> sequences = sequences_for(saved, o.model, table, o.sequence);
  const Samples X =
      o.gram.empty() ? features_for(saved, table, saved.encoder ? "" : target) : read_gram_rows(o.gram, saved, o.model, o.common);
  if (!o.gram.empty()) require_rows(o.gram, X, table);
  const Matrix predicted = predict_with_bar(saved, X, o.common);
  if (predicted.cols() > 1 && !(saved.encoder && saved.encoder->task == Task::classification)) {
    throw InvalidArgument(fmt::format("{} predicts {} numbers a row; score compares one", o.model, predicted.cols()));
  }
  const bool classify = saved.encoder && saved.encoder->task == Task::classification;
  const std::vector<Index> guess = classify ? classes_of(saved, X, predicted, o.common, sequences) : std::vector<Index>();
  Quality quality = one_class ? one_class_quality(o.model, truth, predicted)
                              : quality_of(saved.encoder ? &*saved.encoder : nullptr, truth, predicted, classify ? &guess : nullptr);
  add_loss_quality(saved, truth, predicted, quality);
  if (o.common.json) {
    Json json = {{"model", saved.kind()}, {"target", target}};
    json.update(quality.json);
    print_json(json);
    return;
  }
  const Speaker speaker(o.common);
  speaker.say("{} on {} rows of {}, target {}:", saved.kind(), truth.size(), table.source == "-" ? "standard input" : table.source, target);
  for (const std::string& line : quality.lines) speaker.say("  {}", line);
}

}  // namespace

void add_score(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<ScoreOptions>();
  CLI::App* command = app.add_subcommand("score", "Compare a saved model's predictions with known answers");
  command->add_option("MODELFILE", o->model, "A model that fit or learn saved")->required();
  add_reading(*command, o->reading);
  add_gram_file(*command, o->gram,
                "Kernel values k(new, training object), a row for each row of DATA, for a model that was fitted with --gram");
  command->add_option("--target", o->target, "Column with the answers (default: the name it had in training)")->type_name("COL");
  command
      ->add_option("--sequence", o->sequence, "Models of sequences: the column that tells them apart (default: the one it had in training)")
      ->type_name("COL");
  add_seed(*command, o->reading.seed, "Seed of built-in sets (default: 0)");
  add_common(*command, o->common);
  command->footer(
      "Regression: R2, RMSE, MAE (a quantile also: pinball loss, share of rows below). Classification: accuracy with its 95 % interval, "
      "precision, recall, confusion.\n"
      "Examples:\n"
      "  mercer score model.mercer test.csv\n"
      "  mercer score model.mercer test.csv --json");
  command->callback([o, &invocation] { invocation.job = [o] { run_score(*o); }; });
}

}  // namespace mercer::cli

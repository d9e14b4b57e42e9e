// SPDX-License-Identifier: BSD-3-Clause
#include "apply.hpp"

#include "terminal.hpp"

namespace mercer::cli {

Samples features_for(const SavedModel& saved, const Table& table, const std::string& target) {
  if (saved.encoder) {
    for (const std::string& sentence : saved.encoder->unseen_categories(table)) fmt::print(stderr, "mercer: {}\n", sentence);
    return saved.encoder->features_of(table);
  }
  if (table.sparse) {
    if (table.sparse->width() != saved.width()) {
      throw InvalidArgument(
          fmt::format("{}: has {} features, the model was fitted on {}", table.source, table.sparse->width(), saved.width()));
    }
    return *table.sparse;
  }
  const Index skipped = target.empty() ? -1 : table.find(target);
  const Index width = std::ssize(table.columns) - (skipped >= 0 ? 1 : 0);
  if (width != saved.width()) {
    throw InvalidArgument(fmt::format("{}: has {} columns of features, the model was fitted on {}", table.source, width, saved.width()));
  }
  Matrix X(table.rows(), width);
  Index k = 0;
  for (Index j = 0; j < std::ssize(table.columns); ++j) {
    if (j == skipped) continue;
    const Column& column = table.columns[static_cast<std::size_t>(j)];
    if (column.is_text()) {
      throw InvalidArgument(fmt::format("{}: column {} ({}) is text; the model takes numbers", table.source, j + 1, column.name));
    }
    if (!column.missing.empty()) {
      throw InvalidArgument(
          fmt::format("{}:{}: column {} ({}) has no value", table.source, table.line_of(column.missing[0]), j + 1, column.name));
    }
    X.col(k++) = Eigen::Map<const Vector>(column.numbers().data(), table.rows());
  }
  return Samples::own(std::move(X));
}

namespace {

// Columns of a table with names for the features of a LIBSVM model, in order; one more column is the target.
Encoder encoder_of_columns(const Encoder& libsvm, const Table& table, const std::string& asked) {
  Encoder encoder = libsvm;
  const Index columns = std::ssize(table.columns);
  Index target = asked.empty() ? -1 : require_column(table, asked);
  if (target < 0 && columns == libsvm.width + 1) {
    target = columns - 1;
    for (const char* name : {"class", "target", "label", "y"}) {
      if (const Index found = table.find(name); found >= 0) target = found;
    }
  }
  if (columns - (target >= 0 ? 1 : 0) != libsvm.width) {
    throw InvalidArgument(
        fmt::format("{}: has {} columns, the LIBSVM model takes {} features, with or without a target; convert the data to "
                    "LIBSVM rows (mercer convert IN OUT.svm) if columns of zeros are missing",
                    table.source, columns, libsvm.width));
  }
  encoder.sparse = false;
  encoder.named = table.has_header;
  encoder.table_columns = columns;
  encoder.target_position = target;
  if (target >= 0) encoder.target = table.names[static_cast<std::size_t>(target)];
  for (Index j = 0; j < columns; ++j) {
    if (j != target)
      encoder.features.push_back({.name = table.names[static_cast<std::size_t>(j)], .categories = {}, .fill = 0, .position = j});
  }
  return encoder;
}

}  // namespace

SavedModel load_for(const std::string& path, const Table& table, const std::string& target) {
  if (!is_libsvm_model(path)) return load_model(path);
  SavedModel saved = read_libsvm_model(path, table.sparse ? table.sparse->width() : 0);
  if (!table.sparse) saved.encoder = encoder_of_columns(*saved.encoder, table, target);
  return saved;
}

std::vector<Index> classes_of(const SavedModel& saved, const Samples& X, const Matrix& scores, const CommonOptions& common) {
  if (!std::holds_alternative<SvcModel>(saved.model)) return classes_from_scores(scores);
  ProgressBar bar;
  return saved.classes(X, common.run(bar.callback()));
}

Matrix predict_with_bar(const SavedModel& saved, const Samples& X, const CommonOptions& common) {
  if (const auto* krr = std::get_if<KernelRidgeModel>(&saved.model)) {
    const double pairs = static_cast<double>(X.size()) * static_cast<double>(krr->samples().size());
    announce(fmt::format("predicting {} rows", X.size()), pairs * (2 * static_cast<double>(X.width()) + 60) / estimated_flops(common.run()),
             static_cast<double>(X.size()) * static_cast<double>(X.width() + krr->n_targets()) * 8, common.run());
  }
  ProgressBar bar;
  return saved.predict(X, common.run(bar.callback()));
}

}  // namespace mercer::cli

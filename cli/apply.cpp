// SPDX-License-Identifier: BSD-3-Clause
#include "apply.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "estimates.hpp"
#include "objects.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

// A file of text alone does not show whether its first line has names; a name that the model knows does.
void require_no_names(const Encoder& encoder, const Table& table) {
  if (!encoder.named || table.has_header || table.sparse) return;
  for (const Column& column : table.columns) {
    if (!column.is_text() || column.text().empty()) continue;
    for (const FeatureColumn& feature : encoder.features) {
      if (feature.object && column.text().front() == feature.name)
        throw FileError(fmt::format("{}: the first line holds \"{}\", a column that the model knows; --header takes that line for names",
                                    table.source == "-" ? "standard input" : table.source, feature.name));
    }
  }
}

}  // namespace

Samples features_for(const SavedModel& saved, const Table& table, const std::string& target) {
  const std::optional<Kernel> kernel = kernel_in(saved.model);
  if (kernel && kernel->needs_given_gram() && !table.sparse && std::ssize(table.columns) < saved.width()) {
    throw UsageError(
        fmt::format("the model was fitted on kernel values: --gram gives those of new objects, {} in each row", saved.width()));
  }
  if (saved.encoder) {
    require_no_names(*saved.encoder, table);
    for (const std::string& sentence : saved.encoder->unseen_categories(table)) print_warning(sentence);
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
    if (column.is_objects()) {
      throw InvalidArgument(fmt::format("{}: column {} ({}) holds objects; the model takes numbers", table.source, j + 1, column.name));
    }
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

std::vector<Index> groups_in(const Table& table, const std::string& name, const std::string& option) {
  const Column& column = table.columns[static_cast<std::size_t>(require_column(table, name, " for " + option))];
  if (!column.missing.empty())
    throw InvalidArgument(fmt::format("{}: column \"{}\" for {} has rows without a value", table.source, name, option));
  require_cells(table, column, option);
  std::vector<Index> out;
  const auto number = [&out]<class Cell>(const std::vector<Cell>& cells) {
    std::map<Cell, Index> seen;
    for (const Cell& cell : cells) out.push_back(seen.try_emplace(cell, static_cast<Index>(seen.size())).first->second);
  };
  if (column.is_text()) {
    number(column.text());
  } else {
    number(column.numbers());
  }
  return out;
}

SequenceOrder sequence_order(const std::vector<Index>& groups) {
  SequenceOrder out;
  out.rows.resize(groups.size());
  std::iota(out.rows.begin(), out.rows.end(), Index{0});
  const auto group = [&](Index row) { return groups[static_cast<std::size_t>(row)]; };
  std::stable_sort(out.rows.begin(), out.rows.end(), [&](Index a, Index b) { return group(a) < group(b); });
  for (std::size_t k = 1; k < out.rows.size(); ++k) {
    if (group(out.rows[k]) != group(out.rows[k - 1])) out.offsets.push_back(static_cast<Index>(k));
  }
  if (!groups.empty()) out.offsets.push_back(std::ssize(groups));
  return out;
}

std::vector<Index> sequences_for(const SavedModel& saved, const std::string& model, const Table& table, const std::string& asked) {
  const auto* structured = std::get_if<StructuredSvmModel>(&saved.model);
  if (structured == nullptr || structured->form() != StructuredForm::chain) {
    if (!asked.empty())
      throw UsageError(fmt::format("--sequence is for models that label sequences; {} is a {} model of rows", model, saved.kind()));
    return {};
  }
  const std::string& name = asked.empty() ? structured->parts().sequence_column : asked;
  if (name.empty()) throw UsageError(fmt::format("{} labels sequences; name the column that tells them apart with --sequence", model));
  if (asked.empty() && table.find(name) < 0) {
    throw InvalidArgument(fmt::format("{}: has no column \"{}\", which tells the sequences of {} apart{}; --sequence names another",
                                      table.source, name, model, did_you_mean(name, table.names)));
  }
  return groups_in(table, name, "--sequence");
}

namespace {

// The labels of the rows, in the order of the table.
std::vector<Index> chain_labels(const StructuredSvmModel& model, const Samples& X, const std::vector<Index>& sequences, const Run& run) {
  const SequenceOrder order = sequence_order(sequences);
  const std::vector<Index> labels = model.label_sequences(X.subset(order.rows), order.offsets, run);
  std::vector<Index> out(labels.size());
  for (std::size_t k = 0; k < labels.size(); ++k) out[static_cast<std::size_t>(order.rows[k])] = labels[k];
  return out;
}

}  // namespace

std::vector<Index> classes_of(const SavedModel& saved, const Samples& X, const Matrix& scores, const CommonOptions& common,
                              const std::vector<Index>& sequences) {
  if (const auto* structured = std::get_if<StructuredSvmModel>(&saved.model);
      structured != nullptr && structured->form() == StructuredForm::chain && !X.empty()) {
    ProgressBar bar;
    const Run run = common.run(bar.callback());
    return sequences.empty() ? structured->classes(X, run) : chain_labels(*structured, X, sequences, run);
  }
  if (!std::holds_alternative<SvcModel>(saved.model)) return classes_from_scores(scores);
  ProgressBar bar;
  return saved.classes(X, common.run(bar.callback()));
}

Matrix predict_with_bar(const SavedModel& saved, const Samples& X, const CommonOptions& common) {
  announce_application("predicting", saved, X, common.run());
  ProgressBar bar;
  return saved.predict(X, common.run(bar.callback()));
}

}  // namespace mercer::cli

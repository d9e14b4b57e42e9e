// SPDX-License-Identifier: BSD-3-Clause
#include "explore.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "given_gram.hpp"
#include "objects.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

constexpr const char* usual_targets[] = {"y", "label", "target", "class"};

const Column& column_named(const Table& table, const std::string& name, const std::string& option) {
  if (table.sparse) throw InvalidArgument(fmt::format("{}: rows of a LIBSVM file have no named columns for {}", table.source, option));
  return table.columns[static_cast<std::size_t>(require_column(table, name, " for " + option))];
}

// The target given, or a column that is named like one.
std::optional<Column> target_in(const Table& table, const std::string& given, std::vector<std::string>& notes) {
  if (table.sparse && given.empty()) {
    notes.emplace_back("The labels of the LIBSVM file are no feature.");
    return Column{"label", table.sparse_labels, {}};
  }
  if (!given.empty()) {
    const Column& column = column_named(table, given, "--target");
    notes.push_back(fmt::format("Column {} is no feature: it is the target.", column.name));
    return column;
  }
  for (const char* usual : usual_targets) {
    for (const Column& column : table.columns) {
      if (CLI::detail::to_lower(column.name) != usual) continue;
      notes.push_back(fmt::format("Column {} is no feature, by its name; --target names another.", column.name));
      return column;
    }
  }
  return std::nullopt;
}

}  // namespace

ColorColumn color_of(const Column& column) {
  constexpr std::size_t most_classes = 20;
  if (column.is_objects()) throw InvalidArgument(fmt::format("column {} holds objects, which are no colours or classes", column.name));
  if (column.is_text()) return {.name = column.name, .numbers = {}, .words = column.text()};
  const std::vector<double>& numbers = column.numbers();
  std::set<double> seen;
  for (const double value : numbers) {
    if (!std::isfinite(value) || value != std::round(value)) return {.name = column.name, .numbers = numbers, .words = {}};
    if (seen.size() <= most_classes) seen.insert(value);
  }
  if (seen.size() > most_classes) return {.name = column.name, .numbers = numbers, .words = {}};
  ColorColumn color{.name = column.name, .numbers = {}, .words = {}};
  for (const double value : numbers) color.words.push_back(format_number(value));
  return color;
}

std::vector<Index> classes_in(const Table& table, const Column& column) {
  if (!column.missing.empty()) {
    throw InvalidArgument(
        fmt::format("{}:{}: column {}, to compare with, has no value", table.source, table.line_of(column.missing[0]), column.name));
  }
  require_cells(table, column, "labels");
  return column.is_text() ? encode_labels(column.text()).indices : encode_labels(column.numbers()).indices;
}

Exploration explore(const ExploreOptions& o, const Speaker& speaker, Table* read) {
  const auto start = std::chrono::steady_clock::now();
  const bool from_file = !o.gram.empty();
  if (from_file && o.gram == o.reading.path) throw UsageError("DATA and --gram name the same file; leave out DATA");
  const bool has_data = !from_file || !o.reading.path.empty();
  Table table = has_data ? read_data(o.reading, o.common) : Table{};
  EncodeOptions encode = o.encode;
  std::vector<std::string> notes;
  std::vector<Column> kept;
  ColorColumn color;
  const std::optional<Column> target = target_in(table, o.target, notes);
  if (target) {
    kept.push_back(*target);
    color = color_of(*target);
    if (!table.sparse) encode.drop.push_back(target->name);
  }
  if (!o.color.empty()) {
    const Column& column = column_named(table, o.color, "--color");
    color = color_of(column);
    if (!target || target->name != column.name) {
      notes.push_back(fmt::format("Column {} is no feature: points are coloured by it.", column.name));
      kept.push_back(column);
      encode.drop.push_back(column.name);
    }
  }
  Exploration e{.data = {}, .kept = std::move(kept), .color = std::move(color), .target = {}, .kernel = o.kernel, .start = start};
  if (from_file) {
    e.data = gram_dataset(o.gram, has_data ? &table : nullptr, encode, o.common);
    e.kernel = kernels::precomputed();
  } else {
    suit_objects(table, e.kernel, encode, notes);
    if (e.kernel && e.kernel->needs_given_gram()) {
      encode.scaling = ScalingKind::none;
      notes.emplace_back("The columns are taken for the Gram matrix of the rows, without scaling.");
    }
    e.data = make_dataset(table, encode);
  }
  if (target) e.target = target->name;
  e.data.notes.insert(e.data.notes.begin(), notes.begin(), notes.end());
  if (e.data.X.size() < 2) {
    throw InvalidArgument(fmt::format("{}: has {} row{}; how rows lie to each other needs at least 2", table.source, e.data.X.size(),
                                      e.data.X.size() == 1 ? "" : "s"));
  }
  if (e.kernel) {
    const std::vector<std::string> remarks = kernel_remarks(kernel_of(e), e.data.X);
    e.data.notes.insert(e.data.notes.end(), remarks.begin(), remarks.end());
  }
  speaker.notes(e.data.notes);
  if (read != nullptr) *read = std::move(table);
  return e;
}

CLI::Option* add_exploring_kernel(CLI::App& command, ExploreOptions& o, const std::string& words) {
  CLI::Option* kernel = add_kernel(command, o.kernel, words);
  add_gram_file(command, o.gram,
                "Kernel values of the rows in place of a kernel: a square matrix, .npy or .csv without names; DATA may be left out");
  return kernel;
}

Kernel kernel_of(const Exploration& e) {
  const Kernel asked =
      resolve_columns(e.kernel.value_or(kernels::gaussian(kernels::LengthScale::automatic())), e.data.encoder.column_names());
  return resolve(asked, e.data.X);
}

void check_outputs(const std::vector<std::pair<std::string, std::string>>& outputs, const std::vector<std::string>& inputs, bool json) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [option, path] = outputs[i];
    if (path.empty()) continue;
    check_output(option, path, inputs, option == "--out");
    if (json && path == "-") throw UsageError("--json and --out - both want standard output; choose one");
    for (std::size_t j = 0; j < i; ++j) {
      if (outputs[j].second == path)
        throw UsageError(fmt::format("{} and {} name the same file; give each its own", outputs[j].first, option));
    }
  }
}

Table answers_table(const Matrix& numbers, const std::vector<std::string>& names, const std::vector<Column>& kept) {
  Table table;
  for (Index j = 0; j < numbers.cols(); ++j) {
    const Vector column = numbers.col(j);
    table.names.push_back(names[static_cast<std::size_t>(j)]);
    table.columns.push_back({table.names.back(), std::vector<double>(column.begin(), column.end()), {}});
  }
  for (Column column : kept) {
    while (table.find(column.name) >= 0) column.name += '_';
    table.names.push_back(column.name);
    table.columns.push_back(std::move(column));
  }
  return table;
}

void write_answers(const Matrix& numbers, const std::vector<std::string>& names, const std::vector<Column>& kept, const std::string& path,
                   const CommonOptions& common) {
  const FileFormat format = format_of_output(path);
  const Table answers = answers_table(numbers, names, format == FileFormat::npy ? std::vector<Column>{} : kept);
  write_carefully(path, common, [&](const Run& run) { write_table(answers, path, {.format = format, .run = run}); });
}

Json answers_json(const Table& answers) {
  Json json = Json::object();
  for (const Column& column : answers.columns) {
    Json values = Json::array();
    if (column.is_text()) {
      for (const std::string& word : column.text()) values.push_back(word);
    } else {
      for (const double value : column.numbers()) values.push_back(number_json(value));
    }
    json[column.name] = std::move(values);
  }
  return json;
}

std::string seconds_word(double seconds) {
  return seconds < 0.0995 ? fmt::format("{:.0f} ms", 1000 * seconds) : fmt::format("{:.2g} s", seconds);
}

std::string percent_word(double share) { return fmt::format("{:.3g} %", 100 * share); }

std::string source_word(const std::string& path) { return path == "-" ? "standard input" : path; }

void add_exploring(CLI::App& command, ExploreOptions& o, Invocation& invocation) {
  add_reading(command, o.reading);
  command
      .add_option("--target", o.target, "Column that is no feature, kept beside the answers (default: one named y, label, target or class)")
      ->type_name("COL");
  add_encoding(command, o.encode);
  command.add_flag("--one-hot", o.encode.one_hot, "Turn text columns into 0/1 columns, one for each word (default: text is an error)");
  add_scaling(command, o.encode.scaling);
  add_seed(command, o.reading.seed, "Seed of what is drawn, and of built-in sets (default: 0)");
  add_common(command, o.common);
  o.command_line = invocation.command_line();
}

void add_exploring_outputs(CLI::App& command, ExploreOptions& o, const std::string& answers) {
  command.add_option("--out", o.out, fmt::format("Write {} to this file: .csv, .tsv or .npy; - is CSV on standard output", answers))
      ->type_name("FILE");
  command.add_option("--report", o.report, "Write a self-contained HTML page with charts to this file")->type_name("FILE");
}

}  // namespace mercer::cli

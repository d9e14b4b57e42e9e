// SPDX-License-Identifier: BSD-3-Clause
#include "series.hpp"

#include <algorithm>

#include "objects.hpp"

namespace mercer::cli {

void add_series(CLI::App& command, SeriesOptions& o, const std::string& position, Invocation& invocation) {
  add_reading(command, o.reading, position);
  add_columns(command, "--columns", o.columns, "Columns to look at, separated by commas (default: all)");
  command.add_option("--time", o.time, "Column that names the rows (a date, say); no feature, shown beside what is found")
      ->type_name("COL");
  add_kernel(command, o.kernel, "Kernel, like \"gaussian(2)\" or \"laplacian(auto)\" (default: gaussian(auto), the median distance)");
  add_encoding(command, o.encode);
  command.add_flag("--one-hot", o.encode.one_hot, "Turn text columns into 0/1 columns, one for each word (default: text is an error)");
  add_scaling(command, o.encode.scaling);
  o.command_line = invocation.command_line();
}

void add_series_outputs(CLI::App& command, SeriesOptions& o, const std::string& answers) {
  command.add_option("--out", o.out, fmt::format("Write {} to this file: .csv, .tsv or .npy; - is CSV on standard output", answers))
      ->type_name("FILE");
  command.add_option("--report", o.report, "Write a self-contained HTML page with charts to this file")->type_name("FILE");
  add_seed(command, o.seed, "Seed of what is drawn, and of built-in sets (default: 0)");
  add_common(command, o.common);
}

Dataset series_of(const Table& table, const SeriesOptions& o, const Speaker& speaker) {
  EncodeOptions encode = o.encode;
  if (table.sparse && (!o.columns.empty() || !o.time.empty()))
    throw InvalidArgument(fmt::format("{}: rows of a LIBSVM file have no named columns for --columns or --time", table.source));
  if (!o.time.empty()) encode.drop.push_back(table.names[static_cast<std::size_t>(require_column(table, o.time, " for --time"))]);
  if (!o.columns.empty()) {
    std::vector<Index> chosen;
    for (const std::string& name : o.columns) chosen.push_back(require_column(table, name, " for --columns"));
    for (Index c = 0; c < std::ssize(table.names); ++c) {
      if (std::find(chosen.begin(), chosen.end(), c) == chosen.end()) encode.drop.push_back(table.names[static_cast<std::size_t>(c)]);
    }
  }
  if (o.kernel && o.kernel->needs_given_gram()) encode.scaling = ScalingKind::none;
  std::optional<Kernel> kernel = o.kernel;
  std::vector<std::string> notes;
  suit_objects(table, kernel, encode, notes);
  if (kernel && !o.kernel)
    throw InvalidArgument(fmt::format("{}: holds strings, sets or graphs; say by which kernel they are compared, like --kernel '{}'",
                                      table.source == "-" ? "standard input" : table.source, kernel->text()));
  Dataset data = make_dataset(table, encode);
  data.notes.insert(data.notes.begin(), notes.begin(), notes.end());
  if (table.sparse) data.notes.insert(data.notes.begin(), "The labels of the LIBSVM file are no feature.");
  speaker.notes(data.notes);
  return data;
}

std::vector<std::string> times_in(const Table& table, const std::string& name) {
  if (name.empty()) return {};
  const Column& column = table.columns[static_cast<std::size_t>(require_column(table, name, " for --time"))];
  require_cells(table, column, "--time");
  if (column.is_text()) return column.text();
  std::vector<std::string> words;
  for (const double value : column.numbers()) words.push_back(format_number(value));
  return words;
}

Kernel kernel_for(const SeriesOptions& o, const Dataset& data) {
  return resolve_columns(o.kernel.value_or(kernels::gaussian(kernels::LengthScale::automatic())), data.encoder.column_names());
}

}  // namespace mercer::cli

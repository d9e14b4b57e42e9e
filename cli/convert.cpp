// mercer convert: a table from one file format to another.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"
#include "files.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct ConvertOptions {
  CommonOptions common{};
  ReadingOptions reading{};
  std::string out{};
  FileFormat to = FileFormat::automatic;
  std::string target{};
  std::vector<std::string> drop{};
};

const char* name_of_format(FileFormat format) {
  switch (format) {
    case FileFormat::tsv:
      return "tsv";
    case FileFormat::libsvm:
      return "libsvm";
    case FileFormat::npy:
      return "npy";
    case FileFormat::lines:
      return "lines";
    case FileFormat::fasta:
      return "fasta";
    case FileFormat::jsonl:
      return "jsonl";
    case FileFormat::graphs:
      return "graphs";
    case FileFormat::tu:
      return "tu";
    default:
      return "csv";
  }
}

void drop_columns(Table& table, const std::vector<std::string>& names) {
  if (names.empty()) return;
  if (table.sparse) throw InvalidArgument(fmt::format("{}: LIBSVM columns have no names to --drop", table.source));
  std::vector<bool> out(table.columns.size(), false);
  for (const std::string& name : names) out[static_cast<std::size_t>(require_column(table, name))] = true;
  for (std::size_t j = out.size(); j-- > 0;) {
    if (!out[j]) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(j));
    table.names.erase(table.names.begin() + static_cast<std::ptrdiff_t>(j));
  }
  if (table.columns.empty()) throw InvalidArgument(fmt::format("{}: every column is dropped", table.source));
}

// The target goes last, where every reader looks for it when no name says otherwise.
void target_last(Table& table, const std::string& target) {
  if (target.empty()) return;
  if (table.sparse) throw InvalidArgument(fmt::format("{}: the target of a LIBSVM file is its label; leave out --target", table.source));
  const Index at = require_column(table, target);
  std::rotate(table.columns.begin() + at, table.columns.begin() + at + 1, table.columns.end());
  std::rotate(table.names.begin() + at, table.names.begin() + at + 1, table.names.end());
}

// LIBSVM has no names: the one that --target chose must not lose to a column that is called y.
void name_by_position(Table& table) {
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    table.names[j] = j + 1 == table.columns.size() ? "target" : fmt::format("x{}", j + 1);
    table.columns[j].name = table.names[j];
  }
}

bool is_model_name(const std::string& path) { return path.ends_with(".mercer"); }

// Models of support vectors: a Mercer model becomes a LIBSVM model, and the other way round by the name of the output.
void convert_model(const ConvertOptions& o) {
  check_output("OUT", o.out, {o.reading.path}, false);
  const SavedModel saved = open_model(o.reading.path);
  const bool to_mercer = is_model_name(o.out);
  write_carefully(o.out, o.common, [&](const Run& run) {
    if (to_mercer) {
      save_model(saved, o.out, run);
    } else {
      write_libsvm_model(saved, o.out);
    }
  });
  if (o.common.json) {
    print_json({{"model", saved.kind()}, {"to", to_mercer ? "mercer model" : "libsvm model"}, {"files", {{"out", o.out}}}});
    return;
  }
  Speaker(o.common).say("{} model -> {}: {}", saved.kind(), to_mercer ? "Mercer model" : "LIBSVM model", o.out);
}

void run_convert(const ConvertOptions& o) {
  if (is_model_name(o.reading.path) || is_libsvm_model(o.reading.path)) {
    convert_model(o);
    return;
  }
  check_output("OUT", o.out, {o.reading.path}, !o.common.json);
  const FileFormat to = o.to == FileFormat::automatic ? format_of_output(o.out) : o.to;
  Table table = read_data(o.reading, o.common);
  const FileFormat from = table.format;
  drop_columns(table, o.drop);
  target_last(table, o.target);
  if (!o.target.empty() && to == FileFormat::libsvm) name_by_position(table);
  const bool named = table.has_header || table.sparse || o.reading.read.header.value_or(true);
  const bool header = named && (to == FileFormat::csv || to == FileFormat::tsv);
  const Index columns = table.sparse ? table.sparse->width() + 1 : std::ssize(table.columns);
  write_carefully(o.out, o.common, [&](const Run& run) { write_table(table, o.out, {.format = to, .header = header, .run = run}); });
  if (o.common.json) {
    print_json({{"rows", table.rows()},
                {"columns", columns},
                {"from", name_of_format(from)},
                {"to", name_of_format(to)},
                {"files", {{"out", o.out}}}});
    return;
  }
  Speaker(o.common, o.out)
      .say("{} rows, {} columns, {} -> {}{}", table.rows(), columns, name_of_format(from), name_of_format(to),
           o.out == "-" ? "" : ": " + o.out);
}

}  // namespace

void add_convert(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<ConvertOptions>();
  CLI::App* command =
      app.add_subcommand("convert", "Turn a table from one file format into another; or a support vector machine into a LIBSVM model");
  add_reading(*command, o->reading, "IN");
  command->add_option("OUT", o->out, "File to write: .csv, .tsv, .svm, .libsvm, .npy or .jsonl, .gz or .xz behind; - is standard output")
      ->required();
  add_choice<FileFormat>(*command, "--to", o->to,
                         {{"csv", FileFormat::csv},
                          {"tsv", FileFormat::tsv},
                          {"libsvm", FileFormat::libsvm},
                          {"npy", FileFormat::npy},
                          {"jsonl", FileFormat::jsonl}},
                         "Format to write (default: by the name, else CSV)");
  command
      ->add_option("--target", o->target,
                   "Column that becomes the LIBSVM label, or the last column (default: y, label, target, class, last)")
      ->type_name("COL");
  add_columns(*command, "--drop", o->drop, "Columns to leave out, separated by commas");
  add_seed(*command, o->reading.seed, "Seed of built-in sets (default: 0)");
  add_common(*command, o->common);
  command->footer(
      "Examples:\n"
      "  mercer convert train.csv train.svm --target price\n"
      "  mercer convert builtin:moons moons.csv --seed 3\n"
      "  mercer convert a9a.svm.xz - --to csv | head\n"
      "  mercer convert MUTAG.graphs MUTAG.jsonl\n"
      "  mercer convert model.mercer model.libsvm     (a support vector machine, as svm-predict reads it)");
  command->callback([o, &invocation] { invocation.job = [o] { run_convert(*o); }; });
}

}  // namespace mercer::cli

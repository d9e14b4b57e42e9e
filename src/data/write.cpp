// Writers of CSV, TSV, LIBSVM, NPY and JSON lines. Rows are turned into text in parallel, a group of blocks at a time, and written in
// order. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "data/bytes.hpp"
#include "data/formats.hpp"
#include "data/number.hpp"
#include "mercer/error.hpp"
#include "mercer/objects.hpp"
#include "mercer/table.hpp"

namespace mercer {

namespace {

using AppendRow = std::function<void(Index row, std::string& out)>;

// Where the bytes go, and who hears how far the writing is and may stop it.
struct Destination {
  const ByteSink& sink;
  const ProgressCallback& progress;
};

void write_rows(Index rows, Index columns, const AppendRow& append, const Destination& destination) {
  const Index block = std::clamp<Index>(16384 / std::max<Index>(columns, 1), 1, 4096);  // rows; some hundred kilobytes of text
  constexpr Index group = 32;
  const Index blocks = (rows + block - 1) / block;
  std::vector<std::string> texts(static_cast<std::size_t>(std::min(group, blocks)));
  Stage writing(destination.progress, "writing", static_cast<double>(blocks));
  for (Index first = 0; first < blocks; first += group) {
    const Index count = std::min(group, blocks - first);
    parallel_for(count, [&](Index b) {
      std::string& text = texts[static_cast<std::size_t>(b)];
      text.clear();
      const Index begin = (first + b) * block;
      for (Index i = begin; i < std::min(rows, begin + block); ++i) append(i, text);
    });
    for (Index b = 0; b < count; ++b) {
      destination.sink(texts[static_cast<std::size_t>(b)]);
      writing.advance(1);
    }
  }
}

// A missing number is an empty cell.
void append_number(double value, std::string& out) {
  if (!std::isnan(value)) fmt::format_to(std::back_inserter(out), "{}", value);
}

void append_text(std::string_view text, char delimiter, std::string& out) {
  const char special[] = {delimiter, '"', '\n', '\r', '\0'};
  const bool plain = text.find_first_of(special) == std::string_view::npos && trimmed(text) == text && !is_missing_word(text);
  if (plain) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_cell(const Column& column, Index row, char delimiter, std::string& out) {
  const auto i = static_cast<std::size_t>(row);
  if (!column.is_text()) {
    append_number(column.numbers()[i], out);
  } else if (!std::binary_search(column.missing.begin(), column.missing.end(), row)) {
    append_text(column.text()[i], delimiter, out);
  }
}

// A line with nothing on it would be skipped by a reader, so the one empty cell of a table with one column is written as "".
void end_row(std::size_t start, std::string& out) {
  if (out.size() == start) out += "\"\"";
  out += '\n';
}

void write_names(const std::vector<std::string>& names, char delimiter, const ByteSink& sink) {
  std::string line;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (j > 0) line += delimiter;
    append_text(names[j], delimiter, line);
  }
  sink(line + '\n');
}

void check_columns(const Table& table) {
  const Index rows = table.rows();
  for (const Column& column : table.columns) {
    const auto size = std::visit([](const auto& values) { return static_cast<Index>(values.size()); }, column.values);
    if (size != rows)
      throw InvalidArgument(
          fmt::format("column {} has {} rows, the first one {}; give all columns the same length", quoted(column.name), size, rows));
  }
}

std::vector<std::string> sparse_names(Index width) {
  std::vector<std::string> names;
  for (Index j = 1; j <= width; ++j) names.push_back(fmt::format("x{}", j));
  names.emplace_back("label");
  return names;
}

const CsrRows<double>& csr_of(const Table& table) {
  const auto* rows = std::get_if<CsrRows<double>>(&table.sparse->storage());
  if (rows == nullptr) throw InvalidArgument("the sparse rows of a table must be CSR in float64");
  return *rows;
}

// visit(column, value) over all columns of a sparse row, the zeros included, in order.
template <class Visit>
void for_each_value(const CsrRows<double>& rows, Index row, const Visit& visit) {
  Index p = rows.begin(row);
  for (Index j = 0; j < rows.cols; ++j) {
    const bool there = p < rows.end(row) && rows.columns[p] == j;
    visit(j, there ? rows.values[p++] : 0.0);
  }
}

// Lists and graphs are no cells.
void require_no_objects(const Table& table, const char* format) {
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    if (table.columns[j].is_objects())
      throw InvalidArgument(fmt::format("column {} ({}) holds {}, which {} cannot hold; leave it out, or write JSON lines (.jsonl)", j + 1,
                                        table.columns[j].name, name_of(kind_of(table.columns[j].objects(), "a column")), format));
  }
}

void write_delimited(const Table& table, char delimiter, bool header, const Destination& destination) {
  require_no_objects(table, delimiter == '\t' ? "TSV" : "CSV");
  if (table.sparse) {
    const auto& rows = csr_of(table);
    if (header) write_names(sparse_names(rows.cols), delimiter, destination.sink);
    write_rows(
        rows.rows, rows.cols,
        [&](Index i, std::string& out) {
          for_each_value(rows, i, [&](Index, double value) {
            append_number(value, out);
            out += delimiter;
          });
          append_number(table.sparse_labels.at(static_cast<std::size_t>(i)), out);
          out += '\n';
        },
        destination);
    return;
  }
  if (header) write_names(table.names, delimiter, destination.sink);
  write_rows(
      table.rows(), std::ssize(table.columns),
      [&](Index i, std::string& out) {
        const std::size_t start = out.size();
        for (std::size_t j = 0; j < table.columns.size(); ++j) {
          if (j > 0) out += delimiter;
          append_cell(table.columns[j], i, delimiter, out);
        }
        end_row(start, out);
      },
      destination);
}

void append_pair(Index column, double value, std::string& out) {
  if (value != 0) fmt::format_to(std::back_inserter(out), " {}:{}", column + 1, value);
}

void require_complete_numbers(const Table& table, const char* format) {
  require_no_objects(table, format);
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const Column& column = table.columns[j];
    if (column.is_text())
      throw InvalidArgument(
          fmt::format("column {} ({}) is text, which {} cannot hold; leave it out, or write CSV", j + 1, column.name, format));
    if (!column.missing.empty() && std::string_view(format) == "LIBSVM") {
      throw InvalidArgument(fmt::format("{}:{}: column {} ({}) has no value, and LIBSVM cannot say so; fill it in, or write CSV",
                                        table.source, table.line_of(column.missing.front()), j + 1, column.name));
    }
  }
}

void write_libsvm(const Table& table, const Destination& destination) {
  if (table.sparse) {
    const auto& rows = csr_of(table);
    write_rows(
        rows.rows, 100,
        [&](Index i, std::string& out) {
          append_number(table.sparse_labels.at(static_cast<std::size_t>(i)), out);
          for (Index p = rows.begin(i); p < rows.end(i); ++p) append_pair(rows.columns[p], rows.values[p], out);
          out += '\n';
        },
        destination);
    return;
  }
  require_complete_numbers(table, "LIBSVM");
  const Index target = default_target(table.names, std::vector<bool>(table.names.size(), false));
  if (target < 0) throw InvalidArgument("a table without columns cannot be written as LIBSVM");
  write_rows(
      table.rows(), std::ssize(table.columns),
      [&](Index i, std::string& out) {
        append_number(table.columns[static_cast<std::size_t>(target)].numbers()[static_cast<std::size_t>(i)], out);
        Index feature = 0;
        for (Index j = 0; j < std::ssize(table.columns); ++j) {
          if (j != target) append_pair(feature++, table.columns[static_cast<std::size_t>(j)].numbers()[static_cast<std::size_t>(i)], out);
        }
        out += '\n';
      },
      destination);
}

void append_bytes(double value, std::string& out) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

void write_npy(const Table& table, const Destination& destination) {
  if (table.sparse) {
    const auto& rows = csr_of(table);
    destination.sink(npy_header(rows.rows, rows.cols + 1));
    write_rows(
        rows.rows, rows.cols,
        [&](Index i, std::string& out) {
          for_each_value(rows, i, [&](Index, double value) { append_bytes(value, out); });
          append_bytes(table.sparse_labels.at(static_cast<std::size_t>(i)), out);
        },
        destination);
    return;
  }
  require_complete_numbers(table, "NPY");
  destination.sink(npy_header(table.rows(), std::ssize(table.columns)));
  write_rows(
      table.rows(), std::ssize(table.columns),
      [&](Index i, std::string& out) {
        for (const Column& column : table.columns) append_bytes(column.numbers()[static_cast<std::size_t>(i)], out);
      },
      destination);
}

// Sparse rows as columns, the label behind them.
Table dense_table(const Table& table) {
  const auto& rows = csr_of(table);
  Table out;
  out.names = sparse_names(rows.cols);
  require_memory(static_cast<std::size_t>(rows.rows) * out.names.size() * sizeof(double), 0,
                 fmt::format("the {} x {} table of {}", rows.rows, out.names.size(), table.source), "write CSV or LIBSVM");
  for (const std::string& name : out.names) out.columns.push_back({name, std::vector<double>(static_cast<std::size_t>(rows.rows)), {}});
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index p = rows.begin(i); p < rows.end(i); ++p)
      std::get<0>(out.columns[static_cast<std::size_t>(rows.columns[p])].values)[static_cast<std::size_t>(i)] = rows.values[p];
  }
  out.columns.back().values = table.sparse_labels;
  return out;
}

// An object a line; with `array`, all of them as one JSON array.
void write_jsonl(const Table& table, bool array, const Destination& destination) {
  if (table.sparse) return write_jsonl(dense_table(table), array, destination);
  const JsonRows json(table);
  if (array) destination.sink("[\n");
  write_rows(
      table.rows(), std::ssize(table.columns),
      [&](Index i, std::string& out) {
        json.append(i, out);
        out += array && i + 1 < table.rows() ? ",\n" : "\n";
      },
      destination);
  if (array) destination.sink("]\n");
}

FileFormat choose_format(const std::string& path, FileFormat asked) {
  const FileFormat format = asked != FileFormat::automatic ? asked : path == "-" ? FileFormat::csv : format_of_name(path);
  switch (format) {
    case FileFormat::csv:
    case FileFormat::tsv:
    case FileFormat::libsvm:
    case FileFormat::npy:
    case FileFormat::jsonl:
      return format;
    case FileFormat::automatic:
      throw FileError(fmt::format(
          "{}: its name does not say what to write; end it in .csv, .tsv, .svm, .libsvm, .npy or .jsonl (.gz or .xz behind)", path));
    default:
      throw FileError(fmt::format("{}: strings, FASTA and files of graphs are read, not written; end the name in .jsonl or .csv", path));
  }
}

bool is_json_array(const std::string& path) {
  const std::string_view name = std::string_view(path).substr(0, path.size() - (packing_of_name(path) == Packing::none ? 0 : 3));
  return name.ends_with(".json");
}

void write_packed(const std::string& path, const Run& run, const std::function<void(const Destination&)>& fill) {
  with_threads(run.threads, [&] {
    write_file_atomically(path, [&](const ByteSink& raw) {
      const auto packed = packing_sink(packing_of_name(path), raw);
      const ByteSink sink = [&](std::string_view bytes) { packed(bytes, false); };
      fill({sink, run.progress});
      packed({}, true);
    });
  });
}

}  // namespace

void write_table(const Table& table, const std::string& path, const WriteOptions& options) {
  const FileFormat format = choose_format(path, options.format);
  check_columns(table);
  if (table.sparse && table.sparse_labels.size() != static_cast<std::size_t>(table.rows())) {
    throw InvalidArgument(
        fmt::format("the table has {} sparse rows and {} labels; give every row one", table.rows(), table.sparse_labels.size()));
  }
  write_packed(path, options.run, [&](const Destination& destination) {
    if (format == FileFormat::npy) {
      write_npy(table, destination);
    } else if (format == FileFormat::libsvm) {
      write_libsvm(table, destination);
    } else if (format == FileFormat::jsonl) {
      write_jsonl(table, is_json_array(path), destination);
    } else {
      write_delimited(table, format == FileFormat::tsv ? '\t' : ',', options.header, destination);
    }
  });
}

void write_matrix(const MatrixRef& values, const std::vector<std::string>& names, const std::string& path, const WriteOptions& options) {
  const FileFormat format = choose_format(path, options.format);
  if (!names.empty() && std::ssize(names) != values.cols()) {
    throw InvalidArgument(fmt::format("{} names were given for {} columns; give one each, or none", names.size(), values.cols()));
  }
  if (format == FileFormat::libsvm || format == FileFormat::jsonl) {
    Table table;
    for (Index j = 0; j < values.cols(); ++j) {
      table.names.push_back(names.empty() ? fmt::format("x{}", j + 1) : names[static_cast<std::size_t>(j)]);
      const Vector column = values.col(j);
      table.columns.push_back({table.names.back(), std::vector<double>(column.begin(), column.end()), {}});
    }
    write_table(table, path, {.format = format, .header = false, .run = options.run});
    return;
  }
  write_packed(path, options.run, [&](const Destination& destination) {
    if (format == FileFormat::npy) {
      destination.sink(npy_header(values.rows(), values.cols()));
      const auto bytes = static_cast<std::size_t>(values.cols()) * sizeof(double);
      Stage writing(destination.progress, "writing", static_cast<double>(values.rows()));
      for (Index i = 0; i < values.rows(); ++i) {
        destination.sink({reinterpret_cast<const char*>(values.row(i).data()), bytes});
        writing.advance(1);
      }
      return;
    }
    const char delimiter = format == FileFormat::tsv ? '\t' : ',';
    if (options.header && !names.empty()) write_names(names, delimiter, destination.sink);
    write_rows(
        values.rows(), values.cols(),
        [&](Index i, std::string& out) {
          const std::size_t start = out.size();
          for (Index j = 0; j < values.cols(); ++j) {
            if (j > 0) out += delimiter;
            append_number(values(i, j), out);
          }
          end_row(start, out);
        },
        destination);
  });
}

}  // namespace mercer

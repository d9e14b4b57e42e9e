// Tables as people have them: CSV, TSV, LIBSVM and NPY files, one string a line, FASTA, JSON lines and files of graphs, plain or compressed
// (gzip, xz), from disk or standard input; and folders of graphs as TUDataset has them.
//
//   auto table = mercer::read_table("train.csv");
//   auto [X, y] = ...  // see dataset.hpp, which turns a table into samples and a target
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mercer/matrix.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

// lines: one string a line, the column text. fasta: the columns name, description and sequence. jsonl: a JSON object a line, its keys being
// the columns (numbers, text, lists of texts, lists of numbers or of points, graphs). graphs: the block format of docs/data-formats.md, the
// columns graph and label. tu: a folder of NAME_A.txt, NAME_graph_indicator.txt and so on, the same columns.
enum class FileFormat : std::uint8_t { automatic, csv, tsv, libsvm, npy, lines, fasta, jsonl, graphs, tu };

struct ReadOptions {
  FileFormat format = FileFormat::automatic;  // by content and name
  std::optional<char> delimiter{};            // CSV: found among , ; tab | and blank when not given
  std::optional<bool> header{};               // CSV: found when not given
  std::vector<std::string> text_columns{};    // CSV: columns to keep as text though they look like numbers
  Index width = 0;                            // LIBSVM: number of features, 0: the largest index seen
  std::optional<bool> zero_based{};           // LIBSVM: does the first feature have index 0? Found when not given: if any index is 0
  Run run{};
};

// A column of a table: numbers (missing cells are NaN and listed in `missing`), text (missing cells are empty), or sets or graphs, as
// samples of one column (which has no missing cells).
struct Column {
  std::string name{};
  std::variant<std::vector<double>, std::vector<std::string>, Samples> values{};
  std::vector<Index> missing{};  // rows with no value, ascending

  bool is_text() const { return values.index() == 1; }
  bool is_objects() const { return values.index() == 2; }
  const Samples& objects() const { return std::get<2>(values); }
  const std::vector<double>& numbers() const { return std::get<0>(values); }
  const std::vector<std::string>& text() const { return std::get<1>(values); }
};

// What a file holds. Exactly one of the two shapes is filled:
//  - columns: all formats but LIBSVM
//  - sparse: LIBSVM, whose rows stay sparse, with the label column beside them
struct Table {
  std::string source{};              // file name, "-" for standard input
  std::vector<std::string> names{};  // one per column; "x1", "x2", ... where the file has none
  bool has_header = false;
  std::vector<Column> columns{};
  std::optional<Samples> sparse{};
  std::vector<double> sparse_labels{};
  std::vector<std::int64_t> lines{};    // line in the file where row i starts (empty: row i is line i + 1 + has_header)
  FileFormat format = FileFormat::csv;  // what was read

  Index rows() const;
  Index find(std::string_view name) const;  // column index by name, or by 1-based position written "#3"; -1: none
  std::int64_t line_of(Index row) const;
};

Table read_table(const std::string& path, const ReadOptions& options = {});
// The same from bytes in memory (already decompressed or not); `source` is used in messages.
Table read_table_from(std::string_view bytes, const std::string& source, const ReadOptions& options = {});

struct WriteOptions {
  FileFormat format = FileFormat::automatic;  // by the name's ending
  bool header = true;
  Run run{};
};

// Writers go to a temporary name beside the target and rename, so no half file is ever seen. "-" is standard output.
void write_table(const Table& table, const std::string& path, const WriteOptions& options = {});
void write_matrix(const MatrixRef& values, const std::vector<std::string>& names, const std::string& path,
                  const WriteOptions& options = {});

// A number as text: the shortest form that reads back to the same double.
std::string format_number(double value);
// The whole of `text` as a number: blanks around and a leading + allowed; nullopt when it is not a number or overflows.
std::optional<double> parse_number(std::string_view text);

}  // namespace mercer

// The readers and writers of one format each, behind table.hpp.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.hpp"
#include "mercer/table.hpp"

namespace mercer {

bool looks_like_libsvm(std::string_view text);
// `first_line` is that of the text in its file.
Table read_libsvm(std::string_view text, const std::string& source, const ReadOptions& options, std::int64_t first_line = 1);

bool looks_like_npy(std::string_view bytes);
Table read_npy(std::string_view bytes, const std::string& source, const ReadOptions& options);
// The number of rows, by the header; and some of the rows.
Index npy_rows(std::string_view bytes, const std::string& source);
Index npy_columns(std::string_view bytes, const std::string& source);
Table read_npy_rows(std::string_view bytes, const std::string& source, const ReadOptions& options, Index first, Index count);
// The bytes before the values of a rows x cols float64 array in C order.
std::string npy_header(Index rows, Index cols);

// Strings, one a line; sequences as FASTA has them.
Table read_lines(std::string_view text, const std::string& source, const ReadOptions& options);
bool looks_like_fasta(std::string_view text);
Table read_fasta(std::string_view text, const std::string& source, const ReadOptions& options);

// A JSON object a line, or one array of objects.
bool looks_like_jsonl(std::string_view text);
Table read_jsonl(std::string_view text, const std::string& source, const ReadOptions& options);

// Graphs in one text, and a folder of them as TUDataset has it.
bool looks_like_graphs(std::string_view text);
Table read_graphs(std::string_view text, const std::string& source, const ReadOptions& options);
bool is_tu_folder(const std::string& path);
Table read_tu(const std::string& folder, const ReadOptions& options);

// A column behind the others; empty cells of text are missing ones.
void add_column(Table& table, std::string name, std::variant<std::vector<double>, std::vector<std::string>, Samples> values);

// The rows of a table as JSON objects.
class JsonRows {
 public:
  explicit JsonRows(const Table& table);  // throws for what JSON lines cannot hold
  void append(Index row, std::string& out) const;

 private:
  void append_object(std::size_t column, Index row, std::string& out) const;

  const Table& table_;
  std::vector<std::string> keys_{};     // "name":
  std::vector<Matrix> set_elements_{};  // of columns of sets of numbers; else empty
};

// The format a name's ending asks for (before .gz or .xz); automatic: no ending that is known.
FileFormat format_of_name(std::string_view path);
// What a text is, by its content and the ending of its name. A long text may be cut at the end of a line.
FileFormat format_of_text(std::string_view text, const std::string& source);
// csv, tsv, libsvm and npy can be read in parts; throws FileError for the other formats.
void require_readable_in_parts(FileFormat format, const std::string& source);

// The column of a table that a model is to predict, if nobody said: named y, label, target or class, else the last of those not left out.
Index default_target(const std::vector<std::string>& names, const std::vector<bool>& left_out);
bool is_target_name(std::string_view name);  // one of those four, in any case

}  // namespace mercer

// The parts of the CSV reader: fields of a record, what is found out from the first rows, the parallel reader.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/number.hpp"
#include "mercer/table.hpp"

namespace mercer::csv {

inline constexpr std::size_t sample_rows = 1000;  // rows that decide what a column is

struct Dialect {
  char delimiter = ',';
  char end_of_line = '\n';
  bool quotes = true;  // there may be quotes; false makes a reader faster that knows better

  bool blanks() const { return delimiter == ' '; }  // runs of blanks and tabs are one delimiter
  bool skips(char c) const { return (c == ' ' || c == '\t' || c == '\r') && c != delimiter; }
};

// The file as a whole: what messages need to say where something is.
struct Source {
  std::string_view text;
  const std::string& name;
  char end_of_line = '\n';
  std::int64_t first_line = 1;  // of the text, in the file

  std::string at(const char* where) const;                     // "train.csv:17"
  std::string at(const char* where, std::size_t field) const;  // "train.csv:17:4", field counted from 0
};

struct Field {
  std::string_view text;  // without its quotes; trimmed if it had none
  bool quoted = false;
  bool escaped = false;  // has doubled quotes inside

  std::string str() const;  // doubled quotes undone
  Cell cell() const { return read_cell(text); }
};

// The end of the record that starts at `first`: an end of line outside quotes, or `last`.
const char* record_end(const char* first, const char* last, const Dialect& dialect);
// Without the \r of \r\n and, where blanks delimit, without blanks around.
std::string_view record_body(const char* first, const char* last, const Dialect& dialect);
bool is_blank_record(std::string_view record, const Dialect& dialect);

// Takes one field off the front of a record; `record` becomes what follows its delimiter and `more` tells whether there was one.
Field take_field(std::string_view& record, bool& more, const Dialect& dialect, const Source& source, std::size_t number);
std::vector<Field> split_record(std::string_view record, const Dialect& dialect, const Source& source);

struct Plan {
  Dialect dialect;
  bool header = false;
  const char* body = nullptr;  // where the rows begin
  std::int64_t body_line = 1;
  std::vector<std::string> names;
  std::vector<bool> named;  // the file had a name for it
  std::vector<bool> text;   // by column
};

// Delimiter, header, names and types, from the first rows and what the caller said.
Plan make_plan(const Source& source, const ReadOptions& options, bool prefer_tab);

// The rows of a piece of a file that holds whole records, by the plan that was made from its beginning.
Table read_rows(const Source& source, const Plan& plan, const ReadOptions& options);
// Where the last record that ends within the first `wanted` bytes of `text` ends; npos: none does. The text begins with a record.
std::size_t cut_at_record(std::string_view text, std::size_t wanted, char end_of_line);

Table read(std::string_view text, const std::string& source, const ReadOptions& options, bool prefer_tab);

// "column 3 (age)"
std::string describe_column(std::size_t column, const std::string& name);

}  // namespace mercer::csv

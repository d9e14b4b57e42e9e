// The CSV reader. The text is cut into fixed chunks, over which two passes run in parallel:
//   1. find the first record that starts in each chunk and count its records, which gives every chunk its first row
//   2. parse, writing numbers straight to their place in the columns
// If the first pass meets a quote, it is done again with care: the parity of the quotes before a chunk tells whether it begins inside a
// quoted field, where an end of line ends no record.
// Numbers are read by fast_float (Lemire, "Number parsing at a gigabyte per second", 2021), correctly rounded like strtod.
// Nothing depends on which thread took which chunk. Cost: one read of the file, one write of the columns.
// SPDX-License-Identifier: BSD-3-Clause
#include "data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

#include "core/buffer.hpp"
#include "data/fast_number.hpp"
#include "data/text.hpp"
#include "mercer/error.hpp"

namespace mercer::csv {

namespace {

constexpr std::ptrdiff_t look_ahead = fast_number_reach + 64;

struct Chunk {
  const char* begin = nullptr;  // of the chunk as cut
  const char* start = nullptr;  // of the first record that starts in it; nullptr: none does
  std::int64_t quotes = 0;
  Index first_row = 0;
  Index rows = 0;
  std::int64_t first_line = 0;
  std::int64_t lines = 0;
  bool regular = true;                                   // one line a row
  std::vector<std::pair<std::uint32_t, Index>> missing;  // column, row
};

class Reader {
 public:
  Reader(const Source& source, Plan plan, const ReadOptions& options)
      : source_(source), plan_(std::move(plan)), options_(options), last_(source.text.data() + source.text.size()) {
    cut();
  }

  Table read() {
    find_rows();
    allocate();
    parse();
    finish();
    return std::move(table_);
  }

 private:
  void cut();
  void find_rows();
  void find_start(Index c);
  void count_rows_of(Index c);
  void allocate();
  void parse();
  void finish();

  template <class Visit>
  void for_each_record(const char* start, const char* stop, const Visit& visit) const;
  const char* cut_after(Index c) const { return c + 1 < std::ssize(chunks_) ? chunks_[static_cast<std::size_t>(c) + 1].begin : last_; }
  const char* stop_of(Index c) const { return c + 1 < std::ssize(chunks_) ? chunks_[static_cast<std::size_t>(c) + 1].start : last_; }
  Chunk& chunk(Index c) { return chunks_[static_cast<std::size_t>(c)]; }

  void parse_record(std::string_view record, Index row, Chunk& chunk);
  void parse_simple_record(std::string_view record, Index row, Chunk& chunk);
  void store(const Field& field, std::size_t column, Index row, Chunk& chunk, const char* where);
  [[noreturn]] void throw_ragged(std::string_view record) const;
  [[noreturn]] void throw_bad_cell(const Field& field, CellKind kind, std::size_t column, const char* where) const;

  const Source& source_;
  Plan plan_;
  const ReadOptions& options_;
  const char* last_;
  std::vector<Chunk> chunks_;
  Table table_;
  std::vector<double*> numbers_;     // by column; nullptr: text
  std::vector<std::string*> texts_;  // by column; nullptr: numbers
};

void Reader::cut() {
  const auto bytes = static_cast<std::size_t>(last_ - plan_.body);
  chunks_.resize(static_cast<std::size_t>(chunk_count(bytes)));
  for (std::size_t c = 0; c < chunks_.size(); ++c) chunks_[c].begin = plan_.body + c * chunk_bytes;
}

// A record starts behind an end of line outside quotes; the last byte before the chunk may be one.
void Reader::find_start(Index c) {
  Chunk& mine = chunk(c);
  bool inside = mine.quotes % 2 != 0;
  mine.start = c == 0 ? mine.begin : nullptr;
  for (const char* at = mine.begin - 1; c > 0 && at + 1 < cut_after(c); ++at) {
    if (*at == '"' && at >= mine.begin) inside = !inside;
    if (*at == plan_.dialect.end_of_line && !inside) {
      mine.start = at + 1;
      return;
    }
  }
}

// visit(record, blank lines before it, lines it takes itself); blank lines at the end come with an empty record of 0 lines.
template <class Visit>
void Reader::for_each_record(const char* start, const char* stop, const Visit& visit) const {
  const Dialect& dialect = plan_.dialect;
  std::int64_t skipped = 0;
  for (const char* at = start; at < stop;) {
    const char* end = record_end(at, last_, dialect);
    const std::string_view record = record_body(at, end, dialect);
    if (is_blank_record(record, dialect)) {
      ++skipped;
    } else {
      visit(record, skipped, dialect.quotes ? 1 + std::count(at, end, dialect.end_of_line) : 1);
      skipped = 0;
    }
    at = end == last_ ? last_ : end + 1;
  }
  if (skipped > 0) visit(std::string_view(), skipped, 0);
}

void Reader::count_rows_of(Index c) {
  Chunk& mine = chunk(c);
  if (mine.start == nullptr) return;
  for_each_record(mine.start, cut_after(c), [&](std::string_view, std::int64_t skipped, std::int64_t lines) {
    mine.rows += lines > 0 ? 1 : 0;
    mine.lines += skipped + lines;
    if (skipped != 0 || lines != 1) mine.regular = false;
  });
}

void Reader::find_rows() {
  const Index count = std::ssize(chunks_);
  std::atomic<bool> quotes{false};
  plan_.dialect.quotes = false;
  for_each_chunk(count, [&](Index c) {
    const auto size = static_cast<std::size_t>(cut_after(c) - chunk(c).begin);
    if (std::memchr(chunk(c).begin, '"', size) != nullptr) quotes = true;
    if (quotes) return;
    find_start(c);
    count_rows_of(c);
  });
  plan_.dialect.quotes = quotes;
  if (quotes) {
    for_each_chunk(count, [&](Index c) { chunk(c).quotes = std::count(chunk(c).begin, cut_after(c), '"'); });
    std::int64_t before = 0;
    for (Chunk& c : chunks_) {
      before += std::exchange(c.quotes, before);  // now: those before the chunk
      Chunk fresh;
      fresh.begin = c.begin;
      fresh.quotes = c.quotes;
      c = std::move(fresh);
    }
    for_each_chunk(count, [&](Index c) {
      find_start(c);
      count_rows_of(c);
    });
  }
  for (Index c = count - 1; c >= 0; --c) {
    if (chunk(c).start == nullptr) chunk(c).start = stop_of(c);
  }
  Index row = 0;
  std::int64_t line = plan_.body_line;
  for (Chunk& c : chunks_) {
    c.first_row = row;
    c.first_line = line;
    row += c.rows;
    line += c.lines;
  }
}

void Reader::allocate() {
  const Index rows = chunks_.back().first_row + chunks_.back().rows;
  if (rows == 0) throw FileError(fmt::format("{}: has a header but no rows; wanted rows of numbers below it", source_.name));
  const std::size_t columns = plan_.names.size();
  std::size_t row_bytes = 0;
  for (const bool text : plan_.text) row_bytes += text ? sizeof(std::string) : sizeof(double);
  require_memory(static_cast<std::size_t>(rows) * row_bytes, options_.run.memory,
                 fmt::format("{}: its {} x {} table", source_.name, rows, columns), "read a part of it, or allow more (--memory)");
  table_.source = source_.name;
  table_.names = plan_.names;
  table_.has_header = plan_.header;
  table_.columns.resize(columns);
  numbers_.resize(columns);
  texts_.resize(columns);
  parallel_for(static_cast<Index>(columns), [&](Index index) {
    const auto j = static_cast<std::size_t>(index);
    Column& column = table_.columns[j];
    column.name = plan_.names[j];
    if (plan_.text[j]) {
      texts_[j] = column.values.emplace<1>(static_cast<std::size_t>(rows)).data();
    } else {
      auto& values = column.values.emplace<0>();
      values.reserve(static_cast<std::size_t>(rows));
      advise_huge_pages(values.data(), static_cast<std::size_t>(rows) * sizeof(double));  // before resize touches the pages
      values.resize(static_cast<std::size_t>(rows));
      numbers_[j] = values.data();
    }
  });
  const bool regular =
      plan_.body_line == (plan_.header ? 2 : 1) && std::all_of(chunks_.begin(), chunks_.end(), [](const Chunk& c) { return c.regular; });
  if (!regular) table_.lines.resize(static_cast<std::size_t>(rows));
}

void Reader::parse() {
  Stage stage(options_.run.progress, "reading " + source_.name, static_cast<double>(last_ - plan_.body));
  for_each_chunk(std::ssize(chunks_), [&](Index c) {
    Chunk& mine = chunk(c);
    const char* stop = stop_of(c);
    Index row = mine.first_row;
    std::int64_t line = mine.first_line;
    for_each_record(mine.start, stop, [&](std::string_view record, std::int64_t skipped, std::int64_t lines) {
      if (lines == 0) return;
      line += skipped;
      if (!table_.lines.empty()) table_.lines[static_cast<std::size_t>(row)] = line;
      parse_record(record, row++, mine);
      line += lines;
    });
    stage.advance(static_cast<double>(stop - mine.start));
  });
}

// No quotes, no runs of blanks, and room to look ahead: the fields lie between the delimiters.
void Reader::parse_simple_record(std::string_view record, Index row, Chunk& chunk) {
  const std::size_t columns = numbers_.size();
  const char* const end = record.data() + record.size();
  PlaceFinder delimiters(record.data(), end, plan_.dialect.delimiter);
  const char* at = record.data();
  for (std::size_t j = 0; j < columns; ++j) {
    const char* const stop = delimiters.next();
    if ((stop == end) != (j + 1 == columns)) throw_ragged(record);
    double value = 0;
    if (numbers_[j] != nullptr && read_fast_number(at, stop, value)) {
      numbers_[j][row] = value;
    } else {
      const std::string_view field(at, static_cast<std::size_t>(stop - at));
      store(Field{.text = trimmed(field)}, j, row, chunk, at);
    }
    at = stop + 1;
  }
}

void Reader::parse_record(std::string_view record, Index row, Chunk& chunk) {
  const Dialect& dialect = plan_.dialect;
  const char* const end = record.data() + record.size();
  if (!dialect.quotes && !dialect.blanks() && last_ - end >= look_ahead) {
    parse_simple_record(record, row, chunk);
    return;
  }
  const std::string_view whole = record;
  bool more = true;
  for (std::size_t j = 0; j < numbers_.size(); ++j) {
    if (!more) throw_ragged(whole);
    const char* where = record.data();
    const Field field = take_field(record, more, dialect, source_, j);
    store(field, j, row, chunk, where);
  }
  if (more) throw_ragged(whole);
}

void Reader::store(const Field& field, std::size_t column, Index row, Chunk& chunk, const char* where) {
  if (numbers_[column] != nullptr) {
    const Cell cell = field.cell();
    if (cell.kind == CellKind::missing) {
      numbers_[column][row] = std::numeric_limits<double>::quiet_NaN();
      chunk.missing.emplace_back(static_cast<std::uint32_t>(column), row);
    } else if (cell.kind == CellKind::number) {
      numbers_[column][row] = cell.value;
    } else {
      throw_bad_cell(field, cell.kind, column, where);
    }
    return;
  }
  if (field.text.empty() || (!field.quoted && is_missing_word(field.text))) {
    chunk.missing.emplace_back(static_cast<std::uint32_t>(column), row);
    return;
  }
  reject_nul(source_.text, field.text, source_.name);
  std::string text = field.str();
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string::npos) {
    throw FileError(fmt::format("{}: the text in {} is not UTF-8 (byte 0x{:02X}); convert the file (iconv -f LATIN1 -t UTF-8)",
                                source_.at(where, column), describe_column(column, plan_.names[column]),
                                static_cast<unsigned char>(text[bad])));
  }
  texts_[column][row] = std::move(text);
}

void Reader::throw_ragged(std::string_view record) const {
  const std::size_t got = split_record(record, plan_.dialect, source_).size();
  throw FileError(fmt::format("{}: has {} column{}, wanted {} as in the first line; correct the line{}", source_.at(record.data()), got,
                              got == 1 ? "" : "s", plan_.names.size(),
                              got > plan_.names.size() ? ", putting text with delimiters in quotes" : ""));
}

void Reader::throw_bad_cell(const Field& field, CellKind kind, std::size_t column, const char* where) const {
  reject_nul(source_.text, field.text, source_.name);
  const std::string place = source_.at(field.text.empty() ? where : field.text.data(), column);
  const std::string cell = quoted(field.text);
  const std::string& name = plan_.names[column];
  const std::string which = describe_column(column, name);
  if (kind == CellKind::overflow) {
    throw FileError(
        fmt::format("{}: {} in {} overflows: the largest number is 1.8e308; correct it, or leave the cell empty", place, cell, which));
  }
  if (kind == CellKind::infinite) {
    throw FileError(
        fmt::format("{}: {} in {} is infinite, wanted a finite number; correct it, or leave the cell empty", place, cell, which));
  }
  if (has_decimal_comma(field.text)) {
    throw FileError(
        fmt::format("{}: {} in {} has a comma, wanted a number with a decimal point and no thousands separators; correct it, or read the "
                    "column as text (--text {})",
                    place, cell, which, name));
  }
  throw FileError(fmt::format("{}: {} is not a number as the rest of {} is; correct it, or read the column as text (--text {})", place,
                              cell, which, name));
}

void Reader::finish() {
  for (const Chunk& c : chunks_) {
    for (const auto& [column, row] : c.missing) table_.columns[column].missing.push_back(row);
  }
  // A delimiter at the end of every line makes an empty column that nobody meant.
  Column& end = table_.columns.back();
  if (table_.columns.size() > 1 && !plan_.named.back() && static_cast<Index>(end.missing.size()) == table_.rows()) {
    table_.columns.pop_back();
    table_.names.pop_back();
  }
}

}  // namespace

Table read_rows(const Source& source, const Plan& plan, const ReadOptions& options) { return Reader(source, plan, options).read(); }

std::size_t cut_at_record(std::string_view text, std::size_t wanted, char end_of_line) {
  const std::string_view window = text.substr(0, wanted);
  if (window.find('"') == std::string_view::npos) {
    const std::size_t end = window.rfind(end_of_line);
    return end == std::string_view::npos ? end : end + 1;
  }
  std::size_t cut = std::string_view::npos;
  bool inside = false;
  for (std::size_t at = 0; at < window.size(); ++at) {
    if (window[at] == '"') inside = !inside;
    if (window[at] == end_of_line && !inside) cut = at + 1;
  }
  return cut;
}

Table read(std::string_view text, const std::string& source_name, const ReadOptions& options, bool prefer_tab) {
  const Source source{.text = text, .name = source_name, .end_of_line = find_end_of_line(text)};
  Plan plan = make_plan(source, options, prefer_tab);
  return Reader(source, std::move(plan), options).read();
}

}  // namespace mercer::csv

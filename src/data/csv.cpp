// The CSV reader. The text is cut into fixed chunks; four passes over them run in parallel:
//   1. count quotes (and refuse NUL bytes); the parity of the quotes before a chunk tells whether it begins inside a field
//   2. find the first record that starts in each chunk
//   3. count the records of each chunk, which gives every chunk its first row
//   4. parse, writing numbers straight to their place in the columns
// Numbers are read by fast_float (Lemire, "Number parsing at a gigabyte per second", 2021), correctly rounded like strtod.
// Nothing depends on which thread took which chunk. Cost: one read of the file, one write of the columns.
// SPDX-License-Identifier: BSD-3-Clause
#include "data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/buffer.hpp"
#include "data/text.hpp"
#include "mercer/error.hpp"

namespace mercer::csv {

namespace {

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
  Reader(const Source& source, Plan plan, const ReadOptions& options) : source_(source), plan_(std::move(plan)), options_(options) {
    last_ = source.text.data() + source.text.size();
    cut();
  }

  Table read() {
    find_starts();
    count_rows();
    allocate();
    parse();
    finish();
    return std::move(table_);
  }

 private:
  void cut();
  void find_starts();
  void count_rows();
  void allocate();
  void parse();
  void finish();

  template <class Visit>
  void for_each_record(const Chunk& chunk, const char* stop, const Visit& visit) const;
  const char* stop_of(Index c) const { return c + 1 < std::ssize(chunks_) ? chunks_[static_cast<std::size_t>(c) + 1].start : last_; }
  Chunk& chunk(Index c) { return chunks_[static_cast<std::size_t>(c)]; }

  void parse_record(std::string_view record, Index row, Chunk& chunk);
  void store_slowly(const Field& field, std::size_t column, Index row, Chunk& chunk, const char* where);
  [[noreturn]] void throw_ragged(std::string_view record) const;
  [[noreturn]] void throw_bad_cell(const Field& field, CellKind kind, std::size_t column, const char* where) const;

  const Source& source_;
  Plan plan_;
  const ReadOptions& options_;
  const char* last_ = nullptr;
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

void Reader::find_starts() {
  const Index count = std::ssize(chunks_);
  const auto raw_end = [&](Index c) { return c + 1 < count ? chunk(c + 1).begin : last_; };
  if (plan_.dialect.quotes) {
    for_each_chunk(count, [&](Index c) { chunk(c).quotes = std::count(chunk(c).begin, raw_end(c), '"'); });
  }
  std::int64_t before = 0;
  for (Chunk& c : chunks_) before += std::exchange(c.quotes, before);  // now: those before the chunk
  for_each_chunk(count, [&](Index c) {
    // A record starts behind an end of line outside quotes; the last byte before the chunk may be one.
    bool inside = chunk(c).quotes % 2 != 0;
    const char* end = raw_end(c);
    if (c == 0) chunk(c).start = chunk(c).begin;
    for (const char* at = chunk(c).begin - 1; c > 0 && at + 1 < end; ++at) {
      if (*at == '"' && at >= chunk(c).begin) inside = !inside;
      if (*at == plan_.dialect.end_of_line && !inside) {
        chunk(c).start = at + 1;
        break;
      }
    }
  });
  for (Index c = count - 1; c >= 0; --c) {
    if (chunk(c).start == nullptr) chunk(c).start = stop_of(c);
  }
}

// visit(record, lines before it since the last record, lines it takes itself)
template <class Visit>
void Reader::for_each_record(const Chunk& chunk, const char* stop, const Visit& visit) const {
  const Dialect& dialect = plan_.dialect;
  std::int64_t skipped = 0;
  for (const char* at = chunk.start; at < stop;) {
    const char* end = record_end(at, stop, dialect);
    const std::string_view record = record_body(at, end, dialect);
    if (is_blank_record(record, dialect)) {
      ++skipped;
    } else {
      visit(record, skipped, dialect.quotes ? 1 + std::count(at, end, dialect.end_of_line) : 1);
      skipped = 0;
    }
    at = end == stop ? stop : end + 1;
  }
  if (skipped > 0) visit(std::string_view(), skipped, 0);
}

void Reader::count_rows() {
  const Index count = std::ssize(chunks_);
  for_each_chunk(count, [&](Index c) {
    Chunk& mine = chunk(c);
    for_each_record(mine, stop_of(c), [&](std::string_view, std::int64_t skipped, std::int64_t lines) {
      mine.rows += lines > 0 ? 1 : 0;
      mine.lines += skipped + lines;
      if (skipped != 0 || lines != 1) mine.regular = false;
    });
  });
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
    for_each_record(mine, stop, [&](std::string_view record, std::int64_t skipped, std::int64_t lines) {
      if (lines == 0) return;
      line += skipped;
      if (!table_.lines.empty()) table_.lines[static_cast<std::size_t>(row)] = line;
      parse_record(record, row++, mine);
      line += lines;
    });
    stage.advance(static_cast<double>(stop - mine.start));
  });
}

void Reader::parse_record(std::string_view record, Index row, Chunk& chunk) {
  const Dialect& dialect = plan_.dialect;
  const std::size_t columns = numbers_.size();
  const char* const end = record.data() + record.size();
  bool more = true;
  for (std::size_t j = 0; j < columns; ++j) {
    if (!more) throw_ragged({record.data(), static_cast<std::size_t>(end - record.data())});
    if (numbers_[j] != nullptr) {
      const char* at = record.data();
      while (at != end && dialect.skips(*at)) ++at;
      double value = 0;
      const char* stop = read_number(at, end, value);
      if (stop != nullptr) {
        while (stop != end && dialect.skips(*stop)) ++stop;
        more = stop != end;
        if (!more || *stop == dialect.delimiter) {
          numbers_[j][row] = value;
          stop += more ? 1 : 0;
          if (dialect.blanks()) {
            while (stop != end && is_blank(*stop)) ++stop;
            more = stop != end;
          }
          record = {stop, static_cast<std::size_t>(end - stop)};
          continue;
        }
      }
    }
    const char* where = record.data();
    const Field field = take_field(record, more, dialect, source_, j);
    store_slowly(field, j, row, chunk, where);
  }
  if (more) throw_ragged(record);
}

void Reader::store_slowly(const Field& field, std::size_t column, Index row, Chunk& chunk, const char* where) {
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
  std::string text = field.str();
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string::npos) {
    throw FileError(fmt::format("{}: the text in {} is not UTF-8 (byte 0x{:02X}); convert the file (iconv -f LATIN1 -t UTF-8)",
                                source_.at(where, column), describe_column(column, plan_.names[column]),
                                static_cast<unsigned char>(text[bad])));
  }
  texts_[column][row] = std::move(text);
}

void Reader::throw_ragged(std::string_view rest) const {
  // `rest` ends where the record ends; the record begins behind the last end of line outside quotes, which only a walk from the start
  // of its chunk finds. Errors may be slow.
  const char* end = rest.data() + rest.size();
  for (Index c = 0; c < std::ssize(chunks_); ++c) {
    const Chunk& mine = chunks_[static_cast<std::size_t>(c)];
    if (stop_of(c) < end) continue;
    for_each_record(mine, stop_of(c), [&](std::string_view record, std::int64_t, std::int64_t lines) {
      if (lines == 0 || record.data() + record.size() != end) return;
      const std::size_t got = split_record(record, plan_.dialect, source_).size();
      throw FileError(fmt::format("{}: has {} column{}, wanted {} as in the first line; correct the line{}", source_.at(record.data()), got,
                                  got == 1 ? "" : "s", plan_.names.size(),
                                  got > plan_.names.size() ? ", putting text with delimiters in quotes" : ""));
    });
  }
  throw FileError(fmt::format("{}: wanted {} columns", source_.at(rest.data()), plan_.names.size()));
}

void Reader::throw_bad_cell(const Field& field, CellKind kind, std::size_t column, const char* where) const {
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

Table read(std::string_view text, const std::string& source_name, const ReadOptions& options, bool prefer_tab) {
  Source source{.text = text, .name = source_name, .end_of_line = find_end_of_line(text), .quotes = false};
  std::vector<char> quotes(static_cast<std::size_t>(chunk_count(text.size())));
  for_each_chunk(chunk_count(text.size()), [&](Index c) {
    const std::string_view part = text.substr(static_cast<std::size_t>(c) * chunk_bytes, chunk_bytes);
    reject_nul(text, part, source_name);
    quotes[static_cast<std::size_t>(c)] = part.find('"') != std::string_view::npos ? 1 : 0;
  });
  source.quotes = std::find(quotes.begin(), quotes.end(), 1) != quotes.end();
  Plan plan = make_plan(source, options, prefer_tab);
  return Reader(source, std::move(plan), options).read();
}

}  // namespace mercer::csv

// Files of strings: one a line, and FASTA (a line ">name description", then the sequence in any number of lines).
// One pass over the text. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "data/formats.hpp"
#include "data/line_cursor.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

constexpr std::int64_t lines_between_looks = 4096;  // at whether somebody wants to stop

// Strings take the bytes of the text and, while they are short, 32 more each.
void require_room(std::string_view text, std::int64_t rows, const std::string& source, const ReadOptions& options) {
  require_memory(text.size() + static_cast<std::size_t>(rows) * sizeof(std::string), options.run.memory,
                 fmt::format("{}: its strings", source), "read a part of it, or allow more (--memory)");
}

class Watch {
 public:
  Watch(std::string_view text, const std::string& source, const ReadOptions& options)
      : stage_(options.run.progress, "reading " + source, static_cast<double>(text.size())) {}
  void look(const LineCursor& lines) {
    if (lines.number() % lines_between_looks != 0) return;
    stage_.advance(static_cast<double>(lines.bytes_done() - seen_));
    seen_ = lines.bytes_done();
  }

 private:
  Stage stage_;
  std::size_t seen_ = 0;
};

void append_without_blanks(std::string_view line, std::string& out) {
  std::copy_if(line.begin(), line.end(), std::back_inserter(out), [](char c) { return !is_blank(c); });
}

// The records of a FASTA file while they are read.
struct Fasta {
  std::vector<std::string> names{};
  std::vector<std::string> descriptions{};
  std::vector<std::string> sequences{};
  std::vector<std::int64_t> lines{};

  void begin(std::string_view header, std::int64_t line) {
    const std::size_t end = std::min(header.find_first_of(" \t"), header.size());
    names.emplace_back(header.substr(0, end));
    descriptions.emplace_back(trimmed(header.substr(end)));
    sequences.emplace_back();
    lines.push_back(line);
  }
  void require_sequence(const std::string& source) const {
    if (!sequences.empty() && sequences.back().empty())
      throw FileError(fmt::format("{}:{}: {} has no sequence; wanted its letters on the lines behind it, or remove the line", source,
                                  lines.back(), quoted(">" + names.back())));
  }
};

}  // namespace

void add_column(Table& table, std::string name, std::variant<std::vector<double>, std::vector<std::string>, Samples> values) {
  Column column;
  column.name = std::move(name);
  column.values = std::move(values);
  if (column.is_text()) {
    const auto& cells = column.text();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].empty()) column.missing.push_back(static_cast<Index>(i));
    }
  }
  table.names.push_back(column.name);
  table.columns.push_back(std::move(column));
}

Table read_lines(std::string_view text, const std::string& source, const ReadOptions& options) {
  Watch watch(text, source, options);
  require_room(text, std::count(text.begin(), text.end(), '\n'), source, options);
  Table table;
  table.source = source;
  table.has_header = true;
  table.format = FileFormat::lines;
  std::vector<std::string> strings;
  LineCursor lines(text, source);
  while (const auto line = lines.next()) {
    lines.require_utf8(*line);
    strings.emplace_back(*line);
    table.lines.push_back(lines.number());
    watch.look(lines);
  }
  add_column(table, "text", std::move(strings));
  return table;
}

bool looks_like_fasta(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '>';
}

Table read_fasta(std::string_view text, const std::string& source, const ReadOptions& options) {
  Watch watch(text, source, options);
  require_room(text, std::count(text.begin(), text.end(), '>'), source, options);
  Fasta found;
  LineCursor lines(text, source);
  while (const auto line = lines.next_filled()) {
    watch.look(lines);
    if (line->front() == ';') continue;  // a comment of the first FASTA programs
    lines.require_utf8(*line);
    if (line->front() == '>') {
      found.require_sequence(source);
      found.begin(line->substr(1), lines.number());
    } else if (found.sequences.empty()) {
      lines.fail("begins with {}, wanted a line like \">name description\" before the first sequence", quoted(*line));
    } else {
      append_without_blanks(*line, found.sequences.back());
    }
  }
  found.require_sequence(source);
  if (found.sequences.empty()) throw FileError(fmt::format("{}: has no sequence; wanted \">name\" and letters on the next line", source));
  Table table;
  table.source = source;
  table.has_header = true;
  table.format = FileFormat::fasta;
  table.lines = std::move(found.lines);
  add_column(table, "name", std::move(found.names));
  const bool described =
      std::any_of(found.descriptions.begin(), found.descriptions.end(), [](const std::string& words) { return !words.empty(); });
  if (described) add_column(table, "description", std::move(found.descriptions));
  add_column(table, "sequence", std::move(found.sequences));
  return table;
}

}  // namespace mercer

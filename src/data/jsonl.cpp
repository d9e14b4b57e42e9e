// JSON lines: an object a line, its keys being columns; or the same objects as one array. Every record is parsed by itself, a chunk of them
// at a time in parallel, and the columns of the chunks are joined in their order.
//
// The parser of the JSON library builds a tree of each record: nesting and keys are counted before, so that a few bytes cannot make it deep
// or slow, and nodes of graphs are counted behind it, for a graph without edges may claim any number of them. SPDX-License-Identifier:
// BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "data/formats.hpp"
#include "data/json_columns.hpp"
#include "data/line_cursor.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

using Json = JsonColumns::Json;

constexpr int deepest = 8;                // an edge of a graph of a record stands in four brackets
constexpr std::size_t most_keys = 10000;  // of a record; looking one up takes a walk over all
constexpr std::size_t bytes_of_value = 16;
constexpr std::size_t large_record = std::size_t{1} << 20;

struct Record {
  std::string_view text;
  std::int64_t line;
};

// visit(character) for those outside of strings, until it says stop; where that was, or npos.
template <class Stop>
std::size_t find_outside_strings(std::string_view text, const Stop& stop) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      inside = !inside;
    } else if (!inside && stop(text[i])) {
      return i;
    }
  }
  return std::string_view::npos;
}

std::vector<Record> records_in_lines(std::string_view text, const std::string& source) {
  std::vector<Record> records;
  LineCursor lines(text, source);
  while (const auto line = lines.next_filled()) records.push_back({*line, lines.number()});
  return records;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

// The elements of the array that the text is.
std::vector<Record> records_in_array(std::string_view text, const std::string& source) {
  std::vector<Record> records;
  const auto line_at = [&](const char* at) { return line_number(text, at, find_end_of_line(text)); };
  std::string_view rest = without_blanks(text);
  const std::int64_t start = line_at(rest.data());
  rest.remove_prefix(1);  // [
  std::int64_t line = start;
  const char* counted = rest.data();
  const char end_of_line = find_end_of_line(text);
  for (bool more = true; more;) {
    int depth = 0;
    const std::size_t end = find_outside_strings(rest, [&](char c) {
      if (depth == 0 && (c == ',' || c == ']')) return true;
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      return false;
    });
    if (end == std::string_view::npos)
      throw FileError(
          fmt::format("{}:{}: has an array that does not end; wanted ] at the end of the file: is it cut short?", source, start));
    const std::string_view element = without_blanks(rest.substr(0, end));
    more = rest[end] == ',';
    line += std::count(counted, element.data(), end_of_line);
    counted = element.data();
    if (!element.empty() || more || !records.empty()) records.push_back({element, line});
    rest.remove_prefix(end + 1);
  }
  if (const std::string_view behind = without_blanks(rest); !behind.empty())
    throw FileError(
        fmt::format("{}:{}: goes on with {} behind the array; wanted its end", source, line_at(behind.data()), mercer::quoted(behind)));
  return records;
}

// What the JSON library says is wrong, without its marks and without the text that it read.
std::string reason_of(const Json::exception& error) {
  std::string words = error.what();
  for (const std::string_view mark : {"] ", ": "}) {
    if (const std::size_t at = words.find(mark); at != std::string::npos && at < 80) words.erase(0, at + mark.size());
  }
  return words.substr(0, std::min(words.find("; last read"), words.size()));
}

Json parse(const Record& record, const std::string& source, std::size_t memory) {
  int depth = 0;
  std::size_t keys = 0;
  const auto too_much = [&](char c) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    keys += c == ':' ? 1 : 0;
    return depth > deepest || keys > most_keys;
  };
  if (find_outside_strings(record.text, too_much) != std::string_view::npos) {
    throw FileError(depth > deepest ? fmt::format("{}:{}: is nested more than {} deep; wanted numbers, text, lists and graphs", source,
                                                  record.line, deepest)
                                    : fmt::format("{}:{}: has more than {} keys in one object", source, record.line, most_keys));
  }
  if (record.text.size() > large_record)  // asking costs more than parsing a small one
    require_memory(record.text.size() * bytes_of_value, memory, fmt::format("{}:{}: one object", source, record.line),
                   "allow more (--memory)");
  try {
    return Json::parse(record.text);
  } catch (const Json::parse_error& error) {
    const std::string_view before = record.text.substr(0, std::min(error.byte > 0 ? error.byte - 1 : 0, record.text.size()));
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const std::size_t column = before.size() - (lines > 0 ? before.rfind('\n') + 1 : 0) + 1;
    throw FileError(fmt::format("{}:{}:{}: is not JSON: {}; wanted an object on one line, or one array of objects", source,
                                record.line + lines, column, reason_of(error)));
  } catch (const Json::exception& error) {
    throw FileError(fmt::format("{}:{}: is not JSON: {}", source, record.line, reason_of(error)));
  }
}

// Chunks of records of some bytes each, the same for any number of threads.
std::vector<std::size_t> chunk_starts(const std::vector<Record>& records) {
  std::vector<std::size_t> starts{0};
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (bytes >= chunk_bytes) {
      starts.push_back(i);
      bytes = 0;
    }
    bytes += records[i].text.size() + 1;
  }
  starts.push_back(records.size());
  return starts;
}

// A node that no edge and no label speaks of takes no text; some such nodes are fine, a billion of them is an attack or a mistake.
void require_nodes(const Table& table, std::size_t bytes) {
  const Index most = 1'000'000 + 16 * static_cast<Index>(std::min<std::size_t>(bytes, std::size_t{1} << 50));
  Index nodes = 0;
  for (const Column& column : table.columns) {
    if (!column.is_objects() || column.objects().object_rows().columns[0]->kind() != ObjectKind::graph) continue;
    const Graphs& graphs = column.objects().object_rows().columns[0]->graphs();
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      if (graphs[i].nodes > most - nodes)
        throw FileError(
            fmt::format("{}:{}: key {} holds a graph of {} nodes, too many for a file of {} bytes; wanted nodes with edges or labels",
                        table.source, table.lines[i], mercer::quoted(column.name), graphs[i].nodes, bytes));
      nodes += graphs[i].nodes;
    }
  }
}

}  // namespace

bool looks_like_jsonl(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  const std::size_t second = text.find_first_not_of(" \t\r\n", first + 1);
  if (second == std::string_view::npos) return false;
  return text[first] == '{' ? text[second] == '"' || text[second] == '}' : text[second] == '{';
}

Table read_jsonl(std::string_view text, const std::string& source, const ReadOptions& options) {
  reject_nul(text, text, source);
  const bool is_array = without_blanks(text).starts_with('[');
  const std::vector<Record> records = is_array ? records_in_array(text, source) : records_in_lines(text, source);
  if (records.empty()) throw FileError(fmt::format("{}: has no rows; wanted JSON objects, one a line", source));
  const std::vector<std::size_t> starts = chunk_starts(records);
  std::vector<JsonColumns> parts(starts.size() - 1, JsonColumns(source));
  Stage stage(options.run.progress, "reading " + source, static_cast<double>(parts.size()));
  for_each_chunk(std::ssize(parts), [&](Index c) {
    const auto chunk = static_cast<std::size_t>(c);
    for (std::size_t i = starts[chunk]; i < starts[chunk + 1]; ++i)
      parts[chunk].add(parse(records[i], source, options.run.memory), records[i].line);
    stage.advance(1);
  });
  for (std::size_t c = 1; c < parts.size(); ++c) parts[0].append(std::move(parts[c]));
  Table table = std::move(parts[0]).finish(options.run.memory);
  if (table.columns.empty()) throw FileError(fmt::format("{}: its objects have no keys; wanted some like {{\"x\": 1}}", source));
  require_nodes(table, text.size());
  return table;
}

}  // namespace mercer

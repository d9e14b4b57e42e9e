// Records and fields of CSV text: RFC 4180, with blanks allowed around fields and blank lines skipped. A quote may only open a field,
// close it, or be doubled inside; so the parity of the quotes before a place tells whether it lies inside a field.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data/csv.hpp"
#include "data/text.hpp"
#include "mercer/error.hpp"

namespace mercer::csv {

namespace {

const char* find_byte(const char* first, const char* last, char byte) {
  const void* found = first == last ? nullptr : std::memchr(first, byte, static_cast<std::size_t>(last - first));
  return found == nullptr ? last : static_cast<const char*>(found);
}

std::string_view between(const char* first, const char* last) { return {first, static_cast<std::size_t>(last - first)}; }

const char* skip(const char* first, const char* last, const Dialect& dialect) {
  while (first != last && dialect.skips(*first)) ++first;
  return first;
}

bool ends_field(char c, const Dialect& dialect) { return c == dialect.delimiter || (dialect.blanks() && (c == '\t' || c == '\r')); }

Field take_quoted(const char*& at, const char* last, const Dialect& dialect, const Source& source, std::size_t number) {
  const char* open = at++;
  Field field{.text = {}, .quoted = true};
  const char* close = find_byte(at, last, '"');
  while (close != last && close + 1 != last && close[1] == '"') {
    field.escaped = true;
    close = find_byte(close + 2, last, '"');
  }
  if (close == last)
    throw FileError(
        fmt::format("{}: the quote that opens here is never closed; close it, or double it where it is meant", source.at(open, number)));
  field.text = between(at, close);
  at = skip(close + 1, last, dialect);
  if (at != last && !ends_field(*at, dialect)) {
    const char* rest = std::find_if(at, last, [&](char c) { return ends_field(c, dialect); });
    throw FileError(fmt::format("{}: {} follows a closing quote, wanted {} or the end of the line; double a quote that is meant",
                                source.at(at, number), quoted(between(at, rest)),
                                quoted(between(&dialect.delimiter, &dialect.delimiter + 1))));
  }
  return field;
}

}  // namespace

std::string Source::at(const char* where) const {
  return fmt::format("{}:{}", name, first_line - 1 + line_number(text, where, end_of_line));
}

std::string Source::at(const char* where, std::size_t field) const { return fmt::format("{}:{}", at(where), field + 1); }

std::string describe_column(std::size_t column, const std::string& name) { return fmt::format("column {} ({})", column + 1, name); }

std::string Field::str() const {
  std::string out(text);
  if (escaped) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      out[kept++] = text[i];
      if (text[i] == '"') ++i;
    }
    out.resize(kept);
  }
  return out;
}

const char* record_end(const char* first, const char* last, const Dialect& dialect) {
  const char* end = find_byte(first, last, dialect.end_of_line);
  if (!dialect.quotes || find_byte(first, end, '"') == end) return end;
  bool inside = std::count(first, end, '"') % 2 != 0;
  while (inside && end != last) {
    const char* next = find_byte(end + 1, last, dialect.end_of_line);
    if (std::count(end + 1, next, '"') % 2 != 0) inside = false;
    end = next;
  }
  return end;
}

std::string_view record_body(const char* first, const char* last, const Dialect& dialect) {
  if (dialect.blanks()) {
    while (first != last && is_blank(*first)) ++first;
    while (first != last && is_blank(last[-1])) --last;
  } else if (first != last && last[-1] == '\r') {
    --last;
  }
  return between(first, last);
}

bool is_blank_record(std::string_view record, const Dialect& dialect) {
  if (record.empty()) return true;
  if (!is_blank(record.front())) return false;  // nearly always decided here
  return std::all_of(record.begin(), record.end(), [&](char c) { return dialect.skips(c) || (dialect.blanks() && c == ' '); });
}

Field take_field(std::string_view& record, bool& more, const Dialect& dialect, const Source& source, std::size_t number) {
  const char* at = record.data();
  const char* const last = at + record.size();
  const char* const start = skip(at, last, dialect);
  Field field;
  if (dialect.quotes && start != last && *start == '"') {
    at = start;
    field = take_quoted(at, last, dialect, source, number);
  } else {
    const char* end = dialect.blanks() ? std::find_if(start, last, is_blank) : find_byte(start, last, dialect.delimiter);
    field.text = trimmed(between(start, end));
    if (dialect.quotes && find_byte(start, end, '"') != end) {
      throw FileError(
          fmt::format("{}: {} has a quote inside a field that does not start with one; put the field in quotes and double the quotes in it",
                      source.at(start, number), quoted(field.text)));
    }
    at = end;
  }
  more = at != last;
  if (more) ++at;
  if (dialect.blanks()) {
    while (at != last && is_blank(*at)) ++at;
    more = at != last;
  }
  record = between(at, last);
  return field;
}

std::vector<Field> split_record(std::string_view record, const Dialect& dialect, const Source& source) {
  std::vector<Field> fields;
  for (bool more = true; more;) fields.push_back(take_field(record, more, dialect, source, fields.size()));
  return fields;
}

}  // namespace mercer::csv

// LIBSVM text: "label index:value index:value ... # comment", one row a line, rows kept sparse. Chunks cut at line ends are parsed in
// parallel into lists of their own, which are then copied behind each other.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>

#include "data/formats.hpp"
#include "data/number.hpp"
#include "data/text.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

constexpr std::int64_t largest_index = std::numeric_limits<std::int32_t>::max() - 1;

struct Rows {
  std::vector<double> labels;
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> lines;  // within the chunk, from 0
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::int64_t line_count = 0;
  std::int32_t smallest = std::numeric_limits<std::int32_t>::max();
  std::int32_t largest = -1;
};

struct Csr {
  std::vector<double> values;
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> offsets;
};

std::string_view take_token(std::string_view& line) {
  std::size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const std::string_view token = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return token;
}

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find('#')); }

class LineParser {
 public:
  LineParser(std::string_view text, const std::string& source, char end_of_line, std::int64_t first_line)
      : text_(text), source_(source), end_of_line_(end_of_line), first_line_(first_line) {}

  // Appends the row on this line, if there is one.
  void parse(std::string_view line, Rows& out) const {
    line = without_comment(line);
    const std::string_view label = take_token(line);
    if (label.empty()) return;
    out.labels.push_back(read_label(label));
    out.lines.push_back(out.line_count);
    const std::size_t first = out.columns.size();
    bool ascending = true;
    for (std::string_view token = take_token(line); !token.empty(); token = take_token(line)) {
      if (token.starts_with("qid:")) continue;
      const std::int32_t index = read_pair(token, out);
      if (out.columns.size() > first + 1 && index <= out.columns[out.columns.size() - 2]) ascending = false;
    }
    if (!ascending) sort_row(out, first, label);
    out.lengths.push_back(static_cast<std::int64_t>(out.columns.size() - first));
    if (out.columns.size() > first) {
      out.smallest = std::min(out.smallest, out.columns[first]);
      out.largest = std::max(out.largest, out.columns.back());
    }
  }

 private:
  template <class... Arguments>
  [[noreturn]] void fail(const char* at, fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    const char* start = at;
    while (start != text_.data() && start[-1] != end_of_line_) --start;
    throw FileError(fmt::format("{}:{}:{}: {}", source_, first_line_ - 1 + line_number(text_, at, end_of_line_), at - start + 1,
                                fmt::format(format, std::forward<Arguments>(arguments)...)));
  }

  double read_label(std::string_view token) const {
    const Cell cell = read_cell(token);
    if (cell.kind == CellKind::number) return cell.value;
    if (token.find(':') != std::string_view::npos) {
      fail(token.data(), "the line begins with {}, wanted a label before the features; put one there (0 if it is not known)",
           quoted(token));
    }
    if (token.find(',') != std::string_view::npos)
      fail(token.data(), "{} are several labels, wanted one number; make a file for each label", quoted(token));
    fail(token.data(), "the label {} is not a finite number; write labels as numbers (-1, 1 or 0, 1, 2, ...)", quoted(token));
  }

  std::int32_t read_pair(std::string_view token, Rows& out) const {
    const char* const last = token.data() + token.size();
    std::int64_t index = -1;
    const auto [colon, error] = std::from_chars(token.data(), last, index);
    if (error == std::errc::invalid_argument || colon == last || *colon != ':')
      fail(token.data(), "{} is not a feature, wanted index:value", quoted(token));
    if (error != std::errc() || index < 0 || index > largest_index) {
      fail(token.data(), "the index in {} is out of range, wanted 1 to {}", quoted(token), largest_index);
    }
    double value = 0;
    if (read_number(colon + 1, last, value) != last) {
      const std::string_view rest(colon + 1, static_cast<std::size_t>(last - colon - 1));
      fail(colon + 1, "the value {} of feature {} is not a finite number; correct it, or leave the pair out if it is not known",
           quoted(rest), index);
    }
    out.columns.push_back(static_cast<std::int32_t>(index));
    out.values.push_back(value);
    return static_cast<std::int32_t>(index);
  }

  void sort_row(Rows& out, std::size_t first, std::string_view label) const {
    const std::size_t count = out.columns.size() - first;
    std::vector<std::pair<std::int32_t, double>> pairs(count);
    for (std::size_t k = 0; k < count; ++k) pairs[k] = {out.columns[first + k], out.values[first + k]};
    std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < count; ++k) {
      if (k > 0 && pairs[k].first == pairs[k - 1].first)
        fail(label.data(), "feature {} comes twice on this line; keep one of them", pairs[k].first);
      out.columns[first + k] = pairs[k].first;
      out.values[first + k] = pairs[k].second;
    }
  }

  std::string_view text_;
  const std::string& source_;
  char end_of_line_;
  std::int64_t first_line_;
};

// visit(line) for the lines that start in chunk c.
template <class Visit>
void for_each_line(std::string_view text, Index c, char end_of_line, const Visit& visit) {
  const std::size_t begin = static_cast<std::size_t>(c) * chunk_bytes;
  const std::size_t stop = std::min(text.size(), begin + chunk_bytes);
  std::size_t at = begin;
  if (begin > 0) {
    const std::size_t before = text.find(end_of_line, begin - 1);
    at = before == std::string_view::npos ? text.size() : before + 1;
  }
  while (at < stop) {
    const std::size_t end = std::min(text.find(end_of_line, at), text.size());
    visit(text.substr(at, end - at));
    at = end + 1;
  }
}

// One list behind the other, in parallel.
template <class T>
std::vector<T> concatenate(const std::vector<Rows>& parts, std::vector<T> Rows::*list) {
  std::vector<std::size_t> starts(parts.size() + 1, 0);
  for (std::size_t c = 0; c < parts.size(); ++c) starts[c + 1] = starts[c] + (parts[c].*list).size();
  std::vector<T> all(starts.back());
  parallel_for(static_cast<Index>(parts.size()), [&](Index index) {
    const auto c = static_cast<std::size_t>(index);
    std::copy((parts[c].*list).begin(), (parts[c].*list).end(), all.begin() + static_cast<std::ptrdiff_t>(starts[c]));
  });
  return all;
}

Table assemble(const std::vector<Rows>& parts, const std::string& source, const ReadOptions& options, std::int64_t first_line) {
  Table table;
  table.source = source;
  table.format = FileFormat::libsvm;
  std::int32_t smallest = std::numeric_limits<std::int32_t>::max();
  std::int32_t largest = -1;
  std::int64_t line = first_line;
  bool regular = true;
  for (const Rows& part : parts) {
    smallest = std::min(smallest, part.smallest);
    largest = std::max(largest, part.largest);
    for (const std::int64_t offset : part.lines) {
      regular = regular && line + offset == static_cast<std::int64_t>(table.lines.size()) + 1;
      table.lines.push_back(line + offset);
    }
    line += part.line_count;
  }
  if (table.lines.empty()) throw FileError(fmt::format("{}: has no rows; wanted lines like \"1 3:0.5 7:1\"", source));
  table.sparse_labels = concatenate(parts, &Rows::labels);
  auto csr = std::make_shared<Csr>();
  csr->values = concatenate(parts, &Rows::values);
  csr->columns = concatenate(parts, &Rows::columns);
  const std::vector<std::int64_t> lengths = concatenate(parts, &Rows::lengths);
  csr->offsets.assign(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), csr->offsets.begin() + 1);

  if (options.zero_based == false && smallest == 0) {
    throw FileError(
        fmt::format("{}: has a feature with index 0, but indices were said to begin at 1; correct the file or the option", source));
  }
  const std::int32_t base = options.zero_based.value_or(smallest == 0) ? 0 : 1;
  for (std::int32_t& column : csr->columns) column -= base;
  const Index seen = Index{largest} - base + 1;
  const Index width = options.width > 0 ? options.width : std::max<Index>(seen, 0);
  if (largest >= 0 && seen > width) {
    const auto row = std::find_if(lengths.begin(), lengths.end(), [&, at = std::size_t{0}](std::int64_t length) mutable {
      at += static_cast<std::size_t>(length);
      return length > 0 && csr->columns[at - 1] >= width;
    });
    const auto i = static_cast<std::size_t>(row - lengths.begin());
    throw FileError(fmt::format("{}:{}: feature {} is beyond the {} features wanted; give data of the same width, or a larger --width",
                                source, table.lines[i], csr->columns[static_cast<std::size_t>(csr->offsets[i + 1]) - 1] + base, width));
  }
  const CsrRows<double> rows{csr->values.data(), csr->columns.data(), csr->offsets.data(), static_cast<Index>(lengths.size()), width};
  table.sparse = Samples::borrow(rows, csr);
  if (regular) table.lines.clear();
  return table;
}

}  // namespace

bool looks_like_libsvm(std::string_view text) {
  constexpr std::size_t window = std::size_t{1} << 16;
  constexpr int enough = 20;
  int lines = 0;
  bool any_pair = false;
  const char end_of_line = find_end_of_line(text.substr(0, window));
  for (std::size_t at = 0; at < std::min(text.size(), window) && lines < enough;) {
    const std::size_t end = std::min(text.find(end_of_line, at), text.size());
    std::string_view line = without_comment(text.substr(at, end - at));
    at = end + 1;
    const std::string_view label = take_token(line);
    if (label.empty()) continue;
    if (label.find(':') != std::string_view::npos) return false;
    ++lines;
    for (std::string_view token = take_token(line); !token.empty(); token = take_token(line)) {
      if (token.starts_with("qid:")) continue;
      const std::size_t colon = token.find_first_not_of("0123456789");
      if (colon == 0 || colon == std::string_view::npos || token[colon] != ':') return false;
      if (read_cell(token.substr(colon + 1)).kind == CellKind::text) return false;
      any_pair = true;
    }
  }
  return any_pair;
}

Table read_libsvm(std::string_view text, const std::string& source, const ReadOptions& options, std::int64_t first_line) {
  if (options.width < 0 || options.width > largest_index) {
    throw InvalidArgument(
        fmt::format("the width must be from 1 to {}, or 0 for the largest index seen, got {}", largest_index, options.width));
  }
  const char end_of_line = find_end_of_line(text);
  const Index count = chunk_count(text.size());
  std::vector<Rows> parts(static_cast<std::size_t>(count));
  const LineParser parser(text, source, end_of_line, first_line);
  Stage stage(options.run.progress, "reading " + source, static_cast<double>(text.size()));
  // A pair takes at least four bytes of text ("1:2 ") and twelve of memory, twice while the parts are joined.
  require_memory(text.size(), options.run.memory, fmt::format("{}: its rows", source), "read a part of it, or allow more (--memory)");
  for_each_chunk(count, [&](Index c) {
    Rows& part = parts[static_cast<std::size_t>(c)];
    reject_nul(text, text.substr(static_cast<std::size_t>(c) * chunk_bytes, chunk_bytes), source);
    for_each_line(text, c, end_of_line, [&](std::string_view line) {
      parser.parse(line, part);
      ++part.line_count;
    });
    stage.advance(static_cast<double>(chunk_bytes));
  });
  return assemble(parts, source, options, first_line);
}

}  // namespace mercer

// Files of word vectors: "the 0.418 0.24968 -0.41242 ...", one word a line, as GloVe (Pennington, Socher & Manning 2014) and word2vec
// (Mikolov et al. 2013) write them. How many numbers a word has is said by word2vec's first line ("400000 50"), else it is the smallest
// count of numbers that end one of the first lines: a word may itself be a number, and in some files words have blanks within. Lines are
// found first, then parsed in parallel straight into their rows. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <unordered_set>

#include "data/bytes.hpp"
#include "data/number.hpp"
#include "data/text.hpp"
#include "mercer/error.hpp"
#include "mercer/objects.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

constexpr std::size_t lines_looked_at = 100;
constexpr Index lines_per_block = 1024;

// The last field of a line, which is cut off there; empty: there is none.
std::string_view take_last(std::string_view& line) {
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  std::size_t begin = line.size();
  while (begin > 0 && !is_blank(line[begin - 1])) --begin;
  const std::string_view field = line.substr(begin);
  line = line.substr(0, begin);
  return field;
}

bool is_number(std::string_view field) {
  double value = 0;
  return !field.empty() && read_number(field.data(), field.data() + field.size(), value) == field.data() + field.size();
}

struct Line {
  std::string_view text;
  std::int64_t number;
};

// The lines that hold something, at most so many.
std::vector<Line> lines_of(std::string_view text, std::size_t most) {
  const char end_of_line = find_end_of_line(text.substr(0, std::size_t{1} << 20U));
  std::vector<Line> lines;
  std::int64_t number = 1;
  for (std::size_t at = 0; at < text.size() && lines.size() < most; ++number) {
    const std::size_t end = std::min(text.find(end_of_line, at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (!trimmed(line).empty()) lines.push_back({line, number});
    at = end + 1;
  }
  return lines;
}

// Numbers at the end of a line, one field at its start being a word whatever it looks like.
Index numbers_at_end(std::string_view line) {
  Index count = 0;
  while (is_number(take_last(line))) {
    if (trimmed(line).empty()) break;
    ++count;
  }
  return count;
}

// What the file begins with: how many numbers follow a word, and how many lines are no words.
struct Layout {
  Index width = 0;
  std::size_t skipped = 0;
  Index words = 0;  // as the first line says; 0: it does not
};

struct Counts {
  Index words = 0;
  Index width = 0;
};

// The first line of word2vec.
std::optional<Counts> counts_in(std::string_view line) {
  const std::string_view width = take_last(line);
  const std::string_view words = take_last(line);
  const auto whole = [](std::string_view field, Index& value) {
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    return !field.empty() && error == std::errc() && end == field.data() + field.size() && value >= 0;
  };
  Counts counts;
  if (!trimmed(line).empty() || !whole(width, counts.width) || !whole(words, counts.words)) return std::nullopt;
  return counts;
}

// The count of numbers that most of the lines with numbers end in, the smallest of several; 0: there are none.
Index usual_width(std::span<const Line> lines) {
  std::map<Index, int> times{{0, 0}};
  for (const Line& line : lines) {
    if (const Index count = numbers_at_end(line.text); count > 0) ++times[count];
  }
  return std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

bool has_number(std::string_view line) {
  for (std::string_view field = take_last(line); !field.empty(); field = take_last(line)) {
    if (is_number(field)) return true;
  }
  return false;
}

Layout layout_of(const std::vector<Line>& lines, const std::string& source) {
  const std::size_t looked_at = std::min(lines.size(), lines_looked_at);
  const std::optional<Counts> counted = counts_in(lines[0].text);
  Layout layout;
  layout.width = usual_width(std::span(lines).first(looked_at).subspan(counted ? 1 : 0));
  const bool has_counts = counted && counted->width == layout.width;
  if (layout.width > 0 && (has_counts || !has_number(lines[0].text))) layout.skipped = 1;  // counts, or names of columns
  if (layout.width > 0 && has_counts) layout.words = counted->words;
  for (std::size_t i = counted ? 1 : 0; layout.width == 0 && i < looked_at; ++i) {
    std::string_view rest = lines[i].text;
    if (numbers_at_end(rest) > 0) continue;
    throw FileError(fmt::format("{}:{}: ends in {}, wanted a word and its numbers, with blanks or tabs between", source, lines[i].number,
                                quoted(take_last(rest))));
  }
  if (layout.width == 0) throw FileError(fmt::format("{}: has no words; wanted lines of a word and its numbers", source));
  return layout;
}

// One line into its word and its row.
void parse(const Line& line, const std::string& source, std::string& word, Eigen::Ref<Eigen::RowVectorXd> row) {
  std::string_view rest = line.text;
  for (Index k = row.size() - 1; k >= 0; --k) {
    const std::string_view field = take_last(rest);
    const char* const last = field.data() + field.size();
    if (field.empty())
      throw FileError(fmt::format("{}:{}: has {} numbers, wanted a word and {}", source, line.number, row.size() - 1 - k, row.size()));
    if (read_number(field.data(), last, row[k]) != last) {
      throw FileError(
          fmt::format("{}:{}: {} is not a finite number; wanted a word and {} numbers", source, line.number, quoted(field), row.size()));
    }
  }
  rest = trimmed(rest);
  if (const std::size_t tab = rest.rfind('\t'); tab != std::string_view::npos) rest.remove_prefix(tab + 1);
  if (rest.empty()) throw FileError(fmt::format("{}:{}: has no word before its {} numbers; wanted one", source, line.number, row.size()));
  word = rest;
}

// Keeps the first of equal words and no word that is not UTF-8, which no text has.
void drop_useless(WordTable& table) {
  std::unordered_set<std::string_view> seen;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < table.words.size(); ++i) {
    if (find_invalid_utf8(table.words[i]) == std::string_view::npos && seen.insert(table.words[i]).second) kept.push_back(i);
  }
  if (kept.size() == table.words.size()) return;
  seen.clear();
  for (std::size_t k = 0; k < kept.size(); ++k) {
    if (k == kept[k]) continue;
    table.words[k] = std::move(table.words[kept[k]]);
    table.vectors.row(static_cast<Index>(k)) = table.vectors.row(static_cast<Index>(kept[k]));
  }
  table.words.resize(kept.size());
  table.vectors.conservativeResize(std::ssize(kept), table.vectors.cols());
}

}  // namespace

WordTable read_word_table(const std::string& path, Index limit) {
  if (limit < 0) throw InvalidArgument(fmt::format("the number of words to read must be >= 0 (0: all), got {}", limit));
  const Run run;
  const std::string source = path == "-" ? "standard input" : path;
  const Bytes bytes = unpack(read_bytes(path, run), path, run);
  const std::string_view text = without_byte_order_mark(bytes.view, path);
  if (text.empty()) throw FileError(fmt::format("{}: is empty; wanted lines of a word and its numbers", source));
  reject_nul(text, text, source);
  // Beyond the limit, one line may be no word, and the first lines say what the file looks like.
  const std::size_t most = limit == 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(limit) + lines_looked_at;
  const std::vector<Line> lines = lines_of(text, most);
  if (lines.empty()) throw FileError(fmt::format("{}: has no words; wanted lines of a word and its numbers", source));
  const Layout layout = layout_of(lines, source);
  Index words = std::ssize(lines) - static_cast<Index>(layout.skipped);
  if (limit == 0 && words < layout.words)
    throw FileError(fmt::format("{}: says that it has {} words, but has {}: it has been cut short", source, layout.words, words));
  if (limit > 0) words = std::min(words, limit);
  require_memory(static_cast<std::size_t>(words) * static_cast<std::size_t>(layout.width) * sizeof(double), 0,
                 fmt::format("{}: the vectors of {} words", source, words), "read fewer words, or allow more (MERCER_MEMORY)");
  WordTable table;
  table.words.resize(static_cast<std::size_t>(words));
  table.vectors.resize(words, layout.width);
  for_each_chunk((words + lines_per_block - 1) / lines_per_block, [&](Index block) {
    for (Index i = block * lines_per_block; i < std::min(words, (block + 1) * lines_per_block); ++i)
      parse(lines[static_cast<std::size_t>(i) + layout.skipped], source, table.words[static_cast<std::size_t>(i)], table.vectors.row(i));
  });
  drop_useless(table);
  return table;
}

}  // namespace mercer

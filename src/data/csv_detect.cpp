// What a CSV file is like, found out from its first rows.
//  - delimiter: the one of , tab ; | that splits all rows into the same number (> 1) of fields, most of them numbers; else blanks,
//    if they do and give a column of numbers; else there is one column
//  - header: a first row with text above a column of numbers; or, where all is text, distinct words that do not come again below
//  - type: a column is numbers if nine tenths of its cells are. A few words among many numbers are mistakes to be told, not text.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <unordered_set>

#include "data/csv.hpp"
#include "data/text.hpp"
#include "mercer/error.hpp"
#include "mercer/nearest_word.hpp"

namespace mercer::csv {

namespace {

using Rows = std::vector<std::vector<Field>>;

constexpr std::size_t detect_rows = 100;

// The first records that are not blank, as they stand in the file.
std::vector<std::string_view> first_records(const Source& source, const Dialect& dialect, std::size_t most) {
  std::vector<std::string_view> records;
  const char* last = source.text.data() + source.text.size();
  for (const char* at = source.text.data(); at < last && records.size() < most;) {
    const char* end = record_end(at, last, dialect);
    const std::string_view record = record_body(at, end, dialect);
    if (!is_blank_record(record, dialect)) records.push_back(record);
    at = end == last ? last : end + 1;
  }
  return records;
}

struct Score {
  double agreement = 0;    // share of the records with the most common number of fields
  double numbers = 0;      // share of numbers among the cells of the later records
  std::size_t fields = 1;  // that most common number
};

Score score_delimiter(const std::vector<std::string_view>& records, const Dialect& dialect, const Source& source) {
  if (records.empty()) return {};
  std::map<std::size_t, std::size_t> counts;
  std::size_t cells = 0;
  std::size_t numbers = 0;
  try {
    for (std::size_t i = 0; i < records.size(); ++i) {
      const auto fields = split_record(record_body(records[i].data(), records[i].data() + records[i].size(), dialect), dialect, source);
      ++counts[fields.size()];
      if (i == 0 && records.size() > 1) continue;  // perhaps names
      cells += fields.size();
      numbers += static_cast<std::size_t>(std::count_if(fields.begin(), fields.end(), [&](const Field& field) {
        return field.cell().kind == CellKind::number || (dialect.delimiter != ',' && has_decimal_comma(field.text));
      }));
    }
  } catch (const FileError&) {
    return {};  // its quotes do not fit this delimiter
  }
  const auto common = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {static_cast<double>(common->second) / static_cast<double>(records.size()),
          static_cast<double>(numbers) / static_cast<double>(std::max<std::size_t>(cells, 1)), common->first};
}

char find_delimiter(const Source& source, const Dialect& start, bool prefer_tab) {
  Dialect dialect = start;
  const auto records = first_records(source, dialect, detect_rows);
  char best = ',';
  Score best_score;
  for (const char candidate : {'\t', ',', ';', '|'}) {
    dialect.delimiter = candidate;
    const Score score = score_delimiter(records, dialect, source);
    if (score.fields < 2) continue;
    if (prefer_tab && candidate == '\t') return candidate;
    if (best_score.fields < 2 || std::pair(score.agreement, score.numbers) > std::pair(best_score.agreement, best_score.numbers)) {
      best = candidate;
      best_score = score;
    }
  }
  if (best_score.agreement == 1) return best;
  dialect.delimiter = ' ';
  const Score blanks = score_delimiter(records, dialect, source);
  return blanks.fields > 1 && blanks.numbers > 0 && blanks.agreement > best_score.agreement ? ' ' : best;
}

struct Tally {
  std::size_t numbers = 0;
  std::size_t words = 0;
  const Field* decimal_comma = nullptr;

  bool is_text() const { return words > 0 && words * 9 > numbers; }
};

Tally tally_column(const Rows& rows, std::size_t first, std::size_t column) {
  Tally tally;
  for (std::size_t i = first; i < rows.size(); ++i) {
    if (column >= rows[i].size()) continue;
    const Field& field = rows[i][column];
    const CellKind kind = field.cell().kind;
    if (kind == CellKind::missing) continue;
    if (kind == CellKind::text) {
      ++tally.words;
      if (tally.decimal_comma == nullptr && has_decimal_comma(field.text)) tally.decimal_comma = &field;
    } else {
      ++tally.numbers;
    }
  }
  return tally;
}

bool is_familiar_name(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static const std::set<std::string, std::less<>> familiar{"y",    "x",    "label", "target",   "class",   "id",
                                                           "name", "text", "value", "sequence", "category"};
  return familiar.contains(lower);
}

// All is text: names are distinct and do not come again; values do.
bool is_header_above_text(const Rows& rows) {
  const auto& top = rows.front();
  std::unordered_set<std::string> names;
  for (const Field& field : top) {
    if (!field.text.empty() && !names.insert(field.str()).second) return false;
  }
  bool values_repeat = false;
  for (std::size_t j = 0; j < top.size(); ++j) {
    std::unordered_set<std::string> values;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (j >= rows[i].size()) continue;
      const std::string value = rows[i][j].str();
      if (value == top[j].str() && !value.empty()) return false;
      if (!values.insert(value).second) values_repeat = true;
    }
  }
  return top.size() > 1 || values_repeat || is_familiar_name(top.front().text);
}

bool find_header(const Rows& rows) {
  const auto& top = rows.front();
  const auto is_word = [](const Field& field) { return field.cell().kind == CellKind::text; };
  if (rows.size() == 1) return std::all_of(top.begin(), top.end(), is_word);
  bool all_words = true;
  for (std::size_t j = 0; j < top.size(); ++j) {
    const bool word = is_word(top[j]) && !has_decimal_comma(top[j].text);
    const Tally below = tally_column(rows, 1, j);
    if (word && below.numbers > 0 && !below.is_text()) return true;
    all_words = all_words && (word || top[j].text.empty());
  }
  return all_words && is_header_above_text(rows);
}

// Every column gets a name of its own: empty ones x<position>, repeated ones a number behind them.
void make_names(Plan& plan, const std::vector<Field>& top, const Source& source) {
  std::unordered_set<std::string> taken;
  if (plan.header) {
    for (const Field& field : top) taken.insert(field.str());
  }
  std::unordered_set<std::string> used;
  for (std::size_t j = 0; j < top.size(); ++j) {
    std::string name = plan.header ? top[j].str() : std::string();
    if (const std::size_t bad = find_invalid_utf8(name); bad != std::string::npos) {
      throw FileError(fmt::format("{}: a column name is not UTF-8 (byte 0x{:02X}); convert the file (iconv -f LATIN1 -t UTF-8)",
                                  source.at(top[j].text.data(), j), static_cast<unsigned char>(name[bad])));
    }
    plan.named.push_back(!name.empty());
    const std::string base = name.empty() ? fmt::format("x{}", j + 1) : name;
    bool clash = name.empty() ? taken.contains(base) : used.contains(base);
    name = base;
    for (int copy = 2; clash; ++copy) {
      name = fmt::format("{}_{}", base, copy);
      clash = taken.contains(name) || used.contains(name);
    }
    used.insert(name);
    plan.names.push_back(std::move(name));
  }
}

void choose_types(Plan& plan, const Rows& rows, const ReadOptions& options, const Source& source) {
  plan.text.assign(plan.names.size(), false);
  Table named;  // borrows its way of finding a column by name or #position
  named.names = plan.names;
  for (const std::string& name : options.text_columns) {
    const Index column = named.find(name);
    if (column < 0)
      throw InvalidArgument(fmt::format("{}: has no column {} to read as text{}; it has {}", source.name, quoted(name),
                                        did_you_mean(name, plan.names), fmt::join(plan.names, ", ")));
    plan.text[static_cast<std::size_t>(column)] = true;
  }
  for (std::size_t j = 0; j < plan.names.size(); ++j) {
    if (plan.text[j]) continue;
    const Tally tally = tally_column(rows, plan.header ? 1 : 0, j);
    if (tally.decimal_comma != nullptr && plan.dialect.delimiter != ',' && tally.is_text()) {
      const std::string_view cell = tally.decimal_comma->text;
      throw FileError(
          fmt::format("{}: {} in {} looks like a number with a decimal comma, wanted a decimal point; convert it (sed 's/,/./g'), or read "
                      "the column as text (--text {})",
                      source.at(cell.data(), j), quoted(cell), describe_column(j, plan.names[j]), plan.names[j]));
    }
    plan.text[j] = tally.is_text();
  }
}

void check_delimiter(char delimiter) {
  const bool fits = delimiter != '"' && delimiter != '\n' && delimiter != '\r' && delimiter != '.' && delimiter != '+' &&
                    delimiter != '-' && delimiter != '\0' && std::isalnum(static_cast<unsigned char>(delimiter)) == 0 &&
                    static_cast<unsigned char>(delimiter) < 0x80;
  if (!fits)
    throw InvalidArgument(fmt::format("the delimiter cannot be {}; use a comma, semicolon, tab, bar or blank", quoted({&delimiter, 1})));
}

}  // namespace

Plan make_plan(const Source& source, const ReadOptions& options, bool prefer_tab) {
  Plan plan;
  plan.dialect.end_of_line = source.end_of_line;
  if (options.delimiter) check_delimiter(*options.delimiter);
  plan.dialect.delimiter = options.delimiter ? *options.delimiter : find_delimiter(source, plan.dialect, prefer_tab);

  Rows rows;
  for (const std::string_view record : first_records(source, plan.dialect, sample_rows + 1))
    rows.push_back(split_record(record, plan.dialect, source));
  if (!rows.empty())
    reject_nul(source.text, {source.text.data(), static_cast<std::size_t>(rows.back().back().text.data() - source.text.data())},
               source.name);
  if (rows.empty()) throw FileError(fmt::format("{}: is empty; wanted rows of data", source.name));
  plan.header = options.header ? *options.header : find_header(rows);
  const char* last = source.text.data() + source.text.size();
  plan.body = source.text.data();
  if (plan.header) {
    // The first record that is not blank; those before it hold nothing.
    const char* end = nullptr;
    for (bool blank = true; blank; plan.body = end == last ? last : end + 1) {
      end = record_end(plan.body, last, plan.dialect);
      blank = is_blank_record(record_body(plan.body, end, plan.dialect), plan.dialect);
    }
    if (rows.size() == 1) throw FileError(fmt::format("{}: has a header but no rows; wanted rows of numbers below it", source.name));
  }
  plan.body_line = line_number(source.text, plan.body, source.end_of_line);
  make_names(plan, rows.front(), source);
  choose_types(plan, rows, options, source);
  return plan;
}

}  // namespace mercer::csv

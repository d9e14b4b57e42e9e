// From files to samples in the same columns: one encoder, one scaling, learned on all rows together, so that no sample has a say that the
// others have not, and exchanges of rows between the samples leave it as it is.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_set>

#include "compare.hpp"
#include "objects.hpp"

namespace mercer::cli {

namespace {

constexpr Index most_samples = 20;

std::string place_word(const Table& table, Index row) {
  if (table.format == FileFormat::npy) return fmt::format("{}: row {}", source_word(table.source), row + 1);
  return fmt::format("{}:{}", source_word(table.source), table.line_of(row));
}

// The columns that are compared, as the first table names them: all, or those of --columns, without --drop, --by and --groups.
std::vector<std::string> wanted_columns(const CompareOptions& o, const Table& first) {
  std::vector<bool> wanted(first.names.size(), o.columns.empty());
  for (const std::string& name : o.columns) wanted[static_cast<std::size_t>(require_column(first, name, " for --columns"))] = true;
  for (const std::string& name : o.encode.drop) wanted[static_cast<std::size_t>(require_column(first, name, " to leave out"))] = false;
  for (const auto& [option, name] : {std::pair{" for --by", o.by}, {" for --groups", o.groups}}) {
    if (!name.empty()) wanted[static_cast<std::size_t>(require_column(first, name, option))] = false;
  }
  std::vector<std::string> names;
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    if (wanted[j]) names.push_back(first.names[j]);
  }
  if (names.empty()) throw InvalidArgument(fmt::format("{}: no column is left to compare", source_word(first.source)));
  return names;
}

// Where a table has the columns of the first one. Both ways, for a column that one sample lacks is a difference nobody asked for.
std::vector<Index> places_of(const CompareOptions& o, const Table& first, const std::vector<std::string>& names, const Table& table) {
  std::vector<Index> places;
  if (!first.has_header || !table.has_header) {
    if (table.columns.size() != first.columns.size()) {
      throw FileError(fmt::format("{}: has {} columns, {} has {}; samples must have the same columns", source_word(table.source),
                                  table.columns.size(), source_word(first.source), first.columns.size()));
    }
    for (const std::string& name : names) places.push_back(first.find(name));
    return places;
  }
  const auto lacks = [&](const Table& who, const Table& other, const std::vector<std::string>& missing) {
    std::vector<std::string> common;
    for (const std::string& name : names) {
      if (std::find(table.names.begin(), table.names.end(), name) != table.names.end()) common.push_back(name);
    }
    throw FileError(fmt::format(
        "{}: lacks {} {} that {} has; {}", source_word(who.source), missing.size() == 1 ? "the column" : "the columns",
        fmt::join(missing, ", "), source_word(other.source),
        common.empty() ? "they have no column in common" : fmt::format("--columns {} compares what both have", fmt::join(common, ","))));
  };
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    const auto found = std::find(table.names.begin(), table.names.end(), name);
    if (found == table.names.end()) missing.push_back(name);
    places.push_back(found - table.names.begin());
  }
  if (!missing.empty()) lacks(table, first, missing);
  if (!o.columns.empty()) return places;
  for (const std::string& name : table.names) {
    const bool left_out = std::find(o.encode.drop.begin(), o.encode.drop.end(), name) != o.encode.drop.end();
    if (!left_out && std::find(first.names.begin(), first.names.end(), name) == first.names.end()) missing.push_back(name);
  }
  if (!missing.empty()) lacks(first, table, missing);
  return places;
}

// Before pooling, so that the message names the file and its line.
void require_values(const CompareOptions& o, const Table& table, const Column& column) {
  const bool words = column.is_text();
  std::optional<Index> row;
  if (words && !column.missing.empty()) row = column.missing.front();
  if (!words && !column.is_objects()) {
    const auto& numbers = column.numbers();
    const auto bad = std::find_if(numbers.begin(), numbers.end(), [](double v) { return !std::isfinite(v); });
    if (bad != numbers.end()) row = bad - numbers.begin();
  }
  if (row && o.encode.impute == Impute::reject) {
    throw FileError(
        fmt::format("{}: column {} has no value; fill it with --impute mean or median, leave the column out with --drop {}, "
                    "or remove the row",
                    place_word(table, *row), column.name, column.name));
  }
}

// Text in one sample and numbers in another: a word among the numbers, more often than not.
[[noreturn]] void throw_kinds(const Table& words, const Column& column, const Table& numbers) {
  const auto& cells = column.text();
  const auto odd = std::find_if(cells.begin(), cells.end(), [](const std::string& cell) { return !cell.empty() && !parse_number(cell); });
  const Index row = odd == cells.end() ? 0 : odd - cells.begin();
  throw FileError(fmt::format("{}: column {} holds \"{}\", but {} has numbers there; correct it, or take it as words in all with --text {}",
                              place_word(words, row), column.name, cells[static_cast<std::size_t>(row)], source_word(numbers.source),
                              column.name));
}

bool identifies_rows(const Column& column) {
  if (!column.is_text() || !column.missing.empty() || column.text().size() < 3) return false;
  const auto& cells = column.text();
  return std::unordered_set<std::string_view>(cells.begin(), cells.end()).size() == cells.size();
}

void append(Column& to, const Column& from) {
  const Index shift = std::visit([](const auto& values) { return static_cast<Index>(values.size()); }, to.values);
  std::visit(
      [&]<class Values>(Values& values) {
        const auto& more = std::get<Values>(from.values);
        if constexpr (std::is_same_v<Values, Samples>) {
          values = concatenate(values, more);
        } else {
          values.insert(values.end(), more.begin(), more.end());
        }
      },
      to.values);
  for (const Index row : from.missing) to.missing.push_back(row + shift);
}

// One table of all rows, the columns of the first.
Table pool(const CompareOptions& o, const std::vector<Table>& tables, const std::vector<std::string>& names,
           const std::vector<std::string>& keep_text, std::vector<std::string>& notes) {
  const Table& first = tables.front();
  const auto kept = [&](const std::string& name) {  // a kernel of strings looks at it
    return std::any_of(keep_text.begin(), keep_text.end(), [&](const std::string& word) { return word == "*" || word == name; });
  };
  std::vector<std::vector<Index>> places;
  for (const Table& table : tables) places.push_back(places_of(o, first, names, table));
  Table pooled;
  pooled.has_header = true;
  pooled.format = first.format;
  for (std::size_t k = 0; k < names.size(); ++k) {
    Column column = first.columns[static_cast<std::size_t>(places[0][k])];
    bool identifies = tables.size() > 1;
    for (std::size_t t = 0; t < tables.size(); ++t) {
      const Column& here = tables[t].columns[static_cast<std::size_t>(places[t][k])];
      if (here.is_objects() != column.is_objects()) {
        throw FileError(fmt::format("{}: column {} holds {}, and {} has {} there; samples must hold the same",
                                    source_word(tables[t].source), column.name, here.is_objects() ? "objects" : "text or numbers",
                                    source_word(first.source), here.is_objects() ? "text or numbers" : "objects"));
      }
      if (here.is_text() != column.is_text())
        throw_kinds(here.is_text() ? tables[t] : first, here.is_text() ? here : column, here.is_text() ? first : tables[t]);
      require_values(o, tables[t], here);
      identifies = identifies && !kept(names[k]) && identifies_rows(here);
      if (t > 0) append(column, here);
    }
    if (identifies) {
      notes.push_back(fmt::format("Column {} is text with a different value in every row: it identifies rows and was left out.", names[k]));
      continue;
    }
    pooled.names.push_back(names[k]);
    pooled.columns.push_back(std::move(column));
  }
  if (pooled.columns.empty()) throw InvalidArgument(fmt::format("{}: no column is left to compare", source_word(first.source)));
  return pooled;
}

Table pool_sparse(const std::vector<Table>& tables) {
  Table pooled;
  pooled.sparse = *tables.front().sparse;
  for (std::size_t t = 1; t < tables.size(); ++t) {
    const Index width = std::max(pooled.sparse->width(), tables[t].sparse->width());
    const auto widened = [width](const Samples& X) {
      Samples::Storage storage = X.storage();
      std::visit([&](auto& rows) { rows.cols = width; }, storage);
      return Samples::borrow(storage, std::make_shared<Samples>(X));
    };
    pooled.sparse = concatenate(widened(*pooled.sparse), widened(*tables[t].sparse));
  }
  for (const Table& table : tables)
    pooled.sparse_labels.insert(pooled.sparse_labels.end(), table.sparse_labels.begin(), table.sparse_labels.end());
  return pooled;
}

Table rows_of(const Table& table, const std::vector<Index>& rows) {
  Table part = table;
  part.lines.clear();
  for (const Index row : rows) part.lines.push_back(table.line_of(row));
  if (table.sparse) {
    part.sparse = table.sparse->subset(rows);
    part.sparse_labels.clear();
    for (const Index row : rows) part.sparse_labels.push_back(table.sparse_labels[static_cast<std::size_t>(row)]);
    return part;
  }
  for (Column& column : part.columns) {
    const std::set<Index> missing(column.missing.begin(), column.missing.end());
    column.missing.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (missing.contains(rows[i])) column.missing.push_back(static_cast<Index>(i));
    }
    std::visit(
        [&]<class Values>(Values& values) {
          if constexpr (std::is_same_v<Values, Samples>) {
            values = values.subset(rows);
          } else {
            Values chosen;
            for (const Index row : rows) chosen.push_back(values[static_cast<std::size_t>(row)]);
            values = std::move(chosen);
          }
        },
        column.values);
  }
  return part;
}

// The values of a column, numbers in their order, words in theirs, each with its rows.
std::vector<std::pair<std::string, std::vector<Index>>> values_of(const Table& table, const std::string& name) {
  const Column labels{"label", table.sparse_labels, {}};
  if (table.sparse && name != "label")
    throw InvalidArgument(
        fmt::format("{}: rows of a LIBSVM file have no column {}; --by label takes their labels", source_word(table.source), name));
  const Column& column = table.sparse ? labels : table.columns[static_cast<std::size_t>(require_column(table, name, " for --by"))];
  if (!column.missing.empty())
    throw FileError(fmt::format("{}: column {} of --by has no value", place_word(table, column.missing.front()), column.name));
  require_cells(table, column, "--by");
  const LabelEncoding labelled = column.is_text() ? encode_labels(column.text()) : encode_labels(column.numbers());
  const auto count = std::ssize(labelled.classes);
  if (count < 2 || count > most_samples) {
    throw InvalidArgument(fmt::format("{}: column {} of --by has {} value{}; wanted 2 to {}, one for each sample",
                                      source_word(table.source), column.name, count, count == 1 ? "" : "s", most_samples));
  }
  std::vector<std::pair<std::string, std::vector<Index>>> values;
  for (const std::string& word : labelled.classes) values.emplace_back(fmt::format("{} = {}", column.name, word), std::vector<Index>());
  for (std::size_t i = 0; i < labelled.indices.size(); ++i)
    values[static_cast<std::size_t>(labelled.indices[i])].second.push_back(static_cast<Index>(i));
  return values;
}

void require_rows(const SampleTables& parts) {
  for (std::size_t t = 0; t < parts.tables.size(); ++t) {
    const Index rows = parts.tables[t].rows();
    if (rows < 2)
      throw InvalidArgument(
          fmt::format("{}: has {} row{}; a test needs at least 2 of each sample", parts.names[t], rows, rows == 1 ? "" : "s"));
  }
}

void note_equal(SampleSet& s, const std::vector<std::string>& paths) {
  if (std::set<std::string>(paths.begin(), paths.end()).size() < paths.size())
    s.features.notes.emplace_back("The same file is given more than once: these samples are equal.");
}

}  // namespace

Index SampleSet::first_row(std::size_t sample) const {
  Index row = 0;
  for (std::size_t i = 0; i < sample; ++i) row += samples[i].size();
  return row;
}

ExchangeOptions pooled_exchange(const CompareOptions& o, const std::vector<Table>& tables) {
  ExchangeOptions exchange{.scheme = o.scheme, .groups = {}, .block_length = static_cast<Index>(o.block_length)};
  if (o.groups.empty()) return exchange;
  std::map<std::string, Index> ids;
  for (const Table& table : tables) {
    const Column& column = table.columns[static_cast<std::size_t>(require_column(table, o.groups, " for --groups"))];
    if (!column.missing.empty())
      throw FileError(fmt::format("{}: column {} of --groups has no value", place_word(table, column.missing.front()), column.name));
    require_cells(table, column, "--groups");
    for (Index i = 0; i < table.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      const std::string word = column.is_text() ? column.text()[row] : format_number(column.numbers()[row]);
      exchange.groups.push_back(ids.emplace(word, std::ssize(ids)).first->second);
    }
  }
  return exchange;
}

SampleTables read_tables(const CompareOptions& o) {
  SampleTables parts;
  for (const std::string& path : o.paths) {
    parts.tables.push_back(read_data(o.reading, path, o.common));
    parts.names.push_back(source_word(path));
  }
  for (std::size_t i = 0; i < parts.names.size(); ++i) {  // the same file twice: still two names
    const auto same = std::count(parts.names.begin(), parts.names.end(), parts.names[i]);
    if (same > 1) parts.names[i] += fmt::format(" ({})", i + 1);
  }
  if (o.by.empty()) {
    require_rows(parts);
    for (const Table& table : parts.tables) {
      for (Index i = 0; i < table.rows(); ++i) parts.file_rows.push_back(i);
    }
    return parts;
  }
  SampleTables split;
  for (const auto& [name, rows] : values_of(parts.tables.front(), o.by)) {
    split.names.push_back(name);
    split.tables.push_back(rows_of(parts.tables.front(), rows));
    split.file_rows.insert(split.file_rows.end(), rows.begin(), rows.end());
  }
  require_rows(split);
  return split;
}

SampleSet read_samples(const CompareOptions& o) {
  const SampleTables parts = read_tables(o);
  const std::vector<Table>& tables = parts.tables;
  const auto sparse = std::count_if(tables.begin(), tables.end(), [](const Table& t) { return t.sparse.has_value(); });
  if (sparse > 0 && sparse < std::ssize(tables))
    throw InvalidArgument("some of the files are LIBSVM and some are not; convert them (mercer convert IN OUT.svm)");
  SampleSet s;
  std::vector<std::string> notes;
  s.kernel = o.kernel;
  EncodeOptions encode = o.encode;
  if (sparse > 0) {
    if (!o.groups.empty() || !o.columns.empty() || !o.encode.drop.empty())
      throw InvalidArgument("rows of a LIBSVM file have no named columns for --columns, --drop or --groups");
    s.table = pool_sparse(tables);
    notes.emplace_back("The labels of the LIBSVM files are no feature.");
  } else {
    std::vector<std::string> wanted = wanted_columns(o, tables.front());
    encode.drop.clear();
    for (const std::string& name : tables.front().names) {
      if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) encode.drop.push_back(name);
    }
    suit_objects(tables.front(), s.kernel, encode, notes);
    std::erase_if(wanted,
                  [&](const std::string& name) { return std::find(encode.drop.begin(), encode.drop.end(), name) != encode.drop.end(); });
    s.table = pool(o, tables, wanted, encode.keep_text, notes);
  }
  encode.drop.clear();  // the pooled table has what is compared alone
  s.table.source = fmt::format("{}", fmt::join(parts.names, " and "));
  s.exchange = pooled_exchange(o, tables);
  s.features = features_in(s.table, encode);
  s.features.notes.insert(s.features.notes.begin(), notes.begin(), notes.end());
  note_equal(s, o.paths);
  s.pooled = s.features.X;
  s.names = parts.names;
  s.file_rows = parts.file_rows;
  Index row = 0;
  for (const Table& table : tables) {
    s.samples.push_back(s.pooled.slice(row, table.rows()));
    row += table.rows();
  }
  s.source = o.by.empty() ? list_words(s.names) : fmt::format("{} by {}", source_word(o.paths.front()), o.by);
  return s;
}

}  // namespace mercer::cli

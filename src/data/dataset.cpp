// From a table to features and a target: the choices that a person would make by looking at it, each said in a note.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <unordered_set>

#include "data/encode.hpp"
#include "data/formats.hpp"
#include "data/number.hpp"
#include "mercer/error.hpp"
#include "mercer/labels.hpp"
#include "mercer/nearest_word.hpp"

namespace mercer {

namespace {

constexpr std::size_t most_classes = 20;  // whole numbers with more distinct values are quantities

Index find_column(const Table& table, const std::string& name, const char* purpose) {
  const Index column = table.find(name);
  if (column < 0) {
    throw InvalidArgument(fmt::format("{}: has no column {} {}{}; it has {}", source_name(table), quoted(name), purpose,
                                      did_you_mean(name, table.names), fmt::join(table.names, ", ")));
  }
  return column;
}

bool is_all_distinct(const Column& column) {
  const auto& text = column.text();
  return column.missing.empty() && std::unordered_set<std::string_view>(text.begin(), text.end()).size() == text.size();
}

std::set<double> first_distinct(const std::vector<double>& values) {
  std::set<double> distinct;
  for (const double value : values) {
    distinct.insert(value);
    if (distinct.size() > most_classes) break;
  }
  return distinct;
}

// What the task is, and the words that say why.
std::pair<Task, std::string> choose_task(const std::vector<double>& values, Task asked) {
  if (asked != Task::automatic)
    return {asked, fmt::format("{}, as asked", asked == Task::classification ? "classification" : "regression")};
  const std::set<double> distinct = first_distinct(values);
  const bool whole = std::all_of(values.begin(), values.end(), [](double value) { return value == std::floor(value); });
  if (!whole) return {Task::regression, "regression, for its values are not whole numbers"};
  if (distinct.size() > most_classes) return {Task::regression, fmt::format("regression, for it has more than {} values", most_classes)};
  return {Task::classification,
          fmt::format("classification, for its values are {} whole number{}", distinct.size(), distinct.size() == 1 ? "" : "s")};
}

void set_classes(Dataset& data, LabelEncoding labels) {
  data.encoder.classes = std::move(labels.classes);
  data.y.resize(std::ssize(labels.indices));
  for (std::size_t i = 0; i < labels.indices.size(); ++i) data.y[static_cast<Index>(i)] = static_cast<double>(labels.indices[i]);
}

void set_target(Dataset& data, const std::vector<double>& values, Task asked, const std::string& which) {
  const auto [task, why] = choose_task(values, asked);
  data.encoder.task = task;
  data.notes.push_back(fmt::format("The target is {}; the task is {}.", which, why));
  if (task == Task::classification) {
    set_classes(data, encode_labels(std::span<const double>(values)));
  } else {
    data.y = Eigen::Map<const Vector>(values.data(), std::ssize(values));
  }
}

std::string capitalised(std::string words) {
  words.front() = 'C';
  return words;
}

// The bytes of a separator between groups of three digits that stands at `i`; 0: there is none.
std::size_t group_separator(std::string_view cell, std::size_t i) {
  const std::size_t point = std::min(cell.find('.'), cell.size());
  const auto is_digit_at = [&](std::size_t k) { return k < point && cell[k] >= '0' && cell[k] <= '9'; };
  if (i == 0 || !is_digit_at(i - 1)) return 0;
  for (const std::string_view separator : {",", "'", " ", "\u00a0", "\u202f"}) {
    const std::size_t group = i + separator.size();
    const bool three = is_digit_at(group) && is_digit_at(group + 1) && is_digit_at(group + 2) && !is_digit_at(group + 3);
    if (three && cell.substr(i).starts_with(separator)) return separator.size();
  }
  return 0;
}

// "$1,000", "12 %" or "1'000.5" as a number is written, or nothing if it is not one with ornaments: signs of money and percent around it,
// and separators before groups of three digits.
std::optional<std::string> without_ornaments(std::string_view cell) {
  constexpr std::size_t longest = 40;
  if (cell.size() > longest) return std::nullopt;
  const auto strip = [&](std::string_view ornament) {
    if (cell.starts_with(ornament)) cell.remove_prefix(ornament.size());
    if (cell.ends_with(ornament)) cell.remove_suffix(ornament.size());
  };
  for (const std::string_view ornament : {"$", "\u20ac", "\u00a3", "%"}) strip(ornament);
  cell = trimmed(cell);
  std::string bare;
  for (std::size_t i = 0; i < cell.size();) {
    const std::size_t separator = group_separator(cell, i);
    if (separator == 0) bare += cell[i];
    i += std::max<std::size_t>(separator, 1);
  }
  return parse_number(bare) ? std::optional(bare) : std::nullopt;
}

// How to write the numbers of a column that is text only for their ornaments; empty if it is real text. They are not read as numbers,
// for 1,000 is a thousand to some and one to others.
std::string ornaments_of(const Table& table, Index index) {
  std::string example;
  std::string bare;
  for (const std::string& cell : table.columns[static_cast<std::size_t>(index)].text()) {
    if (cell.empty() || parse_number(cell)) continue;
    const std::optional<std::string> number = without_ornaments(cell);
    if (!number) return "";
    if (example.empty()) {
      example = cell;
      bare = *number;
    }
  }
  return example.empty() ? "" : fmt::format("it holds {}; to use it as numbers, write them like {}", quoted(example), bare);
}

void note_ornaments(Dataset& data, const Table& table, Index index) {
  const std::string found = ornaments_of(table, index);
  if (!found.empty()) data.notes.push_back(fmt::format("{} is taken for text, for {}.", capitalised(column_words(table, index)), found));
}

void take_target(Dataset& data, const Table& table, Index column, const EncodeOptions& options, const std::string& how) {
  const Column& target = table.columns[static_cast<std::size_t>(column)];
  require_target_values(table, column);
  data.encoder.target = target.name;
  data.encoder.target_position = column;
  const std::string which = column_words(table, column) + ", " + how;
  if (!target.is_text()) {
    set_target(data, target.numbers(), options.task, which);
    return;
  }
  if (options.task == Task::regression) {
    const Vector y = numeric_target(table, column);  // an error, unless --text made numbers into text
    set_target(data, std::vector<double>(y.begin(), y.end()), options.task, which);
    return;
  }
  if (options.target.empty() && table.rows() > 2 && is_all_distinct(target)) {
    throw InvalidArgument(
        fmt::format("{}: {} would be the target ({}), but it is text with a different value in every row; choose another with --target",
                    source_name(table), column_words(table, column), how));
  }
  data.encoder.task = Task::classification;
  note_ornaments(data, table, column);
  data.notes.push_back(fmt::format("The target is {}; the task is classification, {}.", which,
                                   options.task == Task::classification ? "as asked" : "for it is text"));
  set_classes(data, encode_labels(std::span<const std::string>(target.text())));
}

double fill_value(const Table& table, Index index, Impute impute) {
  std::vector<double> there;
  for (const double value : table.columns[static_cast<std::size_t>(index)].numbers()) {
    if (std::isfinite(value)) there.push_back(value);
  }
  if (there.empty()) {
    throw FileError(fmt::format("{}: {} has no values at all; leave it out with --drop {}", source_name(table), column_words(table, index),
                                table.names[static_cast<std::size_t>(index)]));
  }
  if (impute == Impute::mean) {
    double mean = 0;  // running, which cannot overflow
    for (std::size_t i = 0; i < there.size(); ++i) mean += (there[i] - mean) / static_cast<double>(i + 1);
    return mean;
  }
  const auto middle = there.begin() + static_cast<std::ptrdiff_t>(there.size() / 2);
  std::nth_element(there.begin(), middle, there.end());
  if (there.size() % 2 == 1) return *middle;
  return *middle / 2 + *std::max_element(there.begin(), middle) / 2;
}

FeatureColumn learn_column(const Table& table, Index index, bool keep_text, const EncodeOptions& options) {
  const Column& column = table.columns[static_cast<std::size_t>(index)];
  FeatureColumn feature;
  feature.name = column.name;
  feature.position = index;
  if (column.is_objects()) feature.object = kind_of(column.objects(), "a column");
  if (keep_text) feature.object = ObjectKind::string;
  if (feature.object) return feature;
  if (!column.is_text()) {
    if (options.impute != Impute::reject) feature.fill = fill_value(table, index, options.impute);
    return feature;
  }
  std::set<std::string> categories(column.text().begin(), column.text().end());
  categories.erase("");  // missing cells
  feature.categories.assign(categories.begin(), categories.end());
  if (feature.categories.empty()) {
    throw FileError(fmt::format("{}: {} has no values at all; leave it out with --drop {}", source_name(table), column_words(table, index),
                                column.name));
  }
  return feature;
}

[[noreturn]] void throw_text_columns(const Table& table, const std::vector<Index>& text_columns) {
  std::vector<std::string> words;
  std::vector<std::string> names;
  for (const Index j : text_columns) {
    words.push_back(column_words(table, j));
    names.push_back(table.names[static_cast<std::size_t>(j)]);
  }
  const auto& text = table.columns[static_cast<std::size_t>(text_columns.front())].text();
  const auto word = std::find_if(text.begin(), text.end(), [](const std::string& cell) { return !cell.empty() && !parse_number(cell); });
  const Index row = word == text.end() ? 0 : word - text.begin();
  const std::string ornaments = ornaments_of(table, text_columns.front());
  const std::string remedy = ornaments.empty() ? "give it to a kernel of strings as it is (--kernel 'spectrum(3)'), " : ornaments + "; or ";
  throw FileError(fmt::format("{}: {} {} text ({}); {}make 0/1 columns of it with --one-hot, or leave it out with --drop {}",
                              place_of(table, row), fmt::join(words, ", "), words.size() == 1 ? "is" : "are",
                              quoted(text[static_cast<std::size_t>(row)]), remedy, fmt::join(names, ",")));
}

bool has_one_value(const std::vector<std::string>& cells) {
  return std::adjacent_find(cells.begin(), cells.end(), std::not_equal_to<>()) == cells.end();
}

bool has_one_value(const std::vector<double>& cells) {  // beside gaps, which are filled with it
  const auto first = std::find_if(cells.begin(), cells.end(), [](double v) { return std::isfinite(v); });
  return std::all_of(first, cells.end(), [&](double v) { return !std::isfinite(v) || v == *first; });
}

bool has_one_value(const Samples&) { return false; }  // of objects nobody asks

void note_constant_columns(Dataset& data, const Table& table, const std::vector<Index>& columns) {
  constexpr std::size_t listed = 10;
  std::vector<std::string> names;
  for (const Index j : columns) {
    const Column& column = table.columns[static_cast<std::size_t>(j)];
    const bool numbers_only = !column.is_text() || column.missing.empty();  // a gap in text is a word of its own: none
    if (table.rows() > 1 && numbers_only && std::visit([](const auto& values) { return has_one_value(values); }, column.values))
      names.push_back(table.names[static_cast<std::size_t>(j)]);
  }
  if (names.empty()) return;
  const std::size_t count = names.size();
  names.resize(std::min(listed, count));
  data.notes.push_back(fmt::format("{} {}{} {} the same value in every row and can teach nothing.", count == 1 ? "Column" : "Columns",
                                   fmt::join(names, ", "), count > listed ? ", ..." : "", count == 1 ? "has" : "have"));
}

void note_constant_target(Dataset& data) {
  if (data.y.size() > 1 && (data.y.array() == data.y[0]).all()) {
    data.notes.push_back(fmt::format("Every row has the target {}: there is nothing to learn but that.",
                                     data.encoder.task == Task::classification ? data.encoder.classes.front() : format_number(data.y[0])));
  }
}

void take_features(Dataset& data, const Table& table, const std::vector<bool>& left_out, const EncodeOptions& options) {
  const std::vector<bool> kept = kept_text(table, options, left_out);
  std::vector<Index> columns;
  std::vector<Index> text_columns;
  bool names_rows = false;
  for (Index j = 0; j < std::ssize(table.columns); ++j) {
    if (left_out[static_cast<std::size_t>(j)]) continue;
    const Column& column = table.columns[static_cast<std::size_t>(j)];
    const bool words = column.is_text() && !kept[static_cast<std::size_t>(j)];
    if (words) note_ornaments(data, table, j);
    if (words && table.rows() > 1 && is_all_distinct(column)) {
      names_rows = true;
      data.notes.push_back(fmt::format("{} is text with a different value in every row: it identifies rows and was left out.",
                                       capitalised(column_words(table, j))));
      continue;
    }
    if (words) text_columns.push_back(j);
    columns.push_back(j);
  }
  if (columns.empty()) {
    const std::string beside = data.encoder.target.empty() ? "" : " beside the target " + quoted(data.encoder.target);
    const char* hint = names_rows ? ", or a kernel of strings (--kernel 'spectrum(3)'), which takes text as it is" : "";
    throw InvalidArgument(fmt::format("{}: no feature is left{}; wanted at least one more column{}", source_name(table), beside, hint));
  }
  if (!text_columns.empty() && !options.one_hot) throw_text_columns(table, text_columns);
  note_constant_columns(data, table, columns);
  for (const Index j : columns) data.encoder.features.push_back(learn_column(table, j, kept[static_cast<std::size_t>(j)], options));
  data.X = encode_samples(table, data.encoder.features, columns, options.impute != Impute::reject);
}

void make_sparse(Dataset& data, const Table& table, const EncodeOptions& options) {
  if (!options.target.empty()) {
    throw InvalidArgument(fmt::format("{}: is LIBSVM, whose target is the label at the start of each line; leave out --target {}",
                                      source_name(table), options.target));
  }
  if (std::any_of(options.keep_text.begin(), options.keep_text.end(), [](const std::string& name) { return name != "*"; }))
    throw InvalidArgument(fmt::format("{}: is LIBSVM, which has numbers alone and no column for a kernel of strings", source_name(table)));
  if (!options.drop.empty())
    throw InvalidArgument(fmt::format("{}: is LIBSVM, whose columns have no names; leave out --drop", source_name(table)));
  data.encoder.sparse = true;
  data.encoder.named = false;
  data.X = *table.sparse;
  if (options.no_target) return;
  data.encoder.target = "label";
  set_target(data, table.sparse_labels, options.task, "the label at the start of each line");
}

// The column of the target, and the words that say how it was chosen.
std::pair<Index, std::string> choose_target(const Table& table, const std::vector<bool>& left_out, const std::string& asked) {
  if (asked.empty()) {
    std::vector<bool> cannot = left_out;
    for (std::size_t j = 0; j < cannot.size(); ++j) cannot[j] = cannot[j] || table.columns[j].is_objects();
    const Index target = default_target(table.names, cannot);
    if (target < 0) {
      const bool objects = std::find(left_out.begin(), left_out.end(), false) != left_out.end();
      throw InvalidArgument(
          fmt::format("{}: {}", source_name(table),
                      objects ? "has no column to be the target; wanted one of numbers or text" : "every column is left out"));
    }
    return {target, is_target_name(table.names[static_cast<std::size_t>(target)]) ? "by its name" : "the last one"};
  }
  const Index target = find_column(table, asked, "to be the target");
  if (left_out[static_cast<std::size_t>(target)]) {
    throw InvalidArgument(fmt::format("column {} is both the target and left out; choose one", quoted(asked)));
  }
  return {target, "as asked"};
}

void make_dense(Dataset& data, const Table& table, const EncodeOptions& options) {
  std::vector<bool> left_out(table.columns.size(), false);
  for (const std::string& name : options.drop) left_out[static_cast<std::size_t>(find_column(table, name, "to leave out"))] = true;
  data.encoder.named = table.has_header;
  data.encoder.table_columns = std::ssize(table.columns);
  data.encoder.fills_missing = options.impute != Impute::reject;
  if (!options.no_target) {
    const auto [target, how] = choose_target(table, left_out, options.target);
    take_target(data, table, target, options, how);
    left_out[static_cast<std::size_t>(target)] = true;
  }
  take_features(data, table, left_out, options);
}

// One label against all others: class 1 against class 0.
void merge_classes(Dataset& data, const Table& table, const std::string& positive) {
  Encoder& encoder = data.encoder;
  const auto number = parse_number(positive);
  const auto found = std::find_if(encoder.classes.begin(), encoder.classes.end(),
                                  [&](const std::string& label) { return label == positive || (number && parse_number(label) == number); });
  if (found == encoder.classes.end()) {
    constexpr std::ptrdiff_t shown = 10;
    const std::vector<std::string> some(encoder.classes.begin(), encoder.classes.begin() + std::min(shown, std::ssize(encoder.classes)));
    throw InvalidArgument(fmt::format("{}: the target {} never is {}, the label asked for as positive; its labels are {}{}",
                                      source_name(table), quoted(encoder.target), quoted(positive), fmt::join(some, ", "),
                                      std::ssize(encoder.classes) > shown ? ", ..." : ""));
  }
  const auto index = static_cast<double>(found - encoder.classes.begin());
  if (encoder.classes.size() > 2) {
    data.notes.push_back(
        fmt::format("The label {} is one class; the {} other labels together are the other.", quoted(*found), encoder.classes.size() - 1));
  }
  encoder.positive = *found;
  data.y = (data.y.array() == index).cast<double>();
  encoder.classes = {"not " + encoder.positive, encoder.positive};
}

}  // namespace

Dataset make_dataset(const Table& table, const EncodeOptions& asked) {
  EncodeOptions options = asked;
  if (!options.positive.empty()) {
    if (options.task == Task::regression) throw InvalidArgument("a positive label is one of classes, but the task asked for is regression");
    options.task = Task::classification;
  }
  if (table.rows() == 0) throw InvalidArgument(fmt::format("{}: has no rows to learn from", source_name(table)));
  Dataset data;
  if (table.sparse) {
    make_sparse(data, table, options);
  } else {
    make_dense(data, table, options);
  }
  if (!options.positive.empty() && !options.no_target) merge_classes(data, table, options.positive);
  note_constant_target(data);
  data.encoder.width = data.X.width();
  data.encoder.scaler = fit_scaler(data.X, options.scaling);
  data.X = data.encoder.scaler.apply(data.X);
  return data;
}

}  // namespace mercer

// The Encoder on new data: which column of the new table is which feature, and the same treatment as in learning.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "data/encode.hpp"
#include "data/number.hpp"
#include "mercer/dataset.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

Index find_exactly(const Table& table, const std::string& name) {
  const auto found = std::find(table.names.begin(), table.names.end(), name);
  return found == table.names.end() ? -1 : found - table.names.begin();
}

std::vector<Index> columns_by_name(const Encoder& encoder, const Table& table) {
  std::unordered_map<std::string_view, Index> places;
  for (std::size_t j = 0; j < table.names.size(); ++j) places.emplace(table.names[j], static_cast<Index>(j));
  std::vector<Index> columns;
  std::vector<std::string> lacking;
  for (const FeatureColumn& feature : encoder.features) {
    const auto place = places.find(feature.name);
    columns.push_back(place == places.end() ? -1 : place->second);
    if (columns.back() < 0) lacking.push_back(feature.name);
  }
  if (!lacking.empty()) {
    constexpr std::size_t listed = 20;
    const std::size_t there = table.names.size();
    throw FileError(
        fmt::format("{}: lacks {} {} that the model was trained on; it has {}{}", source_name(table),
                    lacking.size() == 1 ? "the column" : "the columns", fmt::join(lacking, ", "),
                    fmt::join(table.names.begin(), table.names.begin() + static_cast<std::ptrdiff_t>(std::min(listed, there)), ", "),
                    there > listed ? ", ..." : ""));
  }
  return columns;
}

std::vector<Index> columns_by_position(const Encoder& encoder, const Table& table) {
  const Index there = std::ssize(table.columns);
  const Index wanted = std::ssize(encoder.features);
  const bool known = encoder.table_columns > 0;
  const bool without_target = known && encoder.target_position >= 0 && there == encoder.table_columns - 1;
  std::vector<Index> columns;
  for (Index k = 0; k < wanted; ++k) {
    const Index position = encoder.features[static_cast<std::size_t>(k)].position;
    if (there == wanted || (!known && there == wanted + 1)) {
      columns.push_back(k);
    } else if (known && there == encoder.table_columns && position >= 0) {
      columns.push_back(position);
    } else if (without_target && position >= 0) {
      columns.push_back(position > encoder.target_position ? position - 1 : position);
    } else {
      throw FileError(fmt::format("{}: has {} columns without names, wanted {} (the features){}; give it a header, or those columns",
                                  source_name(table), there, wanted,
                                  known ? fmt::format(", or {} as in the training data", encoder.table_columns) : std::string()));
    }
  }
  return columns;
}

// Where the model looks at one column of objects and the table has one such column, that is it, whatever it is called: sequences of a FASTA
// file, the strings of a file of lines. -1: not so.
Index lone_object(const Encoder& encoder, const Table& table) {
  if (encoder.features.size() != 1 || !encoder.features.front().object) return -1;
  const bool strings = *encoder.features.front().object == ObjectKind::string;
  Index found = -1;
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const Column& column = table.columns[j];
    const bool beside = table.format == FileFormat::fasta && column.name != "sequence";
    const bool fits =
        strings ? column.is_text() : column.is_objects() && kind_of(column.objects(), "a model") == *encoder.features.front().object;
    if (!fits || beside || column.name == encoder.target) continue;
    if (found >= 0) return -1;
    found = static_cast<Index>(j);
  }
  return found;
}

bool goes_by_name(const Encoder& encoder, const Table& table) { return encoder.named && table.has_header; }

std::vector<Index> columns_of(const Encoder& encoder, const Table& table) {
  const bool there = encoder.features.size() == 1 && find_exactly(table, encoder.features.front().name) >= 0;
  const bool other_form = table.format == FileFormat::fasta || table.format == FileFormat::lines || table.format == FileFormat::jsonl ||
                          table.format == FileFormat::graphs || table.format == FileFormat::tu;
  if (const Index lone = there || !other_form ? Index{-1} : lone_object(encoder, table); lone >= 0) return {lone};
  return goes_by_name(encoder, table) ? columns_by_name(encoder, table) : columns_by_position(encoder, table);
}

// Words of a column that are none of the categories: how many, in how many rows, and the first of them with its place.
struct Unseen {
  std::unordered_set<std::string> words{};
  Index rows = 0;
  std::string first{};

  void add(const std::string& word, const Table& table, std::size_t row) {
    if (rows++ == 0) first = fmt::format("{} ({})", quoted(word), place_of(table, static_cast<Index>(row)));
    words.insert(word);
  }
};

Unseen unseen_in(const Column& column, const std::vector<std::string>& categories, const Table& table) {
  const std::unordered_set<std::string_view> known(categories.begin(), categories.end());
  Unseen unseen;
  if (column.is_text()) {
    const auto& cells = column.text();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!cells[i].empty() && !known.contains(cells[i])) unseen.add(cells[i], table, i);
    }
    return unseen;
  }
  const auto& cells = column.numbers();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string word = format_number(cells[i]);
    if (!std::isnan(cells[i]) && !known.contains(word)) unseen.add(word, table, i);
  }
  return unseen;
}

// Sparse rows of the width that the model knows; the same memory.
Samples widen(const Samples& X, Index width) {
  Samples::Storage storage = X.storage();
  std::visit([&](auto& rows) { rows.cols = width; }, storage);
  return Samples::borrow(storage, std::make_shared<Samples>(X));
}

Samples sparse_features(const Encoder& encoder, const Table& table) {
  if (!table.sparse) {
    throw FileError(fmt::format("{}: is not LIBSVM, but the model was trained on LIBSVM rows; convert it (mercer convert IN OUT.svm)",
                                source_name(table)));
  }
  if (table.sparse->width() > encoder.width) {
    throw FileError(fmt::format("{}: has {} features, but the model was trained on {}; leave out the others, or train with --width {}",
                                source_name(table), table.sparse->width(), encoder.width, table.sparse->width()));
  }
  return encoder.scaler.apply(widen(*table.sparse, encoder.width));
}

// Class indices of labels; `label(i)` as written, and as a number where it is one, for 1, 1.0 and +1 are one class.
class ClassLookup {
 public:
  ClassLookup(const std::vector<std::string>& classes, const std::string& positive) : classes_(classes), rest_is_zero_(!positive.empty()) {
    if (rest_is_zero_) {
      words_.emplace(positive, 1.0);
      if (const auto number = parse_number(positive)) numbers_.emplace(*number, 1.0);
      return;
    }
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const auto index = static_cast<double>(k);
      words_.emplace(classes[k], index);
      if (const auto number = parse_number(classes[k])) numbers_.emplace(*number, index);
    }
  }

  double at(double label, const Table& table, Index row) const {
    const auto found = numbers_.find(label);
    if (found != numbers_.end()) return found->second;
    if (!rest_is_zero_) fail(format_number(label), table, row);
    return 0;
  }

  double at(const std::string& label, const Table& table, Index row) const {
    if (const auto found = words_.find(label); found != words_.end()) return found->second;
    const auto number = parse_number(label);
    if (number) return at(*number, table, row);
    if (!rest_is_zero_) fail(label, table, row);
    return 0;
  }

 private:
  [[noreturn]] void fail(const std::string& label, const Table& table, Index row) const {
    throw FileError(fmt::format("{}: the label {} is not one of the classes the model was trained on ({}); correct it or remove the row",
                                place_of(table, row), quoted(label), fmt::join(classes_, ", ")));
  }

  const std::vector<std::string>& classes_;
  bool rest_is_zero_;  // one class against all other labels
  std::unordered_map<std::string, double> words_;
  std::unordered_map<double, double> numbers_;
};

}  // namespace

std::vector<std::string> Encoder::column_names() const {
  std::vector<std::string> names;
  for (const FeatureColumn& feature : features)
    names.insert(names.end(), std::max<std::size_t>(1, feature.categories.size()), feature.name);
  return names;
}

std::vector<std::string> Encoder::feature_names() const {
  std::vector<std::string> names;
  if (sparse) {
    for (Index j = 1; j <= width; ++j) names.push_back(fmt::format("x{}", j));
    return names;
  }
  for (const FeatureColumn& feature : features) {
    if (feature.categories.empty()) names.push_back(feature.name);
    for (const std::string& category : feature.categories) names.push_back(feature.name + "=" + category);
  }
  return names;
}

Samples Encoder::features_of(const Table& table) const {
  if (sparse) return sparse_features(*this, table);
  if (table.sparse) {
    throw FileError(fmt::format("{}: is LIBSVM, but the model was trained on a table with columns; convert it (mercer convert IN OUT.csv)",
                                source_name(table)));
  }
  return scaler.apply(encode_samples(table, features, columns_of(*this, table), fills_missing));
}

std::vector<std::string> Encoder::unseen_categories(const Table& table) const {
  std::vector<std::string> sentences;
  if (sparse || table.sparse) return sentences;
  const std::vector<Index> columns = columns_of(*this, table);
  for (std::size_t k = 0; k < features.size(); ++k) {
    const FeatureColumn& feature = features[k];
    if (feature.categories.empty()) continue;
    require_kind(table, feature, columns[k]);
    const Column& column = table.columns[static_cast<std::size_t>(columns[k])];
    const Unseen unseen = unseen_in(column, feature.categories, table);
    if (unseen.rows == 0) continue;
    const std::string what = unseen.words.size() == 1 ? "a word that the model never saw, "
                                                      : fmt::format("{} words that the model never saw, the first ", unseen.words.size());
    const std::string remedy =
        column.is_text() ? "" : fmt::format("; it was read as numbers here, --text {} keeps it as written", feature.name);
    sentences.push_back(fmt::format("column {} has {}{}, in {} row{}; such a row counts as none of the {} known words{}", feature.name,
                                    what, unseen.first, unseen.rows, unseen.rows == 1 ? "" : "s", feature.categories.size(), remedy));
  }
  return sentences;
}

std::optional<Vector> Encoder::target_of(const Table& table) const {
  const ClassLookup lookup(classes, positive);
  if (table.sparse) {
    Vector y = Eigen::Map<const Vector>(table.sparse_labels.data(), std::ssize(table.sparse_labels));
    if (task == Task::classification) {
      for (Index i = 0; i < y.size(); ++i) y[i] = lookup.at(y[i], table, i);
    }
    return y;
  }
  Index column = -1;
  if (goes_by_name(*this, table)) {
    column = find_exactly(table, target);
  } else if (table_columns > 0 && std::ssize(table.columns) == table_columns) {
    column = target_position;
  }
  if (column < 0) return std::nullopt;
  if (task != Task::classification) return numeric_target(table, column);
  require_target_values(table, column);
  Vector y(table.rows());
  std::visit(
      [&]<class Labels>(const Labels& labels) {
        if constexpr (!std::is_same_v<Labels, Samples>) {  // which were refused above
          for (std::size_t i = 0; i < labels.size(); ++i) y[static_cast<Index>(i)] = lookup.at(labels[i], table, static_cast<Index>(i));
        }
      },
      table.columns[static_cast<std::size_t>(column)].values);
  return y;
}

}  // namespace mercer

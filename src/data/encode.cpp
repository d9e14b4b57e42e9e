// SPDX-License-Identifier: BSD-3-Clause
#include "data/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "core/buffer.hpp"
#include "data/number.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

const Column& column_at(const Table& table, Index column) { return table.columns[static_cast<std::size_t>(column)]; }

// The first row of a column without a usable number, or without text.
std::optional<Index> first_missing(const Column& column) {
  if (column.is_text()) return column.missing.empty() ? std::nullopt : std::optional(column.missing.front());
  const auto& values = column.numbers();
  const auto bad = std::find_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
  return bad == values.end() ? std::nullopt : std::optional<Index>(bad - values.begin());
}

[[noreturn]] void throw_text_for_number(const Table& table, Index column) {
  const auto& text = column_at(table, column).text();
  const auto word =
      std::find_if(text.begin(), text.end(), [](const std::string& cell) { return !is_missing_word(cell) && !parse_number(cell); });
  const Index row = word == text.end() ? 0 : word - text.begin();
  throw FileError(fmt::format("{}: {} holds {}, wanted a number as in the data the model was trained on; correct it", place_of(table, row),
                              column_words(table, column), quoted(text[static_cast<std::size_t>(row)])));
}

// A table's column behind one feature, ready to be copied row by row.
struct Source {
  const double* numbers = nullptr;  // a number
  std::vector<double> parsed;       // numbers that the table holds as text
  std::vector<Index> categories;    // text: the category of each row, -1 for none
  Index offset = 0;                 // first feature column
  double fill = 0;
};

Source prepare(const Table& table, const FeatureColumn& feature, Index index) {
  const Column& column = column_at(table, index);
  Source source;
  source.fill = feature.fill;
  if (feature.categories.empty()) {
    if (!column.is_text()) {
      source.numbers = column.numbers().data();
      return source;
    }
    for (const std::string& cell : column.text()) {
      const std::optional<double> number = parse_number(cell);
      if (!number && !is_missing_word(cell)) throw_text_for_number(table, index);
      source.parsed.push_back(number.value_or(std::nan("")));
    }
    source.numbers = source.parsed.data();
    return source;
  }
  std::unordered_map<std::string, Index> codes;
  for (std::size_t k = 0; k < feature.categories.size(); ++k) codes.emplace(feature.categories[k], static_cast<Index>(k));
  const auto code = [&](const std::string& cell) {
    const auto found = codes.find(cell);
    return found == codes.end() ? Index{-1} : found->second;
  };
  if (column.is_text()) {
    for (const std::string& cell : column.text()) source.categories.push_back(code(cell));
  } else {
    for (const double value : column.numbers()) source.categories.push_back(code(format_number(value)));
  }
  return source;
}

}  // namespace

std::string source_name(const Table& table) {
  return table.source.empty() ? "the table" : table.source == "-" ? "standard input" : table.source;
}

std::string place_of(const Table& table, Index row) {
  if (table.format == FileFormat::npy)
    return fmt::format("{}: row {}", source_name(table), table.lines.empty() ? row + 1 : table.line_of(row));
  if (table.format == FileFormat::tu) return fmt::format("{}: graph {}", source_name(table), table.line_of(row));
  return fmt::format("{}:{}", source_name(table), table.line_of(row));
}

std::string column_words(const Table& table, Index column) {
  return fmt::format("column {} ({})", column + 1, table.names[static_cast<std::size_t>(column)]);
}

void require_complete(const Table& table, std::span<const Index> columns) {
  Index row = table.rows();
  Index column = -1;
  for (const Index j : columns) {
    const std::optional<Index> missing = first_missing(column_at(table, j));
    if (missing && *missing < row) {
      row = *missing;
      column = j;
    }
  }
  if (column < 0) return;
  throw FileError(fmt::format("{}: {} has no value; use --impute mean or median when fitting, or remove the row", place_of(table, row),
                              column_words(table, column)));
}

Matrix encode_features(const Table& table, std::span<const FeatureColumn> features, std::span<const Index> columns) {
  std::vector<Source> sources;
  Index width = 0;
  for (std::size_t k = 0; k < features.size(); ++k) {
    sources.push_back(prepare(table, features[k], columns[k]));
    sources.back().offset = width;
    width += std::max<Index>(1, std::ssize(features[k].categories));
  }
  const Index rows = table.rows();
  require_memory(static_cast<std::size_t>(rows) * static_cast<std::size_t>(width) * sizeof(double), 0,
                 fmt::format("the {} x {} feature matrix of {}", rows, width, source_name(table)),
                 "leave out text columns with many categories (--drop), or use fewer rows");
  Matrix X(rows, width);
  advise_huge_pages(X.data(), static_cast<std::size_t>(X.size()) * sizeof(double));
  constexpr Index block = 1024;
  parallel_for((rows + block - 1) / block, [&](Index b) {
    const Index end = std::min(rows, (b + 1) * block);
    for (std::size_t k = 0; k < sources.size(); ++k) {
      const Source& source = sources[k];
      const Index categories = std::ssize(features[k].categories);
      for (Index i = b * block; i < end; ++i) {
        double* out = X.data() + i * width + source.offset;
        if (source.numbers != nullptr) {
          const double value = source.numbers[i];
          *out = std::isfinite(value) ? value : source.fill;
        } else {
          std::fill_n(out, categories, 0.0);
          if (const Index code = source.categories[static_cast<std::size_t>(i)]; code >= 0) out[code] = 1;
        }
      }
    }
  });
  return X;
}

void require_target_values(const Table& table, Index column) {
  if (column_at(table, column).is_objects()) {
    throw InvalidArgument(fmt::format("{}: the target, {}, holds {}, which cannot be predicted; wanted numbers or text", source_name(table),
                                      column_words(table, column), kind_words(column_at(table, column))));
  }
  const std::optional<Index> missing = first_missing(column_at(table, column));
  if (!missing) return;
  throw FileError(fmt::format("{}: the target, {}, has no value; fill it in or remove the row", place_of(table, *missing),
                              column_words(table, column)));
}

Vector numeric_target(const Table& table, Index column) {
  require_target_values(table, column);
  const Column& target = column_at(table, column);
  if (target.is_text()) {
    const auto& text = target.text();
    const auto word = std::find_if(text.begin(), text.end(), [](const std::string& cell) { return !parse_number(cell); });
    if (word != text.end()) {
      throw FileError(
          fmt::format("{}: the target, {}, holds {}, but regression wants a number; correct it, or choose another task or target",
                      place_of(table, word - text.begin()), column_words(table, column), quoted(*word)));
    }
    Vector y(std::ssize(text));
    for (std::size_t i = 0; i < text.size(); ++i) y[static_cast<Index>(i)] = *parse_number(text[i]);
    return y;
  }
  return Eigen::Map<const Vector>(target.numbers().data(), std::ssize(target.numbers()));
}

}  // namespace mercer

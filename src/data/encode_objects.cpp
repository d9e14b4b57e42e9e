// Columns that stay what they are: text for a kernel of strings, sets and graphs; and records of them beside numbers.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "data/encode.hpp"
#include "data/number.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

const Column& column_at(const Table& table, Index column) { return table.columns[static_cast<std::size_t>(column)]; }

Index column_to_keep(const Table& table, const std::string& name, const std::vector<bool>& left_out) {
  const Index j = table.find(name);
  if (j < 0) {
    throw InvalidArgument(fmt::format("{}: has no column {} for a kernel of strings; it has {}", source_name(table), quoted(name),
                                      fmt::join(table.names, ", ")));
  }
  if (left_out[static_cast<std::size_t>(j)])
    throw InvalidArgument(fmt::format("{}: {} is for a kernel of strings, but it is the target or left out; choose another column",
                                      source_name(table), column_words(table, j)));
  const Column& column = column_at(table, j);
  if (!column.is_text() && !column.is_objects())
    throw InvalidArgument(fmt::format("{}: {} is for a kernel of strings, but holds numbers; read it as text (--text {})",
                                      source_name(table), column_words(table, j), column.name));
  return j;
}

Samples strings_in(const Table& table, Index index) {
  const auto& cells = column_at(table, index).text();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (find_invalid_utf8(cells[i]) != std::string::npos)
      throw FileError(fmt::format("{}: {} holds {}, which is not UTF-8; convert the file (iconv -f LATIN1 -t UTF-8)",
                                  place_of(table, static_cast<Index>(i)), column_words(table, index), quoted(cells[i])));
  }
  return Samples::strings(cells);
}

}  // namespace

std::string_view kind_words(const Column& column) {
  if (column.is_objects()) return name_of(kind_of(column.objects(), "a column"));
  return column.is_text() ? "text" : "numbers";
}

std::vector<bool> kept_text(const Table& table, const EncodeOptions& options, const std::vector<bool>& left_out) {
  std::vector<bool> kept(table.columns.size(), false);
  for (const std::string& name : options.keep_text) {
    if (name == "*" && table.find(name) < 0) {
      for (std::size_t j = 0; j < kept.size(); ++j) kept[j] = kept[j] || (table.columns[j].is_text() && !left_out[j]);
    } else {
      const Index j = column_to_keep(table, name, left_out);
      kept[static_cast<std::size_t>(j)] = column_at(table, j).is_text();
    }
  }
  return kept;
}

void require_kind(const Table& table, const FeatureColumn& feature, Index index) {
  const Column& column = column_at(table, index);
  if (!feature.object && !column.is_objects()) return;  // numbers and words are told apart where they are read
  const bool text = feature.object == ObjectKind::string;
  const bool fits = text ? column.is_text() : column.is_objects() && kind_of(column.objects(), "a column") == feature.object;
  if (fits) return;
  const std::string_view wanted = text                         ? "text"
                                  : feature.object             ? name_of(*feature.object)
                                  : feature.categories.empty() ? "numbers"
                                                               : "words";
  const std::string remedy = text && !column.is_objects() ? fmt::format("read it as text (--text {})", column.name) : "give the right file";
  throw FileError(fmt::format("{}: {} holds {}, wanted {} as in the data the model was trained on; {}", source_name(table),
                              column_words(table, index), kind_words(column), wanted, remedy));
}

Samples encode_samples(const Table& table, std::span<const FeatureColumn> features, std::span<const Index> columns, bool fill_missing) {
  std::vector<Index> of_numbers;
  for (std::size_t k = 0; k < features.size(); ++k) {
    require_kind(table, features[k], columns[k]);
    if (!features[k].object) of_numbers.push_back(columns[k]);
  }
  if (!fill_missing) require_complete(table, of_numbers);
  std::vector<Samples> parts;
  for (std::size_t k = 0; k < features.size();) {
    if (features[k].object) {
      parts.push_back(*features[k].object == ObjectKind::string ? strings_in(table, columns[k]) : column_at(table, columns[k]).objects());
      ++k;
      continue;
    }
    std::size_t end = k;
    while (end < features.size() && !features[end].object) ++end;
    parts.push_back(Samples::own(encode_features(table, features.subspan(k, end - k), columns.subspan(k, end - k))));
    k = end;
  }
  return parts.size() == 1 ? parts.front() : Samples::records(parts);
}

}  // namespace mercer

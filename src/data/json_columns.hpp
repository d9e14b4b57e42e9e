// Columns that grow by JSON objects, and join with those of the objects that follow.
//
// A key is a column. What its first value is (a number, text, a list of texts, of numbers or of points, a graph) all others must be.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mercer/objects.hpp"
#include "mercer/table.hpp"

namespace mercer {

class JsonColumns {
 public:
  using Json = nlohmann::ordered_json;  // keys in the order of the file

  explicit JsonColumns(std::string source) : source_(std::move(source)) {}

  // One more row, which begins at that line.
  void add(const Json& record, std::int64_t line);
  void append(JsonColumns&& next);
  // Names, columns and lines; memory as ReadOptions::run has it.
  Table finish(std::size_t memory) &&;

 private:
  enum class Kind : std::uint8_t { nothing, number, text, empty_list, bag, points, graph };
  struct KeyColumn {
    std::string key{};
    Kind kind = Kind::nothing;
    std::vector<Index> rows{};  // those with a value; the values themselves are in one of these:
    std::vector<double> numbers{};
    Strings texts{};
    std::vector<Index> sizes{};         // of lists
    Strings tokens{};                   // of lists of texts
    std::vector<double> coordinates{};  // of lists of points
    Index width = 0;                    // of points
    Graphs graphs{};
  };

  static const char* words_of(Kind kind);
  KeyColumn& column_of(const std::string& key);
  void require_kind(KeyColumn& column, Kind kind, Index row) const;
  void require_width(KeyColumn& column, Index width, Index row) const;
  void add_value(KeyColumn& column, const Json& value);
  void add_list(KeyColumn& column, const Json& list);
  void add_point(KeyColumn& column, const Json& point);
  Graph graph_of(const std::string& key, const Json& about) const;
  Graph graph_parts(const std::string& key, const Json& about) const;
  [[noreturn]] void fail(Index row, const std::string& key, const std::string& words) const;
  std::int64_t line_of(Index row) const { return lines_[static_cast<std::size_t>(row)]; }
  std::vector<Index> missing_rows(const KeyColumn& column) const;
  void finish_column(KeyColumn& column, Table& table) const;

  std::string source_;
  std::vector<KeyColumn> columns_{};
  std::unordered_map<std::string, std::size_t> places_{};
  std::vector<std::int64_t> lines_{};  // of the rows
};

}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "data/json_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "data/formats.hpp"
#include "data/graph_parts.hpp"
#include "data/number.hpp"
#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

using Json = JsonColumns::Json;

template <class T>
void move_behind(std::vector<T>& to, std::vector<T>&& from) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }
}

std::string excerpt(const Json& value) { return mercer::quoted(value.dump(-1, ' ', false, Json::error_handler_t::replace)); }

// A whole number from 0 on; nothing for any other value.
std::optional<Index> count_in(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto count = value.get<std::uint64_t>();
    if (count <= static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) return static_cast<Index>(count);
  }
  return std::nullopt;
}

}  // namespace

const char* JsonColumns::words_of(Kind kind) {
  switch (kind) {
    case Kind::number:
      return "a number";
    case Kind::text:
      return "text";
    case Kind::bag:
      return "a list of texts";
    case Kind::points:
      return "a list of numbers or points";
    case Kind::graph:
      return "a graph";
    default:
      return "an empty list";
  }
}

void JsonColumns::fail(Index row, const std::string& key, const std::string& words) const {
  throw FileError(fmt::format("{}:{}: key {} {}", source_, line_of(row), mercer::quoted(key), words));
}

JsonColumns::KeyColumn& JsonColumns::column_of(const std::string& key) {
  const auto [place, fresh] = places_.try_emplace(key, columns_.size());
  if (fresh) columns_.emplace_back().key = key;
  return columns_[place->second];
}

void JsonColumns::require_kind(KeyColumn& column, Kind kind, Index row) const {
  const auto is_list = [](Kind k) { return k == Kind::bag || k == Kind::points; };
  if (column.kind == Kind::nothing || (column.kind == Kind::empty_list && is_list(kind))) column.kind = kind;
  if (kind == column.kind || (kind == Kind::empty_list && is_list(column.kind))) return;
  fail(row, column.key,
       fmt::format("holds {}, but {} in line {}; make it the same in all, or leave the key out", words_of(kind), words_of(column.kind),
                   line_of(column.rows.front())));
}

void JsonColumns::require_width(KeyColumn& column, Index width, Index row) const {
  if (column.width == 0) column.width = width;
  if (width != column.width)
    fail(row, column.key, fmt::format("holds a point of {} numbers, but one of {} comes before; give all the same", width, column.width));
}

void JsonColumns::add(const Json& record, std::int64_t line) {
  lines_.push_back(line);
  if (!record.is_object())
    throw FileError(fmt::format("{}:{}: has {}, wanted a JSON object like {{\"x\": 1, \"label\": \"a\"}}", source_, line, excerpt(record)));
  for (const auto& [key, value] : record.items()) add_value(column_of(key), value);
}

void JsonColumns::add_value(KeyColumn& column, const Json& value) {
  const Index row = std::ssize(lines_) - 1;
  if (value.is_null()) return;
  if (value.is_number() || value.is_boolean()) {
    require_kind(column, Kind::number, row);
    column.numbers.push_back(value.is_boolean() ? static_cast<double>(value.get<bool>()) : value.get<double>());
  } else if (value.is_string()) {
    require_kind(column, Kind::text, row);
    column.texts.push_back(value.get<std::string>());
  } else if (value.is_array()) {
    add_list(column, value);
  } else {
    Graph graph = graph_of(column.key, value);
    require_kind(column, Kind::graph, row);
    column.graphs.push_back(std::move(graph));
  }
  column.rows.push_back(row);
}

void JsonColumns::add_list(KeyColumn& column, const Json& list) {
  const Index row = std::ssize(lines_) - 1;
  column.sizes.push_back(static_cast<Index>(list.size()));
  if (list.empty()) return require_kind(column, Kind::empty_list, row);
  const Json& first = list.front();
  if (first.is_string()) {
    require_kind(column, Kind::bag, row);
  } else if (first.is_number() || first.is_array()) {
    require_kind(column, Kind::points, row);
  }
  for (const Json& value : list) {
    if (value.is_string() && first.is_string()) {
      column.tokens.push_back(value.get<std::string>());
    } else if (value.is_number() && first.is_number()) {
      require_width(column, 1, row);
      column.coordinates.push_back(value.get<double>());
    } else if (value.is_array() && first.is_array()) {
      add_point(column, value);
    } else {
      fail(row, column.key, fmt::format("holds a list with {}, wanted texts alone, numbers alone, or points like [1, 2]", excerpt(value)));
    }
  }
}

void JsonColumns::add_point(KeyColumn& column, const Json& point) {
  const Index row = std::ssize(lines_) - 1;
  if (point.empty()) fail(row, column.key, "holds a point without numbers, []; wanted at least one");
  require_width(column, static_cast<Index>(point.size()), row);
  for (const Json& value : point) {
    if (!value.is_number()) fail(row, column.key, fmt::format("holds a point with {}, wanted numbers alone", excerpt(value)));
    column.coordinates.push_back(value.get<double>());
  }
}

Graph JsonColumns::graph_of(const std::string& key, const Json& about) const {
  const Index row = std::ssize(lines_) - 1;
  for (const auto& [part, value] : about.items()) {
    if (part != "n" && part != "nodes" && part != "edges" && part != "labels" && part != "edge_labels")
      fail(row, key,
           fmt::format(
               "holds an object with {}, wanted a graph like {{\"n\": 3, \"edges\": [[0, 1]], \"labels\": [\"a\", \"b\", \"a\"]}} (and "
               "edge_labels); leave the key out if it is something else",
               mercer::quoted(part)));
  }
  Graph graph = graph_parts(key, about);
  if (const auto edge = tidy_edges(graph))
    fail(row, key, fmt::format("holds a graph whose edge {}-{} has two different labels; give both the same", edge->first, edge->second));
  return graph;
}

Graph JsonColumns::graph_parts(const std::string& key, const Json& about) const {
  const Index row = std::ssize(lines_) - 1;
  const auto list = [&](const char* part, auto&& take) {
    if (!about.contains(part)) return;
    if (!about.at(part).is_array())
      fail(row, key, fmt::format("holds a graph whose {} are {}, wanted a list", part, excerpt(about.at(part))));
    for (const Json& value : about.at(part)) take(value);
  };
  const auto label = [&](const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_number()) fail(row, key, fmt::format("holds a graph with the label {}, wanted text or a number", excerpt(value)));
    return value.is_number_integer() ? value.dump() : format_number(value.get<double>());  // whole numbers keep every digit
  };
  Graph graph;
  list("labels", [&](const Json& value) { graph.labels.push_back(label(value)); });
  list("edge_labels", [&](const Json& value) { graph.edge_labels.push_back(label(value)); });
  graph.nodes = std::ssize(graph.labels);
  const char* count = about.contains("n") ? "n" : "nodes";
  if (about.contains(count)) {
    const std::optional<Index> nodes = count_in(about.at(count));
    if (!nodes) fail(row, key, fmt::format("holds a graph of {} nodes, wanted a whole number", excerpt(about.at(count))));
    graph.nodes = *nodes;
  } else if (graph.labels.empty()) {
    fail(row, key, "holds a graph without n, the number of its nodes");
  }
  if (!about.contains("edges")) fail(row, key, "holds a graph without edges; wanted a list of pairs, [] if there are none");
  list("edges", [&](const Json& value) {
    const auto end = [&](std::size_t k) { return value.is_array() && value.size() == 2 ? count_in(value.at(k)) : std::nullopt; };
    const std::optional<Index> u = end(0);
    const std::optional<Index> v = end(1);
    if (!u || !v || *u >= graph.nodes || *v >= graph.nodes)
      fail(row, key,
           fmt::format("holds a graph with the edge {}, wanted two of its {} nodes, counted from 0", excerpt(value), graph.nodes));
    graph.edges.emplace_back(*u, *v);
  });
  const auto fits = [&](std::size_t labels, Index wanted, const char* what) {
    if (labels != 0 && static_cast<Index>(labels) != wanted)
      fail(row, key, fmt::format("holds a graph with {} labels for {} {}; give one each, or none", labels, wanted, what));
  };
  fits(graph.labels.size(), graph.nodes, "nodes");
  fits(graph.edge_labels.size(), std::ssize(graph.edges), "edges");
  return graph;
}

void JsonColumns::append(JsonColumns&& next) {
  const Index shift = std::ssize(lines_);
  move_behind(lines_, std::move(next.lines_));
  for (KeyColumn& more : next.columns_) {
    KeyColumn& column = column_of(more.key);
    if (more.rows.empty()) continue;
    const Index row = more.rows.front() + shift;
    require_kind(column, more.kind, row);
    if (more.width > 0) require_width(column, more.width, row);
    for (const Index r : more.rows) column.rows.push_back(r + shift);
    move_behind(column.numbers, std::move(more.numbers));
    move_behind(column.texts, std::move(more.texts));
    move_behind(column.sizes, std::move(more.sizes));
    move_behind(column.tokens, std::move(more.tokens));
    move_behind(column.coordinates, std::move(more.coordinates));
    move_behind(column.graphs, std::move(more.graphs));
  }
}

std::vector<Index> JsonColumns::missing_rows(const KeyColumn& column) const {
  std::vector<Index> missing;
  std::size_t at = 0;
  for (Index row = 0; row < std::ssize(lines_) && column.rows.size() < lines_.size(); ++row) {
    if (at < column.rows.size() && column.rows[at] == row) {
      ++at;
    } else {
      missing.push_back(row);
    }
  }
  return missing;
}

void JsonColumns::finish_column(KeyColumn& column, Table& table) const {
  const std::size_t rows = lines_.size();
  const std::vector<Index> missing = missing_rows(column);
  if (column.kind > Kind::text && !missing.empty())
    fail(missing.front(), column.key,
         fmt::format("is missing, but holds {} in line {}; give one, or remove the row", words_of(column.kind),
                     line_of(column.rows.front())));
  const auto place = [&](std::size_t k) { return static_cast<std::size_t>(column.rows[k]); };
  if (column.kind == Kind::nothing || column.kind == Kind::number) {
    std::vector<double> values(rows, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t k = 0; k < column.rows.size(); ++k) values[place(k)] = column.numbers[k];
    add_column(table, column.key, std::move(values));
  } else if (column.kind == Kind::text) {
    std::vector<std::string> values(rows);
    for (std::size_t k = 0; k < column.rows.size(); ++k) values[place(k)] = std::move(column.texts[k]);
    add_column(table, column.key, std::move(values));
  } else if (column.kind == Kind::graph) {
    add_column(table, column.key, Samples::graphs(std::move(column.graphs)));
  } else {
    std::vector<Index> offsets{0};
    for (const Index size : column.sizes) offsets.push_back(offsets.back() + size);
    const bool points = column.kind == Kind::points;
    Samples elements = points ? Samples(Matrix(Eigen::Map<const Matrix>(column.coordinates.data(), offsets.back(), column.width)))
                              : Samples::strings(std::move(column.tokens));
    add_column(table, column.key, Samples::sets(std::move(elements), std::move(offsets)));
  }
  table.columns.back().missing = missing;
}

Table JsonColumns::finish(std::size_t memory) && {
  const std::size_t rows = lines_.size();
  require_memory(rows * columns_.size() * sizeof(double), memory, fmt::format("{}: its {} x {} table", source_, rows, columns_.size()),
                 "read a part of it, or allow more (--memory)");
  Table table;
  table.source = source_;
  table.has_header = true;
  table.format = FileFormat::jsonl;
  for (KeyColumn& column : columns_) finish_column(column, table);
  table.lines = std::move(lines_);
  return table;
}

}  // namespace mercer

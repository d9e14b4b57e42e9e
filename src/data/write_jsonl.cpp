// Rows of a table as JSON objects, as read_jsonl takes them.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "data/formats.hpp"
#include "data/number.hpp"
#include "mercer/error.hpp"
#include "mercer/objects.hpp"

namespace mercer {

namespace {

std::string json_text(std::string_view text) { return nlohmann::json(text).dump(); }

void append_text(std::string_view text, const Column& column, Index row, std::string& out) {
  if (find_invalid_utf8(text) != std::string_view::npos)
    throw InvalidArgument(fmt::format("column {} holds {} in row {}, which is not UTF-8 and cannot be JSON; convert the text first",
                                      mercer::quoted(column.name), mercer::quoted(text), row + 1));
  out += json_text(text);
}

void append_number(double value, std::string& out) {
  if (value == 0 && std::signbit(value)) {
    out += "-0.0";  // -0 would be read as a whole number, which has no sign
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

// [item, item, ...]
template <class Append>
void append_list(Index count, std::string& out, const Append& append) {
  out += '[';
  for (Index k = 0; k < count; ++k) {
    if (k > 0) out += ',';
    append(k);
  }
  out += ']';
}

void append_graph(const Graph& graph, const Column& column, Index row, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{{\"n\":{},\"edges\":", graph.nodes);
  append_list(std::ssize(graph.edges), out, [&](Index e) {
    const auto& [u, v] = graph.edges[static_cast<std::size_t>(e)];
    fmt::format_to(std::back_inserter(out), "[{},{}]", u, v);
  });
  const auto labels = [&](const char* key, const std::vector<std::string>& words) {
    if (words.empty()) return;
    fmt::format_to(std::back_inserter(out), ",\"{}\":", key);
    append_list(std::ssize(words), out, [&](Index k) { append_text(words[static_cast<std::size_t>(k)], column, row, out); });
  };
  labels("labels", graph.labels);
  labels("edge_labels", graph.edge_labels);
  out += '}';
}

}  // namespace

JsonRows::JsonRows(const Table& table) : table_(table), set_elements_(table.columns.size()) {
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const Column& column = table.columns[j];
    append_text(table.names[j], column, 0, keys_.emplace_back());
    keys_.back() += ':';
    if (!column.is_objects()) continue;
    if (!column.objects().has_objects() || column.objects().width() != 1)
      throw InvalidArgument(fmt::format("column {} must hold one object a row", mercer::quoted(column.name)));
    const ObjectColumn& objects = *column.objects().object_rows().columns[0];
    if (objects.kind() != ObjectKind::set) continue;
    const Samples& elements = objects.sets().elements;
    if (!elements.has_objects()) {
      set_elements_[j] = elements.to_dense();
    } else if (elements.width() != 1 || elements.object_rows().columns[0]->kind() != ObjectKind::string) {
      throw InvalidArgument(fmt::format("column {} holds sets of further objects, and JSON lines know sets of texts and of numbers alone",
                                        mercer::quoted(column.name)));
    }
  }
}

void JsonRows::append_object(std::size_t j, Index row, std::string& out) const {
  const Column& column = table_.columns[j];
  const ObjectRows& rows = column.objects().object_rows();
  const ObjectColumn& all = *rows.columns[0];
  const auto id = static_cast<std::size_t>(rows.ids[static_cast<std::size_t>(row)]);
  if (all.kind() == ObjectKind::graph) return append_graph(all.graphs()[id], column, row, out);
  if (all.kind() == ObjectKind::string) return append_text(all.strings()[id], column, row, out);
  const Sets& sets = all.sets();
  const Index first = sets.offsets[id];
  const Index count = sets.offsets[id + 1] - first;
  if (sets.elements.has_objects()) {
    const ObjectRows& tokens = sets.elements.object_rows();
    append_list(count, out, [&](Index k) {
      const Index token = tokens.ids[static_cast<std::size_t>(first + k)];
      append_text(tokens.columns[0]->strings()[static_cast<std::size_t>(token)], column, row, out);
    });
    return;
  }
  const Matrix& points = set_elements_[j];
  append_list(count, out, [&](Index k) {
    if (points.cols() == 1) return append_number(points(first + k, 0), out);
    append_list(points.cols(), out, [&](Index c) { append_number(points(first + k, c), out); });
  });
}

void JsonRows::append(Index row, std::string& out) const {
  const auto i = static_cast<std::size_t>(row);
  out += '{';
  for (std::size_t j = 0; j < table_.columns.size(); ++j) {
    const Column& column = table_.columns[j];
    if (j > 0) out += ',';
    out += keys_[j];
    if (column.is_objects()) {
      append_object(j, row, out);
    } else if (std::binary_search(column.missing.begin(), column.missing.end(), row)) {
      out += "null";
    } else if (column.is_text()) {
      append_text(column.text()[i], column, row, out);
    } else if (std::isnan(column.numbers()[i])) {
      out += "null";
    } else if (std::isfinite(column.numbers()[i])) {
      append_number(column.numbers()[i], out);
    } else {
      throw InvalidArgument(
          fmt::format("column {} has an infinite number in row {}, which JSON cannot say", mercer::quoted(column.name), row + 1));
    }
  }
  out += '}';
}

}  // namespace mercer

// Strings, sets and graphs in a model file: bytes and numbers as tensors, the objects of the samples alone. What is read is checked before
// it is used: offsets that ascend and end where the bytes do, UTF-8, edges between nodes that are there. SPDX-License-Identifier:
// BSD-3-Clause
#include "mercer/objects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mercer/error.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

constexpr int deepest_sets = 8;  // sets of sets of sets: no file of ours has more, and a hostile one must not make recursion deep

using Offsets = std::vector<std::int64_t>;

void write_numbers(Offsets values, ContainerWriter& out, const std::string& name) {
  auto kept = std::make_shared<const Offsets>(std::move(values));
  out.tensor(name, {std::ssize(*kept)}, kept->data(), kept);
}

std::span<const std::int64_t> read_offsets(const ContainerReader& in, const std::string& name, std::int64_t end) {
  const auto offsets = in.tensor<std::int64_t>(name);
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != end || !std::is_sorted(offsets.begin(), offsets.end()))
    in.fail(fmt::format("the offsets {} do not ascend from 0 to {}", name, end));
  return offsets;
}

// All graphs one after the other: nodes and edges counted, edges as pairs, labels as texts.
void write_graphs(const std::vector<const Graph*>& graphs, ContainerWriter& out, const std::string& name) {
  Offsets nodes;
  Offsets edges{0};
  Offsets ends;
  Offsets labelled;
  std::vector<std::string> labels;
  std::vector<std::string> edge_labels;
  for (const Graph* g : graphs) {
    nodes.push_back(g->nodes);
    for (const auto& [u, v] : g->edges) ends.insert(ends.end(), {u, v});
    edges.push_back(edges.back() + std::ssize(g->edges));
    labelled.push_back((g->labels.empty() ? 0 : 1) + (g->edge_labels.empty() ? 0 : 2));
    labels.insert(labels.end(), g->labels.begin(), g->labels.end());
    edge_labels.insert(edge_labels.end(), g->edge_labels.begin(), g->edge_labels.end());
  }
  write_numbers(std::move(nodes), out, name + ".nodes");
  write_numbers(std::move(edges), out, name + ".edges");
  write_numbers(std::move(ends), out, name + ".ends");
  write_numbers(std::move(labelled), out, name + ".labelled");
  write_strings(labels, out, name + ".labels");
  write_strings(edge_labels, out, name + ".edge_labels");
}

Graphs read_graphs(const ContainerReader& in, const std::string& name) {
  const auto nodes = in.tensor<std::int64_t>(name + ".nodes");
  const auto ends = in.tensor<std::int64_t>(name + ".ends");
  const auto edges = read_offsets(in, name + ".edges", static_cast<std::int64_t>(ends.size() / 2));
  const auto labelled = in.tensor<std::int64_t>(name + ".labelled");
  const std::vector<std::string> labels = read_strings(in, name + ".labels");
  const std::vector<std::string> edge_labels = read_strings(in, name + ".edge_labels");
  if (edges.size() != nodes.size() + 1 || labelled.size() != nodes.size() || ends.size() % 2 != 0)
    in.fail("the tensors of its graphs do not fit together");
  Graphs out(nodes.size());
  std::size_t label = 0;
  std::size_t edge_label = 0;
  const auto take = [&](const std::vector<std::string>& from, std::size_t& at, std::int64_t count, std::vector<std::string>& to) {
    if (count < 0 || static_cast<std::size_t>(count) > from.size() - at) in.fail("its graphs have fewer labels than nodes or edges");
    to.assign(from.begin() + static_cast<std::ptrdiff_t>(at), from.begin() + static_cast<std::ptrdiff_t>(at) + count);
    at += static_cast<std::size_t>(count);
  };
  for (std::size_t g = 0; g < out.size(); ++g) {
    out[g].nodes = nodes[g];
    for (std::int64_t e = edges[g]; e < edges[g + 1]; ++e)
      out[g].edges.emplace_back(ends[static_cast<std::size_t>(2 * e)], ends[static_cast<std::size_t>(2 * e) + 1]);
    if ((labelled[g] & 1) != 0) take(labels, label, nodes[g], out[g].labels);
    if ((labelled[g] & 2) != 0) take(edge_labels, edge_label, edges[g + 1] - edges[g], out[g].edge_labels);
  }
  return out;
}

}  // namespace

void write_strings(const std::vector<std::string>& values, ContainerWriter& out, const std::string& name) {
  auto bytes = std::make_shared<std::vector<std::uint8_t>>();
  Offsets offsets{0};
  for (const std::string& value : values) {
    bytes->insert(bytes->end(), value.begin(), value.end());
    offsets.push_back(std::ssize(*bytes));
  }
  out.tensor(name + ".bytes", {std::ssize(*bytes)}, bytes->data(), bytes);
  write_numbers(std::move(offsets), out, name + ".offsets");
}

std::vector<std::string> read_strings(const ContainerReader& in, const std::string& name) {
  const auto bytes = in.tensor<std::uint8_t>(name + ".bytes");
  const auto offsets = read_offsets(in, name + ".offsets", static_cast<std::int64_t>(bytes.size()));
  std::vector<std::string> out;
  out.reserve(offsets.size() - 1);
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
    out.emplace_back(reinterpret_cast<const char*>(bytes.data()) + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  return out;
}

void write_records(const Samples& samples, ContainerWriter& out, const std::string& name) {
  const ObjectRows& rows = samples.object_rows();
  Json kinds = Json::array();
  for (std::size_t c = 0; c < rows.columns.size(); ++c) {
    const std::string place = fmt::format("{}.{}", name, c);
    const std::vector<Index> column{rows.places[c]};
    const Samples alone = samples.columns(column);
    const ObjectKind kind = rows.columns[c]->kind();
    kinds.push_back(name_of(kind));
    if (kind == ObjectKind::string) {
      const std::vector<std::string_view> views = strings_of(alone, "a model file");
      write_strings({views.begin(), views.end()}, out, place);
    } else if (kind == ObjectKind::graph) {
      write_graphs(graphs_of(alone, "a model file"), out, place);
    } else {
      const Sets sets = sets_of(alone, "a model file");
      write_numbers(Offsets(sets.offsets.begin(), sets.offsets.end()), out, place + ".offsets");
      write_samples(sets.elements, out, place + ".elements");
    }
  }
  out.json(name, {{"layout", "records"}, {"rows", samples.size()}, {"width", samples.width()}, {"kinds", kinds}, {"places", rows.places}});
  if (samples.width() > std::ssize(rows.columns)) write_samples(samples.numbers(), out, name + ".numbers");
}

Samples read_records(const ContainerReader& in, const Json& about, const std::string& name) {
  if (std::count(name.begin(), name.end(), '.') > 2 * deepest_sets) in.fail("its samples are sets of sets too deep");
  const auto rows = about.at("rows").get<Index>();
  const auto width = about.at("width").get<Index>();
  const auto kinds = about.at("kinds").get<std::vector<std::string>>();
  const auto places = about.at("places").get<std::vector<Index>>();
  const bool ascending = std::is_sorted(places.begin(), places.end()) && std::adjacent_find(places.begin(), places.end()) == places.end();
  if (kinds.empty() || kinds.size() != places.size() || !ascending || places.front() < 0 || places.back() >= width)
    in.fail("the columns of its samples do not fit together");
  const Index numbers = width - std::ssize(kinds);
  std::vector<Samples> columns;
  for (std::size_t c = 0; c < kinds.size(); ++c) {
    const std::string place = fmt::format("{}.{}", name, c);
    ObjectColumn column;
    if (kinds[c] == name_of(ObjectKind::string)) {
      column.values = read_strings(in, place);
    } else if (kinds[c] == name_of(ObjectKind::graph)) {
      column.values = read_graphs(in, place);
    } else if (kinds[c] == name_of(ObjectKind::set)) {
      Sets sets;
      sets.elements = read_samples(in, place + ".elements");
      const auto offsets = read_offsets(in, place + ".offsets", sets.elements.size());
      sets.offsets.assign(offsets.begin(), offsets.end());
      column.values = std::move(sets);
    } else {
      in.fail(fmt::format("its samples have a column of {:?}; strings, sets and graphs are known", kinds[c]));
    }
    if (column.size() != rows) in.fail(fmt::format("a column of its samples has {} objects for {} samples", column.size(), rows));
    try {
      columns.push_back(Samples::objects(std::move(column)));
    } catch (const InvalidArgument& error) {
      in.fail(fmt::format("in its samples, {}", error.what()));
    }
  }
  std::optional<Samples> beside;
  if (numbers > 0) beside = read_samples(in, name + ".numbers");
  if (beside && (beside->size() != rows || beside->width() != numbers || beside->has_objects() || beside->is_given()))
    in.fail("the numbers of its samples do not fit to their objects");
  // In their places again: objects where they say, numbers at the others.
  std::vector<Samples> parts;
  Index next_number = 0;
  std::size_t next_object = 0;
  for (Index place = 0; place < width;) {
    if (next_object < places.size() && places[next_object] == place) {
      parts.push_back(columns[next_object++]);
      ++place;
      continue;
    }
    const Index end = next_object < places.size() ? places[next_object] : width;
    std::vector<Index> picked;
    for (; place < end; ++place) picked.push_back(next_number++);
    parts.push_back(beside->columns(picked));
  }
  return Samples::records(parts);
}

}  // namespace mercer::persist

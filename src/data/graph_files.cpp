// Graphs in one text file, as the authors of graph kernels and of graph neural networks pass them on: the number of graphs; for each graph
// a line "n label", then n lines "tag m neighbour ... neighbour", the m neighbours counted from 0. The tag is the node's label.
//
// Every count is compared with the bytes that are left before anything is allocated for it. One pass over the text.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "data/formats.hpp"
#include "data/graph_parts.hpp"
#include "data/line_cursor.hpp"

namespace mercer {

namespace {

std::optional<Index> parse_count(std::string_view word) {
  Index value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && value >= 0 ? std::optional(value) : std::nullopt;
}

// Takes the next word off a line; empty at its end.
std::string_view take_word(std::string_view& line) {
  line = trimmed(line);
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

class GraphReader {
 public:
  GraphReader(std::string_view text, const std::string& source, const ReadOptions& options)
      : lines_(text, source), stage_(options.run.progress, "reading " + source, static_cast<double>(text.size())) {
    // A neighbour takes two bytes of text at least, and sixteen of memory until both of its directions are one.
    require_memory(8 * text.size(), options.run.memory, fmt::format("{}: its graphs", source),
                   "read a part of it, or allow more (--memory)");
  }

  Table read() {
    const Index count = read_total();
    for (Index g = 0; g < count; ++g) {
      read_graph(g, count);
      stage_.advance(static_cast<double>(lines_.bytes_done() - seen_));
      seen_ = lines_.bytes_done();
    }
    if (const auto line = lines_.next_filled())
      lines_.fail("goes on with {} behind the last of {} graphs; correct the number in the first line", quoted(*line), count);
    Table table;
    table.source = lines_.source();
    table.has_header = true;
    table.format = FileFormat::graphs;
    table.lines = std::move(starts_);
    add_column(table, "graph", Samples::graphs(std::move(graphs_)));
    add_label_column(table, std::move(labels_));
    return table;
  }

 private:
  Index read_total() {
    const auto line = lines_.next_filled();
    if (!line) throw FileError(fmt::format("{}: is empty; wanted the number of graphs in its first line", lines_.source()));
    const std::optional<Index> count = parse_count(*line);
    if (!count || *count == 0) lines_.fail("begins with {}, wanted the number of graphs", quoted(*line));
    require_bytes(*count, 3, "graphs");
    graphs_.reserve(static_cast<std::size_t>(*count));
    return *count;
  }

  // `count` lines or words of `bytes` each cannot be more than the text that is left (whose last line may lack its end).
  void require_bytes(Index count, std::size_t bytes, const char* what) const {
    if (static_cast<std::size_t>(count) > (lines_.bytes_left() + 1) / bytes)
      lines_.fail("says that {} {} follow, but the rest of the file has {} bytes; correct the number, or is the file cut short?", count,
                  what, lines_.bytes_left());
  }

  void read_graph(Index g, Index count) {
    const auto line = lines_.next_filled();
    if (!line)
      throw FileError(fmt::format("{}:{}: ends behind {} of {} graphs; is it cut short?", lines_.source(), lines_.number(), g, count));
    lines_.require_utf8(*line);
    std::string_view rest = *line;
    const std::string_view size = take_word(rest);
    const std::string_view label = take_word(rest);
    const std::optional<Index> nodes = parse_count(size);
    if (!nodes || label.empty() || !trimmed(rest).empty())
      lines_.fail("has {}, wanted the number of nodes and the label of graph {} (counting from 1)", quoted(*line), g + 1);
    require_bytes(*nodes, 4, "nodes");
    starts_.push_back(lines_.number());
    labels_.emplace_back(label);
    Graph graph;
    graph.nodes = *nodes;
    graph.labels.reserve(static_cast<std::size_t>(*nodes));
    for (Index node = 0; node < *nodes; ++node) read_node(graph, node);
    tidy_edges(graph);
    graphs_.push_back(std::move(graph));
  }

  void read_node(Graph& graph, Index node) {
    const auto line = lines_.next_filled();
    if (!line)
      throw FileError(fmt::format("{}:{}: ends behind {} of the {} nodes of a graph; is it cut short?", lines_.source(), lines_.number(),
                                  node, graph.nodes));
    lines_.require_utf8(*line);
    std::string_view rest = *line;
    const std::string_view tag = take_word(rest);
    const std::string_view size = take_word(rest);
    const std::optional<Index> neighbours = parse_count(size);
    if (!neighbours) lines_.fail("has {} for node {}, wanted its tag, the number of its neighbours, and these", quoted(*line), node);
    graph.labels.emplace_back(tag);
    Index found = 0;
    for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
      const std::optional<Index> other = parse_count(word);
      if (!other || *other >= graph.nodes)
        lines_.fail("node {} has the neighbour {}, wanted a number from 0 to {}", node, quoted(word), graph.nodes - 1);
      graph.edges.emplace_back(node, *other);
      ++found;
    }
    if (found != *neighbours)
      lines_.fail("node {} says that it has {} neighbours, but {} follow; correct either", node, *neighbours, found);
  }

  LineCursor lines_;
  Stage stage_;
  std::size_t seen_ = 0;
  Graphs graphs_{};
  std::vector<std::string> labels_{};
  std::vector<std::int64_t> starts_{};
};

}  // namespace

std::optional<std::pair<Index, Index>> tidy_edges(Graph& graph) {
  std::vector<std::size_t> order;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    auto& [u, v] = graph.edges[e];
    if (u > v) std::swap(u, v);
    if (u != v) order.push_back(e);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return graph.edges[a] < graph.edges[b]; });
  const bool labelled = !graph.edge_labels.empty();
  std::vector<std::pair<Index, Index>> edges;
  std::vector<std::string> labels;
  std::optional<std::pair<Index, Index>> two_labels;
  for (const std::size_t e : order) {
    if (edges.empty() || graph.edges[e] != edges.back()) {
      edges.push_back(graph.edges[e]);
      if (labelled) labels.push_back(graph.edge_labels[e]);
    } else if (labelled && graph.edge_labels[e] != labels.back() && !two_labels) {
      two_labels = edges.back();
    }
  }
  graph.edges = std::move(edges);
  graph.edge_labels = std::move(labels);
  return two_labels;
}

void add_label_column(Table& table, std::vector<std::string> words) {
  std::vector<double> numbers;
  for (const std::string& word : words) {
    const std::optional<double> number = parse_number(word);
    if (!number) {
      add_column(table, "label", std::move(words));
      return;
    }
    numbers.push_back(*number);
  }
  add_column(table, "label", std::move(numbers));
}

// The first lines cannot be those of a table: it would have one column, then two, then as many as the second number of a line says.
bool looks_like_graphs(std::string_view text) {
  constexpr std::size_t enough = std::size_t{1} << 16;  // for three lines
  if (text.substr(0, enough).find('\0') != std::string_view::npos) return false;
  LineCursor lines(text.substr(0, enough), "");
  const auto first = lines.next_filled();
  if (!first || !parse_count(*first)) return false;
  const auto second = lines.next_filled();
  if (!second) return false;
  std::string_view rest = *second;
  const std::optional<Index> nodes = parse_count(take_word(rest));
  if (!nodes || take_word(rest).empty() || !trimmed(rest).empty()) return false;
  const auto third = lines.next_filled();
  if (!third || *nodes == 0) return *nodes == 0;
  rest = *third;
  take_word(rest);
  const std::optional<Index> neighbours = parse_count(take_word(rest));
  Index found = 0;
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest), ++found) {
    const std::optional<Index> other = parse_count(word);
    if (!other || *other >= *nodes) return false;
  }
  return neighbours == found;
}

Table read_graphs(std::string_view text, const std::string& source, const ReadOptions& options) {
  return GraphReader(text, source, options).read();
}

}  // namespace mercer

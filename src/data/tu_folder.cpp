// Graphs as TUDataset has them (Morris and others, 2020): a folder with NAME_A.txt, a line "u, v" for each edge between nodes that are
// counted from 1 over all graphs; NAME_graph_indicator.txt, the graph of each node, counted from 1; and where there are such,
// NAME_graph_labels.txt, NAME_node_labels.txt and NAME_edge_labels.txt, a line for each graph, node and line of NAME_A.txt.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "data/bytes.hpp"
#include "data/formats.hpp"
#include "data/graph_parts.hpp"
#include "data/line_cursor.hpp"

namespace mercer {

namespace {

constexpr std::string_view edges_ending = "_A.txt";

// The names before "_A.txt" in a folder; none where it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(edges_ending)) names.push_back(name.substr(0, name.size() - edges_ending.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

class TuReader {
 public:
  TuReader(const std::string& folder, const std::string& name, const ReadOptions& options)
      : folder_(folder), prefix_((std::filesystem::path(folder) / name).string()), options_(options) {}

  Table read() {
    read_labels("_graph_labels.txt", graph_labels_);
    read_indicator();
    read_node_labels();
    read_edges();
    for (std::size_t g = 0; g < graphs_.size(); ++g) {
      if (const auto edge = tidy_edges(graphs_[g]))
        throw FileError(
            fmt::format("{}_edge_labels.txt: graph {} has an edge between its nodes {} and {} with two different labels; give both "
                        "directions the same",
                        prefix_, g + 1, edge->first + 1, edge->second + 1));
    }
    Table table;
    table.source = folder_;
    table.has_header = true;
    table.format = FileFormat::tu;
    for (std::size_t g = 0; g < graphs_.size(); ++g) table.lines.push_back(static_cast<std::int64_t>(g) + 1);
    add_column(table, "graph", Samples::graphs(std::move(graphs_)));
    if (!graph_labels_.empty()) add_label_column(table, std::move(graph_labels_));
    return table;
  }

 private:
  // take(line, cursor) for every line of a file that is not blank.
  template <class Take>
  void for_each_line(const std::string& path, const Take& take) {
    const Bytes bytes = unpack(read_bytes(path, options_.run), path, options_.run);
    require_memory(8 * bytes.view.size(), options_.run.memory, fmt::format("{}: its graphs", path), "allow more (--memory)");
    Stage stage(options_.run.progress, "reading " + path, 1);
    LineCursor lines(without_byte_order_mark(bytes.view, path), path);
    while (const auto line = lines.next_filled()) {
      take(*line, lines);
      if (lines.number() % 4096 == 0) stage.check();
    }
  }

  void read_labels(const std::string& ending, std::vector<std::string>& labels) {
    if (!std::filesystem::exists(prefix_ + ending)) return;
    for_each_line(prefix_ + ending, [&](std::string_view line, const LineCursor& lines) {
      lines.require_utf8(line);
      labels.emplace_back(line);
    });
    if (labels.empty()) throw FileError(fmt::format("{}{}: is empty; wanted a label a line, or no such file", prefix_, ending));
  }

  static Index number(std::string_view word, Index most, const char* what, const LineCursor& lines) {
    Index value = 0;
    word = trimmed(word);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 1 || value > most)
      lines.fail("has {}, wanted the number of a {} from 1 to {}", quoted(word), what, most);
    return value - 1;
  }

  void read_indicator() {
    const std::string path = prefix_ + "_graph_indicator.txt";
    if (!std::filesystem::exists(path)) throw FileError(fmt::format("{}: is not there; wanted the graph of each node, a line each", path));
    // Without labels there are as many graphs as the largest number says; each has a node, so there cannot be more than lines.
    Index most = std::ssize(graph_labels_);
    if (most == 0) for_each_line(path, [&](std::string_view, const LineCursor&) { ++most; });
    graphs_.resize(static_cast<std::size_t>(std::ssize(graph_labels_)));
    for_each_line(path, [&](std::string_view line, const LineCursor& lines) {
      const auto g = static_cast<std::size_t>(number(line, most, "graph", lines));
      if (g >= graphs_.size()) graphs_.resize(g + 1);
      graph_of_.push_back(g);
      place_of_.push_back(graphs_[g].nodes++);
    });
    if (graphs_.empty()) throw FileError(fmt::format("{}: is empty; wanted the graph of each node, a line each", path));
  }

  void read_node_labels() {
    std::vector<std::string> labels;
    read_labels("_node_labels.txt", labels);
    if (labels.empty()) return;
    if (labels.size() != graph_of_.size())
      throw FileError(
          fmt::format("{}_node_labels.txt: has {} labels for {} nodes; wanted one each", prefix_, labels.size(), graph_of_.size()));
    for (std::size_t v = 0; v < labels.size(); ++v) {
      auto& own = graphs_[graph_of_[v]].labels;
      own.resize(std::max(own.size(), static_cast<std::size_t>(place_of_[v]) + 1));
      own[static_cast<std::size_t>(place_of_[v])] = std::move(labels[v]);
    }
  }

  void read_edges() {
    std::vector<std::string> labels;
    read_labels("_edge_labels.txt", labels);
    std::size_t count = 0;
    for_each_line(prefix_ + std::string(edges_ending), [&](std::string_view line, const LineCursor& lines) {
      const std::size_t comma = std::min(line.find_first_of(", \t"), line.size());
      std::string_view second = trimmed(line.substr(comma));
      if (second.starts_with(',')) second.remove_prefix(1);
      const auto nodes = std::ssize(graph_of_);
      const auto u = static_cast<std::size_t>(number(line.substr(0, comma), nodes, "node", lines));
      const auto v = static_cast<std::size_t>(number(second, nodes, "node", lines));
      if (graph_of_[u] != graph_of_[v])
        lines.fail("joins node {} of graph {} and node {} of graph {}, wanted two nodes of one graph", u + 1, graph_of_[u] + 1, v + 1,
                   graph_of_[v] + 1);
      Graph& graph = graphs_[graph_of_[u]];
      graph.edges.emplace_back(place_of_[u], place_of_[v]);
      if (!labels.empty()) {
        if (count == labels.size())
          lines.fail("is edge {}, but {}_edge_labels.txt has {} labels; wanted one each", count + 1, prefix_, count);
        graph.edge_labels.push_back(std::move(labels[count]));
      }
      ++count;
    });
    if (!labels.empty() && count != labels.size())
      throw FileError(fmt::format("{}_edge_labels.txt: has {} labels for {} edges; wanted one each", prefix_, labels.size(), count));
  }

  const std::string& folder_;
  std::string prefix_;
  const ReadOptions& options_;
  std::vector<std::string> graph_labels_{};
  Graphs graphs_{};
  std::vector<std::size_t> graph_of_{};  // each node
  std::vector<Index> place_of_{};        // of each node within its graph
};

}  // namespace

bool is_tu_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) && !names_in(path).empty();
}

Table read_tu(const std::string& folder, const ReadOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    throw FileError(fmt::format("{}: is not a folder; wanted one with NAME_A.txt and NAME_graph_indicator.txt", folder));
  const std::vector<std::string> names = names_in(folder);
  if (names.size() != 1) {
    throw FileError(fmt::format("{}: has {} files that end in _A.txt; wanted one, as TUDataset's folders of graphs have it", folder,
                                names.empty() ? "no" : std::to_string(names.size())));
  }
  return TuReader(folder, names.front(), options).read();
}

}  // namespace mercer

// Files and folders of graphs.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "io_support.hpp"
#include "mercer/chunked_file.hpp"
#include "mercer/objects.hpp"

namespace mercer {
namespace {

using io_test::message_of;
using io_test::spill;
using Edges = std::vector<std::pair<Index, Index>>;

constexpr const char* two_graphs = "2\n3 1\n5 2 1 2\n5 1 0\n-7 1 0\n2 -1\nC 0\nO 1 1\n";

Table read(std::string_view text, const std::string& name = "t.graphs") { return io_test::read(text, {}, name); }
std::string error_of(std::string_view text, const std::string& name = "t.graphs") { return io_test::error_of(text, {}, name); }
const Graphs& graphs_in(const Table& table) { return table.columns[0].objects().object_rows().columns[0]->graphs(); }

TEST(GraphFiles, NodesWithTheirNeighbours) {
  for (const char* name : {"t.graphs", "t.txt", "-"}) {
    const Table t = read(two_graphs, name);
    EXPECT_EQ(t.format, FileFormat::graphs) << name;
    EXPECT_LIST(t.names, "graph", "label");
    ASSERT_EQ(t.rows(), 2);
    const Graphs& graphs = graphs_in(t);
    EXPECT_EQ(graphs[0].nodes, 3);
    EXPECT_EQ(graphs[0].edges, (Edges{{0, 1}, {0, 2}}));
    EXPECT_LIST(graphs[0].labels, "5", "5", "-7");
    EXPECT_EQ(graphs[1].nodes, 2);
    EXPECT_TRUE(graphs[1].edges.empty()) << "a loop";
    EXPECT_LIST(t.columns[1].numbers(), 1, -1);
    EXPECT_LIST(t.lines, 2, 6);
  }
  EXPECT_LIST(read("2\n1 yes\na 0\n0 no\n").columns[1].text(), "yes", "no");
}

TEST(GraphFiles, TablesStayTables) {
  for (const char* text : {"3\n4\n5\n", "3\n4 5\n6 7\n", "1 2\n3 4\n", "2\n1 1:1\n1 2:3\n"}) {
    try {
      EXPECT_NE(read(text, "t.txt").format, FileFormat::graphs) << text;
    } catch (const FileError&) {  // no table either, as before
    }
  }
  EXPECT_NE(error_of(two_graphs, "t.csv"), "(no exception)") << "by its name a table";
}

TEST(GraphFiles, Errors) {
  EXPECT_STARTS(error_of("x\n"), "t.graphs:1: begins with \"x\", wanted the number of graphs");
  EXPECT_STARTS(error_of("-1\n"), "t.graphs:1: begins with \"-1\", wanted the number of graphs");
  EXPECT_EQ(
      error_of("900000000000\n1 1\n0 0\n"),
      "t.graphs:1: says that 900000000000 graphs follow, but the rest of the file has 8 bytes; correct the number, or is the file cut "
      "short?");
  EXPECT_STARTS(error_of("1\n900000000000 1\n0 0\n"), "t.graphs:2: says that 900000000000 nodes follow");
  EXPECT_STARTS(error_of("1\n99999999999999999999 1\n"), "t.graphs:2: has \"99999999999999999999 1\", wanted the number of nodes");
  EXPECT_STARTS(error_of("1\n2\n0 0\n0 0\n"), "t.graphs:2: has \"2\", wanted the number of nodes and the label of graph 1");
  EXPECT_STARTS(error_of("1\n1 1\nabc\n"), "t.graphs:3: has \"abc\" for node 0, wanted its tag");
  EXPECT_EQ(error_of("1\n2 1\na 1 2\nb 0\n"), "t.graphs:3: node 0 has the neighbour \"2\", wanted a number from 0 to 1");
  EXPECT_STARTS(error_of("1\n2 1\na 1 -1\nb 0\n"), "t.graphs:3: node 0 has the neighbour \"-1\"");
  EXPECT_EQ(error_of("1\n2 1\na 2 1\nb 0\n"), "t.graphs:3: node 0 says that it has 2 neighbours, but 1 follow; correct either");
  EXPECT_STARTS(error_of("1\n2 1\na 99999999999 1\nb 0\n"), "t.graphs:3: node 0 says that it has 99999999999 neighbours");
  EXPECT_EQ(error_of("1\n2 1\nabcdef 0\n"), "t.graphs:3: ends behind 1 of the 2 nodes of a graph; is it cut short?");
  EXPECT_EQ(error_of("2\n1 1\nabcdef 0\n"), "t.graphs:3: ends behind 1 of 2 graphs; is it cut short?");
  EXPECT_STARTS(error_of("1\n1 1\na 0\n1 2\n"), "t.graphs:4: goes on with \"1 2\" behind the last of 1 graphs");
}

TEST(GraphFiles, AreReadWhole) {
  const io_test::TemporaryDirectory directory;
  spill(directory / "g.txt", two_graphs);
  EXPECT_HAS(message_of([&] { FileRows(directory / "g.txt", {}); }), "g.txt: a file of graphs is read whole");
}

TEST(GraphFiles, Mutag) {
  const std::string path = MERCER_TESTS "/../../shared/data/graphs/MUTAG.txt.xz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "../shared/data is not there";
  const Table t = read_table(path);
  EXPECT_EQ(t.rows(), 188);
  Index nodes = 0;
  Index edges = 0;
  for (const Graph& graph : graphs_in(t)) {
    nodes += graph.nodes;
    edges += std::ssize(graph.edges);
  }
  EXPECT_EQ(nodes, 3371);
  EXPECT_EQ(edges, 3721);
  const io_test::TemporaryDirectory directory;
  write_table(t, directory / "mutag.jsonl");
  const Table back = read_table(directory / "mutag.jsonl");
  ASSERT_EQ(back.rows(), 188);
  for (std::size_t g = 0; g < 188; ++g) {
    EXPECT_EQ(graphs_in(back)[g].edges, graphs_in(t)[g].edges);
    EXPECT_EQ(graphs_in(back)[g].labels, graphs_in(t)[g].labels);
  }
  EXPECT_EQ(back.columns[1].numbers(), t.columns[1].numbers());
}

// Two graphs: a path of three nodes, whose lines are mixed with those of a pair.
class TuFolder : public ::testing::Test {
 protected:
  TuFolder() {
    put("A", "1, 3\n3, 1\n2,4\n4,2\n3 5\n5 3\n");
    put("graph_indicator", "1\n2\n1\n2\n1\n");
    put("graph_labels", "1\n-1\n");
    put("node_labels", "a\nb\nc\nd\ne\n");
    put("edge_labels", "x\nx\ny\ny\nz\nz\n");
  }
  void put(const std::string& part, std::string_view text) const { spill(directory / ("T_" + part + ".txt"), text); }
  std::string error() const {
    std::string message = message_of([&] { read_table(directory / ""); });
    const std::string folder = directory / "";
    for (std::size_t at = message.find(folder); at != std::string::npos; at = message.find(folder)) message.erase(at, folder.size());
    return message;
  }

  io_test::TemporaryDirectory directory;
};

TEST_F(TuFolder, NodesOfAllGraphs) {
  const Table t = read_table(directory / "");
  EXPECT_EQ(t.format, FileFormat::tu);
  const Graphs& graphs = graphs_in(t);
  ASSERT_EQ(graphs.size(), 2U);
  EXPECT_EQ(graphs[0].edges, (Edges{{0, 1}, {1, 2}}));
  EXPECT_LIST(graphs[0].labels, "a", "c", "e");
  EXPECT_LIST(graphs[0].edge_labels, "x", "z");
  EXPECT_EQ(graphs[1].edges, (Edges{{0, 1}}));
  EXPECT_LIST(graphs[1].labels, "b", "d");
  EXPECT_LIST(t.columns[1].numbers(), 1, -1);
  EXPECT_HAS(message_of([&] { FileRows(directory / "", {}); }), "a file of graphs is read whole");
}

TEST_F(TuFolder, WithoutLabels) {
  for (const char* part : {"graph_labels", "node_labels", "edge_labels"})
    std::filesystem::remove(directory / (std::string("T_") + part + ".txt"));
  const Table t = read_table(directory / "", {.format = FileFormat::tu});
  EXPECT_LIST(t.names, "graph");
  EXPECT_EQ(t.rows(), 2);
  EXPECT_TRUE(graphs_in(t)[0].labels.empty());
  EXPECT_TRUE(graphs_in(t)[0].edge_labels.empty());
}

TEST_F(TuFolder, Errors) {
  put("A", "1, 3\n1, 2\n");
  EXPECT_EQ(error(), "T_A.txt:2: joins node 1 of graph 1 and node 2 of graph 2, wanted two nodes of one graph");
  put("A", "1, 6\n");
  EXPECT_EQ(error(), "T_A.txt:1: has \"6\", wanted the number of a node from 1 to 5");
  put("A", "1\n");
  EXPECT_EQ(error(), "T_A.txt:1: has \"\", wanted the number of a node from 1 to 5");
  put("A", "1, 3\n");
  EXPECT_EQ(error(), "T_edge_labels.txt: has 6 labels for 1 edges; wanted one each");
  put("edge_labels", "x\n");
  put("A", "1, 3\n3, 1\n");
  EXPECT_HAS(error(), "T_A.txt:2: is edge 2, but ");
  put("edge_labels", "x\ny\n");
  EXPECT_HAS(error(), "graph 1 has an edge between its nodes 1 and 2 with two different labels");
  put("node_labels", "a\n");
  EXPECT_EQ(error(), "T_node_labels.txt: has 1 labels for 5 nodes; wanted one each");
  put("graph_indicator", "1\n3\n");
  EXPECT_EQ(error(), "T_graph_indicator.txt:2: has \"3\", wanted the number of a graph from 1 to 2");
  std::filesystem::remove(directory / "T_graph_labels.txt");
  put("graph_indicator", "1\n99999999999\n");
  EXPECT_EQ(error(), "T_graph_indicator.txt:2: has \"99999999999\", wanted the number of a graph from 1 to 2");
  std::filesystem::remove(directory / "T_graph_indicator.txt");
  EXPECT_HAS(error(), "T_graph_indicator.txt: is not there");
  spill(directory / "U_A.txt", "");
  EXPECT_HAS(error(), "has 2 files that end in _A.txt");
  EXPECT_HAS(message_of([&] { read_table(directory / "U_A.txt", {.format = FileFormat::tu}); }), "is not a folder");
}

}  // namespace
}  // namespace mercer

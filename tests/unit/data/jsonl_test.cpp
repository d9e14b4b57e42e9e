// JSON lines and arrays: keys are columns; numbers, text, bags, sets and graphs; there and back.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io_support.hpp"
#include "mercer/objects.hpp"

namespace mercer {
namespace {

using io_test::message_of;
using io_test::same_bits;

Table read(std::string_view text, const std::string& name = "t.jsonl") { return io_test::read(text, {}, name); }
std::string error_of(std::string_view text, const std::string& name = "t.jsonl") { return io_test::error_of(text, {}, name); }

const Graphs& graphs_in(const Column& column) { return column.objects().object_rows().columns[0]->graphs(); }
const Sets& sets_in(const Column& column) { return column.objects().object_rows().columns[0]->sets(); }

TEST(Jsonl, KeysAreColumns) {
  const Table t = read("{\"b\": 1.5, \"a\": \"x\\u00e9\", \"c\": true}\n\n{\"a\": null, \"b\": -2, \"c\": 0}\r\n{\"c\": false, \"d\": 1}");
  EXPECT_LIST(t.names, "b", "a", "c", "d") << "in the order of the file";
  EXPECT_EQ(t.rows(), 3);
  EXPECT_EQ(t.columns[0].numbers()[1], -2);
  EXPECT_TRUE(std::isnan(t.columns[0].numbers()[2]));
  EXPECT_LIST(t.columns[0].missing, 2);
  EXPECT_LIST(t.columns[1].text(), "x\u00e9", "", "");
  EXPECT_LIST(t.columns[1].missing, 1, 2);
  EXPECT_LIST(t.columns[2].numbers(), 1, 0, 0);
  EXPECT_LIST(t.columns[3].missing, 0, 1);
  EXPECT_LIST(t.lines, 1, 3, 4);
}

TEST(Jsonl, FoundByContent) {
  EXPECT_EQ(read("{\"a\": 1}\n", "-").format, FileFormat::jsonl);
  EXPECT_EQ(read(" [ {\"a\": 1}]", "t.txt").format, FileFormat::jsonl);
  EXPECT_EQ(read("{a,b\n1,2\n", "t.txt").format, FileFormat::csv);
}

TEST(Jsonl, AnArrayOfObjects) {
  const Table t = read("[\n {\"a\": \"],[\\\"{\", \"b\": [1]},\n {\n\"a\": \"y\",\n\"b\": []}\n]\n", "t.json");
  EXPECT_LIST(t.columns[0].text(), "],[\"{", "y");
  EXPECT_LIST(t.lines, 2, 3);
  EXPECT_EQ(error_of("[{\"a\": 1},\n", "t.json"),
            "t.json:1: has an array that does not end; wanted ] at the end of the file: is it cut short?");
  EXPECT_STARTS(error_of("[{\"a\": 1}]\nx", "t.json"), "t.json:2: goes on with \"x\" behind the array");
  EXPECT_STARTS(error_of("[{\"a\": 1},\n]", "t.json"), "t.json:2:1: is not JSON");
  EXPECT_STARTS(error_of("[1, 2]", "t.json"), "t.json:1: has \"1\", wanted a JSON object");
  EXPECT_HAS(error_of("[]", "t.json"), "t.json: has no rows");
}

TEST(Jsonl, BagsAndSets) {
  const Table t = read(
      "{\"w\": [\"a\", \"b\", \"a\"], \"p\": [[1, 2], [3, 4]], \"n\": [5]}\n"
      "{\"w\": [], \"p\": [], \"n\": [6, 7]}\n"
      "{\"w\": [\"c\"], \"p\": [[5, 6]], \"n\": []}\n");
  EXPECT_EQ(t.rows(), 3);
  const Sets& words = sets_in(t.columns[0]);
  EXPECT_LIST(words.offsets, 0, 3, 3, 4);
  EXPECT_LIST(strings_of(words.elements, "test"), "a", "b", "a", "c");
  const Sets& points = sets_in(t.columns[1]);
  EXPECT_LIST(points.offsets, 0, 2, 2, 3);
  EXPECT_EQ(points.elements.to_dense(), (Matrix(3, 2) << 1, 2, 3, 4, 5, 6).finished());
  EXPECT_EQ(sets_in(t.columns[2]).elements.to_dense(), (Matrix(3, 1) << 5, 6, 7).finished());
}

TEST(Jsonl, GraphsAreTidied) {
  const Table t = read(
      "{\"g\": {\"n\": 4, \"edges\": [[2, 1], [0, 1], [1, 2], [3, 3]], \"labels\": [\"C\", 2, 1.5, \"O\"], "
      "\"edge_labels\": [\"x\", \"y\", \"x\", \"z\"]}}\n"
      "{\"g\": {\"edges\": [], \"labels\": [\"a\"]}}\n{\"g\": {\"nodes\": 0, \"edges\": []}}\n");
  const Graphs& graphs = graphs_in(t.columns[0]);
  ASSERT_EQ(graphs.size(), 3U);
  EXPECT_EQ(graphs[0].nodes, 4);
  EXPECT_EQ(graphs[0].edges, (std::vector<std::pair<Index, Index>>{{0, 1}, {1, 2}})) << "once each, no loops";
  EXPECT_LIST(graphs[0].edge_labels, "y", "x");
  EXPECT_LIST(graphs[0].labels, "C", "2", "1.5", "O");
  EXPECT_EQ(graphs[1].nodes, 1);
  EXPECT_EQ(graphs[2].nodes, 0);
}

TEST(Jsonl, KindsThatDiffer) {
  EXPECT_EQ(error_of("{\"a\": 1}\n{\"a\": null}\n{\"a\": \"x\"}\n"),
            "t.jsonl:3: key \"a\" holds text, but a number in line 1; make it the same in all, or leave the key out");
  EXPECT_STARTS(error_of("{\"a\": [1]}\n{\"a\": [\"x\"]}\n"),
                "t.jsonl:2: key \"a\" holds a list of texts, but a list of numbers or points in line 1");
  EXPECT_STARTS(error_of("{\"a\": [1, \"x\"]}\n"), "t.jsonl:1: key \"a\" holds a list with \"\"x\"\", wanted texts alone");
  EXPECT_STARTS(error_of("{\"a\": [[1, 2]]}\n{\"a\": [[1]]}\n"),
                "t.jsonl:2: key \"a\" holds a point of 1 numbers, but one of 2 comes before");
  EXPECT_STARTS(error_of("{\"a\": [[]]}\n"), "t.jsonl:1: key \"a\" holds a point without numbers");
  EXPECT_EQ(error_of("{\"a\": [1]}\n{\"b\": 1}\n"),
            "t.jsonl:2: key \"a\" is missing, but holds a list of numbers or points in line 1; give one, or remove the row");
}

TEST(Jsonl, KindsThatDifferBetweenChunks) {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += fmt::format("{{\"a\": {}, \"b\": [[{}, 1]]}}\n", i, i);
  ASSERT_GT(text.size(), std::size_t{2} << 18) << "several chunks";
  const Table t = read(text);
  EXPECT_EQ(t.rows(), 40000);
  EXPECT_EQ(t.columns[0].numbers()[39999], 39999);
  EXPECT_EQ(sets_in(t.columns[1]).elements.to_dense()(39999, 0), 39999);
  EXPECT_EQ(t.line_of(39999), 40000);
  EXPECT_STARTS(error_of(text + "{\"a\": \"x\", \"b\": []}\n"), "t.jsonl:40001: key \"a\" holds text, but a number in line 3")
      << "of the same chunk";
}

TEST(Jsonl, ChunksAreJoined) {
  const std::string first =
      "{\"a\": 1, \"b\": [], \"c\": [[1, 2]], \"long\": \"" + std::string(300000, 'x') + "\"}\n";  // a chunk of its own
  const Table t = read(first + "{\"b\": [\"w\"], \"c\": [], \"new\": 5}\n");
  EXPECT_LIST(t.names, "a", "b", "c", "long", "new");
  EXPECT_LIST(sets_in(t.columns[1]).offsets, 0, 0, 1);
  EXPECT_LIST(sets_in(t.columns[2]).offsets, 0, 1, 1);
  EXPECT_LIST(t.columns[0].missing, 1);
  EXPECT_LIST(t.columns[4].missing, 0);
  EXPECT_STARTS(error_of(first + "{\"a\": \"x\"}\n"), "t.jsonl:2: key \"a\" holds text, but a number in line 1");
  EXPECT_STARTS(error_of(first + "{\"c\": [1]}\n"), "t.jsonl:2: key \"c\" holds a point of 1 numbers, but one of 2 comes before");
  EXPECT_STARTS(error_of(first + "{\"a\": 2, \"b\": []}\n"), "t.jsonl:2: key \"c\" is missing");
}

TEST(Jsonl, GraphErrors) {
  EXPECT_EQ(error_of("{\"g\": {\"n\": 2, \"edges\": [[0, 2]]}}\n"),
            "t.jsonl:1: key \"g\" holds a graph with the edge \"[0,2]\", wanted two of its 2 nodes, counted from 0");
  EXPECT_HAS(error_of("{\"g\": {\"n\": 2, \"edges\": [[0, -1]]}}\n"), "with the edge \"[0,-1]\"");
  EXPECT_HAS(error_of("{\"g\": {\"n\": 2, \"edges\": [0]}}\n"), "with the edge \"0\"");
  EXPECT_HAS(error_of("{\"g\": {\"n\": -2, \"edges\": []}}\n"), "holds a graph of \"-2\" nodes, wanted a whole number");
  EXPECT_HAS(error_of("{\"g\": {\"edges\": []}}\n"), "holds a graph without n");
  EXPECT_HAS(error_of("{\"g\": {\"n\": 2}}\n"), "holds a graph without edges");
  EXPECT_HAS(error_of("{\"g\": {\"n\": 2, \"edges\": [], \"labels\": [\"a\"]}}\n"), "1 labels for 2 nodes");
  EXPECT_HAS(error_of("{\"g\": {\"n\": 2, \"edges\": [[0, 1], [1, 0]], \"edge_labels\": [\"a\", \"b\"]}}\n"),
             "edge 0-1 has two different labels");
  EXPECT_HAS(error_of("{\"g\": {\"size\": 2}}\n"), "holds an object with \"size\", wanted a graph like");
  EXPECT_EQ(
      error_of("{\"g\": {\"n\": 1, \"edges\": []}}\n{\"g\": {\"n\": 1000000000000, \"edges\": []}}\n"),
      "t.jsonl:2: key \"g\" holds a graph of 1000000000000 nodes, too many for a file of 70 bytes; wanted nodes with edges or labels");
}

TEST(Jsonl, HostileText) {
  EXPECT_EQ(
      error_of("{\"a\": 1}\n{\"a\": }\n"),
      "t.jsonl:2:7: is not JSON: syntax error while parsing value - unexpected '}'; expected '[', '{', or a literal; wanted an object on "
      "one line, or one array of objects");
  EXPECT_STARTS(error_of("{\n\"a\": 1\n}\n"), "t.jsonl:1:2: is not JSON");
  EXPECT_STARTS(error_of("{\"a\": 1e999}\n"), "t.jsonl:1: is not JSON: number overflow");
  EXPECT_STARTS(error_of("{\"a\": \"\xff\"}\n"), "t.jsonl:1:8: is not JSON");
  EXPECT_STARTS(error_of("{\"a\": " + std::string(100000, '[') + "}\n"), "t.jsonl:1: is nested more than 8 deep");
  std::string keys = "{";
  for (int k = 0; k < 20000; ++k) keys += fmt::format("\"{}\":1,", k);
  EXPECT_STARTS(error_of(keys + "\"x\":1}\n"), "t.jsonl:1: has more than 10000 keys");
  EXPECT_HAS(error_of("{}\n{}\n"), "its objects have no keys");
  EXPECT_STARTS(error_of("[1]\n", "t.jsonl"), "t.jsonl:1: has \"1\", wanted a JSON object");
}

TEST(Jsonl, KeysTimesRowsAskTheBudget) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += fmt::format("{{\"k{}\": 1}}\n", i);
  const ReadOptions options{.run = {.memory = 20'000'000}};
  EXPECT_HAS(io_test::error_of(text, options, "t.jsonl"), "t.jsonl: its 2000 x 2000 table");
}

TEST(Jsonl, ThereAndBack) {
  const Table t = read(
      "{\"x\\n\\\"\": -0.0, \"t\": \"a\\u0001\\\\\", \"w\": [\"p\", \"q\\\"\"], \"s\": [[0.1, 1e300], [-0.0, 2]], \"n\": [1, 0.3],"
      " \"g\": {\"n\": 3, \"edges\": [[0, 2], [1, 2]], \"labels\": [\"a\", \"b\", \"\"], \"edge_labels\": [\"-\", \"=\"]}}\n"
      "{\"x\\n\\\"\": null, \"t\": null, \"w\": [], \"s\": [], \"n\": [], \"g\": {\"n\": 2, \"edges\": []}}\n");
  const io_test::TemporaryDirectory directory;
  for (const char* name : {"t.jsonl", "t.jsonl.xz", "t.json", "t.ndjson.gz"}) {
    write_table(t, directory / name);
    const Table back = read_table(directory / name);
    EXPECT_EQ(back.names, t.names) << name;
    ASSERT_EQ(back.columns.size(), 6U);
    EXPECT_TRUE(same_bits(back.columns[0].numbers()[0], -0.0));
    EXPECT_LIST(back.columns[0].missing, 1);
    EXPECT_EQ(back.columns[1].text(), t.columns[1].text());
    EXPECT_EQ(back.columns[1].missing, t.columns[1].missing);
    EXPECT_EQ(strings_of(sets_in(back.columns[2]).elements, ""), strings_of(sets_in(t.columns[2]).elements, ""));
    for (const std::size_t j : {2U, 3U, 4U}) EXPECT_EQ(sets_in(back.columns[j]).offsets, sets_in(t.columns[j]).offsets);
    for (const std::size_t j : {3U, 4U}) EXPECT_EQ(sets_in(back.columns[j]).elements.to_dense(), sets_in(t.columns[j]).elements.to_dense());
    for (std::size_t g = 0; g < 2; ++g) {
      const Graph& a = graphs_in(back.columns[5])[g];
      const Graph& b = graphs_in(t.columns[5])[g];
      EXPECT_EQ(std::tie(a.nodes, a.edges, a.labels, a.edge_labels), std::tie(b.nodes, b.edges, b.labels, b.edge_labels));
    }
  }
}

TEST(Jsonl, WritingSubsetsAndOtherTables) {
  const io_test::TemporaryDirectory directory;
  Table t = read("{\"g\": {\"n\": 1, \"edges\": []}}\n{\"g\": {\"n\": 2, \"edges\": []}}\n");
  t.columns[0].values = t.columns[0].objects().subset(std::vector<Index>{1, 1, 0});
  write_table(t, directory / "g.jsonl");
  EXPECT_EQ(io_test::slurp(directory / "g.jsonl"),
            "{\"g\":{\"n\":2,\"edges\":[]}}\n{\"g\":{\"n\":2,\"edges\":[]}}\n{\"g\":{\"n\":1,\"edges\":[]}}\n");
  write_table(io_test::read("1 2:5\n-1 1:0.5\n", {}, "t.svm"), directory / "s.jsonl");
  EXPECT_EQ(io_test::slurp(directory / "s.jsonl"), "{\"x1\":0,\"x2\":5,\"label\":1}\n{\"x1\":0.5,\"x2\":0,\"label\":-1}\n");
  EXPECT_EQ(message_of([&] { write_table(t, directory / "g.csv"); }),
            "column 1 (g) holds graphs, which CSV cannot hold; leave it out, or write JSON lines (.jsonl)");
  EXPECT_HAS(message_of([&] { write_table(t, directory / "g.npy"); }), "which NPY cannot hold");
  EXPECT_HAS(message_of([&] { write_table(t, directory / "g.graphs"); }), "are read, not written");
  Table latin = io_test::read("a,b\nx,1\ny,2\n");
  latin.columns[0].values = std::vector<std::string>{"x", "\xff"};
  EXPECT_HAS(message_of([&] { write_table(latin, directory / "t.jsonl"); }), "in row 2, which is not UTF-8");
}

TEST(Jsonl, ThreadsDoNotMatter) {
  std::string text;
  for (int i = 0; i < 30000; ++i) text += fmt::format("{{\"a\": {}, \"k{}\": [\"w{}\"]}}\n", 1.0 / (i + 1), 1, i);
  const Table one = io_test::read(text, {.run = {.threads = 1}}, "t.jsonl");
  const Table two = io_test::read(text, {.run = {.threads = 2}}, "t.jsonl");
  EXPECT_EQ(one.columns[0].numbers(), two.columns[0].numbers());
  EXPECT_EQ(one.lines, two.lines);
  EXPECT_EQ(strings_of(sets_in(one.columns[1]).elements, ""), strings_of(sets_in(two.columns[1]).elements, ""));
}

TEST(Jsonl, Reuters) {
  const std::string path = MERCER_TESTS "/../../shared/data/strings/reuters_40.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "../shared/data is not there";
  const Table t = read_table(path);
  EXPECT_LIST(t.names, "label", "text");
  EXPECT_EQ(t.rows(), 40);
  EXPECT_EQ(std::count(t.columns[0].text().begin(), t.columns[0].text().end(), "acq"), 20);
  EXPECT_STARTS(t.columns[1].text()[0], "Computer Terminal Systems Inc said");
}

}  // namespace
}  // namespace mercer

// Tables with text, sets and graphs as records for kernels of objects; and the same treatment of new data.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "io_support.hpp"
#include "mercer/chunked_file.hpp"
#include "mercer/dataset.hpp"

namespace mercer {
namespace {

using io_test::message_of;
using io_test::read;

constexpr const char* patients = "age,seq,color,dose,y\n1,ACGT,red,2,0\n3,ACCT,blue,4,1\n5,GG,red,9,1\n";
constexpr const char* molecules =
    "{\"w\": 1, \"g\": {\"n\": 2, \"edges\": [[0, 1]]}, \"y\": \"a\"}\n{\"w\": 3, \"g\": {\"n\": 1, \"edges\": []}, \"y\": \"b\"}\n";

Matrix numbers(const Samples& X) { return X.numbers().to_dense(); }

std::vector<std::string_view> strings_at(const Samples& X, Index column) {
  return strings_of(X.columns(std::vector<Index>{column}), "test");
}

Table json(std::string_view text) { return read(text, {}, "t.jsonl"); }

TEST(DatasetObjects, TextBesideNumbersAndWords) {
  const Dataset d = make_dataset(read(patients), {.one_hot = true, .keep_text = {"seq"}});
  EXPECT_EQ(d.X.width(), 5);
  EXPECT_EQ(d.encoder.width, 5);
  EXPECT_LIST(d.encoder.feature_names(), "age", "seq", "color=blue", "color=red", "dose");
  EXPECT_LIST(d.encoder.column_names(), "age", "seq", "color", "color", "dose");
  EXPECT_LIST(d.X.object_rows().places, 1);
  EXPECT_LIST(strings_at(d.X, 1), "ACGT", "ACCT", "GG");
  EXPECT_EQ(numbers(d.X), (Matrix(3, 4) << 1, 0, 1, 2, 3, 1, 0, 4, 5, 0, 1, 9).finished());
  EXPECT_EQ(d.encoder.features[1].object, ObjectKind::string);
  EXPECT_FALSE(d.encoder.features[0].object);
  EXPECT_EQ(d.notes.size(), 1U) << "nothing was left out";
}

TEST(DatasetObjects, AllTextThatIsLeft) {
  const Dataset d = make_dataset(read(patients), {.drop = {"age", "dose", "color"}, .keep_text = {"*"}});
  EXPECT_EQ(d.X.width(), 1);
  EXPECT_EQ(kind_of(d.X, "test"), ObjectKind::string);
  EXPECT_LIST(strings_of(d.X, "test"), "ACGT", "ACCT", "GG");
  EXPECT_EQ(make_dataset(read(patients), {.keep_text = {"*"}}).X.object_rows().columns.size(), 2U);
  EXPECT_EQ(make_dataset(read("a,y\n1,2\n3,4\n"), {.keep_text = {"*"}}).X.has_objects(), false);
  const Dataset gap = make_dataset(read("seq,y\nAC,1\n\"\",0\n"), {.keep_text = {"seq"}});
  EXPECT_LIST(strings_of(gap.X, "test"), "AC", "") << "a missing text is an empty one";
}

TEST(DatasetObjects, GraphsNeedNoWord) {
  const Dataset d = make_dataset(json(molecules));
  EXPECT_LIST(d.encoder.classes, "a", "b");
  EXPECT_EQ(d.X.width(), 2);
  EXPECT_EQ(d.encoder.features[1].object, ObjectKind::graph);
  const Dataset alone = make_dataset(json(molecules), {.drop = {"w"}});
  ASSERT_EQ(alone.X.width(), 1);
  EXPECT_EQ(graphs_of(alone.X, "test")[0]->nodes, 2);
  const Dataset last = make_dataset(json("{\"v\": 0.5, \"s\": [1]}\n{\"v\": 1.5, \"s\": []}\n"));
  EXPECT_EQ(last.encoder.target, "v") << "the last column that can be a target";
}

TEST(DatasetObjects, ScalesNumbersAlone) {
  const Dataset d = make_dataset(read(patients), {.drop = {"color"}, .keep_text = {"seq"}, .scaling = ScalingKind::min_max});
  EXPECT_EQ(numbers(d.X), (Matrix(3, 2) << 0, 0, 0.5, 2.0 / 7, 1, 1).finished());
  EXPECT_EQ(d.encoder.scaler.scale.size(), 2);
  EXPECT_LIST(strings_at(d.X, 1), "ACGT", "ACCT", "GG");
  const Dataset strings =
      make_dataset(read(patients), {.drop = {"color", "age", "dose"}, .keep_text = {"seq"}, .scaling = ScalingKind::standard});
  EXPECT_EQ(strings.encoder.scaler.kind, ScalingKind::none) << "there is nothing to scale";
}

TEST(DatasetObjects, NewData) {
  const Encoder encoder = make_dataset(read(patients), {.one_hot = true, .keep_text = {"seq"}, .scaling = ScalingKind::min_max}).encoder;
  const Table fresh = read("seq,dose,extra,age,color\nTT,2,0,5,green\nA,9,0,3,red\n");
  const Samples X = encoder.features_of(fresh);
  EXPECT_LIST(strings_at(X, 1), "TT", "A");
  EXPECT_EQ(numbers(X), (Matrix(2, 4) << 1, 0, 0, 0, 0.5, 0, 1, 1).finished());
  EXPECT_EQ(encoder.unseen_categories(fresh).size(), 1U) << "strings are new by nature";
  EXPECT_EQ(message_of([&] { encoder.features_of(read("seq,dose,age,color\n1,2,5,red\n2,2,5,red\n")); }),
            "t.csv: column 1 (seq) holds numbers, wanted text as in the data the model was trained on; read it as text (--text seq)");
  const Encoder graphs = make_dataset(json(molecules)).encoder;
  EXPECT_EQ(graphs.features_of(json(molecules)).width(), 2);
  EXPECT_EQ(message_of([&] { graphs.features_of(json("{\"w\": 1, \"g\": [1]}\n")); }),
            "t.jsonl: column 2 (g) holds sets, wanted graphs as in the data the model was trained on; give the right file");
  EXPECT_HAS(message_of([&] { graphs.features_of(read("w,g\n1,C\n2,D\n")); }), "column 2 (g) holds text, wanted graphs");
  EXPECT_HAS(message_of([&] { graphs.features_of(json("{\"w\": [1], \"g\": {\"n\": 0, \"edges\": []}}\n")); }),
             "column 1 (w) holds sets, wanted numbers");
  EXPECT_HAS(message_of([&] { encoder.unseen_categories(json("{\"age\": 1, \"seq\": \"A\", \"color\": [1], \"dose\": 1}\n")); }),
             "column 3 (color) holds sets, wanted words");
  EXPECT_HAS(message_of([&] { graphs.target_of(json("{\"y\": [1]}\n")); }),
             "the target, column 1 (y), holds sets, which cannot be predicted");
}

TEST(DatasetObjects, Errors) {
  const auto error = [](std::string_view text, const EncodeOptions& options) {
    return message_of([&] { make_dataset(read(text), options); });
  };
  EXPECT_HAS(error(patients, {.keep_text = {"sequence"}}), "t.csv: has no column \"sequence\" for a kernel of strings; it has age, seq");
  EXPECT_HAS(error(patients, {.drop = {"seq"}, .keep_text = {"seq"}}), "it is the target or left out");
  EXPECT_HAS(error(patients, {.keep_text = {"age"}}),
             "column 1 (age) is for a kernel of strings, but holds numbers; read it as text (--text age)");
  EXPECT_EQ(
      error(patients, {.keep_text = {"seq"}}),
      "t.csv:2: column 3 (color) is text (\"red\"); give it to a kernel of strings as it is (--kernel 'spectrum(3)'), make 0/1 columns of "
      "it with --one-hot, or leave it out with --drop color");
  EXPECT_HAS(
      error("seq,y\nAC,1\nAG,0\n", {}),
      "no feature is left beside the target \"y\"; wanted at least one more column, or a kernel of strings (--kernel 'spectrum(3)')");
  Table latin = read("seq,y\nAC,1\nAG,0\n");
  latin.columns[0].values = std::vector<std::string>{"AC", "A\xff"};
  EXPECT_EQ(message_of([&] { make_dataset(latin, {.keep_text = {"*"}}); }),
            "t.csv:3: column 1 (seq) holds \"A\xff\", which is not UTF-8; convert the file (iconv -f LATIN1 -t UTF-8)");
  EXPECT_HAS(error("seq,age,y\nAC,,1\nAG,2,0\n", {.keep_text = {"*"}}), "t.csv:2: column 2 (age) has no value");
  EXPECT_HAS(message_of([&] { make_dataset(json(molecules), {.target = "g"}); }),
             "the target, column 2 (g), holds graphs, which cannot be predicted");
  EXPECT_HAS(message_of([&] { make_dataset(json("{\"s\": [1]}\n{\"s\": [2]}\n")); }),
             "has no column to be the target; wanted one of numbers or text");
}

TEST(DatasetObjects, InPartsNot) {
  const io_test::TemporaryDirectory directory;
  io_test::spill(directory / "t.csv", patients);
  EXPECT_HAS(message_of([&] { FileRows(directory / "t.csv", {.encode = {.one_hot = true, .keep_text = {"seq"}}}); }),
             "column 2 (seq) is text for a kernel of strings, and a file of strings is read whole");
}

}  // namespace
}  // namespace mercer

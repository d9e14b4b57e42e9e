// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/dataset.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "io_support.hpp"

namespace mercer {
namespace {

using io_test::message_of;
using io_test::read;

Matrix dense(const Samples& X) { return X.to_dense(); }

Matrix matrix(Index cols, std::initializer_list<double> values) {
  return Eigen::Map<const Matrix>(values.begin(), static_cast<Index>(values.size()) / cols, cols);
}

std::string dataset_error(std::string_view text, const EncodeOptions& options = {}) {
  return message_of([&] { make_dataset(read(text), options); });
}

TEST(Dataset, RegressionOnTheLastColumn) {
  const Dataset d = make_dataset(read("a,b,price\n1,2,0.5\n3,4,1.5\n"));
  EXPECT_EQ(dense(d.X), matrix(2, {1, 2, 3, 4}));
  EXPECT_EQ(d.y, (Vector(2) << 0.5, 1.5).finished());
  EXPECT_EQ(d.encoder.task, Task::regression);
  EXPECT_EQ(d.encoder.target, "price");
  EXPECT_LIST(d.encoder.feature_names(), "a", "b");
  EXPECT_LIST(d.notes, "The target is column 3 (price), the last one; the task is regression, for its values are not whole numbers.");
}

TEST(Dataset, TargetByNameAndByRequest) {
  const Table t = read("a,Label,b\n1,0.5,2\n3,1.5,4\n");
  EXPECT_EQ(make_dataset(t).encoder.target, "Label");
  EXPECT_STARTS(make_dataset(t).notes[0], "The target is column 2 (Label), by its name;");
  EXPECT_EQ(make_dataset(t, {.target = "a"}).encoder.target, "a");
  EXPECT_EQ(make_dataset(t, {.target = "#3"}).encoder.target, "b");
  EXPECT_EQ(make_dataset(t, {.drop = {"Label"}}).encoder.target, "b");
  EXPECT_EQ(make_dataset(read("y,class\n1,2\n2,1\n")).encoder.target, "y") << "the first word of the list wins";
  EXPECT_HAS(message_of([&] { make_dataset(t, {.target = "c"}); }), "t.csv: has no column \"c\" to be the target; it has a, Label, b");
  EXPECT_HAS(message_of([&] { make_dataset(t, {.drop = {"c"}}); }), "has no column \"c\" to leave out");
  EXPECT_HAS(message_of([&] { make_dataset(t, {.target = "a", .drop = {"a"}}); }), "both the target and left out");
  EXPECT_HAS(message_of([&] { make_dataset(t, {.drop = {"a", "b", "Label"}}); }), "every column is left out");
  EXPECT_HAS(message_of([&] { make_dataset(t, {.drop = {"a", "b"}}); }), "no feature is left beside the target \"Label\"");
}

TEST(Dataset, ClassesInOrder) {
  const Dataset numbers = make_dataset(read("a,y\n1,10\n2,9\n3,-1\n4,10\n"));
  EXPECT_EQ(numbers.encoder.task, Task::classification);
  EXPECT_LIST(numbers.encoder.classes, "-1", "9", "10");
  EXPECT_EQ(numbers.y, (Vector(4) << 2, 1, 0, 2).finished());
  EXPECT_HAS(numbers.notes[0], "classification, for its values are 3 whole numbers");
  const Dataset words = make_dataset(read("a,y\n1,b\n2,a\n3,b\n"));
  EXPECT_LIST(words.encoder.classes, "a", "b");
  EXPECT_EQ(words.y, (Vector(3) << 1, 0, 1).finished());
  EXPECT_EQ(make_dataset(read("a,y\n1,1\n2,0\n"), {.task = Task::regression}).encoder.task, Task::regression);
  EXPECT_EQ(make_dataset(read("a,y\n1,1.5\n2,0.5\n"), {.task = Task::classification}).encoder.classes.size(), 2U);
  EXPECT_STARTS(dataset_error("a,y\n1,x\n2,z\n1,x\n", {.task = Task::regression}),
                "t.csv:2: the target, column 2 (y), holds \"x\", but regression wants a number");
}

TEST(Dataset, TwentyWholeNumbersAreClassesMoreAreNot) {
  std::string text = "a,y\n";
  for (int i = 0; i < 20; ++i) text += "1," + std::to_string(i) + "\n";
  EXPECT_EQ(make_dataset(read(text)).encoder.task, Task::classification);
  EXPECT_EQ(make_dataset(read(text + "1,20\n")).encoder.task, Task::regression);
}

TEST(Dataset, ColumnsThatIdentifyRows) {
  const Dataset d = make_dataset(read("name,a,y\nann,1,0.5\nbob,2,1.5\n"));
  EXPECT_EQ(d.X.width(), 1);
  EXPECT_EQ(d.notes.at(1), "Column 1 (name) is text with a different value in every row: it identifies rows and was left out.");
  EXPECT_HAS(dataset_error("a,name\n1,ann\n2,bob\n3,cid\n"),
             "column 2 (name) would be the target (the last one), but it is text with a different value in every row");
}

TEST(Dataset, SaysWhatCannotTeach) {
  const Dataset d = make_dataset(read("a,b,c,y\n1,5,7,0.5\n2,5,7,0.5\n"));
  EXPECT_EQ(d.notes.at(1), "Columns b, c have the same value in every row and can teach nothing.");
  EXPECT_EQ(d.notes.at(2), "Every row has the target 0.5: there is nothing to learn but that.");
  EXPECT_EQ(make_dataset(read("a,b,y\n1,2,0.5\n2,1,1.5\n")).notes.size(), 1U);
  EXPECT_EQ(make_dataset(read("a,b,y\n1,2,0.5\n")).notes.size(), 1U) << "one row says nothing about constancy";
  EXPECT_HAS(make_dataset(read("a,b,y\n1,5,0.5\n2,,1.5\n3,5,2.5\n"), {.impute = Impute::mean}).notes.at(1), "Column b has the same value");
  EXPECT_EQ(make_dataset(read("a,b,y\n1,u,0.5\n2,,1.5\n3,u,2.5\n"), {.impute = Impute::mean, .one_hot = true}).notes.size(), 1U);
}

TEST(Dataset, SaysThatOrnamentedNumbersAreText) {
  const Dataset d = make_dataset(read("a,price,y\n1,\"$1,000\",0.5\n2,\"$2,500\",1.5\n"));
  EXPECT_EQ(d.notes.at(1), "Column 2 (price) is taken for text, for it holds \"$1,000\"; to use it as numbers, write them like 1000.");
  EXPECT_HAS(d.notes.at(2), "was left out");
  EXPECT_HAS(dataset_error("a,p,y\n1,$5,0.5\n2,$5,1.5\n"), "it holds \"$5\"; to use it as numbers, write them like 5; or make 0/1 columns");
  const auto noted = [](const std::string& cell) {
    const Dataset made = make_dataset(read("p,y\n\"" + cell + "\",0.5\n\"" + cell + "\",1.5\n"), {.one_hot = true});
    const auto is_hint = [](const std::string& note) { return note.find("write them like ") != std::string::npos; };
    const auto hint = std::find_if(made.notes.begin(), made.notes.end(), is_hint);
    return hint == made.notes.end() ? std::string() : hint->substr(hint->find("like ") + 5);
  };
  EXPECT_EQ(noted("-1,234,567.25"), "-1234567.25.");
  EXPECT_EQ(noted("12 %"), "12.");
  EXPECT_EQ(noted("1'000"), "1000.");
  for (const char* other : {"3,14", "1,2,3", "555 1234", "1,0000", ",100", "red", "1.5,000", "2020-01-01"})
    EXPECT_EQ(noted(other), "") << other;
  EXPECT_EQ(noted(std::string(1000, '1') + ",000"), "") << "too long to be one";
  EXPECT_HAS(make_dataset(read("a,price\n1,$5\n2,$6\n3,$5\n")).notes.at(0), "write them like 5");
}

TEST(Dataset, WithoutATarget) {
  const Dataset d = make_dataset(read("a,y\n1,5\n2,7\n"), {.no_target = true});
  EXPECT_EQ(dense(d.X), matrix(2, {1, 5, 2, 7}));
  EXPECT_EQ(d.y.size(), 0);
  EXPECT_TRUE(d.notes.empty());
  const Dataset sparse = make_dataset(read_table_from("1 2:5\n0 1:3\n", "t.svm"), {.no_target = true});
  EXPECT_EQ(sparse.X.width(), 2);
  EXPECT_EQ(sparse.y.size(), 0);
}

TEST(Dataset, SaysWhichCategoriesAreNew) {
  const Dataset d = make_dataset(read("color,a,y\nred,1,0.5\nblue,2,1.5\nred,3,2.5\n"), {.impute = Impute::mean, .one_hot = true});
  EXPECT_TRUE(d.encoder.unseen_categories(read("a,color\n7,red\n8,\n")).empty());
  EXPECT_LIST(
      d.encoder.unseen_categories(read("a,color\n7,red\n8,green\n9,violet\n")),
      "column color has 2 words that the model never saw, the first \"green\" (t.csv:3), in 2 rows; such a row counts as none of the "
      "2 known words");
  EXPECT_LIST(
      d.encoder.unseen_categories(read("a,color\n7,5\n")),
      "column color has a word that the model never saw, \"5\" (t.csv:2), in 1 row; such a row counts as none of the 2 known words; it "
      "was read as numbers here, --text color keeps it as written");
}

TEST(Dataset, TextColumns) {
  const std::string text = "color,a,y\nred,1,0.5\nblue,2,1.5\nred,3,2.5\n";
  EXPECT_EQ(dataset_error(text),
            "t.csv:2: column 1 (color) is text (\"red\"); give it to a kernel of strings as it is (--kernel 'spectrum(3)'), make 0/1 "
            "columns of it with --one-hot, or leave it out with --drop color");
  const Dataset d = make_dataset(read(text), {.one_hot = true});
  EXPECT_EQ(dense(d.X), matrix(3, {0, 1, 1, 1, 0, 2, 0, 1, 3}));
  EXPECT_LIST(d.encoder.feature_names(), "color=blue", "color=red", "a");
  EXPECT_EQ(d.encoder.width, 3);
  EXPECT_EQ(dense(d.encoder.features_of(read("a,color\n7,green\n8,blue\n"))), matrix(3, {0, 0, 7, 1, 0, 8})) << "a new category is zeros";
  EXPECT_HAS(dataset_error("a,b,y\n1,p,0.5\noops,p,1.5\n1,p,2.5\n"), "t.csv:3: column 1 (a), column 2 (b) are text (\"oops\")");
}

TEST(Dataset, MissingValues) {
  std::string text = "a,b,age,y\n";
  for (int i = 0; i < 15; ++i) text += "1,2,3,0.5\n";
  text += "1,2,,0.5\n1,,3,0.5\n";
  EXPECT_EQ(dataset_error(text), "t.csv:17: column 3 (age) has no value; use --impute mean or median when fitting, or remove the row");
  EXPECT_EQ(dataset_error("a,y\n1,0.5\n2,\n", {.impute = Impute::mean}),
            "t.csv:3: the target, column 2 (y), has no value; fill it in or remove the row");
  EXPECT_EQ(dataset_error("a,y\n1,p\n2,\n1,p\n"), "t.csv:3: the target, column 2 (y), has no value; fill it in or remove the row");

  const Table t = read("a,y\n1,0.5\n,1.5\n2,2.5\n9,3.5\n100,4.5\n");
  EXPECT_EQ(dense(make_dataset(t, {.impute = Impute::mean}).X)(1, 0), 28);
  const Dataset d = make_dataset(t, {.impute = Impute::median});
  EXPECT_EQ(dense(d.X)(1, 0), 5.5);
  EXPECT_EQ(dense(d.encoder.features_of(read("a\n7\nNA\n")))(1, 0), 5.5);
  EXPECT_HAS(dataset_error("a,b,y\n,1,0.5\n,2,1.5\n", {.impute = Impute::mean}),
             "column 1 (a) has no values at all; leave it out with --drop a");
  const Dataset plain = make_dataset(read("a,y\n1,0.5\n2,1.5\n"));
  EXPECT_STARTS(message_of([&] { plain.encoder.features_of(read("a\n1\nNA\n")); }), "t.csv:3: column 1 (a) has no value");
  const Dataset words = make_dataset(read("c,y\np,0.5\n,1.5\nq,2.5\nq,3.5\n"), {.impute = Impute::mean, .one_hot = true});
  EXPECT_EQ(dense(words.X).row(1), matrix(2, {0, 0})) << "missing text is no category";
}

TEST(Encoder, ColumnsByNameInAnyOrder) {
  const Dataset d = make_dataset(read("a,b,y\n1,2,0.5\n3,4,1.5\n"));
  const Table other = read("z,y,b,a\n9,7.5,5,6\n");
  EXPECT_EQ(dense(d.encoder.features_of(other)), matrix(2, {6, 5}));
  EXPECT_EQ(d.encoder.target_of(other)->coeff(0), 7.5);
  EXPECT_EQ(d.encoder.target_of(read("a,b\n1,2\n")), std::nullopt);
  EXPECT_EQ(message_of([&] { d.encoder.features_of(read("p,q\n1,2\n")); }),
            "t.csv: lacks the columns a, b that the model was trained on; it has p, q");
  EXPECT_EQ(message_of([&] { d.encoder.features_of(read("a,q\n1,2\n")); }),
            "t.csv: lacks the column b that the model was trained on; it has a, q");
  EXPECT_STARTS(message_of([&] { d.encoder.features_of(read("a,b\n1,x\n2,y\n2,y\n")); }),
                "t.csv:2: column 2 (b) holds \"x\", wanted a number");
}

TEST(Encoder, ColumnsByPositionWithoutAHeader) {
  const Dataset d = make_dataset(read("id,a,y,b\nq,1,0.5,2\nr,3,1.5,4\n"));  // the id goes
  EXPECT_EQ(d.X.width(), 2);
  EXPECT_EQ(dense(d.encoder.features_of(read("6,5\n"))), matrix(2, {6, 5})) << "only the features";
  EXPECT_EQ(dense(d.encoder.features_of(read("s,6,7.5,5\n"))), matrix(2, {6, 5})) << "as in training";
  EXPECT_EQ(d.encoder.target_of(read("s,6,7.5,5\n"))->coeff(0), 7.5);
  EXPECT_EQ(dense(d.encoder.features_of(read("s,6,5\n"))), matrix(2, {6, 5})) << "all but the target";
  EXPECT_HAS(message_of([&] { d.encoder.features_of(read("1\n2\n")); }),
             "t.csv: has 1 columns without names, wanted 2 (the features), or 4 as in the training data");
  const Dataset bare = make_dataset(read("1,2,0.5\n3,4,1.5\n"));
  EXPECT_FALSE(bare.encoder.named);
  EXPECT_EQ(dense(bare.encoder.features_of(read("p,q,r\n6,5,0.5\n"))), matrix(2, {6, 5}));
}

TEST(Encoder, Classes) {
  const Dataset d = make_dataset(read("a,y\n1,1\n2,2\n3,1\n"));
  EXPECT_EQ(*d.encoder.target_of(read("a,y\n5,2\n6,1.0\n")), (Vector(2) << 1, 0).finished());
  EXPECT_EQ(message_of([&] { d.encoder.target_of(read("a,y\n5,2\n6,3\n")); }),
            "t.csv:3: the label \"3\" is not one of the classes the model was trained on (1, 2); correct it or remove the row");
  const Dataset words = make_dataset(read("a,y\n1,p\n2,q\n3,p\n"));
  EXPECT_EQ(*words.encoder.target_of(read("a,y\n5,q\n6,q\n7,p\n")), (Vector(3) << 1, 1, 0).finished());
  EXPECT_HAS(message_of([&] { words.encoder.target_of(read("a,y\n5,q\n6,r\n7,q\n")); }),
             "t.csv:3: the label \"r\" is not one of the classes");
}

TEST(Encoder, ScalingTravels) {
  const Dataset d = make_dataset(read("a,y\n0,0.5\n10,1.5\n"), {.scaling = ScalingKind::min_max});
  EXPECT_EQ(dense(d.X), matrix(1, {0, 1}));
  EXPECT_EQ(dense(d.encoder.features_of(read("a\n5\n20\n"))), matrix(1, {0.5, 2}));
}

TEST(Encoder, SparseRows) {
  const auto svm = [](std::string_view text) { return io_test::read(text, {}, "t.svm"); };
  const Dataset d = make_dataset(svm("1 1:2 3:4\n-1 2:1\n1 3:1\n"));
  EXPECT_TRUE(d.X.is_sparse());
  EXPECT_LIST(d.encoder.classes, "-1", "1");
  EXPECT_EQ(d.y, (Vector(3) << 1, 0, 1).finished());
  EXPECT_STARTS(d.notes[0], "The target is the label at the start of each line;");
  EXPECT_LIST(d.encoder.feature_names(), "x1", "x2", "x3");
  const Samples narrow = d.encoder.features_of(svm("1 1:5\n"));
  EXPECT_TRUE(narrow.is_sparse());
  EXPECT_EQ(dense(narrow), matrix(3, {5, 0, 0}));
  EXPECT_HAS(message_of([&] { d.encoder.features_of(svm("1 4:5\n")); }), "t.svm: has 4 features, but the model was trained on 3");
  EXPECT_HAS(message_of([&] { d.encoder.features_of(read("a,b\n1,2\n")); }), "t.csv: is not LIBSVM");
  EXPECT_STARTS(message_of([&] { d.encoder.target_of(svm("1 1:5\n7 1:5\n")); }), "t.svm:2: the label \"7\" is not one of the classes");
  EXPECT_HAS(message_of([&] { make_dataset(svm("1 1:1\n"), {.target = "x1"}); }), "whose target is the label");
  EXPECT_HAS(message_of([&] { make_dataset(svm("1 1:1\n"), {.drop = {"x1"}}); }), "leave out --drop");
  const Dataset columns = make_dataset(read("a,y\n1,0.5\n2,1.5\n"));
  EXPECT_HAS(message_of([&] { columns.encoder.features_of(svm("1 1:5\n")); }), "t.svm: is LIBSVM, but the model was trained on a table");
}

TEST(Dataset, ManyRowsOverManyBlocks) {
  std::string text = "c,a,y\n";
  for (int i = 0; i < 5000; ++i)
    text += std::string(1, static_cast<char>('p' + i % 3)) + "," + std::to_string(i) + "," + std::to_string(i) + ".5\n";
  const Dataset d = make_dataset(read(text), {.one_hot = true});
  const Matrix X = dense(d.X);
  for (Index i = 0; i < 5000; ++i) {
    ASSERT_EQ(X(i, i % 3), 1);
    ASSERT_EQ(X.row(i).head(3).sum(), 1);
    ASSERT_EQ(X(i, 3), static_cast<double>(i));
    ASSERT_EQ(d.y[i], static_cast<double>(i) + 0.5);
  }
}

}  // namespace
}  // namespace mercer

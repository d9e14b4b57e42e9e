// Files read in parts against the same files read whole: rows, encoders, notes, messages.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/chunked_file.hpp"

#include <fmt/format.h>

#include "data/table_chunks.hpp"
#include "mercer/labels.hpp"
#include "mercer/random.hpp"
#include "unit/data/io_support.hpp"

namespace mercer {
namespace {

using io_test::spill;
using io_test::TemporaryDirectory;
using testing::message_of;

// Quoted fields with line ends, delimiters and quotes; words; gaps; a constant; a column that identifies rows.
std::string odd_csv(Index rows, bool gaps, const char* classes = nullptr) {
  RandomStream random(4);
  std::string text = "id,size,\"note, long\",colour,same,y\n";
  for (Index i = 0; i < rows; ++i) {
    const std::string size = gaps && i % 17 == 3 ? "" : fmt::format("{:.6g}", 100 + random.normal());
    const std::string note = i % 5 == 0 ? "\"two\nlines, and \"\"quotes\"\"\"" : i % 5 == 1 ? "\"a,b\"" : "plain";
    const char* colour = i % 7 == 0 ? "red" : i == rows - 2 ? "late" : "blue";
    const std::string y = classes != nullptr ? std::string(1, classes[i % 3]) : fmt::format("{:.6g}", random.normal());
    text += fmt::format("row{},{},{},{},3.5,{}\n", i, size, note, colour, y);
    if (i % 50 == 7) text += "\n";
  }
  return text;
}

// All rows of a source, joined.
struct Gathered {
  Matrix X;
  Matrix Y;
  Vector w;
};
Gathered gather_all(const RowSource& rows, Index most) {
  Gathered all{Matrix(rows.rows(), rows.width()), Matrix(rows.rows(), rows.targets()), Vector::Zero(rows.rows())};
  Index seen = 0;
  rows.for_each_chunk(most, [&](const RowChunk& chunk) {
    EXPECT_EQ(chunk.first, seen);
    EXPECT_LE(chunk.X.size(), most);
    all.X.middleRows(seen, chunk.X.size()) = chunk.X.to_dense();
    all.Y.middleRows(seen, chunk.X.size()) = chunk.Y;
    if (chunk.weight.size() > 0) all.w.segment(seen, chunk.X.size()) = chunk.weight;
    seen += chunk.X.size();
  });
  EXPECT_EQ(seen, rows.rows());
  return all;
}

// The file in parts is the file.
void expect_same(const std::string& path, const EncodeOptions& encode, std::size_t part_bytes, const ReadOptions& read = {}) {
  const Dataset whole = make_dataset(read_table(path, read), encode);
  const FileRows rows(path, {.read = read, .encode = encode, .part_bytes = part_bytes});
  const Encoder& e = rows.encoder();
  EXPECT_EQ(rows.notes(), whole.notes);
  EXPECT_EQ(e.feature_names(), whole.encoder.feature_names());
  EXPECT_EQ(e.classes, whole.encoder.classes);
  EXPECT_EQ(e.target, whole.encoder.target);
  EXPECT_EQ(e.task, whole.encoder.task);
  ASSERT_EQ(rows.rows(), whole.X.size());
  ASSERT_EQ(rows.width(), whole.X.width());
  const Gathered all = gather_all(rows, 13);
  // The scales are sums in another order; a column of mean 100 and deviation 1 loses two digits more.
  EXPECT_LT((all.X - whole.X.to_dense()).cwiseAbs().maxCoeff(), 1e-11);
  const Matrix targets = e.task == Task::classification ? score_targets(whole.y, static_cast<Index>(e.classes.size())) : Matrix(whole.y);
  EXPECT_EQ(all.Y, targets);
  const Gathered again = gather_all(rows, 1000000);
  EXPECT_EQ(again.X, all.X);
}

TEST(ChunkedFile, CsvWithEverythingOddIsTheSameFile) {
  const TemporaryDirectory folder;
  const std::string path = folder / "odd.csv";
  spill(path, odd_csv(300, false));
  for (const ScalingKind scaling : {ScalingKind::none, ScalingKind::standard, ScalingKind::min_max}) {
    EncodeOptions encode{.one_hot = true, .scaling = scaling};
    expect_same(path, encode, 5000);
    encode.drop = {"note, long"};
    expect_same(path, encode, 4096);
  }
  spill(path, odd_csv(300, true, "abc"));
  expect_same(path, {.impute = Impute::mean, .one_hot = true, .scaling = ScalingKind::standard}, 4096);
  // Without a header and with another end of line; classes that are numbers; a byte order mark.
  std::string plain = "\xEF\xBB\xBF";
  for (int i = 0; i < 2000; ++i) plain += fmt::format("{};{};{}\r\n", i % 13, 0.5 * i, i % 4);
  spill(path, plain);
  expect_same(path, {.scaling = ScalingKind::standard}, 4096);
  expect_same(path, {.target = "#1", .task = Task::regression}, 4096);
}

TEST(ChunkedFile, CompressedFilesToo) {
  const TemporaryDirectory folder;
  const Table table = io_test::read(odd_csv(3000, false));
  for (const std::string name : {"odd.csv.gz", "odd.csv.xz"}) {
    write_table(table, folder / name);
    expect_same(folder / name, {.one_hot = true, .scaling = ScalingKind::standard}, 4096);
  }
}

TEST(ChunkedFile, LibsvmAndNpy) {
  const TemporaryDirectory folder;
  RandomStream random(8);
  for (const int base : {0, 1}) {
    std::string text;
    for (int i = 0; i < 900; ++i) {
      text += fmt::format("{} ", i % 3);
      for (int j = base; j < 30 + base; ++j) {
        if (random.uniform() < 0.2) text += fmt::format("{}:{:.4g} ", j, random.normal());
      }
      text += i == 500 ? "77:1.5 # a comment\n" : "\n";  // a column that only one part has
    }
    spill(folder / "t.svm", text);
    expect_same(folder / "t.svm", {.scaling = ScalingKind::standard}, 4096);
    expect_same(folder / "t.svm", {.task = Task::regression}, 4096, {.width = 90, .zero_based = base == 0});
  }
  Matrix values = random.normal_matrix(3000, 4);
  write_matrix(values, {}, folder / "t.npy");
  expect_same(folder / "t.npy", {.scaling = ScalingKind::standard}, 5000);
}

TEST(ChunkedFile, WeightsComeWithTheRows) {
  const TemporaryDirectory folder;
  std::string text = "x,w,y\n";
  for (int i = 0; i < 1000; ++i) text += fmt::format("{},{},{}\n", i, 0.5 + i % 3, 2.5 * i);
  spill(folder / "t.csv", text);
  const FileRows rows(folder / "t.csv", {.weights = "w", .part_bytes = 4096});
  EXPECT_EQ(rows.width(), 1);
  const Gathered all = gather_all(rows, 100);
  for (Index i = 0; i < 1000; ++i) EXPECT_EQ(all.w[i], 0.5 + static_cast<double>(i % 3));
  const auto message = message_of([&] { FileRows(folder / "t.csv", {.weights = "v"}); });
  EXPECT_NE(message.find("has no column \"v\""), std::string::npos) << message;
}

TEST(ChunkedFile, ErrorsAreThoseOfTheWholeFile) {
  const TemporaryDirectory folder;
  const std::string path = folder / "bad.csv";
  const std::string good = odd_csv(300, false);
  const auto same_error = [&](const std::string& text, const EncodeOptions& encode = {.one_hot = true}) {
    spill(path, text);
    const std::string whole = message_of([&] { make_dataset(read_table(path), encode); });
    const std::string parts = message_of([&] { FileRows(path, {.encode = encode, .part_bytes = 4096}); });
    EXPECT_EQ(parts, whole);
    EXPECT_NE(parts, "(no exception)");
  };
  same_error(good + "x,oops,a,b,1,2\n");
  same_error(good + "x,1,a,b,1\n");
  same_error(good + "x,1,a,b,1,\n");
  same_error(good + "x,,a,b,1,2\n");
  same_error(good + "x,1e999,a,b,1,2\n");
  same_error(good, {});  // text without one_hot
  same_error(good, {.target = "none"});
  same_error("a,b\n");
  same_error("");
  spill(folder / "bad.svm", "1 1:2\n" + std::string(5000, '\n') + "1 2:x\n");
  EXPECT_EQ(message_of([&] { FileRows(folder / "bad.svm", {.part_bytes = 4096}); }), message_of([&] { read_table(folder / "bad.svm"); }));
  spill(path, good);
  EXPECT_NE(message_of([&] { FileRows(path, {.encode = {.impute = Impute::median, .one_hot = true}}); }).find("use --impute mean"),
            std::string::npos);
  EXPECT_NE(message_of([&] { FileRows("-"); }).find("can be read only once"), std::string::npos);
  EXPECT_THROW(FileRows(folder / "none.csv"), FileError);
}

TEST(ChunkedFile, ReadsWhatDoesNotFitTheBudget) {
  const TemporaryDirectory folder;
  const std::string path = folder / "big.csv";
  std::string text = "a,b,y\n";
  for (int i = 0; i < 200000; ++i) text += "0.25,3,1.5\n";
  spill(path, text);  // 2.2 MB of text, 4.8 MB of numbers
  const mercer::Run run{.memory = 2'000'000};
  EXPECT_THROW(read_table(path, {.run = run}), OverBudget);
  EXPECT_TRUE(exceeds_memory(path, run.memory));
  EXPECT_FALSE(exceeds_memory(path, 100'000'000));
  EXPECT_EQ(FileRows(path, {.read = {.run = run}}).rows(), 200000);
}

TEST(ChunkedFile, RecordsAreNotCutInsideQuotes) {
  EXPECT_EQ(csv::cut_at_record("a,b\nc,d\ne", 8, '\n'), 8U);
  EXPECT_EQ(csv::cut_at_record("a,b\nc,d\ne", 7, '\n'), 4U);
  EXPECT_EQ(csv::cut_at_record("a,\"b\nc\",d\ne", 6, '\n'), std::string_view::npos);
  EXPECT_EQ(csv::cut_at_record("a,\"b\nc\",d\ne", 11, '\n'), 10U);
  EXPECT_EQ(csv::cut_at_record("abc", 3, '\n'), std::string_view::npos);
}

}  // namespace
}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/text.hpp"
#include "io_support.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

using io_test::same_bits;

Table read(std::string_view text, const ReadOptions& options = {}) { return io_test::read(text, options, "t.svm"); }
std::string error_of(std::string_view text, const ReadOptions& options = {}) { return io_test::error_of(text, options, "t.svm"); }

TEST(Libsvm, RowsStaySparse) {
  const Table t = read("+1 1:0.5 3:-2 # a comment 9:9\n-1 qid:4 2:1e-3\n\n# only a comment\n1\n2.5 4:+1 \r\n");
  ASSERT_TRUE(t.sparse);
  EXPECT_TRUE(t.sparse->is_sparse());
  EXPECT_EQ(t.rows(), 4);
  EXPECT_EQ(t.sparse->width(), 4);
  EXPECT_LIST(t.sparse_labels, 1, -1, 1, 2.5);
  EXPECT_LIST(t.lines, 1, 2, 5, 6);
  Matrix wanted(4, 4);
  wanted << 0.5, 0, -2, 0, 0, 1e-3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1;
  EXPECT_EQ(t.sparse->to_dense(), wanted);
  EXPECT_EQ(t.format, FileFormat::libsvm);
}

TEST(Libsvm, IndicesFromZero) {
  EXPECT_EQ(read("1 0:5 2:6\n1 1:7\n").sparse->width(), 3);
  EXPECT_EQ(read("1 1:5\n", {.zero_based = true}).sparse->width(), 2);
  EXPECT_HAS(error_of("1 0:5\n", {.zero_based = false}), "has a feature with index 0");
}

TEST(Libsvm, UnsortedRowsAreSorted) {
  const Table t = read("1 5:5 2:2 9:9\n");
  const auto& rows = std::get<CsrRows<double>>(t.sparse->storage());
  EXPECT_EQ(std::vector<std::int32_t>(rows.columns, rows.columns + 3), (std::vector<std::int32_t>{1, 4, 8}));
  EXPECT_EQ(std::vector<double>(rows.values, rows.values + 3), (std::vector<double>{2, 5, 9}));
}

TEST(Libsvm, Width) {
  EXPECT_EQ(read("1 2:1\n", {.width = 10}).sparse->width(), 10);
  EXPECT_STARTS(error_of("1 2:1\n1 3:1 11:1\n", {.width = 10}), "t.svm:2: feature 11 is beyond the 10 features wanted");
  EXPECT_EQ(read("1\n-1\n").sparse->width(), 0);
  EXPECT_HAS(error_of("1 1:1\n", {.width = -1}), "the width must be from 1");
}

TEST(Libsvm, Errors) {
  EXPECT_STARTS(error_of("1 1:1\nspam 1:1\n"), "t.svm:2:1: the label \"spam\" is not a finite number");
  EXPECT_STARTS(error_of("1,2 1:1\n"), "t.svm:1:1: \"1,2\" are several labels, wanted one number");
  EXPECT_STARTS(error_of("1 1:1\n1:2 3:4\n"), "t.svm:2:1: the line begins with \"1:2\", wanted a label");
  EXPECT_STARTS(error_of("1 1:1 2\n"), "t.svm:1:7: \"2\" is not a feature, wanted index:value");
  EXPECT_STARTS(error_of("1 a:1\n"), "t.svm:1:3: \"a:1\" is not a feature");
  EXPECT_STARTS(error_of("1 1:\n"), "t.svm:1:5: the value \"\" of feature 1 is not a finite number");
  EXPECT_STARTS(error_of("1 1:x\n"), "t.svm:1:5: the value \"x\" of feature 1 is not a finite number");
  EXPECT_STARTS(error_of("1 1:nan\n"), "t.svm:1:5: the value \"nan\"");
  EXPECT_STARTS(error_of("1 1:1e999\n"), "t.svm:1:5: the value \"1e999\"");
  EXPECT_STARTS(error_of("1 -1:2\n"), "t.svm:1:3: the index in \"-1:2\" is out of range, wanted 1 to 2147483646");
  EXPECT_STARTS(error_of("1 99999999999999999999:2\n"), "t.svm:1:3: the index in");
  EXPECT_STARTS(error_of("1 2147483647:2\n"), "t.svm:1:3: the index in");
  EXPECT_STARTS(error_of("1 1:2\n2 3:1 1:2 3:4\n"), "t.svm:2:1: feature 3 comes twice on this line");
  EXPECT_STARTS(error_of("nan 1:2\n"), "t.svm:1:1: the label \"nan\"");
  EXPECT_STARTS(error_of("# nothing\n\n"), "t.svm: has no rows");
  EXPECT_STARTS(error_of(std::string_view("1 1:2\n\0\n", 8)), "t.svm:2: has a NUL byte");
}

TEST(Libsvm, FoundByContent) {
  EXPECT_TRUE(io_test::read("1 1:2 3:4\n-1 2:1\n", {}, "data.txt").sparse);
  EXPECT_TRUE(io_test::read("-1\n1 2:1\n", {}, "-").sparse);
  EXPECT_FALSE(io_test::read("1 2 3\n4 5 6\n", {}, "data.txt").sparse);
  EXPECT_FALSE(io_test::read("time,a\n12:30,1\n13:30,2\n", {}, "data.txt").sparse);
  EXPECT_FALSE(io_test::read("a 12:30:00\nb 13:30:00\n", {}, "data.txt").sparse);
}

std::string random_rows(std::size_t size) {
  RandomStream random(2, 0);
  std::string text;
  while (text.size() < size) {
    text += std::to_string(random.below(3));
    Index index = 0;
    for (Index k = random.below(30); k > 0; --k) {
      index += 1 + random.below(20);
      text += fmt::format(" {}:{}", index, random.normal());
    }
    text += random.below(30) == 0 ? "\n\n" : "\n";
  }
  return text;
}

TEST(Libsvm, ThreadsLeaveNoTrace) {
  const std::string text = random_rows(4 * chunk_bytes + 99);
  ReadOptions options;
  options.run.threads = 1;
  const Table one = read(text, options);
  options.run.threads = 2;
  const Table two = read(text, options);
  EXPECT_EQ(one.sparse_labels, two.sparse_labels);
  EXPECT_EQ(one.lines, two.lines);
  EXPECT_EQ(one.sparse->to_dense(), two.sparse->to_dense());
  EXPECT_EQ(one.rows(), one.lines.size() + 0L);
  EXPECT_EQ(one.line_of(one.rows() - 1), std::count(text.begin(), text.end(), '\n') - (text.ends_with("\n\n") ? 1 : 0));
}

TEST(Libsvm, RoundTrip) {
  const io_test::TemporaryDirectory directory;
  const Table table = read(random_rows(20000));
  write_table(table, directory / "t.svm");
  const Table back = read_table(directory / "t.svm");
  EXPECT_EQ(back.sparse_labels, table.sparse_labels);
  EXPECT_EQ(back.sparse->to_dense(), table.sparse->to_dense());
  write_table(table, directory / "t.csv");
  const Table dense = read_table(directory / "t.csv");
  EXPECT_EQ(dense.names.back(), "label");
  EXPECT_EQ(dense.columns.back().numbers(), table.sparse_labels);
  const Matrix X = table.sparse->to_dense();
  ASSERT_EQ(std::ssize(dense.columns), X.cols() + 1);
  for (Index j = 0; j < X.cols(); ++j) {
    for (Index i = 0; i < X.rows(); ++i)
      ASSERT_TRUE(same_bits(dense.columns[static_cast<std::size_t>(j)].numbers()[static_cast<std::size_t>(i)], X(i, j)));
  }
  write_table(dense, directory / "again.svm");
  EXPECT_EQ(io_test::slurp(directory / "again.svm"), io_test::slurp(directory / "t.svm"));
}

TEST(Libsvm, AnyByteChanged) {
  const std::string text = "+1 1:0.5 3:-2 # c\n-1 qid:4 2:1e-3\n\n2.5 4:1 9:9\n";
  ReadOptions options;
  options.run.memory = 1 << 30;  // spares asking the machine 12 000 times
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[i] = static_cast<char>(byte);
      try {
        const Table t = read(changed, options);
        ASSERT_TRUE(t.sparse);
        ASSERT_EQ(std::ssize(t.sparse_labels), t.rows());
        const auto& rows = std::get<CsrRows<double>>(t.sparse->storage());
        for (Index p = 0; p < rows.nonzeros(); ++p) ASSERT_LT(rows.columns[p], rows.cols);
      } catch (const Error& error) {
        ASSERT_STREQ(std::string(error.what()).substr(0, 5).c_str(), "t.svm");
      }
    }
  }
}

}  // namespace
}  // namespace mercer

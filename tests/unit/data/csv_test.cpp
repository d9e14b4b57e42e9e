// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>

#include "io_support.hpp"

namespace mercer {
namespace {

using io_test::error_of;
using io_test::read;

TEST(Csv, NumbersUnderAHeader) {
  const Table t = read("a,b\n1,2.5\n-3,4e2\n");
  EXPECT_LIST(t.names, "a", "b");
  EXPECT_TRUE(t.has_header);
  EXPECT_EQ(t.rows(), 2);
  EXPECT_LIST(t.columns[0].numbers(), 1, -3);
  EXPECT_LIST(t.columns[1].numbers(), 2.5, 400);
  EXPECT_EQ(t.line_of(1), 3);
  EXPECT_TRUE(t.lines.empty());
}

TEST(Csv, NoHeader) {
  const Table t = read("1,2\n3,4\n");
  EXPECT_LIST(t.names, "x1", "x2");
  EXPECT_FALSE(t.has_header);
  EXPECT_EQ(t.line_of(0), 1);
  EXPECT_EQ(read("1,2\n").rows(), 1);
}

TEST(Csv, EveryDelimiter) {
  for (const char d : {',', ';', '\t', '|', ' '}) {
    std::string text = "a.b.c\n1.2.3\n4.5.6\n";
    for (char& c : text) c = c == '.' ? d : c;
    const Table t = read(text);
    ASSERT_EQ(t.columns.size(), 3U) << d;
    EXPECT_LIST(t.columns[2].numbers(), 3, 6);
  }
}

TEST(Csv, BlanksInRunsAndAtTheEdges) {
  const Table t = read("  1   2\t3  \n 4 5    6\r\n");
  EXPECT_EQ(t.columns.size(), 3U);
  EXPECT_LIST(t.columns[1].numbers(), 2, 5);
}

TEST(Csv, DelimiterOfTextWithOtherDelimitersInIt) {
  EXPECT_EQ(read("name;a;b\nDoe, John;1;2\nRoe, Ann;3;4\n").columns.size(), 3U);
  EXPECT_EQ(read("\"a,b\";1\n\"c\";2\n").columns.size(), 2U);
  EXPECT_EQ(read("John Smith\nJane Doe\n").columns.size(), 1U) << "names are not a table";
}

TEST(Csv, Quotes) {
  const Table t = read("name,v\n\"a,\"\"b\"\"\nc\",1\n \"d\" , 2\n\"\",3\n\"NA\",4\nNA,5\n");
  EXPECT_LIST(t.columns[0].text(), "a,\"b\"\nc", "d", "", "NA", "");
  EXPECT_LIST(t.columns[0].missing, 2, 4);
  EXPECT_LIST(t.columns[1].numbers(), 1, 2, 3, 4, 5);
  EXPECT_LIST(t.lines, 2, 4, 5, 6, 7);
  EXPECT_LIST(read("\"1.5\",2\n\"2.5\",3\n").columns[0].numbers(), 1.5, 2.5);
}

TEST(Csv, LineEnds) {
  for (const char* text : {"a,b\r\n1,2\r\n3,4\r\n", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r", "a,b\r1,2\r3,4\r",
                           "\xEF\xBB\xBF"
                           "a,b\n1,2\n3,4\n"}) {
    const Table t = read(text);
    EXPECT_LIST(t.names, "a", "b") << text;
    EXPECT_LIST(t.columns[1].numbers(), 2, 4) << text;
    EXPECT_EQ(t.line_of(1), 3) << text;
  }
}

TEST(Csv, BlankLinesAreSkippedButCounted) {
  const Table t = read("\na,b\n\n1,2\n \t \n\n3,4\n\n");
  EXPECT_LIST(t.columns[0].numbers(), 1, 3);
  EXPECT_LIST(t.lines, 4, 7);
}

TEST(Csv, NumbersAsPeopleWriteThem) {
  const Table t = read("a,b\n+1, 2 \n.5,5.\n-0.0,1E-3\n1e-999,00012\n123456789012345678901234567890,0.1\n");
  EXPECT_LIST(t.columns[0].numbers(), 1, 0.5, -0.0, 0, 123456789012345678901234567890.0);
  EXPECT_TRUE(std::signbit(t.columns[0].numbers()[2]));
  EXPECT_LIST(t.columns[1].numbers(), 2, 5, 1e-3, 12, 0.1);
}

TEST(Csv, MissingValues) {
  const Table t = read("a,b\n1,2\n,NA\n?,nan\nN/A,NULL\n-nan,#N/A\n5,6\n");
  for (const Column& column : t.columns) {
    EXPECT_FALSE(column.is_text());
    EXPECT_LIST(column.missing, 1, 2, 3, 4);
    EXPECT_TRUE(std::isnan(column.numbers()[3]));
  }
  EXPECT_LIST(read("a,b\n,x\n,y\n").columns[0].missing, 0, 1) << "a column may be empty throughout";
}

TEST(Csv, HeaderOrNot) {
  EXPECT_TRUE(read("name,color\nann,red\nbob,red\n").has_header);
  EXPECT_FALSE(read("ann,red\nbob,red\ncid,red\n").has_header) << "red comes again";
  EXPECT_FALSE(read("ACGT\nGGTA\nTTTT\n").has_header);
  EXPECT_TRUE(read("sequence\nGGTA\nTTTT\n").has_header);
  EXPECT_TRUE(read(",a,b\n0,1,2\n1,3,4\n").has_header);
  EXPECT_FALSE(read("id7,1,2\nid8,3,4\n").has_header);
  EXPECT_EQ(read("1,2\n3,4\n", {.header = true}).rows(), 1);
  EXPECT_EQ(read("a,b\nc,d\n", {.header = false}).rows(), 2);
}

TEST(Csv, NamesAreMadeUnique) {
  EXPECT_LIST(read("a,a,,a_2,a\n1,2,3,4,5\n").names, "a", "a_3", "x3", "a_2", "a_4");
  EXPECT_LIST(read("x2,,x\n1,2,3\n").names, "x2", "x2_2", "x");
}

TEST(Csv, ATrailingDelimiterIsNoColumn) {
  const Table t = read("1,2,\n3,4,\n");
  EXPECT_EQ(t.columns.size(), 2U);
  EXPECT_EQ(t.names.size(), 2U);
  EXPECT_EQ(read("a,b,c\n1,2,\n3,4,\n").columns.size(), 3U) << "a named one stays";
}

TEST(Csv, TextColumnsByRequestAndByContent) {
  EXPECT_TRUE(read("zip,v\n01234,1\n99999,2\n", {.text_columns = {"zip"}}).columns[0].is_text());
  EXPECT_LIST(read("zip,v\n01234,1\n", {.text_columns = {"#1"}}).columns[0].text(), "01234");
  EXPECT_HAS(error_of("zip,v\n1,1\n", {.text_columns = {"zap"}}),
             "has no column \"zap\" to read as text, did you mean zip?; it has zip, v");
  EXPECT_TRUE(read("a,b\n1,2\nx,3\n").columns[0].is_text()) << "half of it is words";
}

TEST(Csv, Finding) {
  const Table t = read("a,b\n1,2\n");
  EXPECT_EQ(t.find("b"), 1);
  EXPECT_EQ(t.find("#2"), 1);
  EXPECT_EQ(t.find("#3"), -1);
  EXPECT_EQ(t.find("#"), -1);
  EXPECT_EQ(t.find("#1x"), -1);
  EXPECT_EQ(t.find("c"), -1);
}

std::string rows_then(const std::string& last) {
  std::string text = "age,height\n";
  for (int i = 0; i < 15; ++i) text += "1,2\n";
  return text + last + "\n3,4\n";
}

TEST(CsvErrors, AWordAmongNumbers) {
  EXPECT_EQ(
      error_of(rows_then("1,abc")),
      "t.csv:17:2: \"abc\" is not a number as the rest of column 2 (height) is; correct it, or read the column as text (--text height)");
  std::string late = "a,b\n";
  for (int i = 0; i < 5000; ++i) late += "1,2\n";
  EXPECT_STARTS(error_of(late + "1,2\nx,2\n1,y\n"), "t.csv:5003:1: \"x\" is not a number");
}

TEST(CsvErrors, OverflowAndInfinity) {
  EXPECT_STARTS(error_of(rows_then("1e999,1")), "t.csv:17:1: \"1e999\" in column 1 (age) overflows");
  EXPECT_HAS(error_of(rows_then("1,-1e400")), "overflows");
  EXPECT_STARTS(error_of(rows_then("1,-inf")), "t.csv:17:2: \"-inf\" in column 2 (height) is infinite");
  EXPECT_HAS(error_of(rows_then("Infinity,1")), "is infinite");
}

TEST(CsvErrors, RaggedRows) {
  EXPECT_EQ(error_of("a,b\n1,2\n1,2,3\n"),
            "t.csv:3: has 3 columns, wanted 2 as in the first line; correct the line, putting text with delimiters in quotes");
  EXPECT_STARTS(error_of("a,b,c\n1,2,3\n\n1,2\n4,5,6\n"), "t.csv:4: has 2 columns, wanted 3 as in the first line");
  EXPECT_STARTS(error_of("1 2 3\n4 5 6\n7 8\n9 9 9\n"), "t.csv:3: has 2 columns, wanted 3");
}

TEST(CsvErrors, Quotes) {
  EXPECT_STARTS(error_of("a,b\n1,\"x\"y\n"), "t.csv:2:2: \"y\" follows a closing quote, wanted \",\" or the end of the line");
  EXPECT_STARTS(error_of("a,b\n1,2\n\"x,3\n4,5\n", {.delimiter = ','}), "t.csv:3:1: the quote that opens here is never closed");
  EXPECT_STARTS(error_of("a,b\n1,x\"y\"\n", {.delimiter = ','}), "t.csv:2:2: \"x\"y\"\" has a quote inside a field");
}

TEST(CsvErrors, DecimalComma) {
  EXPECT_STARTS(error_of("a;b\n1,5;2\n2,5;3\n"),
                "t.csv:2:1: \"1,5\" in column 1 (a) looks like a number with a decimal comma, wanted a decimal point");
  EXPECT_HAS(error_of("a;b\n1,5;2\n2,5;3\n"), "sed 's/,/./g'");
  EXPECT_HAS(error_of("1,5;2,5\n2,5;3,5\n"), "decimal comma");
  EXPECT_TRUE(read("a;b\n1,5;2\n", {.text_columns = {"a"}}).columns[0].is_text());
}

TEST(CsvErrors, NothingThere) {
  EXPECT_EQ(error_of(""), "t.csv: is empty; wanted rows of data");
  EXPECT_EQ(error_of("\n \n\r\n"), "t.csv: is empty; wanted rows of data");
  EXPECT_EQ(error_of("\xEF\xBB\xBF"), "t.csv: is empty; wanted rows of data");
  EXPECT_EQ(error_of("a,b\n"), "t.csv: has a header but no rows; wanted rows of numbers below it");
  EXPECT_EQ(error_of("1,2\n", {.header = true}), "t.csv: has a header but no rows; wanted rows of numbers below it");
}

TEST(CsvErrors, NotText) {
  using namespace std::string_view_literals;
  EXPECT_STARTS(error_of("a,b\n1,2\n1,\0\n"sv), "t.csv:3: has a NUL byte");
  EXPECT_STARTS(error_of("a,b\nx,2\n\0,3\n"sv), "t.csv:3: has a NUL byte");
  EXPECT_STARTS(error_of("a\0,b\n1,2\n"sv), "t.csv:1: has a NUL byte");
  EXPECT_HAS(error_of("\xFF\xFE\x31\0\x0A\0"sv), "is UTF-16 text, wanted UTF-8");
  EXPECT_STARTS(error_of("caf\xE9,b\n1,2\n"), "t.csv:1:1: a column name is not UTF-8 (byte 0xE9)");
  EXPECT_STARTS(error_of("a,b\nx,2\ncaf\xE9,2\n"), "t.csv:3:1: the text in column 1 (a) is not UTF-8");
}

TEST(CsvErrors, Delimiter) {
  EXPECT_HAS(error_of("1,2\n", {.delimiter = '"'}), "the delimiter cannot be \"\"\"");
  EXPECT_HAS(error_of("1,2\n", {.delimiter = '1'}), "the delimiter cannot be");
}

TEST(Numbers, Parsing) {
  EXPECT_EQ(parse_number(" +1.5\t"), 1.5);
  EXPECT_EQ(parse_number("-1e-2"), -0.01);
  for (const char* text : {"", " ", "+", "-", "+-1", "++1", "1e999", "nan", "inf", "1 2", "0x10", "1e", "1,5", ".", "abc", "1_000"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

TEST(Numbers, Formatting) {
  EXPECT_EQ(format_number(1), "1");
  EXPECT_EQ(format_number(-0.1), "-0.1");
  EXPECT_EQ(format_number(100000), "100000");
  for (const double value : {0.1 + 0.2, 1e300, 5e-324, 123456789.125, -1e-7, 1.7976931348623157e308})
    EXPECT_EQ(parse_number(format_number(value)), value);
}

TEST(Csv, Cancelling) {
  std::string text = "a,b\n";
  for (int i = 0; i < 2000000; ++i) text += "1,2\n";
  ReadOptions options;
  int calls = 0;
  options.run.threads = 1;
  options.run.progress = [&](const ProgressEvent& event) {
    ++calls;
    EXPECT_EQ(event.stage, "reading t.csv");
    return false;
  };
  try {
    read(text, options);  // on a very fast machine it may end before the first call
  } catch (const Cancelled&) {
    EXPECT_EQ(calls, 1);
    return;
  }
  EXPECT_EQ(calls, 0);
}

TEST(Csv, OverBudget) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "1,2\n";
  ReadOptions options;
  options.run.memory = 100000;
  EXPECT_THROW(read(text, options), OverBudget);
}

}  // namespace
}  // namespace mercer

// Files of strings: one a line, and FASTA.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "io_support.hpp"
#include "mercer/chunked_file.hpp"

namespace mercer {
namespace {

using io_test::error_of;
using io_test::message_of;
using io_test::read;

constexpr const char* two_sequences = ">s1 Homo sapiens\nAC GT\nTT\n\n>s2\r\nGGA\r\n";

TEST(Lines, OneStringALine) {
  const Table t = read("a,b\n\n 1 \r\nlast", {.format = FileFormat::lines}, "t.txt");
  ASSERT_EQ(t.columns.size(), 1U);
  EXPECT_LIST(t.names, "text");
  EXPECT_LIST(t.columns[0].text(), "a,b", "", " 1 ", "last") << "blanks and empty lines are strings too";
  EXPECT_EQ(t.line_of(3), 4);
  EXPECT_EQ(t.format, FileFormat::lines);
}

TEST(Lines, ByTheNameOrWhenAsked) {
  EXPECT_EQ(read("1\n2\n", {}, "t.strings").format, FileFormat::lines);
  EXPECT_EQ(read("1\n2\n", {}, "t.strings.gz").format, FileFormat::lines);
  EXPECT_EQ(read("1\n2\n", {}, "t.txt").format, FileFormat::csv);
}

TEST(Lines, Errors) {
  EXPECT_STARTS(error_of("a\nb\xff\n", {}, "t.strings"), "t.strings:2: is not UTF-8 (byte 0xFF); convert the file");
  EXPECT_STARTS(error_of(std::string_view("a\nb\0c\n", 6), {}, "t.strings"), "t.strings:2: has a NUL byte");
  EXPECT_HAS(error_of("", {}, "t.strings"), "is empty");
}

TEST(Fasta, SequencesOverManyLines) {
  for (const char* name : {"t.fa", "t.FASTA", "t.txt", "-"}) {
    const Table t = read(two_sequences, {}, name);
    EXPECT_EQ(t.format, FileFormat::fasta) << name;
    EXPECT_LIST(t.names, "name", "description", "sequence");
    EXPECT_LIST(t.columns[0].text(), "s1", "s2");
    EXPECT_LIST(t.columns[1].text(), "Homo sapiens", "");
    EXPECT_LIST(t.columns[1].missing, 1);
    EXPECT_LIST(t.columns[2].text(), "ACGTTT", "GGA");
    EXPECT_LIST(t.lines, 1, 5);
  }
  EXPECT_LIST(read("; old\n>a\nA\n>b\nC", {}, "t.fa").names, "name", "sequence") << "no description anywhere, no column";
}

TEST(Fasta, CsvStaysCsv) {
  const Table t = read(">50K,x\n1,2\n3,4\n", {}, "t.csv");
  EXPECT_EQ(t.format, FileFormat::csv);
  EXPECT_LIST(t.names, ">50K", "x");
}

TEST(Fasta, Errors) {
  EXPECT_EQ(error_of(">a\nAC\n>b\n>c\nA\n", {}, "t.fa"),
            "t.fa:3: \">b\" has no sequence; wanted its letters on the lines behind it, or remove the line");
  EXPECT_STARTS(error_of(">a\n", {}, "t.fa"), "t.fa:1: \">a\" has no sequence");
  EXPECT_EQ(error_of("\nACGT\n>a\nA\n", {}, "t.fa"),
            "t.fa:2: begins with \"ACGT\", wanted a line like \">name description\" before the first sequence");
  EXPECT_HAS(error_of("\n\n", {}, "t.fa"), "t.fa: has no sequence");
  EXPECT_STARTS(error_of(">a\nA\xc3\n", {}, "t.fa"), "t.fa:2: is not UTF-8");
}

TEST(Strings, AreReadWhole) {
  const io_test::TemporaryDirectory directory;
  io_test::spill(directory / "t.fa", two_sequences);
  EXPECT_EQ(message_of([&] { FileRows(directory / "t.fa", {}); }),
            (directory / "t.fa") +
                ": a file of strings is read whole and cannot be read in parts; take fewer rows, or allow more memory (--memory)");
}

}  // namespace
}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "data/python_literal.hpp"
#include "io_support.hpp"

namespace mercer {
namespace {

Table read(std::string_view bytes) { return io_test::read(bytes, {}, "t.npy"); }
std::string error_of(std::string_view bytes) { return io_test::error_of(bytes, {}, "t.npy"); }

std::string npy(const std::string& header, const std::string& values, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) out += static_cast<char>(header.size() >> (8 * k));
  return out + header + values;
}

std::string header_of(const std::string& type, const std::string& shape, bool fortran = false) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", type, fortran ? "True" : "False", shape);
}

template <class T>
std::string raw(std::initializer_list<T> values, bool big_endian = false) {
  std::string out;
  for (const T value : values) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    if (big_endian) std::reverse(bytes, bytes + sizeof(T));
    out.append(bytes, sizeof(T));
  }
  return out;
}

template <class T>
void expect_type(const std::string& code) {
  for (const bool big_endian : {false, true}) {
    const std::string type = (big_endian ? ">" : "<") + code;
    const Table t = read(npy(header_of(type, "(2, 3)"), raw<T>({T(1), T(2), T(3), T(4), T(5), T(6)}, big_endian)));
    ASSERT_EQ(t.columns.size(), 3U) << type;
    EXPECT_LIST(t.columns[0].numbers(), 1, 4) << type;
    EXPECT_LIST(t.columns[2].numbers(), 3, 6) << type;
    const Table f = read(npy(header_of(type, "(2, 3)", true), raw<T>({T(1), T(2), T(3), T(4), T(5), T(6)}, big_endian)));
    EXPECT_LIST(f.columns[0].numbers(), 1, 2) << type;
    EXPECT_LIST(f.columns[2].numbers(), 5, 6) << type;
  }
}

TEST(Npy, Types) {
  expect_type<float>("f4");
  expect_type<double>("f8");
  expect_type<std::int8_t>("i1");
  expect_type<std::int16_t>("i2");
  expect_type<std::int32_t>("i4");
  expect_type<std::int64_t>("i8");
  expect_type<std::uint8_t>("u1");
  expect_type<std::uint16_t>("u2");
  expect_type<std::uint32_t>("u4");
  expect_type<std::uint64_t>("u8");
  EXPECT_LIST(read(npy(header_of("|b1", "(3,)"), std::string("\1\0\1", 3))).columns[0].numbers(), 1, 0, 1);
  EXPECT_LIST(read(npy(header_of("<f2", "(2,)"), raw<std::uint16_t>({0x3C00, 0xC000}))).columns[0].numbers(), 1, -2);
  EXPECT_LIST(read(npy(header_of("<i2", "(1,)"), raw<std::int16_t>({-5}))).columns[0].numbers(), -5);
  EXPECT_LIST(read(npy(header_of(">u2", "(1,)"), raw<std::uint16_t>({65535}, true))).columns[0].numbers(), 65535);
}

TEST(Npy, Versions) {
  for (const int version : {1, 2, 3}) {
    const Table t = read(npy(header_of("<f8", "(2,)"), raw<double>({1.5, 2.5}), version));
    EXPECT_LIST(t.columns[0].numbers(), 1.5, 2.5);
    EXPECT_LIST(t.names, "x1");
    EXPECT_FALSE(t.has_header);
    EXPECT_EQ(t.format, FileFormat::npy);
  }
  EXPECT_EQ(error_of(npy(header_of("<f8", "(1,)"), raw<double>({1}), 4)), "t.npy: is NPY version 4, wanted 1, 2 or 3");
}

TEST(Npy, WritingCanBeStopped) {
  const io_test::TemporaryDirectory directory;
  const Matrix values = Matrix::Ones(50, 3);
  for (const char* name : {"m.npy", "m.csv", "m.csv.gz", "m.svm"}) {
    std::ofstream(directory / name) << "as before";
    testing::on_new_thread([&] {
      const mercer::Run stopped{.progress = [](const ProgressEvent&) { return false; }};
      EXPECT_THROW(write_matrix(values, {}, directory / name, {.run = stopped}), Cancelled);
    });
    EXPECT_EQ(io_test::slurp(directory / name), "as before");
  }
  EXPECT_EQ(directory.files(), 4U);
}

TEST(Npy, MissingAndInfinite) {
  const double nan = std::nan("");
  EXPECT_LIST(read(npy(header_of("<f8", "(3,)"), raw<double>({1, nan, 3}))).columns[0].missing, 1);
  EXPECT_STARTS(error_of(npy(header_of("<f8", "(2, 2)"), raw<double>({1, 2, 3, std::numeric_limits<double>::infinity()}))),
                "t.npy: the value in row 2, column 2 is infinite");
}

TEST(Npy, HostileHeaders) {
  const std::string two = raw<double>({1, 2});
  EXPECT_HAS(error_of(npy(header_of("<f8", "(3,)"), two)), "has 16 bytes of values, but its header announces 3 x 1 values of 8 bytes");
  EXPECT_HAS(error_of(npy(header_of("<f8", "(1,)"), two)), "announces 1 x 1 values");
  EXPECT_HAS(error_of(npy(header_of("<f8", "(4611686018427387904, 4611686018427387904)"), two)), "announces");
  EXPECT_HAS(error_of(npy(header_of("<f8", "(2305843009213693954,)"), two)), "announces") << "its size in bytes is 16 modulo 2^64";
  EXPECT_HAS(error_of(npy(header_of("<f8", "(99999999999999999999,)"), two)), "is not a Python dictionary");
  EXPECT_HAS(error_of(npy(header_of("<f8", "(-2,)"), two)), "shape is not made of numbers >= 0");
  EXPECT_HAS(error_of(npy(header_of("<f8", "(0, 5)"), "")), "holds an empty array (0 x 5)");
  EXPECT_HAS(error_of(npy(header_of("<f8", "()"), two)), "an array of 0 dimensions, wanted 1 or 2");
  EXPECT_HAS(error_of(npy(header_of("<f8", "(2, 1, 1)"), two)), "an array of 3 dimensions");
  EXPECT_HAS(error_of(npy(header_of("|O", "(2,)"), two)), "holds values of type \"|O\", wanted f2, f4, f8");
  EXPECT_HAS(error_of(npy(header_of("<c16", "(1,)"), two)), "\"<c16\"");
  EXPECT_HAS(error_of(npy(header_of("<U4", "(1,)"), two)), "\"<U4\"");
  EXPECT_HAS(error_of(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}", two)), "records with named fields");
  EXPECT_HAS(error_of(npy("{'descr': '<f8', 'shape': (2,)}", two)), "lacks descr, fortran_order or shape");
  EXPECT_HAS(error_of(npy("{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}", two)), "neither True nor False");
  EXPECT_HAS(error_of(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2)}", two)), "shape is not a tuple");
  EXPECT_HAS(error_of(npy("__import__('os').system('true')", two)), "is not a Python dictionary");
  EXPECT_HAS(error_of(npy(std::string(60000, '('), two)), "is not a Python dictionary");
  EXPECT_HAS(error_of("\x93NUMPY"), "cut short");
  EXPECT_HAS(error_of(npy(header_of("<f8", "(2,)"), two).substr(0, 30)), "the NPY header is cut short");
  EXPECT_HAS(error_of("1,2\n3,4\n"), "is named .npy but does not begin like a NPY file");
}

TEST(Npy, PythonLiterals) {
  const auto literal = parse_python_literal(" {'a' : (1, -2L,), \"b\": [True, False, None], 'c': 'it\\'s', 'd': {}} \n");
  ASSERT_TRUE(literal);
  EXPECT_EQ(literal->find("a")->items[1].integer, -2);
  EXPECT_EQ(literal->find("b")->items.size(), 3U);
  EXPECT_EQ(literal->find("c")->text, "it's");
  EXPECT_EQ(literal->find("e"), nullptr);
  EXPECT_EQ(parse_python_literal("(3)")->kind, PythonLiteral::Kind::integer);
  for (const char* text : {"", "{", "{'a'}", "{'a':}", "{1: 2}", "(1 2)", "'a", "'a\\", "1 2", "[,]", "abc", "{'a': 1,,}", "--1"}) {
    EXPECT_FALSE(parse_python_literal(text)) << text;
  }
}

// The bytes of numpy.save(f, numpy.array([[1.0, 2.0], [3.0, 4.0]])), NumPy 2: what we write must be the same.
TEST(Npy, WrittenLikeNumpy) {
  const io_test::TemporaryDirectory directory;
  Matrix values(2, 2);
  values << 1, 2, 3, 4;
  write_matrix(values, {}, directory / "m.npy");
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
  header.resize(117, ' ');
  EXPECT_EQ(io_test::slurp(directory / "m.npy"), npy(header + "\n", raw<double>({1, 2, 3, 4})));
}

TEST(Npy, RoundTrip) {
  const io_test::TemporaryDirectory directory;
  Matrix values = Matrix::Random(3000, 5);
  values(7, 2) = std::nan("");
  for (const char* name : {"m.npy", "m.npy.gz", "m.csv", "m.tsv.xz"}) {
    write_matrix(values, {"a", "b", "c", "d", "e"}, directory / name);
    const Table back = read_table(directory / name);
    EXPECT_EQ(back.has_header, std::string(name).find("npy") == std::string::npos);
    for (Index j = 0; j < 5; ++j) {
      for (Index i = 0; i < 3000; ++i) {
        const double got = back.columns[static_cast<std::size_t>(j)].numbers()[static_cast<std::size_t>(i)];
        ASSERT_TRUE(io_test::same_bits(got, values(i, j)) || (i == 7 && j == 2 && std::isnan(got))) << name;
      }
    }
    EXPECT_LIST(back.columns[2].missing, 7);
    write_table(back, directory / "again.npy");
    EXPECT_EQ(read_table(directory / "again.npy").columns[4].numbers(), back.columns[4].numbers());
  }
}

TEST(Npy, AnyByteChanged) {
  const std::string bytes = npy(header_of("<f4", "(2, 2)"), raw<float>({1, 2, 3, 4}));
  ReadOptions options;
  options.run.memory = 1 << 30;  // spares asking the machine 30 000 times
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(byte);
      try {
        const Table t = io_test::read(changed, options, "t.npy");
        ASSERT_GE(t.rows(), 1);
      } catch (const Error& error) {
        ASSERT_EQ(std::string(error.what()).substr(0, 5), "t.npy");
      }
    }
  }
}

TEST(Writers, Errors) {
  const io_test::TemporaryDirectory directory;
  const Table text = io_test::read("a,b\nx,1\ny,2\nx,3\n");
  EXPECT_HAS(io_test::message_of([&] { write_table(text, directory / "t.npy"); }), "column 1 (a) is text, which NPY cannot hold");
  EXPECT_HAS(io_test::message_of([&] { write_table(text, directory / "t.svm"); }), "which LIBSVM cannot hold");
  EXPECT_HAS(io_test::message_of([&] { write_table(io_test::read("a,b\n1,\n2,3\n"), directory / "t.svm"); }),
             "t.csv:2: column 2 (b) has no value");
  EXPECT_HAS(io_test::message_of([&] { write_table(text, directory / "t.dat"); }), "its name does not say what to write");
  EXPECT_HAS(io_test::message_of([&] { write_matrix(Matrix::Zero(2, 2), {"a"}, directory / "t.csv"); }),
             "1 names were given for 2 columns");
  EXPECT_EQ(directory.files(), 0U);
}

TEST(Writers, Text) {
  const io_test::TemporaryDirectory directory;
  const Table table = io_test::read("name,v\n\"a,b\",1\n\"NA\",2.5\n,\n\" x\",1e-7\n");
  write_table(table, directory / "t.csv");
  EXPECT_EQ(io_test::slurp(directory / "t.csv"), "name,v\n\"a,b\",1\n\"NA\",2.5\n,\n\" x\",1e-07\n");
  write_table(table, directory / "t.tsv", {.header = false});
  EXPECT_EQ(io_test::slurp(directory / "t.tsv"), "a,b\t1\n\"NA\"\t2.5\n\t\n\" x\"\t1e-07\n");
  write_table(io_test::read("v\n1\n\"\"\n3\n"), directory / "one.csv");
  EXPECT_EQ(io_test::slurp(directory / "one.csv"), "v\n1\n\"\"\n3\n");
}

}  // namespace
}  // namespace mercer

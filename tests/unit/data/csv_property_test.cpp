// Properties of the CSV reader: round trips of random tables, numbers equal to strtod's to the bit, no trace of threads and chunks.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "data/fast_number.hpp"
#include "data/text.hpp"
#include "io_support.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

using io_test::error_of;
using io_test::read;
using io_test::same_bits;

std::string random_word(RandomStream& random) {
  static const std::vector<std::string> pieces{"a",  "b c", ",", ";",        "\"", "\n", "\r\n", "\t", " ",
                                               "NA", "?",   "1", "\xC3\xA9", "'",  "|",  "nan",  "-"};
  std::string word;
  for (Index k = random.below(5); k >= 0; --k) word += pieces[static_cast<std::size_t>(random.below(std::ssize(pieces)))];
  return word;
}

double random_double(RandomStream& random) {
  switch (random.below(4)) {
    case 0:
      return static_cast<double>(random.below(2000)) - 1000;
    case 1:
      return random.normal();
    case 2:
      return std::round(random.normal() * 1e4) / 1e3;
    default:
      for (;;) {
        const std::uint64_t bits = random();
        const auto value = std::bit_cast<double>(bits);
        if (std::isfinite(value)) return value;
      }
  }
}

struct Written {
  std::string text;
  Table table;
};

// The text of a random table, every field quoted or not at random where both are right.
Written random_table(std::uint64_t seed, char delimiter) {
  RandomStream random(seed, 0);
  Written out;
  const Index rows = 1 + random.below(20);
  const Index cols = 1 + random.below(6);
  const auto quote = [](const std::string& text) {
    std::string inside;
    for (const char c : text) inside += c == '"' ? "\"\"" : std::string(1, c);
    return '"' + inside + '"';
  };
  for (Index j = 0; j < cols; ++j) {
    Column column;
    column.name = fmt::format("c{}{}", j, random_word(random));
    out.text += (j > 0 ? std::string(1, delimiter) : "") + quote(column.name);
    out.table.names.push_back(column.name);
    if (random.below(2) == 0) column.values.emplace<1>();
    out.table.columns.push_back(column);
  }
  const std::string end = random.below(2) == 0 ? "\n" : "\r\n";
  out.text += end;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      Column& column = out.table.columns[static_cast<std::size_t>(j)];
      const bool missing = random.below(8) == 0;
      if (j > 0) out.text += delimiter;
      if (missing) column.missing.push_back(i);
      if (column.is_text()) {
        const std::string word = missing ? "" : random_word(random);
        std::get<1>(column.values).push_back(word);
        out.text += missing && cols > 1 ? "" : quote(word);
      } else {
        const double value = missing ? std::nan("") : random_double(random);
        std::get<0>(column.values).push_back(value);
        const std::string number = missing ? "NA" : fmt::format("{}", value);
        out.text += random.below(3) == 0 ? quote(number) : random.below(3) == 0 ? " " + number + " " : number;
      }
    }
    if (i + 1 < rows || random.below(2) == 0) out.text += end;
  }
  return out;
}

ReadOptions options_for(const Table& table, char delimiter) {
  ReadOptions options;
  options.delimiter = delimiter;
  options.header = true;
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    if (table.columns[j].is_text()) options.text_columns.push_back(fmt::format("#{}", j + 1));
  }
  return options;
}

void expect_same(const Table& got, const Table& wanted) {
  ASSERT_EQ(got.names, wanted.names);
  ASSERT_EQ(got.rows(), wanted.rows());
  for (std::size_t j = 0; j < wanted.columns.size(); ++j) {
    const Column& a = got.columns[j];
    const Column& b = wanted.columns[j];
    ASSERT_EQ(a.missing, b.missing);
    ASSERT_EQ(a.is_text(), b.is_text());
    if (a.is_text()) {
      ASSERT_EQ(a.text(), b.text());
      continue;
    }
    for (std::size_t i = 0; i < b.numbers().size(); ++i) {
      ASSERT_TRUE(std::isnan(b.numbers()[i]) || same_bits(a.numbers()[i], b.numbers()[i]))
          << a.numbers()[i] << " is not " << b.numbers()[i];
    }
  }
}

TEST(CsvProperties, RandomTablesAreRead) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const char delimiter = ",;\t|"[seed % 4];
    const Written written = random_table(seed, delimiter);
    SCOPED_TRACE(written.text);
    expect_same(read(written.text, options_for(written.table, delimiter)), written.table);
    if (HasFatalFailure()) return;
  }
}

TEST(CsvProperties, WhatIsWrittenIsRead) {
  const io_test::TemporaryDirectory directory;
  for (std::uint64_t seed = 1000; seed < 1200; ++seed) {
    const Table table = random_table(seed, ',').table;
    const std::string path = directory / (seed % 3 == 0 ? "t.csv" : seed % 3 == 1 ? "t.tsv.gz" : "t.csv.xz");
    write_table(table, path);
    expect_same(read_table(path, options_for(table, seed % 3 == 1 ? '\t' : ',')), table);
    if (HasFatalFailure()) return;
  }
}

std::string random_number_text(RandomStream& random) {
  const auto digits = [&](Index most) {
    std::string out;
    for (Index k = random.below(most + 1); k > 0; --k) out += static_cast<char>('0' + random.below(10));
    return out;
  };
  switch (random.below(6)) {
    case 0:
      return fmt::format("{}", random_double(random));
    case 1:
      return fmt::format("{:.6g}", random.normal());
    case 2:
      return fmt::format("{:.{}f}", random.normal() * 1000, random.below(25));
    case 3:
      return fmt::format("{:.{}e}", random_double(random), random.below(25));
    default:
      return std::string(random.below(2) == 0 ? "-" : "") + digits(9) + std::to_string(random.below(10)) + "." + digits(22);
  }
}

TEST(CsvProperties, NumbersAreThoseOfStrtod) {
  RandomStream random(7, 0);
  std::string text = "a,b,c\n";
  std::vector<std::string> cells;
  for (int i = 0; i < 60000; ++i) {
    cells.push_back(random_number_text(random));
    text += cells.back() + (i % 3 == 2 ? "\n" : ",");
  }
  const Table t = read(text);
  int fast = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    double value = 0;
    const std::string padded = cells[i] + std::string(64, ',');
    fast += read_fast_number(padded.data(), padded.data() + cells[i].size(), value) ? 1 : 0;
    const double wanted = std::strtod(cells[i].c_str(), nullptr);
    ASSERT_TRUE(same_bits(t.columns[i % 3].numbers()[i / 3], wanted)) << cells[i];
  }
  EXPECT_GT(fast, 20000);
  EXPECT_LT(fast, 50000);
}

// Decimals that lie halfway between two doubles.
TEST(CsvProperties, TiesAreRoundedLikeStrtod) {
  RandomStream random(8, 0);
  for (int i = 0; i < 20000; ++i) {
    const auto whole = static_cast<std::uint64_t>(random.below(Index{1} << 53)) | (std::uint64_t{1} << 53);
    const int shift = static_cast<int>(random.below(12));
    const long double halfway = (static_cast<long double>(whole) * 2 + 1) / std::pow(2.0L, shift + 2);
    for (const std::string& cell : {fmt::format("{:.18g}", static_cast<double>(halfway)), fmt::format("{:.{}Lf}", halfway, shift + 2)}) {
      const std::optional<double> value = parse_number(cell);
      ASSERT_TRUE(value && same_bits(*value, std::strtod(cell.c_str(), nullptr))) << cell;
    }
  }
}

TEST(CsvProperties, TheFastReaderNeverGuesses) {
  for (const char* cell : {"",      "-",   ".",  "-.",   "1..2",      "1.2.3", "1.2x",        "x1.2", "1e5", "1.5e5",
                           "1.5E5", "--1", "+1", "1.-2", "12345678x", "1:2",   "1.23456789x", "/1.5", ":.5", "1.2/3"}) {
    double value = 0;
    const std::string padded = std::string(cell) + "," + std::string(64, '.');
    EXPECT_FALSE(read_fast_number(padded.data(), padded.data() + std::strlen(cell), value)) << cell;
  }
}

std::string large_text(bool quotes) {
  RandomStream random(3, 0);
  std::string text = "name,a,b\n";
  while (text.size() < 5 * chunk_bytes + 77) {
    // Long quoted fields full of line ends, so that chunks begin inside them.
    const std::string name = quotes && random.below(50) == 0
                                 ? "\"" + std::string(static_cast<std::size_t>(random.below(40000)), '\n') + "\"\"x\""
                                 : "n" + std::to_string(random.below(5));
    text += fmt::format("{},{},{}\n", name, random.normal(), random.below(4) == 0 ? "" : std::to_string(random.below(100)));
    if (random.below(20) == 0) text += "\n";
  }
  return text;
}

TEST(CsvProperties, ThreadsAndChunksLeaveNoTrace) {
  for (const bool quotes : {false, true}) {
    const std::string text = large_text(quotes);
    ReadOptions one;
    one.run.threads = 1;
    ReadOptions two;
    two.run.threads = 2;
    const Table a = read(text, one);
    const Table b = read(text, two);
    expect_same(a, b);
    EXPECT_EQ(a.lines, b.lines);

    // Against a reader that knows one thing at a time.
    std::vector<std::int64_t> lines;
    std::size_t line = 2;
    for (std::size_t at = text.find('\n') + 1; at < text.size(); ++at) {
      if (text[at] == '\n') {
        ++line;
        continue;
      }
      lines.push_back(static_cast<std::int64_t>(line));
      for (bool inside = false; inside || text[at] != '\n'; ++at) {
        inside = inside != (text[at] == '"');
        line += text[at] == '\n' ? 1 : 0;
      }
      ++line;
    }
    EXPECT_EQ(a.lines, lines);
  }
}

TEST(CsvProperties, TheFirstErrorIsTheOneTold) {
  std::string text = large_text(true);
  const std::size_t middle = text.find("\nn1,", text.size() / 2) + 1;
  const std::size_t later = text.find("\nn1,", text.size() - 40000) + 1;
  text.replace(later, 2, "\"x");  // a quote that turns everything after it inside out
  text.insert(middle + 3, "oops");
  const std::string wanted =
      fmt::format("t.csv:{}:2: \"oops", 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(middle), '\n'));
  for (const int threads : {1, 2, 2, 2}) {
    ReadOptions options;
    options.run.threads = threads;
    const std::string message = error_of(text, options);
    EXPECT_EQ(message.substr(0, wanted.size()), wanted);
  }
}

TEST(CsvProperties, AnyBytesGiveATableOrAnError) {
  const std::string seed_text = "name,v;\"a,b\"\t1e5\n\"x\"\"y\",2|3\r\n1:2 3:4\n,,\n";
  RandomStream random(11, 0);
  ReadOptions options;
  options.run.memory = 1 << 30;  // spares asking the machine 20 000 times
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed_text;
    for (Index k = random.below(6); k >= 0; --k) {
      const auto at = static_cast<std::size_t>(random.below(std::ssize(text)));
      switch (random.below(3)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.erase(at, static_cast<std::size_t>(random.below(4)));
          break;
        default:
          text.insert(at, seed_text.substr(static_cast<std::size_t>(random.below(20)), 3));
      }
      if (text.empty()) text = "1";
    }
    try {
      const Table t = read_table_from(text, "fuzz", options);
      for (const Column& column : t.columns) {
        ASSERT_EQ(std::visit([](const auto& values) { return std::ssize(values); }, column.values), t.rows());
      }
    } catch (const Error& error) {
      ASSERT_EQ(std::string(error.what()).substr(0, 4), "fuzz") << error.what();
    }
  }
}

}  // namespace
}  // namespace mercer

// SPDX-License-Identifier: BSD-3-Clause
#include "objects/words.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "mercer/objects.hpp"
#include "string_support.hpp"
#include "unit/data/io_support.hpp"

namespace mercer::objects {
namespace {

using io_test::message_of;
using io_test::spill;
using io_test::TemporaryDirectory;
using string_testing::gram_of;

double one(const std::string&) { return 1; }

Tokens random_texts(std::uint64_t seed, Index count) {
  RandomStream random(seed);
  Tokens out(static_cast<std::size_t>(count));
  for (auto& text : out) {
    for (Index k = random.below(30); k > 0; --k) {
      const auto letter = static_cast<char>('a' + random.below(20));
      text.push_back(std::string(static_cast<std::size_t>(random.below(3)) + 1, letter));
    }
  }
  return out;
}

TEST(Words, BagsAgainstTheDefinition) {
  const Tokens texts = random_texts(1, 40);
  const auto weight = [](const std::string& word) { return word[0] < 'd' ? 0.0 : static_cast<double>(word.size()) + word[0] / 100.0; };
  for (const bool binary : {false, true}) {
    const Features f = bag_of_words(texts, texts, true, weight, binary);
    EXPECT_TRUE(f.rows.same_rows(f.cols));
    string_testing::expect_ascending(f.rows);
    const Matrix K = gram_of(f);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      for (std::size_t j = 0; j < texts.size(); ++j) {
        std::map<std::string, std::pair<double, double>> times;
        for (const std::string& word : texts[i]) times[word].first = binary ? 1 : times[word].first + 1;
        for (const std::string& word : texts[j]) times[word].second = binary ? 1 : times[word].second + 1;
        double wanted = 0;
        for (const auto& [word, both] : times) wanted += weight(word) * weight(word) * both.first * both.second;
        EXPECT_NEAR(K(static_cast<Index>(i), static_cast<Index>(j)), wanted, 1e-14 * wanted);
      }
    }
    EXPECT_TRUE(f.self_rows.isApprox(K.diagonal(), 1e-14));
    const Tokens head(texts.begin(), texts.begin() + 15);
    const Tokens tail(texts.begin() + 15, texts.end());
    const Features cross = bag_of_words(head, tail, false, weight, binary);
    EXPECT_TRUE(gram_of(cross).isApprox(K.topRightCorner(15, 25), 1e-14));
    EXPECT_EQ(cross.self_cols, f.self_rows.tail(25));
  }
}

TEST(Words, BagsByHand) {
  const Tokens texts{{"b", "a", "b"}, {}, {"c", "ä"}};
  EXPECT_EQ(bag_of_words(texts, texts, true, one, false).rows.to_dense(), (Matrix(3, 4) << 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1).finished());
  EXPECT_EQ(bag_of_words(texts, texts, true, one, true).rows.to_dense(), (Matrix(3, 4) << 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1).finished());
  EXPECT_EQ(bag_of_words({}, {}, true, one, false).rows.size(), 0);
  EXPECT_EQ(gram_of(bag_of_words({{}}, {{"a"}}, false, one, false)), Matrix::Zero(1, 1));
  const auto nowhere = [](const std::string&) { return std::numeric_limits<double>::quiet_NaN(); };
  EXPECT_EQ(message_of([&] { bag_of_words(texts, texts, true, nowhere, false); }),
            "the weight of the word \"a\" must be a finite number, got nan");
}

// TfidfVectorizer(token_pattern=r"\w+", norm=None) of scikit-learn on "the cat sat", "the dog the cat", "a bird".
TEST(Words, TfIdfIsThatOfScikitLearn) {
  const Tokens texts{{"the", "cat", "sat"}, {"the", "dog", "the", "cat"}, {"a", "bird"}};
  const auto frequencies = document_frequencies(texts);
  const std::vector<std::pair<std::string, Index>> wanted{{"a", 1}, {"bird", 1}, {"cat", 2}, {"dog", 1}, {"sat", 1}, {"the", 2}};
  EXPECT_EQ(frequencies, wanted);
  std::map<std::string, double> idf;
  for (const auto& [word, documents] : frequencies) idf[word] = smooth_idf(3, documents);
  EXPECT_NEAR(idf["cat"], 1.2876820724517808, 1e-15);
  EXPECT_NEAR(idf["dog"], 1.6931471805599454, 1e-15);
  const Matrix got = bag_of_words(
                         texts, texts, true, [&](const std::string& w) { return idf.at(w); }, false)
                         .rows.to_dense();
  const double two = 1.2876820724517808;
  const double rare = 1.6931471805599454;
  Matrix table(3, 6);
  table << 0, 0, two, 0, rare, two, 0, 0, two, rare, 0, 2 * two, rare, rare, 0, 0, 0, 0;
  EXPECT_LE((got - table).cwiseAbs().maxCoeff(), 1e-15);
}

class WordFiles : public ::testing::Test {
 protected:
  WordTable read(const std::string& text, Index limit = 0) { return read_word_table(written(text), limit); }
  std::string error(const std::string& text) {
    const std::string path = written(text);
    const std::string message = message_of([&] { read_word_table(path); });
    return message.starts_with(path) ? message.substr(path.size()) : message;
  }
  std::string written(const std::string& text) {
    const std::string path = (directory_ / "words.txt");
    spill(path, text);
    return path;
  }
  TemporaryDirectory directory_;
};

using List = std::vector<std::string>;

TEST_F(WordFiles, GloveAndWord2vec) {
  const Matrix wanted = (Matrix(2, 3) << 0.5, -1, 2e-3, 1, 2, 3).finished();
  for (const char* text : {"the 0.5 -1 2e-3\n1990 1 2 3\n", "2 3\nthe 0.5 -1 2e-3 \n1990 1 2 3 ", "the\t0.5\t-1\t2e-3\r\n1990\t1\t2\t3\r\n",
                           "class\tword\tx\ty\tz\nA\tthe\t0.5\t-1\t2e-3\nB\t1990\t1\t2\t3\n", "\nthe  0.5 -1 2e-3\n\n1990 1 2 3\n\n"}) {
    const WordTable table = read(text);
    EXPECT_EQ(table.words, (List{"the", "1990"})) << text;
    EXPECT_EQ(table.vectors, wanted) << text;
  }
}

TEST_F(WordFiles, WordsWithBlanks) {
  const WordTable table = read(". . . 1 2\nat name@domain.com 3 4\nat 5 6 7\nx 8 9\ny 10 11\n");
  EXPECT_EQ(table.words, (List{". . .", "at name@domain.com", "at 5", "x", "y"}));
  EXPECT_EQ(table.vectors.row(2), (Eigen::RowVector2d(6, 7)));
}

TEST_F(WordFiles, SomeOfTheWords) {
  EXPECT_EQ(read("3 1\na 1\nb 2\nc 3\n", 2).words, (List{"a", "b"}));
  const WordTable table = read("a 1\nb 2\na 3\nb\xFF 4\nc 5\n");  // the first of equal words, and none that is not UTF-8
  EXPECT_EQ(table.words, (List{"a", "b", "c"}));
  EXPECT_EQ(table.vectors, (Matrix(3, 1) << 1, 2, 5).finished());
  EXPECT_HAS(message_of([&] { read("a 1\n", -1); }), "must be >= 0");
}

TEST_F(WordFiles, ManyWords) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "w" + std::to_string(i) + " " + std::to_string(i) + " 0.25\n";
  const WordTable table = read(text);
  ASSERT_EQ(table.words.size(), 5000U);
  for (Index i = 0; i < 5000; ++i) {
    ASSERT_EQ(table.words[static_cast<std::size_t>(i)], "w" + std::to_string(i));
    ASSERT_EQ(table.vectors(i, 0), static_cast<double>(i));
  }
  EXPECT_EQ(error(text + "late 1 x\nlater 1\n"), ":5001: \"x\" is not a finite number; wanted a word and 2 numbers");
}

TEST_F(WordFiles, Errors) {
  EXPECT_EQ(error("a 1 2\nb 1 x\nc 1 2\n"), ":2: \"x\" is not a finite number; wanted a word and 2 numbers");
  EXPECT_EQ(error("a 1 2\nb 1\nc 1 2\nd 1 2\n"), ":2: \"b\" is not a finite number; wanted a word and 2 numbers");
  EXPECT_EQ(error("a 1 2\nb 1 2\n 1 2\nd 3 4\n"), ":3: has no word before its 2 numbers; wanted one");
  EXPECT_EQ(error("a 1 2\n7\nb 1 2\nd 3 4\n"), ":2: has 1 numbers, wanted a word and 2");
  EXPECT_EQ(error("a 1 x\nb 1 2\nc 1 2\n"), ":1: \"x\" is not a finite number; wanted a word and 2 numbers");
  EXPECT_EQ(error("a 1 nan\nb 1 2\nc 1 2\n"), ":1: \"nan\" is not a finite number; wanted a word and 2 numbers");
  EXPECT_EQ(error("a b\nc d\n"), ":1: ends in \"b\", wanted a word and its numbers, with blanks or tabs between");
  EXPECT_EQ(error(""), ": is empty; wanted lines of a word and its numbers");
  EXPECT_EQ(error("\n \n"), ": has no words; wanted lines of a word and its numbers");
  EXPECT_EQ(error("0 50\n"), ": has no words; wanted lines of a word and its numbers");
  EXPECT_EQ(error("3 2\na 1 2\nb 1 2\n"), ": says that it has 3 words, but has 2: it has been cut short");
  EXPECT_HAS(message_of([] { read_word_table("/nowhere/words.txt"); }), "/nowhere/words.txt");
}

}  // namespace
}  // namespace mercer::objects

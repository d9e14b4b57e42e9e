// Subsequences and edits, against the definitions and published values.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "objects/string_features.hpp"
#include "string_support.hpp"

namespace mercer::objects {
namespace {

using namespace string_testing;
using mercer::testing::message_of;

// All k-letter subsequences with the letters that they span, place by place.
std::vector<std::pair<Wide, int>> subsequences(const Wide& x, int k) {
  std::vector<std::pair<Wide, int>> out;
  for (unsigned places = 1; places < 1U << x.size(); ++places) {
    if (std::popcount(places) != k) continue;
    Wide part;
    for (std::size_t p = 0; p < x.size(); ++p)
      if ((places >> p & 1U) != 0) part += x[p];
    out.emplace_back(part, std::bit_width(places) - std::countr_zero(places));
  }
  return out;
}

TEST(Subsequence, SumsOverAllPairs) {
  for (const int k : {1, 2, 3, 4}) {
    for (const double decay : {0.3, 0.9, 1.0}) {
      const Oracle oracle = [=](const Wide& x, const Wide& y) {
        long double sum = 0;
        const auto of_y = subsequences(y, k);
        for (const auto& [a, a_span] : subsequences(x, k))
          for (const auto& [b, b_span] : of_y) sum += a == b ? std::pow(static_cast<long double>(decay), a_span + b_span) : 0;
        return static_cast<double>(sum);
      };
      const auto make = [=](const BothStrings& both) { return subsequence(both, k, decay); };
      for (const Wide& alphabet : {binary, mixed}) expect_values(random_strings(16, 20, 8, alphabet), make, oracle, 1e-14);
      expect_nothing_is_fine(make);
    }
  }
}

// Lodhi et al. 2002, section 3: cat, car, bat and bar for k = 2.
TEST(Subsequence, ThePublishedTable) {
  for (const double l : {0.1, 0.5, 0.9}) {
    const Matrix K = gram_of(of_list({"cat", "car", "bat", "bar"}, [l](const BothStrings& both) { return subsequence(both, 2, l); }));
    const double self = 2 * std::pow(l, 4) + std::pow(l, 6);
    const double one = std::pow(l, 4);
    Matrix wanted(4, 4);
    wanted << self, one, one, 0, one, self, 0, one, one, 0, self, one, 0, one, one, self;
    EXPECT_LE((K - wanted).cwiseAbs().maxCoeff(), 1e-15);
    EXPECT_NEAR(K(0, 1) / std::sqrt(K(0, 0) * K(1, 1)), 1 / (2 + l * l), 1e-15);
  }
}

// The same in the recursion of the paper, whose terms are in another order.
TEST(Subsequence, LongStrings) {
  std::vector<Wide> some;
  RandomStream random(18);
  for (const Index length : {200, 3, 131, 257, 64, 90, 91, 15, 1, 40}) {
    Wide& text = some.emplace_back();
    for (Index i = 0; i < length; ++i) text += dna[static_cast<std::size_t>(random.below(4))];
  }
  constexpr int k = 5;
  constexpr double l = 0.7;
  const Oracle oracle = [](const Wide& s, const Wide& t) {
    std::vector<std::vector<double>> prime(s.size() + 1, std::vector<double>(t.size() + 1, 1));  // K'_0
    for (int i = 1; i < k; ++i) {
      std::vector<std::vector<double>> next(s.size() + 1, std::vector<double>(t.size() + 1, 0));
      for (std::size_t a = 1; a <= s.size(); ++a) {
        double twice = 0;  // K''_i
        for (std::size_t b = 1; b <= t.size(); ++b) {
          twice = l * twice + (s[a - 1] == t[b - 1] ? l * l * prime[a - 1][b - 1] : 0);
          next[a][b] = l * next[a - 1][b] + twice;
        }
      }
      prime = next;
    }
    double sum = 0;
    for (std::size_t a = 1; a <= s.size(); ++a)
      for (std::size_t b = 1; b <= t.size(); ++b) sum += s[a - 1] == t[b - 1] ? l * l * prime[a - 1][b - 1] : 0;
    return sum;
  };
  expect_values(
      some, [](const BothStrings& both) { return subsequence(both, k, l); }, oracle, 1e-12);
}

TEST(Subsequence, VeryLongAndVerySmall) {
  // One letter, no gaps counted: C(n, k)^2 pairs.
  const std::string a(3000, 'a');
  const auto pairs = of_list({a}, [](const BothStrings& both) { return subsequence(both, 2, 1.0); });
  const double n = 3000;
  EXPECT_DOUBLE_EQ(pairs->self_rows()[0], std::pow(n * (n - 1) / 2, 2));
  // Terms that fade away between far letters leave the near ones.
  const std::string gap(2000, '-');
  const auto far = of_lists({"ab" + gap + "ab"}, {"ab"}, [](const BothStrings& both) { return subsequence(both, 2, 0.5); });
  EXPECT_DOUBLE_EQ(gram_of(far)(0, 0), 2 * std::pow(0.5, 4));
  const auto beyond = of_list({std::string(540, 'a')}, [](const BothStrings& both) { return subsequence(both, 270, 1.0); });
  EXPECT_NE(message_of<InvalidArgument>([&] { beyond->self_rows(); }).find("beyond the largest number"), std::string::npos);
}

TEST(Subsequence, PartsOfARowAreTheRow) {
  const List list = utf8(random_strings(19, 30, 29, mixed));
  const auto pairs = of_list(list, [](const BothStrings& both) { return subsequence(both, 3, 0.8); });
  const Matrix K = gram_of(pairs);
  Vector part(30);
  for (Index first = 0; first < 30; first += 7) {
    const Index count = std::min<Index>(11, 30 - first);
    pairs->row(29, first, count, part.data());
    EXPECT_EQ(part.head(count), K.row(29).segment(first, count).transpose());
  }
  EXPECT_EQ(pairs->self_rows(), K.diagonal());  // to the bit, so that normalised values of a string with itself are 1
}

TEST(Subsequence, WrongParameters) {
  EXPECT_EQ(message_of<InvalidArgument>([] { subsequence({}, 0, 0.5); }), "subsequence: k must be >= 1, got 0");
  for (const double decay : {0.0, -1.0, 1.5, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_NE(message_of<InvalidArgument>([&] { subsequence({}, 2, decay); }).find("decay must be > 0 and <= 1, got"), std::string::npos);
  EXPECT_NE(message_of<InvalidArgument>([] { subsequence({}, 200, 0.01); }).find("take a larger decay or a smaller k"), std::string::npos);
}

double naive_edits(const Wide& x, const Wide& y) {
  std::vector<std::vector<double>> d(x.size() + 1, std::vector<double>(y.size() + 1));
  for (std::size_t i = 0; i <= x.size(); ++i) {
    for (std::size_t j = 0; j <= y.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = static_cast<double>(i + j);
      } else {
        d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (x[i - 1] == y[j - 1] ? 0 : 1)});
      }
    }
  }
  return d[x.size()][y.size()];
}

TEST(EditDistance, LettersToChange) {
  const auto make = [](const BothStrings& both) { return edit_distance(both); };
  const Matrix D = gram_of(of_lists({"kitten", "", "Zürich"}, {"sitting", "kitten", "zurich"}, make));
  EXPECT_EQ(D, (Matrix(3, 3) << 3, 0, 6, 7, 6, 6, 6, 6, 2).finished());
  for (const Wide& alphabet : {binary, dna, mixed}) expect_values(random_strings(20, 50, 16, alphabet), make, naive_edits);
  expect_values(mosaics(21, 20, 300), make, naive_edits);
  expect_nothing_is_fine(make);
}

TEST(EditDistance, AroundTheSizeOfAWord) {
  RandomStream random(22);
  std::vector<Wide> texts;
  for (const Index length : {62, 63, 64, 65, 66, 127, 128, 129, 200, 320, 321, 5}) {
    Wide& text = texts.emplace_back();
    for (Index i = 0; i < length; ++i) text += dna[static_cast<std::size_t>(random.below(4))];
  }
  texts.push_back(texts[8].substr(1) + U"A");  // all shifted: few edits, many carries
  texts.push_back(Wide(130, U'A'));
  texts.push_back(Wide(64, U'A'));
  expect_values(
      texts, [](const BothStrings& both) { return edit_distance(both); }, naive_edits);
}

TEST(StringPairs, StringsThatWouldTakeDaysAreRefused) {
  const std::string a(300000, 'a');
  const std::vector<std::string_view> strings{a, a};
  const BothStrings both{strings, strings, true};
  EXPECT_NE(message_of<InvalidArgument>([&] { subsequence(both, 3, 0.5); }).find("strings of 300000 and 300000 letters"),
            std::string::npos);
  EXPECT_NO_THROW(edit_distance(both));
  const std::string longer(500000, 'a');
  const std::vector<std::string_view> too_long{longer};
  EXPECT_THROW(edit_distance({too_long, too_long, true}), InvalidArgument);
}

}  // namespace
}  // namespace mercer::objects

// Against the definitions, written as loops over strings.
// SPDX-License-Identifier: BSD-3-Clause
#include "objects/string_features.hpp"

#include <set>

#include "string_support.hpp"

namespace mercer::objects {
namespace {

using namespace string_testing;
using mercer::testing::message_of;

Oracle naive_spectrum(std::size_t k) {
  return [k](const Wide& x, const Wide& y) {
    double sum = 0;
    for (std::size_t i = 0; i + k <= x.size(); ++i)
      for (std::size_t j = 0; j + k <= y.size(); ++j) sum += x.substr(i, k) == y.substr(j, k);
    return sum;
  };
}

TEST(Spectrum, CountsEqualSubstrings) {
  for (const int k : {1, 2, 3, 5, 11}) {
    const auto make = [k](const BothStrings& both) { return spectrum(both, k); };
    for (const Wide& alphabet : {binary, dna, mixed})
      expect_features(random_strings(5, 40, 24, alphabet), make, naive_spectrum(static_cast<std::size_t>(k)));
    expect_nothing_is_fine(make);
  }
}

TEST(Spectrum, LongSubstringsOfManyLetters) {  // beyond 64 bits
  for (const int k : {8, 9, 10, 11, 12, 23, 24})
    expect_features(
        mosaics(6, 40, 300), [k](const BothStrings& both) { return spectrum(both, k); }, naive_spectrum(static_cast<std::size_t>(k)));
  const std::string a(5000, 'a');
  const Features f = of_list({a + "b", "b" + a}, [](const BothStrings& both) { return spectrum(both, 1000); });
  EXPECT_EQ(gram_of(f)(0, 1), 4001.0 * 4001.0);
  EXPECT_EQ(f.self_rows[0], 4001.0 * 4001.0 + 1);
}

TEST(Spectrum, ByHand) {
  const auto make = [](const BothStrings& both) { return spectrum(both, 2); };
  const Features f = of_list({"abab", "ba"}, make);
  EXPECT_EQ(f.rows.to_dense(), (Matrix(2, 2) << 2, 1, 0, 1).finished());
  EXPECT_TRUE(f.rows.same_rows(f.cols));
  EXPECT_EQ(message_of<InvalidArgument>([] { spectrum({}, 0); }), "spectrum: k must be >= 1, got 0");
}

Oracle naive_weighted_degree(int D) {
  return [D](const Wide& x, const Wide& y) {
    double sum = 0;
    for (int d = 1; d <= D; ++d) {
      const auto length = static_cast<std::size_t>(d);
      const double beta = 2.0 * (D - d + 1) / (static_cast<double>(D) * (D + 1));
      for (std::size_t l = 0; l + length <= std::min(x.size(), y.size()); ++l) sum += beta * (x.substr(l, length) == y.substr(l, length));
    }
    return sum;
  };
}

TEST(WeightedDegree, CountsEqualSubstringsInPlace) {
  for (const int degree : {1, 2, 5, 30}) {
    const auto make = [degree](const BothStrings& both) { return weighted_degree(both, degree); };
    for (const Wide& alphabet : {binary, dna, mixed})
      expect_features(random_strings(7, 40, 24, alphabet), make, naive_weighted_degree(degree), 1e-13);
    expect_nothing_is_fine(make);
  }
  for (const int degree : {9, 12})
    expect_features(
        mosaics(8, 40, 300), [degree](const BothStrings& both) { return weighted_degree(both, degree); }, naive_weighted_degree(degree),
        1e-13);
  EXPECT_EQ(message_of<InvalidArgument>([] { weighted_degree({}, 0); }), "weighted_degree: the degree must be >= 1, got 0");
}

// All strings of k letters of the alphabet, in which the letters of `known` come first.
Oracle naive_mismatch(std::size_t k, std::size_t m, const Wide& known, std::size_t alphabet) {
  return [=](const Wide& x, const Wide& y) {
    const auto number = [&](char32_t c) { return known.find(c); };
    const auto near = [&](const Wide& text, const std::vector<std::size_t>& b) {
      double count = 0;
      for (std::size_t i = 0; i + k <= text.size(); ++i) {
        std::size_t differ = 0;
        for (std::size_t p = 0; p < k; ++p) differ += number(text[i + p]) != b[p];
        count += differ <= m;
      }
      return count;
    };
    double sum = 0;
    std::vector<std::size_t> b(k, 0);
    for (bool more = true; more;) {
      sum += near(x, b) * near(y, b);
      std::size_t p = 0;
      while (p < k && ++b[p] == alphabet) b[p++] = 0;
      more = p < k;
    }
    return sum;
  };
}

TEST(Mismatch, CountsNeighboursInCommon) {
  struct Case {
    int k, m;
    Index alphabet;
    Wide letters;
  };
  for (const Case& c : {Case{1, 0, 2, binary}, Case{2, 0, 4, dna}, Case{2, 1, 3, binary}, Case{3, 1, 4, mixed}, Case{4, 1, 2, binary},
                        Case{3, 2, 4, dna}, Case{4, 3, 3, binary}, Case{3, 1, 6, dna}, Case{5, 2, 3, binary}}) {
    const auto make = [&](const BothStrings& both) { return mismatch(both, c.k, c.m, c.alphabet); };
    expect_features(
        random_strings(9, 16, 9, c.letters), make,
        naive_mismatch(static_cast<std::size_t>(c.k), static_cast<std::size_t>(c.m), c.letters, static_cast<std::size_t>(c.alphabet)));
    expect_nothing_is_fine([&](const BothStrings& both) { return mismatch(both, c.k, c.m, 4); });
  }
}

// How many strings are within m of both of two, letter by letter: ways[a][b] is how many beginnings differ in a and b places.
double neighbours_in_common(const Wide& u, const Wide& v, std::size_t m, double alphabet) {
  std::vector<std::vector<double>> ways(m + 2, std::vector<double>(m + 2, 0));
  ways[0][0] = 1;
  for (std::size_t p = 0; p < u.size(); ++p) {
    std::vector<std::vector<double>> next(m + 2, std::vector<double>(m + 2, 0));
    for (std::size_t a = 0; a <= m; ++a) {
      for (std::size_t b = 0; b <= m; ++b) {
        next[a][b] += u[p] == v[p] ? ways[a][b] : 0;
        next[a + 1][b] += u[p] == v[p] ? 0 : ways[a][b];
        next[a][b + 1] += u[p] == v[p] ? 0 : ways[a][b];
        next[a + 1][b + 1] += ways[a][b] * (u[p] == v[p] ? alphabet - 1 : alphabet - 2);
      }
    }
    ways = next;
  }
  double sum = 0;
  for (std::size_t a = 0; a <= m; ++a)
    for (std::size_t b = 0; b <= m; ++b) sum += ways[a][b];
  return sum;
}

TEST(Mismatch, LargeAlphabetsAndLongSubstrings) {
  struct Case {
    int k, m;
    Index alphabet;
    bool many;
  };
  for (const Case& c : {Case{6, 1, 4, false}, Case{6, 2, 20, false}, Case{8, 1, 400, true}, Case{9, 1, 500, true}, Case{9, 2, 300, true}}) {
    const auto texts = c.many ? mosaics(10, 12, 300) : random_strings(10, 20, 19, dna);
    const Oracle oracle = [&](const Wide& x, const Wide& y) {
      const auto k = static_cast<std::size_t>(c.k);
      double sum = 0;
      for (std::size_t i = 0; i + k <= x.size(); ++i)
        for (std::size_t j = 0; j + k <= y.size(); ++j)
          sum += neighbours_in_common(x.substr(i, k), y.substr(j, k), static_cast<std::size_t>(c.m), static_cast<double>(c.alphabet));
      return sum;
    };
    expect_features(
        texts, [&](const BothStrings& both) { return mismatch(both, c.k, c.m, c.alphabet); }, oracle);
  }
}

TEST(Mismatch, WrongParameters) {
  EXPECT_EQ(message_of<InvalidArgument>([] { mismatch({}, 0, 0, 4); }), "mismatch: k must be from 1 to 64, got 0");
  EXPECT_EQ(message_of<InvalidArgument>([] { mismatch({}, 3, 3, 4); }), "mismatch: m must be >= 0 and below k = 3, got 3");
  EXPECT_EQ(message_of<InvalidArgument>([] { mismatch({}, 3, -1, 4); }), "mismatch: m must be >= 0 and below k = 3, got -1");
  EXPECT_EQ(message_of<InvalidArgument>([] { mismatch({}, 3, 1, 1); }), "mismatch: the alphabet must have >= 2 letters, got 1");
  EXPECT_NE(message_of<InvalidArgument>([] { mismatch({}, 40, 10, 4); }).find("take a smaller m"), std::string::npos);
  EXPECT_EQ(message_of<InvalidArgument>([] { of_list({"ACGTN"}, [](const BothStrings& both) { return mismatch(both, 3, 1, 4); }); }),
            "mismatch: the strings have 5 different letters, but the kernel counts on 4 (given, or found in the data of the fit); give "
            "letters = 5 "
            "or more when you fit, as in mismatch(3, 1, 5)");
}

Oracle naive_gappy(std::size_t k, std::size_t gaps) {
  return [=](const Wide& x, const Wide& y) {
    const std::size_t g = k + gaps;
    const auto windows = [&](const Wide& text) {
      std::vector<std::set<Wide>> all;
      for (std::size_t i = 0; i + g <= text.size(); ++i) {
        std::set<Wide>& found = all.emplace_back();
        for (unsigned places = 0; places < 1U << g; ++places) {
          Wide part;
          for (std::size_t p = 0; p < g; ++p)
            if ((places >> p & 1U) != 0) part += text[i + p];
          if (part.size() == k) found.insert(part);
        }
      }
      return all;
    };
    double sum = 0;
    const auto of_y = windows(y);
    for (const auto& a : windows(x))
      for (const auto& b : of_y)
        for (const Wide& part : a) sum += static_cast<double>(b.count(part));
    return sum;
  };
}

TEST(Gappy, CountsWindowsWithEqualSubsequences) {
  for (const auto& [k, gaps] : {std::pair{1, 0}, {1, 2}, {2, 1}, {3, 2}, {2, 3}, {4, 0}}) {
    const auto make = [k = k, gaps = gaps](const BothStrings& both) { return gappy(both, k, gaps); };
    for (const Wide& alphabet : {binary, mixed})
      expect_features(random_strings(13, 13, 12, alphabet), make, naive_gappy(static_cast<std::size_t>(k), static_cast<std::size_t>(gaps)));
    expect_nothing_is_fine(make);
  }
  expect_features(
      mosaics(14, 8, 300), [](const BothStrings& both) { return gappy(both, 8, 1); }, naive_gappy(8, 1));
  const auto plain = of_list(utf8(random_strings(15, 40, 30, dna)), [](const BothStrings& both) { return gappy(both, 4, 0); });
  const auto spectral = of_list(utf8(random_strings(15, 40, 30, dna)), [](const BothStrings& both) { return spectrum(both, 4); });
  EXPECT_EQ(plain.rows.to_dense(), spectral.rows.to_dense());
  EXPECT_EQ(message_of<InvalidArgument>([] { gappy({}, 0, 1); }), "gappy: k must be >= 1, got 0");
  EXPECT_EQ(message_of<InvalidArgument>([] { gappy({}, 1, -1); }), "gappy: gaps must be >= 0, got -1");
  EXPECT_NE(message_of<InvalidArgument>([] { gappy({}, 20, 20); }).find("take fewer gaps"), std::string::npos);
}

}  // namespace
}  // namespace mercer::objects

// What the tests of strings share: random strings, Gram matrices from features and from pairs, and what holds of both.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/random.hpp"
#include "mercer/run.hpp"
#include "objects/features.hpp"
#include "unit/core/support.hpp"

namespace mercer::objects::string_testing {

using List = std::vector<std::string>;
using Wide = std::u32string;

inline std::string utf8(const Wide& text) {
  std::string out;
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  for (const char32_t c : text) {
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xC0 + c / 64);
      put(0x80 + c % 64);
    } else if (c < 0x10000) {
      put(0xE0 + c / 4096);
      put(0x80 + c / 64 % 64);
      put(0x80 + c % 64);
    } else {
      put(0xF0 + c / 262144);
      put(0x80 + c / 4096 % 64);
      put(0x80 + c / 64 % 64);
      put(0x80 + c % 64);
    }
  }
  return out;
}

inline List utf8(const std::vector<Wide>& texts) {
  List out;
  for (const Wide& text : texts) out.push_back(utf8(text));
  return out;
}

// Of 0 to `longest` letters of this alphabet.
inline std::vector<Wide> random_strings(std::uint64_t seed, Index count, Index longest, const Wide& alphabet) {
  RandomStream random(seed);
  std::vector<Wide> out;
  for (Index i = 0; i < count; ++i) {
    Wide& text = out.emplace_back();
    for (Index length = i % (longest + 1); length > 0; --length)
      text += alphabet[static_cast<std::size_t>(random.below(std::ssize(alphabet)))];
  }
  return out;
}

// Many letters, so that long parts do not fit a word, and yet strings have parts in common: a few fragments, with some letters changed.
inline std::vector<Wide> mosaics(std::uint64_t seed, Index count, Index letters) {
  RandomStream random(seed);
  const auto letter = [&] { return static_cast<char32_t>(0x4E00 + random.below(letters)); };
  std::vector<Wide> fragments(4);
  for (Wide& fragment : fragments) {
    for (int i = 0; i < 12; ++i) fragment += letter();
  }
  std::vector<Wide> out;
  for (Index i = 0; i < count; ++i) {
    Wide& text = out.emplace_back();
    for (Index pieces = random.below(4); pieces > 0; --pieces) text += fragments[static_cast<std::size_t>(random.below(4))];
    for (char32_t& c : text) {
      if (random.uniform() < 0.1) c = letter();
    }
  }
  return out;
}

const Wide binary = U"ab";
const Wide dna = U"ACGT";
const Wide mixed = U"aä漢\U0001D4B3";  // letters of one to four bytes

inline std::vector<std::string_view> views(const List& list) { return {list.begin(), list.end()}; }

template <class Make>
auto of_list(const List& list, const Make& make) {
  const auto all = views(list);
  return make(BothStrings{all, all, true});
}

template <class Make>
auto of_lists(const List& rows, const List& cols, const Make& make) {
  const auto a = views(rows);
  const auto b = views(cols);
  return make(BothStrings{a, b, false});
}

inline Matrix gram_of(const Features& f) { return f.rows.to_dense() * f.cols.to_dense().transpose(); }

inline Matrix gram_of(const std::unique_ptr<PairValues>& pairs) {
  Matrix K(pairs->self_rows().size(), pairs->self_cols().size());
  parallel_for(K.rows(), [&](Index i) { pairs->row(i, 0, K.cols(), K.row(i).data()); });
  return K;
}

inline Vector self_rows(const Features& f) { return f.self_rows; }
inline Vector self_cols(const Features& f) { return f.self_cols; }
inline Vector self_rows(const std::unique_ptr<PairValues>& pairs) { return pairs->self_rows(); }
inline Vector self_cols(const std::unique_ptr<PairValues>& pairs) { return pairs->self_cols(); }

inline void expect_ascending(const Samples& X) {
  const auto& rows = std::get<CsrRows<double>>(X.storage());
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index e = rows.begin(i); e < rows.end(i); ++e) {
      ASSERT_LT(rows.columns[e], rows.cols);
      ASSERT_TRUE(e == rows.begin(i) ? rows.columns[e] >= 0 : rows.columns[e - 1] < rows.columns[e]);
    }
  }
}

using Oracle = std::function<double(const Wide&, const Wide&)>;

// Values of all pairs are those of the oracle within `tolerance` (relative; 0: exactly). A part of the list against the rest gives the same
// numbers as all against all, and so does any number of threads.
template <class Make>
void expect_values(const std::vector<Wide>& texts, const Make& make, const Oracle& oracle, double tolerance = 0) {
  const List list = utf8(texts);
  const auto all = of_list(list, make);
  const Matrix K = gram_of(all);
  const Index n = std::ssize(texts);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const double wanted = oracle(texts[static_cast<std::size_t>(i)], texts[static_cast<std::size_t>(j)]);
      ASSERT_NEAR(K(i, j), wanted, tolerance * std::abs(wanted))
          << list[static_cast<std::size_t>(i)] << " | " << list[static_cast<std::size_t>(j)];
    }
    ASSERT_NEAR(self_rows(all)[i], K(i, i), tolerance * std::abs(K(i, i)));
  }
  EXPECT_EQ(self_rows(all), self_cols(all));

  const Index head = n / 3;
  const auto cross = of_lists({list.begin(), list.begin() + head}, {list.begin() + head, list.end()}, make);
  const Matrix block = gram_of(cross);
  EXPECT_TRUE(block.isApprox(K.topRightCorner(head, n - head), tolerance) || block == K.topRightCorner(head, n - head));
  EXPECT_EQ(self_rows(cross), self_rows(all).head(head));
  EXPECT_EQ(self_cols(cross), self_rows(all).tail(n - head));
  for (const int threads : {1, 2, 3}) {
    with_threads(threads, [&] {
      const auto again = of_list(list, make);
      EXPECT_EQ(gram_of(again), K);
      EXPECT_EQ(self_rows(again), self_rows(all));
    });
  }
}

// The same for features, which are rows of ascending columns.
template <class Make>
void expect_features(const std::vector<Wide>& texts, const Make& make, const Oracle& oracle, double tolerance = 0) {
  expect_values(texts, make, oracle, tolerance);
  const List list = utf8(texts);
  const Features f = of_lists(list, {list.begin(), list.begin() + 3}, make);
  expect_ascending(f.rows);
  expect_ascending(f.cols);
  EXPECT_EQ(f.rows.width(), f.cols.width());
}

// Lists without strings and strings without letters.
template <class Make>
void expect_nothing_is_fine(const Make& make) {
  EXPECT_EQ(gram_of(of_list({}, make)).size(), 0);
  EXPECT_EQ(gram_of(of_lists({}, {"abc"}, make)).cols(), 1);
  EXPECT_EQ(gram_of(of_list({"", ""}, make)), Matrix::Zero(2, 2));
  EXPECT_EQ(mercer::testing::message_of<InvalidArgument>([&] {
              of_list({"abc", "ab\xC3"}, make);
            }),
            "string 1 is not UTF-8 at its byte 2; convert the strings to UTF-8");
}

}  // namespace mercer::objects::string_testing

// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/labels.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "mercer/error.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;
using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;
using Indices = std::vector<Index>;

TEST(Labels, TextIsInAlphabeticalOrder) {
  const LabelEncoding e = encode_labels(Texts{"pear", "apple", "pear", "fig", "Zebra"});
  EXPECT_EQ(e.classes, (Texts{"Zebra", "apple", "fig", "pear"}));
  EXPECT_EQ(e.indices, (Indices{3, 1, 3, 2, 0}));
}

TEST(Labels, NumbersAsTextAreInNumericOrder) {
  const LabelEncoding e = encode_labels(Texts{"10", "9", "-1", "9.0", "+10"});
  EXPECT_EQ(e.classes, (Texts{"-1", "9", "10"}));
  EXPECT_EQ(e.indices, (Indices{2, 1, 0, 1, 2}));
}

TEST(Labels, OneWordMakesThemAllText) {
  const LabelEncoding e = encode_labels(Texts{"10", "9", "many"});
  EXPECT_EQ(e.classes, (Texts{"10", "9", "many"}));
  EXPECT_EQ(encode_labels(Texts{"1e999", "2"}).classes, (Texts{"1e999", "2"})) << "what overflows is no number";
  EXPECT_EQ(encode_labels(Texts{"nan", "2"}).classes, (Texts{"2", "nan"}));
}

TEST(Labels, Numbers) {
  const LabelEncoding e = encode_labels(Numbers{1, -1, 0.5, 1, 1e21, -0.0, 0.0});
  EXPECT_EQ(e.classes, (Texts{"-1", "0", "0.5", "1", "1e+21"}));
  EXPECT_EQ(e.indices, (Indices{3, 0, 2, 3, 4, 1, 1}));
}

TEST(Labels, NoneAndOne) {
  EXPECT_TRUE(encode_labels(Texts{}).classes.empty());
  EXPECT_TRUE(encode_labels(Numbers{}).indices.empty());
  EXPECT_EQ(encode_labels(Texts{"only", "only"}).indices, (Indices{0, 0}));
}

TEST(Labels, TargetsOfScores) {
  const Vector y = Vector::LinSpaced(3, 0, 2);
  EXPECT_EQ(class_indices(y), (Indices{0, 1, 2}));
  EXPECT_EQ(score_targets(y.head(2), 2), (Matrix(2, 1) << -1, 1).finished());
  EXPECT_EQ(score_targets(y, 3), (Matrix(3, 3) << 1, -1, -1, -1, 1, -1, -1, -1, 1).finished());
}

TEST(Labels, MissingOnesAreNamed) {
  EXPECT_EQ(message_of<InvalidArgument>([] {
              encode_labels(Numbers{1, std::numeric_limits<double>::quiet_NaN()});
            }),
            "the label of row 1 (counting from 0) is NaN; remove the row");
  EXPECT_EQ(message_of<InvalidArgument>([] { encode_labels(Numbers{std::numeric_limits<double>::infinity()}); }),
            "the label of row 0 (counting from 0) is infinite; remove the row");
  EXPECT_EQ(message_of<InvalidArgument>([] {
              encode_labels(Texts{"a", "b", ""});
            }),
            "the label of row 2 (counting from 0) is empty; fill it in or remove the row");
}

}  // namespace
}  // namespace mercer

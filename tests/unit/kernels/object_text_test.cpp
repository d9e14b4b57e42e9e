// Kernels of objects as text: they read back as they are written, errors point at the character, properties are as they should be.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "mercer/error.hpp"
#include "mercer/kernels.hpp"
#include "mercer/objects.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

TEST(ObjectKernelText, ReadsBackAsItIsWritten) {
  for (const char* text : {"spectrum(4)",
                           "spectrum(4, normalized=false)",
                           "weighted_degree(5)",
                           "mismatch(6, 1)",
                           "mismatch(6, 1, 4)",
                           "mismatch(6, 1, 4, normalized=false)",
                           "gappy(3, 2)",
                           "subsequence(2, 0.5)",
                           "edit_distance(3)",
                           "edit_distance(auto)",
                           "bag_of(gaussian(2))",
                           "bag_of(gaussian(auto), mean)",
                           "bag_of(spectrum(2) + 0.5*spectrum(3), best)",
                           "bag_of_words",
                           "bag_of_words(count)",
                           "bag_of_words(binary, normalized=false)",
                           "convolution(words, spectrum(3))",
                           "convolution(letters, spectrum(1))",
                           "weisfeiler_lehman(5)",
                           "weisfeiler_lehman(3, assignment)",
                           "weisfeiler_lehman(3, assignment, normalized=false)",
                           "shortest_path",
                           "shortest_path(normalized=false)",
                           "random_walk",
                           "random_walk(0.01)",
                           "graphlet(4)",
                           "spectrum(4).on(\"seq\")*gaussian(auto).on(\"age\", \"dose\")",
                           "bag_of(gaussian(1), mean).radial(auto)",
                           "(spectrum(2) + spectrum(3)).radial(0.5)",
                           "bag_of(bag_of(linear), mean)"}) {
    EXPECT_EQ(parse_kernel(text).text(), text);
  }
  EXPECT_EQ(parse_kernel("spectrum"), kernels::spectrum());
  EXPECT_EQ(parse_kernel("bag_of"), kernels::bag_of());
  EXPECT_EQ(parse_kernel("bag_of(form=mean)").text(), "bag_of(gaussian(1), mean)");
  EXPECT_EQ(parse_kernel("bag_of(form=mean, kernel=linear + 1)").text(), "bag_of(linear + constant(1), mean)");
  EXPECT_EQ(parse_kernel("spectrum(4, true)").text(), "spectrum(4)");
  EXPECT_EQ(parse_kernel("convolution(words, kernel=linear)"), kernels::convolution("words", kernels::linear()));
}

TEST(ObjectKernelText, WordTablesComeFromTheLibrary) {
  auto table = std::make_shared<WordTable>();
  table->words = {"a", "b"};
  table->vectors = Matrix::Identity(2, 2);
  const Kernel k = kernels::words("glove 2d", table, kernels::gaussian(2));
  EXPECT_EQ(k.text(), "words(\"glove 2d\", gaussian(2))");
  EXPECT_EQ(parse_kernel(k.text(), library_of(k)), k);
  EXPECT_EQ(kernels::word_table_of(parse_kernel("words(\"glove 2d\", linear^2)", library_of(k))), table);
  EXPECT_NE(message_of<InvalidArgument>([] {
              parse_kernel("words(\"glove\")");
            }).find("the table of words \"glove\" is not there: give it along"),
            std::string::npos);
  EXPECT_NE(message_of<InvalidArgument>([] { parse_kernel("words"); }).find("words needs its table"), std::string::npos);
}

TEST(ObjectKernelText, DecompositionsComeFromTheLibrary) {
  const Kernel k = kernels::convolution(
      "halves", [](const Samples& X) { return X; }, kernels::spectrum(2));
  EXPECT_EQ(k.text(), "convolution(\"halves\", spectrum(2))");
  EXPECT_EQ(parse_kernel(k.text(), library_of(k)), k);
  EXPECT_NE(message_of<InvalidArgument>([] { parse_kernel("convolution(\"halves\", linear)"); }).find("give it along"), std::string::npos);
  EXPECT_NE(message_of<InvalidArgument>([] {
              parse_kernel("convolution(sentences, linear)");
            }).find("words, letters and lines, got \"sentences\""),
            std::string::npos);
}

TEST(ObjectKernelText, WrongArgumentsAreErrors) {
  const auto says = [](const char* text, const char* part) {
    EXPECT_NE(message_of<InvalidArgument>([&] { parse_kernel(text); }).find(part), std::string::npos)
        << text << ": " << message_of<InvalidArgument>([&] { parse_kernel(text); });
  };
  says("spectrum(0)", "k must be a whole number from 1 to 1000, got 0");
  says("spectrum(2.5)", "k must be a whole number");
  says("spectrum(3, normalized=maybe)", "normalized must be true or false");
  says("mismatch(3, 3)", "m must be a whole number from 0 to 2, got 3");
  says("subsequence(2, 0)", "decay must be a number in (0, 1], got 0");
  says("graphlet(6)", "size must be a whole number from 3 to 5, got 6");
  says("random_walk(1)", "decay must be a number in (0, 1)");
  says("bag_of(precomputed)", "have no place in a given Gram matrix");
  says("edit_distance([1, 2])", "one length scale");
  says("bag_of(gaussian(1), median)", "form must be sum or mean or best");
  says("spectrum(3).radial([1, 2])", "one length scale");
  says("spectrun(3)", "did you mean spectrum?");
}

TEST(ObjectKernelText, NestingIsBounded) {
  std::string text = "linear";
  for (int i = 0; i < 200; ++i) text = "bag_of(" + text + ")";
  EXPECT_THROW(parse_kernel(text), InvalidArgument);
}

TEST(ObjectKernelProperties, WhatIsPsdAndWhatWaitsForData) {
  for (const char* text :
       {"spectrum", "weighted_degree", "mismatch", "gappy", "subsequence", "bag_of", "bag_of_words", "convolution", "weisfeiler_lehman",
        "weisfeiler_lehman(2, assignment)", "shortest_path", "random_walk", "graphlet", "spectrum.radial(1)", "bag_of(linear, mean)"})
    EXPECT_TRUE(parse_kernel(text).is_psd()) << text;
  EXPECT_EQ(parse_kernel("edit_distance").psd(), Verdict::no);
  EXPECT_EQ(parse_kernel("bag_of(gaussian(1), best)").psd(), Verdict::no);
  EXPECT_EQ(parse_kernel("bag_of(sigmoid)").psd(), Verdict::no);
  for (const char* text :
       {"mismatch", "random_walk", "bag_of_words", "edit_distance(auto)", "bag_of(gaussian(auto))", "spectrum.radial(auto)"})
    EXPECT_TRUE(parse_kernel(text).has_auto()) << text;
  EXPECT_FALSE(parse_kernel("bag_of_words(count)").has_auto());
  EXPECT_EQ(parse_kernel("spectrum").is_characteristic(), Verdict::no);
}

TEST(ObjectKernelColumns, AreThoseThatObjectKernelsLookAt) {
  EXPECT_FALSE(object_columns(parse_kernel("gaussian(1).on(0)")).has_value());
  EXPECT_TRUE(object_columns(parse_kernel("spectrum + constant(1)"))->empty());
  const auto columns = object_columns(parse_kernel("spectrum(4).on(\"seq\")*gaussian(1).on(\"age\") + bag_of(linear.on(3)).on(2)"));
  ASSERT_TRUE(columns.has_value());
  EXPECT_EQ(*columns, (std::vector<ColumnRef>{"seq", 2}));
  EXPECT_TRUE(parse_kernel("2*spectrum.on(1)").looks_at_objects());
  EXPECT_FALSE(parse_kernel("linear").looks_at_objects());
  // Names inside a bag are those of its elements' columns, which have none.
  EXPECT_FALSE(parse_kernel("bag_of(linear.on(\"x\"))").has_named_columns());
}

}  // namespace
}  // namespace mercer

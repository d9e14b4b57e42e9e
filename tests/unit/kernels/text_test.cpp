// Kernels as text: what is printed can be read back exactly (model files rely on it), and what cannot be read is answered with a place.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/kernels.hpp"

namespace mercer {
namespace {

using kernels::constant;
using kernels::gaussian;
using kernels::laplacian;
using kernels::linear;
using kernels::polynomial;

std::string error_of(std::string_view text) {
  try {
    parse_kernel(text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

// The error says `message`, and its caret stands under character `at` of the text as shown.
void expect_error(std::string_view text, const std::string& message, std::size_t at) {
  const std::string error = error_of(text);
  EXPECT_NE(error.find(message), std::string::npos) << error;
  const std::size_t last_line = error.rfind('\n');
  ASSERT_NE(last_line, std::string::npos) << error;
  EXPECT_EQ(error.substr(last_line + 1), std::string(2 + at, ' ') + "^") << error;
}

// Any finite number, extremes as likely as others: random bits.
double any_finite() {
  const auto x = std::bit_cast<double>(*rc::gen::arbitrary<std::uint64_t>());
  return std::isfinite(x) ? x : 0.1;
}

double any_length_scale() { return std::clamp(std::abs(any_finite()), 1e-150, 1e150); }

Kernel any_leaf() {
  switch (*rc::gen::inRange(0, 7)) {
    case 0:
      return linear();
    case 1:
      return polynomial(*rc::gen::inRange(1, 1001), any_finite(), any_finite());
    case 2:
      return gaussian(any_length_scale());
    case 3:
      return laplacian(any_length_scale(), kernels::Norm::l1);
    case 4:
      return laplacian(any_length_scale());
    case 5:
      return gaussian(kernels::LengthScale::automatic());
    default:
      return constant(any_finite());
  }
}

Kernel any_kernel(int depth) {
  if (depth == 0) return any_leaf();
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      return any_leaf();
    case 1:
      return any_kernel(depth - 1) + any_kernel(depth - 1);
    case 2:
      return any_kernel(depth - 1) + *rc::gen::element(0.0, 1.0, -2.5);
    case 3:
      return any_kernel(depth - 1) * any_kernel(depth - 1);
    default:
      return *rc::gen::element(0.1, 3.0, -0.25, 1e-7, 0.0) * any_kernel(depth - 1);
  }
}

void expect_same_structure(const KernelNode& a, const KernelNode& b) {
  RC_ASSERT(a.kind() == b.kind());
  RC_ASSERT(std::bit_cast<std::uint64_t>(a.factor()) == std::bit_cast<std::uint64_t>(b.factor()));
  RC_ASSERT(a.parts().size() == b.parts().size());
  if (a.parts().empty()) RC_ASSERT(a.text() == b.text());
  for (std::size_t i = 0; i < a.parts().size(); ++i) expect_same_structure(a.parts()[i].node(), b.parts()[i].node());
}

RC_GTEST_PROP(KernelText, ReadsBackWhatItPrinted, ()) {
  const Kernel k = any_kernel(*rc::gen::inRange(0, 6));
  const std::string text = k.text();
  const Kernel again = parse_kernel(text);
  RC_ASSERT(again.text() == text);
  expect_same_structure(k.node(), again.node());
  RC_ASSERT(again.is_psd() == k.is_psd());
  RC_ASSERT(again.is_universal() == k.is_universal());
  RC_ASSERT(again.is_characteristic() == k.is_characteristic());
  RC_ASSERT(again.has_auto() == k.has_auto());
}

RC_GTEST_PROP(KernelText, EveryDoubleSurvives, ()) {
  const double x = any_finite();
  const Kernel k = parse_kernel(constant(x).text());
  double value = 0;
  k.node().finish(Tile<double>{&value, 1, 1, 1});
  RC_ASSERT(std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(x));
  const double l = any_length_scale();
  const std::string text = parse_kernel(gaussian(l).text()).text();
  RC_ASSERT(std::strtod(text.c_str() + std::strlen("gaussian("), nullptr) == l);
}

// Random bytes never crash, hang or pass unnoticed: either a kernel that prints, or an error of plain ASCII.
RC_GTEST_PROP(KernelText, AnyBytesAreAnswered, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::oneOf(rc::gen::element<std::string>("gaussian", "linear", "(", ")", "+", "*", ",", "auto", "norm=", "l1", "2", "1e999", ".",
                                                   "-", " ", "constant(3)"),
                     rc::gen::container<std::string>(1, rc::gen::arbitrary<char>())));
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  try {
    const std::string printed = parse_kernel(text).text();
    RC_ASSERT(parse_kernel(printed).text() == printed);
  } catch (const InvalidArgument& error) {
    for (const char c : std::string(error.what())) RC_ASSERT(c == '\n' || (c >= ' ' && c <= '~'));
  }
}

TEST(KernelText, CanonicalForms) {
  EXPECT_EQ((gaussian(2.0) + 0.5 * linear()).text(), "gaussian(2) + 0.5*linear");
  EXPECT_EQ(polynomial().text(), "polynomial(3, scale=1, offset=1)");
  EXPECT_EQ(polynomial(2, 0.5, 0).text(), "polynomial(2, scale=0.5, offset=0)");
  EXPECT_EQ(laplacian(3.0).text(), "laplacian(3)");
  EXPECT_EQ(laplacian(0.1, kernels::Norm::l1).text(), "laplacian(0.1, norm=l1)");
  EXPECT_EQ(gaussian(kernels::LengthScale::automatic()).text(), "gaussian(auto)");
  EXPECT_EQ((linear() + 2.0).text(), "linear + constant(2)");
  EXPECT_EQ((2.0 * (linear() + gaussian()) * gaussian()).text(), "2*(linear + gaussian(1))*gaussian(1)");
}

TEST(KernelText, ManyWaysToWriteOneKernel) {
  const auto same = [](const char* written, const char* canonical) { EXPECT_EQ(parse_kernel(written).text(), canonical) << written; };
  same("linear()", "linear");
  same(" gaussian ( length_scale = 2.50 ) ", "gaussian(2.5)");
  same("gaussian", "gaussian(1)");
  same("gaussian(auto)", "gaussian(auto)");
  same("gaussian(length_scale=auto)", "gaussian(auto)");
  same("polynomial(offset=0, degree=2)", "polynomial(2, scale=1, offset=0)");
  same("polynomial(2, offset=-1)", "polynomial(2, scale=1, offset=-1)");
  same("laplacian(norm=l1)", "laplacian(1, norm=l1)");
  same("laplacian(norm=l2)", "laplacian(1)");
  same("3", "constant(3)");
  same("1 + 2", "constant(3)");
  same("1 + linear", "constant(1) + linear");
  same("((linear))", "linear");
  same("2*3*linear", "6*linear");
  same("linear*2", "2*linear");
  same("-1*linear", "-1*linear");
  same("+2*linear", "2*linear");
  same("1e2*linear", "100*linear");
  same("\tlinear\n+ linear", "linear + linear");
}

TEST(KernelText, SumsAndProductsAreFlat) {
  const Kernel a = linear();
  const Kernel b = gaussian(2.0);
  const Kernel c = polynomial(2);
  EXPECT_EQ((a + b) + c, a + (b + c));
  EXPECT_EQ((a * b) * c, a * (b * c));
  EXPECT_EQ(((a + b) + c).node().parts().size(), 3U);
  EXPECT_EQ((a * (b * c)).node().parts().size(), 3U);
  EXPECT_EQ(parse_kernel("linear + (gaussian(2) + 3)").node().parts().size(), 3U);
}

TEST(KernelText, FactorsGatherInFront) {
  const Kernel k = gaussian(2.0);
  const Kernel l = linear();
  const Kernel wanted = 6.0 * (k * l);
  EXPECT_EQ(wanted.text(), "6*gaussian(2)*linear");
  EXPECT_EQ((2.0 * k) * (3.0 * l), wanted);
  EXPECT_EQ(2.0 * (k * (3.0 * l)), wanted);
  EXPECT_EQ(2.0 * (3.0 * (k * l)), wanted);
  EXPECT_EQ(parse_kernel("2*gaussian(2)*3*linear"), wanted);
  EXPECT_EQ(wanted.node().factor(), 6);
  EXPECT_EQ(wanted.node().parts()[0].node().kind(), KernelNode::Kind::product);
  EXPECT_THROW(1e200 * (1e200 * k), InvalidArgument);
  EXPECT_THROW((1e200 * k) * (1e200 * l), InvalidArgument);
  EXPECT_THROW(std::nan("") * k, InvalidArgument);
}

TEST(KernelTextErrors, PointAtTheCharacter) {
  expect_error("", "a kernel is missing here", 0);
  expect_error("   ", "a kernel is missing here", 3);
  expect_error("linear +", "a kernel is missing here", 8);
  expect_error("linear * ", "a kernel is missing here", 9);
  expect_error("gausian(2)", "there is no kernel \"gausian\"; did you mean gaussian?", 0);
  expect_error("linear + lapacian(2)", "there is no kernel \"lapacian\"; did you mean laplacian?", 9);
  expect_error("linear + poly(2)", "did you mean polynomial?", 9);
  expect_error("linear + rbf(2)", "did you mean gaussian?", 9);
  expect_error("Gaussian(2)", "did you mean gaussian?", 0);
  expect_error("linear)", "expected + or *, found \")\"", 6);
  expect_error("linear gaussian(2)", "expected + or *, found \"g\"", 7);
  expect_error("linear - linear", "expected + or *, found \"-\"", 7);
  expect_error("(linear + gaussian(2)", "a closing bracket is missing", 21);
  expect_error("gaussian(2", "expected , or )", 10);
  expect_error("gaussian(2,)", "expected a finite number", 11);
  expect_error("linear ** 2", "powers of kernels are not known here", 8);
  expect_error("1e999*linear", "expected a finite number", 0);
  expect_error("1e200*1e200*linear", "this makes a number too large", 6);
  expect_error("1e308 + 1e308", "this makes a number too large", 7);
  expect_error("2 + 1e200*linear*(1e200*linear)", "factor must be a finite number", 3);
  expect_error("+-1*linear", "two signs in a row", 0);
  expect_error("$", "expected a kernel's name or a number, found \"$\"", 0);
}

TEST(KernelTextErrors, NameTheParameter) {
  expect_error("gaussian(-1)", "length_scale must be a number > 0, got -1", 0);
  expect_error("gaussian(0)", "length_scale must be a number > 0, got 0", 0);
  expect_error("gaussian(1e-200)", "length_scale must lie between 1e-150 and 1e150", 0);
  expect_error("gaussian(nan)", "length_scale must be a number or auto, got \"nan\"", 9);
  expect_error("gaussian(-inf)", "expected a finite number", 9);
  expect_error("gaussian(1, 2)", "gaussian takes 1 argument", 12);
  expect_error("linear(2)", "linear takes 0 arguments", 7);
  expect_error("gaussian(sigma=2)", "gaussian has no parameter \"sigma\"; it has length_scale", 9);
  expect_error("gaussian(1, length_scale=2)", "length_scale is given twice", 25);
  expect_error("polynomial(2.5)", "degree must be a whole number, got 2.5", 11);
  expect_error("polynomial(degree=1e300)", "degree must be a whole number", 18);
  expect_error("polynomial(0)", "degree must be a whole number from 1 to 1000, got 0", 0);
  expect_error("polynomial(auto)", "degree must be a number, got \"auto\"", 11);
  expect_error("polynomial(degree=2, 3)", "an argument without a name cannot follow one with a name", 21);
  expect_error("laplacian(1, norm=l3)", "norm must be l1 or l2", 18);
  expect_error("laplacian(1, norm=1)", "norm must be l1 or l2", 18);
  expect_error("constant(inf)", "value must be a number, got \"inf\"", 9);
}

TEST(KernelTextErrors, HostileText) {
  // Up to 100 brackets, whatever they hold.
  const auto nested = [](int n) {
    return std::string(static_cast<std::size_t>(n), '(') + "linear" + std::string(static_cast<std::size_t>(n), ')');
  };
  EXPECT_EQ(parse_kernel(nested(100)).text(), "linear");
  expect_error(nested(5000), "brackets are nested too deeply", 60);  // cut: 60 characters stand before the place
  EXPECT_EQ(error_of(std::string(100001, '1')), "a kernel expression of 100001 characters is too long (at most 100000)");
  expect_error(std::string(20000, 'a'), "there is no kernel \"" + std::string(60, 'a') + "...\"", 0);
  EXPECT_LT(error_of(std::string(20000, 'a')).size(), 400U);
  expect_error(std::string_view("linear\0+ linear", 15), "expected + or *, found \"?\"", 6);
  expect_error("gau\xc3\x9fian(2)", "there is no kernel \"gau\"", 0);
  expect_error("\xf0\x9f\x98\x80", "expected a kernel's name or a number, found \"?\"", 0);
  expect_error("linear\x1b[31m", "expected + or *, found \"?\"", 6);
}

// Nesting to the limit is answered at once: properties asked level by level would take 5^100 steps.
TEST(KernelTextErrors, DeepExpressionsAreFast) {
  std::string text = "gaussian(1)";
  for (int i = 0; i < 100; ++i) text = "(" + text + " + linear)*gaussian(2)";
  const Kernel k = parse_kernel(text);
  EXPECT_EQ(k.text(), text);
  EXPECT_TRUE(k.is_psd());
  EXPECT_EQ(k.is_universal(), Verdict::unknown);
  EXPECT_FALSE(k.has_auto());
  EXPECT_THROW((k + linear()) * linear(), InvalidArgument);  // one deeper could be built but never read back
}

TEST(KernelTextErrors, LongExpressionsAreFastAndBounded) {
  std::string text = "linear";
  while (text.size() + 9 <= longest_text) text += " + linear";
  EXPECT_EQ(parse_kernel(text).text(), text);
  EXPECT_THROW(parse_kernel(text) + linear(), InvalidArgument);
}

TEST(KernelCatalogue, EveryRowCanBeParsed) {
  std::set<std::string> names;
  for (const KernelInfo& info : kernel_catalogue()) {
    EXPECT_NO_THROW(parse_kernel(info.name)) << info.name;
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.formula.empty());
    EXPECT_EQ(info.properties.find("psd") != std::string::npos, parse_kernel(info.name).is_psd()) << info.name;
  }
  EXPECT_EQ(names.size(), 5U);
}

}  // namespace
}  // namespace mercer

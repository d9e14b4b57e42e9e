// Kernels as text: what is printed can be read back exactly (model files rely on it), and what cannot be read is answered with a place.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
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

kernels::LengthScale any_scale() {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return kernels::LengthScale::automatic();
    case 1:
      return std::vector{any_length_scale(), any_length_scale()};
    default:
      return any_length_scale();
  }
}

double positive() { return std::clamp(std::abs(any_finite()), 1e-100, 1e100); }

Kernel any_leaf() {
  const std::vector<std::function<Kernel()>> makers{
      [] { return linear(); },
      [] { return polynomial(*rc::gen::inRange(1, 1001), any_finite(), any_finite()); },
      [] { return kernels::sigmoid(any_finite(), any_finite()); },
      [] { return kernels::exponential_dot(positive()); },
      [] { return kernels::cosine(); },
      [] { return gaussian(any_scale()); },
      [] { return laplacian(any_scale(), *rc::gen::element(kernels::Norm::l1, kernels::Norm::l2)); },
      [] { return kernels::matern(*rc::gen::element(0.5, 1.5, 2.5), any_scale()); },
      [] { return kernels::rational_quadratic(any_scale(), positive()); },
      [] {
        return kernels::periodic(any_length_scale(), std::vector{any_length_scale(), any_length_scale()});
      },
      [] { return kernels::chi2(positive()); },
      [] { return kernels::histogram_intersection(); },
      [] { return constant(any_finite()); },
      [] { return kernels::white(any_finite()); },
      [] { return kernels::precomputed(); },
  };
  return makers[static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(makers.size())))]();
}

Kernel any_kernel(int depth) {
  if (depth == 0) return any_leaf();
  const auto part = [&] { return any_kernel(depth - 1); };
  switch (*rc::gen::inRange(0, 13)) {
    case 0:
      return any_leaf();
    case 1:
    case 2:
      return part() + part();
    case 3:
      return part() + *rc::gen::element(0.0, 1.0, -2.5);
    case 4:
    case 5:
      return part() * part();
    case 6:
      return part().power(*rc::gen::inRange(1, 4));
    case 7:
      return part().normalized(*rc::gen::element(Normalization::root, Normalization::product));
    case 8:
      return *rc::gen::element(part().exp(), part().geometric());
    case 9:
      return part().series({any_finite(), any_finite()});
    case 11: {  // a given Gram matrix has no values at other points
      const Kernel k = part();
      return k.needs_given_gram() ? k : k.over(Matrix::Constant(2, 3, any_finite()));
    }
    case 10:
      return part().on({4, "a \"name\" with \\ and\nmore", 0, 1, 2});
    default:
      return *rc::gen::element(0.1, 3.0, -0.25, 1e-7, 0.0) * part();
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
  RC_ASSERT(again.psd() == k.psd());
  RC_ASSERT(again.is_strictly_pd() == k.is_strictly_pd());
  RC_ASSERT(again.is_bounded() == k.is_bounded());
  RC_ASSERT(again.is_shift_invariant() == k.is_shift_invariant());
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
                                                   "-", " ", "constant(3)", "^", "**", ".on(", ".exp()", "[", "]", "\"", ":", "normalized",
                                                   ".series([1,2])", ".over([[1]])", "matern(0.5)"),
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
  EXPECT_EQ(gaussian(std::vector{1.0, 2.5}).text(), "gaussian([1, 2.5])");
  EXPECT_EQ(kernels::matern().text(), "matern(1.5, 1)");
  EXPECT_EQ(kernels::rational_quadratic(2.0, 0.5).text(), "rational_quadratic(2, alpha=0.5)");
  EXPECT_EQ(kernels::periodic(2.0, 7.0).text(), "periodic(2, period=7)");
  EXPECT_EQ(kernels::sigmoid().text(), "sigmoid(scale=1, offset=0)");
  EXPECT_EQ(gaussian().power(3).text(), "gaussian(1)^3");
  EXPECT_EQ(gaussian().power(3).power(2).text(), "gaussian(1)^6");
  EXPECT_EQ(gaussian().power(1), gaussian());
  EXPECT_EQ((2.0 * linear()).power(2).text(), "(2*linear)^2");
  EXPECT_EQ((linear() + 1.0).power(2).exp().text(), "((linear + constant(1))^2).exp()");
  EXPECT_EQ((2.0 * linear().exp().normalized()).text(), "2*linear.exp().normalized()");
  EXPECT_EQ(linear().normalized(Normalization::product).text(), "linear.normalized(product)");
  EXPECT_EQ(linear().geometric().series({1, 0.5}).text(), "linear.geometric().series([1, 0.5])");
  EXPECT_EQ((linear() * gaussian()).on({4, 0, 1, 2, 7}).text(), "(linear*gaussian(1)).on(4, 0:3, 7)");
  EXPECT_EQ(linear().on({"a \"b\"", 3}).text(), R"(linear.on("a \"b\"", 3))");
  EXPECT_EQ(gaussian().over(Matrix::Identity(2, 2)).text(), "gaussian(1).over([[1, 0], [0, 1]])");
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
  same("gaussian([1])", "gaussian([1])");
  same("gaussian( [ 1 , 2e0 ] )", "gaussian([1, 2])");
  same("matern(nu=2.5)", "matern(2.5, 1)");
  same("linear**2", "linear^2");
  same("linear ^ 2 ^ 3", "linear^6");
  same("2*linear^2", "2*linear^2");
  same("exp(linear)", "linear.exp()");
  same("exp(linear + 1).normalized()", "(linear + constant(1)).exp().normalized()");
  same("normalized(linear)", "linear.normalized()");
  same("linear.normalized(root)", "linear.normalized()");
  same("linear.normalized(form=product)", "linear.normalized(product)");
  same("linear . on ( 0 , age , 5 : 7 )", "linear.on(0, \"age\", 5, 6)");
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
  expect_error("GAUSSIAN(2)", "did you mean gaussian?", 0);
  expect_error("linear.on(0:1000002)", "on() takes at most 1000000 columns", 19);
  expect_error("linear)", "expected + or *, found \")\"", 6);
  expect_error("linear gaussian(2)", "expected + or *, found \"g\"", 7);
  expect_error("linear - linear", "expected + or *, found \"-\"; a difference", 7);
  expect_error("(linear + gaussian(2)", "a closing bracket is missing", 21);
  expect_error("gaussian(2", "expected , or )", 10);
  expect_error("gaussian(2,)", "expected a finite number", 11);
  expect_error("linear ** 0", "a power is a whole number from 1 to 1000", 10);
  expect_error("linear^1.5", "a power is a whole number from 1 to 1000", 7);
  expect_error("linear^-1", "a power is a whole number from 1 to 1000", 7);
  expect_error("linear^", "a power is a whole number from 1 to 1000", 7);
  expect_error("2^3", "only kernels have powers and methods", 1);
  expect_error("linear.normalised()", "kernels have no \"normalised\"; they have on, exp, geometric, normalized, over, radial, series", 7);
  expect_error("linear.on()", "expected a column", 10);
  expect_error("linear.on(0, 0)", "on() names column 0 twice", 7);
  expect_error("linear.on(3:1)", "a range of columns goes up, as in 0:4", 13);
  expect_error("linear.on(-1)", "expected a column", 10);
  expect_error("linear.on(\"age)", "the quote that begins here has no end", 10);
  expect_error("linear.on(\"\")", "a name is missing between the quotes", 10);
  expect_error("linear.normalized(square)", "form must be root or product", 18);
  expect_error("linear.series()", "series needs its coefficients", 7);
  expect_error("linear.series(3)", "coefficients must be a list like [1, 0.5], got 3", 14);
  expect_error("linear.over([1, 2])", "points must be a list of points like [[0, 1], [2, 3]], got a list", 12);
  expect_error("linear.over([[1, 2], [3]])", "every point must have 2 numbers", 21);
  expect_error("linear.exp", "expected (", 10);
  expect_error("exp(linear", "a closing bracket is missing", 10);
  expect_error("function(\"f\")", "the function \"f\" was written in the program that made this kernel", 9);
  expect_error("function(f)", "name must be a name in quotes, got \"f\"", 9);
  expect_error("1e999*linear", "expected a finite number", 0);
  expect_error("1e200*1e200*linear", "this makes a number too large", 6);
  expect_error("1e308 + 1e308", "this makes a number too large", 7);
  expect_error("2 + 1e200*linear*(1e200*linear)", "factor must be a finite number", 3);
  expect_error("+-1*linear", "two signs in a row", 0);
  expect_error("-linear", "a sign stands before a number; write -1*k", 0);
  expect_error("2*linear - linear", "a difference is written + -1*k", 9);
  expect_error("rfb(2)", "did you mean gaussian?", 0);
  expect_error("log", "there is no kernel \"log\"; mercer kernels lists them", 0);
  expect_error("$", "expected a kernel's name or a number, found \"$\"", 0);
}

TEST(KernelTextErrors, NameTheParameter) {
  expect_error("gaussian(-1)", "length_scale must be a number > 0, got -1", 0);
  expect_error("gaussian(0)", "length_scale must be a number > 0, got 0", 0);
  expect_error("gaussian(1e-200)", "length_scale must lie between 1e-150 and 1e150", 0);
  expect_error("gaussian(nan)", "length_scale must be a number, auto or a list of one per column, got \"nan\"", 9);
  expect_error("gaussian(-inf)", "a sign stands before a number", 9);
  expect_error("gaussian(1, 2)", "gaussian takes 1 argument", 12);
  expect_error("linear(2)", "linear takes 0 arguments", 7);
  expect_error("gaussian(sigma=2)", "gaussian has no parameter \"sigma\"; it has length_scale", 9);
  expect_error("gaussian(1, length_scale=2)", "length_scale is given twice", 25);
  expect_error("polynomial(2.5)", "degree must be a whole number, got 2.5", 11);
  expect_error("polynomial(degree=1e300)", "degree must be a whole number", 18);
  expect_error("polynomial(0)", "degree must be a whole number from 1 to 1000, got 0", 0);
  expect_error("polynomial(auto)", "degree must be a number, got \"auto\"", 11);
  expect_error("polynomial(degree=2, 3)", "an argument without a name cannot follow one with a name", 21);
  expect_error("laplacian(1, norm=l3)", "norm must be l2 or l1", 18);
  expect_error("laplacian(1, norm=1)", "norm must be l2 or l1", 18);
  expect_error("gaussian([])", "expected a finite number", 10);
  expect_error("gaussian([1, -2])", "length_scale must be a number > 0, got -2", 0);
  expect_error("gaussian([[1, 2]])", "got a list of points", 9);
  expect_error("matern(1)", "nu must be 0.5, 1.5 or 2.5", 0);
  expect_error("periodic(auto)", "length_scale must be a number or a list of one per column, got \"auto\"", 9);
  expect_error("periodic(period=0)", "period must be a number > 0, got 0", 0);
  expect_error("chi2(0)", "gamma must be a number > 0, got 0", 0);
  expect_error("rational_quadratic(1, alpha=-1)", "alpha must be a number > 0, got -1", 0);
  expect_error("exponential_dot(-1)", "scale must be a number > 0, got -1", 0);
  expect_error("matrn(1)", "did you mean matern?", 0);
  expect_error("constant(inf)", "value must be a number, got \"inf\"", 9);
}

TEST(KernelTextErrors, HostileText) {
  // Up to 100 brackets, whatever they hold.
  const auto nested = [](int n) {
    return std::string(static_cast<std::size_t>(n), '(') + "linear" + std::string(static_cast<std::size_t>(n), ')');
  };
  EXPECT_EQ(parse_kernel(nested(100)).text(), "linear");
  expect_error(nested(5000), "brackets are nested too deeply", 60);  // cut: 60 characters stand before the place
  EXPECT_EQ(error_of(std::string(longest_text + 1, '1')), "a kernel expression of 10000001 characters is too long (at most 10000000)");
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
  EXPECT_EQ(k.is_universal(), Verdict::yes);
  EXPECT_EQ(k.is_characteristic(), Verdict::unknown);
  EXPECT_FALSE(k.has_auto());
  EXPECT_THROW((k + linear()) * linear(), InvalidArgument);  // one deeper could be built but never read back
}

// Calls are counted as brackets are, so that no chain of them makes recursion deep.
TEST(KernelTextErrors, ChainsOfCallsAreBounded) {
  std::string text = "linear";
  for (int i = 0; i < 100; ++i) text += ".normalized()";
  EXPECT_EQ(parse_kernel(text).text(), text);
  expect_error(text + ".exp()", "kernels may be nested 100 deep at most", 60);
}

TEST(KernelTextErrors, LongExpressionsAreFastAndBounded) {
  std::string text = "linear";
  while (text.size() + 9 <= longest_text / 10) text += " + linear";
  EXPECT_EQ(parse_kernel(text).text(), text);
  const Kernel points = linear().over(Matrix::Constant(500000, 1, 0.123456789));
  EXPECT_THROW(points + points, InvalidArgument);
}

TEST(KernelCatalogue, EveryRowCanBeParsed) {
  std::set<std::string> names;
  for (const KernelInfo& info : kernel_catalogue()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.formula.empty());
    if (info.name == "words") continue;  // text alone does not make it: WordTablesComeFromTheLibrary
    const Kernel k = parse_kernel(info.name);
    EXPECT_EQ(info.psd, k.psd()) << info.name;
    // Every parameter is known to the parser under that name, and has the value it is said to have.
    for (const ParameterInfo& parameter : info.parameters) {
      EXPECT_EQ(parse_kernel(fmt::format("{}({}={})", info.name, parameter.name, parameter.standard)), k)
          << info.name << ' ' << parameter.name;
    }
  }
  EXPECT_EQ(names.size(), 29U);
  for (const KernelOperation& operation : kernel_operations()) {
    std::string text = operation.text;
    for (std::size_t at = 0; at < text.size(); ++at) {  // k and l stand for kernels
      const bool alone = (at == 0 || !std::isalpha(text[at - 1])) && (at + 1 == text.size() || !std::isalpha(text[at + 1]));
      if (alone && text[at] == 'k') text.replace(at, 1, "gaussian(2)");
      if (alone && text[at] == 'l') text.replace(at, 1, "linear");
    }
    EXPECT_NO_THROW(parse_kernel(text)) << text;
  }
}

}  // namespace
}  // namespace mercer

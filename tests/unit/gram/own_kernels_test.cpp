// Kernels that are given rather than named: Gram matrices, functions, feature maps; white noise, which knows samples apart; and columns.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "reference/kernel_cases.hpp"

namespace mercer {
namespace {

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_message(const std::function<void()>& f, const std::string& part) {
  const std::string message = message_of(f);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

const Matrix X = RandomStream(1).normal_matrix(300, 3);
const Matrix Y = RandomStream(2).normal_matrix(40, 3);

TEST(GivenGram, IsLookedUp) {
  const Kernel k = kernels::gaussian(2);
  const Matrix K = gram(k, X);
  const Samples objects = Samples::given_gram(K);
  EXPECT_EQ(objects.size(), 300);
  EXPECT_EQ(objects.width(), 300);
  EXPECT_EQ(gram(kernels::precomputed(), objects), K);
  // Whatever can be done with a kernel can be done with a given one.
  EXPECT_LT((gram((2.0 * kernels::precomputed() + 1.0).power(2).normalized(), objects) - gram((2.0 * k + 1.0).power(2).normalized(), X))
                .cwiseAbs()
                .maxCoeff(),
            1e-14);
  // Folds and their complements, in any order.
  const std::vector<Index> some{7, 3, 299, 12, 255, 256};
  const std::vector<Index> others{0, 299, 1};
  EXPECT_EQ(gram(kernels::precomputed(), objects.subset(some)), Matrix(K(some, some)));
  EXPECT_EQ(gram(kernels::precomputed(), objects.subset(some), objects.subset(others)), Matrix(K(some, others)));
  EXPECT_EQ(gram(kernels::precomputed(), objects.slice(100, 5), objects.subset(others)),
            Matrix(K(std::vector<Index>{100, 101, 102, 103, 104}, others)));
  // New objects come as rows of kernel values.
  const Matrix C = gram(k, Y, X);
  const Samples fresh = Samples::given_rows(C);
  EXPECT_EQ(gram(kernels::precomputed(), fresh, objects), C);
  EXPECT_EQ(gram(kernels::precomputed(), fresh, objects.subset(some).without_values()), Matrix(C(Eigen::all, some)));
  // Plain rows of numbers are taken for what the kernel needs.
  EXPECT_EQ(gram(kernels::precomputed(), K), K);
  EXPECT_EQ(gram(kernels::precomputed(), C, K), C);
  EXPECT_EQ(gram(kernels::precomputed(), Samples::given_gram(MatrixF(K.cast<float>()))), K.cast<float>().cast<double>());
}

TEST(GivenGram, RefusesWhatItCannotKnow) {
  const Samples objects = Samples::given_gram(gram(kernels::gaussian(2), X));
  const Samples fresh = Samples::given_rows(gram(kernels::gaussian(2), Y, X));
  expect_message([] { Samples::given_gram(Matrix::Ones(2, 3)); },
                 "a given Gram matrix is square, one row and one column per object, got 2 x 3");
  Matrix skew = Matrix::Identity(3, 3);
  skew(0, 1) = 0.5;
  expect_message([&] { Samples::given_gram(skew); }, "not symmetric: K(1, 0) = 0 but K(0, 1) = 0.5");
  skew(0, 1) = std::nan("");
  expect_message([&] { Samples::given_gram(skew); }, "the Gram matrix has a NaN in row 0, column 1");
  expect_message([&] { gram(kernels::precomputed(), X); }, "a given Gram matrix is square, one row and one column per object, got 300 x 3");
  expect_message([&] { gram(kernels::gaussian(1) + kernels::precomputed(), objects); }, "the kernel looks at columns");
  expect_message([&] { gram(kernels::precomputed(), objects, X); }, "a given Gram matrix is square");
  const Kernel own =
      kernels::function("f", [](const Samples& A, const Samples& B) { return Matrix(A.to_dense() * B.to_dense().transpose()); });
  expect_message([&] { gram(kernels::precomputed() + own, objects); },
                 "function(\"f\") looks at rows, but these samples are known by a given Gram matrix");
  expect_message([&] { gram(kernels::precomputed(), objects, fresh); }, "can stand on the rows' side alone");
  expect_message([&] { gram(kernels::precomputed(), objects.without_values()); }, "lost their kernel values");
  expect_message([&] { gram(kernels::precomputed().normalized(), fresh, objects); }, "k(x,x) of a new row of kernel values is not known");
  expect_message([&] { gram(kernels::precomputed().on({0}), objects); }, "asks for columns, but a given Gram matrix has none");
  expect_message([&] { resolve(kernels::gaussian(kernels::LengthScale::automatic()), objects); }, "a given Gram matrix has none");
  expect_message([&] { kernels::precomputed().over(Matrix::Ones(1, 1)); }, "precomputed cannot be composed");
}

TEST(OwnFunction, IsCalledOncePerTile) {
  std::atomic<int> calls{0};
  const auto f = [&](const Samples& A, const Samples& B) {
    ++calls;
    EXPECT_LE(A.size(), 256);
    EXPECT_LE(B.size(), 256);
    return Matrix((A.to_dense() * B.to_dense().transpose()).array() + 1);
  };
  const Kernel own = kernels::function("affine", f);
  EXPECT_EQ(own.text(), "function(\"affine\")");
  EXPECT_EQ(own.psd(), Verdict::unknown);
  EXPECT_TRUE(kernels::function("affine", f, Verdict::yes).is_psd());
  const Kernel same = kernels::linear() + 1.0;
  EXPECT_LT((gram(own, Y, X) - gram(same, Y, X)).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_EQ(calls, 2);
  calls = 0;
  const Matrix K = gram(own, X);
  EXPECT_EQ(calls, 3 + 2);  // tiles on and above the diagonal, and the diagonal ones once more for k(x,x)
  EXPECT_EQ(K, K.transpose());
  EXPECT_LT((K - gram(same, X)).cwiseAbs().maxCoeff(), 1e-13);
  // Inside other kernels, on some columns.
  EXPECT_LT((gram((2.0 * own.on({1, 2}) * kernels::gaussian(3)).normalized(), X, Y) -
             gram((2.0 * same.on({1, 2}) * kernels::gaussian(3)).normalized(), X, Y))
                .cwiseAbs()
                .maxCoeff(),
            1e-13);
}

TEST(OwnFunction, MistakesAreNamed) {
  const auto shape = [](const Samples& A, const Samples&) { return Matrix::Ones(A.size(), 1); };
  expect_message([&] { gram(kernels::function("f", shape), X, Y); },
                 "function(\"f\") must give a 256 x 40 matrix for blocks of 256 and 40 samples, got 256 x 1");
  const auto skew = [](const Samples& A, const Samples& B) { return Matrix(A.to_dense().col(0) * Vector::Ones(B.size()).transpose()); };
  expect_message([&] { gram(kernels::function("f", skew), Y); }, "function(\"f\") is not symmetric: k(x_");
  const auto nan = [](const Samples& A, const Samples& B) { return Matrix::Constant(A.size(), B.size(), std::nan("")); };
  expect_message([&] { gram(kernels::function("f", nan), Y); }, "NaN or infinite");
  expect_message([&] { kernels::function("", shape); }, "needs a name");
  expect_message([&] { kernels::function("f", {}); }, "has no function");
}

TEST(OwnFeatureMap, GivesItsDotProducts) {
  // K 3.1's map (x, |x|^2) has the kernel <x,y> + |x|^2 |y|^2 (SPEC K6).
  const auto lift = [](const Samples& A) {
    const Matrix rows = A.to_dense();
    Matrix out(rows.rows(), rows.cols() + 1);
    out << rows, rows.rowwise().squaredNorm();
    return out;
  };
  const Kernel k = kernels::feature_map("lift", lift);
  EXPECT_TRUE(k.is_psd());
  const Matrix expected =
      naive::gram([](const Vector& x, const Vector& y) { return naive::dot(x, y) + naive::dot(x, x) * naive::dot(y, y); }, X, Y);
  EXPECT_LT((gram(k, X, Y) - expected).cwiseAbs().maxCoeff(), 1e-13 * expected.cwiseAbs().maxCoeff());
  expect_message([&] { gram(kernels::feature_map("short", [](const Samples&) { return Matrix::Ones(1, 2); }), X); }, "made 1 rows of 300");
  const KernelLibrary library = library_of(2.0 * k + kernels::function("f", [](const Samples&, const Samples&) { return Matrix(); }));
  EXPECT_EQ(library.size(), 2U);
  EXPECT_EQ((*kernels::feature_map_of(library.at("lift")))(Y), lift(Y));
  EXPECT_NE(kernels::function_of(library.at("f")), nullptr);
  EXPECT_EQ(kernels::function_of(library.at("lift")), nullptr);
  EXPECT_EQ(kernels::feature_map_of(kernels::linear()), nullptr);
  EXPECT_EQ(gram(parse_kernel("feature_map(\"lift\")", library), X), gram(k, X));
  expect_message([&] { parse_kernel("function(\"lift\")", library); }, "was written in the program that made this kernel");
  expect_message([&] { parse_kernel("feature_map(\"lift\")"); }, "was written in the program that made this kernel");
}

TEST(White, KnowsSamplesApartNotRows) {
  Matrix twice(4, 2);
  twice << 1, 2, 1, 2, 3, 4, 3, 4;
  const Samples S = twice;
  EXPECT_EQ(gram(kernels::white(0.5), S), Matrix(0.5 * Matrix::Identity(4, 4)));
  EXPECT_EQ(gram(kernels::white(0.5), S, Samples(twice)), Matrix(Matrix::Zero(4, 4)));
  EXPECT_EQ(gram_diagonal(kernels::gaussian(1) + kernels::white(0.5), S), Vector(Vector::Constant(4, 1.5)));
  EXPECT_EQ(gram(kernels::white(1), Samples::given_gram(Matrix::Ones(3, 3))), Matrix(Matrix::Identity(3, 3)));
  const Matrix large = gram(kernels::white(2), X);
  EXPECT_EQ(large, Matrix(2 * Matrix::Identity(300, 300)));
}

TEST(Cosine, IsZeroForARowOfZeros) {
  Matrix rows(3, 2);
  rows << 0, 0, 3, 4, -4, 3;
  Matrix expected(3, 3);
  expected << 0, 0, 0, 0, 1, 0, 0, 0, 1;
  for (const double size : {1.0, 4e307, 1e-300, 1e-309}) {
    const Matrix K = gram(kernels::cosine(), size * rows);
    EXPECT_EQ(K.diagonal(), expected.diagonal());
    EXPECT_LT((K - expected).cwiseAbs().maxCoeff(),
              size < 1e-305 ? 1e-13 : 4 * std::numeric_limits<double>::epsilon());  // subnormal: fewer digits
  }
  expect_message([&] { gram(kernels::linear().normalized(), rows); }, "a normalised kernel needs k(x,x) > 0, but it is 0 for row 0");
}

TEST(Columns, AreCheckedWhenBound) {
  const Kernel g = kernels::gaussian(1);
  expect_message([&] { gram(g.on({0, 7}), X); }, "on(0, 7) asks for column 7, but the samples have 3 columns (0 to 2)");
  expect_message([&] { gram(g.on({"age"}), X); }, "these samples have no names");
  expect_message(
      [&] {
        gram(kernels::gaussian(std::vector{1.0, 2.0}), X);
      },
      "the kernel has 2 length scales, but looks at 3 columns: give one per column");
  expect_message([&] { gram(kernels::periodic(1, std::vector{1.0, 2.0}), X); }, "the kernel has 2 periods, but looks at 3 columns");
  expect_message([&] { gram(g.over(Matrix::Ones(2, 2)), X); }, "the points of over() have 2 columns, but the samples have 3");
  EXPECT_EQ(gram(kernels::gaussian(std::vector{1.0, 2.0}).on({2, 0}), X),
            gram(kernels::gaussian(std::vector{1.0, 2.0}), Matrix(X(Eigen::all, {2, 0}))));
  EXPECT_EQ(gram(g.on({1}).on({2, 0}), X), gram(g.on({0}), X)) << "columns of columns";
  // Automatic length scales look at the same columns.
  EXPECT_EQ(resolve(parse_kernel("gaussian(auto).on(2)"), X).text(),
            "gaussian(" + resolve(parse_kernel("gaussian(auto)"), Matrix(X.col(2))).text().substr(9) + ".on(2)");
  Matrix bad = X;
  bad(4, 2) = std::nan("");
  expect_message([&] { gram(g.on({1, 2}), bad); }, "X has a NaN in row 4, column 2");
}

TEST(Columns, NamesBecomePositions) {
  const std::vector<std::string> names{"age", "colour", "colour", "dose"};
  const Kernel k = parse_kernel("gaussian(2).on(age, \"dose\") * linear.on(colour) + constant(1)");
  EXPECT_TRUE(k.has_named_columns());
  EXPECT_EQ(k.text(), "gaussian(2).on(\"age\", \"dose\")*linear.on(\"colour\") + constant(1)");
  EXPECT_EQ(resolve_columns(k, names).text(), "gaussian(2).on(0, 3)*linear.on(1, 2) + constant(1)");
  EXPECT_EQ(resolve_columns(parse_kernel("(linear.on(dose) + linear.on(0)).on(colour, dose)"), names).text(),
            "(linear.on(2) + linear.on(0)).on(1:4)");
  expect_message([&] { resolve_columns(parse_kernel("linear.on(weight)"), names); },
                 "the kernel looks at column \"weight\", which is not among the features; they are age, colour, dose");
}

TEST(Overflow, IsSaidBeforeItHappens) {
  const Matrix big = 40 * X;
  expect_message([&] { gram(kernels::exponential_dot(1), big); }, "exponential_dot(1) overflows float64 on these rows: dot products reach");
  expect_message([&] { gram(kernels::polynomial(400, 1, 1), big); }, "overflows float64");
  expect_message([&] { gram(kernels::linear().exp(), big); }, "linear.exp() has no value in float64 here: the kernel inside it reaches");
  expect_message([&] { gram(kernels::gaussian(1).geometric(), X); },
                 "gaussian(1).geometric() has no value in float64 here: the kernel inside it reaches 1;");
  for (const char* text : {"1e308*linear", "polynomial(40)*polynomial(40)", "constant(1e308) + constant(1e308)",
                           "constant(1e200)*constant(1e200)*constant(0)"})
    expect_message([&] { gram(parse_kernel(text), big); }, "overflows float64 on these rows: its values may reach");
  expect_message([&] { gram(kernels::polynomial(60).over(big), big); }, "overflows float64");
  expect_message([&] { gram(1e40 * kernels::gaussian(1), X, {.precision = Precision::float32}); }, "overflows float32");
  // A bound must not refuse what is small: these stay below e, 2 and 1.
  for (const char* text : {"polynomial(3).normalized().exp()", "(0.5*linear.normalized()).geometric()", "polynomial(30).normalized()^20"})
    EXPECT_LE(gram(parse_kernel(text), 3 * X).maxCoeff(), std::exp(1.0) + 1e-12) << text;
  expect_message([&] { gram(kernels::precomputed().geometric(), Matrix::Identity(3, 3)); }, "has no value in float64 here");
  expect_message([&] { gram((kernels::linear() + -0.5).geometric(), X); }, "has no value in float64 here");
  // Parameters beyond float32 give what they tend to, never NaN.
  const MatrixF Xf = X.topRows(9).cast<float>();
  const Matrix limit = gram(kernels::gaussian(1), Xf, {.precision = Precision::float32});
  EXPECT_LT((gram(kernels::rational_quadratic(1, 1e50), Xf, {.precision = Precision::float32}) - limit).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_TRUE(gram(kernels::sigmoid(1e39), MatrixF(MatrixF::Zero(2, 2)), {.precision = Precision::float32}).allFinite());
  expect_message([&] { gram(kernels::chi2(), X); }, "kernels of histograms need numbers >= 0");
  expect_message([&] { gram(kernels::histogram_intersection(), Matrix(X.cwiseAbs()), Y); }, "Y has the value -");
}

}  // namespace
}  // namespace mercer

// Gram matrices against long-double loops, at sizes around tile and vector edges, for every kernel, both precisions, dense and sparse.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/gram.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "reference/kernel_cases.hpp"

namespace mercer {
namespace {

using naive::kernel_cases;

// Largest |a - b| / max(|b|, floor).
double relative_error(const Matrix& a, const Matrix& b, double floor) {
  return ((a - b).array().abs() / b.array().abs().max(floor)).maxCoeff();
}

Matrix with_duplicates(Index n, Index d, std::uint64_t seed) {
  Matrix X = RandomStream(seed).normal_matrix(n, d);
  for (Index i = 0; i + 3 < n; i += 7) X.row(i + 3) = X.row(i);                                  // exact
  for (Index i = 1; i + 4 < n; i += 11) X.row(i + 4) = X.row(i).array() + 1e-9 * (1 + X(i, 0));  // almost
  return X;
}

CsrMatrix<double> sparse_matrix(Index n, Index d, double density, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      if (random.uniform() < density) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), random.normal());
    }
  }
  CsrMatrix<double> out(n, d);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

TEST(Gram, AgreesWithLongDoubleLoopsAtTileAndVectorEdges) {
  for (const auto& [n, m, d] :
       {std::tuple<Index, Index, Index>{1, 1, 1}, {2, 3, 12}, {7, 17, 13}, {33, 255, 50}, {256, 257, 5}, {90, 31, 64}, {513, 9, 20}}) {
    for (const auto& c : kernel_cases(d)) {
      const Matrix X = c.data(RandomStream(1).normal_matrix(n, d));
      const Matrix Y = c.data(RandomStream(2).normal_matrix(m, d));
      const Matrix expected = naive::gram(c.naive, X, Y);
      // Relative for the positive kernels; dot products pass through zero, so those are measured against their typical size.
      const double floor = c.through_zero ? std::max(1.0, expected.cwiseAbs().mean()) : 0;
      EXPECT_LT(relative_error(gram(c.kernel, X, Y), expected, floor), 1e-13) << c.name << ' ' << n << ' ' << m << ' ' << d;
    }
  }
}

TEST(Gram, SymmetricMatricesAreSymmetricToTheBitWithExactDiagonal) {
  for (const Index d : {3, 40}) {
    for (const auto& c : kernel_cases(d)) {
      const Matrix X = c.data(with_duplicates(270, d, 3));
      const Matrix K = gram(c.kernel, X);
      EXPECT_EQ(K, K.transpose()) << c.name;
      const Matrix expected = naive::gram(c.naive, X, X);
      for (Index i = 0; i < X.rows(); ++i) EXPECT_NEAR(K(i, i), expected(i, i), 4e-16 * d * std::abs(expected(i, i))) << c.name;
      const MatrixF Xf = X.cast<float>();
      const Operator op = gram_operator(c.kernel, Xf, {.storage = Storage::stored});
      const Matrix Kf = op->apply(Matrix::Identity(270, 270));
      EXPECT_EQ(Kf, Kf.transpose()) << c.name;
    }
  }
}

TEST(Gram, DuplicatesAndNearDuplicatesHaveTheRightDistance) {
  // Far from the origin, where |x|^2 + |y|^2 - 2x'y has no correct digit left.
  for (const Index d : {2, 30}) {
    Matrix X = with_duplicates(300, d, 4).array() + 1e4;
    const Matrix expected = naive::gram(naive::laplacian(1), X, X);
    const Matrix K = gram(kernels::laplacian(1), X);
    EXPECT_LT((K - expected).cwiseAbs().maxCoeff(), 1e-11);
    for (Index i = 0; i + 3 < 300; i += 77) EXPECT_EQ(K(i, i + 3), 1.0);

    const MatrixF Xf = X.cast<float>();
    const Matrix as_double = Xf.cast<double>();
    const Matrix Kf = gram(kernels::laplacian(1), Xf, {.precision = Precision::float32});
    EXPECT_LT((Kf - naive::gram(naive::laplacian(1), as_double, as_double)).cwiseAbs().maxCoeff(), 3e-5);
    for (Index i = 0; i + 3 < 300; i += 77) EXPECT_EQ(Kf(i, i + 3), 1.0);
  }
}

// Scaled columns keep the accuracy of plain ones far from the origin, in both precisions, whatever the rows are stored in.
TEST(Gram, ScalesPerColumnAreAsAccurateFarFromTheOrigin) {
  const std::vector<double> scales{2.0, 3.0, 2.5};
  for (const double offset : {1e5, 1e8}) {
    const Matrix X = (10 * RandomStream(14).normal_matrix(60, 3)).array() + offset;
    for (const auto& [k, naive] :
         {std::pair(kernels::gaussian(scales), naive::scaled_columns(naive::gaussian(1), scales)),
          std::pair(kernels::laplacian(scales, kernels::Norm::l1), naive::scaled_columns(naive::laplacian_l1(1), scales, 1))}) {
      EXPECT_LT((gram(k, X) - naive::gram(naive, X, X)).cwiseAbs().maxCoeff(), 1e-13) << k.text();
      EXPECT_LT((gram(k, X, {.precision = Precision::float32}) - naive::gram(naive, X, X)).cwiseAbs().maxCoeff(), 1e-5) << k.text();
      const MatrixF Xf = X.cast<float>();
      const Matrix back = Xf.cast<double>();
      EXPECT_LT((gram(k, Xf, {.precision = Precision::float32}) - naive::gram(naive, back, back)).cwiseAbs().maxCoeff(), 1e-5) << k.text();
    }
  }
}

TEST(Gram, Float32IsAsAccurateAsStated) {
  for (const auto& c : kernel_cases(50)) {
    const Matrix X = c.data(with_duplicates(120, 50, 5));
    const MatrixF Xf = X.cast<float>();
    const Matrix expected = naive::gram(c.naive, Xf.cast<double>(), Xf.cast<double>());
    const Matrix K = gram(c.kernel, Xf, {.precision = Precision::float32});
    EXPECT_LT((K - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff(), 1e-5) << c.name;
  }
}

TEST(Gram, SparseRowsGiveTheSameAsDenseOnes) {
  for (const auto& c : kernel_cases(150)) {
    CsrMatrix<double> A = sparse_matrix(70, 150, 0.05, 6);
    CsrMatrix<double> B = sparse_matrix(300, 150, 0.08, 7);
    if (c.positive) {
      A = A.cwiseAbs();
      B = B.cwiseAbs();
    }
    const Matrix dense_a(A);
    const Matrix dense_b(B);
    const CsrMatrix<float> Af = A.cast<float>();
    const Matrix expected = naive::gram(c.naive, dense_a, dense_b);
    const double size = expected.cwiseAbs().maxCoeff();
    EXPECT_LT((gram(c.kernel, A, B) - expected).cwiseAbs().maxCoeff(), 1e-13 * size) << c.name;
    EXPECT_LT((gram(c.kernel, A, dense_b) - expected).cwiseAbs().maxCoeff(), 1e-13 * size) << c.name << " mixed";
    const Matrix square = gram(c.kernel, A);
    EXPECT_EQ(square, square.transpose()) << c.name;
    EXPECT_LT((square - naive::gram(c.naive, dense_a, dense_a)).cwiseAbs().maxCoeff(), 1e-13 * square.cwiseAbs().maxCoeff()) << c.name;
    EXPECT_LT((gram(c.kernel, Af, {.precision = Precision::float32}) - square).cwiseAbs().maxCoeff(), 1e-5 * square.cwiseAbs().maxCoeff())
        << c.name;
  }
}

TEST(Gram, SparseDuplicatesAreExact) {
  CsrMatrix<double> A = sparse_matrix(40, 100, 0.2, 8);
  const Samples twice = Samples(A).subset(std::vector<Index>{0, 1, 2, 0, 1, 2});
  const std::vector<double> scales(100, 0.001);
  for (const auto& kernel : {kernels::gaussian(0.001), kernels::laplacian(0.001), kernels::laplacian(0.001, kernels::Norm::l1),
                             kernels::gaussian(scales), kernels::periodic(0.001, 7), kernels::matern(2.5, 0.001)}) {
    const Matrix K = gram(kernel, twice);
    for (Index i = 0; i < 3; ++i) EXPECT_EQ(K(i, i + 3), 1.0) << kernel.text();
  }
}

TEST(Gram, EntriesDoNotDependOnThreadsOrOnTheOtherRowsAsked) {
  const Matrix X = RandomStream(9).normal_matrix(700, 33);
  const auto kernel = kernels::gaussian(4) + kernels::laplacian(3);
  const Matrix one = gram(kernel, X, {.run = {.threads = 1}});
  const Matrix three = gram(kernel, X, {.run = {.threads = 3}});
  EXPECT_EQ(one, three);
  // A cross-Gram is centred on its columns' side, so asking for fewer rows changes nothing beyond the last bits of a GEMM.
  const Matrix cross = gram(kernel, X.topRows(5), X);
  EXPECT_LT((cross - one.topRows(5)).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Gram, DiagonalAloneIsThatOfTheMatrix) {
  for (const auto& c : kernel_cases(14)) {
    const Matrix X = c.data(RandomStream(10).normal_matrix(60, 14));
    EXPECT_EQ(gram_diagonal(c.kernel, X), gram(c.kernel, X).diagonal()) << c.name;
  }
}

TEST(Gram, AutomaticLengthScaleIsTheMedianDistance) {
  Matrix X(4, 1);
  X << 0, 1, 3, 7;  // distances 1 2 3 4 6 7: median 3.5
  EXPECT_EQ(resolve(kernels::gaussian(kernels::LengthScale::automatic()), X).text(), "gaussian(3.5)");
  EXPECT_EQ(resolve(parse_kernel("laplacian(auto, norm=l1) + 2*gaussian(auto)*linear"), X).text(),
            "laplacian(3.5, norm=l1) + 2*gaussian(3.5)*linear");
  EXPECT_EQ(resolve(kernels::gaussian(kernels::LengthScale::automatic()), Matrix::Ones(5, 2)).text(), "gaussian(1)");
  Matrix mostly_equal = Matrix::Zero(10, 1);
  mostly_equal(9, 0) = 2;  // median 0: the mean of the positive distances instead
  EXPECT_EQ(resolve(kernels::gaussian(kernels::LengthScale::automatic()), mostly_equal).text(), "gaussian(2)");
}

TEST(Gram, BadInputIsNamed) {
  const auto message = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  Matrix X = RandomStream(11).normal_matrix(20, 30);
  EXPECT_EQ(message([&] { gram(kernels::linear(), X, Matrix::Ones(3, 4)); }),
            "the two sample sets differ in width: 30 columns against 4; both must have the same features");
  EXPECT_EQ(message([&] { gram(kernels::linear(), Matrix(0, 3)); }), "there are no samples: X must have at least one row");
  EXPECT_EQ(message([&] { gram(kernels::linear(), Matrix(3, 0)); }), "the samples have no columns: X must have at least one column");
  X(3, 5) = std::numeric_limits<double>::quiet_NaN();
  for (const auto& c : kernel_cases(30)) {
    EXPECT_EQ(message([&] { gram(c.kernel, c.data(X)); }),
              "X has a NaN in row 3, column 5 (counting from 0); remove the row or fill the value in")
        << c.name;
  }
  X(3, 5) = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(message([&] { gram(kernels::gaussian(1), X); }),
            "X has an infinite value in row 3, column 5 (counting from 0); remove the row or fill the value in");
  X(3, 5) = 1e200;
  EXPECT_EQ(message([&] { gram(kernels::gaussian(1), X); }),
            "X has the value 1e+200 in row 3, column 5 (counting from 0), too large to square in float64; scale the columns");
  X(3, 5) = 1e25;
  EXPECT_EQ(message([&] { gram(kernels::gaussian(1), X, {.precision = Precision::float32}); }),
            "X has the value 1e+25 in row 3, column 5 (counting from 0), too large to square in float32; scale the columns or use float64");
  EXPECT_NE(message([&] {
              gram(kernels::gaussian(1), Matrix::Ones(2000, 2), {.run = {.memory = 1000}});
            }).find("the 2000 x 2000 Gram matrix in float64 needs 32 MB, but the memory budget is 1 kB"),
            std::string::npos);
}

// What is called positive semi-definite must be, strictly so where that is said; what is not has a counterexample.
TEST(Gram, SpectraAgreeWithWhatKernelsSayOfThemselves) {
  const Matrix X = RandomStream(13).normal_matrix(40, 2);
  for (const auto& c : kernel_cases(2)) {
    if (!c.kernel.is_psd()) continue;
    const GramCheck check = check_gram(gram(c.kernel, c.data(X)));
    EXPECT_TRUE(check.psd) << c.name << ": " << check.verdict();
  }
  // At a length scale below the distances, rounding does not hide strictness.
  for (const char* text :
       {"gaussian(0.1)", "laplacian(0.1)", "matern(2.5, 0.1)", "rational_quadratic(0.05)", "gaussian(0.2).on(0)*laplacian(0.2).on(1)",
        "gaussian(0.1)*periodic", "linear + white(0.1)", "gaussian(0.1).exp()", "gaussian(0.1)^3"}) {
    const Kernel k = parse_kernel(text);
    ASSERT_EQ(k.is_strictly_pd(), Verdict::yes) << text;
    EXPECT_EQ(check_gram(gram(k, X)).rank, 40) << text;
  }
  for (const char* text :
       {"sigmoid(1, offset=-1)", "polynomial(2, offset=-1)", "-1*gaussian", "gaussian + constant(-0.9)", "gaussian.series([0, 1, -1])"}) {
    const Kernel k = parse_kernel(text);
    EXPECT_FALSE(k.is_psd()) << text;
    EXPECT_FALSE(check_gram(gram(k, X)).psd) << text;
  }
  // The form of the periodic kernel with the distance inside the sine is no kernel in two dimensions (SPEC K1); ours is.
  const auto wrong = [](const Vector& x, const Vector& y) {
    const naive::Real sine = std::sin(std::numbers::pi_v<naive::Real> * std::sqrt(naive::squared_distance(x, y)));
    return std::exp(-2 * sine * sine);
  };
  EXPECT_FALSE(check_gram(naive::gram(wrong, X, X)).psd);
  EXPECT_TRUE(check_gram(gram(kernels::periodic(1, 1), X)).psd);
}

}  // namespace
}  // namespace mercer

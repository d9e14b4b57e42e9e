// Functions of an RKHS against double loops over their terms, and against what Hilbert spaces promise.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/rkhs_function.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "reference/naive_kernels.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

constexpr double eps = std::numeric_limits<double>::epsilon();

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Case {
  const char* name;
  Kernel kernel;
  naive::PairFunction naive;
};

std::vector<Case> cases() {
  return {{"gaussian", kernels::gaussian(2), naive::gaussian(2)},
          {"laplacian", kernels::laplacian(2), naive::laplacian(2)},
          {"linear", kernels::linear(), naive::linear()},
          {"polynomial", kernels::polynomial(3, 0.25, 1), naive::polynomial(3, 0.25, 1)}};
}

RkhsFunction random_function(const Kernel& kernel, Index n, Index d, std::uint64_t seed) {
  return {kernel, RandomStream(seed).normal_matrix(n, d), RandomStream(seed, 1).normal_matrix(n, 1).col(0)};
}

// sum_ij a_i b_j k(x_i, z_j), and the sum of the sizes of its terms, which rounding is measured against.
std::pair<double, double> naive_inner(const naive::PairFunction& k, const RkhsFunction& f, const RkhsFunction& g) {
  const Matrix X = f.samples().to_dense();
  const Matrix Z = g.samples().to_dense();
  naive::Real sum = 0;
  naive::Real size = 0;
  for (Index i = 0; i < f.size(); ++i) {
    for (Index j = 0; j < g.size(); ++j) {
      const naive::Real term =
          naive::Real(f.coefficients()[i]) * naive::Real(g.coefficients()[j]) * k(X.row(i).transpose(), Z.row(j).transpose());
      sum += term;
      size += std::abs(term);
    }
  }
  return {static_cast<double>(sum), static_cast<double>(size)};
}

TEST(RkhsFunction, AgreesWithDoubleLoops) {
  for (const Case& c : cases()) {
    for (const Index n : {1, 7, 256, 300}) {
      const RkhsFunction f = random_function(c.kernel, n, 4, 1);
      const RkhsFunction g = random_function(c.kernel, 31, 4, 2);
      // Entries are good to 1e-13 of their size (dot products: of d), sums of n m terms to n eps more.
      const double relative = 1e-13 + static_cast<double>(n + 31) * eps;
      const auto [product, size] = naive_inner(c.naive, f, g);
      EXPECT_NEAR(inner(f, g), product, relative * size) << c.name << n;
      EXPECT_NEAR(inner(g, f), product, relative * size) << c.name << n;
      const auto [square, square_size] = naive_inner(c.naive, f, f);
      EXPECT_NEAR(f.squared_norm(), square, relative * square_size) << c.name << n;
      EXPECT_NEAR(f.norm() * f.norm(), square, 2 * relative * square_size) << c.name << n;
      const Vector at = f(g.samples());
      ASSERT_EQ(at.size(), 31);
      for (Index j = 0; j < 31; ++j) {
        const RkhsFunction section(c.kernel, g.samples().slice(j, 1), Vector::Ones(1));
        const auto [value, value_size] = naive_inner(c.naive, f, section);
        EXPECT_NEAR(at[j], value, relative * value_size) << c.name << n;
        EXPECT_NEAR(inner(f, section), at[j], 2 * relative * value_size) << "reproducing property, " << c.name << n;
      }
    }
  }
}

TEST(RkhsFunction, NoValueIsAboveItsBound) {
  for (const Case& c : cases()) {
    const RkhsFunction f = random_function(c.kernel, 50, 3, 3);
    const Matrix X = 3 * RandomStream(4).normal_matrix(200, 3);
    const Vector bound = f.bound(X);
    const Vector at = f(X);
    for (Index i = 0; i < 200; ++i) {
      EXPECT_LE(std::abs(at[i]), bound[i] * (1 + 1e-12)) << c.name;
      const double diagonal = static_cast<double>(c.naive(X.row(i).transpose(), X.row(i).transpose()));
      EXPECT_NEAR(bound[i], f.norm() * std::sqrt(diagonal), 1e-13 * bound[i]) << c.name;
    }
    // Reached by a section of the kernel at its own point.
    const RkhsFunction section(c.kernel, X.row(0), Vector::Constant(1, -2.5));
    EXPECT_NEAR(section.bound(X.row(0))[0], std::abs(section(X.row(0))[0]), 1e-13 * section.bound(X.row(0))[0]) << c.name;
  }
}

TEST(RkhsFunction, IsAVector) {
  for (const Case& c : cases()) {
    const RkhsFunction f = random_function(c.kernel, 20, 3, 5);
    const RkhsFunction g = random_function(c.kernel, 33, 3, 6);
    const RkhsFunction h = random_function(c.kernel, 8, 3, 7);
    const double size = f.norm() * f.norm() + g.norm() * g.norm() + h.norm() * h.norm();
    // Norms of sums of at most 61 terms whose coefficients are a few units: 1e-13 of the sum of sizes, bounded through the coefficients.
    const double slack = 1e-11 * size;
    EXPECT_NEAR((f + g).squared_norm() + (f - g).squared_norm(), 2 * f.squared_norm() + 2 * g.squared_norm(), slack) << c.name;
    EXPECT_NEAR(inner(2.0 * f - 3.0 * g, h), 2 * inner(f, h) - 3 * inner(g, h), slack) << c.name;
    EXPECT_NEAR(inner(h, f * 2.0 + g), 2 * inner(h, f) + inner(h, g), slack) << c.name;
    EXPECT_LE(std::abs(inner(f, g)), f.norm() * g.norm() * (1 + 1e-12)) << c.name;
    EXPECT_NEAR((-f).norm(), f.norm(), 1e-13 * f.norm()) << c.name;
    EXPECT_NEAR(distance(f, g), (f - g).norm(), 0) << c.name;
    EXPECT_EQ(distance(f, f), 0) << c.name;
    const Matrix X = RandomStream(8).normal_matrix(10, 3);
    EXPECT_LT(((2.0 * f - g)(X)-2 * f(X) + g(X)).cwiseAbs().maxCoeff(), 1e-12 * (2 * f.bound(X) + g.bound(X)).maxCoeff()) << c.name;
  }
}

TEST(RkhsFunction, EqualSamplesAddCoefficients) {
  const Matrix X = RandomStream(9).normal_matrix(12, 2);
  const Vector a = RandomStream(10).normal_matrix(12, 1).col(0);
  const RkhsFunction f(kernels::gaussian(1), X, a);
  EXPECT_EQ((f + f).size(), 12);
  EXPECT_EQ((f + f).coefficients(), 2 * a);
  EXPECT_EQ((f - RkhsFunction(kernels::gaussian(1), Matrix(X), a)).size(), 12);  // other memory, the same rows
  EXPECT_EQ((f - RkhsFunction(kernels::gaussian(1), Matrix(X), a)).norm(), 0);
  Matrix other = X;
  other(11, 1) += 1;
  EXPECT_EQ((f + RkhsFunction(kernels::gaussian(1), other, a)).size(), 24);
}

TEST(RkhsFunction, SamplesOfAllKindsMix) {
  Matrix X = RandomStream(11).normal_matrix(9, 5);
  X = (X.array() > 0.3).select(X, 0).cast<float>().cast<double>();  // zeros, and every value a float
  const Vector a = RandomStream(12).normal_matrix(9, 1).col(0);
  const Matrix Z = RandomStream(13).normal_matrix(4, 5);
  const Kernel k = kernels::gaussian(2);
  const CsrMatrix<double> sparse = X.sparseView();
  const CsrMatrix<float> sparse_float = CsrMatrix<float>(sparse.cast<float>());
  const MatrixF single = X.cast<float>();
  const std::vector<Samples> kinds{X, single, sparse, sparse_float};
  const Vector expected = gram(k, Z, X) * a;
  for (const Samples& one : kinds) {
    EXPECT_LT((RkhsFunction(k, one, a)(Z) - expected).cwiseAbs().maxCoeff(), 1e-14 * 9);
    for (const Samples& two : kinds) {
      const RkhsFunction both = RkhsFunction(k, one, a) + RkhsFunction(k, two, -2.0 * a);
      EXPECT_LT((both(Z) + expected).cwiseAbs().maxCoeff(), 1e-14 * 27);
      if (both.size() == 9) continue;
      EXPECT_EQ(both.samples().is_sparse(), one.is_sparse() || two.is_sparse());
      const bool single_both = one.precision() == Precision::float32 && two.precision() == Precision::float32;
      EXPECT_EQ(both.samples().precision(), single_both ? Precision::float32 : Precision::float64);
    }
  }
}

TEST(RkhsFunction, WithoutPositiveDefinitenessThereIsAProductAndNoNorm) {
  const Kernel k = kernels::polynomial(3, 1, -1);
  const RkhsFunction f = random_function(k, 15, 2, 14);
  const auto [square, size] = naive_inner(naive::polynomial(3, 1, -1), f, f);
  EXPECT_NEAR(inner(f, f), square, 1e-13 * size * 10);
  EXPECT_TRUE(contains(message_of([&] { f.norm(); }), "the norm of a function is not defined for polynomial(3, scale=1, offset=-1)"))
      << message_of([&] { f.norm(); });
  EXPECT_TRUE(contains(message_of([&] { f.squared_norm(); }), "inner(f, f) is still a bilinear form"));
  EXPECT_TRUE(contains(message_of([&] { f.bound(f.samples()); }), "not defined"));
  EXPECT_TRUE(contains(message_of([&] { feature_distance(k, f.samples()); }), "the distance in feature space is not defined"));
  // Its square can be negative: the origin, where k(0, 0) = -1.
  EXPECT_EQ(inner(RkhsFunction(k, Matrix::Zero(1, 2), Vector::Ones(1)), RkhsFunction(k, Matrix::Zero(1, 2), Vector::Ones(1))), -1);
}

// SPEC K5: with k(x, y) = exp(-|x-y|/l) on the line, |f|^2 = 1/(2l) int f^2 + l^2 f'^2. Between neighbouring x_i, f = A e^(x/l) +
// B e^(-x/l), so the integrand is 2 A^2 e^(2x/l) + 2 B^2 e^(-2x/l), which is integrated exactly.
TEST(RkhsFunction, TheLaplacianNormIsTheSobolevNorm) {
  for (const double l : {0.3, 1.0, 4.0}) {
    const Index n = 25;
    Vector x = RandomStream(15).normal_matrix(n, 1).col(0);
    std::sort(x.begin(), x.end());
    const Vector a = RandomStream(16).normal_matrix(n, 1).col(0);
    naive::Real integral = 0;
    for (Index j = 0; j <= n; ++j) {  // the piece that ends at x_j; the last one never ends
      naive::Real A = 0;
      naive::Real B = 0;
      // Shifted to the near end of each exponential, so that nothing overflows: A at the right end, B at the left.
      for (Index i = j; i < n; ++i) A += a[i] * std::exp(naive::Real(x[j] - x[i]) / l);
      for (Index i = 0; i < j; ++i) B += a[i] * std::exp(naive::Real(x[i] - x[j - 1]) / l);
      const naive::Real shrunk = j == 0 || j == n ? 0 : std::exp(-2 * naive::Real(x[j] - x[j - 1]) / l);
      integral += l * (A * A + B * B) * (1 - shrunk);
    }
    const RkhsFunction f(kernels::laplacian(l), Matrix(x), a);
    EXPECT_NEAR(f.squared_norm(), static_cast<double>(integral / (2 * l)), 1e-13 * a.lpNorm<1>() * a.lpNorm<1>()) << l;
  }
}

TEST(RkhsFunction, FeatureDistances) {
  for (const Case& c : cases()) {
    Matrix X = RandomStream(17).normal_matrix(270, 4);
    X.row(260) = X.row(3);
    const Matrix Y = RandomStream(18).normal_matrix(20, 4);
    const Matrix cross = feature_distance(c.kernel, X, Y);
    const Matrix own = feature_distance(c.kernel, X);
    for (Index i = 0; i < 270; ++i) {
      EXPECT_EQ(own(i, i), 0) << c.name;
      for (Index j = 0; j < 20; ++j) {
        const Vector x = X.row(i).transpose();
        const Vector y = Y.row(j).transpose();
        const naive::Real square = c.naive(x, x) + c.naive(y, y) - 2 * c.naive(x, y);
        const auto size = static_cast<double>(c.naive(x, x) + c.naive(y, y));
        EXPECT_NEAR(cross(i, j) * cross(i, j), static_cast<double>(square), 1e-13 * size) << c.name;
      }
    }
    EXPECT_EQ(own, own.transpose()) << c.name;
    EXPECT_GE(own.minCoeff(), 0) << c.name;
    // A duplicate is at distance 0 up to the root of rounding.
    EXPECT_LT(own(3, 260), std::sqrt(16 * eps * static_cast<double>(c.naive(X.row(3).transpose(), X.row(3).transpose())))) << c.name;
    // It is the distance of two sections of the kernel.
    const RkhsFunction p(c.kernel, X.row(5), Vector::Ones(1));
    const RkhsFunction q(c.kernel, Y.row(6), Vector::Ones(1));
    EXPECT_NEAR(distance(p, q), cross(5, 6), 1e-12 * cross(5, 6)) << c.name;
  }
  // The linear kernel has the distance itself.
  const Matrix X = RandomStream(19).normal_matrix(6, 3);
  EXPECT_NEAR(feature_distance(kernels::linear(), X)(1, 4), (X.row(1) - X.row(4)).norm(), 1e-14 * X.norm());
}

TEST(RkhsFunction, ResolvesAutomaticLengthScales) {
  const Matrix X = RandomStream(20).normal_matrix(30, 2);
  const Kernel automatic = kernels::gaussian(kernels::LengthScale::automatic());
  const RkhsFunction f(automatic, X, Vector::Ones(30));
  EXPECT_EQ(f.kernel(), resolve(automatic, X));
  const RkhsFunction g(automatic, 2 * X, Vector::Ones(30));
  EXPECT_TRUE(contains(message_of([&] { inner(f, g); }), "the functions live in different spaces: one has the kernel gaussian("));
}

TEST(RkhsFunction, BadInputIsNamed) {
  const Matrix X = RandomStream(21).normal_matrix(3, 2);
  const RkhsFunction f(kernels::gaussian(1), X, Vector::Ones(3));
  EXPECT_EQ(message_of([&] { RkhsFunction(kernels::gaussian(1), X, Vector::Ones(2)); }), "2 coefficients for 3 samples; give one for each");
  EXPECT_TRUE(contains(message_of([&] { RkhsFunction(kernels::gaussian(1), Matrix(0, 2), Vector()); }), "got none"));
  EXPECT_EQ(message_of([&] {
              RkhsFunction(kernels::gaussian(1), X, Vector{{1, std::nan(""), 1}});
            }),
            "coefficient 1 (counting from 0) is nan, not a finite number");
  Matrix bad = X;
  bad(2, 1) = std::nan("");
  EXPECT_TRUE(contains(message_of([&] { RkhsFunction(kernels::gaussian(1), bad, Vector::Ones(3)); }), "X has a NaN in row 2, column 1"));
  EXPECT_TRUE(contains(message_of([&] { f(Matrix::Ones(2, 3)); }), "X has 3 columns but the function lives on samples of 2"));
  EXPECT_TRUE(contains(message_of([&] { f.bound(Matrix::Ones(2, 3)); }), "X has 3 columns"));
  EXPECT_TRUE(
      contains(message_of([&] { inner(f, RkhsFunction(kernels::gaussian(1), Matrix::Ones(1, 5), Vector::Ones(1))); }), "5 columns"));
  EXPECT_TRUE(
      contains(message_of([&] { f + RkhsFunction(kernels::gaussian(2), X, Vector::Ones(3)); }), "gaussian(1), the other gaussian(2)"));
  EXPECT_EQ(f(Matrix(0, 2)).size(), 0);
  EXPECT_TRUE(contains(
      message_of<OverBudget>([&] { feature_distance(kernels::linear(), Matrix::Ones(100, 1), mercer::Run{.memory = 100}); }), "100 x 100"));
}

TEST(RkhsFunction, TheSameForAnyNumberOfThreads) {
  const RkhsFunction f = random_function(kernels::laplacian(1), 700, 3, 22);
  const Matrix X = RandomStream(23).normal_matrix(600, 3);
  EXPECT_EQ(f(X, {.threads = 1}), f(X, {.threads = 2}));
  EXPECT_EQ(f.norm({.threads = 1}), f.norm({.threads = 2}));
  EXPECT_EQ(feature_distance(f.kernel(), X, mercer::Run{.threads = 1}), feature_distance(f.kernel(), X, mercer::Run{.threads = 2}));
}

}  // namespace
}  // namespace mercer

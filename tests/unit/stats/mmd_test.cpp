// MMD estimates against plain loops, closed forms and each other.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "mercer/two_sample.hpp"

namespace mercer {
namespace {

Matrix normal(Index rows, Index cols, std::uint64_t seed, double shift = 0) {
  return (RandomStream(seed).normal_matrix(rows, cols).array() + shift).matrix();
}

// The definitions, K eq. 80 and 81 and source L's h, with weights as in the header.
double naive(const Matrix& X, const Matrix& Y, const Kernel& kernel, MmdStatistic statistic, Vector w = {}, Vector v = {}) {
  const Matrix Kx = gram(kernel, X);
  const Matrix Ky = gram(kernel, Y);
  const Matrix Kxy = gram(kernel, X, Y);
  if (w.size() == 0) w = Vector::Ones(X.rows());
  if (v.size() == 0) v = Vector::Ones(Y.rows());
  const auto within = [&](const Matrix& K, const Vector& a) {
    double sum = 0;
    double mass = 0;
    for (Index i = 0; i < K.rows(); ++i) {
      for (Index j = 0; j < K.cols(); ++j) {
        if (statistic != MmdStatistic::b && i == j) continue;
        sum += a[i] * a[j] * K(i, j);
        mass += a[i] * a[j];
      }
    }
    return sum / mass;
  };
  double between = 0;
  double mass = 0;
  for (Index i = 0; i < Kxy.rows(); ++i) {
    for (Index j = 0; j < Kxy.cols(); ++j) {
      if (statistic == MmdStatistic::h && i == j) continue;
      between += w[i] * v[j] * Kxy(i, j);
      mass += w[i] * v[j];
    }
  }
  return within(Kx, w) + within(Ky, v) - 2 * between / mass;
}

TEST(Mmd, AgreesWithLoops) {
  for (const Index n : {4, 60, 255, 256, 300}) {
    for (const Index m : {n, Index{57}, Index{259}}) {
      const Matrix X = normal(n, 3, 1);
      const Matrix Y = normal(m, 3, 2, 0.3);
      const Kernel kernel = kernels::gaussian(1.3);
      for (const MmdStatistic s : {MmdStatistic::u, MmdStatistic::b, MmdStatistic::h}) {
        if (s == MmdStatistic::h && n != m) continue;
        const MmdEstimate d = mmd(X, Y, {.kernel = kernel, .statistic = s});
        EXPECT_NEAR(d.squared, naive(X, Y, kernel, s), 1e-13) << n << " " << m << " " << name_of(s);
        EXPECT_NEAR(d.distance, std::sqrt(std::max(0.0, d.squared)), 1e-15);
        EXPECT_EQ(d.statistic_name, name_of(s));
      }
    }
  }
}

TEST(Mmd, WeightsAreMasses) {
  const Matrix X = normal(40, 2, 1);
  const Matrix Y = normal(300, 2, 2, 0.5);
  const Kernel kernel = kernels::laplacian(1.0);
  const Vector w = normal(40, 1, 3).cwiseAbs();
  const Vector v = normal(300, 1, 4).cwiseAbs();
  for (const MmdStatistic s : {MmdStatistic::u, MmdStatistic::b}) {
    EXPECT_NEAR(mmd(X, Y, {.kernel = kernel, .statistic = s, .weights_x = w, .weights_y = v}).squared, naive(X, Y, kernel, s, w, v), 1e-13);
    EXPECT_NEAR(mmd(X, Y, {.kernel = kernel, .statistic = s, .weights_x = 7 * w}).squared, naive(X, Y, kernel, s, w), 1e-13);
  }
  // Of b, a weight of 2 is a row that is there twice.
  Matrix twice(41, 2);
  twice << X, X.row(0);
  Vector two = Vector::Ones(40);
  two[0] = 2;
  EXPECT_NEAR(mmd(X, Y, {.kernel = kernel, .statistic = MmdStatistic::b, .weights_x = two}).squared,
              mmd(twice, Y, {.kernel = kernel, .statistic = MmdStatistic::b}).squared, 1e-13);
}

// N eq. 22.
TEST(Mmd, OfTheLinearKernelIsTheDistanceOfMeans) {
  const Matrix X = normal(70, 5, 1);
  const Matrix Y = normal(33, 5, 2, 1);
  EXPECT_NEAR(mmd(X, Y, {.kernel = kernels::linear(), .statistic = MmdStatistic::b}).squared,
              (X.colwise().mean() - Y.colwise().mean()).squaredNorm(), 1e-12);
}

// |mu_P - mu_Q|^2 of N(0, s^2 I) and N(c, t^2 I) under exp(-|x-y|^2 / (2 l^2)): each mean of k is a Gaussian integral.
double closed_form(double s2, double t2, double l2, double c2, double d) {
  const auto mean = [&](double variance, double distance2) {
    return std::pow(l2 / (l2 + variance), d / 2) * std::exp(-distance2 / (2 * (l2 + variance)));
  };
  return mean(2 * s2, 0) + mean(2 * t2, 0) - 2 * mean(s2 + t2, c2);
}

TEST(Mmd, OfGaussiansHasAClosedForm) {
  const Matrix X = normal(3000, 2, 1);
  const Matrix Y = (1.4 * normal(2500, 2, 2).array() + 0.3).matrix();
  const double wanted = closed_form(1, 1.96, 1.44, 2 * 0.09, 2);
  for (const MmdStatistic s : {MmdStatistic::u, MmdStatistic::linear, MmdStatistic::block}) {
    const MmdEstimate d = mmd(X, Y, {.kernel = kernels::gaussian(1.2), .statistic = s});
    EXPECT_LT(std::abs(d.squared - wanted), 3.3 * d.deviation) << name_of(s);
    EXPECT_GT(d.deviation, 0);
  }
  const MmdEstimate h = mmd(X.topRows(2500), Y, {.kernel = kernels::gaussian(1.2), .statistic = MmdStatistic::h});
  EXPECT_LT(std::abs(h.squared - wanted), 3.3 * h.deviation);
}

// The standard error is that of repeated samples.
TEST(Mmd, DeviationIsThatOfRepeatedSamples) {
  for (const MmdStatistic s : {MmdStatistic::u, MmdStatistic::h, MmdStatistic::linear, MmdStatistic::block}) {
    const int repetitions = 300;
    Vector values(repetitions);
    double deviation = 0;
    for (int r = 0; r < repetitions; ++r) {
      const MmdEstimate d = mmd(normal(120, 1, 2 * r), normal(120, 1, 2 * r + 1, 1), {.kernel = kernels::gaussian(1.0), .statistic = s});
      values[r] = d.squared;
      deviation += d.deviation / repetitions;
    }
    const double seen = std::sqrt((values.array() - values.mean()).square().sum() / (repetitions - 1));
    EXPECT_NEAR(deviation / seen, 1, 0.15) << name_of(s);  // 300 samples know a deviation to 4 %
    EXPECT_LT(std::abs(values.mean() - closed_form(1, 1, 1, 1, 1)), 4 * seen / std::sqrt(repetitions)) << name_of(s);
  }
}

TEST(Mmd, LinearAndBlockAgreeWithLoops) {
  const Matrix X = normal(101, 2, 1);
  const Matrix Y = normal(140, 2, 2, 0.2);
  const Kernel kernel = kernels::gaussian(1.0);
  const Matrix Kx = gram(kernel, X);
  const Matrix Ky = gram(kernel, Y);
  const Matrix Kxy = gram(kernel, X, Y);
  double sum = 0;
  for (Index p = 0; p < 50; ++p) {
    const Index i = 2 * p;
    sum += Kx(i, i + 1) + Ky(i, i + 1) - Kxy(i, i + 1) - Kxy(i + 1, i);
  }
  EXPECT_NEAR(mmd(X, Y, {.kernel = kernel, .statistic = MmdStatistic::linear}).squared, sum / 50, 1e-14);
  // 101 rows in blocks of 25: 4 blocks of 25 and 35 rows.
  sum = 0;
  for (Index block = 0; block < 4; ++block)
    sum += naive(X.middleRows(block * 25, 25), Y.middleRows(block * 35, 35), kernel, MmdStatistic::u);
  EXPECT_NEAR(mmd(X, Y, {.kernel = kernel, .statistic = MmdStatistic::block, .block_size = 25}).squared, sum / 4, 1e-14);
}

TEST(Mmd, FeaturesStateTheirError) {
  const Matrix X = normal(400, 3, 1);
  const Matrix Y = normal(350, 3, 2, 0.4);
  const Kernel kernel = kernels::gaussian(1.5);
  for (const MmdStatistic s : {MmdStatistic::u, MmdStatistic::b}) {
    const double exact = mmd(X, Y, {.kernel = kernel, .statistic = s}).squared;
    int inside = 0;
    double square = 0;
    double stated = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const MmdEstimate d =
          mmd(X, Y, {.kernel = kernel, .statistic = s, .method = MmdMethod::random_features, .features = 200, .seed = seed});
      inside += std::abs(d.squared - exact) <= d.error ? 1 : 0;
      square += (d.squared - exact) * (d.squared - exact) / 40;
      stated += d.error / 1.96 / 40;
    }
    EXPECT_NEAR(std::sqrt(square) / stated, 1, 0.35);  // 40 tries know a deviation to 11 %
    EXPECT_GE(inside, 33);                             // 99.8 % of 40 tries at 95 %
    for (const Index rank : {5, 50, 200}) {
      const MmdEstimate d = mmd(X, Y, {.kernel = kernel, .statistic = s, .method = MmdMethod::nystrom, .features = rank});
      EXPECT_LE(std::abs(d.squared - exact), d.error + 1e-13) << rank;
      if (s == MmdStatistic::b) {
        EXPECT_LE(d.squared, exact + 1e-13);
      }
    }
    EXPECT_NEAR(mmd(X, Y, {.kernel = kernel, .statistic = s, .method = MmdMethod::nystrom, .features = 750}).squared, exact, 1e-10);
  }
}

TEST(Mmd, TakesFloatSparseAndGivenGram) {
  const Matrix X = normal(30, 4, 1).cwiseMax(0);
  const Matrix Y = normal(20, 4, 2).cwiseMax(0);
  const Kernel kernel = kernels::gaussian(1.0);
  const double wanted = mmd(X, Y, {.kernel = kernel}).squared;
  EXPECT_NEAR(mmd(MatrixF(X.cast<float>()), MatrixF(Y.cast<float>()), {.kernel = kernel}).squared, wanted, 1e-6);
  EXPECT_NEAR(mmd(CsrMatrix<double>(X.sparseView()), CsrMatrix<double>(Y.sparseView()), {.kernel = kernel}).squared, wanted, 1e-13);
  Matrix pooled(50, 4);
  pooled << X, Y;
  const Samples given = Samples::given_gram(gram(kernel, pooled));
  EXPECT_NEAR(mmd(given.slice(0, 30), given.slice(30, 20), {.kernel = kernels::precomputed()}).squared, wanted, 1e-13);
}

TEST(Mmd, DoesNotDependOnThreads) {
  const Matrix X = normal(700, 3, 1);
  const Matrix Y = normal(600, 3, 2);
  for (const MmdStatistic s : {MmdStatistic::u, MmdStatistic::linear, MmdStatistic::block}) {
    EXPECT_EQ(mmd(X, Y, {.statistic = s, .run = {.threads = 1}}).squared, mmd(X, Y, {.statistic = s, .run = {.threads = 2}}).squared);
  }
}

TEST(Mmd, RefusesWhatItCannotDo) {
  const Matrix X = normal(10, 2, 1);
  const Matrix Y = normal(8, 2, 2);
  Matrix bad = X;
  bad(3, 1) = std::nan("");
  EXPECT_THROW(mmd(bad, Y), InvalidArgument);
  EXPECT_THROW(mmd(X, normal(8, 3, 2)), InvalidArgument);
  EXPECT_THROW(mmd(Matrix(0, 2), Y), InvalidArgument);
  EXPECT_THROW(mmd(X.topRows(1), Y), InvalidArgument);
  EXPECT_NO_THROW(mmd(X.topRows(1), Y, {.statistic = MmdStatistic::b}));
  EXPECT_THROW(mmd(X, Y, {.statistic = MmdStatistic::h}), InvalidArgument);
  EXPECT_THROW(mmd(X, Y, {.statistic = MmdStatistic::linear, .weights_x = Vector::Ones(10)}), InvalidArgument);
  EXPECT_THROW(mmd(X, Y, {.weights_x = Vector::Ones(9)}), InvalidArgument);
  EXPECT_THROW(mmd(X, Y, {.weights_x = -Vector::Ones(10)}), InvalidArgument);
  EXPECT_THROW(mmd(X, Y, {.weights_x = Vector::Zero(10)}), InvalidArgument);
  EXPECT_THROW(mmd(X, Y, {.statistic = MmdStatistic::block, .block_size = 5}), InvalidArgument);
  EXPECT_THROW(mmd(X, Y, {.statistic = MmdStatistic::h, .method = MmdMethod::nystrom}), InvalidArgument);
  EXPECT_EQ(mmd(Matrix::Ones(5, 2), Matrix::Ones(6, 2)).squared, 0);  // a median distance of 0
}

}  // namespace
}  // namespace mercer

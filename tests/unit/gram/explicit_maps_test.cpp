// Monomials against the kernels they belong to (SPEC K6), the additive chi-squared map against its series and its kernel.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/explicit_maps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;
using W = MonomialWeighting;

TEST(Monomials, EveryWeightingHasItsKernel) {
  for (const Index d : {1, 2, 4}) {
    const Matrix X = RandomStream(2).normal_matrix(270, d);
    const Matrix G = X * X.transpose();
    for (int low = 0; low <= 3; ++low) {
      for (int high = std::max(low, 1); high <= 4; ++high) {
        Matrix wanted = Matrix::Zero(270, 270);
        for (int r = low; r <= high; ++r) wanted.array() += G.array().pow(r);  // sum of <x, y>^r
        for (const W weighting : {W::ordered, W::root}) {
          const MonomialOptions options{.min_degree = low, .max_degree = high, .weighting = weighting};
          const Matrix Z = monomial_features(X, options);
          EXPECT_EQ(static_cast<double>(Z.cols()), monomial_columns(d, options));
          EXPECT_LT((Z * Z.transpose() - wanted).cwiseAbs().maxCoeff(), 1e-12 * wanted.cwiseAbs().maxCoeff()) << d << low << high;
        }
      }
    }
  }
}

TEST(Monomials, OrderFactorsAndWeights) {
  const Matrix X{{2, 3}};
  EXPECT_EQ(monomial_features(X, {.min_degree = 0, .max_degree = 2}), (Matrix{{1, 2, 3, 4, 6, 9}}));
  EXPECT_EQ(monomial_features(X, {.min_degree = 1, .max_degree = 2, .weighting = W::ordered}), (Matrix{{2, 3, 4, 6, 6, 9}}));
  EXPECT_EQ(monomial_features(X, {.min_degree = 2, .max_degree = 2, .weighting = W::root}), (Matrix{{4, std::sqrt(2.0) * 6, 9}}));
  const auto factors = monomial_factors(2, {.min_degree = 2, .max_degree = 2, .weighting = W::ordered});
  EXPECT_EQ(factors, (std::vector<std::vector<Index>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(monomial_factors(3, {.min_degree = 3, .max_degree = 3})[4], (std::vector<Index>{0, 1, 2}));
  const CsrMatrix<double> sparse = X.sparseView();
  EXPECT_EQ(monomial_features(Samples(sparse)), monomial_features(X));
  const Matrix many = RandomStream(1).normal_matrix(700, 3);
  EXPECT_EQ(monomial_features(many, {.run = {.threads = 1}}), monomial_features(many, {.run = {.threads = 2}}));
}

TEST(Monomials, TooManyColumnsAreNamed) {
  const CsrMatrix<double> wide(3, 200000);
  const auto job = [&] { (void)monomial_features(Samples(wide), {.max_degree = 3}); };
  const std::string message = message_of<OverBudget>(job);
  EXPECT_NE(message.find("1.33337e+15 monomials of degree 1 to 3 of 200000 columns"), std::string::npos) << message;
  EXPECT_NE(message.find("TensorSketch"), std::string::npos) << message;
  EXPECT_THROW(monomial_factors(1000000, {.max_degree = 100, .weighting = W::ordered}), OverBudget);
  EXPECT_THROW(monomial_features(Matrix::Ones(1, 2), {.min_degree = 3, .max_degree = 2}), InvalidArgument);
  EXPECT_THROW(monomial_features(Matrix::Ones(1, 2), {.min_degree = 0, .max_degree = 0}), InvalidArgument);
  EXPECT_THROW(monomial_features(Matrix::Constant(1, 2, 1e200)), InvalidArgument);
  EXPECT_THROW(monomial_features(Matrix::Constant(1, 2, std::nan(""))), InvalidArgument);
}

TEST(AdditiveChi2, ProductsApproachTheKernel) {
  Matrix X = RandomStream(3).normal_matrix(40, 3).cwiseAbs();
  X(0, 1) = X(5, 2) = 0;
  Matrix K = Matrix::Zero(40, 40);
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < 40; ++j) {
      for (Index c = 0; c < 3; ++c) {
        const double sum = X(i, c) + X(j, c);
        if (sum > 0) K(i, j) += 2 * X(i, c) * X(j, c) / sum;
      }
    }
  }
  double before = std::numeric_limits<double>::infinity();
  for (const int steps : {1, 2, 3}) {
    const Matrix Z = additive_chi2_features(X, {.sample_steps = steps});
    ASSERT_EQ(Z.cols(), 3 * (2 * steps - 1));
    const double error = (Z * Z.transpose() - K).cwiseAbs().maxCoeff();
    EXPECT_LT(error, before) << steps;
    before = error;
  }
  // Fine and many samples of the spectrum: the period 2 pi / L of the sampled kernel is far from log(x / y).
  const Matrix Z = additive_chi2_features(X, {.sample_steps = 100, .sample_interval = 0.1});
  EXPECT_LT((Z * Z.transpose() - K).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(AdditiveChi2, MisuseIsNamed) {
  const auto says = [](const std::function<void()>& job, const char* what) {
    const std::string message = message_of<InvalidArgument>(job);
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  says([] { (void)additive_chi2_features(Matrix{{1, -2}}); }, "got -2 in row 0, column 1");
  says([] { (void)additive_chi2_features(Matrix{{1.0}}, {.sample_steps = 4}); }, "sample_interval must be given");
  says([] { (void)additive_chi2_features(Matrix{{1.0}}, {.sample_steps = 0}); }, "sample_steps");
  says([] { (void)additive_chi2_features(Matrix{{1.0}}, {.sample_interval = -1}); }, "sample_interval");
}

}  // namespace
}  // namespace mercer

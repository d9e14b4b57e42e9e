// sum_ij K_ij L_{p(i) p(j)} over stored strips against plain loops.
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/permuted_products.hpp"

#include <gtest/gtest.h>

#include "mercer/gram.hpp"
#include "mercer/random.hpp"

namespace mercer::stats {
namespace {

Matrix centred_by_hand(Matrix K, Centring centring) {
  const Index n = K.rows();
  const auto m = static_cast<double>(n);
  if (centring == Centring::whole) {
    const Matrix H = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1 / m);
    return H * K * H;
  }
  if (centring == Centring::off_diagonal) {
    K.diagonal().setZero();
    const Vector r = K.rowwise().sum();
    const double all = r.sum();
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) K(i, j) += i == j ? 0.0 : -(r[i] + r[j]) / (m - 2) + all / ((m - 1) * (m - 2));
    }
    K.diagonal().setZero();
  }
  return K;
}

double product_by_loops(const Matrix& K, const Matrix& L, const std::vector<Index>& p) {
  double sum = 0;
  for (Index i = 0; i < K.rows(); ++i) {
    for (Index j = 0; j < K.cols(); ++j) sum += K(i, j) * L(p[static_cast<std::size_t>(i)], p[static_cast<std::size_t>(j)]);
  }
  return sum;
}

void compare(Index n, const std::vector<Kernel>& kx, const std::vector<Kernel>& ky, Centring centring) {
  const Samples X(RandomStream(1).normal_matrix(n, 2));
  const Samples Y(RandomStream(2).normal_matrix(n, 3));
  const PreparedFamily<double> x(kx, X);
  const PreparedFamily<double> y(ky, Y);
  const Exchanges exchanges(n, n, {}, 5);
  const Index count = 70;  // more than a panel
  const Permutations permutations(exchanges, count, {});
  const Matrix got =
      permuted_products(half_grams(x, centres_of(x, centring, {}), {}), full_grams(y, centres_of(y, centring, {}), {}), permutations, {});
  ASSERT_EQ(got.rows(), count + 1);
  for (std::size_t k = 0; k < kx.size(); ++k) {
    for (std::size_t l = 0; l < ky.size(); ++l) {
      const Matrix K = centred_by_hand(gram(kx[k], X), centring);
      const Matrix L = centred_by_hand(gram(ky[l], Y), centring);
      std::vector<Index> order(static_cast<std::size_t>(n));
      for (const Index b : {Index{0}, Index{1}, Index{64}, Index{70}}) {
        for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
        if (b > 0) exchanges.draw(b - 1, order);
        EXPECT_NEAR(got(b, static_cast<Index>(k * ky.size() + l)), product_by_loops(K, L, order), 3e-7 * K.norm() * L.norm())
            << n << " rows, permutation " << b;
      }
    }
  }
}

TEST(PermutedProducts, AgreeWithLoopsAtStripAndTileEdges) {
  for (const Index n : {1, 2, 3, 17, 127, 128, 129, 256, 257, 400}) {
    compare(n, {kernels::gaussian(1.0)}, {kernels::laplacian(1.0)}, Centring::whole);
    compare(n, {kernels::polynomial(2)}, {kernels::gaussian(2.0)}, Centring::none);
    if (n >= 4) compare(n, {kernels::gaussian(1.0)}, {kernels::gaussian(0.5)}, Centring::off_diagonal);
  }
}

TEST(PermutedProducts, AllPairsOfTwoFamilies) {
  const std::vector<Kernel> many = {kernels::gaussian(0.5), kernels::gaussian(1.0), kernels::gaussian(2.0), kernels::laplacian(1.0)};
  for (const Index n : {1, 5, 128, 130, 300}) {
    compare(n, {many[0], many[3]}, {many[1], many[2], many[3]}, Centring::whole);
    compare(n, many, {many[0], many[3]}, Centring::whole);
  }
}

TEST(PermutedProducts, DoNotDependOnThreads) {
  const Index n = 300;
  const Samples X(RandomStream(1).normal_matrix(n, 2));
  const Exchanges exchanges(n, n, {}, 5);
  for (const std::size_t kernels : {1, 4}) {
    const PreparedFamily<double> x(std::vector<Kernel>(kernels, kernels::gaussian(1.0)), X);
    Matrix answers[2];
    for (const int threads : {1, 2}) {
      const mercer::Run run{.threads = threads};
      const std::vector<Centre> centres = centres_of(x, Centring::whole, run);
      answers[threads - 1] =
          permuted_products(half_grams(x, centres, run), full_grams(x, centres, run), Permutations(exchanges, 20, run), run);
    }
    EXPECT_EQ(answers[0], answers[1]);
  }
}

TEST(PermutedProducts, GivenOrders) {
  const Samples X(RandomStream(1).normal_matrix(4, 1));
  const PreparedFamily<double> x({kernels::gaussian(1.0)}, X);
  const std::vector<Centre> centres = centres_of(x, Centring::whole, {});
  const Matrix got = permuted_products(half_grams(x, centres, {}), full_grams(x, centres, {}), Permutations(4, {{3, 1, 0, 2}}), {});
  const Matrix K = centred_by_hand(gram(kernels::gaussian(1.0), X), Centring::whole);
  EXPECT_NEAR(got(0, 0), K.squaredNorm(), 1e-6);
  EXPECT_NEAR(got(1, 0), product_by_loops(K, K, {3, 1, 0, 2}), 1e-6);
}

}  // namespace
}  // namespace mercer::stats

// dHSIC against plain loops, its gamma moments against brute force, its level and power.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/independence.hpp"
#include "mercer/random.hpp"
#include "stats/exchanges.hpp"

namespace mercer {
namespace {

using kernels::gaussian;

double dhsic_by_loops(const std::vector<Matrix>& K) {
  const Index n = K[0].rows();
  const auto m = static_cast<double>(n);
  double products = 0, means = 1, middle = 0;
  for (const Matrix& k : K) means *= k.sum() / (m * m);
  for (Index i = 0; i < n; ++i) {
    double row = 1;
    for (const Matrix& k : K) row *= k.row(i).sum() / m;
    middle += row / m;
    for (Index j = 0; j < n; ++j) {
      double product = 1;
      for (const Matrix& k : K) product *= k(i, j);
      products += product / (m * m);
    }
  }
  return products + means - 2 * middle;
}

std::vector<Samples> independent(Index n, int count, std::uint64_t seed) {
  RandomStream random(seed, 5);
  std::vector<Samples> out;
  for (int l = 0; l < count; ++l) out.emplace_back(random.normal_matrix(n, 1));
  return out;
}

TEST(JointIndependence, StatisticAgreesWithLoops) {
  for (const Index n : {4, 30, 129, 300}) {
    const std::vector<Samples> X = independent(n, 3, 2);
    const std::vector<std::optional<Kernel>> k = {gaussian(1.0), kernels::laplacian(1.0), kernels::polynomial(2)};
    const std::vector<Matrix> K = {gram(*k[0], X[0]), gram(*k[1], X[1]), gram(*k[2], X[2])};
    const TestResult permuted = joint_independence_test(X, {.kernels = k, .permutations = 5});
    EXPECT_NEAR(permuted.statistic, dhsic_by_loops(K), 1e-12);
    EXPECT_EQ(joint_independence_test(X, {.kernels = k, .null = IndependenceNull::gamma}).statistic, permuted.statistic);
  }
}

TEST(JointIndependence, PermutedStatisticsAgreeWithLoops) {
  // The mean over very many permutations of 4 rows is the mean over all 24^2 of them.
  const std::vector<Samples> X = independent(4, 3, 7);
  std::vector<Matrix> K;
  for (const Samples& x : X) K.push_back(gram(gaussian(1.0), x));
  std::vector<double> all;
  std::vector<Index> p = {0, 1, 2, 3};
  const auto permuted = [](const Matrix& M, const std::vector<Index>& order) {
    Matrix out(4, 4);
    for (Index i = 0; i < 4; ++i) {
      for (Index j = 0; j < 4; ++j) out(i, j) = M(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
    }
    return out;
  };
  do {
    std::vector<Index> q = {0, 1, 2, 3};
    do {
      all.push_back(dhsic_by_loops({K[0], permuted(K[1], p), permuted(K[2], q)}));
    } while (std::next_permutation(q.begin(), q.end()));
  } while (std::next_permutation(p.begin(), p.end()));
  const TestResult r = joint_independence_test(X, {.kernels = {gaussian(1.0)}, .permutations = 20000, .seed = 3});
  for (const double value : r.null.head(200)) {  // each is one of them
    const double nearest = std::abs(
        *std::min_element(all.begin(), all.end(), [&](double a, double b) { return std::abs(a - value) < std::abs(b - value); }) - value);
    EXPECT_LT(nearest, 1e-6);
  }
  const double p_all = static_cast<double>(std::count_if(all.begin(), all.end(), [&](double v) { return v >= r.statistic - 1e-9; })) /
                       static_cast<double>(all.size());
  EXPECT_NEAR(r.p_value, p_all, 4 * std::sqrt(p_all / 20000) + 1e-4);
}

// The definition in long double, pair by pair.
template <class OfTwo>
double dhsic_in_long_double(const std::vector<Matrix>& X, const OfTwo& kernel) {
  const auto n = static_cast<std::size_t>(X[0].rows());
  const auto k = [&](std::size_t l, std::size_t i, std::size_t j) {
    return kernel(static_cast<long double>(X[l](static_cast<Index>(i), 0)), static_cast<long double>(X[l](static_cast<Index>(j), 0)));
  };
  std::vector<long double> row_products(n, 1.0L);
  long double means = 1;
  for (std::size_t l = 0; l < X.size(); ++l) {
    long double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      long double row = 0;
      for (std::size_t j = 0; j < n; ++j) row += k(l, i, j);
      total += row;
      row_products[i] *= row / static_cast<long double>(n);
    }
    means *= total / static_cast<long double>(n * n);
  }
  long double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      long double product = 1;
      for (std::size_t l = 0; l < X.size(); ++l) product *= k(l, i, j);
      sum += (product - row_products[i]) - (row_products[j] - means);
    }
  }
  return static_cast<double>(sum / static_cast<long double>(n * n));
}

// Of linear kernels on one column the feature of a row is the product of its numbers: dHSIC is the square of E xyz - E x E y E z.
double dhsic_of_numbers(const std::vector<Matrix>& X) {
  const Index n = X[0].rows();
  long double products = 0, means = 1;
  for (Index i = 0; i < n; ++i) {
    long double product = 1;
    for (const Matrix& x : X) product *= static_cast<long double>(x(i, 0));
    products += product / static_cast<long double>(n);
  }
  for (const Matrix& x : X) means *= x.cast<long double>().sum() / static_cast<long double>(n);
  return static_cast<double>((products - means) * (products - means));
}

TEST(JointIndependence, SeesDependenceFarFromZeroAndWithWideKernels) {
  RandomStream random(12);
  const Matrix x = random.normal_matrix(100, 1);
  const Matrix y = x + 0.1 * random.normal_matrix(100, 1);
  const Matrix z = random.normal_matrix(100, 1);
  const auto linear = [](long double s, long double t) { return s * t; };
  for (const double offset : {10.0, 100.0, 1000.0, 1e5}) {
    std::vector<Matrix> rows;
    std::vector<Samples> X;
    for (const Matrix* one : {&x, &y, &z}) {
      rows.emplace_back(one->array() + offset);
      X.emplace_back(rows.back());
    }
    const TestResult r = joint_independence_test(X, {.kernels = {kernels::linear()}, .permutations = 199});
    EXPECT_EQ(r.p_value, 1.0 / 200) << offset;
    EXPECT_LT(joint_independence_test(X, {.kernels = {kernels::linear()}, .null = IndependenceNull::gamma}).p_value, 1e-6);
    const double wanted = dhsic_of_numbers(rows);
    if (offset <= 100) {  // farther away the loops lose more than that, in long double too
      EXPECT_NEAR(dhsic_in_long_double(rows, linear), wanted, 1e-9 * wanted);
    }
    if (offset < 1e4) {
      EXPECT_NEAR(r.statistic, wanted, 1e-8 * wanted) << offset;
    }
    for (const std::string& remark : r.remarks) EXPECT_EQ(remark.find("rounding"), std::string::npos) << remark;
  }
  const TestResult wide =
      joint_independence_test({Samples(x), Samples(y), Samples(z)}, {.kernels = {gaussian(100.0)}, .permutations = 199});
  EXPECT_EQ(wide.p_value, 1.0 / 200);
  const double wanted =
      dhsic_in_long_double({x, y, z}, [](long double s, long double t) { return std::exp(-(s - t) * (s - t) / (2.0L * 100 * 100)); });
  EXPECT_NEAR(wide.statistic, wanted, 1e-6 * wanted);
}

TEST(JointIndependence, PermutedStatisticsOfFourVariablesAgreeWithLoops) {
  // All terms of the product multiplied out: four variables, an offset, more rows than a strip.
  const std::vector<Samples> base = independent(150, 4, 8);
  std::vector<Matrix> K;
  std::vector<Samples> X;
  for (std::size_t l = 0; l < 4; ++l) {
    X.emplace_back(Matrix(base[l].to_dense().array() + 2));
    K.push_back(gram(kernels::polynomial(2), X[l]));
  }
  const JointIndependenceOptions options{.kernels = {kernels::polynomial(2)}, .permutations = 4, .seed = 3};
  const TestResult r = joint_independence_test(X, options);
  const double wanted = dhsic_by_loops(K);
  EXPECT_NEAR(r.statistic, wanted, 1e-9 * std::abs(wanted));
  for (Index b = 0; b < 4; ++b) {
    std::vector<Matrix> permuted = {K[0]};
    for (std::size_t l = 1; l < 4; ++l) {
      std::vector<Index> order(150);
      stats::Exchanges(150, 150, {}, 3 + (l - 1) * 0x9e3779b97f4a7c15U).draw(b, order);
      Matrix P(150, 150);
      for (Index i = 0; i < 150; ++i) {
        for (Index j = 0; j < 150; ++j) P(i, j) = K[l](order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
      }
      permuted.push_back(P);
    }
    const double value = dhsic_by_loops(permuted);
    EXPECT_NEAR(r.null[b], value, 2e-6 * std::abs(value)) << b;
  }
}

TEST(JointIndependence, ConstantVariablesAndTies) {
  const std::vector<Samples> X = independent(30, 2, 6);
  const Samples constant(Matrix(Matrix::Constant(30, 1, 1.1)));
  const std::vector<std::optional<Kernel>> linear = {kernels::linear()};
  EXPECT_EQ(joint_independence_test({X[0], constant}, {.kernels = linear, .permutations = 99}).p_value, 1);
  const TestResult two = joint_independence_test(X, {.kernels = linear, .permutations = 99});
  const TestResult three = joint_independence_test({X[0], X[1], constant}, {.kernels = linear, .permutations = 99});
  EXPECT_EQ(three.p_value, two.p_value);
  EXPECT_NEAR(three.statistic, 1.21 * two.statistic, 1e-12);
  bool said = false;
  for (const std::string& remark : three.remarks) said = said || remark.find("variable 2 does not vary") == 0;
  EXPECT_TRUE(said);
}

TEST(JointIndependence, FewDrawsAreRemarkedOnOnce) {
  const TestResult r = joint_independence_test(independent(20, 3, 6), {.permutations = 9});
  EXPECT_EQ(std::count_if(r.remarks.begin(), r.remarks.end(),
                          [](const std::string& remark) { return remark.find("9 exchanges cannot give") == 0; }),
            1);
}

TEST(JointIndependence, OfTwoVariablesIsHsic) {
  const std::vector<Samples> X = independent(60, 2, 4);
  EXPECT_NEAR(joint_independence_test(X, {.permutations = 10}).statistic, hsic(X[0], X[1]).value, 1e-14);
  const TestResult joint = joint_independence_test(X, {.null = IndependenceNull::gamma});
  const TestResult pair = independence_test(X[0], X[1], {.null = IndependenceNull::gamma});
  EXPECT_NEAR(joint.p_value, pair.p_value, 1e-10);
}

// E |psi|^2 and 2 E <psi(z), psi(z')>^2 by sums over all combinations of rows, each variable on its own.
TEST(JointIndependence, GammaMomentsAgreeWithBruteForce) {
  const Index n = 4;
  const int d = 3;
  const std::vector<Samples> X = independent(n, d, 9);
  std::vector<Matrix> K;
  std::vector<Vector> m;
  std::vector<double> M;
  for (const Samples& x : X) {
    K.push_back(gram(kernels::polynomial(2), x));
    m.push_back(K.back().rowwise().mean());
    M.push_back(m.back().mean());
  }
  // <psi(z), psi(z')> from the centred values a, the means at z and z' and M: the sum over sets of two or more centred factors.
  const auto inner = [&](const std::array<Index, 3>& z, const std::array<Index, 3>& w) {
    double value = 0;  // between sets A of z and B of w: factors <phi - mu, phi' - mu>, <phi - mu, mu>, <mu, phi' - mu>, <mu, mu>
    for (unsigned A = 0; A < 8; ++A) {
      for (unsigned B = 0; B < 8; ++B) {
        if (std::popcount(A) < 2 || std::popcount(B) < 2) continue;
        double product = 1;
        for (std::size_t l = 0; l < 3; ++l) {
          const double at_z = m[l][z[l]] - M[l], at_w = m[l][w[l]] - M[l];
          const bool a = (A >> l & 1U) != 0, b = (B >> l & 1U) != 0;
          product *= a && b ? K[l](z[l], w[l]) - m[l][z[l]] - m[l][w[l]] + M[l] : a ? at_z : b ? at_w : M[l];
        }
        value += product;
      }
    }
    return value;
  };
  double mean = 0, variance = 0;
  const auto each = [&](const auto& visit) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        for (Index k = 0; k < n; ++k) visit(std::array<Index, 3>{i, j, k});
      }
    }
  };
  each([&](const auto& z) {
    mean += inner(z, z) / 64;
    each([&](const auto& w) { variance += 2 * inner(z, w) * inner(z, w) / (64.0 * 64); });
  });
  const TestResult r = joint_independence_test(X, {.kernels = {kernels::polynomial(2)}, .null = IndependenceNull::gamma});
  double shape = 0, scale = 0;
  for (const auto& [name, value] : r.numbers) {
    if (name == "gamma shape") shape = value;
    if (name == "gamma scale") scale = value;
  }
  EXPECT_NEAR(shape * scale * static_cast<double>(n), mean, 1e-9 * mean);
  EXPECT_NEAR(shape * scale * scale * static_cast<double>(n * n), variance, 1e-9 * variance);
}

TEST(JointIndependence, SeesDependenceThatNoPairShows) {
  RandomStream random(3);
  const Index n = 150;
  Matrix x(n, 1), y(n, 1), z(n, 1);
  for (Index i = 0; i < n; ++i) {  // any two are independent; the product of all signs is 1
    x(i, 0) = random.normal();
    y(i, 0) = random.normal();
    z(i, 0) = std::abs(random.normal()) * (x(i, 0) * y(i, 0) > 0 ? 1 : -1);
  }
  for (const IndependenceNull null : {IndependenceNull::permutation, IndependenceNull::gamma}) {
    EXPECT_TRUE(joint_independence_test({x, y, z}, {.null = null, .permutations = 200}).rejected);
  }
  EXPECT_FALSE(independence_test(x, y, {.permutations = 200}).rejected);
}

TEST(JointIndependence, HoldsItsLevel) {
  const int sets = 300;
  int permuted = 0, gamma = 0;
  for (int set = 0; set < sets; ++set) {
    const auto seed = static_cast<std::uint64_t>(set);
    permuted += joint_independence_test(independent(15, 3, 50 + seed), {.permutations = 99, .seed = seed, .run = {.threads = 1}}).rejected;
    gamma += joint_independence_test(independent(40, 3, 50 + seed), {.null = IndependenceNull::gamma, .run = {.threads = 1}}).rejected;
  }
  const double spread = 3.3 * std::sqrt(0.05 * 0.95 / sets);
  EXPECT_NEAR(permuted / 300.0, 0.05, spread);
  EXPECT_NEAR(gamma / 300.0, 0.05, spread);
}

TEST(JointIndependence, LongLevel) {
  if (std::getenv("MERCER_LONG_TESTS") == nullptr) GTEST_SKIP() << "set MERCER_LONG_TESTS to run it";
  const int sets = 1000;
  int permuted = 0;
  for (int set = 0; set < sets; ++set) {
    const auto seed = static_cast<std::uint64_t>(set);
    permuted +=
        joint_independence_test(independent(30, 4, 5000 + seed), {.permutations = 199, .seed = seed, .run = {.threads = 1}}).rejected;
  }
  EXPECT_NEAR(permuted / 1000.0, 0.05, 3.3 * std::sqrt(0.05 * 0.95 / sets));
}

TEST(JointIndependence, SameForAnyNumberOfThreadsAndBadInputRefused) {
  const std::vector<Samples> X = independent(140, 3, 4);
  const TestResult one = joint_independence_test(X, {.permutations = 30, .run = {.threads = 1}});
  EXPECT_EQ(one.null, joint_independence_test(X, {.permutations = 30, .run = {.threads = 2}}).null);
  EXPECT_THROW(joint_independence_test({X[0]}), InvalidArgument);
  EXPECT_THROW(joint_independence_test({X[0], X[1].slice(0, 10)}), InvalidArgument);
  EXPECT_THROW(joint_independence_test(X, {.kernels = {gaussian(1.0), gaussian(1.0)}}), InvalidArgument);
  EXPECT_THROW(joint_independence_test(X, {.null = IndependenceNull::spectral}), InvalidArgument);
  EXPECT_THROW(joint_independence_test(X, {.permutations = 0}), InvalidArgument);
}

}  // namespace
}  // namespace mercer

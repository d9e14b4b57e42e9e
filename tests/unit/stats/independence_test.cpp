// HSIC against its other forms and plain loops; its tests against exhaustive permutations, and their level and power.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/independence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "stats/independence_laws.hpp"

namespace mercer {
namespace {

using kernels::gaussian;

Matrix centred(const Matrix& K) {
  const Index n = K.rows();
  const Matrix H = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / static_cast<double>(n));
  return H * K * H;
}

double trace_form(const Matrix& K, const Matrix& L) { return (centred(K) * L).trace() / static_cast<double>(K.rows() * K.rows()); }

// E k l + E k E l - 2 E [E k E l] by sums (source K, the display before eq. 89, with E_Y in its middle term).
double three_term_form(const Matrix& K, const Matrix& L) {
  const auto n = static_cast<double>(K.rows());
  return K.cwiseProduct(L).sum() / (n * n) + K.sum() * L.sum() / (n * n * n * n) -
         2 * K.rowwise().sum().dot(L.rowwise().sum()) / (n * n * n);
}

// Source K eq. 90 with 1/n^4: h = (1/4!) sum over orders (t, u, v, w) of (i, j, q, r) of k_tu l_tu + k_tu l_vw - 2 k_tu l_tv.
double v_statistic(const Matrix& K, const Matrix& L) {
  const Index n = K.rows();
  double sum = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      for (Index q = 0; q < n; ++q) {
        for (Index r = 0; r < n; ++r) {
          std::array<int, 4> order = {0, 1, 2, 3};
          const std::array<Index, 4> rows = {i, j, q, r};
          double h = 0;
          do {
            const auto at = [&](int place) { return rows[static_cast<std::size_t>(order[static_cast<std::size_t>(place)])]; };
            const Index t = at(0), u = at(1), v = at(2), w = at(3);
            h += K(t, u) * (L(t, u) + L(v, w) - 2 * L(t, v));
          } while (std::next_permutation(order.begin(), order.end()));
          sum += h / 24;
        }
      }
    }
  }
  return sum / std::pow(static_cast<double>(n), 4);
}

// Song et al. 2012, eq. 5.
double unbiased_form(Matrix K, Matrix L) {
  const auto n = static_cast<double>(K.rows());
  K.diagonal().setZero();
  L.diagonal().setZero();
  return ((K * L).trace() + K.sum() * L.sum() / ((n - 1) * (n - 2)) - 2 * (K * L).sum() / (n - 2)) / (n * (n - 3));
}

// The mean over ordered quadruples of different rows: what unbiased means.
double u_statistic(const Matrix& K, const Matrix& L) {
  const Index n = K.rows();
  double sum = 0;
  double count = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      for (Index q = 0; q < n; ++q) {
        for (Index r = 0; r < n; ++r) {
          if (i == j || i == q || i == r || j == q || j == r || q == r) continue;
          sum += K(i, j) * (L(i, j) + L(q, r) - 2 * L(i, q));
          ++count;
        }
      }
    }
  }
  return sum / count;
}

struct Data {
  Matrix x, y;
};

Data dependent(Index n, std::uint64_t seed, double noise = 0.5) {
  RandomStream random(seed);
  Data d{random.normal_matrix(n, 2), Matrix(n, 1)};
  for (Index i = 0; i < n; ++i) d.y(i, 0) = d.x(i, 0) * d.x(i, 0) + noise * random.normal();
  return d;
}

Data independent(Index n, std::uint64_t seed) {
  RandomStream random(seed, 77);
  Data d{random.normal_matrix(n, 1), random.normal_matrix(n, 1)};
  return d;
}

TEST(Hsic, FormsAgree) {
  for (const Index n : {4, 5, 7}) {
    const Data d = dependent(n, 3);
    const Kernel k = gaussian(1.0), l = kernels::laplacian(0.7) + kernels::polynomial(2);
    const Matrix K = gram(k, d.x), L = gram(l, d.y);
    const double value = hsic(d.x, d.y, {.kernel_x = k, .kernel_y = l}).value;
    const double scale = std::max(1.0, K.norm() * L.norm() / static_cast<double>(n * n));
    EXPECT_NEAR(value, trace_form(K, L), 1e-12 * scale);
    EXPECT_NEAR(value, three_term_form(K, L), 1e-12 * scale);
    EXPECT_NEAR(value, v_statistic(K, L), 1e-12 * scale);
    const double u = hsic(d.x, d.y, {.kernel_x = k, .kernel_y = l, .form = HsicForm::unbiased}).value;
    EXPECT_NEAR(u, unbiased_form(K, L), 1e-12 * scale);
    EXPECT_NEAR(u, u_statistic(K, L), 1e-12 * scale);
  }
}

TEST(Hsic, AgreesWithMatricesAtTileEdges) {
  for (const Index n : {2, 3, 255, 256, 257, 520}) {
    const Data d = dependent(n, 5);
    const Kernel k = gaussian(1.0), l = gaussian(2.0);
    const Matrix K = gram(k, d.x), L = gram(l, d.y);
    const HsicEstimate h = hsic(d.x, d.y, {.kernel_x = k, .kernel_y = l});
    EXPECT_NEAR(h.value, trace_form(K, L), 1e-14);
    EXPECT_NEAR(h.correlation, trace_form(K, L) / std::sqrt(trace_form(K, K) * trace_form(L, L)), 1e-12);
    if (n >= 4) {
      EXPECT_NEAR(hsic(d.x, d.y, {.kernel_x = k, .kernel_y = l, .form = HsicForm::unbiased}).value, unbiased_form(K, L), 1e-14);
    }
    EXPECT_NEAR(hsic(d.x, d.x, {.kernel_x = k, .kernel_y = k}).correlation, 1, 1e-14);
  }
}

TEST(Hsic, LinearKernelsGiveTheSquaredCovariance) {
  const Data d = dependent(40, 8);
  const Matrix x = d.x.rowwise() - d.x.colwise().mean();
  const Matrix y = d.y.rowwise() - d.y.colwise().mean();
  EXPECT_NEAR(hsic(d.x, d.y, {.kernel_x = kernels::linear(), .kernel_y = kernels::linear()}).value, (x.transpose() * y / 40).squaredNorm(),
              1e-13);
}

TEST(Hsic, SurvivesAKernelThatIsNearlyConstant) {
  const Data d = dependent(300, 9);
  const Kernel wide = gaussian(1e4);  // entries 1 - 1e-8: the three-term form would have lost all digits
  const Kernel line = kernels::linear();
  const double wide_value = hsic(d.x, d.y, {.kernel_x = wide, .kernel_y = wide}).value;
  const double limit =
      hsic(d.x, d.y, {.kernel_x = line, .kernel_y = line}).value / 1e16;  // exp(-|x-y|^2/2s^2) is 1 + <x,y>/s^2 but for rows
  EXPECT_NEAR(wide_value, limit, 1e-6 * limit);
}

TEST(Hsic, SeesFloatSparseAndGivenRowsAlike) {
  const Data d = dependent(60, 10);
  const Kernel k = gaussian(1.0), l = gaussian(0.5);
  const double value = hsic(d.x, d.y, {.kernel_x = k, .kernel_y = l}).value;
  const Samples floats(d.x.cast<float>());
  EXPECT_NEAR(hsic(floats, d.y, {.kernel_x = k, .kernel_y = l}).value, value, 1e-7);
  const CsrMatrix<double> sparse = d.x.sparseView();
  EXPECT_NEAR(hsic(Samples(sparse), d.y, {.kernel_x = k, .kernel_y = l}).value, value, 1e-14);
  const Matrix K = gram(k, d.x), L = gram(l, d.y);
  EXPECT_NEAR(hsic(Samples(K), Samples(L), {.kernel_x = kernels::precomputed(), .kernel_y = kernels::precomputed()}).value, value, 1e-14);
  const TestResult given =
      independence_test(Samples(K), d.y, {.kernel_x = kernels::precomputed(), .kernel_y = l, .permutations = 99, .seed = 4});
  const TestResult plain = independence_test(d.x, d.y, {.kernel_x = k, .kernel_y = l, .permutations = 99, .seed = 4});
  EXPECT_EQ(given.p_value, plain.p_value);
}

TEST(Hsic, BadInputIsRefusedByName) {
  const Data d = dependent(10, 1);
  EXPECT_THROW(hsic(d.x, d.y.topRows(9)), InvalidArgument);
  EXPECT_THROW(hsic(d.x.topRows(1), d.y.topRows(1)), InvalidArgument);
  EXPECT_THROW(hsic(d.x.topRows(3), d.y.topRows(3), {.form = HsicForm::unbiased}), InvalidArgument);
  Matrix bad = d.x;
  bad(3, 1) = std::nan("");
  EXPECT_THROW(hsic(bad, d.y), InvalidArgument);
  EXPECT_THROW(independence_test(d.x, d.y, {.permutations = 0}), InvalidArgument);
  EXPECT_THROW(independence_test(d.x, d.y, {.level = 1}), InvalidArgument);
  EXPECT_THROW(independence_test(d.x, d.y, {.exchange = {Exchange::pairs, {}, 0}}), InvalidArgument);
  EXPECT_THROW(independence_test(d.x, d.y, {.form = HsicForm::unbiased, .null = IndependenceNull::gamma}), InvalidArgument);
  EXPECT_THROW(independence_test(d.x, d.y, {.null = IndependenceNull::gamma, .exchange = {Exchange::shifts, {}, 0}}), InvalidArgument);
  EXPECT_THROW(independence_test(d.x, d.y, {.kernel_x = -1.0 * gaussian(1.0), .null = IndependenceNull::gamma}), InvalidArgument);
  EXPECT_THROW(independence_test(d.x, d.y, {.run = {.memory = 1000}}), OverBudget);
}

TEST(IndependenceTest, ConstantVariableIsIndependent) {
  const Data d = dependent(300, 2);
  const Matrix constant = Matrix::Constant(300, 1, 0.7);
  for (const Kernel& k : {gaussian(1.0), kernels::polynomial(3, 0.3, 0.1), kernels::linear()}) {
    for (const IndependenceNull null : {IndependenceNull::permutation, IndependenceNull::gamma, IndependenceNull::spectral}) {
      const TestResult r = independence_test(d.x, constant, {.kernel_y = k, .null = null, .permutations = 50});
      EXPECT_EQ(r.p_value, 1) << name_of(null) << ' ' << k.text();
      EXPECT_FALSE(r.rejected);
      EXPECT_EQ(r.statistic, 0);
    }
    EXPECT_TRUE(std::isnan(hsic(d.x, constant, {.kernel_y = k}).correlation));
    for (const IndependenceNull null : {IndependenceNull::permutation, IndependenceNull::gamma}) {
      EXPECT_EQ(joint_independence_test({d.x, constant}, {.kernels = {std::nullopt, k}, .null = null, .permutations = 50}).p_value, 1);
    }
  }
}

// All n! permutations by the definition, ties counted.
double exhaustive_p(const Matrix& K, const Matrix& L, bool unbiased) {
  const Index n = K.rows();
  const auto statistic = [&](const Matrix& M) { return unbiased ? unbiased_form(K, M) : trace_form(K, M); };
  const double observed = statistic(L);
  std::vector<Index> order(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  double at_least = 0;
  double all = 0;
  do {
    Matrix M(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) M(i, j) = L(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
    }
    at_least += statistic(M) >= observed - 1e-10 ? 1 : 0;
    ++all;
  } while (std::next_permutation(order.begin(), order.end()));
  return at_least / all;
}

TEST(IndependenceTest, TinySamplesTakeAllPermutations) {
  for (const Index n : {4, 5, 6}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Data d = dependent(n, seed);
      const Matrix K = gram(gaussian(1.0), d.x), L = gram(gaussian(1.0), d.y);
      for (const HsicForm form : {HsicForm::biased, HsicForm::unbiased}) {
        const TestResult r = independence_test(d.x, d.y, {.kernel_x = gaussian(1.0), .kernel_y = gaussian(1.0), .form = form});
        EXPECT_NEAR(r.p_value, exhaustive_p(K, L, form == HsicForm::unbiased), 1e-12) << n << " rows, seed " << seed;
      }
    }
  }
}

TEST(IndependenceTest, TiesOfBinaryDataAreCounted) {
  Matrix x(6, 1), y(6, 1);
  x << 0, 0, 0, 1, 1, 1;
  y << 0, 0, 1, 1, 1, 0;
  const Kernel k = gaussian(1.0);
  const TestResult all = independence_test(x, y, {.kernel_x = k, .kernel_y = k});
  EXPECT_NEAR(all.p_value, exhaustive_p(gram(k, x), gram(k, y), false), 1e-12);  // most permutations tie with the data
  EXPECT_GT(all.p_value, 0.9);
  Matrix more_x(12, 1), more_y(12, 1);
  more_x << x, x;
  more_y << x, x;
  const TestResult drawn = independence_test(more_x, more_y, {.kernel_x = k, .kernel_y = k, .permutations = 9999, .seed = 1});
  EXPECT_NEAR(drawn.p_value, 2.0 / 924, 4 * std::sqrt(2.0 / 924 / 9999));  // 12 choose 6, and the labels exchanged
}

TEST(IndependenceTest, StatisticIsThatOfHsicAndOfTheNullsOwnArithmetic) {
  const Data d = dependent(200, 4);
  const double value = hsic(d.x, d.y).value;
  for (const IndependenceNull null : {IndependenceNull::permutation, IndependenceNull::gamma, IndependenceNull::spectral}) {
    const TestResult r = independence_test(d.x, d.y, {.null = null, .permutations = 300, .seed = 3});
    EXPECT_EQ(r.statistic, value);
    EXPECT_TRUE(r.rejected);
    EXPECT_GT(r.statistic, r.threshold);
    EXPECT_EQ(r.exact, null == IndependenceNull::permutation);
    EXPECT_EQ(r.kernels.size(), 2U);
    EXPECT_TRUE(r.remarks.empty());
  }
}

TEST(IndependenceTest, ScaleOfTheKernelsDoesNotMatter) {
  const Data d = dependent(60, 4);
  const Kernel k = gaussian(1.0);
  const TestResult plain = independence_test(d.x, d.y, {.kernel_x = k, .kernel_y = k, .permutations = 99});
  for (const double factor : {1e-60, 1e-30, 1e30, 1e60}) {  // far from what products of float32 numbers can hold
    const TestResult r = independence_test(d.x, d.y, {.kernel_x = factor * k, .kernel_y = factor * k, .permutations = 99});
    EXPECT_EQ(r.p_value, plain.p_value) << factor;
    EXPECT_LT((r.null / (factor * factor) - plain.null).cwiseAbs().maxCoeff(), 1e-6 * plain.null.maxCoeff());
    const TestResult joint = joint_independence_test({d.x, d.y}, {.kernels = {factor * k}, .permutations = 99});
    EXPECT_EQ(joint.p_value, joint_independence_test({d.x, d.y}, {.kernels = {k}, .permutations = 99}).p_value) << factor;
  }
  EXPECT_THROW(independence_test(1e80 * d.x, d.y, {.kernel_x = kernels::polynomial(3)}), InvalidArgument);
  EXPECT_THROW(hsic(1e80 * d.x, d.y, {.kernel_x = kernels::polynomial(3)}), InvalidArgument);
  EXPECT_THROW(joint_independence_test({1e80 * d.x, d.y}, {.kernels = {kernels::polynomial(3)}}), InvalidArgument);
}

TEST(IndependenceTest, SameForAnyNumberOfThreads) {
  const Data d = independent(300, 4);
  for (const IndependenceNull null : {IndependenceNull::permutation, IndependenceNull::gamma, IndependenceNull::spectral}) {
    const TestResult one = independence_test(d.x, d.y, {.null = null, .permutations = 60, .seed = 3, .run = {.threads = 1}});
    const TestResult two = independence_test(d.x, d.y, {.null = null, .permutations = 60, .seed = 3, .run = {.threads = 2}});
    EXPECT_EQ(one.statistic, two.statistic);
    if (null == IndependenceNull::spectral) {  // LAPACK's eigenvalues are equal to rounding
      EXPECT_NEAR(one.p_value, two.p_value, 1e-9);
    } else {
      EXPECT_EQ(one.null, two.null);
    }
  }
}

TEST(IndependenceTest, GammaHasTheMomentsOfTheLimit) {
  const Data d = independent(50, 6);
  const Kernel k = kernels::polynomial(2), l = gaussian(1.0);  // a diagonal that is not constant
  const Matrix A = centred(gram(k, d.x)), B = centred(gram(l, d.y));
  const TestResult r = independence_test(d.x, d.y, {.kernel_x = k, .kernel_y = l, .null = IndependenceNull::gamma});
  const double mean = A.trace() * B.trace() / (50.0 * 50 * 50);
  const double variance = 2 * A.squaredNorm() * B.squaredNorm() / std::pow(50.0, 6);
  EXPECT_NEAR(r.numbers[1].second, mean * mean / variance, 1e-9 * mean * mean / variance);
  EXPECT_NEAR(r.numbers[2].second, variance / mean, 1e-9 * variance / mean);
  EXPECT_NEAR(r.null.mean(), mean, 0.02 * mean);
}

TEST(IndependenceTest, SpectralLawHasAllProducts) {
  Vector x(3), y(2);
  x << 3, 1, 0.5;
  y << 2, 0.1;
  const stats::SpectralLaw law(x, y);
  RandomStream random(4);
  double sum = 0, squares = 0;
  const int draws = 40000;
  for (int b = 0; b < draws; ++b) {
    const double value = law.draw(random);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / draws, variance = 2 * x.squaredNorm() * y.squaredNorm();
  EXPECT_NEAR(mean, x.sum() * y.sum(), 5 * std::sqrt(variance / draws));
  EXPECT_NEAR(squares / draws - mean * mean, variance, 0.1 * variance);
  // Many small products: the rest is one number of the right mean.
  const Vector many = Vector::LinSpaced(300, 1.0, 0.01);
  const stats::SpectralLaw long_law(many, many);
  double long_sum = 0;
  for (int b = 0; b < 200; ++b) long_sum += long_law.draw(random);
  EXPECT_NEAR(long_sum / 200, many.sum() * many.sum(), 5 * std::sqrt(2.0 / 200) * many.squaredNorm());
}

TEST(IndependenceTest, FewExchangesAreRemarkedOn) {
  const auto said = [](const TestResult& r, const std::string& what) {
    return std::count_if(r.remarks.begin(), r.remarks.end(),
                         [&](const std::string& remark) { return remark.find(what) != std::string::npos; });
  };
  const Data data = dependent(10, 4);
  const Samples X(data.x), Y(data.y);
  EXPECT_EQ(said(independence_test(X, Y, {.exchange = {.scheme = Exchange::shifts}}), "only 10 different exchanges"), 1);
  const std::vector<Index> halves = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
  EXPECT_EQ(said(independence_test(X, Y, {.exchange = {.scheme = Exchange::whole_groups, .groups = halves}}), "only 2 different"), 1);
  EXPECT_EQ(said(independence_test(X, Y), "different exchanges"), 0);
  EXPECT_EQ(said(independence_test(X, Y, {.permutations = 9}), "9 exchanges cannot give a p-value below 0.1"), 1);
  EXPECT_EQ(said(independence_test(X, Y, {.permutations = 19}), "cannot give"), 0);
}

TEST(IndependenceTest, KernelsThatSeeLittleAreRemarkedOn) {
  const Data d = dependent(40, 6);
  const TestResult r = independence_test(d.x, d.y, {.kernel_x = kernels::linear(), .permutations = 20});
  ASSERT_EQ(r.remarks.size(), 1U);
  EXPECT_NE(r.remarks[0].find("linear"), std::string::npos);
  const TestResult indefinite = independence_test(d.x, d.y, {.kernel_y = -1.0 * gaussian(1.0), .permutations = 20});
  EXPECT_NE(indefinite.remarks[0].find("not positive semi-definite"), std::string::npos);
}

TEST(IndependenceTest, CategoriesAreComparedByIdentity) {
  std::vector<std::string> labels;
  Matrix y(60, 1);
  RandomStream random(5);
  for (Index i = 0; i < 60; ++i) {
    labels.push_back(i % 3 == 0 ? "red" : i % 3 == 1 ? "green" : "blue");
    y(i, 0) = (i % 3 == 1 ? 2.0 : 0.0) + random.normal();  // codes 0, 1, 2: no order helps
  }
  const Categories c = categories(labels);
  EXPECT_EQ(c.names, (std::vector<std::string>{"red", "green", "blue"}));
  const Matrix K = gram(c.kernel, c.codes);
  for (Index i = 0; i < 60; ++i) {
    for (Index j = 0; j < 60; ++j)
      EXPECT_EQ(K(i, j), labels[static_cast<std::size_t>(i)] == labels[static_cast<std::size_t>(j)] ? 1.0 : 0.0);
  }
  const TestResult r = independence_test(c.codes, y, {.kernel_x = c.kernel, .permutations = 499});
  EXPECT_TRUE(r.rejected);
  EXPECT_TRUE(r.remarks.empty());
}

// The three shapes of source K 5.3: rank tests see the first only.
Data shape(int which, Index n, std::uint64_t seed) {
  RandomStream random(seed, 100 + static_cast<std::uint64_t>(which));
  Data d{Matrix(n, 1), Matrix(n, 1)};
  for (Index i = 0; i < n; ++i) {
    if (which == 3) {
      const double angle = random.uniform(0, 2 * std::numbers::pi);
      d.x(i, 0) = std::cos(angle) + 0.1 * random.normal();
      d.y(i, 0) = std::sin(angle) + 0.1 * random.normal();
    } else {
      const double x = random.uniform(-1, 1);
      d.x(i, 0) = x;
      d.y(i, 0) = which == 1 ? x * x * x + 0.2 * random.normal() : std::cos(2 * std::numbers::pi * x) + 0.3 * random.normal();
    }
  }
  return d;
}

TEST(IndependenceTest, SeesTheThreeShapes) {
  const double most[] = {0, 0.01, 0.18, 0.05};
  for (int which = 1; which <= 3; ++which) {
    double largest = 0;
    double smallest_rank_p = 1;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Data d = shape(which, 100, seed);
      for (const IndependenceNull null : {IndependenceNull::permutation, IndependenceNull::gamma, IndependenceNull::spectral}) {
        largest = std::max(largest, independence_test(d.x, d.y, {.null = null, .permutations = 500, .seed = seed}).p_value);
      }
      smallest_rank_p = std::min(smallest_rank_p, correlation_test(d.x.col(0), d.y.col(0), Correlation::spearman).p_value);
    }
    EXPECT_LT(largest, most[which]) << "shape " << which;
    if (which == 1) {
      EXPECT_LT(smallest_rank_p, 1e-10);
    } else {
      EXPECT_GT(smallest_rank_p, 0.001);
    }
  }
}

// Rejections at level 0.05 of data sets where the null is true; binomial 99.9 % interval for exact tests.
double rejection_rate(const IndependenceOptions& options, Index n, int sets) {
  int rejections = 0;
  for (int set = 0; set < sets; ++set) {
    const Data d = independent(n, 1000 + static_cast<std::uint64_t>(set));
    IndependenceOptions o = options;
    o.seed = static_cast<std::uint64_t>(set);
    o.run.threads = 1;
    rejections += independence_test(d.x, d.y, o).rejected ? 1 : 0;
  }
  return rejections / static_cast<double>(sets);
}

double spread(int sets) { return 3.3 * std::sqrt(0.05 * 0.95 / sets); }

TEST(IndependenceTest, HoldsItsLevel) {
  const int sets = 300;
  EXPECT_NEAR(rejection_rate({.permutations = 99}, 15, sets), 0.05, spread(sets));
  EXPECT_NEAR(rejection_rate({.form = HsicForm::unbiased, .permutations = 99}, 15, sets), 0.05, spread(sets));
  EXPECT_NEAR(rejection_rate({.null = IndependenceNull::gamma}, 40, sets), 0.05, spread(sets));
  EXPECT_NEAR(rejection_rate({.null = IndependenceNull::spectral, .permutations = 199}, 40, sets), 0.05, spread(sets));
}

TEST(IndependenceTest, LongLevel) {
  if (std::getenv("MERCER_LONG_TESTS") == nullptr) GTEST_SKIP() << "set MERCER_LONG_TESTS to run it";
  const int sets = 1000;
  for (const Index n : {10, 30}) {
    EXPECT_NEAR(rejection_rate({.permutations = 199}, n, sets), 0.05, spread(sets));
    EXPECT_NEAR(rejection_rate({.form = HsicForm::unbiased, .permutations = 199}, n, sets), 0.05, spread(sets));
  }
  EXPECT_NEAR(rejection_rate({.null = IndependenceNull::gamma}, 100, sets), 0.05, spread(sets));
  EXPECT_NEAR(rejection_rate({.null = IndependenceNull::spectral, .permutations = 199}, 60, sets), 0.05, spread(sets));
}

TEST(IndependenceTest, ExchangeSchemesHoldTheLevelOfTheirData) {
  const int sets = 300;
  int free_rejections = 0, shift_rejections = 0, group_rejections = 0, plain_rejections = 0;
  for (int set = 0; set < sets; ++set) {
    RandomStream random(static_cast<std::uint64_t>(set), 9);
    const Index n = 60;
    Matrix x(n, 1), y(n, 1), grouped_x(n, 1), grouped_y(n, 1);
    std::vector<Index> groups;
    for (Index i = 0; i < n; ++i) {  // two independent series, each near its last value; two variables that share a group's mean
      x(i, 0) = (i > 0 ? 0.8 * x(i - 1, 0) : 0) + random.normal();
      y(i, 0) = (i > 0 ? 0.8 * y(i - 1, 0) : 0) + random.normal();
      groups.push_back(i % 3);
      grouped_x(i, 0) = static_cast<double>(i % 3) + random.normal();
      grouped_y(i, 0) = static_cast<double>(i % 3) + random.normal();
    }
    const auto seed = static_cast<std::uint64_t>(set);
    const auto rejected = [&](const Matrix& a, const Matrix& b, const ExchangeOptions& exchange) {
      return independence_test(a, b, {.permutations = 99, .exchange = exchange, .seed = seed, .run = {.threads = 1}}).rejected ? 1 : 0;
    };
    free_rejections += rejected(x, y, {});
    shift_rejections += rejected(x, y, {Exchange::shifts, {}, 0});
    plain_rejections += rejected(grouped_x, grouped_y, {});
    group_rejections += rejected(grouped_x, grouped_y, {Exchange::within_groups, groups, 0});
  }
  EXPECT_GT(free_rejections, 0.12 * sets);  // free exchanges of dependent rows are wrong
  EXPECT_LT(shift_rejections, (0.05 + spread(sets)) * sets);
  EXPECT_GT(plain_rejections, 0.3 * sets);
  EXPECT_NEAR(group_rejections / static_cast<double>(sets), 0.05, spread(sets));
}

}  // namespace
}  // namespace mercer

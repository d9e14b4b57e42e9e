// The k-sample test: its statistic by plain loops, its level, and the pairs that follow.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/k_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

Matrix shifted(std::uint64_t seed, Index n, Index d, double by) { return (RandomStream(seed).normal_matrix(n, d).array() + by).matrix(); }

// sum_g (n_g / N) |mu_g - mu|^2 as it stands, from a Gram matrix.
double naive_between(const Matrix& K, const std::vector<Index>& groups, Index k) {
  const Index n = K.rows();
  double sum = 0;
  for (Index g = 0; g < k; ++g) {
    Vector v = Vector::Constant(n, -1.0 / static_cast<double>(n));
    const auto size = static_cast<double>(std::count(groups.begin(), groups.end(), g));
    for (Index i = 0; i < n; ++i) {
      if (groups[static_cast<std::size_t>(i)] == g) v[i] += 1 / size;
    }
    double square = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) square += v[i] * v[j] * K(i, j);
    }
    sum += size / static_cast<double>(n) * square;
  }
  return sum;
}

double number(const TestResult& r, const std::string& name) {
  for (const auto& [key, value] : r.numbers) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no number " << name;
  return 0;
}

TEST(KSample, StatisticIsThatOfLoops) {
  const std::vector<Samples> samples = {shifted(1, 90, 3, 0), shifted(2, 130, 3, 0.3), shifted(3, 70, 3, -0.2)};
  const KSampleResult r = k_sample_test(samples, {.kernel = kernels::laplacian(1.5), .permutations = 10});
  Samples pooled = concatenate(concatenate(samples[0], samples[1]), samples[2]);
  std::vector<Index> groups(290, 0);
  std::fill(groups.begin() + 90, groups.end(), 1);
  std::fill(groups.begin() + 220, groups.end(), 2);
  const Matrix K = gram(kernels::laplacian(1.5), pooled);
  EXPECT_NEAR(r.statistic, naive_between(K, groups, 3), 1e-14);
  EXPECT_NEAR(number(r, "total scatter"), K.diagonal().mean() - K.mean(), 1e-13);
  EXPECT_EQ(r.sizes, (std::vector<Index>{90, 130, 70}));
  // Of every two samples mmd-b, and all of them together make the statistic.
  double sum = 0;
  for (const KSamplePair& pair : r.pairs) {
    const Matrix a = gram(kernels::laplacian(1.5), samples[static_cast<std::size_t>(pair.first)]);
    const Matrix b = gram(kernels::laplacian(1.5), samples[static_cast<std::size_t>(pair.second)]);
    const Matrix c =
        gram(kernels::laplacian(1.5), samples[static_cast<std::size_t>(pair.first)], samples[static_cast<std::size_t>(pair.second)]);
    EXPECT_NEAR(pair.squared, a.mean() + b.mean() - 2 * c.mean(), 1e-13);
    sum += static_cast<double>(r.sizes[static_cast<std::size_t>(pair.first)] * r.sizes[static_cast<std::size_t>(pair.second)]) /
           (290.0 * 290.0) * pair.squared;
  }
  EXPECT_NEAR(sum, r.statistic, 1e-14);
}

TEST(KSample, OfTwoSamplesItIsTheBiasedMmd) {
  const Matrix X = shifted(1, 40, 2, 0);
  const Matrix Y = shifted(2, 60, 2, 0.5);
  const KSampleResult r = k_sample_test({Samples(X), Samples(Y)}, {.kernel = kernels::gaussian(1.0), .permutations = 20});
  const double mmd = gram(kernels::gaussian(1.0), X).mean() + gram(kernels::gaussian(1.0), Y).mean() -
                     2 * gram(kernels::gaussian(1.0), Samples(X), Samples(Y)).mean();
  EXPECT_NEAR(r.statistic, 40.0 * 60.0 / 1e4 * mmd, 1e-14);
  EXPECT_TRUE(r.pairs.empty());
}

TEST(KSample, LinearKernelIsAnalysisOfVariance) {
  Vector x(7);
  x << 1, 2, 4, 7, 8, 3, 10;
  const std::vector<Index> labels = {5, 5, 5, 9, 9, -2, -2};
  const KSampleResult r = k_sample_test(Samples(x), labels, {.kernel = kernels::linear(), .permutations = 5});
  const double between = (3 * std::pow(7.0 / 3 - 5, 2) + 2 * std::pow(7.5 - 5, 2) + 2 * std::pow(6.5 - 5, 2)) / 7;
  EXPECT_NEAR(r.statistic, between, 1e-12);
  EXPECT_NEAR(number(r, "explained share"), between / ((x.array() - 5).square().sum() / 7), 1e-12);
  EXPECT_EQ(r.labels, (std::vector<Index>{-2, 5, 9}));
  EXPECT_FALSE(r.remarks.empty());  // a linear kernel sees means alone
}

// On binary data ties are many: the p-value of all labellings, each counted, is what many random ones come to.
TEST(KSample, PermutationsComeToTheExhaustiveDistribution) {
  Vector x(6);
  x << 0, 1, 1, 0, 1, 1;
  std::vector<Index> groups = {0, 0, 1, 1, 2, 2};
  const Matrix K = gram(kernels::gaussian(1.0), x);
  const double observed = naive_between(K, groups, 3);
  std::vector<Index> order = groups;
  double at_least = 0;
  double all = 0;
  do {
    all += 1;
    at_least += naive_between(K, order, 3) >= observed - 1e-12 ? 1 : 0;
  } while (std::next_permutation(order.begin(), order.end()));
  const KSampleResult r =
      k_sample_test(Samples(x), groups, {.kernel = kernels::gaussian(1.0), .permutations = 20000, .pairwise = false, .seed = 1});
  EXPECT_EQ(all, 90);
  EXPECT_NEAR(r.p_value, at_least / all, 4 * std::sqrt(0.25 / 20000));
  EXPECT_NE(r.remarks.front().find("90 different labellings"), std::string::npos);
}

TEST(KSample, FindsTheSampleThatDiffers) {
  std::vector<Samples> samples;
  for (std::uint64_t g = 0; g < 4; ++g) samples.emplace_back(shifted(10 + g, 60, 2, g == 2 ? 1.0 : 0.0));
  const KSampleResult r = k_sample_test(samples, {.permutations = 999, .seed = 3});
  EXPECT_TRUE(r.rejected);
  EXPECT_DOUBLE_EQ(r.p_value, 0.001);
  ASSERT_EQ(r.pairs.size(), 6U);
  for (const KSamplePair& pair : r.pairs) {
    EXPECT_EQ(pair.rejected, pair.first == 2 || pair.second == 2) << pair.first << " " << pair.second;
    EXPECT_GE(pair.adjusted, pair.p_value);
  }
  EXPECT_NE(r.remarks.back().find("3 of 6 pairs differ"), std::string::npos);
}

// The smallest p-value times the number of pairs, the next times one less, and never below one before it.
TEST(KSample, HolmByHand) {
  std::vector<Samples> samples;
  for (std::uint64_t g = 0; g < 3; ++g) samples.emplace_back(shifted(30 + g, 15, 1, 0.4 * static_cast<double>(g)));
  const KSampleResult r = k_sample_test(samples, {.permutations = 199, .seed = 2});
  std::vector<KSamplePair> sorted = r.pairs;
  std::sort(sorted.begin(), sorted.end(), [](const KSamplePair& a, const KSamplePair& b) { return a.p_value < b.p_value; });
  double highest = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    highest = std::max(highest, std::min(1.0, (3.0 - static_cast<double>(i)) * sorted[i].p_value));
    EXPECT_DOUBLE_EQ(sorted[i].adjusted, highest);
  }
}

// Strata of very different means: free exchanges would be wrong, those within strata are not.
TEST(KSample, StrataAreKept) {
  RandomStream random(5);
  int rejections = 0;
  for (int repetition = 0; repetition < 200; ++repetition) {
    Vector x(24);
    std::vector<Index> labels;
    std::vector<Index> strata;
    for (Index i = 0; i < 24; ++i) {
      strata.push_back(i % 2);
      labels.push_back(i % 2 == 0 ? (i < 16 ? 0 : 1 + i / 20) : (i < 4 ? 0 : 1 + i / 14));  // strata and samples go together
      x[i] = random.normal() + 5 * static_cast<double>(i % 2);
    }
    const KSampleResult r = k_sample_test(Samples(x), labels,
                                          {.permutations = 39,
                                           .exchange = {Exchange::within_groups, strata},
                                           .pairwise = false,
                                           .seed = static_cast<std::uint64_t>(repetition)});
    rejections += r.rejected ? 1 : 0;
  }
  EXPECT_LE(rejections, 21);  // 99.9 % of Binomial(200, 0.05)
}

double level_of(int data_sets, Index permutations) {
  int rejections = 0;
  for (int i = 0; i < data_sets; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const Matrix X = RandomStream(1000 + seed).normal_matrix(24, 2);
    std::vector<Index> labels;
    for (Index row = 0; row < 24; ++row) labels.push_back(row < 6 ? 0 : row < 14 ? 1 : 2);
    rejections += k_sample_test(X, labels, {.permutations = permutations, .pairwise = false, .seed = seed}).rejected ? 1 : 0;
  }
  return static_cast<double>(rejections) / data_sets;
}

TEST(KSample, LevelIsExact) {  // 99.9 % of Binomial(400, 0.05)
  const double level = level_of(400, 39);
  EXPECT_GE(level, 0.0175);
  EXPECT_LE(level, 0.09);
}

TEST(LongLevelKSample, IsExact) {
  if (std::getenv("MERCER_LONG_TESTS") == nullptr) GTEST_SKIP();
  const double level = level_of(1000, 199);
  EXPECT_GE(level, 0.029);
  EXPECT_LE(level, 0.075);
}

TEST(KSample, GivenGramSparseAndFloatAgree) {
  const Matrix X = shifted(1, 60, 3, 0);
  std::vector<Index> labels;
  for (Index i = 0; i < 60; ++i) labels.push_back(i % 3);
  const KSampleOptions options{.kernel = kernels::gaussian(1.3), .permutations = 99, .seed = 4};
  const KSampleResult dense = k_sample_test(Samples(X), labels, options);
  KSampleOptions given = options;
  given.kernel = kernels::precomputed();
  const KSampleResult by_gram = k_sample_test(Samples(gram(options.kernel, X)), labels, given);
  EXPECT_NEAR(by_gram.statistic, dense.statistic, 1e-14);
  EXPECT_EQ(by_gram.p_value, dense.p_value);
  ASSERT_EQ(by_gram.pairs.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(by_gram.pairs[i].p_value, dense.pairs[i].p_value);
  const CsrMatrix<double> sparse = X.sparseView();
  EXPECT_NEAR(k_sample_test(Samples(sparse), labels, options).statistic, dense.statistic, 1e-13);
  EXPECT_NEAR(k_sample_test(Samples(MatrixF(X.cast<float>())), labels, options).statistic, dense.statistic, 1e-6);
}

TEST(KSample, ManyRowsInFloat32AndAnyThreads) {
  const Matrix X = shifted(7, 2200, 2, 0);
  std::vector<Index> labels;
  for (Index i = 0; i < 2200; ++i) labels.push_back(i % 3);
  KSampleOptions options{.kernel = kernels::gaussian(1.0), .permutations = 30, .pairwise = false};
  options.run.threads = 1;
  const KSampleResult one = k_sample_test(Samples(X), labels, options);
  options.run.threads = 2;
  const KSampleResult two = k_sample_test(Samples(X), labels, options);
  EXPECT_EQ(one.statistic, two.statistic);
  EXPECT_EQ(one.null, two.null);
  EXPECT_NEAR(one.statistic, naive_between(gram(options.kernel, X), labels, 3), 1e-13);
}

TEST(KSample, SeesADifferenceFarFromZeroWithManyRows) {  // float32 would round the kernel values by more than the samples differ
  for (const Index n : {1050, 2100}) {
    Matrix X = shifted(8, n, 1, 0);
    std::vector<Index> labels;
    for (Index i = 0; i < n; ++i) {
      labels.push_back(i % 3);
      X(i, 0) += static_cast<double>(i % 3);
    }
    const KSampleOptions options{.kernel = kernels::linear(), .permutations = 50};
    const KSampleResult near = k_sample_test(Samples(X), labels, options);
    const KSampleResult far = k_sample_test(Samples(Matrix(X.array() + 1000)), labels, options);
    EXPECT_EQ(near.p_value, 1.0 / 51);
    EXPECT_EQ(far.p_value, 1.0 / 51);
    EXPECT_NEAR(far.statistic, near.statistic, 1e-8);
    EXPECT_LT((far.null - near.null).cwiseAbs().maxCoeff(), 1e-6 * near.statistic);
    for (const KSamplePair& pair : far.pairs) EXPECT_EQ(pair.p_value, 1.0 / 51);
    EXPECT_EQ(far.remarks.size(), near.remarks.size());
  }
}

TEST(KSample, ManyRowsThatFloat32CannotHold) {
  const Matrix X = shifted(7, 2100, 1, 0);
  std::vector<Index> labels;
  for (Index i = 0; i < 2100; ++i) labels.push_back(i % 3);
  const KSampleOptions options{.kernel = kernels::linear(), .permutations = 50, .pairwise = false};
  const double p = k_sample_test(Samples(X), labels, options).p_value;
  EXPECT_EQ(k_sample_test(Samples(Matrix(X * 1e25)), labels, options).p_value, p);
  EXPECT_EQ(k_sample_test(Samples(Matrix(X * 1e-25)), labels, options).p_value, p);
}

TEST(KSample, SaysWhereRoundingDecides) {
  const auto said = [](const TestResult& r) {
    return std::any_of(r.remarks.begin(), r.remarks.end(),
                       [](const std::string& remark) { return remark.find("subtract the column means") != std::string::npos; });
  };
  const std::vector<Index> labels = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
  const Matrix X = shifted(9, 12, 2, 0);
  const KSampleOptions options{.kernel = kernels::linear(), .permutations = 99};
  EXPECT_FALSE(said(k_sample_test(Samples(Matrix(X.array() + 1000)), labels, options)));
  EXPECT_TRUE(said(k_sample_test(Samples(Matrix(X.array() + 1e8)), labels, options)));
}

TEST(KSample, CanBeCancelled) {  // a job of many seconds, asked twenty times a second
  std::vector<Index> labels;
  for (Index i = 0; i < 10000; ++i) labels.push_back(i % 3);
  KSampleOptions options{.permutations = 1000};
  options.run.progress = [](const ProgressEvent&) { return false; };
  EXPECT_THROW(k_sample_test(Samples(shifted(1, 10000, 2, 0)), labels, options), Cancelled);
}

TEST(KSample, ConstantRowsAndMisuse) {
  const std::vector<Index> labels = {0, 0, 1, 1, 2, 2};
  const KSampleResult r = k_sample_test(Samples(Matrix(Matrix::Ones(6, 2))), labels, {.permutations = 9});
  EXPECT_EQ(r.p_value, 1);
  EXPECT_EQ(r.pairs[0].p_value, 1);
  const Samples X(shifted(1, 6, 2, 0));
  EXPECT_THROW(k_sample_test(X, {0, 0, 0, 0, 0, 0}), InvalidArgument);
  EXPECT_THROW(k_sample_test(X, {0, 1}), InvalidArgument);
  EXPECT_THROW(k_sample_test({X}), InvalidArgument);
  EXPECT_THROW(k_sample_test({X, Samples(Matrix(0, 2))}), InvalidArgument);
  EXPECT_THROW(k_sample_test({X, Samples(shifted(1, 6, 3, 0))}), InvalidArgument);
  EXPECT_THROW(k_sample_test(X, labels, {.permutations = 0}), InvalidArgument);
  EXPECT_THROW(k_sample_test(X, labels, {.level = 1}), InvalidArgument);
  EXPECT_THROW(k_sample_test(X, labels, {.exchange = {Exchange::blocks}}), InvalidArgument);
  EXPECT_THROW(k_sample_test(X, labels, {.kernel = kernels::sigmoid()}), InvalidArgument);
  Matrix bad = Matrix::Ones(6, 2);
  bad(3, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(k_sample_test(Samples(bad), labels), InvalidArgument);
}

}  // namespace
}  // namespace mercer

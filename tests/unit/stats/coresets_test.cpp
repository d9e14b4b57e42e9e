// Squashing, herding and thinning: distances against plain sums, each against random subsets, sizes that are no power of two.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/coresets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/mean_matching.hpp"
#include "mercer/random.hpp"
#include "mercer/two_sample.hpp"
#include "stats/kernel_thinning.hpp"

namespace mercer {
namespace {

Matrix cloud(std::uint64_t seed, Index n, Index d) { return RandomStream(seed).normal_matrix(n, d); }

double distance(const Kernel& k, const Matrix& X, const std::vector<Index>& rows, const Vector& w) {
  const Matrix Z = X(rows, Eigen::all);
  return std::sqrt(std::max(0.0, gram(k, X).mean() - 2 * w.dot(gram(k, Z, X).rowwise().mean()) + w.dot(gram(k, Z) * w)));
}

void expect_rows(const Coreset& c, Index m, Index n) {
  EXPECT_EQ(c.size(), m);
  EXPECT_EQ(c.weights.size(), m);
  EXPECT_NEAR(c.weights.sum(), 1, 1e-12);
  EXPECT_GE(c.weights.minCoeff(), 0);
  const std::set<Index> distinct(c.rows.begin(), c.rows.end());
  EXPECT_EQ(std::ssize(distinct), m);
  EXPECT_GE(*distinct.begin(), 0);
  EXPECT_LT(*distinct.rbegin(), n);
}

TEST(Coresets, DistancesArePlainSums) {
  const Matrix X = cloud(1, 400, 2);
  const Kernel k = kernels::gaussian(1.0);
  for (const Coreset& c : {squash(X, 20, {.kernel = k}), herd(X, 20, {.kernel = k}), thin(X, 20, {.kernel = k})}) {
    expect_rows(c, 20, 400);
    EXPECT_NEAR(c.mmd, distance(k, X, c.rows, c.weights), 1e-7) << c.method;
    EXPECT_EQ(c.mmd_error, 0);
    EXPECT_LT(c.mmd, c.random_mmd) << c.method;
  }
}

TEST(Coresets, DistancesAreThoseOfTheTwoSampleStatistic) {
  const Matrix X = cloud(13, 300, 2);
  const Kernel k = kernels::gaussian(1.0);
  const Coreset c = squash(X, 15, {.kernel = k});
  MmdOptions weighted{.kernel = k, .statistic = MmdStatistic::b};
  weighted.weights_y = c.weights;
  EXPECT_NEAR(mmd(X, Matrix(X(c.rows, Eigen::all)), weighted).distance, c.mmd, 1e-7);
  const Matrix target = (0.6 * cloud(14, 100, 2)).array() + 0.5;
  const MeanMatching found = match_means(X, target, {.kernel = k});
  MmdOptions matched{.kernel = k, .statistic = MmdStatistic::b};
  matched.weights_x = found.weights;
  EXPECT_NEAR(mmd(X, target, matched).distance, found.mmd_after, 1e-7);
}

// E over subsets, by all of them.
TEST(Coresets, RandomSubsetsHaveTheStatedDistance) {
  const Matrix X = cloud(2, 7, 2);
  const Kernel k = kernels::laplacian(1.0);
  double sum = 0;
  int count = 0;
  for (Index a = 0; a < 7; ++a)
    for (Index b = a + 1; b < 7; ++b)
      for (Index c = b + 1; c < 7; ++c) {
        const double d = distance(k, X, {a, b, c}, Vector::Constant(3, 1.0 / 3));
        sum += d * d;
        ++count;
      }
  EXPECT_NEAR(herd(X, 3, {.kernel = k}).random_mmd, std::sqrt(sum / count), 1e-12);
}

TEST(Coresets, SquashIsTheBestOfItsAtoms) {
  const Matrix X = cloud(3, 500, 3);
  const Kernel k = kernels::gaussian(1.5);
  for (const Atoms atoms : {Atoms::automatic, Atoms::pivoted, Atoms::herded, Atoms::thinned, Atoms::random}) {
    const Coreset c = squash(X, 25, {.kernel = k, .atoms = atoms});
    expect_rows(c, 25, 500);
    const Matrix Z = X(c.rows, Eigen::all);
    const Vector g = gram(k, Z) * c.weights - gram(k, Z, X).rowwise().mean();
    const double level = g.dot(c.weights);  // the slope that weights above 0 share
    for (Index j = 0; j < 25; ++j) {
      EXPECT_GE(g[j], level - 1e-8) << name_of(atoms);
      if (c.weights[j] > 1e-9) {
        EXPECT_NEAR(g[j], level, 1e-8) << name_of(atoms);
      }
    }
    EXPECT_LT(c.mmd, c.random_mmd) << name_of(atoms);
    EXPECT_LT(c.gap, 1e-8);
  }
  const double both = squash(X, 25, {.kernel = k}).mmd;
  EXPECT_LE(both, squash(X, 25, {.kernel = k, .atoms = Atoms::pivoted}).mmd + 1e-12);
  EXPECT_LE(both, squash(X, 25, {.kernel = k, .atoms = Atoms::herded}).mmd + 1e-12);
}

// By hand: the row that makes the distance of t + 1 rows least, of those that are left.
TEST(Coresets, HerdingIsGreedy) {
  const Matrix X = cloud(4, 60, 2);
  for (const Kernel& k : {kernels::gaussian(1.0), kernels::polynomial(2)}) {
    const Coreset c = herd(X, 12, {.kernel = k});
    std::vector<Index> taken;
    for (Index t = 0; t < 12; ++t) {
      double least = std::numeric_limits<double>::infinity();
      Index best = -1;
      for (Index z = 0; z < 60; ++z) {
        if (std::find(taken.begin(), taken.end(), z) != taken.end()) continue;
        std::vector<Index> with = taken;
        with.push_back(z);
        const double d = distance(k, X, with, Vector::Constant(t + 1, 1.0 / static_cast<double>(t + 1)));
        if (d < least) {
          least = d;
          best = z;
        }
      }
      ASSERT_EQ(c.rows[static_cast<std::size_t>(t)], best) << k.text() << " step " << t;
      EXPECT_NEAR(c.path[t], least, 1e-7 * std::max(1.0, least));
      taken.push_back(best);
    }
  }
}

TEST(Coresets, ThinningBeatsRandomRowsOfEqualSize) {
  const Kernel k = kernels::gaussian(1.0);
  const Matrix X = cloud(5, 2048, 2);
  double mean = 0;
  double random = 0;
  double without_swaps = 0;
  constexpr int seeds = 10;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Coreset c = thin(X, 45, {.kernel = k, .seed = seed});
    mean += c.mmd / seeds;
    random += c.random_mmd / seeds;
    without_swaps += thin(X, 45, {.kernel = k, .swap_passes = 0, .seed = seed}).mmd / seeds;
  }
  EXPECT_LT(mean, 0.2 * random);
  EXPECT_LT(without_swaps, 0.6 * random);
  EXPECT_LT(mean, without_swaps);
}

TEST(Coresets, AnySizesFit) {
  const Kernel k = kernels::gaussian(1.0);
  const Matrix X = cloud(6, 600, 1);
  for (const Index n : {1, 2, 3, 5, 257, 600}) {
    const Matrix part = X.topRows(n);
    for (const Index m : {Index{1}, Index{3}, Index{16}, n / 2, n / 2 + 1, n - 1, n}) {
      if (m < 1 || m > n) continue;
      for (const Index g : {0, 4}) {
        const Coreset c = thin(part, m, {.kernel = k, .oversampling = g});
        expect_rows(c, m, n);
        EXPECT_TRUE(std::is_sorted(c.rows.begin(), c.rows.end()));
      }
      expect_rows(herd(part, m, {.kernel = k}), m, n);
      if (m < n) expect_rows(squash(part, m, {.kernel = k}), m, n);
    }
  }
  EXPECT_NEAR(thin(X, 600, {.kernel = k}).mmd, 0, 1e-7);
}

// Enough rows for blocks, and more wanted than one block holds at the end.
TEST(Coresets, ThinningInBlocks) {
  const Kernel k = kernels::gaussian(1.0);
  const Matrix X = cloud(7, 12000, 2);
  for (const Index m : {Index{40}, Index{110}, Index{1500}, Index{5000}}) {
    const Coreset c = thin(X, m, {.kernel = k, .oversampling = 1});
    expect_rows(c, m, 12000);
    EXPECT_LT(c.mmd, 0.35 * c.random_mmd) << m;
  }
  const stats::Thinned found = stats::thinned_rows(k, X, 110, {.kernel = k, .oversampling = 1});
  EXPECT_EQ(found.rounds, 6);
  EXPECT_EQ(found.taking_part, 110 << 6);
  EXPECT_TRUE(found.mean_of_all);
}

TEST(Coresets, ThreadsAndSeeds) {
  const Matrix X = cloud(8, 9000, 2);
  ThinOptions one{.kernel = kernels::gaussian(1.0), .oversampling = 2};
  one.run.threads = 1;
  ThinOptions two = one;
  two.run.threads = 2;
  const Coreset a = thin(X, 90, one);
  EXPECT_EQ(a.rows, thin(X, 90, two).rows);
  two.seed = 1;
  EXPECT_NE(a.rows, thin(X, 90, two).rows);
  HerdOptions h{.kernel = kernels::gaussian(1.0)};
  h.run.threads = 1;
  const Coreset b = herd(X, 30, h);
  h.run.threads = 2;
  EXPECT_EQ(b.rows, herd(X, 30, h).rows);
  SquashOptions s{.kernel = kernels::gaussian(1.0)};
  s.run.threads = 1;
  const Coreset c = squash(X, 30, s);
  s.run.threads = 2;
  const Coreset d = squash(X, 30, s);
  EXPECT_EQ(c.rows, d.rows);
  EXPECT_EQ(c.weights, d.weights);
}

TEST(Coresets, EstimatesAgreeWithExactDistances) {
  const Matrix X = cloud(9, 3000, 3);
  const Kernel k = kernels::gaussian(2.0);
  const Coreset exact = thin(X, 40, {.kernel = k, .swap_passes = 0, .measure = CoresetMeasure::exact});
  const Coreset estimate = thin(X, 40, {.kernel = k, .swap_passes = 0, .measure = CoresetMeasure::features});
  ASSERT_EQ(exact.rows, estimate.rows);
  EXPECT_GT(estimate.mmd_error, 0);
  EXPECT_NEAR(estimate.mmd, exact.mmd, 4 * estimate.mmd_error);
  EXPECT_NEAR(estimate.random_mmd, exact.random_mmd, 0.05 * exact.random_mmd);
  EXPECT_TRUE(std::isnan(thin(X, 40, {.kernel = k, .measure = CoresetMeasure::none}).mmd));
  EXPECT_THROW(thin(X, 40, {.kernel = kernels::linear(), .measure = CoresetMeasure::features}), InvalidArgument);
}

TEST(Coresets, ManyRowsHaveCandidates) {
  const Matrix X = cloud(10, 25000, 2);
  const Coreset c = herd(X, 30, {.kernel = kernels::gaussian(1.0)});
  expect_rows(c, 30, 25000);
  ASSERT_FALSE(c.remarks.empty());
  EXPECT_NE(c.remarks[0].find("20000 rows drawn at random were candidates"), std::string::npos);
  EXPECT_GT(c.mmd_error, 0);
  EXPECT_LT(c.mmd, 0.25 * c.random_mmd);
  EXPECT_EQ(c.path.size(), 0);
}

TEST(Coresets, GivenGramMatricesAndSparseRows) {
  const Matrix X = cloud(11, 300, 2);
  const Kernel k = kernels::gaussian(1.0);
  const Samples given = Samples::given_gram(gram(k, X));
  const Samples sparse(CsrMatrix<double>(X.sparseView()));
  EXPECT_EQ(herd(X, 20, {.kernel = k}).rows, herd(given, 20, {.kernel = kernels::precomputed()}).rows);
  const Coreset a = thin(X, 20, {.kernel = k});
  const Coreset b = thin(given, 20, {.kernel = kernels::precomputed()});
  EXPECT_NEAR(b.mmd, distance(k, X, b.rows, b.weights), 1e-7);
  EXPECT_LT(std::abs(a.mmd - b.mmd), 0.02);
  expect_rows(squash(given, 20, {.kernel = kernels::precomputed()}), 20, 300);
  expect_rows(thin(sparse, 20, {.kernel = k}), 20, 300);
  expect_rows(squash(sparse, 20, {.kernel = k}), 20, 300);
  expect_rows(thin(Samples(MatrixF(X.cast<float>())), 20, {.kernel = k}), 20, 300);
}

TEST(Coresets, DuplicatesAndConstantColumns) {
  Matrix X(200, 2);
  X << Matrix::Constant(100, 2, 0.0), Matrix::Constant(100, 2, 1.0);
  for (const Coreset& c : {squash(X, 4, {}), herd(X, 4, {}), thin(X, 4, {})}) {
    expect_rows(c, 4, 200);
    EXPECT_NEAR(c.mmd, 0, 1e-6) << c.method;
  }
  const Matrix same = Matrix::Constant(50, 3, 2.0);
  for (const Coreset& c : {squash(same, 4, {}), herd(same, 4, {}), thin(same, 4, {})}) {
    expect_rows(c, 4, 50);
    EXPECT_NEAR(c.mmd, 0, 1e-6) << c.method;
  }
}

TEST(Coresets, BadInputIsNamed) {
  const Matrix X = cloud(12, 10, 2);
  const auto message = [](auto&& call) {
    try {
      call();
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_NE(message([&] { squash(X, 10); }).find("trivial"), std::string::npos);
  EXPECT_NE(message([&] { squash(X, 0); }).find("at least 1 and at most 9"), std::string::npos);
  EXPECT_NE(message([&] { thin(X, 11); }).find("at most 10, as X has 10 rows; got 11"), std::string::npos);
  EXPECT_NE(message([&] { herd(X, -1); }).find("at least 1"), std::string::npos);
  EXPECT_NE(message([&] { herd(X, 5, {.candidates = 3}); }).find("candidates must be at least m = 5"), std::string::npos);
  EXPECT_NE(message([&] { thin(X, 2, {.oversampling = 11}); }).find("oversampling"), std::string::npos);
  EXPECT_NE(message([&] { thin(X, 2, {.failure = 0}); }).find("failure"), std::string::npos);
  EXPECT_NE(message([&] { thin(Matrix(0, 2), 1); }).find("no rows"), std::string::npos);
  EXPECT_NE(message([&] { herd(X, 2, {.kernel = kernels::sigmoid()}); }).find("not positive semi-definite"), std::string::npos);
}

TEST(Coresets, CanBeStopped) {
  const Matrix X = cloud(1, 3000, 2);
  const mercer::Run stopped{.progress = [](const ProgressEvent&) { return false; }};
  // On a thread of its own, whose first call of the callback comes at once.
  std::jthread([&] { EXPECT_THROW(herd(X, 100, {.run = stopped}), Cancelled); }).join();
  std::jthread([&] { EXPECT_THROW(thin(X, 50, {.run = stopped}), Cancelled); }).join();
  std::jthread([&] { EXPECT_THROW(squash(X, 50, {.run = stopped}), Cancelled); }).join();
}

}  // namespace
}  // namespace mercer

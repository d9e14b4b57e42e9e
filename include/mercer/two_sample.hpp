// Do two samples come from one distribution? The maximum mean discrepancy (MMD), the distance of their mean embeddings, and its tests.
//
//   MmdEstimate d = mmd(X, Y, {.kernel = kernels::gaussian(1.0)});
//   TestResult r = two_sample_test(X, Y, {.null = MmdNull::permutation, .permutations = 1000, .seed = 0});
//   std::puts(r.sentence.c_str());
//
// Statistics (all unscaled squared distances):
//   b       biased, |mu(X) - mu(Y)|^2 of the empirical embeddings (source K eq. 80)
//   u       unbiased, pairs of a row with itself left out of the within-sample sums (K eq. 81); may be negative
//   h       of equal sizes, pairs i = j left out of all three sums (source L); L's variance under the alternative (Th. 7) belongs to it
//   linear  mean of h over disjoint pairs of rows: one pass, n kernel values (K, L)
//   block   mean of u over disjoint blocks
// Nulls: what the statistic is compared with, and the statistics that they take, the automatic one first.
//   permutation  u b h     exchanges of rows between the samples; exact level. Every exchange and the observed labelling are vectors of one
//                          product; where there are no more labellings than permutations are asked for, all of them. h keeps its pairs:
//                          Exchange::pairs only
//   binned       u b       exchanges of whole bins of consecutive rows: one pass over K without products, exact level
//   wild         u b h     equal sizes: a random sign for each pair (x_i, y_i), which change places where it is -1: exact level for
//   independent
//                          rows; one sign for each block of pairs for series (Exchange::blocks). Unequal sizes (u only): random signs of
//                          the rows under the centred kernel, right in the limit
//   gamma        b         a gamma law of the right two moments
//   pearson      u         the Pearson curve of four moments, its type by them
//   spectral     u b       sum of lambda_i (eta_i^2 - 1), lambda the eigenvalues of the centred pooled Gram matrix divided by n + m
//   normal       linear block   central limit theorem: the mean of independent blocks, by Student's t
//   bound        b         distribution-free, by uniform convergence: never rejects too often, and seldom at all
// Cost: permutation and wild (n + m)^2 B flops, K never stored; binned, gamma, bound (n + m)^2 / 2 kernel values; pearson and spectral of
// order (n + m)^3 with K in memory; normal n kernel values (linear).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "mercer/exchange.hpp"
#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"
#include "mercer/test_result.hpp"

namespace mercer {

enum class MmdStatistic : std::uint8_t { automatic, u, b, h, linear, block };
enum class MmdNull : std::uint8_t { permutation, binned, wild, gamma, pearson, spectral, normal, bound };
// How kernel values are found: all of them, or through features of the pooled sample with a stated error.
enum class MmdMethod : std::uint8_t { exact, random_features, nystrom };

const char* name_of(MmdStatistic statistic);  // "mmd-u"
const char* name_of(MmdNull null);            // "permutation"

struct MmdOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());  // auto: the median distance of the pooled sample
  MmdStatistic statistic = MmdStatistic::automatic;                      // u
  Vector weights_x{};                                                    // of the rows, >= 0; empty: equal. For u and b
  Vector weights_y{};
  Index block_size = 0;  // of the block statistic; 0: the square root of the rows
  MmdMethod method = MmdMethod::exact;
  Index features = 0;      // of the approximations; 0: 1000
  std::uint64_t seed = 0;  // of the approximations
  Run run{};
};

struct MmdEstimate {
  double squared = 0;    // the statistic; below 0 is possible for all but b
  double distance = 0;   // sqrt(max(0, squared))
  double deviation = 0;  // standard error of `squared` under the alternative; NaN where there is none
  double error = 0;      // of an approximation: how far `squared` may be from the exact one; 0 when exact
  std::string error_statement{};
  std::string statistic_name{};
  std::string kernel{};
  Index n = 0;
  Index m = 0;
  double seconds = 0;
  std::string sentence{};
};

MmdEstimate mmd(const Samples& X, const Samples& Y, const MmdOptions& options = {});

struct TwoSampleOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  MmdStatistic statistic = MmdStatistic::automatic;  // the first in the table above
  MmdNull null = MmdNull::permutation;
  Index permutations = 1000;  // exchanges, signs or draws of the null
  ExchangeOptions exchange{};
  Index bins = 0;        // of the binned null, in all; 0: 100
  Index block_size = 0;  // of the block statistic
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};

// An explicit statistic that does not fit the null is an InvalidArgument that names those that do. A given Gram matrix of the pooled rows:
// X = Samples::given_gram(K).slice(0, n) and Y the rest, with kernels::precomputed().
TestResult two_sample_test(const Samples& X, const Samples& Y, const TwoSampleOptions& options = {});

// The level that a test really holds on data like these: the pooled sample is split at random into two parts as large as X and Y, again and
// again, where the null is true by construction, and rejections are counted. The splits are exchanges of the options' scheme, so that
// groups, pairs and blocks stay together; dependence that the scheme does not name is destroyed by the split and not seen.
struct LevelCheck {
  Index repetitions = 0;
  Index rejections = 0;
  double level = 0;  // nominal
  double rate = 0;   // rejections / repetitions
  double low = 0;    // 95 % Clopper-Pearson interval of the real level
  double high = 1;
  bool holds = true;  // the nominal level is not below the interval
  Vector p_values{};
  std::string sentence{};
};
LevelCheck level_check(const Samples& X, const Samples& Y, const TwoSampleOptions& options = {}, Index repetitions = 200);

// Power of the test by the normal law of the statistic under the alternative (L Th. 7), from a pilot sample: the threshold and the spread
// under the null go with 1/n, the spread under the alternative with 1/sqrt(n). mmd-u, mmd-b and mmd-h by the law of u; linear and
// block by the central limit theorem. As good as the pilot is: `low` and `high` are the power where the true MMD^2 is one standard error of
// the pilot below and above its estimate.
struct PowerEstimate {
  double squared = 0;    // of the pilot
  double deviation = 0;  // of the statistic at n rows a sample
  double threshold = 0;  // at n rows a sample
  Index n = 0;           // rows of each sample that the power is for
  double power = 0;
  double low = 0;
  double high = 1;
  Index needed = 0;  // rows of each sample for the wanted power; 0: the pilot shows no difference, so no number will do
  double wanted = 0.8;
  std::string sentence{};
};
// rows = 0: as many as the smaller of X and Y has.
PowerEstimate two_sample_power(const Samples& X, const Samples& Y, Index rows = 0, double wanted = 0.8,
                               const TwoSampleOptions& options = {});

}  // namespace mercer

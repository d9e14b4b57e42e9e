// Tests with many kernels at once, for when nobody knows the right length scale: a test with each kernel, one verdict of known level.
//
//   AggregatedResult r = mmd_aggregated_test(X, Y);       // do two samples come from one distribution?
//   AggregatedResult f = mmd_fuse_test(X, Y);             // the same question, kernels fused into one statistic
//   AggregatedResult h = hsic_aggregated_test(X, Y);      // are two variables independent?
//   for (const KernelVerdict& k : r.table) if (k.rejected) std::puts(k.kernel.c_str());
//
// Aggregated tests (MMDAgg: Schrab et al., JMLR 2023; HSICAgg: Schrab et al., NeurIPS 2022). B1 exchanges of rows give every kernel k a
// p-value p_k; the test rejects where p_k < u w_k for some k, w_k its weight. The level correction u is the largest that rejects at most
// level of B2 further exchanges: at least the level (Bonferroni), and larger the more the kernels agree. The adjusted p-value is the
// smallest level at which the test rejects.
//
// FUSE (Biggs, Schrab, Gretton, NeurIPS 2023): statistic (1/lambda) log mean_k exp(lambda mmd-u_k / sqrt N_k), a soft maximum over kernels,
// N_k = 1/(r (r-1)) sum_{i != j} k(z_i, z_j)^2 over the pooled sample, r the rows of the smaller sample; its null by exchanges.
//
// Levels are exact for every number of rows, kernels and exchanges: what the kernels and their length scales look at (the pooled sample)
// does not change when rows are exchanged. Cost: (n+m)^2 B flops for each kernel in float32, every tile of kernel values made once for all
// B exchanges, distances once for all length scales; memory (n+m) B numbers. Results do not depend on the number of threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mercer/exchange.hpp"
#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"
#include "mercer/test_result.hpp"

namespace mercer {

// What one kernel, or one pair of kernels, says.
struct KernelVerdict {
  std::string kernel{};
  std::string kernel_y{};  // of pairs that of Y
  double weight = 0;
  double statistic = 0;  // in float64
  double threshold =
      0;               // a statistic above it is a rejection by this kernel, within the test of all; of FUSE in the test of this one alone
  double p_value = 1;  // of this kernel alone, as if there were no others
  double level = 0;    // u w_k: this kernel rejects where its p-value is below; of FUSE the test's level
  bool rejected = false;
};

struct AggregatedResult : TestResult {
  std::vector<KernelVerdict> table{};  // one row a kernel, in the order of `kernels`
  // u, by which weights are multiplied to give each kernel's level; of FUSE NaN.
  double correction = 0;
  std::vector<std::string> rejecting() const;  // the kernels that reject, the one with the smallest p-value over weight first
};

// How the weight goes with the length scale, within what one kernel with an automatic length scale stands for.
enum class KernelWeights : std::uint8_t { uniform, increasing, decreasing, centred };

const char* name_of(KernelWeights weights);  // "uniform"

struct MmdAggregatedOptions {
  // A kernel with an automatic length scale stands for `bandwidths` of them, from half the 5 % quantile of the pooled sample's distances to
  // twice the 95 % quantile, in equal ratios. Empty: laplacian(auto, l1) and gaussian(auto).
  std::vector<Kernel> kernels{};
  Index bandwidths = 10;
  KernelWeights weighting = KernelWeights::uniform;
  Vector weights{};                 // one for each kernel in the end, > 0, scaled to sum 1; empty: by `weighting`
  Index permutations = 2000;        // B1, for the p-values of the kernels
  Index level_permutations = 2000;  // B2, for the level of them all
  ExchangeOptions exchange{};       // pairs is the wild bootstrap; every scheme is exact where its exchanges leave the null as it is
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};
AggregatedResult mmd_aggregated_test(const Samples& X, const Samples& Y, const MmdAggregatedOptions& options = {});

struct MmdFuseOptions {
  std::vector<Kernel> kernels{};  // as above
  Index bandwidths = 10;
  double lambda = 0;  // of the soft maximum: large is the largest, small the mean; 0: sqrt(r (r-1))
  Index permutations = 2000;
  ExchangeOptions exchange{};
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};
AggregatedResult mmd_fuse_test(const Samples& X, const Samples& Y, const MmdFuseOptions& options = {});

struct HsicAggregatedOptions {
  std::vector<Kernel> kernels_x{};  // all pairs of a kernel of X and one of Y; automatic length scales as above, of X and Y each by itself
  std::vector<Kernel> kernels_y{};  // empty: gaussian(auto)
  Index bandwidths = 5;
  KernelWeights weighting = KernelWeights::uniform;  // products of the weights of both kernels
  Vector weights{};                                  // one for each pair, those of the first kernel of X first
  Index permutations = 1000;
  Index level_permutations = 1000;
  ExchangeOptions exchange{};  // of the rows of Y; all schemes but pairs
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};
AggregatedResult hsic_aggregated_test(const Samples& X, const Samples& Y, const HsicAggregatedOptions& options = {});

// The kernels that `kernels` stand for on X: those with automatic length scales as often as `bandwidths` says, the others as they are.
std::vector<Kernel> with_bandwidths(const std::vector<Kernel>& kernels, const Samples& X, Index bandwidths = 10);

}  // namespace mercer

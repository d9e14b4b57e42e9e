// Do several samples come from one distribution? The k-sample test by kernel mean embeddings, and which pairs of samples differ.
//
//   KSampleResult r = k_sample_test({A, B, C}, {.permutations = 1000, .seed = 0});
//   KSampleResult s = k_sample_test(X, labels);                // one sample with a label for each row
//   for (const KSamplePair& pair : r.pairs) ...                // every two samples, p-values adjusted by Holm
//
// Statistic: between = sum_g (n_g / N) |mu_g - mu|^2, the scatter of the mean embeddings mu_g of the k samples around the pooled mean mu,
// N = n_1 + ... + n_k. It is the part of the total scatter (1/N) sum_i |phi(x_i) - mu|^2 that the samples explain; with two samples it is
// (n m / N^2) mmd-b, and sum_{g<h} (n_g n_h / N^2) |mu_g - mu_h|^2 with any number. With the kernel -|x - y| in place of k it is the
// statistic of DISCO, with a linear one that of an analysis of variance.
// Null: labels are exchanged; under the null every labelling is equally likely, so the level is exact for every sample size. All exchanges
// are vectors of one pass over the Gram tiles: statistic = sum_g u_g'K u_g with u_g = sqrt(n_g / N) (1_g / n_g - 1 / N), N^2 (k - 1) B
// flops for B exchanges and no N x N matrix. The pairs follow by two-sample permutation tests of mmd-b within each pair, adjusted by Holm:
// the chance of one or more false differences is at most the level, whichever samples are equal. References: Gretton et al., A kernel
// two-sample test (JMLR 13, 2012); Rizzo and Szekely, DISCO analysis (Annals of Applied Statistics 4, 2010); Holm, A simple sequentially
// rejective multiple test procedure (1979). SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "mercer/exchange.hpp"
#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"
#include "mercer/test_result.hpp"

namespace mercer {

struct KSampleOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());  // auto: the median distance of the pooled sample
  Index permutations = 1000;
  ExchangeOptions exchange{};        // free, or within_groups (strata); groups of the pooled rows, sample after sample
  bool pairwise = true;              // the follow-up of every two samples
  std::vector<std::string> names{};  // of the samples, for sentences; empty: their labels
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};

// Two of the samples, by their place (or, of labels, by the place of the label in `labels`).
struct KSamplePair {
  Index first = 0;
  Index second = 0;
  double squared = 0;   // mmd-b
  double p_value = 1;   // of this pair alone
  double adjusted = 1;  // by Holm, over all pairs
  bool rejected = false;
};

struct KSampleResult : TestResult {
  std::vector<Index> labels{};  // 0 .. k-1, or the labels that were given, ascending
  std::vector<Index> sizes{};
  std::vector<KSamplePair> pairs{};  // (0, 1), (0, 2), ..., empty without the follow-up
};

KSampleResult k_sample_test(const std::vector<Samples>& samples, const KSampleOptions& options = {});
// One label for each row of X; of the kernel `precomputed` X is the Gram matrix of the pooled rows.
KSampleResult k_sample_test(const Samples& X, const std::vector<Index>& labels, const KSampleOptions& options = {});

}  // namespace mercer

// The kernels of an aggregated test: length scales for those that have automatic ones, and weights.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include "mercer/aggregated_tests.hpp"

namespace mercer::stats {

// Kernels in the order of their families: what one given kernel stands for, by rising length scale.
struct KernelCollection {
  std::vector<Kernel> kernels{};
  std::vector<Index> families{};  // how many kernels each given one stands for

  std::vector<std::string> texts() const;
};

// What two-sample tests take where no kernels are given: laplacian(auto, l1) and gaussian(auto).
std::vector<Kernel> two_sample_kernels();

// `name` is that of the option, for messages.
KernelCollection collect(const std::vector<Kernel>& given, const std::vector<Kernel>& otherwise, const Samples& X, Index bandwidths,
                         std::string_view name);

// Sum 1. Each family gets the same share, and shares it among its kernels as the word says.
Vector weights_of(const KernelCollection& collection, KernelWeights weighting);
// The given ones, scaled to sum 1; throws InvalidArgument unless they are `count` finite numbers > 0.
Vector scaled_weights(const Vector& given, Index count);

// Sets result.exact: whether the scheme leaves the null exactly as it is; and says so in words.
std::string level_words(TestResult& result, Exchange scheme);

// Says in the remarks that none of the kernels is known to see everything, where that is so.
void remark_on_kernels(TestResult& result, const std::vector<Kernel>& kernels, const Samples& X, std::string_view what);

}  // namespace mercer::stats

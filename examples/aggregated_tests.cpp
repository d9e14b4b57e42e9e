// Two samples whose difference no single length scale is known for: tests with many kernels, and which of them reject.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  mercer::RandomStream random(0);
  const mercer::Matrix X = random.normal_matrix(150, 2);
  mercer::Matrix Y = random.normal_matrix(120, 2);
  Y.col(0) += 1.5 * Y.col(1);  // columns that hang together

  const mercer::AggregatedResult result = mercer::mmd_aggregated_test(X, Y, {.permutations = 500, .level_permutations = 500});
  std::printf("%s\n", result.sentence.c_str());
  for (const std::string& kernel : result.rejecting()) std::printf("  %s\n", kernel.c_str());

  const mercer::AggregatedResult fused = mercer::mmd_fuse_test(X, Y, {.permutations = 500});
  std::printf("%s\n", fused.sentence.c_str());
  return result.rejected && fused.rejected ? 0 : 1;
}

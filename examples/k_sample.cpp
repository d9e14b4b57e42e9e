// Four machines make the same part: do they make it alike, and which does not? SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  std::vector<mercer::Samples> machines;
  for (std::uint64_t m = 0; m < 4; ++m) {
    mercer::Matrix parts = mercer::RandomStream(7, m).normal_matrix(60, 2);
    if (m == 2) parts *= 1.8;  // the same means, more spread
    machines.emplace_back(parts);
  }
  const auto result = mercer::k_sample_test(machines);
  std::printf("%s\n", result.sentence.c_str());
  for (const auto& pair : result.pairs)
    std::printf("  %td and %td: mmd-b %.4f, adjusted p %.3f%s\n", pair.first, pair.second, pair.squared, pair.adjusted,
                pair.rejected ? ", differ" : "");
  return result.rejected ? 0 : 1;
}

// Random streams keyed by (seed, stream): the same bits for any number of threads, because a worker
// asks for the stream of its block instead of sharing a generator. Philox 4x64, counter based (Random123). Integers and uniform
// numbers are the same bits everywhere; normal ones may differ in the last bit between C libraries.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

// A standard uniform random bit generator, so <random> and std::shuffle accept it; our own draws below are used instead
// because the standard leaves its distributions' bits open.
class RandomStream {
 public:
  using result_type = std::uint64_t;

  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0) : key_{seed, stream} {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()();

  double uniform();  // in [0, 1), 53 bits
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal();                              // standard normal, Box-Muller
  Index below(Index n);                         // uniform on 0 .. n-1, unbiased
  std::vector<Index> permutation(Index n);      // Fisher-Yates
  std::vector<Index> sample(Index n, Index k);  // k of n without replacement, in random order
  Matrix normal_matrix(Index rows, Index cols);

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (Index i = static_cast<Index>(items.size()) - 1; i > 0; --i) {
      std::swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(below(i + 1))]);
    }
  }

 private:
  std::array<std::uint64_t, 2> key_;
  std::uint64_t counter_ = 0;
  std::array<std::uint64_t, 4> block_{};
  int used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace mercer

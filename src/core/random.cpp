// Philox 4x64-10: a keyed bijection of a counter, so a stream is a key and needs no state beyond how far it was read.
// Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <unordered_map>

#include "mercer/error.hpp"

namespace mercer {

namespace {
__extension__ using Uint128 = unsigned __int128;
}

RandomStream::result_type RandomStream::operator()() {
  if (used_ == 4) {
    const r123::Philox4x64::ctr_type counter{{counter_++, 0, 0, 0}};
    const r123::Philox4x64::key_type key{{key_[0], key_[1]}};
    const auto bits = r123::Philox4x64{}(counter, key);
    for (std::size_t i = 0; i < 4; ++i) block_[i] = bits[i];
    used_ = 0;
  }
  return block_[static_cast<std::size_t>(used_++)];
}

double RandomStream::uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // 1 - u is in (0, 1], so the logarithm is finite
  const double angle = 2 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

Index RandomStream::below(Index n) {
  if (n <= 0) throw InvalidArgument("below(n) needs n >= 1, got " + std::to_string(n));
  // Lemire's method: multiply into 128 bits, reject the few low words that would favour small answers.
  const auto range = static_cast<std::uint64_t>(n);
  auto wide = static_cast<Uint128>((*this)()) * range;
  if (static_cast<std::uint64_t>(wide) < range) {
    const std::uint64_t threshold = (0 - range) % range;
    while (static_cast<std::uint64_t>(wide) < threshold) wide = static_cast<Uint128>((*this)()) * range;
  }
  return static_cast<Index>(wide >> 64);
}

std::vector<Index> RandomStream::permutation(Index n) {
  if (n < 0) throw InvalidArgument("permutation(n) needs n >= 0, got " + std::to_string(n));
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  shuffle(order);
  return order;
}

std::vector<Index> RandomStream::sample(Index n, Index k) {
  if (k < 0 || k > n) throw InvalidArgument("cannot draw " + std::to_string(k) + " of " + std::to_string(n) + " without replacement");
  // Fisher-Yates on a virtual 0 .. n-1 of which only the touched places are kept: O(k) even when n is huge.
  std::unordered_map<Index, Index> moved;
  const auto at = [&](Index i) {
    const auto it = moved.find(i);
    return it == moved.end() ? i : it->second;
  };
  std::vector<Index> drawn;
  drawn.reserve(static_cast<std::size_t>(k));
  for (Index i = 0; i < k; ++i) {
    const Index j = i + below(n - i);
    drawn.push_back(at(j));
    moved[j] = at(i);
  }
  return drawn;
}

Matrix RandomStream::normal_matrix(Index rows, Index cols) {
  Matrix values(rows, cols);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = normal();
  return values;
}

}  // namespace mercer

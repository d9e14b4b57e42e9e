// Exact names of tuples of letters: numbers that are equal if and only if the tuples are.
//
// Where all tuples of an alphabet of A letters fit 64 bits, the name is the tuple read as a number in base A. Else names are handed out one
// by one: a tuple is the name of its beginning and a last letter, a pair that does fit 64 bits, and pairs are looked up in a table that
// compares them whole. Nothing is hashed down to fewer bits, so that two features never fall together.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mercer/error.hpp"

namespace mercer::objects {

// base^exponent where that is below 2^63.
inline std::optional<std::uint64_t> small_power(std::uint64_t base, std::uint64_t exponent) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 63U;
  std::uint64_t power = 1;
  if (base <= 1) return exponent == 0 ? 1 : base;
  for (std::uint64_t i = 0; i < exponent; ++i) {  // ends after 63 steps at most
    if (power > (limit - 1) / base) return std::nullopt;
    power *= base;
  }
  return power;
}

// Names of pairs, in the order in which they are first met; numbers below `reserved` are never given (they name single letters).
class PairNames {
 public:
  explicit PairNames(std::uint64_t reserved) : next_(static_cast<std::uint32_t>(reserved)) {}

  std::uint32_t of(std::uint64_t first, std::uint64_t second) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    const std::uint64_t pair = first << 32U | second;
    Slot& slot = slots_[find(pair)];
    if (slot.name == free) {
      if (next_ >= free - 1) throw OverBudget("strings have more than 4294967294 different parts; take fewer or shorter strings");
      slot = {pair, next_++};
      ++count_;
    }
    return slot.name;
  }

 private:
  static constexpr std::uint32_t free = 0xFFFFFFFFU;
  struct Slot {
    std::uint64_t pair = 0;
    std::uint32_t name = free;
  };

  std::size_t find(std::uint64_t pair) const {  // where it is, or where it belongs
    const std::uint64_t mixed = (pair ^ pair >> 29U) * 0x9E3779B97F4A7C15U;
    std::size_t i = (mixed ^ mixed >> 32U) & (slots_.size() - 1);
    while (slots_[i].name != free && slots_[i].pair != pair) i = (i + 1) & (slots_.size() - 1);
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
    std::swap(old, slots_);
    for (const Slot& slot : old) {
      if (slot.name != free) slots_[find(slot.pair)] = slot;
    }
  }

  std::vector<Slot> slots_{};
  std::size_t count_ = 0;
  std::uint32_t next_;
};

}  // namespace mercer::objects

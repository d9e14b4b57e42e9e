// The common decimal number, [-]digits[.digits] with at most 19 digits, without a branch that depends on the digits: eight characters at
// a time are tested and converted inside a 64-bit word, so the random lengths and signs of real data cost no mispredicted branches.
// A short decimal m / 10^k becomes a double by one division of two exact numbers (Clinger 1990), a long one by fast_float's Eisel-Lemire
// step: the same double as strtod in every case. Anything else (exponents, more digits, words) is left to read_number.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fast_float/fast_float.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace mercer {

// Bytes that must be readable from the start of a number on.
inline constexpr std::ptrdiff_t fast_number_reach = 48;

// Bit i is set where at[i] == byte, for 64 bytes.
inline std::uint64_t find_in_64(const char* at, char byte) {
  std::uint64_t found = 0;
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(byte);
  for (int k = 0; k < 4; ++k) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + k);
    found |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)))) << (16 * k);
  }
#else
  for (int k = 0; k < 64; ++k) found |= static_cast<std::uint64_t>(at[k] == byte) << k;
#endif
  return found;
}

// The places of a byte in [first, last), one after the other, then `last`. Up to 64 bytes from `last` on must be readable.
// Knowing where the next field begins before this one is parsed lets the processor work on several at once.
class PlaceFinder {
 public:
  PlaceFinder(const char* first, const char* last, char byte) : block_(first), last_(last), found_(find_in_64(first, byte)), byte_(byte) {}

  const char* next() {
    while (found_ == 0) {
      block_ += 64;
      if (block_ >= last_) return last_;
      found_ = find_in_64(block_, byte_);
    }
    const char* place = block_ + std::countr_zero(found_);
    found_ &= found_ - 1;
    return place < last_ ? place : last_;
  }

 private:
  const char* block_;
  const char* last_;
  std::uint64_t found_;
  char byte_;
};

namespace fast_number_detail {

inline constexpr std::array<double, 9> exact_powers{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
inline constexpr std::array<std::uint64_t, 9> whole_powers{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// The first `count` characters at `at` (1 to 8) as digits: a word of their values, zeros before them. What is no digit has a byte above 9.
inline std::uint64_t load_digits(const char* at, std::ptrdiff_t count) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  return (word ^ 0x3030303030303030ULL) << (64 - 8 * count);
}

// The same for at most 3 characters, perhaps none.
inline std::uint32_t load_few_digits(const char* at, std::ptrdiff_t count) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, 4);
  return static_cast<std::uint32_t>(std::uint64_t{word ^ 0x30303030U} << (32 - 8 * count));
}

// Not 0 if a byte is above 9 (only whether, not which: carries may spoil the bytes behind).
inline std::uint64_t not_digits(std::uint64_t word) { return ((word + 0x7676767676767676ULL) | word) & 0x8080808080808080ULL; }

inline std::uint64_t number_of(std::uint64_t digits) {
  digits = digits * 10 + (digits >> 8);  // pairs
  return ((digits & 0x000000FF000000FFULL) * 0x000F424000000064ULL + ((digits >> 16) & 0x000000FF000000FFULL) * 0x0000271000000001ULL) >>
         32;
}

inline std::uint64_t number_of_few(std::uint32_t digits) {
  digits = digits * 10 + (digits >> 8);
  return (digits & 0xFF) * 100 + ((digits >> 16) & 0xFF);
}

// m / 10^places, correctly rounded, for m < 2^64; false: too near a tie to be decided here.
inline bool scale_down(std::uint64_t m, std::ptrdiff_t places, double& value) {
  const auto nearest = fast_float::compute_float<fast_float::binary_format<double>>(-static_cast<std::int64_t>(places), m);
  value = std::bit_cast<double>(nearest.mantissa | static_cast<std::uint64_t>(nearest.power2) << 52);
  return nearest.power2 >= 0;
}

}  // namespace fast_number_detail

// The whole of [first, last) as a number; false: not of this simple form (it may still be a number).
// At least fast_number_reach bytes must be readable from `first` on.
inline bool read_fast_number(const char* first, const char* last, double& value) {
  namespace detail = fast_number_detail;
  static_assert(std::endian::native == std::endian::little);
  const bool negative = *first == '-';
  first += negative ? 1 : 0;
  std::uint64_t whole = static_cast<unsigned char>(*first) - std::uint64_t{'0'};
  std::uint64_t wrong = whole > 9 ? 1 : 0;
  std::ptrdiff_t before = 1;
  if (first[1] != '.') {  // one digit before the point is by far the most common: a predicted branch spares the search for its end
    std::uint64_t word = 0;
    std::memcpy(&word, first, 8);
    before = std::countr_zero(detail::not_digits(word ^ 0x3030303030303030ULL)) / 8;  // the first byte above 9 is found rightly
    if (before == 0) return false;
    whole = detail::number_of(detail::load_digits(first, before));
  }
  first += before;
  double magnitude = 0;
  if (first == last) {
    magnitude = static_cast<double>(static_cast<std::int64_t>(whole));
  } else {
    const std::ptrdiff_t places = last - ++first;
    if (first[-1] != '.' || static_cast<std::size_t>(places) - 1 >= 19) return false;  // an empty field may give less than 0
    if (places <= 8) {  // at most 16 digits, of which a double holds 15 for sure
      const std::uint64_t digits = detail::load_digits(first, places);
      wrong |= detail::not_digits(digits);
      const std::uint64_t mantissa = whole * detail::whole_powers[static_cast<std::size_t>(places)] + detail::number_of(digits);
      if (mantissa >> 53 != 0) return false;
      magnitude = static_cast<double>(static_cast<std::int64_t>(mantissa)) / detail::exact_powers[static_cast<std::size_t>(places)];
    } else {
      // Always three words, though the last is often empty: whether it is cannot be predicted in numbers of full precision.
      const std::ptrdiff_t second = places < 16 ? places - 8 : 8;
      const std::ptrdiff_t third = places - 8 - second;
      const std::uint64_t a = detail::load_digits(first, 8);
      const std::uint64_t b = detail::load_digits(first + 8, second);
      const std::uint32_t c = detail::load_few_digits(first + 16, third);
      wrong |= detail::not_digits(a) | detail::not_digits(b) | detail::not_digits(c);
      // 19 digits always fit 64 bits, and a lone 0 before the point is none.
      if (places + before > 19 && (whole != 0 || places > 19)) return false;
      const std::uint64_t mantissa =
          ((whole * 100000000 + detail::number_of(a)) * detail::whole_powers[static_cast<std::size_t>(second)] + detail::number_of(b)) *
              detail::whole_powers[static_cast<std::size_t>(third)] +
          detail::number_of_few(c);
      if (!detail::scale_down(mantissa, places, magnitude)) return false;
    }
  }
  if (wrong != 0) return false;
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | static_cast<std::uint64_t>(negative) << 63);
  return true;
}

}  // namespace mercer

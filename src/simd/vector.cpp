// Tile operations over Google Highway: this file is compiled once per instruction set by foreach_target.h.
// NaN never reaches exp because data is checked where it enters.
// SPDX-License-Identifier: BSD-3-Clause
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/vector.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/cache_control.h>
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <iterator>
#include <limits>

#include "simd/vector.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using V = hn::Vec<D>;

// Calls body(d, j, lanes...) over [0, n): full vectors of d, then the rest one number at a time by a 1-lane tag.
template <class T, class F>
HWY_INLINE void for_vectors(Index n, F&& body) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index j = 0;
  for (; j + lanes <= n; j += lanes) body(d, j);
  const hn::CappedTag<T, 1> one;
  for (; j < n; ++j) body(one, j);
}

struct SquaredDifference {
  template <class D>
  static HWY_INLINE V<D> add(D, V<D> sum, V<D> a, V<D> b) {
    const auto difference = hn::Sub(a, b);
    return hn::MulAdd(difference, difference, sum);
  }
};

struct AbsoluteDifference {
  template <class D>
  static HWY_INLINE V<D> add(D, V<D> sum, V<D> a, V<D> b) {
    return hn::Add(sum, hn::Abs(hn::Sub(a, b)));
  }
};

struct Chi2Difference {
  template <class D>
  static HWY_INLINE V<D> add(D d, V<D> sum, V<D> a, V<D> b) {
    const auto difference = hn::Sub(a, b);
    const auto total = hn::Max(hn::Add(a, b), hn::Set(d, std::numeric_limits<hn::TFromD<D>>::min()));  // 0/tiny where both are 0
    return hn::Add(sum, hn::Div(hn::Mul(difference, difference), total));
  }
};

struct Minimum {
  template <class D>
  static HWY_INLINE V<D> add(D, V<D> sum, V<D> a, V<D> b) {
    return hn::Add(sum, hn::Min(a, b));
  }
};

// Four rows against two vectors of columns at a time: eight sums in registers, each load of b used four times.
template <class Op, class T>
void distances(const T* HWY_RESTRICT a, Index a_stride, const T* HWY_RESTRICT b, Index b_stride, Index depth, Tile<T> out) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index rows4 = out.rows / 4 * 4;
  Index j = 0;
  for (; j + 2 * lanes <= out.cols; j += 2 * lanes) {
    for (Index i = 0; i < rows4; i += 4) {
      const T* a0 = a + i * a_stride;
      const T* a1 = a0 + a_stride;
      const T* a2 = a1 + a_stride;
      const T* a3 = a2 + a_stride;
      auto s00 = hn::Zero(d), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00, s30 = s00, s31 = s00;
      for (Index k = 0; k < depth; ++k) {
        const auto b0 = hn::LoadU(d, b + k * b_stride + j);
        const auto b1 = hn::LoadU(d, b + k * b_stride + j + lanes);
        const auto v0 = hn::Set(d, a0[k]), v1 = hn::Set(d, a1[k]), v2 = hn::Set(d, a2[k]), v3 = hn::Set(d, a3[k]);
        s00 = Op::add(d, s00, v0, b0);
        s01 = Op::add(d, s01, v0, b1);
        s10 = Op::add(d, s10, v1, b0);
        s11 = Op::add(d, s11, v1, b1);
        s20 = Op::add(d, s20, v2, b0);
        s21 = Op::add(d, s21, v2, b1);
        s30 = Op::add(d, s30, v3, b0);
        s31 = Op::add(d, s31, v3, b1);
      }
      hn::StoreU(s00, d, out.row(i) + j);
      hn::StoreU(s01, d, out.row(i) + j + lanes);
      hn::StoreU(s10, d, out.row(i + 1) + j);
      hn::StoreU(s11, d, out.row(i + 1) + j + lanes);
      hn::StoreU(s20, d, out.row(i + 2) + j);
      hn::StoreU(s21, d, out.row(i + 2) + j + lanes);
      hn::StoreU(s30, d, out.row(i + 3) + j);
      hn::StoreU(s31, d, out.row(i + 3) + j + lanes);
    }
  }
  // What is left: the last columns of the first rows, then the last rows whole. Same order of additions, so the same bits.
  const auto plain = [&](Index i, Index first) {
    const T* row = a + i * a_stride;
    for (; first + 8 * lanes <= out.cols; first += 8 * lanes) {  // eight sums at a time: one alone would wait for its own additions
      auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
      for (Index k = 0; k < depth; ++k) {
        const T* from = b + k * b_stride + first;
        const auto v = hn::Set(d, row[k]);
        s0 = Op::add(d, s0, v, hn::LoadU(d, from));
        s1 = Op::add(d, s1, v, hn::LoadU(d, from + lanes));
        s2 = Op::add(d, s2, v, hn::LoadU(d, from + 2 * lanes));
        s3 = Op::add(d, s3, v, hn::LoadU(d, from + 3 * lanes));
        s4 = Op::add(d, s4, v, hn::LoadU(d, from + 4 * lanes));
        s5 = Op::add(d, s5, v, hn::LoadU(d, from + 5 * lanes));
        s6 = Op::add(d, s6, v, hn::LoadU(d, from + 6 * lanes));
        s7 = Op::add(d, s7, v, hn::LoadU(d, from + 7 * lanes));
      }
      T* to = out.row(i) + first;
      hn::StoreU(s0, d, to);
      hn::StoreU(s1, d, to + lanes);
      hn::StoreU(s2, d, to + 2 * lanes);
      hn::StoreU(s3, d, to + 3 * lanes);
      hn::StoreU(s4, d, to + 4 * lanes);
      hn::StoreU(s5, d, to + 5 * lanes);
      hn::StoreU(s6, d, to + 6 * lanes);
      hn::StoreU(s7, d, to + 7 * lanes);
    }
    for_vectors<T>(out.cols - first, [&](auto tag, Index jj) {
      auto sum = hn::Zero(tag);
      for (Index k = 0; k < depth; ++k) {
        sum = Op::add(tag, sum, hn::Set(tag, a[i * a_stride + k]), hn::LoadU(tag, b + k * b_stride + first + jj));
      }
      hn::StoreU(sum, tag, out.row(i) + first + jj);
    });
  };
  if (j < out.cols) {
    for (Index i = 0; i < rows4; ++i) plain(i, j);
  }
  for (Index i = rows4; i < out.rows; ++i) plain(i, 0);
}

template <class T>
bool distances_from_dots(Tile<T> tile, const T* HWY_RESTRICT a_norms, const T* HWY_RESTRICT b_norms, T threshold) {
  const hn::ScalableTag<T> d;
  auto any = hn::FirstN(d, 0);
  bool near = false;
  for (Index i = 0; i < tile.rows; ++i) {
    T* HWY_RESTRICT row = tile.row(i);
    for_vectors<T>(tile.cols, [&](auto tag, Index j) {
      const auto norms = hn::Add(hn::Set(tag, a_norms[i]), hn::LoadU(tag, b_norms + j));
      const auto distance = hn::NegMulAdd(hn::Set(tag, T{2}), hn::LoadU(tag, row + j), norms);
      const auto below = hn::Lt(distance, hn::Mul(hn::Set(tag, threshold), norms));
      if constexpr (std::is_same_v<decltype(tag), hn::ScalableTag<T>>) {
        any = hn::Or(any, below);
      } else {
        near = near || !hn::AllFalse(tag, below);
      }
      hn::StoreU(hn::Max(distance, hn::Zero(tag)), tag, row + j);
    });
  }
  return near || !hn::AllFalse(d, any);
}

// exp(x) = 2^n exp(r), |r| <= ln 2 / 2: exp(r) = 1 + r + r^2 q(r) with q from Chebyshev nodes (relative error 2e-17, in float 1e-8), and
// 2^n added to the exponent's bits. Half the work of Highway's, which serves results that are subnormal or 0. What a lane gets does not
// depend on its neighbours.
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<double> {
  static constexpr double lowest = -708, highest = 709.782712893384;  // where the result is a normal number
  static constexpr double log2_e = 0x1.71547652b82fep+0, ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
  static constexpr double round_to_whole = 0x1.8p52;  // added to a number, its last bits are the whole number next to it
  static constexpr int mantissa_bits = 52;
  static constexpr double q[] = {0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d68p-5,  0x1.11111111109b5p-7,
                                 0x1.6c16c17889ef1p-10, 0x1.a01a01a7c2efep-13, 0x1.a019b9149a41cp-16, 0x1.71de0db2f6b19p-19,
                                 0x1.28917c89a43a7p-22, 0x1.af389ecfc4b9cp-26};
};
template <>
struct ExpConstants<float> {
  static constexpr float lowest = -87, highest = 88.7228F;
  static constexpr float log2_e = 0x1.715476p+0F, ln2_high = 0x1.62e4p-1F, ln2_low = 0x1.7f7d1cp-20F;
  static constexpr float round_to_whole = 0x1.8p23F;
  static constexpr int mantissa_bits = 23;
  static constexpr float q[] = {0x1p-1F, 0x1.5554dep-3F, 0x1.55551ap-5F, 0x1.120b62p-7F, 0x1.6d10fcp-10F};
};

template <class D>
HWY_INLINE V<D> exp(D d, V<D> x) {
  using C = ExpConstants<hn::TFromD<D>>;
  const hn::RebindToSigned<D> bits;
  const auto shifted = hn::MulAdd(x, hn::Set(d, C::log2_e), hn::Set(d, C::round_to_whole));
  const auto n = hn::Sub(shifted, hn::Set(d, C::round_to_whole));
  const auto r = hn::NegMulAdd(n, hn::Set(d, C::ln2_low), hn::NegMulAdd(n, hn::Set(d, C::ln2_high), x));
  constexpr auto terms = static_cast<int>(std::size(C::q));
  auto q = hn::Set(d, C::q[terms - 1]);
  for (int k = terms - 2; k >= 0; --k) q = hn::MulAdd(q, r, hn::Set(d, C::q[k]));
  const auto y = hn::Add(hn::MulAdd(hn::Mul(r, r), q, r), hn::Set(d, hn::TFromD<D>{1}));
  const auto scaled = hn::BitCast(d, hn::Add(hn::BitCast(bits, y), hn::ShiftLeft<C::mantissa_bits>(hn::BitCast(bits, shifted))));
  const auto high = hn::Gt(x, hn::Set(d, C::highest));
  const auto extraordinary = hn::Or(high, hn::Lt(x, hn::Set(d, C::lowest)));
  if (HWY_LIKELY(hn::AllFalse(d, extraordinary))) return scaled;
  return hn::IfThenElse(extraordinary, hn::IfThenElse(high, hn::Inf(d), hn::Exp(d, x)), scaled);
}

template <class T>
void exp_of(T* x, Index n, T factor) {
  for_vectors<T>(n, [&](auto tag, Index j) { hn::StoreU(exp(tag, hn::Mul(hn::Set(tag, factor), hn::LoadU(tag, x + j))), tag, x + j); });
}

template <class T>
void exp_of_root(T* x, Index n, T factor) {
  for_vectors<T>(
      n, [&](auto tag, Index j) { hn::StoreU(exp(tag, hn::Mul(hn::Set(tag, factor), hn::Sqrt(hn::LoadU(tag, x + j)))), tag, x + j); });
}

template <class T>
void power_of(T* x, Index n, T scale, T offset, int degree) {
  for_vectors<T>(n, [&](auto tag, Index j) {
    auto base = hn::MulAdd(hn::Set(tag, scale), hn::LoadU(tag, x + j), hn::Set(tag, offset));
    auto result = hn::Set(tag, T{1});
    for (int e = degree; e > 0; e >>= 1) {
      if ((e & 1) != 0) result = hn::Mul(result, base);
      base = hn::Mul(base, base);
    }
    hn::StoreU(result, tag, x + j);
  });
}

// What a lane gets must not depend on its neighbours; Highway's functions have no branches here.
template <class T>
void tanh_of(T* x, Index n, T scale, T offset) {
  for_vectors<T>(n, [&](auto tag, Index j) {
    const auto u = hn::MulAdd(hn::Set(tag, scale), hn::LoadU(tag, x + j), hn::Set(tag, offset));
    hn::StoreU(hn::Tanh(tag, u), tag, x + j);
  });
}

// Calls polynomial(tag, a) exp(-a) with a = factor sqrt x. Beyond `farthest` the value is 0 in any case, and infinity times 0 is avoided.
template <class T, class F>
HWY_INLINE void matern(T* x, Index n, T factor, F&& polynomial) {
  constexpr T farthest = sizeof(T) == 4 ? T{200} : T{2000};
  for_vectors<T>(n, [&](auto tag, Index j) {
    const auto a = hn::Min(hn::Mul(hn::Set(tag, factor), hn::Sqrt(hn::LoadU(tag, x + j))), hn::Set(tag, farthest));
    hn::StoreU(hn::Mul(polynomial(tag, a), exp(tag, hn::Neg(a))), tag, x + j);
  });
}

template <class T>
void matern3_of_root(T* x, Index n, T factor) {
  matern(x, n, factor, [](auto tag, auto a) { return hn::Add(a, hn::Set(tag, T{1})); });
}

template <class T>
void matern5_of_root(T* x, Index n, T factor) {
  matern(x, n, factor, [](auto tag, auto a) {
    const auto one = hn::Set(tag, T{1});
    return hn::MulAdd(a, hn::MulAdd(a, hn::Set(tag, T{1} / 3), one), one);
  });
}

template <class T>
void rational_of(T* x, Index n, T factor, T alpha) {
  for_vectors<T>(n, [&](auto tag, Index j) {
    // The product may overflow; Log1p wants a finite number with a successor.
    const auto u = hn::Min(hn::Mul(hn::Set(tag, factor), hn::LoadU(tag, x + j)), hn::Set(tag, std::numeric_limits<T>::max() / 2));
    const auto log = hn::Log1p(tag, u);
    hn::StoreU(exp(tag, hn::Mul(hn::Set(tag, -alpha), log)), tag, x + j);
  });
}

template <class T>
void scale(T* x, Index n, T factor) {
  for_vectors<T>(n, [&](auto tag, Index j) { hn::StoreU(hn::Mul(hn::Set(tag, factor), hn::LoadU(tag, x + j)), tag, x + j); });
}

template <class T>
void add(T* x, const T* HWY_RESTRICT y, Index n) {
  for_vectors<T>(n, [&](auto tag, Index j) { hn::StoreU(hn::Add(hn::LoadU(tag, x + j), hn::LoadU(tag, y + j)), tag, x + j); });
}

template <class T>
void multiply(T* x, const T* HWY_RESTRICT y, Index n) {
  for_vectors<T>(n, [&](auto tag, Index j) { hn::StoreU(hn::Mul(hn::LoadU(tag, x + j), hn::LoadU(tag, y + j)), tag, x + j); });
}

// Past the caches: what is written here is not read again soon, and fresh memory need not be fetched first.
template <class T>
void copy_row(const T* HWY_RESTRICT from, T* HWY_RESTRICT to, Index n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index j = 0;
  for (; j < n && reinterpret_cast<std::uintptr_t>(to + j) % (static_cast<std::size_t>(lanes) * sizeof(T)) != 0; ++j) to[j] = from[j];
  for (; j + lanes <= n; j += lanes) hn::Stream(hn::LoadU(d, from + j), d, to + j);
  for (; j < n; ++j) to[j] = from[j];
}

template <class T>
void copy_out(Tile<const T> tile, T* out, Index out_stride) {
  for (Index i = 0; i < tile.rows; ++i) copy_row(tile.row(i), out + i * out_stride, tile.cols);
  hwy::FlushStream();
}

// A 4 x 4 block turned over in registers: rows of `from` become columns of `to`.
template <class T>
HWY_INLINE void transpose4(const T* HWY_RESTRICT from, Index from_stride, T* HWY_RESTRICT to, Index to_stride) {
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<T, 4> d;
  if constexpr (hn::MaxLanes(d) == 4) {
    const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_stride);
    const auto r2 = hn::LoadU(d, from + 2 * from_stride), r3 = hn::LoadU(d, from + 3 * from_stride);
    if constexpr (sizeof(T) == 8) {  // interleaving works within 128 bits: pairs first, then halves
      const auto low01 = hn::InterleaveLower(d, r0, r1), high01 = hn::InterleaveUpper(d, r0, r1);
      const auto low23 = hn::InterleaveLower(d, r2, r3), high23 = hn::InterleaveUpper(d, r2, r3);
      hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, to);
      hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, to + to_stride);
      hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, to + 2 * to_stride);
      hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, to + 3 * to_stride);
    } else {
      const auto low02 = hn::InterleaveLower(d, r0, r2), high02 = hn::InterleaveUpper(d, r0, r2);
      const auto low13 = hn::InterleaveLower(d, r1, r3), high13 = hn::InterleaveUpper(d, r1, r3);
      hn::StoreU(hn::InterleaveLower(d, low02, low13), d, to);
      hn::StoreU(hn::InterleaveUpper(d, low02, low13), d, to + to_stride);
      hn::StoreU(hn::InterleaveLower(d, high02, high13), d, to + 2 * to_stride);
      hn::StoreU(hn::InterleaveUpper(d, high02, high13), d, to + 3 * to_stride);
    }
    return;
  }
#endif
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
}

// Through a small block so that both the strided reads and the long writes stay within cache lines. Its rows are a line longer than a power
// of two: at 4096 bytes apart they would all fall into one set of the first-level cache.
template <class T>
void copy_out_transposed(Tile<const T> tile, T* out, Index out_stride) {
  constexpr Index band = 8;
  constexpr Index longest = 512;
  constexpr Index stride = longest + 64 / static_cast<Index>(sizeof(T));
  HWY_ALIGN T block[band * stride];
  for (Index i0 = 0; i0 < tile.rows; i0 += longest) {
    const Index ni = tile.rows - i0 < longest ? tile.rows - i0 : longest;
    for (Index j0 = 0; j0 < tile.cols; j0 += band) {
      const Index nj = tile.cols - j0 < band ? tile.cols - j0 : band;
      Index i = 0;
      for (; nj == band && i + 4 <= ni; i += 4) {
        transpose4(tile.row(i0 + i) + j0, tile.stride, block + i, stride);
        transpose4(tile.row(i0 + i) + j0 + 4, tile.stride, block + 4 * stride + i, stride);
      }
      for (; i < ni; ++i) {
        for (Index j = 0; j < nj; ++j) block[j * stride + i] = tile.row(i0 + i)[j0 + j];
      }
      for (Index j = 0; j < nj; ++j) copy_row(block + j * stride, out + (j0 + j) * out_stride + i0, ni);
    }
  }
  hwy::FlushStream();
}

// u = n pi/2 + r, |r| <= pi/4: pi/2 is taken away in parts, all but the last exactly (by one rounding of a fused multiply and add, or,
// without, because the part is short), so r keeps its digits next to multiples of pi/2. sin r = r + r^3 s(r^2) and
// cos r = 1 - r^2/2 + r^4 c(r^2) with s, c from Chebyshev nodes (relative error 1e-17, in float 1e-8); the last bits of n say which of the
// two, and with which sign. Numbers beyond `farthest` are left to the C library, each by itself.
template <class T>
struct CircleConstants;
template <>
struct CircleConstants<double> {
  static constexpr double two_over_pi = 0x1.45f306dc9c883p-1, round_to_whole = 0x1.8p52;
#if HWY_NATIVE_FMA
  static constexpr double part[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}, farthest = 1e9;
#else
  static constexpr double part[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69}, farthest = 1e6;
#endif
  static constexpr double s[] = {-0x1.5555555555555p-3, 0x1.1111111110bb1p-7,   -0x1.a01a019e833f2p-13,
                                 0x1.71de3795fe529p-19, -0x1.ae600a711c40ep-26, 0x1.5e0ae5873e651p-33};
  static constexpr double c[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16966p-10, 0x1.a01a019f4e7a2p-16,
                                 -0x1.27e4fa17941a8p-22, 0x1.1eeb68a05cf19p-29,  -0x1.907d6ee97cd28p-37};
};
template <>
struct CircleConstants<float> {
  static constexpr float two_over_pi = 0x1.45f306p-1F, round_to_whole = 0x1.8p23F;
#if HWY_NATIVE_FMA
  static constexpr float part[] = {0x1.921fb6p+0F, -0x1.777a5cp-25F, -0x1.ee59dap-50F}, farthest = 1e5F;
#else
  static constexpr float part[] = {0x1.92p+0F, 0x1.fb4p-12F, 0x1.444p-24F, 0x1.68c234p-39F}, farthest = 1e4F;
#endif
  static constexpr float s[] = {-0x1.555552p-3F, 0x1.110beap-7F, -0x1.9aa87p-13F};
  static constexpr float c[] = {0x1.555554p-5F, -0x1.6c12ap-10F, 0x1.9bbdf4p-16F};
};

template <class D>
struct OnCircle {
  V<D> cosine, sine;
};

template <class D, std::size_t terms>
HWY_INLINE V<D> polynomial(D d, V<D> u, const hn::TFromD<D> (&coefficients)[terms]) {
  auto sum = hn::Set(d, coefficients[terms - 1]);
  for (std::size_t k = terms - 1; k-- > 0;) sum = hn::MulAdd(sum, u, hn::Set(d, coefficients[k]));
  return sum;
}

template <class D>
HWY_INLINE OnCircle<D> on_circle(D d, V<D> u) {
  using T = hn::TFromD<D>;
  using C = CircleConstants<T>;
  const hn::RebindToSigned<D> bits;
  const auto shifted = hn::MulAdd(u, hn::Set(d, C::two_over_pi), hn::Set(d, C::round_to_whole));
  const auto n = hn::Sub(shifted, hn::Set(d, C::round_to_whole));
  auto r = u;
  for (const T part : C::part) r = hn::NegMulAdd(n, hn::Set(d, part), r);
  const auto square = hn::Mul(r, r);
  const auto sine = hn::MulAdd(hn::Mul(r, square), polynomial(d, square, C::s), r);
  const auto one_less = hn::NegMulAdd(square, hn::Set(d, T{0.5}), hn::Set(d, T{1}));
  const auto cosine = hn::MulAdd(hn::Mul(square, square), polynomial(d, square, C::c), one_less);

  const auto quadrant = hn::BitCast(bits, shifted);
  const auto one = hn::Set(bits, 1);
  const auto two = hn::Set(bits, 2);
  const auto odd = hn::RebindMask(d, hn::TestBit(quadrant, one));
  constexpr int to_sign = sizeof(T) * 8 - 2;  // from the second bit to the highest
  const auto sine_sign = hn::BitCast(d, hn::ShiftLeft<to_sign>(hn::And(quadrant, two)));
  const auto cosine_sign = hn::BitCast(d, hn::ShiftLeft<to_sign>(hn::And(hn::Add(quadrant, one), two)));
  OnCircle<D> out{hn::Xor(hn::IfThenElse(odd, sine, cosine), cosine_sign), hn::Xor(hn::IfThenElse(odd, cosine, sine), sine_sign)};
  const auto far = hn::Gt(hn::Abs(u), hn::Set(d, C::farthest));
  if (HWY_LIKELY(hn::AllFalse(d, far))) return out;
  constexpr std::size_t most = hn::MaxLanes(D());
  HWY_ALIGN T angles[most], cosines[most], sines[most];
  hn::Store(u, d, angles);
  hn::Store(out.cosine, d, cosines);
  hn::Store(out.sine, d, sines);
  for (std::size_t j = 0; j < hn::Lanes(d); ++j) {
    if (!(std::abs(angles[j]) > C::farthest)) continue;
    cosines[j] = std::cos(angles[j]);
    sines[j] = std::sin(angles[j]);
  }
  return {hn::Load(d, cosines), hn::Load(d, sines)};
}

template <class T>
void cos_of(T* x, const T* HWY_RESTRICT offset, Index n, T factor) {
  for_vectors<T>(n, [&](auto tag, Index j) {
    const auto u = hn::Add(hn::LoadU(tag, x + j), hn::LoadU(tag, offset + j));
    hn::StoreU(hn::Mul(hn::Set(tag, factor), on_circle(tag, u).cosine), tag, x + j);
  });
}

template <class T>
void sin_cos_of(T* x, const T* HWY_RESTRICT offset, T* HWY_RESTRICT sines, Index n, T factor) {
  for_vectors<T>(n, [&](auto tag, Index j) {
    const auto point = on_circle(tag, hn::Add(hn::LoadU(tag, x + j), hn::LoadU(tag, offset + j)));
    hn::StoreU(hn::Mul(hn::Set(tag, factor), point.cosine), tag, x + j);
    hn::StoreU(hn::Mul(hn::Set(tag, factor), point.sine), tag, sines + j);
  });
}

template <class T>
const TileOps<T>* table() {
  static constexpr TileOps<T> ops{distances<SquaredDifference, T>,
                                  distances<AbsoluteDifference, T>,
                                  distances<Chi2Difference, T>,
                                  distances<Minimum, T>,
                                  distances_from_dots<T>,
                                  exp_of<T>,
                                  exp_of_root<T>,
                                  power_of<T>,
                                  tanh_of<T>,
                                  matern3_of_root<T>,
                                  matern5_of_root<T>,
                                  rational_of<T>,
                                  scale<T>,
                                  add<T>,
                                  multiply<T>,
                                  copy_out<T>,
                                  copy_out_transposed<T>,
                                  cos_of<T>,
                                  sin_cos_of<T>};
  return &ops;
}

const TileOps<float>* table_f32() { return table<float>(); }
const TileOps<double>* table_f64() { return table<double>(); }

}  // namespace mercer::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer::simd {

// Called by name, not through Highway's dispatch, whose chosen target is shared with everybody else in the process.
namespace {
template <class T, class Table32, class Table64>
const TileOps<T>& pick(Table32 table_f32, Table64 table_f64) {
  if constexpr (std::is_same_v<T, float>) {
    return *table_f32();
  } else {
    return *table_f64();
  }
}
}  // namespace

template <class T>
const TileOps<T>& vector_ops(std::int64_t target) {
#if HWY_TARGETS & HWY_AVX3
  if (target == HWY_AVX3) return pick<T>(N_AVX3::table_f32, N_AVX3::table_f64);
#endif
#if HWY_TARGETS & HWY_AVX2
  if (target == HWY_AVX2) return pick<T>(N_AVX2::table_f32, N_AVX2::table_f64);
#endif
#if HWY_TARGETS & HWY_SSE4
  if (target == HWY_SSE4) return pick<T>(N_SSE4::table_f32, N_SSE4::table_f64);
#endif
  static_cast<void>(target);
  return pick<T>(HWY_STATIC_DISPATCH(table_f32), HWY_STATIC_DISPATCH(table_f64));
}

template const TileOps<float>& vector_ops<float>(std::int64_t);
template const TileOps<double>& vector_ops<double>(std::int64_t);

}  // namespace mercer::simd
#endif

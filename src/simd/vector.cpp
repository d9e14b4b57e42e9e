// Tile operations over Google Highway: this file is compiled once per instruction set by foreach_target.h.
// exp is Highway's, within 1 ulp; NaN never reaches it because data is checked where it enters.
// SPDX-License-Identifier: BSD-3-Clause
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/vector.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/cache_control.h>
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

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

template <class T>
void exp_of(T* x, Index n, T factor) {
  for_vectors<T>(n, [&](auto tag, Index j) { hn::StoreU(hn::Exp(tag, hn::Mul(hn::Set(tag, factor), hn::LoadU(tag, x + j))), tag, x + j); });
}

template <class T>
void exp_of_root(T* x, Index n, T factor) {
  for_vectors<T>(
      n, [&](auto tag, Index j) { hn::StoreU(hn::Exp(tag, hn::Mul(hn::Set(tag, factor), hn::Sqrt(hn::LoadU(tag, x + j)))), tag, x + j); });
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
      for (Index i = 0; i < ni; ++i) {
        const T* HWY_RESTRICT from = tile.row(i0 + i) + j0;
        if (nj == band) {
          for (Index j = 0; j < band; ++j) block[j * stride + i] = from[j];
        } else {
          for (Index j = 0; j < nj; ++j) block[j * stride + i] = from[j];
        }
      }
      for (Index j = 0; j < nj; ++j) copy_row(block + j * stride, out + (j0 + j) * out_stride + i0, ni);
    }
  }
  hwy::FlushStream();
}

template <class T>
const TileOps<T>* table() {
  static constexpr TileOps<T> ops{distances<SquaredDifference, T>,
                                  distances<AbsoluteDifference, T>,
                                  distances_from_dots<T>,
                                  exp_of<T>,
                                  exp_of_root<T>,
                                  power_of<T>,
                                  scale<T>,
                                  add<T>,
                                  multiply<T>,
                                  copy_out<T>,
                                  copy_out_transposed<T>};
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

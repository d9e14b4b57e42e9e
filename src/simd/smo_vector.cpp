// The loops of smo_ops.hpp over Google Highway: this file is compiled once per instruction set by foreach_target.h.
// SPDX-License-Identifier: BSD-3-Clause
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/smo_vector.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include <limits>

#include "simd/smo_scalar.hpp"
#include "simd/tile_ops.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using Doubles = hn::Vec<D>;

HWY_INLINE Doubles load(D d, const double* x) { return hn::LoadU(d, x); }
HWY_INLINE Doubles load(D d, const float* x) { return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x)); }
using F = hn::ScalableTag<float>;
HWY_INLINE hn::Vec<F> load(F d, const float* x) { return hn::LoadU(d, x); }

// The place of a value among the lanes, of equal ones the smallest. No branches: which lane wins is anybody's guess.
template <class Tag>
hn::TFromD<Tag> place_of(Tag d, hn::TFromD<Tag> value, hn::Vec<Tag> values, hn::Vec<Tag> places) {
  const auto nowhere = hn::Set(d, std::numeric_limits<hn::TFromD<Tag>>::infinity());
  return hn::GetLane(hn::MinOfLanes(d, hn::IfThenElse(hn::Eq(values, hn::Set(d, value)), places, nowhere)));
}

template <class T, class G>
SlopeRange update(G* HWY_RESTRICT g, const T* HWY_RESTRICT ki, double di, const T* HWY_RESTRICT kj, double dj, const G* HWY_RESTRICT up,
                  const G* HWY_RESTRICT low, Index n) {
  const hn::ScalableTag<G> d;
  using Numbers = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  if (n < lanes) return scalar_update(g, ki, di, kj, dj, up, low, n);
  const Numbers a = hn::Set(d, static_cast<G>(di));
  const Numbers b = hn::Set(d, static_cast<G>(dj));
  Numbers lowest = hn::Set(d, std::numeric_limits<G>::infinity());
  Numbers highest = hn::Neg(lowest);
  Numbers lowest_at = hn::Zero(d);
  Numbers highest_at = hn::Zero(d);
  Numbers place = hn::Iota(d, 0);
  const Numbers next = hn::Set(d, static_cast<G>(lanes));
  Index k = 0;
  for (; k + lanes <= n; k += lanes) {
    const Numbers value = hn::MulAdd(a, load(d, ki + k), hn::MulAdd(b, load(d, kj + k), hn::LoadU(d, g + k)));
    hn::StoreU(value, d, g + k);
    const Numbers upwards = hn::Add(value, hn::LoadU(d, up + k));
    const Numbers downwards = hn::Add(value, hn::LoadU(d, low + k));
    const auto below = hn::Lt(upwards, lowest);
    const auto above = hn::Gt(downwards, highest);
    lowest = hn::IfThenElse(below, upwards, lowest);
    lowest_at = hn::IfThenElse(below, place, lowest_at);
    highest = hn::IfThenElse(above, downwards, highest);
    highest_at = hn::IfThenElse(above, place, highest_at);
    place = hn::Add(place, next);
  }
  const G l = hn::GetLane(hn::MinOfLanes(d, lowest));
  const G h = hn::GetLane(hn::MaxOfLanes(d, highest));
  SlopeRange out{l, h, static_cast<Index>(place_of(d, l, lowest, lowest_at)), static_cast<Index>(place_of(d, h, highest, highest_at))};
  if (k < n) {
    const SlopeRange rest = scalar_update(g + k, ki + k, di, kj + k, dj, up + k, low + k, n - k);
    if (rest.lowest < out.lowest) out.lowest = rest.lowest, out.lowest_at = k + rest.lowest_at;
    if (rest.highest > out.highest) out.highest = rest.highest, out.highest_at = k + rest.highest_at;
  }
  return out;
}

template <class T, class G>
Partner partner(const G* HWY_RESTRICT g, const G* HWY_RESTRICT low, const T* HWY_RESTRICT ki, const G* HWY_RESTRICT diagonal, double kii,
                double lowest, Index n) {
  const hn::ScalableTag<G> d;
  using Numbers = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  if (n < lanes) return scalar_partner(g, low, ki, diagonal, kii, lowest, n);
  const Numbers least = hn::Set(d, static_cast<G>(lowest));
  const Numbers own = hn::Set(d, static_cast<G>(kii));
  const Numbers tiny = hn::Set(d, static_cast<G>(smallest_curvature));
  const Numbers minus_two = hn::Set(d, G{-2});
  // Fractions are compared crosswise: a division takes longer than all the rest. Two of them, so that none waits for the one before.
  struct Best {
    Numbers square, curvature, at;
  };
  const Numbers next = hn::Set(d, static_cast<G>(lanes));
  Numbers place = hn::Iota(d, 0);
  Best even{hn::Zero(d), hn::Set(d, G{1}), hn::Set(d, G{-1})};
  Best odd = even;
  const auto look = [&](Index at, Best& best) HWY_ATTR {
    const Numbers v = hn::Max(hn::Sub(hn::Add(hn::LoadU(d, g + at), hn::LoadU(d, low + at)), least), hn::Zero(d));
    const Numbers curvature = hn::Max(hn::MulAdd(minus_two, load(d, ki + at), hn::Add(own, hn::LoadU(d, diagonal + at))), tiny);
    const Numbers square = hn::Mul(v, v);
    const auto better = hn::Gt(hn::Mul(square, best.curvature), hn::Mul(best.square, curvature));
    best.square = hn::IfThenElse(better, square, best.square);
    best.curvature = hn::IfThenElse(better, curvature, best.curvature);
    best.at = hn::IfThenElse(better, place, best.at);
    place = hn::Add(place, next);
  };
  Index j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    look(j, even);
    look(j + lanes, odd);
  }
  if (j + lanes <= n) {
    look(j, even);
    j += lanes;
  }
  const Numbers gain_even = hn::Div(even.square, even.curvature);
  const Numbers gain_odd = hn::Div(odd.square, odd.curvature);
  const auto first = hn::Or(hn::Gt(gain_even, gain_odd), hn::And(hn::Eq(gain_even, gain_odd), hn::Lt(even.at, odd.at)));
  const Numbers best = hn::IfThenElse(first, gain_even, gain_odd);
  const Numbers best_at = hn::IfThenElse(first, even.at, odd.at);
  const G gain = hn::GetLane(hn::MaxOfLanes(d, best));
  Partner out{gain, static_cast<Index>(place_of(d, gain, best, best_at))};
  if (gain == 0) out.at = -1;
  if (j < n) {
    const Partner rest = scalar_partner(g + j, low + j, ki + j, diagonal + j, kii, lowest, n - j);
    if (rest.gain > out.gain) out = {rest.gain, j + rest.at};
  }
  return out;
}

// Eight rows a pass, so that y is read and written once for all of them.
template <class T>
void add_rows(double* HWY_RESTRICT y, const T* const* rows, const double* coef, Index count, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index k = 0;
  for (; k + 8 <= count; k += 8) {
    const T* const* r = rows + k;
    const double* c = coef + k;
    Index j = 0;
    for (; j + lanes <= n; j += lanes) {
      Doubles even = hn::MulAdd(hn::Set(d, c[0]), load(d, r[0] + j), hn::LoadU(d, y + j));
      Doubles odd = hn::Mul(hn::Set(d, c[1]), load(d, r[1] + j));
      even = hn::MulAdd(hn::Set(d, c[2]), load(d, r[2] + j), even);
      odd = hn::MulAdd(hn::Set(d, c[3]), load(d, r[3] + j), odd);
      even = hn::MulAdd(hn::Set(d, c[4]), load(d, r[4] + j), even);
      odd = hn::MulAdd(hn::Set(d, c[5]), load(d, r[5] + j), odd);
      even = hn::MulAdd(hn::Set(d, c[6]), load(d, r[6] + j), even);
      odd = hn::MulAdd(hn::Set(d, c[7]), load(d, r[7] + j), odd);
      hn::StoreU(hn::Add(even, odd), d, y + j);
    }
    if (j < n) {
      for (Index q = 0; q < 8; ++q) {
        const T* rest = r[q] + j;
        scalar_add_rows(y + j, &rest, c + q, 1, n - j);
      }
    }
  }
  for (; k < count; ++k) {
    const Doubles c = hn::Set(d, coef[k]);
    Index j = 0;
    for (; j + lanes <= n; j += lanes) hn::StoreU(hn::MulAdd(c, load(d, rows[k] + j), hn::LoadU(d, y + j)), d, y + j);
    const T* rest = rows[k] + j;
    scalar_add_rows(y + j, &rest, coef + k, 1, n - j);
  }
}

template <class T, class G>
const SmoOps<T, G>* smo_table() {
  static constexpr SmoOps<T, G> ops{update<T, G>, partner<T, G>, add_rows<T>};
  return &ops;
}

}  // namespace mercer::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer::simd {

template <class T, class G>
const SmoOps<T, G>& smo_ops_at(const std::string& level) {
  static_cast<void>(ops_at<T>(level));  // throws for a level that is not here
#if HWY_TARGETS & HWY_AVX3
  if (level == "avx512") return *N_AVX3::smo_table<T, G>();
#endif
#if HWY_TARGETS & HWY_AVX2
  if (level == "avx2") return *N_AVX2::smo_table<T, G>();
#endif
#if HWY_TARGETS & HWY_SSE4
  if (level == "sse4") return *N_SSE4::smo_table<T, G>();
#endif
  return scalar_smo_ops<T, G>;
}

template <class T, class G>
const SmoOps<T, G>& smo_ops() {
  static const SmoOps<T, G>& table = smo_ops_at<T, G>(level());
  return table;
}

template const SmoOps<float, float>& smo_ops<float, float>();
template const SmoOps<float, double>& smo_ops<float, double>();
template const SmoOps<double, double>& smo_ops<double, double>();
template const SmoOps<float, float>& smo_ops_at<float, float>(const std::string&);
template const SmoOps<float, double>& smo_ops_at<float, double>(const std::string&);
template const SmoOps<double, double>& smo_ops_at<double, double>(const std::string&);

}  // namespace mercer::simd
#endif

// Phases w'x by one GEMM (or, for sparse rows, one scaled addition per number), then sines and cosines in place.
// SPDX-License-Identifier: BSD-3-Clause
#include "gram/fourier_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <variant>

#include "data/numbers_only.hpp"
#include "linalg/blas.hpp"
#include "simd/tile_ops.hpp"

namespace mercer {

namespace {

constexpr Index fast_from = 256;  // columns; below, one GEMM is faster than additions in passes

template <class T>
std::vector<T> narrowed(const Vector& phases) {
  std::vector<T> out;
  for (const double phase : phases) out.push_back(static_cast<T>(std::remainder(phase, 2 * std::numbers::pi)));
  return out;
}

}  // namespace

template <class T>
FourierBlocks<T>::FourierBlocks(const RandomFourierFeatures& map)
    : pairs_(map.form() == FourierForm::sine_cosine),
      factor_(static_cast<T>(std::sqrt(2 * map.scale() / static_cast<double>(map.n_components())))),
      frequencies_(map.frequencies().template cast<T>()),
      plain_phase_(narrowed<T>(map.offsets())),
      phase_(plain_phase_),
      centre_(map.centre()) {
  // w'x + b = w'(x - c) + (b + w'c) with the frequencies as they were narrowed: the same map, whatever the centre.
  if (map.hadamard() != nullptr && map.width() >= fast_from) fast_.emplace(*map.hadamard());
  if (centre_.size() > 0) phase_ = narrowed<T>(map.offsets() + frequencies_.template cast<double>().transpose() * centre_);
}

template <class T>
template <class S>
void FourierBlocks<T>::project(const DenseRows<S>& X, Range rows, T* out, Index stride) const {
  const Index d = X.cols;
  const T* a = nullptr;
  Index a_stride = d;
  RowMatrix<T> moved;
  if constexpr (std::is_same_v<S, T>) {
    a = X.row(rows.begin);
    a_stride = X.stride;
  }
  if (!std::is_same_v<S, T> || centre_.size() > 0) {
    moved.resize(rows.count, d);
    for (Index i = 0; i < rows.count; ++i) {
      const S* from = X.row(rows.begin + i);
      T* to = moved.data() + i * d;
      if (centre_.size() > 0) {
        for (Index j = 0; j < d; ++j) to[j] = static_cast<T>(static_cast<double>(from[j]) - centre_[j]);
      } else {
        for (Index j = 0; j < d; ++j) to[j] = static_cast<T>(from[j]);
      }
    }
    a = moved.data();
    a_stride = d;
  }
  if (fast_) {
    HadamardPhases<T> phases = *fast_;  // with memory of its own
    phases.of(a, a_stride, rows.count, out, stride);
    return;
  }
  linalg::gemm_n(false, rows.count, frequencies_.cols(), d, T{1}, a, a_stride, frequencies_.data(), frequencies_.cols(), T{0}, out, stride);
}

template <class T>
template <class S>
void FourierBlocks<T>::project(const CsrRows<S>& X, Range rows, T* out, Index stride) const {
  const Index F = frequencies_.cols();
  for (Index i = 0; i < rows.count; ++i) {
    T* to = out + i * stride;
    std::fill_n(to, F, T{0});
    for (Index p = X.begin(rows.begin + i); p < X.end(rows.begin + i); ++p) {
      const auto x = static_cast<T>(X.values[p]);
      const T* w = frequencies_.data() + X.columns[p] * F;
      for (Index j = 0; j < F; ++j) to[j] += x * w[j];
    }
  }
}

template <class T>
void FourierBlocks<T>::fill(const Samples& X, Range rows, T* out, Index stride) const {
  require_numbers(X, "a map by random features");
  std::visit([&](const auto& all) { project(all, rows, out, stride); }, X.storage());
  const Index F = frequencies_.cols();
  const std::vector<T>& phase = X.is_sparse() ? plain_phase_ : phase_;
  const auto& ops = simd::ops<T>();
  for (Index i = 0; i < rows.count; ++i) {
    T* row = out + i * stride;
    if (pairs_) {
      ops.sin_cos_of(row, phase.data(), row + F, F, factor_);
    } else {
      ops.cos_of(row, phase.data(), F, factor_);
    }
  }
}

template <class T>
void FourierBlocks<T>::fill(const Samples& X, T* out, Index stride) const {
  parallel_for(block_count(X.size()), [&](Index block) {
    const Range rows = block_range(block, X.size());
    fill(X, rows, out + rows.begin * stride, stride);
  });
}

template class FourierBlocks<float>;
template class FourierBlocks<double>;

}  // namespace mercer

// The Walsh and Hadamard transform, and the phases of structured frequencies by it. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "mercer/random_features.hpp"

namespace mercer {

// v becomes H v in place for `lanes` vectors at a time (number j of all of them side by side), H the p x p Hadamard matrix of entries +-1,
// p a power of two: p log2 p additions each, all of them over whole runs of memory.
template <class T>
void hadamard_transform(T* v, Index p, Index lanes = 1) {
  for (Index half = lanes; half < p * lanes; half *= 2) {
    for (Index first = 0; first < p * lanes; first += 2 * half) {
      T* a = v + first;
      T* b = a + half;
      for (Index i = 0; i < half; ++i) {
        const T sum = a[i] + b[i];
        b[i] = a[i] - b[i];
        a[i] = sum;
      }
    }
  }
}

// Structured frequencies made ready in one precision.
template <class T>
class HadamardPhases {
 public:
  explicit HadamardPhases(const HadamardFactors& factors)
      : p_(factors.signs.cols()),
        signs_(factors.signs.cast<T>()),
        lengths_((factors.lengths / std::pow(static_cast<double>(p_), 1.5)).cast<T>()),
        column_scale_(factors.column_scale.cast<T>()),
        v_(static_cast<std::size_t>(p_ * lanes)) {}

  // out(i, c) = w_c'x_i for all frequencies c; rows of x have one number for each column.
  void of(const T* x, Index x_stride, Index rows, T* out, Index out_stride) {
    for (Index first = 0; first < rows; first += lanes) {
      some(x + first * x_stride, x_stride, std::min(lanes, rows - first), out + first * out_stride, out_stride);
    }
  }

 private:
  static constexpr Index lanes = 16;

  void some(const T* x, Index x_stride, Index rows, T* out, Index out_stride) {
    const Index count = lengths_.size();
    const Index d = column_scale_.size();
    for (Index block = 0; block * p_ < count; ++block) {
      const T* third = signs_.row(3 * block + 2).data();
      std::fill(v_.begin(), v_.end(), T{0});
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < d; ++j) v_[static_cast<std::size_t>(j * lanes + i)] = third[j] * column_scale_[j] * x[i * x_stride + j];
      }
      for (const Index next : {Index{1}, Index{0}}) {
        hadamard_transform(v_.data(), p_, lanes);
        const T* sign = signs_.row(3 * block + next).data();
        for (Index j = 0; j < p_; ++j) {
          T* at = v_.data() + j * lanes;
          for (Index i = 0; i < lanes; ++i) at[i] *= sign[j];
        }
      }
      hadamard_transform(v_.data(), p_, lanes);
      const Index begin = block * p_;
      const Index here = std::min(p_, count - begin);
      for (Index i = 0; i < rows; ++i) {
        T* to = out + i * out_stride + begin;
        for (Index c = 0; c < here; ++c) to[c] = lengths_[begin + c] * v_[static_cast<std::size_t>(c * lanes + i)];
      }
    }
  }

  Index p_;
  RowMatrix<T> signs_;
  Eigen::Matrix<T, Eigen::Dynamic, 1> lengths_;
  Eigen::Matrix<T, Eigen::Dynamic, 1> column_scale_;
  std::vector<T> v_;
};

}  // namespace mercer

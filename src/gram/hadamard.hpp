// The Walsh and Hadamard transform, and the phases of structured frequencies by it. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "mercer/random_features.hpp"

namespace mercer {

// v becomes H v in place, H the p x p Hadamard matrix of entries +-1, p a power of two: p log2 p additions.
template <class T>
void hadamard_transform(T* v, Index p) {
  for (Index half = 1; half < p; half *= 2) {
    for (Index first = 0; first < p; first += 2 * half) {
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
        v_(static_cast<std::size_t>(p_)) {}

  // out[c] = w_c'x for all frequencies c; x has one number for each column.
  void of(const T* x, T* out) {
    const Index count = lengths_.size();
    const Index d = column_scale_.size();
    for (Index block = 0; block * p_ < count; ++block) {
      const T* third = signs_.row(3 * block + 2).data();
      for (Index j = 0; j < d; ++j) v_[static_cast<std::size_t>(j)] = third[j] * column_scale_[j] * x[j];
      std::fill(v_.begin() + d, v_.end(), T{0});
      for (const Index next : {Index{1}, Index{0}}) {
        hadamard_transform(v_.data(), p_);
        const T* sign = signs_.row(3 * block + next).data();
        for (Index j = 0; j < p_; ++j) v_[static_cast<std::size_t>(j)] *= sign[j];
      }
      hadamard_transform(v_.data(), p_);
      const Index first = block * p_;
      const Index here = std::min(p_, count - first);
      for (Index i = 0; i < here; ++i) out[first + i] = lengths_[first + i] * v_[static_cast<std::size_t>(i)];
    }
  }

 private:
  Index p_;
  RowMatrix<T> signs_;
  Eigen::Matrix<T, Eigen::Dynamic, 1> lengths_;
  Eigen::Matrix<T, Eigen::Dynamic, 1> column_scale_;
  std::vector<T> v_;
};

}  // namespace mercer

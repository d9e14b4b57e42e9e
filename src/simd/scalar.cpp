// SPDX-License-Identifier: BSD-3-Clause
#include "simd/scalar.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mercer::simd {

namespace {

template <class T>
void squared_distances(const T* a, Index a_stride, const T* b, Index b_stride, Index depth, Tile<T> out) {
  for (Index i = 0; i < out.rows; ++i) {
    for (Index j = 0; j < out.cols; ++j) {
      T sum = 0;
      for (Index k = 0; k < depth; ++k) {
        const T difference = a[i * a_stride + k] - b[k * b_stride + j];
        sum += difference * difference;
      }
      out.row(i)[j] = sum;
    }
  }
}

template <class T>
void l1_distances(const T* a, Index a_stride, const T* b, Index b_stride, Index depth, Tile<T> out) {
  for (Index i = 0; i < out.rows; ++i) {
    for (Index j = 0; j < out.cols; ++j) {
      T sum = 0;
      for (Index k = 0; k < depth; ++k) sum += std::abs(a[i * a_stride + k] - b[k * b_stride + j]);
      out.row(i)[j] = sum;
    }
  }
}

template <class T>
void chi2_distances(const T* a, Index a_stride, const T* b, Index b_stride, Index depth, Tile<T> out) {
  for (Index i = 0; i < out.rows; ++i) {
    for (Index j = 0; j < out.cols; ++j) {
      T sum = 0;
      for (Index k = 0; k < depth; ++k) {
        const T x = a[i * a_stride + k];
        const T y = b[k * b_stride + j];
        if (x + y > 0) sum += (x - y) * (x - y) / (x + y);
      }
      out.row(i)[j] = sum;
    }
  }
}

template <class T>
void minimum_sums(const T* a, Index a_stride, const T* b, Index b_stride, Index depth, Tile<T> out) {
  for (Index i = 0; i < out.rows; ++i) {
    for (Index j = 0; j < out.cols; ++j) {
      T sum = 0;
      for (Index k = 0; k < depth; ++k) sum += std::min(a[i * a_stride + k], b[k * b_stride + j]);
      out.row(i)[j] = sum;
    }
  }
}

template <class T>
bool distances_from_dots(Tile<T> tile, const T* a_norms, const T* b_norms, T threshold) {
  bool near = false;
  for (Index i = 0; i < tile.rows; ++i) {
    for (Index j = 0; j < tile.cols; ++j) {
      const T norms = a_norms[i] + b_norms[j];
      const T distance = norms - 2 * tile.row(i)[j];
      near = near || distance < threshold * norms;
      tile.row(i)[j] = std::max(distance, T{0});
    }
  }
  return near;
}

template <class T>
void exp_of(T* x, Index n, T factor) {
  for (Index i = 0; i < n; ++i) x[i] = std::exp(factor * x[i]);
}

template <class T>
void exp_of_root(T* x, Index n, T factor) {
  for (Index i = 0; i < n; ++i) x[i] = std::exp(factor * std::sqrt(x[i]));
}

template <class T>
void power_of(T* x, Index n, T scale, T offset, int degree) {
  for (Index i = 0; i < n; ++i) {
    T base = offset + scale * x[i];
    T result = 1;
    for (int d = degree; d > 0; d >>= 1) {
      if ((d & 1) != 0) result *= base;
      base *= base;
    }
    x[i] = result;
  }
}

template <class T>
void tanh_of(T* x, Index n, T scale, T offset) {
  for (Index i = 0; i < n; ++i) x[i] = std::tanh(offset + scale * x[i]);
}

// Beyond this a the value is 0 in any case, and a^2 exp(-a) must not become infinity times 0.
template <class T>
constexpr T farthest_matern = sizeof(T) == 4 ? T{200} : T{2000};

template <class T>
void matern3_of_root(T* x, Index n, T factor) {
  for (Index i = 0; i < n; ++i) {
    const T a = std::min(factor * std::sqrt(x[i]), farthest_matern<T>);
    x[i] = (1 + a) * std::exp(-a);
  }
}

template <class T>
void matern5_of_root(T* x, Index n, T factor) {
  for (Index i = 0; i < n; ++i) {
    const T a = std::min(factor * std::sqrt(x[i]), farthest_matern<T>);
    x[i] = (1 + a * (1 + a / 3)) * std::exp(-a);
  }
}

template <class T>
void rational_of(T* x, Index n, T factor, T alpha) {
  for (Index i = 0; i < n; ++i) x[i] = std::exp(-alpha * std::log1p(std::min(factor * x[i], std::numeric_limits<T>::max())));
}

template <class T>
void scale(T* x, Index n, T factor) {
  for (Index i = 0; i < n; ++i) x[i] *= factor;
}

template <class T>
void add(T* x, const T* y, Index n) {
  for (Index i = 0; i < n; ++i) x[i] += y[i];
}

template <class T>
void multiply(T* x, const T* y, Index n) {
  for (Index i = 0; i < n; ++i) x[i] *= y[i];
}

template <class T>
void copy_out(Tile<const T> tile, T* out, Index out_stride) {
  for (Index i = 0; i < tile.rows; ++i) std::copy_n(tile.row(i), tile.cols, out + i * out_stride);
}

template <class T>
void copy_out_transposed(Tile<const T> tile, T* out, Index out_stride) {
  for (Index j = 0; j < tile.cols; ++j) {
    for (Index i = 0; i < tile.rows; ++i) out[j * out_stride + i] = tile.row(i)[j];
  }
}

template <class T>
void cos_of(T* x, const T* offset, Index n, T factor) {
  for (Index i = 0; i < n; ++i) x[i] = factor * std::cos(x[i] + offset[i]);
}

template <class T>
void sin_cos_of(T* x, const T* offset, T* sines, Index n, T factor) {
  for (Index i = 0; i < n; ++i) {
    const T u = x[i] + offset[i];
    x[i] = factor * std::cos(u);
    sines[i] = factor * std::sin(u);
  }
}

}  // namespace

template <class T>
const TileOps<T>& scalar_ops() {
  static constexpr TileOps<T> table{
      squared_distances<T>, l1_distances<T>, chi2_distances<T>,      minimum_sums<T>,    distances_from_dots<T>, exp_of<T>, exp_of_root<T>,
      power_of<T>,          tanh_of<T>,      matern3_of_root<T>,     matern5_of_root<T>, rational_of<T>,         scale<T>,  add<T>,
      multiply<T>,          copy_out<T>,     copy_out_transposed<T>, cos_of<T>,          sin_cos_of<T>};
  return table;
}

template const TileOps<float>& scalar_ops<float>();
template const TileOps<double>& scalar_ops<double>();

}  // namespace mercer::simd

// SPDX-License-Identifier: BSD-3-Clause
#include "gram/prepared_kernel.hpp"

#include <cassert>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"

namespace mercer {

namespace {

const Kernel& resolved(const Kernel& kernel) {
  if (kernel.has_auto())
    throw InvalidArgument("the kernel " + kernel.text() + " still has automatic length scales: resolve(kernel, X) sets them");
  return kernel;
}

// Where a row meets itself the value is exact, and a tile on the diagonal is symmetric to the bit.
template <class T>
void settle_diagonal(const RowSet& I, Range J, const Vector& diagonal, Tile<T> out) {
  const bool on_diagonal = I.ids == nullptr && I.begin == J.begin && I.count == J.count;
  for (Index i = 0; i < I.count; ++i) {
    const Index j = I[i] - J.begin;
    if (j < 0 || j >= J.count) continue;
    out.row(i)[j] = static_cast<T>(diagonal[I[i]]);
    if (on_diagonal) {
      for (Index c = i + 1; c < J.count; ++c) out.row(c)[i] = out.row(i)[c];
    }
  }
}

}  // namespace

template <class T>
PreparedKernel<T>::PreparedKernel(const Kernel& kernel, const Samples& X, const Samples& Y)
    : kernel_{resolved(kernel)}, rows_(X.size()), cols_(Y.size()), symmetric_(X.same_rows(Y)) {
  const Samples cols = as_given(kernel, Y);
  bound_ = bind_kernels<T>(kernel_, symmetric_ ? cols : as_given(kernel, X, Y), cols);
  if (symmetric_) diagonal_ = bound_.roots[0]->self(Side::rows);
}

template <class T>
void PreparedKernel<T>::tile(const RowSet& I, Range J, Tile<T> out) const {
  assert(I.count <= tile_size && J.count <= tile_size);
  TileInProgress<T> at(I, J, bound_.slots);
  bound_.roots[0]->tile(at, out);
  if (symmetric_) settle_diagonal(I, J, diagonal_, out);
}

template <class T>
void PreparedKernel<T>::add_gradient(Range I, Range J, Tile<double> weights, std::span<double> gradient) const {
  assert((std::is_same_v<T, double>)&&"leaves know gradients in float64 alone");
  TileInProgress<T> at(I, J, bound_.slots);
  bound_.roots[0]->add_gradient(at, weights, gradient);
}

template <class T>
PreparedFamily<T>::PreparedFamily(std::vector<Kernel> kernels, const Samples& X) : kernels_(std::move(kernels)), size_(X.size()) {
  assert(!kernels_.empty());
  for (const Kernel& kernel : kernels_) static_cast<void>(resolved(kernel));
  const Samples rows = as_given(kernels_.front(), X);
  bound_ = bind_kernels<T>(kernels_, rows, rows);
  for (const auto& root : bound_.roots) diagonals_.push_back(root->self(Side::rows));
}

template <class T>
void PreparedFamily<T>::make(TileInProgress<T>& at, std::size_t kernel, Tile<T> out) const {
  bound_.roots[kernel]->tile(at, out);
  settle_diagonal(at.I, at.J, diagonals_[kernel], out);
}

template class PreparedFamily<float>;
template class PreparedFamily<double>;
template class PreparedKernel<float>;
template class PreparedKernel<double>;

}  // namespace mercer
